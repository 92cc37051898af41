"""Scores texts and explains the scores: rows, variants, scoring, explanations. Imports only rapidfuzz."""
