"""Computes intervals and tests, finds documents, and identifies the variant of a function: numbers in, numbers out."""
