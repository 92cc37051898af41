"""What is known: rows are scored, and a scored set knows its mean, outcomes, groups and worst."""
