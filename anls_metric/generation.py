"""A callback for the trainers of transformers and TRL that scores what the model generates during training."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from anls_metric.core.checks import describe, requires
from anls_metric.core.statistics.significance import interval
from anls_metric.transformers import ComputeMetrics, build_compute_metrics

with requires("'transformers[torch]'"):
    import torch
    from transformers import TrainerCallback
    from transformers.trainer_callback import ExportableState

__all__ = ["GenerateAndScore"]

_WORST = 20  # the rows of the table of the worst answers
_BY_DEFAULT = {"max_new_tokens": 64, "do_sample": False}


class GenerateAndScore(TrainerCallback, ExportableState):  # type: ignore[misc]
    """Generates an answer for each row after each evaluation, and adds the ANLS of the answers to the metrics.

    The metrics get ``eval_anls_generated`` and the ends of its 95% interval, ``eval_anls_generated_low`` and ``_high``,
    before the trainer looks for the best model: ``metric_for_best_model="anls_generated"``. They are printed, and stand
    in ``trainer.state.log_history``. If Weights & Biases is in use, it gets them and the worst answers.

    In a distributed run, each process generates its share of the rows. Not tested with DeepSpeed ZeRO-3 and FSDP.

    Args:
        dataset: the rows: ``prompt`` is a string or a list of messages, and ``image`` or ``images`` are page images;
            or, for models with an encoder, rows with ``input_ids``. For several evaluation sets, a dict by name: the
            scores are ``eval_NAME_anls_generated``.
        references: the accepted answers of each row, or a dict of these by name.
        processor: the tokenizer or processor; None takes the ``processing_class`` of the trainer.
        encode: a function of a list of rows that returns the inputs of ``generate`` as tensors, with prompts padded on
            the left for a decoder-only model; for rows of another form.
        generation_config: a `GenerationConfig`; None generates greedily, at most 64 tokens.
        batch_size: the rows that are generated at once.
        limit: the number of rows of a sample, which stays the same; None takes all.
        name: the name of the score in the metrics.
        options: ``extract``, ``skip_special_tokens``, ``variant``, ``threshold``, ``ignore_case`` and ``metrics``, as
            `build_compute_metrics` takes them.

    Raises:
        ValueError: the numbers of rows differ, an option is wrong, or several sequences were asked for. When training
            begins: there is no processor, or early stopping would look for the score before it is there.
    """

    def __init__(
        self,
        dataset: Any,
        references: Any,
        *,
        processor: Any = None,
        encode: Callable[[list[Any]], Any] | None = None,
        generation_config: Any = None,
        batch_size: int = 8,
        limit: int | None = None,
        name: str = "anls_generated",
        **options: Any,
    ) -> None:
        if references is None:
            raise ValueError("references must not be None: pass references for every row")
        several = isinstance(dataset, Mapping)
        if several != isinstance(references, Mapping) or (several and set(dataset) != set(references)):
            raise ValueError("dataset and references must either both be dicts with the same keys or both not be dicts")
        for argument, number in {"batch_size": batch_size, "limit": limit}.items():
            if number is not None and number < 1:
                raise ValueError(f"{argument} must be at least 1, got {number}")
        if getattr(generation_config, "num_return_sequences", None) not in (None, 1):
            raise ValueError("only one sequence per row can be scored: set num_return_sequences=1")
        self.hook: ComputeMetrics = build_compute_metrics(processor, references, **options)
        prefixes = [f"eval_{key}" for key in references] if several else ["eval"]
        datasets = [dataset[key] for key in references] if several else [dataset]
        # The set of an evaluation, by the prefix of its metrics.
        self.sets = dict(zip(prefixes, zip(datasets, self.hook.sets or [])))
        for prefix, (rows, accepted) in self.sets.items():
            if len(rows) != len(accepted):
                raise ValueError(
                    f"the dataset of {prefix!r} has {len(rows):,} rows, but there are references for "
                    f"{len(accepted):,}: pass references for exactly these rows"
                )
            if encode is None and len(rows) and not {"prompt", "input_ids"} & set(rows[0]):
                raise ValueError(
                    f"the dataset of {prefix!r} has no column 'prompt', only {describe(list(rows[0]))}: rename the "
                    "column, or pass encode"
                )
        self.processor, self.encode, self.generation_config = processor, encode, generation_config
        self.batch_size, self.limit, self.name = batch_size, limit, name

    def state(self) -> dict[str, Any]:
        """Return what a checkpoint keeps, which is nothing. This method makes the trainer list this callback among the
        others.
        """
        return {"args": {}, "attributes": {}}

    def on_train_begin(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        """Refuse at the start what would otherwise fail only after the first evaluation."""
        self._find_processor(given)
        before = list(state.stateful_callbacks)
        if "EarlyStoppingCallback" in before[: before.index(type(self).__name__)]:
            raise ValueError("EarlyStoppingCallback would miss the score: put GenerateAndScore before it in callbacks")

    def on_evaluate(self, args: Any, state: Any, control: Any, *, metrics: Any, model: Any, **given: Any) -> None:
        """Generate answers for the rows of the evaluation set, and add their scores to the metrics."""
        prefix = next((key.removesuffix("_runtime") for key in metrics if key.endswith("_runtime")), "")
        if prefix not in self.sets:
            return
        rows, references = self.sets[prefix]
        chosen: Sequence[int] = range(len(rows))
        if self.limit is not None and self.limit < len(rows):
            chosen = sorted(random.Random(0).sample(chosen, self.limit))
        self.hook.tokenizer = self._find_processor(given)[1]
        accepted = [references[row] for row in chosen]
        ids = self._generate(model, given, [rows[row] for row in chosen])
        answers, values, means = self.hook.score_ids(ids, accepted)
        scores, key = list(map(float, values)), f"{prefix}_{self.name}"
        (_, mean), *others = means.items()
        added = {key: mean, **{f"{key}_{name}": value for name, value in others}}
        if len(scores) > 1:
            added |= {f"{key}_{end}": value for end, value in interval(scores)._asdict().items()}
        metrics.update(added)
        state.log_history.append({**added, "epoch": state.epoch, "step": state.global_step})
        if state.is_world_process_zero:
            print(f"{key} {added[key]:.4f}")
            _log_worst(key, added, sorted(zip(scores, chosen, answers, accepted), key=lambda row: row[:2])[:_WORST])

    def _find_processor(self, given: Mapping[str, Any]) -> tuple[Any, Any]:
        """Find the processor, and the tokenizer in it."""
        processor = self.processor or given.get("processing_class") or given.get("tokenizer")
        if processor is None:
            raise ValueError("the trainer has no processing_class: pass processor to GenerateAndScore")
        return processor, getattr(processor, "tokenizer", processor)

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def _generate(self, model: Any, given: Mapping[str, Any], rows: list[Any]) -> list[list[int]]:
        """Generate the ids of an answer for each row; in a distributed run, each process takes every nth row."""
        processes = torch.distributed.is_available() and torch.distributed.is_initialized()
        rank, count = (torch.distributed.get_rank(), torch.distributed.get_world_size()) if processes else (0, 1)
        share, ids, training = rows[rank::count], [], model.training
        encode = self.encode or (lambda batch: _encode(*self._find_processor(given), batch, model))
        options = {"generation_config": self.generation_config} if self.generation_config else _BY_DEFAULT
        model.eval()
        try:
            for start in range(0, len(share), self.batch_size):
                inputs = {
                    key: value.to(model.device) for key, value in encode(share[start:][: self.batch_size]).items()
                }
                written = model.generate(**inputs, **options)
                skipped = 0 if model.config.is_encoder_decoder else inputs["input_ids"].shape[1]
                ids += written[:, skipped:].tolist()
        finally:
            model.train(training)
        if not processes:
            return ids
        shares: list[Any] = [None] * count
        torch.distributed.all_gather_object(shares, ids)
        return [shares[row % count][row // count] for row in range(len(rows))]


def _encode(processor: Any, tokenizer: Any, rows: list[Any], model: Any) -> Any:
    """Encode prompts, padded on the left: a decoder continues what stands at the end."""
    side = tokenizer.padding_side
    decoder = not model.config.is_encoder_decoder
    tokenizer.padding_side = "left" if decoder else "right"
    try:
        if "prompt" not in rows[0]:
            if decoder and "labels" in rows[0]:
                raise ValueError(
                    "input_ids of a decoder-only model include the answer: pass rows with a 'prompt' column"
                )
            return tokenizer.pad({"input_ids": [list(row["input_ids"]) for row in rows]}, return_tensors="pt")
        prompts, images = [row["prompt"] for row in rows], list(map(_list_images, rows))
        chat = not isinstance(prompts[0], str)
        if chat:
            prompts = [_place_images(prompt, len(own)) for prompt, own in zip(prompts, images)]
            template = processor.apply_chat_template
            prompts = [template(prompt, tokenize=False, add_generation_prompt=True) for prompt in prompts]
        if any(images):
            return processor(text=prompts, images=images, padding=True, return_tensors="pt")
        inputs = tokenizer(prompts, padding=True, return_tensors="pt", add_special_tokens=not chat)
        return {key: inputs[key] for key in ("input_ids", "attention_mask")}
    finally:
        tokenizer.padding_side = side


def _list_images(row: Mapping[str, Any]) -> list[Any]:
    """List the page images of a row."""
    images = row.get("images", row.get("image"))
    return list(images) if isinstance(images, (list, tuple)) else [images] * (images is not None)


def _place_images(messages: Sequence[Any], count: int) -> list[Any]:
    """Place images before the text of the first message of the user, as TRL does, unless messages have parts."""
    first = next((place for place, message in enumerate(messages) if message["role"] == "user"), None)
    if first is None or not count or not isinstance(messages[first]["content"], str):
        return list(messages)
    parts = [*[{"type": "image"}] * count, {"type": "text", "text": messages[first]["content"]}]
    return [*messages[:first], {**messages[first], "content": parts}, *messages[first + 1 :]]


def _log_worst(key: str, scores: Mapping[str, float], worst: Iterable[Any]) -> None:
    """Log the scores, and a table of the worst answers, if Weights & Biases is in use."""
    wandb: Any = sys.modules.get("wandb")
    if getattr(wandb, "run", None) is None:
        return
    data = [[row, answer, str(accepted), score] for score, row, answer, accepted in worst]
    wandb.log({**scores, f"{key}_worst": wandb.Table(["row", "answer", "references", "score"], data)})
