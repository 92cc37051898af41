"""Writes files for the tests of the page."""

from __future__ import annotations

import json
from pathlib import Path

from anls_metric.page.uploads import Upload


def write_table(path: Path, count: int) -> Upload:
    """Write a table in which every third answer is right, with seven kinds of questions."""
    with open(path, "w") as stream:
        for number in range(count):
            slip = "" if number % 3 else "x"
            references = [f"answer {number} of the page", "another one"]
            row = {"prediction": f"answer {number}{slip} of the page", "references": references, "kind": number % 7}
            stream.write(json.dumps(row) + "\n")
    return Upload(str(path))
