"""``docs/reference/rest.md``: every endpoint with what it takes and answers, out of the OpenAPI document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import groupby
from typing import Final, cast

from hdsp_agent.comm.rest import describe

from .markdown import code, header, one_line
from .typescript import Schema, TypeWriter, schemas_of, string_of
from .wire import vocabulary

__all__ = ["write_rest_page"]

_VERBS: Final = ("get", "post", "put", "patch", "delete")

_INTRODUCTION: Final = """
All paths are below `<base_url>hdsp-agent/api`. A running server has the whole description, with every object, at
`hdsp-agent/api/openapi.json`.

Send Jupyter's token as `Authorization: token …`. Reading needs the right `read` for the resource `hdsp_agent`, changing
needs `write`. Bodies are JSON. An error is `{code, message, params, field?, reason}`; see [error codes](errors.md).
"""

_OBJECTS: Final = """
The objects that only REST uses. A field with `?` may be absent. All others are on the [protocol](protocol.md) page.
"""


def write_rest_page() -> str:
    """The file's text, before prettier."""
    parts = [header("REST API", "hdsp_agent/comm/rest", _INTRODUCTION)]
    paths = cast("Mapping[str, Schema]", _document()["paths"])
    for name, group in groupby(sorted(paths.items()), key=lambda item: item[0].split("/")[1]):
        parts.append(f"## {name}")
        parts.append("\n".join(line for path, verbs in group for line in _endpoints(path, verbs)))
    parts += ["## Objects of REST", _OBJECTS.strip(), "\n".join(_objects())]
    return "\n\n".join(parts) + "\n"


def _endpoints(path: str, verbs: Schema) -> Iterator[str]:
    for verb in _VERBS:
        operation = verbs.get(verb)
        if isinstance(operation, Mapping):
            yield f"- {code(f'{verb.upper()} {path}')}: {one_line(string_of(operation['summary']))}. {_told(operation)}"


def _told(operation: Schema) -> str:
    query = [string_of(one["name"]) for one in schemas_of(operation["parameters"]) if one["in"] == "query"]
    parts = [f"Query: {', '.join(map(code, query))}."] if query else []
    body = operation.get("requestBody")
    if isinstance(body, Mapping):
        parts.append(f"Body: {code(_type_in(body))}.")
    responses = cast("Mapping[str, Schema]", operation["responses"])
    done = next(answer for status, answer in responses.items() if status.startswith("2"))
    parts.append(f"Answer: {code(_type_in(done))}.")
    return " ".join(parts)


def _type_in(part: Schema) -> str:
    content = cast("Mapping[str, Schema]", part["content"])
    kind, held = next(iter(content.items()))
    schema = cast("Schema", held["schema"])
    return kind if kind != "application/json" or schema.get("format") == "binary" else _writer().type_of(schema)


def _objects() -> Iterator[str]:
    components = cast("Mapping[str, Schema]", cast("Schema", _document()["components"])["schemas"])
    for name, schema in sorted(components.items()):
        properties = schema.get("properties")
        if name not in vocabulary().objects and isinstance(properties, Mapping) and properties:
            fields = ", ".join(code(_writer().property(key, schema)) for key in properties)
            yield f"- {code(name)}: {one_line(string_of(schema.get('description')))} {fields}"


@cache
def _writer() -> TypeWriter:
    return TypeWriter(vocabulary().aliases)


@cache
def _document() -> Schema:
    return describe(version="")
