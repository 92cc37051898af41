"""Scores strings: variants, one kernel, explanations. Imports only rapidfuzz."""
