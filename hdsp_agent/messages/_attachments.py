"""What goes along with a person's words: what they point at, and how a model is told it."""

import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import Annotated, Final, Literal, Protocol

from pydantic import AfterValidator, Field

from ._base import CellId, Record

__all__ = ["Attachment", "AttachmentKind", "AttachmentList", "attachments_text", "labels_of", "words_of"]

AttachmentKind = Literal[
    "cell",
    "selection",
    "output",
    "error",
    "file",
    "variable",
    "table",
    "terminal",
    "conversation",
    "checkpoint",
    "page",
]
_LONGEST_PATH: Final = 4_096
_LONGEST_ID: Final = 200
_LONGEST_LABEL: Final = 1_000
_LONGEST_CONTENT: Final = 1_000_000
_LIKE_END: Final = re.compile(r"\s*\\*</attachment>\s*")
_NOT_READ: Final = "[Named only: it was not read.]"


class Attachment(Record):
    """Something a person points at. Without ``content`` it is read when the model is told of it.

    ``path`` is the notebook's, or the file's name; of what is read later, the id of the conversation or checkpoint, or the
    page's address.
    """

    kind: AttachmentKind
    path: str
    cell_id: CellId | None = None
    label: str
    """What the person sees of it."""
    content: str | None = None


def _bounded(given: list[Attachment]) -> list[Attachment]:
    """What a page sends has limits; what was kept may be longer by its masks."""
    for one in given:
        if len(one.path) > _LONGEST_PATH or len(one.cell_id or "") > _LONGEST_ID or len(one.label) > _LONGEST_LABEL:
            raise ValueError(f"the name of an attachment is too long: {one.label[:40]!r}")
        if one.content is not None and len(one.content) > _LONGEST_CONTENT:
            raise ValueError(f"an attachment has at most {_LONGEST_CONTENT:,} characters: {one.label[:40]!r}")
    return given


AttachmentList = Annotated[list[Attachment], Field(max_length=1000), AfterValidator(_bounded)]
"""A person points at fewer, but may select many cells and have something done with them."""


def attachments_text(attachments: Iterable[Attachment]) -> str:
    """What a model is told of them: a block for each."""
    return "\n\n".join(map(_block, attachments))


def labels_of(attachments: Iterable[Attachment] | None) -> str:
    """What a message without words is called."""
    return ", ".join(one.label for one in attachments or ())


class _Said(Protocol):
    """A message."""

    @property
    def text(self) -> str | None:
        """Its words."""

    @property
    def attachments(self) -> Sequence[Attachment] | None:
        """What goes along with them."""


def words_of(message: _Said) -> str:
    """What a message is found by: its words, and what the things are called that go along with them."""
    return "\n".join(part for part in (message.text, labels_of(message.attachments)) if part)


def _block(attachment: Attachment) -> str:
    attributes = {
        "kind": attachment.kind,
        "path": attachment.path,
        "cellId": attachment.cell_id,
        "label": attachment.label,
    }
    begin = " ".join(f'{name}="{_escaped(value)}"' for name, value in attributes.items() if value is not None)
    content = _NOT_READ if attachment.content is None else attachment.content
    # A line that looks like the end of the block must not end it.
    lines = [f"\\{line}" if _LIKE_END.fullmatch(line) else line for line in content.split("\n")]
    return "\n".join([f"<attachment {begin}>", *lines, "</attachment>"])


def _escaped(value: str) -> str:
    return escape(value, quote=False).replace('"', "&quot;").replace("\n", "&#10;")
