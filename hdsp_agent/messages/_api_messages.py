"""What the model is sent and says, as kept in the API history."""

from typing import Literal

from pydantic import Field, JsonValue

from ._base import JsonObject, Record

__all__ = ["ApiMessage"]


class ApiMessage(Record):
    """One message of the API history: role and content, with what Roo Code adds to keep order, summaries and thoughts."""

    role: Literal["user", "assistant"]
    content: str | list[JsonObject]
    ts: int | None = None
    is_summary: bool | None = None
    id: str | None = None
    type: Literal["reasoning"] | None = None
    summary: list[JsonValue] | None = None
    encrypted_content: str | None = Field(default=None, alias="encrypted_content")
    text: str | None = None
    reasoning_details: list[JsonValue] | None = Field(default=None, alias="reasoning_details")
    reasoning_content: str | None = Field(default=None, alias="reasoning_content")
    condense_id: str | None = None
    condense_parent: str | None = None
    truncation_id: str | None = None
    truncation_parent: str | None = None
    is_truncation_marker: bool | None = None
