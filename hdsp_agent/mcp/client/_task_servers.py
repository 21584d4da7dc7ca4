"""The servers as one task uses them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ...errors import NotFound
from ...messages import Command, JsonObject
from ...tools import AskPerson, McpAnswer, McpOffer, OfferedMcpTool, Progressed
from ._connection import Connection
from ._content import answer_of, content_of, prompt_text
from ._elicitation import answered_by
from ._listing import Prompt
from ._prompts import argument_hint, prompt_arguments, prompt_command
from ._server_state import ServerState

if TYPE_CHECKING:
    from mcp_types import ElicitRequestParams, ElicitResult

    from ._active_calls import Elicit
    from ._hub import McpHub

__all__ = ["TaskServers"]

_PATIENCE_SECONDS: Final = 20.0
"""How long the first question to the model waits for servers that are just starting."""


class TaskServers:
    """Those of one person, as seen from the task's folder."""

    def __init__(self, hub: McpHub, owner: str | None, folder: Path) -> None:
        self._hub = hub
        self._owner = owner or hub.person
        self._folder = folder

    @property
    def offer(self) -> McpOffer:
        """What they offer now."""
        return self._hub.offer(self._owner, self._folder)

    async def prepare(self) -> None:
        """See that they are connected, before the model is told what there is."""
        await self._hub.prepare(self._owner, self._folder, _PATIENCE_SECONDS)

    async def call(
        self, tool: OfferedMcpTool, arguments: JsonObject, *, progressed: Progressed, ask: AskPerson
    ) -> McpAnswer:
        """Use a tool."""

        async def told(progress: float, total: float | None, message: str | None) -> None:
            await progressed(_progress(progress, total, message))

        connection = self._connection(tool.server)
        return answer_of(await connection.call(tool.tool, arguments, progressed=told, elicit=_elicit(tool.server, ask)))

    async def read(self, server: str, uri: str, *, ask: AskPerson | None = None) -> McpAnswer:
        """Read a resource."""
        elicit = None if ask is None else _elicit(server, ask)
        return content_of(await self._connection(server).read(uri, elicit=elicit))

    def commands(self) -> list[Command]:
        """The servers' prompts as slash commands."""
        return [
            Command(
                name=prompt_command(state.config, prompt),
                source=state.config.source,
                description=f"{state.config.name}: {prompt.description or prompt.title or prompt.name}",
                argument_hint=argument_hint(prompt),
            )
            for state, prompt in self._prompts()
        ]

    async def spoken(self, command: str, text: str) -> str | None:
        """The prompt that a slash command stands for, filled in; None if there is none. Raises InvalidInput, Unavailable."""
        for state, prompt in self._prompts():
            if prompt_command(state.config, prompt) == command:
                arguments = prompt_arguments(prompt, text)
                written = await self._connection(state.config.name).prompt(prompt.name, arguments)
                return prompt_text(written)
        return None

    def _prompts(self) -> Iterator[tuple[ServerState, Prompt]]:
        if self._hub.is_on:
            for state in self._hub.states(self._owner, self._folder):
                if state.is_usable:
                    yield from ((state, prompt) for prompt in state.listing.prompts)

    def _connection(self, server: str) -> Connection:
        state = self._hub.state(self._owner, self._folder, server)
        if state.connection is None or not state.is_usable:
            raise NotFound(f"The MCP server {server} is not in use any more.")
        return state.connection


def _elicit(server: str, ask: AskPerson) -> Elicit:
    async def elicit(params: ElicitRequestParams) -> ElicitResult:
        return await answered_by(ask, server, params)

    return elicit


def _progress(progress: float, total: float | None, message: str | None) -> str:
    steps = f"{progress:g}" if total is None else f"{progress:g}/{total:g}"
    return f"{steps} {message[:300]}" if message else steps
