"""``hdsp-agent search``: passages of conversations, memory and notebooks that answer a question."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from .._audit_log import record_access
from .._columns import one_line
from .._command import CliCommand, ExitCode
from .._home import existing, find_artifact_store_url, find_storage_url
from .._options import positive

if TYPE_CHECKING:
    from ...recall import RecallHit
    from .._terminal import Terminal

__all__ = ["COMMAND"]

_KINDS: Final = ("conversation", "memory", "notebook")
_USUAL: Final = 10


def _arguments(parser: ArgumentParser) -> None:
    parser.add_argument("words", nargs="+", metavar="WORD", help="a question, or words to search for")
    parser.add_argument(
        "--kind",
        choices=_KINDS,
        action="append",
        help="where to look; may be given more than once (default: everywhere)",
    )
    parser.add_argument("--workspace", metavar="FOLDER", type=Path, help="whose notebooks are searched (default: here)")
    parser.add_argument("--limit", metavar="N", type=positive, default=_USUAL, help=f"default: {_USUAL}")


async def _run(terminal: Terminal, options: Namespace) -> ExitCode:
    existing(terminal.home)
    record_access(terminal, "list", "search")
    hits = await _found(terminal, options)
    if terminal.json:
        terminal.document([_document(hit) for hit in hits])
        return ExitCode.OK
    if not hits:
        terminal.note("Nothing was found.")
    for hit in hits:
        day = datetime.fromtimestamp(hit.passage.ts / 1000, tz=UTC).astimezone().date().isoformat()
        head = f"{day}  {hit.source.kind}  {one_line(hit.source.title)[:80]}  {hit.source.id}"
        terminal.line(terminal.paint(head, "bold"))
        terminal.line(f"  {one_line(hit.snippet.text)}")
    return ExitCode.OK


async def _found(terminal: Terminal, options: Namespace) -> list[RecallHit]:
    from ..._person import person_of_server
    from ...agent.recall import past_search
    from ...config import ContextProxy, SecretStore
    from ...memory import Memories
    from ...persistence import (
        HistoryIndex,
        StateDatabase,
        TaskStore,
        history_database,
        open_history,
        open_store,
        task_records,
    )
    from ...recall import open_recall
    from .._operator_policy import operator_policy

    person, policy = person_of_server(), operator_policy()
    store = open_store(
        terminal.home, terminal.backend, url=find_storage_url(), artifact_store_url=find_artifact_store_url()
    )
    database = StateDatabase(history_database(terminal.home, terminal.backend))
    index = open_history(store, terminal.backend, database)

    async def opened_store() -> TaskStore:
        return store

    async def opened_index() -> HistoryIndex:
        return index

    config = ContextProxy(terminal.home, policy, SecretStore(terminal.home, policy))
    past = past_search(
        open_recall(index, database),
        config=config,
        person=person,
        workspace=(options.workspace or Path.cwd()).expanduser().absolute(),
        memories=Memories(terminal.home, person, config.trusted_folders.trusted),
        store=opened_store,
        index=opened_index,
    )
    try:
        await config.start()
        async with database, index:
            if not await index.is_complete():
                await index.rebuild(task_records(store, person))
            await past.feed.catch_up(person)
            kinds = frozenset(options.kind) if options.kind else None
            return list(await past.search(person, " ".join(options.words), kinds=kinds, limit=options.limit))
    finally:
        await config.stop()
        await store.stop()


def _document(hit: RecallHit) -> dict[str, object]:
    return {
        "kind": hit.source.kind,
        "source": hit.source.id,
        "title": hit.source.title,
        "place": hit.passage.place,
        "ts": hit.passage.ts,
        "author": hit.passage.author,
        "text": hit.passage.text,
    }


COMMAND: Final = CliCommand(
    help="search conversations, memory and notebooks",
    run=_run,
    arguments=_arguments,
    details="Finds the passages that answer a question, in any of your conversations, in what is remembered, and in the\n"
    "workspace's notebooks. `hdsp-agent list` finds whole conversations.",
)
