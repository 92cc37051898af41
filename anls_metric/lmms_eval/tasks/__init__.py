"""The YAML files of the tasks, and the functions that they name."""
