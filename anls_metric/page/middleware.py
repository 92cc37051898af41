"""Guards gradio: the size of a request, the files that it may name, and what a browser may do."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from anls_metric.page import limits
from anls_metric.page.uploads import get_folder, make_room, take

TOO_LARGE = (
    f"the request has more than {limits.MAX_REQUEST >> 10} kB: upload a file instead, of at most "
    f"{limits.MAX_FILE // limits.MB} MB"
)
TOO_SLOW = "the request takes too long to come: send it again"

_UPLOAD = "/gradio_api/upload"
_FILES = ("/gradio_api/file=", "/gradio_api/file/", "/gradio_api/proxy=", "/gradio_api/stream/")

# The content security policy. gradio needs scripts and styles inside its HTML, and functions that it makes of strings.
# The only other origin is Hugging Face, which shows a Space in a frame.
_POLICY = {
    "default-src": "'self'",
    "script-src": "'self' 'unsafe-inline' 'unsafe-eval'",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data: blob: https://huggingface.co",
    "font-src": "'self' data:",
    "connect-src": "'self' data: blob: https://huggingface.co",
    "worker-src": "'self' blob:",
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


class RefusedError(Exception):
    """A request is refused, with a reason and a status."""


class Guard:
    """An ASGI application that checks requests before another application gets them.

    Args:
        application: the other application.
    """

    def __init__(self, application: ASGIApp) -> None:
        self._application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        try:
            await self._application(scope, await _check(scope, receive), send_with_headers)
        except RefusedError as refused:
            reason, status = refused.args
            # gradio's form, so that the page shows the reason. The rest of the request is not read.
            response = JSONResponse({"detail": reason}, status, {"connection": "close"})
            await response(scope, receive, send_with_headers)


async def _check(scope: Scope, receive: Receive) -> Receive:
    """Check a request, and return a receiver of its body. RefusedError: it is refused."""
    path: str = scope["path"]
    if any(start in path for start in _FILES):
        raise RefusedError("there is no such file", 404)
    if path.rstrip("/").endswith(_UPLOAD):
        await asyncio.to_thread(make_room, get_folder())
        return _count(receive, limits.MAX_UPLOAD)
    content = await Request(scope, _count(receive, limits.MAX_REQUEST)).body()
    _check_content(content)
    messages: list[Message] = [{"type": "http.request", "body": content}]

    async def replay() -> Message:
        return messages.pop() if messages else await receive()

    return replay


def _count(receive: Receive, most: int) -> Receive:
    """Make a receiver that counts the bytes of a body, and does not trust its header."""
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
    """Check the files that a body names. RefusedError: one is no upload."""
    try:
        json.loads(content, object_hook=_check_object)
    except (ValueError, RecursionError):  # gradio reports the error
        return


def _check_object(value: dict[str, Any]) -> None:
    """Check an object of a body, because gradio would download a file whose path is a URL."""
    if isinstance(value.get("path"), str):
        try:
            take(value["path"], "the file")
        except ValueError as error:
            raise RefusedError(str(error), 400) from None
