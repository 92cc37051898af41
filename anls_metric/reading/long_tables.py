"""Says what a field tells apart in a table that asks questions several times: models, runs, documents or splits."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from functools import reduce
from itertools import chain
from operator import or_
from typing import Any

# Fields that tell the submissions of a long table apart, and fields that tell the runs of one model apart.
SUBMISSION_FIELDS = ("model", "checkpoint", "system", "submission", "llm")
RUN_FIELDS = ("seed", "sample", "epoch", "run", "trial", "attempt", "repetition", "rollout")

# The fields that name the document, page or image of a question, in the files of data sets and programs.
DOCUMENT_FIELDS = (
    "ucsf_document_id",  # SP-DocVQA
    "docId",  # SP-DocVQA
    "doc_id",  # MP-DocVQA, MMLongBench-Doc
    "document_id",
    "documentId",
    "document",
    "document_name",
    "doc_name",
    "docName",
    "doc",
    "deck_name",  # SlideVQA
    "arxiv_id",
    "pdf",
    "file_name",
    "filename",
    "image",
    "image_id",
    "imageId",
    "image_name",
    "image_path",
    "image_url",
    "image_local_name",  # InfographicVQA
    "page_id",
)


def is_split_field(name: str) -> bool:
    """Whether a field says in which split of a data set a question is, by its name."""
    return re.search(r"(?:^|[_.])(?:data_?)?(?:split|subset|partition|fold)s?$", name.lower()) is not None


def find_submission_field(paths: Iterable[str], roles: Collection[Any] = ()) -> str | None:
    """Find the field that names the model of each record, in a table of several models; it has no other role.

    Example:
        >>> find_submission_field(["questionId", "model_name", "prediction"])
        'model_name'
    """
    nouns = {path: re.sub("_(id|name|path)$", "", path.lower()) for path in paths if path not in roles}
    return next((path for path, noun in nouns.items() if noun in SUBMISSION_FIELDS), None)


def tells_submissions(names: Sequence[Hashable], questions: Sequence[Hashable], asked: Sequence[Hashable]) -> bool:
    """Whether values tell submissions apart: each value has nearly all questions once, with the same accepted answers.

    A submission may also lack many questions, if nearly all of its own are in the others. A form that is filled in for
    several documents has the same questions for each of them, too. But some of its questions have other answers in each
    document.

    Args:
        names: a value of each record, such as the name of a model.
        questions: the question of each record, or a hash of it.
        asked: the same for the question with its accepted answers.

    Example:
        >>> tells_submissions("aaaabbbb", "wxyzwxyz", "wxyzwxyz"), tells_submissions("aaaabbbb", "wxyzwxyz", "wxyzwxyZ")
        (True, False)
        >>> tells_submissions("a" * 30 + "b" * 12, [*range(30), *range(12)], [*range(30), *range(12)])
        True
    """
    parts: dict[Hashable, set[Hashable]] = {}
    for name, key in zip(names, asked):
        parts.setdefault(name, set()).add(key)
    sizes, count = list(map(len, parts.values())), len(set(asked))
    if not 1 < len(sizes) <= len(names) / 3 or sum(sizes) < 0.9 * len(names):
        return False
    is_part = min(sizes) >= _LEAST_ANSWERS and sum(sizes) - count >= 0.95 * (sum(sizes) - max(sizes))
    return (is_part or min(sizes) >= 0.8 * count) and have_same_answers(names, questions, asked)


def have_same_answers(names: Iterable[Hashable], questions: Iterable[Hashable], asked: Iterable[Hashable]) -> bool:
    """Whether questions that several values have in common have the same accepted answers: see `tells_submissions`."""
    answers: dict[Hashable, dict[Hashable, set[Hashable]]] = {}
    for name, question, key in zip(names, questions, asked):
        answers.setdefault(question, {}).setdefault(name, set()).add(key)
    different = sum(len(set().union(*of.values())) > max(map(len, of.values())) for of in answers.values())
    return different <= 0.01 * len(answers)


def have_all_answers(names: Sequence[Hashable], answers: Sequence[Hashable]) -> bool:
    """Whether each value has nearly all accepted answers equally often: `tells_submissions` without questions.

    Numbers and words like "yes" are the same in many parts by chance. So most accepted answers must be different.

    Example:
        >>> have_all_answers("a" * 12 + "b" * 12, [*range(12), *range(12)])
        True
        >>> have_all_answers("a" * 12 + "b" * 12, [*range(12), *range(3, 15)]), have_all_answers("ab" * 12, "yynn" * 6)
        (False, False)
    """
    if not 1 < len(set(names)) <= len(names) / 3:
        return False
    counts: dict[Hashable, Counter[Hashable]] = {}
    for name, answer in zip(names, answers):
        counts.setdefault(name, Counter())[answer] += 1
    sizes, most = [sum(part.values()) for part in counts.values()], reduce(or_, counts.values())
    return min(sizes) >= 0.9 * sum(most.values()) and len(most) >= max(_LEAST_ANSWERS, 0.5 * max(sizes))


_LEAST_ANSWERS = 10


def names_documents(name: str, values: Iterable[Any]) -> bool:
    """Whether a field names documents, pages or images, by its name or by the endings of its values.

    Example:
        >>> names_documents("page", [1, 2]), names_documents("scan", ["a.pdf"]), names_documents("method", ["a", "b"])
        (True, True, False)
    """
    if name in DOCUMENT_FIELDS or re.fullmatch(r"pages?|page_(?:no|number)|url|files?", name.lower()):
        return True
    return all(isinstance(value, str) and re.search(_DOCUMENT, value.lower()) for value in values)


_DOCUMENT = r"\.(?:pdf|png|jpe?g|tiff?|webp|gif|bmp|html?|docx?|pptx?|xlsx?|md)$"


def is_run_field(name: str, own: str = "") -> bool:
    """Whether a field tells the runs of a model apart, by its name.

    Args:
        name: the field.
        own: the name that the layout gives to such a field.

    Example:
        >>> is_run_field("epoch"), is_run_field("run_id"), is_run_field("temperature")
        (True, True, False)
    """
    return name == own or re.sub("_?(id|idx|index|number)$", "", name.lower()) in RUN_FIELDS


def find_splitting_field(
    ids: Sequence[str], records: Sequence[Mapping[str, Any]], roles: Collection[Any] = (), run_field: str = ""
) -> str | None:
    """Find the field in which records with the same id differ.

    Args:
        ids: the id of each record, some of them repeated.
        records: the records.
        roles: fields that have a role, such as the prediction.
        run_field: see `is_run_field`.

    Returns:
        The field with the fewest values in which records with the same id have different values, preferably a field
        that names runs; None for none.

    Example:
        >>> methods = [{"method": "a"}, {"method": "b"}, {"method": "a"}, {"method": "b"}]
        >>> find_splitting_field(["7", "7", "8", "8"], methods)
        'method'
    """
    if len(set(ids)) == len(ids):
        return None
    best: tuple[bool, int, str] | None = None
    names = dict.fromkeys(chain.from_iterable(records[:100]))
    for name in names:
        values = [record.get(name) for record in records]
        if name in roles or not all(isinstance(value, (str, int)) for value in values):
            continue
        count = len(set(values))
        rank = not is_run_field(name, run_field), count
        if (
            1 < count <= len(values) / 2
            and len(set(zip(ids, values))) == len(ids)
            and (best is None or rank < best[:2])
        ):
            best = *rank, name
    return best[2] if best else None
