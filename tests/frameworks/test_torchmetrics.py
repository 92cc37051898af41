"""The metrics for torchmetrics, in all uses by torchmetrics. All texts are made up."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from copy import deepcopy
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import anls_metric
from anls_metric.core.version import SCORES_VERSION
from tests.conftest import fuzzed_rows
from tests.frameworks.conftest import join_other_process

torch = pytest.importorskip("torch", reason="the extra `torch` is not installed")
torchmetrics = pytest.importorskip("torchmetrics", reason="the extra `torch` is not installed")

from anls_metric.torchmetrics import ANLS, NormalizedLevenshteinSimilarity  # noqa: E402

PREDS, TARGET = ["rain", "lnaguaeg"], ["shine", "language"]
ROWS = fuzzed_rows(600, seed=5)
ANSWERS, ACCEPTED = [row[0] for row in ROWS], [row[1] for row in ROWS]
REDUCTIONS: list[Any] = ["mean", "sum", "none"]
each_metric = pytest.mark.parametrize("make", [ANLS, NormalizedLevenshteinSimilarity])
each_reduction = pytest.mark.parametrize("reduction", REDUCTIONS)
pytestmark = pytest.mark.usefixtures("single_thread")


def are_equal(left: Any, right: Any) -> bool:
    """Whether two tensors are equal to the bit, with the same dtype and shape."""
    return bool(left.dtype == right.dtype and left.shape == right.shape and torch.equal(left, right))


def add_in_batches(metric: Any, preds: list[str], target: list[Any], size: int = 70) -> Any:
    for start in range(0, len(preds), size):
        metric.update(preds[start : start + size], target[start : start + size])
    return metric


# Values


@pytest.mark.parametrize(
    ("make", "preds", "target", "expected"),
    [
        (NormalizedLevenshteinSimilarity, PREDS, TARGET, [0.4, 0.5]),  # the numbers of its source
        (NormalizedLevenshteinSimilarity, "rain", "shine", 0.4),
        (NormalizedLevenshteinSimilarity, ["rain"], "shine", 0.4),
        (NormalizedLevenshteinSimilarity, iter(PREDS), tuple(TARGET), [0.4, 0.5]),
        (NormalizedLevenshteinSimilarity, ["Rain", "", "", "abcd"], ["rain", "", "a", "axyz"], [0.75, 1.0, 0.0, 0.25]),
        (NormalizedLevenshteinSimilarity, ["ab"], [["xy", "ax"]], 0.5),
        (ANLS, "CocaCola", "Coca Cola", 8 / 9),
        (ANLS, "CocaCola", ["x", "Coca Cola"], 8 / 9),
        (ANLS, ["CocaCola", "x"], [{"x", "Coca Cola"}, ("x",)], [8 / 9, 1.0]),
        (ANLS, iter(["CocaCola"]), iter(["Coca Cola"]), 8 / 9),
    ],
)
def test_score_of_each_row(make: Any, preds: Any, target: Any, expected: Any) -> None:
    metric = make(reduction=None)  # the same as "none"
    assert are_equal(metric(preds, target), torch.tensor(expected))
    assert are_equal(metric.compute(), torch.tensor(expected))


def test_substitution_cost_counts_up_to_2() -> None:
    for cost, expected in [(0, [1.0, 1.0, 0.8]), (1, [1.0, 0.0, 0.4]), (2, [1.0, -1.0, 0.0]), (3, [1.0, -1.0, 0.0])]:
        values = NormalizedLevenshteinSimilarity(cost, "none")(["", "abc", "rain"], ["", "xyz", "shine"])
        assert are_equal(values, torch.tensor(expected)), cost


@pytest.mark.parametrize(
    "options",
    [*({"variant": name} for name in anls_metric.VARIANTS), {"variant": "due", "threshold": 0.8, "ignore_case": True}],
    ids=lambda options: "_".join(map(str, options.values())),
)
def test_anls_gives_the_scores_of_every_variant(options: dict[str, Any]) -> None:
    scores = anls_metric.anls_scores(ANSWERS, ACCEPTED, **options)
    values: dict[Any, Any] = {"none": scores, "mean": anls_metric.mean(scores), "sum": math.fsum(scores)}
    for reduction, expected in values.items():
        metric = add_in_batches(ANLS(**options, reduction=reduction), ANSWERS, ACCEPTED)
        assert are_equal(metric.compute(), torch.tensor(expected))
        assert metric.signature() == anls_metric.signature(**options)


def test_mean_of_many_batches_is_exact() -> None:
    metric, rows = ANLS(), (ANSWERS[:60], ACCEPTED[:60])
    for _ in range(3000):
        metric.update(*rows)
    assert are_equal(metric.compute(), ANLS()(*rows))


# Uses by torchmetrics


@each_metric
@each_reduction
def test_forward_returns_the_value_of_its_batch_and_compute_that_of_all(make: Any, reduction: Any) -> None:
    first, second = (["a", "ab"], ["a", "ac"]), (["abc", "d", "e"], ["abd", "x", "e"])
    alone, together = make(reduction=reduction), make(reduction=reduction)
    alone.update(*second)
    together.update(first[0] + second[0], first[1] + second[1])
    for dist_sync_on_step in (False, True):  # two code paths of torchmetrics' `forward`
        metric = make(reduction=reduction, dist_sync_on_step=dist_sync_on_step)
        metric(*first)
        assert are_equal(metric(*second), alone.compute())
        assert are_equal(metric.compute(), together.compute())
        metric.reset()
        metric.update(*second)
        assert are_equal(metric.compute(), alone.compute())


@each_metric
@each_reduction
def test_batch_without_rows_adds_nothing(make: Any, reduction: Any) -> None:
    metric = make(reduction=reduction)
    assert are_equal(metric.compute(), torch.tensor([] if reduction == "none" else 0.0))
    assert metric.signature().endswith(f"|v{SCORES_VERSION}")
    assert are_equal(metric([], []), torch.tensor([] if reduction == "none" else 0.0))
    metric.update(["a", "b"], ["a", "x"])
    assert metric.compute().sum() == {"mean": 0.5}.get(reduction, 1.0)


def test_collection_keeps_metrics_apart_that_agree_on_the_first_batch() -> None:
    """A collection merges metrics whose states are equal after the first batch."""
    batches = [(["a", "b"], ["a", "x"]), (["Colo   ", "Color"], ["cola", "colour"]), (["abcd"], ["axcd"])]
    metrics = {
        "standard": ANLS(),
        "rrc": ANLS("rrc"),
        "strict": ANLS(threshold=0.8),
        "total": ANLS(reduction="sum"),
        "nls": NormalizedLevenshteinSimilarity(),
        "indel": NormalizedLevenshteinSimilarity(2),
    }
    together = torchmetrics.MetricCollection(deepcopy(metrics), prefix="test_")
    for batch in batches:
        together.update(*batch)
        for metric in metrics.values():
            metric.update(*batch)
    expected = {f"test_{name}": metric.compute() for name, metric in metrics.items()}
    assert len(set(map(float, expected.values()))) == len(expected)
    assert together.compute() == expected
    again = together.clone()
    again.reset()
    for preds, target in batches:
        again(preds=preds, target=target)
    assert again.compute() == expected


@each_reduction
@each_metric
@pytest.mark.parametrize("copy", [torchmetrics.Metric.clone, lambda each: pickle.loads(pickle.dumps(each)), deepcopy])
def test_copies_count_on_their_own(copy: Callable[[Any], Any], make: Any, reduction: Any) -> None:
    metric = make(reduction=reduction)
    metric.update(PREDS, TARGET)
    before = metric.compute()
    other = copy(metric)
    other.update(["a"], ["a"])
    assert not torch.equal(other.compute(), before)
    assert are_equal(metric.compute(), before)
    metric.update(["a"], ["a"])
    assert are_equal(other.compute(), metric.compute())
    assert (type(other), hash(other) == hash(metric)) == (make, False)


class Model(torch.nn.Module):  # type: ignore[misc, name-defined]
    """A model that holds a metric, like models of Lightning."""

    def __init__(self, metric: Any) -> None:
        super().__init__()
        self.metric = metric

    def forward(self, x):
        return 2 * x


@pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning", "ignore:This property:DeprecationWarning")
@each_metric
def test_model_that_holds_a_metric_can_be_scripted(make: Any, tmp_path: Path) -> None:
    model = Model(make())
    torch.jit.save(torch.jit.script(model), tmp_path / "model.pt")
    assert torch.jit.load(tmp_path / "model.pt")(torch.ones(1)) == 2
    assert model.metric(PREDS, TARGET) > 0


@each_reduction
def test_state_dict_restores_a_metric_of_the_same_variant_only(reduction: Any) -> None:
    metric = ANLS(reduction=reduction)
    metric.update(ANSWERS, ACCEPTED)
    assert not metric.state_dict()
    metric.persistent(True)
    other = ANLS(reduction=reduction)
    other.load_state_dict(metric.state_dict())
    for each in (metric, other):
        each.update(PREDS, TARGET)
    assert are_equal(other.compute(), metric.compute())
    with pytest.raises(RuntimeError, match=r"Unexpected key.*anls\|standard"):
        ANLS("rrc", reduction=reduction).load_state_dict(metric.state_dict())


@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_converted_model_does_not_round_the_sums(reduction: Any) -> None:
    expected = ANLS(reduction=reduction)(ANSWERS, ACCEPTED)
    metric = ANLS(reduction=reduction)
    model, narrow = torch.nn.ModuleList([metric]), torch.bfloat16
    for convert in (model.half, model.double, lambda: model.to(narrow), lambda: metric.set_dtype(narrow)):
        convert()
        metric.reset()
        assert are_equal(add_in_batches(metric, ANSWERS, ACCEPTED).compute(), expected)


@each_reduction
def test_plot_draws_values_on_given_axes(reduction: Any) -> None:
    matplotlib = pytest.importorskip("matplotlib", reason="plots need matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    metric = ANLS(reduction=reduction)
    values = [metric(PREDS, TARGET), metric(TARGET, PREDS)]
    _, axes = pyplot.subplots()
    assert metric.plot(values, axes)[1] is axes
    assert axes.get_ylabel() == "ANLS"
    pyplot.close("all")


# Refused input


@pytest.mark.parametrize(
    ("make", "options", "says"),
    [
        (ANLS, {"reduction": "max"}, r'reduction must be "mean", "sum", "none" or None, got \'max\''),
        (ANLS, {"variant": "no such"}, "unknown variant 'no such': SCORERS lists them"),
        (ANLS, {"threshold": 2}, "threshold must be .*, got 2"),
        (ANLS, {"no_such": 1}, "Unexpected keyword arguments: `no_such`"),
        (NormalizedLevenshteinSimilarity, {"substitution_cost": -1}, r"a whole number of at least 0, got -1 \(int\)"),
        (NormalizedLevenshteinSimilarity, {"substitution_cost": 1.0}, r"substitution_cost must be .*, got 1\.0"),
    ],
)
def test_bad_arguments_are_refused(make: Any, options: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        make(**options)


@pytest.mark.parametrize("add", ["update", "forward"])
@each_reduction
@each_metric
@pytest.mark.parametrize(
    ("preds", "target", "says"),
    [
        (["a", None], ["a", "b"], r"the prediction of row 1 \(counted from 0\) is None, not a string"),
        (["a", "b"], [["a"], ["b", 3]], r"the references of row 1 \(counted from 0\), item 1, is 3 \(int\)"),
        (None, ["a"], "predictions is None"),
    ],
)
def test_bad_rows_change_no_metric(make: Any, preds: Any, target: Any, says: str, reduction: Any, add: str) -> None:
    metric = make(reduction=reduction)
    metric.update(PREDS, TARGET)
    before = metric.compute()
    with pytest.raises(ValueError, match=says):
        getattr(metric, add)(preds, target)
    metric._computed = None
    assert are_equal(metric.compute(), before)


# Several processes

# The number of rows of each of two processes.
SHARES = [(60, 3), (0, 63), (1, 2), (0, 0)]


def make_metrics() -> list[Any]:
    kinds = (ANLS, partial(NormalizedLevenshteinSimilarity, 2))
    return [make(reduction=reduction) for make in kinds for reduction in REDUCTIONS]


def split_rows(shares: tuple[int, int]) -> list[tuple[list[str], list[list[str]]]]:
    first, both = shares[0], sum(shares)
    return [(ANSWERS[:first], ACCEPTED[:first]), (ANSWERS[first:both], ACCEPTED[first:both])]


def compute_share(rank: int, folder: str) -> None:
    """Compute in one of two processes, and write the results to a file."""
    join_other_process(rank, folder)
    values = []
    for shares in SHARES:
        for metric in make_metrics():
            first = add_in_batches(metric, *split_rows(shares)[rank], 20).compute()
            metric.update(PREDS, TARGET)  # afterwards, each process continues with its own rows
            values.append((first, metric.compute()))
    torch.save(values, f"{folder}/{rank}.pt")
    torch.distributed.destroy_process_group()


@pytest.mark.filterwarnings("ignore:The ``compute`` method")
def test_two_processes_give_the_number_of_one(tmp_path: Path) -> None:
    torch.multiprocessing.spawn(compute_share, (str(tmp_path),), nprocs=2)
    expected = []
    for shares in SHARES:
        columns, others = split_rows(shares)
        for metric, both in zip(make_metrics(), make_metrics()):
            for rows in (columns, others):
                metric.update(*rows)
                both.update(*rows)
                both.update(PREDS, TARGET)
            expected.append((metric.compute(), both.compute()))
    for rank in range(2):
        for place, values in enumerate(torch.load(tmp_path / f"{rank}.pt")):
            assert all(map(are_equal, values, expected[place])), (rank, place)


# The example


def test_example_prints_rising_scores_and_the_signature(capsys: pytest.CaptureFixture[str]) -> None:
    import_module("train_with_torchmetrics").main()
    *epochs, last = capsys.readouterr().out.splitlines()
    assert last == anls_metric.signature()
    scores = [float(line.split()[3]) for line in epochs]
    assert all("ANLS" in line and "NormalizedLevenshteinSimilarity" in line for line in epochs)
    assert scores[-1] > scores[0]
