"""One model running at a time, for as long as somebody needs it."""

from __future__ import annotations

import asyncio
import importlib.util
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import Final, Literal

import anyio

from ..errors import HdspAgentError, Unavailable
from ..messages import ErrorBody, error_body
from ..wire import WireModel
from ._exit_reasons import missing, too_little_memory
from ._machine import available_memory, memory_of
from ._model_process import ModelFile, ModelProcess

__all__ = ["LocalRuntime", "LocalRuntimeView", "ModelEndpoint", "ModelInUse", "is_installed"]

logger = logging.getLogger(__name__)

_LIBRARY: Final = "xllamacpp"
_LAST_BREATH_SECONDS: Final = 1.0
"""A process that dies is heard of a moment after its connections are."""


@dataclass(frozen=True)
class ModelEndpoint:
    """Where the model can be asked, and with which key."""

    url: str
    key: str


class ModelInUse(Exception):
    """A conversation has the model or wants it, or something newer came."""


class LocalRuntimeView(WireModel):
    """The process that runs the embedded model."""

    state: Literal["stopped", "starting", "ready", "busy"]
    """``stopped`` is no fault: it is started when it is needed, and ended when nobody needs it."""
    model: str | None = None
    memory: int | None = None
    """Bytes it takes now; absent where the system does not tell, or nothing runs."""
    waiting: int
    """Requests that wait for their turn."""
    start_seconds: float | None = None
    """How long its last start took."""
    reading_speed: float | None = None
    """Tokens a second of the last request that it had not read before."""
    writing_speed: float | None = None
    """Tokens a second of its last answer."""
    failure: ErrorBody | None = None
    """Why it last did not start, or ended by itself; absent once it is there again."""
    restarted_after: ErrorBody | None = None
    """Why it had to be started again, the last time that was so."""
    restarted_at: datetime | None = None


def is_installed() -> bool:
    """Whether the extra is there. It looks at the disk: call it in a thread."""
    return importlib.util.find_spec(_LIBRARY) is not None


class LocalRuntime:
    """Starts the model on demand, lets one request after the other have it, and ends it when nobody wants it."""

    def __init__(self) -> None:
        self._turns = asyncio.Lock()
        self._child: ModelProcess | None = None
        self._view = LocalRuntimeView(state="stopped", waiting=0)
        self._failed_at: datetime | None = None
        self._idle: asyncio.Task[None] | None = None
        self._ending: asyncio.Task[None] | None = None
        self._stopping = False
        self._spare: anyio.CancelScope | None = None
        self._warming: asyncio.Task[None] | None = None

    @property
    def process_id(self) -> int | None:
        """The process of the model, if it runs."""
        return self._child.pid if self._child is not None and self._child.is_running else None

    @asynccontextmanager
    async def turn(self, file: ModelFile) -> AsyncIterator[ModelEndpoint]:
        """The model for one request, in the order in which they came; a task asks for its next turn behind the others.

        Raises RuntimeMissing, RuntimeFailed, or Unavailable while the server stops. What breaks off within because the
        model's process died is raised as RuntimeFailed.
        """
        self._set(waiting=self._view.waiting + 1)
        if self._spare is not None:
            self._spare.cancel()
        try:
            await self._turns.acquire()
        finally:
            self._set(waiting=self._view.waiting - 1)
        async with self._served(file) as endpoint:
            yield endpoint

    @asynccontextmanager
    async def spare_turn(self, file: Callable[[], Awaitable[ModelFile]]) -> AsyncIterator[ModelEndpoint]:
        """The model for what may be left undone: whichever runs, else this one. The next one to ask ends it.

        Raises ModelInUse then, and at once if a conversation has the model or waits for it; else what ``turn`` raises.
        """
        self._check_spare()
        if self._spare is not None:
            self._spare.cancel()
        if self.process_id is None:
            # Whoever types on asks again before it is there: its start goes on.
            if self._warming is None or self._warming.done():
                self._warming = asyncio.create_task(self._warm(await file()), name="embedded model for ghost text")
                self._warming.add_done_callback(_heard)
            await asyncio.shield(self._warming)
            self._check_spare()
        with anyio.CancelScope() as scope:
            self._spare = scope
            try:
                await self._turns.acquire()
                child = self._child
                if child is None or self.process_id is None:
                    self._turns.release()
                    raise ModelInUse
                async with self._served(child.file) as endpoint:
                    yield endpoint
            finally:
                if self._spare is scope:
                    self._spare = None
        if scope.cancelled_caught:
            raise ModelInUse

    def _check_spare(self) -> None:
        if self._view.waiting or (self._turns.locked() and self._spare is None and not self._is_warming):
            raise ModelInUse

    @property
    def _is_warming(self) -> bool:
        return self._warming is not None and not self._warming.done()

    async def _warm(self, file: ModelFile) -> None:
        await self._turns.acquire()
        async with self._served(file):
            pass

    @asynccontextmanager
    async def _served(self, file: ModelFile) -> AsyncIterator[ModelEndpoint]:
        """The model, to who has the turn. It is given back in the end."""
        try:
            await self._stop_waiting_for_idleness()
            child = await self._ready(file)
            self._set(state="busy")
            try:
                yield ModelEndpoint(child.url, child.key)
            except Exception as error:
                failure = await child.failure(_LAST_BREATH_SECONDS)
                if failure is None:
                    raise
                raise self._failed(failure) from error
        finally:
            if self.process_id is not None:
                self._set(state="ready")
                self._idle = asyncio.create_task(self._end_when_idle(file.idle_seconds), name="embedded model idle")
            else:
                self._set(state="stopped")
            self._turns.release()

    def measured(self, *, reading: float | None, writing: float | None) -> None:
        """Remember how fast the model was."""
        self._set(reading_speed=reading or self._view.reading_speed, writing_speed=writing or self._view.writing_speed)

    async def status(self) -> LocalRuntimeView:
        """How it is now."""
        if (process := self.process_id) is None:
            is_starting = self._view.state == "starting"
            return self._view if is_starting else self._view.model_copy(update={"state": "stopped"})
        assert self._child is not None
        model, memory = self._child.file.id, await asyncio.to_thread(memory_of, process)
        return self._view.model_copy(update={"model": model, "memory": memory})

    def runs(self, model: str) -> bool:
        """Whether this model is loaded or about to be."""
        return self.process_id is not None and self._child is not None and self._child.file.id == model

    def endpoint(self, path: Path) -> ModelEndpoint | None:
        """Where the model with these weights can be asked without a turn, what takes it no time; None while it is not loaded."""
        child = self._child
        if child is None or self.process_id is None or child.file.path != path:
            return None
        return ModelEndpoint(child.url, child.key)

    async def release(self) -> bool:
        """Give its memory back now; False if it is at work."""
        if self._turns.locked():
            return False
        async with self._turns:
            await self._stop_waiting_for_idleness()
            await self._end()
        return True

    async def stop(self) -> None:
        """End it, whatever it does. Nobody gets it again."""
        self._stopping = True
        if self._warming is not None:
            await asyncio.wait([self._warming])
        await self._stop_waiting_for_idleness()
        await self._end()

    def _set(self, **changes: object) -> None:
        self._view = self._view.model_copy(update=changes)

    async def _ready(self, file: ModelFile) -> ModelProcess:
        self._check_open()
        if self.process_id is not None and self._child is not None and self._child.file == file:
            return self._child
        if self._child is not None and self.process_id is None and self._view.failure is None:
            # It ended between two requests.
            failure = await self._child.failure(_LAST_BREATH_SECONDS)
            if failure is not None:
                self._failed(failure)
        await self._end()
        self._set(state="starting")
        began = monotonic()
        try:
            await self._check(file)
            child = await ModelProcess.start(file)
        except HdspAgentError as error:
            raise self._failed(error) from None
        try:
            self._check_open()
        except Unavailable:
            await child.close(at_once=True)
            raise
        self._child = child
        self._set(start_seconds=monotonic() - began)
        if self._view.failure is not None:
            self._set(failure=None, restarted_after=self._view.failure, restarted_at=self._failed_at)
        logger.info("The embedded model %s is ready after %.1f s", file.id, self._view.start_seconds)
        return child

    def _check_open(self) -> None:
        if self._stopping:
            raise Unavailable("The server is stopping. Try again when it is running.")

    async def _check(self, file: ModelFile) -> None:
        if not await asyncio.to_thread(is_installed):
            raise missing()
        free = await asyncio.to_thread(available_memory)
        if free < file.memory:
            # Better refused than run: the system would end some process, and people's kernels are the largest.
            raise too_little_memory(file.name, file.memory, free)

    def _failed(self, error: HdspAgentError) -> HdspAgentError:
        self._failed_at = datetime.now(tz=UTC)
        self._set(failure=error_body(error))
        logger.warning("The embedded model is not there: %s", error.message)
        return error

    async def _end_when_idle(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
        # From here on a new request waits for the turn, and starts the model again.
        async with self._turns:
            if self._idle is asyncio.current_task():
                await self._end()

    async def _stop_waiting_for_idleness(self) -> None:
        idle, self._idle = self._idle, None
        if idle is not None and idle is not asyncio.current_task():
            idle.cancel()
            await asyncio.wait([idle])

    async def _end(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            self._ending = asyncio.create_task(child.close(), name="embedded model ends")
        if self._ending is not None:
            await asyncio.shield(self._ending)
        self._set(state="stopped")


def _heard(task: asyncio.Task[None]) -> None:
    """Nobody may wait for it any more when it fails."""
    if not task.cancelled():
        task.exception()
