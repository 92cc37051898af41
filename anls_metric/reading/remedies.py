"""What to do about an error or a hint, in the words of each door.

The command has flags, Python has arguments, the page has switches, and its endpoints have their own arguments. An error
or a hint whose remedy is the same at every door holds that sentence itself.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

Door = Literal["python", "command", "page", "endpoint"]

# The labels of the page that remedies name.
WHICH_FIELD = "Which field is which"
FILES_AND_NAMES = "Files and names"
UNANSWERED = "Unanswered questions score 0"
OTHER_ANSWERS = "Ignore answers to other questions"
EXTRACTION = "Extract answers from raw model output"
ONE_RUN = "Score only one run"
SEPARATOR = "Separator between accepted answers in one text"


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


def _make_remedy(words: str, page: str, endpoint: str = "") -> Remedy:
    """Make a remedy from words that the command and Python share.

    ``<missing=zero>`` in them is ``--missing zero`` in the command and ``missing="zero"`` in Python. ``<id_field>`` is
    ``--id-field`` and ``the argument 'id'``.
    """
    python, *parts = words.split("<")
    command = python
    for part in parts:
        option, _, after = part.partition(">")
        name, _, value = option.partition("=")
        command += f"--{name.replace('_', '-')}" + (f" {value}" if value else "") + after
        argument = name.removesuffix("_field")
        python += (f'{argument}="{value}"' if value else f"the argument {argument!r}") + after
    return Remedy(python, command, page, endpoint)


_PICK = f"under “{WHICH_FIELD}”"

ID_FIELD = _make_remedy(
    "name the field of the ids with <id_field>",
    page=f"pick the field of the ids {_PICK}",
    endpoint="name the field of the ids with id_field",
)
GOLD_ID_FIELD = _make_remedy(
    "name the field of the ids in the gold file with <gold_id_field>",
    page=f"pick the field of the ids in the gold file {_PICK}",
    endpoint="write the ids into a field questionId",
)
PREDICTION_FIELD = _make_remedy(
    "name the field of the predictions with <prediction_field>",
    page=f"pick the field of the predictions {_PICK}",
    endpoint="name the field of the predictions with prediction_field",
)
REFERENCES_FIELD = _make_remedy(
    "name the field of the accepted answers with <references_field>",
    page=f"pick the field of the accepted answers {_PICK}",
    endpoint="name the field of the accepted answers with references_field",
)
OTHER_REFERENCES = _make_remedy(
    "if the accepted answers are in the other field, name it with <references_field={value}>",
    page=f"if the accepted answers are in the other field, pick it {_PICK}",
    endpoint="if the accepted answers are in the other field, name it with references_field={value}",
)
ONE_LIST = _make_remedy(
    'write the accepted answers into one field, as a JSON list such as ["a", "b"], and name it with <references_field>',
    page='write the accepted answers into one field, as a JSON list such as ["a", "b"]',
)
ANOTHER_PREDICTION_FIELD = _make_remedy(
    "if another field holds the predictions, name it with <prediction_field>",
    page=f"if another field holds the predictions, pick it {_PICK}",
    endpoint="if another field holds the predictions, name it with prediction_field",
)
PART_OF_FIELD = _make_remedy(
    "name the field of the text with <prediction_field={value}>",
    page=f"write {{value}} as the field of predictions {_PICK}",
    endpoint="name the field of the text with prediction_field={value}",
)
PART_OR_VALUES = _make_remedy(
    "if the answer is one text of it, name this text with <prediction_field={value}>; score lists and nested values "
    "with <variant=anls_star>",
    page=f"if the answer is one text of it, write {{value}} as the field of predictions {_PICK}; score lists and "
    "nested values with the variant anls_star",
    endpoint="if the answer is one text of it, name this text with prediction_field={value}; score lists and nested "
    "values with variant=anls_star",
)
SUBMISSION_FIELD = _make_remedy(
    "score each submission with <submission_field={value}>, or score them as runs of one model with <runs=question>",
    page=f"pick {{value}} as the field of models {_PICK}, or score them as runs of one model",
    endpoint="give a file for each submission",
)
MODEL_OF_ROWS = _make_remedy(
    "score each submission with <submission_field={value}>; if these are different questions, number the rows with "
    "<id_field=none>",
    page=f"pick {{value}} as the field of models {_PICK}; if these are different questions, pick none for the ids",
    endpoint="give a file for each submission",
)
FILE_FOR_EACH = _make_remedy(
    "give each file by itself if it is a submission; if these are different questions, number the rows with "
    "<id_field=none>",
    page="give each file by itself",
)
RUNS_BY_ID = _make_remedy(
    "to score the mean of the runs, name the field of the ids, or of the questions, with <id_field>; "
    "to score each run, name its field with <submission_field={value}>",
    page=f"to score the mean of the runs, pick the field of the ids, or of the questions, {_PICK}; to score each run, "
    "pick {value} as the field of models there",
    endpoint="to score the mean of the runs, name the field of the ids, or of the questions, with id_field",
)
PICK_SUBMISSION_FIELD = _make_remedy(
    "name the field of the models with <submission_field>",
    page=f"pick the field of the models {_PICK}",
    endpoint="give a file for each submission",
)
BY = _make_remedy("name a field of the questions with <by>", page="pick a field under “Break down by”")
OWN_NAMES = Remedy(
    python="give a dict from the name of each model to its file",
    command="give each its own name, as NAME=FILE",
    page=f"give each its own name under “{FILES_AND_NAMES}”",
)
BY_EACH = Remedy(
    python='give a list of fields, such as by=["kind", "image"]',
    command="repeat the flag for each field: --by kind --by image",
    page="pick each field under “Break down by”",
)
LAYOUT = _make_remedy("name another layout, or detect it with <layout=auto>", page="leave the layout out to detect it")
RULE_COLUMN = Remedy(
    python="name its field with field=dict({value}=PATH)",
    command="name its field with --field {value}=PATH",
    page="rename its field to {value}",
)
WHOLE_OUTPUT = Remedy(
    python="name the field of the whole model output with field=dict(prediction=PATH)",
    command="name the field of the whole model output with --field prediction=PATH",
    page="rename the field of the whole model output to prediction",
)
TWO_ROLES = Remedy(
    python="name two fields with the arguments 'prediction' and 'references', or pass the accepted answers as gold",
    command="name two different fields with --prediction-field and --references-field, or add a gold file before it",
    page=f"pick two different fields {_PICK}, or drop the gold file as well",
    endpoint="name two different fields, or call score_files with a gold file",
)
OTHER_THAN_ID = _make_remedy(
    "name another field with <prediction_field>, <references_field> or <id_field>",
    page=f"pick another field {_PICK}",
    endpoint="name another field",
)

UNKNOWN_IDS = _make_remedy(
    "write the same ids on both sides, or name the fields of the ids with <id_field> and <gold_id_field>; "
    "if the answers are in the order of the questions, match them by position with <id_field=none>",
    page=f"write the same ids on both sides, or pick their fields {_PICK}; if the answers are in the "
    "order of the questions, pick none as the field of ids to match them by position",
    endpoint="write the same ids on both sides",
)
DOUBTFUL_ID = _make_remedy(
    "if it does, name it with <id_field={value}>; "
    "if the answers are in the order of the questions, match them by position with <id_field=none>",
    page=f"if it does, pick {{value}} as the field of the ids {_PICK}; if the answers are in the order of the "
    "questions, pick none to match them by position",
    endpoint="if it does, name it with id_field={value}; if not, leave this field out",
)
DOUBTFUL_NUMBER = _make_remedy(
    "if it does, sort the answers by it; "
    "if the answers are in the order of the questions, match them by position with <id_field=none>",
    page="if it does, sort the answers by it; if the answers are in the order of the questions, pick none for the ids",
    endpoint="if it does, sort the answers by it; if not, leave this field out",
)
ORDER = _make_remedy(
    "write the question id into each answer, or name the field of the ids with <id_field>",
    page="write the question id into each answer",
)
_ONE_EACH = "write one answer for each question, in the order of the questions: an empty text where there is none"
ONE_ANSWER_EACH = Remedy(python=_ONE_EACH, command=f"{_ONE_EACH} (in a text file, an empty line)", page=_ONE_EACH)
QUESTIONS_DIFFER = _make_remedy(
    "write the ids of the gold file into the answers; if no two questions have the same text, match them by their "
    "texts with <id_field={value}>",
    page=f"write the ids of the gold file into the answers, or pick {{value}} as the field of the ids {_PICK}",
    endpoint="write the ids of the gold file into the answers",
)
REPEATED_QUESTIONS = _make_remedy(
    "write one record for each question, with all of its accepted answers as a list, or name the field of the ids with "
    "<gold_id_field>",
    page="write one record for each question, with all of its accepted answers as a list, or pick the field of the ids "
    + _PICK,
    endpoint="write one record for each question, with all of its accepted answers as a list",
)
QUESTIONS_OF_AN_ID = _make_remedy(
    "name the field of the ids with <gold_id_field>, or write another id for each question into both files; if the "
    "answers are in the order of the questions, match them by position with <id_field=none>",
    page="write another id for each question into both files; if the answers are in the order of the questions, pick "
    "none for the ids",
    endpoint="write another id for each question into both files",
)
REPEATED_IDS = _make_remedy(
    "keep one record for each id, score the repeats as runs of one model with <runs=question>, "
    "or name the field of the ids with <id_field>",
    page=f"keep one record for each id, score the repeats as runs of one model, or pick the field of the ids {_PICK}",
    endpoint="keep one record for each id, or name the field of the ids with id_field",
)
DOCUMENT_IDS = _make_remedy(
    "number the questions with <id_field=none>, or name the field of the ids with <id_field>",
    page=f"pick none as the field of ids to number the questions, or pick the field of the ids {_PICK}",
    endpoint="write the ids of the questions into a field questionId",
)

REPEATED_IN_PARTS = _make_remedy(
    "if its files are submissions, name each file by itself; if they are runs of one model, add <runs=question>",
    page="drop each file by itself",
)

NO_ANSWER = _make_remedy(
    'write "" if the model gave no answer, or score it 0 with <missing=zero>',
    page=f'write "" if the model gave no answer, or turn on “{UNANSWERED}”',
    endpoint='write "" if the model gave no answer, or score it 0 with unanswered_score_0',
)
MISSING = _make_remedy(
    "add the answers, or score them 0 with <missing=zero>",
    page=f"add the answers, or turn on “{UNANSWERED}”",
    endpoint="add the answers, or score them 0 with unanswered_score_0",
)
OTHER_SPLIT = _make_remedy(
    "remove them from the gold file, or, if the model was asked and gave no answer, score them 0 with <missing=zero>",
    page=f"remove them from the gold file, or, if the model was asked and gave no answer, turn on “{UNANSWERED}”",
    endpoint="remove them from the gold file, or score them 0 with unanswered_score_0",
)
EXTRA = _make_remedy(
    "remove these answers, or ignore them with <extra=ignore>",
    page=f"remove these answers, or turn on “{OTHER_ANSWERS}”",
    endpoint="remove these answers",
)

_ANOTHER_GOLD = "or take a gold file that has them (test splits have none: the competition's site scores them)"
NO_REFERENCES = Remedy(
    python="name the field of the accepted answers with the argument 'references', or pass these answers as gold",
    command="name the field of the accepted answers with --references-field, or name a gold file with --gold",
    page=f"drop the gold file as well, or pick the field of the accepted answers {_PICK}",
    endpoint="name the field of the accepted answers with references_field, or call score_files with a gold file",
)
NO_REFERENCES_HERE = Remedy(*(f"{words}, {_ANOTHER_GOLD}" for words in REFERENCES_FIELD))
NO_PREDICTIONS = Remedy(
    python="name the field of the predictions with the argument 'prediction', or pass this data as gold after them",
    command="add a submission after it, or name the field of the predictions with --prediction-field",
    page=f"drop a submission as well, or pick the field of the predictions {_PICK}",
    endpoint="name the field of the predictions with prediction_field, or call score_files with the submissions",
)
NO_GOLD_BEFORE = Remedy(
    python="pass the accepted answers as gold",
    command="add a gold file before it",
    page="drop the gold file as well",
    endpoint="call score_files with a gold file",
)
NO_ANSWERS_AFTER = Remedy(
    python="pass this data as gold, after the predictions",
    command="add a submission after it",
    page="drop a submission as well",
    endpoint="call score_files with the submissions",
)
SWAPPED = Remedy(
    python="pass the predictions first, then the accepted answers as gold",
    command="swap the two files",
    page="swap the files",
)
NO_GOLD = Remedy(
    python="pass the accepted answers as gold",
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
GOLD_FILE = Remedy(
    python="pass one of them as gold",
    command="name one of them with --gold",
    page=f"choose the gold file under “{FILES_AND_NAMES}”",
    endpoint="call score_files with one of them as gold",
)

RUN = _make_remedy(
    "choose a run with <run>",
    page=f"write the name of a run under “{ONE_RUN}”",
    endpoint="keep the records of one run",
)
RUNS = _make_remedy(
    "score the mean of the runs with <runs=question>, or choose a run with <run>",
    page=f"score the mean of the runs, or write the name of a run under “{ONE_RUN}”",
    endpoint="keep the records of one run",
)
OTHER_QUESTIONS = Remedy(
    python="score the same questions in each run, or give each run its own name",
    command="score the same questions in each run, or give each run its own name",
    page="score the same questions in each run",
)

NONE_KEYS = _make_remedy(
    "such keys count as wrong: remove them, or ignore them with <none_keys=ignored>",
    page="such keys count as wrong: remove them",
    endpoint="such keys count as wrong: remove them, or ignore them with none_keys=ignored",
)
EXTRACT = _make_remedy(
    "extract the answers with <extract={value}>",
    page=f"pick {{value}} under “{EXTRACTION}”",
    endpoint="extract the answers with extract={value}",
)
REFERENCES_SEPARATOR = Remedy(
    python="split the texts with references_separator={value!r}",
    command='split the texts with --references-separator "{value}"',
    page=f"write “{{value}}” under “{SEPARATOR}”",
    endpoint="write them as a list; the separator is “{value}”",
)
VALUES = _make_remedy(
    "write each answer as one text, or score lists and nested values with <variant=anls_star>",
    page="write each answer as one text, or score lists and nested values with the variant anls_star",
    endpoint="write each answer as one text, or score lists and nested values with variant=anls_star",
)

RESULTS_ELSEWHERE = Remedy(
    python="write the results to another file",
    command="name another file or folder with --output",
    page="write the results to another file",
)
OVERWRITE_RESULTS = Remedy(
    python="write the results to another folder, or overwrite them with force=True",
    command="name another folder with --output, or overwrite them with --force",
    page="write the results to another folder",
)


def unless_submission(remedy: Remedy) -> Remedy:
    """Extend a remedy for the case that the file that was taken as the gold file holds the answers of a model."""
    words = zip(NO_GOLD_BEFORE, (*remedy[:3], remedy.endpoint or remedy.page))
    return Remedy(*(f"if it holds the answers of a model, {first}; if not, {second}" for first, second in words))
