"""How a field says where it is shown, what its choices are called, and that it is a secret."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Annotated, Final
from urllib.parse import parse_qsl, urlsplit

from pydantic import AfterValidator, BaseModel, Field, JsonValue
from pydantic.fields import FieldInfo

if TYPE_CHECKING:
    from pydantic import GetJsonSchemaHandler
    from pydantic_core import CoreSchema

__all__ = [
    "CREDENTIAL_NAME",
    "BaseUrl",
    "Choices",
    "Secret",
    "field_providers",
    "is_nullable",
    "number_properties",
    "secret_fields",
    "shown",
    "wire_names",
]

CREDENTIAL_NAME: Final = re.compile(r"auth|key|token|secret|cookie|password|credential", re.IGNORECASE)
"""Names of headers and query parameters whose values are credentials, whatever their case."""


@dataclass(frozen=True)
class Choices:
    """Gives each choice of a ``Literal`` the label a person reads."""

    labels: tuple[tuple[str, str], ...]

    def __get_pydantic_json_schema__(
        self, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, JsonValue]:
        handler(core_schema)
        return {"type": "string", "oneOf": [{"const": value, "title": label} for value, label in self.labels]}


@dataclass(frozen=True)
class Secret:
    """Marks a field that is kept in the secret storage and nowhere else.

    ``env`` are the environment variables the value may come from, the first that is set.
    """

    env: tuple[str, ...] = ()

    def __get_pydantic_json_schema__(
        self, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, JsonValue]:
        schema: dict[str, JsonValue] = {**handler(core_schema), "x-secret": True}
        if self.env:
            schema["x-env"] = list(self.env)
        return schema


def shown(
    group: str,
    title: str,
    description: str,
    *,
    providers: tuple[str, ...] = (),
    advanced: bool = False,
    hidden: bool = False,
) -> FieldInfo:
    """Puts a field into a group of the settings panel, under a title and with a sentence of help."""
    extra: dict[str, JsonValue] = {"x-group": group}
    if providers:
        extra["x-providers"] = list(providers)
    if advanced:
        extra["x-advanced"] = True
    if hidden:
        extra["x-hidden"] = True
    info: FieldInfo = Field(title=title, description=description, json_schema_extra=extra)
    return info


def number_properties(schema: dict[str, JsonValue]) -> None:
    """Gives every property its place in the order of declaration."""
    properties = schema.get("properties")
    if isinstance(properties, dict):
        for order, definition in enumerate(properties.values()):
            if isinstance(definition, dict):
                definition["x-order"] = order


def _check_base_url(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("must be an address that begins with http:// or https://")
    if parts.username is not None or parts.password is not None:
        raise ValueError("must not contain a user name or password; save the key in its own field")
    if any(CREDENTIAL_NAME.search(name) for name, _ in parse_qsl(parts.query)):
        raise ValueError("must not contain a key in its query; save the key in its own field")
    return value


BaseUrl = Annotated[str, Field(max_length=2000), AfterValidator(_check_base_url)]
"""The address of a model service. It may not hide a credential, for it is neither encrypted nor left out of exports."""


def is_nullable(info: FieldInfo) -> bool:
    """Whether the setting can be empty; by convention exactly those whose default is None."""
    return info.default is None


@cache
def wire_names(model: type[BaseModel]) -> Mapping[str, str]:
    """The wire name of each field, mapped to its name inside."""
    return {info.alias or name: name for name, info in model.model_fields.items()}


@cache
def secret_fields(model: type[BaseModel]) -> Mapping[str, Secret]:
    """The wire name of each field marked secret, with its mark."""
    return {
        info.alias or name: mark
        for name, info in model.model_fields.items()
        for mark in info.metadata
        if isinstance(mark, Secret)
    }


def field_providers(info: FieldInfo) -> tuple[str, ...]:
    """The providers a field applies to; none named means all."""
    extra = info.json_schema_extra
    listed = extra.get("x-providers") if isinstance(extra, dict) else None
    return tuple(str(provider) for provider in listed) if isinstance(listed, list) else ()
