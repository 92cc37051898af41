"""Reads input: a file or a table becomes records with their places, and the records become rows to score."""
