"""Times this package against every peer in one run: ``python benchmarks/run.py``.

It makes its own environment beside this file, checks all results against the definition on the same rows, times ours
and the peers interleaved, and prints ratios. ``--quick`` takes fewer rows and ends in two minutes.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import itertools
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from timing import ENVIRONMENTS, HERE, ROOT, machine

ENVIRONMENT = ENVIRONMENTS / "python{}.{}".format(*sys.version_info)
PYPI_ANLS = ENVIRONMENT / "pypi-anls"
REAL = ROOT.parent / "shared" / "data" / "docvqa_val_1k"

PACKAGES = ["anls_star==1.0.1", "Levenshtein", "jiwer"]
TORCH = ["torch==2.13.0", "torchmetrics"]
SEED = 20240501


class Budget(NamedTuple):
    """The sizes of the measurements."""

    rows: dict[str, int]
    evaluate_rows: int  # rows through evaluate, the same for both, because each call has a fixed cost
    seconds: float  # the time for any other measurement: slower calls get fewer rows, faster calls are repeated
    repetitions: int
    stream: int  # the longest stream


FULL = Budget(
    rows={"W1": 1_000_000, "W2": 500_000, "W2, 5,000 rows": 5_000, "W3": 20_000, "W3b": 50_000},
    evaluate_rows=300_000,
    seconds=1.0,
    repetitions=5,
    stream=10_000_000,
)
QUICK = Budget(
    rows={"W1": 100_000, "W2": 100_000, "W2, 5,000 rows": 5_000, "W3": 1_000, "W3b": 10_000},
    evaluate_rows=15_000,
    seconds=0.1,
    repetitions=5,
    stream=1_000_000,
)


def prepare(with_torch: bool) -> None:
    """Restart in an environment with this package and the peers."""
    python = ENVIRONMENT / "bin" / "python"
    if Path(sys.prefix) == ENVIRONMENT:
        return
    if not (ENVIRONMENT / "ready").exists():
        print("making the environment of the benchmark, once ...", file=sys.stderr)
        venv.create(ENVIRONMENT, with_pip=True, clear=True)
        pip = [str(python), "-m", "pip", "install", "--quiet"]
        subprocess.run([*pip, "-e", f"{ROOT}[evaluate]", *PACKAGES], check=True)
        subprocess.run([*pip, "--no-deps", "--target", str(PYPI_ANLS), "anls==0.0.2"], check=True)
        if with_torch and subprocess.run([*pip, *TORCH]).returncode:
            print("torch cannot be installed here: its row is left out", file=sys.stderr)
        (ENVIRONMENT / "ready").touch()
    os.execv(python, [str(python), str(HERE / "run.py"), *sys.argv[1:]])


# Timing


class Row(NamedTuple):
    """One line of the table: ours against a peer."""

    what: str
    workload: str
    peer: str
    ours_rows: int
    peer_rows: int
    ours_us: float  # microseconds per row, the best of the repetitions
    peer_us: float
    ratio: float  # the ratio of these two
    median: float  # the median ratio of the repetitions
    checked: str


Call = Callable[[int], Any]


class Entrant(NamedTuple):
    """A participant in a race: a call for a number of rows, and the result of its check."""

    name: str
    call: Call
    checked: str = ""


def seconds(call: Call, rows: int, times: int = 1) -> float:
    start = time.perf_counter()
    for _ in range(times):
        call(rows)
    return time.perf_counter() - start


def affordable(call: Call, rows: int, limit: float) -> tuple[int, int]:
    """Find the number of rows and of repetitions of a call within a time limit."""
    few = min(rows, 4)
    call(few)  # a warm-up, so that one-time work is not counted
    while (once := seconds(call, few)) < limit / 4 and few < rows:
        few = min(rows, 4 * few)
    return max(1, min(rows, int(few * limit / once))), max(1, int(limit / 4 / once) if few == rows else 1)


def race(
    what: str,
    workload: str,
    ours: Entrant,
    peers: list[Entrant],
    rows: int,
    budget: Budget,
    same_rows: bool = False,
) -> Iterator[Row]:
    """Time ours and every peer, interleaved in a changing order."""
    everybody = {entrant.name: entrant.call for entrant in (ours, *peers)}
    if same_rows:
        plans = dict.fromkeys(everybody, (min(rows, budget.evaluate_rows), 1))
    else:
        plans = {name: affordable(call, rows, budget.seconds) for name, call in everybody.items()}
    measured: dict[str, list[float]] = {name: [] for name in everybody}
    chance = random.Random(SEED)
    for _ in range(budget.repetitions):
        for name in chance.sample(list(everybody), len(everybody)):
            count, times = plans[name]
            measured[name].append(1e6 * seconds(everybody[name], count, times) / count / times)
    mine = measured[ours.name]
    for peer in peers:
        theirs = measured[peer.name]
        yield Row(
            what,
            workload,
            peer.name,
            plans[ours.name][0],
            plans[peer.name][0],
            min(mine),
            min(theirs),
            min(theirs) / min(mine),
            statistics.median(b / a for a, b in zip(mine, theirs)),
            peer.checked,
        )


# Measuring


def wrong(scores: list[float], expected: list[float]) -> str:
    different = sum(abs(score - right) > 1e-6 for score, right in zip(scores, expected))
    return f"{different} of {len(expected)} wrong" if different else "right"


def score_rows(budget: Budget) -> Iterator[Row]:
    """The functions, and every variant."""
    import peers
    from workloads import WORKLOADS

    import anls_metric

    scorers = {"PyPI anls 0.0.2": (peers.pypi_anls(PYPI_ANLS), peers.strict)}
    for name, (make, definition) in peers.PEERS.items():
        try:
            scorers[name] = (make(), definition)
        except ImportError as error:
            print(f"left out: {name} ({error})", file=sys.stderr)

    sets = {name: WORKLOADS[name[:3].rstrip(",")](rows) for name, rows in budget.rows.items()}
    if REAL.is_dir():
        sets["real answers"] = real_rows()
    for workload, columns in sets.items():
        predictions, references = columns
        rows = len(predictions)
        sample = {"W3": 2, "W3b": 40, "real answers": 40}.get(workload, 300)
        some = predictions[:sample], references[:sample]
        assert wrong(anls_metric.anls_scores(*some), [peers.standard(*row) for row in zip(*some)]) == "right", workload
        racing = [
            Entrant(name, part(scorer, columns), wrong(scorer(*some), [right(*row) for row in zip(*some)]))
            for name, (scorer, right) in scorers.items()
        ]
        yield from race(
            "anls_scores", workload, Entrant("ours", part(anls_metric.anls_scores, columns)), racing, rows, budget
        )
        if workload != "W2":
            continue
        one_by_one = Entrant(
            "ours", part(lambda *columns: [anls_metric.anls_score(*row) for row in zip(*columns)], columns)
        )
        yield from race("anls_score, a call a row", workload, one_by_one, racing[:1], rows, budget)
        variants = []
        for variant in anls_metric.VARIANTS:
            scorer = functools.partial(anls_metric.anls_scores, variant=variant)
            expected = [anls_metric.explain(*row, variant=variant).score for row in zip(*some)]
            variants.append(Entrant(variant, part(scorer, columns), wrong(scorer(*some), expected)))
        for row in race("variant", workload, variants[0], variants[1:], rows, budget):
            # Inverted: the speed of the variant relative to `standard`.
            yield row._replace(ratio=1 / row.ratio, median=1 / row.median)


def part(scorer: Callable[..., Any], columns: Any) -> Call:
    return lambda rows: scorer(columns[0][:rows], columns[1][:rows])


def real_rows() -> tuple[list[str], list[list[str]]]:
    from anls_metric import score

    predictions, references = [], []
    for submission in sorted(REAL.glob("submission__*.json")):
        for answer in score(submission, gold=REAL / "gold.json").answers():
            predictions.append(answer["prediction"])
            references.append(answer["references"])
    return predictions, references


def evaluate_rows(budget: Budget) -> Iterator[Row]:
    """Time evaluate end to end, against a typical module."""
    import evaluate
    from workloads import WORKLOADS

    import anls_metric

    ours, usual = anls_metric.load(), evaluate.load(str(HERE / "usual_module.py"))

    def compute(metric: Any, predictions: list[str], references: list[list[str]]) -> float:
        return float(metric.compute(predictions=predictions, references=references)["anls"])

    def add_batch(metric: Any, predictions: list[str], references: list[list[str]]) -> float:
        for start in range(0, len(predictions), 32):
            batch = slice(start, start + 32)
            metric.add_batch(predictions=predictions[batch], references=references[batch])
        return float(metric.compute()["anls"])

    def add(metric: Any, predictions: list[str], references: list[list[str]]) -> float:
        for prediction, accepted in zip(predictions, references):
            metric.add(prediction=prediction, reference=accepted)
        return float(metric.compute()["anls"])

    for workload, make in WORKLOADS.items():
        columns = make(budget.rows[workload])
        for name, way in {"compute()": compute, "add_batch(32)": add_batch, "add()": add}.items():
            results = [way(metric, columns[0][:300], columns[1][:300]) for metric in (ours, usual)]
            mine, theirs = (part(functools.partial(way, metric), columns) for metric in (ours, usual))
            peer = Entrant("the usual module", theirs, wrong(results[1:], results[:1]))
            yield from race(f"evaluate {name}", workload, Entrant("ours", mine), [peer], len(columns[0]), budget, True)


def process_rows(budget: Budget) -> Iterator[Row]:
    """Time the commands from start to end, on 5,000 questions."""
    from workloads import docvqa_like

    predictions, references = docvqa_like(5_000)
    with tempfile.TemporaryDirectory() as folder:
        gold, submission = Path(folder, "gold.json"), Path(folder, "submission.json")
        data = [{"questionId": key, "question": "", "answers": accepted} for key, accepted in enumerate(references)]
        gold.write_text(json.dumps({"dataset_name": "made up", "data": data}))
        submission.write_text(json.dumps([{"questionId": key, "answer": text} for key, text in enumerate(predictions)]))
        files = ["--gold-label-file", str(gold), "--submission-file", str(submission), "--output-dir", folder]
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

        def ours(rows: int) -> None:
            run([str(ENVIRONMENT / "bin" / "anls"), *files, "--variant", "pypi_anls", "--force"], environment)

        def peer(rows: int) -> None:
            program = "from anls.cli.run import run; run()"
            run([sys.executable, "-c", program, *files], environment | {"PYTHONPATH": str(PYPI_ANLS)}, folder)

        def score() -> float:
            return float(json.loads(Path(folder, "results.json").read_text())["result"]["score"])

        ours(1)
        mine = score()
        peer(1)
        theirs = Entrant("PyPI anls 0.0.2", peer, wrong([score()], [mine]))
        for row in race("anls", "W2, 5,000 rows", Entrant("ours", ours), [theirs], 1, budget, True):
            of_files = {"ours_us": row.ours_us / 5_000, "peer_us": row.peer_us / 5_000}
            yield row._replace(ours_rows=5_000, peer_rows=5_000, **of_files)


def run(command: list[str], environment: dict[str, str], folder: str | None = None) -> None:
    subprocess.run(command, env=environment, cwd=folder, check=True, capture_output=True)


def memory(budget: Budget) -> dict[str, float]:
    """Measure the peak memory above the inputs, in MB per million rows, each in its own process. It needs Linux."""
    peaks = {}
    for workload in ("W1", "W2"):
        for way in ("anls_scores", "iter_anls_scores", "evaluate compute()"):
            command = [sys.executable, __file__, "--memory", workload, way, str(budget.rows[workload])]
            peaks[f"{way}, {workload}"] = float(subprocess.run(command, capture_output=True, check=True).stdout)
    return peaks


def measure_memory(workload: str, way: str, rows: str) -> None:
    import gc

    from workloads import WORKLOADS

    import anls_metric

    columns = WORKLOADS[workload](int(rows))
    metric = anls_metric.load() if way.startswith("evaluate") else None
    calls: dict[str, Callable[[], object]] = {
        "anls_scores": lambda: anls_metric.anls_scores(*columns),
        "iter_anls_scores": lambda: anls_metric.mean(anls_metric.iter_anls_scores(zip(*columns))),
        "evaluate compute()": lambda: metric.compute(predictions=columns[0], references=columns[1]) if metric else None,
    }
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    before = status("VmRSS")
    calls[way]()
    print((status("VmHWM") - before) / 1024 / (len(columns[0]) / 1e6))


def status(field: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field))


def growth(budget: Budget) -> dict[int, float]:
    """Measure the microseconds per row of longer and longer streams."""
    from workloads import docvqa_like

    import anls_metric

    rows = list(zip(*docvqa_like(10_000)))
    times = {}
    length = 10_000
    while length <= budget.stream:
        start = time.perf_counter()
        anls_metric.mean(anls_metric.iter_anls_scores(itertools.islice(itertools.cycle(rows), length)))
        times[length] = 1e6 * (time.perf_counter() - start) / length
        length *= 10
    return times


# Printing


def versions() -> dict[str, str]:
    names = ["anls-metric", "rapidfuzz", "evaluate", "datasets", "anls_star", "Levenshtein", "jiwer"]
    versions = {name: version(name) for name in names}
    with contextlib.suppress(ImportError):
        versions |= {name: version(name) for name in ("torch", "torchmetrics")}
    return versions


def times(ratio: float) -> str:
    return f"{ratio:.0f}x" if ratio >= 20 else f"{ratio:.1f}x"


def show(row: Row) -> str:
    cells = [
        row.what,
        row.workload,
        row.peer,
        times(row.ratio),
        times(row.median),
        f"{row.ours_us:,.2f}",
        f"{row.peer_us:,.2f}",
        f"{row.ours_rows:,} / {row.peer_rows:,}",
        row.checked,
    ]
    return "| " + " | ".join(cells) + " |"


HEAD = """\
| ours | workload | against | ratio | median | ours, µs per row | theirs | rows timed | theirs checked |
|---|---|---|---|---|---|---|---|---|"""


_OTHER_VARIANTS = "the other variants (`standard` is 1x)"

# What was timed -> the words for it in the summary.
_NAMES = {
    "anls_scores": "`anls_scores`",
    "anls_score, a call a row": "`anls_score`, one call per row,",
    "anls": "the command `anls`",
    "evaluate compute()": "evaluate: `compute()`",
    "evaluate add_batch(32)": "evaluate: `add_batch()` of 32 rows",
    "evaluate add()": "evaluate: `add()`",
}


def summary(rows: list[Row]) -> str:
    """Summarize the ratios: a line for each function and peer, a column for each workload."""
    workloads = list(dict.fromkeys(row.workload for row in rows if row.what == "anls_scores"))
    cells: dict[str, dict[str, list[float]]] = {}
    for row in rows:
        line = _OTHER_VARIANTS if row.what == "variant" else f"{_NAMES.get(row.what, row.what)} against {row.peer}"
        cells.setdefault(line, {}).setdefault(row.workload, []).append(row.ratio)
    lines = [["", *workloads], ["---"] * (1 + len(workloads))]
    for name, ratios in sorted(cells.items(), key=lambda line: (line[0] == _OTHER_VARIANTS, "evaluate" in line[0])):
        ranges = [
            sorted({times(min(ratios[key])), times(max(ratios[key]))}) if key in ratios else [] for key in workloads
        ]
        lines.append([name, *(" to ".join(ends) for ends in ranges)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    """Run the benchmark, and print the results."""
    flags = argparse.ArgumentParser(description=__doc__)
    flags.add_argument("--quick", action="store_true", help="fewer rows")
    flags.add_argument("--json", metavar="FILE", help="write the figures there as well")
    flags.add_argument("--without-torch", action="store_true", help="leave torchmetrics out, and do not install torch")
    flags.add_argument("--memory", nargs=3, help=argparse.SUPPRESS)
    options = flags.parse_args()
    prepare(not options.without_torch)
    if options.memory:
        measure_memory(*options.memory)
        return
    budget = QUICK if options.quick else FULL
    with tempfile.TemporaryDirectory() as cache:
        os.environ["HF_HOME"] = cache
        facts = machine() | versions()
        print("\n".join(f"{name}: {value}" for name, value in facts.items()), "", HEAD, sep="\n", flush=True)
        rows = []
        for part in (evaluate_rows, score_rows, process_rows):
            for row in part(budget):
                rows.append(row)
                print(show(row), flush=True)
        peaks = memory(budget) if sys.platform == "linux" else {}
    print("\nIn short, best against best:\n", summary(rows), sep="\n")
    print("\nPeak memory above the inputs, MB a million rows:")
    print("\n".join(f"  {name}: {megabytes:.0f}" for name, megabytes in peaks.items()))
    times = growth(budget)
    print("\nA stream of W2 rows, µs per row:")
    print("\n".join(f"  {length:,} rows: {microseconds:.2f}" for length, microseconds in times.items()))
    if options.json:
        figures = {"machine": facts, "rows": [row._asdict() for row in rows], "memory": peaks, "stream": times}
        Path(options.json).write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
