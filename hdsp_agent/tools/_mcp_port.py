"""The MCP servers of a person, as the tools of one task reach them."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Protocol, TypeAlias

from ..config import PatternProblem, path_matches
from ..messages import JsonObject

__all__ = [
    "MCP_PREFIX",
    "AskPerson",
    "McpAnswer",
    "McpImage",
    "McpOffer",
    "McpPart",
    "McpResource",
    "McpServers",
    "OfferedMcpTool",
    "Progressed",
]

MCP_PREFIX: Final = "mcp--"
"""What the names of all tools of MCP servers begin with, and none of ours."""

_VARIABLE: Final = re.compile(r"\{[^{}]*\}")

AskPerson: TypeAlias = Callable[[str, Sequence[str]], Awaitable[str]]
"""Asks the person a question with some likely answers; what they say, as they say it."""
Progressed: TypeAlias = Callable[[str], Awaitable[None]]
"""Told in words how far a call has come."""


@dataclass(frozen=True)
class OfferedMcpTool:
    """A tool of a server that may be used."""

    name: str
    """How the model calls it."""
    server: str
    tool: str
    """What its server calls it."""
    description: str
    input_schema: JsonObject
    fingerprint: str
    """Another one for a tool that is another one, though it is called the same."""
    always_allowed: bool = False
    """Whether the person allowed it once and for all, as it is now."""
    has_changed: bool = False
    """Whether they allowed it as it was, and it is another one now."""


@dataclass(frozen=True)
class McpResource:
    """Something a server lets be read; with ``is_template`` a form of addresses."""

    server: str
    uri: str
    name: str
    description: str | None = None
    media_type: str | None = None
    is_template: bool = False

    def fits(self, uri: str) -> bool:
        """Whether an address is this one, or of this form."""
        if not self.is_template:
            return uri == self.uri
        # A stranger wrote it: Python's own engine can be made to run for ever.
        pieces = "[^/?#]+".join(map(re.escape, _VARIABLE.split(self.uri)))
        try:
            return path_matches(rf"\A{pieces}\z", uri)
        except PatternProblem:
            return False


@dataclass(frozen=True)
class McpOffer:
    """What the servers offer now. Two offers are the same object as long as nothing changes."""

    tools: tuple[OfferedMcpTool, ...] = ()
    resources: tuple[McpResource, ...] = ()
    servers: int = 0
    """How many of them offer tools."""

    @cached_property
    def by_name(self) -> dict[str, OfferedMcpTool]:
        """The tools as the model calls them."""
        return {tool.name: tool for tool in self.tools}

    def tool(self, server: str, tool: str) -> OfferedMcpTool | None:
        """The tool of a server."""
        return next((one for one in self.tools if (one.server, one.tool) == (server, tool)), None)


@dataclass(frozen=True)
class McpImage:
    """A picture in an answer."""

    data: bytes = field(repr=False)
    media_type: str


McpPart: TypeAlias = str | McpImage


@dataclass(frozen=True)
class McpAnswer:
    """What a server answered: a stranger's words and pictures."""

    parts: tuple[McpPart, ...]
    is_error: bool = False


class McpServers(Protocol):
    """Those that a task may use. What fails raises Unavailable, saying what."""

    @property
    def offer(self) -> McpOffer:
        """What they offer now."""

    async def call(
        self, tool: OfferedMcpTool, arguments: JsonObject, *, progressed: Progressed, ask: AskPerson
    ) -> McpAnswer:
        """Use a tool; cancelling cancels it there, too."""

    async def read(self, server: str, uri: str, *, ask: AskPerson | None = None) -> McpAnswer:
        """Read a resource."""
