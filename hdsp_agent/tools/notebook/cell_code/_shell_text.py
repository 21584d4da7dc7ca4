"""Texts that a cell gives to a shell: whether one is what it looks like, and what it may be made of."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import Final

from ..._plain_command import NotPlain, parse_plain

__all__ = ["is_literal", "is_plain_package_command", "pieces"]

_LONGEST: Final = 10_000
_INTERPOLATED: Final = re.compile(r"[{}$]")
"""IPython puts in the values of variables, inside quotes as well."""
_SHELLS_DISAGREE: Final = re.compile(
    r"[{}]|<<|[<>]\(|&>|\|&|>&(?!\d)|\[\[|\(\(|;&|;;|(?:^|\s)=|\\$|(?:^|[;|&(\n])\s*(?:function|select|coproc)\b"
)
"""Which shell it is depends on the machine and on the magic: what bash, dash, zsh and fish read in different ways."""
_PACKAGE_COMMAND: Final = re.compile(
    r"(?:[\w.,:/@=+\[\]~ \t-]|\"[\w.,:/@=+\[\]~<>!*; \t-]*\"|'[\w.,:/@=+\[\]~<>!*; \t-]*')+", re.ASCII
)
_IN_BRACES: Final = re.compile(r"\{([^{}]*)\}")
_BETWEEN_COMMANDS: Final = re.compile(r"[;|&\n\r()`{}]+|\$(?=\()")
_JOINS: Final = re.compile(r"[\"'\\#]+")
_REDIRECTION: Final = re.compile(r"(?<!\d)\d*[<>]+\s*([^\s<>]*)")
_SPACES: Final = re.compile(r"[\s\0]+|\$(?!\w)")
_FIRST_WORDS: Final = re.compile(r"(?:(?:if|then|else|elif|do|while|until|time|coproc)\s+|!+\s*)+")


def is_literal(text: str, *, interpolated: bool) -> bool:
    """Whether a shell gets it word for word, every shell reads it alike, and it ends where it ends.

    Whatever is put behind such a text in a line of its own is a command of its own.
    """
    if len(text) > _LONGEST or _SHELLS_DISAGREE.search(text) or (interpolated and _INTERPOLATED.search(text)):
        return False
    try:
        shlex.split(text)
        parse_plain(text)
    except (ValueError, NotPlain):
        return False
    return True


def is_plain_package_command(text: str) -> bool:
    """Whether it is one command of plain words."""
    return len(text) <= _LONGEST and _PACKAGE_COMMAND.fullmatch(text) is not None


def pieces(text: str) -> Iterator[str]:
    """Every part of it that may be a command, without quotes and signs: more than there are, rather than fewer."""
    text = text[:_LONGEST]
    inside = _IN_BRACES.findall(text)
    for part in (_IN_BRACES.sub(" $python ", text), *inside):
        for piece in _BETWEEN_COMMANDS.split(part):
            whole = _JOINS.sub("", piece)
            for plain in (_REDIRECTION.sub(" ", whole), *_REDIRECTION.findall(whole)):
                words = _FIRST_WORDS.sub("", _SPACES.sub(" ", plain).strip(), count=1)
                if words:
                    yield words
