"""What REST requests and answers carry, beyond the models of the other rooms."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field, JsonValue

from ...config import GlobalSettings, ProfileEntry, ProviderInfo, ProviderSettings, StorageChoice
from ...messages import Notice
from ...providers import ErrorClass, KeyVerdict, ModelEntry
from ...wire import WireModel
from ..setup_candidates import SetupCandidateView

__all__ = [
    "ClientStats",
    "Health",
    "ImportBody",
    "JsonDocument",
    "KeyCheckView",
    "KeyToTry",
    "ModeProfileBody",
    "ModelList",
    "ModelQuery",
    "NewProfile",
    "ProfileChange",
    "ProfileList",
    "ProfileView",
    "SecretBody",
    "SettingsPatch",
    "SettingsSchema",
    "SettingsView",
    "SetupCandidates",
    "SetupUse",
    "StorageBody",
]

ProfileName = Annotated[str, Field(min_length=1, max_length=100)]
KeyText = Annotated[str, Field(min_length=1, max_length=65_536)]


class ClientStats(WireModel):
    """One connected panel."""

    client_id: str
    connected_seconds: float
    frames_sent: int
    bytes_sent: int
    resyncs: int
    waiting: int
    """Answers that this panel has not taken yet."""


class Health(WireModel):
    """Whether all is well, and what is not."""

    status: str
    """``ok``, or ``degraded`` when a notice of level error stands."""
    version: str
    uptime_seconds: float
    storage_dir: str
    clients: list[ClientStats]
    """The caller's own connected panels."""
    secret_storage: str
    """Where keys are kept: keyring, encrypted-file, file or none."""
    notices: list[Notice]


class JsonDocument(WireModel):
    """A JSON object of somebody else's form: a schema, an OpenAPI document, an exported file."""

    model_config = ConfigDict(extra="allow")


class SettingsView(WireModel):
    """The settings as they hold, with what the administrator fixed and what the defaults are."""

    settings: GlobalSettings
    fixed: list[str]
    defaults: GlobalSettings


class SettingsSchema(WireModel):
    """What the settings panel is built from: JSON Schemas with titles, groups and choices, and the providers."""

    global_settings: dict[str, JsonValue]
    provider_settings: dict[str, JsonValue]
    providers: list[ProviderInfo]


class SettingsPatch(WireModel):
    """Some settings by name; null resets one to its default. Each is checked, and none applied if one is bad."""

    model_config = ConfigDict(extra="allow")

    # It was JSON: to look at each of a hundred thousand values again takes seconds.
    __pydantic_extra__: dict[str, object] = Field(init=False)


class ImportBody(WireModel):
    """An exported settings file, ours or Roo Code's."""

    model_config = ConfigDict(extra="allow")

    # It was JSON: to look at each of a hundred thousand values again takes seconds.
    __pydantic_extra__: dict[str, object] = Field(init=False)


class NewProfile(WireModel):
    """A provider profile to create."""

    name: ProfileName
    settings: dict[str, JsonValue] = Field(default_factory=dict)


class ProfileChange(WireModel):
    """What to change of a profile; what is absent stays. Settings are merged by field, null resets one."""

    name: ProfileName | None = None
    settings: dict[str, JsonValue] | None = None
    pinned: bool | None = None


class ProfileView(WireModel):
    """One profile with its settings; keys are never among them."""

    id: str
    name: str
    pinned: bool
    current: bool
    settings: ProviderSettings


class ProfileList(WireModel):
    """All profiles, and which mode uses which."""

    current: str
    profiles: list[ProfileEntry]
    modes: dict[str, str]
    """Profile ids by mode, where a mode has one of its own."""


class ModeProfileBody(WireModel):
    """The profile a mode is to use."""

    profile: ProfileName


class SetupCandidates(WireModel):
    """What a first profile can be made of."""

    ready: bool
    """Whether the current profile can be used as it is."""
    candidates: list[SetupCandidateView]
    refused: list[str]
    """What was found too, and the administrator does not allow."""


class SetupUse(WireModel):
    """Which candidate to make a profile of; ``model`` may be absent where one is suggested."""

    id: Annotated[str, Field(min_length=1, max_length=200)]
    model: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    name: ProfileName | None = None


class KeyToTry(WireModel):
    """A provider, and what to try it with; what is absent is as it would be used now. Nothing of it is kept."""

    provider: Annotated[str, Field(min_length=1, max_length=100)]
    profile: ProfileName | None = None
    """Whose settings to try; without one the profile's that uses the provider, else the current one's."""
    key: KeyText | None = Field(default=None, repr=False)
    base_url: Annotated[str, Field(max_length=2000)] | None = None
    """An empty one is the provider's own."""


class KeyCheckView(WireModel):
    """What came of trying a key; ``untold`` if the provider's answers say nothing of it."""

    verdict: KeyVerdict
    kind: ErrorClass | None = None
    """The class of the error that said so."""


class SecretBody(WireModel):
    """A key to keep. It is never sent back."""

    value: KeyText = Field(repr=False)


class StorageBody(WireModel):
    """Where to keep keys from now on. ``auto`` means the best that works: keyring, then encrypted file."""

    kind: StorageChoice


class ModelQuery(WireModel):
    """Which provider's models, and with which profile's key and address the provider is asked."""

    provider: Annotated[str, Field(max_length=100)] | None = None
    profile: Annotated[str, Field(max_length=200)] | None = None


class ModelList(WireModel):
    """Models, and where they were learned from."""

    models: list[ModelEntry]
