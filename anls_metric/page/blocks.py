"""gradio's Blocks and endpoints, as a page that many ask at once needs them."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, nullcontext
from functools import wraps
from typing import Any

import gradio as gr
from gradio_client.utils import is_file_obj_with_meta, is_http_url_like

from anls_metric.page import limits
from anls_metric.page.errors import told
from anls_metric.page.uploads import folder, take


class Page(gr.Blocks):  # type: ignore[misc]
    """Blocks that say what was wrong with a call, and whose endpoints take one that leaves out what has a default.

    A call of an endpoint with many values is handled alone: gradio goes through them again and again, while nobody else
    is answered.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._alone = asyncio.Semaphore()
        self._waiting = 0

    async def process_api(self, block_fn: Any, inputs: list[Any], **named: Any) -> Any:
        """As gradio's."""
        defaults = getattr(block_fn.fn, "defaults", None)
        try:
            values = list(_values(inputs))
            if any(is_file_obj_with_meta(value) and is_http_url_like(value["path"]) for value in values):
                raise ValueError("a file has to be uploaded: no address is fetched")  # however large it is
            if defaults is None:
                return await super().process_api(block_fn=block_fn, inputs=inputs, **named)
            inputs = [*inputs, *defaults[len(inputs) :]]
            async with self._turn(len(values) > limits.MANY_VALUES):
                return await super().process_api(block_fn=block_fn, inputs=inputs, **named)
        except gr.Error:
            raise
        except Exception as error:
            said = told(error, "page" if defaults is None else "endpoint")
        finally:
            # gradio would remember for hours what was asked and answered; the page asks for nothing of it.
            self.state_holder.session_data.pop(named.get("session_hash"), None)
        raise gr.Error(said, print_exception=False)

    @asynccontextmanager
    async def _turn(self, large: bool) -> AsyncIterator[None]:
        if large and self._waiting >= limits.MOST_WAITING:
            raise ValueError(limits.BUSY)
        self._waiting += large
        try:
            async with self._alone if large else nullcontext():
                yield
        finally:
            self._waiting -= large


def _values(inputs: Any) -> Iterator[Any]:
    """Every value of the inputs of a call, however deep it lies."""
    waiting = [inputs]
    while waiting:
        value = waiting.pop()
        yield value
        if isinstance(value, (list, dict)):
            waiting.extend(value.values() if isinstance(value, dict) else value)


def endpoint(function: Callable[..., Any], files: Sequence[str] = ()) -> Callable[..., Any]:
    """A function of `api` as an endpoint: files come as paths, and what is None or left out has its default."""
    parameters = inspect.signature(function).parameters.values()
    defaults = [None if one.default is inspect.Parameter.empty else one.default for one in parameters]

    @wraps(function)
    def called(*arguments: Any) -> Any:
        try:
            uploads = [_taken(path, name) for name, path in zip(files, arguments)]
            given = [default if value is None else value for value, default in zip(arguments, defaults)]
            return _sendable(function(*uploads, *given[len(files) :]))
        except Exception as error:
            said = told(error, "endpoint")
        # The other error holds all that was read, and the thread holds this one until it works again.
        raise gr.Error(said, print_exception=False)

    called.defaults = defaults  # type: ignore[attr-defined]
    return called


def _taken(path: Any, name: str) -> Any:
    """The upload at a path, or those at several."""
    if isinstance(path, list) and path:
        return [take(one, folder(), name) for one in path]
    return take(path or None, folder(), name)


def _sendable(result: Any) -> Any:
    """The result, without halves of surrogate pairs, which no JSON of the network may have."""
    try:
        json.dumps(result, ensure_ascii=False).encode()
        return result
    except UnicodeEncodeError:
        return json.loads(json.dumps(result, ensure_ascii=False).encode("utf-8", "replace"))
