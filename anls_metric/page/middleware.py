"""Guards gradio by limiting the routes, the size of requests, the files to which requests refer, and what a browser may
do.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from anls_metric.page import limits
from anls_metric.page.forms import receive_files
from anls_metric.page.uploads import RefusedError, is_report, take
from anls_metric.page.visitors import find_address, listen

TOO_LARGE = (
    f"the request has more than {limits.MAX_REQUEST >> 10} kB: upload a file instead, of at most "
    f"{limits.MAX_FILE // limits.MB} MB"
)
TOO_DEEP = f"the request nests deeper than {limits.MAX_DEPTH} levels: pass nested values as JSON in a string"
TOO_SLOW = "the request arrived too slowly: send it again"

ROUTES = (
    *("/", "/how", "/config", "/favicon.ico", "/robots.txt"),
    *("/gradio_api/info", "/gradio_api/openapi.json", "/gradio_api/startup-events", "/gradio_api/heartbeat/*"),
    *("/gradio_api/upload", "/gradio_api/queue/join", "/gradio_api/queue/data"),
    *("/gradio_api/cancel", "/gradio_api/reset", "/gradio_api/call/*", "/gradio_api/mcp/*"),
)
"""The routes of the pages, the endpoints and the tools. The other routes of gradio, such as deep links, recordings and
proxies, are not served.
"""

FILE = "/gradio_api/file="
"""The beginning of the route for files, under which only reports are served."""

_UPLOAD = "/gradio_api/upload"
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_FORWARDED = (b"x-forwarded-host", b"x-forwarded-server", b"forwarded")  # visitors can put anything in these

# The content security policy. The scripts and styles of our pages are inside their HTML. The only other origin is
# Hugging Face, which shows a Space in a frame.
_POLICY = {
    "default-src": "'self'",
    "script-src": "'self' 'unsafe-inline'",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data:",
    "object-src": "'none'",
    "base-uri": "'self'",
    "form-action": "'self'",
    "frame-ancestors": "'self' https://huggingface.co https://*.huggingface.co",
}
HEADERS = {
    "content-security-policy": "; ".join(f"{name} {sources}" for name, sources in _POLICY.items()),
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",  # a URL may hold an answer
}
# Even in its own tab, a report has no origin, so a script in it could reach nothing.
_REPORT_POLICY = (
    "sandbox allow-scripts allow-downloads; default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
    f"script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors {_POLICY['frame-ancestors']}"
)
REPORT_HEADERS = HEADERS | {
    "content-security-policy": _REPORT_POLICY,
    "content-type": "text/html; charset=utf-8",
    "content-disposition": "inline",
    "cache-control": "no-store",
}


class Guard:
    """An ASGI application that checks requests before another application receives them.

    Args:
        application: the application that receives the accepted requests.
        is_local: whether the application serves only this computer, in which case requests for other host names and
            POST requests from pages of other origins are rejected.
        pages: our own pages as HTML, keyed by route, which are served instead of gradio's page.
    """

    def __init__(self, application: ASGIApp, is_local: bool = False, pages: Mapping[str, str] | None = None) -> None:
        self._application, self._is_local, self._pages = application, is_local, pages or {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a page, store an upload, pass the request on, or reject it."""
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return

        application: ASGIApp = self._application
        path = ""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                is_report_sent = path.startswith(FILE) and message["status"] == 200
                MutableHeaders(scope=message).update(REPORT_HEADERS if is_report_sent else HEADERS)
            await send(message)

        try:
            path = _find_route(scope)
            if self._is_local:
                _check_origin(scope)
            if path in self._pages:
                application = HTMLResponse(self._pages[path])
            elif path == _UPLOAD:
                application = JSONResponse(await receive_files(Request(scope, _count(receive, limits.MAX_UPLOAD))))
            else:
                receive = await _check(scope, receive)
                headers = [each for each in scope["headers"] if each[0].lower() not in _FORWARDED]
                scope = find_address({**scope, "headers": headers})
        except RefusedError as refused:
            reason, status = refused.args
            # In gradio's form, so that the page shows the reason. The rest of the request is not read.
            application = JSONResponse({"detail": reason}, status, {"connection": "close"})
        with listen(scope, path):
            await application(scope, receive, send_with_headers)


def _find_route(scope: Scope) -> str:
    """Find the route of a request, without a trailing slash. Raises RefusedError if the route is neither in `ROUTES`
    nor that of a report.
    """
    path: str = scope["path"].removeprefix(scope.get("root_path", "")).rstrip("/") or "/"
    is_route = any(path == route or (route[-1] == "*" and f"{path}/".startswith(route[:-1])) for route in ROUTES)
    if not is_route and not (path.startswith(FILE) and is_report(path.removeprefix(FILE))):
        raise RefusedError("there is no such page", 404)
    return path


def _check_origin(scope: Scope) -> None:
    """Raise RefusedError for a request with an unknown host name, which another website can point to this computer, or
    for a POST request from another website.
    """
    headers = Headers(scope=scope)
    host = headers.get("host", "")
    if host.rpartition(":")[0] not in _LOOPBACK and host not in _LOOPBACK:
        raise RefusedError("this address is not allowed: open the web app at the URL that it printed", 421)
    if scope["method"] == "POST" and headers.get("origin", f"http://{host}") != f"http://{host}":
        raise RefusedError("the web app accepts requests only from its own page", 403)


async def _check(scope: Scope, receive: Receive) -> Receive:
    """Read and check the body of a request, and return a receiver that replays it. Raises RefusedError for a body that
    is too large, too slow or not allowed.
    """
    content = await Request(scope, _count(receive, limits.MAX_REQUEST)).body()
    _check_content(content)
    messages: list[Message] = [{"type": "http.request", "body": content}]

    async def replay() -> Message:
        return messages.pop() if messages else await receive()

    return replay


def _count(receive: Receive, most: int) -> Receive:
    """Create a receiver that counts the bytes of a body instead of trusting the header. The receiver raises
    RefusedError if the body is too large or arrives too slowly.
    """
    size, is_whole = 0, False

    async def count() -> Message:
        nonlocal size, is_whole
        if is_whole:  # gradio waits here for the visitor to leave
            return await receive()
        try:
            message = await asyncio.wait_for(receive(), limits.MAX_PAUSE)
        except asyncio.TimeoutError:
            raise RefusedError(TOO_SLOW, 408) from None
        size += len(message.get("body", b""))
        if size > most:
            raise RefusedError(TOO_LARGE, 413)
        is_whole = not message.get("more_body", False)
        return message

    return count


def _check_content(content: bytes) -> None:
    """Check the JSON in a body. Raises RefusedError if the JSON refers to a file that is not an upload or is nested too
    deeply.
    """
    try:
        value = json.loads(content, object_hook=_check_object)
    except RecursionError:
        raise RefusedError(TOO_DEEP, 400) from None
    except ValueError:  # gradio reports the error
        return
    level, depth = [value], 0
    while level := [each for each in level if isinstance(each, (dict, list))]:
        depth += 1
        if depth > limits.MAX_DEPTH:
            raise RefusedError(TOO_DEEP, 400)
        level = [part for each in level for part in (each.values() if isinstance(each, dict) else each)]


def _check_object(value: dict[str, Any]) -> dict[str, Any]:
    """Raise RefusedError if an object has a path that is not an upload, because gradio would download a URL."""
    if isinstance(value.get("path"), str):
        try:
            take(value["path"], "the file")
        except ValueError as error:
            raise RefusedError(str(error), 400) from None
    return value
