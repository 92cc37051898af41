"""anls, as it is typed: flags, formats and exit statuses."""

from __future__ import annotations

import ast
import csv
import io
import json
import os
import random
import re
import shlex
import signal
import subprocess
import sys
from importlib import import_module
from inspect import getsource
from pathlib import Path
from typing import Any

import pytest

import anls_metric
from anls_metric import score
from anls_metric.command import command_line
from anls_metric.command.arguments import EXAMPLES, GONE
from tests.conftest import ROOT, RunPython, wait_for
from tests.system.conftest import GOLD, SCORE, Shell, list_answers, list_both

EXAMPLE = f"{ROOT}/examples/gold_label.json {ROOT}/examples/submission.json"
COMPARE = " ".join(f"{ROOT}/examples/compare/{name}.json" for name in ("gold", "base", "tuned"))
ANSWERS = [record["answer"] for record in json.loads((ROOT / "examples/submission.json").read_text("utf-8"))]
ACCEPTED = [record["answers"] for record in json.loads((ROOT / "examples/gold_label.json").read_text("utf-8"))["data"]]


# What it prints


def test_score_is_the_mean_of_the_scores_of_the_answers(shell: Shell) -> None:
    for variant in ("standard", "rrc", "mistral_evals"):
        scores = anls_metric.anls_scores(ANSWERS, ACCEPTED, variant=variant)
        assert shell.scores(f"{EXAMPLE} --variant {variant}") == [anls_metric.mean(scores)]


# Files and flags, and a part of the output. The documentation shows more of them whole.
OUTPUTS = [
    (f"{EXAMPLE} --by answer_type,evidence --percent --digits 1", "Visual/Layout  88.9   -            1\n"),
    (
        f"{EXAMPLE} --find 62.73",
        " others, which this number does not tell apart, on submission: 62.7315\n",
    ),
    (f"{EXAMPLE} --columns ANLS", "            ANLS\nsubmission  0.6273\n"),
    (f"{EXAMPLE} --find 33.33", "33.33 fits exact_match, contains, relaxed on submission: 33.3333\n"),
    (f"{EXAMPLE} --find 70.1 --variant due,rrc", "70.1 fits rrc with --threshold 0.3 on submission: 70.1389\n"),
    (
        f"{EXAMPLE} --find 70.1 --variant mistral_evals,rrc",
        "also, at another threshold: rrc with --threshold 0.0 on submission: 70.1389, and 4 more\n",
    ),
    ("gold.json raw.json --quiet --find 75 --variant rrc,due", "75 fits rrc, due with --extract think on raw: 75\n"),
    ("gold.json raw.json --extract think --worst 1", "\n  raw         <think>x</think>something else\n"),
    ("gold.json raw.json --extract think", "\nextracted    think changed 24 of 24 answers and left 0\n"),
    (f"{COMPARE} --variant standard,due", "\n\nANLS under each variant\nvariant   base    tuned\n"),
    (f"{COMPARE} --all-pairs --baseline tuned", "\n1 tuned\n2 base   -0.1371*\n"),
    (f"{COMPARE} --metrics f1,cer", "difference  p          verdict  wins  losses  exact match  f1      cer\n"),
    (f"{COMPARE} --metrics f1 --columns p,f1", "       p          f1\n"),
    (f"{COMPARE} --baseline tuned", " Differences: model minus tuned.\n"),
    (f"{COMPARE} --worst 1", "\n\nbase\n\nquestion "),
    (f"{COMPARE} --columns anls,mde,verdict", "\ntuned  0.9728  0.0685  better\n"),
    (f"{COMPARE} --format markdown", "\n| tuned | **0.9728** | 0.9326 to 0.9910 |"),
    (f"{COMPARE} --format markdown --columns anls --percent", "\n| tuned | **97.28** |\n"),
    (
        f"{COMPARE} --format latex",
        r"tuned & \textbf{0.9728} & 0.9326--0.9910 & $+0.1371$ & $[+0.0872,+0.1834]$ & $\leq 0.0001$ \\",
    ),
    (f"{COMPARE} --format latex --by kind", r"\label{tab:anls-1}"),
    (f"{COMPARE} --format csv", "\ntuned,table,150,0.9728262108262108,"),
    (f"{COMPARE} --format csv --columns anls,interval --digits 2", "base,0.84,0.77,0.88,anls|"),
    (f"{COMPARE} --score-only", "0.8357354497354498\n0.9728262108262108\n"),
    (f"{COMPARE} --score-only --percent", "83.57\n97.28\n"),
]
RAW = {"raw.json": {str(row["questionId"]): f"<think>x</think>{row['prediction']}" for row in list_answers()}}


@pytest.mark.parametrize(("line", "part"), OUTPUTS)
def test_output_has_its_figures(shell: Shell, line: str, part: str) -> None:
    shell.write(RAW)
    assert part in shell.print(line)


def test_csv_has_the_figures_of_the_document(shell: Shell) -> None:
    rows = list(csv.DictReader(io.StringIO(shell.print(f"{COMPARE} --format csv --by kind --all-pairs"))))
    base, tuned = shell.document(f"{COMPARE} --by kind --all-pairs")["submissions"]
    assert [float(row["anls"]) for row in rows] == [base["anls"], tuned["anls"]]
    assert float(rows[1]["difference kind=date"]) == tuned["groups"]["kind"]["date"]["difference"]
    lost = {row["cause"]: row["points"] for row in tuned["lost"]["rows"]}
    assert {name: float(rows[1][f"lost {name}"]) for name in lost} == lost
    assert rows[0]["difference"] == ""
    assert float(rows[1]["difference base"]) == pytest.approx(tuned["anls"] - base["anls"])


@pytest.mark.parametrize("name", ["=1+1", "@x", "a|b", "<b>", "a_b", "a*b", "50% & more"])
def test_name_of_a_submission_is_escaped_in_every_format(shell: Shell, name: str) -> None:
    shell.write({"t.jsonl": list_both("model", name, "y")})
    cell = next(csv.reader(shell.print("t.jsonl --format csv").splitlines()[1:]))[0]
    assert cell == (f"'{name}" if name.startswith(("=", "@")) else name)  # no spreadsheet takes it for a formula
    _, rule, row, *_ = shell.print("t.jsonl --format markdown").splitlines()
    assert len(re.findall(r"(?<!\\)[|]", row)) == rule.count("|")
    assert not re.search(r"(?<!\\)[*_<]", row.partition(" | ")[0])
    row = shell.print("t.jsonl --format latex").partition("\\midrule")[2].partition(" & ")[0]
    assert not re.search(r"(?<!\\)[&%_]", row)


def test_quiet_prints_no_hints(shell: Shell) -> None:
    shell.write(RAW)
    done = shell.type("gold.json raw.json")
    assert re.match(r"hint: .*--extract think", done.err)
    (hint,) = shell.document("gold.json raw.json")["hints"]
    assert (hint["extract"], hint["anls"], hint["submission"]) == (["think"], pytest.approx(SCORE), None)
    head, table = done.out.split("\n\nlost points")
    assert (table.count("--extract think"), shell.type("gold.json raw.json --quiet")) == (1, (0, f"{head}\n", ""))
    assert shell.document("gold.json raw.json --quiet")["hints"] == []
    assert "lost points" not in shell.print("gold.json raw.json --quiet --report r.html")


# Flags are the options of Python

CORRECTIONS = [{"questionId": 49000, "accept": "something else"}, {"questionId": 49003, "exclude": True}]
OPTIONS: list[tuple[str, dict[str, Any]]] = [
    ("--variant rrc,stvqa", {"variant": ["rrc", "stvqa"]}),
    ("--anls-threshold 0.9", {"threshold": 0.9}),
    ("--no-ignore-case", {"ignore_case": False}),
    ("--variant due --ignore-case", {"variant": "due", "ignore_case": True}),
    ("--worst 2 --by kind,page", {"worst": 2, "by": ["kind", "page"]}),
    ("--field confidence=p --field judge=verdict", {"field": {"confidence": "p", "judge": "verdict"}}),
    ("--filter 1", {"filter": 1}),
    ("--cluster-by page", {"cluster_by": "page"}),
    ("--corrections corrections.json", {"corrections": "corrections.json"}),
]


def without_words(document: dict[str, Any]) -> dict[str, Any]:
    """Remove from a document what is in the words of a front end."""
    for submission in document["submissions"]:
        for row in submission["lost"]["rows"]:
            del row["remedy"]
    return {**document, "hints": len(document["hints"]), "independent": bool(document.get("independent"))}


@pytest.mark.parametrize(("flags", "options"), OPTIONS)
def test_flag_gives_the_document_of_its_option_in_python(shell: Shell, flags: str, options: dict[str, Any]) -> None:
    gold = [{**row, "kind": "ab"[n % 2], "page": n // 3} for n, row in enumerate(GOLD)]
    answers = [{**row, "p": n / 30, "verdict": n % 2, "run": 1} for n, row in enumerate(list_answers())]
    shell.write({"g.json": gold, "x.json": answers, "corrections.json": CORRECTIONS})
    document = without_words(shell.document(f"g.json x.json {flags}"))
    assert document == without_words({**score("x.json", "g.json", **options).to_dict()})
    assert document != without_words(shell.document("g.json x.json")) or "filter" in flags


# Mistakes

TYPOS = {
    "--wrost 3": "unknown flag --wrost: did you mean --worst?",
    "--worst 1 --worst 2": "--worst is given twice: give it once",
    "-v rrc": "unknown flag -v: --help lists arguments and flags",
    "--treshold=1": "unknown flag --treshold: did you mean --threshold?",
    "--outp x.json": "unknown flag --outp: did you mean --output?",
    "--variant": "--variant: expected one argument",
    "--threshold 2": "--threshold must be a number from 0 to 1, got '2'",
    "--variant Standrad": "unknown variant 'Standrad': did you mean standard?",
    "--variant DocVQA": "unknown variant 'DocVQA': did you mean rrc?",
    "--variant foo": "unknown variant 'foo': `anls variants` lists them",
    "--variant anls_star,rrc": "anls_star cannot be combined with other variants: pass it alone",
    "--extract thnik": "unknown extraction step 'thnik': did you mean think?",
    "--metrics relaxd": "unknown metric 'relaxd'; did you mean relaxed?",
    "--columns intervall": "unknown column 'intervall'; did you mean interval?",
    "--columns mde": "column 'mde' would be empty; choose from name,",
    "--columns metric_f1": "column 'metric_f1' would be empty; choose from name,",
    "--by kind": "no question has the field 'kind': with --by, pass fields that they have (found 'questionId', ",
    "--cluster-by page": "no question has the field 'page': with --cluster-by, pass a field that they have",
    "--average rows": "--average applies only to structured answers: add --variant anls_star",
    "--by-key": "--by-key needs the leaves of ANLS*: use --variant anls_star",
    "--find many": "'many' is no",
    "--baseline x": "there is only one submission, a, so there is nothing to compare it with: pass x as well",
    "--images .": "--images works only with a report: add --report",
    "--format json --digits 2": "JSON always contains fractions with all digits: leave out --percent and --digits",
    "--fail-if-worse": "--fail-if-worse needs a comparison: pass the baseline before the other submissions",
    "b.json --baseline x": "unknown baseline 'x'; choose from a, b",
}


@pytest.mark.parametrize("flags", TYPOS)
def test_mistake_is_one_line_that_names_what_was_meant(shell: Shell, flags: str) -> None:
    assert TYPOS[flags] in shell.error(f"gold.json a.json {flags}")


@pytest.mark.parametrize("flag", [name for name in GONE if " " not in name])
def test_flag_that_is_gone_is_answered_with_what_to_do_instead(shell: Shell, flag: str) -> None:
    dashes = "-" if len(flag) == 1 else "--"
    message = shell.error(f"gold.json a.json {dashes}{flag} x")
    assert message == f"unknown flag {dashes}{flag}: {GONE[flag]}"
    known = {*re.findall(r"--[a-z-]+", command_line.build_parser().format_help())}
    assert set(re.findall(r"--[a-z-]+", message)) - {f"--{flag}"} <= known


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("score gold.json a.json", "there is no subcommand 'score': type anls GOLD SUBMISSION"),
        ("report gold.json a.json", "type anls GOLD SUBMISSION --report report.html"),
        ("export", "unknown subcommand 'export': type anls export rrc FILE, or anls export hub FILE"),
        ("export --help", "type anls export rrc FILE, or anls export hub FILE"),
        ("help", "there is no subcommand 'help': type anls --help"),
        ("check_submission x", "check_submission does not exist"),
    ],
)
def test_word_that_is_not_a_subcommand_is_answered(shell: Shell, line: str, words: str) -> None:
    assert words in shell.error(line)


# Help and exit status


def test_help_lists_every_flag_in_its_group(shell: Shell) -> None:
    text = shell.print("--help")
    titles = ["positional arguments:", "most used options:", "input:", "scoring:", "comparison:", "output:", "other:"]
    assert re.findall(r"^([a-z][a-z ]*:)$", text, re.MULTILINE) == titles
    assert "mistral_evals" in text
    assert shell.print("--version") == f"anls {anls_metric.__version__}\n"


@pytest.mark.parametrize("example", EXAMPLES.values())
def test_example_of_the_help_runs(shell: Shell, example: str) -> None:
    Path("examples").symlink_to(ROOT / "examples")
    shell.print(example.removeprefix("anls "))


FAR = ("12", "0.12", "6273", "12.73%")
TOO_FEW = "too few documents to tell whether none is worse than tall: -1.0000"
DIFFERENT = "different questions (60 and 50, 50 in common) to tell whether half is worse than all: -0.0400"
ANYWAY = "; to pass all the same, add --allow-doubt"
GATE = "--fail-if-worse"


@pytest.mark.parametrize(
    ("line", "status", "words"),
    [
        ("gold.json a.json --fail-under 0.75", 0, ""),
        ("gold.json a.json --fail-under 0.76", 1, "anls: the ANLS of a is 0.75, under 0.76\n"),
        ("gold.json a.json b.json --fail-under 0.8", 1, "anls: the ANLS of a is 0.75, under 0.8\n"),
        ("kinds.json tall.json --by kind --fail-under 0.5,b=0.5", 1, "anls: the ANLS of tall for b is 0, under 0.5\n"),
        ("kinds.json tall.json --by kind --fail-under a=1", 0, ""),
        ("kinds.json tall.json --by kind --fail-under c=1", 2, "anls: error: tall: no group or key 'c' (found a, b)\n"),
        (
            "kinds.json tall.json --fail-under b=1",
            2,
            "anls: error: tall: no group or key 'b': to limit the score of one, add --by or --by-key\n",
        ),
        (
            "gold.json a.json --fail-under b=high",
            2,
            "anls: error: --fail-under must be a number from 0 to 1, or such "
            "numbers for groups, as in total=0.9,date=0.95, got 'b=high'\n",
        ),
        (f"long.json none.json tall.json {GATE}", 0, ""),
        (f"long.json none.json tall.json {GATE} --fail-under 0.5", 0, ""),  # the baseline has no limit
        (f"long.json tall.json none.json {GATE} --fail-under 0.5 --baseline none", 0, ""),
        (f"long.json tall.json none.json {GATE}", 1, "anls: none is worse than tall: -1.0000, p <= 0.0001\n"),
        (f"few.json tall.json none.json {GATE} --extra ignore", 1, f"anls: {TOO_FEW}{ANYWAY}\n"),
        (f"few.json tall.json none.json {GATE} --extra ignore --allow-doubt", 0, f"anls: {TOO_FEW}\n"),
        (f"all.json half.json {GATE}", 1, f"anls: {DIFFERENT}{ANYWAY}\n"),
        (f"all.json half.json {GATE} --allow-doubt", 0, f"anls: {DIFFERENT}\n"),
        ("gold.json a.json --find 75", 0, ""),
        ("gold.json a.json --find 76", 1, ""),
        ("gold.json a.json --find 76 --format json", 1, ""),
        ("gold.json gone.csv", 2, "anls: error: gone.csv does not exist: did you mean none.json?\n"),
    ],
)
def test_exit_status_says_whether_a_check_failed(shell: Shell, line: str, status: int, words: str) -> None:
    long = {str(n): ["a"] for n in range(60)}
    shell.write({"long.json": long, "tall.json": dict.fromkeys(long, "a"), "none.json": dict.fromkeys(long, "x")})
    shell.write({"few.json": {str(n): ["a"] for n in range(5)}})
    shell.write({"kinds.json": [{"id": n, "answers": ["ab"[n % 2]], "kind": "ab"[n % 2]} for n in range(60)]})
    rows = [{"id": n, "prediction": "x" if n < 2 else "a", "references": ["a"]} for n in range(60)]
    shell.write({"all.json": [{**row, "prediction": "a"} for row in rows], "half.json": rows[:50]})
    done = shell.type(f"{line} --quiet")
    assert (done.status, done.err) == (status, words)
    assert bool(done.out) == (status < 2)


def test_gate_has_the_baseline_and_the_family_of_the_table(shell: Shell) -> None:
    """Alone, six wrong answers of six that differ are significant; not in the family of two."""
    gold = {str(n): ["a"] for n in range(60)}
    for name, wrong in {"first": 0, "worse": 6, "same": 0}.items():
        shell.write({f"{name}.json": {str(n): "x" if n < wrong else "a" for n in range(60)}})
    shell.write({"long.json": gold})
    for files, is_worse in (("first.json worse.json", True), ("first.json worse.json same.json", False)):
        done = shell.type(f"long.json {files} --fail-if-worse --quiet --format json")
        document = json.loads(done.out)
        assert (document["baseline"], document["chose_best"], done.status) == ("first", False, int(is_worse))
        table = [each for each in document["comparisons"] if each["first"] == "first"]
        for pair, tested in zip(table, document["gate"], strict=True):
            assert tested.items() - {("doubt", None)} <= pair.items()
        assert document["gate"][0]["verdict"] == ("worse" if is_worse else "no significant difference")


@pytest.mark.parametrize(
    ("number", "words"),
    [
        ("62.5%", "no variant or metric gives 62.5%; the nearest is standard on submission: 62.7315\n"),
        ("0.645", "no variant or metric gives 0.645; the nearest is standard on submission: 0.627315\n"),
        *((far, f"no variant, metric or extraction step comes within 3 points of {far}: check") for far in FAR),
    ],
)
def test_nearest_of_the_scores_is_shown_only_if_it_is_near(shell: Shell, number: str, words: str) -> None:
    assert shell.type(f"{EXAMPLE} --find {number}").out.startswith(words)


# As a process

ANLS = [sys.executable, "-m", "anls_metric"]
RUN = "from anls_metric.__main__ import run; run()"
FILES = EXAMPLE.split()
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}


def test_module_runs_as_a_program(tmp_path: Path, run_python: RunPython) -> None:
    done = run_python(["-m", "anls_metric", *FILES], tmp_path, PYTHONPATH=str(ROOT))
    assert (done.returncode, done.stderr, done.stdout[:19]) == (0, "", "ANLS         0.6273")


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_console_that_lacks_characters_shows_them_escaped(shell: Shell, encoding: str) -> None:
    shell.write({"g.json": {"1": ["漢字\ud800"]}, "x.json": {"1": "\x1b[31m漢"}})
    environment = {**ENVIRONMENT, "PYTHONIOENCODING": encoding}
    done = subprocess.run([*ANLS, "g.json", "x.json", "--worst", "1"], capture_output=True, env=environment)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"\\u6f22" in done.stdout
    assert b"\x1b" not in done.stdout


@pytest.mark.parametrize("closed", [">&-", "2>&-", "| true"])
def test_closed_output_is_no_error(closed: str) -> None:
    line = f"set -o pipefail; {shlex.join([*ANLS, *FILES])} --worst 6 {closed}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, env=ENVIRONMENT)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("gold.json a.json --fail-under 0.9 --format json", 1),
        (f"{COMPARE} --baseline tuned --fail-if-worse", 1),
        ("gold.json a.json --fail-under 0.9 --worst 24", 1),
        ("check-submission broken.json", 1),
        pytest.param("identify math:dist", 1, marks=pytest.mark.thorough),
        ("gold.json gone.json", 2),
    ],
)
@pytest.mark.parametrize("reader", ["| true", "2>&1 | true"])
def test_reader_who_leaves_does_not_open_a_gate(shell: Shell, words: str, status: int, reader: str) -> None:
    shell.write({"broken.json": [{"questionId": "x"}] * 9999})
    line = f"set -o pipefail; (sleep 0.2; exec {shlex.join(ANLS)} {words}) {reader}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, env=ENVIRONMENT)
    assert done.returncode == status
    assert "Traceback" not in done.stderr


def test_closed_input_is_an_error(shell: Shell) -> None:
    line = f"{shlex.join(ANLS)} gold.json - <&-"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, env=ENVIRONMENT)
    message = "anls: error: standard input is closed: pipe the file into the command, or pass its path\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", message)


def test_interrupt_during_the_imports_ends_in_silence(tmp_path: Path) -> None:
    slow = "import os, signal, sys; os.kill(os.getpid(), signal.SIGINT); import time; time.sleep(9)"
    (tmp_path / "textwrap.py").write_text(slow, encoding="utf-8")  # imported by the command
    environment = {**ENVIRONMENT, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
    done = subprocess.run([*ANLS, *FILES], capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="this system has other signals")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_signal_ends_a_long_comparison_at_once(shell: Shell, name: str) -> None:
    chance, ready = random.Random(7), Path("ready")
    for file, field in (("g.json", "answer"), ("x.json", "prediction")):  # whose comparison takes minutes
        shell.write({file: [{"id": 1, field: "".join(chance.choices("abcdefgh", k=3_000_000))}]})
    program = """
from importlib import import_module
from inspect import getsource
from pathlib import Path
from rapidfuzz.distance import Levenshtein
compare = Levenshtein.distance
Levenshtein.distance = lambda *texts, **options: (Path("ready").touch(), compare(*texts, **options))[1]
from anls_metric.__main__ import run
run()
"""
    process = subprocess.Popen([sys.executable, "-c", program, "g.json", "x.json"], env=ENVIRONMENT)
    try:
        wait_for(ready.exists)
        process.send_signal(getattr(signal, name))
        assert process.wait(60) == -getattr(signal, name)
    finally:
        process.kill()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize(
    "line",
    [
        *("gold.json a.json", "gold.json a.json --format json", "gold.json a.json --score-only", "--help", "--version"),
        *("variants", "layouts", "datasets --help", "export rrc a.json", "check-submission a.json"),
    ],
)
def test_full_disk_behind_the_output_is_an_error_in_words(shell: Shell, line: str) -> None:
    for errors, expected in (("", "anls: error: standard output: No space left on device\n"), ("2>/dev/full", "")):
        words = f"{shlex.join(ANLS)} {line} >/dev/full {errors}"
        done = subprocess.run(["bash", "-c", words], capture_output=True, text=True, env=ENVIRONMENT)
        assert (done.returncode, done.stderr.splitlines(True)[-1:]) == (2, [expected] if expected else [])


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("line", ["gold.json a.json --format json", "gold.json a.json --worst 24", "--help"])
def test_output_that_fits_only_in_part_is_an_error_in_words(shell: Shell, line: str, unbuffered: str) -> None:
    resource = pytest.importorskip("resource", reason="this system has no limits")
    program = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (300, {resource.RLIM_INFINITY})); {RUN}"
    environment = {**ENVIRONMENT, "PYTHONUNBUFFERED": unbuffered, "PYTHONDONTWRITEBYTECODE": "1"}
    with open("output", "w", encoding="utf-8") as output:
        words = [sys.executable, "-c", program, *shlex.split(line)]
        done = subprocess.run(words, stdout=output, stderr=subprocess.PIPE, text=True, env=environment)
    assert (done.returncode, done.stderr) == (2, "anls: error: standard output: File too large\n")


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="this system has no /dev/zero")
@pytest.mark.parametrize(
    "line", ["/dev/zero", "gold.json /dev/zero", "gold.json - </dev/zero", "check-submission /dev/zero"]
)
def test_device_without_an_end_is_refused(shell: Shell, line: str) -> None:
    limit = "ulimit -v 4000000; "  # else a program that reads it would take all memory
    command = ["bash", "-c", f"{limit}{shlex.join(ANLS)} {line}"]
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT)
    words = "it is a device: pass a file, or pipe the data into the command\n"
    assert (done.returncode, done.stdout, done.stderr.endswith(words)) == (2, "", True), done.stderr


def test_output_is_the_same_in_every_process(shell: Shell) -> None:
    found = set()
    for seed in ("1", "2"):
        line = [*ANLS, *f"{COMPARE} --format json --by kind --metrics f1 --output {seed}.csv".split()]
        done = subprocess.run(line, capture_output=True, check=True, env={**ENVIRONMENT, "PYTHONHASHSEED": seed})
        found.add((done.stdout, Path(f"{seed}.csv").read_bytes()))
    assert len(found) == 1


def test_plain_run_imports_only_what_it_needs(tmp_path: Path, run_python: RunPython) -> None:
    program = f"import sys; from anls_metric.command import command_line; command_line.main({FILES} + ['--score-only'])"
    done = run_python(f"{program}; print(*sys.modules)", tmp_path, PYTHONPATH=str(ROOT))
    modules = set(done.stdout.splitlines()[-1].split())
    assert "anls_metric.reading.join" in modules
    unneeded = {"command.subcommands", "command.leaderboard", "api", "metric", "core.statistics.identification"}
    unneeded |= {"core.values", "rules", "report.html", "report.hub", "page", "hub"}
    unneeded |= {"analysis.metric_values", "analysis.comparison", "analysis.variant_search"}
    unneeded |= {"analysis.lost_points", "analysis.step_search", "analysis.answer_rows"}
    assert modules & {f"anls_metric.{name}" for name in unneeded} == set()
    assert modules & {"evaluate", "numpy", "pandas", "pyarrow", "PIL", "gradio", "unicodedata2", "zipfile"} == set()


READERS = {"containers", "formats", "join", "layouts", "memory", "reader", "record_lists", "roles", "systems", "values"}
LARGEST = {  # what scores of strings in lists may load, in nodes of the syntax tree
    "[['tea'], ['tea']]": 28_500,
    "[['tea'], ['coffee']]": 51_000,  # hints about wrong answers are given at once
}


@pytest.mark.parametrize("references", LARGEST)
def test_scores_of_lists_import_only_what_they_need(references: str, tmp_path: Path, run_python: RunPython) -> None:
    program = f"import sys, anls_metric; anls_metric.score(['tea', 'tea'], {references}).anls"
    modules = set(run_python(f"{program}; print(*sys.modules)", tmp_path, PYTHONPATH=str(ROOT)).stdout.split())
    assert {"anls_metric.reading.columns", "anls_metric.analysis.scored"} <= modules
    unneeded = {"reading.files", "reading.samples", "gold", "hub", "document", "report", "rules", "command", "page"}
    unneeded |= {"core.values", "core.statistics.significance", "core.statistics.clusters", "core.strings.metrics"}
    unneeded |= {"analysis.comparison", "analysis.variant_search", "analysis.answer_rows", "analysis.groups"}
    unneeded |= {f"reading.{name}" for name in READERS}
    if "coffee" not in references:
        unneeded |= {"analysis.hints", "analysis.causes", "analysis.lost_points", "core.extraction.extract"}
    assert modules & {f"anls_metric.{name}" for name in unneeded} == set()
    own = {name for name in modules if name.partition(".")[0] == "anls_metric"}
    trees = (ast.parse(getsource(import_module(name))) for name in own)
    assert sum(1 for tree in trees for _ in ast.walk(tree)) <= LARGEST[references]


LISTS = [
    {"id": 1, "prediction": ["Leeds", "x", "12"], "answers": ["Leeds", "12"]},
    {"id": 2, "prediction": ["Hull"], "answers": ["Hull", "York", "Bath"]},
]
NESTED = [
    {"id": 1, "prediction": {"sum": "1", "tax": None, "of": "x"}, "answers": {"sum": "1", "of": "y"}},
    {"id": 2, "prediction": {"sum": "2"}, "answers": {"sum": "2"}},
]
CHARTS = [
    {"Answer": [answer], "Question Type": kind, "Year": [year], "prediction": said}
    for answer, kind, year, said in [("2010", "Factoid", "YES", "2011"), ("10", "Factoid", "NO", "10.4")]
]
PROGRAM = [{"answer": "12", "answer_format": "Int", "pred": "12"}, {"answer": "4", "answer_format": "Int", "pred": "5"}]


@pytest.mark.parametrize(
    ("records", "options", "found"),
    [
        (LISTS, "", ["anls_star", "anlsl"]),
        (LISTS, "--variant anls_star", ["anls_star", "anlsl"]),
        (NESTED, "", ["anls_star", "anls_star with --average leaves", "anls_star with --none-keys ignored"]),
        (CHARTS, "", ["chartqapro"]),
        (PROGRAM, "--prediction-field pred", ["mmlongbench_doc"]),
    ],
)  # fmt: skip
def test_find_tries_values_and_benchmarks_whose_columns_are_there(
    shell: Shell, records: list[dict[str, Any]], options: str, found: list[str]
) -> None:
    shell.write({"t.json": records})
    for name in found:
        variant, _, more = name.partition(" with ")
        own = options.replace("--variant anls_star", "")
        (score,) = shell.scores(f"t.json {own} --variant {variant} {more} --quiet")
        line = shell.print(f"t.json {options} --find {score:.6f} --quiet")
        assert re.search(rf"(?:fits|,) {variant}[, ]", line)
        assert more in line
