"""Guards gradio: the size of a request, the files that it may name, and what a browser may do."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from typing import Any

from anls_metric.page import limits
from anls_metric.page.uploads import get_folder, is_public, make_room, take

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]

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
    """A request is refused, with a status and a reason."""


class Guard:
    """An ASGI application that checks requests before another application gets them.

    Args:
        application: the other application.
    """

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            return await self._application(scope, receive, send)
        started: list[bool] = []

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                started.append(True)
                ours = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message = {**message, "headers": [*message.get("headers", []), *ours]}
            await send(message)

        try:
            await self._application(scope, await self._check(scope, receive), send_with_headers)
        except RefusedError as refused:
            if not started:
                await _refuse(send_with_headers, *refused.args)

    async def _check(self, scope: Message, receive: Receive) -> Receive:
        """Check a request, and return a receiver of its body. RefusedError: it is refused."""
        path: str = scope["path"]
        if any(start in path and not is_public(path.partition(start)[2]) for start in _FILES):
            raise RefusedError(404, "there is no such file")
        if scope["method"] in ("GET", "HEAD", "OPTIONS"):
            return receive
        length = dict(scope["headers"]).get(b"content-length", b"")
        size = int(length[:20]) if length.isdigit() else 0  # only for an early answer: the bytes are counted
        if path.rstrip("/").endswith(_UPLOAD):
            body = _Body(receive, limits.MAX_UPLOAD, size)
            await asyncio.to_thread(make_room, get_folder())
            return body
        body = _Body(receive, limits.MAX_REQUEST, size)
        content, is_more = b"", True
        while is_more:
            message = await body()
            if message["type"] == "http.disconnect":
                raise RefusedError(400, "the request ended before its body did")
            content += message.get("body", b"")
            is_more = message.get("more_body", False)
        _check_content(content)
        messages: list[Message] = [{"type": "http.request", "body": content}]

        async def replay() -> Message:
            return messages.pop() if messages else await receive()

        return replay


class _Body:
    """A receiver that counts the bytes and the seconds of a body, and does not trust its header."""

    def __init__(self, receive: Receive, most: int, size: int) -> None:
        self._receive, self._most, self._size = receive, most, 0
        self._end = time.monotonic() + 4 * limits.MAX_PAUSE + most / 100_000  # at least 100 kB a second
        self._is_whole = False
        if size > most:
            raise RefusedError(413, TOO_LARGE)

    async def __call__(self) -> Message:
        """Receive a piece. RefusedError: the body is too large or too slow."""
        if self._is_whole:  # gradio waits here for the visitor to leave
            return await self._receive()
        try:
            message = await asyncio.wait_for(self._receive(), min(limits.MAX_PAUSE, self._end - time.monotonic()))
        except asyncio.TimeoutError:
            raise RefusedError(408, TOO_SLOW) from None
        self._size += len(message.get("body", b""))
        if self._size > self._most:
            raise RefusedError(413, TOO_LARGE)
        self._is_whole = not message.get("more_body", False)
        return message


def _check_content(content: bytes) -> None:
    """Check the files that a body names. RefusedError: one is no upload."""
    try:
        message = json.loads(content)
    except (ValueError, RecursionError):  # gradio reports the error
        return
    for file in _list_files(message):
        try:
            take(file, "the file")
        except ValueError as error:
            raise RefusedError(400, str(error)) from None


def _list_files(message: Any) -> Iterator[str]:
    """List the paths of all files in a request, at any depth, because gradio would download a path that is a URL."""
    waiting = [message]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if isinstance(value.get("path"), str):
                yield value["path"]
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)


async def _refuse(send: Send, status: int, reason: str) -> None:
    """Answer in gradio's form, so that the page shows the reason, and close, since the rest is not read."""
    content = json.dumps({"detail": reason}).encode()
    headers = {"content-type": "application/json", "content-length": str(len(content)), "connection": "close"}
    pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": content})
