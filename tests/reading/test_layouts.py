"""Files in the layout of each program: made up for the test, and written by the programs themselves."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anls_metric import score
from anls_metric.reading.layouts import LAYOUTS
from tests.conftest import DATA
from tests.reading.conftest import Shell, read

# Two made-up questions in the format of each program.
QUESTIONS = ["What is the total?", "Who signed it?"]
ANSWERS = ["12.50", "R Jones"]
ACCEPTED = [["12.50", "$12.50"], ["R. Jones", 'it\'s "R. Jones"']]
SCORE = (1 + 7 / 8) / 2
BEFORE = "Answer the question according to the image using a single word or phrase.\n"
AFTER = (
    '\nThe last line of your response should be of the form "ANSWER: [ANSWER]" (without quotes) where [ANSWER] is the '
    "answer to the question."
)
PROMPT = "\nAnswer the question using a single word or phrase."
REASONED = [{"type": "reasoning", "reasoning": "It says so."}, {"type": "text", "text": ANSWERS[1]}]
GOLD = [
    {"questionId": 7 + n, "question": question, "answers": accepted}
    for n, (question, accepted) in enumerate(zip(QUESTIONS, ACCEPTED))
]


def make_list(make: Callable[..., Any]) -> list[Any]:
    return [make(n, *row) for n, row in enumerate(zip(QUESTIONS, ANSWERS, ACCEPTED))]


def make_by_id(make: Callable[..., Any]) -> dict[str, Any]:
    return {str(7 + n): make(n, *row) for n, row in enumerate(zip(QUESTIONS, ANSWERS, ACCEPTED))}


def make_message(answer: str) -> dict[str, Any]:
    return {"choices": [{"message": {"content": REASONED if answer == ANSWERS[1] else answer}}]}


def tag_references(accepted: list[str]) -> list[Any]:
    wrong = {"output": {"text": "wrong"}, "tags": []}
    return [wrong, *({"output": {"text": text}, "tags": ["correct"]} for text in accepted)]


BY_ID = ("mistral_evals", "opencompass")
# A record of each program: of the number of a question, its text, the answer and the accepted answers.
# fmt: off
RECORDS: dict[str, Callable[[int, str, str, list[str]], dict[str, Any]]] = {
    "donut": lambda n, q, a, r: {"file_name": f"{7 + n}", "ground_truth": json.dumps({"gt_parses": [{"question": q,
        "answer": text} for text in r]})},
    "donut_results": lambda n, q, a, r: {"file_name": f"{7 + n}", "ground_truth": json.dumps({"gt_parses": [{"question":
        q, "answer": text} for text in r]}), "output": a},
    "lm_eval": lambda n, q, a, r: {"doc_id": n, "doc": {"questionId": 7 + n, "question": q, "answers": r},
        "target": str(r), "arguments": {"gen_args_0": {"arg_0": q + PROMPT}}, "resps": [[a]], "filtered_resps": [a],
        "filter": "none"},
    "lmms_eval": lambda n, q, a, r: {"doc_id": 7 + n, "target": str(r), "filtered_resps": [a], "doc_hash": "x",
        "input": q + PROMPT},
    "vlmevalkit": lambda n, q, a, r: {"index": str(n), "question": q, "answer": str(r), "questionId": str(7 + n),
        "prediction": a},
    "evalscope_reviews": lambda n, q, a, r: {"index": n, "target": [json.dumps(r)],
        "messages": [{"content": [{"type": "text", "text": f"{BEFORE}{q}{AFTER}"}]}], "sample_score": {"score": {
        "extracted_prediction": a, "prediction": f"ANSWER: {a}"}, "sample_metadata": {"questionId": str(7 + n)}}},
    "evalscope_predictions": lambda n, q, a, r: {"index": n, "model_output": make_message(a),
        "messages": [{"content": q}], "metadata": {"questionId": str(7 + n)}},
    "lighteval": lambda n, q, a, r: {"doc": {"id": str(7 + n), "query": f"Question: {q}\nAnswer:",
        "choices": ["wrong", *r], "gold_index": [1, 2]}, "metric": {"em": 0.0}, "model_response": {"text": [a]}},
    "qwen_vl": lambda n, q, a, r: {"question": f"{q} {PROMPT.strip()}", "questionId": 7 + n, "answer": a,
        "annotation": r},
    "mistral_evals": lambda n, q, a, r: {"request": {"messages": [{"content": [{"type": "image"}, {"type": "text",
        "text": q + PROMPT}]}]}, "model_answer": a, "reference_answer": r},
    "llama_factory": lambda n, q, a, r: {"prompt": q, "predict": a, "label": r[0]},
    "ms_swift": lambda n, q, a, r: {"response": a, "labels": r[0], "messages": [{"role": "user", "content": q}]},
    "helm_predictions": lambda n, q, a, r: {"instance_id": f"{7 + n}", "train_trial_index": 0, "predicted_text": a},
    "helm_instances": lambda n, q, a, r: {"id": f"{7 + n}", "input": {"text": q}, "references": tag_references(r),
        "split": "valid"},
    "opencompass": lambda n, q, a, r: {"origin_prompt": [{"role": "HUMAN", "prompt": q + PROMPT}], "prediction": a,
        "gold": r},
    "openai_batch": lambda n, q, a, r: {"id": f"batch_req_{n}", "custom_id": f"{7 + n}",
        "response": {"status_code": 200, "request_id": "x", "body": {"id": "chatcmpl-x", "object": "chat.completion",
        **make_message(a)}}, "error": None},
    "anthropic_batch": lambda n, q, a, r: {"custom_id": f"{7 + n}", "result": {"type": "succeeded",
        "message": {"id": "msg_x", "type": "message", "role": "assistant", "content": [{"type": "thinking",
        "thinking": "It says so.", "signature": "x"}, {"type": "redacted_thinking", "data": "x"}, {"type": "text",
        "text": a[:2]}, {"type": "text", "text": a[2:]}], "stop_reason": "end_turn"}}},
    "gemini_batch": lambda n, q, a, r: {"key": f"{7 + n}",
        "response": {"candidates": [{"content": {"parts": [{"text": "It says so.", "thought": True}, {"text": a[:2]},
        {"text": a[2:], "thoughtSignature": "x"}], "role": "model"}, "finishReason": "STOP"}],
        "usageMetadata": {"totalTokenCount": 7}}},
    "vllm": lambda n, q, a, r: {"request_id": f"{n}",
        "prompt": f"<|im_start|>user\n{q}<|im_end|>\n<|im_start|>assistant\n", "prompt_token_ids": [1, 2],
        "outputs": [{"index": 0, "text": a, "token_ids": [3], "finish_reason": "stop"}], "finished": True},
    "llava": lambda n, q, a, r: {"question_id": 7 + n, "prompt": q + PROMPT, "text": a, "answer_id": "x",
        "model_id": "llava-v1.5-7b", "metadata": {}},
    "dude_submission": lambda n, q, a, r: {"questionId": str(7 + n), "answers": [a], "answers_confidence": [0.9],
        "answers_abstain": False},
    "docvqa_2026_submission": lambda n, q, a, r: {"question_id": str(7 + n),
        "full_answer": f"It says so. FINAL ANSWER: {a}", "answer": a},
    "longdocurl": lambda n, q, a, r: {"question_id": str(7 + n), "doc_no": "4026369", "question_type": "extract",
        "question": q, "answer": r, "evidence_pages": [1], "answer_format": "List", "task_tag": "Understanding",
        "response": f"<concise_answer>{a}</concise_answer><answer_format>List</answer_format>", "pred": a,
        "score": 1.0},
    "mmlongbench_doc": lambda n, q, a, r: {"doc_id": "a.pdf", "doc_type": "Research report / Introduction",
        "question": q, "answer": str(r), "evidence_pages": "[3]", "evidence_sources": "['Chart']",
        "answer_format": "List", "response": a, "extracted_res": f"Extracted answer: {a}\nAnswer format: List",
        "pred": a, "score": 1.0},
    "chartqapro": lambda n, q, a, r: {"Question": ["What is this?", q], "Answer": ["A chart", r[0]],
        "Question Type": "Conversational", "Year": ["NO", "NO"], "Paragraph": "", "prediction": a},
    "ocrbench_v2": lambda n, q, a, r: {"dataset_name": "docvqa", "id": 7 + n, "image_path": "a.png",
        "type": "reasoning VQA en", "question": q, "answers": r, "predict": a},
    "madqa": lambda n, q, a, r: {"id": str(7 + n), "question": q, "answers": [[text] for text in r],
        "evidence": [{"document": "a.pdf", "page": 1}], "category": "Finance"},
    "madqa_results": lambda n, q, a, r: {"id": str(7 + n), "question": q, "answer": a, "citations": [{"file": "a.pdf",
        "page": 1}], "search_history": ["total"], "iterations": 2},
}
CONTENTS: dict[str, Any] = {
    **{name: (make_by_id if name in BY_ID else make_list)(make) for name, make in RECORDS.items()},
    "inspect_ai": {"version": 2, "status": "success", "eval": {}, "samples": make_list(lambda n, q, a, r: {"id": 7 + n,
        "epoch": 1, "input": [{"role": "user", "content": [{"type": "text", "text": q + PROMPT}]}] if n else q,
        "target": r, "output": make_message(a)})},
    "unitxt": {"environment_info": {}, "samples": {"docvqa": make_list(lambda n, q, a, r: {"source": f"{q}{PROMPT}\n",
        "processed_prediction": a, "processed_references": r})}},
    "helm_scenario_state": {"adapter_spec": {}, "request_states": make_list(lambda n, q, a, r: {
        "instance": {"id": f"{7 + n}", "input": {"text": q}, "references": tag_references(r)},
        "train_trial_index": 0, "result": {"completions": [{"text": a}]}})},
    "mp_docvqa": {"Model": "x", "Scores by samples": make_by_id(lambda n, q, a, r: {"pred_answer": a, "anls": 1})},
    "rrc_results": {"result": {"score": 0.9}, "per_sample_result": make_by_id(lambda n, q, a, r: {"question": q,
        "gt": r, "det": a, "score": 1})},
    "due": [{"name": "document", "annotations": make_list(lambda n, q, a, r: {"id": 7 + n, "key": q,
        "values": [{"value": a, "value_variants": r}]})}],
    "squad": {"version": "v2.0", "data": [{"title": "page", "paragraphs": make_list(lambda n, q, a, r: {
        "context": "...", "qas": [{"id": f"{7 + n}", "question": q, "is_impossible": False,
        "answers": [{"text": text, "answer_start": 0} for text in r]}]})}]},
    "docvqa_2026": [{"doc_id": "maps_2", "doc_category": "maps", "questions": {"question_id": ["7", "8"],
        "question": QUESTIONS}, "answers": {"question_id": ["7", "8"], "answer": [first for first, _ in ACCEPTED]}}],
    "answers_by_id": dict(zip("78", ANSWERS)),
}
# fmt: on
FILES: dict[str, tuple[str, Any]] = {
    **{name: (f"{name}.{'json' if isinstance(each, dict) else 'jsonl'}", each) for name, each in CONTENTS.items()},
    "vlmevalkit": ("vlmevalkit.csv", CONTENTS["vlmevalkit"]),
}
"""The name and the content of a file of each layout."""


def save(shell: Shell, name: str) -> str:
    """Write the file of a layout, and return its name."""
    path, content = FILES[name]
    shell.write({path: content})
    return path


# Layouts without an id. That of vllm is a place, which must not be taken for the id of a question.
BY_POSITION = ("llama_factory", "ms_swift", "unitxt", "mmlongbench_doc", "chartqapro", "vllm")
OF_GOLD = {"helm_instances": "helm_predictions", "squad": "answers_by_id", "donut": "answers_by_id"}
OF_GOLD |= {"docvqa_2026": "docvqa_2026_submission", "madqa": "madqa_results"}
"""The layouts of gold files, and that of a submission to each."""

ONE_REFERENCE = ("llama_factory", "ms_swift", "docvqa_2026", "chartqapro")  # which is the first one


def test_each_layout_has_a_file() -> None:
    assert [layout.name for layout in LAYOUTS if layout.name not in FILES] == []
    assert len({layout.name for layout in LAYOUTS}) == len(LAYOUTS) == len(FILES)


@pytest.mark.parametrize("name", [layout.name for layout in LAYOUTS if layout.prediction and layout.references])
def test_log_with_accepted_answers_is_scored_alone(shell: Shell, name: str) -> None:
    path = save(shell, name)
    (submission,) = shell.document(f"{path} --quiet")["submissions"]
    assert (submission["layout"], submission["anls"], submission["questions"]) == (name, SCORE, 2)
    assert submission["read"].endswith(f" (references) of {path}: 2 rows")
    answers = score(path).answers()
    assert [each["prediction"] for each in answers] == ANSWERS
    count = 1 if name in ONE_REFERENCE else 2
    assert [list(each["references"]) for each in answers] == [accepted[:count] for accepted in ACCEPTED]


@pytest.mark.parametrize("name", sorted(FILES.keys() - {*OF_GOLD, "due"}))
def test_log_is_joined_with_a_gold_file(shell: Shell, name: str) -> None:
    path = save(shell, name)
    shell.write({"gold.json": GOLD})
    option = " --id-field none" if name in ("vllm", "mmlongbench_doc") else ""  # ids of requests, names of documents
    (submission,) = shell.document(f"-g gold.json -s {path} --quiet{option}")["submissions"]
    assert (submission["layout"], submission["anls"], submission["questions"]) == (name, SCORE, 2)
    assert ("position: 2 of 2" if name in BY_POSITION else "questionId: 2 of 2") in submission["read"]


@pytest.mark.parametrize("name", OF_GOLD)
def test_gold_file_of_a_program_is_joined_with_its_submission(shell: Shell, name: str) -> None:
    gold = save(shell, name)
    path = save(shell, OF_GOLD[name])
    (submission,) = shell.document(f"{gold} {path} --quiet")["submissions"]
    assert (submission["layout"], submission["anls"]) == (OF_GOLD[name], SCORE)
    assert "no predictions: pass their field" in shell.error(gold)


def test_table_of_a_user_with_the_fields_of_a_program_is_a_table(shell: Shell) -> None:
    shell.write({"t.json": [{"index": "7", "question": "?", "answer": "b", "prediction": "a", "answers": ["a"]}]})
    assert read(shell, "t.json") == "prediction (prediction), answers (references) of t.json: 1 row"
    line = "prediction (prediction), answer (references) of t.json: 1 row"
    assert read(shell, "t.json --layout vlmevalkit") == line


def test_due_submission_is_joined_with_the_variants_of_its_gold_file(shell: Shell) -> None:
    (document,) = FILES["due"][1]
    values = [{**each, "values": [{"value": answer}]} for each, answer in zip(document["annotations"], ["$12.50", "x"])]
    shell.write({"gold.jsonl": [document], "x.jsonl": [{"name": "document", "annotations": values}]})
    assert shell.scores("gold.jsonl x.jsonl") == [0.5]


def test_none_of_checkboxqa_is_no_value_in_any_case(shell: Shell) -> None:
    def make(*values: dict[str, Any]) -> list[dict[str, Any]]:
        return [{"name": "document", "annotations": [{"id": 7, "key": "Ticked?", "values": list(values)}]}]

    shell.write({"gold.jsonl": make({"value": "NONE"}, {"value": "Yes", "value_variants": ["yes", "None"]})})
    shell.write({"none.jsonl": make({"value": "none"}, {"value": "NONE"})})
    shell.write({"yes.jsonl": make({"value": "None"}, {"value": "yes"}), "other.jsonl": make({"value": "non"})})
    scores = shell.scores("-g gold.jsonl none.jsonl yes.jsonl other.jsonl --variant anls_star")
    assert scores == [1, 1, 0]


def test_question_of_squad_without_answer_accepts_an_empty_string(shell: Shell) -> None:
    more = {"id": "9", "question": "?", "answers": [], "is_impossible": True, "plausible_answers": [{"text": "x"}]}
    (article,) = FILES["squad"][1]["data"]
    shell.write({"gold.json": {"data": [article, {"title": "", "paragraphs": [{"context": "", "qas": [more]}]}]}})
    right = {"7": "12.50", "8": "R. Jones", "9": ""}
    shell.write({"x.json": right, "y.json": {**right, "9": "x"}})
    assert shell.scores("gold.json x.json y.json") == [1, 2 / 3]
    shell.write({"broken.json": json.dumps(FILES["squad"][1]).replace('"text": "12.50"', '"other": "12.50"')})
    assert "broken.json, record 1: the reference, item 0, is None" in shell.error("broken.json x.json")


# Answers of APIs

TEXT = {"type": "output_text", "text": "7"}


def in_batch(response: dict[str, Any]) -> dict[str, Any]:
    return {"response": {"body": response}}


# A layout, what stands in the place of the response to question 7, and the prediction; None where the request failed.
RESPONSES: list[tuple[str, dict[str, Any], str | None]] = [
    ("openai_batch", in_batch({"choices": [{"message": {"content": [{"type": "text", "text": "7"}]}}]}), "7"),
    ("openai_batch", in_batch({"choices": [{"message": {"content": "", "reasoning_content": "6?"}}]}), ""),
    ("openai_batch", in_batch({"choices": [{"message": {"content": None, "tool_calls": [{}]}}]}), ""),
    ("openai_batch", in_batch({"choices": [{"message": {"content": None, "refusal": "No."}}]}), "No."),
    ("openai_batch", in_batch({"choices": [{"text": None}]}), ""),
    ("openai_batch", in_batch({"output": [{"type": "reasoning"}, {"type": "function_call"}]}), ""),
    ("openai_batch", in_batch({"output": [{"type": "message", "content": [{"refusal": "No."}]}]}), "No."),
    ("openai_batch", in_batch({"output": [{"type": "message", "phase": "final_answer", "content": [TEXT]}]}), "7"),
    ("openai_batch", in_batch({"output": [{"type": "message", "phase": "commentary", "content": [TEXT]}]}), ""),
    ("openai_batch", in_batch({"status": "failed", "error": {"code": "x", "message": "server error"}}), None),
    ("openai_batch", in_batch({"output": [{"type": "message", "content": [TEXT]}]}), "7"),
    ("openai_batch", {"response": {"choices": [{"message": {"content": "7"}}]}}, "7"),
    ("openai_batch", {"response": "7"}, "7"),
    ("openai_batch", {"response": None, "error": {"code": "batch_expired", "message": "It expired."}}, None),
    ("openai_batch", {"response": {"status_code": 400, "body": {"error": {"message": "bad"}}}}, None),
    ("openai_batch", {"response": {"status_code": 400, "body": None}, "error": "too long"}, None),
    ("openai_batch", {"response": {"status_code": 500, "body": None}, "error": {"error": {"message": "oom"}}}, None),
    ("anthropic_batch", {"result": {"type": "succeeded", "message": {"content": []}}}, ""),
    ("anthropic_batch", {"result": {"type": "succeeded", "message": {"content": [{"type": "tool_use"}]}}}, ""),
    ("anthropic_batch", {"result": {"type": "errored", "error": {"error": {"message": "big"}}}}, None),
    ("anthropic_batch", {"result": {"type": "expired"}}, None),
    ("gemini_batch", {"response": {"candidates": [{"finishReason": "SAFETY"}]}}, ""),
    ("gemini_batch", {"response": {"candidates": [{"content": {"parts": [{"text": "6?", "thought": True}]}}]}}, ""),
    ("gemini_batch", {"response": {"promptFeedback": {"blockReason": "BLOCKED"}}}, None),
    ("gemini_batch", {"error": {"code": 13, "message": "internal"}, "response": None}, None),
]
REASONS = ("server error", "It expired.", "bad", "too long", "oom", "big", "expired", "BLOCKED", "internal")


@pytest.mark.parametrize(("name", "response", "answer"), RESPONSES)
def test_answer_of_an_api_is_its_text_alone(shell: Shell, name: str, response: Any, answer: str | None) -> None:
    other, first = FILES[name][1]
    shell.write({"gold.json": GOLD[::-1], "x.jsonl": [other, {**first, **response}]})
    if answer is None:
        message = shell.error("gold.json x.jsonl")
        assert message.endswith(": to score unanswered questions 0, add --missing zero")
        assert any(f"x.jsonl: 1 request failed ({reason})" in message for reason in REASONS)
        if name != "gemini_batch":  # a file in which all requests failed
            shell.write({"one.json": GOLD[1:], "y.jsonl": [{**first, **response}]})
            assert "y.jsonl: 1 request failed (" in shell.error("one.json y.jsonl")
    scores = score("x.jsonl", gold="gold.json", missing="zero")
    (prediction,) = [each["prediction"] for each in scores.answers() if each["prediction"] != ANSWERS[0]]
    assert prediction == answer


def test_reasons_of_failed_requests_are_listed(shell: Shell) -> None:
    reasons = ["b\nb", "b\nb", "a", "c", "d"]
    rows = [{"custom_id": f"{n}", "response": None, "error": {"message": text}} for n, text in enumerate(reasons)]
    shell.write({"gold.json": [{**GOLD[0], "questionId": n} for n in range(5)], "x.jsonl": rows})
    message = "x.jsonl: 5 requests failed (b b, a, c, d): to score unanswered questions 0, add --missing zero"
    assert shell.error("-g gold.json -s x.jsonl") == message


# Answers that a program wrote several times


def test_answers_of_lm_eval_are_scored_once_without_its_filters(shell: Shell) -> None:
    records = FILES["lm_eval"][1]
    strict = [{**each, "filter": "strict-match", "filtered_resps": ["x"]} for each in records]
    shell.write({"x.jsonl": [*strict, *({**each, "filter": "flexible"} for each in strict)], "one.jsonl": strict})
    line = "resps.0.0 (prediction), doc.answers (references) of x.jsonl: 2 rows (2 filters (strict-match, "
    assert read(shell, "x.jsonl") == line + "flexible), none of them applied)"
    assert shell.scores("x.jsonl one.jsonl") == [SCORE, 0]
    assert shell.scores("x.jsonl --filter flexible") == [0]
    message = "x.jsonl: there is no filter 'x': pass an existing one with --filter (found strict-match, flexible)"
    assert shell.error("x.jsonl --filter x") == message


def test_epochs_of_inspect_ai_are_runs(shell: Shell) -> None:
    log = FILES["inspect_ai"][1]
    second = [{**sample, "epoch": 2, "output": make_message("x")} for sample in log["samples"]]
    shell.write({"log.json": {**log, "samples": [*log["samples"], *second]}})
    assert read(shell, "log.json").endswith("of log.json: 4 rows, 2 questions")
    assert shell.scores("log.json") == [SCORE / 2]
    assert shell.scores("log.json --filter 2") == [0]
    assert shell.error("log.json --filter 3").endswith(" no run '3': pass an existing one with --filter (found 1, 2)")


@pytest.mark.parametrize("status", ["success", "error", "cancelled", "started"])
def test_stopped_log_of_inspect_ai_has_a_hint(shell: Shell, status: str) -> None:
    samples = FILES["inspect_ai"][1]["samples"]
    header = {"status": status, "eval": {"dataset": {"samples": 9}, "config": {"epochs": 1}}}
    with zipfile.ZipFile("log.eval", "w", zipfile.ZIP_DEFLATED) as archive:
        name = "_journal/start.json" if status == "started" else "header.json"
        archive.writestr(name, json.dumps(header))
        for sample in samples:
            archive.writestr(f"samples/{sample['id']}_epoch_1.json", json.dumps(sample))
        archive.writestr("summaries.json", "[]")
    shell.write({"log.json": {**header, "samples": samples}})
    for path in ("log.eval", "log.json"):
        done = shell.type(f"{path} --format json")
        assert json.loads(done.out)["submissions"][0]["anls"] == SCORE
        remedy = "run the remaining ones with inspect eval-retry"
        hint = f"hint: {path}: the evaluation stopped ({status}) after 2 samples: {remedy}"
        assert (hint in done.err) == (status != "success")


LOG: dict[str, Any] = {"status": "error", "eval": {"model": "m"}}
FAILED = {**FILES["inspect_ai"][1]["samples"][0], "output": {"choices": []}, "error": {"message": "no GPU"}}
NO_SAMPLES = "this inspect_ai log has no samples (status error): run the evaluation again, and log its samples"
ALL_FAILED = "no predictions, 1 request failed (no GPU): run the failed requests again"
ONE_FAILED = "1 request failed (no GPU): to score unanswered questions 0, add --missing zero"


@pytest.mark.parametrize(
    ("log", "message"),
    [
        (LOG, NO_SAMPLES),
        ({**LOG, "samples": []}, NO_SAMPLES),
        ({**LOG, "samples": None}, NO_SAMPLES),
        ({**LOG, "samples": [FAILED]}, ALL_FAILED),
        ({**LOG, "status": "success", "samples": [FAILED]}, ALL_FAILED),
        ({**LOG, "samples": [FILES["inspect_ai"][1]["samples"][1], FAILED]}, ONE_FAILED),
    ],
)
def test_failed_log_of_inspect_ai_is_told_from_a_file_without_predictions(
    shell: Shell, log: dict[str, Any], message: str
) -> None:
    with zipfile.ZipFile("log.eval", "w") as archive:
        archive.writestr("header.json", json.dumps({key: value for key, value in log.items() if key != "samples"}))
        for number, sample in enumerate(log.get("samples") or []):
            archive.writestr(f"samples/{number}_epoch_1.json", json.dumps(sample))
    shell.write({"log.json": log, "gold.json": GOLD})
    for path in ("log.eval", "log.json"):
        assert shell.error(path) == shell.error(f"gold.json {path}") == f"{path}: {message}"


# Files from the programs themselves

WRITTEN = DATA / "layouts"
MANIFEST = json.loads((WRITTEN / "MANIFEST.json").read_text(encoding="utf-8"))
PROGRAMS = [entry for entry in MANIFEST if entry["prediction"]]
NEEDS = {".xlsx": "python_calamine", ".parquet": "pyarrow", ".eval": "zstandard"}


def make_gold_file(entry: dict[str, Any]) -> list[dict[str, Any]]:
    """Make a gold file with the ids that are in the file of a program."""
    by_id = json.loads((WRITTEN / "edge_gold.json").read_text(encoding="utf-8"))
    own = [*entry["expected_per_question"]["standard"]][: entry["rows"]]
    ids = entry.get("id_map") or {key: key for key in own if key in by_id}
    return [{"questionId": key, **by_id[ids[key]]} for key in list(ids)[: entry["rows"]]]


@pytest.mark.parametrize("entry", PROGRAMS, ids=[entry["file"] for entry in PROGRAMS])
def test_file_of_a_program_has_the_right_score(shell: Shell, entry: dict[str, Any]) -> None:
    pytest.importorskip(NEEDS.get(Path(entry["file"]).suffix, "json"), reason="the extra `files` is not installed")
    path = f"'{WRITTEN / entry['file']}' --quiet" + " --filter 1" * (entry.get("epochs", 1) > 1)
    for variant, expected in entry["expected"].items():
        if entry["references"]:
            (submission,) = shell.document(f"{path} --variant {variant}")["submissions"]
            assert submission["anls"] == pytest.approx(expected, abs=1e-12)
            assert submission["questions"] == entry["rows"]
        shell.write({"gold.json": make_gold_file(entry)})
        (submission,) = shell.document(f"-g gold.json -s {path} --variant {variant}")["submissions"]
        assert submission["anls"] == pytest.approx(expected, abs=1e-12)
    if entry["references"] and entry["id"]:
        shell.print(f"{path} --output x.jsonl")
        rows = [json.loads(line) for line in Path("x.jsonl").read_text(encoding="utf-8").splitlines()]
        ids = entry.get("id_map", {})
        scores = {ids.get(row["id"], row["id"]): row["score"] for row in rows}
        assert scores == pytest.approx(entry["expected_per_question"]["standard"], abs=1e-12)


@pytest.mark.parametrize("field", ["prediction", "output"])
@pytest.mark.parametrize("form", [dict, json.dumps])
def test_fields_of_donut_may_stand_beside_a_prediction(shell: Shell, field: str, form: Callable[..., Any]) -> None:
    fields = [{"vendor": f"V{n}", "total": f"{n}.50"} for n in range(4)]
    rows = [{"file_name": f"{n}.png", "ground_truth": json.dumps({"gt_parse": own}), field: form(own)}
            for n, own in enumerate(fields)]  # fmt: skip
    shell.write({"t.jsonl": rows})
    assert shell.scores("t.jsonl --variant anls_star") == [1.0]
    assert shell.error("t.jsonl").endswith("score lists and objects with --variant anls_star")
