"""What stands before the server: how large a request may be, which files it may name, and what a browser may do."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from pathlib import Path
from typing import Any

from anls_metric.page import limits
from anls_metric.page.calls import ENDPOINTS, fill_in
from anls_metric.page.messages import describe_error
from anls_metric.page.uploads import FILE_ADDRESS, make_room, take

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]

UPLOAD = "/gradio_api/upload"
FILES = (FILE_ADDRESS, "/gradio_api/file/", "/gradio_api/proxy=")

# What gradio's page needs: scripts and styles inside its HTML, and functions that it makes of texts. Nothing comes from
# elsewhere, and nothing goes there, but for Hugging Face, which shows a Space in a frame, or with its own line above.
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
    "referrer-policy": "same-origin",  # an address may hold an answer
}


class Guard:
    """An ASGI application around another one.

    Args:
        application: the other one.
        uploads: the folder that it puts uploads into, of which nothing is handed out.
        public: the folder of which any file may be handed out.
    """

    def __init__(self, application: Application, uploads: str, public: str) -> None:
        self._application, self._uploads, self._public = application, uploads, Path(public).resolve()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        send = _add_headers(send)
        try:
            receive = await self._check(scope, receive)
        except RefusedError as refused:
            await _refuse(send, *refused.args)
        else:
            await self._application(scope, receive, send)

    async def _check(self, scope: Message, receive: Receive) -> Receive:
        """Check a request, and return what the application is to receive. RefusedError: what is wrong with it."""
        path: str = scope["path"]
        files = [path.partition(start)[2] for start in FILES if start in path]
        if not all(self._is_public(file) for file in files):
            raise RefusedError(404, "there is no such file")
        if scope["method"] in ("GET", "HEAD", "OPTIONS"):
            return receive
        length = dict(scope["headers"]).get(b"content-length", b"unknown")
        size = int(length) if length.isdigit() else 2**63
        if path.rstrip("/").endswith(UPLOAD):
            await asyncio.to_thread(make_room, self._uploads)
            if size > 2 * limits.MOST_BYTES:
                raise RefusedError(413, _TOO_LARGE)
            return receive
        if size > limits.MOST_REQUEST:
            raise RefusedError(413, _TOO_LARGE)
        body = await _read(receive)
        if limits.count_values(_TEXT.sub(b"", body)) > limits.MOST_VALUES:  # each is handled many times
            raise RefusedError(413, _TOO_LARGE)
        return _replay(self._check_body(path, body), receive)

    def _check_body(self, path: str, body: bytes) -> bytes:
        """Check the files that a request names, and add the arguments that a call of an endpoint leaves out."""
        try:
            message = json.loads(body)
        except (ValueError, RecursionError):  # the application says what is wrong with it
            return body
        for file in _list_files(message):
            if self._is_public(file):
                continue
            try:
                take(file, self._uploads, "the file")
            except (ValueError, OSError) as error:
                raise RefusedError(400, describe_error(error, "endpoint")) from None
        called = _CALL.search(path)
        endpoint = ENDPOINTS.get(called[1]) if called else None
        if endpoint and isinstance(message, dict) and isinstance(message.get("data"), list):
            return json.dumps({**message, "data": fill_in(endpoint, message["data"])}).encode()
        return body

    def _is_public(self, file: str) -> bool:
        return "\0" not in file and Path(file).resolve().is_relative_to(self._public)


class RefusedError(Exception):
    """A request that is refused: the status, and why."""


_TOO_LARGE = (
    f"the request is larger than {limits.MOST_REQUEST >> 10} kB, or has more than {limits.MOST_VALUES:,} values: "
    f"upload a file instead, of at most {limits.MOST_BYTES >> 20} MB"
)

_TEXT = re.compile(rb'"(?:[^"\\]|\\.)*"')
_CALL = re.compile(r"/gradio_api/(?:call|run|api)/(\w+)/?$")


async def _read(receive: Receive) -> bytes:
    """Read the whole body of a request."""
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return body


def _replay(body: bytes, receive: Receive) -> Receive:
    """Make a receiver of a body that was read already."""
    messages: list[Message] = [{"type": "http.request", "body": body}]

    async def replay() -> Message:
        return messages.pop() if messages else await receive()

    return replay


def _list_files(message: Any) -> Iterator[str]:
    """List the paths of all files in a request, however deep they lie: gradio would fetch one that is an address."""
    waiting = [message]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if isinstance(value.get("path"), str):
                yield value["path"]
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)


def _add_headers(send: Send) -> Send:
    """Make a sender that adds our headers."""

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            ours = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
            message = {**message, "headers": [*message.get("headers", []), *ours]}
        await send(message)

    return send_with_headers


async def _refuse(send: Send, status: int, said: str) -> None:
    """Answer as gradio does, so that its page shows what is said."""
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps({"detail": said}).encode()})
