"""One call of a program: counted, reported on while it runs, and ended with whoever asked for it."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Coroutine, Sequence
from typing import Final, TypeVar

import anyio
import mcp_types as types
from mcp.shared.exceptions import MCPError

from ..._background_tasks import BackgroundTasks
from ...agent.external.port import ExternalAgents, OfferedTool, ResourceContent
from ...errors import HdspAgentError
from ...messages import JsonObject
from ..connection_check import CHECK_NAME
from ._call_limits import CallLimits
from ._call_progress import CallClock, CallProgress
from ._client_info import Context, caller_of, client_of
from ._content import as_result, error_result
from ._elicitation import asker

__all__ = ["ToolCaller"]

T = TypeVar("T")

logger = logging.getLogger(__name__)

_END_SECONDS: Final = 10.0
"""How long a cancelled call may take to withdraw its question and interrupt its cell."""


class ToolCaller:
    """Passes calls on to the engine."""

    def __init__(self, agents: ExternalAgents, limits: CallLimits, clock: CallClock) -> None:
        self._agents = agents
        self._limits = limits
        self._clock = clock
        self._ending: set[asyncio.Task[object]] = set()

    async def offered(self, context: Context) -> list[OfferedTool]:
        """What this caller may call. Every program asks for it first, so from now on it counts as connected."""
        client, may_write = client_of(context), caller_of(context).may_write
        if client.name != CHECK_NAME:
            self._agents.connect(client)
        return [tool for tool in await self._agents.tools(client) if may_write or tool.read_only]

    async def call(self, context: Context, name: str, arguments: JsonObject) -> types.CallToolResult:
        """The result. What the engine refuses is told to the model; only an unknown tool is an error of the protocol."""
        client, caller = client_of(context), caller_of(context)
        tool = next((each for each in await self._agents.tools(client) if each.name == name), None)
        if tool is None:
            raise MCPError(types.INVALID_PARAMS, f"There is no tool {name}.")
        if not tool.read_only and not caller.may_write:
            return error_result(f"You may look at things on this server but not change them, so {name} is not allowed.")
        try:
            with self._limits.counted(caller.owner):
                progress, taken_back = self._progress(context), BackgroundTasks()
                ask = asker(context, taken_back) if client.can_ask else None
                call = self._agents.call(client, name, arguments, progress.tell, ask)
                return as_result(await self._reported(context, progress, call, taken_back))
        except HdspAgentError as error:
            return error_result(error.message)
        except Exception:
            reference = secrets.token_hex(4)
            logger.exception("HDSP Agent: the tool %s failed for another agent, reference %s", name, reference)
            return error_result(f"Something went wrong on the server. Its log has the details under {reference}.")

    async def read(self, context: Context, uri: str) -> Sequence[ResourceContent]:
        """What stands at an address. The person may be asked about it, as about any call."""
        with self._limits.counted(caller_of(context).owner):
            reading = self._agents.read_resource(client_of(context), uri)
            return await self._reported(context, self._progress(context), reading)

    def _progress(self, context: Context) -> CallProgress:
        return CallProgress(lambda count, text: context.session.report_progress(count, message=text), self._clock)

    async def _reported(
        self,
        context: Context,
        progress: CallProgress,
        doing: Coroutine[object, object, T],
        taken_back: BackgroundTasks | None = None,
    ) -> T:
        # A task of its own: the SDK cancels again at every await, and the engine's clean-up has to await.
        work = asyncio.ensure_future(doing)
        reports = asyncio.ensure_future(progress.run())
        gone = asyncio.ensure_future(caller_of(context).closed.wait())
        try:
            await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            reports.cancel()
            gone.cancel()
            await self._ended(work)
            if taken_back is not None:
                # After the result nothing more is told on its stream. Who does not read this does not read that, either.
                with anyio.move_on_after(_END_SECONDS, shield=True):
                    await taken_back.drain()
        return work.result()

    async def _ended(self, work: asyncio.Task[T]) -> None:
        if work.done():
            return
        work.cancel()
        self._ending.add(work)
        work.add_done_callback(self._ending.discard)
        with anyio.move_on_after(_END_SECONDS, shield=True):
            await asyncio.wait({work})
        if not work.done():
            logger.error(
                "HDSP Agent: a call of another agent did not end within %s seconds of being cancelled", _END_SECONDS
            )
