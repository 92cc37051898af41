"""Prints the number of rows of gold data, for its row in `anls_metric/gold.py`, and the hash that a signature of the
data contains. This needs a network.

Usage: python tools/pin_gold.py [NAME ...]
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Sequence

from anls_metric.analysis.evaluation import find_scorers
from anls_metric.analysis.question_hash import hash_questions
from anls_metric.gold import GOLD, GoldSet, load_gold
from anls_metric.options import Settings
from anls_metric.reading import join
from anls_metric.reading.reading import make_reading


def pin(row: GoldSet) -> str:
    """Describe the questions of a row as its rule or variant reads them."""
    settings = Settings(variant=row.variant)
    questions = join.read_gold(load_gold(row), make_reading(settings, find_scorers(settings)[0]))
    digest = hash_questions(questions)
    return f"{row.name}: {len(questions.ids)} of {row.rows} rows are questions, gold:{digest}"


def main(names: Sequence[str]) -> int:
    """Fetch datasets anew, and print their rows; a wrong number of rows is an error with both numbers."""
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ANLS_CACHE"] = folder
        for name in names or GOLD:
            try:
                print(pin(GOLD[name]))
            except ValueError as error:
                print(error, file=sys.stderr)
                failed = True
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
