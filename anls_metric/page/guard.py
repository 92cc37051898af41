"""What stands before the server: how large a request may be, whose files are handed out, and what a browser may do."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any

from anls_metric.page import limits
from anls_metric.page.uploads import make_room

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]

UPLOAD = "/gradio_api/upload"
FILES = ("/gradio_api/file=", "/gradio_api/file/", "/gradio_api/proxy=")

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
        receive, refused = await self._checked(scope, receive)
        if refused:
            await _answer(_headed(send), *refused)
        else:
            await self._application(scope, receive, _headed(send))

    async def _checked(self, scope: Message, receive: Receive) -> tuple[Receive, tuple[int, str] | None]:
        """What the request sends, and the status and the words to refuse it with."""
        path: str = scope["path"]
        files = [path.partition(start)[2] for start in FILES if start in path]
        if not all(Path(file).resolve().is_relative_to(self._public) for file in files):
            return receive, (404, "there is no such file")
        if scope["method"] in ("GET", "HEAD", "OPTIONS"):
            return receive, None
        length = dict(scope["headers"]).get(b"content-length", b"unknown")
        size = int(length) if length.isdigit() else 2**63
        if path.rstrip("/").endswith(UPLOAD):
            await asyncio.to_thread(make_room, self._uploads)
            return receive, _TOO_LARGE if size > 2 * limits.MOST_BYTES else None
        if size > limits.MOST_REQUEST:
            return receive, _TOO_LARGE
        receive, body = await _read(receive)
        # Each value is handled many times.
        return receive, _TOO_LARGE if limits.values_of(_TEXT.sub(b"", body)) > limits.MOST_VALUES else None


_TOO_LARGE = (
    413,
    f"the request is larger than {limits.MOST_REQUEST >> 10} kB, or has more than {limits.MOST_VALUES:,} values: "
    f"upload a file instead, of at most {limits.MOST_BYTES >> 20} MB",
)

_TEXT = re.compile(rb'"(?:[^"\\]|\\.)*"')


async def _read(receive: Receive) -> tuple[Receive, bytes]:
    """The whole body of a request, and who receives it once more."""
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    read: list[Message] = [{"type": "http.request", "body": body}]

    async def again() -> Message:
        return read.pop() if read else await receive()

    return again, body


def _headed(send: Send) -> Send:
    """Send, with our headers."""

    async def headed(message: Message) -> None:
        if message["type"] == "http.response.start":
            ours = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
            message = {**message, "headers": [*message.get("headers", []), *ours]}
        await send(message)

    return headed


async def _answer(send: Send, status: int, said: str) -> None:
    await send(
        {"type": "http.response.start", "status": status, "headers": [(b"content-type", b"text/plain; charset=utf-8")]}
    )
    await send({"type": "http.response.body", "body": said.encode()})
