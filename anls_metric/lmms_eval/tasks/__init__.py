"""The YAML files that define the tasks, and the functions to which they refer."""
