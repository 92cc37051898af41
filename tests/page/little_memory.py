"""Import this in the process that forks itself, and all of its processes together have 200 MB."""

from anls_metric.page import fork_server

setattr(fork_server, "MOST_MEMORY", 200_000_000)  # noqa: B010, mypy knows it as the one of limits
