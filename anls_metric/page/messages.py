"""What an error says: what was wrong, and the remedy in the words of the page, or of an endpoint."""

from __future__ import annotations

import logging

from anls_metric.reading.errors import InputError
from anls_metric.reading.remedies import Door
from anls_metric.report.terminal import make_printable

_LONGEST = 600


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
    said = make_printable(said)
    return said if len(said) <= _LONGEST else said[: _LONGEST - 100] + " … " + said[-100:]
