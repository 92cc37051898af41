"""What stands before the server: how large a request may be, whose files are handed out, and what a browser may do."""

from __future__ import annotations

import asyncio
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
# elsewhere, and nothing goes there. Hugging Face shows a Space in a frame.
_POLICY = {
    "default-src": "'self'",
    "script-src": "'self' 'unsafe-inline' 'unsafe-eval'",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data: blob:",
    "font-src": "'self' data:",
    "connect-src": "'self' data: blob:",
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
        path = scope["path"]
        if not self._may_have(path):
            await _refuse(send, 404, "there is no such file")
            return
        most = limits.MOST_REQUEST
        if path.rstrip("/").endswith(UPLOAD):
            most = 2 * limits.MOST_BYTES
            await asyncio.to_thread(make_room, self._uploads)
        body = _Body(receive, send, most)
        if body.is_too_large(scope):
            await body.refuse()
        else:
            await self._application(scope, body.receive, body.send)

    def _may_have(self, path: str) -> bool:
        files = [path.partition(start)[2] for start in FILES if start in path]
        return all(Path(file).resolve().is_relative_to(self._public) for file in files)


class _Body:
    """A request as it comes in, and its answer: where too much comes in, the answer is ours."""

    def __init__(self, receive: Receive, send: Send, most: int) -> None:
        self._receive, self._send, self._most = receive, send, most
        self._come = 0
        self._refused = self._answered = False

    def is_too_large(self, scope: Message) -> bool:
        """Whether it says so itself."""
        length = dict(scope["headers"]).get(b"content-length", b"0")
        return not length.isdigit() or int(length) > self._most

    async def receive(self) -> Message:
        message = await self._receive()
        self._come += len(message.get("body", b""))
        if self._come > self._most and not self._answered:
            await self.refuse()
        return {"type": "http.disconnect"} if self._refused else message

    async def send(self, message: Message) -> None:
        if self._refused:
            return
        self._answered = True
        if message["type"] == "http.response.start":
            ours = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
            message = {**message, "headers": [*message.get("headers", []), *ours]}
        await self._send(message)

    async def refuse(self) -> None:
        self._refused = True
        said = f"the request is larger than {self._most >> 10} kB: upload what is larger as a file, of at most "
        await _refuse(self._send, 413, said + f"{limits.MOST_BYTES >> 20} MB")


async def _refuse(send: Send, status: int, said: str) -> None:
    headers = {"content-type": "text/plain; charset=utf-8", **HEADERS}
    start = {"type": "http.response.start", "status": status}
    await send({**start, "headers": [(name.encode(), value.encode()) for name, value in headers.items()]})
    await send({"type": "http.response.body", "body": said.encode()})
