"""Passes the calls of programs to the endpoints: it finds uploads by their paths, and fills in defaults."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

from anls_metric.page import endpoints, subprocesses
from anls_metric.page.messages import describe_error, format_remedy
from anls_metric.page.uploads import FILE_ADDRESS, Upload, are_large, delete, get_folder, save_data_url, take

Endpoint = Callable[..., Any]

ENDPOINTS: dict[str, Endpoint] = {
    function.__name__: function
    for function in (
        endpoints.explain_answer,
        endpoints.compare_variants,
        endpoints.score_answers,
        endpoints.list_variants,
        endpoints.list_layouts,
        endpoints.score_files,
        endpoints.score_logs,
    )
}

_TYPES_IN_JSON: dict[Any, Any] = {Upload: str, list[Upload]: list[str]}


class CallError(ValueError):
    """A call cannot be answered. The text says what is wrong with the call, and hides unexpected errors."""


def list_parameters(endpoint: Endpoint) -> list[inspect.Parameter]:
    """List the parameters of an endpoint, with resolved annotations.

    Example:
        >>> [parameter.name for parameter in list_parameters(endpoints.compare_variants)]
        ['prediction', 'accepted_answers']
    """
    return list(inspect.signature(endpoint, eval_str=True).parameters.values())


def type_in_json(parameter: inspect.Parameter) -> Any:
    """Return the type of an argument in JSON: an upload is a path.

    Example:
        >>> [type_in_json(parameter) for parameter in list_parameters(endpoints.score_files)[:2]]
        [<class 'str'>, list[str]]
    """
    return _TYPES_IN_JSON.get(parameter.annotation, parameter.annotation)


def call(endpoint: Endpoint, *arguments: Any, **named: Any) -> Any:
    """Call an endpoint with the arguments of a program.

    Args:
        endpoint: one of `ENDPOINTS`.
        *arguments: values as in JSON. None, or a missing argument, takes the default, or None without a default.
        **named: more arguments by name.

    Returns:
        The result of the endpoint, as valid JSON.

    Raises:
        CallError: the call cannot be answered.

    Example:
        >>> call(endpoints.explain_answer, "CocaCola", ["Coca Cola"], None, threshold=0.9)["score"]
        0.0
    """
    try:
        parameters = list_parameters(endpoint)
        values_by_name = {parameter.name: value for parameter, value in zip(parameters, arguments)} | named
        with ExitStack() as stack:
            values = {parameter.name: _read_argument(parameter, values_by_name, stack) for parameter in parameters}
            options: dict[str, Any] = {"is_large": are_large(values), "remedy": format_remedy(values)}
            return subprocesses.call(_answer, endpoint, values, **options)
    except Exception as error:
        message = describe_error(error, "endpoint")
    raise CallError(message)  # outside of `except`, since the original error keeps all data in memory


def fill_in(endpoint: Endpoint, data: Sequence[Any]) -> list[Any]:
    """Add None for missing arguments, because gradio expects one for each parameter.

    Example:
        >>> fill_in(endpoints.compare_variants, ["a"])
        ['a', None]
    """
    return [*data, *[None] * (len(list_parameters(endpoint)) - len(data))]


def _answer(endpoint: Endpoint, values: dict[str, Any]) -> Any:
    return _make_sendable(endpoint(**values))


def _read_argument(parameter: inspect.Parameter, values_by_name: dict[str, Any], stack: ExitStack) -> Any:
    value = values_by_name.get(parameter.name)
    if parameter.annotation is Upload:
        return _take_upload(value, parameter.name, stack)
    if parameter.annotation == list[Upload]:
        return [_take_upload(file, parameter.name, stack) for file in (isinstance(value, list) and value) or [value]]
    return parameter.default if value is None and parameter.default is not parameter.empty else value


def _take_upload(value: Any, name: str, stack: ExitStack) -> Upload:
    """Find the upload that a path, a URL, a data: URL or gradio's object for a file names.

    A file from a data: URL is deleted when the stack closes.
    """
    path = value.get("path") if isinstance(value, dict) else value
    if path and not isinstance(path, str):
        raise ValueError(f"{name} is no file: name it by the path that uploading it gave")
    if path and path.startswith("data:"):
        path = save_data_url(path, get_folder())
        stack.callback(delete, path)
    elif path:
        path = path.partition(FILE_ADDRESS)[2] or path
    return take(path or None, get_folder(), name)


def _make_sendable(result: Any) -> Any:
    """Replace halves of surrogate pairs, which are not valid in JSON."""
    try:
        json.dumps(result, ensure_ascii=False).encode()
        return result
    except UnicodeEncodeError:
        return json.loads(json.dumps(result, ensure_ascii=False).encode("utf-8", "replace"))
