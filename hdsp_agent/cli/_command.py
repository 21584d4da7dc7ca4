"""What a command is, and what the process says when it ends."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import IntEnum

from ..errors import HdspAgentError, InvalidInput, NotFound
from ._terminal import Terminal

__all__ = ["CliCommand", "ExitCode", "UsageError", "exit_code_of", "no_arguments"]


class ExitCode(IntEnum):
    """The exit codes that scripts may rely on."""

    OK = 0
    FAILED = 1
    BAD_REQUEST = 2
    """Bad arguments, or a task or file that does not exist."""
    FOUND = 3
    """Nothing failed, and something was found that wants attention."""
    TIMED_OUT = 124
    """The time was over that the command line gives; as ``timeout`` says it."""
    INTERRUPTED = 130
    BROKEN_PIPE = 141


class UsageError(InvalidInput):
    """What was asked for on the command line makes no sense."""


def no_arguments(parser: ArgumentParser) -> None:
    """A command without arguments of its own."""


@dataclass(frozen=True)
class CliCommand:
    """A subcommand: its line in the help, its arguments, what it does. ``details`` is for its own help page."""

    help: str
    run: Callable[[Terminal, Namespace], Awaitable[ExitCode]]
    arguments: Callable[[ArgumentParser], None] = no_arguments
    details: str = ""
    interrupted: str = "interrupted; finished steps are kept, and the same command continues from there"
    """Said when it was ended by Ctrl+C."""


def exit_code_of(error: HdspAgentError) -> ExitCode:
    """How the process ends with this error."""
    return ExitCode.BAD_REQUEST if isinstance(error, (InvalidInput, NotFound)) else ExitCode.FAILED
