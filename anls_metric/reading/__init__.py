"""Reads input: turns a file or a table into records with their places, and the records into rows to score."""
