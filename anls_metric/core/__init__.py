"""What a score is, and why: rows, variants, scoring, explanations. Needs rapidfuzz alone, and knows no other folder."""
