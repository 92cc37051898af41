"""Scorers: one registry, one way to get one with options, and a metric of one's own in every front end."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

import anls_metric
from anls_metric import SCORERS, VARIANTS, Scorer, anls_score, get_scorer, register, score
from anls_metric.core.checks import RowName, name_row
from anls_metric.core.scorer import GROUP, find_installed
from anls_metric.core.strings.rows import check_columns
from anls_metric.core.values import VALUE_VARIANTS
from anls_metric.rules import RULES, Judgment
from anls_metric.trl import build_reward
from tests.conftest import ROOT, RunPython
from tests.system.conftest import Shell, shell

__all__ = ["shell"]


@dataclass(frozen=True)
class SameStart(Scorer):
    """The example of CONTRIBUTING.md: an answer is right if it starts like an accepted answer."""

    name: str = "same_start"
    meaning: str = "the first letters are equal"
    source: str = "https://example.org/same-start"
    threshold: float = 0.0
    letters: int = 1
    options = ("letters",)

    def score(self, predictions: Any, references: Any, row_name: RowName = name_row) -> list[float]:
        """Score each row 1 or 0."""
        rows = zip(*check_columns(predictions, references, row_name))
        return [self.explain(prediction, accepted).score for prediction, accepted in rows]

    def explain(self, prediction: str, references: Any) -> Judgment:
        """Say whether the first letters are equal."""
        starts = [text[: self.letters].lower() for text in references]
        is_equal = prediction[: self.letters].lower() in starts
        return Judgment(float(is_equal), "starts with {}", (prediction[: self.letters],))


@pytest.fixture
def registered() -> Scorer:
    register(SameStart())
    return SCORERS["same_start"]


OWN = {**VARIANTS, **VALUE_VARIANTS, **RULES}


def test_scorers_are_the_rows_of_their_tables() -> None:
    assert list(SCORERS.items()) == list(OWN.items())
    assert len(SCORERS) == len({*SCORERS})


# Scorers of installed packages


def test_own_scorers_are_declared_like_those_of_any_package() -> None:
    tomllib = pytest.importorskip("tomllib")
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"][GROUP]
    tables = [metadata.EntryPoint(name, value, GROUP).load() for name, value in declared.items()]
    assert tables == [VALUE_VARIANTS, RULES]


@pytest.fixture
def scans(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The scans of the installed packages, none of which declares a scorer, as for a checkout that is not installed."""
    done: list[str] = []

    def find(group: str) -> tuple[()]:
        done.append(group)
        return ()

    monkeypatch.setattr(metadata, "entry_points", find)
    find_installed.cache_clear()
    yield done
    find_installed.cache_clear()


def test_installed_packages_are_scanned_once_and_only_for_an_unknown_name(scans: list[str]) -> None:
    assert [get_scorer(name) for name in OWN] == list(OWN.values())
    assert scans == []
    for name in ("no such", "dudes", "same_start"):
        with pytest.raises(ValueError, match=r"^unknown variant"):
            get_scorer(name)
    assert (list(SCORERS), scans) == (list(OWN), [GROUP])


PLUGIN = """
from dataclasses import replace
from anls_metric import VARIANTS, get_scorer
STRICT = replace(VARIANTS["rrc"], name="strict_rrc", threshold=0.9, aliases=("very_strict",))
OURS = {"lenient": replace(VARIANTS["rrc"], name="lenient", threshold=0.1), "strict": STRICT}
ONE = replace(get_scorer("anlsl"), name="own_lists")
"""
ENTRY_POINTS = f"""[{GROUP}]
broken = plugin_without_module
wrong = plugin:PLUGIN
ours = plugin:OURS
one = plugin:ONE
"""


@pytest.fixture
def installed(tmp_path: Path) -> dict[str, str]:
    """An environment in which a package with scorers is installed."""
    (tmp_path / "plugin.py").write_text(PLUGIN)
    (tmp_path / "plugin-1.0.dist-info").mkdir()
    (tmp_path / "plugin-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: plugin\nVersion: 1.0\n")
    (tmp_path / "plugin-1.0.dist-info" / "entry_points.txt").write_text(ENTRY_POINTS)
    return {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import anls_metric as m; print(m.anls_score('ab', ['ac'], variant='very_strict'))", "0.0"),
        ("import anls_metric as m; print(m.get_scorer('own_lists').explain(['a'], ['a', 'b']).score)", "0.5"),
        ("import anls as m; print(m.get_scorer('lenient').score(['abcd'], [['axyz']]))", "[0.25]"),
        ("import anls as m; print(m.get_scorer('dude').name, m.get_scorer('anls_star').name)", "dude anls_star"),
        ("import anls_metric as m; print([*m.SCORERS][-3:])", "['lenient', 'strict_rrc', 'own_lists']"),
        ("from anls_metric.__main__ import run; run()", "own_lists"),
    ],
)
def test_scorer_of_an_installed_package_is_known_by_its_name(
    installed: dict[str, str], code: str, expected: str, tmp_path: Path, run_python: RunPython
) -> None:
    done = run_python(["-c", code, "variants"], tmp_path, **installed)
    assert expected in done.stdout, done.stderr


def test_entry_point_without_a_scorer_is_a_warning(
    installed: dict[str, str], tmp_path: Path, run_python: RunPython
) -> None:
    done = run_python("import anls_metric\nanls_metric.get_scorer('strict_rr')", tmp_path, **installed)
    assert "ValueError: unknown variant 'strict_rr': did you mean strict_rrc?" in done.stderr
    for problem in (
        "broken = plugin_without_module has no scorer: No module named 'plugin_without_module'",
        "wrong = plugin:PLUGIN has no scorer: module 'plugin' has no attribute 'PLUGIN'",
    ):
        assert done.stderr.count(problem) == 1


# Options


@pytest.mark.parametrize("name", [*SCORERS])
def test_scorer_names_itself_and_its_options(name: str) -> None:
    scorer = get_scorer(name)
    assert (scorer.name, scorer.meaning != "", scorer.source.startswith("https://")) == (name, True, True)
    assert scorer.signature("think").split("|")[:2] == ["anls", name]
    assert "|extract:think|" in scorer.signature("think")
    for option in scorer.options:
        assert get_scorer(name, **{option: getattr(scorer, option)}) is scorer
    with pytest.raises(
        ValueError, match=f"^{name} has no option 'letters'; (choose from threshold|choose from |leave it out)"
    ):
        get_scorer(name, letters=2)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("squad", "unknown variant 'squad'"),
        ("anls*", "unknown variant 'anls*': did you mean anls_star?"),
        (None, "variant is None: pass a name or a Scorer"),
        (["rrc"], "variant is ['rrc'] (list): pass a name or a Scorer"),
    ],
)
def test_what_is_no_scorer_is_refused(name: Any, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        get_scorer(name)
    with pytest.raises(ValueError, match=r"^each scorer must be an instance of a subclass of Scorer, got "):
        register(name)


def test_own_metric_scores_files_the_report_the_hook_and_a_reward(registered: Scorer, shell: Shell) -> None:
    rows = [
        {"questionId": number, "prediction": prediction, "references": ["Coca Cola"]}
        for number, prediction in enumerate(["CocaCola", "cola", "Pepsi", ""])
    ]
    shell.write({"own.json": rows, "gold.json": {"data": [{"questionId": 0, "answers": ["Coca Cola"]}]}})
    document = shell.document("own.json --variant same_start --report report.html")
    assert (document["submissions"][0]["anls"], document["signature"].split("|")[:3]) == (
        0.5,
        ["anls", "same_start", "letters:1"],
    )
    assert "same_start" in Path("report.html").read_text(encoding="utf-8")
    assert [answer["score"] for answer in score("own.json", variant="same_start").answers()] == [1.0, 1.0, 0.0, 0.0]
    assert "starts with 'P', so 0" in shell.print("own.json --variant same_start --worst 2")
    assert "same_start" in shell.print("variants")
    assert build_reward(variant="same_start")(completions=["Coke", "Pepsi"], answers=[["Cola"]] * 2) == [1.0, 0.0]

    class Tokenizer:
        def batch_decode(self, rows: Any, skip_special_tokens: bool) -> list[str]:
            return [" ".join(["-", "Coke", "Pepsi", "Cola"][token] for token in row) for row in rows]

    numpy = pytest.importorskip("numpy")
    hook = anls_metric.build_compute_metrics(Tokenizer(), [["Cola"], ["Cola"]], variant="same_start")
    assert hook((numpy.array([[1], [2]]), numpy.array([[3], [3]]))) == {"anls": 0.5}
    assert get_scorer("same_start", letters=5).score(["Coca-Cola"], ["Coca Cola"]) == [0.0]


@pytest.mark.parametrize(
    "scorer",
    [
        replace(VARIANTS["rrc"], threshold=0.0),
        SameStart(name="rrc"),
        SameStart(name="anls_star"),
        SameStart(name="dude"),
    ],
    ids=["variant", "metric", "values", "rule"],
)
def test_scorer_of_a_package_is_not_replaced_by_another(scorer: Scorer) -> None:
    before = get_scorer(scorer.name)
    with pytest.raises(ValueError, match=rf"^'{scorer.name}' is the name of another scorer, .* choose another name$"):
        register(scorer)
    assert get_scorer(scorer.name) is before


@pytest.fixture
def own_variant() -> str:
    register(replace(VARIANTS["rrc"], name="mine"))
    return "mine"


def test_own_variant_scores_single_answers_and_can_be_registered_again(own_variant: str) -> None:
    assert anls_score("ab", ["ac"], variant=own_variant) == get_scorer(own_variant).score(["ab"], [["ac"]])[0] == 0.5
    register(replace(VARIANTS["rrc"], name=own_variant, threshold=0.6))
    assert get_scorer("unitxt") == VARIANTS["rrc"]  # the copy has this alias, too
    assert anls_score("ab", ["ac"], variant=own_variant) == 0.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"variant": ["rrc"]}, "variant is ['rrc'] (list): pass a Variant or one of the names standard, rrc, "),
        ({"threshold": [0.5]}, "threshold must be a number from 0 to 1, got [0.5] (list)"),
        ({"variant": "mina"}, "unknown variant 'mina': did you mean mine?"),
        ({"variant": "same_start"}, 'same_start is not a variant of ANLS: score with get_scorer("same_start"), or '),
    ],
)
def test_what_is_no_variant_is_refused_for_single_answers(
    registered: Scorer, own_variant: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        anls_score("a", ["a"], **options)


@pytest.mark.parametrize("absent", ["name", "meaning", "source", "threshold"])
def test_scorer_without_an_attribute_is_refused_when_it_is_registered(absent: str) -> None:
    fields = {"name": "mine", "meaning": "?", "source": "?", "threshold": 0.0, "score": None, "explain": None}
    scorer: Any = type("Mine", (Scorer,), {name: value for name, value in fields.items() if name != absent})()
    with pytest.raises(ValueError, match=rf"has no {absent}: add this field to its class"):
        register(scorer)
    assert "mine" not in SCORERS


def test_options_are_only_those_that_a_scorer_lists(registered: Scorer) -> None:
    with pytest.raises(ValueError, match="same_start has no option 'threshold'; choose from letters"):
        get_scorer("same_start", threshold=0.3)


def test_command_of_ones_own_knows_ones_own_metric(tmp_path: Path) -> None:
    """The script of CONTRIBUTING.md."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (script,) = re.findall(r"```python\n(import my_metric.*?)```", text, re.DOTALL)
    (tmp_path / "own.py").write_text(script)
    (tmp_path / "my_metric.py").write_text(
        "from tests.core.test_scorer import SameStart\nimport anls_metric\nanls_metric.register(SameStart())\n"
    )
    (tmp_path / "own.json").write_text('[{"prediction": "Coke", "references": ["Cola"]}]')
    command = [sys.executable, "own.py", "own.json", "--variant", "same_start", "--score-only"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment, check=True)
    assert float(done.stdout) == 1.0
