"""Settings out to a document and back in: ours and Roo Code's have the same form.

An export never holds a key. An import is lenient: every value that can be used is taken, every other is reported.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, Literal

from pydantic import Field, JsonValue

from ..errors import HdspAgentError, InvalidInput, Param
from ..wire import WireModel
from ._config_store import ConfigDocument
from ._fields import CREDENTIAL_NAME, wire_names
from ._key_addresses import address_field, origin_of
from ._operator_policy import OperatorPolicy
from ._profiles import ProfileBook
from ._profiles_section import MOST_PROFILES, checked_name, new_profile_id, part_of, prepare_profiles, profile_ids
from ._provider_settings import ProviderSettings, secret_keys
from ._providers import RETIRED_PROVIDERS, provider_info
from ._settings import GlobalSettings
from ._validation import check_setting

__all__ = [
    "ImportItem",
    "ImportPlan",
    "ImportReport",
    "ProfileImport",
    "apply_import",
    "export_document",
    "plan_import",
]

Raw = dict[str, JsonValue]
ImportOutcome = Literal["taken", "changed", "skipped"]

_MOST_ITEMS: Final = 1000
"""Of a report. Who sends a hundred thousand values that nobody knows need not be told of each."""
_MOST_MODES: Final = 200

_KEPT_WITH_PROFILES: Final = frozenset(
    {"currentApiConfigName", "listApiConfigMeta", "modeApiConfigs", "pinnedApiConfigs", "taskHistory"}
)
"""Global settings of Roo Code that we keep elsewhere or never transfer."""

_DECIDED_HERE: Final[Mapping[str, str]] = {
    "secretStorage": "Where keys are kept is decided on each machine.",
    "searchByMeaning": "Where passages are sent is decided on each machine.",
    "searchEndpointUrl": "Where passages are sent is decided on each machine.",
    "searchEndpointModel": "Where passages are sent is decided on each machine.",
    "searchEndpointApiKey": "Keys are not stored in settings files.",
    "ghostTextEnabled": "Where what you write is sent is decided on each machine.",
    "ghostTextApiConfigId": "Where what you write is sent is decided on each machine.",
}
"""Settings that a file neither carries nor changes, each with the reason: nobody else may have texts sent somewhere."""

_MODEL_INFO: Final = {
    "contextWindow": "modelContextWindow",
    "maxTokens": "modelMaxTokens",
    "supportsImages": "modelSupportsImages",
    "supportsPromptCache": "modelSupportsPromptCache",
    "inputPrice": "modelInputPrice",
    "outputPrice": "modelOutputPrice",
    "cacheReadsPrice": "modelCacheReadsPrice",
    "cacheWritesPrice": "modelCacheWritesPrice",
}
"""Roo Code describes a model it does not know in one object; we have a setting for each of its parts."""


class ImportItem(WireModel):
    """What became of one value of an imported document."""

    path: str
    """Where it is in the document, such as ``providerProfiles.work.apiKey``."""
    outcome: ImportOutcome
    code: str
    message: str
    params: dict[str, Param] = Field(default_factory=dict)
    """What a translation of the code is filled in with."""


class ImportReport(WireModel):
    """What an import did, value by value."""

    items: tuple[ImportItem, ...] = ()
    profiles: tuple[str, ...] = ()
    """The profiles it made or changed."""
    current: str | None = None
    """The profile that is current now."""


@dataclass
class ProfileImport:
    """One profile of an imported document, made usable."""

    values: Raw = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict, repr=False)
    id: str | None = None


@dataclass
class ImportPlan:
    """What an import will do, decided before anything is changed."""

    settings: Raw = field(default_factory=dict)
    profiles: dict[str, ProfileImport] = field(default_factory=dict)
    modes: dict[str, str] = field(default_factory=dict)
    """Profile names by mode."""
    pinned: set[str] = field(default_factory=set)
    current: str | None = None
    items: list[ImportItem] = field(default_factory=list)

    not_listed: int = 0
    """How many values are not among the items."""

    def taken(self, path: str, code: str = "taken", message: str = "Taken.") -> None:
        """Note that a value is used."""
        self._note(path, "taken", code, message)

    def changed(self, path: str, code: str, message: str) -> None:
        """Note that a value is used in another way than it says."""
        self._note(path, "changed", code, message)

    def skipped(self, path: str, code: str, message: str) -> None:
        """Note that a value is not used."""
        self._note(path, "skipped", code, message)

    def refused(self, path: str, error: HdspAgentError) -> None:
        """Note that a value cannot be used, and why."""
        self._note(path, "skipped", error.code, error.message, error.params)

    @property
    def told(self) -> tuple[ImportItem, ...]:
        """The items, with how many more there would be."""
        if not self.not_listed:
            return tuple(self.items)
        message = f"{self.not_listed:,} more values are not shown here."
        more = ImportItem(
            path="", outcome="skipped", code="not_listed", message=message, params={"count": self.not_listed}
        )
        return (*self.items, more)

    def _note(
        self, path: str, outcome: ImportOutcome, code: str, message: str, params: Mapping[str, Param] | None = None
    ) -> None:
        if len(self.items) >= _MOST_ITEMS:
            self.not_listed += 1
            return
        item = ImportItem(path=path, outcome=outcome, code=code, message=message, params=dict(params or {}))
        self.items.append(item)


def export_document(own_settings: Mapping[str, JsonValue], book: ProfileBook) -> Raw:
    """What a person set, and no key; Roo Code can import it too."""
    settings = {key: value for key, value in own_settings.items() if key not in _DECIDED_HERE}
    modes = settings.get("customModes")
    if isinstance(modes, list):
        settings["customModes"] = [
            {**mode, "source": "global"} for mode in modes if isinstance(mode, dict) and mode.get("source") != "project"
        ]
    settings["pinnedApiConfigs"] = {entry.id: True for entry in book.entries if entry.pinned}
    secrets = secret_keys()
    return {
        "providerProfiles": {
            "currentApiConfigName": book.current.name,
            "apiConfigs": {
                entry.name: {
                    "id": entry.id,
                    **{key: value for key, value in book.page.own[entry.id].items() if key not in secrets},
                }
                for entry in book.entries
            },
            "modeApiConfigs": dict(book.modes),
        },
        "globalSettings": settings,
    }


def plan_import(
    document: JsonValue, policy: OperatorPolicy, own_settings: Mapping[str, JsonValue], book: ProfileBook
) -> ImportPlan:
    """Decide what to take of a document. Raises InvalidInput if nothing in it can be used."""
    if not isinstance(document, dict):
        raise InvalidInput("This is not a settings file: it does not hold a JSON object.")
    globals_part = document.get("globalSettings", {})
    profiles_part = document.get("providerProfiles", {})
    if not {"globalSettings", "providerProfiles"} & document.keys():
        raise InvalidInput("This is not a settings file: it has neither globalSettings nor providerProfiles.")
    plan = ImportPlan()
    if isinstance(profiles_part, dict):
        _plan_profiles(plan, profiles_part, policy, {entry.name for entry in book.entries})
    else:
        plan.skipped("providerProfiles", "invalid", "It is not an object.")
        profiles_part = {}
    if isinstance(globals_part, dict):
        _plan_settings(plan, globals_part, policy, own_settings)
        _plan_references(plan, profiles_part, globals_part, book)
    else:
        plan.skipped("globalSettings", "invalid", "It is not an object.")
        _plan_references(plan, profiles_part, {}, book)
    if not plan.settings and not plan.profiles:
        reasons = "; ".join(item.message for item in plan.items[:3])
        raise InvalidInput(f"Nothing in this settings file can be used. {reasons}".strip(), reason=reasons)
    return plan


def apply_import(document: ConfigDocument, plan: ImportPlan, policy: OperatorPolicy) -> dict[str, str]:
    """Put what was planned into the file's content; returns the ids of the imported profiles by name."""
    section = document.profiles
    prepare_profiles(section, policy)
    configs = part_of(section, "apiConfigs")
    ids = profile_ids(section)
    renamed: dict[str, str] = {}
    for name, profile in plan.profiles.items():
        # Never the document's own ids: they would share keys with whatever other folder it was imported into.
        id = ids.setdefault(name, new_profile_id())
        configs[name] = {"id": id, **profile.values}
        _note_address(section, id, profile)
        if profile.id:
            renamed[profile.id] = id
    part_of(section, "modeApiConfigs").update({mode: ids[name] for mode, name in plan.modes.items() if name in ids})
    part_of(section, "pinnedApiConfigs").update({ids[name]: True for name in plan.pinned if name in ids})
    if plan.current in ids:
        section["currentApiConfigName"] = plan.current
    for key, value in plan.settings.items():
        if key in ("condensingApiConfigId", "enhancementApiConfigId", "memoryApiConfigId") and isinstance(value, str):
            value = renamed.get(value, value)
        elif key == "profileThresholds" and isinstance(value, dict):
            value = {renamed.get(id, id): percent for id, percent in value.items()}
        document.settings[key] = value
    return {name: ids[name] for name in plan.profiles}


def _note_address(section: Raw, id: str, profile: ProfileImport) -> None:
    """A file must not lead a key of the environment somewhere: only an address that a person set may have it."""
    provider = profile.values.get("apiProvider")
    address = profile.values.get(address_field(provider if isinstance(provider, str) else None) or "")
    noted = part_of(section, "importedAddresses")
    noted.pop(id, None)
    if isinstance(address, str):
        noted[id] = origin_of(address)


# ---- profiles


def _plan_profiles(plan: ImportPlan, part: Raw, policy: OperatorPolicy, present: AbstractSet[str]) -> None:
    configs = part.get("apiConfigs", {})
    if not isinstance(configs, dict):
        plan.skipped("providerProfiles.apiConfigs", "invalid", "It is not an object.")
        return
    new = too_many = 0
    for raw_name, raw in configs.items():
        path = f"providerProfiles.{raw_name[:100]}"
        if not isinstance(raw, dict):
            plan.skipped(path, "invalid", "The profile is not an object.")
            continue
        try:
            name = checked_name(raw_name)
            provider = raw.get("apiProvider")
            if not (isinstance(provider, str) and provider_info(provider) is None):
                policy.check_provider(provider)
        except HdspAgentError as error:
            plan.refused(path, error)
            continue
        if name not in present and name not in plan.profiles:
            if len(present) + new >= MOST_PROFILES:
                too_many += 1
                continue
            new += 1
        plan.profiles[name] = _plan_profile(plan, path, raw, policy)
        plan.taken(path)
    if too_many:
        plan.skipped(
            "providerProfiles.apiConfigs",
            "too_many_profiles",
            f"You can have at most {MOST_PROFILES} profiles; {too_many:,} of the file were left out.",
        )


def _plan_profile(plan: ImportPlan, path: str, raw: Raw, policy: OperatorPolicy) -> ProfileImport:
    profile = ProfileImport()
    values = _without_older_forms(raw)
    id = values.pop("id", None)
    profile.id = id if isinstance(id, str) else None
    for key, value in values.items():
        where = f"{path}.{key[:100]}"
        if key == "apiProvider" and isinstance(value, str) and provider_info(value) is None:
            code = "provider_retired" if value in RETIRED_PROVIDERS else "provider_unknown"
            plan.skipped(
                where, code, f"The provider {value[:100]} is not available here. Choose another one for this profile."
            )
        elif key in policy.fixed_settings:
            plan.skipped(where, "forbidden_by_operator", "Your administrator set this for everyone.")
        elif key not in wire_names(ProviderSettings):
            plan.skipped(where, "unknown", "This setting does not exist here.")
        else:
            _take_provider_setting(plan, profile, where, key, value)
    return profile


def _take_provider_setting(plan: ImportPlan, profile: ProfileImport, where: str, key: str, value: JsonValue) -> None:
    try:
        checked = check_setting(ProviderSettings, key, value)
    except HdspAgentError as error:
        plan.refused(where, error)
        return
    if checked is None:
        return
    if key in secret_keys():
        # Reported when the secret storage has answered.
        profile.keys[key] = str(checked)
    else:
        profile.values[key] = checked


def _without_older_forms(raw: Raw) -> Raw:
    """The profile with what Roo Code writes differently put into our settings."""
    values = dict(raw)
    info = values.pop("openAiCustomModelInfo", None)
    if isinstance(info, dict):
        for theirs, ours in _MODEL_INFO.items():
            # Roo Code writes -1 and 0 for limits it does not know.
            if info.get(theirs) not in (None, -1, 0, 0.0) or info.get(theirs) is False:
                values.setdefault(ours, info[theirs])
    if (window := values.pop("awsModelContextWindow", None)) is not None:
        values.setdefault("modelContextWindow", window)
    headers = values.get("openAiHeaders")
    if isinstance(headers, dict):
        secret = {name: value for name, value in headers.items() if CREDENTIAL_NAME.search(name)}
        if secret:
            values["openAiHeaders"] = {name: value for name, value in headers.items() if name not in secret}
            values.setdefault("openAiSecretHeaders", "\n".join(f"{name}: {value}" for name, value in secret.items()))
    return values


# ---- global settings


def _plan_settings(plan: ImportPlan, part: Raw, policy: OperatorPolicy, own: Mapping[str, JsonValue]) -> None:
    fixed = policy.forced_settings()
    values = dict(part)
    condensing = values.pop("customCondensingPrompt", None)
    if isinstance(condensing, str) and condensing:
        prompts = values.get("customSupportPrompts")
        values["customSupportPrompts"] = {"CONDENSE": condensing, **(prompts if isinstance(prompts, dict) else {})}
    for key, value in values.items():
        where = f"globalSettings.{key[:100]}"
        if key in _KEPT_WITH_PROFILES:
            continue
        if key not in wire_names(GlobalSettings):
            plan.skipped(where, "unknown", "This setting does not exist here.")
        elif key in fixed or (key == "mode" and not policy.allows_mode(value)):
            plan.skipped(where, "forbidden_by_operator", "Your administrator set this for everyone.")
        elif key in _DECIDED_HERE:
            plan.skipped(where, "not_transferred", _DECIDED_HERE[key])
        elif key == "customModes":
            _plan_modes(plan, value, own.get("customModes"))
        else:
            try:
                checked = check_setting(GlobalSettings, key, value)
            except HdspAgentError as error:
                plan.refused(where, error)
                continue
            if checked is not None:
                plan.settings[key] = checked
                plan.taken(where)


def _plan_modes(plan: ImportPlan, imported: JsonValue, own: JsonValue) -> None:
    merged: dict[str, JsonValue] = {}
    for mode in own if isinstance(own, list) else ():
        if isinstance(mode, dict):
            merged[str(mode.get("slug"))] = mode
    before = dict(merged)
    for index, mode in enumerate(imported[:_MOST_MODES] if isinstance(imported, list) else [imported]):
        slug = mode.get("slug", index) if isinstance(mode, dict) else index
        where = f"globalSettings.customModes.{str(slug)[:100]}"
        if isinstance(mode, dict) and mode.get("source") == "project":
            plan.skipped(where, "project_mode", "It belongs to a project and is not imported.")
            continue
        try:
            check_setting(GlobalSettings, "customModes", [_known_groups(mode)])
        except HdspAgentError as error:
            plan.refused(where, error)
        else:
            merged[str(slug)] = _known_groups(mode)
            plan.taken(where)
    if merged != before:
        plan.settings["customModes"] = list(merged.values())


def _known_groups(mode: JsonValue) -> JsonValue:
    """The mode without the tool group for browsers, which older files still name."""
    if not isinstance(mode, dict) or not isinstance(groups := mode.get("groups"), list):
        return mode
    return {
        **mode,
        "groups": [one for one in groups if (one[0] if isinstance(one, list) and one else one) != "browser"],
    }


# ---- what refers to profiles


def _plan_references(plan: ImportPlan, part: Raw, settings: Raw, book: ProfileBook) -> None:
    """Ids in the document mean its own profiles: turn them into names, then look for those among all profiles."""
    names = {entry.id: entry.name for entry in book.entries}
    names |= {profile.id: name for name, profile in plan.profiles.items() if profile.id}
    modes = part.get("modeApiConfigs") or settings.get("modeApiConfigs")
    for mode, id in islice(modes.items(), _MOST_MODES) if isinstance(modes, dict) else ():
        if isinstance(id, str) and id in names:
            plan.modes[mode] = names[id]
        else:
            plan.skipped(
                f"providerProfiles.modeApiConfigs.{mode[:100]}", "unknown_profile", "Its profile does not exist."
            )
    pins = settings.get("pinnedApiConfigs")
    plan.pinned = {names[id] for id, on in pins.items() if on and id in names} if isinstance(pins, dict) else set()
    _plan_current(plan, part.get("currentApiConfigName"), book)


def _plan_current(plan: ImportPlan, wanted: JsonValue, book: ProfileBook) -> None:
    known = {*plan.profiles, *(entry.name for entry in book.entries)}
    if isinstance(wanted, str) and wanted.strip() in known:
        plan.current = wanted.strip()
    elif wanted is not None and plan.profiles:
        plan.current = next(iter(plan.profiles))
        plan.changed(
            "providerProfiles.currentApiConfigName",
            "unknown_profile",
            f"The file's current profile could not be imported. {plan.current} is current instead.",
        )
