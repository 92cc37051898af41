"""No extraction rule and no hint takes runaway time for a hostile text."""

from __future__ import annotations

import subprocess
import sys

from tests.conftest import ROOT

LENGTH = 200_000
UNITS = [" ", "\n", "a", "a ", "1,", "(", '"', "```", "<think>", "\\boxed{", "{'a': [", "The answer is "]
PROGRAM = f"""
from anls_metric import score
from anls_metric.analysis.same_value import is_any_same_value
from anls_metric.reading.extract import EXTRACTORS, extractor
texts = [unit * ({LENGTH} // len(unit)) for unit in {UNITS!r}]
for text in texts:
    for name in EXTRACTORS:
        for hostile in (text, text + "!", "x" + text):
            extractor(name)(hostile)
    is_any_same_value(text, [text + "1"])
print(score(texts, [["a"]] * len(texts)).hints)
"""


def test_extraction_rules_and_hints_end_on_hostile_texts() -> None:
    """Only runaway backtracking takes two minutes."""
    subprocess.run([sys.executable, "-c", PROGRAM], cwd=ROOT, check=True, timeout=120)
