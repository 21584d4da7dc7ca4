"""Samples of every kind, built from the models themselves: a field somebody adds is sampled without being asked for."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TypedDict, cast, get_args

from hypothesis import strategies as st
from pydantic import JsonValue, TypeAdapter

from hdsp_agent.wire import WireModel

Schema = TypedDict(
    "Schema",
    {
        "$ref": str,
        "$defs": "dict[str, Schema]",
        "type": str,
        "const": JsonValue,
        "enum": list[JsonValue],
        "anyOf": "list[Schema]",
        "oneOf": "list[Schema]",
        "pattern": str,
        "minLength": int,
        "maxLength": int,
        "minimum": int,
        "maximum": int,
        "prefixItems": "list[Schema]",
        "items": "Schema",
        "minItems": int,
        "properties": "dict[str, Schema]",
        "required": list[str],
        "additionalProperties": "Schema | bool",
    },
    total=False,
)
Definitions = Mapping[str, Schema]

# What a pattern or a name asks for that a generated text would not be.
_MATCHING = {
    r"^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$": "0b8f9d0e-6f2c-4d7b-9d52-6a1f3c2b4e5d",
    r"^[a-zA-Z0-9-]{1,100}$": "code",
    r"^[a-zA-Z0-9-]+$": "code",
    r"^[a-zA-Z0-9_-]{1,64}$": "4f9d1b2c",
    r"^[0-9a-f]{64}$": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    r"^data:image/[a-z0-9.+-]+;base64,": "data:image/png;base64,iVBORw0KGgo=",
    r"^[0-9a-fA-F]{4,64}$": "8f14e45fceea167a5a36dedd4bea2543",
    r"^[a-z0-9]+(?:-[a-z0-9]+)*$": "make-plots",
    r"^(https?://|mailto:)": "https://example.org/",
}
# These have rules that no JSON Schema says, which the tests of config are about: samples hold the least of them.
_WITH_RULES_OF_THEIR_OWN = frozenset({"GlobalSettings", "ModeConfig", "ProviderSettings"})


def node() -> str:
    """Node, which the environment brings with it; without it a test fails rather than pass over what it is about."""
    found = shutil.which("node", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
    assert found, "Node is missing; run `make install`."
    return found


def arms(union: object) -> list[type[WireModel]]:
    """The models of a discriminated union."""
    return list(get_args(get_args(union)[0]))


@cache
def schema_of(kind: type[WireModel]) -> Schema:
    """The JSON Schema of a model."""
    return cast(Schema, kind.model_json_schema())


def minimal(kind: type[WireModel]) -> dict[str, JsonValue]:
    """The JSON of a model with only what it cannot do without."""
    schema = schema_of(kind)
    return _object(schema, schema.get("$defs", {}), full=False)


def full(kind: type[WireModel]) -> dict[str, JsonValue]:
    """The JSON of a model with every field."""
    schema = schema_of(kind)
    return _object(schema, schema.get("$defs", {}), full=True)


def both(kind: type[WireModel]) -> Iterator[tuple[str, dict[str, JsonValue]]]:
    """The two, as the model itself writes them."""
    for name, sample in (("minimal", minimal(kind)), ("full", full(kind))):
        yield name, TypeAdapter(kind).validate_python(sample).to_wire()


def _object(schema: Schema, definitions: Definitions, *, full: bool) -> dict[str, JsonValue]:
    required = schema.get("required", [])
    return {
        name: _value(part, definitions, full=full)
        for name, part in schema.get("properties", {}).items()
        if full or name in required or "const" in part
    }


def _value(schema: Schema, definitions: Definitions, *, full: bool) -> JsonValue:
    if "$ref" in schema:
        name = str(schema["$ref"]).rpartition("/")[2]
        return _value(definitions[name], definitions, full=full and name not in _WITH_RULES_OF_THEIR_OWN)
    if options := schema.get("anyOf") or schema.get("oneOf"):
        return _value(options[0], definitions, full=full)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    return _value_of_type(schema, definitions, full=full)


def _value_of_type(schema: Schema, definitions: Definitions, *, full: bool) -> JsonValue:
    match schema.get("type"):
        case "string":
            return _MATCHING[schema["pattern"]] if "pattern" in schema else "text"
        case "integer":
            return max(1, schema.get("minimum", 1))
        case "number":
            return 0.5
        case "boolean":
            return True
        case "array":
            if "prefixItems" in schema:
                return [_value(item, definitions, full=full) for item in schema["prefixItems"]]
            return [_value(schema["items"], definitions, full=full)] if full or schema.get("minItems") else []
        case "object":
            values = schema.get("additionalProperties", False)
            if not isinstance(values, bool):
                return {"key": _value(values, definitions, full=full)} if full else {}
            if values:
                return {"key": [1, None, "text"]} if full else {}
            return _object(schema, definitions, full=full)
        case _:
            return {"anything": [True, 1.5]}


def wires(kind: type[WireModel]) -> st.SearchStrategy[dict[str, JsonValue]]:
    """Any JSON the model accepts."""
    schema = schema_of(kind)
    return cast("st.SearchStrategy[dict[str, JsonValue]]", _strategy(schema, schema.get("$defs", {})))


json_values: st.SearchStrategy[JsonValue] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


def _strategy(schema: Schema, definitions: Definitions) -> st.SearchStrategy[JsonValue]:
    if "$ref" in schema:
        name = str(schema["$ref"]).rpartition("/")[2]
        if name in _WITH_RULES_OF_THEIR_OWN:
            return st.just(_value(schema, definitions, full=False))
        return _strategy(definitions[name], definitions)
    if options := schema.get("anyOf") or schema.get("oneOf"):
        return st.one_of([_strategy(part, definitions) for part in options])
    if "const" in schema:
        return st.just(schema["const"])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    return _strategy_of_type(schema, definitions)


def _strategy_of_type(schema: Schema, definitions: Definitions) -> st.SearchStrategy[JsonValue]:
    match schema.get("type"):
        case "string":
            if "pattern" in schema:
                return st.just(_MATCHING[schema["pattern"]])
            return st.text(min_size=schema.get("minLength", 0), max_size=min(schema.get("maxLength", 20), 20))
        case "integer":
            return st.integers(schema.get("minimum", -(2**53)), schema.get("maximum", 2**53))
        case "number":
            return st.floats(allow_nan=False, allow_infinity=False)
        case "boolean":
            return st.booleans()
        case "null":
            return st.none()
        case "array":
            if "prefixItems" in schema:
                items = [_strategy(item, definitions) for item in schema["prefixItems"]]
                return st.tuples(*items).map(list)
            item = _strategy(schema["items"], definitions)
            return st.lists(item, min_size=schema.get("minItems", 0), max_size=2)
        case "object":
            return _object_strategy(schema, definitions)
        case _:
            return json_values


def _object_strategy(schema: Schema, definitions: Definitions) -> st.SearchStrategy[JsonValue]:
    values = schema.get("additionalProperties", False)
    if not isinstance(values, bool):
        keys = st.text(min_size=1, max_size=8)
        return st.dictionaries(keys, _strategy(values, definitions), max_size=2)
    if values and "properties" not in schema:
        return st.dictionaries(st.text(max_size=8), json_values, max_size=2)
    required = schema.get("required", [])
    parts = {name: _strategy(part, definitions) for name, part in schema.get("properties", {}).items()}
    always = {name for name, part in schema.get("properties", {}).items() if name in required or "const" in part}
    return st.fixed_dictionaries(
        {name: part for name, part in parts.items() if name in always},
        optional={name: part for name, part in parts.items() if name not in always},
    )
