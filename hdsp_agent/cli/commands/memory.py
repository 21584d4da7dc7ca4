"""``hdsp-agent memory``: what is remembered between conversations, and learning more of it now."""

from __future__ import annotations

import asyncio
from argparse import ArgumentParser, Namespace
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from .._amounts import count_text
from .._columns import one_line, table
from .._command import CliCommand, ExitCode
from .._home import find_artifact_store_url, find_storage_url
from .._stores import store_to_read

if TYPE_CHECKING:
    from ...memory import Memories
    from ...memory.job_table import JobRow
    from ...memory.person_memory import LearnedSource, MemoryOverview, PersonMemory
    from .._terminal import Terminal

__all__ = ["COMMAND"]

_SUMMARY: Final = "memory_summary.md"
_FOR_WHOM: Final = {"person": "you", "workspace": "folder", "notebook": "notebook"}


def _arguments(parser: ArgumentParser) -> None:
    place = ArgumentParser(add_help=False)
    place.add_argument("--workspace", metavar="FOLDER", type=Path, help="the folder whose notes apply (default: here)")
    place.add_argument("--notebook", metavar="PATH", help="the notebook whose notes apply, relative to the folder")
    parser.set_defaults(workspace=None, notebook=None)
    actions = parser.add_subparsers(dest="action", metavar="ACTION", title="actions")
    actions.add_parser("list", parents=[place], help="list everything remembered, with ids (default)")
    show = actions.add_parser("show", parents=[place], help="print a memory file")
    show.add_argument("file", nargs="?", default=_SUMMARY, metavar="FILE", help=f"default: {_SUMMARY}")
    add = actions.add_parser("add", parents=[place], help="add a note")
    add.add_argument("words", nargs="+", metavar="WORD", help="what to remember")
    add.add_argument("--for", dest="scope", choices=tuple(_FOR_WHOM), default="person", help="what it applies to")
    edit = actions.add_parser("edit", parents=[place], help="change a note or a learned line")
    edit.add_argument("id", metavar="ID")
    edit.add_argument("words", nargs="+", metavar="WORD", help="the new text")
    delete = actions.add_parser("delete", parents=[place], help="delete notes and learned lines")
    delete.add_argument("ids", nargs="+", metavar="ID")
    run = actions.add_parser("run", parents=[place], help="learn from finished conversations now")
    run.add_argument("--profile", metavar="NAME", help="the profile whose model learns")
    actions.add_parser("status", parents=[place], help="show what was done and what it cost")
    actions.add_parser("undo", parents=[place], help="undo the last change to what was learned")


async def _run(terminal: Terminal, options: Namespace) -> ExitCode:
    if options.action == "run":
        return await _learn(terminal, options)
    async with _opened(terminal, options) as memory:
        return await _act(terminal, options, memory)


async def _act(terminal: Terminal, options: Namespace, memory: PersonMemory) -> ExitCode:
    match options.action:
        case "status":
            return await _status(terminal, memory)
        case "undo":
            version = await asyncio.to_thread(memory.undo)
            return _done(terminal, {"version": version}, f"Restored what was learned before {version}.")
        case "show":
            return await _show(terminal, memory, options.file)
        case "add":
            note = await asyncio.to_thread(lambda: memory.add(" ".join(options.words), options.scope))
            return _done(terminal, note.to_wire(), f"{note.id}  {one_line(note.text)}")
        case "edit":
            return await _edit(terminal, memory, options.id, " ".join(options.words))
        case "delete":
            return await _delete(terminal, memory, options.ids)
        case _:
            return await _list(terminal, memory)


@asynccontextmanager
async def _opened(terminal: Terminal, options: Namespace) -> AsyncIterator[PersonMemory]:
    from ..._person import person_of_server
    from ...config import TrustedFolders
    from ...errors import ForbiddenByOperator
    from ...memory import Memories
    from .._operator_policy import operator_policy

    policy = operator_policy()
    if not policy.allow_memory:
        raise ForbiddenByOperator("Your administrator does not allow memory.")
    person = person_of_server()
    memories = Memories(terminal.home, person, TrustedFolders(terminal.home, lambda: policy).trusted)
    memory = memories.of_person(person, (options.workspace or Path.cwd()).expanduser().absolute(), options.notebook)
    if terminal.backend != "postgres":
        yield memory
        return
    async with _shared(terminal, memories, person):
        yield memory


@asynccontextmanager
async def _shared(terminal: Terminal, memories: Memories, person: str) -> AsyncIterator[None]:
    """With what other servers changed, which hear of what is changed here."""
    from ...memory.sharing import MemorySharing
    from ...persistence import open_memory

    async with store_to_read(terminal.home, terminal.backend) as store:
        shared = open_memory(store, terminal.backend)
        assert shared is not None
        sharing = MemorySharing(shared, memories.folder)
        if await asyncio.to_thread(sharing.bring_up_to_date, person):
            yield
            await asyncio.to_thread(sharing.bring_up_to_date, person)
        else:
            terminal.warn(
                "The database cannot be reached, so this is what this folder has. A server sends what you change later."
            )
            yield


async def _list(terminal: Terminal, memory: PersonMemory) -> ExitCode:
    overview = await asyncio.to_thread(memory.overview)
    if terminal.json:
        terminal.document(overview.to_wire())
        return ExitCode.OK
    rows = [
        (note.id, _FOR_WHOM[note.scope], note.day or "", f"{'* ' if note.pinned else ''}{one_line(note.text)}")
        for note in overview.notes
    ]
    rows += [
        (line.id, "learned", _days(line.sources), f"{one_line(line.text)}  ({one_line(line.section)})")
        for line in overview.learned
    ]
    if not rows:
        terminal.note("Nothing is remembered yet.")
        return ExitCode.OK
    head, *lines = table(("ID", "FOR", "DAY", "WHAT"), rows, width=terminal.width)
    terminal.line(terminal.paint(head, "bold"))
    terminal.lines(lines)
    for problem in overview.unreadable:
        terminal.warn(problem.reason)
    return ExitCode.OK


async def _show(terminal: Terminal, memory: PersonMemory, name: str) -> ExitCode:
    text, kind = await asyncio.to_thread(memory.folder.shown, name)
    if terminal.json:
        terminal.document({"path": name, "kind": kind, "text": text})
    else:
        terminal.text(text if text.endswith("\n") else f"{text}\n")
    return ExitCode.OK


async def _edit(terminal: Terminal, memory: PersonMemory, item: str, text: str) -> ExitCode:
    overview = await asyncio.to_thread(memory.overview)
    if any(line.id == item for line in overview.learned):
        await asyncio.to_thread(memory.edit_learned, item, text)
    else:
        await asyncio.to_thread(lambda: memory.edit(item, text, pinned=None))
    return _done(terminal, {"id": item, "text": text}, f"{item}  {one_line(text)}")


async def _delete(terminal: Terminal, memory: PersonMemory, items: list[str]) -> ExitCode:
    learned = {line.id for line in (await asyncio.to_thread(memory.overview)).learned}
    for item in items:
        forget: Callable[[str], object] = memory.delete_learned if item in learned else memory.delete
        await asyncio.to_thread(forget, item)
    return _done(terminal, {"deleted": items}, f"Deleted: {', '.join(items)}")


async def _status(terminal: Terminal, memory: PersonMemory) -> ExitCode:
    overview = await asyncio.to_thread(memory.overview)
    jobs = await _jobs(terminal)
    if terminal.json:
        terminal.document(
            {
                **_numbers(overview),
                "jobs": [
                    {"kind": job.kind, "key": job.key, "status": job.status, "error": job.last_error} for job in jobs
                ],
                "recent": [run.to_wire() for run in overview.recent],
            }
        )
        return ExitCode.OK
    spent = overview.spending
    terminal.line(f"Folder         {overview.folder}")
    terminal.line(f"Notes          {len(overview.notes)}")
    terminal.line(f"Learned        {len(overview.learned)} lines from {overview.conversations} conversations")
    terminal.line(f"Consolidated   {overview.consolidated_at or 'never'}")
    terminal.line(
        f"Cost so far    ${spent.cost:.4f}, {count_text(spent.tokens_in + spent.tokens_out)} tokens in {spent.runs} runs"
    )
    for job in jobs:
        if job.status in ("running", "error"):
            terminal.line(f"{job.kind:<14} {job.key}: {job.status}" + (f", {job.last_error}" if job.last_error else ""))
    return ExitCode.OK


async def _jobs(terminal: Terminal) -> list[JobRow]:
    from ..._person import person_of_server
    from ...memory import MEMORY_SCHEMA
    from ...memory.memory_jobs import MemoryJobs, StateJobDatabase
    from ...persistence import StateDatabase, history_database, open_memory

    person = person_of_server()
    if terminal.backend == "postgres":
        async with store_to_read(terminal.home, terminal.backend) as store:
            shared = open_memory(store, terminal.backend)
            return await MemoryJobs(shared).rows(person) if shared is not None else []
    path = history_database(terminal.home, terminal.backend)
    if not path.exists():
        return []
    database = StateDatabase(path)
    database.add(MEMORY_SCHEMA)
    async with database:
        return await MemoryJobs(StateJobDatabase(database)).rows(person)


async def _learn(terminal: Terminal, options: Namespace) -> ExitCode:
    from ..._person import person_of_server
    from ...agent import headless_agent
    from ...memory.no_model import no_model_text
    from .._operator_policy import local_models_folder, operator_policy

    workspace = (options.workspace or Path.cwd()).expanduser().absolute()
    async with headless_agent(
        terminal.home,
        operator_policy(),
        workspace=workspace,
        backend=terminal.backend,
        storage_url=find_storage_url(),
        artifact_store_url=find_artifact_store_url(),
        overrides={"memoryApiConfigId": options.profile} if options.profile else None,
        local_models=local_models_folder(),
    ) as agent:
        if not agent.manager.services.settings().memory_enabled:
            terminal.error("memory is turned off; turn it on in the settings")
            return ExitCode.FAILED
        report = await agent.memory_pipeline().round(person_of_server(), is_asked_for=True)
    if report.unusable is not None:
        terminal.error(no_model_text(report.unusable))
        return ExitCode.FAILED
    cost = report.cost
    told = {
        "learned": report.saved,
        "nothing": report.nothing,
        "external": report.external,
        "failed": report.failed,
        "consolidation": report.consolidation,
        "cost": cost,
    }
    text = (
        f"Conversations: {report.saved} learned from, {report.nothing} with nothing to learn, {report.external} skipped "
        f"for reading the web, {report.failed} failed. Consolidation: {report.consolidation.replace('_', ' ')}. "
        f"Cost: ${cost:.4f}"
    )
    _done(terminal, told, text)
    return ExitCode.FAILED if report.failed or report.consolidation == "failed" else ExitCode.OK


def _numbers(overview: MemoryOverview) -> dict[str, object]:
    return {
        "folder": overview.folder,
        "notes": len(overview.notes),
        "learned": len(overview.learned),
        "conversations": overview.conversations,
        "consolidatedAt": overview.consolidated_at,
        "spending": overview.spending.to_wire(),
    }


def _days(sources: list[LearnedSource]) -> str:
    return max((source.began_at[:10] for source in sources), default="")


def _done(terminal: Terminal, told: object, text: str) -> ExitCode:
    if terminal.json:
        terminal.document(told)
    else:
        terminal.line(text)
    return ExitCode.OK


COMMAND: Final = CliCommand(
    help="show and change what is remembered between conversations",
    run=_run,
    arguments=_arguments,
    details="Notes are what you asked to be remembered. Learned lines come from finished conversations. Without an\n"
    "action, everything is listed.",
)
