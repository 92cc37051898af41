"""How answers meet their questions: by id, by position, as runs and as several submissions. The answers are made up."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anls_metric import compare, score
from tests.reading.conftest import Shell, read
from tests.system.conftest import (
    BASE,
    BETTER,
    GOLD,
    IDS,
    MEAN,
    SCORE,
    SHUFFLED,
    TUNED,
    list_answers,
    list_both,
    list_rows,
)

Files = dict[str, Any]
Records = list[dict[str, Any]]


def rename(name: str, records: Records | None = None) -> Records:
    """Give the field of the ids another name."""
    return [
        {name if field == "questionId" else field: value for field, value in row.items()} for row in records or ANSWERS
    ]


def replace_ids(count: int, name: str = "questionId") -> Records:
    """Replace the first ids by ids that the gold file does not have."""
    return [{name: n if n < count else row["questionId"], "answer": "a"} for n, row in enumerate(ANSWERS)]


ANSWERS = list_answers("answer")
BY_POSITION = [{"answer": BASE[key]} for key in IDS]
BY_ANSWERS = [{"answers": row["answers"]} for row in GOLD]
COUNTED = [{**row, "questionId": n} for n, row in zip(random.Random(1).sample(range(24), 24), GOLD)]
REQUESTS = [{"id": f"req_{n}", **row} for n, row in enumerate(rename("custom_id"))]

# What is typed, the files beside gold.json, and the end of the line that says what was read.
JOINED: dict[str, tuple[str, Files, str]] = {
    "the usual field": ("gold.json x.json", {"x.json": ANSWERS}, "questionId: 24 of 24"),
    "another usual field": ("gold.json x.json", {"x.json": rename("qid")}, "qid and questionId: 24 of 24"),
    "any other field": ("gold.json x.json", {"x.json": rename("item")}, "item and questionId: 24 of 24"),
    "a field in an object": ("gold.json x.json", {"x.json": [{"meta": {"uid": row["questionId"]},
        "answer": row["answer"]} for row in ANSWERS]}, "meta.uid and questionId: 24 of 24"),
    "another field than a usual one": ("gold.json x.json", {"x.json": REQUESTS}, "custom_id and questionId: 24 of 24"),
    "two fields with the same ids": ("gold.json x.json", {"x.json": [{"uid": str(row["questionId"]),
        "key": row["questionId"], "answer": row["answer"]} for row in ANSWERS]}, "uid and questionId: 24 of 24"),
    "the keys of an object": ("gold.json x.json", {"x.json": {str(key): BASE[key] for key in IDS[::-1]}},
        "the keys of an object and questionId: 24 of 24"),
    "floats": ("gold.json x.json", {"x.json": [{**row, "questionId": row["questionId"] + 0.0} for row in ANSWERS]},
        "questionId: 24 of 24"),
    "named fields": ("g.json x.json --gold-id-field nr --id-field uid", {"g.json": rename("nr", GOLD),
        "x.json": [{"id": n, **row} for n, row in enumerate(rename("uid"))]}, "uid and nr: 24 of 24"),
    "a named field of one file": ("g.json x.json --id-field nr", {"g.json": [{"id": n, **row} for n,
        row in enumerate(rename("nr", GOLD))], "x.json": ANSWERS}, "questionId and nr: 24 of 24"),
    "half of the usual ids": ("gold.json x.json --missing zero --extra ignore", {"x.json": replace_ids(12)},
        "questionId: 12 of 24; 12 answers to other questions not used"),
    "nearly all ids in another field": ("gold.json x.json --missing zero --extra ignore", {"x.json": replace_ids(1,
        "item")}, "item and questionId: 23 of 24; 1 answer to other questions not used"),
    "ids that count": ("g.json x.json", {"g.json": COUNTED, "x.json": [{"index": row["questionId"], "answer": "a"}
        for row in COUNTED[::-1]]}, "index and questionId: 24 of 24"),
    "no ids": ("gold.json x.json", {"x.json": BY_POSITION}, "position: 24 of 24"),
    "no ids in the gold file": ("g.json x.json", {"g.json": [{"answers": row["answers"]} for row in GOLD],
        "x.json": BY_POSITION}, "position: 24 of 24"),
    "numbers that are no ids": ("g.json x.json", {"g.json": COUNTED, "x.json": [{"tokens": n, **row} for n,
        row in enumerate(BY_POSITION)]}, "position: 24 of 24"),
    "two ids of 24 wrong in a field": ("gold.json x.json", {"x.json": replace_ids(2, "item")}, "position: 24 of 24"),
    "ids that are refused": ("gold.json x.json --id-field none", {"x.json": [{"questionId": f"q{key}",
        "answer": BASE[key]} for key in IDS]}, "position: 24 of 24"),
    "runs": ("gold.json x.json", {"x.json": [{**row, "seed": n} for n in (1, 2) for row in ANSWERS]},
        "questionId: 48 answers to 24 questions"),
    "one of the runs": ("gold.json x.json --filter 2", {"x.json": [{**row, "seed": n} for n in (1, 2)
        for row in ANSWERS]}, "questionId: 24 of 24"),
    "some runs without an answer": ("gold.json x.json --missing zero", {"x.json": [{**row, "run": n} for n in (1, 2)
        for row in ANSWERS[:20]]}, "questionId: 40 answers to 24 questions"),
    "files of one name": ("gold.json m=x.json m=a.json", {"x.json": ANSWERS}, "questionId: 24 of 24; and 1 other run"),
}  # fmt: skip


@pytest.mark.parametrize("case", JOINED)
def test_line_says_how_answers_were_joined(shell: Shell, case: str) -> None:
    line, files, end = JOINED[case]
    shell.write(files)
    gold = line.partition(" ")[0]
    prediction = "the values" if isinstance(files["x.json"], dict) else "answer"
    start = f"{prediction} (prediction) of x.json, answers (references) of {gold}, joined by "
    assert read(shell, line) == start + end


NAMES = [f"page {n}.png" for n in range(1, 25)]
FILES = [{"file_name": name, "answers": row["answers"]} for name, row in zip(NAMES, GOLD)]
NAMED = [{"file_name": name, "prediction": BASE[key]} for name, key in zip(NAMES, IDS)]
MOVED = [NAMED[1], NAMED[0], *NAMED[2:]]
FIELDS = [{"file": f"f{n // 2}", "field": "ab"[n % 2], "answers": row["answers"]} for n, row in enumerate(GOLD)]
CELLS = [{"file": f"f{n // 2}", "field": "ab"[n % 2], "value": BASE[key]} for n, key in enumerate(IDS)]


def change(column: str, form: str, records: Records = NAMED) -> Records:
    """Write a column in another form."""
    return [{**row, column: form.format(row[column])} for row in records]


def rename_name(name: str, records: Records) -> Records:
    """Give the names of files another field."""
    return [{name if field == "file_name" else field: value for field, value in row.items()} for row in records]


# What is typed, the files beside gold.json, the error, what is typed then, and the scores.
ERRORS: dict[str, tuple[str, Files, str, str, list[float]]] = {
    "fewer than half of the usual ids": ("gold.json x.json", {"x.json": replace_ids(13)},
        "x.json: only 11 of 24 ids are in gold.json (0, 1, ... / 49000, 49003, ...): to join by them, add "
        "--id-field questionId",
        "gold.json x.json --id-field questionId --missing zero --extra ignore", [0]),
    "no id of the gold file": ("gold.json x.json", {"x.json": replace_ids(24)},
        "x.json: no ids in common with gold.json (0, 1, ... / 49000, 49003, ...): if the answers are in the order of "
        "gold.json, add --id-field none; otherwise write its ids into them", "gold.json x.json --id-field none",
        [0]),
    "ids of another split": ("gold.json x.json", {"x.json": [{**row, "questionId": n + 70} for n, row in
        enumerate(ANSWERS)]}, "x.json: no ids in common with gold.json (70, 71, ... / 49000, 49003, ...): pass the "
        "right field of gold.json with --gold-id-field, or yours with --id-field (found 'questionId' 70;",
        "gold.json a.json", [SCORE]),
    "an id that only the submission has": ("g.json x.json --id-field file", {"g.json": rename_name("scan", FILES),
        "x.json": rename_name("file", MOVED)}, "g.json: no ids to match 'file' of x.json: add --gold-id-field scan",
        "g.json x.json --id-field file --gold-id-field scan", [SCORE]),
    "an id that only the gold file has": ("g.json x.json --gold-id-field file_name", {"g.json": FILES, "x.json":
        rename_name("scan", [{**row, "file_name": f"{n}{row['file_name']}"} for n, row in enumerate(MOVED)])},
        "x.json: no ids to match those of g.json: pass their field with --id-field (found 'scan'", "g.json x.json",
        [17 / 24]),
    "ids that are no ids": ("gold.json x.json", {"x.json": [{**row, "questionId": [7]} if n == 1 else row for n,
        row in enumerate(ANSWERS)]},
        "x.json, record 2: 'questionId' is not an id (a string or a whole number): pass the id field with --id-field",
        "gold.json a.json", [SCORE]),
    "ids and other answers": ("gold.json x.json", {"x.json": [*ANSWERS[4:], *replace_ids(2)[:2]]},
        "x.json: it has 2 answers with an id that is not in gold.json (0, 1): is it the file for these questions? "
        "--extra ignore skips such answers",
        "gold.json x.json --extra ignore --missing zero", [17 / 24]),
    "questions without an answer": ("gold.json x.json --extra ignore", {"x.json": [*ANSWERS[7:],
        *replace_ids(2)[:2]]},
        "x.json: it has no answer to 7 questions in gold.json (49003, 49006, 49012, 49030, 49036, ...): to score "
        "unanswered questions 0, add --missing zero; to leave them out, --missing skip",
        "gold.json x.json --extra ignore --missing zero", [14 / 24]),
    "repeated ids": ("gold.json x.json", {"x.json": [*ANSWERS, {"questionId": 49000, "answer": "a"}]},
        "x.json: 1 id repeated (the first is 49000): keep only one record for each id, or add --runs question to score "
        "the mean over runs of one model", "gold.json a.json", [SCORE]),
    "runs that are not told apart": ("t.json", {"t.json": list_both("seed", 1, 1)},
        "t.json: 24 ids repeated (the first is 49000): keep only one record for each id, or add --runs question",
        "t.json --runs question", [MEAN]),
    "a record without a model": ("t.json",
        {"t.json": [*list_both("model"), {"id": IDS[0], "prediction": "", "answers": "a"}]},
        "t.json, record 49: it has no field 'model': write the name of its model into each record", "gold.json a.json",
        [SCORE]),
    "ids of documents": ("g.json x.json", {
        "g.json": [{"id": n // 2, "question": row["question"], "answers": row["answers"]} for n, row in
            enumerate(list_rows())],
        "x.json": [{"id": n // 2, "question": row["question"], "answer": row["prediction"]} for n, row in
            enumerate(list_rows())]},
        "g.json: each id occurs once per 'question' (", "g.json x.json --id-field id,question", [SCORE]),
    "repeated questions": ("g.json a.json", {"g.json": [{**row, "lang": "en"} for row in GOLD] + [{**row,
        "lang": "fr"} for row in GOLD]}, "g.json: each id occurs once per 'lang' (en, fr): to join by both, add "
        "--id-field questionId,lang", "gold.json a.json", [SCORE]),
}  # fmt: skip


@pytest.mark.parametrize("field", ["question", "answers"])
def test_id_that_different_questions_share_is_none_in_a_single_table(shell: Shell, field: str) -> None:
    rows = [{"id": n // 4, **row} for n, row in enumerate(list_rows())]
    shell.write({"t.json": rows if field == "question" else [{**row, "question": ""} for row in rows]})
    assert shell.scores("t.json") == [SCORE]
    assert "no id: different questions share 'id'" in shell.print("t.json")
    assert "--runs" not in shell.error("t.json --id-field id")


def test_fields_of_documents_are_questions_though_some_are_the_same_everywhere(shell: Shell) -> None:
    fields = [{"total": {"pred": "9", "gold": str(n)}, "currency": {"pred": "USD", "gold": "USD"}} for n in range(9)]
    shell.write({"t.json": [{"file": f"{n}.png", "fields": own} for n, own in enumerate(fields)]})
    assert shell.scores("t.json") == [0.5]


@pytest.mark.parametrize("case", ERRORS)
def test_join_that_is_not_certain_is_an_error_with_a_next_step(shell: Shell, case: str) -> None:
    line, files, message, next_line, scores = ERRORS[case]
    shell.write(files)
    assert message in shell.error(line)
    assert shell.scores(next_line) == pytest.approx(scores)


# Keys that values prove, forms of a key, and a part of the questions

# Two files, what is typed after them, and what joined them. All score 0.75.
KEYS: dict[str, tuple[Records, Any, str, str]] = {
    "a field of both files": (FILES, MOVED, "", "file_name"),
    "a field in another spelling": (FILES, [{"File Name": row["file_name"], "prediction": row["prediction"]} for row in
        MOVED], "", "File Name and file_name"),
    "folders": (FILES, change("file_name", "out/{}", MOVED), "", "file_name without folders and file_name"),
    "folders and extension": ([{**row, "file_name": row["file_name"][:-4]} for row in FILES],
        change("file_name", "out/{}", MOVED), "", "file_name without folders and extension and file_name"),
    "a form of the gold file": (change("file_name", "scans/{}", FILES), MOVED, "",
        "file_name and file_name without folders"),
    "as macOS writes names": (change("file_name", "\u00fc{}", FILES), change("file_name", "u\u0308{}", MOVED), "",
        "file_name in Unicode NFC and file_name"),
    "a beginning": (GOLD, [{"custom_id": f"docvqa-val-{key}", "answer": BASE[key]} for key in IDS[::-1]], "",
        'custom_id without "docvqa-val-" and questionId'),
    "an end": (GOLD, [{"custom_id": f"{key}_run1", "answer": BASE[key]} for key in IDS[::-1]], "",
        'custom_id without "_run1" and questionId'),
    "decimal numbers as texts": (GOLD, [{"id": f"{key}.0", "answer": BASE[key]} for key in IDS[::-1]], "",
        "id as whole numbers and questionId"),
    "the texts of the questions": ([{"question": f"What is {n}?", **row} for n, row in enumerate(FILES)],
        [{"prompt": f"What is {n}?", "answer": BASE[key]} for n, key in enumerate(IDS)][::-1], "",
        "prompt and question"),
    "two fields": (FIELDS, CELLS[::-1], "--id-field file,field --prediction-field value", "file,field"),
    "one value that the user names": (GOLD, [{"key": SHUFFLED[-1], "answer": BASE[SHUFFLED[-1]]}, {"key": 1,
        "answer": ""}], "--id-field key --missing skip --extra ignore", "key and questionId"),
    "rows that are numbered": ([{"row": n, **row} for n, row in enumerate(BY_ANSWERS)], [{"row": n, **row} for n, row
        in enumerate(BY_POSITION, 1)], "", "position"),
}  # fmt: skip


@pytest.mark.parametrize("case", KEYS)
def test_key_is_what_the_values_of_both_files_prove(shell: Shell, case: str) -> None:
    gold, answers, flags, how = KEYS[case]
    shell.write({"g.json": gold, "x.json": answers})
    line = f"g.json x.json {flags}"
    assert f"joined by {how}: " in read(shell, line)
    assert shell.scores(f"{line} --quiet") == [1.0 if "skip" in flags else SCORE]


# The names of the files beside the gold file g.json, and the ids of its questions.
IN_ORDER = list(map(str, range(1, 25)))
IDENTIFIED: dict[str, tuple[str, list[str]]] = {
    "two submissions with a key": ("x.json folders.json", NAMES),
    "a key and positions": ("x.json list.json", IN_ORDER),
    "positions": ("list.json", IN_ORDER),
}


@pytest.mark.parametrize("case", IDENTIFIED)
def test_key_of_all_submissions_identifies_questions_without_ids(shell: Shell, case: str) -> None:
    names, ids = IDENTIFIED[case]
    folders = change("file_name", "out/{}")
    shell.write({"g.json": FILES, "x.json": MOVED, "folders.json": folders, "list.json": BY_POSITION})
    answers = compare(names.split(), "g.json").answers()
    assert [answer["id"] for answer in answers] == ids * len(names.split())


def test_corrections_name_a_question_by_the_key(shell: Shell) -> None:
    shell.write({"g.json": FILES, "x.json": MOVED, "c.json": [{"questionId": NAMES[3], "accept": "never"}]})
    assert shell.document("g.json x.json --corrections c.json")["submissions"][0]["corrections"]["accepted"] == 1
    shell.write({"x.json": BY_POSITION})
    assert "its questions are numbered from 1" in shell.error("g.json x.json --corrections c.json")


def test_key_of_several_fields_is_a_list_in_python() -> None:
    assert score(CELLS[::-1], gold=FIELDS, id=["file", "field"], prediction="value").anls == SCORE


# Two files whose rows contradict a join, the error, what is typed then, and the score.
CONTRADICTIONS: dict[str, tuple[Records, Records, str, str, list[float]]] = {
    "few names in another order": (rename_name("image", FILES)[:8], rename_name("image", MOVED)[:8], "2 of 8 answers "
        "have a different image in g.json; the first is question 1 ('page 1.png' there, 'page 2.png' here): to "
        "join by image, add --id-field image", "--id-field image", [0.75]),
    "a repeated field in another order": (FIELDS, CELLS[::-1], "to join by file,field, add --id-field file,field",
        "--id-field file,field", [SCORE]),
    "a repeated field without a key": ([{"lang": "ab"[n % 2], **row} for n, row in enumerate(BY_ANSWERS)],
        [{"lang": "ba"[n % 2], **row} for n, row in enumerate(BY_POSITION)], "24 of 24 answers have a different lang "
        "in g.json; the first is question 1 ('a' there, 'b' here): add an id to each record of both files; "
        "--id-field none joins by position all the same", "--id-field none", [SCORE]),
    "counters that are called ids": ([{"id": n, **row} for n, row in enumerate(FILES)], [{"id": n, **row} for n,
        row in enumerate(NAMED[::-1])], "24 of 24 answers have a different file_name in g.json; the first is "
        "question 0 ('page 1.png' there, 'page 24.png' here): to join by file_name, add --id-field file_name",
        "--id-field file_name", [SCORE]),
    "numbers of rows in another order": ([{"row": n, **row} for n, row in enumerate(BY_ANSWERS)], [{"row": n, **row} for
        n, row in enumerate(BY_POSITION)][::-1], "24 of 24 answers have a different row in g.json; the first is "
        "question 1 ('0' there, '23' here): to join by row, add --id-field row", "--id-field row", [SCORE]),
    "counters and the texts of questions": ([{"id": n, "query": f"q {n}", **row} for n, row in
        enumerate(BY_ANSWERS)], [{"id": 23 - n, "prompt": f"q {n}", **row} for n, row in enumerate(BY_POSITION)],
        "the first is question 0 ('q 0' there, 'q 23' here): to join by prompt, add --id-field prompt --gold-id-field "
        "query", "--id-field prompt --gold-id-field query", [SCORE]),
}  # fmt: skip


@pytest.mark.parametrize("case", CONTRADICTIONS)
def test_pairs_that_another_field_contradicts_are_an_error(shell: Shell, case: str) -> None:
    gold, answers, message, flags, scores = CONTRADICTIONS[case]
    shell.write({"g.json": gold, "x.json": answers})
    line = "g.json x.json" + (" --prediction-field value" if answers[0].get("value") else "")
    assert message in shell.error(line)
    assert shell.scores(f"{line} {flags} --quiet") == pytest.approx(scores)


def test_some_pairs_that_another_field_contradicts_are_a_hint(shell: Shell) -> None:
    rows = [{"questionId": key, **named} for key, named in zip(IDS, MOVED)]
    shell.write({"g.json": [{**row, **named} for row, named in zip(GOLD, FILES)], "x.json": rows})
    error = shell.type("g.json x.json").err
    assert "hint: x.json: 2 of 24 answers have a different file_name in g.json; the first is question 49000" in error


def test_ids_of_one_file_are_not_used_and_a_hint_says_so(shell: Shell) -> None:
    shell.write({"g.json": BY_ANSWERS, "x.json": ANSWERS})
    assert "hint: x.json: g.json has no ids, so 'questionId' is not used" in shell.type("g.json x.json").err


def test_questions_without_an_answer_are_left_out_of_every_submission(shell: Shell) -> None:
    shell.write({"x.json": ANSWERS[:20], "y.json": ANSWERS[10:]})
    assert "|questions:20|" in shell.document("gold.json x.json --missing skip")["signature"]
    assert read(shell, "gold.json x.json --missing skip").endswith("questionId: 20 of 24")
    both = shell.document("gold.json x.json y.json --missing skip")
    assert [each["questions"] for each in both["submissions"]] == [10, 10]
    assert [hint["text"] for hint in both["hints"]][:2] == [
        "x: it answers only 20 questions, so every submission is scored on 10 questions",
        "y: it answers only 14 questions, so every submission is scored on 10 questions",
    ]
    error = shell.type("gold.json x.json y.json --missing zero").err
    assert (
        "y: it answers only 14 questions, so its other questions score 0; to leave them out, add --missing skip"
        in error
    )
    runs = shell.document("gold.json m=x.json m=y.json --missing skip")
    assert [(each["questions"], each["runs"]) for each in runs["submissions"]] == [(10, 2)]
    shell.write({"z.json": []})
    shell.write({"x.json": ANSWERS[:5], "y.json": ANSWERS[10:]})
    assert "no question is answered in every file" in shell.error("gold.json x.json y.json --missing skip")


def test_run_without_an_answer_is_an_error_or_scores_0(shell: Shell) -> None:
    shell.write({"x.json": [{**row, "seed": n} for n in (1, 2) for row in ANSWERS[: 24 if n == 1 else 12]]})
    assert "no answer to 12 questions in gold.json" in shell.error("gold.json x.json")
    (scored,) = shell.document("gold.json x.json --missing zero")["submissions"]
    assert scored["run_scores"] == [SCORE, pytest.approx(7 / 24)]
    assert shell.document("gold.json x.json --missing skip")["submissions"][0]["questions"] == 12


IDENTIFIER = st.text("ab7", min_size=1, max_size=3) | st.integers(0, 99)


@settings(max_examples=60)
@given(st.lists(IDENTIFIER, unique_by=str, min_size=1, max_size=9), st.randoms(use_true_random=False))
def test_order_of_a_submission_does_not_matter(ids: list[Any], chance: random.Random) -> None:
    gold = [{"id": key, "answers": [f"{key}"]} for key in ids]
    answers = [{"id": str(key), "answer": f"{key}{'' if n % 2 else ' and more'}"} for n, key in enumerate(ids)]
    scores = score(chance.sample(answers, len(answers)), gold=gold)
    assert [each["prediction"] for each in scores.answers()] == [each["answer"] for each in answers]
    assert [each["score"] == 1 for each in scores.answers()] == [n % 2 == 1 for n in range(len(ids))]


# Texts of questions

# The questions of a submission, and how many are taken to be others. An error comes from more than half.
QUESTIONS: dict[str, tuple[list[str], int]] = {
    "the same": ([f"What is {key}?" for key in IDS], 0),
    "in a prompt": ([f"Answer briefly.\nWhat is {key}? Answer:" for key in IDS], 0),
    "in other letters": ([f" WHAT  IS {key}?\n" for key in IDS], 0),
    "a part": ([f"is {key}" for key in IDS], 0),
    "half are others": ([f"What is {key + (n < 12)}?" for n, key in enumerate(IDS)], 0),
    "most are others": ([f"What is {key + (n < 13)}?" for n, key in enumerate(IDS)], 13),
    "no texts": (["" for _ in IDS], 0),
}


@pytest.mark.parametrize("case", QUESTIONS)
@pytest.mark.parametrize("has_ids", [True, False])
def test_text_of_another_question_is_an_error(shell: Shell, case: str, has_ids: bool) -> None:
    texts, count = QUESTIONS[case]
    rows = [{"questionId": key, "prompt": text, "answer": BASE[key]} for key, text in zip(IDS, texts)]
    shell.write({"x.json": rows if has_ids else [{"prompt": row["prompt"], "answer": row["answer"]} for row in rows]})
    line = "gold.json x.json"
    if count:
        assert shell.error(line) == (
            f"x.json: {count} of 24 answers have a different question text in gold.json; the first is question "
            "49000 ('What is 49000?' there, 'What is 49001?' here): check that both files are of the same split; "
            "--field question=none skips this check"
        )
        line += " --field question=none"
    assert shell.scores(line) == [SCORE]


# Runs and several models in one table


@pytest.mark.parametrize("name", ["seed", "sample", "Epoch", "run", "trial"])
def test_field_of_runs_has_a_usual_name(shell: Shell, name: str) -> None:
    shell.write({"t.json": list_both(name, 7, 8)})
    line = "prediction (prediction), answers (references) of t.json: 48 rows, 24 questions"
    assert read(shell, "t.json") == line
    assert shell.scores("t.json") == pytest.approx([MEAN])
    assert shell.scores("t.json --filter 8") == [BETTER]
    assert shell.document("t.json")["submissions"][0]["runs"] == 2


# What is typed about t.json, its records, and the names and scores of the submissions.
TABLES: dict[str, tuple[str, Records, dict[str, float]]] = {
    "models with runs": ("t.json", [{**row, "model": model} for model in "xy" for row in list_both("seed", 1, 2)],
        {"x": MEAN, "y": MEAN}),
    "models with other ids": ("t.json", [{**row, "id": n} for n, row in enumerate(list_both("model"))], {"t": MEAN}),
    "one model": ("t.json", list_both("model", "x", "x")[:24], {"t": SCORE}),
    "models as runs": ("t.json --submission-field none --runs question", list_both("model"), {"t": MEAN}),
    "runs as models": ("t.json --submission-field seed", list_both("seed", 1, 2), {"1": SCORE, "2": BETTER}),
    "epochs without repeats": ("t.json", list_both("epoch", 1, 1)[:24], {"t": SCORE}),
    "rows without ids": ("t.json", [*list_rows(), *list_rows(TUNED)], {"t": MEAN}),
    "a column for each model": ("t.json --prediction-field prediction,out.text", [{**row, "out": {"text": TUNED[key]}}
        for key, row in zip(IDS, list_rows())], {"prediction": SCORE, "out.text": BETTER}),
    "several models and a run": ("m=t.json m=a.json -g gold.json", list_both("model"), {"base": SCORE,
        "tuned": BETTER, "m": SCORE}),
    "files of the same models": ("m=t.json m=t.json", list_both("model"), {"base": SCORE, "tuned": BETTER}),
    "a table and a submission": ("t.json n=a.json -g gold.json", list_both("model"), {"t/base": SCORE,
        "t/tuned": BETTER, "n": SCORE}),
}  # fmt: skip


@pytest.mark.parametrize("case", TABLES)
def test_table_has_a_submission_for_each_model(shell: Shell, case: str) -> None:
    line, records, scores = TABLES[case]
    shell.write({"t.json": records})
    found = {each["name"]: each["anls"] for each in shell.document(line)["submissions"]}
    assert found == pytest.approx(scores)


# Which file is the gold file, and the names of submissions

# What is typed, the files beside gold.json, a.json and b.json, and the names of the submissions.
INPUTS: dict[str, tuple[str, Files, list[str]]] = {
    "the first file": ("gold.json a.json b.json", {}, ["a", "b"]),
    "a named gold file": ("b.json --gold gold.json a.json", {}, ["b", "a"]),
    "a gold file that is passed again": ("-g gold.json gold.json a.json", {}, ["a"]),
    "a table as the gold file": ("t.json a.json", {"t.json": list_both("x")[:24]}, ["a"]),
    "a gold file after a table": ("t.json gold.json", {"t.json": list_rows()}, ["t"]),
    "two tables": ("s.json t.json", {"s.json": list_rows(), "t.json": list_rows(TUNED)}, ["s", "t"]),
    "a name like a path": ("gold.json x/y=a.json", {"x/y=a.json": list_answers()}, ["y=a"]),
    "a shared prefix": ("gold.json s/submission_x.json s/submission_y.json", {"s/submission_x.json": list_answers(),
        "s/submission_y.json": list_answers()}, ["x", "y"]),
    "folders of one file name": ("gold.json x/p.json y/p.json", {"x/p.json": list_answers(),
        "y/p.json": list_answers()}, ["x/p", "y/p"]),
    "folders of folders": ("gold.json 1/x/p.json 2/x/p.json", {"1/x/p.json": list_answers(),
        "2/x/p.json": list_answers()}, ["1/x/p", "2/x/p"]),
    "a packed file": ("gold.json c.d.jsonl.gz", {"c.d.jsonl.gz": list_answers()}, ["c.d"]),
    "an answer against an answer": ("g.json x.json", {"g.json": [{"id": row["questionId"],
        "answer": row["answers"]} for row in GOLD], "x.json": rename("id")}, ["x"]),
    "values by id": ("g.json x.json --variant anls_star", {"g.json": [{"id": 7, "answer": {"total": "5"}}],
        "x.json": {"7": {"total": "5"}}}, ["x"]),
    "lists by id": ("g.json x.json --variant anls_star", {"g.json": [{"id": 7, "answer": ["a", "b"]}],
        "x.json": {"7": ["a"]}}, ["x"]),
}  # fmt: skip


def test_single_name_keeps_what_tells_it_from_other_runs(shell: Shell) -> None:
    names = ["router__whole__k5", "submission__base", "submission_base"]
    shell.write({f"{name}.json": list_answers() for name in names})
    shown = [shell.document(f"gold.json {name}.json --quiet")["submissions"][0]["name"] for name in names]
    assert shown == ["router__whole__k5", "base", "submission_base"]


def test_keys_of_two_fields_are_shown_in_pairs(shell: Shell) -> None:
    shell.write({"g.json": FIELDS, "x.json": CELLS[:-2], "y.json": [*CELLS, CELLS[0]]})
    key = "--prediction-field value --id-field file,field"
    assert "no answer to 2 questions in g.json ((f11, a), (f11, b))" in shell.error(f"g.json x.json {key}")
    assert "1 id repeated (the first is (f0, a))" in shell.error(f"g.json y.json {key}")
    assert "to join by file,field, add --id-field file,field" in shell.error("g.json x.json --prediction-field value")


@pytest.mark.parametrize("case", INPUTS)
def test_gold_file_and_names(shell: Shell, case: str) -> None:
    line, files, names = INPUTS[case]
    shell.write(files)
    assert [each["name"] for each in shell.document(f"{line} --quiet")["submissions"]] == names


def test_runs_that_differ_in_a_field_are_no_groups_of_questions() -> None:
    rows = [{"id": n, "seed": seed, "kind": n % 2, "answer": "a", "gold": "a"} for seed in range(3) for n in range(8)]
    assert {*score(rows, runs="question", by="kind")["data"].groups["kind"]} == {"0", "1"}
    with pytest.raises(ValueError, match=r"differ in .seed. \(0, 1, 2\): score each by itself with"):
        score(rows, by="seed")


# Systems whose ids no name tells

PLACES = [f"place {n}" for n in range(12)]


def list_systems(field: str, key: str | None = None, names: Sequence[Any] = ("small", "large"), **more: Any) -> Records:
    """List the rows of several systems, in another order for each."""
    rows = []
    for size, name in enumerate(names, 2):
        own = [{key or "": f"s{n}", field: name, "prediction": place if n % size else "x", "reference": place, **more}
               for n, place in enumerate(PLACES)]  # fmt: skip
        rows += own[::-1] if key and size % 2 else own
    return [{name: value for name, value in row.items() if name} for row in rows]


OF_TWO = {"small": 1 / 2, "large": 2 / 3}
CHECKS = [{"sample": f"s{n}", "arm": arm, "prediction": "yes", "reference": "yes" if n % 3 else "no"}
          for arm in "ab" for n in range(12)]  # fmt: skip
FORMS = [{"invoice": f"i{n}", "field": field, "prediction": f"{field} {n}", "reference": f"{field} {n}"}
         for n in range(4) for field in ("date", "buyer", "total")]  # fmt: skip
BOXES = [{"form": f"f{n}", "box": box, "prediction": "no", "reference": "yes" if (n + box) % 5 == 0 else "no"}
         for n in range(3) for box in range(20)]  # fmt: skip
PAGES = [{"image": f"i{n // 2}", "question": ["Who?", "Where?"][n % 2], "arm": arm, "prediction": place,
          "reference": place} for arm in "ab" for n, place in enumerate(PLACES)]  # fmt: skip
# The records of a table, and the field of its systems; "" for none.
SYSTEMS: dict[str, tuple[Records, str]] = {
    "an unknown id": (list_systems("arm", "sample_id"), "arm"),
    "a number": (list_systems("method", "nr"), "method"),
    "an image": (list_systems("config", "image"), "config"),
    "no id": (list_systems("arm"), "arm"),
    "an image and a question": (PAGES, "arm"),
    "few different references": (CHECKS, "arm"),
    "a missing row": (list_systems("arm", "sample_id")[1:], "arm"),
    "another reference": ([{**row, "reference": "y" if not n else row["reference"]}
        for n, row in enumerate(list_systems("arm", "sample_id"))], "arm"),
    "fields of documents": (FORMS, ""),
    "boxes of forms": (BOXES, ""),
    "kinds of questions": ([{"kind": "ab"[n % 2], "prediction": place, "reference": place}
        for n, place in enumerate(PLACES)], ""),
}  # fmt: skip


@pytest.mark.parametrize("case", SYSTEMS)
def test_systems_are_found_without_the_name_of_an_id(shell: Shell, case: str) -> None:
    records, field = SYSTEMS[case]
    shell.write({"t.json": records})
    if not field:
        assert len(shell.scores("t.json")) == 1
        return
    error = shell.error("t.json")
    assert (
        f"for separate models, add --submission-field {field}; to score all rows as one, --submission-field none"
        in error
    )
    assert len(shell.scores(f"t.json --submission-field {field}")) == 2
    assert len(shell.scores("t.json --submission-field none")) == 1


@pytest.mark.parametrize("key", ["sample_id", "idx", "image", None])
def test_field_of_models_splits_rows_without_a_known_id(shell: Shell, key: str | None) -> None:
    shell.write({"t.json": list_systems("model", key)})
    found = {each["name"]: each["anls"] for each in shell.document("t.json")["submissions"]}
    assert found == pytest.approx(OF_TWO)


def test_models_in_other_orders_are_compared_by_what_tells_the_questions_apart() -> None:
    (comparison,) = compare(list_systems("model", "sample_id")).to_dict()["comparisons"]
    assert (comparison["wins"], comparison["losses"]) == (4, 2)


def test_runs_without_a_known_id_are_runs(shell: Shell) -> None:
    shell.write({"t.json": list_systems("seed", "sample_id", (1, 2))})
    assert read(shell, "t.json").endswith("t.json: 24 rows, 12 questions")
    assert shell.document("t.json")["submissions"][0]["runs"] == 2


@pytest.mark.parametrize(("key", "gold_key"), [("sample_id", "id"), ("nr", "id"), ("image", "image")])
@pytest.mark.parametrize("field", ["arm", "model"])
def test_systems_answer_the_questions_of_a_gold_file(shell: Shell, key: str, gold_key: str, field: str) -> None:
    rows = [{**row, key: row[key] if key == "image" else int(row[key][1:])} for row in list_systems(field, key)]
    gold = [{gold_key: row[key], "answer": row["reference"]} for row in rows[:12]]
    answers = [{name: row[name] for name in (key, field, "prediction")} for row in rows]
    shell.write({"g.json": gold, "x.json": answers})
    line = "g.json x.json"
    if field == "arm":
        assert f"for separate models, add --id-field {key} --submission-field arm" in shell.error(line)
        line += f" --id-field {key} --submission-field arm"
    found = {each["name"]: each["anls"] for each in shell.document(line)["submissions"]}
    assert found == pytest.approx(OF_TWO)


def test_answers_to_other_questions_are_said_if_they_are_ignored(shell: Shell) -> None:
    shell.write({"gold.json": GOLD, "x.json": [*ANSWERS, {"questionId": -1, "answer": "a"}]})
    assert read(shell, "gold.json x.json --extra ignore").endswith("24 of 24; 1 answer to other questions not used")
    assert "; " not in read(shell, "gold.json x.json --extra ignore --id-field questionId").partition("24 of 24")[0]


# Files of several tools and teams


def by_label(rows: Records, key: str = "") -> dict[str, Any]:
    """Write a column for each field as an object keyed by row label, as pandas' to_json() does by default."""
    labels = [str(row[key]) if key else str(n) for n, row in enumerate(rows)]
    return {name: {label: row[name] for label, row in zip(labels, rows)} for name in rows[0] if name != key}


COLUMNS_BY_LABEL: dict[str, tuple[str, Files]] = {
    "both": ("t.json", {"t.json": by_label([{**row, "prediction": BASE[row["questionId"]]} for row in GOLD])}),
    "two files": ("g.json x.json", {"g.json": by_label(GOLD), "x.json": by_label(ANSWERS[::-1])}),
    "an index of ids": ("g.json x.json", {"g.json": by_label(GOLD), "x.json": by_label(ANSWERS[::-1], "questionId")}),
    "a series": ("gold.json x.json", {"x.json": by_label(ANSWERS, "questionId")["answer"]}),
}


@pytest.mark.parametrize("case", COLUMNS_BY_LABEL)
def test_columns_by_row_label_are_a_table(shell: Shell, case: str) -> None:
    line, files = COLUMNS_BY_LABEL[case]
    shell.write(files)
    assert shell.scores(f"{line} --quiet") == [SCORE]


def test_named_field_of_predictions_may_be_in_only_some_submissions(shell: Shell) -> None:
    shell.write({"usual.json": ANSWERS, "own.json": [{"reply": BASE[key], "questionId": key} for key in IDS]})
    line = "gold.json usual.json own.json"
    assert "--prediction-field reply" in shell.error(line)
    assert read(shell, f"{line} --prediction-field reply").splitlines() == [
        f"{field} (prediction) of {name}, answers (references) of gold.json, joined by questionId: 24 of 24"
        for field, name in (("answer", "usual.json"), ("reply", "own.json"))
    ]
    assert "no field 'replies'" in shell.error(f"{line} --prediction-field replies")


@pytest.mark.parametrize("line", ["rank0.jsonl rank1.jsonl", "m=rank0.jsonl m=rank1.jsonl"])
def test_parts_of_one_submission_are_passed_as_a_pattern(shell: Shell, line: str) -> None:
    shell.write({f"rank{n}.jsonl": ANSWERS[n::2] for n in range(2)})
    message = shell.error(f"gold.json {line}")
    assert message.endswith("if all files are parts of one submission, pass a pattern in quotes: 'rank*.jsonl'")
    assert shell.scores("gold.json 'rank*.jsonl' --quiet") == [SCORE]
    shell.write({"own.jsonl": [{"questionId": row["questionId"], "reply": row["answer"]} for row in ANSWERS[1::2]]})
    assert "parts of one submission" in shell.error("gold.json rank0.jsonl own.jsonl --prediction-field reply")
    shell.write({"rank2.jsonl": ANSWERS})
    assert shell.error(f"gold.json {line}").endswith("pass a pattern that only they match, in quotes")
    assert "parts of one submission" not in shell.error("gold.json rank0.jsonl rank2.jsonl")
