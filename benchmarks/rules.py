"""Times the rules of benchmarks against ports of the authors' programs: ``python benchmarks/rules.py``.

Most of these programs cannot be installed, so each port repeats the steps of its program, with rapidfuzz in place of
edit distances in pure Python. Both score the same 10,000 made-up answers in turn, after a check that they give the same
scores. The times are the least processor times.
"""

from __future__ import annotations

import argparse
import ast
import random
import re
import string
import sys
import time
from collections.abc import Callable, Mapping
from math import isclose
from pathlib import Path
from typing import Any, NamedTuple

from timing import ROOT, keep, markdown

sys.path.insert(0, str(ROOT))

from rapidfuzz.distance import Levenshtein

from anls_metric import rule

Answer = dict[str, Any]


class Row(NamedTuple):
    """One line of the table: microseconds for one answer, and the mean score of all."""

    name: str
    theirs: float
    ours: float
    mean: float

    @property
    def ratio(self) -> float:
        """The time of the port divided by ours."""
        return self.theirs / self.ours


COLUMNS = {
    "rule": ("name", "`{}`"),
    "copy, µs an answer": ("theirs", "{:.1f}"),
    "ours, µs": ("ours", "{:.1f}"),
    "times as fast": ("ratio", "{:.1f}"),
    "mean score": ("mean", "{:.4f}"),
}


# Ports


def port_docvqa_2026(row: Answer) -> float:
    from dateutil import parser

    def split(text: str) -> tuple[float | None, str]:
        match = re.match(r"^(-?\d+(?:\.\d+)?)\s*(.*)$", text.lower().strip())
        return (float(match[1]), match[2].strip()) if match else (None, "")

    def date(text: str) -> Any:
        return parser.parse(text, fuzzy=False).date()

    def match(answer: str, gold: str) -> bool:
        (number, unit), (expected, other) = split(answer), split(gold)
        if number is not None and expected is not None and number == expected:
            return unit == other
        answer, gold = answer.strip(), gold.strip()
        if re.match(r"^\d+\.\d+\.\d+$", answer) or re.match(r"^\d+\.\d+\.\d+$", gold):
            return answer == gold
        if len(answer) < 6 or len(gold) < 6:
            return False
        try:
            return bool(date(answer) == date(gold))
        except (ValueError, TypeError, OverflowError):
            return False

    def clean(text: str) -> str:
        text = "".join(" " if sign in string.punctuation else sign for sign in text.lower())
        return " ".join(re.sub(r"\b(a|an|the)\b", " ", text).split())

    if "FINAL ANSWER:" not in row["prediction"]:
        return 0.0
    answer = row["prediction"].split("FINAL ANSWER:")[-1].strip()
    try:
        value = ast.literal_eval(str(row["gold"]))
        golds = list(map(str, value)) if isinstance(value, list) else [str(row["gold"])]
    except (ValueError, SyntaxError):
        golds = [str(row["gold"])]
    if any(match(answer, gold) for gold in golds):
        return 1.0
    if any(split(gold)[0] is not None for gold in golds):
        return 0.0
    best = 0.0
    for gold in golds:
        first, second = clean(answer), clean(gold)
        longer = max(len(first), len(second))
        best = max(best, 1 - Levenshtein.distance(first, second) / longer if longer else 1.0)
    return float(best >= 0.9)


def port_dude(row: Answer) -> float:
    def score(answer: str, golds: list[str]) -> float:
        ratios = []
        for gold in golds:
            first, second = " ".join(gold.strip().lower().split()), " ".join(answer.strip().lower().split())
            length = max(len(gold.upper()), len(answer.upper()))
            ratios.append(0.0 if length == 0 else Levenshtein.distance(first, second) / length)
        similarity = 1 - min(ratios)
        return 0.0 if similarity < 0.5 else similarity

    golds, answers = row["gold"], row["prediction"]
    if row["answer_type"] == "not-answerable":
        golds, answers = golds or [""], answers or [""]
    if "list" not in row["answer_type"]:
        return score(answers[0] if answers else "", golds)
    from munkres import Munkres, make_cost_matrix

    rows, columns = (golds, answers) if len(golds) < len(answers) else (answers, golds)
    matrix = [[score(column, [text]) for column in columns] for text in rows]
    places = Munkres().compute(make_cost_matrix(matrix))
    return sum(matrix[here][there] for here, there in places) / max(len(set(golds)), len(answers))


def clean(value: Any) -> str:
    text = str(value).lower().strip()
    text = re.sub(r"\s*\([^)]*\)", "", text).strip()
    text = re.sub(r"^['\"]|['\"]$", "", text).strip().lstrip("$").strip()
    return text.rstrip("%").strip()


def clean_without_units(value: Any) -> str:
    text = str(value).lower().strip().replace(",", "")
    units = ("kg", "mm", "m", "meters", "acres", "minutes", "mile", "miles", "million", "thousand", "billion")
    for unit in units:
        if text.endswith(unit):
            text = text.rstrip(unit).strip()
    text = re.sub(r"\s*\([^)]*\)", "", text).strip()
    text = re.sub(r"^['\"]|['\"]$", "", text).strip().lstrip("$").strip().lstrip("£").strip()
    return text.rstrip("%").strip()


def must_be_equal(text: str) -> bool:
    if "https://" in text or text.endswith((".py", "ipynb")) or text.startswith("page"):
        return True
    if re.fullmatch(r"\b\d+(-\d+|\s\d+)?\b", text) or "a.m." in text or "p.m." in text:
        return True
    if re.fullmatch(r"\b\d{4}[-\s]\d{2}[-\s]\d{2}\b", text) or re.fullmatch(r"\b\d{4}[-\s]\d{2}\b", text):
        return True
    return bool(re.fullmatch(r"[a-zA-Z0-9._%+-]+@[a-zA-Z0-9.-]+\.[a-zA-Z]{2,}", text))


def similarity(gold: str, answer: str) -> float:
    length = max(len(gold.upper()), len(answer.upper()))
    score = 1.0 - (Levenshtein.distance(gold, answer) / length if length else 0.0)
    return score if score > 0.5 else 0.0


def are_close(gold: float, answer: float) -> bool:
    def digits(number: float) -> int:
        return len(str(number).split(".")[-1]) if "." in str(number) else 3

    for number in (gold / 100, gold, gold * 100):
        if isclose(number, answer, rel_tol=0.01):
            return True
        precision = max(min(digits(answer), digits(number)), 2)
        if round(answer, precision) == round(number, precision):
            return True
    return False


def is_float(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def read(value: Any) -> list[Any]:
    value = ast.literal_eval(value) if isinstance(value, str) and value.startswith("[") else value
    return value if isinstance(value, list) else [value]


def port_mmlongbench_doc(row: Answer) -> float:
    gold, answer, form = row["gold"], row["prediction"], row["answer_format"]
    if form == "Int":
        try:
            return float(int(gold) == int(float(answer)))
        except ValueError:
            return float(gold == "")
    if form == "Float":
        try:
            return float(are_close(float(clean(gold)), float(clean(answer))))
        except ValueError:
            return 0.0
    if form in ("Str", "None"):
        gold, answer = clean(gold), clean(answer)
        return float(gold == answer) if must_be_equal(gold) else similarity(gold, answer)
    golds, answers = read(gold), read(answer)
    if len(golds) != len(answers):
        return 0.0
    golds, answers = sorted(map(clean, golds)), sorted(map(clean, answers))
    if is_float(golds[0]) or must_be_equal(golds[0]):
        return float("-".join(golds) == "-".join(answers))
    return min(map(similarity, golds, answers))


def port_longdocurl(row: Answer) -> float:
    gold, answer, form = row["gold"], row["prediction"], row["answer_format"]
    clean = clean_without_units
    if form == "Integer":
        try:
            number: Any = int(clean(answer))
        except ValueError:
            number = ""
        return float(int(clean(gold)) == number)
    if form == "Float":
        try:
            return float(are_close(float(clean(gold)), float(clean(answer))))
        except ValueError:
            return 0.0
    if form in ("String", "None"):
        gold, answer = clean(gold), clean(answer)
        return float(gold == answer) if must_be_equal(gold) else similarity(gold, answer)
    golds, answers = list(map(clean, read(gold))), list(map(clean, read(answer)))
    if is_float(golds[0]) or must_be_equal(golds[0]):
        return float("-".join(golds) == "-".join(answers))
    total = sum(max(similarity(gold, answer) for answer in answers) for gold in golds)
    return float(total / len(golds) * min(1, len(golds) / len(answers)) ** 0.5)


def port_chartqapro(row: Answer) -> float:
    def parse(text: str) -> list[str]:
        try:
            value = ast.literal_eval(text)
        except Exception:
            return [text]
        return [str(item).strip(" '") for item in value] if isinstance(value, list) and value else [text]

    def mend(text: str) -> str:
        match = re.match(r"^\[(.*)\]$", text.strip())
        if not match:
            return text
        try:
            quoted = re.sub(r"(?<!['\w])(\w[^,]*?)(?!['\w])", r"'\1'", match[1])
            return str(ast.literal_eval(f"[{quoted}]"))
        except (SyntaxError, ValueError):
            return text

    def to_float(text: str) -> float | None:
        try:
            return float(text.strip().strip("%"))
        except ValueError:
            return None

    def score(gold: str, answer: str) -> float:
        gold, answer = gold.strip().strip("%").strip(), answer.strip().strip("%").strip()
        expected, number = to_float(gold), to_float(answer)
        if expected is not None and number is not None:
            if expected == 0.0:
                return float(number == 0.0)
            return float(abs(number - expected) / abs(expected) <= 0.05)
        first, second = (" ".join(text.strip().lower().split()) for text in (gold.lower(), answer.lower()))
        length = max(len(first.upper()), len(second.upper()))
        ratio = 0.0 if length == 0 else Levenshtein.distance(first, second) / length
        return 1.0 - ratio if ratio < 0.5 else 0.0

    gold, answer = (text.strip(".").strip("\n") for text in (row["answer"][-1], row["prediction"]))
    flags = row["year"][-1:] if row["question_type"] == "Conversational" else row["year"]
    golds, answers = parse(mend(gold)), parse(answer)
    flags = flags * len(golds) if len(flags) < len(golds) else flags
    results = []
    for place in range(max(len(golds), len(answers))):
        if place >= len(golds) or place >= len(answers):
            results.append(0.0)
        elif flags[place].lower() == "yes":
            results.append(float(golds[place].strip().lower() == answers[place].strip().lower()))
        else:
            results.append(score(golds[place], answers[place]))
    return sum(results) / len(results)


def port_ocrbench_v2(row: Answer) -> float:
    score = 0.0
    for answer in row["answers"]:
        text, answer = (value.lower().strip().replace("\n", " ") for value in (str(row["prediction"]), str(answer)))
        if row["rule"] == "cn":
            text, answer = text.replace(" ", ""), answer.replace(" ", "")
        is_short = len(answer.split(",")) < 4 if row["rule"] == "cn" else len(answer.split()) < 5
        if is_short:
            score = max(score, float(answer in text))
        else:
            similarity = 1 - Levenshtein.distance(text, answer) / max(len(text), len(answer))
            score = max(score, similarity if similarity >= 0.5 else 0.0)
    return score


def port_madqa(row: Answer) -> float:
    from anls_star import anls_score

    answer = [row["prediction"]] if isinstance(row["prediction"], str) else row["prediction"]
    items = [str(item).lower() for item in answer]
    variants = ([str(item).lower() for item in variant] for variant in row["answer_variants"])
    return max(float(anls_score(items, variant)) for variant in variants)


# Made-up answers


def make_word(chance: random.Random) -> str:
    return "".join(chance.choices(string.ascii_lowercase, k=chance.randint(4, 11)))


def make_text(chance: random.Random) -> str:
    kinds: list[Callable[[], str]] = [
        lambda: " ".join(make_word(chance) for _ in range(chance.randint(1, 6))),
        lambda: f"{chance.randint(1, 5000)}",
        lambda: f"{chance.randint(1, 999)}.{chance.randint(0, 99):02} kg",
        lambda: f"2024-0{chance.randint(1, 9)}-1{chance.randint(0, 9)}",
        lambda: f"March {chance.randint(1, 28)}, 2024",
    ]
    return chance.choices(kinds, (6, 1, 1, 1, 1))[0]()


def slip(chance: random.Random, text: str) -> str:
    """Return the text, or in 40 % of cases the text with another letter, or another text."""
    kind = chance.random()
    if kind < 0.6 or not text:
        return text
    place = chance.randrange(len(text))
    return make_text(chance) if kind > 0.9 else text[:place] + "x" + text[place + 1 :]


def make_number(chance: random.Random) -> str:
    return str(chance.randint(1, 500))


def make_decimal(chance: random.Random) -> str:
    return f"{chance.uniform(1, 500):.2f}"


def make_formatted(chance: random.Random, formats: tuple[str, str, str, str, str]) -> Answer:
    integer, decimal, _, none, many = formats
    kind = chance.choice(formats)
    if kind == integer:
        gold = make_number(chance)
        return {"answer_format": kind, "gold": gold, "prediction": chance.choice([gold, make_number(chance), "none"])}
    if kind == decimal:
        gold = make_decimal(chance)
        return {"answer_format": kind, "gold": gold, "prediction": chance.choice([gold, make_decimal(chance), "none"])}
    if kind == many:
        golds = [" ".join(make_word(chance) for _ in range(2)) for _ in range(chance.randint(1, 4))]
        return {"answer_format": kind, "gold": str(golds), "prediction": str([slip(chance, item) for item in golds])}
    gold = "Not answerable" if kind == none else make_text(chance)
    return {"answer_format": kind, "gold": gold, "prediction": slip(chance, gold)}


def make_docvqa_2026(chance: random.Random) -> Answer:
    gold = make_text(chance)
    return {"gold": gold, "prediction": f"I looked it up.\nFINAL ANSWER: {slip(chance, gold)}"}


def make_dude(chance: random.Random) -> Answer:
    kind = chance.choice(["extractive", "abstractive", "list/extractive", "not-answerable"])
    golds = [] if kind == "not-answerable" else [make_text(chance) for _ in range(chance.randint(1, 4))]
    answers = [slip(chance, text) for text in (golds if "list" in kind else golds[:1])]
    return {"answer_type": kind, "gold": golds, "prediction": answers}


def make_chartqapro(chance: random.Random) -> Answer:
    kind = chance.choice(["Factoid", "Conversational", "Fact Checking", "Multi Choice", "Hypothetical"])
    row: Answer = {"question_type": kind, "year": ["NO"]}
    if chance.random() < 0.3:
        golds = [make_word(chance) for _ in range(chance.randint(2, 4))]
        return row | {"answer": [str(golds)], "prediction": str([slip(chance, item) for item in golds])}
    gold = make_number(chance) if chance.random() < 0.4 else make_text(chance)
    return row | {"answer": [gold], "prediction": slip(chance, gold)}


def make_ocrbench_v2(chance: random.Random) -> Answer:
    golds = [make_text(chance) for _ in range(chance.randint(1, 3))]
    answer = slip(chance, chance.choice(golds))
    wrapped = f"The answer is {answer}." if chance.random() < 0.5 else answer
    return {"rule": chance.choice(["en", "cn"]), "answers": golds, "prediction": wrapped}


def make_madqa(chance: random.Random) -> Answer:
    golds = [[make_text(chance) for _ in range(chance.randint(1, 3))] for _ in range(chance.randint(1, 2))]
    return {"answer_variants": golds, "prediction": [slip(chance, text) for text in chance.choice(golds)]}


_MM = ("Int", "Float", "Str", "None", "List")
_LONG = ("Integer", "Float", "String", "None", "List")

# The name of a rule -> the function that makes an answer, and the port that scores it.
WORKLOADS: Mapping[str, tuple[Callable[[random.Random], Answer], Callable[[Answer], float]]] = {
    "docvqa_2026": (make_docvqa_2026, port_docvqa_2026),
    "dude": (make_dude, port_dude),
    "mmlongbench_doc": (lambda chance: make_formatted(chance, _MM), port_mmlongbench_doc),
    "longdocurl": (lambda chance: make_formatted(chance, _LONG), port_longdocurl),
    "chartqapro": (make_chartqapro, port_chartqapro),
    "ocrbench_v2": (make_ocrbench_v2, port_ocrbench_v2),
    "madqa": (make_madqa, port_madqa),
}

# The rule of another program for the same benchmark -> the rule whose answers it scores.
PORTS = {
    "mmlongbench_doc_lmms_eval": "mmlongbench_doc",
    "longdocurl_vlmevalkit": "longdocurl",
    "chartqapro_lmms_eval": "chartqapro",
}


def make_answers(name: str, count: int) -> list[Answer]:
    """Make the same answers for a rule each time."""
    chance = random.Random(2026)
    return [WORKLOADS[name][0](chance) for _ in range(count)]


def measure(function: Callable[[], Any]) -> float:
    start = time.process_time()
    function()
    return time.process_time() - start


def race(name: str, count: int, repetitions: int) -> Row:
    """Time a rule and the port of its program in turn."""
    rows, port, ours = make_answers(name, count), WORKLOADS[name][1], rule(name)
    expected, scores = list(map(port, rows)), ours.scores(rows)
    wrong = [place for place, pair in enumerate(zip(scores, expected)) if pair[0] != pair[1]]
    assert not wrong, (name, rows[wrong[0]], scores[wrong[0]], expected[wrong[0]])
    turns = [(measure(lambda: list(map(port, rows))), measure(lambda: ours.scores(rows))) for _ in range(repetitions)]
    theirs, own = (1e6 * least / count for least in map(min, zip(*turns)))
    return Row(name, theirs, own, sum(scores) / count)


def main() -> None:
    """Run the benchmark."""
    command = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    command.add_argument("--count", type=int, default=10_000, help="answers of each benchmark")
    command.add_argument("--repetitions", type=int, default=5)
    command.add_argument("--json", metavar="FILE", help="write the figures to a file")
    flags = command.parse_args()
    rows = [race(name, flags.count, flags.repetitions) for name in WORKLOADS]
    print(markdown(COLUMNS, rows))
    print("\nOther programs on the same answers:")
    for name, other in PORTS.items():
        scores = rule(name).scores(make_answers(other, flags.count))
        print(f"{name}: {sum(scores) / flags.count:.4f}")
    keep(flags.json and str(Path(flags.json)), rows)


if __name__ == "__main__":
    main()
