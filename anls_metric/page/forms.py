"""Receives the files that a visitor uploads as a form."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from python_multipart.exceptions import FormParserError
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import ClientDisconnect, Request

from anls_metric.page import limits
from anls_metric.page.uploads import RefusedError, get_folder, keep, make_room


class _Parser(MultiPartParser):  # type: ignore[misc]
    """A parser that rejects a file as soon as the file exceeds the size limit."""

    spool_max_size = 1  # bytes in memory; the rest is on the disk

    def on_part_begin(self) -> None:
        super().on_part_begin()
        self._size = 0

    def on_part_data(self, data: bytes, start: int, end: int) -> None:
        self._size += end - start
        if self._size > limits.MAX_FILE:
            raise RefusedError(f"a file is larger than {limits.MAX_FILE // limits.MB} MB", 413)
        super().on_part_data(data, start, end)


class _Coming:
    """The total size in bytes of the uploads that are still being received."""

    size = 0


async def receive_files(request: Request) -> list[str]:
    """Receive the files in a form, store each file once it has arrived completely, and return the paths of the files.

    Raises:
        RefusedError: the request is not a form with files, a file is too large, the upload is interrupted, too many
            files are being uploaded at once, or the disk is full.
    """
    size, form = 0, FormData()

    async def count() -> AsyncGenerator[bytes, None]:
        nonlocal size
        async for data in request.stream():
            size += len(data)
            _Coming.size += len(data)
            if _Coming.size > limits.MAX_COMING:
                raise RefusedError("too many files are being uploaded at once: try again in a minute", 503)
            yield data

    try:
        await run_in_threadpool(make_room, get_folder(), limits.MAX_KEPT - limits.MAX_COMING - limits.MAX_WRITTEN)
        form = await _Parser(request.headers, count(), max_fields=0).parse()
        files = form.getlist("files")
        if not files:
            raise RefusedError(_NO_FORM, 400)
        return [await run_in_threadpool(keep, file.filename, file.file) for file in files]
    except ClientDisconnect:
        raise RefusedError("the upload was interrupted: send the file again", 400) from None
    except (MultiPartException, FormParserError, LookupError):
        raise RefusedError(_NO_FORM, 400) from None
    except OSError:
        raise RefusedError("the server has no room left: try again later", 507) from None
    finally:
        _Coming.size -= size
        await form.close()


_NO_FORM = "the upload must be a form with files: send the files as multipart/form-data, in the field named files"
