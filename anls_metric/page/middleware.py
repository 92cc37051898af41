"""Guards the server: limits the size of requests, the files that they may name, and what a browser may do."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any

from anls_metric.page import limits
from anls_metric.page.bodies import TOO_LARGE, Message, Receive, RefusedError, read_body, read_uploads
from anls_metric.page.calls import ENDPOINTS, fill_in
from anls_metric.page.messages import describe_error
from anls_metric.page.uploads import FILE_ADDRESS, Uploads, take

Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]

UPLOAD, UPLOAD_PROGRESS = "/gradio_api/upload", "/gradio_api/upload_progress"
FILES = (FILE_ADDRESS, "/gradio_api/file/", "/gradio_api/proxy=")

# The content security policy. gradio needs scripts and styles inside its HTML, and functions that it makes from texts.
# The only other origin is Hugging Face, which shows a Space in a frame, or with its own header above.
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

# The part of a path before the name of an endpoint.
_CALLS = ("call", "run", "api")

HEADERS = {
    "content-security-policy": "; ".join(f"{name} {sources}" for name, sources in _POLICY.items()),
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",  # a URL may hold an answer
}


class Guard:
    """An ASGI application that checks requests before another application gets them.

    Args:
        application: the other application.
        uploads: the folder of all uploads, which are never served.
        public: the folder whose files may be served.
    """

    def __init__(self, application: Application, uploads: str, public: str) -> None:
        self._application, self._folder, self._uploads = application, uploads, Uploads(uploads)
        self._public = tuple(os.path.join(find(public), "") for find in (os.path.abspath, os.path.realpath))

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Pass a request on, answer it, or refuse it."""
        if scope["type"] == "lifespan":
            tidying = asyncio.create_task(self._tidy())
            try:
                await self._application(scope, receive, send)
            finally:
                tidying.cancel()
        elif scope["type"] != "http":
            await self._application(scope, receive, send)
        else:
            send = _add_headers(send)
            try:
                await self._answer(scope, receive, send)
            except RefusedError as refused:
                await _refuse(send, *refused.args)

    async def _tidy(self) -> None:
        """Delete uploads that are too old, from time to time."""
        while True:
            await asyncio.sleep(limits.TIDY_SECONDS)
            await asyncio.to_thread(self._uploads.make_room)

    async def _answer(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on. RefusedError: the request is refused."""
        path: str = scope["path"]
        files = [path.partition(start)[2] for start in FILES if start in path]
        if not all(self._is_public(file) for file in files):
            raise RefusedError(404, "there is no such file")
        end, headers = path.rstrip("/"), dict(scope["headers"])
        if scope["method"] in ("GET", "HEAD", "OPTIONS"):
            if end.endswith(UPLOAD_PROGRESS):  # an upload is only registered when it is complete
                await _send(send, 200, b"text/event-stream", b'data: {"msg": "done"}\n\n')
            else:
                await self._stream(scope, receive, send)
        elif end.endswith(UPLOAD):
            _refuse_large(headers, limits.MOST_UPLOAD)
            paths = await read_uploads(headers.get(b"content-type", b"").decode("latin-1"), receive, self._uploads)
            await _send(send, 200, b"application/json", json.dumps(paths).encode())
        else:
            _refuse_large(headers, limits.MOST_REQUEST)
            body = await read_body(receive)
            if count_values(body) > limits.MOST_VALUES:  # each value is processed many times
                raise RefusedError(413, TOO_LARGE)
            await self._application(scope, _replay(self._check_body(path, body), receive), send)

    async def _stream(self, scope: Message, receive: Receive, send: Send) -> None:
        """Pass a request on, and end the stream when gradio says that the session is over.

        gradio also raises an error then, and the server would log a traceback for each page that returns too late.
        """
        try:
            await self._application(scope, receive, send)
        except RuntimeError as error:  # starlette raises it, because the response has begun
            from starlette.exceptions import HTTPException

            if not isinstance(error.__cause__, HTTPException):
                raise
            await send({"type": "http.response.body", "body": b""})

    def _check_body(self, path: str, body: bytes) -> bytes:
        """Check the files that a request names, and add the arguments that a call of an endpoint leaves out."""
        try:
            message = json.loads(body)
        except (ValueError, RecursionError):  # the application reports the error
            return body
        for file in _list_files(message):
            if self._is_public(file):
                continue
            try:
                take(file, self._folder, "the file")
            except (ValueError, OSError) as error:
                raise RefusedError(400, describe_error(error, "endpoint")) from None
        *_, way, name = ["", "", *path.rstrip("/").split("/")]
        endpoint = ENDPOINTS.get(name) if way in _CALLS else None
        if endpoint and isinstance(message, dict) and isinstance(message.get("data"), list):
            return json.dumps({**message, "data": fill_in(endpoint, message["data"])}).encode()
        return body

    def _is_public(self, file: str) -> bool:
        return len(file) <= limits.MOST_PATH and "\0" not in file and os.path.abspath(file).startswith(self._public)


def count_values(body: bytes) -> int:
    r"""Estimate the number of values in the JSON of a request, in a few passes. A text counts as one.

    Example:
        >>> count_values(rb'{"data": ["a, [b", "\"", 1]}'), count_values(rb'["never closed, , , \", ,')
        (4, 1)
    """
    without_escapes = body.replace(b"\\\\", b"").replace(b'\\"', b"")
    return limits.count_values(b"".join(without_escapes.split(b'"')[::2]))


def _refuse_large(headers: Mapping[bytes, bytes], most: int) -> None:
    """Refuse a request whose header says that it is too large. Smaller sizes in the header are not trusted."""
    length = headers.get(b"content-length", b"")
    if length.isdigit() and int(length[:20]) > most:
        raise RefusedError(413, TOO_LARGE)


def _replay(body: bytes, receive: Receive) -> Receive:
    """Make a receiver from a body that was already read."""
    messages: list[Message] = [{"type": "http.request", "body": body}]

    async def replay() -> Message:
        return messages.pop() if messages else await receive()

    return replay


def _list_files(message: Any) -> Iterator[str]:
    """List the paths of all files in a request, at any depth, because gradio would fetch a path that is a URL."""
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
    """Make a sender that adds the security headers."""

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            ours = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
            message = {**message, "headers": [*message.get("headers", []), *ours]}
        await send(message)

    return send_with_headers


async def _refuse(send: Send, status: int, message: str) -> None:
    """Answer in gradio's form, so that the page shows the message, and close, since the rest is not read."""
    content = json.dumps({"detail": message}).encode()
    await _send(send, status, b"application/json", content, (b"connection", b"close"))


async def _send(send: Send, status: int, kind: bytes, content: bytes, *headers: tuple[bytes, bytes]) -> None:
    """Send a whole response."""
    headers = (b"content-type", kind), (b"content-length", b"%d" % len(content)), *headers
    await send({"type": "http.response.start", "status": status, "headers": list(headers)})
    await send({"type": "http.response.body", "body": content})
