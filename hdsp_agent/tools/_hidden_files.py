"""Whether a command names a file that is kept from the agent.

No sandbox: a program can open whatever the person can, and what it computes, or finds by itself in a folder, is not seen
here. It keeps a model from reading by ``cat`` what it was refused by ``read_file``.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from ._command_line import CommandWord, Script, parse_script
from ._path_policy import PathPolicy

__all__ = ["HiddenFileNames", "hidden_words"]

_DEEPEST: Final = 3
_MOST_WORDS: Final = 5_000
_MOST_MATCHES: Final = 2_000
_LONGEST: Final = 4_096
# Behind an option, a revision or a sign that what follows is a file: --file=x, HEAD:x, @x, -fx.
_PARTS: Final = re.compile(r"[=:@]|^-\w")


@dataclass(frozen=True)
class HiddenFileNames:
    """What a command has of the files that are kept from the agent."""

    named: str | None = None
    """A word that is such a file."""
    matched: str | None = None
    """A pattern that such a file is among the matches of."""


def hidden_words(command: str, folder: Path, paths: PathPolicy) -> HiddenFileNames:
    """Look through the words of a command that is to run in this folder. Blocks."""
    matched: str | None = None
    for word in islice(_words(command), _MOST_WORDS):
        for text in _candidates(word):
            if word.pattern:
                if matched is None and any(_is_hidden(path, paths) for path in _matches(text, folder)):
                    matched = word.source
            elif _is_hidden(folder / text, paths):
                return HiddenFileNames(named=word.source)
    return HiddenFileNames(matched=matched)


def _words(command: str, depth: int = 0) -> Iterator[CommandWord]:
    script: Script = parse_script(command)
    words = [word for each in script.commands for word in each.words]
    for word in (*words, *script.reads, *script.writes):
        yield word
        if depth < _DEEPEST and re.search(r"\s", word.text):
            # What a shell is given to run, most likely.
            yield from _words(word.text, depth + 1)


def _candidates(word: CommandWord) -> Iterator[str]:
    text = os.path.expandvars(word.text)
    for start in (0, *(found.end() for found in _PARTS.finditer(text))):
        part = text[start:]
        if part and len(part) <= _LONGEST and "\0" not in part:
            yield os.path.expanduser(part)


def _matches(pattern: str, folder: Path) -> Iterator[Path]:
    found = glob.iglob(pattern, root_dir=folder)
    return (folder / name for name in islice(found, _MOST_MATCHES))


def _is_hidden(path: Path, paths: PathPolicy) -> bool:
    try:
        if not os.path.lexists(path):
            return False
        real = Path(os.path.realpath(path))
    except (OSError, ValueError):
        return False
    is_directory = real.is_dir()
    # The name may be hidden, or what it leads to.
    return any(paths.hides(each, is_directory=is_directory) for each in {Path(os.path.normpath(path)), real})
