"""The base of every model that crosses a border: camelCase outside, snake_case inside."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, JsonValue
from pydantic.alias_generators import to_camel

__all__ = ["WireModel"]


class WireModel(BaseModel):
    """A model on the wire or on disk.

    Building the validators is deferred to first use: importing the vocabulary must not slow Jupyter's start.
    """

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        defer_build=True,
        extra="forbid",
        frozen=True,
        use_attribute_docstrings=True,
    )

    def to_wire(self) -> dict[str, JsonValue]:
        """The JSON object others see: camelCase names, absent fields left out."""
        wire: dict[str, JsonValue] = self.model_dump(mode="json", by_alias=True, exclude_none=True)
        return wire

    def to_json(self) -> str:
        """The same as one line of JSON text."""
        return self.model_dump_json(by_alias=True, exclude_none=True)
