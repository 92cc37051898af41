"""`score` and `compare` on what people hold in memory. Made-up answers."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import anls_metric
from anls_metric import ANLSWarning, Options, anls_scores, compare, mean, score
from tests.conftest import ROOT
from tests.system.conftest import Run

EXAMPLES = ROOT / "examples" / "compare"
GOLD = json.loads((EXAMPLES / "gold.json").read_text())
ANSWERS = {name: json.loads((EXAMPLES / f"{name}.json").read_text()) for name in ("base", "tuned", "chatty")}
DOCUMENT: dict[str, Any] = score(EXAMPLES / "base.json", EXAMPLES / "gold.json", by="kind", worst=2).to_dict()


def as_columns(records: list[dict[str, Any]]) -> dict[str, list[Any]]:
    return {name: [record[name] for record in records] for name in records[0]}


def as_pandas(records: list[dict[str, Any]]) -> Any:
    return pytest.importorskip("pandas").DataFrame(records)


def as_indexed_pandas(records: list[dict[str, Any]]) -> Any:
    return as_pandas(records).set_index("questionId")


def as_parquet_read_by_pandas(records: list[dict[str, Any]]) -> Any:
    """Lists are arrays of numpy then."""
    pandas, numpy = pytest.importorskip("pandas"), pytest.importorskip("numpy")
    frame = pandas.DataFrame(records)
    if "answers" in frame:
        frame["answers"] = frame["answers"].map(numpy.array)
    return frame


def as_polars(records: list[dict[str, Any]]) -> Any:
    return pytest.importorskip("polars").DataFrame(records)


def as_arrow(records: list[dict[str, Any]]) -> Any:
    return pytest.importorskip("pyarrow").Table.from_pylist(records)


def as_dataset(records: list[dict[str, Any]]) -> Any:
    return pytest.importorskip("datasets").Dataset.from_list(records)


FORMS: list[Callable[[list[dict[str, Any]]], Any]] = [
    list,
    tuple,
    as_columns,
    lambda records: {"data": records},
    as_pandas,
    as_indexed_pandas,
    as_parquet_read_by_pandas,
    as_polars,
    as_arrow,
    as_dataset,
]


@pytest.mark.parametrize("form", FORMS)
def test_every_form_has_the_document_of_the_files(form: Callable[[Any], Any]) -> None:
    document = score(form(ANSWERS["base"]), form(GOLD), by="kind", worst=2).to_dict()
    assert document["submissions"][0].pop("name") == "data"
    expected = json.loads(json.dumps(DOCUMENT))
    assert expected["submissions"][0].pop("name") == "base"
    assert json.loads(json.dumps(document)) == expected


@pytest.mark.parametrize("form", FORMS)
def test_every_form_holds_both_sides(form: Callable[[Any], Any]) -> None:
    by_id = {record["questionId"]: record["answer"] for record in ANSWERS["base"]}
    records = [{**record, "out": by_id[record["questionId"]], "accepted": record["answers"]} for record in GOLD]
    for record in records:
        del record["answers"]
    scores = score(form(records), prediction="out", references="accepted")
    assert scores.anls == DOCUMENT["submissions"][0]["anls"]
    assert list(scores.interval or ()) == DOCUMENT["submissions"][0]["interval"]


def test_two_columns_of_any_library() -> None:
    predictions, references = ["CocaCola", "12/15/89"], [["Coca Cola"], ["12/15/88"]]
    expected = mean(anls_scores(predictions, references))
    assert score(predictions, references).anls == expected
    assert score(tuple(predictions), tuple(references)).anls == expected
    for library, column in (("numpy", "array"), ("pandas", "Series"), ("polars", "Series"), ("pyarrow", "array")):
        make = getattr(pytest.importorskip(library), column)
        assert score(make(predictions), make(references) if column == "Series" else references).anls == expected


def test_values_are_scored_as_columns_and_as_tables() -> None:
    predictions = [{"total": "12.50", "items": ["tea"]}, ["a", "b"]]
    references = [{"total": "12.50", "items": ["milk"]}, ["b", "a"]]
    expected = mean(anls_metric.anls_star_scores(predictions, references))
    assert score(predictions, references, variant="anls_star").anls == expected
    table = {"prediction": predictions, "references": references}
    assert score(table, variant="anls_star").anls == expected


def test_compare_takes_the_lists_that_score_takes() -> None:
    base, tuned, references = ["CocaCola", "1989"], ["Coca Cola", "1988"], [["Coca Cola"], ["1988"]]
    scores = compare({"base": base, "tuned": tuned}, references)
    assert [scores[name].anls for name in ("base", "tuned")] == [score(each, references).anls for each in (base, tuned)]
    assert compare({"base": base, "tuned": tuned}, gold=["Coca Cola", "1988"]).to_dict()["comparisons"]
    lists = compare({"base": [["x"], ["y"]], "tuned": [["x"], ["z"]]}, [["x"], ["z"]], variant="anlsl")
    assert [lists[name].anls for name in ("base", "tuned")] == [0.5, 1.0]
    with pytest.raises(ValueError, match="it has 2 answers without ids, and gold has 3 questions"):
        compare({"base": base, "tuned": tuned}, [*references, ["x"]])


def test_comparison_of_a_question_says_question() -> None:
    assert "\n1 question.\n" in str(compare({"base": ["a"], "tuned": ["b"]}, [["a"]]))


def test_compare_mixes_files_tables_and_answers_by_id() -> None:
    by_id = {record["questionId"]: record["answer"] for record in ANSWERS["tuned"]}
    mixed = compare(
        {"base": EXAMPLES / "base.json", "tuned": by_id, "chatty": as_columns(ANSWERS["chatty"])},
        GOLD,
        all_pairs=True,
        baseline="tuned",
    )
    paths = [EXAMPLES / f"{name}.json" for name in ANSWERS]
    assert (
        mixed.to_dict()["comparisons"]
        == compare(paths, EXAMPLES / "gold.json", all_pairs=True, baseline="tuned").to_dict()["comparisons"]
    )
    assert len(mixed.to_dict()["comparisons"]) == 3


def test_compare_takes_one_table_of_several_models() -> None:
    table = [{**record, "model": name} for name, records in ANSWERS.items() for record in records]
    scores = compare(table, GOLD)
    assert list(scores.scored_sets) == list(ANSWERS)
    assert score(table, GOLD).to_dict() == scores.to_dict()
    with pytest.raises(ValueError, match=r"several submissions .base, tuned, chatty.: take one with scores\[.base.\]"):
        _ = scores.anls


def test_compare_never_takes_a_submission_for_the_accepted_answers() -> None:
    with pytest.raises(ValueError, match=r"a: it has no accepted answers .*pass the accepted answers as gold"):
        compare({"a": [{"id": 1, "answer": "x"}], "b": [{"id": 1, "answer": "y"}]})


def test_data_set_with_images_is_scored_without_them() -> None:
    datasets = pytest.importorskip("datasets")
    pytest.importorskip("PIL")
    features = datasets.Features(
        {
            "questionId": datasets.Value("int64"),
            "image": datasets.Image(),
            "prediction": datasets.Value("string"),
            "answers": datasets.List(datasets.Value("string")),
        }
    )
    rows = [
        {"questionId": n, "image": {"bytes": b"no image", "path": None}, "prediction": "a", "answers": ["a", "b"]}
        for n in range(3)
    ]
    assert score(datasets.Dataset.from_list(rows, features=features)).anls == 1


# What comes back


def test_answers_are_a_record_for_each_question_and_submission() -> None:
    scores = compare({"a": ANSWERS["base"], "b": ANSWERS["tuned"]}, GOLD, by="kind")
    answers = scores.answers()
    assert len(answers) == 2 * len(GOLD)
    assert answers[0] == {
        "submission": "a",
        "id": "1",
        "question": "Which shop is the receipt from?",
        "prediction": "Green Leaf Grocery",
        "references": ["Green Leaf Grocery"],
        "score": 1.0,
        "outcome": "equal",
        "groups": {"kind": [GOLD[0]["kind"]]},
    }
    assert mean([answer["score"] for answer in answers if answer["submission"] == "b"]) == scores["b"].mean
    pytest.importorskip("pandas")
    frame = scores.answers_frame()
    assert list(frame["kind"])[:2] == [GOLD[0]["kind"], GOLD[1]["kind"]]
    assert frame.groupby("submission")["score"].mean()["b"] == pytest.approx(scores["b"].mean)


def test_result_prints_with_its_hints_and_warns_of_each() -> None:
    wrapped = [f"<think>Hm.</think>{record['answers'][0]}" for record in GOLD]
    with pytest.warns(ANLSWarning, match='extract the answers with extract="think"') as caught:
        scores = score(wrapped, [record["answers"] for record in GOLD])
    assert [str(each.message) for each in caught] == scores.hints
    assert caught[0].filename == __file__
    assert f"\n\nhint: {scores.hints[0]}" in str(scores)
    assert "hint: " in scores._repr_html_()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert score(wrapped, [record["answers"] for record in GOLD], extract="think").anls == 1


def test_tables_take_columns_digits_and_percent() -> None:
    scores = score(ANSWERS["base"], GOLD)
    assert scores.to_markdown(percent=True, columns=["anls"]).splitlines()[2] == "| data | 83.57 |"
    assert scores.to_csv(digits=2, columns="anls, questions").splitlines()[1].startswith("data,0.84,150,anls|standard")
    assert scores.to_latex().startswith("% \\usepackage{booktabs}\n")
    with pytest.raises(ValueError, match=r"unknown column 'anlz'; did you mean anls\? Choose from name, layout"):
        scores.to_latex(columns="anlz")


def test_find_names_the_variants_of_a_number() -> None:
    scores = score(ANSWERS["base"], GOLD)
    assert "standard" in [match.variant for match in scores.find(83.57)]
    assert "standard" in [match.variant for match in scores.find("0.8357")]


def test_report_is_the_one_of_the_command(run: Run, tmp_path: Path) -> None:
    submissions = {name: EXAMPLES / f"{name}.json" for name in ("base", "tuned")}
    compare(submissions, EXAMPLES / "gold.json").report(tmp_path / "python.html")
    run(EXAMPLES / "gold.json", *submissions.values(), "--report", tmp_path / "command.html", "--quiet")
    command, python = ((tmp_path / f"{door}.html").read_text(encoding="utf-8") for door in ("command", "python"))
    assert len(python) == pytest.approx(len(command), rel=0.001)
    assert "similarity" in python


def test_report_with_the_ending_of_another_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"'\S*report.pdf' does not end in .html: name a file such as"):
        score(["a"], [["a"]]).report(tmp_path / "report.pdf")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_flag_answers_writes_what_python_lists(run: Run, tmp_path: Path, ending: str) -> None:
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    path = tmp_path / f"answers.{ending}"
    status, _, err = run(EXAMPLES / "gold.json", EXAMPLES / "base.json", "--by", "kind", "--answers", path)
    assert (status, err.splitlines()[-1]) == (0, f"answers: {path}")
    expected = score(EXAMPLES / "base.json", EXAMPLES / "gold.json", by="kind").answers()
    if ending == "jsonl":
        assert [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] == expected
    # The file can be scored again.
    assert score(path, prediction="prediction", references="references").anls == DOCUMENT["submissions"][0]["anls"]


def test_flag_answers_refuses_what_it_cannot_write_before_it_scores(run: Run, tmp_path: Path) -> None:
    status, out, err = run(EXAMPLES / "gold.json", EXAMPLES / "base.json", "--answers", tmp_path / "answers.xlsx")
    assert (status, out) == (2, "")
    assert "answers cannot be written as '.xlsx': name a file that ends in .csv, .jsonl, .parquet" in err
    error = run(EXAMPLES / "gold.json", EXAMPLES / "base.json", "--answers", tmp_path / "answers")[2]
    assert "its name has no ending: name a file that ends in .csv, .jsonl, .parquet" in error


# What goes wrong


MISTAKES: dict[str, tuple[Callable[[], Any], str]] = {
    "no such column": (
        lambda: score(as_columns(GOLD), prediction="text"),
        "data: no field 'text' (found 'questionId', 'question', 'answers', 'image', 'kind')",
    ),
    "columns of different lengths": (
        lambda: score({"prediction": ["a"], "references": [["a"], ["b"]]}),
        "data: the columns have different lengths: prediction has 1, references has 2",
    ),
    "lists of different lengths": (lambda: score(["a"], [["a"], ["b"]]), "prediction has 1, references has 2"),
    "a generator": (lambda: score(text for text in "ab"), "give a list of texts, the path of a file, a DataFrame"),
    "a generator of accepted answers": (lambda: score(["a"], iter([["a"]])), "gold: it is "),
    "no ids in common": (
        lambda: score(ANSWERS["base"], [{"questionId": -n, "answers": ["a"]} for n in range(1, 9)]),
        "data: none of its ids is in gold: it has 1, 2, 3, 4, 5, ..., and gold has -1",
    ),
    "an empty table": (lambda: score([], []), "data: it has no questions"),
    "an empty list": (lambda: score([], GOLD), "data: it has no answers: add the answers"),
    "a number": (lambda: score(5), "data: it is 5 (int): give a list of texts"),
    "lists the wrong way round": (
        lambda: score([["a"], ["c", "d"]], ["a", "c"]),
        "the two look swapped: pass the predictions first",
    ),
    "lists of one text": (lambda: score([["a"], ["c"]], ["a", "c"]), 'with prediction="prediction.0"'),
    "the wrong way round": (lambda: score(GOLD, ANSWERS["base"]), "the two look swapped: pass the predictions first"),
    "no predictions": (lambda: score(GOLD), "pass this data as gold after them"),
    "no accepted answers": (lambda: score(ANSWERS["base"]), "data: it has no accepted answers"),
    "a missing prediction": (lambda: score(["a", None], [["a"], ["b"]]), "data, row 2: 'prediction' is null"),
    "no such submission": (lambda: compare({"a": {1: "x"}}, {1: ["x"]}, baseline="b"), "unknown baseline 'b'"),
    "one file twice": (
        lambda: score(EXAMPLES / "base.json", EXAMPLES / "base.json", references="answers"),
        "(this file is both the gold file and the submission): name two different files",
    ),
    "accepted answers as the name of a field": (
        lambda: score(["a"], references=[["a"]]),  # type: ignore[arg-type]
        "references is [['a']] (list): give the accepted answers as the second argument",
    ),
    "accepted answers as the name of a field, to compare": (
        lambda: compare({"a": ["a"]}, references=[["a"]]),  # type: ignore[arg-type]
        "references is [['a']] (list): give the accepted answers as the second argument",
    ),
    "predictions as the name of a field": (
        lambda: score([["a"]], prediction=["a"]),
        "prediction is ['a'] (list): give the predictions as the first argument",
    ),
    "a switch for the extraction": (
        lambda: score(["a"], [["a"]], extract=True),  # type: ignore[arg-type]
        'extract is True (bool): it must name extraction rules, such as "think,final"',
    ),
    "a number for a variant": (
        lambda: score(["a"], [["a"]], variant=5),  # type: ignore[arg-type]
        'variant is 5 (int): it must name variants, such as "rrc"',
    ),
    "a number for fields": (
        lambda: score(["a"], [["a"]], by=5),  # type: ignore[arg-type]
        "by is 5 (int): it must be the name of a field, or a list of names",
    ),
    "a list of corrections": (
        lambda: score(["a"], [["a"]], corrections=[{"questionId": 1, "accept": "x"}]),  # type: ignore[arg-type]
        "(list): write the corrections to a file, and give its path",
    ),
    "no such file": (
        lambda: score("nofile.json", "examples/gold_label.json"),
        "nofile.json: No such file or directory",
    ),
    "a misspelled file": (
        lambda: compare([EXAMPLES / "bse.json", EXAMPLES / "tuned.json"], EXAMPLES / "gold.json"),
        f"bse.json: No such file or directory: did you mean {EXAMPLES / 'base.json'}?",
    ),
    "an address": (lambda: score("hf://a/b.json"), "it is an address, not a file: download the file"),
    "one text": (
        lambda: score("Coca\0Cola", ["Coca Cola"]),
        "give the path of a file or a list of texts, or score one text with anls_score",
    ),
    "columns without usual names": (
        lambda: score({"mine": ["a", "b"], "theirs": [["a"], ["b"]]}),
        "none has a usual name ('mine', 'theirs'): name the columns with the arguments 'prediction' and 'references'",
    ),
    "lists to compare": (
        lambda: compare([["a", "b"], ["a", "c"]], [["a"], ["b"]]),
        "it is a list of 2 lists or tables: give a dict from the name of each model to its answers",
    ),
    "two files to compare, the second taken for the gold file": (
        lambda: compare(EXAMPLES / "base.json", EXAMPLES / "tuned.json"),
        "base.json: it holds the answers of one model: give a dict from the name of each model to its file",
    ),
    "tables to compare": (
        lambda: compare([ANSWERS["base"], ANSWERS["tuned"]], GOLD),
        "it is a list of 2 lists or tables: give a dict from the name of each model to its answers",
    ),
    "a dict of files": (
        lambda: score({"base": EXAMPLES / "base.json"}, EXAMPLES / "gold.json"),
        "data: it is a dict of files: call compare instead of score, or give one file",
    ),
    "a list of tuples": (
        lambda: score(list(zip(["a"], [["a"]]))),
        "data: it is a list of tuples: call score(predictions, references) with two lists",
    ),
    "an empty dict": (lambda: score({}, [["a"]]), "data: it is empty: give a dict of columns, or"),
    "a file of accepted answers as the name of a field": (
        lambda: score(EXAMPLES / "base.json", references=str(EXAMPLES / "gold.json")),
        "give the accepted answers as the second argument; references is the name of a field",
    ),
    "the content of a file": (
        lambda: score((EXAMPLES / "base.json").read_text(encoding="utf-8"), EXAMPLES / "gold.json"),
        "data: it is JSON, and not the path of a file: parse it with json.loads, or give the path",
    ),
    "a missing file of corrections": (
        lambda: score(["a"], [["a"]], corrections=EXAMPLES / "gol.json"),
        f"gol.json: No such file or directory: did you mean {EXAMPLES / 'gold.json'}?",
    ),
    "keys of texts": (
        lambda: score(["a"], [["a"]], by_key=True),
        "by_key is for lists and nested values: give it with variant='anls_star'",
    ),
    "a percentage for the score of a right answer": (
        lambda: score(["a"], [["a"]], right_at=50),
        "right_at is 50 (int): it must be a number from 0 to 1",
    ),
    "a negative number of worst answers": (
        lambda: score(["a"], [["a"]], worst=-1),
        "worst is -1 (int): it must be a whole number from 0",
    ),
    "a text for a number of questions": (
        lambda: score(["a"], [["a"]], regressions="3"),  # type: ignore[arg-type]
        "regressions is '3' (str): it must be a whole number from 0",
    ),
    "a text for a number of confusions": (
        lambda: score(["a"], [["a"]], confusions="3"),  # type: ignore[arg-type]
        "confusions is '3' (str): it must be a whole number from 0",
    ),
    "an empty name of a variant": (lambda: score(["a"], [["a"]], variant=""), "variant is '' (str): it must name"),
    "an empty path of a report": (
        lambda: score(["a"], [["a"]]).report(""),
        "the name of the report is empty: name a file, such as report.html",
    ),
    "no path of a report": (
        lambda: score(["a"], [["a"]]).report(None),  # type: ignore[arg-type]
        'path is None: give the name of a file, such as "report.html"',
    ),
    "a text for the limit of images": (
        lambda: score(["a"], [["a"]]).report("r.html", images_limit="lots"),  # type: ignore[arg-type]
        "images_limit is 'lots' (str): it must be a number from 0 to 10,000",
    ),
    "a negative number of digits": (
        lambda: score(["a"], [["a"]]).to_latex(digits=-1),
        "digits is -1 (int): it must be a whole number from 0 to 16",
    ),
    "a variant in the place of the threshold": (
        lambda: anls_metric.anls_scores(["a"], [["a"]], "rrc"),  # type: ignore[arg-type]
        "threshold is 'rrc' (str): write variant='rrc'",
    ),
    "a list in the list of accepted answers": (
        lambda: anls_metric.anls_score("a", [["b"]]),  # type: ignore[list-item]
        "gold_labels, item 0, is ['b'] (list), not a string: pass one list of strings, without a list inside",
    ),
    "no such layout": (lambda: score(ANSWERS["base"], GOLD, layout="lmm_eval"), "lmm_eval"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistake_is_an_error_that_says_what_to_do(mistake: str) -> None:
    call, message = MISTAKES[mistake]
    with pytest.raises(ValueError, match=r"\w") as error:
        call()
    assert message in str(error.value)
    assert score(["a"], [["a"]]).anls == 1  # after an error the next call is right


def test_missing_file_is_also_an_error_of_the_system() -> None:
    with pytest.raises(FileNotFoundError) as error:
        score("nofile.json")
    assert error.value.filename == "nofile.json"


def test_unknown_option_is_a_type_error_that_names_the_near_one() -> None:
    for function in (score, compare):
        with pytest.raises(
            TypeError, match=r"\(\) got an unexpected keyword argument 'varient': did you mean variant\?"
        ):
            function({"prediction": ["a"], "references": [["a"]]}, varient="rrc")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"keyword argument 'id_field': did you mean id\?"):
        score(["a"], [["a"]], id_field="key")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"'return_all_scores': score\(...\).answers\(\) lists every answer"):
        score(["a"], [["a"]], return_all_scores=True)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"help\(anls_metric.Options\) lists the options"):
        score(["a"], [["a"]], xyzzy=1)  # type: ignore[call-arg]


def test_none_is_the_default_of_every_option() -> None:
    options: Any = dict.fromkeys(Options.__annotations__)
    assert score(ANSWERS["base"], GOLD, **options).to_dict() == score(ANSWERS["base"], GOLD).to_dict()


@pytest.mark.parametrize("name", ["variant", "metrics", "extract"])
def test_several_names_are_a_list_or_a_text_with_commas(name: str) -> None:
    names = {"variant": ["rrc", "stvqa"], "metrics": ["f1", "cer"], "extract": ["think", "final"]}[name]
    of_list: Any = {name: names}
    of_text: Any = {name: ", ".join(names)}
    expected = score(["Answer: a"], [["a"]], **of_text).to_dict()
    assert score(["Answer: a"], [["a"]], **of_list).to_dict() == expected


def test_prediction_columns_of_a_table_are_a_list_of_names() -> None:
    table = [{"references": [text], "small": text, "large": "a"} for text in "ab"]
    scores = compare(table, prediction=["small", "large"])
    assert [submission.anls for submission in (scores["small"], scores["large"])] == [1.0, 0.5]


def test_sequences_of_any_kind_are_columns() -> None:
    datasets = pytest.importorskip("datasets")
    columns: dict[str, list[Any]] = {"predictions": ["a", "c"], "answers": [["a"], ["b"]]}
    table = datasets.Dataset.from_dict(columns)
    by_id: tuple[dict[int, Any], ...] = tuple(dict(enumerate(column)) for column in columns.values())
    for predictions, accepted in ((table["predictions"], table["answers"]), (by_id[0].values(), by_id[1].values())):
        assert score(predictions, accepted).anls == 0.5
        assert score(predictions, gold=accepted).anls == 0.5
        assert compare({"a": predictions, "b": ["a", "b"]}, accepted)["a"].anls == 0.5


def test_functions_say_what_to_write_in_place_of_a_wrong_argument(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"'report': score\(...\).report\(\"report.html\"\) writes the report"):
        score(["a"], ["a"], report="r.html")  # type: ignore[call-arg]
    with pytest.raises(
        ValueError, match=r"gold.json: it comes before a list of files: call compare\(submissions, gold\)"
    ):
        compare(str(EXAMPLES / "gold.json"), [EXAMPLES / "base.json", EXAMPLES / "tuned.json"])


def test_score_by_the_name_of_a_number_names_the_property() -> None:
    with pytest.raises(KeyError, match=r"unknown submission 'anls'; choose from data; the mean score is .anls"):
        score(["a"], ["a"])["anls"]


def test_columns_get_their_names_from_the_options() -> None:
    assert score({"preds": ["a", "b"], "golds": [["a"], ["c"]]}, prediction="preds", references="golds").anls == 0.5


def test_options_are_all_documented() -> None:
    assert Options.__doc__
    assert all(f"{name}" in Options.__doc__ for name in Options.__annotations__)


def test_frames_of_pandas_with_gaps_are_read() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"prediction": ["a", None, pandas.NA], "references": [["a"], ["b"], ["c"]]})
    assert score(frame, missing="zero").anls == mean([1, 0, 0])
    numbers = pandas.DataFrame({"prediction": [15, 7], "references": [["15"], ["8"]]})
    assert score(numbers).anls == 0.5


def test_ids_that_pandas_made_floats_are_whole_numbers() -> None:
    pandas = pytest.importorskip("pandas")
    gold = {"questionId": [1, 2], "answers": [["Coca Cola"], ["12/15/88"]]}
    for name in ("questionId", "nr"):
        frame = pandas.DataFrame({name: [2.0, 1.0], "answer": ["12/15/88", "CocaCola"]})
        assert score(frame, gold).anls == score({1: "CocaCola", 2: "12/15/88"}, gold).anls
        assert score({1: "CocaCola", 2: "12/15/88"}, frame).anls == 1
    for wrong in (1.5, float("nan"), 2.0**53):
        with pytest.raises(ValueError, match=r"data, row 2: questionId is .*: an id must be a text or a whole number"):
            score(pandas.DataFrame({"questionId": [2.0, wrong], "answer": ["a", "b"]}), gold)


def test_index_of_a_series_is_the_id() -> None:
    pandas = pytest.importorskip("pandas")
    texts, accepted, gold = ["12/15/88", "CocaCola"], [["12/15/88"], ["Coca Cola"]], {1: "Coca Cola", 2: "12/15/88"}
    shuffled = pandas.Series(texts, index=[2, 1])
    table = [{"questionId": key, "answers": [text]} for key, text in gold.items()]
    right = mean([8 / 9, 1])
    for answers in (shuffled, shuffled.rename_axis("questionId"), shuffled.to_frame("answer")):
        assert score(answers, table).anls == right
        assert compare({"a": answers, "b": answers}, table)["b"].anls == right
    assert score({1: "CocaCola", 2: "12/15/88"}, pandas.Series(accepted, index=[2, 1])).anls == right
    # By position, where the index tells nothing.
    assert score(pandas.Series(texts[::-1]), table).anls == right
    for index in ([2, 1], [7, 5]):
        assert score(pandas.Series(texts, index=index), accepted).anls == right
        assert score(pandas.Series(texts, index=index), pandas.Series(accepted, index=index)).anls == right
    assert score(pandas.Series(texts), pandas.Series(accepted, index=[7, 5])).anls == right
    assert score(pandas.Series(texts[::-1], index=[7, 5]), table, id="none").anls == right
    with pytest.raises(ValueError, match=r"no field holds ids of gold: 'index' is 7, 5.* with id=\"none\""):
        score(pandas.Series(texts, index=[7, 5]), table)
    # Position and index disagree.
    other_order = pandas.Series(accepted[::-1], index=[1, 2])
    with pytest.raises(ValueError, match=r"in another order: match by index with predictions.loc\[gold.index\]"):
        score(shuffled, other_order)
    with pytest.raises(ValueError, match="a: its index has the labels of the accepted answers in another order"):
        compare({"a": shuffled}, other_order)
    assert score(shuffled.loc[other_order.index], other_order).anls == right
    assert score(shuffled.tolist(), other_order.tolist()).anls == 0


def test_rows_of_one_data_frame_are_matched_by_position() -> None:
    pandas = pytest.importorskip("pandas")
    rows = {"questionId": [406, 421, 431, 441], "answers": [["Acme"], ["Delta"], ["Hooli"], ["Stark"]]}
    frame = pandas.DataFrame({**rows, "pred": ["Acme", "Delta", "Hooly", "no"]})
    some = frame[frame["questionId"] > 410]
    for answers in (some[["pred"]], some["pred"]):
        scores = score(answers, some[["questionId", "answers"]])
        assert [answer["id"] for answer in scores.answers()] == ["421", "431", "441"]
        assert scores.anls == mean([1, 0.8, 0])
    gold, shuffled = some[["answers"]], some[["pred"]].iloc[::-1]
    with pytest.raises(ValueError, match=r"in another order: match by index with predictions.loc\[gold.index\]"):
        score(shuffled, gold)
    assert score(shuffled.loc[gold.index], gold).anls == mean([1, 0.8, 0])


def test_lazy_frame_and_split_of_a_data_set_are_refused() -> None:
    polars = pytest.importorskip("polars")
    with pytest.raises(ValueError, match=r"data: it is a query of polars: run it with .collect"):
        score(polars.DataFrame({"prediction": ["a"], "references": [["a"]]}).lazy())
    datasets = pytest.importorskip("datasets")
    splits = datasets.DatasetDict({"train": datasets.Dataset.from_list(GOLD)})
    with pytest.raises(ValueError, match=r"data: it has several splits .train.: give one of them"):
        score(splits)
