"""How files of older versions become today's. Each step is a pure function from one version's document to the next's."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Final

from pydantic import JsonValue
from pydantic.alias_generators import to_camel

__all__ = ["CURRENT_VERSION", "migrate"]

Document = dict[str, JsonValue]


def _from_flat(document: Document) -> Document:
    """Version 0 was one flat object with snake_case names; provider settings become the default profile."""
    from ._fields import wire_names
    from ._provider_settings import ProviderSettings, secret_keys

    if "globalSettings" in document or "providerProfiles" in document:
        return {**document, "version": 1}
    provider_keys = set(wire_names(ProviderSettings)) - {"rateLimitSeconds"}
    settings: dict[str, JsonValue] = {}
    profile: dict[str, JsonValue] = {}
    for name, value in document.items():
        if name == "version":
            continue
        key = to_camel(name)
        if key in provider_keys and key not in secret_keys():
            profile[key] = value
        else:
            settings[key] = value
    migrated: Document = {"version": 1, "globalSettings": settings}
    if profile:
        migrated["providerProfiles"] = {"currentApiConfigName": "default", "apiConfigs": {"default": profile}}
    return migrated


MIGRATIONS: Final[tuple[Callable[[Document], Document], ...]] = (_from_flat,)
"""Step N takes a document of version N to version N + 1."""

CURRENT_VERSION: Final = len(MIGRATIONS)


def migrate(document: Document) -> Document:
    """The document in today's form. One of a newer version stays as it is, its number included."""
    version = document.get("version", 0)
    if not isinstance(version, int) or isinstance(version, bool) or version < 0:
        version = 0
    migrated = copy.deepcopy(document)
    for step in MIGRATIONS[version:]:
        migrated = step(migrated)
    return migrated
