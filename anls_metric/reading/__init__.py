"""Reads input by turning a file or a table into records, and the records into questions and answers to score."""
