"""Damaged files of every format and layout, and any bytes, give a score or a readable error."""

from __future__ import annotations

import json
import random
import warnings
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anls_metric import ANLSWarning, api
from anls_metric.messages import FrontEnd, InputError
from anls_metric.rules import RULES
from tests.reading import test_layouts
from tests.reading.seeds import damage, make_seeds

GOLD = "gold of seeds.json"
# Options that lead the content of files through more code.
OPTIONS: list[dict[str, Any]] = [
    {},
    {"variant": "anls_star"},
    {"variant": "anlsl", "extract": "json,python,list,fence"},
    {"extract": "think,harmony,chat,final,json,list,python,html,fence,boxed,tag,sentence"},
    {"missing": "zero", "extra": "ignore", "worst": 5},
    {"id": "none"},
    {"prediction": "prediction", "references": "references"},
    {"runs": "question"},
]


def score(*paths: Path, **options: Any) -> str:
    """Score a file, or a gold file and answers; "" if they are refused. Any error except an `InputError` is a bug."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ANLSWarning)
            scores = api.score(paths[-1], *paths[:-1], **options)
    except InputError as error:
        messages = [error.message.text(front_end) for front_end in get_args(FrontEnd)]
        assert all(message and len(message) < 5_000 and " object at 0x" not in message for message in messages)
        return ""
    assert all(0 <= scored.anls <= 1 for scored in scores.submissions.values())
    return f"{scores}\n{scores.to_markdown()}\n{json.dumps(scores.to_dict())}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the gold file of the seeds."""
    folder = tmp_path_factory.mktemp("fuzzing")
    (folder / GOLD).write_text(json.dumps(test_layouts.GOLD))
    return folder


SEEDS = make_seeds()


def test_each_seed_has_a_score(folder: Path) -> None:
    answers = folder / "answers.json"
    answers.write_text(json.dumps({"7": "12.50", "8": "R Jones"}))
    for name, content in SEEDS.items():
        path = folder / f"seed {name}"
        path.write_bytes(content)
        layout = name.partition(".")[0]
        files = [path, answers] if layout in test_layouts.OF_GOLD else [path]
        options = {"missing": "zero", "extra": "ignore", "id": "none" if layout == "vllm" else None}
        assert score(*files) or score(folder / GOLD, path, **options), name


def test_damaged_file_has_a_score_or_an_error_for_people(folder: Path, pytestconfig: pytest.Config) -> None:
    names = st.sampled_from([*SEEDS])

    @settings(max_examples=20_000 if pytestconfig.getoption("nothing_skips") else 300)
    @given(names, names, st.integers(0, 2**32), st.sampled_from(OPTIONS), st.booleans())
    def check(name: str, other: str, number: int, options: dict[str, Any], with_gold: bool) -> None:
        path = folder / f"damaged {name}"
        path.write_bytes(damage(SEEDS[name], SEEDS[other], random.Random(number)))
        score(*([folder / GOLD] if with_gold else []), path, **options)

    check()


BENCHMARKS = {layout: rule for rule in RULES for layout in test_layouts.FILES if layout.startswith(rule)}


@pytest.mark.parametrize("layout", BENCHMARKS)
def test_damaged_file_of_a_benchmark_has_a_score_or_an_error(folder: Path, layout: str) -> None:
    name, chance = test_layouts.FILES[layout][0], random.Random(layout)
    for _ in range(60):
        path = folder / f"benchmark {name}"
        path.write_bytes(damage(SEEDS[name], SEEDS[name], chance))
        for files in ([path], [folder / GOLD, path]):
            score(*files, variant=BENCHMARKS[layout], missing="zero", extra="ignore")


NAMES = ("a.json", "a.csv", "a.jsonl", "a", "a.tsv", "a.gz", "a.eval", "a.xlsx")


@settings(max_examples=200)
@given(st.binary(max_size=60), st.sampled_from(NAMES))
def test_any_bytes_have_a_score_or_an_error(folder: Path, content: bytes, name: str) -> None:
    path = folder / f"bytes-{name}"
    path.write_bytes(content)
    score(path)
