"""Finds the address of the visitor who makes a call, and whether anyone is still listening for the result.

This module uses the queue and the events of gradio, which are not public.
"""

from __future__ import annotations

import ipaddress
import os
import secrets
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any
from urllib.parse import parse_qs

from gradio.context import LocalContext
from starlette.datastructures import MutableHeaders
from starlette.types import Scope

from anls_metric.page import limits
from anls_metric.page.processes import Visitor

# gradio passes tool calls on to itself, so each seems to come from this computer. This header contains the visitor's
# address and a secret that no visitor can send.
_HEADER = "x-anls-visitor"
_SECRET = secrets.token_hex(16)

_listening: Counter[str] = Counter()


def find_address(scope: Scope) -> Scope:
    """Return the scope of a request with the visitor as the client, ignoring anything that a visitor writes into the
    internal header.
    """
    headers = MutableHeaders(raw=list(scope["headers"]))
    secret, _, address = headers.get(_HEADER, "").partition(" ")
    is_passed_on = secrets.compare_digest(secret.encode(), _SECRET.encode())
    client = (address, 0) if is_passed_on else scope.get("client")
    headers[_HEADER] = f"{_SECRET} {client[0] if client else ''}"
    return {**scope, "client": client, "headers": headers.raw}


@contextmanager
def listen(scope: Scope, path: str) -> Iterator[None]:
    """Record that a client is listening for the results of a session or an event while the body of this context sends
    the response.
    """
    query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
    key = query.get("session_hash", [""])[0] or path.rpartition("/")[2]
    is_stream = scope["method"] == "GET" and path.startswith(_STREAMS)
    _listening[key] += is_stream
    try:
        yield
    finally:
        _listening[key] -= is_stream
        if not _listening[key]:
            del _listening[key]


_STREAMS = ("/gradio_api/queue/data", "/gradio_api/call/")


def find_visitor() -> Visitor:
    """Find the visitor who caused the gradio event that is being processed in this context."""
    page, own = LocalContext.blocks.get(None), LocalContext.event_id.get(None)
    jobs = (job for jobs in (page._queue.active_jobs if page else ()) for job in jobs or ())
    event = next((job for job in jobs if job._id == own), None)
    return Visitor(_find_key(event), partial(_has_left, event))


def _find_key(event: Any) -> str:
    """Return the address of a visitor or, if the address can only belong to a proxy, the session, or "" for an unknown
    visitor.
    """
    if event is None or event.request.client is None:
        return ""
    address: str = event.request.client.host
    with suppress(ValueError):  # a name, in tests
        if os.environ.get("SPACE_ID") and not ipaddress.ip_address(address).is_global:
            return str(event.session_hash)
    return address


def _has_left(event: Any) -> bool:
    """Whether an event has ended, or nobody has been listening for its result for over `MAX_SILENCE` seconds."""
    if event is None:
        return False
    if not event.alive:
        return True
    now = time.monotonic()
    if _listening[event._id] or _listening[event.session_hash]:
        event.heard = now
    last: float = max(event.enqueue_time, getattr(event, "heard", 0.0))
    return now - last > limits.MAX_SILENCE
