"""The score of `anls` behind other doors: one module a door, each importing `anls` and one outside library."""
