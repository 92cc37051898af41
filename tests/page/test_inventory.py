"""Which upload is which, the names of submissions, and the equivalent command."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from anls_metric.analysis.evaluation import Evaluation
from anls_metric.core.variants import VARIANTS
from anls_metric.page.advice import ACTIONS, advise
from anls_metric.page.inputs import make_reading
from anls_metric.page.inventory import Inventory, find_submissions_of, take_inventory
from anls_metric.page.messages import format_command
from anls_metric.page.summary import format_result
from anls_metric.page.upload_scoring import Result, Task, score
from anls_metric.page.uploads import Upload, open_all
from anls_metric.reading.errors import InputError
from anls_metric.reading.sources import Reading
from anls_metric.reading.submissions import find_submissions
from tests.conftest import ROOT

GOLD = ROOT / "examples" / "gold_label.json"
SUBMISSION = ROOT / "examples" / "submission.json"


def write(path: Path, content: object) -> Path:
    """Write a made-up file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def list_answers(**more: str) -> list[dict[str, Any]]:
    """Make right answers to the questions of the example."""
    records = json.loads(GOLD.read_text())["data"]
    return [{"questionId": record["questionId"], "answer": record["answers"][0], **more} for record in records]


def take(*paths: Path, gold: Path | None = None, names: dict[str, str] | None = None) -> Inventory:
    opened, broken = open_all([Upload(str(path)) for path in paths], None)
    assert not broken
    return take_inventory(opened, str(gold) if gold else None, Reading(), opened, names)


def score_paths(*paths: Path, **asked: Any) -> Result:
    """Score files as for a visitor who drops them."""
    steps = score(Task([Upload(str(path)) for path in paths], report=True, **asked), "page")
    (result,) = [step for step in steps if isinstance(step, Result)]
    return result


def test_gold_file_is_found_in_any_order() -> None:
    for paths in ([GOLD, SUBMISSION], [SUBMISSION, GOLD]):
        inventory = take(*paths)
        assert (inventory.gold, inventory.answers) == (str(GOLD), [str(SUBMISSION)])
        assert inventory.list_files() == ["gold_label.json", "submission.json"]


def test_two_gold_files_are_a_choice(tmp_path: Path) -> None:
    other = write(tmp_path / "other.json", {"data": json.loads(GOLD.read_text())["data"], "version": "made up"})
    with pytest.raises(InputError, match="2 files have accepted answers and no predictions"):
        take(GOLD, other, SUBMISSION)
    inventory = take(GOLD, other, SUBMISSION, gold=other)
    assert inventory.list_files() == ["other.json", "submission.json"]
    assert inventory.notes == ["gold_label.json is left out: it has accepted answers and no predictions"]


def test_one_gold_file_under_two_names_is_no_choice(tmp_path: Path) -> None:
    folder = tmp_path / ("0" * 64)  # uploads of one content are in one folder
    golds = [write(folder / name, GOLD.read_text()) for name in ("a.json", "b.json")]
    assert take(*golds, SUBMISSION).gold == str(golds[0])


def test_names_tell_files_of_one_name_apart(tmp_path: Path) -> None:
    same = [write(tmp_path / name / "results.json", list_answers(note=name)) for name in ("a", "b")]
    assert list(take(GOLD, *same).names.values()) == ["results (1)", "results (2)"]
    models = [write(tmp_path / f"m{name}" / "out.json", list_answers(model=f"org/{name}")) for name in ("a", "b")]
    assert list(take(GOLD, *models).names.values()) == ["a", "b"]
    head = [
        write(tmp_path / f"h{name}" / "out.json", {"model_name": name, "data": list_answers()}) for name in ("c", "d")
    ]
    assert list(take(GOLD, *head).names.values()) == ["c", "d"]
    other = write(tmp_path / "results (1).json", list_answers(note="third"))
    assert list(take(GOLD, other, *same).names.values()) == ["results (1)", "results (2)", "results (3)"]


def test_given_names_are_those_of_the_command(tmp_path: Path) -> None:
    same = [write(tmp_path / name / "results.json", list_answers(note=name)) for name in ("a", "b")]
    inventory = take(GOLD, *same, names={str(same[0]): " base/line=1 "})
    assert inventory.list_files() == ["gold_label.json", "base-line-1=results.json", "results (2)=results.json"]
    runs = take(GOLD, *same, names=dict.fromkeys(map(str, same), "one model"))
    opened, _ = open_all([Upload(str(path)) for path in (GOLD, *same)], None)
    assert [submission.name for submission in find_submissions_of(runs, Reading(), opened, ())] == ["one model"]


def test_broken_file_leaves_the_others(tmp_path: Path) -> None:
    broken = write(tmp_path / "broken.json", "{")
    other = write(tmp_path / "other.json", [{"questionId": 99, "answer": "x"}])
    means = {"results": {"docvqa": {"anls,none": 0.8, "anls_stderr,none": 0.1}}}
    result = score_paths(broken, other, write(tmp_path / "results_1.json", means), SUBMISSION, GOLD)
    assert [entry["name"] for entry in result.document["submissions"]] == ["submission"]
    assert list(result.broken) == ["broken.json", "results_1.json", "other"]
    assert "score the file of its samples instead" in result.broken["results_1.json"].text
    assert result.files == ["gold_label.json", "submission.json"]
    for alone in ([broken, GOLD], [broken]):
        with pytest.raises(ValueError, match=r"broken\.json, line 1"):
            score_paths(*alone)


def test_lists_and_nested_values_get_their_variant(tmp_path: Path) -> None:
    for paths in ([ROOT / "examples" / "invoices.jsonl"], [GOLD, write(tmp_path / "a.json", nested_answers())]):
        with pytest.raises(InputError, match="not a text") as error:
            score_paths(*paths)
        action = advise(error.value).action
        assert action is not None
        assert (action.setting, action.value) == ("variant", "anls_star")


def nested_answers() -> list[dict[str, Any]]:
    return [{"questionId": number, "answer": {"total": "5"}} for number in range(1, 7)]


def test_metrics_and_suspects_are_shown(tmp_path: Path) -> None:
    files = [write(tmp_path / f"{name}.json", list_answers(sure="0.5")) for name in "abc"]
    for path in files:  # all of them agree on a wrong answer
        path.write_text(path.read_text().replace(list_answers()[0]["answer"], "wrong"))
    reading = make_reading(VARIANTS["standard"], False, confidence_field="sure")
    corrections = write(tmp_path / "corrections.json", [{"questionId": 2, "accept": "one more"}])
    asked = {"metrics": "f1", "by": ["answer_type"], "corrections": Upload(str(corrections)), "reading": reading}
    result = score_paths(GOLD, *files, **asked)
    assert set(result.document["submissions"][0]) >= {"metrics", "corrections", "confidence", "groups"}
    shown = format_result(result, "anls gold.json")
    assert all(word in shown for word in ("AUROC", "1 question with more accepted", "Most agree", "by 3 submissions"))


def test_button_of_each_action_names_what_it_does() -> None:
    for remedy, action in ACTIONS.items():
        error = InputError("problem", "file.json", remedy, "value")
        given = advise(error).action
        assert given is not None
        assert "{" not in "".join(given)
        assert ("value" in given.value) == ("{value}" in action.value)


def test_command_says_what_the_settings_say() -> None:
    values = {
        "variant": "rrc",
        "by": ["kind", "a b"],
        "unanswered_score_0": True,
        "ignore_extra": True,
        "case": "counts",
    }
    values |= {"references_separator": "-", "corrections": Upload("/x/my corrections.json"), "threshold": 0.0}
    assert shlex.split(format_command(values, ["-gold.json", "a=b.json"])) == [
        *("anls", "./-gold.json", "a=b.json", "--variant", "rrc", "--threshold", "0.0"),
        *("--references-separator=-", "--by", "kind", "--by", "a b", "--corrections", "my corrections.json"),
        *("--missing", "zero", "--extra", "ignore", "--no-ignore-case"),
    ]


def test_evaluation_skips_broken_submissions_on_request(tmp_path: Path) -> None:
    paths = [str(GOLD), str(write(tmp_path / "broken.json", "{")), str(SUBMISSION)]
    with pytest.raises(InputError, match="the JSON is cut off"):
        Evaluation(find_submissions(paths)).finish()
    evaluation = Evaluation(find_submissions(paths), skip_broken=True).finish()
    assert [entry.name for entry in evaluation.entries] == ["submission"]
    assert list(evaluation.broken) == ["broken"]
    assert evaluation.notes == []
    with pytest.raises(InputError, match="the JSON is cut off"):  # nothing is left
        Evaluation(find_submissions(paths[:2]), skip_broken=True).finish()
