"""Scores rows and analyzes the scores: means, outcomes, groups, intervals, comparisons and hints."""
