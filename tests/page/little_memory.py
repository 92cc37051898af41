"""Importing this in the fork server limits all of its processes together to 200 MB."""

from anls_metric.page import fork_server

setattr(fork_server, "MOST_MEMORY", 200_000_000)  # noqa: B010, mypy takes it for the constant of limits
