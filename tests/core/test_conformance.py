"""Every score of a published implementation is reproduced to the bit, at every threshold."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest

import anls_metric
from anls_metric.core.strings.kernel import LENGTHS, LIMITS, NORMALIZERS
from anls_metric.core.strings.variants import Kept, Length, Whitespace
from anls_metric.core.version import SCORES_VERSION
from tests.conftest import CONFORMANCE, DATA, ROOT

# A golden file whose name is not that of its variant -> the variant. The vectors `lmms_eval` come from the scoring
# function only, and `evalscope` from versions before 1.14.
VARIANT_OF = {
    "vectors/anls_star": "standard",
    "vectors/dude": "rrc",
    "vectors/evalscope": "rrc",
    "vectors/lmms_eval": "rrc",
    "implementations/docowl2_mpdocvqa": "rrc",
    "implementations/eagle_m4c": "stvqa",
    "implementations/herobd_layoutlmv2": "layoutlmv2",
    "implementations/layoutlmv3_docvqa_allanj": "layoutlmv3_docvqa",
    "implementations/lmms_eval_dude": "standard",
    "implementations/lmms_eval_multidocvqa": "stvqa",
    "implementations/lmms_eval_now": "lmms_eval",
    "implementations/lmms_eval_v01_v024": "lmms_eval_0_2",
    "implementations/nanonets_docext": "docext",
    "implementations/vlmevalkit_dude_slidevqa": "vlmevalkit_dude",
    "implementations/vlmevalkit_mmlongbench2026": "vlmevalkit_mmlongbench",
}

# A program that no row of the table reproduces -> a case that shows it: its name, the original score, and `standard`.
NO_ROW = {
    "implementations/dessurt": ("case-002", 0.0, 1.0),  # only the references are lower-cased
    "implementations/idefics_m4": ("punct-008", 0.0, 1.0),  # the two sides are normalized differently
    "implementations/ocrbench_v2.vqa_evaluation": ("boundary-013", 1.0, 0.5),  # a short answer counts where it stands
}

GOLDEN = sorted(
    path.relative_to(CONFORMANCE).with_suffix("").as_posix()
    for folder in ("vectors", "implementations")
    for path in (CONFORMANCE / folder).glob("*.json")
    if path.name != "cases.json"
)
REPRODUCED = [name for name in GOLDEN if name not in NO_ROW]

# Its edit distance is a beam search, wrong for texts of very different lengths (tests/data/conformance/README.md).
KNOWN_WRONG = {("vectors/docsaid_nls", "long-003")}

# These programs report scores from 0 to 100.
TIMES_100 = {"vectors/pix2struct", "implementations/docowl15"}


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


CASES: dict[str, dict[str, Any]] = {
    case["id"]: case for folder in (".", "implementations") for case in read(CONFORMANCE / folder / "cases.json")
}


def read_golden(name: str) -> dict[str, Any]:
    vector: dict[str, Any] = read(CONFORMANCE / f"{name}.json")
    return vector


def get_variant_name(name: str) -> str:
    return VARIANT_OF.get(name, name.rpartition("/")[2])


def is_same_score(name: str, ours: float, theirs: float) -> bool:
    if name in TIMES_100:
        return 100.0 * ours == theirs
    if name == "vectors/docsaid_nls":  # computes in float32
        return abs(ours - theirs) < 1e-6
    return ours == theirs


def select_scores(scores: dict[str, Any]) -> dict[str, float]:
    """Select the scores of rows with references on which the original did not crash ({"error": ...})."""
    return {key: score for key, score in scores.items() if isinstance(score, (int, float)) and CASES[key]["references"]}


def test_each_value_of_a_field_is_computed_and_described() -> None:
    assert {whitespace for _, whitespace in NORMALIZERS} == {*get_args(Whitespace)}
    assert len(NORMALIZERS) == 2 * len(get_args(Whitespace)), "both cases"
    assert ({*LENGTHS}, {*LIMITS}) == ({*get_args(Length)}, {*get_args(Kept)})
    page = (ROOT / "docs/variants.md").read_text(encoding="utf-8")
    lengths = {name.removesuffix(" upper") for name in LENGTHS}
    missing = [name for name in get_args(Whitespace) if f"`{name}`" not in page]
    assert not missing + [name for name in lengths if f"*{name}*" not in page]
    described = str(anls_metric.Variant.__doc__)
    assert not [name for name in (*get_args(Whitespace), *lengths) if f'"{name}"' not in described]


def find_differences(
    name: str, anls_scores: Callable[..., list[float]]
) -> list[tuple[float | None, str, float, float]]:
    """Find the differences of a function from a golden file: threshold, case, golden score and its score."""
    vector = read_golden(name)
    tables: dict[float | None, Any] = {None: vector["scores"]}
    tables |= {float(text): scores for text, scores in (vector.get("scores_by_threshold") or {}).items()}
    compared, different = 0, []
    for threshold, scores in tables.items():
        theirs = select_scores(scores)
        ours = anls_scores(
            [CASES[key]["prediction"] for key in theirs],
            [CASES[key]["references"] for key in theirs],
            threshold=threshold,
            variant=get_variant_name(name),
        )
        for (key, expected), score in zip(theirs.items(), ours, strict=True):
            compared += 1
            if not is_same_score(name, score, expected) and (name, key) not in KNOWN_WRONG:
                different.append((threshold, key, expected, score))
    assert compared >= 80
    return different


@pytest.mark.parametrize("name", REPRODUCED)
def test_anls_scores_reproduces_every_golden_score(name: str) -> None:
    assert find_differences(name, anls_metric.anls_scores) == []
    for key, score in read_golden(name)["scores"].items():
        if isinstance(score, dict) and CASES[key]["references"]:  # the original crashed
            prediction, references = CASES[key]["prediction"], CASES[key]["references"]
            assert 0 <= anls_metric.anls_score(prediction, references, variant=get_variant_name(name)) <= 1


@pytest.mark.parametrize("name", NO_ROW)
def test_listed_programs_are_reproduced_by_no_variant(name: str) -> None:
    """The documentation describes these programs. Remove a program from the list when a variant reproduces it."""
    theirs = select_scores(read_golden(name)["scores"])
    predictions = [CASES[key]["prediction"] for key in theirs]
    references = [CASES[key]["references"] for key in theirs]
    for variant in anls_metric.VARIANTS:
        assert anls_metric.anls_scores(predictions, references, variant=variant) != list(theirs.values())
    key, score, standard = NO_ROW[name]
    assert theirs[key] == score
    assert anls_metric.anls_score(CASES[key]["prediction"], CASES[key]["references"]) == standard


@pytest.mark.parametrize("variant", anls_metric.VARIANTS)
@pytest.mark.parametrize("threshold", [None, 0.0, 0.3, 0.5, 0.8, 1.0])
def test_anls_score_anls_scores_and_explain_give_the_same_bits(variant: str, threshold: float | None) -> None:
    rows = [(case["prediction"], case["references"]) for case in CASES.values() if case["references"]]
    predictions, references = [row[0] for row in rows], [row[1] for row in rows]
    batch = anls_metric.anls_scores(predictions, references, threshold, variant)
    explained = [anls_metric.explain(*row, threshold=threshold, variant=variant) for row in rows]
    assert batch == [anls_metric.anls_score(*row, threshold=threshold, variant=variant) for row in rows]
    assert batch == [why.score for why in explained]


def test_every_variant_has_a_golden_file() -> None:
    assert {anls_metric.get_variant(get_variant_name(name)).name for name in REPRODUCED} == set(anls_metric.VARIANTS)
    assert set(VARIANT_OF) | set(NO_ROW) <= set(GOLDEN)


def test_version_of_signatures_changes_when_golden_scores_change() -> None:
    """`scores_version.json` holds the hash of each golden file. For a new file, add its hash.

    If a hash differs because a score was corrected, raise `SCORES_VERSION`, write it and the hash into that file, and
    name the score in CHANGELOG.md.
    """
    recorded = read(DATA / "scores_version.json")
    folders = ("conformance", "family", "rules")
    found = {
        path.relative_to(DATA).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for folder in folders
        for path in sorted((DATA / folder).rglob("*.json"))
    }
    assert (SCORES_VERSION, found) == (recorded["scores_version"], recorded["sha256"])
