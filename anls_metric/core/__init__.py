"""Scores strings, lists and nested values, extracts answers, and computes statistics. Only rapidfuzz is required."""
