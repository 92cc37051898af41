"""What to do about an error or a hint, in the words of each door.

The command has flags, Python has arguments, the page has switches, and its endpoints have their own arguments. An error
or a hint whose remedy is the same at every door holds that sentence itself.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

Door = Literal["python", "command", "page", "endpoint"]

WHICH_FIELD = "Which field is which"
"""The title of the section of the page where fields are chosen."""


class Remedy(NamedTuple):
    """What to do, in the words of each door. ``{value}`` stands for the value of the hint or error, such as a rule.

    Endpoints use the words of the page unless they have their own.
    """

    python: str
    command: str
    page: str
    endpoint: str = ""

    def format_for(self, door: Door, value: str = "") -> str:
        """Format the remedy in the words of a door, with the value filled in."""
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
    page=f"pick the right one under “{WHICH_FIELD}”",
    endpoint="write the ids into a field questionId",
)
TWO_ROLES = Remedy(
    python="name two different fields with prediction and references, or give the accepted answers as gold",
    command="name two different fields with --prediction-field and --references-field, or add a gold file before it",
    page=f"pick two different fields under “{WHICH_FIELD}”, or drop the gold file as well",
    endpoint="name two different fields, or call score_files with a gold file",
)
UNKNOWN_IDS = Remedy(
    python="write the same ids on both sides, or name the id fields with id and gold_id; "
    'if the answers are in the order of the questions, match them by position with id="none"',
    command="write the same ids in both files, or name the id fields with --id-field and --gold-id-field; "
    "if the answers are in the order of the questions, match them by position with --id-field none",
    page=f"write the same ids in both files, or pick their fields under “{WHICH_FIELD}”; if the answers are in the "
    "order of the questions, pick none as the field of ids to match them by position",
    endpoint="write the same ids in both files",
)
ORDER = Remedy(
    python="write the question id into each answer, or name the field of the ids with id",
    command="write the question id into each answer, or name the field of the ids with --id-field",
    page="write the question id into each answer",
)
PICK_SUBMISSION_FIELD = Remedy(
    python="name the right one with submission",
    command="name the right one with --submission-field",
    page=f"pick the right one under “{WHICH_FIELD}”",
    endpoint="give a file for each submission",
)
ANOTHER_PREDICTION_FIELD = Remedy(
    python="if another field holds them, name it with prediction",
    command="if another field holds them, name it with --prediction-field",
    page=f"if another field holds them, pick it under “{WHICH_FIELD}”",
    endpoint="if another field holds them, name it with prediction_field",
)
RULE_COLUMN = Remedy(
    python="name its field with field=dict({value}=PATH)",
    command="name its field with --field {value}=PATH",
    page="rename its field to {value}",
)
NO_ANSWER = Remedy(
    python='write "" if the model gave no answer, or score it 0 with missing="zero"',
    command='write "" if the model gave no answer, or score it 0 with --missing zero',
    page='write "" if the model gave no answer, or use the switch for unanswered questions',
    endpoint='write "" if the model gave no answer, or score it 0 with unanswered_score_0',
)
MISSING = Remedy(
    python='add the answers, or score them 0 with missing="zero"',
    command="add the answers, or score them 0 with --missing zero",
    page="add the answers, or score them 0 with the switch for unanswered questions",
    endpoint="add the answers, or score them 0 with unanswered_score_0",
)
EXTRA = Remedy(
    python='remove these answers, or ignore them with extra="ignore"',
    command="remove these answers, or ignore them with --extra ignore",
    page="remove these answers, or use the switch for answers to other questions",
    endpoint="remove these answers",
)
NO_REFERENCES = Remedy(
    python="name the field of the accepted answers with references, or give them as gold",
    command="name the field of the accepted answers with --references-field, or name a gold file with --gold",
    page=f"drop the gold file as well, or pick the field of the accepted answers under “{WHICH_FIELD}”",
    endpoint="name the field of the accepted answers with references_field, or call score_files with a gold file",
)
NO_REFERENCES_HERE = Remedy(
    python="name their field with references (test splits have none: the competition's site scores them)",
    command="name their field with --references-field (test splits have none: the competition's site scores them)",
    page=f"pick their field under “{WHICH_FIELD}” (test splits have none: the competition's site scores them)",
    endpoint="name their field with references_field (test splits have none: the competition's site scores them)",
)
NO_PREDICTIONS = Remedy(
    python="name the field of the predictions with prediction, or give this data as gold, after the predictions",
    command="add a submission after it, or name the field of the predictions with --prediction-field",
    page=f"drop a submission as well, or pick the field of the predictions under “{WHICH_FIELD}”",
    endpoint="name the field of the predictions with prediction_field, or call score_files with the submissions",
)
NO_GOLD_BEFORE = Remedy(
    python="give the accepted answers as gold",
    command="add a gold file before it",
    page="drop the gold file as well",
    endpoint="call score_files with a gold file",
)
NO_ANSWERS_AFTER = Remedy(
    python="give this data as gold, after the predictions",
    command="add a submission after it",
    page="drop a submission as well",
    endpoint="call score_files with the submissions",
)
SWAPPED = Remedy(
    python="give the predictions first, then the accepted answers as gold",
    command="name the gold file first",
    page="swap the files",
)
NO_GOLD = Remedy(
    python="give the accepted answers as gold",
    command="name the gold file with --gold",
    page="drop the file with the accepted answers",
    endpoint="give the file with the accepted answers as gold",
)
NO_SUBMISSION = Remedy(
    python="give the predictions",
    command="name the submission with --submission",
    page="drop a submission",
    endpoint="give the answer files as submissions",
)
RUN = Remedy(
    python="choose a run with run",
    command="choose a run with --run",
    page="write the name of a run under “Runs”",
    endpoint="keep the records of one run",
)
REPEATED_QUESTIONS = Remedy(
    python="keep one record for each id, or name the field of the ids with gold_id",
    command="keep one record for each id, or name the field of the ids with --gold-id-field",
    page=f"keep one record for each id, or pick the field of the ids under “{WHICH_FIELD}”",
    endpoint="keep one record for each id, or name the field of the ids with id_field",
)
REPEATED_IDS = Remedy(
    python='keep one record for each id, score the repeats as runs of one model with runs="question", '
    "or name the field of the ids with id",
    command="keep one record for each id, score the repeats as runs of one model with --runs question, "
    "or name the field of the ids with --id-field",
    page=f"keep one record for each id, score the repeats as runs of one model, "
    f"or pick the field of the ids under “{WHICH_FIELD}”",
    endpoint="keep one record for each id, or name the field of the ids with id_field",
)
RUNS = Remedy(
    python='score the mean of the runs with runs="question", or choose a run with run',
    command="score the mean of the runs with --runs question, or choose a run with --run",
    page="score the mean of the runs, or write the name of a run under “Runs”",
    endpoint="keep the records of one run",
)
OTHER_QUESTIONS = Remedy(
    python="score the same questions in each run, or give each run its own name",
    command="score the same questions in each run, or give each run its own name",
    page="score the same questions in each run",
)
SUBMISSION_FIELD = Remedy(
    python='score each submission with submission="{value}", or score them as runs of one model with runs="question"',
    command="score each submission with --submission-field {value}, "
    "or score them as runs of one model with --runs question",
    page=f"pick {{value}} as the field of models under “{WHICH_FIELD}”, or score them as runs of one model",
    endpoint="give a file for each submission",
)
NONE_KEYS = Remedy(
    python='such keys count as wrong leaves: remove them, or ignore them with none_keys="ignored"',
    command="such keys count as wrong leaves: remove them, or ignore them with --none-keys ignored",
    page="such keys count as wrong leaves: remove them",
    endpoint="such keys count as wrong leaves: remove them, or ignore them with none_keys=ignored",
)
EXTRACT = Remedy(
    python='extract the answers with extract="{value}"',
    command="extract the answers with --extract {value}",
    page="extract the answers with {value}, under “Take answers out”",
    endpoint="extract the answers with extract={value}",
)
REFERENCES_SEPARATOR = Remedy(
    python="split the texts with references_separator={value!r}",
    command='split the texts with --references-separator "{value}"',
    page="split the texts at {value!r}",
    endpoint="write them as a list; the separator is {value!r}",
)
GOLD_FILE = Remedy(
    python="give one of them as gold",
    command="name one of them with --gold",
    page="choose the gold file under “Files and names”",
    endpoint="call score_files with one of them as gold",
)
SAMPLES = Remedy(
    python="score the samples log instead, such as samples_*.jsonl",
    command="score the samples log instead, such as samples_*.jsonl",
    page="drop the samples log instead: with its option log_samples, lm_eval writes a samples_*.jsonl",
)
VALUES = Remedy(
    python='score lists and nested values with variant="anls_star"',
    command="score lists and nested values with --variant anls_star",
    page="score lists and nested values with the variant anls_star",
    endpoint="score lists and nested values with variant=anls_star",
)
RESULTS_ELSEWHERE = Remedy(
    python="write the results to another folder",
    command="name another folder with --output",
    page="write the results to another folder",
)
OVERWRITE_RESULTS = Remedy(
    python="write the results to another folder, or overwrite them with force=True",
    command="name another folder with --output, or overwrite them with --force",
    page="write the results to another folder",
)
