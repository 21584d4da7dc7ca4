"""A plain command line written anew for a POSIX shell, so that what was judged is what runs."""

from __future__ import annotations

import re
from typing import Final

from ._plain_command import PlainCommand, PlainRedirection, PlainScript

__all__ = ["render"]

_SAFE: Final = re.compile(r"[A-Za-z0-9_@%+=:,./-]+")
_SAFE_NAME: Final = re.compile(r"[A-Za-z0-9_+./-]+|\[")
_KEYWORDS: Final = frozenset(
    {"if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "in", "select", "function", "coproc", "time"}
)  # fmt: skip


def render(script: PlainScript) -> str:
    """The line for the shell: each word a literal that is quoted here, each operator one of five."""
    pieces: list[str] = []
    for index, command in enumerate(script.commands):
        if index:
            operator = script.operators[index - 1]
            pieces.append({"\n": "\n", ";": "; "}.get(operator, f" {operator} "))
        pieces.append(_command(command))
    return "".join(pieces)


def _command(command: PlainCommand) -> str:
    texts = [word.text for word in command.words]
    return " ".join(
        (
            *(f"{name}={_quoted(value)}" for name, value in command.assignments),
            _words(texts),
            *(_redirection(each) for each in command.redirections),
        )
    )


def _words(texts: list[str]) -> str:
    """The program and its arguments. What follows the keyword ``time`` is a program again."""
    if texts[0] == "time" and len(texts) > 1 and not texts[1].startswith("-"):
        # The keyword does what the program of that name does, which few machines have.
        return f"time {_words(texts[1:])}"
    if texts[0] == "cd" and len(texts) == 2 and not texts[1].startswith("-"):
        # Where links lead, as it was judged; by default a shell goes back by names.
        return f"cd -P {_quoted(texts[1])}"
    return " ".join((_name(texts[0]), *(_quoted(text) for text in texts[1:])))


def _name(name: str) -> str:
    """The program; in quotes the shell takes no keyword for it, and no variable that is set."""
    if name in _KEYWORDS or not _SAFE_NAME.fullmatch(name):
        return _in_quotes(name)
    return name


def _quoted(text: str) -> str:
    return text if _SAFE.fullmatch(text) else _in_quotes(text)


def _in_quotes(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _redirection(redirection: PlainRedirection) -> str:
    number = redirection.descriptor
    if redirection.kind == "nowhere":
        return f"{number}>/dev/null"
    if redirection.kind == "to_output":
        return f"{number}>&{redirection.target}"
    if redirection.kind == "read":
        return f"<{_quoted(redirection.target)}"
    return f"{number}{'>>' if redirection.kind == 'append' else '>'}{_quoted(redirection.target)}"
