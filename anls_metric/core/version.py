"""The version of the package, and the version of its scores, which is part of every signature."""

__version__ = "2.0.0"

SCORES_VERSION = 2
"""The version of the scores, which is the last part of each signature. It changes only when a score changes, as
tests/core/test_conformance.py explains.
"""
