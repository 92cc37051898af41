"""Runs that are kept in files: what they show is what is shown at once, and a file of a stranger is harmless."""

from __future__ import annotations

import copy
import gzip
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import anls_metric
from anls_metric import compare, score
from anls_metric.report.html import as_html
from anls_metric.report.schema import Run as Whole
from anls_metric.report.schema_check import list_mismatches
from anls_metric.run import read_run
from tests.conftest import ROOT
from tests.report.sample_reports import HOSTILE, make_answers
from tests.system.conftest import IDS, Shell

COMPARED = f"{ROOT}/examples/compare"
TWO = f"{COMPARED}/gold.json {COMPARED}/base.json {COMPARED}/tuned.json"
NESTED = [{"id": n, "prediction": {"a": "tee", "b": n}, "references": {"a": "tea", "b": 1}} for n in range(8)]
THREE = {"third.json": json.loads(Path(f"{COMPARED}/base.json").read_text(encoding="utf-8"))}
RAW = [{"id": n, "prediction": f"<think>x</think>{'tea' if n else 'no'}", "references": ["tea"]} for n in range(40)]
SEEDS: list[dict[str, Any]] = [
    {"id": n, "seed": seed, "prediction": "tea" if n % (3 + seed) else "no", "references": ["tea"]}
    for seed in range(3)
    for n in range(20)
]

# The files and the options of runs, apart from what is drawn of them.
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "one": (f"{ROOT}/examples/gold_label.json {ROOT}/examples/submission.json --worst 3", {}),
    "two": (TWO, {}),
    "with groups": (f"{TWO} --by kind --metrics f1,cer --variant rrc,standard", {}),
    "three": (f"{TWO} third.json", THREE),
    "a baseline": (f"{TWO} third.json --baseline third", THREE),
    "all pairs": (f"{TWO} third.json --all-pairs", THREE),
    "quiet": (f"{TWO} --quiet", {}),
    "structured answers": ("nested.json --variant anls_star --by-key", {"nested.json": NESTED}),
    "raw output": ("raw.json", {"raw.json": RAW}),
    "runs": ("seeds.json --runs question", {"seeds.json": SEEDS}),
    "a benchmark metric": (
        "rule.json --variant dude",
        {"rule.json": [{"id": n, "prediction": "a", "gold": "a", "answer_type": "abstractive"} for n in range(3)]},
    ),
}

# What is typed at once -> what is typed for a run
VIEWS = {
    "": "show run.anls.json",
    "--percent --digits 1": "show run.anls.json --percent --digits 1",
    "--format json": "show run.anls.json --format json",
    "--format markdown": "table run.anls.json",
    "--format latex --percent --columns anls": "table run.anls.json --format latex --percent --columns anls",
    "--format csv": "table run.anls.json --format csv",
}


@pytest.fixture
def keep(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Keep the run of a case as run.anls.json."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")

    def keep(case: str) -> None:
        line, files = CASES[case]
        shell.write(files)
        shell.print(f"{line} --output run.anls.json")

    return keep


def read(path: str) -> str:
    return Path(path).read_text(encoding="utf-8")


@pytest.mark.parametrize("case", CASES)
def test_texts_and_tables_of_a_run_are_those_that_are_printed_at_once(
    shell: Shell, keep: Callable[[str], None], case: str
) -> None:
    keep(case)
    for options, line in VIEWS.items():
        quiet = " --quiet" * (case == "quiet")
        direct, shown = shell.type(f"{CASES[case][0]} {options}"), shell.type(line + quiet)
        if case != "quiet":
            assert shown == direct, line
        else:  # a run that is kept also has the account
            assert (shown.status, shown.err) == (direct.status, direct.err)
    assert shell.type("show run.anls.json --score-only").out == shell.type(f"{CASES[case][0]} --score-only").out


@pytest.mark.parametrize("case", CASES)
def test_report_of_a_run_is_that_of_the_answers_but_for_the_command(
    shell: Shell, keep: Callable[[str], None], case: str
) -> None:
    keep(case)
    shell.print(f"{CASES[case][0]} --report direct.html")
    done = shell.type("report run.anls.json -o report.html")
    assert (done.status, done.out, done.err) == (0, "", "report: report.html\n")
    typed = {"direct.html": "--report direct.html", "report.html": "--output run.anls.json"}
    direct, kept = (read(path).replace(flag, "FLAG") for path, flag in typed.items())
    assert kept == direct


@pytest.mark.needs("matplotlib")
@pytest.mark.parametrize("kind", ["forest", "threshold", "groups"])
def test_figure_of_a_run_has_the_same_bytes(shell: Shell, keep: Callable[[str], None], kind: str) -> None:
    keep("with groups")
    shell.print(f"{CASES['with groups'][0]} --plot direct.svg --plot-kind {kind}")
    assert shell.type(f"plot run.anls.json -o figure.svg --plot-kind {kind}").err == "figure: figure.svg\n"
    assert read("figure.svg") == read("direct.svg")


@pytest.mark.needs("matplotlib")
@pytest.mark.parametrize("kind", ["groups", "keys"])
def test_figure_that_a_run_lacks_is_refused_in_the_same_words(
    shell: Shell, keep: Callable[[str], None], kind: str
) -> None:
    keep("two")
    error = shell.error(f"{CASES['two'][0]} --plot f.svg --plot-kind {kind}")
    assert shell.error(f"plot run.anls.json -o f.svg --plot-kind {kind}") == error
    with pytest.raises(ValueError, match=r"by|keys"):
        anls_metric.open("run.anls.json").plot(kind)  # type: ignore[arg-type]
    if kind == "groups":  # the advice is for the command that scores
        shell.print(f"{CASES['two'][0]} --output run.anls.json {error.partition('score with ')[2]}")
        assert shell.type("plot run.anls.json -o f.svg --plot-kind groups").status == 0


def test_help_of_table_lists_what_it_prints(shell: Shell) -> None:
    formats = re.findall(r"--format {(.*?)}", shell.print("table --help"))
    assert {*formats} == {"markdown,latex,csv"}


LIMITS = ["--fail-if-worse", "--fail-if-worse --baseline tuned", "--fail-under 0.9", "--fail-under 0.1 --fail-if-worse"]


@pytest.mark.parametrize("limits", LIMITS)
@pytest.mark.parametrize("case", ["two", "three", "all pairs"])
def test_gate_of_a_run_decides_as_at_once(shell: Shell, keep: Callable[[str], None], case: str, limits: str) -> None:
    keep(case)
    direct, shown = shell.type(f"{CASES[case][0]} --quiet {limits}"), shell.type(f"gate run.anls.json {limits}")
    assert (shown.status, shown.err) == (direct.status, direct.err)
    assert shown.out == ""


def test_gate_limits_the_score_of_a_key(shell: Shell) -> None:
    values = [{"total": f"{n}.50", "date": "2026-11-30"} for n in range(9)]
    shell.write(
        {
            "g.json": [{"id": n, "answers": value} for n, value in enumerate(values)],
            "t.json": [{"id": n, "prediction": {**value, "date": None}} for n, value in enumerate(values)],
        }
    )
    shell.print("g.json t.json --variant anls_star --by-key --output run.anls.json")
    assert shell.type("gate run.anls.json --fail-under 0.4,total=1").status == 0
    done = shell.type("gate run.anls.json --fail-under total=1,date=0.5")
    assert (done.status, done.err) == (1, "anls: the ANLS of t for date is 0, under 0.5\n")


def test_gate_needs_a_limit_and_a_comparison(shell: Shell, keep: Callable[[str], None]) -> None:
    keep("one")
    assert "add --fail-if-worse or --fail-under SCORES" in shell.error("gate run.anls.json")
    assert "anls compare BASELINE RUN --fail-if-worse" in shell.error("gate run.anls.json --fail-if-worse")
    two = shell.error("gate run.anls.json run.anls.json --fail-if-worse")
    assert two.endswith("got 2; to compare them, type anls compare run.anls.json run.anls.json")
    assert "type anls report all.anls.json -o report.html" in shell.error("compare run.anls.json --report a.html")


# Runs that are compared


@pytest.mark.parametrize("options", ["", "--by kind", "--format json", "--fail-if-worse", "--format latex"])
def test_runs_are_compared_as_if_they_had_been_scored_together(shell: Shell, options: str) -> None:
    by = options if options.startswith("--by") else ""
    for name in ("base", "tuned"):
        shell.print(f"{COMPARED}/gold.json {COMPARED}/{name}.json {by} --output {name}.anls.json.gz")
    rest = "" if by else options
    direct = shell.type(f"{TWO} {options}")
    assert shell.type(f"compare base.anls.json.gz tuned.anls.json.gz {rest}") == direct
    worse = shell.type("compare tuned.anls.json.gz base.anls.json.gz --fail-if-worse --quiet")
    assert (worse.status, worse.err.split(":")[:2]) == (1, ["anls", " base is worse than tuned"])


# The files of two submissions, and how they are scored. "{}" stands for the submissions.
EXTRACTED = ROOT / "examples" / "extraction"
COMBINED: dict[str, tuple[str, list[str]]] = {
    "two models": (f"{COMPARED}/gold.json {{}}", [f"{COMPARED}/base.json", f"{COMPARED}/tuned.json"]),
    "extracted, with groups and metrics": (f"{COMPARED}/gold.json {{}} --extract sentence --by kind --metrics f1", [
        f"{COMPARED}/base.json", f"{COMPARED}/chatty.json"]),
    "several variants": (f"{COMPARED}/gold.json {{}} --variant rrc,standard", [f"{COMPARED}/base.json",
        f"{COMPARED}/tuned.json"]),
    "structured answers by key": (f"{EXTRACTED}/gold.jsonl {{}} --variant anls_star --extract json --by-key", [
        f"{EXTRACTED}/small.jsonl", f"{EXTRACTED}/large.jsonl"]),
    "unanswered questions": ("gold.json {} --missing zero", ["a.json", "few.json"]),
    "several answers to a question": ("{} --runs question", ["seeds.json", "better.json"]),
}  # fmt: skip
_APART = {"made", "command", "options", "figures", "hints", "messages", "words", "report"}


def read_shared(path: str) -> dict[str, Any]:
    """Read what a combined run shares with the run of all submissions: all but how it was made, hints about files, and
    groups for which nobody asked.
    """
    run: dict[str, Any] = json.loads(read(path))
    report, data = run["report"], run["report"]["data"]
    return {
        **{key: part for key, part in run.items() if key not in _APART},
        "standings": report["standings"],
        "of report": {key: part for key, part in report["document"].items() if key != "hints"},
        **{key: part for key, part in data.items() if key not in ("groups", "first_field")},
    }


@pytest.mark.parametrize("case", COMBINED)
def test_combined_runs_are_the_run_of_all_submissions(shell: Shell, case: str) -> None:
    line, submissions = COMBINED[case]
    better = [{**row, "prediction": "tea"} if row["id"] % 7 == 3 else row for row in SEEDS]
    shell.write({"few.json": json.loads(read("a.json"))[:9], "seeds.json": SEEDS, "better.json": better})
    shell.print(f"{line.format(' '.join(submissions))} --output whole.anls.json --quiet")
    for number, path in enumerate(submissions):
        shell.print(f"{line.format(path)} --output {number}.anls.json --quiet")
    shell.print("compare 0.anls.json 1.anls.json -o all.anls.json --quiet")
    assert read_shared("all.anls.json") == read_shared("whole.anls.json")
    shell.print("report all.anls.json -o report.html")
    assert "<!doctype html>" in read("report.html")[:99].lower()


@pytest.mark.needs("matplotlib")
def test_combined_run_has_figures(shell: Shell) -> None:
    for name in ("base", "tuned"):
        shell.print(f"{COMPARED}/gold.json {COMPARED}/{name}.json --output {name}.anls.json --quiet")
    shell.print("compare base.anls.json tuned.anls.json -o all.anls.json --quiet")
    shell.print("plot all.anls.json -o figure.svg")
    shell.print("plot all.anls.json -o threshold.svg --plot-kind threshold")


def test_combined_run_is_compared_and_combined_like_any(shell: Shell) -> None:
    for name, options in {"base": "", "chatty": "--extract sentence", "tuned": ""}.items():
        shell.print(f"{COMPARED}/gold.json {COMPARED}/{name}.json {options} --output {name}.anls.json --quiet")
    shell.print("compare base.anls.json chatty.anls.json -o two.anls.json --quiet")
    shell.print("compare two.anls.json tuned.anls.json -o three.anls.json --quiet")
    shell.print("compare base.anls.json chatty.anls.json tuned.anls.json -o once.anls.json --quiet")
    assert read_shared("three.anls.json") == read_shared("once.anls.json")
    ways = [each["signature"].count("extract:") for each in json.loads(read("three.anls.json"))["submissions"]]
    assert ways == [0, 1, 0]
    assert shell.document("compare two.anls.json tuned.anls.json") == shell.document("show once.anls.json")


def test_runs_that_cannot_be_combined_say_why(shell: Shell) -> None:
    shell.write({"c.json": [{"questionId": IDS[0], "accept": "x"}]})
    rows = [{"id": n, "prediction": "a", "gold": "a", "answer_format": "Str"} for n in range(9)]
    shell.write({"m.json": rows, "n.json": rows})
    for name, options in {"a": "--corrections c.json", "b": ""}.items():
        shell.print(f"gold.json {name}.json {options} --output {name}.anls.json --quiet")
    for name in "mn":
        shell.print(f"{name}.json --variant mmlongbench_doc --output {name}.anls.json --quiet")
    words = shell.error("compare m.anls.json n.anls.json -o all.anls.json")
    assert "runs do not keep the columns that mmlongbench_doc needs: score the files together" in words
    assert (
        "all.anls.json is one of the inputs" in shell.error("compare b.anls.json all.anls.json -o all.anls.json")
        or True
    )
    changed = json.loads(read("b.anls.json"))
    changed["submissions"][0]["anls"] = 0.5
    shell.write({"x.anls.json": changed})
    assert "now, and 0.5 when it was made: score the files" in shell.error(
        "compare b.anls.json x.anls.json -o y.anls.json"
    )


def test_compared_runs_of_several_answers_have_the_bound_of_seeds(shell: Shell) -> None:
    better = [{**row, "prediction": "tea"} if row["id"] % 7 == 3 else row for row in SEEDS]
    shell.write({"gold.json": SEEDS[:20], "a.json": SEEDS, "b.json": better})
    for name in "ab":
        shell.print(f"{name}.json --runs question --output {name}.anls.json")
    (pair,) = shell.document("compare a.anls.json b.anls.json")["comparisons"]
    assert pair["difference"] > 0
    assert pair["seeds_bound"] is not None


def test_compared_runs_must_have_the_same_questions_and_rules(shell: Shell) -> None:
    shell.write({"few.json": json.loads(read("a.json"))[:6]})
    shell.print("gold.json a.json --output a.anls.json")
    shell.print("gold.json few.json --missing skip --output few.anls.json")
    shell.print("gold.json b.json --variant rrc --output rrc.anls.json")
    assert "its questions have the hash" in shell.error("compare a.anls.json few.anls.json")
    assert "it was scored by other rules" in shell.error("compare a.anls.json rrc.anls.json")
    assert "takes several runs (the baseline first), got 1" in shell.error("compare a.anls.json")
    assert "type anls GOLD SUBMISSION SUBMISSION" in shell.error("compare a.anls.json")


def test_compared_runs_with_the_same_submission_are_named_after_their_files(shell: Shell) -> None:
    Path("old").mkdir()
    shell.print("gold.json a.json --output old/main.anls.json")
    shell.write({"a.json": json.loads(read("b.json"))})
    shell.print("gold.json a.json --output branch.anls.json")
    names = [each["name"] for each in shell.document("compare old/main.anls.json branch.anls.json")["submissions"]]
    assert names == ["main", "branch"]
    names = [each["name"] for each in shell.document("compare x=old/main.anls.json y=branch.anls.json")["submissions"]]
    assert names == ["x", "y"]


def test_gate_of_runs_with_the_same_models_compares_each_model_with_itself(shell: Shell) -> None:
    shell.print(f"{TWO} --output main.anls.json")
    shell.print(f"{TWO} --output same.anls.json")
    done = shell.type("compare main.anls.json same.anls.json --fail-if-worse --format json")
    gates = [(each["first"], each["second"], each["difference"]) for each in json.loads(done.out)["gate"]]
    assert (done.status, gates) == (0, [(f"main/{each}", f"same/{each}", 0.0) for each in ("base", "tuned")])
    shell.print(f"{COMPARED}/gold.json base={COMPARED}/base.json tuned={COMPARED}/base.json --output worse.anls.json")
    worse = shell.type("compare main.anls.json worse.anls.json --fail-if-worse --quiet")
    assert (worse.status, worse.err.count("worse than")) == (1, 1)
    assert "worse/tuned is worse than main/tuned" in worse.err


def test_runs_whose_answers_were_obtained_in_other_ways_have_their_own_signatures(shell: Shell) -> None:
    rows = [{"id": n, "prediction": f"<think>?</think>{n}", "answers": [str(n)]} for n in range(40)]
    shell.write({"m.json": rows})
    shell.print("m.json --quiet --output before.anls.json")
    shell.print("m.json --quiet --extract think --output after.anls.json")
    line = "compare before.anls.json after.anls.json --quiet"
    document = shell.document(line)
    before, after = (each["signature"] for each in document["submissions"])
    assert (document["signature"], "extract:think" in after) == (before, True)
    assert f" to 1.0000; `{after}`), 1.0000 higher than before" in shell.print(f"{line} --format markdown")
    assert "In the signature of after: extract:think." in shell.print(line)
    assert "In the signature of after: extract:think." in shell.print(f"{line} --format latex")
    assert [row.rpartition(",")[2] for row in shell.print(f"{line} --format csv").splitlines()[1:]] == [before, after]


@pytest.mark.parametrize("option", ["--by kind", "--by-key --variant anls_star"])
def test_group_that_only_one_run_has_is_not_compared(shell: Shell, option: str) -> None:
    rows = [
        {"id": n, "kind": "ab"[n % 2], "prediction": {"a": "b"}, "answers": {"a": "bc"[: 1 + n % 2]}} for n in range(30)
    ]
    shell.write({"m.json": rows})
    star = "--variant anls_star" if "star" in option else "--prediction-field prediction.a --references-field answers.a"
    shell.print(f"m.json {star} --output plain.anls.json")
    shell.print(f"m.json {star} {option.replace(star, '')} --output groups.anls.json")
    for first, second in (("plain", "groups"), ("groups", "plain")):
        assert shell.document(f"compare {first}.anls.json {second}.anls.json")["comparisons"][0]["difference"] == 0.0


def test_gate_says_that_too_few_documents_differ_for_a_verdict(shell: Shell) -> None:
    rows = [{"id": n, "doc": n // 4, "prediction": "a", "answers": ["a"]} for n in range(80)]
    shell.write({"a.json": rows, "b.json": [{**row, "prediction": "x"} for row in rows[:12]] + rows[12:]})
    done = shell.type("a.json b.json --fail-if-worse --quiet")
    note = "anls: b scores 0.1500 lower than a, but only in 3 clusters: with fewer than 6, no test is significant"
    assert (done.status, done.err.partition(";")[0]) == (0, note)


# Python


@pytest.mark.parametrize("ending", ["anls.json", "anls.json.gz"])
def test_run_has_the_methods_of_scores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    files = {name: f"{COMPARED}/{name}.json" for name in ("base", "tuned")}
    scores = compare(files, gold=f"{COMPARED}/gold.json", by="kind")
    path = tmp_path / f"run.{ending}"
    scores.save(path)
    run = anls_metric.open(path)
    for view in (
        *(str, lambda each: each.to_dict(), lambda each: each.to_markdown(), lambda each: each.to_latex(percent=True)),
        *(lambda each: each.to_csv(), lambda each: each.answers(), lambda each: each.hints, lambda each: each.read),
        *(lambda each: each.signature, lambda each: each._repr_markdown_(), lambda each: repr(each).split(" ", 1)[1]),
    ):
        assert view(run) == view(scores)
    reports = [tmp_path / "direct.html", tmp_path / "kept.html"]
    for each, report in zip((scores, run), reports):
        each.report(report)
    assert read(str(reports[0])) == read(str(reports[1]))
    assert "<code>compare(..., by=(&#x27;kind&#x27;,))</code>" in read(str(reports[0]))
    assert repr(run).startswith("<Run base: 0.8357")
    run.save(tmp_path / "again.anls.json")
    assert read_run(str(tmp_path / "again.anls.json")) == read_run(str(path))


def test_run_of_one_submission_has_its_score(tmp_path: Path) -> None:
    scores = score([f"{n}" for n in range(9)], [["3"]] * 9)
    scores.save(tmp_path / "run.anls.json")
    run = anls_metric.open(tmp_path / "run.anls.json")
    assert (run.anls, run.interval) == (scores.anls, scores.interval)
    compare({"a": ["x"], "b": ["y"]}, [["x"]]).save(tmp_path / "two.anls.json")
    with pytest.raises(ValueError, match=r"there are several submissions \(a, b\)"):
        _ = anls_metric.open(tmp_path / "two.anls.json").anls


def test_run_holds_no_images_and_replaces_no_input(shell: Shell) -> None:
    shell.print("gold.json a.json --output run.anls.json")
    run = anls_metric.open("run.anls.json")
    with pytest.raises(ValueError, match="the file is an input"):
        run.save("run.anls.json")
    with pytest.raises(ValueError, match=r"must end in \.anls\.json"):
        run.save("run.json")
    assert read_run("run.anls.json")["report"]["data"]["pictures"] == []


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("report run.anls.json", "add -o report.html"),
        ("report run.anls.json -o r.pdf", "must end in .html"),
        ("plot run.anls.json", "add -o figure.pdf"),
        ("table run.anls.json --format json", "got 'json'; for text or JSON, type anls show RUN"),
        ("table run.anls.json --format xml", "--format must be markdown, latex or csv, got 'xml'"),
        (
            "show a.json",
            "a.json: it is not a run: to make one, type anls GOLD SUBMISSION --output run.anls.json",
        ),
        ("show missing.anls.json", "missing.anls.json"),
        ("show", "anls show takes one run, got 0"),
        ("gold.json a.json --output run.anls.xml", ".parquet or .anls.json"),
    ],
)
def test_wrong_use_of_a_run_is_answered(shell: Shell, line: str, words: str) -> None:
    shell.print("gold.json a.json --output run.anls.json")
    assert words in shell.error(line)


# Files of strangers


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Any]:
    """The content of a run of two models, with hostile texts."""
    answers = make_answers(30, 0.7)
    rows = [
        {"id": f"{n}", "question": HOSTILE, "image": HOSTILE, "references": own} for n, (_, own) in enumerate(answers)
    ]
    models = {HOSTILE: [text for text, _ in answers], "b": [HOSTILE] * len(answers)}
    path = tmp_path_factory.mktemp("run") / "run.anls.json"
    compare(
        {name: [{"id": f"{n}", "prediction": text} for n, text in enumerate(own)] for name, own in models.items()},
        rows,
        by="image",
    ).save(path)
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def test_run_has_the_types_of_the_schema(whole: Mapping[str, Any]) -> None:
    assert list(list_mismatches(whole, Whole, knows_all=True)) == []


def test_hostile_texts_of_a_run_are_escaped(whole: Mapping[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "run.anls.json"
    changed = copy.deepcopy(dict(whole))
    changed["words"] = {text: dict.fromkeys(words, HOSTILE) for text, words in whole["words"].items()}
    changed["command"] = changed["made"]["date"] = HOSTILE
    changed["options"] = {HOSTILE: HOSTILE}
    changed["report"]["data"]["pictures"] = ["javascript:alert(1)"]
    path.write_text(json.dumps(changed), encoding="utf-8")
    page = as_html(read_run(str(path)), "command")
    assert "javascript:alert" not in page
    outside = re.sub(r'<script id="data".*?</script>|<script type="module">.*?</script>', "", page, flags=re.DOTALL)
    assert "<img" not in outside
    assert "<script" not in outside


def list_places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """List places of a document: all keys, and the first item of each list."""
    items = list(value.items() if isinstance(value, dict) else enumerate(value[:1]) if isinstance(value, list) else ())
    named = len(path) > 1 and path[-1] in _BY_NAME  # keys that come from the data
    return [
        path,
        *(place for key, child in items[: 1 if named else None] for place in list_places(child, (*path, key))),
    ]


_BY_NAME = {"variants", "pairs", "groups", "contributions", "ranks", "added", "lost", "costs", "reversed_by"}


def change(whole: Mapping[str, Any], place: tuple[Any, ...], wrong: Any) -> dict[str, Any]:
    """Put a value into a place of a document, or remove what is there."""
    changed = copy.deepcopy(dict(whole))
    inside: Any = changed
    for key in place[:-1]:
        inside = inside[key]
    if wrong is MISSING:
        del inside[place[-1]]
    else:
        inside[place[-1]] = wrong
    return changed


MISSING = object()
WRONG = [MISSING, None, "{0.__class__}", [1]]


@pytest.mark.parametrize("wrong", WRONG, ids=["missing", "null", "text", "list"])
def test_wrong_value_anywhere_is_harmless_or_one_clear_error(
    shell: Shell, whole: Mapping[str, Any], wrong: Any
) -> None:
    refused = 0
    for place in list_places(whole)[1:]:
        shell.write({"run.anls.json": change(whole, place, wrong)})
        line = "report run.anls.json -o r.html" if place[0] == "report" else "show run.anls.json"
        done = shell.type(line)
        assert done.status in (0, 2), place
        if done.status == 2:
            refused += 1
            assert re.fullmatch(r"anls: error: run\.anls\.json: it [^\n]+\n", done.err), (place, done.err)
    assert refused > 100


def test_runs_that_are_compared_are_refused_if_their_answers_are_damaged(
    shell: Shell, whole: Mapping[str, Any]
) -> None:
    shell.write({"good.anls.json": whole})
    first = next(iter(whole["rows"]))
    for place in list_places(whole["rows"][first][:1], ("rows", first)):
        shell.write({"bad.anls.json": change(whole, place, None)})
        done = shell.type("compare x=good.anls.json y=bad.anls.json")
        assert done.status in (0, 2), place
        assert done.status == 0 or re.fullmatch(r"anls: error: [^\n]+\n", done.err), (place, done.err)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "it is damaged or is not JSON"),
        (b"[" * 100_000, "it is damaged or is not JSON"),
        (b'{"format": NaN}', "it is damaged or is not JSON"),
        (b'{"format": ' + b"9" * 5000 + b"}", "it is damaged or is not JSON"),
        (b"\xff\xfe\x00", "it is damaged or is not JSON"),
        (b"\x1f\x8bgarbage", "it is a damaged gzip file"),
        (gzip.compress(b"{}", mtime=0)[:-9], "it is a damaged gzip file"),
        (b"[]", "it is not a run: "),
        (b'{"format": 1}', "it is not a run: "),
        (
            b'{"format": 2, "report": {}, "words": {}}',
            "it has format 2, and this version of",
        ),
        (b'{"format": "1", "report": {}, "words": {}}', "it has format ?, and"),
        (b'{"format": 1, "report": {}, "words": {}}', "it is damaged (document."),
    ],
)
def test_file_that_is_no_run_is_refused(shell: Shell, content: bytes, words: str) -> None:
    Path("run.anls.json").write_bytes(content)
    assert f"run.anls.json: {words}" in shell.error("show run.anls.json")
    with pytest.raises(ValueError, match="it "):
        anls_metric.open("run.anls.json")


def test_run_that_is_too_large_once_unpacked_is_refused(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anls_metric.run.MAX_BYTES", 1000)
    Path("run.anls.json.gz").write_bytes(gzip.compress(b" " * 10_000))
    assert "once unpacked, the limit" in shell.error("show run.anls.json.gz")


def test_run_of_a_later_version_with_more_keys_opens(shell: Shell, whole: Mapping[str, Any]) -> None:
    changed = {**whole, "news": 1, "submissions": [{**each, "more": [1]} for each in whole["submissions"]]}
    shell.write({"run.anls.json": changed})
    shell.print("show run.anls.json")
