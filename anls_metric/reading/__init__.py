"""Reads input: a file or a table becomes records with their places, and records become rows to score."""
