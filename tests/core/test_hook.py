"""The hook for transformers' trainers, without transformers: the scores of arrays of ids and logits."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import sys
from typing import Any

import pytest

import anls_metric

np = pytest.importorskip("numpy")

LETTERS = "abcdefghijklmnopqrstuvwxyz .<>/"
SPECIAL = {0: "<pad>", 1: "</s>"}


class Tokenizer:
    """A tokenizer with a token for padding, a token for the end, and a token for each letter."""

    pad_token_id = 0

    def __len__(self) -> int:
        return len(LETTERS) + len(SPECIAL)

    def batch_decode(self, rows: list[list[int]], skip_special_tokens: bool) -> list[str]:
        special = dict.fromkeys(SPECIAL, "") if skip_special_tokens else SPECIAL
        return ["".join(special[item] if item in special else LETTERS[item - 2] for item in row) for row in rows]


def encode(*texts: str, before: int = 0) -> Any:
    """Encode texts with an end token, each after this number of positions without a label."""
    rows = [[-100] * before + [LETTERS.index(letter) + 2 for letter in text] + [1] for text in texts]
    longest = max(map(len, rows))
    return np.array([row + [-100] * (longest - len(row)) for row in rows])


def make_logits(ids: Any, causal: bool = False) -> Any:
    """Make logits that are highest for these ids, at the positions at which a model has them."""
    if causal:
        ids = np.roll(ids, -1, axis=1)
    return np.eye(len(Tokenizer()))[np.maximum(ids, 0)] * 2.0 - 1.0


NO_LABELS = np.full((1, 3), -100)


def make_hook(*arguments: Any, **options: Any) -> anls_metric.ComputeMetrics:
    return anls_metric.build_compute_metrics(Tokenizer(), *arguments, **options)


# Logits, and the ids that the trainer keeps instead


@pytest.mark.parametrize("causal", [False, True])
def test_ids_and_logits_score_alike_at_the_places_of_their_labels(causal: bool) -> None:
    labels = encode("coca", "pepsi", before=3 if causal else 0)
    predicted = encode("cocx", "pepsi", before=3 if causal else 0)
    hook = make_hook(["coca", "pepsi"], causal=causal)
    logits = make_logits(predicted, causal)
    ids = hook.preprocess_logits_for_metrics(logits, labels)
    assert ids.tolist() == np.where(labels < 0, -100, predicted).tolist()
    assert hook((ids, labels)) == hook((logits, labels)) == {"anls": 0.875}
    assert hook(((logits, "hidden states"), (labels, "more labels"))) == {"anls": 0.875}


def test_generated_ids_pass_as_they_are() -> None:
    generated = encode("coca", "pepsi")
    assert make_hook(causal=True).preprocess_logits_for_metrics(generated, encode("c", "p")) is generated
    assert make_hook(causal=True).preprocess_logits_for_metrics((generated, "scores")) is generated


def test_nan_logits_are_an_error_where_there_are_labels() -> None:
    labels = encode("ab", "cd", "ef")
    labels[2, 2] = -100
    logits = make_logits(labels)
    logits[2, 2, 7] = np.nan  # a position without a label
    hook = make_hook()
    assert hook((logits, labels)) == {"anls": 1.0}
    logits[1, 0, 5] = np.nan
    for given in (logits, hook.preprocess_logits_for_metrics(logits, labels)):
        with pytest.raises(
            ValueError, match=r"logits of row 1 \(counted from 0\) are NaN: .* evaluate in float32 or bf"
        ):
            hook((given, labels))
    with pytest.raises(ValueError, match="logits of row 4"):  # the second batch of three rows
        hook(([labels, logits], [labels, labels]))


# Extraction


def extract_from_donut(text: str) -> str | None:
    """Extract the answer from the tags that Donut learns to write."""
    _, opened, rest = text.rpartition("<sanswer>")
    return rest.partition("</sanswer>")[0] if opened else None


def test_extract_takes_answers_out_of_predictions_and_labels() -> None:
    predicted = encode("<sanswer>cola</sanswer>", "cola", "<sanswer>cola")
    labels = encode("<sanswer>cola</sanswer>", "cola", "<sanswer>cola</sanswer>")
    # The second prediction has no answer.
    assert make_hook(extract=extract_from_donut)((predicted, labels)) == {"anls": 2 / 3}
    assert make_hook(["cola"] * 3, extract=extract_from_donut)((predicted, labels)) == {"anls": 2 / 3}
    assert make_hook(["cola"] * 3)((predicted, None)) == {"anls": 1 / 3}
    with pytest.raises(ValueError, match=r"what extract made of the prediction of row 0 .* is 7"):
        make_hook(extract=lambda text: 7)((predicted, labels))
    assert make_hook(["cola"] * 3, extract="tag:sanswer")((predicted, labels)) == {"anls": 2 / 3}
    with pytest.raises(ValueError, match="unknown extraction rule 'thinks'"):
        make_hook(extract="thinks")
    with pytest.raises(ValueError, match=r"extract is 7 \(int\): pass names of rules, or a function"):
        make_hook(extract=7)


def cut_at_the_end(text: str) -> str | None:
    answer, ended, _ = text.partition("</s>")
    return answer if ended else None


def test_skip_special_tokens_false_keeps_them_for_extract() -> None:
    ids = encode("cola"), None
    assert make_hook(["cola"], extract=cut_at_the_end)(ids) == {"anls": 0.0}
    assert make_hook(["cola"], extract=cut_at_the_end, skip_special_tokens=False)(ids) == {"anls": 1.0}


# Labels as the accepted answers


def test_rows_without_labels_are_left_out_with_a_warning() -> None:
    labels = encode("ab", "cd", "ef")
    labels[1] = -100
    predicted = encode("ab", "xx", "yy")
    with pytest.warns(UserWarning, match=r"1 of 3 rows have no labels .* row 1 \(counted from 0\), and are left out"):
        assert make_hook()((predicted, labels)) == {"anls": 0.5}
    with pytest.raises(ValueError, match=r"3 of 3 rows have no labels .* pass references"):
        make_hook()((predicted, np.full_like(labels, -100)))


def test_evaluations_without_labels_or_of_unknown_kind_are_refused() -> None:
    with pytest.raises(ValueError, match="2 predictions and 0 labels: pass references"):
        make_hook()((np.ones((2, 2), int), None))
    with pytest.raises(ValueError, match=r"pass one pair of predictions and labels: hook\(\(predictions, labels\)\)"):
        make_hook()(np.ones((2, 2), int), np.ones((2, 2), int))
    with pytest.raises(ValueError, match=r"the evaluation is 'a' .*: pass an EvalPrediction"):
        make_hook()("a")


# Choosing the references


def test_surplus_rows_are_cut_only_where_they_repeat_the_first_ones() -> None:
    hook = make_hook(["a", "b", "c"])
    predicted, labels = encode("a", "b", "x"), encode("a", "b", "c")
    assert hook((predicted, labels)) == {"anls": 2 / 3}
    assert hook((predicted[[0, 1, 2, 0]], labels[[0, 1, 2, 0]])) == {"anls": 2 / 3}
    assert hook((predicted[[0, 1, 2, 0, 1, 2, 0, 1]], labels[[0, 1, 2, 0, 1, 2, 0, 1]])) == {"anls": 2 / 3}
    for surplus, places in ([0, 1, 2, 0], [0, 1, 2, 2]), ([0, 1, 2, 1], [0, 1, 2, 1]):
        with pytest.raises(ValueError, match="4 predictions but references for 3 rows"):
            hook((predicted[surplus], labels[places]))


@pytest.mark.parametrize("labels", [encode("a"), NO_LABELS, None], ids=["alike", "empty", "none"])
def test_too_few_references_are_an_error_where_labels_do_not_tell(labels: Any) -> None:
    eight = None if labels is None else labels.repeat(8, axis=0)
    with pytest.raises(ValueError, match="8 predictions but references for 3 rows: pass the accepted answers of each"):
        make_hook(["a", "a", "a"])((encode(*"aaaaaaaa"), eight))


def test_surplus_rows_without_labels_are_refused() -> None:
    labels = encode("a", "b", "c", "a")
    labels[[0, 3]] = -100
    with pytest.raises(ValueError, match="4 predictions but references for 3 rows"):
        make_hook(["a", "b", "c"])((encode("a", "b", "c", "a"), labels))


def test_named_sets_are_told_apart_by_their_rows() -> None:
    hook = make_hook({"val": [["a", "A1"], ["b"]], "long": ["a", "b", "c"]})
    predicted = encode("a", "y", "c")
    assert hook((predicted[:2], None)) == {"anls": 0.5}
    assert hook((predicted, None)) == {"anls": 2 / 3}
    padded = encode("a", "b", "a", "b")
    assert hook((encode("a", "y", "a", "y"), padded)) == {"anls": 0.5}, "`val`, filled up"
    with pytest.raises(ValueError, match="4 predictions but references for 2, 3 rows"):
        hook((encode(*"abcd"), encode(*"abcd")))


def test_sets_of_equal_length_are_refused_when_the_hook_is_built() -> None:
    with pytest.raises(ValueError, match=r"2 sets of references have 1 rows.* set `trainer.compute_metrics`"):
        make_hook({"val": ["a"], "test": ["b"], "long": ["a", "b"]})


# Batch by batch


def test_evaluation_comes_at_once_or_batch_by_batch() -> None:
    hook = make_hook(["a", "b", "c"])
    predicted, labels = encode("a", "x", "c"), encode("a", "b", "c")
    for _ in range(2):
        assert hook((predicted[:2], labels[:2]), compute_result=False) == {}
        assert hook((predicted[2:], labels[2:]), compute_result=True) == {"anls": 2 / 3}


@pytest.mark.parametrize("way", ["the next one fails", "reset"])
def test_interrupted_evaluation_is_an_error_of_the_next_one(way: str) -> None:
    hook = make_hook(["a", "b", "c"])
    predicted, labels = encode("a", "x", "c"), encode("a", "b", "c")
    hook((predicted[:2], labels[:2]), compute_result=False)
    if way == "reset":
        hook.reset()
    else:
        hook((predicted[:2], labels[:2]), compute_result=False)
        with pytest.raises(ValueError, match=r"5 predictions but references for 3 rows.* was interrupted, call reset"):
            hook((predicted[2:], labels[2:]), compute_result=True)
    assert hook((predicted, labels)) == {"anls": 2 / 3}


@pytest.mark.parametrize("wrong", ["no ids", encode("a", "b", "c"), np.array([[99]])], ids=["ids", "rows", "tokens"])
def test_after_an_error_the_next_evaluation_is_right(wrong: Any) -> None:
    hook = make_hook(["a", "b"])
    hook((encode("a"), None), compute_result=False)
    with pytest.raises(ValueError, match=r"references for|pass ids|tokens"):
        hook((wrong, None))
    assert hook((encode("a", "x"), encode("a", "b"))) == {"anls": 0.5}


def test_padding_after_labels_is_ignored() -> None:
    """`Seq2SeqTrainer` pads labels: with -100 to the longest of a batch, then with the padding token."""
    labels = encode("a", "bcd", "e")
    filled = [np.pad(batch, [(0, 0), (0, 3)]) for batch in (labels, labels[:1, :2])]
    predicted = [encode("a", "bcd", "e"), encode("a")]
    hook = make_hook(["a", "bcd", "x"])
    assert hook((predicted, filled)) == {"anls": 2 / 3}
    assert make_hook()((predicted, filled)) == {"anls": 1.0}
    nothing = np.array([[-100, -100, 0, 0]])
    with pytest.warns(UserWarning, match="1 of 5 rows have no labels"):
        assert make_hook()(([*predicted, encode("")], [*filled, nothing])) == {"anls": 1.0}
    # The end of an empty answer is no padding.
    assert make_hook(causal=True)((np.array([[-100, 1]]), np.array([[-100, 1]]))) == {"anls": 1.0}


# Rows without exactly one answer


def test_labels_of_a_whole_text_are_refused_for_a_decoder() -> None:
    labels = encode("what brand coca")
    hook = make_hook(["coca"], causal=True)
    for given in (
        make_logits(labels, causal=True),
        hook.preprocess_logits_for_metrics(make_logits(labels, True), labels),
    ):
        with pytest.raises(ValueError, match=r"labels of row 0 .* include the prompt.* assistant_only_loss=True"):
            hook((given, labels))
    # Generated ids begin with a token, and their labels may be the answer alone.
    assert hook((encode("coca"), encode("coca"))) == {"anls": 1.0}


def test_several_answers_in_one_row_are_refused() -> None:
    labels = np.concatenate([encode("coca", before=4), encode("pepsi", before=4)], axis=1)
    message = r"of row 0 \(counted from 0\) is not contiguous.* eval_packing=False"
    for hook in (make_hook(causal=True), make_hook(["coca"], causal=True)):
        with pytest.raises(ValueError, match=f"the prediction {message}"):
            hook((make_logits(labels, causal=True), labels))
    with pytest.raises(ValueError, match=f"the label {message}"):
        make_hook()((encode("coca"), labels))
    assert make_hook(["coca"])((encode("coca"), labels)) == {"anls": 1.0}  # generated: labels do not count


# Refused input


def test_bad_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match="tokenizer is None, which cannot decode: pass the tokenizer or processor"):
        anls_metric.build_compute_metrics(None)
    with pytest.raises(ValueError, match="unknown variant 'squad'"):
        make_hook(variant="squad")
    with pytest.raises(ValueError, match=r"references of row 1 \(counted from 0\), item 0, is None"):
        make_hook([["a"], [None]])
    with pytest.raises(ValueError, match=r"the references\['val'\] of row 0 \(counted from 0\) is 5"):
        make_hook({"val": [5]})
    with pytest.raises(ValueError, match=r"references\['test'\] is None: pass a list"):
        make_hook({"test": None})


@pytest.mark.parametrize(
    ("predictions", "labels", "message"),
    [
        (encode(*"abc"), None, "3 predictions but references for 2 rows: pass the accepted answers of each row"),
        (encode("a"), None, "1 predictions but references for 2 rows"),
        (np.array([[4, 5], [4, 99]]), None, r"prediction of row 1 \(counted from 0\) holds the id 99, .* 33 tokens"),
        (np.zeros((2, 5)), None, "the predictions are an array of 2 x 5 float64: pass ids .* or logits"),
        (np.zeros((2, 5, 9)), np.zeros((2, 4), int), "logits have 2 x 5 positions and the labels have 2 x 4"),
        ([[3, 4]], None, r"the predictions are \[3, 4\] \(list\): pass ids"),
        (np.zeros((0, 2), int), None, "no rows to score"),
        ([np.ones((1, 2), int)] * 2, [np.ones((1, 2), int)], "predictions has 2 batches, labels has 1"),
        (encode("a", "b"), encode("a"), "predictions has 2, labels has 1"),
    ],
)
def test_predictions_of_the_wrong_kind_are_refused(predictions: Any, labels: Any, message: str) -> None:
    hook = make_hook(["a", "b"])
    with pytest.raises(ValueError, match=message):
        hook((predictions, labels))
    assert hook((encode("a", "c"), None)) == {"anls": 0.5}


# Pickled, copied, and without its package


def score_with(hook: anls_metric.ComputeMetrics) -> Any:
    return hook((encode("<sanswer>cola", "pepsi"), None))


def test_hook_can_be_copied_and_sent_to_another_process() -> None:
    hook = make_hook(["coca", "pepsi"], extract=extract_from_donut, variant="rrc", threshold=0.2, ignore_case=False)
    assert score_with(hook) == {"anls": 0.375}
    hook((encode("coca"), None), compute_result=False)  # the copy includes these rows
    for copied in (copy.deepcopy(hook), pickle.loads(pickle.dumps(hook))):
        copied.reset()
        assert score_with(copied) == {"anls": 0.375}
    hook.reset()
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(score_with, [hook]) == {"anls": 0.375}


def test_metric_builds_the_hook_with_its_options(metric: Any) -> None:
    ids = encode("ab"), encode("abcd")
    assert metric.build_compute_metrics(Tokenizer())(ids) == {"anls": 0.5}
    assert metric.build_compute_metrics(Tokenizer(), variant="pypi_anls")(ids) == {"anls": 0.0}
    hook = metric.build_compute_metrics(Tokenizer(), ["cola"], extract=extract_from_donut, skip_special_tokens=False)
    for copied in (hook, copy.deepcopy(hook), pickle.loads(pickle.dumps(hook))):
        assert copied((encode("<sanswer>cola"), None)) == {"anls": 0.5}
    with pytest.raises(ValueError, match="unknown argument 'reference'; did you mean references"):
        metric.build_compute_metrics(Tokenizer(), reference=["cola"])
    with pytest.raises(ValueError, match="unknown argument 'treshold'"):
        metric.build_compute_metrics(Tokenizer(), treshold=0.5)


def test_reward_without_the_package_says_how_to_install_it(metric: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A metric from the Hub has only one file."""
    monkeypatch.setitem(sys.modules, "anls_metric", None)
    monkeypatch.setitem(sys.modules, "anls_metric.trl", None)
    with pytest.raises(ImportError, match="a reward: this needs the package anls-metric: pip install anls-metric"):
        metric.build_reward()
