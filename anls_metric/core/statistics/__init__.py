"""Computes intervals and tests, finds the documents of questions, and identifies the variant computed by a function."""
