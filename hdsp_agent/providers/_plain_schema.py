"""Tool schemas for servers that know only a part of JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pydantic import JsonValue

from ..messages import JsonObject

__all__ = ["plain_schema"]

_REFUSED: Final = frozenset(
    {"$schema", "$id", "$defs", "definitions", "additionalProperties", "unevaluatedProperties", "default", "examples",
     "title", "patternProperties", "discriminator", "exclusiveMinimum", "exclusiveMaximum"}
)  # fmt: skip
_DEEPEST: Final = 32


def plain_schema(schema: JsonObject) -> JsonObject:
    """The schema with its references filled in and without keywords that are refused."""
    definitions: dict[str, JsonValue] = {}
    for key in ("$defs", "definitions"):
        found = schema.get(key)
        if isinstance(found, dict):
            definitions.update({f"#/{key}/{name}": value for name, value in found.items()})
    plain = _plain(schema, definitions, 0)
    return plain if isinstance(plain, dict) else {}


def _plain(value: JsonValue, definitions: Mapping[str, JsonValue], depth: int) -> JsonValue:
    if isinstance(value, list):
        return [_plain(item, definitions, depth + 1) for item in value]
    if not isinstance(value, dict):
        return value
    if depth > _DEEPEST:
        # A definition that contains itself.
        return {"type": "object"}
    reference = value.get("$ref")
    if isinstance(reference, str) and reference in definitions:
        return _plain(definitions[reference], definitions, depth + 1)
    plain: JsonObject = {}
    for key, item in value.items():
        if key == "properties" and isinstance(item, dict):
            # These keys are names, not keywords.
            plain[key] = {name: _plain(each, definitions, depth + 1) for name, each in item.items()}
        elif key == "const":
            plain["enum"] = [item]
        elif key not in _REFUSED:
            plain[key] = _plain(item, definitions, depth + 1)
    return plain
