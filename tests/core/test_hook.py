"""The hook for transformers' trainers, without transformers: the scores of arrays of ids and logits."""

from __future__ import annotations

import copy
import json
import multiprocessing
import pickle
from typing import Any

import pytest

import anls_metric
from anls_metric import get_scorer

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


def make_hook(*arguments: Any, **options: Any) -> anls_metric.ComputeMetrics:
    return anls_metric.build_compute_metrics(Tokenizer(), *arguments, **options)


# Logits, and the ids that the trainer keeps instead

TEACHER_FORCED = "ignore:the predictions are logits:UserWarning"


def test_logits_of_an_encoder_decoder_are_a_warning() -> None:
    labels = encode("coca", "pepsi")
    with pytest.warns(UserWarning, match=r"the model saw the correct tokens.* set predict_with_generate=True"):
        make_hook()((make_logits(labels), labels))


@pytest.mark.filterwarnings(TEACHER_FORCED)
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
    for given in (generated, (generated, "scores")):
        assert make_hook(causal=True).preprocess_logits_for_metrics(given, encode("c", "p")) is generated


@pytest.mark.filterwarnings(TEACHER_FORCED)
def test_nan_logits_are_an_error_where_there_are_labels() -> None:
    labels = encode("ab", "cd", "ef")
    labels[2, 2] = -100
    logits = make_logits(labels)
    logits[2, 2, 7] = np.nan  # a position without a label
    hook = make_hook()
    assert hook((logits, labels)) == {"anls": 1.0}
    logits[1, 0, 5] = np.nan
    ids = hook.preprocess_logits_for_metrics(logits, labels)
    for given, row in (((logits, labels), 1), ((ids, labels), 1), (([labels, logits], [labels, labels]), 4)):
        with pytest.raises(ValueError, match=rf"logits of row {row} \(counted from 0\) are NaN: .* in float32 or bf"):
            hook(given)


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
    assert make_hook(["cola"] * 3, extract_from_donut)((predicted, labels)) == {"anls": 2 / 3}
    assert make_hook(["cola"] * 3, "tag:sanswer")((predicted, labels)) == {"anls": 1.0}  # what has no tag stays
    assert make_hook(["cola"] * 3)((predicted, None)) == {"anls": 1 / 3}


def cut_at_the_end(text: str) -> str | None:
    answer, ended, _ = text.partition("</s>")
    return answer if ended else None


def test_skip_special_tokens_false_keeps_them_for_extract() -> None:
    ids = encode("cola"), None
    with pytest.warns(UserWarning, match="extract finds no answer in any of 1 predictions; the first is 'cola'"):
        assert make_hook(["cola"], extract=cut_at_the_end)(ids) == {"anls": 0.0}
    assert make_hook(["cola"], extract=cut_at_the_end, skip_special_tokens=False)(ids) == {"anls": 1.0}


# Labels as the accepted answers


def test_rows_without_labels_are_left_out_with_a_warning() -> None:
    labels = encode("ab", "cd", "ef")
    labels[1] = -100
    predicted = encode("ab", "xx", "yy")
    with pytest.warns(UserWarning, match=r"1 of 3 rows have no labels.* row 1 \(counted from 0\), and are left out"):
        assert make_hook()((predicted, labels)) == {"anls": 0.5}
    for nothing in (np.full_like(labels, -100), None):
        with pytest.raises(ValueError, match=r"3 of 3 rows have no labels.* pass references"):
            make_hook()((predicted, nothing))


def test_padding_after_labels_is_ignored() -> None:
    """`Seq2SeqTrainer` pads labels: with -100 to the longest of a batch, then with the padding token."""
    labels = encode("a", "bcd", "e")
    filled = [np.pad(batch, [(0, 0), (0, 3)]) for batch in (labels, labels[:1, :2])]
    predicted = [encode("a", "bcd", "e"), encode("a")]
    assert make_hook(["a", "bcd", "x"])((predicted, filled)) == {"anls": 2 / 3}
    assert make_hook()((predicted, filled)) == {"anls": 1.0}
    nothing = np.array([[-100, -100, 0, 0]])
    with pytest.warns(UserWarning, match="1 of 5 rows have no labels"):
        assert make_hook()(([*predicted, encode("")], [*filled, nothing])) == {"anls": 1.0}
    # The end of an empty answer is no padding, even if the tokenizer pads with it.
    hook = make_hook(causal=True)
    hook.tokenizer.pad_token_id = 1
    assert hook((np.array([[-100, 1]]), np.array([[-100, 1]]))) == {"anls": 1.0}


# Choosing the references. Predictions and labels are letters, one for each row.

LETTER_EACH = ["a", "b", "c"]
TWO_SETS = {"val": [["a", "A1"], ["b"]], "long": LETTER_EACH}
CHOICES: list[tuple[Any, str, str | None, float | str]] = [
    (LETTER_EACH, "abx", "abc", 2 / 3),
    (LETTER_EACH, "abxa", "abca", 2 / 3),
    (LETTER_EACH, "abxabxab", "abcabcab", 2 / 3),
    (LETTER_EACH, "abxa", "abcc", "4 predictions but references for 3 rows"),
    (LETTER_EACH, "abxb", "abcb", "4 predictions but references for 3 rows"),
    (LETTER_EACH, "ab", "ab", "2 predictions but references for 3 rows"),
    (["a", "a", "a"], "aaaaaaaa", "aaaaaaaa", "8 predictions but references for 3 rows: pass references for"),
    (["a", "a", "a"], "aaaaaaaa", None, "8 predictions but references for 3 rows"),
    (TWO_SETS, "ay", None, 0.5),
    (TWO_SETS, "ayc", None, 2 / 3),
    (TWO_SETS, "ayay", "abab", 0.5),
    (TWO_SETS, "abcd", "abcd", "4 predictions but references for 2, 3 rows"),
    (TWO_SETS, "axc", "aba", 2 / 3),
    (TWO_SETS, "aba", "aba", "3 predictions but references for 2, 3 rows: some may repeat the first rows, so set `tr"),
]


@pytest.mark.parametrize(("references", "predicted", "labels", "result"), CHOICES)
def test_references_are_chosen_by_the_number_of_rows_without_those_that_repeat_the_first(
    references: Any, predicted: str, labels: str | None, result: float | str
) -> None:
    given = encode(*predicted), None if labels is None else encode(*labels)
    if isinstance(result, float):
        assert make_hook(references)(given) == {"anls": result}
    else:
        with pytest.raises(ValueError, match=result):
            make_hook(references)(given)


@pytest.mark.parametrize(
    ("references", "options", "message"),
    [
        ([["a"], [None]], {}, r"references of row 1 \(counted from 0\), item 0, is None"),
        ({"val": [5]}, {}, r"the references of row 0 \(counted from 0\) is 5"),
        ({"test": None}, {}, r"references is None: pass a list"),
        (None, {"variant": "squad"}, "unknown variant 'squad'"),
        (["a"], {"metrics": "exact_matsch"}, "unknown metric 'exact_matsch'"),
        (
            ["a"],
            {"metrics": "f1", "variant": "anls_star"},
            "metrics apply only to strings, not to the answers of anls_star",
        ),
        (None, {"extract": "thinks"}, "unknown extraction step 'thinks'"),
        (None, {"extract": 7}, r"extract is 7 \(int\): pass extraction steps, or a function"),
    ],
)
def test_bad_arguments_are_refused_when_the_hook_is_built(references: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_hook(references, **options)


# References and labels

WORDS = ["coca", "pepsi", "fanta", "tea", "milk", "beer", "wine"]
OTHERS = ["zebra", "ox", "yak", "horse", "quail", "jackdaw", "uvula"]


def test_references_are_brought_into_the_order_of_the_labels() -> None:
    """As with group_by_length, and a shuffled set: the trainer, or the user, orders the rows."""
    accepted = [[word, f"a {word}"] for word in WORDS]
    order = [3, 1, 0, 2, 6, 5, 4]
    labels = encode(*(accepted[place][place % 2] for place in order))
    answers = [WORDS[place] for place in order]
    assert make_hook(accepted)((encode(*answers[:-1], "x"), labels)) == {"anls": 6 / 7}
    twice = [*accepted, *accepted]  # rows with the same references
    both = encode(*WORDS[::-1], *WORDS[::-1])
    assert make_hook(twice)((both, both)) == {"anls": 1.0}


@pytest.mark.parametrize(
    "values", [["tea", "cola", "milk"], ["thé", "lait à", "café"], [["a", "b"], ["c"], ["d", "e"]]]
)
@pytest.mark.parametrize("style", [{}, {"ensure_ascii": False}, {"separators": (",", ":"), "ensure_ascii": False}])
@pytest.mark.parametrize("is_list", [False, True])
def test_references_of_values_are_brought_into_the_order_of_labels_in_any_json(
    values: list[Any], style: dict[str, Any], is_list: bool
) -> None:
    references = [[{"a": value}, "x"] if is_list else {"b": 1, "a": value} for value in values]
    texts = ["", *(json.dumps(each, **style) for each in references)]

    class Texts(Tokenizer):
        def batch_decode(self, rows: list[list[int]], skip_special_tokens: bool) -> list[str]:
            return ["".join(map(texts.__getitem__, row)) for row in rows]

    ids = np.array([[3], [1], [2]])
    hook = anls_metric.build_compute_metrics(Texts(), references, variant="anls_star")
    assert hook((ids, ids)) == {"anls_star": 1.0}


@pytest.mark.parametrize(
    ("labels", "references"),
    [
        (WORDS, OTHERS),  # of another set
        ([*WORDS[1:], WORDS[0]], [[*WORDS[:2]], *([word] for word in WORDS[1:])]),  # in an order that is not certain
    ],
)
def test_labels_of_other_rows_are_an_error(labels: list[str], references: list[Any]) -> None:
    words = (
        r'labels of . of 7 rows are not among their references; the first is row .*: pass .*"validation": \.\.\., "te'
    )
    with pytest.raises(ValueError, match=words):
        make_hook(references)((encode(*labels), encode(*labels)))


@pytest.mark.parametrize(
    ("labels", "references"),
    [([word[0] for word in WORDS], WORDS), ([f"{word} as this page says" for word in WORDS], WORDS)],
)
def test_labels_that_are_cut_off_or_sentences_are_a_warning(labels: list[str], references: list[Any]) -> None:
    with pytest.warns(UserWarning, match=r"labels of 7 of 7 rows are not among their references.* or need extract="):
        make_hook(references)((encode(*labels), encode(*labels)))


@pytest.mark.parametrize(
    "labels",
    [
        WORDS,
        [word.upper().lower() for word in WORDS],
        [f"{word}." for word in WORDS],  # a tokenizer that does not return what it was given
        [*WORDS[:5], "yak", "ox"],
    ],
)
@pytest.mark.filterwarnings("error")
def test_labels_that_nearly_fit_are_no_warning(labels: list[str]) -> None:
    assert make_hook(WORDS)((encode(*WORDS), encode(*labels))) == {"anls": 1.0}


def test_labels_choose_between_sets_of_one_size() -> None:
    hook = make_hook({"val": WORDS, "test": OTHERS})
    for words in (OTHERS, WORDS, OTHERS[::-1]):
        assert hook((encode(*words), encode(*words))) == {"anls": 1.0}
    with pytest.raises(ValueError, match="two sets of references have 7 rows each, and both fit the labels: set"):
        hook((encode(*WORDS), None))


@pytest.mark.filterwarnings(TEACHER_FORCED)
@pytest.mark.parametrize("references", [None, WORDS])
def test_logits_of_a_decoder_are_refused_without_causal(references: Any) -> None:
    labels = encode(*WORDS, before=4)
    logits = make_logits(labels, causal=True)
    assert make_hook(references, causal=True)((logits, labels)) == {"anls": 1.0}
    hook = make_hook(references)
    for batch in ((logits, labels), ([logits[:3], logits[3:]], [labels[:3], labels[3:]])):
        with pytest.raises(ValueError, match="fit the labels shifted by one position: pass causal=True"):
            hook(batch)
    assert hook((make_logits(labels), labels)) == {"anls": 1.0}  # a model with an encoder, whose prompt is masked


@pytest.mark.filterwarnings(TEACHER_FORCED)
def test_logits_of_a_decoder_are_refused_at_the_beginning_of_training() -> None:
    labels = encode(*WORDS * 4, before=4)
    predicted = np.where(np.arange(labels.size).reshape(labels.shape) % 5 == 0, labels, 0)  # few are right
    with pytest.raises(ValueError, match="pass causal=True"):
        make_hook()((make_logits(predicted, causal=True), labels))


def test_several_sequences_for_a_row_are_refused() -> None:
    with pytest.raises(ValueError, match=r"6 predictions for 3 rows: generate one .* \(num_return_sequences=1\)"):
        make_hook(["a", "b", "c"])((encode(*"aabbcc"), encode(*"abc")))


# Metrics, nested values and extraction


def test_further_metrics_come_with_the_anls() -> None:
    hook = make_hook([["a cola"], ["tea"]], metrics="exact_match, f1")
    found = hook((encode("cola", "tea"), None))
    assert found == {"anls": pytest.approx(5 / 6), "exact_match": 0.5, "f1": 1.0}


def test_nested_values_are_scored_as_json() -> None:
    class Texts(Tokenizer):
        def batch_decode(self, rows: list[list[int]], skip_special_tokens: bool) -> list[str]:
            return [('{"total": "7"}', '{"total": "8"}', "no JSON")[row[0] - 1] if row else "" for row in rows]

    references = [{"total": "7"}, '{"total": "7"}', {"total": "7"}]
    hook = anls_metric.build_compute_metrics(Texts(), references, variant="anls_star")
    assert hook((np.array([[1], [2], [3]]), None)) == {"anls_star": 1 / 3}
    labels = anls_metric.build_compute_metrics(Texts(), variant="anls_star")
    assert labels((np.array([[1], [2], [3]]), np.array([[1], [1], [1]]))) == {"anls_star": 1 / 3}


def test_extraction_that_finds_nothing_is_a_warning() -> None:
    with pytest.warns(UserWarning, match="extract finds no answer in any of 2 predictions; the first is 'cola'"):
        assert make_hook(["cola", "tea"], extract_from_donut)((encode("cola", "tea"), None)) == {"anls": 0.0}


# Batch by batch

PREDICTED, LABELS = encode("a", "x", "c"), encode("a", "b", "c")


def test_evaluation_comes_at_once_or_batch_by_batch() -> None:
    hook = make_hook(["a", "b", "c"])
    for _ in range(2):
        assert hook((PREDICTED[:2], LABELS[:2]), compute_result=False) == {}
        assert hook((PREDICTED[2:], LABELS[2:]), compute_result=True) == {"anls": 2 / 3}
    assert hook(([PREDICTED[:2], PREDICTED[2:]], None)) == {"anls": 2 / 3}


@pytest.mark.parametrize("way", ["the next one fails", "reset"])
def test_interrupted_evaluation_is_an_error_of_the_next_one(way: str) -> None:
    hook = make_hook(["a", "b", "c"])
    hook((PREDICTED[:2], LABELS[:2]), compute_result=False)
    if way == "reset":
        hook.reset()
    else:
        message = r"5 predictions but references for 3 rows.* was interrupted, call reset\(\) and evaluate again"
        with pytest.raises(ValueError, match=message):
            hook((PREDICTED, LABELS))
    assert hook((PREDICTED, LABELS)) == {"anls": 2 / 3}


@pytest.mark.parametrize("wrong", ["no pair", encode("a", "b", "c"), np.full((1, 2), 3.5)], ids=["pair", "rows", "ids"])
def test_after_an_error_the_next_evaluation_is_right(wrong: Any) -> None:
    hook = make_hook(["a", "b"])
    hook((encode("a"), None), compute_result=False)
    with pytest.raises((ValueError, TypeError, AttributeError)):
        hook((wrong, None))
    assert hook((encode("a", "x"), encode("a", "b"))) == {"anls": 0.5}


# Rows without exactly one answer


def test_labels_of_a_whole_text_are_refused_for_a_decoder() -> None:
    labels = encode("what brand coca")
    hook, logits = make_hook(["coca"], causal=True), make_logits(labels, causal=True)
    for given in (logits, hook.preprocess_logits_for_metrics(logits, labels)):
        with pytest.raises(ValueError, match=r"labels of row 0 .* include the prompt.* assistant_only_loss=True"):
            hook((given, labels))
    # Generated ids begin with a token, and their labels may be the answer alone.
    assert hook((encode("coca"), encode("coca"))) == {"anls": 1.0}


def test_several_answers_in_one_row_are_refused() -> None:
    labels = np.concatenate([encode("coca", before=4), encode("pepsi", before=4)], axis=1)
    message = r"prediction for row 0 \(counted from 0\) is not contig.* eval_packing=False"
    for references in (None, ["coca"]):
        with pytest.raises(ValueError, match=message):
            make_hook(references, causal=True)((make_logits(labels, causal=True), labels))


# Pickled, copied, and without its package


def score_with(hook: anls_metric.ComputeMetrics) -> Any:
    return hook((encode("<sanswer>cola", "pepsi"), None))


def test_hook_can_be_copied_and_sent_to_another_process() -> None:
    hook = make_hook(["coca", "pepsi"], extract_from_donut, variant="rrc", threshold=0.2, ignore_case=False)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert score_with(hook) == pool.apply(score_with, [hook]) == {"anls": 0.375}
    hook((encode("coca"), None), compute_result=False)  # the copy includes these rows
    for copied in (copy.deepcopy(hook), pickle.loads(pickle.dumps(hook))):
        copied.reset()
        assert score_with(copied) == {"anls": 0.375}


def test_metric_builds_the_hook_with_its_options(metric: Any) -> None:
    ids = encode("ab"), encode("abcd")
    assert metric.build_compute_metrics(Tokenizer())(ids) == {"anls": 0.5}
    assert metric.build_compute_metrics(Tokenizer(), variant="pypi_anls")(ids) == {"anls": 0.0}
    hook = metric.build_compute_metrics(Tokenizer(), ["cola"], extract_from_donut, skip_special_tokens=False)
    for copied in (hook, copy.deepcopy(hook), pickle.loads(pickle.dumps(hook))):
        assert copied((encode("<sanswer>cola"), None)) == {"anls": 0.5}
    with pytest.raises(TypeError, match="unexpected keyword argument 'treshold'"):
        metric.build_compute_metrics(Tokenizer(), treshold=0.5)
    hook = anls_metric.load("anls_star").build_compute_metrics(Tokenizer())
    assert hook((encode("ab"), encode("abcd"))) == {"anls_star": 0.0}  # no JSON
    values = anls_metric.load("anls_star", none_keys="ignored", numbers="by_value", threshold=0.6)
    assert values.build_compute_metrics(Tokenizer()).scorer == get_scorer(
        "anls_star", none_keys="ignored", numbers="by_value", threshold=0.6
    )
    assert values.build_reward().__name__ == "anls_star_0.6"
