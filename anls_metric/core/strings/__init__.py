"""Scores strings with the variants of ANLS and a single kernel, and explains the scores. Only rapidfuzz is required."""
