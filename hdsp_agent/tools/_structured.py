"""What tools tell programs besides texts: the shape of it, which a schema promises."""

from __future__ import annotations

from typing import Final

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from ..messages import JsonObject
from ._tool_failed import PresentCell

__all__ = ["StructuredOutput", "failure_of", "output_schema"]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True, use_attribute_docstrings=True)


class StructuredOutput(_Part):
    """What a tool gives a program."""

    from_person: list[str] | None = None
    """What the person wrote to you meanwhile, or changed in what you proposed."""


class _FailureCell(_Part):
    id: str
    number: int
    cell_type: str
    source: str | None = None


class _Problem(_Part):
    code: str
    """What kind of failure: denied, stopped, cell_unknown, cells_changed, cells_unread, run_unknown, not_found, invalid_input …"""
    message: str
    cells: list[_FailureCell] = Field(default_factory=list)
    """The cells that are meant, or there are, as they are now."""


class _Failure(StructuredOutput):
    error: _Problem


_FAILURE_NAME: Final = "Failure"


def output_schema(model: type[StructuredOutput]) -> JsonObject:
    """The schema of what a tool gives: this, or what went wrong."""
    given: JsonObject = model.model_json_schema(mode="serialization")
    failed: JsonObject = _Failure.model_json_schema(mode="serialization")
    definitions = {**_taken(given), **_taken(failed), model.__name__: given, _FAILURE_NAME: failed}
    choices: list[JsonValue] = [{"$ref": f"#/$defs/{name}"} for name in (model.__name__, _FAILURE_NAME)]
    return {"type": "object", "anyOf": choices, "$defs": definitions}


def failure_of(code: str, message: str, cells: tuple[PresentCell, ...] = ()) -> JsonObject:
    """What went wrong, in that shape."""
    told = [
        _FailureCell(id=cell.id, number=cell.number, cell_type=cell.cell_type, source=cell.source) for cell in cells
    ]
    return _Failure(error=_Problem(code=code, message=message, cells=told)).model_dump(exclude_none=True)


def _taken(schema: JsonObject) -> JsonObject:
    definitions = schema.pop("$defs", {})
    assert isinstance(definitions, dict)
    return definitions
