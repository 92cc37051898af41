"""Which of several files is the gold file, and what is said about references on both sides. The records are made up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from anls_metric import compare, score
from anls_metric.page.file_scores import show
from tests.reading.conftest import Shell, read

WORDS = ["Leeds", "14 May", "Kestrel", "230", "blue", "7", "Oslo", "Rome"]
SAID = ["Leeds", "15 May", "nobody", "230", "blue", "9", "Oslo", "Rome"]


def write(**values: str) -> list[dict[str, Any]]:
    """Write records with the answers of a model and the references, under the given names."""
    return [
        {"qid": n, **{name: {"said": said, "true": true, "all": [true, true.upper()]}[value] for name, value in
            values.items()}}
        for n, (true, said) in enumerate(zip(WORDS, SAID))
    ]  # fmt: skip


GOLD, LIST = write(answer="true"), write(answers="all")
PLAIN, BARE = write(prediction="said"), write(answer="said")
TABLE, OTHER = write(prediction="said", answers="all"), write(response="said", answer="true")
CANONICAL = write(answer="true", answers="all")
COPY = write(answer="said", ground_truth="true")
UNKNOWN = write(reply="said", ground_truth="true")
BY_ID = {str(row["qid"]): row["answer"] for row in BARE}

# The files in the order of the command, and the gold file; "" if each has its own references; or words of the error.
GOLDS: dict[str, tuple[dict[str, Any], str]] = {
    "one answer, and a copy beside the prediction": ({"g": GOLD, "x": TABLE}, "g"),
    "one answer, and a copy under the same name": ({"g": GOLD, "x": OTHER}, "g"),
    "one answer, and results under the same name": ({"g": GOLD, "x": COPY}, "g"),
    "one answer, and two results": ({"g": GOLD, "x": TABLE, "y": OTHER}, "g"),
    "one answer on both sides": ({"g": GOLD, "x": BARE}, "g"),
    "answers by id on both sides": ({"g": {str(row["qid"]): row["answer"] for row in GOLD}, "x": BY_ID}, "g"),
    "a list of references": ({"g": LIST, "x": BARE, "y": TABLE}, "g"),
    "a list of references after a submission": ({"x": BARE, "g": LIST}, "g"),
    "a list of references after results": ({"x": TABLE, "g": LIST}, "g"),
    "a list of references between": ({"x": PLAIN, "g": LIST, "y": COPY}, "g"),
    "one answer after predictions": ({"x": PLAIN, "g": GOLD}, "g"),
    "an answer that is one of the references": ({"g": CANONICAL, "x": BARE}, "g"),
    "an answer that is one of the references, later": ({"x": BARE, "g": CANONICAL}, "g"),
    "an answer that is one of the references, and results": ({"g": CANONICAL, "x": COPY}, "g"),
    "a table, and answers": ({"g": TABLE, "x": BARE}, "g"),
    "two tables": ({"x": TABLE, "y": write(response="said", answers="all")}, ""),
    "results, then one answer": ({"x": TABLE, "g": GOLD}, "g.json: its answers are the references of x.json (8 of 8)"),
    "two results, then one answer": ({"x": TABLE, "y": OTHER, "g": GOLD}, "the gold file, add --gold g.json"),
    "results with an unknown name of predictions": ({"g": GOLD, "x": UNKNOWN}, "the gold file, add --gold g.json"),
    "a part of the questions, then one answer": ({"x": TABLE[:5], "g": GOLD}, "the gold file, add --gold g.json"),
    "a part of the questions": ({"g": GOLD, "x": TABLE[:5]}, "x.json: it has no answer to 3 questions in g.json"),
    "no references": ({"x": PLAIN, "y": PLAIN}, "x.json: no references: pass their field with --references-field"),
}  # fmt: skip


@pytest.mark.parametrize("case", GOLDS)
def test_gold_file_is_found(shell: Shell, case: str) -> None:
    files, expected = GOLDS[case]
    shell.write({f"{name}.json": records for name, records in files.items()})
    line = " ".join(f"{name}.json" for name in files)
    if len(expected) > 1:
        assert expected in shell.error(line)
        return
    submissions = [f"-s {name}.json" for name in files if name != "g"]
    lines = read(shell, line).splitlines()
    assert len(lines) == len(submissions) == len(compare([f"{name}.json" for name in files]).submissions)
    assert all(" (references) of g.json" in each for each in lines) == bool(expected)
    assert shell.scores(line) == shell.scores(" ".join([*submissions, *(["-g g.json"] if expected else [])]))


def test_option_decides_before_names(shell: Shell) -> None:
    shell.write({"g.json": GOLD, "x.json": TABLE})
    by_gold = shell.scores("-g g.json x.json")
    assert shell.scores("-s x.json g.json") == shell.scores("g.json -s x.json") == by_gold
    assert shell.scores("g.json x.json --prediction-field prediction") == by_gold
    assert shell.scores("x.json g.json --prediction-field prediction --references-field answer") == by_gold
    assert shell.scores("-g x.json g.json") == [1]
    assert shell.error("-s g.json -s x.json").startswith("g.json: no references: pass their field with --references-fi")
    assert compare({"a": TABLE, "b": TABLE}).submissions.keys() == {"a", "b"}
    with pytest.raises(ValueError, match=r"^b: no references: pass their field with references=, or pass a gold"):
        compare({"a": TABLE, "b": BARE})


# A submission with references of its own, and what is said about them.
COPIES: dict[str, tuple[list[dict[str, Any]], list[dict[str, Any]], str, str]] = {
    "the same": (GOLD, TABLE, "; answers of x.json not used", ""),
    "the same as a label": (GOLD, write(response="said", label="true"), "; label of x.json not used", ""),
    "one of several": (LIST, COPY, "; ground_truth of x.json not used", ""),
    "some that differ": (LIST, [*COPY[:6], *({**row, "ground_truth": "x"} for row in COPY[6:])],
        "; ground_truth of x.json not used", "x.json: its own references ('ground_truth') differ from those of g.json "
        "in 2 of 8 rows, and are not used; the first is question 6 ('Oslo' there, 'x' here)"),
    "a category": (GOLD, [{**row, "label": "invoice"} for row in PLAIN], "", ""),
    "another answer": (GOLD, [{**row, "answer": "maybe"} for row in PLAIN], "", ""),
}  # fmt: skip


@pytest.mark.parametrize("case", COPIES)
def test_references_of_a_submission_are_compared_with_those_of_the_gold_file(shell: Shell, case: str) -> None:
    gold, answers, end, hint = COPIES[case]
    shell.write({"g.json": gold, "x.json": answers})
    assert read(shell, "-g g.json x.json").partition("8 of 8")[2] == end
    printed = shell.type("-g g.json x.json").err
    assert hint in printed
    assert ("its own references" in printed) == bool(hint)


@pytest.mark.parametrize("submission", [PLAIN, BARE], ids=["prediction", "answer"])
def test_exchanged_files_are_an_error_that_says_so(shell: Shell, submission: list[dict[str, Any]]) -> None:
    shell.write({"g.json": LIST, "x.json": submission})
    said = "g.json looks like the gold file, and x.json like the submission: exchange the two"
    assert shell.error("-g x.json g.json") == said
    with pytest.raises(ValueError, match=f"^{said}$"):
        score("g.json", gold="x.json")
    assert shell.scores("-g g.json x.json") == [score("x.json", gold="g.json").anls]


def test_references_in_another_order_are_an_error_without_a_key(shell: Shell) -> None:
    shell.write({
        "g.json": [{"answers": row["answers"]} for row in LIST],
        "x.json": [{name: row[name] for name in ("prediction", "answers")} for row in TABLE[::-1]],
    })  # fmt: skip
    assert "its own references ('answers') differ from those of g.json in 8 of 8 rows" in shell.error(
        "-g g.json x.json"
    )
    assert shell.scores("-g g.json x.json --id-field none")


def test_page_finds_the_same_gold_file(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    shell.write({"g.json": GOLD, "x.json": TABLE, "y.json": BARE})
    options: dict[str, Any] = {}
    assert show(["g.json", "x.json"], "", {}, options, str(tmp_path / "r" / "a.html"))["gold"] == "g"
    shown = show(["x.json", "g.json"], "", {}, options, str(tmp_path / "r" / "b.html"))
    assert (shown["gold"], list(shown["golds"])) == ("", ["x", "g"])


@pytest.mark.parametrize(("name", "is_hint"), [("a", True), ("gold", False), ("pages_gt", False)])
def test_two_submissions_are_a_hint_unless_one_is_named_as_a_gold_file(shell: Shell, name: str, is_hint: bool) -> None:
    shell.write({f"{name}.json": BARE, "x.json": GOLD})
    assert ("has the fields of a submission" in shell.type(f"{name}.json x.json").err) == is_hint
    shell.write({f"{name}.json": BY_ID, "x.json": BY_ID})
    assert "has the fields of a submission" not in shell.type(f"{name}.json x.json").err
