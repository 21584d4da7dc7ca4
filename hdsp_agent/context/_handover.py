"""The hand-over from one model to the next: what is asked for, what is carried over word for word, and how both are put together.

The summary is the model's own and may forget anything. What must not be lost is found in the history without it
(``carried_from``), stands below the summary's words in fixed places, and is read from there at the next condensation.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Final, Literal, TypeAlias

__all__ = [
    "COMPACTION_PROMPT",
    "IDENTIFIER_KINDS",
    "SECTIONS",
    "SUMMARY_PREFIX",
    "Carried",
    "IdentifierKind",
    "SummaryCheck",
    "check_summary",
    "hand_over",
    "parsed_hand_over",
]

IdentifierKind: TypeAlias = Literal["files", "cells", "variables", "commands"]
IDENTIFIER_KINDS: Final[tuple[IdentifierKind, ...]] = ("files", "cells", "variables", "commands")

SUMMARY_PREFIX: Final = (
    "Another language model started to solve this problem and produced a summary of its thinking process. You also have "
    "access to the state of the tools that were used by that language model. Use this to build on the work that has "
    "already been done and avoid duplicating work. Here is the summary produced by the other language model, use the "
    "information in this summary to assist with your own analysis:"
)

SECTIONS: Final[Mapping[str, str]] = {
    "User Requests": "everything the person asked for, in their words",
    "Final Goal": "what the work as a whole is to achieve",
    "Work Completed": "what was done, decided and found out, with the reasons for decisions",
    "Remaining Tasks": "what is still to be done, the next step first",
    "Active Working Context": "the files, cells, variables and commands in use, and how they stand",
    "Explicit Constraints": "what the person said must or must not be done, word for word",
    "Agent Verification State": "what was checked and with what result, and what was not checked yet",
    "Delegated Agent Sessions": "subtasks, what each was given and what came of it",
}

COMPACTION_PROMPT: Final = (
    "You are performing a CONTEXT CHECKPOINT COMPACTION. Create a handoff summary for another LLM that will resume the "
    "task.\n\n"
    "Include:\n"
    "- Current progress and key decisions made\n"
    "- Important context, constraints, or user preferences\n"
    "- What remains to be done (clear next steps)\n"
    "- Any critical data, examples, or references needed to continue\n\n"
    "Be concise, structured, and focused on helping the next LLM seamlessly continue the work.\n\n"
    "Write these eight sections, each under its heading, and `(none)` where there is nothing to say:\n"
    + "\n".join(f"## {title}\n({about})" for title, about in SECTIONS.items())
    + "\n\nLists of the person's words, constraints, open to-dos, files, cells, variables and commands are added to your "
    "summary afterwards, so say what matters about them instead of listing them. Call no tool; answer with the summary only."
)

_KEPT: Final = "Kept word for word:"
_NOTHING: Final = "(none)"
_HEADING: Final = re.compile(r"(?:#{1,4}\s*)?(?:\*\*)?(?:\d+[.)]\s*)?([A-Za-z][A-Za-z ]+?)\s*:?\s*(?:\*\*)?:?\s*$")
_TITLES: Final = {title.lower(): title for title in SECTIONS}
_QUOTED_NAME: Final = re.compile(r"`([^`]*)`")


@dataclass(frozen=True)
class Carried:
    """What is carried over word for word. Every list is without doubles, oldest first."""

    requests: tuple[str, ...] = ()
    """Words of the person that are in no message of their own any more."""
    goals: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    todos: tuple[str, ...] = ()
    """What is not done yet, as lines of a checklist."""
    constraints: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    cells: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()

    def items(self) -> list[str]:
        """All of it."""
        return [item for each in fields(self) for item in _values(self, each.name)]


_SECTION_OF: Final[Mapping[str, str]] = {
    "requests": "User Requests",
    "goals": "Final Goal",
    "decisions": "Work Completed",
    "todos": "Remaining Tasks",
    "constraints": "Explicit Constraints",
    "files": "Active Working Context",
    "cells": "Active Working Context",
    "variables": "Active Working Context",
    "commands": "Active Working Context",
}
# Names are short and many: one line for each kind.
_NAME_LISTS: Final[Mapping[str, str]] = {"files": "Files", "cells": "Cells", "variables": "Variables"}


@dataclass(frozen=True)
class SummaryCheck:
    """What a text lacks that a hand-over must have."""

    sections: tuple[str, ...]
    items: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether nothing is missing."""
        return not self.sections and not self.items


def check_summary(text: str, carried: Carried) -> SummaryCheck:
    """Hold a text against the contract: all sections, and word for word what is to be carried over."""
    present = {title for title, _ in _sections(text)}
    # In a list, the lines of an item are indented.
    flat = text.replace("\n  ", "\n")
    return SummaryCheck(
        tuple(title for title in SECTIONS if title not in present),
        tuple(item for item in carried.items() if item not in text and item not in flat),
    )


def hand_over(summary: str, carried: Carried) -> str | None:
    """The text the next model begins with; None if there is no summary, and then nothing may be condensed.

    Each of the eight sections is there, with the summary's words and what is carried over in it. What the model wrote
    before or beside them comes first.
    """
    if not summary.strip():
        return None
    body = summary.removeprefix(SUMMARY_PREFIX).strip("\n")
    written: dict[str, list[str]] = {title: [] for title in SECTIONS}
    for title, lines in _sections(body):
        written[title] += lines
    parts = [SUMMARY_PREFIX]
    if preamble := _without_kept(_preamble(body)):
        parts.append(preamble)
    for title in SECTIONS:
        said = _without_kept(written[title]) or _NOTHING
        kept = _kept_lines(title, carried)
        said = "" if kept and said == _NOTHING else said
        parts.append("\n".join(part for part in (f"## {title}", said, *kept) if part))
    return "\n".join(parts)


def parsed_hand_over(text: str) -> Carried:
    """What a hand-over carries, as it was put into it; nothing for a summary of another kind."""
    found: dict[str, list[str]] = {name: [] for name in _SECTION_OF}
    for title, lines in _sections(text):
        names = [name for name, section in _SECTION_OF.items() if section == title]
        lists = {name: f"{_NAME_LISTS[name]}: `" for name in names if name in _NAME_LISTS}
        for item in _kept_items(lines) if names else ():
            listed = next((name for name, begin in lists.items() if item.startswith(begin)), None)
            if listed is not None:
                found[listed] += _QUOTED_NAME.findall(item)
            else:
                # What is no list of names is in a section of its own, or the commands.
                found[names[-1]].append(item)
    return Carried(**{name: tuple(dict.fromkeys(items)) for name, items in found.items()})


def _values(carried: Carried, name: str) -> tuple[str, ...]:
    value = getattr(carried, name)
    assert isinstance(value, tuple)
    return value


def _kept_lines(title: str, carried: Carried) -> list[str]:
    items: list[str] = []
    for name, section in _SECTION_OF.items():
        values = _values(carried, name)
        if section != title or not values:
            continue
        if name in _NAME_LISTS:
            items.append(f"{_NAME_LISTS[name]}: {', '.join(f'`{value}`' for value in values)}")
        else:
            items += values
    return [_KEPT, *(f"- {item}".replace("\n", "\n  ") for item in items)] if items else []


def _kept_items(lines: Sequence[str]) -> list[str]:
    items: list[str] = []
    inside = False
    for line in lines:
        if line == _KEPT:
            inside = True
        elif inside and line.startswith("- "):
            items.append(line[2:])
        elif inside and line.startswith("  ") and items:
            items[-1] += f"\n{line[2:]}"
        else:
            inside = False
    return items


def _without_kept(lines: Sequence[str]) -> str:
    """The words of the model alone: lists it copied from an earlier hand-over are made anew."""
    kept: list[str] = []
    inside = False
    for line in lines:
        inside = line == _KEPT or (inside and line.startswith(("- ", "  ")))
        if not inside:
            kept.append(line)
    return "\n".join(kept).strip("\n")


def _preamble(text: str) -> list[str]:
    lines = text.split("\n")
    first = next((place for place, line in enumerate(lines) if _title(line) is not None), len(lines))
    return lines[:first]


def _sections(text: str) -> list[tuple[str, list[str]]]:
    """The sections of a text and their lines; a heading that is none of the eight belongs to the section it is in."""
    found: list[tuple[str, list[str]]] = []
    for line in text.split("\n"):
        title = _title(line)
        if title is not None:
            found.append((title, []))
        elif found:
            found[-1][1].append(line)
    return found


def _title(line: str) -> str | None:
    heading = _HEADING.match(line)
    return _TITLES.get(heading[1].lower()) if heading else None
