"""Formats scores as text, tables, HTML and JSON. Nothing here computes scores."""
