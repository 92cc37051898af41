"""The YAML of the tasks, and the functions that it names."""
