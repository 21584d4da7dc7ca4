"""The lines of ``marks.jsonl``: what was condensed, truncated, rewound and undone.

A mark carries its outcome (which sequence numbers it hides), not the rule that led there: replaying marks needs none of
the messages, and a later version with another rule reads an old task as it was. Annotations are not postponed here: see
``messages/_base.py``.
"""

import json
from functools import cache
from typing import Annotated, Final, Literal, get_args

from pydantic import Field, TypeAdapter

from ...messages import Record

__all__ = [
    "AnyMark",
    "CondenseMark",
    "FoldMark",
    "Mark",
    "RewindMark",
    "SeqRange",
    "TruncateMark",
    "UndoMark",
    "UnknownMark",
    "parse_mark",
    "truncation_text",
]

SeqRange = tuple[int, int]
"""Sequence numbers of the API log from the first to the second, both included."""

_Kind = Literal["condense", "truncate", "rewind", "undo"]
_KINDS: Final = frozenset(get_args(_Kind))


class _Mark(Record):
    """What every mark has; ``ui_end`` and ``api_end`` say how far the two logs reached when it was made."""

    id: str
    ts: int
    ui_end: int
    api_end: int
    files: str | None = None
    """The operation of the checkpoints that took files along, which whoever takes the mark back takes back too."""


class CondenseMark(_Mark):
    """A summary stands for the messages it covers, after sequence number ``after``.

    ``covers`` holds for the whole conversation up to ``after``, what earlier summaries stood for included: only the
    newest condensation that stands counts. It stands as long as its event ``event_ts`` and its summary do.
    """

    kind: Literal["condense"] = "condense"
    condense_id: str
    summary_seq: int
    covers: list[SeqRange]
    after: int
    event_ts: int


class TruncateMark(_Mark):
    """The oldest messages are hidden, a marker with the time ``marker_ts`` stands before sequence number ``before``."""

    kind: Literal["truncate"] = "truncate"
    truncation_id: str
    hides: Annotated[list[SeqRange], Field(min_length=1)]
    count: int
    before: int
    marker_ts: int
    event_ts: int


class RewindMark(_Mark):
    """Both histories went back: the UI messages from ``ui_from`` on and these API messages are hidden.

    ``target_ts`` is what was asked for, ``api_cutoff`` the time from which API messages were dropped.
    """

    kind: Literal["rewind"] = "rewind"
    target_ts: int
    api_cutoff: int
    ui_from: int
    api_hides: list[SeqRange]


class UndoMark(_Mark):
    """The mark with the id ``target`` is taken back; of an undo: what it had undone counts again."""

    kind: Literal["undo"] = "undo"
    target: str


FoldMark = CondenseMark | TruncateMark
"""The marks that change only what the model sees."""

Mark = CondenseMark | TruncateMark | RewindMark | UndoMark


class UnknownMark(Record):
    """A mark of a kind that a later version made: kept in its file, without effect, and reported."""

    kind: str
    id: str | None = None
    ts: int | None = None


AnyMark = Mark | UnknownMark


@cache
def _marks() -> TypeAdapter[Mark]:
    return TypeAdapter(Annotated[Mark, Field(discriminator="kind")])


def parse_mark(line: str | bytes) -> AnyMark:
    """The mark a line holds; a ``ValueError`` if it holds none."""
    value = json.loads(line)
    kind = value.get("kind") if isinstance(value, dict) else None
    if isinstance(kind, str) and kind not in _KINDS:
        return UnknownMark.model_validate(value)
    return _marks().validate_python(value)


def truncation_text(count: int) -> str:
    """What the marker of a truncation says, word for word as Roo Code's."""
    return f"[Sliding window truncation: {count} messages hidden to reduce context]"
