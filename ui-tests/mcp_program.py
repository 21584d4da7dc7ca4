"""A program of another maker as the stories need one: it connects by MCP, and calls what it is told to.

``mcp_program.py NAME URL`` connects over HTTP, ``mcp_program.py NAME -- COMMAND…`` through a program of ours. Each line
that it reads is a call, ``{"id", "tool", "arguments"}``; each that it writes is what came of one, ``{"id", "text",
"isError"}``. The first that it writes has the names of the tools.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any

from mcp import Client, StdioServerParameters
from mcp_types import Implementation, TextContent


async def main(name: str, where: list[str]) -> None:
    """Connect, and go on until nothing more is to be read."""
    info = Implementation(name=name.lower().replace(" ", "-"), title=name, version="2.1")
    async with Client(_target(where), client_info=info) as client:
        listed = await client.list_tools()
        _write({"tools": [tool.name for tool in listed.tools]})
        reader = asyncio.StreamReader()
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        async with asyncio.TaskGroup() as calls:
            while line := await reader.readline():
                calls.create_task(_call(client, json.loads(line)))


def _target(where: list[str]) -> str | StdioServerParameters:
    if where[0] != "--":
        return where[0]
    return StdioServerParameters(command=where[1], args=where[2:], env=dict(os.environ), cwd=os.getcwd())


async def _call(client: Client, wanted: dict[str, Any]) -> None:
    result = await client.call_tool(wanted["tool"], wanted["arguments"])
    text = "\n".join(block.text for block in result.content if isinstance(block, TextContent))
    _write({"id": wanted["id"], "text": text, "isError": bool(result.is_error)})


def _write(what: dict[str, Any]) -> None:
    print(json.dumps(what), flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2:]))
