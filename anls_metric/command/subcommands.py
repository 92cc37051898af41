"""The subcommands of `anls`, except the subcommands for saved runs, which are in `kept_runs`."""

from __future__ import annotations

import argparse
import ast
import contextlib
import importlib
import json
import operator
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import module_from_spec
from types import ModuleType
from typing import Any, NamedTuple

from anls_metric.command import kept_runs
from anls_metric.command.arguments import (
    Parser,
    add_flags,
    print_note,
    read_flags,
    score_files,
    tolerate_closed_pipe,
)
from anls_metric.command.kept_runs import LIMITS, SHOWN, add_run
from anls_metric.command.output import print_hints
from anls_metric.core.checks import describe_unknown
from anls_metric.core.printing import make_printable
from anls_metric.core.scorer import SCORERS
from anls_metric.messages import list_some
from anls_metric.options import INPUT, MOST, OPTIONS, SCORING, Settings
from anls_metric.report.texts import align_rows
from anls_metric.writing import check_output, write_whole


class Subcommand(NamedTuple):
    """A subcommand of `anls`.

    Attributes:
        meaning: a phrase that says what the subcommand does.
        run: the function that runs the subcommand and returns the exit status, with None for 0.
        add_arguments: the function that adds the arguments of the subcommand to a parser.
    """

    meaning: str
    run: Callable[[argparse.Namespace], int | None]
    add_arguments: Callable[[Parser], object] = lambda parser: None


def run(name: str, words: Sequence[str]) -> int:
    """Run a subcommand and return its exit status."""
    if name == "export":
        name, words = " ".join([name, *words[:1]]), words[1:]
    if name not in SUBCOMMANDS:
        raise ValueError(f"unknown subcommand {name!r}: type anls export rrc FILE, or anls export hub FILE")
    meaning, run_flags, add_arguments = SUBCOMMANDS[name]
    parser = Parser(prog=f"anls {name}", description=f"{meaning[0].upper()}{meaning[1:]}.")
    add_arguments(parser)
    flags = parser.parse_intermixed_args(words)
    with tolerate_closed_pipe():
        return run_flags(flags) or 0
    return 0


def _add_target(parser: Parser, metavar: str) -> None:
    """Add the flag for the output file."""
    words = "the file to write or overwrite (default: print)"
    parser.add_argument("-o", "--output", dest="target", metavar=metavar, help=words)


def _write(text: str, target: str | None, what: str, inputs: Sequence[str] = ()) -> None:
    """Write a string to a file and print a note about the file, or print the string if no file is given."""
    if target is None:
        print(text, end="")
        return
    check_output(target, inputs)
    write_whole(target, text)
    print_note(f"{what}: {make_printable(target)}")


# Lists


def _print_layouts(flags: argparse.Namespace) -> None:
    """Print the name, the contents, the identifying fields and the source of each layout."""
    from anls_metric.reading.layouts import LAYOUTS

    rows = [(layout.name, layout.contains, ", ".join(layout.fields), layout.source) for layout in LAYOUTS]
    print(align_rows([("layout", "contains", "recognized by the fields", "source"), *rows]))


def _print_variants(flags: argparse.Namespace) -> None:
    """Print the name, the distinctive feature and the source of each variant."""
    rows = [(scorer.name, scorer.meaning.replace("`", ""), scorer.source) for scorer in SCORERS.values()]
    print(align_rows([("variant", "what is special about it", "source"), *rows]))


def _print_datasets(flags: argparse.Namespace) -> None:
    """Print the name, number of questions, variant or rule, source, license and paper of each public gold set."""
    from anls_metric.gold import GOLD

    rows = [
        (row.name, f"{row.rows:,}", row.variant or "standard", row.source, row.license, row.citation)
        for row in GOLD.values()
    ]
    print(align_rows([("name", "questions", "variant", "source", "license", "paper"), *rows]))


# Questions


def _add_questions(parser: Parser) -> None:
    parser.add_argument("name", metavar="NAME", help="the name, such as docvqa:val; anls datasets lists the names")
    _add_target(parser, "FILE.jsonl")
    parser.add_argument(
        "--with-answers", action="store_true", help="write all fields with the references, as a gold file"
    )
    parser.add_argument("--sample", type=int, metavar="N", help="draw N questions at random (default: all)")
    parser.add_argument("--seed", type=int, metavar="N", help="the seed of the sample (default: 0)")


def _write_questions(flags: argparse.Namespace) -> None:
    from anls_metric.gold import GOLD, find_gold, format_questions

    row = find_gold(flags.name)
    if row is None:
        raise ValueError(describe_unknown("name", flags.name, GOLD))
    lines = format_questions(row, flags.with_answers, flags.sample, flags.seed or 0)
    _write(lines, flags.target, f"{lines.count(chr(10)):,} questions")


# The page


def _open_page(flags: argparse.Namespace) -> None:
    try:
        from anls_metric.page import server
    except ImportError as error:
        raise ValueError(f"anls demo needs {error.name}: pip install 'anls-metric[app]'") from None
    server.launch(server.build(), inbrowser=True)


# Identification of a function


def _add_function(parser: Parser) -> None:
    parser.add_argument(
        "function",
        metavar="MODULE:FUNCTION",
        help="the function, such as my_project.metrics:anls or metrics.py:anls; it takes a prediction and its "
        "references, or lists of them, in either order",
    )


_FIND = "anls GOLD SUBMISSION --find NUMBER"


def _identify(flags: argparse.Namespace) -> int:
    from anls_metric.core.statistics.identification import identify

    with contextlib.redirect_stdout(sys.stderr):  # for output that the function prints
        identification = identify(_load_function(flags.function))
    with tolerate_closed_pipe():
        for line in str(identification).splitlines():
            print(make_printable(line))
    return 0 if identification.variants else 1


_GUARD = 'importing the file runs all of it: move the statements that fail under if __name__ == "__main__":'


def _load_function(name: str) -> Callable[..., Any]:
    """Load a function from ``MODULE:NAME``, in which the module is a name or a path. Raises ValueError if the function
    does not exist.
    """
    path, _, attributes = name.partition(":")
    if not attributes:
        raise ValueError(_name_functions(name))
    file = path if path.endswith(".py") else f"{path}.py"
    if (path.endswith(".py") or os.sep in path) and not (os.path.exists(file) or os.path.isdir(path)):
        from anls_metric.reading.files import describe_missing_file

        raise describe_missing_file(file)
    try:
        module, failure = _run_script(file) if os.path.isfile(file) else (_import_by_name(path), None)
    except Exception as error:
        raise ValueError(f"cannot load {name}: {type(error).__name__}: {error}") from None
    try:
        function: Callable[..., Any] = operator.attrgetter(attributes)(module)
    except AttributeError as error:
        problem = failure or error
        can_wait = failure and not isinstance(failure, (ImportError, SyntaxError))
        words = f"cannot load {name}: {type(problem).__name__}: {problem}"
        raise ValueError(f"{words}; {_GUARD}" if can_wait else words) from None
    if not callable(function):
        raise ValueError(f"{name!r} is not a function: write MODULE:FUNCTION, such as my_project.metrics:anls")
    return function


def _import_by_name(path: str) -> ModuleType:
    """Import a module by its name, which may be preceded by a folder. The working directory, or this folder, is
    searched first.
    """
    folder, name = os.path.split(path)
    sys.path.insert(0, os.path.abspath(folder))
    return importlib.import_module(name)


def _run_script(file: str) -> tuple[ModuleType, BaseException | None]:
    """Run a Python file as a module, without arguments, and return the module and the exception that ended it, or None.

    A module that ended early can still be used, because most scripts define their functions before they read arguments
    or files.
    """
    folder, base = os.path.split(os.path.abspath(file))
    sys.path.insert(0, folder)
    name = base.removesuffix(".py")
    loader = SourceFileLoader(name, file)
    spec = ModuleSpec(name, loader, origin=file)
    spec.has_location = True
    module = sys.modules[name] = module_from_spec(spec)
    arguments, sys.argv = sys.argv, [file]
    try:
        loader.exec_module(module)
    except (Exception, SystemExit) as error:
        return module, error
    finally:
        sys.argv = arguments
    return module, None


def _name_functions(name: str) -> str:
    """Explain how to specify a function, using a function of the given Python file as an example if possible."""
    if name.endswith(".py") and os.path.isfile(name):
        with open(name, "rb") as file, contextlib.suppress(SyntaxError, ValueError):
            defined = [node.name for node in ast.parse(file.read()).body if isinstance(node, ast.FunctionDef)]
            if not defined:
                return f"{name} defines no function: to find the variant of its score, use {_FIND}"
            likely = next((function for function in defined if "anls" in function.lower()), defined[0])
            return f"{name} defines {list_some(defined, 5)}: write {name}:{likely}"
    return f"{name!r} is not a function: write MODULE:FUNCTION, such as my_project.metrics:anls"


# The leaderboard

_OF_ANSWERS = ("prediction", "extract", "missing", "id", "gold_id", "submission", "layout", "filter", "runs", "extra")


def _add_rrc(parser: Parser) -> None:
    _add_target(parser, "FILE.json")
    add_flags(parser, "answers; or a file with the questions, then answers", _OF_ANSWERS)


def _export_rrc(flags: argparse.Namespace) -> None:
    from anls_metric.command.leaderboard import export

    if len(flags.files) not in (1, 2):
        raise ValueError("anls export rrc takes one answers file, optionally preceded by a questions file")
    *questions, path = flags.files
    answers = export(path, questions[0] if questions else None, read_flags(flags))
    _print_hint([each["answer"] for each in answers])
    text = json.dumps(answers, ensure_ascii=False, indent=1)
    _write(f"{text}\n", flags.target, f"{len(answers):,} answers", flags.files)


def _print_hint(answers: Sequence[str]) -> None:
    """Print a hint if some answers look like raw model output."""
    from anls_metric.core.extraction.extract import find_certain_rules

    rules, count = find_certain_rules(answers)
    if rules:
        words = f"{count:,} of {len(answers):,} answers look like raw model output"
        print_note(f"hint: {words}: extract the answers with anls export rrc --extract {rules}")


def _add_check_submission(parser: Parser) -> None:
    parser.add_argument("file", metavar="SUBMISSION", help="the file for the Robust Reading Competition")
    parser.add_argument(
        "--ids",
        metavar="FILE",
        help="the questions: a gold file with or without references (default: ids are not checked)",
    )


def _check_submission(flags: argparse.Namespace) -> int:
    from anls_metric.command.leaderboard import check_submission, read_gold_ids

    ids = None if flags.ids is None else read_gold_ids(flags.ids, Settings())
    answers, defects = check_submission(flags.file, ids)
    asked = "; to check that all questions are answered, add --ids FILE"
    answered = asked if ids is None else f": all {len(ids):,} questions are answered"
    with tolerate_closed_pipe():
        for line in defects or [f"no defects{answered}"]:
            print(make_printable(f"{flags.file}: {line}"))
    if defects:
        print_note("hint: to write answers in the leaderboard's format, use anls export rrc")
    else:
        _print_hint([each["answer"] for each in answers])
    return int(bool(defects))


# The Hub


def _add_hub(parser: Parser) -> None:
    parser.add_argument("--dataset", required=True, metavar="OWNER/NAME", help="the dataset on the Hugging Face Hub")
    parser.add_argument("--task", required=True, help="the task, as the dataset's eval.yaml names it")
    parser.add_argument(
        "--source",
        metavar="URL",
        help="the URL of logs or of a paper that supports the score (default: none)",
    )
    names = [name for name, option in OPTIONS.items() if option.group in (MOST, INPUT, SCORING)]
    others = ("format", "output", "report", "worst", "by", "by_key", "metrics", "find")
    names = [name for name in (*names, "percent", "digits", "quiet") if name not in others]
    add_flags(parser, "a gold file, then a submission; or a table with predictions and references", names)


def _export_hub(flags: argparse.Namespace) -> None:
    from anls_metric.report.hub import as_eval_results
    from anls_metric.report.numbers import NumberFormat
    from anls_metric.report.wording import word

    settings = read_flags(flags)
    _, run = score_files(flags.files, settings)
    date = time.strftime("%Y-%m-%d", time.gmtime())
    numbers = NumberFormat(settings.percent, settings.digits)
    document = word(run, "command", numbers)
    print(as_eval_results(document, flags.dataset, flags.task, flags.source or "", date, numbers))
    print_hints(document, settings)


SUBCOMMANDS: Mapping[str, Subcommand] = {
    "variants": Subcommand("list the variants of ANLS", _print_variants),
    "layouts": Subcommand("list the file layouts that are recognized", _print_layouts),
    "datasets": Subcommand("list the gold data that can be scored by name", _print_datasets),
    "questions": Subcommand("write the questions of gold data, to ask a model", _write_questions, _add_questions),
    "report": Subcommand("write the HTML report of a run", kept_runs.report, partial(add_run, (), "FILE.html")),
    "show": Subcommand("print a run", kept_runs.show, partial(add_run, (*SHOWN, "format", "score_only"), "")),
    "table": Subcommand("print the tables of a run", kept_runs.table, kept_runs.add_table),
    "plot": Subcommand("draw a figure of a run", kept_runs.plot, partial(add_run, ("kind",), "FILE.pdf")),
    "gate": Subcommand("check a run against limits, by the exit status", kept_runs.gate, partial(add_run, LIMITS, "")),
    "compare": Subcommand("compare runs of the same questions", kept_runs.compare, kept_runs.add_runs),
    "demo": Subcommand("start the web app", _open_page),
    "identify": Subcommand("find out which variant of ANLS a Python function computes", _identify, _add_function),
    "export rrc": Subcommand("write answers in the format of the Robust Reading Competition", _export_rrc, _add_rrc),
    "export hub": Subcommand("score answers, and write a file for .eval_results/ on the Hub", _export_hub, _add_hub),
    "check-submission": Subcommand("find what the leaderboard would refuse", _check_submission, _add_check_submission),
}
"""The subcommands, keyed by name."""
