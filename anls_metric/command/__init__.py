"""The `anls` command, which parses its flags, calls the modules that do the work, and prints the results."""
