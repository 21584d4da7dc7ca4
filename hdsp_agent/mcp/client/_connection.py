"""The connection to one server for one person: opened when it is needed, told of what happens to it, and ended as a whole."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, TypeVar

from ..._timeouts import wait_at_most
from ...config import keys_in_use
from ...errors import HdspAgentError, Unavailable
from ...messages import JsonObject
from ._active_calls import ActiveCall, ActiveCalls, Elicit, Progressed
from ._listing import Listing, listing_of
from ._oauth import AskLogin, LoginNeeded
from ._server_config import ServerConfig
from ._server_log import ServerLog
from ._variables import FilledEntry

if TYPE_CHECKING:
    import httpx2
    from mcp.client.session import ClientRequestContext
    from mcp_types import CallToolResult, ElicitRequestParams, ElicitResult, GetPromptResult, ReadResourceResult

    from ._session import Era, ServerSession, SessionParts

__all__ = ["Connection", "ConnectionNeeds", "ConnectionStatus"]

ConnectionStatus: TypeAlias = Literal["connected", "connecting", "disconnected"]
T = TypeVar("T")

_REFRESH_SECONDS: Final = 1.0
"""How often what it lists is looked at anew at the most."""
_LONGEST_PAUSE_SECONDS: Final = 300.0
_MOST_AT_ONCE: Final = 8


@dataclass(frozen=True)
class ConnectionNeeds:
    """What a connection asks of the hub."""

    fill: Callable[[ServerConfig], Awaitable[FilledEntry]]
    """The entry as it is used. Raises why it may not or cannot be."""
    auth: Callable[[ServerConfig, FilledEntry, AskLogin], Awaitable[httpx2.Auth | None]]
    """What logs in, for a remote server."""
    timeout: Callable[[ServerConfig], float]
    """How long a call may take without a sign of life."""
    connect_seconds: Callable[[ServerConfig], float]
    on_failed: Callable[[ServerConfig], None]
    on_changed: Callable[[], None]
    """Its state, or what it lists, is another."""
    most_listed: int


class Connection:
    """One server. Nothing happens before ``start``."""

    def __init__(self, config: ServerConfig, folder: Path, needs: ConnectionNeeds) -> None:
        self.config: Final = config
        self.log: Final = ServerLog()
        self.status: ConnectionStatus = "disconnected"
        self.error: str | None = None
        self.wants_login = False
        self.listing = Listing()
        """What it lists, or listed when it was last there."""
        self._folder = folder
        self._needs = needs
        self._session: ServerSession | None = None
        self._running: asyncio.Task[None] | None = None
        self._settled = asyncio.Event()
        self._settled.set()
        self._changed = asyncio.Event()
        self._calls = ActiveCalls()
        self._slots = asyncio.Semaphore(_MOST_AT_ONCE)
        self._failures = 0
        self._failed_at = 0.0
        self._era: Era = "auto"
        self._refused: int | None = None

    # ---- life

    def start(self, *, now: bool = False) -> None:
        """Connect, unless it is or does. One that failed is left alone for a while, unless it is to be ``now``."""
        if self._running is not None and not self._running.done():
            return
        # The first time may have been an accident.
        pause = min(2.0 ** max(0, self._failures - 1) - 1, _LONGEST_PAUSE_SECONDS)
        if not now and self._failures and monotonic() - self._failed_at < pause:
            return
        self._settled.clear()
        self._become("connecting")
        self._running = asyncio.create_task(self._run(), name=f"MCP server {self.config.name}")

    async def settled(self) -> None:
        """Return when it is connected, or cannot be."""
        await self._settled.wait()

    async def stop(self) -> None:
        """Disconnect, and end the server if it is a process."""
        running, self._running = self._running, None
        if running is not None:
            running.cancel()
            await asyncio.wait([running])
            if not running.cancelled():
                # Whatever went wrong while it ended is nobody's concern any more.
                running.exception()
        self._become("disconnected", None)
        self._settled.set()

    async def restart(self) -> None:
        """Connect anew at once."""
        await self.stop()
        self._failures = 0
        self.start(now=True)

    # ---- use

    async def call(
        self, tool: str, arguments: JsonObject, *, progressed: Progressed | None = None, elicit: Elicit | None = None
    ) -> CallToolResult:
        """Use a tool. Raises Unavailable saying what went wrong."""

        async def use(session: ServerSession, call: ActiveCall) -> CallToolResult:
            return await session.client.call_tool(tool, arguments, progress_callback=call.progress)

        return await self._use(use, progressed, elicit)

    async def read(self, uri: str, *, elicit: Elicit | None = None) -> ReadResourceResult:
        """Read a resource. Raises Unavailable."""
        return await self._use(lambda session, _: session.client.read_resource(uri), None, elicit)

    async def prompt(self, name: str, arguments: dict[str, str]) -> GetPromptResult:
        """A message that is written already. Raises Unavailable."""
        return await self._use(lambda session, _: session.client.get_prompt(name, arguments), None, None)

    async def _use(
        self,
        work: Callable[[ServerSession, ActiveCall], Awaitable[T]],
        progressed: Progressed | None,
        elicit: Elicit | None,
    ) -> T:
        async with self._slots:
            try:
                return await self._used(work, progressed, elicit)
            except _SessionTerminated:
                # It forgot us, as one does that was started anew: nothing was done.
                await self.restart()
                return await self._used(work, progressed, elicit)

    async def _used(
        self,
        work: Callable[[ServerSession, ActiveCall], Awaitable[T]],
        progressed: Progressed | None,
        elicit: Elicit | None,
    ) -> T:
        session = await self._open_session()
        seconds = self._needs.timeout(self.config)
        call = ActiveCall(seconds, progressed, elicit)
        try:
            async with self._calls.running(call):
                return await work(session, call)
        except TimeoutError:
            raise Unavailable(
                f"The MCP server {self.config.name} did not answer within {seconds:g} seconds. Whether it did something is "
                "not known."
            ) from None
        except HdspAgentError:
            raise
        except Exception as error:
            raise self._failed_use(error) from error

    async def _open_session(self) -> ServerSession:
        self.start()
        await self.settled()
        session = self._session
        if session is None:
            raise Unavailable(f"The MCP server {self.config.name} is not connected. {self.error or ''}".strip())
        return session

    def _failed_use(self, error: Exception) -> Exception:
        from ._session import is_closed, reason_of

        reason = reason_of(error)
        if reason == "ServerSession terminated." and self.config.transport == "streamable-http":
            return _SessionTerminated()
        if is_closed(error):
            if self.config.transport == "streamable-http":
                self._changed.set()
            ended = f" {self._session.reason}" if self._session is not None and self._session.reason else ""
            return Unavailable(
                f"The connection to the MCP server {self.config.name} was lost: {reason}{ended} Whether it did something is "
                "not known."
            )
        return Unavailable(f"The MCP server {self.config.name} answered with an error: {reason}")

    # ---- the connection itself

    async def _run(self) -> None:
        try:
            await self._connected_until_the_end()
        except asyncio.CancelledError:
            raise
        except HdspAgentError as error:
            self._failed(error.message)
        except Exception as error:  # noqa: BLE001 -- a broken server costs only itself, however it is broken
            self._failed(self._why(error))
        finally:
            self._session = None
            self._settled.set()

    async def _connected_until_the_end(self) -> None:
        # The SDK takes most of a second to load.
        room = await asyncio.to_thread(import_module, "hdsp_agent.mcp.client._session")
        entry = await self._needs.fill(self.config)
        keys_in_use.add(*entry.secrets)
        parts: SessionParts = room.SessionParts(
            entry=entry,
            folder=self._folder,
            log=self.log,
            elicit=self._elicit,
            on_changed=self._changed.set,
            on_status=self._note_status,
            auth=await self._needs.auth(self.config, entry, self._ask_login),
        )
        try:
            async with self._opened(parts, self._era) as session:
                await self._stay(session)
        except Exception as error:
            if (
                self._era == "legacy"
                or entry.url is not None
                or self.status == "connected"
                or not room.is_closed(error)
            ):
                raise
            # Some older servers end when they are asked for anything before the handshake they know.
            self.log.agent(
                "It ended when it was asked which version it speaks. It is started again as an older server."
            )
            self._era = "legacy"
            async with self._opened(parts, self._era) as session:
                await self._stay(session)

    @asynccontextmanager
    async def _opened(self, parts: SessionParts, era: Era) -> AsyncIterator[ServerSession]:
        from ._session import connected

        async with AsyncExitStack() as stack:
            async with asyncio.timeout(self._needs.connect_seconds(self.config)):
                session = await stack.enter_async_context(connected(parts, era))
                self._take(await listing_of(session.client, self._needs.most_listed))
            yield session

    async def _stay(self, session: ServerSession) -> None:
        """Stay connected until the server is gone, or somebody cancels this."""
        self._session = session
        self._failures, self.wants_login, self._refused = 0, False, None
        self._changed.clear()
        self._become("connected", None)
        self._settled.set()
        listening = asyncio.create_task(_listened(session), name=f"Changes of MCP server {self.config.name}")
        ended = asyncio.create_task(_over(session), name=f"End of MCP server {self.config.name}")
        changed = asyncio.create_task(self._changed.wait(), name=f"Changed list of MCP server {self.config.name}")
        try:
            while not ended.done():
                await asyncio.wait([changed, ended], return_when=asyncio.FIRST_COMPLETED)
                if changed.done():
                    await self._refresh(session)
                    changed = asyncio.create_task(self._changed.wait(), name=changed.get_name())
        finally:
            self._session = None
            tasks = (listening, ended, changed)
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
        raise Unavailable(session.reason or "It ended.")

    async def _refresh(self, session: ServerSession) -> None:
        """Look at what it lists now. Raises what shows that it is gone."""
        await asyncio.sleep(_REFRESH_SECONDS)
        self._changed.clear()
        before = self.listing
        listing = listing_of(session.client, self._needs.most_listed)
        self._take(await wait_at_most(listing, self._needs.connect_seconds(self.config)))
        if self.listing != before:
            self.log.agent("What it lists has changed.")
            self._needs.on_changed()

    def _take(self, listing: Listing) -> None:
        for sentence in listing.left_out[:20]:
            self.log.agent(sentence)
        self.listing = listing

    # ---- what the server does by itself

    async def _elicit(self, _: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        from mcp_types import ElicitResult

        call = self._calls.asking()
        if call is None:
            self.log.agent("It asked something that belongs to no call, or to one of several. Nobody was asked.")
            return ElicitResult(action="cancel")
        return await call.ask(params)

    async def _ask_login(self, page: str) -> bool:
        """The server wants more than the log-in there is: whoever is at the call that needs it can give that."""
        from mcp_types import ElicitRequestURLParams

        call = self._calls.asking()
        if call is None:
            return False
        message = "For this, it needs you to log in again."
        return (await call.ask(ElicitRequestURLParams(message=message, url=page))).action == "accept"

    def _note_status(self, status: int) -> None:
        if status in (401, 403):
            self._refused = status

    # ---- state

    def _failed(self, why: str) -> None:
        self._failures = min(self._failures + 1, 20)
        self._failed_at = monotonic()
        self._needs.on_failed(self.config)
        self.log.agent(why)
        self._become("disconnected", why)

    def _why(self, error: Exception) -> str:
        from ._session import innermost, reason_of

        found = innermost(error)
        if isinstance(found, TimeoutError):
            return "It did not answer in time."
        if isinstance(found, HdspAgentError) and not isinstance(found, LoginNeeded):
            return found.message
        if isinstance(found, LoginNeeded) or self._refused == 401:
            self.wants_login = not self.config.entry.headers
            return "This server wants you to log in." if self.wants_login else "This server refuses its key."
        if self._refused == 403:
            return "This server refuses access. Check its key."
        said = self.log.last if self.config.transport == "stdio" else None
        return f"{reason_of(error)} It wrote: {said}" if said else reason_of(error)

    def _become(self, status: ConnectionStatus, error: str | None = None) -> None:
        if (status, error) != (self.status, self.error):
            self.status, self.error = status, error
            self._needs.on_changed()


class _SessionTerminated(Exception):
    """The server does not know us any more, and has done nothing."""


async def _over(session: ServerSession) -> None:
    if session.ended is None:
        await asyncio.Event().wait()
    else:
        await session.ended.wait()


async def _listened(session: ServerSession) -> None:
    """Be told of changes where a server has to be asked for that. What it tells comes as any other message does."""
    from mcp_types.version import MODERN_PROTOCOL_VERSIONS

    client = session.client
    if client.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        return
    can = client.server_capabilities
    with contextlib.suppress(Exception):
        # Without it the list is as it was; a call that fails because of that says so.
        async with client.listen(
            tools_list_changed=can.tools is not None,
            prompts_list_changed=can.prompts is not None,
            resources_list_changed=can.resources is not None,
        ) as changes:
            async for _ in changes:
                pass
