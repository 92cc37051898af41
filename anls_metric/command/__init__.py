"""The command `anls`: parses flags, calls, prints."""
