"""Provider profiles: named ways to reach a model, one of them current, some of them assigned to modes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from pydantic import JsonValue, SecretStr

from ..errors import (
    Conflict,
    ForbiddenByOperator,
    HdspAgentError,
    InvalidInput,
    InvalidSetting,
    ProfileExists,
    UnknownProfile,
)
from ._config_store import ConfigDocument
from ._fields import wire_names
from ._key_addresses import KeyAddress, address_field, key_address
from ._notices import ConfigNotice
from ._operator_policy import OperatorPolicy
from ._profiles_section import (
    MOST_PROFILES,
    ProfileEntry,
    ProfilesSection,
    checked_name,
    name_of,
    new_profile_id,
    object_in,
    part_of,
    prepare_profiles,
    profile_ids,
)
from ._provider_settings import ProviderSettings, secret_keys, secret_keys_of
from ._providers import providers
from ._secrets import SecretName, SecretStore
from ._settings import GlobalSettings
from ._validation import check_setting

__all__ = ["ProfileBook"]

_ADDRESS_FIELDS: Final = frozenset(field for info in providers() if (field := address_field(info.id)) is not None)
_REFERENCES: Final = (
    "condensingApiConfigId", "enhancementApiConfigId", "memoryApiConfigId", "ghostTextApiConfigId",
)  # fmt: skip

Raw = dict[str, JsonValue]
Modify = Callable[[Callable[[ConfigDocument], None]], Awaitable[None]]


class ProfileBook:
    """The profiles as they are now, and how to change them. Methods that take a name also take an id."""

    def __init__(
        self,
        modify: Modify,
        keys: SecretStore,
        policy: OperatorPolicy,
        left_behind: Callable[[ConfigNotice], None],
    ) -> None:
        self._modify = modify
        self._keys = keys
        self._policy = policy
        self._left_behind = left_behind
        self._page = ProfilesSection((), {}, {}, {})

    # ---- what there is

    @property
    def page(self) -> ProfilesSection:
        """All of it, as one version."""
        return self._page

    def turn_to(self, page: ProfilesSection, policy: OperatorPolicy) -> None:
        """Show another version; only the owner of the book calls this."""
        self._page = page
        self._policy = policy

    @property
    def entries(self) -> tuple[ProfileEntry, ...]:
        """The profiles in the order of the file."""
        return self._page.entries

    @property
    def current(self) -> ProfileEntry:
        """The profile new tasks use."""
        for entry in self._page.entries:
            if entry.current:
                return entry
        raise UnknownProfile("There is no profile yet.")

    @property
    def modes(self) -> Mapping[str, str]:
        """The ids of the profiles assigned to modes, by mode."""
        return self._page.modes

    @property
    def wanted_secrets(self) -> tuple[SecretName, ...]:
        """The keys the profiles' providers use."""
        return tuple((entry.id, key) for entry in self.entries for key in secret_keys_of(entry.api_provider))

    def get(self, name: str) -> ProfileEntry:
        """The profile of this name or id; raises UnknownProfile."""
        # Ids first: they are what our own code says, and a profile may be named like another's id.
        for match in ("id", "name"):
            for entry in self._page.entries:
                if getattr(entry, match) == name:
                    return entry
        raise UnknownProfile(f"There is no profile named {name[:100]}.", profile=name[:100])

    def settings(self, name: str) -> ProviderSettings:
        """The settings of a profile, without its keys."""
        return self._page.settings[self.get(name).id]

    @property
    def locked(self) -> bool:
        """Whether one profile is for all modes. Those that are assigned to modes wait until it is not."""
        return self._page.locked

    def for_mode(self, mode: str) -> ProfileEntry:
        """The profile a mode uses: its own unless one is for all modes, else the current one."""
        if self.locked or mode not in self._page.modes:
            return self.current
        return self.get(self._page.modes[mode])

    def key_address(self, id: str, key: str, changes: Mapping[str, JsonValue] | None = None) -> KeyAddress:
        """Where a profile's key would go, with these changes of its settings. A profile not there yet has defaults."""
        settings = changed(self._page.settings.get(id, ProviderSettings()), changes or {})
        own = {**self._page.own.get(id, {}), **(changes or {})}
        own = {name: value for name, value in own.items() if value is not None}
        imported = None if changes else self._page.imported.get(id)
        return key_address(key, settings, own, self._policy, self._keys.environ, imported=imported)

    def check(self, patch: Mapping[str, JsonValue]) -> None:
        """Raise what ``update`` would refuse of these settings."""
        self._checked(patch)

    # ---- changing

    async def create(self, name: str, settings: Mapping[str, JsonValue] | None = None) -> ProfileEntry:
        """Make a profile; keys among the settings go to the secret storage."""
        name = checked_name(name)
        values, keys = self._checked(settings or {})
        id = new_profile_id()

        def change(document: ConfigDocument) -> None:
            prepare_profiles(document.profiles, self._policy)
            _refuse_taken(document.profiles, name)
            part_of(document.profiles, "apiConfigs")[name] = {"id": id, **_without_nulls(values)}

        if any(entry.name == name for entry in self.entries):
            raise _name_is_taken(name)
        if len(self.entries) >= MOST_PROFILES:
            raise InvalidInput(
                f"You can have at most {MOST_PROFILES} profiles. Delete one that you no longer need.",
                most=MOST_PROFILES,
            )
        await self._save(id, keys, values, change, new=True)
        return self.get(id)

    async def update(self, name: str, patch: Mapping[str, JsonValue]) -> ProfileEntry:
        """Change some settings; ``None`` puts one back to its default, and deletes a key."""
        entry = self.get(name)
        values, keys = self._checked(patch)

        def change(document: ConfigDocument) -> None:
            raw = self._raw(document, entry)
            for key, value in values.items():
                if value is None:
                    raw.pop(key, None)
                else:
                    raw[key] = value
            if _ADDRESS_FIELDS & values.keys():
                # A person says where it is: no longer only a file.
                part_of(document.profiles, "importedAddresses").pop(entry.id, None)

        await self._save(entry.id, keys, values, change, new=False)
        return self.get(entry.id)

    async def rename(self, name: str, new_name: str) -> ProfileEntry:
        """Give a profile another name; everything that refers to it goes on doing so."""
        entry = self.get(name)
        new_name = checked_name(new_name)

        def change(document: ConfigDocument) -> None:
            section = document.profiles
            self._raw(document, entry)
            old_name = name_of(section, entry.id)
            if new_name == old_name:
                return
            _refuse_taken(section, new_name)
            configs = part_of(section, "apiConfigs")
            renamed = {(new_name if key == old_name else key): value for key, value in configs.items()}
            configs.clear()
            configs.update(renamed)
            if section.get("currentApiConfigName") == old_name or entry.current:
                section["currentApiConfigName"] = new_name

        await self._modify(change)
        return self.get(entry.id)

    async def delete(self, name: str) -> None:
        """Delete a profile and its keys. The last one stays."""
        entry = self.get(name)

        def change(document: ConfigDocument) -> None:
            self._raw(document, entry)
            section = document.profiles
            configs = part_of(section, "apiConfigs")
            if len(profile_ids(section)) == 1:
                raise Conflict("The last profile cannot be deleted. Change it, or create another one first.")
            del configs[name_of(section, entry.id)]
            _forget_references(document, entry.id)
            if section.get("currentApiConfigName") not in configs:
                section["currentApiConfigName"] = next(iter(profile_ids(section)))

        await self._modify(change)
        try:
            await self._keys.delete_profiles([entry.id])
        except HdspAgentError as error:
            self._left_behind(
                ConfigNotice(
                    code="keys_left_behind",
                    message=f"The profile {entry.name} was deleted, but its keys could not be deleted: {error.message}",
                    params={"profile": entry.name},
                )
            )

    async def pin(self, name: str, pinned: bool = True) -> ProfileEntry:
        """Keep a profile at the top of the list, or no longer."""
        entry = self.get(name)

        def change(document: ConfigDocument) -> None:
            self._raw(document, entry)
            pins = part_of(document.profiles, "pinnedApiConfigs")
            if pinned:
                pins[entry.id] = True
            else:
                pins.pop(entry.id, None)

        await self._modify(change)
        return self.get(entry.id)

    async def activate(self, name: str) -> ProfileEntry:
        """Make a profile the current one."""
        entry = self.get(name)
        self._policy.check_provider(entry.api_provider)

        def change(document: ConfigDocument) -> None:
            self._raw(document, entry)
            document.profiles["currentApiConfigName"] = name_of(document.profiles, entry.id)

        await self._modify(change)
        return self.get(entry.id)

    async def assign_mode(self, mode: str, name: str) -> ProfileEntry:
        """Let a mode use a profile of its own."""
        entry = self.get(name)
        _check_mode(mode)

        def change(document: ConfigDocument) -> None:
            self._raw(document, entry)
            part_of(document.profiles, "modeApiConfigs")[mode] = entry.id

        await self._modify(change)
        return self.get(entry.id)

    async def clear_mode(self, mode: str) -> None:
        """Let a mode use the current profile again."""

        def change(document: ConfigDocument) -> None:
            part_of(document.profiles, "modeApiConfigs").pop(mode, None)

        await self._modify(change)

    async def lock(self, locked: bool) -> None:
        """Use one profile for all modes, or let each have its own again."""

        def change(document: ConfigDocument) -> None:
            if locked:
                document.profiles["lockApiConfigAcrossModes"] = True
            else:
                document.profiles.pop("lockApiConfigAcrossModes", None)

        await self._modify(change)

    # ---- how

    def _checked(self, patch: Mapping[str, JsonValue]) -> tuple[Raw, dict[str, SecretStr | None]]:
        """The patch in two: settings for the file and keys for the secret storage."""
        values: Raw = {}
        keys: dict[str, SecretStr | None] = {}
        for key, value in patch.items():
            checked = check_setting(ProviderSettings, key, value)
            if key in self._policy.fixed_settings:
                raise ForbiddenByOperator("Your administrator set this for everyone.", field=key)
            if key in secret_keys():
                keys[key] = SecretStr(checked) if isinstance(checked, str) else None
            else:
                values[key] = checked
        self._policy.check_provider(values.get("apiProvider"))
        return values, keys

    async def _save(
        self,
        id: str,
        keys: Mapping[str, SecretStr | None],
        values: Raw,
        change: Callable[[ConfigDocument], None],
        *,
        new: bool,
    ) -> None:
        # Keys first: if they cannot be kept, the profile is not changed either.
        for key, value in keys.items():
            if value is not None:
                await self._keys.set(id, key, value, self.key_address(id, key, values))
            elif not new:
                await self._keys.delete(id, key)
        try:
            await self._modify(change)
        except HdspAgentError:
            if new and keys:
                await self._keys.delete_profiles([id])
            raise

    def _raw(self, document: ConfigDocument, entry: ProfileEntry) -> Raw:
        """The profile in a fresh document, where another process may have renamed or deleted it."""
        section = document.profiles
        prepare_profiles(section, self._policy)
        raw = part_of(section, "apiConfigs").get(name_of(section, entry.id))
        if not isinstance(raw, dict):
            raise UnknownProfile(f"There is no profile named {entry.name}.", profile=entry.name)
        return raw


def changed(settings: ProviderSettings, changes: Mapping[str, JsonValue]) -> ProviderSettings:
    """The settings with these changes, by names on the wire; None puts one back to its default."""
    if not changes:
        return settings
    values = {**settings.to_wire(), **changes}
    names = wire_names(ProviderSettings)
    return ProviderSettings.model_validate({names[key]: value for key, value in values.items() if value is not None})


def _check_mode(mode: str) -> None:
    """Raise InvalidSetting unless the text can name a mode."""
    if check_setting(GlobalSettings, "mode", mode) is None:
        raise InvalidSetting("A mode needs a name.", field="mode", reason="empty")


def _refuse_taken(section: Raw, name: str) -> None:
    if name in object_in(section.get("apiConfigs")):
        raise _name_is_taken(name)


def _name_is_taken(name: str) -> ProfileExists:
    return ProfileExists(f"There is a profile named {name} already. Choose another name.", field="name", profile=name)


def _forget_references(document: ConfigDocument, id: str) -> None:
    section = document.profiles
    part_of(section, "pinnedApiConfigs").pop(id, None)
    part_of(section, "importedAddresses").pop(id, None)
    modes = part_of(section, "modeApiConfigs")
    for mode in [mode for mode, other in modes.items() if other == id]:
        del modes[mode]
    for setting in _REFERENCES:
        if document.settings.get(setting) == id:
            del document.settings[setting]
    thresholds = document.settings.get("profileThresholds")
    if isinstance(thresholds, dict):
        thresholds.pop(id, None)


def _without_nulls(values: Raw) -> Raw:
    return {key: value for key, value in values.items() if value is not None}
