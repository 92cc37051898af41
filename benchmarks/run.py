"""Times this package against other programs, side by side: ``python benchmarks/run.py``.

It makes an environment beside this file, checks that all programs give the same scores, times them in turn, and prints
a table. ``--json`` writes the figures that docs/performance.md shows.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from timing import Row, machine

HERE = Path(__file__).resolve().parent
ENVIRONMENT = HERE / ".environment"
PYPI_ANLS = ENVIRONMENT / "pypi-anls"  # in a folder of its own, because `import anls` loads our file in the checkout
PACKAGES = ["anls_star==1.0.1", "Levenshtein", "munkres==1.1.4"]


def enter_environment() -> None:
    """Restart in an environment with this package and the others."""
    python = ENVIRONMENT / "bin" / "python"
    if Path(sys.prefix) == ENVIRONMENT:
        return
    if not PYPI_ANLS.exists():
        print("making the environment of the benchmark, once ...", file=sys.stderr)
        venv.create(ENVIRONMENT, with_pip=True, clear=True)
        pip = [str(python), "-m", "pip", "install", "--quiet"]
        subprocess.run([*pip, "-e", f"{HERE.parent}[evaluate,files]", *PACKAGES], check=True)
        subprocess.run([*pip, "--no-deps", "--target", str(PYPI_ANLS), "anls==0.0.2"], check=True)
    os.execv(python, [str(python), __file__, *sys.argv[1:]])


def show(row: Row) -> str:
    """Format a line of the table."""
    cells = row.ours, row.other, row.workload, f"{row.rows:,}", row.our_time, row.their_time, row.ratio
    return "| " + " | ".join(f"{cell:.3g}" if isinstance(cell, float) else cell for cell in cells) + " |"


def main() -> None:
    """Run the benchmark."""
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("--repetitions", type=int, default=5)
    flags.add_argument("--json", metavar="FILE", type=Path, help="write the figures to a file")
    options = flags.parse_args()
    enter_environment()
    with tempfile.TemporaryDirectory() as cache:
        os.environ["HF_HOME"] = cache
        from functions import time_evaluate, time_scores
        from nested import time_nested
        from programs import time_files, time_pypi_command

        print(
            "| ours | other | workload | rows | ours, µs a row | other, µs a row | times as fast |",
            "|---" * 7 + "|",
            sep="\n",
        )
        rows = []
        for part in (
            time_scores(PYPI_ANLS, options.repetitions),
            time_evaluate(options.repetitions),
            time_nested(options.repetitions),
            time_files(options.repetitions),
            time_pypi_command(PYPI_ANLS, options.repetitions),
        ):
            for row in part:
                rows.append(row)
                print(show(row), flush=True)
    if options.json:
        figures = {**machine(), "rows": [{**row._asdict(), "ratio": row.ratio} for row in rows]}
        options.json.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
