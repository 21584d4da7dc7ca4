"""Finding in a history what must not be lost: goals, constraints, decisions, open to-dos, and the names of things.

No model takes part, so nothing of it depends on what a model finds worth mentioning.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from pydantic import JsonValue

from ..messages import ApiMessage, JsonObject, TodoItem
from ._content_blocks import content_blocks, result_text, string_of
from ._handover import IDENTIFIER_KINDS, Carried, IdentifierKind, parsed_hand_over
from ._sentences import constraints_in, decisions_in, goals_in
from ._token_estimate import TokenCounter
from ._truncation import Budget, truncated
from ._user_messages import COMPACT_USER_MESSAGE_MAX_TOKENS, Speaker, is_hand_over

__all__ = ["CarryLimits", "carried_from"]

_FULL_WINDOW: Final = 160_000
_LONGEST_NAME: Final = 300
_CODE_KEYS: Final = frozenset({"code", "source", "new_source", "new"})
_KEYS: Final[Mapping[str, IdentifierKind]] = {
    "path": "files",
    "paths": "files",
    "file_path": "files",
    "file": "files",
    "files": "files",
    "notebook": "files",
    "cell": "cells",
    "cells": "cells",
    "cell_id": "cells",
    "names": "variables",
    "variable": "variables",
    "command": "commands",
}
# Numbers, ranges and "all" name places, not cells.
_PLACE: Final = re.compile(r"(?:\d{1,4}|\d*-\d*|\w*\.\.\w*|all|start|end|top|bottom)$")
_CELL: Final = re.compile(r"\bcell (?:\d+ )?([0-9a-f]{8}(?:-[0-9a-f-]{4,27})?)(?![\w-])")
# What is around a name is looked at in ASCII only: Korean and Japanese put no space behind it.
_PATH: Final = re.compile(
    r"(?<![A-Za-z0-9_/.:@~-])(?:"
    r"(?:~|\.{1,2})?(?:/[\w.@+-]+){2,}|(?:~|\.{1,2})/[\w.@+-]+"
    r"|(?:[\w.@+-]{1,200}/){0,30}[\w@+-][\w.@+-]{0,200}\.[A-Za-z][A-Za-z0-9]{0,7}"
    r")(?![A-Za-z0-9_/(])"
)
_EXTENSION: Final = re.compile(
    r"bib|c|cfg|cpp|css|csv|db|feather|go|gz|h5|hdf|html|ini|ipynb|java|jl|jpe?g|jsonl?|js|lock|log|md|np[yz]|orc|parquet|pdf"
    r"|pickle|pkl|png|pt|pyi?|r|rmd|rs|rst|sas|sav|sh|sql|sqlite|svg|tar|tex|toml|tsx?|tsv|txt|xlsx?|xml|ya?ml|zip",
    re.IGNORECASE,
)
_NAME: Final = re.compile(r"`([A-Za-z_]\w{1,80})`")
_ASSIGNED: Final = re.compile(
    r"^(?:([A-Za-z_]\w*(?:\s*,\s*[A-Za-z_]\w*)*)\s*(?::[^=\n]+)?=(?!=)|(?:async\s+)?(?:def|class)\s+([A-Za-z_]\w*))",
    re.MULTILINE,
)
_OPEN_TODO: Final = re.compile(r"\s*(?:[-*]\s*)?\[\s*([ \-~])\s*\]\s+(.+?)\s*$")
_ANY_TODO: Final = re.compile(r"\s*(?:[-*]\s*)?\[\s*[ xX\-~]\s*\]\s+\S")


@dataclass(frozen=True)
class CarryLimits:
    """How many tokens each part may take. Of names that are too many the oldest go, of sentences those in between, of goals the newest."""

    words: int = COMPACT_USER_MESSAGE_MAX_TOKENS
    goals: int = 4_000
    constraints: int = 4_000
    decisions: int = 3_000
    todos: int = 3_000
    identifiers: int = 8_000

    @classmethod
    def for_window(cls, window: int | None) -> CarryLimits:
        """The usual limits, in proportion for a window they would fill."""
        if window is None or window >= _FULL_WINDOW:
            return cls()
        usual = cls()
        part = max(0, window) / _FULL_WINDOW
        return cls(
            words=int(usual.words * part),
            goals=int(usual.goals * part),
            constraints=int(usual.constraints * part),
            decisions=int(usual.decisions * part),
            todos=int(usual.todos * part),
            identifiers=int(usual.identifiers * part),
        )


def carried_from(
    messages: Sequence[ApiMessage],
    *,
    todos: Sequence[TodoItem] | None = None,
    quoted: Sequence[str] = (),
    limits: CarryLimits | None = None,
    counter: TokenCounter | None = None,
) -> Carried:
    """What the messages up to a condensation hold that must not be lost, with what earlier hand-overs among them carry.

    ``todos`` is the plan as it stands, where it is known better than from the calls that changed it; ``quoted`` are the
    words ``kept_words`` found no room for as messages.
    """
    bounds = limits or CarryLimits()
    finder = _Finder(messages, Budget("tokens", max(1, bounds.goals // 2)))
    for message in messages:
        finder.read(message)
    return _limited(finder.carried(todos, quoted), bounds, counter or TokenCounter())


class _Finder:
    def __init__(self, messages: Sequence[ApiMessage], longest_goal: Budget) -> None:
        self._speaker = Speaker(messages)
        self._longest_goal = longest_goal
        self._goals: dict[str, None] = {}
        self._constraints: dict[str, None] = {}
        self._decisions: dict[str, None] = {}
        self._todos: tuple[str, ...] = ()
        self._names: dict[IdentifierKind, dict[str, None]] = {kind: {} for kind in IDENTIFIER_KINDS}

    def read(self, message: ApiMessage) -> None:
        if is_hand_over(message):
            self._take_over(parsed_hand_over("\n".join(string_of(block, "text") for block in content_blocks(message))))
        elif message.role == "assistant":
            self._read_answer(message)
        else:
            self._read_words(self._speaker.words(message))
            for block in content_blocks(message):
                if block.get("type") == "tool_result":
                    self._note("cells", _CELL.findall(result_text(block)))

    def carried(self, todos: Sequence[TodoItem] | None, quoted: Sequence[str]) -> Carried:
        return Carried(
            requests=tuple(dict.fromkeys(quoted)),
            goals=tuple(self._goals),
            decisions=tuple(self._decisions),
            todos=self._todos if todos is None else tuple(_open_items(todos)),
            constraints=tuple(self._constraints),
            files=tuple(self._names["files"]),
            cells=tuple(self._names["cells"]),
            variables=tuple(self._names["variables"]),
            commands=tuple(self._names["commands"]),
        )

    def _take_over(self, earlier: Carried) -> None:
        self._goals.update(dict.fromkeys(earlier.goals))
        self._constraints.update(dict.fromkeys(earlier.constraints))
        self._decisions.update(dict.fromkeys(earlier.decisions))
        self._todos = earlier.todos or self._todos
        for kind, names in _names_of(earlier).items():
            self._note(kind, names)

    def _read_words(self, words: str) -> None:
        if not words:
            return
        if not self._goals:
            # Cut here and not later: what an earlier hand-over carries is cut already.
            self._goals[truncated(words.strip(), self._longest_goal)] = None
        self._goals.update(dict.fromkeys(goals_in(words)))
        self._constraints.update(dict.fromkeys(constraints_in(words)))
        self._decisions.update(dict.fromkeys(decisions_in(words)))
        self._read_names(words)

    def _read_answer(self, message: ApiMessage) -> None:
        for block in content_blocks(message):
            if block.get("type") == "text":
                text = string_of(block, "text")
                self._decisions.update(dict.fromkeys(decisions_in(text)))
                self._read_names(text)
            elif block.get("type") == "tool_use":
                self._read_value(block.get("input"), None)

    def _read_names(self, text: str) -> None:
        self._note("files", _paths_in(text))
        self._note("cells", _CELL.findall(text))
        self._note("variables", _NAME.findall(text))

    def _read_value(self, value: JsonValue, key: str | None) -> None:
        match value:
            case dict():
                for name, inner in value.items():
                    self._read_value(inner, name)
            case list():
                if key == "todos" and (items := [line for each in value if (line := _todo_line(each))]):
                    self._todos = tuple(line for line in items if not line.startswith("[x]"))
                    return
                for inner in value:
                    self._read_value(inner, key)
            case str():
                self._read_argument(value, key or "")

    def _read_argument(self, text: str, key: str) -> None:
        if key == "todos" and _ANY_TODO.match(text):
            self._todos = tuple(_open_lines(text))
        elif key in _CODE_KEYS:
            self._note("variables", _assigned_in(text))
        elif (kind := _KEYS.get(key)) is not None and not (kind == "cells" and _PLACE.match(text)):
            self._note(kind, [text])

    def _note(self, kind: IdentifierKind, names: Iterable[str]) -> None:
        """The newest mention counts."""
        known = self._names[kind]
        for name in names:
            name = name.strip()
            if name.strip(".") and len(name) <= _LONGEST_NAME and (kind == "commands" or _can_be_listed(name)):
                known.pop(name, None)
                known[name] = None


def _names_of(carried: Carried) -> dict[IdentifierKind, tuple[str, ...]]:
    return {
        "files": carried.files,
        "cells": carried.cells,
        "variables": carried.variables,
        "commands": carried.commands,
    }


def _can_be_listed(name: str) -> bool:
    return "`" not in name and "\n" not in name


def _paths_in(text: str) -> Iterator[str]:
    for found in _PATH.finditer(text):
        path = found[0].rstrip(".")
        if "/" in path or _EXTENSION.fullmatch(path.rpartition(".")[2]):
            yield path


def _assigned_in(code: str) -> Iterator[str]:
    for names, defined in _ASSIGNED.findall(code):
        yield from [defined] if defined else (name.strip() for name in names.split(","))


def _open_lines(checklist: str) -> Iterator[str]:
    for line in checklist.split("\n"):
        if found := _OPEN_TODO.match(line):
            yield f"[{'-' if found[1] != ' ' else ' '}] {found[2]}"


def _open_items(todos: Iterable[TodoItem]) -> Iterator[str]:
    marks = {"pending": " ", "in_progress": "-"}
    return (f"[{marks[item.status]}] {item.content}" for item in todos if item.status in marks)


def _todo_line(value: JsonValue) -> str:
    """One entry of a plan that is given as objects."""
    entry: JsonObject = value if isinstance(value, dict) else {}
    mark = {"completed": "x", "in_progress": "-"}.get(string_of(entry, "status"), " ")
    content = string_of(entry, "content")
    return f"[{mark}] {content}" if content else ""


def _limited(found: Carried, limits: CarryLimits, counter: TokenCounter) -> Carried:
    names = _limited_names(_names_of(found), limits.identifiers, counter)
    return replace(
        found,
        goals=_first(found.goals, limits.goals, counter),
        constraints=_first_and_newest(found.constraints, limits.constraints, counter),
        decisions=_first_and_newest(found.decisions, limits.decisions, counter),
        todos=_first(found.todos, limits.todos, counter),
        files=names["files"],
        cells=names["cells"],
        variables=names["variables"],
        commands=names["commands"],
    )


def _limited_names(
    names: Mapping[IdentifierKind, tuple[str, ...]], most: int, counter: TokenCounter
) -> dict[IdentifierKind, tuple[str, ...]]:
    """Each kind has a quarter of the room, and what others leave of theirs."""
    kept: dict[IdentifierKind, tuple[str, ...]] = {}
    costs = {kind: sum(counter.text(name) + 1 for name in names[kind]) for kind in IDENTIFIER_KINDS}
    left, waiting = most, len(costs)
    for kind in sorted(IDENTIFIER_KINDS, key=lambda kind: costs[kind]):
        share = left // waiting
        kept[kind] = _newest(names[kind], share, counter)
        left -= min(costs[kind], share)
        waiting -= 1
    return kept


def _first_and_newest(items: Sequence[str], most: int, counter: TokenCounter) -> tuple[str, ...]:
    """What was said at the very beginning holds as much as what was said last."""
    first = _first(items, most // 2, counter)
    return (*first, *_newest(items[len(first) :], most - most // 2, counter))


def _newest(items: Sequence[str], most: int, counter: TokenCounter) -> tuple[str, ...]:
    return tuple(reversed(_first(items[::-1], most, counter)))


def _first(items: Sequence[str], most: int, counter: TokenCounter) -> tuple[str, ...]:
    kept: list[str] = []
    for item in items:
        most -= counter.text(item) + 1
        if most < 0:
            break
        kept.append(item)
    return tuple(kept)
