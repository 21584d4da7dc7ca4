"""``hdsp-agent run``: let the agent work from the terminal, without a server."""

from __future__ import annotations

import asyncio
import sys
from argparse import ArgumentParser, Namespace
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Final

from .._command import CliCommand, ExitCode, UsageError
from .._ending_signals import ends_by_signals
from .._home import find_artifact_store_url, find_storage_url

if TYPE_CHECKING:
    from pydantic import JsonValue

    from ...agent import Headless
    from ...messages import NotebookRef, TaskId
    from .._task_run import TaskRun
    from .._terminal import Terminal

__all__ = ["COMMAND"]

_AUTO: Final = {
    "read": ("alwaysAllowReadOnly", "read files in the workspace"),
    "write": ("alwaysAllowWrite", "change files in the workspace"),
    "run-cells": ("alwaysAllowRunCells", "run code in notebooks' kernels"),
    "execute": ("alwaysAllowExecute", "run the shell commands that the rules allow"),
    "install": ("alwaysAllowInstallPackages", "install packages"),
    "network": ("alwaysAllowNetwork", "fetch from the network"),
    "mcp": ("alwaysAllowMcp", "use MCP tools"),
    "modes": ("alwaysAllowModeSwitch", "switch modes"),
    "subtasks": ("alwaysAllowSubtasks", "start and finish subtasks"),
    "outside-read": ("alwaysAllowReadOnlyOutsideWorkspace", "read outside the workspace too"),
    "outside-write": ("alwaysAllowWriteOutsideWorkspace", "change files outside the workspace too"),
    "protected": ("alwaysAllowWriteProtected", "change protected files too"),
}
_AUTO_ALL: Final = ("read", "write", "run-cells", "execute", "modes", "subtasks")
_ANSWER_AT_ONCE_MS: Final = 1
_INTERRUPTED: Final = "interrupted"
_MOST_MINUTES: Final = 1_000_000


def _arguments(parser: ArgumentParser) -> None:
    parser.add_argument("task", nargs="?", metavar="TASK", help="what to do; - reads it from standard input")
    parser.add_argument("--resume", metavar="UUID", help="continue this task instead; TASK is then your message to it")
    parser.add_argument("--workspace", metavar="FOLDER", help="where to work (default: here)")
    parser.add_argument(
        "--trust-folder",
        action="store_true",
        help="use the modes, rules, slash commands and AGENTS.md that the workspace brings, this time",
    )
    parser.add_argument("--notebook", metavar="FILE", help="the notebook the task is about, in the workspace")
    parser.add_argument(
        "--mode",
        metavar="MODE",
        help="the mode to start in: code (Agent), ask (Ask), architect (Plan), or another mode by its slug",
    )
    parser.add_argument("--profile", metavar="NAME", help="the provider profile to use")
    parser.add_argument(
        "--time-limit", metavar="MINUTES", type=_minutes, help="stop the task after this time; it can be resumed"
    )
    auto = parser.add_argument_group("what is done without asking, in addition to the settings")
    auto.add_argument("--auto", action="store_true", help=f"the same as {' '.join(f'--auto-{n}' for n in _AUTO_ALL)}")
    for name, (_, meaning) in _AUTO.items():
        auto.add_argument(f"--auto-{name}", action="store_true", help=meaning)
    auto.add_argument("--auto-followup", action="store_true", help="take the first suggested answer to questions")
    auto.add_argument(
        "--allow",
        metavar="W",
        action="append",
        help="commands that may run, instead of the settings' list; may be repeated",
    )
    auto.add_argument(
        "--deny",
        metavar="W",
        action="append",
        help="commands that never run, in addition to the settings' list; may be repeated",
    )


async def _run(terminal: Terminal, options: Namespace) -> ExitCode:
    with terminal.alone() if terminal.json else nullcontext(), ends_by_signals() as ended:
        try:
            return await _worked(terminal, options)
        except asyncio.CancelledError:
            if not ended:
                raise
            terminal.error(_INTERRUPTED)
            return ExitCode.INTERRUPTED


async def _worked(terminal: Terminal, options: Namespace) -> ExitCode:
    workspace = _workspace(options)
    text = _text(options)
    notebook = _notebook(options, workspace)
    from ...agent import headless_agent
    from .._folder_question import settle_folder
    from .._live_output import LiveOutput, UnseenMessages
    from .._operator_policy import local_models_folder, operator_policy
    from .._responder import NoResponder, TerminalResponder
    from .._run_notices import RunNotices
    from .._task_run import TaskRun

    talks = not terminal.json and terminal.is_seen and sys.stdin.isatty()
    output = LiveOutput(terminal)
    responder = TerminalResponder(terminal, output) if talks else NoResponder(terminal)
    notices = RunNotices(terminal, output)
    overrides = _overrides(options)
    async with headless_agent(
        terminal.home,
        operator_policy(),
        workspace=workspace,
        backend=terminal.backend,
        storage_url=find_storage_url(),
        artifact_store_url=find_artifact_store_url(),
        sink=UnseenMessages() if terminal.json else output,
        on_notice=notices.window,
        on_recovery=notices.recovery,
        overrides=overrides,
        local_models=local_models_folder(),
    ) as agent:
        run = TaskRun(agent.manager, terminal, responder, answers_itself=options.auto_followup)
        try:
            with run.listening():
                where = await _folder(agent, options, workspace)
                await settle_folder(agent.config, where, responder, terminal, trust_now=options.trust_folder)
                task_id = await _begin(agent, run, terminal, options, text, workspace, notebook)
                return await _within(options.time_limit, run, task_id)
        except asyncio.CancelledError:
            run.say_kept()
            raise
        finally:
            output.end_line()


async def _within(minutes: float | None, run: TaskRun, task_id: TaskId) -> ExitCode:
    ending = asyncio.ensure_future(run.end(task_id))
    try:
        await asyncio.wait({ending}, timeout=None if minutes is None else minutes * 60)
        if ending.done():
            return ending.result()
    finally:
        ending.cancel()
        await asyncio.wait({ending})
    return await run.run_out(f"The time limit of {minutes:g} minutes was reached.")


def _minutes(text: str) -> float:
    minutes = float(text)
    if not 0 < minutes < _MOST_MINUTES:
        raise ValueError(text)
    return minutes


async def _begin(
    agent: Headless,
    run: TaskRun,
    terminal: Terminal,
    options: Namespace,
    text: str,
    workspace: Path,
    notebook: NotebookRef | None,
) -> TaskId:
    from ..._person import person_of_server
    from ...agent import TaskRequest
    from .._audit_log import record_access
    from .._stores import find_task

    profile = agent.config.profiles.get(options.profile).name if options.profile else None
    if options.resume is None:
        request = TaskRequest(
            text, notebook=notebook, workspace=str(workspace), mode=options.mode, profile=profile,
            owner=person_of_server(), source="cli",
        )  # fmt: skip
        task_id = await agent.manager.start(request)
        record_access(terminal, "begin", "run", task_id)
        run.begun(task_id)
        return task_id
    reader = await find_task(agent.store, options.resume)
    item = (await reader.read_state()).history_item
    if item is not None and item.status == "completed" and not text:
        raise UsageError(
            f"Task {reader.task_id} is completed. To continue it, say what else to do: hdsp-agent run --resume UUID TASK."
        )
    record_access(terminal, "change", "run", reader.task_id)
    run.begun(reader.task_id, words=text or None)
    await agent.manager.resume(reader.task_id)
    if options.mode:
        await agent.manager.switch_mode(reader.task_id, options.mode)
    if profile is not None:
        await agent.manager.switch_profile(reader.task_id, profile)
    return reader.task_id


async def _folder(agent: Headless, options: Namespace, workspace: Path) -> Path:
    """Where the task works: one that is taken up again stays where it was begun."""
    from .._stores import find_task

    if options.resume is None:
        return workspace
    return Path((await find_task(agent.store, options.resume)).metadata.workspace or workspace)


def _text(options: Namespace) -> str:
    text: str = options.task or ""
    if text == "-":
        text = sys.stdin.read()
    if not text.strip() and options.resume is None:
        raise UsageError("Say what the task is: hdsp-agent run TASK.")
    return text.strip()


def _workspace(options: Namespace) -> Path:
    folder = Path(options.workspace or ".").absolute()
    if not folder.is_dir():
        raise UsageError(f"The workspace {folder} is not a folder. Choose one with --workspace.")
    return folder


def _notebook(options: Namespace, workspace: Path) -> NotebookRef | None:
    if options.notebook is None:
        return None
    from ...messages import NotebookRef

    file = (workspace / options.notebook).absolute()
    if file.suffix != ".ipynb" or not file.is_file():
        raise UsageError(f"{file} is not a notebook. Choose an .ipynb file with --notebook.")
    if not file.is_relative_to(workspace):
        raise UsageError(f"The notebook {file} is not in the workspace {workspace}. Choose that with --workspace.")
    return NotebookRef(path=file.relative_to(workspace).as_posix())


def _overrides(options: Namespace) -> dict[str, JsonValue]:
    """The flags as settings, for this run alone."""
    chosen = [name for name in _AUTO if vars(options)[f"auto_{name.replace('-', '_')}"]]
    if options.auto:
        chosen += _AUTO_ALL
    settings: dict[str, JsonValue] = {_AUTO[name][0]: True for name in chosen}
    if options.auto_followup:
        settings["alwaysAllowFollowupQuestions"] = True
        settings["followupAutoApproveTimeoutMs"] = _ANSWER_AT_ONCE_MS
    if options.allow is not None:
        settings["allowedCommands"] = list(options.allow)
        settings["alwaysAllowExecute"] = True
    if settings:
        settings["autoApprovalEnabled"] = True
    if options.deny is not None:
        settings["deniedCommands"] = list(options.deny)
    return settings


COMMAND: Final = CliCommand(
    help="run the agent on a task",
    run=_run,
    arguments=_arguments,
    details="The agent asks for approval on the terminal. Without a terminal, or with --json, actions are denied unless the\n"
    "--auto flags or the settings allow them. Modes, rules and commands of a folder are used only if you trust it.\n"
    "--json prints one event per line.\n\n"
    "exit codes: 0 completed, 1 failed, 2 bad arguments, 3 something was denied or left undone, 124 time limit\n"
    "reached, 130 interrupted. An unfinished task is saved; continue it with --resume.",
    interrupted=_INTERRUPTED,
)
