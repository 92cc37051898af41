"""One table of options: flags, keyword arguments, types and messages are made from it."""

from __future__ import annotations

import re
from string import Formatter

from anls_metric import Options, score
from anls_metric.command import command_line
from anls_metric.command.arguments import GONE
from anls_metric.messages import FrontEnd, Message
from anls_metric.options import INSTEAD, OPTIONS
from tests.conftest import ROOT

# The flags, as the issue lists them: each with its other names.
FLAGS = """
--variant --prediction-field --references-field --extract --missing --by --worst --format -o/--output --report
-g/--gold/--gold-label-file -s/--submission/--submission-file --id-field --gold-id-field --submission-field --field
--fields --records --references-separator --layout --filter --runs --samples --extra --corrections
--threshold/--anls-threshold --ignore-case --normalize --average --none-keys --numbers --ignore-keys --metrics --find
--by-key --baseline --all-pairs --cluster-by --fail-under --fail-if-worse --allow-doubt --plot --plot-kind
--output-dir --output-rows --score-only --percent --digits --columns --quiet --images --version --help
"""


def test_command_has_the_flags_of_the_list() -> None:
    expected = {frozenset(words.split("/")) for words in FLAGS.split()}
    actions = [action for action in command_line.build_parser()._actions if action.option_strings]
    found = {frozenset(action.option_strings) - {"-h", "--no-ignore-case"} for action in actions}
    assert found == expected


def test_type_of_the_options_names_rows_of_the_table() -> None:
    assert [name for name in OPTIONS if name in Options.__annotations__] == list(Options.__annotations__)


def test_none_is_the_default_of_every_option() -> None:
    options = dict.fromkeys(Options.__annotations__)
    assert score(["a"], [["a"]], **options).to_dict() == score(["a"], [["a"]]).to_dict()


def test_names_that_are_gone_are_no_options() -> None:
    flags = {flag.strip("-") for option in OPTIONS.values() for flag in option.flags}
    assert GONE.keys() & flags == set()
    assert INSTEAD.keys() & Options.__annotations__.keys() == set()


def test_messages_name_rows_of_the_table() -> None:
    source = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "anls_metric").rglob("*.py"))
    uses = re.findall(r"\{use\.(\w+)(?::((?:[^{}]|\{\w+\})*))?\}", source)
    assert len(uses) > 50
    for name, value in uses:
        choices = OPTIONS[name].choices
        assert not (choices and value) or value in choices


def test_message_has_the_words_of_each_front_end() -> None:
    message = Message("a.json", "{use.missing:zero} or {use.quiet} or {use.prediction:{field}}", {"field": "{x}"})
    expected: dict[FrontEnd, str] = {
        "command": "--missing zero or --quiet or --prediction-field '{x}'",
        "python": 'missing="zero" or quiet=True or prediction="{x}"',
        "page": "“Unanswered questions”: zero or --quiet of the anls command or “Field of predictions”: {x}",
    }
    for front_end, words in expected.items():
        assert message.text(front_end) == f"a.json: {words}"


def test_values_of_a_message_are_never_parsed() -> None:
    message = Message("{0}", "no field {field}", {"field": "{use.missing} {0} {x}"})
    assert message.text("command") == "{0}: no field {use.missing} {0} {x}"
    assert [name for _, name, *_ in Formatter().parse(message.sentence) if name] == ["field"]
