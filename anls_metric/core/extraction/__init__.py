"""Extracts answers from raw model output, given and returned as strings."""

from anls_metric.core.extraction.extract import EXTRACTORS, Extraction, answer_in_tags, extractor

__all__ = ["EXTRACTORS", "Extraction", "answer_in_tags", "extractor"]
