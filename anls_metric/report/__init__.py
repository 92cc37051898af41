"""What is shown: a scored set becomes characters, and nothing is computed on the way."""
