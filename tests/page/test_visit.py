"""What a visitor is shown, without the page around it."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from anls import VARIANTS, explain, get_variant
from anls_metric.analysis.scored import Scored, ScoredSet, grouping_fields
from anls_metric.page import limits, visit
from anls_metric.page.uploads import Upload
from anls_metric.page.visit import Asked, Visit, by_variant, one_answer
from anls_metric.reading.files import Records
from anls_metric.reading.rows import Row
from anls_metric.report import pieces
from tests.conftest import ROOT
from tests.page.files import write_table

GOLD = Upload(str(ROOT / "examples" / "gold_label.json"))
SUBMISSION = Upload(str(ROOT / "examples" / "submission.json"))
STANDARD = get_variant()


# One answer


def test_one_answer_is_shown_with_its_reason() -> None:
    shown, variants = one_answer("CocaCola", "Coca Cola\n\n  \nCoca Cola Company\n", STANDARD)
    assert "1 edit on 9 characters" in shown
    assert shown.count("<q>Coca Cola") == 3  # the closest one twice
    assert all(f"<b>{name}</b>" in variants for name in VARIANTS)
    assert one_answer("CocaCola", " \n", STANDARD) == (
        pieces.hint("Write an accepted answer to see the score."),
        "",
    )


def test_what_would_keep_others_waiting_is_refused() -> None:
    for prediction, answers in (("a" * 20_000, "b\n" * 10_000), ("a" * 20_001, "b"), ("a", "b" * 20_001)):
        with pytest.raises(ValueError, match=r"too long|longer than"):
            one_answer(prediction, answers, STANDARD)


def test_a_long_answer_is_scored_without_its_edits() -> None:
    shown, _ = one_answer("ab" * 2_500, "ac" * 2_500, STANDARD)
    assert "2,500 edits on 5,000 characters" in shown
    assert "5,000 characters against 5,000: too long to show what differs" in shown
    assert "Edits:" not in shown


def test_what_is_shown_stays_small() -> None:
    shown, variants = one_answer("a", "\n".join(["bcd"] * 5_000), STANDARD)
    assert len(shown) + len(variants) < 60_000
    assert "and 4,950 other accepted answers" in shown


# Files


def test_two_files_are_scored() -> None:
    visitor = Visit()
    said = visitor.score(Asked(GOLD, SUBMISSION), STANDARD)
    assert said is not None
    assert set(said) == {"summary", "histogram", "comparison", "worst", "groups"}
    assert "0.6273" in said["summary"]
    assert "6 questions. 2 score 0 (1 empty, 1 other)" in said["summary"]
    assert "95 % interval" in said["summary"]
    assert said["comparison"] == ""
    assert "2 of 2 answers" in visitor.worst("SIGN", "")
    assert "1 of 1 answers" in visitor.worst("", "empty")
    assert "Table/list" in visitor.groups("evidence")
    assert visitor.groups(None) == ""
    for name in VARIANTS:
        assert f"<b>{name}</b>" in visitor.every_variant()


def test_all_that_is_said_of_a_table(tmp_path: Path) -> None:
    table = write_table(tmp_path / "table.jsonl", 700)
    visitor = Visit()
    said = visitor.score(Asked(table, prediction_column="prediction", references_column="references"), STANDARD)
    assert said is not None
    assert "700 questions" in said["summary"]
    assert visitor.fields == ["kind"]
    assert visitor.groups("kind").count("<td>100</td>") == 7
    assert "10 of 700 answers" in visitor.worst()


def test_a_second_submission_is_compared(tmp_path: Path) -> None:
    gold = json.loads(Path(GOLD.path).read_text())["data"]
    better = [{"questionId": record["questionId"], "answer": record["answers"][0]} for record in gold]
    (tmp_path / "better one.json").write_text(json.dumps(better))
    second = Upload(str(tmp_path / "better one.json"))
    said = Visit().score(Asked(GOLD, SUBMISSION, second), STANDARD)
    assert said is not None
    assert "Difference +0.3727" in said["comparison"]
    assert said["comparison"].count('<div class="pair">') == 4
    same = Visit().score(Asked(GOLD, SUBMISSION, SUBMISSION), STANDARD)
    assert same is not None
    assert "submission.json (second)" in same["comparison"]
    assert "They differ nowhere" in same["comparison"]


def test_each_step_is_told() -> None:
    steps = [Asked(), Asked(submission=SUBMISSION), Asked(GOLD), Asked(GOLD, prediction_column="a")]
    said = [Visit().score(asked, STANDARD) for asked in steps]
    assert [list(one or {}) for one in said] == [["summary"]] * 4
    assert "Drop a gold file and a submission" in said[0]["summary"]  # type: ignore[index]
    assert "Drop the gold file as well" in said[1]["summary"]  # type: ignore[index]
    assert "Drop a submission to gold_label.json, or pick the columns" in said[2]["summary"]  # type: ignore[index]


def test_a_file_is_read_and_scored_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    read, scored = [], Counter[str]()

    class CountingUpload(Upload):
        def records(self) -> Records:
            read.append(self.name)
            return super().records()

    class CountingSet(ScoredSet):
        def add(self, rows: Sequence[Row]) -> list[Scored]:
            scored[self.variant.name] += len(rows)
            return super().add(rows)

    monkeypatch.setattr(visit, "ScoredSet", CountingSet)
    table = CountingUpload(write_table(tmp_path / "table.jsonl", 50).path)
    asked = Asked(table, prediction_column="prediction", references_column="references")
    visitor = Visit()
    visitor.score(asked, STANDARD)
    for _ in range(2):
        assert visitor.fields == ["kind"]
        assert visitor.groups("kind")
        assert visitor.worst("answer")
        assert visitor.download("CSV")
        assert visitor.every_variant()
    assert (read, scored) == (["table.jsonl"], {"standard": 50})
    visitor.score(asked, get_variant("rrc"))
    assert (read, scored) == (["table.jsonl"], {"standard": 50, "rrc": 50})
    assert "<tr class=marked><td><b>rrc</b>" in visitor.every_variant()


def test_what_was_let_go_is_read_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(limits, "budget", limits.Budget(most=1))
    visitors = [Visit(), Visit()]
    for number, visitor in enumerate(visitors):
        asked = Asked(write_table(tmp_path / f"{number}.jsonl", 10 + number), None, None, "prediction", "references")
        visitor.score(asked, get_variant("rrc"))
    assert visitors[0]._submissions == []
    assert "10 of 10 answers" in visitors[0].worst()
    assert visitors[1]._submissions == []
    Path(tmp_path / "1.jsonl").unlink()
    assert visitors[1].worst() == ""  # it is gone for good
    assert "11 rows" not in visitors[1].download("CSV")


def test_an_error_is_told_and_the_next_file_is_scored(tmp_path: Path) -> None:
    visitor = Visit()
    visitor.score(Asked(GOLD, SUBMISSION), STANDARD)
    (tmp_path / "few.json").write_text('[{"questionId": 1, "answer": "x"}]')
    few = Upload(str(tmp_path / "few.json"))
    said = visitor.score(Asked(GOLD, few), STANDARD)
    assert said is not None
    assert "or count them as 0 with the switch for unanswered questions" in said["summary"]
    assert visitor.worst() == visitor.groups("evidence") == visitor.every_variant() == visitor.download("CSV") == ""
    said = visitor.score(Asked(GOLD, few, unanswered_score_0=True), STANDARD)
    assert said is not None
    assert "5 missing" in said["summary"]
    assert "has no answer" in visitor.worst()
    gone = Asked(GOLD, Upload(str(tmp_path / "gone.json")))
    assert "drop it again" in (visitor.score(gone, STANDARD) or {})["summary"]
    assert "0.6273" in (visitor.score(Asked(GOLD, SUBMISSION), STANDARD) or {})["summary"]


@pytest.mark.parametrize(
    ("prediction", "references"), [("no such column", "references"), ("prediction", "no such one")]
)
def test_a_wrong_column_has_the_remedy_of_the_page(tmp_path: Path, prediction: str, references: str) -> None:
    table = write_table(tmp_path / "table.jsonl", 3)
    said = Visit().score(Asked(table, prediction_column=prediction, references_column=references), STANDARD)
    assert "pick the right column" in (said or {})["summary"]


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_a_table_is_scored_by_the_columns_one_picks(tmp_path: Path, kind: str) -> None:
    rows = [
        {"kind": "name", "one": "CocaCola", "other": "Coca Cola", "truth": '["Coca Cola", "Coca Cola Company"]'},
        {"kind": "date", "one": "12/15/89", "other": "", "truth": '["12/15/88"]'},
    ]
    table = tmp_path / f"the table.{kind}"
    if kind == "csv":
        with open(table, "w", newline="") as stream:
            writer = csv.DictWriter(stream, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    elif kind == "jsonl":
        table.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        parquet = pytest.importorskip("pyarrow.parquet")
        parquet.write_table(pytest.importorskip("pyarrow").Table.from_pylist(rows), table)
    upload = Upload(str(table))
    assert upload.columns() == ["kind", "one", "other", "truth"]
    said = Visit().score(Asked(upload, None, None, "one", "truth", "other"), STANDARD)
    assert said is not None
    assert "0.8819" in said["summary"]
    assert "Difference -0.3819" in said["comparison"]


def test_what_was_asked_for_last_is_what_counts(tmp_path: Path) -> None:
    table = write_table(tmp_path / "table.jsonl", 3_000)
    visitor = Visit()

    def tell(count: int, said: str) -> None:
        if count == 1025:  # half way somebody drops other files
            assert "6 questions" in (visitor.score(Asked(GOLD, SUBMISSION), STANDARD) or {})["summary"]

    assert visitor.score(Asked(table, None, None, "prediction", "references"), STANDARD, tell) is None
    assert "6 of 6 answers" in visitor.worst()


def test_a_call_that_was_overtaken_shows_nothing() -> None:
    visitor = Visit()
    assert "Drop a gold file" in (visitor.score(Asked(), STANDARD, number=2) or {})["summary"]
    assert visitor.score(Asked(submission=SUBMISSION), STANDARD, number=1) is None
    assert visitor.score(Asked(GOLD, SUBMISSION), STANDARD, number=3) is not None
    assert visitor.score(Asked(), STANDARD, number=1) is None
    assert "6 of 6 answers" in visitor.worst()


def test_filters_stay_as_they_are_set() -> None:
    visitor = Visit()
    visitor.worst("SIGN", "")
    visitor.groups("evidence")
    for variant in (STANDARD, get_variant("due")):
        said = visitor.score(Asked(GOLD, SUBMISSION), variant)
        assert said is not None
        assert "2 of 2 answers" in said["worst"]
        assert '<th scope="col">evidence</th>' in said["groups"]


def test_columns_are_picked_in_a_table_alone(tmp_path: Path) -> None:
    visitor = Visit()
    assert visitor.columns() == []
    visitor.uploads[0] = write_table(tmp_path / "table.jsonl", 3)
    assert visitor.columns() == ["prediction", "references", "kind"]
    visitor.uploads[1] = SUBMISSION
    assert visitor.columns() == []
    visitor.uploads[:] = [Upload(str(tmp_path / "gone.csv")), None, None]
    assert visitor.columns() == []


WRONG_FILES = [
    (b"", b"[]", "gold.json: the file is empty"),
    (b"\xff\xfe\x00", b"[]", "not UTF-16"),
    (b"{", b"[]", "not JSON"),
    (b"PK\x03\x04\xff", b"[]", "a zip archive that cannot be read"),
    (Path(GOLD.path).read_bytes(), b'[{"questionId": 99, "answer": "x"}]', "write the same ids in both"),
    (Path(GOLD.path).read_bytes(), b'[{"questionId": 1, "answer": 7}]', "not a string"),
    (b'[{"questionId": "<script>", "answers": []}]', b"[]", "&lt;script&gt;"),
]


@pytest.mark.parametrize(("gold", "submission", "said"), WRONG_FILES)
def test_a_wrong_file_is_told(tmp_path: Path, gold: bytes, submission: bytes, said: str) -> None:
    for name, content in (("gold.json", gold), ("submission.json", submission)):
        (tmp_path / name).write_bytes(content)
    asked = Asked(Upload(str(tmp_path / "gold.json")), Upload(str(tmp_path / "submission.json")))
    shown = (Visit().score(asked, STANDARD) or {})["summary"]
    assert said in shown
    assert str(tmp_path) not in shown


def test_a_variant_counts_unanswered_questions_as_0() -> None:
    rows = [Row("1", "a", ["a"], {}), Row("2", None, [""], {})]
    assert set(by_variant(rows).values()) == {0.5}
    assert set(by_variant(rows[1:]).values()) == {0.0}


def test_similarities_are_those_of_explain_where_the_variant_takes_an_answer_for_none(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("prediction,references\nnone,None\nab,abcd\n")
    variant = get_variant("mp_docvqa")
    why = explain("none", ["None"], variant=variant)
    assert (why.score, why.best.similarity) == (0, 1)
    visitor = Visit()
    asked = Asked(Upload(str(tmp_path / "table.csv")), None, None, "prediction", "references")
    said = visitor.score(asked, variant)
    assert "0.95 to 1.00: 1" in (said or {})["histogram"]
    assert [row["similarity"] for row in json.loads(visitor.download("JSON"))["answers"]] == [1.0, 0.5]
    assert [row["similarity"] for row in csv.DictReader(io.StringIO(visitor.download("CSV")))] == ["1.0", "0.5"]


def test_downloads_have_every_answer() -> None:
    visitor = Visit()
    visitor.score(Asked(GOLD, SUBMISSION), STANDARD)
    written: Any = json.loads(visitor.download("JSON"))
    assert [round(row["score"], 4) for row in written["answers"]] == [0.8889, 0, 1, 0.875, 1, 0]
    assert written["signature"] in visitor.download("CSV")
    rows = list(csv.DictReader(io.StringIO(visitor.download("CSV"))))
    assert [row["zero"] for row in rows] == ["", "other", "", "", "", "empty"]


def test_only_fields_that_make_groups_are_offered(tmp_path: Path) -> None:
    records = [
        {"none": None, "same": 1, "kind": n % 3, "tags": ["a", "b"][: n % 2], "id": n, "k\ud800": n % 2}
        for n in range(9)
    ]
    rows = [{**record, "prediction": "a", "references": "a"} for record in records]
    (tmp_path / "table.json").write_text(json.dumps(rows))
    visitor = Visit()
    visitor.score(Asked(Upload(str(tmp_path / "table.json")), None, None, "prediction", "references"), STANDARD)
    assert visitor.fields == ["kind"]
    assert visitor.groups("kind").count("<td>3</td>") == 3


def test_a_wide_table_is_looked_at_in_part(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    looked = []

    def counted(rows: Sequence[Row]) -> list[str]:
        looked.append(len(rows))
        return grouping_fields(rows)

    monkeypatch.setattr(visit, "grouping_fields", counted)
    row = {"prediction": "a", "references": "a", **{f"c{n}": "x" for n in range(1_000)}}
    (tmp_path / "wide.jsonl").write_text((json.dumps(row) + "\n") * 1_000)
    visitor = Visit()
    visitor.score(Asked(Upload(str(tmp_path / "wide.jsonl")), None, None, "prediction", "references"), STANDARD)
    assert visitor.fields == []
    assert looked == [100]
