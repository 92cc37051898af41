"""Scores strings, using variants and a single kernel, and explains the scores. Imports only rapidfuzz."""
