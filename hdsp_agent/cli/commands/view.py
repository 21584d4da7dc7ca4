"""``hdsp-agent view``: one task with its newest messages, or one of its logs."""

from __future__ import annotations

import asyncio
from argparse import ArgumentParser, Namespace
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from .._amounts import count_text, duration_text, time_text
from .._audit_log import record_access
from .._columns import cut, one_line
from .._command import CliCommand, ExitCode
from .._options import positive
from .._status import STATUS_COLOURS
from .._stores import find_task, store_to_read

if TYPE_CHECKING:
    from ...persistence import AnyRecord, Records, StoredTaskState, Stream, TaskReader
    from .._terminal import Colour, Terminal

__all__ = ["COMMAND"]

_STREAMS: Final[dict[Stream, str]] = {
    "api": "messages",
    "summaries": "summaries",
    "tools": "tools",
    "ui": "ui",
    "marks": "marks",
}
_SHOWN: Final = 10
_LINE: Final = 100
_POLL_SECONDS: Final = 0.5


def _arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--uuid", metavar="U", required=True, help="the task's id, or its first 8 characters or more")
    streams = parser.add_mutually_exclusive_group()
    for stream, option, what in (
        ("api", "--messages", "messages to and from the model"),
        ("summaries", "--summaries", "summaries that replace older messages"),
        ("tools", "--tools", "tool calls"),
        ("ui", "--ui", "messages on the screen"),
        ("marks", "--marks", "what was condensed, truncated, removed and undone"),
    ):
        streams.add_argument(option, dest="stream", action="store_const", const=stream, help=what)
    parser.add_argument("--limit", metavar="N", type=positive, help="only the newest N records")
    parser.add_argument("--follow", action="store_true", help="keep printing new records until the task ends")


async def _run(terminal: Terminal, options: Namespace) -> ExitCode:
    async with store_to_read(terminal.home, terminal.backend) as store:
        reader = await find_task(store, options.uuid)
        record_access(terminal, "read", "view", reader.task_id)
        stream: Stream | None = options.stream
        if stream is None and options.follow:
            stream = "ui"
        if stream is None:
            await _overview(terminal, reader, options.limit or _SHOWN)
            return ExitCode.OK
        newest = options.limit or (_SHOWN if options.follow else None)
        records = _follow(reader, stream, newest) if options.follow else _all(reader.streams[stream], newest)
        async for record in records:
            _show(terminal, record)
            if options.follow:
                terminal.flush()
    return ExitCode.OK


def _show(terminal: Terminal, record: AnyRecord) -> None:
    from .._record_texts import describe

    if terminal.json:
        terminal.record(record.to_wire())
        return
    text = describe(record)
    terminal.line(f"{terminal.paint(f'[{text.key}] {text.what}', 'cyan')} ({text.details})")
    terminal.lines(f"    {line}".rstrip() for line in text.body.splitlines())


async def _all(records: Records[AnyRecord], newest: int | None) -> AsyncIterator[AnyRecord]:
    if newest is None:
        async for record in records.iterate():
            yield record
        return
    for record in await records.newest(newest):
        yield record


async def _follow(reader: TaskReader, stream: Stream, newest: int | None) -> AsyncIterator[AnyRecord]:
    """The newest records and then each new one; of a message that streams, its end."""
    records = reader.streams[stream]
    shown = await records.count()
    key, first = 0, True
    while True:
        over = await _is_over(reader)
        if stream == "marks":
            # Their numbers are not part of them; there are few.
            marks = [mark async for mark in records.iterate()]
            for mark in marks[max(0, shown - (newest or 0)) if first else shown :]:
                yield mark
            shown = len(marks)
        else:
            page = await records.newest(newest or _SHOWN) if first else await records.page(after=key)
            for record in page:
                if record is page[-1] and getattr(record, "partial", False) and not over:
                    break
                key = _key(record)
                yield record
        first = False
        if over:
            return
        await asyncio.sleep(_POLL_SECONDS)


def _key(record: AnyRecord) -> int:
    from ...messages import ClineMessage
    from ...persistence import ApiRecord, SummaryRecord, ToolRecord

    if isinstance(record, ClineMessage):
        return record.ts
    if isinstance(record, SummaryRecord):
        return record.summary_id
    return record.seq if isinstance(record, (ApiRecord, ToolRecord)) else 0


async def _is_over(reader: TaskReader) -> bool:
    from ...persistence import COMPLETED_STATUSES

    return (await reader.read_state()).status in COMPLETED_STATUSES


async def _overview(terminal: Terminal, reader: TaskReader, limit: int) -> None:
    state = await reader.read_state()
    counts = {stream: await reader.streams[stream].count() for stream in _STREAMS}
    messages = await reader.api.newest(limit)
    summaries = await reader.summaries.newest(limit)
    begun, ended, seconds = _times(reader, state)
    if terminal.json:
        terminal.document(
            {
                "uuid": reader.task_id,
                "metadata": reader.metadata.to_wire(),
                "state": state.to_wire(),
                "durationSeconds": seconds,
                "counts": {name: counts[stream] for stream, name in _STREAMS.items()},
                "newestMessages": [record.to_wire() for record in messages],
                "newestSummaries": [record.to_wire() for record in summaries],
            }
        )
        return
    for name, value, colour in _facts(reader, state):
        if value:
            text = cut(one_line(value), _LINE)
            terminal.line(f"{name}: {terminal.paint(text, colour) if colour else text}")
    terminal.line(f"Started: {time_text(begun)}")
    if ended is not None:
        terminal.line(f"Completed: {time_text(ended)}")
    if seconds is not None:
        terminal.line(f"Duration: {duration_text(seconds)}")
    terminal.line()
    terminal.line(terminal.paint("Statistics:", "bold"))
    terminal.line(f"  LLM calls: {count_text(state.llm_call_count)}")
    terminal.line(f"  Tool calls: {count_text(state.tool_call_count)}")
    terminal.line(f"  Total tokens: {count_text(state.total_tokens_used)}")
    terminal.line(f"  Compressions: {count_text(state.compression_count)}")
    if state.history_item is not None and state.history_item.total_cost:
        terminal.line(f"  Cost: ${state.history_item.total_cost:,.4f}")
    _short(terminal, "Messages", counts["api"], messages)
    _short(terminal, "Summaries", counts["summaries"], summaries)
    rest = {"Tool runs": counts["tools"], "UI messages": counts["ui"], "Marks": counts["marks"]}
    terminal.line()
    terminal.lines(f"{name}: {count_text(count)}" for name, count in rest.items())


def _short(terminal: Terminal, title: str, count: int, records: Sequence[AnyRecord]) -> None:
    from .._record_texts import describe

    terminal.line()
    of = f" (showing last {len(records)})" if len(records) < count else ""
    terminal.line(terminal.paint(f"{title}: {count_text(count)}{of}", "bold"))
    for record in records:
        text = describe(record)
        terminal.line(cut(f"  [{text.key}] {text.what}: {one_line(text.short)}", terminal.width or _LINE))


def _facts(reader: TaskReader, state: StoredTaskState) -> list[tuple[str, str, Colour | None]]:
    metadata, item, key = reader.metadata, state.history_item, reader.metadata.task_key
    return [
        ("Task UUID", reader.task_id, None),
        ("Title", (item.title or item.task) if item is not None else "", None),
        ("Status", state.status, STATUS_COLOURS.get(state.status)),
        ("Error", state.error or "", None),
        (
            "Repository" if key.task_type == "issue" else "Source",
            "/".join(filter(None, (key.task_source, key.owner, key.repo))),
            None,
        ),
        ("Task", f"{key.task_type or 'task'} #{key.task_id}" if key.task_id else "", None),
        ("User", metadata.user or "", None),
        ("Workspace", metadata.workspace or "", None),
        ("Notebook", metadata.notebook.path if metadata.notebook else "", None),
        ("Mode", metadata.mode or "", None),
        (
            "Model",
            "/".join(str(metadata.config.get(name) or "") for name in ("llm_provider", "model")).strip("/"),
            None,
        ),
        ("Parent", metadata.parent_task_id or "", None),
        ("Forked from", metadata.forked_from or "", None),
    ]


def _times(reader: TaskReader, state: StoredTaskState) -> tuple[datetime | None, datetime | None, float | None]:
    from ...persistence import parse_iso_time

    begun = parse_iso_time(state.started_at or "") or parse_iso_time(reader.metadata.created_at)
    ended = parse_iso_time(state.completed_at or "")
    if begun is None:
        return None, ended, None
    return begun, ended, max(0.0, ((ended or datetime.now(tz=UTC)) - begun).total_seconds())


COMMAND = CliCommand(
    help="show a task, or one of its logs",
    arguments=_arguments,
    run=_run,
    details="With --json a task is one document, and a log has a line of JSON for each of its records.",
)
