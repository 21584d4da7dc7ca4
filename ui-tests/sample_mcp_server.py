"""An MCP server as the stories need one: tools, a resource and a prompt, over standard input and output."""

from __future__ import annotations

import asyncio
import struct
import sys
import time
import zlib
from pathlib import Path

from mcp.server.mcpserver import Context, Image, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel

server = MCPServer("Sample", instructions="Use the tools with care.")


class Sum(BaseModel):
    """Two numbers together."""

    total: int


@server.tool()
def add(a: int, b: int) -> Sum:
    """Add two numbers."""
    return Sum(total=a + b)


@server.tool()
def picture() -> Image:
    """Draw a blue square."""
    side = 48
    rows = b"".join(b"\0" + b"\x20\x60\xc0" * side for _ in range(side))
    parts = [
        (b"IHDR", struct.pack(">2I5B", side, side, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(rows)),
        (b"IEND", b""),
    ]
    data = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body)) for name, body in parts
    )
    return Image(data=data, format="png")


@server.tool()
def fail() -> str:
    """Fail."""
    raise ToolError("There is no such table.")


@server.tool()
async def wait(signal: str, context: Context) -> str:
    """Wait for a file, and tell how far it is."""
    await context.report_progress(3, 10, "Copying")
    await asyncio.to_thread(_wait_for, Path(signal))
    return "It is there."


def _wait_for(file: Path) -> None:
    while not file.exists():
        time.sleep(0.02)


@server.resource("sample://sales")
def sales() -> str:
    """The sales of the year."""
    return "month,sales\n1,heliotrope"


@server.prompt()
def review(path: str) -> str:
    """Have something reviewed."""
    return f"Review {path}, above all its periwinkle parts."


if __name__ == "__main__":
    if sys.argv[1:] == ["broken"]:
        sys.exit("The key of the sample is missing.")
    server.run("stdio")
