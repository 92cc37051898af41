"""Intervals, tests, documents, and which variant a function computes: numbers in, numbers out."""
