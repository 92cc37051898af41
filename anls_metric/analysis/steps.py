r"""Defines the steps that win lost points back. A step changes how answers are read, and is usually an option to type.

The tables contain the steps that fit any answers. Other steps, such as a chain of extraction steps, are created for the
answers at hand. The module `step_search` finds the steps that help.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from anls_metric.core.extraction.extract import CERTAIN, extractor, extractor_for
from anls_metric.core.json_strings import parse_value_or_text, read_reference
from anls_metric.core.scorer import Scorer, get_scorer
from anls_metric.core.strings.normalization import NORMALIZATIONS, normalizer

Change = Callable[[Any], Any]


def _keep(value: Any) -> Any:
    return value


class Step(NamedTuple):
    """A change to how answers are read, which is either a row of a table or created for the answers at hand.

    Attributes:
        name: the cause that the step removes.
        meaning: the text that follows the number of answers.
        remedy: what to do, followed in messages by the options.
        options: the options that apply the step, with their values; {} if the step can only be done in the files.
        prediction: a function that changes a prediction.
        text: a function that changes the string of a prediction before `prediction` parses the string as JSON.
        references: a function that changes the references of a question.
        rescore: a function that returns a scorer with the options.
        mark: for a separator, the string without which the step changes nothing.
        is_certain: whether correct answers can never look by chance as if they needed the step.
        changes_values: whether the step changes predictions that are not strings.
        values: the values for placeholders in the meaning.
    """

    name: str
    meaning: str
    remedy: str
    options: Mapping[str, str] = {}
    prediction: Change = _keep
    text: Change | None = None
    references: Callable[[Sequence[Any]], Sequence[Any]] = _keep
    rescore: Callable[[Scorer], Scorer] = _keep
    mark: str = ""
    is_certain: bool = False
    changes_values: bool = False
    values: Mapping[str, str] = {}

    @property
    def rescores(self) -> bool:
        """Whether the options change the scorer."""
        return self.rescore is not _keep

    @property
    def changes_texts(self) -> bool:
        """Whether the step changes predictions or references rather than only the scorer."""
        return self.prediction is not _keep or self.text is not None or self.references is not _keep


def _with(**options: str) -> Callable[[Scorer], Scorer]:
    """Create a function that returns a scorer with other options."""
    return lambda scorer: get_scorer(scorer, **options)


def _on_both(change: Change) -> dict[str, Any]:
    """Create the arguments of a step that applies the same change to both sides."""
    return {"prediction": change, "references": lambda texts: list(map(change, texts))}


# Several references in one string


def _split(separator: str, texts: Sequence[str]) -> Sequence[str]:
    """Split strings at a pattern."""
    parts = [part.strip() for text in texts for part in re.split(separator, text)]
    return list(filter(None, parts)) or texts


_SEPARATORS = (
    *("|||", "||", " | ", "|", ";", "；", "<OR>", "\n", r"\n", "\t", "<br>", "<sep>", "[SEP]", "###", "##", "::"),
    *(" / ", "/", " OR ", " or ", ", ", "、"),
)
SPLITTING = tuple(
    Step(
        "joined references",
        "references look like several in one string",
        "split them",
        {"references_separator": {"\n": r"\n", "\t": r"\t"}.get(separator, separator)},
        references=partial(_split, re.escape(separator)),
        mark=separator,
    )
    for separator in _SEPARATORS
)


# Other characters


def _normalize_also(names: str, scorer: Any) -> Scorer:
    """Return a scorer that also applies the named normalizations."""
    return get_scorer(scorer, normalize=",".join(filter(None, [scorer.normalize, names])))


_IN_TWO_FORMS = {
    "nfc": "encode accents in two ways",
    "width": "have full-width letters, digits or signs on one side",
    "typography": "have curly quotes, long dashes, ligatures or invisible characters on one side",
    "digits": "have the digits of another script (\u0663 for 3)",
    "spaces": 'have spaces between tokens on one side ("$ 1,200" for "$1,200")',
}
_UNCERTAIN = ("spaces", "typography")
NORMALIZING = tuple(
    Step(
        "other characters",
        f"answers {_IN_TWO_FORMS[name]}",
        "normalize both sides",
        {"normalize": name},
        rescore=partial(_normalize_also, name),
        is_certain=name not in _UNCERTAIN,
        **_on_both(normalizer(name)),
    )
    for name, row in NORMALIZATIONS.items()
    if not row.of_keys
)
NORMALIZING_VALUES = tuple(step._replace(prediction=_keep, references=_keep) for step in NORMALIZING)
"""The steps of `NORMALIZING` for lists and nested values, whose strings only the scorer can reach."""


# What programs did to the files


def _decode_utf_8(match: re.Match[str]) -> str:
    for encoding in ("cp1252", "latin-1"):
        try:
            return match[0].encode(encoding).decode("utf-8")
        except UnicodeError:
            continue
    return match[0]


_PRINTED = r"""(?s)(?:[a-z_.]{1,12}\()?b?[\[({"'].*[\])}"']"""


def _read_printed(texts: Sequence[str]) -> Sequence[str]:
    """Extract the items of a list that was printed as a string, or join single characters."""
    if len(texts) > 3 and set(map(len, texts)) == {1}:
        return ["".join(texts)]
    is_printed = len(texts) == 1 and re.fullmatch(_PRINTED, texts[0].strip())
    return _split(r"""[\[\](){}'",\\]+""", texts) if is_printed else texts


_LATIN = "[\x80-\xffŒœŠšŸŽžƒˆ˜–—‘’‚“”„†‡•…‰‹›€™]{2,}"
DECIMALS = "decimals"
BY_HAND = (
    Step(
        "printed references",
        "references look like printed lists, or single characters",
        'write them as lists of strings: ["a", "b"]',
        references=_read_printed,
    ),
    Step(
        DECIMALS,
        'answers are whole numbers, and floats on one side ("15.0" for "15")',
        "write them as strings",
        **_on_both(partial(re.sub, r"^(-?\d+)\.0$", r"\1")),
    ),
    Step(
        "wrong encoding",
        "answers are UTF-8 that was read in a different encoding (Ã© for é)",
        "read the original file as UTF-8",
        **_on_both(partial(re.sub, _LATIN, _decode_utf_8)),
        is_certain=True,
    ),
)


# Lists and nested values

OF_VALUES = (
    Step(
        "other keys",
        "answers have keys that differ only in case, spaces and signs",
        "compare keys by their letters",
        {"normalize": "keys"},
        rescore=partial(_normalize_also, "keys"),
        is_certain=True,
    ),
    Step(
        "numbers as written",
        "answers contain equal numbers in two forms, such as 2440.0 for 2440",
        "compare them by value",
        {"numbers": "by_value"},
        rescore=_with(numbers="by_value"),
        is_certain=True,
    ),
    Step(
        "keys without a value",
        "predictions have keys without a value, which count as wrong",
        "ignore them",
        {"none_keys": "ignored"},
        rescore=_with(none_keys="ignored"),
        is_certain=True,
    ),
)

RAW = "raw output"
"""The cause that extraction steps remove."""


def leave_out(keys: Sequence[str]) -> Step:
    """Create the step that leaves out keys that are not part of the answer, given their paths."""
    return Step(
        "keys beside the answer",
        "predictions have keys that no reference has, which count as wrong",
        "if they are no parts of the answer, leave them out",
        {"ignore_keys": ",".join(keys)},
        rescore=lambda scorer: get_scorer(scorer, ignore_keys=tuple(keys)),
        is_certain=True,
    )


def read_as_values(extract: str = "", path: str = "", **own: Any) -> Step:
    """Create the step that parses strings as JSON and scores their fields, optionally after an extraction step. The
    references are read from ``path``, or stay the same if ``path`` is "", and ``own`` contains the scorer options in
    use.
    """
    take = extractor(extract, values=True) if extract else _keep
    options = {"variant": "anls_star", "references": path, "extract": extract}
    return Step(
        "JSON read as text",
        "predictions and references are JSON, and are scored as strings",
        "score their fields",
        {name: value for name, value in options.items() if value},
        prediction=lambda text: parse_value_or_text(take(text)),
        references=lambda texts: tuple(map(read_reference, texts)),
        rescore=lambda scorer: get_scorer("anls_star", **own),
        is_certain=True,
    )


Root = tuple[str | int, ...]
"""The keys and positions that lead to a part of a value."""


def follow(root: Root, value: Any) -> Any:
    """Return the part of a value to which a root leads, or None if the value lacks it.

    Example:
        >>> follow(("fields", 0), {"fields": [{"total": 5}]}), follow(("fields",), {"total": 5})
        ({'total': 5}, None)
    """
    for key in root:
        is_inside = isinstance(value, dict) if isinstance(key, str) else isinstance(value, list) and bool(value)
        value = value.get(key) if is_inside and isinstance(value, dict) else value[0] if is_inside else None
    return value


def read_inside(value: Any, extract: str = "") -> Any:
    """Read a part of a prediction, which may be a string with JSON, optionally after an extraction step."""
    text = extractor(extract, values=True)(value) if extract and isinstance(value, str) else value
    return parse_value_or_text(text)


def take_inside(path: str, root: Root, extract: str = "") -> Step:
    """Create the step that reads only the part of each prediction at ``root``, given the path of the prediction, which
    is "" for the whole record.
    """
    inner = ".".join(map(str, root))
    options = {"prediction": f"{path}.{inner}" if path else inner, "extract": extract}
    return Step(
        "another root",
        "predictions have the form of the references only inside {inner}",
        "read only this part",
        {name: value for name, value in options.items() if value},
        prediction=lambda value: read_inside(follow(root, value), extract),
        is_certain=True,
        changes_values=True,
        values={"inner": inner},
    )


def take_reference(path: str, root: Root) -> Step:
    """Create the step that reads only the part of each reference at ``root``, given the path of the references, which
    is "" for the whole record.
    """
    inner = ".".join(map(str, root))
    return Step(
        "nested references",
        "references have the form of the predictions only inside {inner}",
        "read only this part",
        {"references": f"{path}.{inner}" if path else inner},
        references=lambda accepted: tuple(follow(root, each) for each in accepted),
        is_certain=True,
        changes_values=True,
        values={"inner": inner},
    )


def extract_by(names: Sequence[str], scorer: Scorer) -> Step:
    """Create the step that extracts answers for a scorer with a chain of extraction steps."""
    chain = extractor_for(scorer, ",".join(names))
    return Step(
        RAW,
        "predictions look like raw model output",
        "extract the answers",
        {"extract": ",".join(names)},
        prediction=scorer.read_answer,
        text=chain,
        is_certain=all(name.partition(":")[0] in CERTAIN for name in names),
    )


EXAMPLES = (
    *(*SPLITTING, *NORMALIZING, *BY_HAND, *OF_VALUES),
    *(
        read_as_values(),
        take_inside("", ("...",)),
        take_reference("", ("...",)),
        extract_by(["think"], get_scorer()),
        leave_out(["key"]),
    ),
)
"""The steps in the tables, and one example of each kind of step that is created for answers."""
