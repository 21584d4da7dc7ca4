"""The work on another agent's conversation: its calls as they arrive, in the place of what a model wants done."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, cast

from pydantic import JsonValue

from ..._background_tasks import BackgroundTasks
from ...errors import HdspAgentError, Unavailable
from ...messages import JsonObject
from ...tools import ToolResult
from ..conversation.conversation import masked_json, sound_text
from ..task.outcomes import Outcome
from ..task.tool_calls import Call
from .calls import GivenResult, ProgramCalls, ProgramContact

if TYPE_CHECKING:
    from ..conversation.user_input import PendingUserInput
    from ..task.task_state import TaskState

__all__ = ["MOST_WAITING", "ArrivedCall", "CallDone", "CallEnded", "ExternalLoop"]

MOST_WAITING: Final = 100
"""Calls of one program that have arrived and are not done."""

_STOPPED: Final = "The person stopped this call in JupyterLab before it was done. Ask them what to do instead."
_STOPPED_BY_ADMINISTRATOR: Final = (
    "An administrator stopped this call before it was done. Ask the person what to do instead."
)
_PUT_ASIDE: Final = (
    "This call was ended before it was done, because its conversation was put aside. Look at what it was to change before "
    "you repeat it."
)
_GIVEN_UP: Final = "The program gave this call up before it was done."
_BESIDE: Final = frozenset({"wait_run"})
"""Tools that change nothing themselves, though they are no mere reading: they wait for nobody."""


class CallEnded(Exception):
    """A call was never begun: nobody works on its conversation any more."""


@dataclass(frozen=True)
class CallDone:
    """What a program gets: the result, and what the person has said to it meanwhile."""

    given: GivenResult
    handed: list[JsonObject]


@dataclass(eq=False)
class ArrivedCall:
    """A call on its way. ``done`` gets what came of it, or CallEnded."""

    call: Call
    contact: ProgramContact
    done: asyncio.Future[CallDone] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    given_up: bool = False
    """Whether the program does not want it any more."""

    def end(self, why: ToolResult) -> None:
        """It was ended before it was done."""
        if not self.done.done():
            text: list[JsonObject] = [{"type": "text", "text": str(why.content)}]
            self.done.set_result(CallDone(GivenResult(text, why), []))

    def fail(self, error: Exception) -> None:
        """Nobody can say anything of it but this."""
        if not self.done.done():
            self.done.set_exception(error)
            # Whoever waits may be gone.
            self.done.exception()


class ExternalLoop:
    """Does what one program calls: what only reads side by side, all else in the order in which it came."""

    def __init__(
        self, state: TaskState, user_input: PendingUserInput, calls: Callable[[ProgramContact], ProgramCalls]
    ) -> None:
        self._state = state
        self._user_input = user_input
        self._calls = calls
        self._waiting: deque[ArrivedCall] = deque()
        self._working: dict[ArrivedCall, asyncio.Task[None]] = {}
        self._arrived = asyncio.Event()
        self._in_order = asyncio.Lock()
        self._handing = asyncio.Lock()
        self._failure: Exception | None = None
        self._syncing: asyncio.Task[None] | None = None
        self._held = BackgroundTasks()
        self._closed = False
        self.is_attached = False
        """Whether a program that may call again is known."""

    # ---- for who brings calls

    @property
    def is_busy(self) -> bool:
        """Whether a call is under way, or waits."""
        return bool(self._working or self._waiting)

    def attach(self, attached: bool) -> None:
        """A program may call, or does not any more."""
        self.is_attached = attached
        self._settle_status()

    def submit(self, name: str, arguments: JsonObject, contact: ProgramContact) -> ArrivedCall:
        """Have this done. Raises Unavailable where too much waits already, CallEnded where nobody works any more."""
        if self._closed:
            raise CallEnded
        if len(self._waiting) + len(self._working) >= MOST_WAITING:
            raise Unavailable(f"{MOST_WAITING} calls are under way already. Wait until some are done.")
        # Masked as it is kept: what was masked when it was told is put back only if a person approves that.
        masked = masked_json(cast("JsonValue", arguments), self._state.conversation.masker)
        text = sound_text(json.dumps(masked, ensure_ascii=False))
        arrived = ArrivedCall(Call(f"call_{uuid.uuid4().hex[:24]}", name, text), contact)
        self._waiting.append(arrived)
        self._arrived.set()
        return arrived

    async def give_up(self, arrived: ArrivedCall) -> None:
        """The program does not want this call any more: it is stopped, and no cell that it began goes on."""
        arrived.given_up = True
        with suppress(ValueError):
            self._waiting.remove(arrived)
        working = self._working.get(arrived)
        if working is not None:
            working.cancel()
            await asyncio.wait({working})

    def close(self) -> None:
        """Nobody works any more: who waits for a call hears of it."""
        self._closed = True
        while self._waiting:
            self._waiting.popleft().fail(CallEnded())

    # ---- the work

    async def run(self, *, spoken: bool) -> Outcome:
        """Do what arrives, for as long as the task is worked on. Raises what keeps it from being recorded."""
        self._failure = None
        try:
            while True:
                self._settle_status()
                await self._arrived.wait()
                self._arrived.clear()
                if self._failure is not None:
                    raise self._failure
                while self._waiting:
                    await self._begin(self._waiting.popleft())
        finally:
            await self._end_all()

    async def _begin(self, arrived: ArrivedCall) -> None:
        """Put a call into the conversation, and begin to do it."""
        state, call = self._state, arrived.call
        await self._synced()
        if not self._working:
            await state.renew()
        block: JsonObject = {"type": "tool_use", "id": call.id, "name": call.name, "input": json.loads(call.arguments)}
        # What changes something is on the disk before it is done: a crash must not hide it.
        durable = not self._is_beside(call.name)
        try:
            await state.conversation.add_api("assistant", [block], durable=durable)
        except asyncio.CancelledError:
            arrived.end(self._why(arrived))
            raise
        except Exception as error:
            arrived.fail(error)
            raise
        work = asyncio.create_task(self._do(arrived), name=f"Call {call.name} of task {state.task_id}")
        self._working[arrived] = work
        work.add_done_callback(lambda _: self._ended(arrived))
        self._settle_status()

    async def _do(self, arrived: ArrivedCall) -> None:
        calls = self._calls(_while_awaited(arrived))
        try:
            async with self._turn(arrived.call.name):
                await calls.run([arrived.call])
            await self._held.finish(self._finish(arrived, calls))
        except asyncio.CancelledError:
            await self._held.finish(self._stopped(arrived, calls))
            raise
        except Exception as error:  # noqa: BLE001 -- the task ends with a word to the person, whatever it was
            self._failure = error
            arrived.fail(error)

    async def _finish(self, arrived: ArrivedCall, calls: ProgramCalls) -> None:
        """The program gets the result, and what the person has said meanwhile: whichever call ends first takes that along."""
        async with self._handing:
            handed = await self._user_input.hand_over()
        await self._state.note_progress()
        self._ended(arrived)
        if calls.given is not None and not arrived.done.done():
            arrived.done.set_result(CallDone(calls.given, handed))

    async def _stopped(self, arrived: ArrivedCall, calls: ProgramCalls) -> None:
        """The call has a result all the same, and whoever waits for it hears why."""
        if calls.given is None:
            why = self._why(arrived)
            try:
                await calls.end(arrived.call, why)
            except HdspAgentError as error:
                self._state.logger.error("How a call of another agent ended could not be recorded: %s", error)
            self._ended(arrived)
            arrived.end(why)
            return
        # It was done just then.
        await calls.settled()
        await self._finish(arrived, calls)

    def _why(self, arrived: ArrivedCall) -> ToolResult:
        """What is said of a call that was ended before it was done."""
        if arrived.given_up:
            return ToolResult(_GIVEN_UP, is_error=True, code="given_up")
        if self._state.stopping:
            return ToolResult(_PUT_ASIDE, is_error=True, code="put_aside")
        stopped = _STOPPED if self._state.stopped_by == "person" else _STOPPED_BY_ADMINISTRATOR
        return ToolResult(stopped, is_error=True, code="stopped")

    @asynccontextmanager
    async def _turn(self, name: str) -> AsyncIterator[None]:
        if self._is_beside(name):
            yield
            return
        async with self._in_order:
            yield

    def _is_beside(self, name: str) -> bool:
        """Whether a call waits for nobody."""
        try:
            return name in _BESIDE or self._state.toolbox.get(name).parallel_safe
        except HdspAgentError:
            return True

    def _ended(self, arrived: ArrivedCall) -> None:
        """Nothing of a call is left to do: whoever hears of its end finds it so."""
        if self._working.pop(arrived, None) is None:
            return
        if self._failure is None and self._syncing is None and not self._closed:
            self._syncing = asyncio.create_task(
                self._state.conversation.log.sync(), name=f"Sync of task {self._state.task_id}"
            )
        self._settle_status()
        self._arrived.set()

    async def _synced(self) -> None:
        """Return when what the calls before recorded is on the disk."""
        syncing, self._syncing = self._syncing, None
        if syncing is not None:
            await asyncio.shield(syncing)

    async def _end_all(self) -> None:
        working = dict(self._working)
        for work in working.values():
            work.cancel()
        if working:
            await asyncio.wait(working.values())
        await self._held.drain()
        if self._failure is None and not self._state.stopping:
            # Whoever stops a program stops all that it wants, not only what has begun.
            while self._waiting:
                arrived = self._waiting.popleft()
                arrived.end(self._why(arrived))
        syncing, self._syncing = self._syncing, None
        if syncing is not None:
            # Another error counts more; whatever the disk refused, the next line is refused, too.
            await asyncio.gather(syncing, return_exceptions=True)

    def _settle_status(self) -> None:
        """What the task is doing, unless it asks something: then that counts."""
        state = self._state
        if state.stopping or state.is_over or state.dialogue.asks.open:
            return
        if self._working:
            state.dialogue.working()
        elif self.is_attached:
            state.dialogue.idle()
        else:
            state.dialogue.at_rest()


def _while_awaited(arrived: ArrivedCall) -> ProgramContact:
    """Tell the program something for as long as it waits: a cell may go on after its call."""

    async def tell(text: str) -> None:
        if not arrived.done.done() and not arrived.given_up:
            await arrived.contact.tell(text)

    return replace(arrived.contact, tell=tell)
