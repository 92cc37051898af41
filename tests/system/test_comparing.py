"""Several submissions and several variants, with the command and from Python."""

from __future__ import annotations

import csv
import html.parser
import io
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import anls_metric
from anls_metric import compare, score
from anls_metric.reading.errors import InputError
from anls_metric.report import terminal_comparison
from tests.conftest import ROOT, without_questions
from tests.report.sample_reports import read_data
from tests.system.conftest import Run, parse_document, run_to_error, write

GOLD, SUBMISSION = ROOT / "examples" / "gold_label.json", ROOT / "examples" / "submission.json"
COUNT, NO_IDEA = 200, "no idea whatever"


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Made-up answers to 200 questions on 100 pages: base knows half; tuned knows 40 more, and ten of these less."""
    gold = [
        {
            "id": n,
            "question": f"What is {n}?",
            "answers": [f"Answer {n}"],
            "image": f"{n // 2}.png",
            "kind": "ab"[n % 2],
        }
        for n in range(COUNT)
    ]
    right = {
        "base": set(range(100)),
        "tuned": {*range(10, 100), *range(120, 160)},
        "alike": set(range(1, 101)),
    }
    write(tmp_path / "gold.json", gold)
    for name, known in right.items():
        answers = [{"id": n, "answer": f"answer {n}" if n in known else f"{NO_IDEA} {n}"} for n in range(COUNT)]
        write(tmp_path / f"{name}.json", answers)
    return [tmp_path / f"{name}.json" for name in ("gold", *right)]


# Variants


def test_variant_takes_several_names(run: Run) -> None:
    report = parse_document(run(GOLD, SUBMISSION, "--variant", "rrc, due,unitxt", "--format", "json")[1])
    assert without_questions(report["signature"]) == anls_metric.signature("rrc")
    expected = {name: score(SUBMISSION, GOLD, variant=name).anls for name in ("rrc", "due")}
    assert report["variants"] == expected
    assert report["anls"] == expected["rrc"]
    out = run(GOLD, SUBMISSION, "--variant", "rrc,due")[1]
    assert f"\n\nby variant\n  rrc  {expected['rrc']:.4f}\n  due  {expected['due']:.4f}\n" in out


def test_variant_all_gives_every_mean(run: Run) -> None:
    report = parse_document(
        run(GOLD, SUBMISSION, "--variant", "all", "--format", "json", "--anls-threshold", "0.25")[1]
    )
    assert list(report["variants"]) == list(anls_metric.VARIANTS)
    gold = {record["questionId"]: record["answers"] for record in json.loads(GOLD.read_text())["data"]}
    answers = {record["questionId"]: record["answer"] for record in json.loads(SUBMISSION.read_text())}
    columns = [answers[key] for key in gold], list(gold.values())
    for name, value in report["variants"].items():
        assert value == anls_metric.mean(anls_metric.anls_scores(*columns, variant=name, threshold=0.25))
    assert "unknown variant 'x'; choose from" in run_to_error(run, GOLD, SUBMISSION, "--variant", "rrc,x")


def test_missing_answer_is_0_under_every_variant(run: Run, tmp_path: Path) -> None:
    gold = write(tmp_path / "gold.json", [{"id": 1, "answers": ["a"]}, {"id": 2, "answers": ["b"]}])
    answers = write(tmp_path / "one.json", [{"id": 2, "answer": "b"}])
    report = parse_document(run(gold, answers, "--missing", "zero", "--variant", "all", "--format", "json")[1])
    assert set(report["variants"].values()) == {0.5}


@pytest.mark.parametrize(
    ("number", "words"),
    [
        ("62.73", "62.73 is standard, rrc, "),
        ("0.6273", "0.6273 is standard, rrc, "),
        ("62.73 %", "62.73 % is standard, rrc, "),
        ("0.99", "no variant gives 0.99; the nearest is mistral_evals on submission: 0.701389"),
    ],
)
def test_find_names_the_variants_of_a_number(run: Run, number: str, words: str) -> None:
    status, out, err = run(GOLD, SUBMISSION, "--find", number)
    assert (status, err) == (0, "")
    assert words in out
    matches = json.loads(run(GOLD, SUBMISSION, "--find", number, "--format", "json")[1])["find"]
    assert out.count("\n") == len({match["anls"] for match in matches})
    assert out.splitlines()[0].endswith(f" on submission: {matches[0]['anls'] * matches[0]['scale']:.6g}")
    assert all(match["exact"] is (number != "0.99") for match in matches)
    assert {match["variant"] for match in matches} <= set(anls_metric.VARIANTS)


def test_find_tries_extraction_rules(run: Run, tmp_path: Path) -> None:
    gold = write(tmp_path / "gold.json", [{"id": n, "answers": [f"Answer {n}"]} for n in range(10)])
    texts = [f"<think>It reads so.</think>{'A' if n else 'B'}nswer {n}" for n in range(10)]
    answers = write(tmp_path / "a.json", [{"id": n, "answer": text} for n, text in enumerate(texts)])
    out = run(gold, answers, "--find", "98.75", "--variant", "standard,rrc,due", "--quiet")[1]
    assert out == "98.75 is standard, rrc, due with --extract think on a: 98.75\n"
    flags = ["--find", "98.75", "--variant", "standard,rrc,due"]
    matches = json.loads(run(gold, answers, *flags, "--format", "json")[1])["find"]
    assert [(match["variant"], match["extract"]) for match in matches] == [
        (name, "think") for name in ("standard", "rrc", "due")
    ]
    assert run(gold, answers, *flags, "--extract", "think", "--quiet")[1] == out
    out = run(gold, answers, "--find", "0", "--variant", "due,standard", "--extract", "think", "--quiet")[1]
    assert out == "0 is due, standard on a: 0\n"


def test_find_refuses_a_text_that_is_no_number(run: Run) -> None:
    assert "'many' is no number: write it as it is printed, like 84.75" in run_to_error(
        run, GOLD, SUBMISSION, "--find", "many"
    )


# Several submissions


def test_comparison_prints_verdicts_against_the_first(run: Run, files: list[Path]) -> None:
    status, out, err = run(*files)
    assert (status, err) == (0, "")
    first, base, tuned, alike, *notes = out.splitlines()
    assert (
        " ".join(first.split())
        == "ANLS 95 % exact contains format numbers against base 95 % p better worse verdict detectable"
    )
    assert re.fullmatch(r"base +0\.5000  0\.\d{4} to 0\.\d{4}  0\.5000  0\.5000    0\.0000  0\.0000", base)
    assert re.fullmatch(r"tuned +0\.6500 .* \+0\.1500 .*  40 +10 +better +0\.0\d+", tuned)
    assert re.fullmatch(r"alike +0\.5000 .* \+0\.0000 .*  1 +1 +not told apart  0\.0\d+", alike)
    assert notes[0] == "200 questions of 100 clusters by image; p adjusted for 2 comparisons."
    assert list(map(without_questions, notes[1:])) == [anls_metric.signature()]


def test_comparison_prints_two_tables_on_a_narrow_terminal(files: list[Path]) -> None:
    scores = compare(files[1:], files[0])
    narrow = terminal_comparison.as_text(scores.to_dict(), scores.scored_sets, 80)
    assert max(map(len, narrow.splitlines())) <= 80
    assert terminal_comparison.as_text(scores.to_dict(), scores.scored_sets, 200) == str(scores)
    assert sorted(set(narrow.split())) == sorted(set(str(scores).split()))


def test_comparison_marks_the_best_and_its_ties(run: Run, files: list[Path]) -> None:
    report = json.loads(run(*files, "--format", "json")[1])
    assert report["best"] == {"name": "tuned", "not_told_apart": []}
    assert (report["baseline"], report["all_pairs"]) == ("base", False)
    assert all(0 < pair["least_difference"] < 0.1 for pair in report["comparisons"])
    gold, base, _, alike = files
    assert json.loads(run(gold, base, alike, "--format", "json")[1])["best"] == {
        "name": "base",
        "not_told_apart": ["alike"],
    }


def test_choice_of_the_best_takes_a_stricter_test(run: Run, tmp_path: Path) -> None:
    """18 of 23 differing answers are better: p is 0.011, enough for the baseline of four, but not for their best."""
    write(tmp_path / "gold.json", [{"id": n, "answers": ["a"]} for n in range(200)])

    def write_answers(name: str, wrong: set[int]) -> Path:
        answers = [{"id": n, "answer": "x" if n in wrong else "a"} for n in range(200)]
        return write(tmp_path / f"{name}.json", answers)

    def find(*names: Path) -> tuple[list[str], dict[str, Any]]:
        document = json.loads(run(tmp_path / "gold.json", *names, "--format", "json")[1])
        return [pair["verdict"] for pair in document["comparisons"]], document["best"]

    best = write_answers("best", set(range(5)))
    other = write_answers("other", set(range(5, 23)))
    assert find(best, other) == (["worse"], {"name": "best", "not_told_apart": []})
    more = [write_answers(f"more{n}", set(range(50 * n, 50 * n + 50))) for n in (1, 2)]
    verdicts, found = find(best, other, *more)
    assert (verdicts[1:], found) == (["worse", "worse"], {"name": "best", "not_told_apart": []})
    alike = [write_answers(f"alike{n}", set(range(30 * n, 30 * n + 5))) for n in (1, 2)]
    verdicts, found = find(best, other, *alike)
    assert (verdicts, found["not_told_apart"]) == (
        ["worse", "not told apart", "not told apart"],
        ["other", "alike1", "alike2"],
    )


def test_comparison_prints_groups_and_worst_answers(run: Run, files: list[Path]) -> None:
    status, out, _ = run(*files, "--by", "kind", "--variant", "standard,due", "--worst", 1)
    assert status == 0
    assert re.search(
        r"\n\nANLS by kind\nkind  submission  ANLS    95 %              against base  95 %                questions\n"
        r"a     base        0\.5000  0\.\d{4} to 0\.\d{4} +100\n"
        r"a     tuned       0\.6500  0\.\d{4} to 0\.\d{4}  \+0\.1500       \+0\.\d{4} to \+0\.\d{4}  100\n",
        out,
    )
    assert "\n\nANLS under each variant\nvariant   base " in out
    assert out.count("\n\nquestion ") == 3
    assert "no question has the field 'shelf' (found 'id'" in run_to_error(run, *files, "--by", "shelf")


def test_groups_have_intervals_and_differences(run: Run, files: list[Path]) -> None:
    document = json.loads(run(*files, "--by", "kind", "--by", "image", "--format", "json")[1])
    base, tuned, _ = (submission["groups"]["kind"]["a"] for submission in document["submissions"])
    scores = {"base": [1.0] * 50 + [0.0] * 50, "tuned": [0.0] * 5 + [1.0] * 45 + [0.0] * 10 + [1.0] * 20 + [0.0] * 20}
    pages = [str(page) for page in range(100)]
    assert list(base) == ["anls", "interval", "questions"]
    assert base["interval"] == pytest.approx(list(anls_metric.interval(scores["base"], pages)))
    assert tuned["interval"] == pytest.approx(list(anls_metric.interval(scores["tuned"], pages)))
    sample = anls_metric.differences(scores["base"], scores["tuned"], pages)
    assert tuned["difference"] == sample.mean == 0.15
    assert tuned["difference_interval"] == pytest.approx(list(sample.interval()))
    page = document["submissions"][1]["groups"]["image"]["0.png"]
    expected = {"anls": 0.0, "interval": None, "questions": 2, "difference": -1.0, "difference_interval": None}
    assert page == expected


def test_groups_use_the_clusters_of_the_whole_set(run: Run, tmp_path: Path) -> None:
    """A page has four questions, two of each kind. With one question per page, a group would have another interval."""
    records = [
        {"id": n, "answers": ["a"], "prediction": "a" if n // 4 % 3 else "x", "page_id": n // 4, "kind": "ab"[n % 2]}
        for n in range(200)
    ]
    document = json.loads(run(write(tmp_path / "t.json", records), "--by", "kind", "--format", "json")[1])
    scores = [float(n // 4 % 3 > 0) for n in range(0, 200, 2)]
    group = document["submissions"][0]["groups"]["kind"]["a"]
    assert group["interval"] == pytest.approx(list(anls_metric.interval(scores, [n // 2 for n in range(100)])))


def test_report_shows_intervals_of_groups_and_detectable_differences(
    run: Run, files: list[Path], tmp_path: Path
) -> None:
    report = tmp_path / "report.html"
    status, out, _ = run(*files, "--by", "kind", "--all-pairs", "--report", report, "--format", "json")
    assert status == 0
    document, data = json.loads(out), read_data(report.read_text(encoding="utf-8"))
    submission = document["submissions"][1]
    group, table = submission["groups"]["kind"]["a"], data["tables"]["kind"]
    place, row, baseline = data["submissions"].index(submission["name"]), table["names"].index("a"), data["baseline"]
    assert table["intervals"][place][row] == pytest.approx(group["interval"], abs=1e-6)
    first, second = sorted((baseline, place))
    difference, interval = table["differences"][f"{first} {second}"][row]
    assert abs(difference) == pytest.approx(0.15)
    assert sorted(map(abs, interval)) == pytest.approx(group["difference_interval"], abs=1e-6)
    for comparison in document["comparisons"][:2]:
        pair = data["pairs"][baseline][data["submissions"].index(comparison["second"])]
        assert pair["least"] == pytest.approx(comparison["least_difference"], abs=1e-6)
        assert pair["p"] == comparison["p_value_adjusted"]


def test_group_that_the_baseline_lacks_has_no_difference(run: Run, tmp_path: Path) -> None:
    def write_table(name: str, kinds: str) -> Path:
        records = [{"id": n, "answers": ["a"], "prediction": "a", "kind": kind} for n, kind in enumerate(kinds)]
        return write(tmp_path / f"{name}.json", records)

    tables = write_table("one", "aaa"), write_table("two", "aab")
    groups = json.loads(run(*tables, "--by", "kind", "--format", "json")[1])["submissions"][1]["groups"]["kind"]
    assert groups["a"]["difference"] == 0.0
    assert (groups["b"]["difference"], groups["b"]["difference_interval"]) == (None, None)
    assert re.search(r"^b     two         1\.0000  -  +-  +-  +1$", run(*tables, "--by", "kind")[1], re.MULTILINE)


def test_all_pairs_are_compared_and_adjusted_together(run: Run, files: list[Path]) -> None:
    document = json.loads(run(*files, "--all-pairs", "--format", "json")[1])
    pairs = document["comparisons"]
    assert [(pair["first"], pair["second"]) for pair in pairs] == [
        ("base", "tuned"),
        ("base", "alike"),
        ("tuned", "alike"),
    ]
    assert (document["baseline"], document["all_pairs"]) == ("base", True)
    expected = anls_metric.holm([pair["p_value"] for pair in pairs])
    assert [pair["p_value_adjusted"] for pair in pairs] == expected
    few = json.loads(run(*files, "--format", "json")[1])["comparisons"]
    assert [pair["p_value"] for pair in pairs[:2]] == [pair["p_value"] for pair in few]
    backwards = json.loads(run(*files, "--all-pairs", "--baseline", "alike", "--format", "json")[1])
    assert [pair["first"] for pair in backwards["comparisons"]] == ["alike", "alike", "base"]
    assert backwards["best"] == document["best"]


def test_all_pairs_are_shown_as_a_matrix(run: Run, files: list[Path]) -> None:
    scores, differences, smallest = run(*files, "--all-pairs")[1].split("\n\n")
    assert "against" not in scores
    assert "p adjusted for 3 comparisons" in scores
    title, head, *rows = differences.splitlines()
    assert title == "ANLS of the row minus ANLS of the column (* significant at 0.05, adjusted for all pairs)"
    assert head.split() == ["1", "2"]
    assert rows == ["1 base", "2 tuned  +0.1500*", "3 alike  +0.0000   -0.1500*"]
    assert re.search(r"^3 alike  0\.\d{4}  0\.\d{4}$", smallest, re.MULTILINE)
    markdown = run(*files, "--all-pairs", "--format", "markdown")[1]
    assert "| 3 alike | +0.0000 | -0.1500\\* |" in markdown
    assert r"3 alike & $+0.0000$ & $-0.1500^{*}$ \\" in run(*files, "--all-pairs", "--format", "latex")[1]
    alike = list(csv.DictReader(io.StringIO(run(*files, "--all-pairs", "--format", "csv")[1])))[2]
    assert (float(alike["difference base"]), float(alike["difference tuned"])) == (0.0, -0.15)


def test_regressions_lists_lost_and_won_questions(run: Run, files: list[Path]) -> None:
    gold, base, tuned, _ = files
    comparison = json.loads(run(gold, base, tuned, "--regressions", 3, "--format", "json")[1])["comparisons"][0]
    assert [record["id"] for record in comparison["regressions"]] == ["0", "1", "2"]
    assert [record["id"] for record in comparison["improvements"]] == ["120", "121", "122"]
    assert comparison["regressions"][0] == {
        "id": "0",
        "question": "What is 0?",
        "references": ["Answer 0"],
        "first": {"prediction": "answer 0", "score": 1.0, "outcome": "equal"},
        "second": {"prediction": f"{NO_IDEA} 0", "score": 0.0, "outcome": "other"},
    }
    out = run(gold, base, tuned, "--regressions", 1)[1]
    assert (
        "question 0  lost by tuned\n"
        "  question  What is 0?\n"
        "  base      1.0000  answer 0\n"
        "  tuned     0.0000  no idea whatever 0\n"
        "  accepted  Answer 0\n"
        "\nquestion 120  won by tuned\n" in out
    )
    backwards = json.loads(run(gold, base, tuned, "--baseline", "tuned", "--regressions", 1, "--format", "json")[1])[
        "comparisons"
    ][0]
    assert [record["id"] for record in backwards["regressions"]] == ["120"]


def test_hint_says_that_submissions_have_other_questions(run: Run, files: list[Path], tmp_path: Path) -> None:
    gold, base, tuned, _ = files
    half = write(tmp_path / "half.json", json.loads(tuned.read_text())[:120])
    status, out, err = run(gold, base, half, "--missing", "zero", "--format", "json")
    assert status == 0
    tables = []
    for name, path, count in (("t1", base, 200), ("t2", half, 120)):
        answers = {record["id"]: record["answer"] for record in json.loads(path.read_text())}
        records = [{**record, "prediction": answers[record["id"]]} for record in json.loads(gold.read_text())[:count]]
        tables.append(write(tmp_path / f"{name}.json", records))
    status, out, err = run(*tables, "--format", "json")
    document = json.loads(out)
    assert [record["questions"] for record in document["submissions"]] == [200, 120]
    assert document["comparisons"][0]["questions"] == 120
    hint = "t2 is compared with t1 on the 120 questions that both have: it has 120, t1 has 200"
    assert hint in document["hints"]
    assert f"hint: {hint}\n" in err


# Output


def test_format_markdown_prints_a_table(run: Run, files: list[Path]) -> None:
    lines = run(*files, "--format", "markdown", "--by", "kind")[1].splitlines()
    assert lines[1] == "|---" * 14 + "|"
    assert "| tuned | **0.6500** |" in lines[3]
    assert lines[-1].startswith("**Best**; *not told apart from it*. 200 questions")
    assert without_questions(lines[-1]).endswith(f"`{anls_metric.signature()}`")
    assert "| kind | submission | ANLS | 95 % | against base | 95 % | questions |" in lines
    gold, base, _, alike = files
    assert "| alike | *0.5000* |" in run(gold, base, alike, "--format", "markdown")[1]
    assert "**" not in run(gold, base, "--format", "markdown")[1]
    named = run(gold, f"a|b*<i>={base}", "--format", "markdown")[1]
    assert r"| a\|b\*\<i\> | 0.5000 |" in named


def test_format_latex_prints_a_table(run: Run, files: list[Path]) -> None:
    gold, base, tuned, alike = files
    out = run(gold, f"50%_base={base}", tuned, alike, "--format", "latex", "--variant", "standard,rrc")[1]
    assert out.count(r"\begin{table}") == out.count(r"\end{table}") == 2
    assert [out.count(rule) for rule in (r"\toprule", r"\midrule", r"\bottomrule")] == [2, 2, 2]
    assert r"50\%\_base & 0.5000 & 0." in out
    assert r"tuned & \textbf{0.6500} & 0." in out
    assert r"\underline" not in out.replace("underlined", "")
    assert " & $+0.1500$ & 0.0" in out
    assert r"\texttt{anls\textbar\allowbreak{}standard\textbar\allowbreak{}threshold:0.5" in out
    for line in out.splitlines():
        if line.endswith(r"\\"):
            assert len(re.findall(r"(?<!\\)&", line)) in (4, 3)
    assert out.count("{") == out.count("}")
    assert r"alike & \underline{0.5000}" in run(gold, base, alike, "--format", "latex")[1]
    alone = run(gold, base, "--format", "latex")[1]
    assert r"\begin{tabular}{@{}lcc@{}}" in alone
    for word in ("Bold", "Delta", "$p$"):
        assert word not in alone


def test_format_csv_prints_all_figures(run: Run, files: list[Path]) -> None:
    out = run(*files, "--format", "csv", "--by", "kind", "--variant", "standard,due")[1]
    base, tuned, _ = csv.DictReader(io.StringIO(out))
    report = json.loads(run(*files, "--format", "json", "--by", "kind", "--variant", "standard,due")[1])
    assert float(tuned["anls"]) == report["submissions"][1]["anls"]
    assert float(tuned["p_value_adjusted"]) == report["comparisons"][0]["p_value_adjusted"]
    assert (base["against"], tuned["against"], tuned["equal"], tuned["outcome equal"]) == ("", "base", "150", "130")
    assert float(tuned["anls kind=a"]) == report["submissions"][1]["groups"]["kind"]["a"]["anls"]
    assert float(tuned["anls due"]) == report["submissions"][1]["variants"]["due"]
    assert without_questions(tuned["signature"]) == anls_metric.signature()


TABLES = ["text", "markdown", "latex", "csv"]


@pytest.mark.parametrize("kind", TABLES)
def test_percent_digits_and_columns_are_those_of_every_table(run: Run, files: list[Path], kind: str) -> None:
    flags = ["--format", kind, "--by", "kind", "--columns", "anls,difference,verdict", "--percent", "--digits", 1]
    out = run(*files, *flags)[1]
    numbers = set(re.findall(r"(?<![\w.:-])[+-]?\d+\.\d+", out.replace("0.05", "")))
    assert {"50.0", "65.0"} < {number.lstrip("+") for number in numbers}
    assert all(re.fullmatch(r"[+-]?\d+\.\d", number) for number in numbers)
    assert "better" in out
    for heading in ("exact", "contains", "95", "difference_low"):
        assert heading not in out


@pytest.mark.parametrize("kind", TABLES)
def test_columns_of_one_submission_are_a_table(run: Run, kind: str) -> None:
    out = run(GOLD, SUBMISSION, "--columns", "questions,anls,layout", "--format", kind)[1]
    assert re.search(r"^\W*(name|submission)\W+(6|questions)\W", out, re.MULTILINE)
    assert "exact" not in out


def test_summary_obeys_percent_and_digits(run: Run) -> None:
    out = run(GOLD, SUBMISSION, "--percent", "--by", "questionId", "--variant", "standard,due")[1]
    assert out.startswith(
        "ANLS       62.73\nquestions  6\n95 %       11.44 to 100.00\nexact      33.33\ncontains   33.33\n"
    )
    assert "\n  due       " in out
    assert "\n  4            87.50   -     1\n" in out
    assert run(GOLD, SUBMISSION, "--digits", 2)[1].startswith("ANLS       0.63\n")


def test_csv_keeps_all_digits_without_a_choice(run: Run, files: list[Path]) -> None:
    (row,) = csv.DictReader(io.StringIO(run(GOLD, SUBMISSION, "--format", "csv")[1]))
    assert row["anls"] == "0.6273148148148148"
    (row,) = csv.DictReader(io.StringIO(run(GOLD, SUBMISSION, "--format", "csv", "--percent")[1]))
    assert (row["anls"], row["low"], row["outcome equal"]) == ("62.73", "11.44", "2")
    gold, base, tuned, _ = files
    _, row = csv.DictReader(io.StringIO(run(gold, tuned, base, "--format", "csv", "--percent")[1]))
    assert row["difference"] == "-15.00"


def test_columns_of_runs_are_shown_where_there_are_runs(run: Run, files: list[Path], tmp_path: Path) -> None:
    gold, base, tuned, _ = files
    runs = [json.loads(path.read_text()) for path in (base, tuned)]
    records = [{**record, "epoch": epoch} for epoch, answers in enumerate(runs) for record in answers]
    both = write(tmp_path / "both.json", records)
    head, *rows = run(gold, base, both, "--percent", "--quiet")[1].splitlines()
    assert head.split()[5:10] == ["format", "numbers", "runs", "deviation", "against"]
    assert re.search(r"^both  57\.50 .* 57\.50 +57\.50 +0\.00 +0\.00 +2 +10\.61 ", rows[1])
    assert "runs       2, 50.00 to 65.00, deviation 10.61\n" in run(gold, both, "--percent")[1]
    out = run(gold, both, "--columns", "anls,runs,run_deviation", "--format", "latex", "--digits", 3)[1]
    assert r"both & 0.575 & 2 & 0.106 \\" in out
    assert run(gold, both, "--find", "57.5", "--variant", "standard,rrc")[1] == "57.5 is standard, rrc on both: 57.5\n"
    group = json.loads(run(gold, base, both, "--by", "kind", "--format", "json")[1])["submissions"][1]["groups"]["kind"]
    assert (group["a"]["anls"], group["a"]["questions"], group["a"]["difference"]) == (0.575, 100, 0.075)


def test_columns_that_do_not_exist_are_refused(run: Run, files: list[Path]) -> None:
    error = run_to_error(run, *files, "--columns", "anls,colour")
    assert "unknown column 'colour'; choose from name, layout, questions, anls, interval" in error
    error = run_to_error(run, GOLD, SUBMISSION, "--columns", "anls,difference")
    assert "column 'difference' would be empty; choose from name, layout, questions, anls" in error
    for flags in (["--format", "json"], ["--score-only"]):
        assert ": leave out --digits\n" in run_to_error(run, *files, "--digits", 2, *flags)
    assert "'-1' is not a whole number from 0 to 16" in run_to_error(run, *files, "--digits=-1")


@pytest.mark.parametrize("flags", [[], ["--by", "kind"], ["--all-pairs"], ["--percent", "--by", "kind"]])
def test_latex_fits_a_column_of_an_article(run: Run, files: list[Path], tmp_path: Path, flags: list[str]) -> None:
    gold, *answers = files
    names = ["InternVL2-8B", "Qwen2-VL-7B", "Llama-3.2", "nemotron"]
    submissions = [f"{name}={path}" for name, path in zip(names, [*answers, answers[0]], strict=True)]
    out = run(gold, *submissions, "--format", "latex", *flags)[1]
    assert out.startswith("% \\usepackage{booktabs}\n")
    assert max(map(len, out.splitlines())) <= 110
    if not shutil.which("pdflatex"):
        return
    write(tmp_path / "table.tex", out)
    article = r"\documentclass[twocolumn]{article}\usepackage{booktabs}\begin{document}\input{table}\end{document}"
    write(tmp_path / "article.tex", article)
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "article.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert "Overfull" not in done.stdout


def test_score_only_prints_the_numbers(run: Run, files: list[Path]) -> None:
    assert run(GOLD, SUBMISSION, "--score-only") == (0, "0.6273148148148148\n", "")
    assert run(*files, "--score-only")[1] == "0.5\n0.65\n0.5\n"


def test_quiet_hides_hints_and_layouts(run: Run, tmp_path: Path) -> None:
    table = write(tmp_path / "t.json", [{"questionId": 1, "answer": "*a*", "annotation": ["b"]}] * 1)
    assert "read as qwen_vl" in run(table)[2]
    wrapped = [{"id": n, "prediction": f"**{n}0**", "references": [f"{n}0"]} for n in range(20)]
    path = write(tmp_path / "w.json", wrapped)
    status, out, err = run(path)
    assert err.startswith("hint: 20 of 20 predictions look like raw model output")
    assert run(path, "--quiet") == (status, out, "")
    assert run(table, "--quiet")[2] == ""


def test_fail_under_gives_status_1(run: Run, files: list[Path]) -> None:
    assert run(GOLD, SUBMISSION, "--fail-under", "0.6")[::2] == (0, "")
    status, out, err = run(GOLD, SUBMISSION, "--fail-under", "0.7")
    assert (status, err) == (1, "anls: the ANLS of submission is 0.627315, under 0.7\n")
    assert out.startswith("ANLS       0.6273\n")
    status, _, err = run(*files, "--fail-under", "0.6", "--score-only")
    assert status == 1
    assert [line.split(" is ")[0] for line in err.splitlines()] == [
        "anls: the ANLS of base",
        "anls: the ANLS of alike",
    ]
    assert "'62' is not a number from 0 to 1" in run_to_error(run, GOLD, SUBMISSION, "--fail-under", "62")


def test_fail_if_worse_gives_status_1(run: Run, files: list[Path]) -> None:
    gold, base, tuned, alike = files
    status, out, err = run(gold, base, tuned, alike, "--fail-if-worse")
    assert (status, err) == (0, "")
    status, out, err = run(gold, tuned, base, alike, "--fail-if-worse")
    assert status == 1
    assert out.startswith("       ANLS ")
    first, second = err.splitlines()
    assert re.fullmatch(r"anls: base is worse than tuned: -0\.1500, p = 0\.\d+", first)
    assert second.startswith("anls: alike is worse than tuned: ")
    assert run(gold, base, tuned, "--baseline", "tuned", "--fail-if-worse", "--all-pairs")[0] == 1


@pytest.mark.parametrize("flag", ["--fail-if-worse", "--regressions 3", "--all-pairs"])
def test_flag_for_comparisons_needs_a_comparison(run: Run, files: list[Path], flag: str) -> None:
    error = run_to_error(run, *files[:2], *flag.split())
    assert f"{flag.split()[0]} needs a comparison" in error
    assert "anls gold.json before.json after.json" in error


def test_fail_if_worse_says_that_questions_are_too_few(run: Run) -> None:
    status, _, err = run(GOLD, f"a={SUBMISSION}", f"b={SUBMISSION}", "--fail-if-worse")
    assert (status, err) == (0, "anls: too few questions to tell whether b is worse than a: +0.0000\n")


# From Python


def test_compare_agrees_with_the_command(run: Run, files: list[Path]) -> None:
    gold, *submissions = files
    scores = compare(submissions, gold, by="kind", variant="standard,rrc", regressions=2)
    flags = ["--by", "kind", "--variant", "standard,rrc", "--regressions", 2]
    assert scores.to_dict() == json.loads(run(*files, *flags, "--format", "json")[1])
    assert scores.to_markdown() + "\n" == run(*files, *flags, "--format", "markdown")[1]
    assert scores.to_latex() + "\n" == run(*files, *flags, "--format", "latex")[1]
    assert scores.to_csv() + "\n" == run(*files, *flags, "--format", "csv")[1]
    assert str(scores) + "\n" == run(*files, *flags)[1]
    for other in (
        compare(list(map(str, submissions)), str(gold), by=["kind"], variant="standard,rrc", regressions=2),
        compare({path.stem: path for path in submissions}, gold=gold, by="kind", variant="standard,rrc", regressions=2),
    ):
        assert other.to_dict() == scores.to_dict()
    assert without_questions(repr(scores)) == (
        f"<Scores base: 0.5000, tuned: 0.6500, alike: 0.5000; {anls_metric.signature()}>"
    )


def test_score_scores_one_submission(files: list[Path]) -> None:
    gold, base, tuned, _ = files
    scores = score(base, gold=gold)
    assert without_questions(scores.signature) == anls_metric.signature()
    assert (scores.anls, scores.hints, scores.notes) == (0.5, [], [])
    assert str(scores).startswith("ANLS       0.5000\n")
    assert score(str(base), str(gold)).anls == 0.5
    with pytest.raises(
        ValueError, match=r"several submissions \(base, tuned\): take one with scores\[.base.\], or all"
    ):
        _ = compare([base, tuned], gold).anls
    with pytest.raises(InputError, match=r"file\.json"):
        score(write(gold.parent / "file.json", "[1"), gold)
    with pytest.raises(ValueError, match="unknown baseline 'x'"):
        compare([base, tuned], gold, baseline="x")


def test_to_pandas_has_a_row_for_each_submission(files: list[Path]) -> None:
    pytest.importorskip("pandas")
    frame = compare(files[1:], files[0]).to_pandas()
    assert list(frame["name"]) == ["base", "tuned", "alike"]
    assert list(frame["anls"]) == [0.5, 0.65, 0.5]
    assert frame["better"].isna().tolist() == [True, False, False]


class Cells(html.parser.HTMLParser):
    """Collects the texts of the cells, and the names of all tags."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_repr_html_is_a_table(files: list[Path]) -> None:
    gold, base, tuned, _ = files
    cells = Cells(compare({"<b>&": base, "tuned": tuned}, gold=gold)._repr_html_())
    assert "<b>&" in cells.texts
    assert cells.texts[cells.texts.index("tuned") + 1] == "0.6500"
    assert set(cells.tags) == {"table", "caption", "thead", "tbody", "tr", "th", "td", "b", "p", "code"}


# Real answers


def test_three_models_are_compared_on_real_answers(run: Run, real_answers: Path) -> None:
    gold, *answers = (
        real_answers / f"{name}.json"
        for name in ("gold", "submission__nemotron", "submission__llama_maverick", "submission__qwen2_vl_7b_instruct")
    )
    document = json.loads(run(gold, *answers, "--format", "json")[1])
    assert document["best"] == {"name": "nemotron", "not_told_apart": ["llama_maverick"]}
    assert [comparison["verdict"] for comparison in document["comparisons"]] == ["not told apart", "worse"]
    assert "93.70 is lmms_eval_0_2 on llama_maverick" in run(gold, *answers, "--find", "93.70")[1]


def test_shared_prefix_of_names_is_not_shown(run: Run, tmp_path: Path, files: list[Path]) -> None:
    gold, *submissions = files
    prefixed = [Path(shutil.copy(path, tmp_path / f"submission__{path.name}")) for path in submissions[:2]]
    for baseline in ("tuned", "submission__tuned"):
        document = parse_document(run(gold, *prefixed, "--baseline", baseline, "--format", "json")[1])
        assert ([each["name"] for each in document["submissions"]], document["baseline"]) == (
            ["base", "tuned"],
            "tuned",
        )
    error = run_to_error(run, gold, *prefixed, "--baseline", "tunde")
    assert "unknown baseline 'tunde'; did you mean tuned? Choose from base, tuned" in error
    error = run_to_error(run, gold, prefixed[1], "--baseline", prefixed[0])
    assert error.endswith(
        "(the only submission is submission__tuned): give its file as a submission, and its name as the baseline\n"
    )
    document = parse_document(run(gold, f"base={prefixed[0]}", prefixed[1], "--format", "json")[1])
    assert [each["name"] for each in document["submissions"]] == ["base", "submission__tuned"]
