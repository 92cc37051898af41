"""Offers the endpoints as tools to agents: an ASGI application that serves the Model Context Protocol."""

from __future__ import annotations

import inspect
import json
import re
from functools import partial
from typing import Any

import anyio
from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from pydantic import Field, create_model
from starlette.responses import JSONResponse

from anls_metric.core.choices import describe_unknown
from anls_metric.core.version import __version__
from anls_metric.page import limits
from anls_metric.page.bodies import Message, Receive
from anls_metric.page.calls import ENDPOINTS, Endpoint, call, list_parameters, type_in_json
from anls_metric.page.middleware import Application, Send

_ADDRESSES = ("/gradio_api/mcp", "/gradio_api/mcp/http")

# The Hugging Face Hub lists the tools of a Space from this path, without a session.
_SCHEMA = "/gradio_api/mcp/schema"

# These read only our own docstrings.
_ARGUMENTS = re.compile(r"\n\nArgs:\n(?P<lines>(?: .*\n)*)")
_ARGUMENT = re.compile(r"^ +(\w+): (.*)$", re.MULTILINE)


def describe_tool(endpoint: Endpoint) -> types.Tool:
    """Describe an endpoint as a tool: its docstring, and the JSON schema of its arguments.

    Example:
        >>> tool = describe_tool(ENDPOINTS["compare_variants"])
        >>> tool.name, tool.inputSchema["required"]
        ('compare_variants', ['prediction', 'accepted_answers'])
    """
    documentation = f"{inspect.getdoc(endpoint)}\n"
    arguments = _ARGUMENTS.search(documentation)
    described = dict(_ARGUMENT.findall(arguments["lines"])) if arguments else {}
    fields: dict[str, Any] = {}
    for parameter in list_parameters(endpoint):
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[parameter.name] = (type_in_json(parameter), Field(default, description=described[parameter.name]))
    return types.Tool(
        name=endpoint.__name__,
        description=_ARGUMENTS.sub("\n", documentation).strip(),
        inputSchema=create_model(endpoint.__name__, **fields).model_json_schema(),
    )


def build_server() -> Server[Any, Any]:
    """Build a server whose tools are the endpoints. A tool answers in JSON."""
    server: Server[Any, Any] = Server("anls", version=__version__)
    threads = anyio.CapacityLimiter(limits.THREADS)

    async def list_tools() -> list[types.Tool]:
        return list(map(describe_tool, ENDPOINTS.values()))

    async def call_tool(name: str, arguments: dict[str, Any]) -> list[types.ContentBlock]:
        if name not in ENDPOINTS:
            raise ValueError(describe_unknown("tool", name, ENDPOINTS))
        result = await anyio.to_thread.run_sync(partial(call, ENDPOINTS[name], **arguments), limiter=threads)
        return [types.TextContent(type="text", text=json.dumps(result, ensure_ascii=False))]

    server.list_tools()(list_tools)
    server.call_tool()(call_tool)
    return server


class McpTools:
    """An ASGI application that answers agents, and passes all other requests on.

    Args:
        application: the application for other requests.
    """

    def __init__(self, application: Application) -> None:
        self._application, self._server = application, build_server()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        address = scope["path"].rstrip("/") if scope["type"] == "http" else ""
        if not address.endswith((*_ADDRESSES, _SCHEMA)):
            await self._application(scope, receive, send)
        elif address.endswith(_SCHEMA):
            tools = [describe_tool(endpoint).model_dump(exclude_none=True) for endpoint in ENDPOINTS.values()]
            await JSONResponse(tools)(scope, receive, send)
        else:
            # Stateless: each request is a session of its own, so that no session has to be started or ended.
            sessions = StreamableHTTPSessionManager(self._server, stateless=True)
            async with sessions.run():
                await sessions.handle_request(scope, receive, send)
