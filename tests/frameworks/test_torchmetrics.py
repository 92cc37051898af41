"""The metrics for torchmetrics, in all uses by torchmetrics. Every value is also computed without torch.

All texts are made up.
"""

from __future__ import annotations

import math
import pickle
import random
import runpy
from collections.abc import Callable, Iterator
from copy import deepcopy
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

import anls_metric
from tests.conftest import ROOT, fuzzed_rows
from tests.frameworks.hostile import ODD, quick, trees

torch = pytest.importorskip("torch", reason="the extra `torch` is not installed")
torchmetrics = pytest.importorskip("torchmetrics", reason="the extra `torch` is not installed")

from torchmetrics.functional.text import edit_distance  # noqa: E402

from anls_metric.torchmetrics import ANLS, NormalizedLevenshteinSimilarity  # noqa: E402

PREDS, TARGET = ["rain", "lnaguaeg"], ["shine", "language"]
ROWS = fuzzed_rows(600, seed=5)
ANSWERS, ACCEPTED = [row[0] for row in ROWS], [row[1] for row in ROWS]
REDUCTIONS: list[Any] = ["mean", "sum", "none", None]
SCRIPT = ROOT / "examples" / "train_with_torchmetrics.py"


@pytest.fixture(scope="module", autouse=True)
def _single_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def compute_textbook_distance(prediction: str, reference: str, substitution_cost: int) -> int:
    """Compute the edit distance with the whole table."""
    row = list(range(len(reference) + 1))
    for deleted, left in enumerate(prediction, 1):
        above, row = row, [deleted]
        for place, right in enumerate(reference):
            replaced = above[place] + (0 if left == right else substitution_cost)
            row.append(min(above[place + 1] + 1, row[place] + 1, replaced))
    return row[-1]


def compute_textbook_similarity(prediction: str, reference: str, substitution_cost: int = 1) -> float:
    length = max(len(prediction), len(reference))
    return 1 - compute_textbook_distance(prediction, reference, substitution_cost) / length if length else 1.0


def are_equal(left: Any, right: Any) -> bool:
    """Whether two tensors are equal to the bit, with the same dtype and shape."""
    return bool(left.dtype == right.dtype and left.shape == right.shape and torch.equal(left, right))


def add_in_batches(metric: Any, preds: list[str], target: list[Any], size: int) -> Any:
    for start in range(0, len(preds), size):
        metric.update(preds[start : start + size], target[start : start + size])
    return metric


# Values


@pytest.mark.parametrize(("reduction", "expected"), [("none", [0.4, 0.5]), (None, [0.4, 0.5]), ("mean", 0.45)])
def test_similarity_gives_the_numbers_of_its_source(reduction: Any, expected: Any) -> None:
    metric = NormalizedLevenshteinSimilarity(reduction=reduction)
    assert are_equal(metric(PREDS, TARGET), torch.tensor(expected))
    assert are_equal(metric.compute(), torch.tensor(expected))
    assert str(metric.compute()) == {"mean": "tensor(0.4500)"}.get(reduction, "tensor([0.4000, 0.5000])")


def test_reduction_sum_adds_the_similarities() -> None:
    assert are_equal(NormalizedLevenshteinSimilarity(reduction="sum")(PREDS, TARGET), torch.tensor(0.9))


def test_single_string_is_one_sample() -> None:
    metric = NormalizedLevenshteinSimilarity()
    for preds, target in [("rain", "shine"), (["rain"], ["shine"]), ("rain", ["shine"]), (["rain"], "shine")]:
        assert are_equal(metric(preds, target), torch.tensor(0.4))
    score = torch.tensor(anls_metric.anls_score("CocaCola", ["Coca Cola"]))
    several = ["x", "Coca Cola"]
    anls = ANLS()
    for preds, target in [("CocaCola", "Coca Cola"), (["CocaCola"], "Coca Cola"), ("CocaCola", several)]:
        assert are_equal(anls(preds, target), score)
    assert are_equal(anls(["CocaCola"], [several]), score)
    assert are_equal(anls(("CocaCola",), (tuple(several),)), score)


def test_similarity_counts_case_takes_empty_texts_for_equal_and_has_no_threshold() -> None:
    metric = NormalizedLevenshteinSimilarity(reduction="none")
    values = metric(["Rain", "", "", "abcd", "ab"], ["rain", "", "a", "axyz", "xy"])
    assert are_equal(values, torch.tensor([0.75, 1.0, 0.0, 0.25, 0.0]))


@pytest.mark.parametrize("cost", [0, 1, 2, 3, 2**70])
def test_substitution_cost_gives_the_textbook_similarity(cost: int) -> None:
    pairs = [(row[0], row[1][0]) for row in ROWS[:200]] + [("", ""), ("a", "b"), ("abc", "xyz")]
    metric = NormalizedLevenshteinSimilarity(substitution_cost=cost, reduction="none")
    values = metric([pair[0] for pair in pairs], [pair[1] for pair in pairs])
    assert are_equal(values, torch.tensor([compute_textbook_similarity(*pair, cost) for pair in pairs]))
    assert values.min() >= (0 if cost < 2 else -1)
    assert (values.min() == -1) == (cost > 1)


def test_similarity_is_exact_where_edit_distance_of_torchmetrics_is_not() -> None:
    chance = random.Random(0)
    metric = NormalizedLevenshteinSimilarity()
    wrong = 0
    for _ in range(40):  # an answer, and the same one after some words
        answer = "".join(chance.choices("abcdefghij", k=chance.randint(20, 60)))
        pair = answer, "-" * chance.randint(20, 40) + answer
        assert are_equal(metric(*pair), torch.tensor(compute_textbook_similarity(*pair)))
        wrong += int(edit_distance(*pair)) != compute_textbook_distance(*pair, 1)
    assert wrong > 10


@pytest.mark.parametrize("name", anls_metric.VARIANTS)
def test_anls_gives_the_scores_of_every_variant(name: str) -> None:
    scores = anls_metric.anls_scores(ANSWERS, ACCEPTED, variant=name)
    each = add_in_batches(ANLS(name, reduction="none"), ANSWERS, ACCEPTED, 70)
    assert are_equal(each.compute(), torch.tensor(scores))
    assert are_equal(
        add_in_batches(ANLS(name), ANSWERS, ACCEPTED, 70).compute(), torch.tensor(anls_metric.mean(scores))
    )
    total = add_in_batches(ANLS(name, reduction="sum"), ANSWERS, ACCEPTED, 70)
    assert are_equal(total.compute(), torch.tensor(math.fsum(scores)))


def test_anls_takes_the_options_of_the_functions_and_names_them_in_its_signature() -> None:
    options: dict[str, Any] = {"variant": "lmms_eval", "threshold": 0.8, "ignore_case": False}
    metric = ANLS(**options)
    assert metric.signature() == anls_metric.signature(**options)
    assert are_equal(
        metric(ANSWERS, ACCEPTED), torch.tensor(anls_metric.mean(anls_metric.anls_scores(ANSWERS, ACCEPTED, **options)))
    )
    own = anls_metric.Variant("own", whitespace="strip")
    assert are_equal(ANLS(own)("Coca  Cola", "Coca Cola"), torch.tensor(0.9))


def test_columns_may_be_arrays_and_iterators() -> None:
    numpy = pytest.importorskip("numpy")
    preds, target = numpy.array(PREDS), numpy.array(TARGET)
    for metric in (NormalizedLevenshteinSimilarity(), ANLS("nls")):
        assert are_equal(metric(preds, target), torch.tensor(0.45))
        assert are_equal(metric(iter(PREDS), iter(TARGET)), torch.tensor(0.45))


@pytest.mark.parametrize("kind", [set, frozenset])
def test_accepted_answers_may_be_a_set_and_rows_may_not(kind: Callable[[Any], Any]) -> None:
    """The order of accepted answers does not matter; the order of rows does."""
    metric = ANLS(reduction="none")
    accepted = [kind({"Coca Cola", "Coke"}), ["x"]]
    assert are_equal(metric(["CocaCola", "x"], accepted), torch.tensor([8 / 9, 1.0]))
    assert are_equal(metric("CocaCola", accepted[0]), torch.tensor(8 / 9))
    for rows in [(["a", "b"], kind({"a", "b"})), (kind({"a", "b"}), ["a", "b"])]:
        with pytest.raises(ValueError, match=r"set\)"):
            metric(*rows)


# Uses by torchmetrics


@pytest.mark.parametrize("make", [ANLS, NormalizedLevenshteinSimilarity])
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_forward_returns_the_value_of_its_batch_and_compute_that_of_all(make: Any, reduction: Any) -> None:
    first, second = (["a", "ab"], ["a", "ac"]), (["abc", "d", "e"], ["abd", "x", "e"])
    metric, other = make(reduction=reduction), make(reduction=reduction)
    other.update(*second)
    metric(*first)
    assert are_equal(metric(*second), other.compute())
    assert metric.update_count == 2
    together = make(reduction=reduction)
    together.update(first[0] + second[0], first[1] + second[1])
    assert are_equal(metric.compute(), together.compute())
    on_step = make(reduction=reduction, dist_sync_on_step=True)  # the other code path of torchmetrics' `forward`
    on_step(*first)
    assert are_equal(on_step(*second), other.compute())
    assert are_equal(on_step.compute(), together.compute())
    metric.reset()
    metric.update(*second)
    assert are_equal(metric.compute(), other.compute())


@pytest.mark.parametrize("make", [ANLS, NormalizedLevenshteinSimilarity])
def test_value_without_samples_is_0_or_an_empty_tensor(make: Any) -> None:
    for reduction in REDUCTIONS:
        expected = torch.tensor(0.0) if reduction in ("mean", "sum") else torch.tensor([])
        metric = make(reduction=reduction)
        with pytest.warns(UserWarning, match="was called before the ``update`` method"):
            assert are_equal(metric.compute(), expected)
        assert are_equal(metric([], []), expected)
        metric.update([], [])
        assert are_equal(metric.compute(), expected)
        metric.update(["a", "b"], ["a", "x"])
        assert metric.compute().sum() == {"mean": 0.5}.get(reduction, 1.0)


def test_class_attributes_and_plot_bounds() -> None:
    for metric in (ANLS(), NormalizedLevenshteinSimilarity()):
        assert (metric.is_differentiable, metric.higher_is_better, metric.full_state_update) == (False, True, False)
        assert (metric.plot_lower_bound, metric.plot_upper_bound) == (0, 1)
    assert NormalizedLevenshteinSimilarity(2).plot_lower_bound == -1
    assert ANLS(reduction="sum").plot_upper_bound is None


def test_collection_keeps_metrics_apart_that_agree_on_the_first_batch() -> None:
    """A collection merges metrics whose states are equal after the first batch."""
    metrics = torchmetrics.MetricCollection(
        {
            "standard": ANLS(),
            "rrc": ANLS("rrc"),
            "strict": ANLS(threshold=0.8),
            "total": ANLS(reduction="sum"),
            "nls": NormalizedLevenshteinSimilarity(),
            "indel": NormalizedLevenshteinSimilarity(substitution_cost=2),
        },
        prefix="test_",
    )
    batches = [(["a", "b"], ["a", "x"]), (["Colo   ", "Color"], ["cola", "colour"]), (["abcd"], ["axcd"])]
    preds, target = [p for batch in batches for p in batch[0]], [t for batch in batches for t in batch[1]]

    def scores(**options: Any) -> list[float]:
        return anls_metric.anls_scores(preds, target, **options)

    indel = [compute_textbook_similarity(*pair, 2) for pair in zip(preds, target)]
    expected = {
        "test_standard": anls_metric.mean(scores()),
        "test_rrc": anls_metric.mean(scores(variant="rrc")),
        "test_strict": anls_metric.mean(scores(threshold=0.8)),
        "test_total": math.fsum(scores()),
        "test_nls": anls_metric.mean(scores(variant="nls")),
        "test_indel": anls_metric.mean(indel),
    }
    assert len(set(expected.values())) == len(expected)
    for batch in batches:
        metrics.update(*batch)
    assert metrics.compute() == {name: torch.tensor(value) for name, value in expected.items()}
    assert metrics.compute() == {name: torch.tensor(value) for name, value in expected.items()}
    again = metrics.clone(prefix="again_")
    again.reset()
    for preds_of_batch, target_of_batch in batches:
        again(preds=preds_of_batch, target=target_of_batch)
    assert again.compute() == {name.replace("test_", "again_"): value for name, value in metrics.compute().items()}


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("copy", [lambda metric: metric.clone(), lambda metric: pickle.loads(pickle.dumps(metric))])
def test_clones_and_pickled_copies_count_on_their_own(copy: Callable[[Any], Any], reduction: Any) -> None:
    for metric in (ANLS("rrc", reduction=reduction), NormalizedLevenshteinSimilarity(2, reduction=reduction)):
        metric.update(PREDS, TARGET)
        before = metric.compute()
        other = copy(metric)
        other.update(["a"], ["a"])
        assert not torch.equal(other.compute(), before)
        assert are_equal(metric.compute(), before)
        metric.update(["a"], ["a"])
        assert are_equal(other.compute(), metric.compute())


class Model(torch.nn.Module):  # type: ignore[misc, name-defined]
    """A model that holds a metric, like models of Lightning."""

    def __init__(self, metric: Any) -> None:
        super().__init__()
        self.metric = metric

    def forward(self, x):
        return 2 * x


@pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning", "ignore:This property:DeprecationWarning")
@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("make", [ANLS, NormalizedLevenshteinSimilarity])
def test_metrics_pass_what_the_tester_of_torchmetrics_asks(make: Any, reduction: Any) -> None:
    """Script, clone, pickle, copy and hash each metric, before and after batches, and compare.

    Source: `_class_test` of https://github.com/Lightning-AI/torchmetrics, tests/unittests/_helpers/testers.py.
    """
    batches = [(PREDS, TARGET), (["a", "ab"], ["a", "ac"])]
    metric, whole = make(reduction=reduction), make(reduction=reduction)
    whole.update([*PREDS, "a", "ab"], [*TARGET, "a", "ac"])
    for constant in ("is_differentiable", "higher_is_better", "full_state_update"):
        with pytest.raises(RuntimeError, match="Can't change const"):
            setattr(metric, constant, True)
    assert not metric.state_dict()
    for copy in (metric.clone(), pickle.loads(pickle.dumps(metric)), deepcopy(metric)):
        assert type(copy) is make
        for batch in batches:
            torch.jit.script(copy)
            alone = make(reduction=reduction)
            alone.update(*batch)
            assert are_equal(copy(*batch), alone.compute())
            assert not copy(*batch).requires_grad
            copy.update(*batch)
        assert hash(copy) != hash(metric)
        assert not copy.state_dict()
        copy.reset()
        for batch in batches:
            copy.update(*batch)
        assert are_equal(copy.compute(), whole.compute())


@pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning", "ignore:This property:DeprecationWarning")
@pytest.mark.parametrize("make", [ANLS, NormalizedLevenshteinSimilarity])
def test_model_that_holds_a_metric_can_be_scripted(make: Any, tmp_path: Path) -> None:
    model = Model(make())
    torch.jit.save(torch.jit.script(model), tmp_path / "model.pt")
    assert torch.jit.load(tmp_path / "model.pt")(torch.ones(1)) == 2
    assert model.metric(PREDS, TARGET) > 0
    torch.jit.script(model)


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_state_dict_restores_a_metric_of_the_same_variant_only(reduction: Any, tmp_path: Path) -> None:
    metric = ANLS(reduction=reduction)
    metric.update(ANSWERS, ACCEPTED)
    assert not metric.state_dict()
    metric.persistent(True)
    torch.save(torch.nn.ModuleDict({"anls": metric}).state_dict(), tmp_path / "state.pt")
    other = ANLS(reduction=reduction)
    torch.nn.ModuleDict({"anls": other}).load_state_dict(torch.load(tmp_path / "state.pt"))
    for each in (metric, other):
        each.update(PREDS, TARGET)
    assert are_equal(other.compute(), metric.compute())
    with pytest.raises(RuntimeError, match=r"Unexpected key.*anls\|standard"):
        ANLS("rrc", reduction=reduction).load_state_dict(metric.state_dict())


def test_merge_state_gives_the_mean_of_both() -> None:
    left, right = ANLS(), ANLS()
    if not hasattr(left, "merge_state"):
        pytest.skip("torchmetrics merges states from version 1.6 on")
    left.update(ANSWERS[:400], ACCEPTED[:400])
    right.update(ANSWERS[400:], ACCEPTED[400:])
    left.merge_state(right)
    assert are_equal(left.compute(), torch.tensor(anls_metric.mean(anls_metric.anls_scores(ANSWERS, ACCEPTED))))


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_dtype_changes_the_value_and_not_the_sums(reduction: Any) -> None:
    scores = anls_metric.anls_scores(ANSWERS, ACCEPTED)
    expected: Any = {"mean": anls_metric.mean(scores), "sum": math.fsum(scores)}.get(reduction, scores)
    metric = ANLS(reduction=reduction).set_dtype(torch.float64)
    assert are_equal(metric(ANSWERS, ACCEPTED), torch.tensor(expected, dtype=torch.float64))
    metric = ANLS(reduction=reduction)
    for change in (metric.half, metric.double, lambda: metric.to("cpu"), lambda: torch.nn.ModuleList([metric]).half()):
        change()
    metric.update(ANSWERS[:300], ACCEPTED[:300])
    if reduction in ("mean", "sum"):  # the sums are not rounded
        metric.compute()
        metric.set_dtype(torch.float16).to(torch.bfloat16)
        metric.update(ANSWERS[300:], ACCEPTED[300:])
        assert are_equal(metric.compute(), torch.tensor(expected))
        assert are_equal(metric.set_dtype(torch.float64).compute(), torch.tensor(expected, dtype=torch.float64))
        metric.reset()
        metric.update(ANSWERS, ACCEPTED)
        assert are_equal(metric.compute(), torch.tensor(expected, dtype=torch.float64))


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_plot_draws_values_on_given_axes(reduction: Any) -> None:
    matplotlib = pytest.importorskip("matplotlib", reason="plots need matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    for metric in (ANLS(reduction=reduction), NormalizedLevenshteinSimilarity(2, reduction=reduction)):
        values = [metric(PREDS, TARGET), metric(TARGET, PREDS)]
        assert metric.plot()[0] is not None
        _, axes = pyplot.subplots()
        assert metric.plot(values, axes)[1] is axes
        assert axes.get_ylabel() == type(metric).__name__
    pyplot.close("all")


def test_mean_of_200000_rows_is_exact() -> None:
    chance = random.Random(3)
    scores = [anls_metric.anls_score("a" * n, ["a" * (n + 1)]) for n in range(1, 30)]
    rows = chance.choices(range(1, 30), k=200_000)
    preds, target = ["a" * n for n in rows], ["a" * (n + 1) for n in rows]
    metric = add_in_batches(ANLS(), preds[:190_000], target[:190_000], 100)
    add_in_batches(metric, preds[190_000:], target[190_000:], 1)
    exact = math.fsum(scores[n - 1] for n in rows)
    assert metric.compute() == torch.tensor(exact / len(rows))
    assert metric.set_dtype(torch.float64).compute() == exact / len(rows)
    added = torch.zeros(())
    for n in rows:
        added += scores[n - 1]
    assert added / len(rows) != torch.tensor(exact / len(rows))  # the value with float32 sums


# Refused input


@pytest.mark.parametrize(
    ("make", "options", "says"),
    [
        (ANLS, {"reduction": "max"}, r'reduction must be "mean", "sum", "none" or None, got \'max\''),
        (ANLS, {"variant": "no such"}, "unknown variant 'no such': `anls variants` lists them"),
        (ANLS, {"threshold": 2}, "threshold must be .*, got 2"),
        (ANLS, {"no_such": 1}, "Unexpected keyword arguments: `no_such`"),
        (NormalizedLevenshteinSimilarity, {"reduction": 0}, "reduction must be .*, got 0"),
        (
            NormalizedLevenshteinSimilarity,
            {"substitution_cost": -1},
            r"must be a whole number from 0, got -1 \(int\)",
        ),
        (NormalizedLevenshteinSimilarity, {"substitution_cost": 1.0}, r"substitution_cost must be .*, got 1\.0"),
        (NormalizedLevenshteinSimilarity, {"substitution_cost": True}, "substitution_cost must be .*, got True"),
    ],
)
def test_bad_arguments_are_refused(make: Any, options: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        make(**options)


ROW_1 = r"row 1 \(counted from 0\)"


@pytest.mark.parametrize("add", ["update", "forward"])
@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize(
    ("make", "preds", "target", "says"),
    [
        (ANLS, ["a", None], ["a", "b"], f"the prediction of {ROW_1} is None, not a string"),
        (ANLS, ["a", "b"], [["a"], []], f"the references of {ROW_1} is an empty list"),
        (ANLS, ["a", "b"], [["a"], ["b", 3]], rf"the references of {ROW_1}, item 1, is 3 \(int\)"),
        (ANLS, ["a", "b"], [["a"]], "predictions has 2, references has 1"),
        (ANLS, ["a", "b"], "a", "predictions has 2, references has 1"),
        (ANLS, None, ["a"], "predictions is None"),
        (NormalizedLevenshteinSimilarity, ["a", 3], ["a", "b"], rf"preds, {ROW_1}, is 3 \(int\), not a string"),
        (NormalizedLevenshteinSimilarity, ["a", "b"], ["a", ["b"]], rf"target, {ROW_1}, is \['b'\] \(list\)"),
        (NormalizedLevenshteinSimilarity, ["a", "b"], "a", "there are 2 texts in preds but 1 in target"),
        (NormalizedLevenshteinSimilarity, [], ["a"], "there are 0 texts in preds but 1 in target"),
        (NormalizedLevenshteinSimilarity, b"a", ["a"], r"preds is b'a' \(bytes\): pass a string or a list of strings"),
        (
            NormalizedLevenshteinSimilarity,
            ["a"],
            {"a": 1},
            r"target is a dict with the keys 'a', not a list: pass a string or a list of strings",
        ),
        (NormalizedLevenshteinSimilarity, None, ["a"], "preds is None: pass a string or a list of strings"),
    ],
)
def test_bad_rows_leave_the_metric_unchanged(
    make: Any, preds: Any, target: Any, says: str, reduction: Any, add: str
) -> None:
    metric = make(reduction=reduction)
    with pytest.raises(ValueError, match=says):
        getattr(metric, add)(preds, target)
    assert not metric.update_called
    metric.update(PREDS, TARGET)
    before = metric.compute()
    with pytest.raises(ValueError, match=says):
        getattr(metric, add)(preds, target)
    assert metric.update_count == 1
    assert are_equal(metric.compute(), before)
    metric.update(PREDS, TARGET)
    twice = make(reduction=reduction)
    twice.update(PREDS * 2, TARGET * 2)
    assert are_equal(metric.compute(), twice.compute())


METRICS: list[Callable[[], Any]] = [ANLS, partial(ANLS, reduction="none"), partial(NormalizedLevenshteinSimilarity, 2)]


@pytest.mark.parametrize("odd", ODD)
def test_odd_columns_are_refused(odd: str) -> None:
    make = ODD[odd]
    for preds, target in [(make(), ["a"]), (["a"], make()), (["a", make()], ["a", "b"]), (["a", "b"], ["a", make()])]:
        for metric in [make_metric() for make_metric in METRICS]:
            with pytest.raises(ValueError, match=r"pass |add an accepted answer"):
                metric(preds, target)
            metric.update(["a"], ["a"])
            assert metric.compute() == 1


@quick
@given(trees, trees)
def test_any_columns_are_scored_or_refused(preds: Any, target: Any) -> None:
    """The metric raises nothing but a ValueError, and is right afterwards."""
    for metric in [make_metric() for make_metric in METRICS]:
        try:
            metric(preds, target)
        except ValueError:
            metric.update(["a"], ["a"])
            assert metric.compute() == 1


# Several processes

# The number of rows of each of two processes.
SHARES = [(60, 3), (0, 63), (63, 0), (1, 2), (0, 0)]


def make_metrics(**options: Any) -> dict[str, Any]:
    metrics: dict[str, Any] = {}
    for reduction in REDUCTIONS:
        metrics[f"ANLS {reduction}"] = ANLS(reduction=reduction, **options)
        metrics[f"NLS {reduction}"] = NormalizedLevenshteinSimilarity(2, reduction=reduction, **options)
        metrics[f"float64 {reduction}"] = ANLS(reduction=reduction, **options).set_dtype(torch.float64)
    return metrics


def split_rows(shares: tuple[int, int]) -> list[tuple[list[str], list[str]]]:
    texts = [references[0] for _, references in ROWS]
    columns = []
    for rank, share in enumerate(shares):
        start = rank * shares[0]
        columns.append((ANSWERS[start : start + share], texts[start : start + share]))
    return columns


def compute_share(rank: int, folder: str) -> None:
    """Compute in one of two processes, and write the results to a file."""
    torch.set_num_threads(1)
    torch.distributed.init_process_group(
        "gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=2, timeout=timedelta(seconds=60)
    )
    values = []
    for shares in SHARES:
        metrics = make_metrics()
        for metric in metrics.values():
            add_in_batches(metric, *split_rows(shares)[rank], 20)
        first = {name: metric.compute() for name, metric in metrics.items()}
        for metric in metrics.values():  # afterwards, each process continues with its own rows
            metric.update(PREDS, TARGET)
        values.append((first, {name: metric.compute() for name, metric in metrics.items()}))
    metrics = make_metrics(dist_sync_on_step=True)
    on_step = {name: metric(*split_rows((5, 2))[rank]) for name, metric in metrics.items()}
    torch.save((values, on_step), f"{folder}/{rank}.pt")
    torch.distributed.destroy_process_group()


@pytest.mark.filterwarnings("ignore:The ``compute`` method")
def test_two_processes_give_the_number_of_one(tmp_path: Path) -> None:
    torch.multiprocessing.spawn(compute_share, (str(tmp_path),), nprocs=2)
    for rank in range(2):
        values, on_step = torch.load(tmp_path / f"{rank}.pt")
        for shares, (first, second) in zip(SHARES, values):
            (preds, target), (other_preds, other_target) = split_rows(shares)
            columns = preds + other_preds, target + other_target
            longer = preds + PREDS + other_preds + PREDS, target + TARGET + other_target + TARGET
            for name, metric in make_metrics().items():
                metric.update(*columns)
                assert are_equal(first[name], metric.compute()), (shares, name)
                metric.reset()
                metric.update(*longer)
                assert are_equal(second[name], metric.compute()), (shares, name)
        (preds, target), (other_preds, other_target) = split_rows((5, 2))
        for name, metric in make_metrics().items():
            metric.update(preds + other_preds, target + other_target)
            assert are_equal(on_step[name], metric.compute()), name


# The example


def test_example_prints_rising_scores_and_the_signature(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(SCRIPT), run_name="__main__")
    *epochs, last = capsys.readouterr().out.splitlines()
    assert last == anls_metric.signature()
    scores = [float(line.split()[3]) for line in epochs]
    assert all("ANLS" in line and "NormalizedLevenshteinSimilarity" in line for line in epochs)
    assert scores[-1] > scores[0]
