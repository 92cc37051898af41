"""A file for each record, paths that go on inside JSON, and tables in other shapes. The answers are made up."""

from __future__ import annotations

import json
from typing import Any

import pytest

from anls_metric import score
from tests.reading.conftest import Shell, read
from tests.system.conftest import ACCEPTED, BASE, GOLD, IDS, SCORE

VALUES = [{"vendor": f"Shop {n}", "total": f"{n}.50", "items": [{"name": "tea"}]} for n in range(12)]


def write_folder(shell: Shell, folder: str, records: dict[str, Any]) -> None:
    shell.write({f"{folder}/{name}.json": record for name, record in records.items()})


def test_folder_of_documents_is_a_table_with_a_record_for_each_file(shell: Shell) -> None:
    write_folder(shell, "gold", {f"doc{n}": value for n, value in enumerate(VALUES)})
    write_folder(shell, "out", {f"doc{n}": {**value, "total": "x"} for n, value in enumerate(VALUES)})
    line = "-g gold out --variant anls_star"
    assert shell.scores(line) == [pytest.approx(2 / 3)]
    assert read(shell, line) == (
        "the whole record (prediction) of out, the whole record (references) of gold, joined by the file names: "
        "12 of 12"
    )
    assert shell.scores("-g gold 'out/*.json' --variant anls_star") == [pytest.approx(2 / 3)]
    write_folder(shell, "more", {f"doc{n}": value for n, value in enumerate(VALUES)})
    names = [each["name"] for each in shell.document("gold/ out/ more/ --variant anls_star")["submissions"]]
    assert names == ["out", "more"]  # a shell completes the names of folders with a slash
    for files in ("out/doc1.json out/doc2.json", "out/doc1.json"):
        message = "it contains only one record: to score its folder as one table, quote the pattern, or pass out"
        assert shell.error(f"-g gold {files} --variant anls_star").startswith(f"out/doc1.json: {message}")


def test_folder_of_answers_is_joined_by_file_names_or_ids(shell: Shell) -> None:
    shell.write({"gold.json": GOLD})
    write_folder(shell, "named", {str(key): {"answer": text, "seconds": 1} for key, text in BASE.items()})
    write_folder(shell, "ids", {f"n{n}": {"questionId": key, "answer": BASE[key]} for n, key in enumerate(IDS)})
    write_folder(shell, "prefixed", {f"page-{key}": {"answer": text} for key, text in BASE.items()})
    assert (
        shell.scores("gold.json named")
        == shell.scores("gold.json ids")
        == shell.scores("gold.json prefixed")
        == [SCORE]
    )
    assert read(shell, "gold.json named").endswith("joined by the file names and questionId: 24 of 24")
    assert read(shell, "gold.json prefixed").endswith('the file names without "page-" and questionId: 24 of 24')
    write_folder(shell, "models", {name: {str(key): text for key, text in BASE.items()} for name in "ab"})
    error = shell.error("gold.json models")
    assert error == (
        "models: its files are separate submissions (their keys are ids of gold.json): pass them one by one, "
        "as in models/*"
    )
    assert shell.scores("gold.json models/a.json models/b.json") == [SCORE, SCORE]


def test_folder_of_a_run_names_a_pattern_that_exists(shell: Shell) -> None:
    shell.write({"run/results_1.json": {"anls": 1}, "run/samples_1.jsonl": [{"answer": "a"}]})
    shell.write({"parts/a.csv": "id,answer\n1,a\n", "parts/x_1.jsonl": [{"id": 1}], "parts/x_2.jsonl": [{"id": 2}]})
    assert "such as 'run/samples_1.jsonl'" in shell.error("run")
    assert "such as 'parts/x_*.jsonl'" in shell.error("parts")


# Records of a table, and the fields that are typed. Each scores 0.75.
TABLES: dict[str, tuple[Any, str]] = {
    "inside a string that is JSON": ([{"out": json.dumps({"text": BASE[key]}), "gold": json.dumps({"all":
        ACCEPTED[key]})} for key in IDS], "--prediction-field out.text --references-field gold.all"),
    "each item of a list": ([{"pred": BASE[key], "parses": [{"answer": text} for text in ACCEPTED[key]]} for key in
        IDS], "--references-field parses.*.answer"),
    "several columns": ([{"pred": BASE[key], "a": ACCEPTED[key][0], "b": ACCEPTED[key][-1]} for key in IDS],
        "--references-field a,b"),
    "columns and data": ({"columns": ["id", "pred", "answers"], "data": [[key, BASE[key], ACCEPTED[key]] for key in
        IDS]}, ""),
}  # fmt: skip


@pytest.mark.parametrize("case", TABLES)
def test_paths_and_shapes_of_tables(shell: Shell, case: str) -> None:
    records, flags = TABLES[case]
    shell.write({"t.json": records})
    assert shell.scores(f"t.json {flags}") == [SCORE]


def test_whole_record_is_a_path(shell: Shell) -> None:
    shell.write({"x.json": [{"text": "a"}], "g.json": [{"answers": {"text": "a"}}]})
    assert shell.scores("g.json x.json --variant anls_star --prediction-field .") == [1.0]


def test_text_with_a_tab_in_each_line_is_no_list_of_answers(shell: Shell) -> None:
    shell.write({"x.txt": "1\ta\n2\tb\n", "y.txt": "a\tb\nc\n"})
    assert "x.txt: each line has a tab: save the file as .tsv" in shell.error("x.txt -g x.txt")


def test_nan_among_accepted_answers_is_an_error_of_its_row(shell: Shell) -> None:
    shell.write({"t.json": '[{"id": 1, "pred": "a", "answers": ["a"]}, {"id": 2, "pred": "a", "answers": ["a", NaN]}]'})
    assert shell.error("t.json").startswith("t.json, record 2: the reference is NaN, a missing value")


def test_folder_of_texts_is_a_table_with_a_text_for_each_file(shell: Shell) -> None:
    texts = {f"page {n}": f"Line {n}\nTotal {n}.50" for n in range(12)}
    shell.write({f"gold/{name}.txt": f"{text}\n" for name, text in texts.items()})
    shell.write({f"out/{name}.txt": text[:-1] + "1" for name, text in texts.items()})
    shell.write({f"pages/{name}.md": text for name, text in texts.items()})
    shell.write({"by_name.json": texts, "gold/page 3.png": b"?"})
    expected = sum(1 - 1 / len(text) for text in texts.values()) / len(texts)
    for line in ("-g gold out", "-g gold 'out/*.txt'"):
        assert shell.scores(line) == [pytest.approx(expected)]
        assert read(shell, line).endswith("the values (references) of gold, joined by the file names: 12 of 12")
    assert shell.scores("-g gold by_name.json pages") == [1.0, 1.0]


def test_json_in_text_files_is_read_as_json(shell: Shell) -> None:
    for folder, total in (("gold", "7.50"), ("out", "x")):
        shell.write({f"{folder}/doc{n}.txt": json.dumps({**value, "total": total}) for n, value in enumerate(VALUES)})
    assert shell.scores("-g gold out --variant anls_star") == [pytest.approx(2 / 3)]
    shell.write({"out/doc3.txt": '{"vendor": "A'})
    message = "it is not a JSON object, unlike 11 other files: repair it, or remove it and add --missing zero"
    assert shell.error("-g gold out --variant anls_star") == f"out/doc3.txt: {message}"


def test_word_lists_of_icdar_are_read_by_the_names_of_their_images(shell: Shell) -> None:
    words = ["OPEN", "No. 7, left", 'a "b"', "back\\slash", ""]
    lines = [f'word_{n}.png, "{json.dumps(word)[1:-1]}"\n' for n, word in enumerate(words)]
    shell.write({"gold.txt": "".join(lines[:4]), "out.txt": "".join(lines[3::-1])})
    assert shell.scores("-g gold.txt out.txt") == [1.0]
    (answer, *_) = score("out.txt", gold="gold.txt").answers()
    assert (answer["id"], answer["prediction"]) == ("word_0.png", "OPEN")
    assert (
        score("gold.txt", gold=[{"id": f"word_{n}.png", "answers": [word]} for n, word in enumerate(words[:4])]).anls
        == 1.0
    )
    shell.write({"plain.txt": "".join(f"out/word_{n}.png\t{word}\n" for n, word in enumerate(words[:4]))})
    assert shell.scores("-g gold.txt plain.txt") == [1.0]
    shell.write(
        {"lines.txt": 'see word_1.png, "a"\nor not\n', "two.json": [{"answers": ["x"]}, {"answers": ["or not"]}]}
    )
    assert shell.scores("two.json lines.txt") == [0.5]


def test_folder_of_folders_is_read_by_the_pattern_that_its_error_names(shell: Shell) -> None:
    texts = {f"{folder}/p{n}.txt": f"{folder} {n}" for folder in "ab" for n in range(3)}
    for side in ("gold", "x"):
        shell.write({f"{side}/{name}": text for name, text in texts.items()})
    for side in ("gold", "x"):
        assert shell.error(f"gold/*/*.txt {side}" if side == "x" else f"{side} x").endswith(f"such as '{side}/*/*.txt'")
    assert shell.scores("gold/*/*.txt x/*/*.txt") == [1.0]
    done = shell.type("gold/*/*.txt x/*/*.txt --missing zero")
    assert "fields of a submission" not in done.err
    shell.write({"y/p.txt": "a 0", "z/p.txt": "a 0"})
    assert shell.type("y z").err == ""
