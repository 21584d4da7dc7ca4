"""Running a shell command, and reading what it wrote."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import sys
from typing import Annotated, ClassVar, Final

from pydantic import Field, StringConstraints

from .._threads import in_thread
from .._timeouts import wait_at_most
from ..config import GlobalSettings, ToolGroup
from ..context import TOOL_OUTPUT_FACTOR, truncation_header
from ..errors import InvalidInput, NotFound
from ..messages import ClineSayTool, CommandRun
from ._action import ActionRequest
from ._grep import SearchPatternProblem, TextMatch, grep_text
from ._hidden_files import hidden_words
from ._output_buffer import middle_left_out
from ._path_policy import CheckedPath
from ._running_commands import RunningCommand, has_no_limit
from ._tool import Approval, Proposal, SimpleTool, ToolArguments, ToolContext, ToolResult, answered, denied
from ._tool_failed import ToolFailed
from ._tool_state import KeptOutput

__all__ = ["ExecuteCommand", "ExecuteCommandArguments", "ReadCommandOutput", "ReadCommandOutputArguments"]

_PREVIEW: Final = {"small": 5_000, "medium": 10_000, "large": 20_000}
_BACKGROUND_AFTER_SECONDS: Final = 300
_MOST_WAIT_SECONDS: Final = 3_600
_PAGE_BYTES: Final = 40_000
_LONGEST_CHARACTER: Final = 4
"""Bytes, in UTF-8."""
_ARTIFACT: Final = re.compile(r"[0-9a-f]{64}")


class ExecuteCommandArguments(ToolArguments):
    """The arguments of ``execute_command``."""

    command: Annotated[str, StringConstraints(min_length=1, max_length=100_000)]
    """The command line, for the system's shell (bash where there is one)."""
    cwd: str | None = None
    """The folder to run it in; the workspace if absent."""
    timeout: Annotated[int, Field(ge=0, le=_MOST_WAIT_SECONDS)] | None = None
    """How many seconds to wait before the command goes on in the background. 0 sends it there at once, for servers and
    other commands that do not end; absent waits 300 seconds."""


class ExecuteCommand(SimpleTool[ExecuteCommandArguments]):
    """Runs a command in the system's shell."""

    name: ClassVar[str] = "execute_command"
    group: ClassVar[ToolGroup | None] = "command"
    description: ClassVar[str] = (
        "Run a shell command on the person's machine and get its exit code and output. It has no standard input, so give "
        "options that keep it from asking. Each call is a new shell: the folder and variables of an earlier one are gone. "
        "Write it plainly where you can, without variables, substitutions and loops: only such a command can run unasked. "
        "Prefer the file and search tools for reading, searching and editing. A command that still runs after `timeout` "
        "seconds goes on in the background; read what it writes with read_command_output."
    )

    async def _run(self, arguments: ExecuteCommandArguments, context: ToolContext) -> ToolResult:
        place = await self._folder(arguments.cwd, context)
        action, shown = await self._action(arguments.command, place, context)
        approval = await context.approve(
            action,
            "command",
            shown,
            proposal=Proposal(
                [("command", context.mask(arguments.command))],
                lambda edited: self._action(edited[0], place, context),
            ),
        )
        if not approval.approved:
            return denied(approval)
        await in_thread(lambda _stop: context.paths.again(place))
        command = arguments.command if approval.edited is None else approval.edited[0]
        shown = _with_folder(command, place)
        unmasked = context.vault.unmask(shown)
        output = _ShownOutput(context)
        try:
            running = await context.state.commands.start(
                _to_run(approval, unmasked),
                place.path,
                output.show,
                shown=context.mask(shown),
                mask=context.mask,
                limit=_limit(command, context.settings),
                unasked=not approval.by_person,
            )
        except OSError as error:
            raise ToolFailed(f"The command could not be started: {error.strerror or error}.") from error
        await self._wait(running, output, _BACKGROUND_AFTER_SECONDS if arguments.timeout is None else arguments.timeout)
        result = await _result(running, context)
        if running.is_background or running.left_running:
            await output.keep(running)
        return answered(approval, result)

    async def _action(self, command: str, place: CheckedPath, context: ToolContext) -> tuple[ActionRequest, str]:
        if "\0" in command:
            raise ToolFailed("The command contains a NUL character, which a command line cannot have.")
        hidden = await in_thread(lambda _stop: hidden_words(command, place.path, context.paths))
        if hidden.named is not None:
            raise ToolFailed(
                f"The command names {hidden.named}, which is hidden from you by .hdspignore or belongs to the agent's own "
                "storage. Do without it, or ask the person."
            )
        shown = _with_folder(command, place)
        action = ActionRequest(
            # A rule on words allows a command for the workspace: elsewhere the same words reach other files.
            risks=frozenset({"shell", "write_outside"} if place.is_outside else {"shell"}),
            tool=self.name,
            command=shown,
            cwd=str(place.path),
            flags=("writes_outside",) if place.is_outside else (),
            matches_hidden=hidden.matched,
            puts_back_masked=context.vault.unmask(shown) != shown,
        )
        return action, shown

    async def _folder(self, given: str | None, context: ToolContext) -> CheckedPath:
        def look(_stop: object) -> CheckedPath:
            place = context.paths.resolve(given or ".")
            if not place.path.is_dir():
                raise ToolFailed(f"The folder {place.shown} to run the command in does not exist.")
            return place

        return await in_thread(look)

    async def _wait(self, running: RunningCommand, output: _ShownOutput, seconds: float) -> None:
        waiting = [asyncio.create_task(running.ended.wait()), asyncio.create_task(running.let_go.wait())]
        try:
            await output.begin(running)
            await asyncio.wait(waiting, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        except BaseException:
            running.abort()
            await asyncio.shield(running.gone.wait())
            raise
        finally:
            for task in waiting:
                task.cancel()
        running.is_background = not running.ended.is_set()


def _to_run(approval: Approval, asked: str) -> str:
    """What the shell is given: to the letter what a person approved, or what was judged, rendered anew."""
    if approval.by_person:
        return asked
    if approval.runs is None:
        raise ToolFailed("The command was approved without a form in which it may run. It was not run.")
    return approval.runs


def _with_folder(command: str, place: CheckedPath) -> str:
    """The command as it is shown and run: where it does not run in the workspace, a comment in front says where."""
    if sys.platform == "win32" or (place.shown == "." and not command.lstrip().startswith("# in ")):
        return command
    # A name may hold a newline, and what is behind it would not be a comment.
    return f"# in {place.shown if place.shown.isprintable() else ascii(place.shown)}\n{command}"


def _limit(command: str, settings: GlobalSettings) -> int | None:
    """After how many seconds it is stopped, if it is at all."""
    limit = settings.command_execution_timeout
    return limit if limit > 0 and not has_no_limit(command, settings.command_timeout_allowlist) else None


class _ShownOutput:
    """What is seen of a command's output; of one whose id the model has, also where it is found in another life."""

    def __init__(self, context: ToolContext) -> None:
        self._context = context
        self._said_at: int | None = None
        self._kept: RunningCommand | None = None
        self._turn = asyncio.Lock()

    async def begin(self, running: RunningCommand) -> None:
        """Show that it runs. What it writes later would else stand behind what is done meanwhile."""
        async with self._turn:
            if self._said_at is None:
                await self._say("", running.run)

    async def show(self, text: str, run: CommandRun) -> None:
        """Show what there is of it, and how it fares."""
        async with self._turn:
            await self._say(text, run)

    async def keep(self, running: RunningCommand) -> None:
        """The model may ask for this output later, and the server may be another one then."""
        self._kept = running
        await self._context.state.outputs.note(running.id, KeptOutput(said_at=self._said_at))
        if running.ended.is_set():
            await self._note_end()
        else:
            running.at_end = self._note_end

    async def _say(self, text: str, run: CommandRun) -> None:
        self._said_at = await self._context.say(
            "command_output", text, partial=run.state == "running", ts=self._said_at, command_run=run
        )

    async def _note_end(self) -> None:
        running, context = self._kept, self._context
        assert running is not None
        text = await in_thread(lambda _stop: context.mask(running.process.output.text()))
        artifact: str | None = None
        with contextlib.suppress(InvalidInput):
            # Too long to be kept: what was shown of it is there.
            artifact = await context.put_artifact(text.encode()) if text else None
        await context.state.outputs.note(
            running.id, KeptOutput(said_at=self._said_at, artifact=artifact, ending=_ending(running, still=False))
        )


class ReadCommandOutputArguments(ToolArguments):
    """The arguments of ``read_command_output``."""

    artifact_id: Annotated[str, StringConstraints(min_length=1, max_length=100)]
    """The id of the kept output, or of a command that runs in the background (`cmd-…`)."""
    search: Annotated[str, StringConstraints(max_length=1_000)] | None = None
    """A regular expression: only the lines that match it are returned, with their numbers."""
    offset: Annotated[int, Field(ge=0)] = 0
    """The byte to begin at."""
    limit: Annotated[int, Field(ge=1, le=_PAGE_BYTES)] = _PAGE_BYTES
    """How many bytes to read."""
    wait_seconds: Annotated[int, Field(ge=0, le=600)] = 0
    """For a command in the background: wait up to this long for it to end."""


class ReadCommandOutput(SimpleTool[ReadCommandOutputArguments]):
    """Reads or searches a kept output."""

    name: ClassVar[str] = "read_command_output"
    group: ClassVar[ToolGroup | None] = "command"
    description: ClassVar[str] = (
        "Read more of a command's output than its result showed, or search it. Takes the artifact id from that result, or "
        "the id of a command in the background to see what it has written so far."
    )
    parallel_safe: ClassVar[bool] = True

    async def _run(self, arguments: ReadCommandOutputArguments, context: ToolContext) -> ToolResult:
        data, about = await self._output(arguments, context)
        shown = ClineSayTool(
            tool="readCommandOutput",
            read_start=arguments.offset,
            read_end=min(len(data), arguments.offset + arguments.limit),
            total_bytes=len(data),
            search_pattern=arguments.search,
        )
        if arguments.search:
            try:
                matches, more = await grep_text(arguments.search, data)
            except SearchPatternProblem as problem:
                raise ToolFailed(str(problem)) from None
            shown = shown.model_copy(update={"match_count": len(matches)})
        await context.say("tool", shown.to_json())
        if arguments.search:
            return ToolResult(about + _found(arguments.search, matches, more))
        return ToolResult(about + _page(data, arguments))

    async def _output(self, arguments: ReadCommandOutputArguments, context: ToolContext) -> tuple[bytes, str]:
        name = arguments.artifact_id.strip()
        if _ARTIFACT.fullmatch(name):
            try:
                return await context.read_artifact(name), ""
            except (NotFound, InvalidInput) as error:
                raise ToolFailed(error.message) from error
        running = context.state.commands.get(name)
        if running is None:
            return await _from_another_life(name, context)
        if arguments.wait_seconds:
            with contextlib.suppress(asyncio.TimeoutError):
                await wait_at_most(running.ended.wait(), arguments.wait_seconds)
        text = await in_thread(lambda _stop: context.mask(running.process.output.text()))
        return text.encode(), f"{_state_of(running)}\n"


async def _from_another_life(name: str, context: ToolContext) -> tuple[bytes, str]:
    """The output of a command that is not remembered here: it ran before the task was put aside, or the server ended."""
    kept = context.state.outputs.get(name)
    if kept is None:
        raise ToolFailed(
            f"There is no output {name}. Give the artifact id from a command's result, or the id of a command that was "
            "left in the background."
        )
    about = kept.ending or f"{name} was stopped when the server ended. This is what had been seen of its output."
    if kept.artifact is not None:
        with contextlib.suppress(NotFound, InvalidInput):
            return await context.read_artifact(kept.artifact), f"{about}\n"
    return (await context.state.outputs.shown(kept)).encode(), f"{about}\n"


def _state_of(running: RunningCommand) -> str:
    if not running.ended.is_set():
        return f"{running.id} still runs (process group {running.process.pid})."
    return _ending(running)


def _ending(running: RunningCommand, *, still: bool = True) -> str:
    """How it ended; ``still`` says that what it left running is running as this is read."""
    code = running.process.exit_code
    if running.ending == "timed_out":
        return "The command ran longer than the settings allow and was stopped with all it had started."
    if running.ending == "aborted" and running.put_aside:
        return "The command was stopped with all it had started when the task was put aside."
    if running.ending == "aborted":
        return "The person stopped the command and all it had started."
    if code is not None and code < 0:
        return f"The command was ended by signal {-code}."
    left = (
        f"\nProcesses it started still run; {running.id} has what they write (read_command_output)."
        if running.left_running and still
        else ""
    )
    return f"Exit code: {code}{left}"


async def _result(running: RunningCommand, context: ToolContext) -> ToolResult:
    ended = running.ended.is_set()
    about = (
        _ending(running)
        if ended
        else f"The command still runs in the background as {running.id} (process group {running.process.pid}). Read what "
        f"it writes with read_command_output; stop it with `kill -- -{running.process.pid}`."
    )
    text = await in_thread(lambda _stop: context.mask(running.process.output.text()).rstrip())
    most = _PREVIEW[context.settings.terminal_output_preview_size]
    artifact = None
    if not text:
        body = "It wrote nothing." if ended else "It has written nothing yet."
    elif len(text) <= most * TOOL_OUTPUT_FACTOR:
        body = f"Output:\n{text}"
    elif not ended:
        note = f"[… the middle of {len(text):,} characters is left out: read_command_output {running.id} …]"
        body = f"Output so far:\n{truncation_header(text)}\n\n{middle_left_out(text, most, note)}"
    else:
        artifact, where = await _kept(text, context)
        note = f"[… the middle of {len(text):,} characters is left out: {where} …]"
        body = f"Output:\n{truncation_header(text)}\n\n{middle_left_out(text, most, note)}"
    failed = ended and running.ending != "exited"
    return ToolResult(f"{about}\n{body}", is_error=failed, artifact=artifact, shown=True)


async def _kept(text: str, context: ToolContext) -> tuple[str | None, str]:
    try:
        artifact = await context.put_artifact(text.encode())
    except InvalidInput as error:
        return None, error.message
    return artifact, f"read or search it with read_command_output and artifact_id {artifact}"


def _found(pattern: str, matches: list[TextMatch], more: bool) -> str:
    if not matches:
        return f"No line matches {json.dumps(pattern, ensure_ascii=False)}."
    lines = "\n".join(f"{match.line} | {match.text}" for match in matches)
    return f"{len(matches)}{' and more' if more else ''} matching lines:\n{lines}"


def _page(data: bytes, arguments: ReadCommandOutputArguments) -> str:
    if arguments.offset and arguments.offset >= len(data):
        raise ToolFailed(f"The output has {len(data):,} bytes; there is nothing at {arguments.offset:,}.")
    # A character at either end belongs to the page it begins on, so that all pages together have all of them.
    begin = _character_at(data, arguments.offset)
    end = _character_at(data, arguments.offset + arguments.limit)
    if end <= begin:
        end = min(len(data), begin + _LONGEST_CHARACTER)
        end = end if end == len(data) else _character_at(data, end)
    text = data[begin:end].decode("utf-8", "replace")
    more = f"\n[… {len(data) - end:,} bytes more: offset {end} …]" if end < len(data) else ""
    return f"Bytes {begin:,} to {end:,} of {len(data):,}:\n{text}{more}"


def _character_at(data: bytes, place: int) -> int:
    """Where the character begins that this byte is part of; the end of the data if it is behind that."""
    if place >= len(data):
        return len(data)
    for begin in range(place, max(-1, place - _LONGEST_CHARACTER), -1):
        if data[begin] & 0xC0 != 0x80:
            return begin
    return place
