"""Defines the variants of ANLS as rows of a table that specify how to compare strings, and the signature of a score."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Literal, get_args

from anls_metric.core.checks import RowName, check_choice, check_number, describe, name_row
from anls_metric.core.scorer import (
    SCORERS,
    Scorer,
    describe_unknown_scorer,
    get_scorer,
    import_from_package,
    join_signature,
)
from anls_metric.core.strings.explanation import Explanation, explain_texts
from anls_metric.core.strings.kernel import LENGTHS, LIMITS, NORMALIZERS, Kernel, score_columns
from anls_metric.core.strings.rows import as_references, as_text, check_columns

__all__ = ["VARIANTS", "Variant", "get_variant", "signature"]

Whitespace = Literal["squeeze", "strip", "keep", "words"]
Length = Literal["normalized", "normalized upper", "stripped", "stripped upper", "raw", "raw upper"]
Kept = Literal["similarity >= threshold", "similarity > threshold", "distance / length < threshold"]

_NORMALIZATION = "anls_metric.core.strings.normalization", "normalize"
# The fields of a variant that accept only certain values.
_CHOICES: Mapping[str, tuple[object, ...]] = {
    "whitespace": get_args(Whitespace),
    "prediction_length": get_args(Length),
    "reference_length": get_args(Length),
    "kept": get_args(Kept),
    **dict.fromkeys(("ignore_case", "empty_equals_empty", "all_or_nothing"), (True, False)),
}


@dataclass(frozen=True)
class Variant(Scorer):
    """One way to compute ANLS, such as a row of the table `VARIANTS`. Its `signature` identifies the variant.

    Args:
        name: the name of the variant.
        meaning: the special feature of the variant, in one line.
        source: the program or paper that computes it.
        ignore_case: whether strings are lowercased.
        whitespace: ``"squeeze"`` strips the string and turns every run of whitespace into one space, ``"strip"`` only
            strips it, ``"keep"`` changes nothing, and ``"words"`` squeezes and also removes ASCII punctuation and
            articles.
        ignored_ending: characters that are cut from the end of a string after its whitespace has been normalized.
        prediction_length: which length of the prediction is used: "raw" is the length of the string as given,
            "stripped" the length without surrounding whitespace, and "normalized" the length of the string that is
            compared; "raw upper", "stripped upper" and "normalized upper" are these lengths in uppercase. The distance
            is divided by the larger of ``prediction_length`` and ``reference_length``.
        reference_length: which length of the reference is used, as for ``prediction_length``.
        kept: the condition under which a similarity is kept rather than set to 0: "similarity >= threshold",
            "similarity > threshold" or "distance / length < threshold".
        threshold: the default threshold, from 0 to 1, for the similarity or for distance / length, depending on
            ``kept``.
        no_answers: normalized predictions that score 0 against anything.
        empty_equals_empty: whether an empty prediction scores 1 against an empty reference at any threshold.
        all_or_nothing: whether every score above 0 becomes 1.
        aliases: other implementations that produce the same numbers; their names are accepted as well.
        normalize: the comma-separated names of `NORMALIZATIONS` that are first applied to both strings; "" for none.

    Raises:
        ValueError: a field has a value that is not allowed.

    Example:
        >>> VARIANTS["rrc"].prediction_length
        'raw upper'
        >>> from dataclasses import replace
        >>> mine = replace(VARIANTS["standard"], name="mine", whitespace="strip")
        >>> anls_score("Coca  Cola", ["Coca Cola"], variant=mine)
        0.9
    """

    name: str
    meaning: str = ""
    source: str = ""
    ignore_case: bool = True
    whitespace: Whitespace = "squeeze"
    ignored_ending: str = ""
    prediction_length: Length = "normalized"
    reference_length: Length = "normalized"
    kept: Kept = "similarity >= threshold"
    threshold: float = 0.5
    no_answers: tuple[str, ...] = ()
    empty_equals_empty: bool = False
    all_or_nothing: bool = False
    aliases: tuple[str, ...] = ()
    normalize: str = ""

    options = ("threshold", "ignore_case", "normalize")  # not annotated: an attribute of the class rather than a field

    def __post_init__(self) -> None:
        object.__setattr__(self, "threshold", check_number("threshold", self.threshold))
        for field, choices in _CHOICES.items():
            check_choice(field, getattr(self, field), choices)
        if self.normalize:
            rows = import_from_package(*_NORMALIZATION).sort_rows(self.normalize, of_values=False)
            object.__setattr__(self, "normalize", rows)
        if not isinstance(self.no_answers, tuple):  # in a string, each character would be an answer
            raise ValueError(f"no_answers must be a tuple of strings, got {describe(self.no_answers)}")

    def check(
        self, predictions: Iterable[str], references: Iterable[Iterable[str]], row_name: RowName = name_row
    ) -> tuple[list[str], list[Sequence[str]]]:
        """Check the predictions and references, and return both as lists. Raises a ValueError that names the row if a
        row cannot be scored.
        """
        return check_columns(predictions, references, row_name)

    def score(
        self, predictions: Iterable[str], references: Iterable[Iterable[str]], row_name: RowName = name_row
    ) -> list[float]:
        """Score each row. Returns [] if there are no rows. Raises the same ValueError as `check`."""
        return score_columns(predictions, references, compile_kernel(self), row_name)

    def score_checked(
        self, predictions: Iterable[str], references: Iterable[Sequence[str]], row_name: RowName = name_row
    ) -> list[float]:
        """Score rows that have already been checked, given as N strings and N lists of one or more strings."""
        return list(compile_kernel(self).score_rows(zip(predictions, references)))

    def list_alternatives(self) -> Sequence[Scorer]:
        """List all variants."""
        return list(VARIANTS.values())

    @property
    def as_text(self) -> Callable[[str], str]:
        """The function that normalizes a string before it is compared."""
        return compile_kernel(self).normalize

    @property
    def has_edits(self) -> bool:
        """Whether its explanations list the edits that turn the prediction into the closest reference."""
        return True

    @property
    def minimum_similarity(self) -> float:
        """The smallest similarity with which an answer can score above 0. For ``distance / length < threshold``, an
        answer with exactly this similarity may score 0 because of rounding.
        """
        low, high = LIMITS[self.kept](self.threshold)
        return max(low, 1 - high)

    def explain(self, prediction: str, references: Iterable[str]) -> Explanation:
        """Explain the score of an answer. Raises ValueError if the answer cannot be scored."""
        texts = as_text(prediction, "prediction"), as_references(references, "references")
        return explain_texts(*texts, self, compile_kernel(self))

    def signature(self, extract: str = "") -> str:
        """Return the signature of this variant, as described for the function `signature`."""
        default = VARIANTS.get(self.name, VARIANTS["standard"])
        shown = [
            f"{field}:{getattr(self, field)}"
            for field in _SCORING_FIELDS
            if field == "threshold" or getattr(self, field) != getattr(default, field)
        ]
        return join_signature(self.name, *shown, extract=extract)


@lru_cache(maxsize=256)
def compile_kernel(variant: Variant) -> Kernel:
    """Make the kernel of a variant."""
    squeeze = NORMALIZERS[variant.ignore_case, variant.whitespace]
    ending = variant.ignored_ending
    kernel = Kernel(
        (lambda text: squeeze(text).rstrip(ending)) if ending else squeeze,
        LENGTHS[variant.prediction_length],
        LENGTHS[variant.reference_length],
        *LIMITS[variant.kept](variant.threshold),
        frozenset(variant.no_answers),
        variant.empty_equals_empty,
        variant.all_or_nothing,
    )
    if variant.normalize:
        kernel = import_from_package(*_NORMALIZATION).prepare(kernel, variant.normalize)
    return kernel


# Fields that several programs share: the strings and their lengths as given, or the lengths in uppercase.
_AS_GIVEN: dict[str, Any] = {"whitespace": "keep", "prediction_length": "raw", "reference_length": "raw"}
_UPPER: dict[str, Any] = {"prediction_length": "raw upper", "reference_length": "raw upper"}

_TABLE = (
    Variant(
        "standard",
        meaning="case and extra whitespace ignored, a similarity at the threshold passes",
        source="https://arxiv.org/abs/1905.13648",
        aliases=("evalscope", "minicpm_v"),
    ),
    Variant(
        "rrc",
        meaning="the official script of the Robust Reading Competition (RRC), as its leaderboard scores",
        source="https://rrc.cvc.uab.es",
        **_UPPER,
        aliases=("vlmevalkit", "unitxt", "qwen_vl"),
    ),
    Variant(
        "mmpretrain",
        meaning="the official script with normalized references",
        source="https://github.com/open-mmlab/mmpretrain",
        prediction_length="raw upper",
        reference_length="normalized upper",
    ),
    Variant(
        "pypi_anls",
        meaning="PyPI anls 0.0.2: a similarity at the threshold scores 0",
        source="https://github.com/shunk031/ANLS",
        prediction_length="normalized upper",
        reference_length="normalized upper",
        kept="distance / length < threshold",
    ),
    Variant(
        "mistral_evals",
        meaning="no threshold, punctuation at the end ignored",
        source="https://github.com/mistralai/mistral-evals",
        ignored_ending="!\"#$&'()*+,-./:;<=>?@[\\]^_`{|}~ ",  # string.punctuation without %, and the blank
        threshold=0.0,
    ),
    Variant(
        "mp_docvqa",
        meaning="spaces inside a string matter; an empty prediction, or `none`, scores 0",
        source="https://github.com/rubenpt91/MP-DocVQA-Framework",
        whitespace="strip",
        no_answers=("", "none"),
    ),
    Variant(
        "stvqa",
        meaning="the M4C evaluator (in MMF, LLaVA and InternVL): spaces inside a string matter",
        source="https://github.com/OpenGVLab/InternVL",
        whitespace="strip",
        aliases=("moondream", "mini_monkey"),
    ),
    Variant(
        "pix2struct",
        meaning="all whitespace matters, a similarity at the threshold scores 0",
        source="https://github.com/google-research/pix2struct",
        whitespace="keep",
        kept="distance / length < threshold",
        aliases=("docowl15",),
    ),
    Variant(
        "paligemma",
        meaning="like pix2struct, but two empty strings are equal even at threshold 0",
        source="https://github.com/google-research/big_vision",
        whitespace="keep",
        kept="distance / length < threshold",
        empty_equals_empty=True,
    ),
    Variant(
        "molmo",
        meaning="like pix2struct, but divided by the lengths of the original strings",
        source="https://github.com/allenai/molmo",
        **_AS_GIVEN,
        kept="distance / length < threshold",
        aliases=("molmo2", "layoutlmv2"),
    ),
    Variant(
        "due",
        meaning="case and all whitespace matter, a similarity at the threshold scores 0",
        source="https://github.com/due-benchmark/evaluator",
        ignore_case=False,
        **_AS_GIVEN,
        kept="distance / length < threshold",
    ),
    Variant(
        "mmlongbench",
        meaning="case and all whitespace matter, a similarity must be above the threshold",
        source="https://github.com/open-compass/VLMEvalKit",
        ignore_case=False,
        whitespace="keep",
        **_UPPER,
        kept="similarity > threshold",
    ),
    Variant(
        "fast_anls",
        meaning="case and all whitespace matter, a similarity must be above the threshold",
        source="https://notes.penpusher.app/Misc/Speeding+up+Visual+Question+Answering+10x+(Faster+ANLS)",
        ignore_case=False,
        **_AS_GIVEN,
        kept="similarity > threshold",
    ),
    Variant(
        "nls",
        meaning="plain normalized Levenshtein similarity: case and whitespace matter, no threshold",
        source="https://docsaid.org/en/blog/impl-normalized-levenshtein-similarity",
        ignore_case=False,
        **_AS_GIVEN,
        threshold=0.0,
        aliases=("docsaid_nls", "docext"),
    ),
    Variant(
        "lmms_eval",
        meaning="lmms-eval since 0.3.0: like rrc, but predictions are stripped first",
        source="https://github.com/EvolvingLMMs-Lab/lmms-eval",
        prediction_length="stripped upper",
        reference_length="raw upper",
        aliases=("aisbench",),
    ),
    Variant(
        "lmms_eval_0_2",
        meaning="lmms-eval 0.1.0 to 0.2.4: like rrc, but every score above 0 becomes full",
        source="https://github.com/EvolvingLMMs-Lab/lmms-eval/tree/v0.2.4",
        **_UPPER,
        all_or_nothing=True,
    ),
    Variant(
        "openbench",
        meaning="spaces inside a string matter, a similarity at the threshold scores 0",
        source="https://github.com/groq/openbench",
        whitespace="strip",
        kept="distance / length < threshold",
        aliases=("latin_prompt",),
    ),
    Variant(
        "monkey",
        meaning="like stvqa, but divided by the lengths of the stripped prediction and the original reference",
        source="https://github.com/Yuliang-Liu/Monkey",
        whitespace="strip",
        prediction_length="stripped",
        reference_length="raw",
    ),
    Variant(
        "inspect_evals",
        meaning="like molmo, but two empty strings are equal even at threshold 0",
        source="https://github.com/UKGovernmentBEIS/inspect_evals",
        **_AS_GIVEN,
        kept="distance / length < threshold",
        empty_equals_empty=True,
    ),
    Variant(
        "layoutlmv3_docvqa",
        meaning="like molmo, but an empty prediction scores 0",
        source="https://github.com/allanj/LayoutLMv3-DocVQA",
        **_AS_GIVEN,
        kept="distance / length < threshold",
        no_answers=("",),
    ),
    Variant(
        "florence2",
        meaning="Florence-2 fine-tuning: like due, but an empty prediction scores 0",
        source="https://github.com/andimarafioti/florence2-finetuning/blob/main/metrics.py",
        ignore_case=False,
        **_AS_GIVEN,
        kept="distance / length < threshold",
        no_answers=("",),
    ),
    Variant(
        "lmms_eval_slidevqa",
        meaning="lmms-eval's SlideVQA: all whitespace matters, a similarity must be above the threshold",
        source="https://github.com/EvolvingLMMs-Lab/lmms-eval/blob/main/lmms_eval/tasks/slidevqa/utils.py",
        whitespace="keep",
        kept="similarity > threshold",
        no_answers=("",),
    ),
    Variant(
        "squad_anls",
        meaning="normalized as by SQuAD: without ASCII punctuation and the articles a, an and the",
        source="https://rajpurkar.github.io/SQuAD-explorer",
        whitespace="words",
    ),
    Variant(
        "vlmevalkit_dude",
        meaning="VLMEvalKit's DUDE and SlideVQA: all whitespace matters, a similarity must be above the threshold",
        source="https://github.com/open-compass/VLMEvalKit/blob/main/vlmeval/dataset/dude.py",
        whitespace="keep",
        prediction_length="normalized upper",
        reference_length="normalized upper",
        kept="similarity > threshold",
    ),
    Variant(
        "vlmevalkit_mmlongbench",
        meaning="VLMEvalKit's MMLongBench since 2026: like mmlongbench, but no threshold",
        source="https://github.com/open-compass/VLMEvalKit/blob/main/vlmeval/dataset/utils/mmlongbench_metrics.py",
        ignore_case=False,
        whitespace="keep",
        **_UPPER,
        kept="similarity > threshold",
        threshold=0.0,
    ),
)
VARIANTS: Mapping[str, Variant] = MappingProxyType({variant.name: variant for variant in _TABLE})
NAMES: Mapping[str, Variant] = {name: variant for variant in _TABLE for name in (variant.name, *variant.aliases)}
"""The variants, keyed by name and by alias."""

# The fields that determine the score; the other fields describe the variant.
_SCORING_FIELDS = [
    field.name for field in fields(Variant) if field.name not in ("name", "meaning", "source", "aliases")
]


def get_variant(
    variant: str | Variant = "standard", threshold: float | None = None, ignore_case: bool | None = None
) -> Variant:
    """Return the variant with the given name, with any given options in place of its own.

    Every function that takes ``variant``, ``threshold`` and ``ignore_case`` passes them to this function.

    The similarity is compared with the threshold in floating point, as 1 - distance / length. The published programs do
    the same, so their scores are reproduced exactly at every threshold. If the variant keeps exact ties, it does so
    reliably at 0.25, 0.5 and 0.75. At other thresholds, rounding may decide: 4 edits on 5 characters yield the
    similarity 0.19999999999999996, which the threshold 0.2 does not keep. If a program has a fixed threshold, its
    variant compares other thresholds in the same way. The variants that compare distance / length never keep a tie.

    Args:
        variant: a name in `VARIANTS`, an alias of a variant, or a `Variant`.
        threshold: a number from 0 to 1, which is, depending on the variant, the smallest similarity that is kept, the
            similarity above which a similarity is kept, or the distance / length below which a similarity is kept; None
            takes the variant's threshold, which is 0.5 for most.
        ignore_case: whether strings are lowercased; None follows the variant.

    Returns:
        A `Variant`, which every function with the argument ``variant`` accepts in place of a name.

    Raises:
        ValueError: the variant is unknown, the threshold is not a number from 0 to 1, or ``ignore_case`` is neither
            True nor False.

    Example:
        >>> get_variant("unitxt", threshold=0.8).name
        'rrc'
    """
    if isinstance(variant, str):
        known = SCORERS.get(variant)
        if not isinstance(known, Variant):
            raise ValueError(_describe_other(variant))
        variant = known
    elif not isinstance(variant, Variant):
        if not vars(type(variant)).get("__dataclass_fields__", {}).keys() >= {*_SCORING_FIELDS}:
            names = ", ".join(VARIANTS)
            raise ValueError(f"variant is {describe(variant)}: pass a Variant or one of the names {names}")
        variant = Variant(**vars(variant))  # evaluate.load imports a copy of this file, which has its own class
    found: Any = get_scorer(variant, threshold=threshold, ignore_case=ignore_case)
    return found  # type: ignore[no-any-return]


def _describe_other(name: str) -> str:
    """Explain that a name is not a string variant, and suggest the call for another metric or a similar name."""
    scorer = SCORERS.get(name)
    if scorer is None:
        return describe_unknown_scorer(name)
    what = "is for structured answers" if scorer.reads_json else "is not a variant of ANLS"
    what = "needs more than predictions and references" if scorer.columns else what
    return f'{name} {what}: score with get_scorer("{name}"), or with score(..., variant="{name}")'


def signature(
    variant: str | Scorer = "standard",
    threshold: float | None = None,
    ignore_case: bool | None = None,
    extract: str = "",
) -> str:
    """Return a short string that describes how a score was computed, to be printed next to the score and reported with
    it.

    Args:
        variant: the name of a variant or of any other metric, or a `Scorer`.
        threshold, ignore_case: as in `get_variant`; None for a metric that has no such option.
        extract: the names of the rules that extracted the answers from a model's output; "" for none.

    Returns:
        ``anls|VARIANT|FIELD:VALUE|...|threshold:VALUE|extract:RULES|vVERSION``, with every field that differs from
        the named variant. VERSION is the version of the scores, `SCORES_VERSION`.

    Raises:
        ValueError: the variant is unknown, it has no such option, or the threshold is outside [0, 1].

    Example:
        >>> signature()
        'anls|standard|threshold:0.5|v2'
        >>> signature("unitxt", ignore_case=False)
        'anls|rrc|ignore_case:False|threshold:0.5|v2'

    Source: the signatures of sacreBLEU, https://aclanthology.org/W18-6319.
    """
    return get_scorer(variant, threshold=threshold, ignore_case=ignore_case).signature(extract)
