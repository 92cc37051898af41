"""Identifies the scored questions by a hash of their ids and references, which does not depend on order, layout or
format.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from itertools import chain
from typing import Any

from anls_metric.core.json_values import to_json
from anls_metric.reading.answers import Questions


def hash_questions(questions: Questions) -> str:
    """Hash the ids and the references of questions.

    Each question becomes a line: a JSON list of the id ("" without ids) and the sorted distinct references, in ASCII
    only; lists and objects among the references are written as JSON with sorted keys. The lines are sorted and joined
    by newlines. The hash consists of the first eight hexadecimal digits of the SHA-256 of the result.

    Example:
        >>> from anls_metric.reading.table import Table
        >>> accepted = [["tea", "Tea", "tea"], ["milk"]]
        >>> hash_questions(Questions(Table([{}, {}]), ["7", "8"], accepted, [None, None], has_ids=True))
        '0b5dc593'
    """
    from hashlib import sha256  # slow to import

    ids = questions.ids if questions.has_ids else [""] * len(questions.ids)
    references: Sequence[Collection[Any]] = questions.references
    if set(map(type, chain.from_iterable(references))) != {str}:
        references = list(map(as_strings, references))
    quote = json.encoder.encode_basestring_ascii
    different = (accepted if len(accepted) == 1 else sorted(set(accepted)) for accepted in references)
    lines = [f"[{', '.join(map(quote, (key, *accepted)))}]" for key, accepted in zip(ids, different)]
    return sha256("\n".join(sorted(lines)).encode("ascii")).hexdigest()[:8]


def as_strings(accepted: Iterable[Any]) -> set[str]:
    """Convert references to a set of strings, in which lists and objects are written as JSON."""
    return {each if isinstance(each, str) else json.dumps(to_json(each), sort_keys=True) for each in accepted}
