"""``hdsp-agent verify``: whether notebooks show what they are saved with, when they run from the top."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from .._command import CliCommand, ExitCode, UsageError
from .._options import positive

if TYPE_CHECKING:
    from ...errors import HdspAgentError
    from ...verify import NotebookReport
    from .._terminal import Terminal

__all__ = ["COMMAND"]

_HINTS: Final = {
    "cell_too_long": "Allow more with --timeout.",
    "no_such_kernel": "Choose one with --kernel.",
    "kernel_not_started": "Choose another one with --kernel.",
    "too_much_to_copy": "Verify it with --in-place: then what the notebook writes changes your files.",
}


def _arguments(parser: ArgumentParser) -> None:
    parser.add_argument("notebooks", nargs="+", metavar="NOTEBOOK", type=Path, help="a notebook, or several")
    parser.add_argument("--kernel", metavar="NAME", help="the kernel to run in (default: the notebook's own)")
    parser.add_argument(
        "--timeout", metavar="SECONDS", type=positive, default=600, help="how long a cell may run (default: 600)"
    )
    parser.add_argument(
        "--tolerance", metavar="SHARE", type=_share, default=1e-8,
        help="how far numbers may be apart, as a share of them (default: 1e-8)",
    )  # fmt: skip
    parser.add_argument(
        "--in-place", action="store_true", help="run in the notebook's own folder, not in a copy of it that is deleted"
    )
    parser.add_argument("--junit", metavar="FILE", type=Path, help="also write the report there as JUnit XML")


def _share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1:
        raise ArgumentTypeError(f"{text} is not a share: a number from 0 to below 1")
    return value


async def _run(terminal: Terminal, options: Namespace) -> ExitCode:
    from ...errors import HdspAgentError
    from ...verify import NotebookReport, Tolerance, VerifyOptions, junit_xml, verify_notebook

    if options.junit is not None and not options.junit.absolute().parent.is_dir():
        raise UsageError(f"The folder of {options.junit} does not exist, so the report cannot be written there.")
    tolerance = Tolerance(relative=options.tolerance) if options.tolerance else Tolerance(relative=0, absolute=0)
    chosen = VerifyOptions(
        kernel=options.kernel, cell_seconds=float(options.timeout), in_place=options.in_place, tolerance=tolerance
    )
    reports: list[NotebookReport] = []
    for path in options.notebooks:
        try:
            report = await verify_notebook(path, chosen)
        except HdspAgentError as error:
            # The others run all the same.
            report = NotebookReport(str(path), options.kernel or "", (), 0.0, 0, _explained(error))
        reports.append(report)
        if not terminal.json:
            _tell(terminal, report)
    if options.junit is not None:
        options.junit.write_text(junit_xml(reports), encoding="utf-8")
    if terminal.json:
        terminal.document([_document(report) for report in reports])
    if any(report.error is not None for report in reports):
        return ExitCode.FAILED
    return ExitCode.OK if all(report.is_proved for report in reports) else ExitCode.FOUND


def _explained(error: HdspAgentError) -> str:
    """What went wrong, with the option that helps."""
    hint = _HINTS.get(str(error.params.get("why")))
    return error.message if hint is None else f"{error.message} {hint}"


def _tell(terminal: Terminal, report: NotebookReport) -> None:
    if report.error is not None:
        terminal.error(report.error)
        return
    for cell in report.differing:
        terminal.line(f"{report.path}: cell {cell.number}: {terminal.paint(cell.cause or '', 'yellow')}: {cell.detail}")
    count = sum(cell.state == "same" for cell in report.cells)
    skipped = sum(cell.state == "skipped" for cell in report.cells)
    unsaved = sum(cell.state == "unsaved" for cell in report.cells)
    parts = [
        f"{count} as saved",
        *([f"{len(report.differing)} not"] if report.differing else []),
        *([f"{unsaved} without a saved output"] if unsaved else []),
        *([f"{skipped} skipped"] if skipped else []),
    ]
    terminal.line(f"{report.path}: {', '.join(parts)} ({report.seconds:.1f} s)")


def _document(report: NotebookReport) -> dict[str, object]:
    return {
        "path": report.path,
        "kernel": report.kernel,
        "proved": report.is_proved,
        "error": report.error,
        "seconds": round(report.seconds, 3),
        "runs": report.runs,
        "cells": [
            {
                "number": cell.number,
                "id": cell.id,
                "state": cell.state,
                "cause": cell.cause,
                "detail": cell.detail,
                "seconds": round(cell.seconds, 3),
            }
            for cell in report.cells
        ],
    }


COMMAND: Final = CliCommand(
    help="check that notebooks show what is saved in them when they run from the top",
    run=_run,
    arguments=_arguments,
    details="Runs each notebook in a new kernel, in a copy of its folder that is deleted afterwards, and compares every\n"
    "output with the saved one. Float noise, addresses and the layout of tables make no difference. What differs is\n"
    "told with its likely cause. Tags and comments of nbval are respected. Exit code 0 says that all is as saved, 3 that\n"
    "something differs, 1 that a notebook could not be run. The others are verified all the same.",
    interrupted="interrupted; no report was made",
)
