"""A callback for the trainers of transformers and TRL that scores what the model generates during training."""

from __future__ import annotations

import random
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from itertools import cycle, islice
from typing import Any, NamedTuple

from anls_metric.core.checks import describe, name_row, requires
from anls_metric.core.decoding import Decoder, Ids, fold, list_texts, read_sets
from anls_metric.core.statistics.significance import interval

with requires("'transformers[torch]'"):
    import torch
    from transformers import EarlyStoppingCallback, GenerationConfig, TrainerCallback
    from transformers.integrations import is_deepspeed_zero3_enabled
    from transformers.trainer_callback import CallbackHandler

__all__ = ["GenerateAndScore"]

_WORST = 20  # the number of rows in the table of the worst answers
_COMPARED = 16  # how many rows of an evaluation are compared with those given to the callback
_BY_DEFAULT = {"max_new_tokens": 64, "do_sample": False}
_CUT_OFF = 0.1  # the share of answers without an end token that is a warning
_PROMPTS = ("prompt", "messages")  # the columns for prompts; the first one in a row is used
_OF_TOKENS = {"input_ids", "attention_mask", "token_type_ids", "completion_mask", "assistant_masks", "labels"}
_OF_GENERATE = GenerationConfig()
_SCORE_OTHERS = (
    "to score other rows, call callback.score(model, rows, references), or pass several sets by name: "
    'GenerateAndScore({"validation": (rows, references), "test": (rows, references)})'
)


class _Set(NamedTuple):
    rows: Any
    references: Sequence[Any]


class GenerateAndScore(TrainerCallback):  # type: ignore[misc]
    """Generates an answer for each row after each evaluation and adds the ANLS of the answers to the metrics.

    ``eval_anls_generated`` and the bounds of its 95% interval, ``eval_anls_generated_low`` and ``_high``, are added
    before the trainer looks for the best model, so you can set ``metric_for_best_model="anls_generated"``. They appear
    alongside the trainer's own metrics in ``trainer.state.log_history`` and are passed to every logger and progress
    bar. If Weights & Biases is in use, it also receives the worst answers.

    If a trainer evaluates rows that the callback was not given, there is a warning and no score. To score any other
    rows, call `score`.

    In a distributed run, each process generates its share of the rows. FSDP weights are gathered; a model that is split
    by tensor parallelism is rejected.

    Args:
        dataset: the rows: ``prompt`` is a string or a list of messages, or ``messages`` is a conversation that ends
            with the answer, which is left out; ``image`` or ``images`` are page images, unless the messages contain
            them. For models with an encoder, rows with ``input_ids`` also work. For several evaluation sets, pass a
            dict mapping the name of each to its rows and their references: ``{"test": (rows, references)}``. A set is
            scored if the prefix of the metrics is its name or ends with it (``test_anls_generated``,
            ``eval_test_anls_generated``), or if its rows are evaluated.
        references: the references (accepted answers) of each row. If ``dataset`` is a dict with only the rows, pass a
            dict with the same keys.
        processor: the tokenizer or processor; None takes the trainer's ``processing_class``.
        encode: for rows in any other form, a function that takes a list of rows and returns the inputs of ``generate``
            as tensors, with prompts padded on the left for a decoder-only model.
        generation_config: a `GenerationConfig` or a dict of its options; None generates greedily, at most 64 tokens.
        batch_size: the number of rows for which answers are generated at once.
        limit: the number of rows in a sample, which is the same in every evaluation; None takes all rows.
        name: the name of the score in the metrics.
        options: ``extract``, ``skip_special_tokens``, ``variant``, ``threshold``, ``ignore_case`` and ``metrics``, as
            in `build_compute_metrics`.

    Attributes:
        answers: the answers that were generated and scored last, in the order of the rows; with ``limit``, of the
            sample.

    Raises:
        ValueError: the numbers of rows differ, a prompt ends with its answer, the rows are streamed, an option is
            invalid, or several sequences were requested. When training begins: there is no processor, the first row
            cannot be encoded, or early stopping would look for the score before it exists.
    """

    def __init__(
        self,
        dataset: Any,
        references: Any = None,
        *,
        processor: Any = None,
        encode: Callable[[list[Any]], Any] | None = None,
        generation_config: Any = None,
        batch_size: int = 8,
        limit: int | None = None,
        name: str = "anls_generated",
        **options: Any,
    ) -> None:
        for argument, number in {"batch_size": batch_size, "limit": limit}.items():
            if number is not None and number < 1:
                raise ValueError(f"{argument} must be at least 1, got {number}")
        misplaced = [option for option in options if hasattr(_OF_GENERATE, option)]
        if misplaced:
            raise ValueError(f"{misplaced[0]} is an option of generate: pass it in generation_config")
        if isinstance(generation_config, Mapping):
            generation_config = GenerationConfig(**{**_BY_DEFAULT, **generation_config})
        if getattr(generation_config, "num_return_sequences", None) not in (None, 1):
            raise ValueError("only one sequence per row can be scored: set num_return_sequences=1")
        self.processor, self.encode, self.generation_config = processor, encode, generation_config
        self.batch_size, self.limit, self.name = batch_size, limit, name
        self.answers: list[str] = []
        rows_of, references_of = _split_sets(dataset, references)
        self.decoder = Decoder(processor, references_of, **options)
        self.sets: dict[str, _Set] = {}
        for key, accepted in zip(references_of, self.decoder.sets or []):
            self.sets[key] = self._check(f"the dataset {key!r}" if key else "the dataset", rows_of[key], accepted)

    def _check(self, what: str, rows: Any, references: Sequence[Any]) -> _Set:
        """Check a set of rows and their references. Only the first prompt is checked here, since every prompt is
        checked when it is encoded.
        """
        if not hasattr(rows, "__len__"):
            raise ValueError(
                f"{what} is streamed, so its rows cannot be counted: pass some of them as a list, such as "
                "list(dataset.take(200)), and their references"
            )
        if len(rows) != len(references) or not len(rows):
            raise ValueError(
                f"{what} has {len(rows):,} rows, but there are references for {len(references):,}: pass references "
                "for exactly these rows"
                if len(rows)
                else f"{what} has no rows: pass those of the evaluation set"
            )
        if self.encode is None and not {*_PROMPTS, "input_ids"} & set(rows[0]):
            raise ValueError(
                f"{what} has no column 'prompt', only {describe(list(rows[0]))}: rename the column to 'prompt' or "
                "'messages', or pass encode"
            )
        if self.encode is None and not {*_PROMPTS}.isdisjoint(rows[0]):
            _read_prompt(rows[0], name_row(0))
        return _Set(rows, references)

    def score(self, model: Any, dataset: Any, references: Any) -> dict[str, float]:
        """Generate an answer for each row of any dataset, and score the answers.

        In a distributed run, call it in all processes.

        Args:
            model: the model, such as ``trainer.model``.
            dataset: the rows, as for `GenerateAndScore`. All rows are scored, regardless of ``limit``.
            references: the references of each row.

        Returns:
            A dict with the ANLS under ``anls_generated``, or under the chosen ``name``, the bounds of its 95% interval
            under the same name followed by ``_low`` and ``_high``, and each further metric under that name followed by
            the name of the metric.

        Raises:
            ValueError: the numbers of rows differ, a prompt ends with its answer, or there is no processor.
        """
        rows, accepted = self._check("the dataset", dataset, read_sets(references, self.decoder.scorer)[0])
        return self._score(model, rows, accepted, range(len(rows)), self.name)[0]

    def on_init_end(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        """Keep the trainer's processor."""
        self._keep_processor(given)

    def on_train_begin(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        """Reject settings that would fail only after the first evaluation."""
        self._keep_processor(given)
        processor = self._find_processor()
        for rows, _ in self.sets.values() if self.encode is None else ():
            _encode(processor, [rows[0]], given["model"])
        callbacks = getattr(_find_handler(), "callbacks", [self])
        before = callbacks[: callbacks.index(self)]
        stops = any(isinstance(callback, EarlyStoppingCallback) for callback in before)
        if stops and self._is_own(args.metric_for_best_model or ""):
            raise ValueError("EarlyStoppingCallback would miss the score: put GenerateAndScore before it in callbacks")

    def on_evaluate(self, args: Any, state: Any, control: Any, *, metrics: Any, **given: Any) -> Any:
        """Generate answers for the rows of the evaluation set and add their scores to the metrics and the log."""
        last = state.log_history[-1] if state.log_history else {}
        prefix = _find_prefix({**metrics, **last})  # the table of a notebook takes the times out of the metrics
        added = self._add_scores(prefix, state, metrics, given)
        if not added:
            return control
        if f"{prefix}_runtime" in last:
            last.update(added)
        else:
            state.log_history.append({**added, "epoch": state.epoch, "step": state.global_step})
        handler = _find_handler()
        return handler.on_log(args, state, control, logs={**added, "epoch": state.epoch}) if handler else control

    def on_predict(self, args: Any, state: Any, control: Any, *, metrics: Any, **given: Any) -> None:
        """Generate and score answers after `Trainer.predict`, if the prefix of its metrics names a set."""
        prefix = _find_prefix(metrics)
        if self._find_named(prefix):
            self._add_scores(prefix, state, metrics, given)

    def _add_scores(self, prefix: str, state: Any, metrics: Any, given: Mapping[str, Any]) -> dict[str, float]:
        """Add the scores of the evaluated set to the metrics, if the callback was given this set."""
        self._keep_processor(given)
        self._find_processor()
        key = f"{prefix}_{self.name}"
        chosen, problem = self._choose_set(prefix, given.get("eval_dataloader"))
        if problem:
            warnings.warn(f"no {key}: {problem}", stacklevel=2)
            return {}
        rows, references = self.sets[chosen]
        places: Sequence[int] = range(len(rows))
        if self.limit is not None and self.limit < len(rows):
            places = sorted(random.Random(0).sample(places, self.limit))
        added, worst = self._score(given["model"], rows, references, places, key)
        metrics.update(added)
        if state.is_world_process_zero:
            _log_worst(key, worst)
        return added

    def _score(
        self, model: Any, rows: Any, references: Sequence[Any], places: Sequence[int], key: str
    ) -> tuple[dict[str, float], list[Any]]:
        """Generate and score the answers for some rows, and return the scores by name and the worst answers."""
        self._find_processor()
        accepted = [references[place] for place in places]
        ids = self._generate(model, rows, places)
        self.answers, values, means = self.decoder.score_ids(ids, accepted)
        self._warn_of_cut_off(model, ids)
        scores = list(map(float, values))
        (_, mean), *others = means.items()
        found = {key: mean, **{f"{key}_{name}": value for name, value in others}}
        if len(scores) > 1:
            found |= {f"{key}_{end}": value for end, value in interval(scores)._asdict().items()}
        return found, sorted(zip(scores, places, self.answers, accepted), key=lambda row: row[:2])[:_WORST]

    def _warn_of_cut_off(self, model: Any, ids: list[list[int]]) -> None:
        """Warn about answers that do not end with an end token, because generation stopped at the limit."""
        ends = getattr(self.generation_config, "eos_token_id", None) or model.generation_config.eos_token_id
        ends = {*ends} if isinstance(ends, (list, tuple)) else {ends} - {None}
        unfinished = sum(ends.isdisjoint(row) for row in ids) if ends else 0
        if unfinished >= _CUT_OFF * len(ids):
            problem = f"{unfinished:,} of {len(ids):,} answers have no end token"
            warnings.warn(f"{problem}: if they are cut off, raise max_new_tokens in generation_config", stacklevel=2)

    # The processor and the metric

    def _keep_processor(self, given: Mapping[str, Any]) -> None:
        self._of_trainer = given.get("processing_class") or given.get("tokenizer")

    def _find_processor(self) -> Any:
        """Return the processor that was passed or, if there is none, the trainer's processor, and decode answers with
        its tokenizer.
        """
        processor = self.processor or getattr(self, "_of_trainer", None)
        if processor is None:
            raise ValueError("the trainer has no processing_class: pass processor to GenerateAndScore")
        self.decoder.tokenizer = _find_tokenizer(processor)
        return processor

    def _is_own(self, metric: str) -> bool:
        """Whether a metric is one that this callback adds."""
        ends = ["", "_low", "_high", *(f"_{each.name}" for each in self.decoder.metrics)]
        return any(f"_{metric}".endswith(f"_{self.name}{end}") for end in ends)

    # The set that was evaluated

    def _find_named(self, prefix: str) -> str | None:
        """Find the set to which a prefix such as "test" or "eval_test" refers."""
        named = [name for name in self.sets if name and f"_{prefix}".endswith(f"_{name}")]
        return max(named, key=len, default=None)

    def _choose_set(self, prefix: str, loader: Any) -> tuple[str, str]:
        """Choose the evaluated set by the prefix of the metrics and by the rows. Returns the name of the set and "", or
        "" and the problem.
        """
        named = self._find_named(prefix)
        compared = {name: self._compare(loader, name) for name in ([named] if named else self.sets)}
        problems = [problem for _, problem in compared.values() if problem]
        fitting = {name: count for name, (count, problem) in compared.items() if not problem}
        best = [name for name, count in fitting.items() if count == max(fitting.values())]
        if not best:
            return "", f"{'; '.join(problems)}; {_SCORE_OTHERS}"
        if len(best) > 1:
            some = " and ".join(map(repr, best))
            return "", f"the sets {some} both fit: pass one of these names as metric_key_prefix"
        return best[0], ""

    def _compare(self, loader: Any, name: str) -> tuple[int, str]:
        """Compare the rows of an evaluation with those of a set. Returns the number of equal values, and the problem,
        which is "" if the rows match.
        """
        rows, references = self.sets[name]
        evaluated, what = getattr(loader, "dataset", None), f" for {name!r}" if name else ""
        if evaluated is None or evaluated is rows:
            return len(rows), ""
        if hasattr(evaluated, "__len__"):
            if len(evaluated) != len(rows):
                given = f"GenerateAndScore was given {len(rows):,}{what}"
                packed = " (if SFTTrainer packs them, set eval_packing=False)" * (len(evaluated) < len(rows))
                return 0, f"the evaluation has {len(evaluated):,} rows, but {given}{packed}"
            places: Sequence[int] = sorted(random.Random(0).sample(range(len(rows)), min(len(rows), _COMPARED)))
            theirs = [evaluated[place] for place in places]
        else:  # a stream, or the share of it that a process takes
            theirs = list(islice(getattr(evaluated, "dataset", evaluated), min(len(rows), _COMPARED)))
            places = range(len(theirs))
        equal, problem = self._compare_columns(theirs, [rows[place] for place in places])
        labels = None if problem else _read_labels(loader, theirs)
        if labels is not None:
            found, problem = _match_labels(self.decoder, labels, [references[place] for place in places])
            equal += found
        return equal, problem and f"the evaluation has other rows than GenerateAndScore was given{what}: {problem}"

    def _compare_columns(self, theirs: list[Any], own: list[Any]) -> tuple[int, str]:
        """Compare the columns that both sides have, except those that trainers create."""
        if not all(isinstance(row, Mapping) for row in (*theirs, *own)):
            return 0, ""
        made = set() if self.encode is None and {*_PROMPTS}.isdisjoint(own[0]) else _OF_TOKENS
        equal = 0
        for column in (key for key in own[0] if key in theirs[0] and key not in made):
            cells = [(_as_plain(left[column]), _as_plain(right[column])) for left, right in zip(theirs, own)]
            known = [(left, right) for left, right in cells if right is not None and type(left) is type(right)]
            same = sum(left == right for left, right in known)
            if 2 * same < len(known):
                return 0, f"{column!r} differs in {len(known) - same:,} of {len(known):,} rows"
            equal += same
        return equal, ""

    # The answers

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def _generate(self, model: Any, rows: Any, places: Sequence[int]) -> list[list[int]]:
        """Generate the token ids of an answer for each of some rows. In a distributed run of n processes, each process
        takes every nth row.
        """
        processes = torch.distributed.is_available() and torch.distributed.is_initialized()
        rank, count = (torch.distributed.get_rank(), torch.distributed.get_world_size()) if processes else (0, 1)
        # All processes generate equally often, because those that share a model's weights wait for each other.
        share = list(islice(cycle(places), rank, -(-len(places) // count) * count, count))
        ids: list[list[int]] = []
        encode = self.encode or (lambda batch: _encode(self._find_processor(), batch, model))
        options: dict[str, Any] = (
            {"generation_config": self.generation_config} if self.generation_config else {**_BY_DEFAULT}
        )
        with _prepare(model, options):
            for start in range(0, len(share), self.batch_size):
                batch = [rows[place] for place in share[start:][: self.batch_size]]
                inputs = {key: value.to(model.device) for key, value in encode(batch).items()}
                written = model.generate(**inputs, **options)
                skipped = 0 if model.config.is_encoder_decoder else inputs["input_ids"].shape[1]
                ids += written[:, skipped:].tolist()
        if not processes:
            return ids
        shares: list[Any] = [None] * count
        torch.distributed.all_gather_object(shares, ids)
        return [shares[row % count][row // count] for row in range(len(places))]


def _split_sets(dataset: Any, references: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split the sets into rows and references, both keyed by the name of the set, which is "" for a single set."""
    several = isinstance(dataset, Mapping)
    if references is None and several and all(isinstance(each, tuple) and len(each) == 2 for each in dataset.values()):
        return {key: rows for key, (rows, _) in dataset.items()}, {key: given for key, (_, given) in dataset.items()}
    if references is None:
        raise ValueError("references must not be None: pass references for every row")
    if several != isinstance(references, Mapping) or (several and set(dataset) != set(references)):
        raise ValueError("dataset and references must both be dicts with the same keys, or neither may be a dict")
    return (dict(dataset), dict(references)) if several else ({"": dataset}, {"": references})


def _find_handler() -> Any:
    """Search the call stack for the handler that calls the trainer's callbacks, which are not given the trainer."""
    frame = sys._getframe()
    while frame is not None and not isinstance(frame.f_locals.get("self"), CallbackHandler):
        frame = frame.f_back  # type: ignore[assignment]
    return frame and frame.f_locals["self"]


def _find_prefix(metrics: Mapping[str, Any]) -> str:
    """Find the prefix of an evaluation's metrics."""
    return next((key.removesuffix("_runtime") for key in metrics if key.endswith("_runtime")), "eval")


def _find_tokenizer(processor: Any) -> Any:
    return getattr(processor, "tokenizer", processor)


def _as_plain(cell: Any) -> Any:
    """Convert a cell to plain values that can be compared, with None in place of values that cannot be compared."""
    if isinstance(cell, Mapping):
        return {key: _as_plain(value) for key, value in cell.items() if value is not None}
    if isinstance(cell, (list, tuple)):
        return list(map(_as_plain, cell))
    for method in ("tolist", "tobytes"):  # of arrays, and of Pillow images
        if hasattr(cell, method):
            return getattr(cell, method)()
    return cell if isinstance(cell, (str, int, float)) else None


def _read_labels(loader: Any, rows: list[Any]) -> list[list[int]] | None:
    """Return the label ids that the trainer's collator creates for rows, or None if the rows have no labels."""
    batch = loader.collate_fn([dict(row) if isinstance(row, Mapping) else row for row in rows])
    labels = batch.get("labels") if isinstance(batch, Mapping) else None
    if getattr(labels, "ndim", 0) != 2 or torch.is_floating_point(torch.as_tensor(labels)):
        return None
    return [[item for item in row if item >= 0] for row in labels.tolist()]  # type: ignore[union-attr]


def _match_labels(decoder: Decoder, expected: Ids, references: Sequence[Any]) -> tuple[int, str]:
    """Count the labels that equal a reference in the same row or, since they may also cover the question, end with one.
    Also return a description of the first other label if the labels seem to belong to other rows, or "" otherwise.
    """
    labels = [text if ids else None for ids, text in zip(expected, decoder.decode(expected, "label"))]
    folded = [label and fold(decoder.scorer.read_answer(label)) for label in labels]
    texts = [tuple(filter(None, list_texts([accepted]))) for accepted in references]
    found = [row for row, label in enumerate(folded) if label and label.endswith(texts[row])]
    missing = [row for row, label in enumerate(folded) if label and row not in found]
    return len(found), decoder.describe_other_labels(labels, missing, references) if missing else ""


@contextmanager
def _prepare(model: Any, options: dict[str, Any]) -> Iterator[None]:
    """Within this context, keep a model in evaluation mode with all of its weights, and add the options that it needs
    to generate.
    """
    if (getattr(model, "tp_size", None) or 1) > 1:
        raise ValueError(
            "the model is split by tensor parallelism, so processes cannot generate rows of their own: score a saved "
            "checkpoint in one process, with callback.score(model, rows, references)"
        )
    whole = _find_wrapped(model)
    sharded = is_deepspeed_zero3_enabled() or any(hasattr(each, "full_tensor") for each in model.parameters())
    if sharded and not whole:
        options["synced_gpus"] = True
    training = model.training
    model.eval()
    try:
        with whole.summon_full_params(model, writeback=False) if whole else nullcontext():
            yield
    except (RuntimeError, NotImplementedError) as error:
        if not (sharded or whole):
            raise
        raise RuntimeError(
            f"the weights are split among processes, and generation could not gather them ({error}): score a saved "
            "checkpoint in one process, with callback.score(model, rows, references)"
        ) from error
    finally:
        model.train(training)


def _find_wrapped(model: Any) -> Any:
    """Return the class of the first version of FSDP if the model uses it, or None. The modules that this class wraps
    have all of their weights only while the weights are summoned.
    """
    if not torch.distributed.is_available():
        return None
    from torch.distributed.fsdp import FullyShardedDataParallel

    return FullyShardedDataParallel if any(isinstance(m, FullyShardedDataParallel) for m in model.modules()) else None


# Prompts


def _encode(processor: Any, rows: list[Any], model: Any) -> Any:
    """Encode the prompts of rows, padded on the left for a decoder-only model, which continues prompts at their end."""
    tokenizer = _find_tokenizer(processor)
    side, decoder = tokenizer.padding_side, not model.config.is_encoder_decoder
    tokenizer.padding_side = "left" if decoder else "right"
    try:
        if {*_PROMPTS}.isdisjoint(rows[0]):
            if decoder and "labels" in rows[0]:
                raise ValueError(
                    "input_ids of a decoder-only model include the answer: pass rows with a 'prompt' column"
                )
            return tokenizer.pad({"input_ids": [list(row["input_ids"]) for row in rows]}, return_tensors="pt")
        return _encode_prompts(processor, tokenizer, rows)
    finally:
        tokenizer.padding_side = side


def _encode_prompts(processor: Any, tokenizer: Any, rows: list[Any]) -> Any:
    """Encode conversations like `apply_chat_template` with ``tokenize=True``, and strings without a template."""
    has_images = processor is not tokenizer
    texts, images, chat = [], [], False
    for row in rows:
        prompt, own = _read_prompt(row, "a row"), _list_images(row)
        chat = not isinstance(prompt, str)
        if chat:
            prompt, own = _place_images(prompt, own) if has_images else (prompt, own)
            writer = processor if getattr(processor, "chat_template", None) else tokenizer
            prompt = writer.apply_chat_template(prompt, tokenize=False, add_generation_prompt=True)
        texts.append(prompt)
        images.append(own)
    options: dict[str, Any] = {"padding": True, "return_tensors": "pt"}
    if not has_images:
        if any(images):
            raise ValueError("the rows have images, but a tokenizer cannot read them: pass the processor of the model")
        inputs = tokenizer(texts, add_special_tokens=not chat, **options)
        return {key: inputs[key] for key in ("input_ids", "attention_mask")}
    # A template may have written the first special token already. A tokenizer would write it again.
    if tokenizer.bos_token and all(text.startswith(tokenizer.bos_token) for text in texts):
        options["add_special_tokens"] = False
    return processor(text=texts, images=images if any(images) else None, **options)


def _read_prompt(row: Mapping[str, Any], what: str) -> Any:
    """Return the prompt of a row. If the row has a whole conversation, the answer at its end is left out, as in TRL."""
    column = next(key for key in _PROMPTS if key in row)
    prompt = row[column]
    if isinstance(prompt, str):
        return prompt
    if not all(isinstance(message, Mapping) and "role" in message for message in prompt):
        raise ValueError(f"{column!r} of {what} is {describe(prompt)}: pass a list of messages, or the argument encode")
    answered = bool(prompt) and prompt[-1]["role"] == "assistant"
    if answered and column == "prompt":
        raise ValueError(
            f"the prompt of {what} ends with the answer of the assistant: rename the column to 'messages', or leave "
            "out its last message"
        )
    messages = list(prompt[:-1] if answered else prompt)
    if not messages:
        raise ValueError(
            f"{column!r} of {what} has no user message: pass conversations that include the user's messages"
        )
    return messages


def _list_images(row: Mapping[str, Any]) -> list[Any]:
    """List the page images of a row."""
    images = row.get("images", row.get("image"))
    return list(images) if isinstance(images, (list, tuple)) else [images] * (images is not None)


def _place_images(messages: Sequence[Any], images: list[Any]) -> tuple[list[Any], list[Any]]:
    """Split messages into parts, unless they already have parts, with the images before the text of the user's first
    message, as in TRL. Returns the messages and the images of all parts, in order.
    """
    placed, waiting = [], list(images)
    for message in messages:
        content = message.get("content")
        if isinstance(content, str):
            own = [{"type": "image"}] * len(images) if message["role"] == "user" else []
            images = [] if own else images
            message = {**message, "content": [*own, {"type": "text", "text": content}]}
        placed.append(message)
    found = []
    for part in (part for message in placed for part in message.get("content") or [] if part["type"] == "image"):
        sources = [part[key] for key in ("image", "url", "path", "base64") if part.get(key) is not None]
        if not sources and not waiting:
            raise ValueError("a message has a place for an image, but its row has none: add it to the column 'images'")
        found.append(sources[0] if sources else waiting.pop(0))
    if waiting:
        problem = f"the messages of a row have no place for {len(waiting)} of the row's images"
        raise ValueError(f"{problem}: add an image part for each")
    return placed, found


def _log_worst(key: str, worst: Iterable[Any]) -> None:
    """Log a table of the worst answers, if Weights & Biases is in use."""
    wandb: Any = sys.modules.get("wandb")
    if getattr(wandb, "run", None) is None:
        return
    data = [[row, answer, str(accepted), score] for score, row, answer, accepted in worst]
    wandb.log({f"{key}_worst": wandb.Table(["row", "answer", "references", "score"], data)})
