"""Defines the field for each role in a program's files, with one row of `LAYOUTS` for each kind of file.

The module `records` explains the syntax of paths.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

from anls_metric.core.checks import count_noun, describe_unknown
from anls_metric.messages import list_some
from anls_metric.reading import responses
from anls_metric.reading.records import ABSENT, KEY, VALUE, Path, Record, Records, drop_fields, list_paths, take

# Functions for values that no path can reach. They expect the structure that the program writes.


def _find_correct_references(record: Record) -> Any:
    """Return the references that HELM tags as correct."""
    references = record.get("instance", record)["references"]
    return [item["output"]["text"] for item in references if "correct" in item["tags"]]


def _find_target(record: Record) -> Any:
    """Return the references that evalscope writes as a list, as a string, or as a list whose only item is a written
    list.
    """
    target = record["target"]
    return target[0] if isinstance(target, list) and len(target) == 1 else target


def _find_gold_choices(record: Record) -> Any:
    """Return the choices at the gold indices that lighteval writes."""
    choices, gold = record["doc"]["choices"], record["doc"]["gold_index"]
    return [choices[place] for place in (gold if isinstance(gold, list) else [gold])] or ABSENT


def _split_at(*names: str) -> Callable[[Record], Records]:
    """Create a function that splits a record into one record for each object in a list or, given several names, in
    nested lists.
    """

    def split(record: Record) -> Records:
        records = [dict(record)]
        for name in names:
            records = [{**drop_fields(each, name), **item} for each in records for item in each[name]]
        return records

    return split


_split_annotations = _split_at("annotations")


def _name_of_document_and_id(record: Record) -> str:
    """Return the document name and the id (or, in a submission, the key) of a DUE annotation, joined by a slash."""
    return f"{record['name']}/{record.get('id', record['key'])}"


def _find_value(record: Record) -> Any:
    """Return the only value of a DUE annotation, or "" if there is none. Raises ValueError for several values, which
    only ANLSL and ANLS* can score.
    """
    (value,) = record["values"] or [{"value": ""}]
    return value["value"]


def _find_variants(record: Record) -> Any:
    (value,) = record["values"]
    return value["value_variants"] or ABSENT


def _split_last_annotations(record: Record) -> Records:
    """Split a CheckboxQA document into the last annotation for each key, which serves as the id."""
    by_key = {annotation["key"]: drop_fields(annotation, "id") for annotation in _split_annotations(record)}
    return list(by_key.values())


def _list_values(record: Record) -> Any:
    """Return a CheckboxQA answer as a list, in which the string "none" in any letter case becomes None."""
    return [_parse_none(value.get("value")) for value in record["values"]]


def _list_accepted_values(record: Record) -> Any:
    """Return a CheckboxQA reference as a list, in which a value with several variants is a tuple."""
    return list(map(_parse_variants, record["values"]))


def _parse_variants(value: Record) -> Any:
    variants = tuple(map(_parse_none, value.get("value_variants") or [value.get("value")]))
    return variants if len(variants) > 1 else variants[0]


def _parse_none(value: Any) -> Any:
    return None if isinstance(value, str) and value.lower() == "none" else value


def _list_squad_answers(record: Record) -> Any:
    """Return the texts of the SQuAD answers, or one empty string for an unanswerable question."""
    texts = [answer.get("text") for answer in record["answers"]]
    return texts if texts or record.get("is_impossible") is False else [""]


def _split_documents(record: Record) -> Records:
    """Split a DocVQA 2026 document, which contains columns of questions and answers, into one record per question."""
    rest = drop_fields(record, "questions", "answers")
    answers = {str(answer["question_id"]): answer for answer in _list_rows(record["answers"] or {})}
    questions = _list_rows(record["questions"])
    return [{**rest, **question, **answers.get(str(question["question_id"]), {})} for question in questions]


def _list_rows(table: Any) -> Records:
    """List the rows of a table that is either a list of objects or an object of lists."""
    return table if isinstance(table, list) else [dict(zip(table, row)) for row in zip(*table.values())]


def _join_variants(record: Record) -> Any:
    """Return each MADQA reference, which may be a list of strings, as one string."""
    return [", ".join(map(str, items)) if isinstance(items, list) else items for items in record["answers"]]


def _find_ocrbench_rule(record: Record) -> Any:
    """Return the rule that scores an OCRBench v2 question, or "item" if the record does not name one."""
    return record.get("rule", "item")


class Layout(NamedTuple):
    """The fields for the roles in a program's files, as a row of `LAYOUTS`. "PATH or PATH" stands for the first path
    that leads to a value.

    Attributes:
        name: the name of the layout.
        source: the address of the program or of a description of its files.
        fields: the paths by which a record in this layout is recognized.
        id, question, prediction, references: the path for each role, or None if the files have no field for the role.
        repeated_by: the field that distinguishes the repetitions if the program writes each answer several times,
            processed in different ways.
        unrepeated: the path of the unprocessed prediction, which all repetitions share.
        expand: the function that splits a record with several questions into one record per question.
        failure: the path of the reason for a failed request, in whose record the prediction is missing.
        of_values: the attributes that differ if answers are lists and nested values.
        columns: the paths of those columns of a benchmark's rule that have other names in the files.
        unless: the fields that only a user's own table has, so that a file with any of these fields does not have this
            layout.
    """

    name: str
    source: str
    fields: tuple[str, ...]
    id: Path | None = None
    question: Path | None = "question"
    prediction: Path | None = None
    references: Path | None = None
    repeated_by: str = ""
    unrepeated: str = ""
    expand: Callable[[Record], Records] | None = None
    failure: str = ""
    of_values: Mapping[str, Any] = {}
    columns: Mapping[str, Path] = {}
    unless: tuple[str, ...] = ()

    @property
    def contains(self) -> str:
        """The contents of files in this layout, which are "predictions", "references", "both" or "either"."""
        names = {(True, True): "both", (True, False): "predictions", (False, True): "references"}
        return names.get((bool(self.prediction), bool(self.references)), "either")


# Fields that distinguish a user's own table from the files of a program whose field names are common.
_OTHER_REFERENCES = ("answers", "references", "accepted_answers", "gold_answers", "ground_truths", "ground_truth")
_OTHER_PREDICTIONS = ("prediction", "predictions", "predicted_answer", "pred_answer", "model_answer", "pred")

_DONUT = "ground_truth.gt_parse or ground_truth.gt_parses"
_PREDICTIONS_OF_DONUT = (*_OTHER_PREDICTIONS, "output", "response", "generated_text", "model_output")

LAYOUTS: tuple[Layout, ...] = (
    Layout(
        "lm_eval",
        "https://github.com/EleutherAI/lm-evaluation-harness",
        ("doc_id", "doc", "target", "filtered_resps"),
        id="doc.questionId or doc.question_id or doc.id or doc_id",
        question="doc.question or doc.query or arguments.gen_args_0.arg_0",
        prediction="filtered_resps.0 or filtered_resps or resps.0.0",
        references="doc.answers or target",
        repeated_by="filter",
        unrepeated="resps.0.0",
    ),
    Layout(
        "lmms_eval",
        "https://github.com/EvolvingLMMs-Lab/lmms-eval",
        ("doc_id", "target", "filtered_resps", "input"),
        id="doc_id",
        question="input",
        prediction="filtered_resps.0 or filtered_resps",
        references="target",
    ),
    Layout(
        "vlmevalkit",
        "https://github.com/open-compass/VLMEvalKit",
        ("index", "question", "answer", "prediction"),
        id="questionId or index",
        prediction="prediction",
        references="answer",
        unless=_OTHER_REFERENCES,
    ),
    Layout(
        "inspect_ai",
        "https://github.com/UKGovernmentBEIS/inspect_ai",
        ("id", "epoch", "input", "target", "output.choices"),
        id="id",
        question="input.0.content.0.text or input.0.content or input",
        prediction="output.choices.0.message.content",
        references="target",
        failure="error.message",
    ),
    Layout(
        "evalscope_reviews",
        "https://github.com/modelscope/evalscope",
        ("index", "target", "sample_score"),
        id="sample_score.sample_metadata.questionId or index",
        question="messages.0.content.0.text or messages.0.content",
        prediction="sample_score.score.extracted_prediction",
        references=_find_target,
    ),
    Layout(
        "evalscope_predictions",
        "https://github.com/modelscope/evalscope",
        ("index", "model_output", "messages"),
        id="metadata.questionId or index",
        question="messages.0.content.0.text or messages.0.content",
        prediction="model_output.choices.0.message.content",
    ),
    Layout(
        "lighteval",
        "https://github.com/huggingface/lighteval",
        ("doc", "model_response"),
        id="doc.id",
        question="doc.query",
        prediction="model_response.text.0",
        references=_find_gold_choices,
    ),
    Layout(
        "qwen_vl",
        "https://github.com/QwenLM/Qwen-VL and https://github.com/OpenGVLab/InternVL",
        ("questionId", "answer", "annotation.0"),
        id="questionId",
        prediction="answer",
        references="annotation",
    ),
    Layout(
        "mistral_evals",
        "https://github.com/mistralai/mistral-evals",
        ("request", "model_answer", "reference_answer"),
        id=KEY,
        question="request.messages.0.content.1.text",
        prediction="model_answer",
        references="reference_answer",
    ),
    Layout(
        "unitxt",
        "https://github.com/IBM/unitxt",
        ("processed_prediction", "processed_references"),
        question="question or source",
        prediction="processed_prediction",
        references="processed_references",
    ),
    Layout(
        "helm_scenario_state",
        "https://github.com/stanford-crfm/helm",
        ("instance", "result"),
        id="instance.id",
        question="instance.input.text",
        prediction="result.completions.0.text",
        references=_find_correct_references,
    ),
    Layout(
        "helm_predictions",
        "https://github.com/stanford-crfm/helm",
        ("instance_id", "predicted_text"),
        id="instance_id",
        prediction="predicted_text",
    ),
    Layout(
        "helm_instances",
        "https://github.com/stanford-crfm/helm",
        ("id", "input.text", "references", "split"),
        id="id",
        question="input.text",
        references=_find_correct_references,
    ),
    Layout(
        "mp_docvqa",
        "https://github.com/rubenpt91/MP-DocVQA-Framework",
        (KEY, "pred_answer"),
        id=KEY,
        prediction="pred_answer",
        unless=_OTHER_REFERENCES,
    ),
    Layout(
        "opencompass",
        "https://github.com/open-compass/opencompass",
        (KEY, "origin_prompt", "prediction"),
        id=KEY,
        question="origin_prompt.0.prompt or origin_prompt",
        prediction="prediction",
        references="gold",
    ),
    Layout(
        "llama_factory",
        "https://github.com/hiyouga/LLaMA-Factory",
        ("prompt", "predict", "label"),
        question="prompt",
        prediction="predict",
        references="label",
        unless=_OTHER_REFERENCES,
    ),
    Layout(
        "ms_swift",
        "https://github.com/modelscope/ms-swift",
        ("response", "labels", "messages"),
        question="messages.0.content",
        prediction="response",
        references="labels",
    ),
    Layout(
        "rrc_results",
        "https://rrc.cvc.uab.es/?ch=17&com=tasks",
        (KEY, "gt", "det"),
        id=KEY,
        prediction="det",
        references="gt",
        expand=_split_at("runs"),
    ),
    Layout(
        "due",
        "https://github.com/due-benchmark/evaluator, and CheckboxQA",
        ("name", "annotations"),
        id=_name_of_document_and_id,
        question="key",
        prediction=_find_value,
        references=_find_variants,
        expand=_split_annotations,
        of_values={
            "prediction": _list_values,
            "references": _list_accepted_values,
            "expand": _split_last_annotations,
        },
    ),
    Layout(
        "openai_batch",
        "https://platform.openai.com/docs/api-reference/batch/request-output, vLLM run_batch, LiteLLM, Azure OpenAI",
        ("custom_id", "response", "error"),
        id="custom_id",
        prediction=responses.find_batch_answer,
        failure="error.message or error.error.message or response.body.error.message or error.code or error",
    ),
    Layout(
        "anthropic_batch",
        "https://docs.claude.com/en/api/retrieving-message-batch-results",
        ("custom_id", "result.type"),
        id="custom_id",
        prediction=responses.find_message_answer,
        failure="result.error.error.message or result.error.message or result.type",
    ),
    Layout(
        "gemini_batch",
        "https://ai.google.dev/gemini-api/docs/batch-api",
        ("key", "response.candidates or response.promptFeedback or error.message"),
        id="key",
        prediction=responses.find_candidate_answer,
        failure="error.message or response.promptFeedback.blockReason",
    ),
    Layout(
        "vllm",
        "https://github.com/vllm-project/vllm/blob/main/vllm/outputs.py",
        ("request_id", "outputs.0.text"),  # the id is the index of the request
        question=None,
        prediction="outputs.0.text",
    ),
    Layout(
        "llava",
        "https://github.com/haotian-liu/LLaVA/blob/main/llava/eval/model_vqa_loader.py",
        ("question_id", "text", "answer_id", "model_id"),
        id="question_id",
        question="prompt",
        prediction="text",
    ),
    Layout(
        "squad",
        "https://rajpurkar.github.io/SQuAD-explorer/",
        ("paragraphs.0.qas",),
        id="id",
        references=_list_squad_answers,
        expand=_split_at("paragraphs", "qas"),
    ),
    Layout(
        "dude_submission",
        "https://github.com/Jordy-VL/DUDEeval",
        ("questionId", "answers", "answers_confidence or answers_abstain"),
        id="questionId",
        prediction="answers.0 or answers",
        columns={"prediction": "answers", "confidence": "answers_confidence"},
    ),
    Layout(
        "docvqa_2026",
        "https://huggingface.co/datasets/VLR-CVC/DocVQA-2026",
        ("doc_id", "questions", "answers"),
        id="question_id",
        references="answer",
        expand=_split_documents,
        columns={"gold": "answer"},
    ),
    Layout(
        "docvqa_2026_submission",
        "https://huggingface.co/datasets/VLR-CVC/DocVQA-2026",
        ("question_id", "answer", "full_answer"),
        id="question_id",
        prediction="answer",
        columns={"prediction": "full_answer"},
        unless=(*_OTHER_PREDICTIONS, *_OTHER_REFERENCES),
    ),
    Layout(
        "longdocurl",
        "https://github.com/dengc2023/LongDocURL",
        ("question_id", "answer", "answer_format", "pred"),
        id="question_id",
        prediction="pred",
        references="answer",
        unless=_OTHER_REFERENCES,
    ),
    Layout(
        "mmlongbench_doc",
        "https://github.com/mayubo2333/MMLongBench-Doc",
        ("doc_id", "answer", "answer_format", "pred"),
        prediction="pred",
        references="answer",
        unless=_OTHER_REFERENCES,
    ),
    Layout(
        "chartqapro",
        "https://github.com/vis-nlp/ChartQAPro",
        ("Question", "Answer", "Question Type", "Year"),
        question="Question.-1 or Question",
        prediction="prediction",
        references="Answer.-1 or Answer",
        columns={"answer": "Answer", "question_type": "Question Type", "year": "Year"},
    ),
    Layout(
        "ocrbench_v2",
        "https://github.com/Yuliang-Liu/MultimodalOCR",
        ("id", "type", "answers", "predict"),
        id="id",
        prediction="predict",
        references="answers",
        columns={"rule": _find_ocrbench_rule},
    ),
    Layout(
        "madqa",
        "https://github.com/OxRML/MADQA",
        ("id", "question", "answers.0.0", "evidence"),
        id="id",
        references=_join_variants,
        columns={"answer_variants": "answers"},
    ),
    Layout(
        "madqa_results",
        "https://github.com/OxRML/MADQA",
        ("id", "question", "answer", "citations"),
        id="id",
        prediction="answer",
        unless=(*_OTHER_PREDICTIONS, *_OTHER_REFERENCES),
    ),
    Layout(
        "donut",
        "https://github.com/clovaai/donut",
        (_DONUT,),
        id="file_name or image_id",
        question="ground_truth.gt_parses.0.question",
        references="ground_truth.gt_parses.*.answer or ground_truth.gt_parse",
        unless=_PREDICTIONS_OF_DONUT,
    ),
    Layout(
        "donut_results",
        "https://github.com/clovaai/donut",
        (_DONUT, " or ".join(_PREDICTIONS_OF_DONUT)),
        id="file_name or image_id",
        question="ground_truth.gt_parses.0.question",
        prediction=" or ".join(_PREDICTIONS_OF_DONUT),
        references="ground_truth.gt_parses.*.answer or ground_truth.gt_parse",
    ),
    Layout("answers_by_id", "an object of answers by the ids of their questions", (KEY, VALUE), id=KEY),
)


NAMES_OF_FUNCTIONS: Mapping[Callable[[Record], Any], str] = {
    _find_correct_references: "references",
    _find_target: "target",
    _find_gold_choices: "doc.choices",
    _name_of_document_and_id: "name and id",
    _list_squad_answers: "answers",
    _join_variants: "answers",
    responses.find_batch_answer: "response",
    responses.find_message_answer: "result.message.content",
    responses.find_candidate_answer: "response.candidates",
    **dict.fromkeys((_find_value, _find_variants, _list_values, _list_accepted_values), "values"),
}
"""The name in the file of the field that each path function reads."""


def recognize_layout(record: Record, fields: Collection[str]) -> Layout | None:
    """Find the first layout for which the record has all of `Layout.fields` and none of `Layout.unless`.

    Args:
        record: the first record of a file.
        fields: the paths of the fields in the first records.

    Returns:
        The layout, or None if no layout fits.

    Example:
        >>> record = {"questionId": 7, "answer": "CocaCola", "annotation": ["Coca Cola"]}
        >>> recognize_layout(record, record).name
        'qwen_vl'
    """

    def has(paths: str) -> bool:
        return paths in fields or any(take(record, path) is not ABSENT for path in paths.split(" or "))

    for layout in LAYOUTS:
        if all(map(has, layout.fields)) and set(layout.unless).isdisjoint(fields):
            return layout
    return None


def describe_failures(layout: Layout, records: Sequence[Record], predictions: Sequence[Any]) -> str:
    """Describe how many requests failed and why.

    Args:
        layout: the layout of the file.
        records: the records of the file.
        predictions: the prediction in each record.

    Returns:
        A clause for an error, or "" if no request failed.

    Example:
        >>> records = [{"custom_id": "7", "response": None, "error": {"message": "expired"}}]
        >>> describe_failures(find_layout("openai_batch"), records, [None])
        '1 request failed (expired)'
    """
    pairs = zip(records, predictions) if layout.failure else ()
    failed = [_find_reason(layout, record) for record, prediction in pairs if prediction in (None, ABSENT)]
    causes = list_some(dict.fromkeys(filter(None, failed)))
    why = f" ({causes})" if causes else ""
    return f"{count_noun(len(failed), 'request')} failed{why}" if failed else ""


def _find_reason(layout: Layout, record: Record) -> str:
    reasons = (take(record, path) for path in list_paths(layout.failure))
    return next((" ".join(reason.split()) for reason in reasons if isinstance(reason, str)), "")


def find_layout(name: str) -> Layout:
    """Find a layout by its name.

    Raises:
        ValueError: no layout has this name.
    """
    by_name = {layout.name: layout for layout in LAYOUTS}
    if name not in by_name:
        raise ValueError(describe_unknown("layout", name, list(by_name), "`anls layouts`"))
    return by_name[name]


# Prompts

_BEFORE = r"^(?:Answer the question according to the image using a single word or phrase\.\n|Question: )"
_AFTER = (
    r"(?:Answer the question using a single word or phrase\."
    r'|The last line of your response should be of the form "ANSWER: \[ANSWER\]" .{0,200}'
    r"|Answer(?: with a single word or phrase)?:)\Z"
)


def remove_prompt(question: str) -> str:
    r"""Remove the prompt that an evaluation program wrote around a question.

    Example:
        >>> remove_prompt("What is the total?\nAnswer the question using a single word or phrase.")
        'What is the total?'
    """
    question = re.sub(_BEFORE, "", question)
    after = re.search(_AFTER, question.rstrip())
    return question[: after.start()].rstrip() if after else question
