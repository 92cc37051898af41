"""What to do about an error or a hint, in the words of each door.

The command has flags, Python has arguments, the page has switches, and its endpoints have their own arguments. An error
or a hint whose remedy is the same at every door holds that sentence itself.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

Door = Literal["python", "command", "page", "endpoint"]

WHICH_FIELD = "Which field is which"
"""The title of the part of the page where fields are picked."""


class Remedy(NamedTuple):
    """The words of each door. ``{value}`` stands for what the hint names, such as a rule or a separator.

    Without words of their own, endpoints say what the page says.
    """

    python: str
    command: str
    page: str
    endpoint: str = ""

    def format_for(self, door: Door, value: str = "") -> str:
        """The words of a door, with the value in its place."""
        words: str = getattr(self, door) or self.page
        return words.format(value=value)


ID_FIELD, PREDICTION_FIELD, REFERENCES_FIELD = (
    Remedy(
        python=f"name the right one with {option.removesuffix('_field')}",
        command=f"name the right one with --{option.replace('_', '-')}",
        page=f"pick the right one under “{WHICH_FIELD}”",
        endpoint=f"name the right one with {option}",
    )
    for option in ("id_field", "prediction_field", "references_field")
)
GOLD_ID_FIELD = Remedy(
    python="name the right one with gold_id",
    command="name the right one with --gold-id-field",
    page="write the ids into a field questionId",
)
TWO_ROLES = Remedy(
    python="name another field with prediction or references, or give the accepted answers as gold",
    command="name another field with --prediction-field or --references-field, or put the gold file before it",
    page=f"pick another field under “{WHICH_FIELD}”, or drop the gold file as well",
    endpoint="name another field, or ask score_files with a gold file",
)
UNKNOWN_IDS = Remedy(
    python="write the same ids on both sides, or name their fields with id and gold_id; "
    'if the answers are in the order of the questions, match them by position with id="none"',
    command="write the same ids in both files, or name their fields with --id-field and --gold-id-field; "
    "if the answers are in the order of the questions, match them by position with --id-field none",
    page="write the same ids in both files",
)
ORDER = Remedy(
    python="write the id of its question into each answer, or name the field of the ids with id",
    command="write the id of its question into each answer, or name the field of the ids with --id-field",
    page="write the id of its question into each answer",
)
PICK_SUBMISSION_FIELD = Remedy(
    python="name the right one with submission",
    command="name the right one with --submission-field",
    page="drop a file for each submission",
)
ANOTHER_PREDICTION_FIELD = Remedy(
    python="if another field holds them, name it with prediction",
    command="if another field holds them, name it with --prediction-field",
    page=f"if another field holds them, pick it under “{WHICH_FIELD}”",
    endpoint="if another field holds them, name it with prediction_field",
)
NO_ANSWER = Remedy(
    python='write "" where the model answered nothing, or count it as 0 with missing="zero"',
    command='write "" where the model answered nothing, or count it as 0 with --missing zero',
    page='write "" where the model answered nothing, or use the switch for unanswered questions',
    endpoint='write "" where the model answered nothing, or count it as 0 with unanswered_score_0',
)
MISSING = Remedy(
    python='add them, or count them as 0 with missing="zero"',
    command="add them, or count them as 0 with --missing zero",
    page="add them, or count them as 0 with the switch for unanswered questions",
    endpoint="add them, or count them as 0 with unanswered_score_0",
)
EXTRA = Remedy(
    python='leave them out, or ignore them with extra="ignore"',
    command="leave them out, or ignore them with --extra ignore",
    page="leave them out",
)
NO_REFERENCES = Remedy(
    python="name their field with references, or give them as gold",
    command="name their field with --references-field, or the file that has them with --gold",
    page=f"drop the file that has them as well, or pick their field under “{WHICH_FIELD}”",
    endpoint="name their field with references_field, or ask score_files with a gold file",
)
NO_REFERENCES_HERE = Remedy(
    python="name their field with references; the test splits have none, the competition's site scores them",
    command="name their field with --references-field; the test splits have none, the competition's site scores them",
    page=f"pick their field under “{WHICH_FIELD}”; the test splits have none, the competition's site scores them",
    endpoint="name their field with references_field; the test splits have none, the competition's site scores them",
)
NO_PREDICTIONS = Remedy(
    python="name their field with prediction, or give this as gold, after the answers",
    command="name their field with --prediction-field, or a file of answers after it",
    page=f"drop a file of answers as well, or pick their field under “{WHICH_FIELD}”",
    endpoint="name their field with prediction_field, or ask score_files with the files of answers",
)
NO_GOLD_BEFORE = Remedy(
    python="give the accepted answers as gold",
    command="put the gold file before it",
    page="drop the gold file as well",
    endpoint="ask score_files with a gold file",
)
NO_ANSWERS_AFTER = Remedy(
    python="give this as gold, after the answers",
    command="name a file of answers after it",
    page="drop a file of answers as well",
    endpoint="ask score_files with the files of answers",
)
SWAPPED = Remedy(
    python="give the answers first, and then the accepted answers as gold",
    command="name them the other way round: the gold file comes first",
    page="give each file to the other field",
)
NO_GOLD = Remedy(
    python="give the accepted answers as gold",
    command="name the file with the accepted answers with --gold",
    page="drop the file with the accepted answers",
    endpoint="give the file with the accepted answers as gold",
)
NO_SUBMISSION = Remedy(
    python="give the answers",
    command="name the file of answers with --submission",
    page="drop a file of answers",
    endpoint="give files of answers as submissions",
)
RUN = Remedy(
    python="name one of these with run",
    command="name one of these with --run",
    page="keep the records of one of them",
)
REPEATED_QUESTIONS = Remedy(
    python="keep one record of each, or name the field of the ids with gold_id",
    command="keep one record of each, or name the field of the ids with --gold-id-field",
    page=f"keep one record of each, or pick the field of the ids under “{WHICH_FIELD}”",
    endpoint="keep one record of each, or name the field of the ids with id_field",
)
REPEATED_IDS = Remedy(
    python='keep one record of each, take them as runs of one model with runs="question", '
    "or name the field of the ids with id",
    command="keep one record of each, take them as runs of one model with --runs question, "
    "or name the field of the ids with --id-field",
    page=f"keep one record of each, or pick the field of the ids under “{WHICH_FIELD}”",
    endpoint="keep one record of each, or name the field of the ids with id_field",
)
RUNS = Remedy(
    python='take their mean with runs="question", or one of them with run',
    command="take their mean with --runs question, or one of them with --run",
    page="keep the records of one of them",
)
OTHER_QUESTIONS = Remedy(
    python="score the same questions in each run, or give each run a name of its own",
    command="score the same questions in each run, or give each run a name of its own",
    page="score the same questions in each run",
)
SUBMISSION_FIELD = Remedy(
    python='score each by itself with submission="{value}", or take them as runs of one model with runs="question"',
    command="score each by itself with --submission-field {value}, "
    "or take them as runs of one model with --runs question",
    page="drop a file for each of them",
)
NONE_KEYS = Remedy(
    python='they count as wrong leaves: leave them out, or score with none_keys="ignored"',
    command="they count as wrong leaves: leave them out, or score with --none-keys ignored",
    page="they count as wrong leaves: leave them out",
    endpoint="they count as wrong leaves: leave them out, or score with none_keys=ignored",
)
EXTRACT = Remedy(
    python='extract the answers with extract="{value}"',
    command="extract the answers with --extract {value}",
    page="extract the answers with {value}, under “Take answers out”",
    endpoint="extract the answers with extract={value}",
)
REFERENCES_SEPARATOR = Remedy(
    python="split them with references_separator={value!r}",
    command='split them with --references-separator "{value}"',
    page="write them as a list; {value!r} stands between them",
)
RESULTS_ELSEWHERE = Remedy(
    python="write the results to another folder",
    command="name another folder with --output-dir",
    page="write the results to another folder",
)
OVERWRITE_RESULTS = Remedy(
    python="write the results to another folder, or overwrite them with force=True",
    command="name another folder with --output-dir, or overwrite them with --force",
    page="write the results to another folder",
)
