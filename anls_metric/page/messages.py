"""What an error says: what was wrong, and the remedy in the words of the page, or of an endpoint."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from anls_metric.reading.rows import InputError
from anls_metric.report.text import printable

WHICH_FIELD = "Which field is which"

ON_THE_PAGE = {
    "id field": f"pick the right one under “{WHICH_FIELD}”",
    "prediction field": f"pick the right one under “{WHICH_FIELD}”",
    "references field": f"pick the right one under “{WHICH_FIELD}”",
    "no answer": 'write "" where the model answered nothing, or use the switch for unanswered questions',
    "missing": "add them, or count them as 0 with the switch for unanswered questions",
    "extra": "leave them out",
    "no references": f"drop the file that has them as well, or pick their field under “{WHICH_FIELD}”",
    "no predictions": f"drop a file of answers as well, or pick their field under “{WHICH_FIELD}”",
    "no gold": "drop the file with the accepted answers",
    "no submission": "drop a file of answers",
    "filter": "keep the records of one of them",
    "epoch": "keep the records of one of them",
    "train_trial_index": "keep the records of one of them",
    "several ids": "write an id once",
    "another prediction field": f"if another field holds them, pick it under “{WHICH_FIELD}”",
    "extract": "take the answers out with {value}, under “Take answers out”",
    "references separator": "write them as a list; {value!r} stands between them",
    "none keys": "they count as wrong leaves: leave them out",
}
"""The remedies of a visitor, who has fields to pick and a switch."""

FOR_PROGRAMS = {
    "id field": "name the right one with id_field",
    "prediction field": "name the right one with prediction_field",
    "references field": "name the right one with references_field",
    "no answer": 'write "" where the model answered nothing, or count it as 0 with unanswered_score_0',
    "missing": "add them, or count them as 0 with unanswered_score_0",
    "extra": "leave them out",
    "no references": "name their field with references_field, or ask score_files with a gold file",
    "no predictions": "name their field with prediction_field, or ask score_files with the files of answers",
    "no gold": "give the file with the accepted answers as gold",
    "no submission": "give files of answers as submissions",
    "filter": "keep the records of one of them",
    "epoch": "keep the records of one of them",
    "train_trial_index": "keep the records of one of them",
    "several ids": "write an id once",
    "another prediction field": "if another field holds them, name it with prediction_field",
    "extract": "take the answers out with extract={value}",
    "references separator": "write them as a list; {value!r} stands between them",
    "none keys": "they count as wrong leaves: leave them out, or score with none_keys=ignored",
}
"""The remedies of a program, which has arguments."""

_LONGEST = 600


def describe_error(error: Exception, remedies: Mapping[str, str]) -> str:
    """Describe an error to whoever caused it. One that nobody foresaw is logged, and not shown.

    Args:
        error: the error.
        remedies: `ON_THE_PAGE` or `FOR_PROGRAMS`.

    Example:
        >>> describe_error(InputError("no answer to 1 of the questions (7)", "answers.json", "missing"), FOR_PROGRAMS)
        'answers.json: no answer to 1 of the questions (7): add them, or count them as 0 with unanswered_score_0'
    """
    if isinstance(error, InputError):
        said = error.worded(remedies)
    elif isinstance(error, ValueError):
        said = str(error)
    elif isinstance(error, OSError):
        said = "the file is not there any more: drop it again"
    else:
        logging.getLogger(__name__).error("this could not be scored", exc_info=error)
        said = "this could not be scored, for a reason that nobody foresaw: the log of the page has it"
    said = printable(said)
    return said if len(said) <= _LONGEST else said[: _LONGEST - 100] + " … " + said[-100:]
