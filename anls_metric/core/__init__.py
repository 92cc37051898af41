"""Scores strings, lists and nested values; extracts answers; and computes statistics. Needs only rapidfuzz."""
