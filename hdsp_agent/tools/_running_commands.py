"""The commands of one task: those in the foreground, those left in the background, and how they end."""

from __future__ import annotations

import asyncio
import logging
import secrets
import shlex
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Final, Literal

from ..errors import HdspAgentError
from ..messages import CommandExited, CommandOutput, CommandRun, CommandStarted, CommandTimedOut
from ._process import ShellProcess

__all__ = ["CommandListener", "RunningCommand", "RunningCommands", "has_no_limit"]

CommandListener = Callable[[CommandStarted | CommandOutput | CommandExited | CommandTimedOut], None]
Ending = Literal["exited", "timed_out", "aborted"]
Show = Callable[[str, CommandRun], Awaitable[None]]

_STATES: Final[dict[Ending, Literal["exited", "timed_out", "stopped"]]] = {
    "exited": "exited",
    "timed_out": "timed_out",
    "aborted": "stopped",
}
_log = logging.getLogger(__name__)
_SHOW_EVERY_SECONDS: Final = 0.1
_SHOWN_CHARACTERS: Final = 20_000
_MOST_REMEMBERED: Final = 20


class RunningCommand:
    """One command, watched until it ends. ``show`` is told what can be seen of its output, and how it fares."""

    def __init__(
        self,
        shown: str,
        process: ShellProcess,
        show: Show,
        mask: Callable[[str], str],
        limit: float | None,
        board: RunningCommands,
        begun: float,
    ) -> None:
        self.id = f"cmd-{secrets.token_hex(4)}"
        self.command = shown
        """As it was shown: masked values that were put back for the run are not in it."""
        self.process = process
        self.ending: Ending | None = None
        self.left_running = False
        """It ended, but processes it started still hold its output open."""
        self.is_background = False
        self.put_aside = False
        """It was ended because the task was put aside, not because somebody wanted it to end."""
        self.gone = asyncio.Event()
        """Set when the command, if it was to be ended, and all it started are gone."""
        self.ended = asyncio.Event()
        """Set when, besides, its output was shown as it ended."""
        self.let_go = asyncio.Event()
        """Set when somebody wants it to go on in the background."""
        self.at_end: Callable[[], Awaitable[None]] | None = None
        """Done last of all, before ``ended``; what goes wrong in it is logged."""
        self._show = show
        self._mask = mask
        self._limit = limit
        self._board = board
        # From before the process was made: it may have run for a while when one hears of it.
        self._begun = begun
        self._started_at = int((time.time() - (time.monotonic() - begun)) * 1000)
        self._duration: float | None = None
        self._abort = asyncio.Event()
        self._watch = asyncio.create_task(self._watched(), name=f"{self.id} watch")

    @property
    def started(self) -> CommandStarted:
        """That it was begun, as it is told."""
        return CommandStarted(execution_id=self.id, pid=self.process.pid, command=self.command)

    @property
    def run(self) -> CommandRun:
        """How it fares, as it is shown and kept."""
        return CommandRun(
            execution_id=self.id,
            started_at=self._started_at,
            state="running" if self.ending is None else _STATES[self.ending],
            exit_code=self.process.exit_code if self.ending == "exited" else None,
            duration_ms=None if self._duration is None else int(self._duration * 1000),
        )

    def abort(self) -> None:
        """End it with all it started."""
        self._abort.set()

    def continue_in_background(self) -> None:
        """Let whoever waits for it go on without it."""
        self.let_go.set()

    async def close(self) -> None:
        """End it, and wait until nothing of it is left to do."""
        self.put_aside = True
        self._abort.set()
        await asyncio.shield(self._watch)
        if self.left_running:
            await self.process.kill_left()

    async def _watched(self) -> None:
        self._board.tell(self.started)
        showing = asyncio.create_task(self._show_output(), name=f"{self.id} show")
        try:
            self.ending = await self._end()
            self._duration = time.monotonic() - self._begun
            if self.ending == "exited":
                self.left_running = not await self.process.drained()
            else:
                await self.process.kill()
        finally:
            self.gone.set()
            showing.cancel()
            await asyncio.wait([showing])
            if not showing.cancelled() and (problem := showing.exception()):
                _log.warning("The output of %s could not be shown: %s", self.id, problem)
            self._tell_end()
            try:
                await self._show_end()
                if self.at_end is not None:
                    await self._do_at_end(self.at_end)
            finally:
                self.ended.set()

    async def _end(self) -> Ending:
        waiting = {
            asyncio.create_task(self.process.exited.wait()): "exited",
            asyncio.create_task(self._abort.wait()): "aborted",
        }
        try:
            done, _ = await asyncio.wait(waiting, timeout=self._limit, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in waiting:
                task.cancel()
        if self.process.exited.is_set():
            return "exited"
        return "aborted" if done else "timed_out"

    async def _show_output(self) -> None:
        while True:
            await self.process.wrote.wait()
            self.process.wrote.clear()
            if self.process.output.total:
                text = await self._glimpse()
                self._board.tell(CommandOutput(execution_id=self.id, output=text))
                await self._show(text, self.run)
            await asyncio.sleep(_SHOW_EVERY_SECONDS)

    async def _glimpse(self) -> str:
        return await asyncio.to_thread(lambda: self._mask(self.process.output.glimpse(_SHOWN_CHARACTERS)))

    async def _show_end(self) -> None:
        try:
            # Also of one that wrote nothing: how it ended is to be seen later too.
            await self._show(await self._glimpse() if self.process.output.total else "", self.run)
        except (HdspAgentError, OSError):
            # Whoever reads the result gets the output all the same.
            _log.exception("The end of the output of %s could not be shown", self.id)

    async def _do_at_end(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        except (HdspAgentError, OSError):
            _log.exception("What %s wrote could not be kept", self.id)

    def _tell_end(self) -> None:
        if self.ending == "timed_out":
            self._board.tell(CommandTimedOut(execution_id=self.id))
        self._board.tell(CommandExited(execution_id=self.id, exit_code=self.process.exit_code))


class RunningCommands:
    """Holds every command of a task, so that none outlives it."""

    def __init__(self, listener: CommandListener | None = None) -> None:
        self._listener = listener
        self._commands: dict[str, RunningCommand] = {}

    def tell(self, status: CommandStarted | CommandOutput | CommandExited | CommandTimedOut) -> None:
        """Pass on how a command fares."""
        if self._listener is not None:
            self._listener(status)

    async def start(
        self,
        command: str,
        folder: Path,
        show: Show,
        *,
        limit: float | None,
        shown: str | None = None,
        mask: Callable[[str], str] = str,
        unasked: bool = False,
    ) -> RunningCommand:
        """Begin a command. Raises OSError.

        ``limit`` is after how many seconds it is stopped, ``shown`` the command as it may be told, ``mask`` makes that of
        its output. ``unasked`` is for what no person approved: the environment then steers no program.
        """
        begun = time.monotonic()
        process = await ShellProcess.start(command, folder, unasked=unasked)
        running = RunningCommand(command if shown is None else shown, process, show, mask, limit, self, begun)
        self._commands[running.id] = running
        await self._forget_oldest()
        return running

    def get(self, command_id: str) -> RunningCommand | None:
        """A command by its id, while it is remembered."""
        return self._commands.get(command_id)

    @property
    def running(self) -> Sequence[RunningCommand]:
        """The commands that have not ended, oldest first."""
        return [command for command in self._commands.values() if not command.ended.is_set()]

    def continue_all(self) -> None:
        """Let the commands somebody waits for go on in the background."""
        for command in self.running:
            command.continue_in_background()

    def abort_all(self) -> None:
        """End the commands somebody waits for; those in the background stay."""
        for command in self.running:
            if not command.is_background:
                command.abort()

    async def close(self) -> None:
        """End every command, also what ended ones left running."""
        commands = list(self._commands.values())
        self._commands.clear()
        await asyncio.gather(*(command.close() for command in commands))

    async def _forget_oldest(self) -> None:
        ended = [command for command in self._commands.values() if command.ended.is_set() and not command.left_running]
        for command in ended[: max(0, len(ended) - _MOST_REMEMBERED)]:
            del self._commands[command.id]


def has_no_limit(command: str, allowlist: Sequence[str]) -> bool:
    """Whether a command begins with the words of an entry of the list, whole words compared."""
    try:
        words = shlex.split(command, posix=True)
    except ValueError:
        return False
    return any(words[: len(entry)] == entry for entry in (text.split() for text in allowlist) if entry)
