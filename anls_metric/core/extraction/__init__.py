"""Extracts the answer from raw model output: text in, text out."""

from anls_metric.core.extraction.extract import EXTRACTORS, Extraction, answer_in_tags, extractor

__all__ = ["EXTRACTORS", "Extraction", "answer_in_tags", "extractor"]
