"""Several runs of a model, with the command and Python: files with the same name, and answers with the same id."""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from typing import Any

import pytest

from anls_metric import compare, score
from tests.system.conftest import Run, parse_document, run_to_error

QUESTIONS = range(1, 41)
GOLD = [{"questionId": n, "answers": [f"answer {n}"], "docId": n // 2} for n in QUESTIONS]


def make_answers(wrong: range, **fields: Any) -> list[dict[str, Any]]:
    return [{"questionId": n, "answer": "?" if n in wrong else f"answer {n}", **fields} for n in QUESTIONS]


RUNS = [make_answers(range(1, 11)), make_answers(range(5, 11)), make_answers(range(1))]
SCORES = [0.75, 0.85, 1.0]


def write(path: Path, content: Any) -> Path:
    lines = path.suffix == ".jsonl"
    path.write_text("\n".join(map(json.dumps, content)) if lines else json.dumps(content), encoding="utf-8")
    return path


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    return write(tmp_path / "gold.json", GOLD)


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    return [write(tmp_path / f"run{number}.json", answers) for number, answers in enumerate(RUNS, 1)]


def test_files_of_one_name_are_runs(run: Run, gold: Path, files: list[Path]) -> None:
    named = [f"base={path}" for path in files]
    status, out, _ = run(gold, *named)
    assert status == 0
    assert "\nruns       3, 0.7500 to 1.0000, deviation 0.1258\n" in out
    submission = parse_document(run(gold, *named, "--format", "json")[1])["submissions"][0]
    assert submission["name"] == "base"
    assert submission["questions"] == 40
    assert submission["runs"] == 3
    assert submission["run_scores"] == SCORES
    assert submission["run_deviation"] == pytest.approx(statistics.stdev(SCORES))
    assert submission["anls"] == pytest.approx(statistics.mean(SCORES))


def test_runs_of_two_models_are_compared(run: Run, gold: Path, files: list[Path]) -> None:
    arguments = [f"base={files[0]}", f"base={files[1]}", f"tuned={files[2]}", f"tuned={files[2]}"]
    document = parse_document(run(gold, *arguments, "--format", "json")[1])
    assert [(each["name"], each["runs"]) for each in document["submissions"]] == [("base", 2), ("tuned", 2)]
    assert document["comparisons"][0]["difference"] == pytest.approx(0.2)
    assert document["comparisons"][0]["better"] == 10


@pytest.mark.parametrize("field", ["seed", "epoch", "run_id", ""])
@pytest.mark.parametrize("ending", ["json", "jsonl"])
def test_answers_with_the_same_id_are_runs(run: Run, gold: Path, tmp_path: Path, field: str, ending: str) -> None:
    runs = [[{**record, **({field: place} if field else {})} for record in each] for place, each in enumerate(RUNS)]
    path = write(tmp_path / f"answers.{ending}", [record for records in runs for record in records])
    status, out, err = run(gold, path, "--format", "json")
    assert status == 0
    assert "each question has 3 answers, which are scored as runs of one model" in err
    assert (f"{field} 0, {field} 1, {field} 2" in err) == bool(field)
    assert parse_document(out)["submissions"][0]["run_scores"] == SCORES


def test_flag_runs_takes_what_is_uneven_and_refuses_what_is_even(run: Run, gold: Path, tmp_path: Path) -> None:
    uneven = write(tmp_path / "uneven.jsonl", [*RUNS[0], *RUNS[2][:10]])
    assert "the id 1 is repeated" in run_to_error(run, gold, uneven)
    assert "--runs question" in run_to_error(run, gold, uneven)
    submission = parse_document(run(gold, uneven, "--runs", "question", "--format", "json")[1])["submissions"][0]
    assert submission["anls"] == pytest.approx((30 + 10 * 0.5) / 40)
    assert submission["run_scores"] == [0.75, 1.0]
    assert (submission["run_deviation"], submission["exact_match"]) == (None, submission["anls"])
    assert "\nruns " not in run(gold, uneven, "--runs", "question")[1]
    even = write(tmp_path / "even.jsonl", [*RUNS[0], *RUNS[1]])
    assert "the id 1 is repeated" in run_to_error(run, gold, even, "--runs", "error")


def test_points_and_matches_of_uneven_runs_are_averaged_by_question() -> None:
    """Made up: question 1 has three runs, one of them right, and question 2 has one run."""
    answers = [(1, "977633"), (1, "977,633"), (1, "it is 977633"), (2, "12/15/89")]
    questions = [{"questionId": 1, "answers": ["977633"]}, {"questionId": 2, "answers": ["12/15/88"]}]
    records = [{"questionId": question, "answer": answer} for question, answer in answers]
    submission = score(records, questions, runs="question").to_dict()["submissions"][0]
    assert submission["exact_match"] == pytest.approx((1 / 3 + 0) / 2)
    assert submission["contains"] == pytest.approx((2 / 3 + 0) / 2)
    assert submission["points"]["given_to_wrong_numbers"] == pytest.approx((0 + 0.875) / 2)
    in_the_same_format = [records[0], {**records[1], "answer": "977633"}, *records[2:]]
    gain = score(in_the_same_format, questions, runs="question").anls - score(records, questions, runs="question").anls
    assert submission["points"]["lost_to_format"] == pytest.approx(gain)


def test_records_with_the_same_id_and_another_question_are_no_runs(run: Run, tmp_path: Path) -> None:
    records = [{"id": n // 2, "question": f"{n}?", "prediction": "a", "answers": ["a"]} for n in range(40)]
    assert "20 ids belong to several questions each" in run_to_error(run, write(tmp_path / "table.jsonl", records))


def test_flag_run_picks_one(run: Run, gold: Path, files: list[Path], tmp_path: Path) -> None:
    named = [f"base={path}" for path in files]
    assert run(gold, *named, "--run", "2", "--score-only")[1] == "0.85\n"
    assert "no run '4' (found 1, 2, 3)" in run_to_error(run, gold, *named, "--run", "4")
    epochs = [{**record, "epoch": number + 1} for number, records in enumerate(RUNS) for record in records]
    path = write(tmp_path / "epochs.jsonl", epochs)
    assert run(gold, path, "--epoch", "3", "--score-only")[1] == "1.0\n"


def test_runs_of_tables_must_have_the_same_questions(run: Run, tmp_path: Path) -> None:
    tables = [
        write(tmp_path / f"{number}.json", [{"id": n, "prediction": "a", "answers": ["a"]} for n in ids])
        for number, ids in enumerate(((1, 2), (1, 3)))
    ]
    error = run_to_error(run, *(f"base={path}" for path in tables))
    assert (
        "run 2 and run 1 do not have the same questions (the first: 3): score the same questions in each run" in error
    )


def test_results_hold_the_mean_score_of_each_question(run: Run, gold: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "answers.json", [record for records in RUNS for record in records])
    assert run(gold, path, "--output-dir", tmp_path / "out")[0] == 0
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    assert results["per_sample_result"]["1"]["score"] == pytest.approx(2 / 3)
    assert results["per_sample_result"]["20"]["score"] == 1
    assert len(results["per_sample_result"]) == 40
    assert not list((tmp_path / "out").glob(".*"))


def test_long_table_of_models_and_seeds_is_submissions_with_runs(run: Run, gold: Path, tmp_path: Path) -> None:
    records = [
        {**record, "model": model, "seed": seed}
        for model, runs in {"base": RUNS[:2], "tuned": RUNS[1:]}.items()
        for seed, answers in enumerate(runs)
        for record in answers
    ]
    document = parse_document(run(gold, write(tmp_path / "all.jsonl", records), "--format", "json")[1])
    assert [each["run_scores"] for each in document["submissions"]] == [SCORES[:2], SCORES[1:]]


def test_extraction_counts_the_answers_of_all_runs(run: Run, gold: Path, tmp_path: Path) -> None:
    wrapped = [{**record, "answer": f"**{record['answer']}**"} for record in RUNS[2]]
    files = [f"a={write(tmp_path / f'{number}.json', wrapped)}" for number in range(2)]
    submission = parse_document(run(gold, *files, "--extract", "bold", "--format", "json")[1])["submissions"][0]
    assert submission["extraction"] == {"bold": {"changed": 80, "left": 0, "unreadable": 0}}


def test_python_takes_runs_as_lists_of_paths_or_tables(gold: Path, files: list[Path]) -> None:
    for runs in (files, list(map(str, files)), RUNS):
        submission = score(runs, gold).to_dict()["submissions"][0]
        assert submission["run_scores"] == SCORES
    both = compare({"base": RUNS[:2], "tuned": files[2]}, GOLD)
    assert both["base"].run_scores == SCORES[:2]
    assert both["tuned"].run_scores == []
    by_id: Any = [{record["questionId"]: record["answer"] for record in run} for run in RUNS]
    assert score(by_id, GOLD).to_dict()["submissions"][0]["run_scores"] == SCORES
    (answer, *_) = score(RUNS, GOLD).answers()
    assert [each["score"] for each in answer["runs"]] == [0, 1, 1]
    assert answer["score"] == pytest.approx(2 / 3) or answer["score"] == pytest.approx(2 / 3)
    twice = [record for records in RUNS for record in records]
    assert score(twice, GOLD, run=2).anls == 0.85
    with pytest.raises(ValueError, match=r"score the repeats as runs of one model with runs=.question."):
        score(twice, GOLD, runs="error")
