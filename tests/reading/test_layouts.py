"""The layouts of made-up files in the format of every program, and of files from the programs."""

from __future__ import annotations

import json
import zipfile
from copy import deepcopy
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import anls_metric
from anls_metric import command_line
from anls_metric.analysis.scored import ScoredSet
from anls_metric.reading import remedies
from anls_metric.reading.batch import Row
from anls_metric.reading.containers import KEY
from anls_metric.reading.errors import InputError
from anls_metric.reading.join import RepeatedIdsError
from anls_metric.reading.layouts import (
    ABSENT,
    LAYOUTS,
    _split_last_annotations,
    describe_failures,
    find_failures,
    find_layout,
    look_up,
    recognize_layout,
    remove_prompt,
)
from anls_metric.reading.responses import find_batch_answer
from anls_metric.reading.sources import Reading
from anls_metric.reading.submissions import find_submissions
from tests.conftest import SHARED

# Two made-up questions in the format of each program.
QUESTIONS = ["What is the total?", "Who signed it?"]
ANSWERS = ["12.50", "R Jones"]
ACCEPTED = [["12.50", "$12.50"], ["R. Jones", 'it\'s "R. Jones"']]
PROMPT = "\nAnswer the question using a single word or phrase."
REASONED = [{"type": "reasoning", "reasoning": "It says so."}, {"type": "text", "text": ANSWERS[1]}]


def make_list(make: Any) -> list[Any]:
    return [make(n, *row) for n, row in enumerate(zip(QUESTIONS, ANSWERS, ACCEPTED))]


def make_by_id(make: Any) -> dict[str, Any]:
    return {str(7 + n): make(n, *row) for n, row in enumerate(zip(QUESTIONS, ANSWERS, ACCEPTED))}


def make_message(answer: str) -> dict[str, Any]:
    return {"choices": [{"message": {"content": REASONED if answer == ANSWERS[1] else answer}}]}


def tag_references(accepted: list[str]) -> list[Any]:
    wrong = {"output": {"text": "wrong"}, "tags": []}
    return [wrong, *({"output": {"text": text}, "tags": ["correct"]} for text in accepted)]


def make_queries(questions: list[str], answers: list[str], aliases: list[str]) -> dict[str, Any]:
    """Make a response of Textract's AnalyzeDocument to queries."""
    blocks: list[Any] = [{"BlockType": "PAGE", "Id": "page", "Relationships": [{"Type": "CHILD", "Ids": ["q0"]}]}]
    for n, (question, answer, alias) in enumerate(zip(questions, answers, aliases)):
        query = {"Text": question, **({"Alias": alias} if alias else {})}
        result = {"BlockType": "QUERY_RESULT", "Confidence": 97.0, "Text": answer, "Id": f"a{n}", "Page": 1}
        relation = {"Relationships": [{"Type": "ANSWER", "Ids": [f"a{n}"]}]} if answer else {}
        blocks += [{"BlockType": "QUERY", "Id": f"q{n}", "Query": query, **relation}, *([result] if answer else [])]
    return {"DocumentMetadata": {"Pages": 1}, "Blocks": blocks, "AnalyzeDocumentModelVersion": "1.0"}


def make_field(text: str) -> dict[str, Any]:
    """Make a field of Azure Document Intelligence."""
    return {"type": "string", "valueString": f"{text}!", "content": text, "confidence": 0.9, "spans": []}


def make_azure_result(answers: dict[str, str]) -> dict[str, Any]:
    document = {"docType": "invoice", "fields": {key: make_field(text) for key, text in answers.items()}}
    return {"apiVersion": "2024-11-30", "modelId": "x", "content": "...", "pages": [], "documents": [document]}


def make_document(answers: dict[str, str]) -> dict[str, Any]:
    """Make a document of Document AI."""
    entities = [{"type": key, "mentionText": text, "confidence": 0.9, "id": "0"} for key, text in answers.items()]
    return {"uri": "", "mimeType": "application/pdf", "text": "...", "pages": [], "entities": entities}


FILES: dict[str, tuple[str, Any]] = {
    "lm_eval": (
        "samples.jsonl",
        make_list(
            lambda n, question, answer, accepted: {
                "doc_id": n,
                "doc": {"questionId": 7 + n, "question": question, "answers": accepted},
                "target": str(accepted),
                "arguments": {"gen_args_0": {"arg_0": question + PROMPT}},
                "resps": [[answer]],
                "filtered_resps": [answer],
                "filter": "none",
            }
        ),
    ),
    "lmms_eval": (
        "samples.jsonl",
        make_list(
            lambda n, question, answer, accepted: {
                "doc_id": 7 + n,
                "target": str(accepted),
                "filtered_resps": [answer],
                "doc_hash": "x",
                "input": question + PROMPT,
            }
        ),
    ),
    "vlmevalkit": (
        "results.tsv",
        make_list(
            lambda n, question, answer, accepted: {
                "index": str(n),
                "question": question,
                "answer": str(accepted),
                "questionId": str(7 + n),
                "prediction": answer,
            }
        ),
    ),
    "inspect_ai": (
        "log.json",
        {
            "version": 2,
            "status": "success",
            "eval": {},
            "samples": make_list(
                lambda n, question, answer, accepted: {
                    "id": 7 + n,
                    "epoch": 1,
                    "input": [{"role": "user", "content": [{"type": "text", "text": question + PROMPT}]}]
                    if n
                    else question,
                    "target": accepted,
                    "output": make_message(answer),
                }
            ),
        },
    ),
    "evalscope_reviews": (
        "reviews.jsonl",
        make_list(
            lambda n, question, answer, accepted: {
                "index": n,
                "target": [json.dumps(accepted)],
                "messages": [
                    {
                        "content": [
                            {
                                "type": "text",
                                "text": "Answer the question according to the image using a single word or phrase.\n"
                                f"{question}\nThe last line of your response should be of the form "
                                '"ANSWER: [ANSWER]" (without quotes) where [ANSWER] is the answer to the question.',
                            }
                        ]
                    }
                ],
                "sample_score": {
                    "score": {"extracted_prediction": answer, "prediction": f"ANSWER: {answer}"},
                    "sample_metadata": {"questionId": str(7 + n)},
                },
            }
        ),
    ),
    "evalscope_predictions": (
        "predictions.jsonl",
        make_list(
            lambda n, question, answer, accepted: {
                "index": n,
                "model_output": make_message(answer),
                "messages": [{"content": question}],
                "metadata": {"questionId": str(7 + n)},
            }
        ),
    ),
    "lighteval": (
        "details.jsonl",
        make_list(
            lambda n, question, answer, accepted: {
                "doc": {
                    "id": str(7 + n),
                    "query": f"Question: {question}\nAnswer:",
                    "choices": ["wrong", *accepted],
                    "gold_index": [1, 2],
                },
                "metric": {"em": 0.0},
                "model_response": {"text": [answer]},
            }
        ),
    ),
    "qwen_vl": (
        "docvqa_val.json",
        make_list(
            lambda n, question, answer, accepted: {
                "question": f"{question} {PROMPT.strip()}",
                "questionId": 7 + n,
                "answer": answer,
                "annotation": accepted,
            }
        ),
    ),
    "mistral_evals": (
        "raw_output.json",
        make_by_id(
            lambda n, question, answer, accepted: {
                "request": {
                    "messages": [{"content": [{"type": "image"}, {"type": "text", "text": question + PROMPT}]}]
                },
                "model_answer": answer,
                "reference_answer": accepted,
            }
        ),
    ),
    "unitxt": (
        "samples.json",
        {
            "environment_info": {},
            "samples": {
                "docvqa": make_list(
                    lambda n, question, answer, accepted: {
                        "source": question + PROMPT + "\n",
                        "processed_prediction": answer,
                        "processed_references": accepted,
                    }
                )
            },
        },
    ),
    "helm_scenario_state": (
        "scenario_state.json",
        {
            "adapter_spec": {},
            "request_states": make_list(
                lambda n, question, answer, accepted: {
                    "instance": {"id": f"{7 + n}", "input": {"text": question}, "references": tag_references(accepted)},
                    "train_trial_index": 0,
                    "result": {"completions": [{"text": answer}]},
                }
            ),
        },
    ),
    "helm_predictions": (
        "display_predictions.json",
        make_list(
            lambda n, question, answer, accepted: {
                "instance_id": f"{7 + n}",
                "train_trial_index": 0,
                "predicted_text": answer,
            }
        ),
    ),
    "helm_instances": (
        "instances.json",
        make_list(
            lambda n, question, answer, accepted: {
                "id": f"{7 + n}",
                "input": {"text": question},
                "references": tag_references(accepted),
                "split": "valid",
            }
        ),
    ),
    "mp_docvqa": (
        "results.json",
        {
            "Model": "x",
            "Scores by samples": make_by_id(lambda n, question, answer, accepted: {"pred_answer": answer, "anls": 1}),
        },
    ),
    "opencompass": (
        "predictions.json",
        make_by_id(
            lambda n, question, answer, accepted: {
                "origin_prompt": [{"role": "HUMAN", "prompt": question + PROMPT}],
                "prediction": answer,
                "gold": accepted,
            }
        ),
    ),
    "llama_factory": (
        "generated_predictions.jsonl",
        [{"prompt": a, "predict": p, "label": r[0]} for a, p, r in zip(QUESTIONS, ANSWERS, ACCEPTED)],
    ),
    "ms_swift": (
        "result.jsonl",
        [
            {"response": p, "labels": r[0], "messages": [{"role": "user", "content": a}]}
            for a, p, r in zip(QUESTIONS, ANSWERS, ACCEPTED)
        ],
    ),
    "rrc_results": (
        "results.json",
        {
            "result": {"score": 0.9},
            "per_sample_result": make_by_id(
                lambda n, question, answer, accepted: {"question": question, "gt": accepted, "det": answer, "score": 1}
            ),
        },
    ),
    "anls_answers": (
        "answers.jsonl",
        make_list(
            lambda n, question, answer, accepted: {
                "submission": "base",
                "id": str(7 + n),
                "question": question,
                "prediction": "the answer of a run",
                "references": accepted,
                "score": 0.9,
                "outcome": "equal",
                "runs": [{"prediction": answer, "score": 0.9, "outcome": "equal"}],
            }
        ),
    ),
    "due": (
        "documents.jsonl",
        [
            {
                "name": "document",
                "annotations": make_list(
                    lambda n, question, answer, accepted: {
                        "id": 7 + n,
                        "key": question,
                        "values": [{"value": answer, "value_variants": accepted}],
                    }
                ),
            }
        ],
    ),
    "openai_batch": (
        "batch_output.jsonl",
        make_list(
            lambda n, question, answer, accepted: {
                "id": f"batch_req_{n}",
                "custom_id": f"{7 + n}",
                "response": {
                    "status_code": 200,
                    "request_id": "x",
                    "body": {"id": "chatcmpl-x", "object": "chat.completion", **make_message(answer)},
                },
                "error": None,
            }
        ),
    ),
    "openai_responses": (
        "responses.jsonl",
        make_list(
            lambda n, question, answer, accepted: {
                "id": f"resp_{n}",
                "object": "response",
                "status": "completed",
                "error": None,
                "output": [
                    {"type": "reasoning", "id": "rs_0", "summary": [{"type": "summary_text", "text": "It says so."}]},
                    {"type": "message", "phase": "commentary", "content": [{"type": "output_text", "text": "Hm."}]},
                    {
                        "type": "message",
                        "role": "assistant",
                        "status": "completed",
                        "content": [{"type": "output_text", "text": answer, "annotations": []}],
                    },
                ],
            }
        ),
    ),
    "chat_completions": (
        "responses.jsonl",
        make_list(
            lambda n, question, answer, accepted: {
                "id": f"chatcmpl-{n}",
                "object": "chat.completion",
                "model": "x",
                "choices": [
                    {
                        "index": 0,
                        "message": {"role": "assistant", "reasoning_content": "It says so.", "content": answer},
                        "finish_reason": "stop",
                    }
                ],
            }
        ),
    ),
    "completions": (
        "responses.jsonl",
        make_list(
            lambda n, question, answer, accepted: {
                "id": f"cmpl-{n}",
                "object": "text_completion",
                "choices": [{"index": 0, "text": answer, "finish_reason": "stop"}, {"index": 1, "text": "x"}],
            }
        ),
    ),
    "anthropic_batch": (
        "msgbatch_results.jsonl",
        make_list(
            lambda n, question, answer, accepted: {
                "custom_id": f"{7 + n}",
                "result": {
                    "type": "succeeded",
                    "message": {
                        "id": "msg_x",
                        "type": "message",
                        "role": "assistant",
                        "content": [
                            {"type": "thinking", "thinking": "It says so.", "signature": "x"},
                            {"type": "redacted_thinking", "data": "x"},
                            {"type": "text", "text": answer[:2]},
                            {"type": "text", "text": answer[2:]},
                        ],
                        "stop_reason": "end_turn",
                    },
                },
            }
        ),
    ),
    "gemini_batch": (
        "results.jsonl",
        make_list(
            lambda n, question, answer, accepted: {
                "key": f"{7 + n}",
                "response": {
                    "candidates": [
                        {
                            "content": {
                                "parts": [
                                    {"text": "It says so.", "thought": True},
                                    {"text": answer[:2]},
                                    {"text": answer[2:], "thoughtSignature": "x"},
                                ],
                                "role": "model",
                            },
                            "finishReason": "STOP",
                        }
                    ],
                    "usageMetadata": {"totalTokenCount": 7},
                },
            }
        ),
    ),
    "vllm": (
        "outputs.jsonl",
        make_list(
            lambda n, question, answer, accepted: {
                "request_id": f"{n}",
                "prompt": f"<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n",
                "prompt_token_ids": [1, 2],
                "outputs": [{"index": 0, "text": answer, "token_ids": [3], "finish_reason": "stop"}],
                "finished": True,
            }
        ),
    ),
    "llava": (
        "answers.jsonl",
        make_list(
            lambda n, question, answer, accepted: {
                "question_id": 7 + n,
                "prompt": question + PROMPT,
                "text": answer,
                "answer_id": "x",
                "model_id": "llava-v1.5-7b",
                "metadata": {},
            }
        ),
    ),
    "squad": (
        "dev-v2.0.json",
        {
            "version": "v2.0",
            "data": [
                {
                    "title": "page",
                    "paragraphs": [
                        {
                            "context": "...",
                            "qas": [
                                {
                                    "id": f"{7 + n}",
                                    "question": question,
                                    "answers": [{"text": text, "answer_start": 0} for text in accepted],
                                    "is_impossible": False,
                                }
                            ],
                        }
                        for n, (question, accepted) in enumerate(zip(QUESTIONS, ACCEPTED))
                    ],
                }
            ],
        },
    ),
    "squad_nbest": (
        "nbest_predictions.json",
        {
            key: [{"text": answer, "probability": 0.9, "start_logit": 2.0}, {"text": "x", "probability": 0.1}]
            for key, answer in zip("78", ANSWERS)
        },
    ),
    "textract": ("response.json", make_queries(QUESTIONS, ANSWERS, ["7", "8"])),
    "azure_document": (
        "analyze_result.json",
        {"status": "succeeded", "createdDateTime": "x", "analyzeResult": make_azure_result(dict(zip("78", ANSWERS)))},
    ),
    "azure_result": ("result.json", make_azure_result(dict(zip("78", ANSWERS)))),
    "document_ai_process": (
        "response.json",
        {"document": make_document(dict(zip("78", ANSWERS))), "humanReviewStatus": {"state": "SKIPPED"}},
    ),
    "document_ai": ("document.json", make_document(dict(zip("78", ANSWERS)))),
    "every_eval_ever": (
        "0b0e_samples.jsonl",
        make_list(
            lambda n, question, answer, accepted: {
                "schema_version": "0.3.0",
                "evaluation_id": "x",
                "model_id": "org/model",
                "evaluation_name": "docvqa",
                "sample_id": f"{7 + n}",
                "interaction_type": "single_turn",
                "input": {"raw": question, "reference": accepted, "formatted": "..."},
                "output": {"raw": [answer], "reasoning_trace": ["It says so."]},
                "answer_attribution": [{"turn_idx": 0, "source": "output.raw", "extracted_value": "x"}],
                "evaluation": {"score": 1.0, "is_correct": True},
            }
        ),
    ),
    "dude_submission": (
        "submission.json",
        make_list(
            lambda n, question, answer, accepted: {
                "questionId": str(7 + n),
                "answers": [answer],
                "answers_confidence": [0.9],
                "answers_abstain": False,
            }
        ),
    ),
    "docvqa_2026": (
        "val.json",
        [
            {
                "doc_id": "maps_2",
                "doc_category": "maps",
                "questions": {"question_id": ["7", "8"], "question": QUESTIONS},
                "answers": {"question_id": ["7", "8"], "answer": [accepted[0] for accepted in ACCEPTED]},
            }
        ],
    ),
    "docvqa_2026_submission": (
        "submission.json",
        make_list(
            lambda n, question, answer, accepted: {
                "question_id": str(7 + n),
                "full_answer": f"It says so. FINAL ANSWER: {answer}",
                "answer": answer,
            }
        ),
    ),
    "longdocurl": (
        "results.jsonl",
        make_list(
            lambda n, question, answer, accepted: {
                "question_id": str(7 + n),
                "doc_no": "4026369",
                "question_type": "extract",
                "question": question,
                "answer": accepted,
                "evidence_pages": [1],
                "answer_format": "List",
                "task_tag": "Understanding",
                "response": f"<concise_answer>{answer}</concise_answer><answer_format>List</answer_format>",
                "pred": answer,
                "score": 1.0,
            }
        ),
    ),
    "mmlongbench_doc": (
        "results.json",
        make_list(
            lambda n, question, answer, accepted: {
                "doc_id": "a.pdf",
                "doc_type": "Research report / Introduction",
                "question": question,
                "answer": str(accepted),
                "evidence_pages": "[3]",
                "evidence_sources": "['Chart']",
                "answer_format": "List",
                "response": answer,
                "extracted_res": f"Extracted answer: {answer}\nAnswer format: List",
                "pred": answer,
                "score": 1.0,
            }
        ),
    ),
    "chartqapro": (
        "predictions.json",
        make_list(
            lambda n, question, answer, accepted: {
                "Question": ["What is this?", question],
                "Answer": ["A chart", accepted[0]],
                "Question Type": "Conversational",
                "Year": ["NO", "NO"],
                "Paragraph": "",
                "prediction": answer,
            }
        ),
    ),
    "ocrbench_v2": (
        "results.json",
        make_list(
            lambda n, question, answer, accepted: {
                "dataset_name": "docvqa",
                "id": 7 + n,
                "image_path": "a.png",
                "type": "reasoning VQA en",
                "question": question,
                "answers": accepted,
                "predict": answer,
            }
        ),
    ),
    "madqa": (
        "dev.json",
        make_list(
            lambda n, question, answer, accepted: {
                "id": str(7 + n),
                "question": question,
                "answers": [[text] for text in accepted],
                "evidence": [{"document": "a.pdf", "page": 1}],
                "category": "Finance",
            }
        ),
    ),
    "madqa_results": (
        "results.jsonl",
        make_list(
            lambda n, question, answer, accepted: {
                "id": str(7 + n),
                "question": question,
                "answer": answer,
                "citations": [{"file": "a.pdf", "page": 1}],
                "search_history": ["total"],
                "iterations": 2,
            }
        ),
    ),
    "answers_by_id": ("answers.json", dict(zip("78", ANSWERS))),
}
# A layout of gold files -> the layout of its submissions.
SUBMISSION_TO = {
    "helm_instances": "helm_predictions",
    "squad": "squad_nbest",
    "docvqa_2026": "docvqa_2026_submission",
    "madqa": "madqa_results",
}
ONE_REFERENCE = ("llama_factory", "ms_swift", "docvqa_2026", "chartqapro")
WITHOUT_IDS = {layout.name for layout in LAYOUTS if not layout.id and not layout.references}
GOLD = [
    {"questionId": 7 + n, "question": question, "answers": accepted}
    for n, (question, accepted) in enumerate(zip(QUESTIONS, ACCEPTED))
]


def write(path: Path, value: Any) -> str:
    if path.suffix == ".jsonl":
        path.write_text("".join(f"{json.dumps(record)}\n" for record in value), encoding="utf-8")
    elif path.suffix == ".tsv":
        quoted = [
            ['"' + cell.replace('"', '""') + '"' for cell in row] for row in (value[0], *(r.values() for r in value))
        ]
        path.write_text("".join("\t".join(row) + "\n" for row in quoted), encoding="utf-8")
    else:
        path.write_text(json.dumps(value), encoding="utf-8")
    return str(path)


def rows_of(*files: str, gold: str | None = None, **reading: Any) -> list[Row]:
    (submission,) = find_submissions(files, gold=gold, reading=Reading(**reading))
    try:
        return list(chain.from_iterable(submission.batches()))
    except RepeatedIdsError as error:
        return list(chain.from_iterable(submission.take_runs(error).batches()))


@pytest.mark.parametrize(
    "layout", [layout for layout in LAYOUTS if layout.name not in WITHOUT_IDS], ids=lambda layout: layout.name
)
def test_file_in_each_layout_is_recognized_and_read(layout: Any, tmp_path: Path) -> None:
    name, content = FILES[layout.name]
    files, gold = [write(tmp_path / name, content)], None
    if layout.name in SUBMISSION_TO:
        name, content = FILES[SUBMISSION_TO[layout.name]]
        files.append(write(tmp_path / name, content))
    elif not layout.references:
        gold = write(tmp_path / "gold.json", GOLD)
    submissions = find_submissions(files, gold=gold)
    assert submissions[0].layout == SUBMISSION_TO.get(layout.name, layout.name)
    rows = list(chain.from_iterable(submissions[0].batches()))
    has_ids, one_reference = bool(layout.id), layout.name in ONE_REFERENCE
    ids = ["document/7", "document/8"] if layout.name == "due" else ["7", "8"]
    assert [row.id for row in rows] == (ids if has_ids else ["1", "2"])
    assert [row.prediction for row in rows] == ANSWERS
    assert [list(row.references) for row in rows] == [accepted[: 1 if one_reference else 2] for accepted in ACCEPTED]
    assert [row.record["question"] for row in rows] == QUESTIONS


@pytest.mark.parametrize("name", sorted(WITHOUT_IDS))
def test_file_without_ids_is_recognized_and_read_in_its_order(name: str, tmp_path: Path) -> None:
    path, gold = write(tmp_path / FILES[name][0], FILES[name][1]), write(tmp_path / "gold.json", GOLD)
    (submission,) = find_submissions([path], gold=gold)
    rows = list(chain.from_iterable(submission.batches()))
    assert submission.layout == name
    assert [(row.id, row.prediction) for row in rows] == list(zip("78", ANSWERS))


def test_recognize_layout_tells_every_layout_from_the_others() -> None:
    for layout in LAYOUTS:
        assert recognize_layout(dict.fromkeys(layout.fields)) == layout


JSON = st.recursive(
    st.text(max_size=3) | st.integers(0, 3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab.", max_size=3), inner, max_size=3),
    max_leaves=10,
)


@given(JSON, st.lists(st.text("ab0.", min_size=1, max_size=3), min_size=1, max_size=3))
def test_look_up_follows_the_parts_of_a_path(record: Any, path: list[str]) -> None:
    value = record
    for part in path:
        if isinstance(value, dict) and part in value:
            value = value[part]
        elif isinstance(value, list) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        else:
            break
    else:
        assert look_up(record, ".".join(path)) is not ABSENT
        if not any("." in part for part in path) and "." not in json.dumps(record):
            assert look_up(record, ".".join(path)) == value


@pytest.mark.parametrize(
    "question", ["What is the answer?", "Answer: what is it?", "Question: who?", "Who wrote 'Answer:' here?"]
)
def test_remove_prompt_keeps_the_words_of_a_question(question: str) -> None:
    assert remove_prompt(question) == question.removeprefix("Question: ")


def test_due_submission_is_joined_with_the_documents_of_the_gold_file(tmp_path: Path) -> None:
    """The gold file holds the variants of each value, a submission only the values."""
    _, documents = FILES["due"]
    gold = write(tmp_path / "gold.jsonl", documents)
    answered = [
        {"id": annotation["id"], "key": annotation["key"], "values": [{"value": answer}]}
        for annotation, answer in zip(documents[0]["annotations"], ["12.50", "x"])
    ]
    path = write(tmp_path / "answers.jsonl", [{"name": "document", "annotations": answered}])
    (submission,) = find_submissions([path], gold=gold)
    assert [row.prediction for row in chain.from_iterable(submission.batches())] == ["12.50", "x"]
    answered[0]["values"] = [{"value": "12"}, {"value": "50"}]
    path = write(tmp_path / "lists.jsonl", [{"name": "document", "annotations": answered}])
    with pytest.raises(InputError, match=r"lists.jsonl, line 1: it is no record of the layout due"):
        list(find_submissions([path], gold=gold)[0].batches())


def test_checkboxqa_key_may_be_any_value() -> None:
    annotations = [{"key": ["a"], "values": []}, {"key": ["a"], "values": [{"value": "b"}]}]
    (record,) = _split_last_annotations({"name": "document", "annotations": annotations})
    assert (record[KEY], record["values"]) == ("document/['a']", [{"value": "b"}])


@pytest.mark.parametrize("name", ["helm_instances", "squad"])
def test_accepted_answer_without_a_text_is_refused(name: str, tmp_path: Path) -> None:
    broken = json.dumps(FILES[name][1]).replace('"text": "12.50"', '"other": "12.50"')
    gold, answers = write(tmp_path / "gold.json", json.loads(broken)), write(tmp_path / "a.json", {"7": "a", "8": "b"})
    with pytest.raises(InputError, match=r"gold.json.* is None"):
        rows_of(answers, gold=gold)


def test_layout_says_what_its_files_hold() -> None:
    held = {layout.name: layout.holds for layout in LAYOUTS}
    assert {held[name] for name in ("openai_batch", "helm_predictions", "textract")} == {"answers"}
    assert {held[name] for name in ("helm_instances", "squad")} == {"gold"}
    assert {held[name] for name in ("lm_eval", "every_eval_ever", "due")} == {"both"}
    assert held["answers_by_id"] == "answers or gold"


def test_squad_question_without_answer_accepts_an_empty_text(tmp_path: Path) -> None:
    articles = deepcopy(FILES["squad"][1])
    qas = articles["data"][0]["paragraphs"][0]["qas"]
    impossible = {
        "id": "9",
        "question": "?",
        "answers": [],
        "is_impossible": True,
        "plausible_answers": [{"text": "x"}],
    }
    old = {"version": "1.1", "data": [{"title": "", "paragraphs": [{"context": "", "qas": [*qas, impossible]}]}]}
    gold = write(tmp_path / "dev.json", old)
    rows = rows_of(gold, write(tmp_path / "predictions.json", {"7": "12.50", "9": ""}))
    assert [(row.id, row.prediction, list(row.references)) for row in rows] == [
        ("7", "12.50", ACCEPTED[0]),
        ("9", "", [""]),
    ]
    assert rows[0].record["title"] == ""
    best = {"7": [{"text": "12.50", "probability": 0.9}], "9": [{"text": "", "probability": 0.6}, {"text": "x"}]}
    assert [row.prediction for row in rows_of(gold, write(tmp_path / "nbest.json", best))] == ["12.50", ""]
    qas[0]["answers"] = []
    with pytest.raises(InputError, match=r"question 7: .*answer"):
        rows_of(write(tmp_path / "broken.json", articles), write(tmp_path / "predictions.json", {"7": "a", "8": "b"}))


def test_llama_factory_file_is_joined_with_its_labels_or_a_gold_file(tmp_path: Path) -> None:
    path = write(tmp_path / "generated_predictions.jsonl", FILES["llama_factory"][1])
    assert [list(row.references) for row in rows_of(path)] == [[accepted[0]] for accepted in ACCEPTED]


# Requests that failed

FAILED_REQUESTS: dict[str, list[tuple[dict[str, Any], str]]] = {
    "openai_batch": [
        ({"response": None, "error": {"code": "batch_expired", "message": "It expired."}}, "It expired."),
        ({"response": {"status_code": 400, "body": {"error": {"message": "bad"}}}, "error": None}, "bad"),
        ({"response": {"status_code": 400, "body": None}, "error": "too long"}, "too long"),  # vLLM
        ({"response": {"status_code": 500, "body": None}, "error": {"error": {"message": "oom"}}}, "oom"),  # vLLM
    ],
    "anthropic_batch": [
        ({"result": {"type": "errored", "error": {"type": "error", "error": {"message": "big"}}}}, "big"),
        ({"result": {"type": "expired"}}, "expired"),
        ({"result": {"type": "canceled"}}, "canceled"),
    ],
    "gemini_batch": [
        ({"error": {"code": 13, "message": "internal"}}, "internal"),
        ({"response": {"promptFeedback": {"blockReason": "SAFETY"}}}, "SAFETY"),
    ],
}


@pytest.mark.parametrize(
    ("name", "failure", "reason"), [(name, *row) for name, rows in FAILED_REQUESTS.items() for row in rows]
)
@pytest.mark.parametrize("place", [0, 1])
def test_failed_request_is_a_missing_answer(
    name: str, failure: dict[str, Any], reason: str, place: int, tmp_path: Path
) -> None:
    records = list(FILES[name][1])
    key = "key" if name == "gemini_batch" else "custom_id"
    records[place] = {key: records[place][key], **failure}
    path, gold = write(tmp_path / FILES[name][0], records), write(tmp_path / "gold.json", GOLD)
    (submission,) = find_submissions([path], gold=gold, reading=Reading(missing="zero"))
    predictions: list[Any] = [row.prediction for row in chain.from_iterable(submission.batches())]
    assert predictions == [None if n == place else answer for n, answer in enumerate(ANSWERS)]
    assert submission.layout == name
    assert find_failures(find_layout(name), records, predictions) == {place: reason}
    assert f"{path}: 1 request failed ({reason})" in submission.notes
    with pytest.raises(InputError) as refused:
        rows_of(path, gold=gold)
    assert refused.value.problem == f"1 request failed ({reason})"
    assert refused.value.remedy == remedies.MISSING


def test_missing_answer_of_another_layout_is_no_failed_request() -> None:
    assert find_failures(find_layout("answers_by_id"), [{"(key)": "7"}], [None]) == {}


@pytest.mark.parametrize(
    ("reasons", "sentence"),
    [
        ({"": 1}, "1 request failed"),
        ({"a": 1, "b": 1200}, "1,201 requests failed (b; a)"),
        (dict.fromkeys("abcd", 1), "4 requests failed (a; b; c; ...)"),
        ({"rate\nlimit " * 20: 2}, f"2 requests failed ({('rate limit ' * 8)[:80].strip()})"),
    ],
)
def test_failures_are_described_with_their_commonest_reasons(reasons: dict[str, int], sentence: str) -> None:
    assert describe_failures(reasons) == sentence


def test_batch_with_texts_as_responses_is_read() -> None:
    """A table of a user with the fields of a batch."""
    assert find_batch_answer({"custom_id": "7", "response": "Coca Cola", "error": None}) == "Coca Cola"


# Repeated questions


def test_lm_eval_filters_are_scored_once_with_a_note(tmp_path: Path) -> None:
    _, records = FILES["lm_eval"]
    cut = [{**record, "filter": "flexible-extract", "filtered_resps": ["[invalid]"]} for record in records]
    strict = [
        {**record, "filter": "strict-match", "filtered_resps": [f"{answer}!"]}
        for record, answer in zip(records, ANSWERS)
    ]
    path = write(tmp_path / "samples.jsonl", [*strict, *cut])
    (submission,) = find_submissions([path])
    assert [row.prediction for row in chain.from_iterable(submission.batches())] == ANSWERS
    note = "2 filters (strict-match, flexible-extract): each answer is scored once, as resps.0.0"
    assert submission.notes == [f"{path}: read as lm_eval", f"{path}: {note}"]
    assert [row.prediction for row in rows_of(path, filter="strict-match")] == [f"{answer}!" for answer in ANSWERS]
    assert [row.prediction for row in rows_of(path, prediction_field="filtered_resps.0")] == [f"{a}!" for a in ANSWERS]
    with pytest.raises(InputError, match=r"no filter 'x' .found strict-match, flexible-extract"):
        rows_of(path, filter="x")
    assert [row.prediction for row in rows_of(write(tmp_path / "one.jsonl", strict))] == [f"{a}!" for a in ANSWERS]


def test_inspect_ai_epochs_are_runs(tmp_path: Path) -> None:
    _, log = FILES["inspect_ai"]
    twice = {
        **log,
        "samples": [
            *log["samples"],
            *({**sample, "epoch": 2, "output": make_message("x")} for sample in log["samples"]),
        ],
    }
    path = write(tmp_path / "log.json", twice)
    assert [[run.prediction for run in row.runs] for row in rows_of(path)] == [[answer, "x"] for answer in ANSWERS]
    assert [row.prediction for row in rows_of(path, run="1")] == ANSWERS
    assert [row.prediction for row in rows_of(path, run="2")] == ["x", "x"]
    with pytest.raises(InputError, match=r"no run '3' .found 1, 2.: choose a run with the argument 'run'"):
        rows_of(path, run="3")
    with pytest.raises(InputError, match=r"the field 'epoch' .1, 2. tells runs of one model apart: score the mean"):
        rows_of(path, runs="error")


def test_inspect_ai_archive_is_read(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "log.eval", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", "{}")
        for sample in FILES["inspect_ai"][1]["samples"]:
            archive.writestr(f"samples/{sample['id']}_epoch_1.json", json.dumps(sample))
        archive.writestr("summaries.json", "[]")
    assert [row.prediction for row in rows_of(str(tmp_path / "log.eval"))] == ANSWERS


# Files from the programs themselves, if they are on the machine

WRITTEN = SHARED / "layouts"
MANIFEST = json.loads((WRITTEN / "MANIFEST.json").read_text(encoding="utf-8")) if WRITTEN.is_dir() else []
needs_files = pytest.mark.skipif(not MANIFEST, reason="files of the programs are not on this machine")
BOTH = [entry for entry in MANIFEST if entry["references"] and entry["prediction"]]
ONE_SIDE = [entry for entry in MANIFEST if not entry["references"] and not entry["file"].endswith(".pkl")]
NEEDS = {".xlsx": "python_calamine", ".parquet": "pyarrow", ".eval": "zstandard"}

# A program -> the variant that it computes.
THEIR_VARIANT = {"lmms-eval": "lmms_eval", "inspect_ai": "standard", "unitxt": "rrc", "evalscope": "standard"}


def skip_without_library(entry: dict[str, Any]) -> None:
    pytest.importorskip(NEEDS.get(Path(entry["file"]).suffix, "json"), reason="the extra `files` is not installed")


@needs_files
@pytest.mark.parametrize("entry", BOTH, ids=[entry["file"] for entry in BOTH])
@pytest.mark.parametrize("variant", ["standard", "rrc"])
def test_file_of_a_program_has_the_right_score_without_flags(
    entry: dict[str, Any], variant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    skip_without_library(entry)
    epoch = ["--epoch", "1"] if entry.get("epochs", 1) > 1 else []
    path = str(WRITTEN / entry["file"])
    assert command_line.main([path, *epoch, "--variant", variant, "--format", "json"]) == 0
    out, err = capsys.readouterr()
    submission = json.loads(out)["submissions"][0]
    assert submission["anls"] == pytest.approx(entry["expected"][variant], abs=1e-12)
    assert submission["questions"] == entry["rows"]
    assert f"{path}: read as {submission['layout']}" in err


@needs_files
@pytest.mark.parametrize("entry", BOTH, ids=[entry["file"] for entry in BOTH])
def test_file_of_a_program_has_the_right_score_for_each_question(entry: dict[str, Any]) -> None:
    skip_without_library(entry)
    rows = rows_of(str(WRITTEN / entry["file"]), run="1" if entry.get("epochs", 1) > 1 else None)
    scored = ScoredSet().add(rows)
    per_question, ids = entry["expected_per_question"]["standard"], entry.get("id_map", {})
    if entry["id"] is None:
        scores = [question.score for question in scored]
        assert scores == pytest.approx(list(per_question.values()), abs=1e-12)
    else:
        scores_by_id = {ids.get(question.row.id, question.row.id): question.score for question in scored}
        assert scores_by_id == pytest.approx(per_question, abs=1e-12)
    questions = [row.record.get("question") for row in rows]
    if entry["question"]:
        assert all(isinstance(text, str) and text and "single word or phrase" not in text for text in questions)


def make_gold_file(folder: Path, entry: dict[str, Any]) -> str:
    """Make a gold file for the questions of a file without accepted answers."""
    if "edge" not in entry["file"]:
        return str(SHARED / "data" / "docvqa_val_1k" / "gold.json")
    if entry["harness"] == "crfm-helm":
        return str(WRITTEN / "helm" / "edge" / "instances.json")
    results = json.loads((WRITTEN / "rrc" / "edge" / "results.json").read_text(encoding="utf-8"))["per_sample_result"]
    records = [
        {"questionId": int(key), "question": result["question"], "answers": result["gt"]}
        for key, result in results.items()
    ]
    return write(folder / "gold.json", records)


@needs_files
@pytest.mark.parametrize("entry", ONE_SIDE, ids=[entry["file"] for entry in ONE_SIDE])
def test_file_of_a_program_without_accepted_answers_needs_a_gold_file(
    entry: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gold, path = make_gold_file(tmp_path, entry), str(WRITTEN / entry["file"])
    if "edge" not in entry["file"]:  # the file has only the first questions of the split
        records = json.loads(Path(gold).read_text(encoding="utf-8"))["data"]
        wanted = set(entry["expected_per_question"]["standard"])
        gold = write(tmp_path / "gold.json", [record for record in records if str(record["questionId"]) in wanted])
    assert command_line.main([path]) == 2
    assert "it has no accepted answers" in capsys.readouterr().err
    for arguments in (["-g", gold, "-s", path], [gold, path]):
        assert command_line.main([*arguments, "--format", "json"]) == 0
        submission = json.loads(capsys.readouterr().out)["submissions"][0]
        assert submission["anls"] == pytest.approx(entry["expected"]["standard"], abs=1e-12)
        assert submission["questions"] == entry["rows"]


@needs_files
def test_helm_folder_is_scored(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main([str(WRITTEN / "helm" / "edge"), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["submissions"][0]["anls"] == pytest.approx(0.7254737599565186, abs=1e-12)


@needs_files
def test_pickle_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main([str(WRITTEN / "vlmevalkit" / "canned-edge_01_DocVQA_VAL.pkl")]) == 2
    assert "a pickle, and reading a pickle can run any program" in capsys.readouterr().err


OF_THEIR_VARIANT = [entry for entry in BOTH if entry["harness"] in THEIR_VARIANT]


@needs_files
@pytest.mark.parametrize("entry", OF_THEIR_VARIANT, ids=[entry["file"] for entry in OF_THEIR_VARIANT])
def test_file_of_a_program_has_the_scores_that_the_program_wrote(entry: dict[str, Any]) -> None:
    skip_without_library(entry)
    variant = THEIR_VARIANT[entry["harness"]]
    if variant not in anls_metric.VARIANTS:  # a row of another branch
        pytest.skip(f"there is no variant {variant} yet")
    rows = rows_of(str(WRITTEN / entry["file"]), run="1" if entry.get("epochs", 1) > 1 else None)
    path = entry["score"].replace("samples[].", "").replace("samples.*[].", "")
    theirs = [look_up(row.record, path) for row in rows]
    ours = [question.score for question in ScoredSet(variant).add(rows)]
    assert ours == pytest.approx(theirs, abs=1e-9)
