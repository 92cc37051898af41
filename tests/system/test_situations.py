"""Files of new users give the right score, or an error whose next step gives it."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import DATA
from tests.system.conftest import (
    ACCEPTED,
    BASE,
    BETTER,
    GOLD,
    IDS,
    MEAN,
    SCORE,
    SHUFFLED,
    TUNED,
    Shell,
    list_answers,
    list_both,
    list_rows,
)

Files = dict[str, Any]


def rename(name: str, records: list[dict[str, Any]], key: str) -> list[dict[str, Any]]:
    return [{name if field == key else field: value for field, value in row.items()} for row in records]


# Submissions in any shape. Each scores 0.75.
SHAPES: Files = {
    "ids_as_strings.json": [{**row, "questionId": str(row["questionId"])} for row in list_answers()],
    "under_predictions.json": {"id_of_run": 7, "predictions": list_answers("answer")},
    "frame_of_pandas.json": {"prediction": {str(key): BASE[key] for key in SHUFFLED}},
    "strings_on_lines.jsonl": [BASE[key] for key in IDS],
    "an_answer_on_each_line.txt": "".join(f"{BASE[key]}\n" for key in IDS),
    "place_beside_the_id.json": [{"index": n, **row} for n, row in enumerate(list_answers())],
}
FILES: Files = {
    **SHAPES,
    # gold files
    "named.json": [{"nr": key, "gold": {"texts": texts}} for key, texts in ACCEPTED.items()],
    "truths.json": rename("truths", GOLD, "answers"),
    "twice.json": [*GOLD, GOLD[0]],
    "squad.json": [row if n % 4 else row | {"answers": {"text": [], "answer_start": []}} for n, row in enumerate(GOLD)],
    # submissions
    "x.json": list_answers(p=0.5),
    "key.json": [{"id": key, "out": [{"text": BASE[key]}]} for key in SHUFFLED],
    "d.json": [{"id": key, "body": {"said": BASE[key]}} for key in SHUFFLED],
    "empty.json": {str(key): text.replace("something else", "") for key, text in BASE.items()},
    "q.json": [{"custom_id": f"q-{key}", "answer": BASE[key]} for key in IDS],
    "uid.json": [{"uid": key, "key": IDS[n], "answer": BASE[key]} for n, key in enumerate(SHUFFLED)],
    "llm.jsonl": [{"id": row["id"], "llm": row["llm"], "answer": row["prediction"]} for row in list_both("llm")],
    "run/predictions.json": list_answers(),
    "run/config.json": {"seed": 1},
    "models/a.json": list_answers(),
    "models/b.json": list_answers(answers=TUNED),
    # tables
    "t.csv": list_rows(),
    "t2.csv": list_rows(TUNED),
    "dict.json": {"anls": 0.3, "predictions": [*BASE.values()], "references": [*ACCEPTED.values()]},
    "model.csv": list_both("model"),
    "method.csv": list_both("method"),
    "seed.csv": list_both("seed", 1, 2),
    "models.jsonl": [*list_rows(llm="x"), *list_rows(TUNED, llm="y")[::-1]],
    "texts.jsonl": [
        rename("note", [row], "question")[0] | {"note": "?", "answers": [*row["answers"], f"of {row['llm']}"]}
        for row in [*list_rows(llm="x"), *list_rows(TUNED, llm="y")[3:], *list_rows(TUNED, llm="y")[:3]]
    ],
    "arms.csv": [
        {
            "seconds": len(name) / 2,
            **row,
            "arm": name,
            **({"answers": ["x"]} if row["id"] == IDS[0] and name == "base" else {}),
        }
        for row in list_both("name")
        for name in [row.pop("name")]
    ],
    "setups.csv": [{**row, "note": "a"} for row in [*list_rows(setup="x"), *list_rows(TUNED, setup="y")[::-1]]],
    "pages.jsonl": [{**row, "id": f"d{n // 3}"} for n, row in enumerate(list_rows())],
    "index.jsonl": [{"index": n, "answer": "x", **row} for n, row in enumerate(list_rows())],
    "ids0.csv": [{"id": n, **row} for n, row in enumerate(list_rows())],
    "ids1.csv": [{"id": n, **row} for n, row in enumerate(list_rows()[:-1])],
}
BOTH = [SCORE, BETTER]


def use(shell: Shell, *lines: str) -> None:
    """Write the files of `FILES` that lines name."""
    words = {word for line in lines for word in re.split(r"[\s=']", line)}
    folders = {word.split("/")[0] for word in words}
    shell.write({name: FILES[name] for name in FILES if name in words or name.split("/")[0] in folders})


@pytest.mark.parametrize(
    ("line", "scores"),
    [
        *((f"gold.json {name}", [SCORE]) for name in SHAPES),
        ("--submission-file a.json --gold-label-file gold.json", [SCORE]),
        ("gold.json a.json -s b.json", BOTH),
        ("t.csv", [SCORE]),
        ("dict.json", [SCORE]),
        ("t.csv t2.csv", BOTH),
        ("model.csv", BOTH),
        ("models.jsonl", BOTH),
        ("gold.json llm.jsonl", BOTH),
        ("named.json key.json --references-field gold.texts --prediction-field out.0.text --gold-id-field nr", [SCORE]),
        ("seed.csv", [MEAN]),
        ("index.jsonl --layout table", [SCORE]),
        ("squad.json empty.json", [1.0]),
        ("a.json gold.json", [SCORE]),
        ("gold.json q.json", [SCORE]),
    ],
)  # fmt: skip
def test_command_has_its_scores(shell: Shell, line: str, scores: list[float]) -> None:
    use(shell, line)
    assert shell.scores(line) == pytest.approx(scores)


# What is typed, words of the error, what its advice makes of the command, and the scores of that.
NEXT_STEPS: list[tuple[str, str, str, list[float]]] = [
    ("a.json", "or pass a gold file with --gold (found 'questionId'", "a.json --gold gold.json", [SCORE]),
    ("a.json b.json", "pass a gold file with --gold", "a.json b.json --gold gold.json", BOTH),
    ("gold.json", "or add a submission after it", "gold.json a.json", [SCORE]),
    ("--worst 3", "pass a gold file and then submissions", "gold.json a.json --worst 3", [SCORE]),
    ("-g gold.json", "pass them with --submission", "-g gold.json --submission a.json", [SCORE]),
    ("method.csv", "for separate models, add --submission-field method", "method.csv --submission-field method", BOTH),
    ("method.csv", "for runs of one model, --runs question", "method.csv --runs question", [MEAN]),
    ("seed.csv --runs error", "score each with --submission-field seed", "seed.csv --submission-field seed", BOTH),
    ("texts.jsonl", "'llm' names several models (x, y): score each with --submission-field llm, or all rows as one "
        "with --submission-field none", "texts.jsonl --submission-field none", [MEAN]),
    ("arms.csv", "separate models, add --submission-field arm", "arms.csv --submission-field arm", BOTH),
    ("setups.csv", "each question occurs once per 'setup' (x, y): for separate models, add --submission-field setup",
        "setups.csv --submission-field setup", BOTH),
    ("setups.csv", "to score all rows as one, --submission-field none", "setups.csv --submission-field none", [MEAN]),
    ("gold.json setups.csv", "each question in gold.json occurs once per 'setup' (x, y): for separate models, add",
        "gold.json setups.csv --submission-field setup", BOTH),
    ("seed.csv --filter 9", "'9': pass an existing one with --filter (found 1, 2)", "seed.csv --filter 1", [SCORE]),
    ("gold.json uid.json", "pair the rows of gold.json differently: choose one, as with --id-field uid",
        "gold.json uid.json --id-field uid", [SCORE]),
    ("gold.json d.json", "'body.said' 'Coca Cola 10'", "gold.json d.json --prediction-field body.said", [SCORE]),
    ("truths.json a.json", "--references-field", "truths.json a.json --references-field truths", [SCORE]),
    ("t.csv --references-field answer", "did you mean 'answers'?", "t.csv --references-field answers", [SCORE]),
    ("model.csv --submission-field modle", "did you mean 'model'?", "model.csv --submission-field model", BOTH),
    ("gold.json a.json --id-field qid", "found 'questionId'", "gold.json a.json --id-field questionId", [SCORE]),
    ("gold.json a.json --gold-id-field qid", "'questionId'", "gold.json a.json --gold-id-field questionId", [SCORE]),
    ("gold.json x.json --field confidenc=p", "confidence", "gold.json x.json --field confidence=p", [SCORE]),
    ("gold.json a.json --layout lmms-evl", "did you mean lmms_eval?", "gold.json a.json --layout auto", [SCORE]),
    ("gold.json run", "are not parts of one table: pass one", "gold.json run/predictions.json", [SCORE]),
    ("gold.json models", "if each file is a submission, pass the files", "gold.json models/a.json models/b.json", BOTH),
    ("twice.json a.json", "1 id repeated (the first is 49000): keep only one record", "gold.json a.json", [SCORE]),
    ("gold a.json", "does not exist: did you mean gold.json?", "gold.json a.json", [SCORE]),
    ("gold.json m=", "there is no file after the equals sign: write NAME=FILE", "gold.json m=a.json", [SCORE]),
    ("gold.json a.json ./a.json", "the same file is passed twice (a): remove one of them, or give each its own name, "
     "such as first=a.json", "gold.json first=a.json a.json", [SCORE, SCORE]),
    ("m=ids0.csv m=ids1.csv", "run 2 and run 1 have different questions", "x=ids0.csv y=ids1.csv", [SCORE, 17 / 23]),
]  # fmt: skip


@pytest.mark.parametrize(("line", "words", "next_line", "scores"), NEXT_STEPS)
def test_next_step_of_an_error_works(shell: Shell, line: str, words: str, next_line: str, scores: list[float]) -> None:
    use(shell, line, next_line)
    assert words in shell.error(line)
    assert shell.scores(next_line) == pytest.approx(scores)


def test_texts_of_files_are_shown_without_control_characters(shell: Shell) -> None:
    hostile = "x\x1b[2J\x1b]0;title\x07\u202ey\r\x08z"
    record = {"id": hostile, "answers": ["a" + hostile], "kind" + hostile: hostile, "question": hostile}
    shell.write({"g.json": [record], "x.json": [{"id": hostile, "answer": "b" + hostile}], "y.json": {"1": "b"}})
    word = shlex.quote(hostile)
    for line in (f"x.json --worst 1 --by kind{word}", f"m{word}=x.json x.json", "y.json", f"x.json --by {word}", word):
        done = shell.type(f"g.json {line}")
        assert all(character.isprintable() for character in (done.out + done.err).replace("\n", "")), line
        assert "x·[2J·]0;title" in done.out + done.err or "x\\x1b[2J" in done.err, line


# Situations with their true scores


def list_situations() -> list[Any]:
    situations = json.loads((DATA / "files2" / "MANIFEST.json").read_text(encoding="utf-8"))
    return [pytest.param(situation, id=situation["what"]) for situation in situations]


@pytest.mark.parametrize("situation", list_situations())
def test_situation_has_its_score_or_a_word(shell: Shell, situation: dict[str, Any]) -> None:
    """It is scored right, at once or with the extraction of a hint; or a hint or an error says what is wrong."""
    for name in situation["files"]:
        shutil.copy(DATA / "files2" / name, name)
    line = situation["type"].partition(" ")[2]
    done = shell.type(line)
    assert "no hint" not in situation["must"] or "hint:" not in done.err
    if done.status == 2 or "no folder" in situation["must"]:
        assert done.status == 2 or Path("x.json").is_file()
        return
    advice = re.search(r"--extract (\S+)", done.err)
    lines = [line, *([f"{line} --extract {advice[1].rstrip('.,;:')}"] if advice else [])]
    found = [score for each in lines for score in shell.scores(each.replace("--format json", ""))]
    right = [score for score in found if abs(score - situation.get("score", score)) < 1e-4]
    assert right or len(found) > 2 or "hint:" in done.err, done.out + done.err


def test_two_submissions_without_a_gold_file_give_a_hint(shell: Shell) -> None:
    answers = [{"questionId": n, "answer": text} for n, text in enumerate(["tea", "milk"])]
    shell.write({"a.json": answers, "b.json": answers})
    assert "a.json has the fields of a submission, but is read as the gold file" in shell.type("a.json b.json").err
    shell.write({"gold.json": [{**each, "answer": [each["answer"]]} for each in answers]})
    assert "the fields of a submission" not in shell.type("gold.json b.json").err
