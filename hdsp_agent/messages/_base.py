"""What the vocabulary's models are made of: two bases, ids, and types with limits.

Modules that define models do not postpone annotations: evaluating them from text would double the time it takes to
import the package.
"""

from typing import Annotated, Final, NewType

from pydantic import ConfigDict, Field, JsonValue, Strict

from ..wire import WireModel

__all__ = [
    "MAX_IMAGES",
    "CellId",
    "ClientId",
    "CommId",
    "Count",
    "FilePath",
    "Flag",
    "Images",
    "JsonObject",
    "Message",
    "Name",
    "Query",
    "Record",
    "RequestId",
    "Slug",
    "TaskId",
    "TaskIdField",
    "Text",
    "Timestamp",
]

TaskId = NewType("TaskId", str)
RequestId = NewType("RequestId", str)
ClientId = NewType("ClientId", str)
CommId = NewType("CommId", str)
CellId = NewType("CellId", str)

JsonObject = dict[str, JsonValue]

MAX_IMAGES: Final = 20
_LARGEST_SAFE_INTEGER: Final = 2**53 - 1

# Lax mode would take "1" for 1 and 1 for true; a client that sends those has a bug worth hearing of.
Flag = Annotated[bool, Strict()]
Count = Annotated[int, Strict(), Field(ge=0, le=_LARGEST_SAFE_INTEGER)]
Timestamp = Annotated[int, Strict(), Field(ge=0, le=_LARGEST_SAFE_INTEGER)]

Text = Annotated[str, Field(max_length=1_000_000)]
Name = Annotated[str, Field(min_length=1, max_length=200)]
Slug = Annotated[str, Field(pattern=r"^[a-zA-Z0-9-]{1,100}$")]
FilePath = Annotated[str, Field(min_length=1, max_length=4096)]
Query = Annotated[str, Field(max_length=1000)]
TaskIdField = Annotated[TaskId, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$")]
_Image = Annotated[str, Field(max_length=20_000_000, pattern=r"^data:image/[a-z0-9.+-]+;base64,")]
Images = Annotated[list[_Image], Field(max_length=MAX_IMAGES)]


class Message(WireModel):
    """The base of what page and server say to each other: exact, so that a misspelt field is an error."""

    # Fields are named so that they need no docstrings; reading every class's source for them would cost as much again.
    model_config = ConfigDict(use_attribute_docstrings=False)


class Record(WireModel):
    """The base of what is also read from others' files and sockets: fields we do not know are dropped, as Roo does."""

    model_config = ConfigDict(use_attribute_docstrings=False, extra="ignore")
