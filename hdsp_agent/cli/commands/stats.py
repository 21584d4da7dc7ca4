"""``hdsp-agent stats``: show task statistics."""

from __future__ import annotations

import asyncio
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from .._amounts import bytes_text, count_text, duration_text
from .._columns import one_line, table
from .._command import CliCommand, ExitCode
from .._options import period_options, positive
from .._status import STATUSES
from .._stores import store_to_read

if TYPE_CHECKING:
    from ...persistence import AlertLevel, PlaceUse, Statistics, StorageLimits, StorageUse, Totals
    from .._terminal import Terminal

__all__ = ["COMMAND"]

_DAYS: Final = 14
_MODELS: Final = 10
_TASKS: Final = 20
_FAILURES: Final = 0.1
_WAITING: Final = 100
"""More failures or more unfinished tasks than this are to be looked at."""


def _arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--summary", action="store_true", help="only totals, without tables of states, models and days")
    parser.add_argument("--user", metavar="NAME", help="tasks of this person")
    period_options(parser)
    parser.add_argument("--status", choices=STATUSES, action="append", help="may be given more than once")
    parser.add_argument(
        "--limit",
        metavar="N",
        type=positive,
        default=_TASKS,
        help=f"list at most N matching tasks (default: {_TASKS})",
    )


async def _run(terminal: Terminal, options: Namespace) -> ExitCode:
    from ...persistence import alert_level, measure, statistics
    from .._task_search import matching, task_table

    async with store_to_read(terminal.home, terminal.backend) as store:
        found = await statistics(
            store, user=options.user, since=options.since, until=options.until, status=options.status,
            progress=terminal.progress,
        )  # fmt: skip
        tasks = None
        if _is_search(options):
            tasks = await matching(
                store, user=options.user, since=options.since, until=options.until, statuses=options.status,
                progress=terminal.progress,
            )  # fmt: skip
        use = await measure(terminal.home, store, progress=terminal.progress)
    level = alert_level(use, await _limits(terminal))
    if terminal.json:
        listed = {} if tasks is None else {"tasks": [task.document() for task in tasks]}
        terminal.document({**_document(found, use, level), **listed})
    else:
        terminal.lines(_summary(terminal, found, use))
        if not options.summary:
            terminal.lines(_tables(terminal, found))
        if tasks:
            terminal.lines(task_table(tasks, options.limit, terminal.width))
        for warning in _warnings(found, use, level, whole=tasks is None and options.status is None):
            terminal.warn(warning)
    return ExitCode.FOUND if level == "critical" else ExitCode.OK


def _is_search(options: Namespace) -> bool:
    asked = (options.user, options.since, options.until, options.status)
    return not options.summary and any(value is not None for value in asked)


async def _limits(terminal: Terminal) -> StorageLimits:
    from ...errors import HdspAgentError
    from ...persistence import StorageLimits
    from .._storage_settings import storage_settings

    try:
        settings = await asyncio.to_thread(storage_settings, terminal.home)
    except HdspAgentError as error:
        terminal.warn(error.message)
        return StorageLimits()
    return StorageLimits.of_gigabytes(settings.size_warning_gigabytes, settings.size_critical_gigabytes)


def _summary(terminal: Terminal, found: Statistics, use: StorageUse) -> Iterator[str]:
    total, packed = found.total, use.completed.bytes < use.completed.unpacked_bytes
    completed = bytes_text(use.completed.unpacked_bytes)
    yield terminal.paint("Context Storage Statistics", "bold")
    yield "=" * 26
    yield ""
    yield f"Total contexts: {count_text(total.tasks)}"
    yield f"  - Running: {count_text(found.running)}"
    yield f"  - Paused: {count_text(found.paused)}"
    yield f"  - Completed: {count_text(found.completed)}"
    if found.unreadable:
        yield f"  - Unreadable: {count_text(found.unreadable)}"
    yield ""
    yield "Disk usage:"
    yield f"  - Running: {bytes_text(use.running.bytes)}"
    yield f"  - Completed: {completed}" + (f" ({bytes_text(use.completed.bytes)} after compression)" if packed else "")
    yield f"  - Everything in the folder: {bytes_text(use.total_bytes)}"
    yield ""
    yield "Average per task:"
    yield f"  - Messages: {count_text(total.average(total.messages))}"
    yield f"  - Tokens: {count_text(total.average(total.tokens))}"
    yield f"  - Duration: {duration_text(total.average_seconds)}"
    yield f"  - Compressions: {total.average(total.compressions):.1f}"
    if total.cost:
        yield f"  - Cost: ${total.average(total.cost):,.4f} (${total.cost:,.2f} in all)"
    yield ""
    yield "By user:"
    by_size = sorted(found.by_user.items(), key=lambda entry: (-entry[1].tasks, entry[0]))
    for user, totals in by_size:
        share = totals.tasks / total.tasks if total.tasks else 0.0
        yield f"  - {one_line(user) or '(nobody named)'}: {_tasks(totals.tasks)} ({share:.0%})"


def _tables(terminal: Terminal, found: Statistics) -> Iterator[str]:
    days = sorted(found.by_day.items(), reverse=True)
    models = sorted(found.by_model.items(), key=lambda entry: (-entry[1].tasks, entry[0]))
    parts: tuple[tuple[str, list[tuple[str, Totals]], int], ...] = (
        (
            "By status",
            [(status, found.by_status[status]) for status in STATUSES if status in found.by_status],
            len(STATUSES),
        ),
        ("By model", [(model or "(none named)", totals) for model, totals in models], _MODELS),
        ("By day", [(day.isoformat(), totals) for day, totals in days], _DAYS),
    )
    for title, rows, most in parts:
        if rows:
            yield ""
            yield terminal.paint(f"{title}:", "bold")
            yield from (f"  {line}" for line in _table(rows[:most]))
            if len(rows) > most:
                yield f"  and {count_text(len(rows) - most)} more; use --json to see them"
    if found.long_running:
        yield ""
        yield terminal.paint("Unfinished for more than 6 hours:", "bold")
        yield from (f"  {task_id}" for task_id in found.long_running[:_MODELS])


def _table(rows: list[tuple[str, Totals]]) -> Iterator[str]:
    cells = [
        (
            name,
            count_text(totals.tasks),
            count_text(totals.tokens),
            duration_text(totals.average_seconds),
            f"{totals.cost:,.2f}",
        )
        for name, totals in rows
    ]
    return table(("", "TASKS", "TOKENS", "AVERAGE TIME", "COST"), cells, right=frozenset({1, 2, 3, 4}))


def _tasks(number: int) -> str:
    return "1 task" if number == 1 else f"{number:,} tasks"


def _warnings(found: Statistics, use: StorageUse, level: AlertLevel, *, whole: bool) -> Iterator[str]:
    """What people are warned of; what was searched for on purpose is no news."""
    if level != "ok":
        yield (
            f"{level}: the storage folder uses {bytes_text(use.total_bytes)}. To see what can be "
            "deleted, run hdsp-agent clean --dry-run."
        )
    if whole and found.failure_rate > _FAILURES:
        yield f"{found.failure_rate:.0%} of the finished tasks failed. To list them, run hdsp-agent stats --status failed."
    if whole and found.running > _WAITING:
        yield f"{found.running:,} tasks are not finished. To see which are abandoned, run hdsp-agent doctor."


def _document(found: Statistics, use: StorageUse, level: AlertLevel) -> dict[str, object]:
    return {
        "contexts": {
            "total": found.total.tasks,
            "running": found.running,
            "paused": found.paused,
            "completed": found.completed,
            "unreadable": found.unreadable,
        },
        "failureRate": found.failure_rate,
        "total": _totals(found.total),
        "byStatus": {name: _totals(totals) for name, totals in found.by_status.items()},
        "byUser": {name: _totals(totals) for name, totals in found.by_user.items()},
        "byModel": {name: _totals(totals) for name, totals in found.by_model.items()},
        "byDay": {day.isoformat(): _totals(totals) for day, totals in sorted(found.by_day.items())},
        "longRunning": list(found.long_running),
        "disk": {
            "level": level,
            "totalBytes": use.total_bytes,
            "running": _place(use.running),
            "completed": _place(use.completed),
            "otherBytes": dict(use.parts),
        },
    }


def _totals(totals: Totals) -> dict[str, object]:
    return {
        "tasks": totals.tasks,
        "messages": totals.messages,
        "llmCalls": totals.llm_calls,
        "toolCalls": totals.tool_calls,
        "tokens": totals.tokens,
        "tokensIn": totals.tokens_in,
        "tokensOut": totals.tokens_out,
        "cost": totals.cost,
        "compressions": totals.compressions,
        "compressionRatio": totals.compression_ratio,
        "averageSeconds": totals.average_seconds,
        "longestSeconds": totals.longest_seconds,
    }


def _place(place: PlaceUse) -> dict[str, int]:
    return {
        "tasks": place.tasks,
        "packedTasks": place.packed_tasks,
        "bytes": place.bytes,
        "unpackedBytes": place.unpacked_bytes,
    }


COMMAND = CliCommand(
    help="show task statistics",
    arguments=_arguments,
    run=_run,
    details="Disk usage is for the whole folder, whichever tasks are counted. The exit code is 3 if the folder is over "
    "its critical size.",
)
