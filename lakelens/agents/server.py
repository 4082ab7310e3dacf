"""The tools over the Model Context Protocol, on standard input and output; `mcp` is needed here and nowhere else."""

from __future__ import annotations

from typing import Any

import anyio
import anyio.to_thread
from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from lakelens.agents.desk import NOTE, Desk


def make_server(desk: Desk, version: str) -> Server[Any]:
    """Make the server of a desk: it lists its tools and calls them, one after the other."""
    hints = types.ToolAnnotations(read_only_hint=True, destructive_hint=False, open_world_hint=False)

    async def list_tools(ctx: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=tool.name, description=tool.about, input_schema=tool.schema, annotations=hints
                )
                for tool in desk.tools
            ]
        )

    async def call_tool(ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        text, is_answer = await anyio.to_thread.run_sync(
            desk.answer, params.name, params.arguments or {}, abandon_on_cancel=True
        )
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=text)], is_error=not is_answer
        )

    return Server(
        "lakelens", version=version, instructions=NOTE, on_list_tools=list_tools, on_call_tool=call_tool
    )


def serve_tools(desk: Desk, version: str) -> None:
    """Serve the tools of a desk until standard input ends."""

    async def run() -> None:
        server = make_server(desk, version)
        async with stdio_server() as (received, sent):
            await server.run(received, sent, server.create_initialization_options())

    anyio.run(run)
