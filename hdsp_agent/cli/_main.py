"""The program: reads the command line, runs a command, turns whatever goes wrong into one line and an exit code."""

from __future__ import annotations

import argparse
import os
import pkgutil
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Final, NoReturn

from .._version import __version__
from ..errors import HdspAgentError
from . import commands
from ._command import CliCommand, ExitCode, exit_code_of
from ._home import find_home
from ._terminal import Terminal

__all__ = ["main"]

PROGRAM: Final = "hdsp-agent"

_EPILOG: Final = """\
exit codes: 0 success, 1 failure, 2 bad arguments or no such task, 3 something needs your attention, 130 interrupted

The storage folder is --home, else what the configuration of Jupyter sets as HdspAgentApp.storage_dir, else
$HDSP_AGENT_HOME, else ~/.hdsp-agent. How tasks are stored is --storage-backend, else
HdspAgentApp.storage_backend, else $HDSP_AGENT_STORAGE_BACKEND, else files.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program and return its exit code."""
    _open_closed_streams()
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        return _run(given)
    except BrokenPipeError:
        # Whoever read our output has seen enough. What is still buffered must not be tried again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.BROKEN_PIPE
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except Exception as error:
        if os.environ.get("HDSP_AGENT_DEBUG"):
            raise
        from ..config import keys_in_use

        said = keys_in_use.mask(_sentence(error))
        print(f"{PROGRAM}: {said} Set HDSP_AGENT_DEBUG=1 to see where.", file=sys.stderr)
        return ExitCode.FAILED


def _open_closed_streams() -> None:
    """Give what was started without input or output an empty one: else the next file that is opened would be it."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is not None:
            continue
        try:
            os.fstat(number)
        except OSError:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
        setattr(sys, name, open(os.devnull, "w" if number else "r", encoding="utf-8"))  # noqa: SIM115 -- until the end


def _run(given: Sequence[str]) -> ExitCode:
    names = dict(_command_modules())
    # Only what may be the command is loaded; all of them for the help and for what is misspelt.
    wanted = {name: module for name, module in names.items() if name in given}
    if not wanted or given[0] in ("-h", "--help"):
        wanted = names
    parser = _parser({name: _load(module) for name, module in wanted.items()})
    options = parser.parse_args(given)
    if options.command is None:
        parser.print_help(sys.stderr)
        return ExitCode.BAD_REQUEST
    terminal = Terminal(json=getattr(options, "json", False), quiet=getattr(options, "quiet", False))
    command: CliCommand = options.command
    try:
        # Imported here: it takes longer than all else that the help needs.
        import asyncio

        terminal.home = find_home(getattr(options, "home", None))
        terminal.given_backend = getattr(options, "storage_backend", None)
        code = asyncio.run(_complete(command, terminal, options))
        terminal.flush()
    except HdspAgentError as error:
        terminal.error(error.message)
        return exit_code_of(error)
    except KeyboardInterrupt:
        terminal.error(command.interrupted)
        raise
    finally:
        terminal.close()
    return code


async def _complete(command: CliCommand, terminal: Terminal, options: argparse.Namespace) -> ExitCode:
    return await command.run(terminal, options)


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        return f"The operating system refused it: {where}{error.strerror}."
    said = " ".join(str(error).split())
    return f"Something went wrong inside HDSP Agent: {type(error).__name__}: {said}."


def _command_modules() -> Iterator[tuple[str, str]]:
    for module in pkgutil.iter_modules(commands.__path__):
        if not module.name.startswith("_"):
            yield module.name.rstrip("_").replace("_", "-"), f"{commands.__name__}.{module.name}"


def _load(module: str) -> CliCommand:
    command: CliCommand = import_module(module).COMMAND
    return command


class _Parser(argparse.ArgumentParser):
    """A parser that says in one line what is wrong."""

    def error(self, message: str) -> NoReturn:
        self.exit(ExitCode.BAD_REQUEST, f"{self.prog}: {message}. See {self.prog} --help.\n")


def _parser(available: dict[str, CliCommand]) -> argparse.ArgumentParser:
    common = _common_options()
    parser = _Parser(
        prog=PROGRAM,
        description="Run HDSP Agent, and view, clean up, back up and move its conversations.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        parents=[common],
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    parser.set_defaults(command=None)
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND")
    for name, command in available.items():
        subparser = subparsers.add_parser(
            name,
            help=command.help,
            description=f"{command.help}\n\n{command.details}".strip(),
            formatter_class=argparse.RawDescriptionHelpFormatter,
            parents=[common],
            allow_abbrev=False,
        )
        command.arguments(subparser)
        subparser.set_defaults(command=command)
    return parser


def _common_options() -> _Parser:
    # Left out of the result unless given: else a command's own default would hide what stood before its name.
    common = _Parser(add_help=False, argument_default=argparse.SUPPRESS)
    group = common.add_argument_group("common options")
    group.add_argument("--home", metavar="FOLDER", help="the storage folder")
    group.add_argument(
        "--storage-backend",
        "--backend",
        choices=("files", "sqlite", "postgres"),
        help="how tasks are stored: a folder for each, one SQLite database, or PostgreSQL",
    )
    group.add_argument("--json", action="store_true", help="print only JSON on standard output")
    group.add_argument("--quiet", action="store_true", help="no progress, no notes, no warnings")
    return common
