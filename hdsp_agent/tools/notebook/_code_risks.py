"""What running code risks: besides Python there may be shell commands in a cell, and installations.

Not a sandbox: Python can do anything without either. It holds what a cell says plainly to the rules for the same words
in a terminal.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from .._action import Risk

__all__ = ["CodeRisks", "risks_of"]

_SHELLS: Final = frozenset({"bash", "sh", "shell", "zsh", "fish", "ksh"})
_CELL_MAGIC: Final = re.compile(r"\s*%%\s*(!|[\w.]+)[ \t]*([^\n]*)\n?(.*)", re.DOTALL)
_PYTHON_INSIDE: Final = frozenset({"time", "timeit", "prun", "capture", "debug", "px"})
_RUNS_A_PROGRAM: Final = frozenset(
    {"perl", "ruby", "python", "python2", "python3", "pypy", "cmd", "powershell", "node"}
)
_RUNS_SHELL: Final = frozenset({"bash", "sh", "zsh", "system", "sx", "!"})
_ESCAPE: Final = re.compile(r"\s*(?:[\w.\[\]'\", *]+=\s*)?!!?(?!=)\s*(?P<command>.*)", re.DOTALL)
_SHELL_MAGIC: Final = re.compile(r"\s*(?:[\w, ]+=\s*)?%(?:sx|system)\b\s*(?P<command>.*)", re.DOTALL)
# IPython takes these words for commands even without a sign in front, unless a variable has the name.
_ALIAS: Final = re.compile(
    r"\s*%?(?P<command>(?:rm|cp|mv|mkdir|rmdir|cat|ls|ll|ldir|less|more|man)\b(?!\s*[=(.\[,:]).*)", re.DOTALL
)
_PACKAGES: Final = re.compile(
    r"\s*%?(?P<command>(?:pip3?|conda|mamba|micromamba|uv)\s+(?P<what>[-\w]+)(?!\s*[=(.\[,]).*)", re.DOTALL
)
_LOOKS_ONLY: Final = frozenset(
    {"list", "show", "freeze", "check", "info", "search", "tree", "--version", "-V", "--help"}
)
# Two steps for each command: one expression for both would take quadratic time over a line made for that.
_COMMANDS: Final = re.compile(r"[^|;&\n]+")
_INSTALLER: Final = re.compile(r"\b(?:pip3?|conda|mamba|micromamba|uv|poetry|pixi|apt|apt-get|yum|dnf|brew|npm|yarn)\b")
_INSTALLS: Final = re.compile(r"\b(?:install|uninstall|add|remove|update|upgrade|sync|create)\b")
_PYTHON_IN_SHELL: Final = re.compile(r"(?<!\{)\{[^{}\n]+\}(?!\})")


@dataclass(frozen=True)
class CodeRisks:
    """What code risks, and the commands in it, for the rules on commands."""

    risks: frozenset[Risk]
    command: str | None = None
    """What it has a shell do."""
    same_as: str | None = None
    """Commands that would do what it does by magics: rules that forbid them forbid it."""


def risks_of(code: str, language: str | None) -> CodeRisks:
    """What running this risks in a kernel of this language; None counts as Python."""
    name = (language or "python").lower()
    if name in _SHELLS:
        risks: set[Risk] = {"run_code", "shell"}
        return CodeRisks(frozenset(risks | _install(code)), code)
    if not name.startswith(("python", "ipython", "xpython")):
        return CodeRisks(frozenset({"run_code"}))
    commands, packages = _python(code)
    found: set[Risk] = {"run_code"}
    if commands:
        found.add("shell")
    for command in commands:
        found |= _install(command)
    if packages:
        found.add("install")
    return CodeRisks(frozenset(found), "\n".join(commands) or None, "\n".join(packages) or None)


def _install(command: str) -> set[Risk]:
    for one in _COMMANDS.finditer(command):
        installer = _INSTALLER.search(one[0])
        if installer is not None and _INSTALLS.search(one[0], installer.end()):
            return {"install"}
    return set()


def _python(code: str) -> tuple[list[str], list[str]]:
    """Shell commands, and installations by magics."""
    while (magic := _CELL_MAGIC.match(code)) is not None:
        name, line, body = magic[1], magic[2].strip(), magic[3]
        if name == "script":
            name, _, line = line.partition(" ")
        program = name.rsplit("/", 1)[-1]
        if program in _RUNS_SHELL:
            whole = f"{line}\n{body}" if name in ("sx", "system", "!") else body
            return [_told(whole)], []
        if program in _RUNS_A_PROGRAM or magic[1] == "script":
            return [name], []
        if name not in _PYTHON_INSIDE:
            return [], []
        # Which may begin with a magic in turn.
        code = body
    commands: list[str] = []
    packages: list[str] = []
    for statement in _statements(code):
        packaged = _PACKAGES.fullmatch(statement)
        if packaged is not None:
            if packaged["what"] not in _LOOKS_ONLY:
                packages.append(packaged["command"].strip())
            continue
        found = _ESCAPE.fullmatch(statement) or _SHELL_MAGIC.fullmatch(statement) or _ALIAS.fullmatch(statement)
        if found is not None and found["command"].strip():
            commands.append(_told(found["command"].strip()))
    return commands, packages


def _statements(code: str) -> Iterator[str]:
    """Lines, those joined that a backslash continues, without white space around them."""
    held: list[str] = []
    for line in code.split("\n"):
        if line.endswith("\\"):
            held.append(f"{line[:-1]} ")
            continue
        yield "".join([*held, line]).strip()
        held.clear()
    if held:
        yield "".join(held).strip()


def _told(command: str) -> str:
    """The command as the shell gets it, but for what Python puts into it: that shows only when it runs."""
    return _PYTHON_IN_SHELL.sub("$(python_expression)", command)
