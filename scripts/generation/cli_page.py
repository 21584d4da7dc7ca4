"""``docs/reference/cli.md``: every command of ``hdsp-agent`` with its options, read from the parsers themselves."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Final

from hdsp_agent.cli import _main as program

from .markdown import code, header, one_line, table

__all__ = ["write_cli_page"]

_INTRODUCTION: Final = """
`hdsp-agent COMMAND`, `jupyter hdsp-agent COMMAND` and `python -m hdsp_agent.cli COMMAND` are the same program.
[Work from the terminal](../guides/terminal.md) shows how to use it. `--json`, `--quiet`, `--home` and
`--storage-backend` may stand before or after any command.
"""

_COMMON: Final = frozenset({"help", "home", "storage_backend", "json", "quiet"})


def write_cli_page() -> str:
    """The file's text, before prettier."""
    modules = dict(program._command_modules())
    parser = program._parser({name: program._load(module) for name, module in modules.items()})
    parts = [header("Command line", "hdsp_agent/cli", _INTRODUCTION)]
    parts += ["## Common options", _options(parser, hidden=frozenset({"help"}))]
    for name, command in _commands(parser):
        parts += [f"## {name}", *_described(command), _options(command, hidden=_COMMON)]
        for action, narrower in _commands(command):
            parts += [f"### {name} {action}", *_described(narrower), _options(narrower, hidden=_COMMON)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _commands(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.items()


def _described(parser: argparse.ArgumentParser) -> Iterator[str]:
    for paragraph in (parser.description or "").split("\n\n"):
        if paragraph.strip():
            text = one_line(paragraph.replace("%%", "%"))
            yield text[0].upper() + text[1:] + ("" if text.endswith((".", "!", "?", ":")) else ".")


def _options(parser: argparse.ArgumentParser, *, hidden: frozenset[str]) -> str:
    rows = [
        (
            _signature(action),
            one_line((action.help or "").replace("%(default)s", str(action.default)).replace("%%", "%")),
        )
        for action in parser._actions
        if action.dest not in hidden
        and action.help != argparse.SUPPRESS
        and not isinstance(action, argparse._SubParsersAction)
    ]
    return table(("Option", "What it does"), rows) if rows else ""


def _signature(action: argparse.Action) -> str:
    value = action.metavar if isinstance(action.metavar, str) else None
    if value is None and action.nargs != 0:
        value = f"{{{','.join(map(str, action.choices))}}}" if action.choices else action.dest.upper()
    if not action.option_strings:
        return code(value or action.dest)
    return ", ".join(code(f"{option} {value}" if value else option) for option in action.option_strings)
