"""``docs/reference/settings.md``: every setting that people see, by group, with its name in a settings file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from hdsp_agent.config import GlobalSettings, ProviderSettings

from .markdown import code, header, one_line, table
from .typescript import Schema, schemas_of, string_of

__all__ = ["write_settings_page"]

_INTRODUCTION = """
You find these under _Settings → HDSP Agent Settings_. The name below each title is the one in exported settings files,
in `fixed_settings`, which an administrator sets, and in REST.
"""

_PROFILES = """
A profile is a named way to reach a model. Each provider shows only the fields that apply to it. Keys are kept apart
from profiles and are never exported.
"""


def write_settings_page() -> str:
    """The file's text, before prettier."""
    parts = [header("Settings", "hdsp_agent/config", _INTRODUCTION)]
    parts += _sections(GlobalSettings.model_json_schema(), level="##")
    parts += ["## Provider profiles", _PROFILES.strip()]
    parts += _sections(ProviderSettings.model_json_schema(), level="###")
    return "\n\n".join(parts) + "\n"


def _sections(schema: Schema, *, level: str) -> Iterator[str]:
    properties = schema["properties"]
    assert isinstance(properties, Mapping)
    for group in schemas_of(schema["x-groups"]):
        shown = [
            (name, setting)
            for name, setting in properties.items()
            if setting.get("x-group") == group["id"] and not setting.get("x-hidden")
        ]
        if shown:
            yield f"{level} {group['title']}"
            rows = (_row(name, setting) for name, setting in shown)
            yield table(("Setting", "Default", "What it does"), rows)


def _row(name: str, setting: Schema) -> tuple[str, str, str]:
    description = one_line(string_of(setting.get("description")))
    choices = ", ".join(f"{code(str(one['const']))} ({one_line(string_of(one['title']))})" for one in _choices(setting))
    told = f"{description} Choices: {choices}." if choices and len(choices) < 600 else description
    return f"{one_line(string_of(setting.get('title')))}<br>{code(name)}", _default(setting), told


def _default(setting: Schema) -> str:
    value = setting.get("default")
    if value is None:
        return "–"
    text = json.dumps(value, ensure_ascii=False)
    return code(text) if len(text) <= 80 else f"{code(text[:60] + ' …')}"


def _choices(setting: Schema) -> list[Schema]:
    found = [choice for choice in schemas_of(setting.get("oneOf")) if "title" in choice]
    for part in schemas_of(setting.get("anyOf")):
        found += _choices(part)
    items = setting.get("items")
    return found + (_choices(items) if isinstance(items, Mapping) else [])
