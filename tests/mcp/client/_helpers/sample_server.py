"""A well-behaved MCP server made with the SDK: ``python -m tests.mcp.client._helpers.sample_server [http PORT]``."""

from __future__ import annotations

import asyncio
import hashlib
import os
import sys
from typing import Annotated, Literal

from mcp.server.mcpserver import Context, Elicit, ElicitationResult, Image, MCPServer, Resolve
from pydantic import BaseModel

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63f8cfc00000030101"
    "00c9fe92ef0000000049454e44ae426082"
)

server = MCPServer("Sample", instructions="Use the tools with care.")


class Sum(BaseModel):
    """Two numbers together."""

    total: int


@server.tool()
def add(a: int, b: int) -> Sum:
    """Add two numbers."""
    return Sum(total=a + b)


@server.tool()
def echo(text: str) -> str:
    """Say it again."""
    return text


@server.tool()
def digest(text: str) -> str:
    """Give the SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


@server.tool()
def picture() -> Image:
    """Give a picture."""
    return Image(data=PNG, format="png")


@server.tool()
def long_text(characters: int) -> str:
    """Give a long text."""
    return "0123456789" * (characters // 10)


@server.tool()
def fail() -> str:
    """Fail."""
    raise ValueError("It went wrong on purpose.")


@server.tool()
def environment() -> str:
    """Give the names of its variables."""
    return "\n".join(f"{name}={value}" for name, value in sorted(os.environ.items()))


@server.tool()
def where() -> str:
    """Give its folder and process."""
    return f"{os.getcwd()} {os.getpid()}"


@server.tool()
async def slow(seconds: float, context: Context) -> str:
    """Wait, and tell how far it is."""
    for step in range(10):
        await context.report_progress(step + 1, 10, f"step {step + 1}")
        await asyncio.sleep(seconds / 10)
    return "done"


@server.tool()
async def silent(seconds: float) -> str:
    """Wait without a word."""
    await asyncio.sleep(seconds)
    return "done"


class Wish(BaseModel):
    """What is wanted."""

    city: str
    nights: int = 1
    kind: Literal["cheap", "quiet"] = "cheap"


def ask_wish() -> Elicit[Wish]:
    """The question."""
    return Elicit("Where do you want to go?", Wish)


@server.tool()
def book(result: Annotated[ElicitationResult[Wish], Resolve(ask_wish)]) -> str:
    """Ask the person where to."""
    if result.action != "accept":
        return f"not booked: {result.action}"
    return f"booked {result.data.nights} nights in {result.data.city}, {result.data.kind}"


@server.tool()
def add_tool(name: str) -> str:
    """Have one more tool from now on."""
    server.add_tool(lambda: "new", name=name, description="A new tool.")
    return "added"


@server.tool()
async def tell_change(context: Context) -> str:
    """Say that the list has changed."""
    await context.notify_tools_changed()
    return "told"


@server.resource("sample://greeting")
def greeting() -> str:
    """A greeting."""
    return "Hello from a resource."


@server.resource("sample://notes/{name}")
def note(name: str) -> str:
    """A note by its name."""
    return f"The note {name}."


@server.prompt()
def review(path: str, focus: str = "everything") -> str:
    """Have something reviewed."""
    return f"Review {path}, above all {focus}."


if __name__ == "__main__":
    if sys.argv[1:2] == ["http"]:
        server.run("streamable-http", port=int(sys.argv[2]))
    else:
        server.run("stdio")
