"""``hdsp-agent doctor``: looks the storage folder over, and mends it."""

from __future__ import annotations

import asyncio
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from .._amounts import count_text
from .._command import CliCommand, ExitCode
from .._home import existing, find_artifact_store_url, find_storage_url

if TYPE_CHECKING:
    from ...persistence import DoctorFinding, DoctorReport
    from .._terminal import Colour, Terminal

__all__ = ["COMMAND"]


def _arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--repair", action="store_true", help="repair what can be repaired; nothing is deleted")


async def _run(terminal: Terminal, options: Namespace) -> ExitCode:
    from ...memory.memory_doctor import examine_memory
    from ...persistence import examine

    home = existing(terminal.home)
    report = await examine(
        home,
        backend=terminal.backend,
        url=find_storage_url(),
        artifact_store_url=find_artifact_store_url(),
        repair=options.repair,
        progress=terminal.progress,
    )
    report.findings.extend(await asyncio.to_thread(examine_memory, home, repair=options.repair))
    if terminal.json:
        terminal.document(_document(report))
    else:
        _tell(terminal, report, repaired=options.repair)
    return ExitCode.FOUND if report.problems else ExitCode.OK


def _tell(terminal: Terminal, report: DoctorReport, *, repaired: bool) -> None:
    parts: tuple[tuple[str, Colour, list[DoctorFinding]], ...] = (
        ("repaired", "green", report.mended),
        ("problem", "red", report.problems),
        ("note", "dim", report.notes),
    )
    for word, colour, findings in parts:
        for finding in findings:
            terminal.line(f"{terminal.paint(word, colour)}: {finding.path}: {' '.join(finding.message.split())}")
    left = len(report.problems)
    terminal.line(
        f"{count_text(report.tasks)} tasks checked: {count_text(left)} problems, {len(report.mended)} repaired, "
        f"{len(report.notes)} notes."
    )
    if left and not repaired:
        terminal.note("To repair what can be repaired, run hdsp-agent doctor --repair.")


def _document(report: DoctorReport) -> dict[str, object]:
    return {
        "tasks": report.tasks,
        "problems": [_finding(finding) for finding in report.problems],
        "mended": [_finding(finding) for finding in report.mended],
        "notes": [_finding(finding) for finding in report.notes],
    }


def _finding(finding: DoctorFinding) -> dict[str, object]:
    return {"kind": finding.kind, "path": str(finding.path), "taskId": finding.task_id, "message": finding.message}


COMMAND = CliCommand(
    help="check the storage folder, and repair it",
    arguments=_arguments,
    run=_run,
    details="Without --repair, nothing is changed. The exit code is 3 if a problem remains.",
)
