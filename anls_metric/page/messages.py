"""Words errors for the page and its endpoints, and formats the command that does the same."""

from __future__ import annotations

import logging
import os
import shlex
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from anls_metric.page import limits
from anls_metric.page.uploads import list_uploads
from anls_metric.reading.errors import InputError
from anls_metric.reading.remedies import Door
from anls_metric.report.terminal import make_printable

_LONGEST = 600

# An argument of an endpoint or setting of the page -> the flag of the command that does the same. The flag for a list
# is repeated for each value, unless it takes comma-separated values.
_FLAGS = {
    "variant": "--variant",
    "threshold": "--threshold",
    "extract": "--extract",
    "prediction_field": "--prediction-field",
    "references_field": "--references-field",
    "id_field": "--id-field",
    "gold_id_field": "--gold-id-field",
    "submission_field": "--submission-field",
    "references_separator": "--references-separator",
    "confidence_field": "--confidence-field",
    "judge_field": "--judge-field",
    "runs": "--runs",
    "run": "--run",
    "baseline": "--baseline",
    "by": "--by",
    "cluster_by": "--cluster-by",
    "metrics": "--metrics",
    "corrections": "--corrections",
    "images": "--images",
    "none_keys": "--none-keys",
    "average": "--average",
}
_DEFAULTS: tuple[Any, ...] = (None, "", "standard", [], ())
_SWITCHES = {
    ("unanswered_score_0", True): ["--missing", "zero"],
    ("ignore_extra", True): ["--extra", "ignore"],
    ("case", "counts"): ["--no-ignore-case"],
    ("case", "ignored"): ["--ignore-case"],
}


def format_command(values: Mapping[str, Any], files: Sequence[str]) -> str:
    """Format the command that gives the same scores as a call.

    Args:
        values: the arguments of an endpoint or the settings of the page, by name.
        files: the files in the order of the command, each as ``FILE`` or ``NAME=FILE``.

    Example:
        >>> format_command({"variant": "rrc", "by": ["kind"]}, ["gold.json", "my run.json"])
        "anls gold.json 'my run.json' --variant rrc --by kind"
        >>> format_command({"images": "pages.zip"}, ["log.json"])
        'anls log.json --images pages.zip --report report.html'
    """
    words = [f"./{name}" if name.startswith("-") else name for name in files]
    for name, flag in _FLAGS.items():
        value = values.get(name)
        if value not in _DEFAULTS:
            each = value if isinstance(value, (list, tuple)) else [getattr(value, "name", value)]
            words += chain(*(_give(flag, str(text)) for text in each))
    words += ["--report", "report.html"] if values.get("images") else []
    words += chain(*(flag for (name, value), flag in _SWITCHES.items() if values.get(name) == value))
    return shlex.join(["anls", *words])


def _give(flag: str, text: str) -> list[str]:
    return [f"{flag}={text}"] if text.startswith("-") else [flag, text]


def format_remedy(values: Mapping[str, Any], files: Sequence[str] = ()) -> str:
    """Say which command to run if the page has too little memory or time for a call.

    Args:
        values: the arguments of an endpoint by name.
        files: the files in the order of the command; empty for the uploads among the arguments.

    Example:
        >>> from anls_metric.page.uploads import Upload
        >>> format_remedy({"gold": Upload("/x/gold.json"), "submissions": [Upload("/x/my run.json")], "variant": "rrc"})
        "on your computer, type anls gold.json 'my run.json' --variant rrc"
    """
    uploads = list_uploads({name: value for name, value in values.items() if name not in ("corrections", "images")})
    names = list(files) or [upload.name for upload in uploads]
    return f"on your computer, type {format_command(values, names)}" if names else limits.WITH_COMMAND


def describe_error(error: Exception, door: Door) -> str:
    """Describe an error to the user who caused it. An unexpected error is logged, and its details are not shown.

    Args:
        error: the error.
        door: the door whose words to use for the remedy.

    Example:
        >>> from anls_metric.reading import remedies
        >>> error = InputError("no answer to 1 of the questions (7)", "answers.json", remedies.MISSING)
        >>> describe_error(error, "endpoint")
        'answers.json: no answer to 1 of the questions (7): add the answers, or score them 0 with unanswered_score_0'
    """
    if isinstance(error, InputError):
        message = error.format_for(door)
    elif isinstance(error, ValueError):
        message = str(error)
    elif isinstance(error, OSError):
        message = f"the file is not there any more: {'upload' if door == 'endpoint' else 'drop'} it again"
    else:
        logging.getLogger(__name__).error("this could not be scored", exc_info=error)
        message = "this could not be scored, because the page has a fault: its log has the details"
    message = message.replace(
        os.path.join(os.environ.get("GRADIO_TEMP_DIR", os.sep), ""), ""
    )  # hides the folder of the page
    return make_printable(message if len(message) <= _LONGEST else message[: _LONGEST - 100] + " … " + message[-100:])
