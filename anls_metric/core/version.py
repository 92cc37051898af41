"""The versions of the package and of its scores. Every signature includes the latter."""

__version__ = "2.0.0"

SCORES_VERSION = 2
"""The last part of each signature. It changes only when a score changes; tests/core/test_conformance.py explains when
that is.
"""
