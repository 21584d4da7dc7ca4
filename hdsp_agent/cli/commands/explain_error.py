"""``hdsp-agent explain-error``: what a pasted error of a model provider means."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from .._command import CliCommand, ExitCode, UsageError

if TYPE_CHECKING:
    from ...providers import ModelError
    from .._terminal import Terminal

__all__ = ["COMMAND"]

_LARGEST: Final = 10 * 1024 * 1024


def _arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "file", metavar="FILE", help="a file with the error, from the provider or a log; - reads standard input"
    )
    parser.add_argument("--provider", metavar="NAME", help="the provider that sent it")
    parser.add_argument("--status", metavar="CODE", type=int, help="the HTTP status it came with")


async def _run(terminal: Terminal, options: Namespace) -> ExitCode:
    from ...providers import classify

    error = classify(provider=options.provider, status=options.status, body=_read(options.file))
    if terminal.json:
        terminal.document(_document(error))
    else:
        terminal.lines(_lines(terminal, error))
    return ExitCode.OK


def _read(file: str) -> str:
    if file == "-":
        raw = sys.stdin.buffer.read(_LARGEST + 1)
    else:
        path = Path(file)
        if not path.is_file():
            raise UsageError(f"{file} is not a file. Give the file the error is in, or - to paste it.")
        with path.open("rb") as stream:
            raw = stream.read(_LARGEST + 1)
    if len(raw) > _LARGEST:
        raise UsageError(f"{file} is larger than 10 MiB. Give only the error message.")
    if not raw.strip():
        raise UsageError("The text is empty. Give the text of the error.")
    return raw.decode("utf-8", "replace")


def _document(error: ModelError) -> dict[str, object]:
    return {
        "class": error.public_class,
        "current": error.current,
        "max": error.limit,
        "output": error.output,
        "index": error.index,
        "remedy": error.remedy,
        "detail": error.kind,
        "retryAfter": error.retry_after,
    }


def _lines(terminal: Terminal, error: ModelError) -> list[str]:
    facts = (
        ("Class", error.kind),
        ("Tokens sent", error.current),
        ("Limit", error.limit),
        ("Requested answer tokens", error.output),
        ("Message that caused it", error.index),
        ("Wait (seconds)", error.retry_after),
    )
    shown = [(name, f"{fact:,}" if isinstance(fact, int) else str(fact)) for name, fact in facts if fact is not None]
    width = max(len(name) for name, _ in shown)
    return [terminal.paint(error.remedy, "bold"), "", *(f"{name:<{width}}  {fact}" for name, fact in shown)]


COMMAND: Final = CliCommand(
    help="explain an error from a model provider, and what the agent does about it",
    run=_run,
    arguments=_arguments,
    details="Classes: overflow, overflow_output_budget, output_cap, payload_too_large, tpm_request_too_large, "
    "rate_limit,\nquota, empty_content, tool_pairing, other. With --json, detail is more specific than class.",
)
