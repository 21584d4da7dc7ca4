"""What a model has been told of its surroundings, read from the conversation itself, and what to tell it next.

Nothing else remembers it: what is hidden from the model counts as untold, and a restart neither repeats nor forgets.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from pydantic import Field, ValidationError

from ...context import TokenCounter
from ...messages import JsonObject, RecalledItem
from ...persistence import ApiRecord
from ...wire import WireModel
from .._ports import EnvironmentText
from .section_diff import KnownSection, KnownSections, SectionChange, change_of, replayed, whole_of
from .section_text import text_of
from .sections import DIMENSIONS, KINDS, Bounded, DimensionName, Section, SectionEntry, bounded

__all__ = ["Reference", "renumbered", "telling", "told_tools", "told_trust", "whole"]

Mask = Callable[[str], Awaitable[str]]

_TAG: Final = re.compile(r"<(?=/?environment_details)", re.IGNORECASE)
_BETWEEN: Final = "\n\x1f\n"
"""Between entries that are masked in one go. No text has it: it is no character of any line."""

_WORTH_IT: Final = 30
"""Tokens. So much more may a difference be than the whole: it shows what changed."""

logger = logging.getLogger(__name__)


class _ToldSurroundings(WireModel):
    """What is kept beside a message. ``tools`` are those the system prompt was made for."""

    dimensions: dict[str, KnownSection] = Field(default_factory=dict)
    tools: str | None = None
    is_folder_trusted: bool | None = None
    """Whether the system prompt may hold words of the workspace."""
    recalled: dict[str, list[RecalledItem]] | None = None
    """What of the past stands in the entries of ``memory``, by their keys."""


class Reference:
    """What the model knows, by the messages it is sent: the system prompt first, then the others in their order."""

    def __init__(self, records: Iterable[ApiRecord] = ()) -> None:
        self._known: dict[DimensionName, KnownSections] = {}
        self._mentioned: set[DimensionName] = set()
        self._recalled: dict[str, list[RecalledItem]] = {}
        records = list(records)
        prompts = [record for record in records if record.role == "system"]
        for record in (*prompts[-1:], *(record for record in records if record.role != "system")):
            self.take(record)

    def take(self, record: ApiRecord) -> None:
        """The next message."""
        told = _read(record)
        if told is None:
            return
        for name in DIMENSIONS:
            dimension = told.dimensions.get(name)
            if dimension is None:
                continue
            self._mentioned.add(name)
            known = replayed(self._known.pop(name, None), dimension, record.seq)
            if known is not None:
                self._known[name] = known
        if (memory := told.dimensions.get("memory")) is not None:
            named = told.recalled or {}
            self._recalled |= {put[0]: named.get(put[0], []) for put in memory.put}

    @property
    def recalled(self) -> list[RecalledItem]:
        """What of the past it was told, as far as it still knows that."""
        known = self._known.get("memory")
        return [] if known is None else [item for key in known.marks for item in self._recalled.get(key, ())]

    def known(self, name: DimensionName) -> KnownSections | None:
        """What it knows of this dimension; None if it was not told of it, or not all that counts is left."""
        return self._known.get(name)

    def is_mentioned(self, name: DimensionName) -> bool:
        """Whether anything of it was told."""
        return name in self._mentioned


async def telling(
    dimensions: Sequence[Section], reference: Reference, mask: Mask, counter: TokenCounter
) -> EnvironmentText | None:
    """What to tell of how things are now, given what is known; None if nothing differs."""
    parts: list[str] = []
    told: dict[str, KnownSection] = {}
    recalled: dict[str, list[RecalledItem]] = {}
    for dimension in sorted(dimensions, key=lambda dimension: DIMENSIONS.index(dimension.name)):
        now = bounded(await _masked(dimension, mask), counter)
        known = reference.known(now.name)
        is_mentioned = reference.is_mentioned(now.name)
        change = _change(now, known, counter, is_mentioned=is_mentioned)
        if change is None:
            continue
        parts.append(text_of(change, anew=is_mentioned))
        told[now.name] = change.told(known)
        for entry in (*change.new, *change.changed):
            if there := [item for item in entry.recalled if _stands_in(item, entry.text)]:
                recalled[entry.key] = [item.model_copy(update={"title": await mask(item.title)}) for item in there]
    if not parts:
        return None
    text = "\n".join(["<environment_details>", *parts, "</environment_details>"])
    return EnvironmentText(text, _ToldSurroundings(dimensions=told, recalled=recalled or None).to_wire())


async def whole(
    dimensions: Sequence[Section],
    mask: Mask,
    counter: TokenCounter,
    *,
    tools: str,
    is_folder_trusted: bool | None = None,
) -> JsonObject:
    """What to keep beside a system prompt that tells all of these."""
    told: dict[str, KnownSection] = {}
    for dimension in dimensions:
        told[dimension.name] = whole_of(bounded(await _masked(dimension, mask), counter)).told(None)
    return _ToldSurroundings(dimensions=told, tools=tools, is_folder_trusted=is_folder_trusted).to_wire()


def told_tools(record: ApiRecord) -> str | None:
    """The tools this system prompt was made for; None if nothing is known of what it tells."""
    told = _read(record)
    return None if told is None else told.tools


def told_trust(record: ApiRecord) -> bool | None:
    """Whether the workspace was trusted when this system prompt was made; None if nobody asked then."""
    told = _read(record)
    return None if told is None else told.is_folder_trusted


def renumbered(told: JsonObject, numbers: Mapping[int, int]) -> JsonObject:
    """What was told, beside the same message in a copy of the conversation, where messages have these ``numbers``."""
    try:
        known = _ToldSurroundings.model_validate(told)
    except ValidationError:
        # Whoever reads it reports it.
        return told
    dimensions = {
        # What stayed behind has no number, and what builds on it is not known.
        name: one if one.of is None else one.model_copy(update={"of": numbers.get(one.of, 0)})
        for name, one in known.dimensions.items()
    }
    return known.model_copy(update={"dimensions": dimensions}).to_wire()


def _change(
    now: Bounded, known: KnownSections | None, counter: TokenCounter, *, is_mentioned: bool
) -> SectionChange | None:
    """The difference, or all of it where that is less or the difference is more than there is room for."""
    all_of_it = whole_of(now)
    if known is None:
        # Where part of what was told is left, that there is nothing now has to be said too.
        return all_of_it if now.shown or is_mentioned else None
    change = change_of(now, known)
    if change is None or KINDS[now.name].style == "events":
        return change
    size = counter.text(text_of(change))
    is_more = size > KINDS[now.name].tokens or size > counter.text(text_of(all_of_it, anew=True)) + _WORTH_IT
    return all_of_it if is_more else change


def _stands_in(item: RecalledItem, text: str) -> bool:
    """Whether there was room for it. A note is told with its id."""
    return item.kind != "note" or f"id {item.source})" in text


async def _masked(dimension: Section, mask: Mask) -> Section:
    """Without secrets, and without what would end the message; all but long texts in one line each."""
    is_long = KINDS[dimension.name].style == "texts"
    texts = [text for entry in dimension.entries for text in (entry.key, entry.text)]
    texts = [_TAG.sub("< ", text if is_long else " ".join(text.split())) for text in texts]
    masked = (await mask(_BETWEEN.join(texts))).split(_BETWEEN) if texts else []
    if len(masked) != len(texts):
        # A secret reached from one into the next.
        masked = [await mask(text) for text in texts]
    entries = [
        replace(entry, key=masked[2 * at], text=masked[2 * at + 1]) for at, entry in enumerate(dimension.entries)
    ]
    return replace(dimension, entries=tuple(_unique(entries)))


def _unique(entries: Iterable[SectionEntry]) -> list[SectionEntry]:
    """Keys may have become the same: the first of them counts."""
    kept: dict[str, SectionEntry] = {}
    for entry in entries:
        kept.setdefault(entry.key, entry)
    return list(kept.values())


def _read(record: ApiRecord) -> _ToldSurroundings | None:
    if record.told is None:
        return None
    try:
        return _ToldSurroundings.model_validate(record.told)
    except ValidationError as error:
        logger.warning("The context of message %s cannot be read: %s", record.seq, error)
        return None
