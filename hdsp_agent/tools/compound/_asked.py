"""What the person's words name and code leaves out. A small model forgets half of a sentence; told so, it tries again."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Final

from .._tool import SinceAsked
from ._code import made_names
from ._telling import NOTHING_DONE

__all__ = ["as_heading", "forgotten", "labelled", "only_labels"]

_CALLED: Final = re.compile(r"\b([A-Za-z_]\w*)\(|`([A-Za-z_]\w*)`|\b([A-Za-z]\w*_\w+)\b")
_COLUMNS: Final = re.compile(r"\bcolumns:? (.+)$", re.MULTILINE)
_WORD: Final = re.compile(r"\w+")
_BY_NAME: Final = re.compile(r"\bcolumns?\s+['\"`]?(\w+)", re.IGNORECASE)
_HEADING: Final = re.compile(r"\b(?:heading|headline|title|section)\b|제목|見出し|タイトル", re.IGNORECASE)
_SHOW: Final = re.compile(r"plt\.show\(")
_LONGEST_HEADING: Final = 80
_LABELS: Final = frozenset(
    {
        "xlabel", "ylabel", "title", "suptitle", "legend", "grid", "xticks", "yticks", "xlim", "ylim", "tight_layout",
        "show", "set_xlabel", "set_ylabel", "set_title", "set_xlim", "set_ylim", "set_xticks", "set_yticks", "gca",
    }
)  # fmt: skip
_AGAIN: Final = "The person speaks of "


def forgotten(code: str, since: SinceAsked, sources: Sequence[str]) -> str | None:
    """What to send the code back with; None if it has all that was named, or was sent back for that before.

    ``sources`` are the code cells there are.
    """
    if any(call.is_error and call.result.startswith(_AGAIN) for call in since.calls):
        return None
    there = {name for source in sources for name in made_names(source)}
    names = [next(one for one in found if one) for found in _CALLED.findall(since.words)]
    for wanted in ([name for name in names if name not in there], _columns_meant(since)):
        if not all(_has(code, name) for name in wanted):
            # All of them, not only those left out: else the next try leaves out the others.
            named = list(dict.fromkeys(wanted))
            return f"{_AGAIN}{' and '.join(named)}: the code has to use {'it' if len(named) == 1 else 'them'}.{NOTHING_DONE}"
    return None


def only_labels(code: str) -> bool:
    """Whether the code says how a plot looks and draws none: in a cell of its own that makes an empty picture."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    called = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    names = [func.attr if isinstance(func, ast.Attribute) else "" for func in called]
    return any(name in _LABELS - {"show", "gca"} for name in names) and all(name in _LABELS for name in names)


def labelled(plot: str, labels: str) -> str:
    """The code of a plot with these labels, before it is shown."""
    lines = plot.rstrip().split("\n")
    more = [line for line in labels.strip().split("\n") if not _SHOW.match(line) and line not in lines]
    at = next((at for at, line in enumerate(lines) if _SHOW.match(line)), len(lines))
    return "\n".join([*lines[:at], *more, *lines[at:]])


def as_heading(text: str, words: str) -> str:
    """The text as a heading, if that is what was asked for and it is none."""
    if "\n" in text or text.lstrip().startswith("#") or len(text) > _LONGEST_HEADING or not _HEADING.search(words):
        return text
    return f"# {text.strip()}"


def _columns_meant(since: SinceAsked) -> list[str]:
    """The columns of known tables that the person names."""
    shown = "\n".join([since.surroundings, *(call.result for call in since.calls)])
    columns = {each.rpartition(" ")[0] for line in _COLUMNS.findall(shown) for each in line.split(", ")}
    said = [word.lower() for word in _WORD.findall(since.words)]
    by_name = {name.lower() for name in _BY_NAME.findall(since.words)}
    # A letter is rather a word of the sentence.
    return [
        column
        for column in sorted(columns)
        if column.lower() in by_name or (len(column) > 1 and {column.lower(), f"{column.lower()}s"} & set(said))
    ]


def _has(code: str, name: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", code) is not None
