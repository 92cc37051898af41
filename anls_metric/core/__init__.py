"""Scores answers: strings, lists and nested values; extracts answers; and their statistics. Needs only rapidfuzz."""
