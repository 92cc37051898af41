# Made from anls.py by `python -m tests.core.stubs`: change it there.
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple
__version__: str
__all__ = ['VARIANTS', 'Edit', 'Explanation', 'Match', 'Variant', 'anls_batch', 'anls_score', 'anls_scores', 'answer_in_tags', 'as_column', 'as_references', 'as_text', 'build_compute_metrics', 'build_reward', 'explain', 'get_variant', 'iter_anls_scores', 'load', 'mean', 'normalized_levenshtein_similarity', 'preprocess_logits_for_metrics', 'reason', 'scores_and_similarities', 'shown', 'signature']
Whitespace = Literal['squeeze', 'strip', 'keep']
Length = Literal['normalized', 'normalized upper', 'stripped', 'stripped upper', 'raw', 'raw upper']
Kept = Literal['similarity >= threshold', 'similarity > threshold', 'distance / length < threshold']
Reason = Literal['equal', 'close enough', 'under the threshold', 'nothing in common', 'empty']

@dataclass(frozen=True)
class Variant:
    name: str
    meaning: str = ...
    source: str = ...
    ignore_case: bool = ...
    whitespace: Whitespace = ...
    ignored_ending: str = ...
    prediction_length: Length = ...
    reference_length: Length = ...
    kept: Kept = ...
    threshold: float = ...
    no_answers: tuple[str, ...] = ...
    empty_equals_empty: bool = ...
    all_or_nothing: bool = ...
    aliases: tuple[str, ...] = ...
VARIANTS: Mapping[str, Variant]

def get_variant(variant: str | Variant='standard', threshold: float | None=None, ignore_case: bool | None=None) -> Variant:
    ...

def signature(variant: str | Variant='standard', threshold: float | None=None, ignore_case: bool | None=None) -> str:
    ...

def shown(value: object) -> str:
    ...

def as_text(value: object, what: str) -> str:
    ...

def as_references(value: Any, what: str) -> Sequence[str]:
    ...

def as_column(column: Any, what: str, advice: str='pass a list', most: int | None=None) -> list[Any]:
    ...

def anls_score(prediction: str, gold_labels: Iterable[str], threshold: float | None=None, variant: str | Variant='standard', ignore_case: bool | None=None) -> float:
    ...

def anls_scores(predictions: Iterable[str], references: Iterable[Iterable[str]], threshold: float | None=None, variant: str | Variant='standard', ignore_case: bool | None=None) -> list[float]:
    ...

def scores_and_similarities(predictions: Iterable[str], references: Iterable[Iterable[str]], threshold: float | None=None, variant: str | Variant='standard', ignore_case: bool | None=None) -> tuple[list[float], list[float]]:
    ...

def iter_anls_scores(rows: Iterable[tuple[str, Iterable[str]]], threshold: float | None=None, variant: str | Variant='standard', ignore_case: bool | None=None) -> Iterator[float]:
    ...

def anls_batch(batch: Mapping[str, Any], indices: Sequence[object] | None=None, prediction_column: str='prediction', references_column: str='references', score_column: str='anls', threshold: float | None=None, variant: str | Variant='standard', ignore_case: bool | None=None) -> dict[str, list[float]]:
    ...

def mean(scores: Iterable[float]) -> float:
    ...

def normalized_levenshtein_similarity(prediction: str, reference: str, variant: str | Variant='standard', ignore_case: bool | None=None) -> float:
    ...

class Edit(NamedTuple):
    operation: str
    prediction: str
    reference: str

@dataclass(frozen=True)
class Match:
    reference: str
    normalized_prediction: str
    normalized_reference: str
    distance: int
    length: int

    @property
    def ratio(self) -> float:
        ...

    @property
    def similarity(self) -> float:
        ...

    @property
    def edits(self) -> tuple[Edit, ...]:
        ...

@dataclass(frozen=True)
class Explanation:
    prediction: str
    normalized_prediction: str
    matches: tuple[Match, ...]
    winner: int
    score: float
    reason: Reason
    variant: Variant

    @property
    def best(self) -> Match:
        ...

    @property
    def signature(self) -> str:
        ...

def reason(prediction: str, score: float, threshold: float | None=None, variant: str | Variant='standard', ignore_case: bool | None=None) -> Reason:
    ...

def explain(prediction: str, references: Iterable[str], threshold: float | None=None, variant: str | Variant='standard', ignore_case: bool | None=None) -> Explanation:
    ...

def build_compute_metrics(tokenizer: Any, references: Any=None, *, causal: bool=False, threshold: float | None=None, variant: str | Variant='standard', ignore_case: bool | None=None) -> Callable[..., dict[str, float]]:
    ...

def preprocess_logits_for_metrics(logits: Any, labels: Any, causal: bool=False) -> Any:
    ...

def build_reward(references_column: str='answers', extract: Callable[[str], str | None] | None=None, *, threshold: float | None=None, variant: str | Variant='standard', ignore_case: bool | None=None) -> Callable[..., list[float | None]]:
    ...

def answer_in_tags(text: str, tag: str='answer') -> str:
    ...
from evaluate import Metric as _Base

def load(**kwargs: Any) -> Anls:
    ...

class _AnlsBehaviour(_Base):

    def __init__(self, config_name: str | None=None, *, variant: str | Variant | None=None, threshold: float | None=None, ignore_case: bool | None=None, **kwargs: Any) -> None:
        ...

    def __len__(self) -> int:
        ...

    def signature(self, variant: str | Variant | None=None, threshold: float | None=None, ignore_case: bool | None=None) -> str:
        ...

    def build_compute_metrics(self, tokenizer: Any, references: Any=None, *, causal: bool=False, **options: Any) -> Callable[..., dict[str, float]]:
        ...

    def build_reward(self, references_column: str='answers', extract: Callable[[str], str | None] | None=None, **options: Any) -> Callable[..., list[float | None]]:
        ...
    preprocess_logits_for_metrics = staticmethod(preprocess_logits_for_metrics)
    answer_in_tags = staticmethod(answer_in_tags)

    def add(self, *, prediction: Any=None, reference: Any=None, **columns: Any) -> None:
        ...

    def add_batch(self, *, predictions: Any=None, references: Any=None, **unknown: Any) -> None:
        ...

    def compute(self, *, predictions: Any=None, references: Any=None, variant: str | Variant | None=None, threshold: float | None=None, ignore_case: bool | None=None, return_all_scores: bool=False, **unknown: Any) -> Any:
        ...

    @property
    def timeout(self) -> float:
        ...

    @timeout.setter
    def timeout(self, seconds: float) -> None:
        ...
Anls = _AnlsBehaviour
