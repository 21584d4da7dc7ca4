"""The border between the sessions of other programs and the protocol through which they come."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from ...config import ApprovalPreset
from ...messages import JsonObject, TaskId

__all__ = [
    "AgentActivity",
    "AskProgram",
    "ConnectedAgent",
    "ExternalAgents",
    "ExternalClient",
    "ExternalResult",
    "OfferedResource",
    "OfferedTool",
    "Progress",
    "ResourceContent",
]

Progress: TypeAlias = Callable[[str], Awaitable[None]]
"""Told what is happening, in a sentence. The caller limits how often the program hears of it."""

AskProgram: TypeAlias = Callable[[str], Awaitable[bool | None]]
"""Has the program ask the person in its own window: whether they said yes there, or None if nothing came of it.

It may take as long as it likes. Cancelling it takes the question back, and ends at once.
"""

AgentActivity = Literal["working", "waiting", "idle"]
"""A call is under way, it waits for the person's yes, or the program does something else."""


@dataclass(frozen=True)
class ExternalClient:
    """Who calls."""

    owner: str | None
    """The Jupyter user for whom the program works."""
    name: str
    """What it calls itself, such as "Claude Code"; cleaned, at most 60 characters."""
    version: str | None = None
    key: str = ""
    """Keeps two sessions of the same program apart."""
    folder: str | None = None
    """The folder it works in, where it said so: an absolute path inside the server's root."""
    can_ask: bool = False
    """Whether it can put a question to the person in its own window."""


@dataclass(frozen=True)
class OfferedTool:
    """A tool as it is listed, in an order that stays."""

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
    """What a call gave. ``content`` holds blocks as our own tools make them: texts, and images in base64."""

    content: list[JsonObject]
    structured: JsonObject | None = None
    is_error: bool = False


@dataclass(frozen=True)
class OfferedResource:
    """Something that can be read by its address. One whose address holds ``{name}`` is a template."""

    uri: str
    name: str
    title: str
    description: str
    media_type: str


@dataclass(frozen=True)
class ResourceContent:
    """What stands at an address: a text, or bytes in base64."""

    uri: str
    media_type: str
    text: str | None = None
    data: str | None = None


@dataclass(frozen=True)
class ConnectedAgent:
    """A program that works here, or did a while ago and may come back. Times are milliseconds since 1970."""

    key: str
    name: str
    version: str | None
    since: int
    last_call: int | None
    activity: AgentActivity
    doing: str | None
    """What it is doing, in a sentence."""
    task_id: TaskId | None
    """Its conversation, once it has called something."""
    notebook: str | None
    """The notebook it worked on last, by its path in Jupyter."""
    approvals: ApprovalPreset
    """What every program of this name may do without asking."""
    can_ask: bool = False
    """Whether it can ask in its own window, and the operator leaves that to the person."""
    may_ask: bool = False
    """Whether every program of this name may."""


class ExternalAgents(Protocol):
    """The programs that work here, each in a conversation of its own under the agent's approvals and checkpoints."""

    on_changed: Callable[[str | None], None]
    """Told whose list of connected programs may read differently now."""

    async def tools(self, client: ExternalClient) -> Sequence[OfferedTool]:
        """What this program may call."""

    async def call(
        self,
        client: ExternalClient,
        name: str,
        arguments: JsonObject,
        progress: Progress,
        ask: AskProgram | None = None,
    ) -> ExternalResult:
        """Do it, and wait as long as that takes. Cancelling it withdraws a question and interrupts a cell.

        With ``ask`` the program is asked, too, where the person allows that; the first answer counts.
        What the tool refuses is a result; raises NotFound for a tool that is none, and HdspAgentError where no
        conversation can be opened or recorded.
        """

    async def resources(self, client: ExternalClient) -> Sequence[OfferedResource]:
        """What can be read by its address; templates come last."""

    async def read_resource(self, client: ExternalClient, uri: str) -> Sequence[ResourceContent]:
        """What stands there. Raises NotFound, or NotAllowed where the person does not allow it."""

    def connect(self, client: ExternalClient) -> None:
        """A program has come: it is listed from now on, though it has called nothing yet."""

    def connected(self, owner: str | None) -> Sequence[ConnectedAgent]:
        """The programs of this person, the newest call first."""

    async def disconnect(self, owner: str | None, key: str) -> bool:
        """End what this program is doing and put its conversation aside; whether there was one."""

    async def choose_approvals(self, owner: str | None, key: str, preset: ApprovalPreset | None) -> bool:
        """Let every program of this one's name do so much without asking, or ask again; whether there is such a program."""

    async def choose_questions(self, owner: str | None, key: str, may_ask: bool) -> bool:
        """Let every program of this one's name ask in its own window, too, or only here; whether there is such a program.

        Raises ForbiddenByOperator where only the answers given here count.
        """
