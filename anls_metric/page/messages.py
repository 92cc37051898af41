"""What an error says: what was wrong, and the remedy in the words of the page, or of an endpoint."""

from __future__ import annotations

import logging
import os
import shlex
from collections.abc import Mapping
from itertools import chain
from typing import Any

from anls_metric.page import limits
from anls_metric.page.uploads import list_uploads
from anls_metric.reading.errors import InputError
from anls_metric.reading.remedies import Door
from anls_metric.report.terminal import make_printable

_LONGEST = 600

# The arguments of an endpoint, and the flags of the command that do the same.
_FLAGS = {
    "variant": "--variant",
    "threshold": "--anls-threshold",
    "extract": "--extract",
    "prediction_field": "--prediction-field",
    "references_field": "--references-field",
    "id_field": "--id-field",
    "baseline": "--baseline",
    "none_keys": "--none-keys",
    "average": "--average",
}
_DEFAULTS = (None, "", "standard")
_SWITCHES = {
    ("unanswered_score_0", True): ["--missing", "zero"],
    ("case", "counts"): ["--no-ignore-case"],
    ("case", "ignored"): ["--ignore-case"],
}


def format_remedy(values: Mapping[str, Any]) -> str:
    """Say what to type where the page has too little memory or time for a call.

    Args:
        values: the arguments of an endpoint by name.

    Example:
        >>> from anls_metric.page.uploads import Upload
        >>> format_remedy({"gold": Upload("/x/gold.json"), "submissions": [Upload("/x/my run.json")], "variant": "rrc"})
        "on your computer, type anls gold.json 'my run.json' --variant rrc"
    """
    names = [upload.name for upload in list_uploads(values)]
    if not names:
        return limits.WITH_COMMAND
    flags = [[flag, str(values[name])] for name, flag in _FLAGS.items() if values.get(name) not in _DEFAULTS]
    switches = [flag for (name, value), flag in _SWITCHES.items() if values.get(name) == value]
    words = [f"./{name}" if name.startswith("-") else name for name in names]
    return f"on your computer, type {shlex.join(['anls', *words, *chain(*flags, *switches)])}"


def describe_error(error: Exception, door: Door) -> str:
    """Describe an error to whoever caused it. One that nobody foresaw is logged, and not shown.

    Args:
        error: the error.
        door: in whose words the remedy is.

    Example:
        >>> from anls_metric.reading import remedies
        >>> error = InputError("no answer to 1 of the questions (7)", "answers.json", remedies.MISSING)
        >>> describe_error(error, "endpoint")
        'answers.json: no answer to 1 of the questions (7): add them, or count them as 0 with unanswered_score_0'
    """
    if isinstance(error, InputError):
        said = error.format_for(door)
    elif isinstance(error, ValueError):
        said = str(error)
    elif isinstance(error, OSError):
        said = "the file is not there any more: drop it again"
    else:
        logging.getLogger(__name__).error("this could not be scored", exc_info=error)
        said = "this could not be scored, for a reason that nobody foresaw: the log of the page has it"
    said = said.replace(os.path.join(os.environ.get("GRADIO_TEMP_DIR", os.sep), ""), "")  # no folder of the page
    return make_printable(said if len(said) <= _LONGEST else said[: _LONGEST - 100] + " … " + said[-100:])
