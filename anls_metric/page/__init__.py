"""The Space: a page, and endpoints for programs."""
