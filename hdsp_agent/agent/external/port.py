"""What a protocol server asks of the engine for the agents outside: tools, calls, resources, and who is connected."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from ...messages import JsonObject

__all__ = [
    "ConnectedAgent",
    "ExternalAgents",
    "ExternalClient",
    "ExternalResult",
    "OfferedResource",
    "OfferedTool",
    "Progress",
    "ResourceContent",
]


@dataclass(frozen=True)
class ExternalClient:
    """Who calls."""

    owner: str | None
    """The Jupyter user, as elsewhere."""
    name: str
    """“Claude Code”: title, else name, from the client's own info; cleaned, at most 60 characters."""
    version: str | None
    key: str
    """Keeps sessions of the same program apart."""
    folder: str | None
    """The folder the program works in, where it said so, inside the server's root."""
    can_ask: bool
    """Whether it offers to ask its person (elicitation)."""


@dataclass(frozen=True)
class OfferedTool:
    """A tool as MCP lists it."""

    name: str
    title: str
    description: str
    input_schema: JsonObject
    output_schema: JsonObject | None
    read_only: bool
    destructive: bool
    idempotent: bool
    open_world: bool


@dataclass(frozen=True)
class ExternalResult:
    """What a call gave."""

    content: list[JsonObject]
    """Blocks as our tools make them: text, and images as base64."""
    structured: JsonObject | None
    is_error: bool


@dataclass(frozen=True)
class OfferedResource:
    """A resource as MCP lists it."""

    uri: str
    name: str
    title: str
    description: str
    mime_type: str | None


@dataclass(frozen=True)
class ResourceContent:
    """One part of a resource: text, or bytes as base64."""

    uri: str
    mime_type: str | None
    text: str | None
    blob: str | None


@dataclass(frozen=True)
class ConnectedAgent:
    """An agent outside that has a session here."""

    key: str
    name: str
    version: str | None
    since: int
    last_call: int | None
    task_id: str | None
    doing: str | None
    notebook: str | None


Progress = Callable[[str], Awaitable[None]]
"""Told what is happening; how often it reaches the program is decided by who gave it."""


class ExternalAgents(Protocol):
    """The engine's side."""

    async def tools(self, client: ExternalClient) -> Sequence[OfferedTool]:
        """What the client may call, in stable order."""

    async def call(
        self, client: ExternalClient, name: str, arguments: JsonObject, progress: Progress
    ) -> ExternalResult:
        """Do it under approvals and checkpoints. Cancelling withdraws the question and interrupts a running cell."""

    async def resources(self, client: ExternalClient) -> Sequence[OfferedResource]:
        """What the client may read."""

    async def read_resource(self, client: ExternalClient, uri: str) -> Sequence[ResourceContent]:
        """Its content. Raises NotFound."""

    def connected(self, owner: str | None) -> Sequence[ConnectedAgent]:
        """Who works for this person."""

    async def disconnect(self, owner: str | None, key: str) -> None:
        """End a session. Raises NotFound."""
