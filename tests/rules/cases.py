"""Made-up answers for the rules: for each branch a row, its score, and words of its explanation."""

from __future__ import annotations

from typing import Any, NamedTuple

from anls_metric import rule


class Example(NamedTuple):
    """An answer: the name of its rule, a row, its score, and words of its explanation."""

    rule: str
    row: dict[str, Any]
    score: float
    words: str


def is_scored_or_refused(rule_name: str, row: dict[str, Any]) -> bool:
    """Score an answer, and check that it has a score from 0 to 1, or an error that names its row."""
    try:
        (score,) = rule(rule_name).scores([row], lambda place: "the question of the test")
    except ValueError as error:
        return "the question of the test" in str(error)
    return 0 <= score <= 1


def _docvqa(prediction: Any, gold: Any, score: float, words: str) -> Example:
    return Example("docvqa_2026", {"prediction": f"I think. FINAL ANSWER: {prediction}", "gold": gold}, score, words)


def _dude(kind: str, gold: Any, prediction: Any, score: float, words: str) -> Example:
    return Example("dude", {"answer_type": kind, "gold": gold, "prediction": prediction}, score, words)


def _formatted(rule: str, answer_format: str, gold: Any, prediction: Any, score: float, words: str) -> Example:
    return Example(rule, {"answer_format": answer_format, "gold": gold, "prediction": prediction}, score, words)


def _chart(rule: str, kind: str, year: Any, answer: Any, prediction: Any, score: float, words: str) -> Example:
    row = {"question_type": kind, "year": year, "answer": answer, "prediction": prediction}
    return Example(rule, row, score, words)


def _ocr(rule: str, answers: Any, prediction: Any, score: float, words: str, **others: Any) -> Example:
    return Example("ocrbench_v2", {"rule": rule, "answers": answers, "prediction": prediction, **others}, score, words)


_MM, _MM_LMMS = "mmlongbench_doc", "mmlongbench_doc_lmms_eval"
_LONG, _LONG_VLM = "longdocurl", "longdocurl_vlmevalkit"

EXAMPLES = (
    Example("docvqa_2026", {"prediction": "50 kg", "gold": "50 kg"}, 0.0, "has no 'FINAL ANSWER:'"),
    _docvqa("50KG", "50 kg", 1.0, "same number and unit"),
    _docvqa("50 g", "50 kg", 0.0, "is not the number"),
    _docvqa("1.2.3", "1.2.3", 1.0, "same number and unit"),
    _docvqa("March 5, 2024", "2024-03-05", 1.0, "same date"),
    _docvqa("March 6, 2024", "2024-03-05", 0.0, "is not the number, version or date"),
    _docvqa("Sept. 5, 1998", "05 September 98", 1.0, "same date"),
    _docvqa("the Coca-Cola", "Coca Cola", 1.0, "in at most one character in ten"),
    _docvqa("abcdefghiX", "abcdefghij", 1.0, "in at most one character in ten"),
    _docvqa("Pepsi", ["Coca Cola", "Fanta"], 0.0, "in more than one character in ten"),
    _docvqa("Fanta", "['Coca Cola', 'Fanta']", 1.0, "in at most one character in ten"),
    _docvqa("Unknown", [], 0.0, "in more than one"),
    _dude("extractive", ["Coca Cola"], ["CocaCola", "Pepsi"], 0.8888888888888888, "question type 'extractive'"),
    _dude("not-answerable", [], [], 1.0, "question type 'not-answerable'"),
    _dude("not-answerable", [], ["Coca Cola"], 0.0, "question type 'not-answerable'"),
    _dude("list/extractive", ["a", "b"], ["b", "a"], 1.0, "one to one"),
    _dude("list/abstractive", ["a", "b"], [], 0.0, "no answers, where"),
    _dude("list/abstractive", ["a"], ["a", "b"], 0.5, "one to one"),
    _formatted(_MM, "Int", "12", "12.9", 1.0, "12 equals 12"),
    _formatted(_MM, "Int", "12", "13", 0.0, "13 must be equal to 12"),
    _formatted(_MM, "Int", "12", "twelve", 0.0, "not both integers"),
    _formatted(_MM, "Float", "12", "12.5", 0.0, "numbers 12.5 and 12 differ by more than 1%"),
    _formatted(_MM, "Float", "50%", "0.5", 1.0, "at most 1%"),
    _formatted(_MM, "Float", "0.004", "0", 1.0, "equal once rounded"),
    _formatted(_MM, "Float", "5", "five", 0.0, "the prediction is not a number"),
    _formatted(_MM, "Str", "color", "colour", 0.8333333333333334, "as text"),
    _formatted(_MM, "Str", "abcd", "abxy", 0.0, "kept above a similarity of 0.5"),
    _formatted(_MM, "Str", "page 12", "page 13", 0.0, "must be equal"),
    _formatted(_MM, "Str", "jo@x.org", "'jo@x.org' (mail)", 1.0, "equals"),
    _formatted(_MM, "None", "Not answerable", "not answerable", 1.0, "as text"),
    _formatted(_MM, "List", "['red', 'green']", "['Green', 'red']", 1.0, "the worst pair"),
    _formatted(_MM, "List", "['red']", "red", 1.0, "the worst pair"),
    _formatted(_MM, "List", ["a", "b"], ["a"], 0.0, "1 items, where 2 are expected"),
    _formatted(_MM, "List", "['1', '2-3']", "['1-2', '3']", 1.0, "equals"),
    _formatted(_MM, "List", "['a']", "[not, a, list]", 0.0, "the worst pair"),
    _formatted(_MM, "List", [], [], 1.0, "both lists are empty"),
    _formatted(_MM_LMMS, "Integer", "12", "There are 12 apples", 1.0, "12 equals 12"),
    _formatted(_MM_LMMS, "int", "12", "a dozen", 0.0, "do not both have a number"),
    _formatted(_MM_LMMS, "Float", "3.5", "about 3.51", 1.0, "at most 1%"),
    _formatted(_MM_LMMS, "None", "12", "Not answerable", 1.0, "equals 'not answerable'"),
    _formatted(_MM_LMMS, "", "5 miles", "5", 1.0, "equals"),
    _formatted(_MM_LMMS, "List", "['1', '2-3']", "['1-2', '3']", 0.0, "must be equal"),
    _formatted(_MM_LMMS, "List", "['red', 'green']", ["green", "red"], 1.0, "the worst pair"),
    _formatted(_LONG, "Integer", "1,200", "1200", 1.0, "equals"),
    _formatted(_LONG, "Integer", "12", "12.0", 0.0, "must be equal"),
    _formatted(_LONG, "Integer", "", "twelve", 1.0, "equals"),
    _formatted(_LONG, "Float", "£3.5 kg", "3.5", 1.0, "at most 1%"),
    _formatted(_LONG, "Float", "abc", "abc", 0.0, "is not a number"),
    _formatted(_LONG, "String", "program", "progra", 1.0, "as text"),
    _formatted(_LONG, "String", "massacres", "mass", 0.0, "as text"),
    _formatted(_LONG_VLM, "String", "massacres", "mass", 1.0, "as text"),
    _formatted(_LONG_VLM, "String", "12 mm", "12", 1.0, "equals"),
    _formatted(_LONG, "List", "['a b c', 'd e f']", "['a b c']", 0.5, "the best answer for each"),
    _formatted(_LONG, "List", [{"x": 1, "y": "a"}], [{"x": "1", "y": "a"}], 1.0, "the best answer for each"),
    _formatted(_LONG, "List", "['a']", "[]", 0.0, "an empty list"),
    _chart("chartqapro", "Factoid", ["NO"], ["10"], "10.5", 1.0, "at most 5%"),
    _chart("chartqapro", "Factoid", ["YES"], ["2010"], "2011", 0.0, "must be equal"),
    _chart("chartqapro", "Factoid", ["NO"], ["0"], "0.1", 0.0, "more than 5%"),
    _chart("chartqapro", "Fact Checking", ["NO"], ["unanswerable"], "answerable", 0.8333333333333334, "as text"),
    _chart("chartqapro_lmms_eval", "Fact Checking", ["NO"], ["unanswerable"], "answerable", 0.0, "must be equal"),
    _chart("chartqapro", "Factoid", ["YES", "NO"], ["[2010, 50]"], "[2010, 51]", 1.0, "position by position"),
    _chart("chartqapro", "Factoid", ["NO"], ["[Peru, Chile]"], "['Peru']", 0.5, "1 positions have no partner"),
    _chart("chartqapro", "Conversational", ["NO", "YES"], ["x", "2010."], "2010", 1.0, "equals"),
    _chart("chartqapro_openbench", "Factoid", ["NO"], ["New  York"], "new york.", 0.8888888888888888, "as text"),
    _chart("chartqapro_openbench", "Multi Choice", ["NO"], ["a"], "A.", 1.0, "equals"),
    _chart("chartqapro_lmms_eval", "Factoid", None, "10", " 10.4", 1.0, "at most 5%"),
    _ocr("en", ["Coca Cola"], "It is Coca Cola.", 1.0, "is in the prediction"),
    _ocr("en", ["Coca Cola"], "Pepsi", 0.0, "no answer of"),
    _ocr("case", ["coca cola"], "Coca Cola", 0.0, "no answer of"),
    _ocr("cn", ["北京 市"], "在北京市", 1.0, "is in the prediction"),
    _ocr("en", ["one two three four five"], "one two three four fiv", 0.9565217391304348, "as text"),
    _ocr("en", "one two three four five", "one two three four five", 1.0, "as text"),
    _ocr("case", "one two three four five", "one two three four five", 0.0, "is long and not in a list"),
    _ocr("en", [], "x", 0.0, "no references"),
    _ocr("item", ["B"], "(B)", 1.0, "equals", type="science QA en", eval="multiple choice"),
    _ocr("item", ["10"], "about 9", 0.9, "number 9 is compared with 10", type="text counting en", eval="regression"),
    _ocr("item", ["five"], "five!", 1.0, "is in the prediction", type="text counting en", eval="exact match"),
    _ocr("item", ["x^2"], "$ x ^ 2 $", 1.0, "is in the prediction", type="formula recognition en"),
    _ocr("item", [r"\text{x}^2"], "x^2", 1.0, "is in the prediction", type="formula recognition cn"),
    _ocr("item", ["AB"], "A, B", 1.0, "is in the prediction", type="handwritten answer extraction cn", question="?"),
    Example("madqa", {"answer_variants": [["Germany"]], "prediction": "germany"}, 1.0, "ANLS*"),
    Example("madqa", {"answer_variants": [["a", "b"], ["c"]], "prediction": ["c"]}, 1.0, "ANLS*"),
    Example("madqa", {"answer_variants": [["a"]], "prediction": None}, 0.0, "no answer"),
)

# Rows that no rule can score, and words of the error.
REFUSED: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("dude", {"answer_type": "extractive", "gold": ["x"]}, "row 0 .* has no prediction: dude needs answer_type"),
    ("dude", {"answer_type": "extractive", "gold": ["x"], "prediction": 5}, r"prediction of row 0 .*, got 5 \(int\)"),
    ("dude", {"answer_type": "extractive", "gold": [], "prediction": "x"}, "gold of row 0 .* is empty"),
    ("dude", {"answer_type": None, "gold": ["x"], "prediction": "x"}, "answer_type of row 0 .*, got None"),
    ("mmlongbench_doc", {"answer_format": "Float", "gold": "1,200", "prediction": "1"}, "gold of row 0 .* a number"),
    ("mmlongbench_doc", {"answer_format": "List", "gold": "[a, b]", "prediction": "a"}, "gold of row 0 .* a list"),
    ("longdocurl", {"answer_format": "List", "gold": [], "prediction": ["a"]}, "gold of row 0 .* is an empty list"),
    ("chartqapro", {"question_type": "", "year": [], "answer": ["a"], "prediction": "a"}, "year of row 0 .* YES or NO"),
    ("chartqapro", {"question_type": "", "year": ["NO"], "answer": [], "prediction": "a"}, "answer of row 0 .* a list"),
    ("ocrbench_v2", {"rule": "fr", "answers": ["a"], "prediction": "a"}, "rule of row 0 .* en, cn, case or item"),
    ("ocrbench_v2", {"rule": "en", "answers": ["a"], "prediction": None}, "prediction of row 0 .*, got None"),
    ("ocrbench_v2", {"rule": "item", "answers": ["a"], "prediction": "a"}, "type of row 0 .* the type of the question"),
    ("madqa", {"answer_variants": [None], "prediction": "a"}, "answer_variants of row 0 .* each a list of strings"),
    ("madqa", {"answer_variants": [["a"]], "prediction": 5}, "prediction of row 0 .* a list of strings"),
)
