"""The page: try the metric on one answer or on a file, and see why a score is what it is.

A thin layer of gradio over `anls`, `review` and `show`. Uploads are moved to a private folder as soon as they come, and
deleted with the session: gradio would hand its own copies to whoever knows their path.
"""

from __future__ import annotations

import importlib.util
import json
import logging
import os
import random
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial, wraps
from pathlib import Path
from typing import Any

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

import gradio as gr

import anls
from anls import VARIANTS, Variant, explain, get_variant
from anls_metric import review, show
from anls_metric.report import ZERO_REASONS
from anls_metric.review import Answers, Scores, Upload

MOST_CHARACTERS = 20_000  # of one answer or of its accepted ones, on the page of one answer

_WORST = 10
_DIFFERENCES = 5
_SESSION = 3600  # seconds that an upload and its scores are kept

# The names of columns that are taken for what they say, the likeliest first.
_PREDICTION_COLUMNS = ("prediction", "predicted", "answer", "model", "output", "response")
_REFERENCES_COLUMNS = ("references", "answers", "accepted", "reference", "gold", "labels", "label", "target")

# What messages of the command say, and what a page has in its place.
_ON_THE_PAGE = {
    "; name the right one with --prediction-field": ": pick the right column",
    "; name the right one with --references-field": ": pick the right column",
    "or count them as 0 with --missing zero": "or count them as 0 with the switch for unanswered questions",
}

EXAMPLES: Mapping[str, tuple[str, str, str, float]] = {
    "Coca Cola": ("CocaCola", "Coca Cola\nCoca Cola Company", "standard", 0.5),
    "TALKINGHEADS": ("TALKINGHEADS", "Talking Heads", "standard", 0.5),
    "Exactly 0.5": ("ab", "abcd", "standard", 0.5),
    "White space": (" The    Coca ", "Coca Cola", "rrc", 0.5),
    "Empty": ("", "Coca Cola", "standard", 0.5),
}


# Settings


def settings(variant: object, threshold: object, ignore_case: object) -> Variant:
    """The variant that the settings of the page ask for.

    Raises:
        ValueError: see `anls.get_variant`.
    """
    return get_variant(variant, threshold, ignore_case)  # type: ignore[arg-type]


def settings_of_link(parameters: Mapping[str, str]) -> Variant:
    """The settings that stand in the address of the page.

    Example:
        >>> settings_of_link({"variant": "rrc", "threshold": "0.8", "case": "counts"}).ignore_case
        False

    Raises:
        ValueError: a setting that does not exist.
    """
    threshold = parameters.get("threshold")
    try:
        number = None if threshold is None else float(threshold)
    except ValueError:
        raise ValueError(f"threshold is {threshold!r} in the link: it must be a number from 0 to 1") from None
    return settings(parameters.get("variant", "standard"), number, _ignore_case(parameters.get("case", "")))


def _ignore_case(case: str) -> bool | None:
    cases = {"": None, "ignored": True, "counts": False}
    if case not in cases:
        raise ValueError(f"case is {case!r}: it must be ignored or counts")
    return cases[case]


# One answer


def accepted(answers: str) -> list[str]:
    """The accepted answers of a text field: one a line, blank lines left out."""
    return [line for line in answers.splitlines() if line.strip()]


def one_answer(prediction: str, answers: str, variant: str, threshold: float, ignore_case: bool) -> tuple[str, str]:
    """The HTML of one answer: its score with the reason, and its score under every variant."""
    if len(prediction) > MOST_CHARACTERS or len(answers) > MOST_CHARACTERS:
        raise ValueError(f"the text is longer than {MOST_CHARACTERS:,} characters: score it as a file")
    references = accepted(answers)
    if not references:
        return show.hint("Write an accepted answer to see the score."), ""
    why = explain(prediction, references, variant=settings(variant, threshold, ignore_case))
    return show.answer(why), show.answer_by_variant(prediction, references, why)


# For programs: what is named here is an endpoint, and a tool of the same name


def _said(error: Exception) -> str:
    said = str(error) if isinstance(error, ValueError) else "the file cannot be read: drop it again"
    for command, page in _ON_THE_PAGE.items():
        said = said.replace(command, page)
    return said if len(said) <= 600 else said[:500] + " … " + said[-100:]


def _for_programs(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, with a user's mistake raised as the error that gradio shows to its clients."""

    @wraps(function)
    def called(*arguments: Any, **named: Any) -> Any:
        try:
            return function(*arguments, **named)
        except (ValueError, OSError) as error:
            raise gr.Error(_said(error), print_exception=False) from error

    return called


def explain_answer(
    prediction: str,
    accepted_answers: list[str],
    variant: str = "standard",
    threshold: float | None = None,
    ignore_case: bool | None = None,
) -> dict[str, Any]:
    """Score one answer with ANLS (Average Normalized Levenshtein Similarity) and say why the score is what it is.

    Args:
        prediction: the answer to score.
        accepted_answers: the accepted answers, one or more; the closest one counts.
        variant: which ANLS, one of the names that list_variants gives.
        threshold: from 0 to 1, a similarity under it scores 0; none takes the variant's own.
        ignore_case: whether case is ignored; none does as the variant does.

    Returns:
        score, reason, sentence and signature; for each accepted answer its distance, length and similarity; edits.
    """
    prediction, accepted_answers = _texts(prediction, accepted_answers)
    why = explain(prediction, accepted_answers, variant=settings(variant, threshold, ignore_case))
    return {
        "score": why.score,
        "reason": why.reason,
        "sentence": show.sentence(why),
        "signature": why.signature,
        "closest": why.best.reference,
        "accepted_answers": [
            {
                "text": match.reference,
                "distance": match.distance,
                "length": match.length,
                "similarity": match.similarity,
            }
            for match in why.matches
        ],
        "edits": [edit._asdict() for edit in why.best.edits],
    }


def compare_variants(prediction: str, accepted_answers: list[str]) -> dict[str, float]:
    """Score one answer under every published variant of ANLS, each with its own threshold and case.

    Args:
        prediction: the answer to score.
        accepted_answers: the accepted answers, one or more.

    Returns:
        The score by the name of the variant.
    """
    prediction, accepted_answers = _texts(prediction, accepted_answers)
    return {name: anls.anls_score(prediction, accepted_answers, variant=name) for name in VARIANTS}


def _texts(prediction: object, accepted_answers: object, where: str = "") -> tuple[str, list[str]]:
    """One answer and its references, checked."""
    text = anls.as_text(prediction, f"prediction{where}")
    texts = list(anls.as_references(accepted_answers, f"accepted_answers{where}"))
    review.refuse_too_long(text, texts, f"prediction{where}")
    return text, texts


def score_answers(
    predictions: list[str],
    accepted_answers: list[list[str]],
    variant: str = "standard",
    threshold: float | None = None,
    ignore_case: bool | None = None,
) -> dict[str, Any]:
    """Score many answers with ANLS: the mean, the score of each, and the signature to report with the number.

    Args:
        predictions: the answers to score.
        accepted_answers: for each of them its accepted answers.
        variant: which ANLS, one of the names that list_variants gives.
        threshold: from 0 to 1, a similarity under it scores 0; none takes the variant's own.
        ignore_case: whether case is ignored; none does as the variant does.

    Returns:
        anls, scores and signature.
    """
    chosen = settings(variant, threshold, ignore_case)
    if isinstance(predictions, list) and isinstance(accepted_answers, list):
        for row, texts in enumerate(zip(predictions, accepted_answers)):
            _texts(*texts, f" of row {row}")
    scores = anls.anls_scores(predictions, accepted_answers, variant=chosen)
    return {"anls": anls.mean(scores), "scores": scores, "signature": anls.signature(chosen)}


def list_variants() -> list[dict[str, str]]:
    """List the published variants of ANLS: the name and the meaning of each.

    Returns:
        name, meaning, signature and source of each variant.
    """
    return [
        {"name": name, "meaning": variant.meaning, "signature": anls.signature(variant), "source": variant.source}
        for name, variant in VARIANTS.items()
    ]


def score_files(
    gold: str,
    submission: str,
    variant: str = "standard",
    threshold: float | None = None,
    case: str = "",
    unanswered_score_0: bool = False,
) -> dict[str, Any]:
    """Score a submission file against a gold file with ANLS, joined by the ids of the questions.

    Args:
        gold: a file with the id and the accepted "answers" of each question: RRC JSON, JSON lines, CSV or Parquet.
        submission: a file with the id and the "answer" of each question.
        variant: which ANLS, one of the names that list_variants gives.
        threshold: from 0 to 1, a similarity under it scores 0; none takes the variant's own.
        case: ignored or counts; empty does as the variant does.
        unanswered_score_0: whether a question without an answer scores 0, instead of being an error.

    Returns:
        anls, interval (95 %), questions, zeros by reason, signature, and the score of each question by its id.
    """
    chosen = settings(variant, threshold, _ignore_case(case))
    asked, answered = _uploaded(gold, "gold"), _uploaded(submission, "submission")
    return _result(review.score(review.read_submission(asked, answered, unanswered_score_0), chosen))


def score_table(
    table: str,
    prediction_column: str = "prediction",
    references_column: str = "references",
    variant: str = "standard",
    threshold: float | None = None,
    case: str = "",
) -> dict[str, Any]:
    """Score one table that holds both predictions and accepted answers with ANLS.

    Args:
        table: a CSV, JSON lines, JSON or Parquet file.
        prediction_column: the column with the predictions.
        references_column: the column with the accepted answers: a list, a text, or a list written as a text.
        variant: which ANLS, one of the names that list_variants gives.
        threshold: from 0 to 1, a similarity under it scores 0; none takes the variant's own.
        case: ignored or counts; empty does as the variant does.

    Returns:
        anls, interval (95 %), questions, zeros by reason, signature, and the score of each row by its number.
    """
    chosen = settings(variant, threshold, _ignore_case(case))
    answers = review.read_column(_uploaded(table, "table"), prediction_column, references_column)
    return _result(review.score(answers, chosen))


def _uploaded(path: str | None, what: str) -> Upload:
    if not path:
        raise ValueError(f"{what} is missing: upload a file")
    return Upload(path)


def _result(scores: Scores) -> dict[str, Any]:
    return {
        "anls": scores.report.anls,
        "interval": list(scores.interval) if scores.interval else None,
        "questions": scores.report.count,
        "zeros": dict(scores.report.zeros),
        "signature": scores.report.signature,
        "scores": {scored.question.id: scored.score for scored in scores.scored},
    }


# The page


_THEME = gr.themes.Base(
    primary_hue="sky",
    neutral_hue="stone",
    font=["system-ui", "-apple-system", "Segoe UI", "DejaVu Sans", "sans-serif"],
    font_mono=["ui-monospace", "DejaVu Sans Mono", "Menlo", "monospace"],
)

# The settings go into the address without a new entry in the history; Hugging Face shows a Space in a frame, and
# takes its address from a message.
_SAVE = """
function save(changes) {
    const address = new URL(window.location);
    for (const [name, value] of Object.entries(changes)) {
        if (value === null) address.searchParams.delete(name);
        else address.searchParams.set(name, value);
    }
    window.history.replaceState(null, "", address);
    if (window.parent !== window) {
        const hub = "https://huggingface.co";
        window.parent.postMessage({queryString: address.search.slice(1)}, hub);
    }
    return address;
}
function settings(variant, threshold, ignoreCase) {
    return {variant: variant, threshold: threshold, case: ignoreCase ? "ignored" : "counts"};
}
"""
_SAVE_SETTINGS = "(...chosen) => {" + _SAVE + "save(settings(...chosen)); }"
_SETTLED = "() => { window.settled = true; }"  # gradio selects the first tab before the link is read
_SAVE_TAB = "() => {" + _SAVE + "if (window.settled) save({tab: '%s'}); }"
_COPY_LINK = (
    "async (prediction, answers, ...chosen) => {" + _SAVE + "const texts = {prediction: prediction, answers: answers}; "
    "if (new URLSearchParams(texts).toString().length > 6000) return 'long'; "
    "const address = save({...settings(...chosen), ...texts}); "
    "try { await navigator.clipboard.writeText(address.href); return 'copied'; } catch (error) { return 'shown'; } }"
)
_COPIED = {
    "copied": "The link is in the address bar and on the clipboard. It holds the prediction and the answers.",
    "shown": "The link is in the address bar: copy it there. It holds the prediction and the answers.",
    "long": "These texts are too long for a link.",
}
# What stands in the address is what is shown, or nothing.
_FORGET = (
    "(prediction, answers) => {" + _SAVE + "const given = new URL(window.location).searchParams; "
    "if (!given.has('prediction') && !given.has('answers')) return; "
    "if (given.get('prediction') === prediction && given.get('answers') === answers) return; "
    "save({prediction: null, answers: null}); }"
)
_DOWNLOAD = """
(text) => {
    if (!text) return;
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], {type: "%s"}));
    link.download = "%s";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}
"""

_INTRODUCTION = """\
# ANLS

Average Normalized Levenshtein Similarity, the metric of document VQA: see a score, and see why.
"""

_HOW = """\
## What it is

For each question, the answer is compared with every accepted answer, and the closest one counts. Where even that one is
too far, the answer is taken to be another one and scores 0. ANLS is the mean over the questions.

    similarity = 1 − edit distance / length of the longer text
    score      = similarity of the closest accepted answer, 0 if that is under the threshold (0.5)
    ANLS       = mean of the scores

The edit distance is Levenshtein's: how many characters have to be inserted, deleted or replaced. The standard variant
ignores case and takes every run of white space for one blank.

## Which one is it?

Published programs differ in case, white space, length and threshold, and so in their numbers. Each is a row here, the
same to the bit.
"""

_REPORT = f"""\
## What to report

- The score **with its signature**, like `{anls.signature()}`: it names the variant, what differs from it, and
  the version.
- `rrc` beside the leaderboard's numbers or those of an evaluation harness (lmms-eval, VLMEvalKit, unitxt); `standard`
  for everything else; any other row to reproduce a number that was published with it.
- The number of questions, and an interval: of 1,000 questions, differences under about two points are often chance.
- Not what ANLS cannot know: it compares characters and no meaning, so “1988” for “1989” scores 0.75, and a right answer
  inside a sentence scores 0.

## How to use it in a program

    >>> from anls import anls_score
    >>> anls_score("CocaCola", ["Coca Cola", "Coca Cola Company"])
    0.8888888888888888

`anls.py` is one file that needs rapidfuzz alone. This page has the same as endpoints for `gradio_client`, and as tools
of the Model Context Protocol.

## How to cite

```bibtex
{anls._CITATION.strip()}
```
"""


def _shown_answer(*fields: Any) -> tuple[str, str]:
    try:
        return one_answer(*fields)
    except ValueError as error:
        return show.message(_said(error)), ""


def _guess(columns: Sequence[str], names: Sequence[str]) -> str | None:
    return next((name for name in names if name in columns), None)


def _take_upload(path: str | None) -> Upload | None:
    return Upload(path) if path else None


def build() -> Any:
    """The page, as gradio Blocks."""
    with gr.Blocks(title="ANLS", analytics_enabled=False, delete_cache=(600, _SESSION)) as demo:
        gr.Markdown(_INTRODUCTION)
        with gr.Row(elem_id="settings"):
            variant = gr.Dropdown(
                [(f"{name}: {row.meaning}", name) for name, row in VARIANTS.items()],
                value="standard",
                label="Variant",
                scale=4,
                min_width=300,
                elem_id="variant",
            )
            threshold = gr.Slider(0, 1, 0.5, step=0.01, label="Threshold", scale=3, min_width=240, elem_id="threshold")
            ignore_case = gr.Checkbox(True, label="Ignore case", scale=1, min_width=130, elem_id="ignore-case")
        chosen = [variant, threshold, ignore_case]
        with gr.Tabs() as tabs:
            with gr.Tab("One answer", id="answer") as answer_tab:
                texts, shown = _answer_tab(chosen)
            with gr.Tab("A file", id="file") as file_tab:
                _file_tab(chosen)
            with gr.Tab("How it works", id="how") as how_tab:
                gr.Markdown(_HOW)
                gr.HTML(show.variants())
                gr.Markdown(_REPORT)
        for tab in (answer_tab, file_tab, how_tab):
            tab.select(None, js=_SAVE_TAB % tab.id, api_visibility="private")

        def own(name: str) -> tuple[float, bool]:
            return VARIANTS[name].threshold, VARIANTS[name].ignore_case

        # Not `input`, which comes as well when one only passes through the field.
        variant.select(own, variant, [threshold, ignore_case], show_progress="hidden", api_visibility="private")
        gr.on([setting.change for setting in chosen], None, chosen, None, js=_SAVE_SETTINGS, api_visibility="private")

        def from_link(request: gr.Request) -> tuple[Any, ...]:
            link = dict(request.query_params)
            try:
                found = settings_of_link(link)
            except ValueError as error:
                gr.Warning(f"The settings of the link are not used: {show.text(error)}")
                found = get_variant()
            first = EXAMPLES["Coca Cola"]
            given = [link.get(name, text)[:MOST_CHARACTERS] for name, text in zip(("prediction", "answers"), first)]
            tab = link.get("tab") if link.get("tab") in ("answer", "file", "how") else "answer"
            values = (found.name, found.threshold, found.ignore_case)
            return (*values, *given, gr.Tabs(selected=tab), *_shown_answer(*given, *values))

        outputs = [*chosen, *texts, tabs, *shown]
        loaded = demo.load(from_link, None, outputs, show_progress="hidden", api_visibility="private")
        loaded.then(None, None, None, js=_SETTLED, api_visibility="private")
        for function in (explain_answer, compare_variants, score_answers, list_variants):
            gr.api(_for_programs(function), api_name=function.__name__)
        _file_endpoints()
    return demo.queue(default_concurrency_limit=16)


def _answer_tab(chosen: list[Any]) -> tuple[list[Any], list[Any]]:
    """The tab of one answer: its text fields, and where the score is shown."""
    with gr.Row(equal_height=False):
        with gr.Column(scale=2, min_width=280):
            prediction = gr.Textbox(
                label="Prediction", lines=2, max_lines=6, max_length=MOST_CHARACTERS, elem_id="prediction"
            )
            answers = gr.Textbox(
                label="Accepted answers, one a line",
                lines=3,
                max_lines=10,
                max_length=MOST_CHARACTERS,
                elem_id="answers",
            )
            with gr.Row():
                examples = [gr.Button(name, size="sm", min_width=90) for name in EXAMPLES]
            copy = gr.Button("Copy a link to this answer", size="sm", variant="secondary")
        with gr.Column(scale=3, min_width=300):
            answer = gr.HTML(elem_id="answer")
    others = gr.HTML(elem_id="variants")
    fields = [prediction, answers, *chosen]
    gr.on(
        [field.change for field in fields],
        _shown_answer,
        fields,
        [answer, others],
        show_progress="hidden",
        trigger_mode="always_last",
        api_visibility="private",
    )
    for button in examples:
        text, accepted_answers, name, threshold = EXAMPLES[button.value]
        values = (text, accepted_answers, name, threshold, VARIANTS[name].ignore_case)
        button.click(lambda values=values: values, None, fields, show_progress="hidden", api_visibility="private")
    copied = gr.Textbox(visible=False)
    copy.click(None, fields, copied, js=_COPY_LINK, api_visibility="private").then(
        lambda how: gr.Info(_COPIED[how]), copied, None, api_visibility="private"
    )
    gr.on([text.change for text in (prediction, answers)], None, fields[:2], None, js=_FORGET, api_visibility="private")
    return [prediction, answers], [answer, others]


def _file_tab(chosen: list[Any]) -> None:
    """The tab of a file."""
    kinds = [".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".parquet", ".pq"]
    with gr.Row():
        files = [
            gr.File(label=label, file_types=kinds, height=160, min_width=240, elem_id=name)
            for name, label in _PLACES.items()
        ]
    uploads = [gr.State(None, time_to_live=_SESSION) for _ in files]
    # Choices may change while a choice is on its way: a column that is not there is refused by the reading.
    with gr.Row(visible=False) as columns_row:
        columns = [
            gr.Dropdown([], label=label, min_width=200, allow_custom_value=True)
            for label in ("Column of predictions", "Column of accepted answers", "Second column of predictions")
        ]
    with gr.Row():
        unanswered = gr.Checkbox(False, label="Unanswered questions score 0", scale=2, elem_id="unanswered")
        example = gr.Button("Try made-up files", size="sm", scale=1, min_width=160)
    session = gr.State(_Session(), time_to_live=_SESSION)
    summary = gr.HTML(show.hint(_NOTHING), elem_id="summary")
    with gr.Column(visible=False) as results:
        histogram = gr.HTML(elem_id="histogram")
        with gr.Row():
            downloads = [gr.Button(f"Download {name}", size="sm") for name in _DOWNLOADS]
        comparison = gr.HTML(elem_id="comparison")
        gr.HTML('<section class="anls"><h3>The worst answers</h3></section>')
        with gr.Row():
            words = gr.Textbox("", label="With the words", elem_id="words", min_width=200)
            zero = gr.Dropdown(
                [("any reason, or none", ""), *ZERO_REASONS],
                value="",
                label="That score 0 because",
                min_width=200,
                elem_id="zero",
            )
        worst = gr.HTML(elem_id="worst")
        with gr.Column(visible=False) as by_group:
            gr.HTML('<section class="anls"><h3>By group</h3></section>')
            field = gr.Dropdown([], label="Field of the gold file", elem_id="field", allow_custom_value=True)
            groups = gr.HTML(elem_id="groups")
        gr.HTML('<section class="anls"><h3>The score under every variant</h3></section>')
        every_variant = gr.HTML(elem_id="every-variant")
        downloaded = gr.Textbox(visible=False)

    def run(
        session: _Session,
        group: str | None,
        variant: str,
        threshold: float,
        ignore_case: bool,
        *asked: Any,
        progress: Any = gr.Progress(),  # noqa: B008, gradio finds it there
    ) -> dict[Any, Any]:
        def tell(fraction: float, said: str) -> None:
            progress(fraction, desc=said)

        session.run += 1
        mine = session.run
        try:
            rule = settings(variant, threshold, ignore_case)
            answers = session.answers if session.asked == asked else read_uploads(*asked, progress=tell)
            found = [review.score(one, rule, tell) for one in answers]
            tell(0.5, "Resampling, and scoring under every variant")
            said = shown_scores(found) if found else {"summary": show.hint(_next_step(*asked[:3]))}
        except Exception as error:
            if not isinstance(error, (ValueError, OSError)):
                logging.getLogger(__name__).exception("a file could not be scored")
            answers, found, said = [], [], {"summary": show.message(_said(error))}
        if mine != session.run:  # what was asked for since is on its way
            return {summary: gr.skip()}
        session.asked, session.answers, session.scores = asked if answers else (), answers, found
        if not found:
            return {summary: said["summary"], results: gr.Column(visible=False)}
        fields = answers[0].fields
        return {
            results: gr.Column(visible=True),
            by_group: gr.Column(visible=bool(fields)),
            field: gr.Dropdown(fields, value=group if group in fields else next(iter(fields), None)),
            **{part: said[part.elem_id] for part in (summary, histogram, comparison, every_variant)},
        }

    def show_worst(session: _Session, words: str, zero: str) -> str:
        return shown_worst(session.scores[0], words, zero) if session.scores else ""

    def show_groups(session: _Session, field: str | None) -> str:
        return show.groups(field, session.scores[0].groups(field)) if session.scores and field else ""

    quiet: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}

    def score_after(event: Any) -> None:
        """Score when that has happened; then show what the filters ask for at that time."""
        scored = event(
            fn=run,
            inputs=[session, field, *chosen, *uploads, *columns, unanswered],
            outputs=[results, by_group, field, summary, histogram, comparison, every_variant],
            show_progress_on=summary,
            trigger_mode="always_last",
            concurrency_limit=4,
            api_visibility="private",
        )
        filtered = scored.then(show_worst, [session, words, zero], worst, **quiet)
        filtered.then(show_groups, [session, field], groups, **quiet)

    def score_uploaded(event: Any) -> None:
        score_after(event.then(lambda *held: _picks(*held), uploads, [columns_row, *columns], **quiet).then)

    for file, upload in zip(files, uploads):
        score_uploaded(file.upload(_for_programs(_take_upload), file, upload, **quiet))
        score_uploaded(file.clear(lambda: None, None, upload, **quiet))
    score_uploaded(example.click(_made_up_files, None, [*files, *uploads], **quiet))
    score_after(partial(gr.on, [part.input for part in [*columns, unanswered]]))
    score_after(partial(gr.on, [setting.change for setting in chosen]))
    gr.on([words.change, zero.change], show_worst, [session, words, zero], worst, trigger_mode="always_last", **quiet)
    field.input(show_groups, [session, field], groups, **quiet)
    for button, (name, written) in zip(downloads, _DOWNLOADS.items()):
        file_name, kind = f"anls-scores.{name.lower()}", {"CSV": "text/csv", "JSON": "application/json"}[name]
        button.click(
            lambda session, written=written: written(session.scores[0]) if session.scores else "",
            *(session, downloaded),
            **quiet,
        ).then(None, downloaded, None, js=_DOWNLOAD % (kind, file_name), api_visibility="private").then(
            lambda: "", None, downloaded, **quiet
        )


_PLACES = {
    "gold": "Gold file, or one table with both",
    "submission": "Submission",
    "second": "Second submission, to compare",
}
_DOWNLOADS: Mapping[str, Callable[[Scores], str]] = {"CSV": review.as_csv, "JSON": review.as_json}
_NOTHING = "Drop a gold file and a submission, or one table (CSV, JSON lines, JSON, Parquet) with both."


@dataclass(eq=False)
class _Session:
    """What one visitor's page has read and scored: other settings score it without reading it again."""

    run: int = 0  # the newest one; what an older one finds is not shown
    asked: tuple[Any, ...] = ()
    answers: list[Answers] = field(default_factory=list)
    scores: list[Scores] = field(default_factory=list)


def _next_step(gold: Upload | None, submission: Upload | None, second: Upload | None) -> str:
    if gold is None:
        return _NOTHING if submission is None and second is None else "Drop the gold file as well."
    return f"Drop a submission to {gold.name}, or pick the columns of predictions and of accepted answers."


def _picks(gold: Upload | None, submission: Upload | None, second: Upload | None) -> list[Any]:
    """The row of columns, shown where there is one table alone, and what is picked in it."""
    try:
        columns = gold.columns() if gold and not submission and not second else []
    except (ValueError, OSError):  # the scoring says it
        columns = []
    prediction = _guess(columns, _PREDICTION_COLUMNS)
    references = _guess([column for column in columns if column != prediction], _REFERENCES_COLUMNS)
    return [
        gr.Row(visible=bool(columns)),
        gr.Dropdown(columns, value=prediction),
        gr.Dropdown(columns, value=references),
        gr.Dropdown(["", *columns], value=""),
    ]


def read_uploads(
    gold: Upload | None,
    submission: Upload | None,
    second: Upload | None,
    prediction_column: str | None = None,
    references_column: str | None = None,
    second_column: str | None = None,
    unanswered_score_0: bool = False,
    **progress: Any,
) -> list[Answers]:
    """The answers of what was dropped: one or two submissions, or columns of a table; none while something lacks."""
    if gold is None:
        return []
    submissions = [upload for upload in (submission, second) if upload is not None]
    if submissions:
        return [review.read_submission(gold, upload, unanswered_score_0, **progress) for upload in submissions]
    if prediction_column and references_column:
        columns = [column for column in (prediction_column, second_column) if column]
        return [review.read_column(gold, column, references_column, **progress) for column in columns]
    return []


def shown_scores(scores: Sequence[Scores]) -> dict[str, str]:
    """The HTML of all that is said of scored files, by the part of the page where it stands."""
    first, *others = scores
    return {
        "summary": show.summary(first.report, first.interval, first.name),
        "histogram": show.histogram(first.similarities, first.report.variant),
        "comparison": "".join(shown_comparison(first, second) for second in others),
        "every-variant": show.by_variant(first.answers.by_variant, first.report.variant),
    }


def shown_worst(scores: Scores, words: str | None, zero: str | None) -> str:
    """The HTML of the worst answers, of those that have some words and score 0 for a reason."""
    found, total = scores.worst(_WORST, words or "", zero or "")
    return show.answers(found, total, scores.report.variant)


def shown_comparison(first: Scores, second: Scores) -> str:
    """The HTML of two submissions: which is better, how sure that is, and where they differ."""
    names = (first.name, second.name)
    if first.name == second.name:
        names = (f"{first.name} (first)", f"{second.name} (second)")
    return show.comparison(first.report, second.report, names, review.comparison(first, second)) + show.differences(
        review.differences(first, second, _DIFFERENCES), names, first.report.variant
    )


def _made_up_files() -> list[Any]:
    """Made-up receipts and the answers of two readers that slip: files to show, and the same as uploads."""
    chance = random.Random(7)
    shops = ["Green Leaf Grocery", "Corner Bakery", "North Star Books", "Old Mill Hardware", "Sunny Side Cafe"]
    gold: list[Any] = []
    readers: tuple[list[Any], list[Any]] = ([], [])
    for number in range(1, 61):
        kind = chance.choice(["shop", "total", "date"])
        answers, asked = {
            "shop": ([chance.choice(shops)], "Which shop is the receipt from?"),
            "total": ([f"${chance.randint(3, 180)}.{chance.randint(0, 99):02}"], "What is the total?"),
            "date": ([f"{chance.randint(1, 12):02}/{chance.randint(1, 28):02}/2024"], "What is the date?"),
        }[kind]
        gold.append({"questionId": number, "kind": kind, "question": asked, "answers": answers})
        for reader, slips in zip(readers, (0.25, 0.45)):
            text = list(answers[0])
            while chance.random() < slips:
                text[chance.randrange(len(text))] = chance.choice("0O1lI ")
            answer = "".join(text)
            others = {"": 0.03, "not on the page": 0.05, answer.upper(): 0.1, f" {answer} ": 0.05, f"{answer}.": 0.05}
            answer = chance.choices([answer, *others], [1 - sum(others.values()), *others.values()])[0]
            reader.append({"questionId": number, "answer": answer})
    named = {"gold.json": gold, "careful reader.json": readers[0], "hasty reader.json": readers[1]}
    shown = _folder_of_made_up_files().name
    with tempfile.TemporaryDirectory() as moved:
        for folder in (shown, moved):
            for name, records in named.items():
                Path(folder, name).write_text(json.dumps(records), encoding="utf-8")
        return [*(str(Path(shown, name)) for name in named), *(Upload(str(Path(moved, name))) for name in named)]


@cache
def _folder_of_made_up_files() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="anls-made-up-")


def _file_endpoints() -> None:
    """The endpoints that take files: only files that were uploaded reach them."""
    with gr.Row(visible=False):
        for function, files in ((score_files, 2), (score_table, 1)):
            uploads = [gr.File() for _ in range(files)]
            columns = [gr.Textbox("prediction"), gr.Textbox("references")] if files == 1 else []
            options = [gr.Textbox("standard"), gr.Number(None), gr.Textbox("")]
            switch = [gr.Checkbox(False)] if files == 2 else []
            gr.Button().click(
                _for_programs(function),
                [*uploads, *columns, *options, *switch],
                gr.JSON(),
                api_name=function.__name__,
            )


def launch(demo: Any, **options: Any) -> None:
    """Serve the page, and its functions as tools of the Model Context Protocol where `mcp` is installed."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # so that what was uploaded is deleted
    demo.launch(
        theme=_THEME,
        css=show.CSS,
        max_file_size=review.MOST_BYTES,
        mcp_server=importlib.util.find_spec("mcp") is not None,
        footer_links=["api"],
        ssr_mode=False,
        **options,
    )
