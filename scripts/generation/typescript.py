"""TypeScript types from pydantic's JSON Schema.

Written for this package's own models: objects are closed, unions are of named objects or literals, and an optional field
is one whose default is null, because the wire leaves absent fields out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TypeAlias

Schema: TypeAlias = Mapping[str, object]

__all__ = ["Schema", "TypeWriter", "schemas_of", "string_of"]


def schemas_of(value: object) -> list[Schema]:
    """The schemas in a list of them."""
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def string_of(value: object) -> str:
    """A keyword's text, or nothing."""
    return value if isinstance(value, str) else ""


class TypeWriter:
    """Writes schemas as TypeScript; ``aliases`` are unions that have a name of their own."""

    mentioned: set[str]
    """The names of the types that what was written so far refers to."""

    def __init__(self, aliases: Mapping[str, Schema]) -> None:
        self._names: dict[frozenset[str], str] = {}
        self._aliases = aliases
        self.mentioned = set()
        for name, schema in aliases.items():
            members = self._members(schema)
            if len(members) > 1:
                self._names.setdefault(frozenset(members), name)
        self.mentioned.clear()

    def alias(self, name: str) -> str:
        """The declaration of a named union."""
        return f"export type {name} = {' | '.join(self._members(self._aliases[name]))};"

    def interface(self, name: str, schema: Schema) -> str:
        """The declaration of an object, or of whatever else has a name."""
        comment = _comment(string_of(schema.get("description")))
        properties = schema.get("properties")
        if not isinstance(properties, Mapping) or not properties:
            if schema.get("type") == "object" and schema.get("additionalProperties") is False:
                return f"{comment}export type {name} = Record<string, never>;"
            return f"{comment}export type {name} = {self.type_of(schema)};"
        lines = [f"{comment}export interface {name} {{"]
        for key, value in properties.items():
            lines.append(f"  {_comment(string_of(value.get('description')))}{self.property(key, schema)};")
        return "\n".join([*lines, "}"])

    def type_of(self, schema: Schema) -> str:
        """The type of any schema."""
        return self._union(self._members(schema))

    def property(self, key: str, parent: Schema) -> str:
        """One field of an object, with ``?`` if it may be absent."""
        properties, required = parent["properties"], parent.get("required")
        assert isinstance(properties, Mapping)
        schema = properties[key]
        members = self._members(schema)
        optional = not (isinstance(required, list) and key in required) and schema.get("default") is None
        if optional:
            members = [member for member in members if member != "null"]
        return f"{key}{'?' if optional else ''}: {self._union(members)}"

    def _union(self, members: Sequence[str]) -> str:
        name = self._names.get(frozenset(members))
        parts = [name] if name else members
        self.mentioned |= {part for part in parts if part.isidentifier() and part[0].isupper()}
        return " | ".join(parts)

    def _members(self, schema: Schema) -> list[str]:
        """The alternatives a schema allows, without repetition."""
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema:
                parts = [member for part in schemas_of(schema[keyword]) for member in self._members(part)]
                return list(dict.fromkeys(parts))
        if "$ref" in schema:
            return [string_of(schema["$ref"]).rpartition("/")[2]]
        if "const" in schema:
            return [_literal(schema["const"])]
        values = schema.get("enum")
        if isinstance(values, list):
            return [_literal(value) for value in values]
        kind = schema.get("type")
        if isinstance(kind, list):
            return [self._of_type(string_of(part), schema) for part in kind]
        return [self._of_type(string_of(kind), schema)]

    def _of_type(self, kind: str, schema: Schema) -> str:
        simple = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}
        if kind in simple:
            return simple[kind]
        if kind == "array":
            return self._array(schema)
        if kind == "object":
            values = schema.get("additionalProperties")
            return f"Record<string, {self.type_of(values if isinstance(values, Mapping) else {})}>"
        if kind == "":
            return "JsonValue"
        raise ValueError(f"No TypeScript for the JSON Schema type {kind!r}")

    def _array(self, schema: Schema) -> str:
        prefix: Sequence[Schema] = schemas_of(schema.get("prefixItems"))
        if prefix:
            return f"[{', '.join(self.type_of(item) for item in prefix)}]"
        items = schema.get("items")
        return f"Array<{self.type_of(items if isinstance(items, Mapping) else {})}>"


def _literal(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _comment(text: str) -> str:
    return f"/** {' '.join(text.replace('``', '`').split())} */\n" if text else ""
