"""Command, Python and page run the same code, which reads every file once."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from anls_metric import anls_star_score, api, compare
from anls_metric.analysis.scored import ScoredSet
from anls_metric.nested import get_value_variant
from anls_metric.page.upload_scoring import Result, Task, score
from anls_metric.page.uploads import Upload
from anls_metric.reading.batch import Row
from anls_metric.reading.input_file import File
from tests.conftest import ROOT

Run = Callable[..., tuple[int, str, str]]
EXAMPLES = ROOT / "examples" / "compare"


def write(path: Path, answers: dict[str, str]) -> Path:
    path.write_text(json.dumps([{"questionId": key, "answer": text} for key, text in answers.items()]), "utf-8")
    return path


def documents(run: Run, gold: Path, *submissions: Path) -> list[dict[str, Any]]:
    """Make the JSON document with the command, with Python and with the page."""
    status, printed, _ = run(gold, *submissions, "--format", "json")
    assert status == 0
    request = Task([Upload(str(path)) for path in submissions], Upload(str(gold)))
    (outcome,) = [step for step in score(request, "endpoint") if isinstance(step, Result)]
    return [json.loads(printed), compare(submissions, gold).to_dict(), outcome.document]


def test_doors_give_one_document(run: Run) -> None:
    command, python, page = documents(run, *(EXAMPLES / f"{name}.json" for name in ("gold", "base", "tuned", "chatty")))
    assert command["submissions"][2]["name"] == "chatty"
    assert len(command["comparisons"]) == 2
    for document in (python, page):
        hints = [document.pop("hints"), command["hints"]]
        assert len(hints[0]) == len(hints[1])  # the words of each door
        assert document == {key: value for key, value in command.items() if key != "hints"}


def test_submissions_without_common_ids_have_their_numbers_and_a_hint_in_every_door(run: Run, tmp_path: Path) -> None:
    gold = tmp_path / "gold.json"
    gold.write_text(json.dumps({"data": [{"questionId": key, "answers": ["a"]} for key in "1234"]}), "utf-8")
    tables = []
    for name, ids in (("one", "12"), ("two", "34")):
        rows = [{"questionId": key, "prediction": "a", "answers": ["a"]} for key in ids]
        tables.append(tmp_path / f"{name}.json")
        tables[-1].write_text(json.dumps(rows), "utf-8")
    command = json.loads(run(*tables, "--format", "json")[1])
    python = compare(tables)
    (page,) = [step for step in score(Task([Upload(str(path)) for path in tables]), "page") if isinstance(step, Result)]
    for document in (command, python.to_dict(), page.document):
        assert [submission["anls"] for submission in document["submissions"]] == [1.0, 1.0]
        assert document["comparisons"] == []
        assert document["hints"] == ["not compared: two: no question ids in common with one: 3, 4 here, 1, 2 there"]


@pytest.fixture
def openings(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """A counter of how often each file is opened, by its name."""
    counts: Counter[str] = Counter()
    open_file = File.open

    @contextmanager
    def count(file: File) -> Iterator[Any]:
        counts[Path(file.path).name] += 1
        with open_file(file) as stream:
            yield stream

    monkeypatch.setattr(File, "open", count)
    return counts


SUBMISSIONS = ["base.json", "tuned.json", "chatty.json"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["gold.json", "base.json"],
        ["-g", "gold.json", "-s", "base.json"],
        ["gold.json", *SUBMISSIONS],
        ["-g", "gold.json", *SUBMISSIONS],
    ],
    ids=" ".join,
)
def test_command_reads_every_file_once(
    run: Run, openings: Counter[str], arguments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(EXAMPLES)
    assert run(*arguments)[0] == 0
    assert openings == dict.fromkeys((name for name in arguments if name.endswith(".json")), 1)


def test_python_reads_every_file_once(openings: Counter[str]) -> None:
    compare([EXAMPLES / name for name in SUBMISSIONS], EXAMPLES / "gold.json")
    assert openings == dict.fromkeys(["gold.json", *SUBMISSIONS], 1)


def test_page_reads_every_file_once(openings: Counter[str]) -> None:
    uploads = [Upload(str(EXAMPLES / name)) for name in [*SUBMISSIONS, "gold.json"]]
    steps = list(score(Task(uploads, report=True), "page"))
    assert any(isinstance(step, Result) for step in steps)
    assert openings == dict.fromkeys(["gold.json", *SUBMISSIONS], 1)


def test_answers_come_in_any_order_and_questions_in_that_of_the_gold_file(tmp_path: Path) -> None:
    gold = tmp_path / "gold.json"
    gold.write_text(json.dumps({"data": [{"questionId": n, "answers": [f"a{n}"]} for n in range(3000)]}), "utf-8")
    answers = {str(n): f"a{n}" for n in range(3000)}
    forwards = write(tmp_path / "forwards.json", answers)
    backwards = write(tmp_path / "backwards.json", dict(reversed(answers.items())))
    compared = compare([forwards, backwards], gold)
    assert [submission["anls"] for submission in compared.to_dict()["submissions"]] == [1.0, 1.0]
    assert compared.to_dict()["comparisons"][0]["equal"] == 3000


def test_missing_submission_is_said_before_anything_is_scored(run: Run, tmp_path: Path) -> None:
    status, printed, errors = run(
        EXAMPLES / "gold.json", EXAMPLES / "base.json", tmp_path / "gone.json", "--output-dir", tmp_path / "out"
    )
    assert (status, printed) == (2, "")
    assert "gone.json: No such file" in errors
    assert not (tmp_path / "out").exists()


def test_means_of_nested_values_under_another_scorer_change_nothing() -> None:
    """A former bug: they were added to the set's own scores, and narrowed its interval each time."""
    rows = [
        Row("1", {"a": "x", "b": "y"}, ({"a": "x", "b": "z"},), {}),
        Row("2", ["x"], (["x", "y", "z"],), {}),
        Row("3", None, ({"a": "x", "b": "z"},), {}),
    ]
    scored_set = ScoredSet(get_value_variant("anls_star", average="leaves"), keep=True)
    scored_set.add(rows)
    before = scored_set.mean, scored_set.interval
    assert before[0] == 2 / 7
    other = get_value_variant("anls_star", threshold=0.0)
    means = scored_set.means_under([other])
    scores = [anls_star_score(row.prediction, row.references, threshold=0.0) for row in rows[:2]]
    assert means == {"anls_star": pytest.approx(sum(scores) / 3)}
    assert scored_set.means_under([other]) == means
    assert (scored_set.mean, scored_set.interval) == before


def test_values_in_files_are_scored_by_the_same_run(tmp_path: Path) -> None:
    path = tmp_path / "values.jsonl"
    rows = [{"id": n, "prediction": {"a": "x", "b": n}, "references": {"a": "x", "b": n % 2}} for n in range(4)]
    path.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    assert api.score(path, variant="anls_star").anls == 0.75
