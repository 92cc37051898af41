"""Scores answers and analyzes the scores: means, lost points, groups, intervals, comparisons and hints."""
