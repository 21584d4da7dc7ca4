"""What the profiles section of ``config.json`` says, however it was edited.

Profiles have Roo Code's form: ``{currentApiConfigName, apiConfigs: {name: {id, …}}, modeApiConfigs:
{mode: id}, pinnedApiConfigs: {id: true}}``, and ``lockApiConfigAcrossModes`` and ``importedAddresses: {id: origin}``
beside them. Ids never change and name the profile's keys; names are for people.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from pydantic import JsonValue

from ..errors import InvalidInput, UnknownProfile
from ..wire import WireModel
from ._fields import wire_names
from ._notices import ConfigNotice
from ._operator_policy import OperatorPolicy
from ._provider_settings import ProviderSettings, model_id, secret_keys
from ._providers import RETIRED_PROVIDERS, provider_info
from ._validation import as_text, is_text, readable_settings

__all__ = [
    "MOST_PROFILES",
    "ProfileEntry",
    "ProfilesSection",
    "checked_name",
    "name_of",
    "new_profile_id",
    "object_in",
    "part_of",
    "prepare_profiles",
    "profile_ids",
    "read_profiles",
]

MOST_PROFILES: Final = 100
"""Each is checked anew at every change, and told to every page. More in a file are read, but no more are added."""
_LONGEST_NAME: Final = 100
_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,100}")

Raw = dict[str, JsonValue]


class ProfileEntry(WireModel):
    """A profile in the list."""

    id: str
    name: str
    api_provider: str | None = None
    model_id: str | None = None
    pinned: bool = False
    current: bool = False
    allowed: bool = True
    """False if the operator does not allow its provider."""


@dataclass(frozen=True)
class ProfilesSection:
    """What the profiles section of one version of the file says."""

    entries: tuple[ProfileEntry, ...]
    settings: Mapping[str, ProviderSettings]
    """The settings by profile id, defaults and fixed values included."""
    own: Mapping[str, Raw]
    """What a person set, by profile id: valid, and without secrets."""
    modes: Mapping[str, str]
    """Profile ids by mode."""
    locked: bool = False
    """Whether one profile is for all modes."""
    imported: Mapping[str, str] = field(default_factory=dict)
    """By profile id, an address that came out of a settings file and that no person has set since."""
    notices: tuple[ConfigNotice, ...] = ()


@dataclass(frozen=True)
class _Found:
    """The raw profiles of a document, with an id for each."""

    raw: dict[str, Raw]
    ids: dict[str, str]
    notices: list[ConfigNotice] = field(default_factory=list)


# ---- reading


def read_profiles(section: Raw, policy: OperatorPolicy, defaults: Mapping[str, JsonValue]) -> ProfilesSection:
    """Make sense of the profiles section, however it was edited."""
    found = _find(section)
    current = _current_name(section, found, policy)
    pinned = object_in(section.get("pinnedApiConfigs"))
    entries: list[ProfileEntry] = []
    settings: dict[str, ProviderSettings] = {}
    own: dict[str, Raw] = {}
    for name, raw in found.raw.items():
        id = found.ids[name]
        values, notices = _readable_profile(name, raw)
        found.notices.extend(notices)
        own[id] = values
        settings[id] = effective = _effective(values, policy, defaults)
        entries.append(
            ProfileEntry(
                id=id,
                name=name,
                api_provider=effective.api_provider,
                model_id=model_id(effective),
                pinned=pinned.get(id) is True,
                current=name == current,
                allowed=policy.allows_provider(effective.api_provider),
            )
        )
    modes = {
        mode: id
        for mode, id in object_in(section.get("modeApiConfigs")).items()
        if isinstance(id, str) and id in settings and is_text(mode)
    }
    locked = section.get("lockApiConfigAcrossModes") is True
    addresses = object_in(section.get("importedAddresses"))
    imported = {id: address for id, address in addresses.items() if isinstance(address, str)}
    return ProfilesSection(tuple(entries), settings, own, modes, locked, imported, tuple(found.notices))


def prepare_profiles(section: Raw, policy: OperatorPolicy) -> bool:
    """Make sure that there is a profile and that each has an id; returns whether anything had to be done."""
    found = _find(section)
    configs = part_of(section, "apiConfigs")
    if not found.raw:
        configs[policy.default_profile] = {"id": new_profile_id()}
        return True
    changed = False
    for name, id in found.ids.items():
        if found.raw[name].get("id") != id:
            configs[name] = {"id": id, **{key: value for key, value in found.raw[name].items() if key != "id"}}
            changed = True
    return changed


def new_profile_id() -> str:
    """An id no other profile has, in any storage folder: the system keyring is shared by all of them."""
    return secrets.token_hex(8)


def checked_name(name: str) -> str:
    """The name as it is kept, or InvalidInput."""
    # The same letters can be written in two ways; two profiles that look alike help nobody.
    trimmed = unicodedata.normalize("NFC", name).strip()
    if not trimmed or len(trimmed) > _LONGEST_NAME or not all(map(_may_be_in_a_name, trimmed)):
        raise InvalidInput(
            f"A profile's name must have 1 to {_LONGEST_NAME} printable characters.",
            field="name",
            longest=_LONGEST_NAME,
        )
    return trimmed


def _may_be_in_a_name(char: str) -> bool:
    # Beyond what Python prints as it is: the spaces of other scripts, and the joiners in emoji and in Persian.
    return char.isprintable() or unicodedata.category(char) == "Zs" or char in "\u200c\u200d"


def profile_ids(section: Raw) -> dict[str, str]:
    """The id of each profile, by name."""
    return _find(section).ids


def name_of(section: Raw, id: str) -> str:
    """The name a profile has in this document; raises UnknownProfile."""
    for name, other in profile_ids(section).items():
        if other == id:
            return name
    raise UnknownProfile("This profile was deleted in the meantime.", profile=id)


def object_in(value: JsonValue) -> Raw:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def part_of(section: Raw, name: str) -> Raw:
    """A part of the section; what is put in here is kept."""
    part = section.setdefault(name, {})
    if not isinstance(part, dict):
        raise TypeError(f"{name} was not checked when it was read")
    return part


def _find(section: Raw) -> _Found:
    found = _Found({}, {})
    taken: set[str] = set()
    for name, raw in object_in(section.get("apiConfigs")).items():
        if not isinstance(raw, dict) or not is_text(name):
            shown = as_text(name[:_LONGEST_NAME])
            found.notices.append(
                ConfigNotice(
                    code="profile_ignored",
                    message=f"The profile {shown} in config.json is not an object with a proper name and is ignored.",
                    params={"profile": shown},
                )
            )
            continue
        id = raw.get("id")
        if not isinstance(id, str) or not _ID.fullmatch(id) or id in taken:
            # Written by hand. The same name must give the same id at every look until it is saved with it.
            id = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:16]
        while id in taken:
            id = hashlib.sha256(id.encode()).hexdigest()[:16]
        taken.add(id)
        found.raw[name] = raw
        found.ids[name] = id
    return found


def _readable_profile(name: str, raw: Raw) -> tuple[Raw, list[ConfigNotice]]:
    notices: list[ConfigNotice] = []
    candidate = {key: value for key, value in raw.items() if key not in secret_keys()}
    misplaced = sorted(secret_keys() & raw.keys())
    if misplaced:
        notices.append(
            ConfigNotice(
                code="key_in_config",
                message=f"config.json contains a key in the profile {name} ({', '.join(misplaced)}). It is not used there, and "
                "anyone who reads the file can see it. Remove it, and save the key in the settings.",
                params={"profile": name, "keys": ", ".join(misplaced)},
                field=misplaced[0],
            )
        )
    provider = candidate.get("apiProvider")
    if provider is not None and (not isinstance(provider, str) or provider_info(provider) is None):
        del candidate["apiProvider"]
        notices.append(_unknown_provider_notice(name, str(provider)))
    values, invalid = readable_settings(ProviderSettings, candidate, where=f"{name}: ")
    return values, [*notices, *invalid]


def _unknown_provider_notice(profile: str, provider: str) -> ConfigNotice:
    """Says that a profile's provider is not one of ours."""
    retired = provider in RETIRED_PROVIDERS
    provider = as_text(provider[:100])
    why = "is no longer offered" if retired else "is not one this version knows"
    return ConfigNotice(
        code="provider_retired" if retired else "provider_unknown",
        message=f"The provider {provider} of the profile {profile} {why}. Choose another one for it.",
        params={"profile": profile, "provider": provider},
        field="apiProvider",
    )


def _effective(own: Raw, policy: OperatorPolicy, defaults: Mapping[str, JsonValue]) -> ProviderSettings:
    values = dict(own)
    default_provider = defaults.get("apiProvider")
    if "apiProvider" not in values and default_provider is not None:
        values["apiProvider"] = default_provider
    if values.get("apiProvider") == default_provider:
        for key, value in defaults.items():
            values.setdefault(_model_field(default_provider) if key == "apiModelId" else key, value)
    names = wire_names(ProviderSettings)
    values |= {key: value for key, value in policy.fixed_settings.items() if key in names}
    return ProviderSettings.model_validate({names[key]: value for key, value in values.items()})


def _model_field(provider: JsonValue) -> str:
    info = provider_info(provider) if isinstance(provider, str) else None
    return info.model_field if info else "apiModelId"


def _current_name(section: Raw, found: _Found, policy: OperatorPolicy) -> str | None:
    chosen = section.get("currentApiConfigName")
    for name in (chosen, policy.default_profile):
        if isinstance(name, str) and name in found.raw:
            return name
    return next(iter(found.raw), None)
