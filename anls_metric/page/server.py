"""Serves the page, its functions, the endpoints and the tools with gradio."""

from __future__ import annotations

import ast
import io
import json
import os
import signal
import sys
import threading
import urllib.request
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
os.environ.setdefault("GRADIO_ANALYTICS_CACHE_FREQUENCY", str(10**9))  # so as not to tabulate all calls every time
os.environ.setdefault("GRADIO_RUN_HISTORY", "False")  # older versions of gradio lack the argument of `launch`

import gradio as gr
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse

from anls_metric.messages import FrontEnd
from anls_metric.page import limits, processes
from anls_metric.page.endpoints import ENDPOINTS, describe_error, score_files, score_logs
from anls_metric.page.events import EVENTS, show_files
from anls_metric.page.markup import write_help, write_page
from anls_metric.page.middleware import Guard
from anls_metric.page.uploads import make_folder
from anls_metric.page.visitors import find_visitor

_SMALL: dict[str, Any] = {"concurrency_id": "answers", "concurrency_limit": limits.MAX_ANSWERS_AT_ONCE}
_FILES: dict[str, Any] = {"concurrency_id": "files", "concurrency_limit": limits.MAX_CALLS}
_VISITORS: dict[str, Any] = {"concurrency_id": "visitors", "concurrency_limit": limits.MAX_VISITORS}


def build() -> gr.Blocks:
    """Build the gradio app that serves the endpoints and the functions of the page."""
    # A folder that contains nothing but uploads and is removed with the process.
    uploads = make_folder()
    os.environ["GRADIO_TEMP_DIR"] = uploads.name
    app = gr.Blocks(title="ANLS", analytics_enabled=False, delete_cache=(60, limits.KEPT_SECONDS))
    app.uploads = uploads
    with app:
        for endpoint in ENDPOINTS:
            queue = _FILES if endpoint in (score_files, score_logs) else _SMALL
            gr.api(_guard(endpoint, "endpoint"), api_name=endpoint.__name__, **queue)
        for event in EVENTS:
            gr.api(_guard(event, "page"), api_name=event.__name__, api_visibility="private", **_SMALL)
        gr.api(show_files, api_name="show_files", api_visibility="private", **_VISITORS)
    app.queue(default_concurrency_limit=limits.MAX_ANSWERS_AT_ONCE, max_size=limits.MAX_QUEUE)
    return app


def _guard(function: Callable[..., Any], front_end: FrontEnd) -> Callable[..., Any]:
    """Wrap a function so that it returns valid JSON, ends when the client leaves, and hides the details of unexpected
    errors.
    """

    @wraps(function)
    def answer(*arguments: Any) -> Any:
        processes.VISITOR.set(find_visitor())
        try:
            return json.loads(json.dumps(function(*arguments), ensure_ascii=False).encode("utf-8", "replace"))
        except Exception as error:
            message = describe_error(error, front_end)
        raise gr.Error(message, print_exception=False)  # outside of `except`, whose error keeps the data in memory

    return answer


# Launch


_LONGEST_START = 600  # seconds
_PRIVATE = "127.0.0.1,10.0.0.0/8,172.16.0.0/12,192.168.0.0/16"


def launch(page: gr.Blocks, **options: Any) -> None:
    """Serve the page, the endpoints, and the Model Context Protocol (MCP) tools until the process ends."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # so that uploads are deleted
        signal.signal(signal.SIGINT, signal.default_int_handler)  # the command leaves it to the system
    processes.start()
    sys.stderr = _Log(sys.stderr)
    if os.environ.get("SPACE_ID"):  # behind Hugging Face's proxies, which pass on the visitor's address
        os.environ.setdefault("FORWARDED_ALLOW_IPS", _PRIVATE)
    url = page.launch(
        max_file_size=limits.MAX_FILE,
        max_threads=limits.MAX_ANSWERS_AT_ONCE + limits.MAX_CALLS + 32,
        app_kwargs={
            "middleware": [Middleware(Guard, _is_local(options), {"/": write_page(), "/how": write_help()})],
            "exception_handlers": {TypeError: _refuse_arguments},
        },
        mcp_server=True,
        enable_monitoring=False,
        ssr_mode=False,
        show_error=True,
        quiet=True,  # otherwise it advertises public links
        prevent_thread_lock=True,
        _frontend=False,  # otherwise it ends if its own first page takes 3 s, as on a busy machine
        **options,
    )[1].rstrip("/")
    _return_json(page.mcp_server_obj.mcp_server)
    # So that the first program does not have to wait: gradio caches the result.
    urllib.request.urlopen(f"{url}/gradio_api/info", timeout=_LONGEST_START).close()
    print(f"The web app runs at {url}", flush=True)
    page.block_thread()


def _return_json(server: Any) -> None:
    """Make tools return structured content, and the same content as JSON text, because gradio's text is a Python
    literal.
    """
    from mcp.types import CallToolRequest, ServerResult, TextContent

    call = server.request_handlers[CallToolRequest]

    async def answer(request: CallToolRequest) -> ServerResult:
        result = (await call(request)).root
        if not result.isError and len(result.content[0].text) > limits.MAX_TOOL_RESULT:
            words = _LONG_RESULT.format(most=limits.MAX_TOOL_RESULT // 1_000)
            result.isError, result.content = True, [TextContent(type="text", text=words)]
        elif not result.isError:
            value = ast.literal_eval(result.content[0].text)
            result.content = [TextContent(type="text", text=json.dumps(value, ensure_ascii=False))]
            result.structuredContent = value if isinstance(value, dict) else {"result": value}
        return ServerResult(result)

    server.request_handlers[CallToolRequest] = answer


_LONG_RESULT = (
    "the result is longer than the {most} kB that a tool returns: leave out worst, or call the endpoint of the same "
    "name with curl, which writes up to 1 MB to a file"
)


async def _refuse_arguments(request: Request, error: Exception) -> JSONResponse:
    """Respond to a call with missing or unknown named arguments, which gradio would report as an internal error."""
    text, asked, refused = str(error), "required argument: ", "Parameter `"
    if asked in text:
        problem = f"the argument {text.rpartition(asked)[2]!r} is missing"
    elif text.startswith(refused):
        problem = f"there is no argument {text.removeprefix(refused).partition('`')[0][:60]!r}"
    else:
        raise error
    return JSONResponse({"detail": f"{problem}: /gradio_api/info lists the arguments of each endpoint"}, 422)


class _Log(io.TextIOWrapper):
    """Standard error with a size limit, because gradio prints every invalid request, of which a visitor can send any
    number.
    """

    def __init__(self, stream: Any) -> None:
        super().__init__(stream.buffer, stream.encoding, stream.errors, line_buffering=True)
        self._left = limits.MAX_LOG

    def write(self, text: str) -> int:
        """Write a string unless the log is full."""
        is_last = 0 < self._left <= len(text)
        self._left -= len(text)
        if is_last:
            super().write("the log of errors is full: restart the web app to see more\n")
        return super().write(text) if self._left > 0 else len(text)


def _is_local(options: Mapping[str, Any]) -> bool:
    """Whether the page is served only to this computer, which is the default if neither an option nor the environment
    sets an address.
    """
    address = options.get("server_name") or os.environ.get("GRADIO_SERVER_NAME", "127.0.0.1")
    return address in ("127.0.0.1", "localhost")
