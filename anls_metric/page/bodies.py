"""Reads the bodies of requests. It counts their bytes and seconds, and does not trust their headers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, MutableMapping
from contextlib import AsyncExitStack
from typing import Any

from anls_metric.page import limits
from anls_metric.page.messages import describe_error
from anls_metric.page.uploads import Uploads

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]

TOO_LARGE = (
    f"the request is larger than {limits.MOST_REQUEST >> 10} kB, or has more than {limits.MOST_VALUES:,} values: "
    f"upload a file instead, of at most {limits.MOST_BYTES >> 20} MB"
)
TOO_SLOW = "the request takes too long to come: send it again"
NO_ROOM = "there is no room for the file: try again in a minute"
NO_FILES = "the request holds no files: upload them as multipart/form-data"


class RefusedError(Exception):
    """A request is refused, with a status and a reason."""


class Body:
    """The body of a request: an ASGI receiver around the receiver of the server.

    Args:
        receive: the receiver of the server.
        most: the largest number of bytes.
        seconds: the time limit for the whole body.
        count: a function that is called with the number of bytes of each piece.
    """

    def __init__(
        self, receive: Receive, most: int, seconds: float, count: Callable[[int], object] = lambda _: None
    ) -> None:
        self._receive, self._most, self._count = receive, most, count
        self._end = time.monotonic() + seconds
        self.size = 0

    async def __call__(self) -> Message:
        """Receive a piece.

        Raises:
            RefusedError: the body is too large or too slow.
        """
        seconds = min(limits.PAUSE_SECONDS, self._end - time.monotonic())
        try:
            message = await asyncio.wait_for(self._receive(), seconds)
        except asyncio.TimeoutError:
            raise RefusedError(408, TOO_SLOW) from None
        piece = len(message.get("body", b""))
        self.size += piece
        try:
            self._count(piece)
        except ValueError as error:
            raise RefusedError(503, str(error)) from None
        if self.size > self._most:
            raise RefusedError(413, TOO_LARGE)
        return message

    async def pieces(self) -> AsyncGenerator[bytes, None]:
        """Receive the pieces one after the other.

        Raises:
            RefusedError: the body is too large or too slow, or the visitor has left.
        """
        is_more = True
        while is_more:
            message = await self()
            if message["type"] == "http.disconnect":
                raise RefusedError(400, "the request ended before its body did")
            yield message.get("body", b"")
            is_more = message.get("more_body", False)


async def read_body(receive: Receive) -> bytes:
    """Read the body of a request that is not an upload.

    Raises:
        RefusedError: the body is too large or too slow.
    """
    body = Body(receive, limits.MOST_REQUEST, limits.REQUEST_SECONDS)
    return b"".join([piece async for piece in body.pieces()])


async def read_uploads(content_type: str, receive: Receive, uploads: Uploads) -> list[str]:
    """Read uploaded files, and store them.

    Args:
        content_type: the content-type header of the request.
        receive: the receiver of the request.
        uploads: the store.

    Returns:
        The paths of the files.

    Raises:
        RefusedError: there are no files, or they are too large, too many or too slow.
    """
    from starlette.datastructures import Headers
    from starlette.formparsers import MultiPartException, MultiPartParser

    if not content_type.startswith("multipart/form-data") or len(content_type) > limits.MOST_CONTENT_TYPE:
        raise RefusedError(400, NO_FILES)
    body = Body(receive, limits.MOST_UPLOAD, limits.UPLOAD_SECONDS, uploads.hold)
    headers = Headers({"content-type": content_type})
    async with AsyncExitStack() as stack:
        stack.callback(lambda: uploads.hold(-body.size))
        parser = MultiPartParser(headers, body.pieces(), max_files=limits.MOST_FILES_AT_ONCE, max_fields=10)
        try:
            form = await parser.parse()
        except (MultiPartException, ValueError, LookupError):
            raise RefusedError(400, NO_FILES) from None
        stack.push_async_callback(form.close)
        files = [file for file in form.getlist("files") if not isinstance(file, str)]
        try:
            return [await asyncio.to_thread(uploads.keep, file.file, file.filename or "") for file in files]
        except ValueError as error:
            raise RefusedError(413, describe_error(error, "endpoint")) from None
        except OSError:
            raise RefusedError(507, NO_ROOM) from None
