"""All MCP servers of the people on this server: their files, what was chosen about them, and the connections to them."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pydantic import JsonValue

from ..._background_tasks import STOP_SECONDS, BackgroundTasks
from ...config import GlobalSettings, OperatorPolicy
from ...errors import Conflict, ForbiddenByOperator, HdspAgentError, InvalidInput, NotFound
from ...tools import McpOffer
from ._allowed_servers import is_allowed
from ._choices import ServerChoice, ServerChoices, ToolChoice
from ._config_files import ConfigFile
from ._connection import Connection, ConnectionNeeds
from ._imports import imported_servers
from ._listing import ServerTool
from ._oauth import LOGIN_SECONDS, AskLogin, Logins
from ._offers import offer_of
from ._saved_secrets import SavedSecrets, SecretPlace, login_names, take_secrets
from ._server_config import MOST_SECONDS, ServerConfig, Source, server_config
from ._server_state import ServerState
from ._variables import FilledEntry, FilledOAuth, filled, secret_names

if TYPE_CHECKING:
    import httpx2

__all__ = ["Imported", "McpHub"]

logger = logging.getLogger(__name__)

_WATCH_SECONDS: Final = 1.0
_CONNECT_SECONDS: Final = 60.0
"""A program that is fetched before it starts takes a while."""
_MOST_LISTED: Final = 1_000


@dataclass(frozen=True)
class Imported:
    """What came of adding servers."""

    added: tuple[str, ...]
    replaced: tuple[str, ...]
    secrets: tuple[str, ...]
    """The keys that were taken out of the text, by the names they are kept under."""


class _Person:
    """What there is for one person."""

    def __init__(self, secrets: SavedSecrets) -> None:
        self.logins: Final = Logins(secrets)
        self.connections: dict[str, Connection] = {}
        self.offers: dict[Path, McpOffer] = {}
        """As they were made last, by folder; gone when anything changes."""


class McpHub:
    """Nothing is read or started before somebody needs it. Each method with a ``folder`` means the servers as seen from there."""

    def __init__(
        self,
        home: Path,
        *,
        policy: Callable[[], OperatorPolicy],
        settings: Callable[[], GlobalSettings],
        secrets: SecretPlace,
        trusted: Callable[[Path], Path | None],
        workspace: Path,
        person: str,
    ) -> None:
        """``trusted`` says where a trusted folder really is, and None of others; it may block.

        ``person`` is whose servers are meant where nobody is named.
        """
        self._policy = policy
        self._settings = settings
        self._secrets = SavedSecrets(secrets)
        self._trusted = trusted
        self._workspace = workspace
        self.person: Final = person
        self._own: Final = ConfigFile("global", home)
        self._folders: dict[Path, ConfigFile] = {}
        self._real: dict[Path, Path | None] = {}
        """Where the folders that were asked about really are; None for one that is not trusted."""
        self._were_trusted: dict[Path, Path] = {}
        """Where those really are that were trusted once: they have the connections they had."""
        self._choices: Final = ServerChoices(home)
        self._people: dict[str, _Person] = {}
        self._looking = asyncio.Lock()
        self._held = BackgroundTasks()
        self._watcher: asyncio.Task[None] | None = None
        self._stopping = False
        self.on_changed: Callable[[str], None] = lambda owner: None
        """Told whose servers are in another state now."""

    # ---- life

    async def stop(self) -> None:
        """End all connections and servers."""
        self._stopping = True
        if self._watcher is not None:
            self._watcher.cancel()
            await asyncio.wait([self._watcher])
        connections = [one for person in self._people.values() for one in person.connections.values()]
        await asyncio.gather(*(connection.stop() for connection in connections))
        await asyncio.gather(
            self._held.drain(STOP_SECONDS), *(person.logins.drain(STOP_SECONDS) for person in self._people.values())
        )

    # ---- what there is

    @property
    def is_on(self) -> bool:
        """Whether servers are used at all."""
        return self._settings().mcp_enabled and not self._stopping

    def files(self, folder: Path) -> list[ConfigFile]:
        """The files that count as seen from a folder, as they were last looked at."""
        own = self._real.get(folder)
        return [self._own, *([self._folders[own]] if own in self._folders else ())]

    def is_trusted(self, folder: Path) -> bool:
        """Whether the folder's own file counts, as it was last looked at."""
        return self._real.get(folder) is not None

    def states(self, owner: str, folder: Path) -> list[ServerState]:
        """All servers, as far as is known without looking."""
        person = self._person(owner)
        return [self._state(person, config) for config in self._configs(folder)]

    def state(self, owner: str, folder: Path, name: str, source: Source | None = None) -> ServerState:
        """One of them. Raises NotFound."""
        for state in self.states(owner, folder):
            if state.config.name == name and source in (None, state.config.source):
                return state
        raise NotFound(f"There is no MCP server {name[:100]}.", field="serverName")

    def logins(self, owner: str) -> Logins:
        """The log-ins of a person."""
        return self._person(owner).logins

    def offer(self, owner: str | None, folder: Path) -> McpOffer:
        """What the model may use; the same object as long as nothing changes."""
        if not self.is_on:
            return _NOTHING
        owner = owner or self.person
        offers = self._person(owner).offers
        if folder not in offers:
            offers[folder] = offer_of(self.states(owner, folder))
        return offers[folder]

    async def look(self, owner: str, folder: Path) -> None:
        """Read the files again, and let go of what is gone from them."""
        async with self._looking:
            await asyncio.to_thread(self._read, folder)
        self._sync(owner, folder)
        if self._watcher is None and not self._stopping:
            self._watcher = asyncio.create_task(self._watch(), name="hdsp-agent MCP files")

    async def prepare(self, owner: str, folder: Path, seconds: float) -> None:
        """See that the servers are connected that a conversation uses; for those that take longer nobody waits."""
        if not self.is_on:
            return
        await self.look(owner, folder)
        started = self.start(owner, folder)
        unseen = [one for one in started if one.status == "connecting"]
        if unseen:
            waiting = [asyncio.create_task(one.settled()) for one in unseen]
            await asyncio.wait(waiting, timeout=seconds)
            for task in waiting:
                task.cancel()
        await self._take_allowed(owner, folder)

    def start(self, owner: str, folder: Path) -> list[Connection]:
        """Begin to connect to all servers that may be; those connections."""
        if not self.is_on:
            return []
        person = self._person(owner)
        connections: list[Connection] = []
        for state in self.states(owner, folder):
            if state.is_usable:
                connection = self._connection(person, owner, state.config)
                connection.start()
                connections.append(connection)
        return connections

    # ---- what people do

    async def restart(self, owner: str, folder: Path, name: str, source: Source) -> None:
        """Connect to a server anew. Raises NotFound, ForbiddenByOperator, Conflict."""
        await self.look(owner, folder)
        await self._usable(owner, folder, name, source).restart()

    async def restart_all(self, owner: str, folder: Path) -> None:
        """Read the files again, and connect to all servers anew."""
        await self.look(owner, folder)
        if self.is_on:
            usable = [state.config for state in self.states(owner, folder) if state.is_usable]
            person = self._person(owner)
            await asyncio.gather(*(self._connection(person, owner, config).restart() for config in usable))

    async def switch(self, owner: str, folder: Path, name: str, source: Source, *, disabled: bool) -> None:
        """Switch a server on or off; on is also the yes to one that a folder brings, as it is now."""
        state = await self._looked_up(owner, folder, name, source)
        if state.is_forbidden and not disabled:
            raise _forbidden(name)
        await self._choose(state.config, lambda choice: choice.model_copy(update={"disabled": disabled}))
        self._changed(owner)
        self._sync(owner, folder)
        if not disabled:
            self.start(owner, folder)

    async def set_timeout(self, owner: str, folder: Path, name: str, source: Source, seconds: float) -> None:
        """How long calls may take from now on."""
        if not 1 <= seconds <= MOST_SECONDS:
            raise InvalidInput(f"The time limit is 1 to {MOST_SECONDS} seconds.", field="timeout")
        state = await self._looked_up(owner, folder, name, source)
        await self._choose(state.config, lambda choice: choice.model_copy(update={"timeout": seconds}))
        self._changed(owner)

    async def enable_tool(
        self, owner: str, folder: Path, name: str, source: Source, tool: str, *, enabled: bool
    ) -> None:
        """Offer a tool to the model, or do not."""
        state = await self._looked_up(owner, folder, name, source)
        _tool_of(state, tool)
        await self._choose(state.config, lambda choice: _with_tool(choice, tool, enabled=enabled))
        self._changed(owner)

    async def allow_tool(
        self,
        owner: str,
        folder: Path,
        name: str,
        source: Source,
        tool: str,
        *,
        always: bool,
        shown: str | None = None,
    ) -> None:
        """Allow a tool once and for all, as it is now; or ask about it again. Raises Conflict if it is not the one whose
        fingerprint was ``shown``."""
        state = await self._looked_up(owner, folder, name, source)
        found = _tool_of(state, tool)
        if always and shown not in (None, state.fingerprint(found)):
            raise Conflict(
                f"The tool {tool[:100]} has changed since it was shown. Look at it again.", changed_tool=tool[:100]
            )
        enabled = state.is_enabled(found)
        allowed = found.fingerprint if always else None
        await self._choose(
            state.config, lambda choice: _with_tool(choice, tool, enabled=enabled, allowed=allowed, decided=True)
        )
        self._changed(owner)

    async def delete(self, owner: str, folder: Path, name: str, source: Source) -> None:
        """Take a server out of its file, and forget its keys and all that was chosen about it."""
        state = await self._looked_up(owner, folder, name, source)
        config = state.config
        file = next(one for one in self.files(folder) if one.source == config.source)

        def remove() -> None:
            file.remove(config.name)
            self._choices.forget(config)

        async with self._looking:
            await asyncio.to_thread(remove)
        self._changed(owner)
        self._sync(owner, folder)
        await self._person(owner).logins.log_out(config)
        if config.source == "global":
            used = {name for one in self._own.servers for name in secret_names(one.entry)}
            await self._secrets.forget_keys(name for name in secret_names(config.entry) if name not in used)

    async def add(
        self, owner: str, folder: Path, text: str, *, name: str | None, replace_old: bool, keep_secrets: bool
    ) -> Imported:
        """Add servers to the person's own file. Raises InvalidInput, Conflict, ForbiddenByOperator, SecretStorageUnavailable."""
        servers = imported_servers(text, name)
        keys: dict[str, Mapping[str, str]] = {}
        written: dict[str, JsonValue] = {}
        for server, entry in servers.items():
            written[server], keys[server] = (entry, {}) if keep_secrets else take_secrets(server, entry)
            config = server_config(server, "global", None, written[server])
            if config.problem is not None:
                raise InvalidInput(f"{server[:100]}: {config.problem}", field="text")
            if self._forbids(config):
                raise _forbidden(server)
        await self.look(owner, folder)
        known = {config.name for config in self._own.servers}
        replaced = tuple(server for server in written if server in known)
        if replaced and not replace_old:
            raise Conflict(
                f"There is an MCP server {replaced[0]} already. Choose another name, or replace it.", field="name"
            )
        for server, found in keys.items():
            await self._secrets.keep_keys(server_config(server, "global", None, written[server]), found)
        async with self._looking:
            await asyncio.to_thread(self._own.change, lambda present: present.update(written))
        self._changed(owner)
        self._sync(owner, folder)
        secrets = tuple(kept for found in keys.values() for kept in found)
        return Imported(tuple(one for one in written if one not in known), replaced, secrets)

    async def log_in(self, owner: str, folder: Path, name: str, source: Source, redirect_uri: str) -> str:
        """The page at which the person logs in to a server."""
        state = await self._looked_up(owner, folder, name, source)
        if state.config.transport != "streamable-http":
            raise InvalidInput("Only servers with a web address have a log-in.", field="server")
        connection = self._usable(owner, folder, name, source)
        logins = self._person(owner).logins

        def connect() -> None:
            self._held.begin(connection.restart())

        return await logins.begin(state.config, redirect_uri, connect)

    async def log_out(self, owner: str, folder: Path, name: str, source: Source) -> None:
        """Forget the tokens of a server."""
        state = await self._looked_up(owner, folder, name, source)
        await self._person(owner).logins.log_out(state.config)
        if state.connection is not None:
            # Without tokens the server says that it wants a log-in.
            await state.connection.restart()
        self._changed(owner)

    def secret_names(self) -> list[str]:
        """All secrets that are kept for servers, as far as is known."""
        configs = [*self._own.servers, *(config for file in self._folders.values() for config in file.servers)]
        return [
            name
            for config in configs
            for name in (
                *(secret_names(config.entry) if config.source == "global" else ()),
                *(login_names(config) if config.entry.url else ()),
            )
        ]

    # ---- inside

    def _person(self, owner: str) -> _Person:
        if owner not in self._people:
            self._people[owner] = _Person(self._secrets)
        return self._people[owner]

    def _configs(self, folder: Path) -> Iterator[ServerConfig]:
        names: set[str] = set()
        for file in self.files(folder):
            for config in file.servers:
                if config.source == "project" and config.name.casefold() in names:
                    yield replace(config, problem="You have an MCP server of this name yourself. This one is not used.")
                else:
                    yield config
            names |= {config.name.casefold() for config in file.servers}

    def _state(self, person: _Person, config: ServerConfig) -> ServerState:
        connection = person.connections.get(config.key)
        if connection is not None and connection.config != config:
            connection = None
        return ServerState(config, self._choices.of(config), self._forbids(config), connection)

    def _forbids(self, config: ServerConfig) -> bool:
        entry = config.entry
        as_written = FilledEntry(
            entry.command, entry.args, entry.env, entry.cwd, entry.url, entry.headers, FilledOAuth(), frozenset()
        )
        return not is_allowed(as_written, self._policy().allowed_mcp_servers)

    async def _looked_up(self, owner: str, folder: Path, name: str, source: Source) -> ServerState:
        await self.look(owner, folder)
        return self.state(owner, folder, name, source)

    def _usable(self, owner: str, folder: Path, name: str, source: Source) -> Connection:
        state = self.state(owner, folder, name, source)
        if state.is_forbidden:
            raise _forbidden(name)
        if not self.is_on:
            raise Conflict("MCP servers are switched off in the settings.")
        if state.config.problem is not None:
            raise Conflict(state.config.problem)
        if state.is_disabled:
            raise Conflict(f"The MCP server {name} is switched off. Switch it on first.")
        return self._connection(self._person(owner), owner, state.config)

    def _connection(self, person: _Person, owner: str, config: ServerConfig) -> Connection:
        found = person.connections.get(config.key)
        if found is not None and found.config == config:
            return found
        if found is not None:
            self._held.begin(found.stop())
        needs = ConnectionNeeds(
            fill=self._fill,
            auth=lambda server, entry, ask: self._auth(person, server, entry, ask),
            timeout=lambda server: self._state(person, server).timeout,
            connect_seconds=lambda server: self._connect_seconds(person, server),
            on_failed=person.logins.give_up,
            on_changed=lambda: self._changed(owner),
            most_listed=_MOST_LISTED,
        )
        made = person.connections[config.key] = Connection(config, config.folder or self._workspace, needs)
        return made

    async def _fill(self, config: ServerConfig) -> FilledEntry:
        entry = await filled(
            config.entry,
            config.folder or self._workspace,
            lambda name: self._key(config, name),
            own_environment=config.source == "global",
        )
        # As it is used, too: a variable may stand for anything.
        if not is_allowed(entry, self._policy().allowed_mcp_servers):
            raise _forbidden(config.name)
        return entry

    async def _key(self, config: ServerConfig, name: str) -> str | None:
        """A key of the person's own servers. A folder knows none: it could name one that was given for the same address."""
        return await self._secrets.key(config, name) if config.source == "global" else None

    async def _auth(
        self, person: _Person, config: ServerConfig, entry: FilledEntry, ask: AskLogin
    ) -> httpx2.Auth | None:
        if entry.url is None or any(name.lower() == "authorization" for name in entry.headers):
            return None
        return await person.logins.auth(config, entry, ask)

    def _connect_seconds(self, person: _Person, config: ServerConfig) -> float:
        if person.logins.is_under_way(config):
            return LOGIN_SECONDS
        return max(_CONNECT_SECONDS, self._state(person, config).timeout)

    async def _choose(self, config: ServerConfig, work: Callable[[ServerChoice], ServerChoice]) -> None:
        async with self._looking:
            await asyncio.to_thread(self._choices.change, config, work)

    async def _take_allowed(self, owner: str, folder: Path) -> None:
        """What the person's own file allows holds for the tools as they are when they are first seen."""
        for state in self.states(owner, folder):
            unseen = state.unseen_allowed()
            if unseen:
                await self._choose(state.config, lambda choice, tools=unseen: _with_allowed(choice, tools))  # type: ignore[misc]
                self._changed(owner)

    def _changed(self, owner: str) -> None:
        self._person(owner).offers.clear()
        self.on_changed(owner)

    def _sync(self, owner: str, folder: Path) -> None:
        """Let go of connections that are not as their files say now, of those that this folder sees."""
        person = self._person(owner)
        usable = {state.config.key: state.config for state in self.states(owner, folder) if state.is_usable}
        own = self._were_trusted.get(folder)
        for key, connection in list(person.connections.items()):
            seen = connection.config.source == "global" or connection.config.folder == own
            if seen and (not self.is_on or usable.get(key) != connection.config):
                del person.connections[key]
                self._held.begin(connection.stop())
                self._changed(owner)

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(_WATCH_SECONDS)
            with contextlib.suppress(HdspAgentError):
                await self._look_around()

    async def _look_around(self) -> None:
        """Look at all files that were looked at before."""
        async with self._looking:
            changed = await asyncio.to_thread(lambda: [folder for folder in list(self._real) if self._read(folder)])
        for owner in list(self._people):
            for folder in changed:
                self._changed(owner)
                self._sync(owner, folder)
            if not self.is_on and self._people[owner].connections:
                for folder in list(self._real):
                    self._sync(owner, folder)

    def _read(self, folder: Path) -> bool:
        """Whether anything is different. Blocks."""
        real = self._trusted(folder)
        changed = folder not in self._real or self._real[folder] != real
        self._real[folder] = real
        changed = self._own.look() or changed
        changed = self._choices.look() or changed
        if real is not None:
            self._were_trusted[folder] = real
            if real not in self._folders:
                self._folders[real] = ConfigFile("project", real)
            changed = self._folders[real].look() or changed
        return changed


_NOTHING: Final = McpOffer()


def _forbidden(name: str) -> ForbiddenByOperator:
    return ForbiddenByOperator(
        f"Your administrator does not allow the MCP server {name[:100]}.", field="serverName", server=name[:100]
    )


def _tool_of(state: ServerState, name: str) -> ServerTool:
    for tool in state.listing.tools:
        if tool.name == name:
            return tool
    raise NotFound(
        f"The MCP server {state.config.name} has no tool {name[:100]}, or is not connected.", field="toolName"
    )


def _with_tool(choice: ServerChoice, tool: str, **changes: object) -> ServerChoice:
    chosen = choice.tools.get(tool, ToolChoice()).model_copy(update=changes)
    return choice.model_copy(update={"tools": {**choice.tools, tool: chosen}})


def _with_allowed(choice: ServerChoice, tools: Sequence[ServerTool]) -> ServerChoice:
    for tool in tools:
        if not choice.tools.get(tool.name, ToolChoice()).decided:
            choice = _with_tool(choice, tool.name, allowed=tool.fingerprint, decided=True)
    return choice
