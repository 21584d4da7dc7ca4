"""``hdsp-agent list``: the tasks there are, found as the panel's history finds them."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from .._amounts import count_text, time_text
from .._audit_log import record_access
from .._columns import one_line, table
from .._command import CliCommand, ExitCode
from .._home import existing
from .._options import period_options, positive
from .._stores import history

if TYPE_CHECKING:
    from ...messages import HistorySort
    from ...persistence import HistoryHit, HistoryQuery
    from .._terminal import Terminal

__all__ = ["COMMAND"]

_SORTS: Final[dict[str, HistorySort]] = {
    "newest": "newest",
    "oldest": "oldest",
    "most-expensive": "mostExpensive",
    "most-tokens": "mostTokens",
    "most-relevant": "mostRelevant",
}
_USUAL: Final = 50
_PAGE: Final = 200
_SHORT_ID: Final = 8


def _arguments(parser: ArgumentParser) -> None:
    parser.add_argument("text", nargs="*", metavar="WORD", help="words in titles, tasks or conversations")
    parser.add_argument("--sort", choices=tuple(_SORTS), default="newest", help="default: newest")
    parser.add_argument("--user", metavar="NAME", help="tasks of this person")
    parser.add_argument("--workspace", metavar="FOLDER", help="tasks of this workspace")
    parser.add_argument("--notebook", metavar="PATH", help="tasks about this notebook")
    parser.add_argument("--favorites", action="store_true", help="favorites only")
    parser.add_argument(
        "--status", choices=("active", "completed", "delegated"), action="append", help="may be given more than once"
    )
    period_options(parser)
    parser.add_argument(
        "--limit", metavar="N", type=positive, default=_USUAL, help=f"at most N tasks (default: {_USUAL})"
    )


async def _run(terminal: Terminal, options: Namespace) -> ExitCode:
    existing(terminal.home)
    record_access(terminal, "list", "list")
    hits, total = await _found(terminal, options)
    if terminal.json:
        terminal.document({"total": total, "tasks": [_document(hit) for hit in hits]})
        return ExitCode.OK
    if not hits:
        terminal.note("No tasks found.")
        return ExitCode.OK
    ids = _shortest_distinct([hit.item.id for hit in hits])
    rows = [_row(ids[hit.item.id], hit) for hit in hits]
    heads = ("ID", "LAST ACTIVE", "STATUS", "USER", "TOKENS", "COST", "", "TASK")
    head, *lines = table(heads, rows, right=frozenset({4, 5}), width=terminal.width)
    terminal.line(terminal.paint(head, "bold"))
    terminal.lines(lines)
    if total > len(hits):
        terminal.note(f"{len(hits)} of {count_text(total)} tasks; use --limit to see more.")
    return ExitCode.OK


async def _found(terminal: Terminal, options: Namespace) -> tuple[list[HistoryHit], int]:
    hits: list[HistoryHit] = []
    query = _query(options)
    async with history(terminal) as index:
        while True:
            page = await index.search(replace(query, limit=min(options.limit - len(hits), _PAGE)))
            hits += page.hits
            if page.next is None or len(hits) >= options.limit:
                return hits, page.total
            query = replace(query, cursor=page.next)


def _query(options: Namespace) -> HistoryQuery:
    from ...persistence import HistoryQuery

    return HistoryQuery(
        text=" ".join(options.text),
        sort=_SORTS[options.sort],
        workspace=options.workspace,
        notebook=options.notebook,
        favorites=options.favorites,
        statuses=frozenset(options.status) if options.status else None,
        owner=options.user,
        since=_milliseconds(options.since),
        until=_milliseconds(options.until),
    )


def _milliseconds(time: datetime | None) -> int | None:
    return None if time is None else int(time.timestamp() * 1000)


def _document(hit: HistoryHit) -> dict[str, object]:
    found: dict[str, object] = {"user": hit.owner, **hit.item.to_wire()}
    if hit.snippet is not None:
        found["snippet"] = hit.snippet.text
    return found


def _row(short_id: str, hit: HistoryHit) -> tuple[str, ...]:
    item = hit.item
    when = time_text(datetime.fromtimestamp(item.ts / 1000, tz=UTC)) if 0 < item.ts < 2**47 else "-"
    said = one_line(item.title or item.task)
    if hit.snippet is not None and hit.snippet.field == "text":
        said = f"{said} | {one_line(hit.snippet.text)}"
    tokens = count_text(item.tokens_in + item.tokens_out)
    star = "*" if item.is_favorited else ""
    return (
        short_id,
        when,
        item.state or item.status or "-",
        hit.owner or "-",
        tokens,
        f"{item.total_cost:.2f}",
        star,
        said,
    )


def _shortest_distinct(ids: list[str]) -> dict[str, str]:
    """Beginnings of the ids that can be given to other commands."""
    length = _SHORT_ID
    while len({task_id[:length] for task_id in ids}) < len(set(ids)):
        length += 1
    return {task_id: task_id[:length] for task_id in ids}


COMMAND = CliCommand(help="list tasks, newest first", arguments=_arguments, run=_run)
