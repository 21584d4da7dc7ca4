"""The OpenAPI document, derived from the handlers' declarations."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pydantic import JsonValue
from pydantic.json_schema import models_json_schema

from ...messages import ErrorBody
from ...wire import WireModel
from ._rest_endpoint import API_PATH, Endpoint, NoQuery, RestHandler, endpoint_of

__all__ = ["openapi_document"]

_VERBS = ("get", "post", "put", "patch", "delete")
_REF = "#/components/schemas/{model}"

_EXAMPLES = {
    "name": "default",
    "profile": "default",
    "mode": "code",
    "key": "apiKey",
    "task": "0b8f9d0e-6f2c-4d7b-9d52-6a1f3c2b4e5d",
    "log": "ui",
    "artifact": "0" * 64,
    "model": "qwen2.5-coder-0.5b-instruct",
    "checkpoint": "0123456789abcdef",
    "operation": "fedcba9876543210",
    "run": "0" * 32,
    "verification": "9f86d081884c7d65",
    "note": "3f2a91c0",
    "item": "9f31c07b2a",
    "agent": "5d41402abc4b2a76b9719d911017c592",
    "server": "github",
}

Schema = dict[str, JsonValue]


def openapi_document(version: str, routes: Mapping[str, type[RestHandler]]) -> dict[str, JsonValue]:
    """Describe every endpoint with its body, answer and errors."""
    declared = {
        path: {verb: found for verb in _VERBS if (found := endpoint_of(getattr(handler, verb)))}
        for path, handler in routes.items()
    }
    names, definitions = _schemas([point for verbs in declared.values() for point in verbs.values()])
    paths: Schema = {
        path: {verb: _operation(path, verb, point, names) for verb, point in verbs.items()}
        for path, verbs in declared.items()
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "HDSP Agent", "version": version},
        "servers": [{"url": API_PATH}],
        "paths": paths,
        "components": {
            "schemas": definitions,
            "securitySchemes": {"token": {"type": "apiKey", "in": "header", "name": "Authorization"}},
        },
        "security": [{"token": []}],
    }


def _schemas(points: list[Endpoint]) -> tuple[dict[type[WireModel], JsonValue], Schema]:
    models = (
        {ErrorBody}
        | {point.answer for point in points if point.answer}
        | {point.body for point in points if point.body}
    )
    ordered = sorted(models, key=lambda model: model.__name__)
    # Bodies are described as they are validated, answers as they are written: one form serves both here, since
    # absent answers are left out just as optional inputs may be.
    references, document = models_json_schema([(model, "validation") for model in ordered], ref_template=_REF)
    names: dict[type[WireModel], JsonValue] = {
        model: reference for (model, _), reference in references.items() if issubclass(model, WireModel)
    }
    definitions = document["$defs"]
    return names, definitions


def _operation(path: str, verb: str, point: Endpoint, names: dict[type[WireModel], JsonValue]) -> Schema:
    words = re.sub(r"[{}]", "", path).replace(".", "/").strip("/").split("/")
    operation: Schema = {
        "operationId": "_".join([verb, *words]),
        "summary": point.summary,
        "parameters": [*_path_parameters(path), *_query_parameters(point)],
        "responses": {
            str(point.status): _content("As asked", names[point.answer]) if point.answer else _file(point),
            "default": _content("What went wrong", names[ErrorBody]),
        },
    }
    if point.body is not None:
        operation["requestBody"] = {"required": True, **_content("", names[point.body], describe=False)}
    return operation


def _path_parameters(path: str) -> list[JsonValue]:
    return [
        {
            "name": name,
            "in": "path",
            "required": True,
            "schema": {"type": "string", "minLength": 1},
            "example": _EXAMPLES[name],
        }
        for name in re.findall(r"\{(\w+)\}", path)
    ]


def _query_parameters(point: Endpoint) -> list[JsonValue]:
    if point.query is NoQuery:
        return []
    query = point.query.model_json_schema()
    needed = query.get("required", [])
    return [
        {"name": name, "in": "query", "schema": schema, **({"required": True} if name in needed else {})}
        for name, schema in query["properties"].items()
    ]


def _file(point: Endpoint) -> Schema:
    schema: Schema = {"schema": {"type": "string", "format": "binary"}}
    return {"description": "A file to save", "content": dict.fromkeys(point.media_types, schema)}


def _content(description: str, schema: JsonValue, *, describe: bool = True) -> Schema:
    content: Schema = {"content": {"application/json": {"schema": schema}}}
    return {"description": description, **content} if describe else content
