"""The one place where everything configured is read and changed."""

from __future__ import annotations

import asyncio
import copy
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final, TypeAlias, cast

from pydantic import JsonValue, SecretStr

from .._background_tasks import BackgroundTasks
from .._timeouts import wait_at_most
from ..errors import ForbiddenByOperator, HdspAgentError, InvalidSetting
from ._config_store import ConfigDocument, ConfigStore
from ._fields import wire_names
from ._group_limits import narrowed
from ._import_export import ImportReport, apply_import, export_document, plan_import
from ._key_addresses import KeyAddress
from ._notices import ConfigChange, ConfigNotice
from ._operator_policy import OperatorPolicy
from ._profiles import ProfileBook, changed
from ._profiles_section import ProfilesSection, checked_name, new_profile_id, prepare_profiles, read_profiles
from ._provider_settings import ProviderSettings, secret_keys, secret_keys_of
from ._search_endpoint import check_search_endpoint, search_key_address
from ._secrets import SecretName, SecretStore
from ._settings import ApprovalPreset, GlobalSettings, PassThroughState, StorageChoice, setting_keys
from ._trusted_folders import TrustedFolders
from ._user_config import UserConfig, UserConfigSource
from ._validation import check_setting, readable_settings

__all__ = ["ContextProxy"]

logger = logging.getLogger(__name__)

Raw = dict[str, JsonValue]
Listener = Callable[[ConfigChange], None]
ApprovalsChange: TypeAlias = Callable[[Mapping[str, ApprovalPreset]], Mapping[str, ApprovalPreset]]
QuestionsChange: TypeAlias = Callable[[Mapping[str, bool]], Mapping[str, bool]]
_Choice: TypeAlias = Callable[[GlobalSettings], Raw]
_LONGEST_PAUSE_SECONDS: Final = 300.0
_FALLBACK_MODE: Final = "code"
_KEYS_OF_SETTINGS: Final = "settings"
"""In place of a profile's name, for keys that belong to none."""
_KEYS_ID: Final = "settingKeysId"
"""Where ``config.json`` has what those keys are kept under: like a profile's id, it is no other storage folder's."""


class ContextProxy:
    """Settings, profiles and keys of one person: cached, checked, kept, and the same in every process.

    A value comes from the first of: what the operator fixed, what the person set, the operator's defaults for this
    person, the schema's default.
    """

    def __init__(
        self,
        home: Path,
        policy: OperatorPolicy,
        secrets: SecretStore,
        *,
        user_config: UserConfigSource | None = None,
    ) -> None:
        self.home: Final = home
        self.secrets: Final = secrets
        self.trusted_folders: Final = TrustedFolders(home, lambda: self.policy)
        self._operator = policy
        self._policy = policy
        self._source = user_config
        self._user_config = UserConfig()
        self._store = ConfigStore(home, self._refresh, lock_timeout=policy.file_lock_timeout_seconds)
        self._profiles = ProfileBook(self._store.modify, secrets, policy, self._note)
        # Not validated: that would build the validators while the server is being put together.
        self._settings = GlobalSettings.model_construct()
        self._own: Raw = {}
        self._fixed: frozenset[str] = frozenset()
        self._notices: tuple[ConfigNotice, ...] = ()
        self._noted: tuple[ConfigNotice, ...] = ()
        self._listeners: list[Listener] = []
        self._held = BackgroundTasks()
        self._loading: asyncio.Task[None] | None = None
        self._defaults_may_differ = asyncio.Event()
        self._unsubscribe: Callable[[], None] | None = None

    # ---- life

    async def start(self) -> None:
        """Load the file and look for keys and the operator's defaults in the background.

        A storage that does not work is a notice. What the operator fixed must be valid: raises InvalidSetting.
        """
        await asyncio.to_thread(_build_validators)
        self._check_fixed()
        await self._store.start(self._prepare)
        self._refresh()
        self._unsubscribe = self.secrets.subscribe(lambda: self._announce(ConfigChange(secrets=True)))
        self.secrets.start(self._settings.secret_storage, self._wanted_secrets, self._key_address)
        if self._source is not None:
            self._loading = self._held.begin(self._load_user_config(self._source))

    async def stop(self) -> None:
        """Finish what is being written and end everything in the background."""
        if self._loading is not None:
            self._loading.cancel()
        await self._held.drain()
        # In this order: a change that moves keys ends by writing the file.
        await self.secrets.stop()
        await self._store.stop()
        if self._unsubscribe is not None:
            self._unsubscribe()
            self._unsubscribe = None

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call the listener after each change, whoever made it; returns how to end that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener) if listener in self._listeners else None

    def ask_again(self) -> None:
        """Ask the hub service at once how things stand: budgets were used. Elsewhere nothing happens."""
        self._defaults_may_differ.set()

    # ---- what is configured

    @property
    def settings(self) -> GlobalSettings:
        """The settings in force."""
        return self._settings

    @property
    def policy(self) -> OperatorPolicy:
        """What the operator decided, for this person."""
        return self._policy

    @property
    def fixed(self) -> frozenset[str]:
        """Names on the wire of the settings, and provider settings, that cannot be changed."""
        return frozenset(self._policy.forced_settings())

    @property
    def profiles(self) -> ProfileBook:
        """The provider profiles."""
        return self._profiles

    @property
    def notices(self) -> tuple[ConfigNotice, ...]:
        """What a person should know about the configuration."""
        return self._notices

    # ---- changing settings

    async def update(
        self,
        patch: Mapping[str, JsonValue],
        *,
        by_notebook: ApprovalsChange | None = None,
        by_client: ApprovalsChange | None = None,
        asking: QuestionsChange | None = None,
    ) -> GlobalSettings:
        """Change settings by their names on the wire; ``None`` puts one back to its default.

        ``by_notebook`` makes of the approvals by notebook that hold now those that are to hold, ``by_client`` of those of
        other agents, and ``asking`` of where they may ask: what another server or page changed meanwhile stays so.
        Raises InvalidSetting or ForbiddenByOperator naming the first bad one; then nothing is changed.
        """
        values: Raw = {}
        keys: Raw = {}
        for key, value in patch.items():
            checked = check_setting(GlobalSettings, key, value)
            if key in setting_keys():
                keys[key] = checked
                continue
            if key in self.fixed:
                raise ForbiddenByOperator("Your administrator set this for everyone.", field=key)
            if key == "mode" and checked is not None and not self._policy.allows_mode(checked):
                raise ForbiddenByOperator(
                    f"Your administrator does not allow the mode {checked}.", field=key, mode=str(checked)
                )
            values[key] = checked
        self._check_search_endpoint(values)
        for key, checked in keys.items():
            await self._change_key(key, checked, values)
        if "secretStorage" in values:
            # Keys move first: if they cannot, nothing is changed.
            await self.use_storage(cast(StorageChoice, values.pop("secretStorage") or "auto"))
        chosen = _chosen_by_name(by_notebook, by_client, asking)
        for name in chosen:
            if name in self.fixed:
                raise ForbiddenByOperator("Your administrator set this for everyone.", field=name)
        if values or chosen:
            await self._store.modify(lambda document: self._changed(document.settings, values, chosen))
        return self._settings

    def _changed(self, section: Raw, values: Raw, chosen: Mapping[str, _Choice]) -> None:
        """Put these into the settings as the file has them now."""
        own, _ = readable_settings(GlobalSettings, section) if chosen else ({}, ())
        for name, change in chosen.items():
            values = {**values, name: check_setting(GlobalSettings, name, change(self._in_force(own)))}
        _apply(section, values)

    async def use_storage(self, choice: StorageChoice) -> None:
        """Keep keys elsewhere and move those that are there; raises SecretStorageUnavailable if that cannot be."""
        if "secretStorage" in self.fixed:
            raise ForbiddenByOperator("Your administrator set this for everyone.", field="secretStorage")
        check_setting(GlobalSettings, "secretStorage", choice)
        before = self._settings.secret_storage
        ids = [entry.id for entry in self._profiles.entries]
        await self.secrets.use_storage(choice, ids)
        try:
            await self._store.modify(lambda document: _apply(document.settings, {"secretStorage": choice}))
        except HdspAgentError:
            # The next start would look for the keys where they were.
            await self.secrets.use_storage(before, ids)
            raise

    async def reset(self) -> None:
        """Put everything back as if for the first time: settings, profiles and keys. The list of tasks stays."""
        ids = [entry.id for entry in self._profiles.entries]

        def change(document: ConfigDocument) -> None:
            kept = {key: document.settings[key] for key in _pass_through_keys() if key in document.settings}
            document.settings.clear()
            document.settings.update(kept)
            document.profiles.clear()
            self._prepare(document)

        self._noted = ()
        left_behind = None
        # Keys first: the settings say where they are.
        try:
            await self.secrets.delete_all(ids)
        except HdspAgentError as error:
            left_behind = ConfigNotice(
                code="keys_left_behind",
                message=f"Everything was reset, but saved keys could not be deleted: {error.message}",
            )
        await self._store.modify(change)
        if left_behind is not None:
            self._note(left_behind)

    # ---- keys, by profile; ``settings`` in its place is for keys that belong to none

    async def set_secret(self, profile: str, key: str, value: SecretStr) -> None:
        """Keep a key of a profile."""
        if profile == _KEYS_OF_SETTINGS and key in setting_keys():
            await self._change_key(key, value.get_secret_value(), {})
        else:
            await self.secrets.set(self._profiles.get(profile).id, _profile_key(key), value)

    async def delete_secret(self, profile: str, key: str) -> None:
        """Forget a key of a profile."""
        if profile == _KEYS_OF_SETTINGS and key in setting_keys():
            await self._change_key(key, None, {})
        else:
            await self.secrets.delete(self._profiles.get(profile).id, _profile_key(key))

    async def setting_key(self, key: str) -> SecretStr | None:
        """A key that belongs to no profile. Raises KeyForOtherAddress and SecretStorageUnavailable."""
        return await self.secrets.get(self._keys_id, key)

    # ---- by key, whatever kind of key it is

    async def with_keys(
        self,
        profile: str,
        provider: str | None = None,
        *,
        changes: Mapping[str, JsonValue] | None = None,
        without: frozenset[str] = frozenset(),
    ) -> ProviderSettings:
        """A profile's settings with its keys, for a request; with ``provider`` as they are if it used that one.

        ``changes`` are settings to try instead of the profile's, and ``without`` the keys that are not needed. Raises
        UnknownProfile, KeyForOtherAddress if a key was given for another address than these settings name, or
        SecretStorageUnavailable if there may be a key that cannot be read just now.
        """
        settings = changed(self._profiles.settings(profile), changes or {})
        if provider is not None and provider != settings.api_provider:
            settings = ProviderSettings.model_validate({**settings.to_wire(), "apiProvider": provider})
        id = self._profiles.get(profile).id
        keys = {
            name: await self.secrets.get(id, name, self._profiles.key_address(id, name, changes))
            for name in secret_keys_of(settings.api_provider)
            if name not in without
        }
        found = {name: value for name, value in keys.items() if value is not None}
        return ProviderSettings.model_validate({**settings.to_wire(), **found}) if found else settings

    # ---- out and in

    async def export_settings(self) -> Raw:
        """What a person set, without keys, in a form that can be imported again."""
        return copy.deepcopy(export_document(self._own, self._profiles))

    async def import_settings(self, document: JsonValue) -> ImportReport:
        """Take what can be used of an export of ours or of Roo Code; the report says what became of each value."""
        # Checking all that a large file holds takes a while.
        plan = await asyncio.to_thread(plan_import, document, self._policy, self._own, self._profiles)
        ids: dict[str, str] = {}
        await self._store.modify(lambda fresh: ids.update(apply_import(fresh, plan, self._operator)))
        for name, profile in plan.profiles.items():
            for key, value in profile.keys.items():
                where = f"providerProfiles.{name}.{key}"
                try:
                    await self.secrets.set(ids[name], key, SecretStr(value))
                except HdspAgentError as error:
                    plan.refused(where, error)
                else:
                    plan.taken(where, "key_saved", "The key was saved in the secret storage.")
        return ImportReport(items=plan.told, profiles=tuple(plan.profiles), current=self._profiles.current.name)

    # ---- how

    @property
    def _keys_id(self) -> str:
        """What keys that belong to no profile are kept under; without one there are none yet."""
        found = self._store.document.content.get(_KEYS_ID)
        return found if isinstance(found, str) and found else _KEYS_OF_SETTINGS

    @property
    def _wanted_secrets(self) -> tuple[SecretName, ...]:
        id = self._keys_id
        are_used = id != _KEYS_OF_SETTINGS or self._settings.search_endpoint_url is not None
        own = ((id, key) for key in sorted(setting_keys())) if are_used else ()
        return (*self._profiles.wanted_secrets, *own)

    def _key_address(self, id: str, key: str) -> KeyAddress:
        if key in setting_keys():
            return search_key_address(self._settings.search_endpoint_url)
        return self._profiles.key_address(id, key)

    async def _change_key(self, key: str, value: JsonValue, values: Mapping[str, JsonValue]) -> None:
        """Keep or forget a key that belongs to no profile, given for the address in force or among these values."""
        if not isinstance(value, str):
            await self.secrets.delete(self._keys_id, key)
            return
        url = values.get("searchEndpointUrl", self._settings.search_endpoint_url)
        if self._keys_id == _KEYS_OF_SETTINGS:
            fresh = new_profile_id()
            await self._store.modify(lambda document: document.content.setdefault(_KEYS_ID, fresh))
        await self.secrets.set(self._keys_id, key, SecretStr(value), search_key_address(url))

    def _check_search_endpoint(self, values: Mapping[str, JsonValue]) -> None:
        """Raise ForbiddenByOperator if these settings name an address that may not be used."""
        chosen = values.get("searchByMeaning") == "endpoint"
        url = values.get("searchEndpointUrl", self._settings.search_endpoint_url)
        if chosen or values.get("searchEndpointUrl") is not None:
            check_search_endpoint(url, self._policy)

    def _check_fixed(self) -> None:
        settings, providers = wire_names(GlobalSettings), wire_names(ProviderSettings)
        check_setting(ProviderSettings, "apiProvider", self._operator.default_provider)
        checked_name(self._operator.default_profile)
        self._operator.check_names()
        for mode in self._operator.allowed_modes or ():
            check_setting(GlobalSettings, "mode", mode, field="allowed_modes")
        for key, value in self._operator.fixed_settings.items():
            if key in settings or key not in providers:
                check_setting(GlobalSettings, key, value)
            if key in providers:
                check_setting(ProviderSettings, key, value)
            if key in secret_keys():
                raise InvalidSetting("A key is not a setting to fix; use provider_keys.", field=key, reason="secret")
            if key in setting_keys():
                raise InvalidSetting(
                    "A key is not a setting to fix; set its environment variable.", field=key, reason="secret"
                )

    def _prepare(self, document: ConfigDocument) -> bool:
        return prepare_profiles(document.profiles, self._operator)

    async def _load_user_config(self, source: UserConfigSource) -> None:
        has_answered, retry = False, source.retry_seconds
        while True:
            self._defaults_may_differ.clear()
            found = await source.load()
            if found.is_answer or not has_answered:
                # Else what was answered before holds.
                self._take_user_config(found)
            if found.is_answer:
                has_answered, retry = True, source.retry_seconds
            pause = source.refresh_seconds if found.is_answer else retry
            if pause is None:
                return
            if found.is_answer:
                with suppress(TimeoutError):
                    await wait_at_most(self._defaults_may_differ.wait(), pause)
            else:
                await asyncio.sleep(pause)
                retry = min(2 * pause, _LONGEST_PAUSE_SECONDS)

    def _take_user_config(self, found: UserConfig) -> None:
        self._user_config = found
        fixed = {**self._user_config.settings, **self._user_config.provider}
        fixed = {key: value for key, value in fixed.items() if key in self._user_config.fixed}
        policy = narrowed(self._operator, self._user_config.limits)
        self._policy = replace(
            policy,
            fixed_settings={**fixed, **self._operator.fixed_settings},
            team_folders=(*policy.team_folders, *found.team_folders),
        )
        self._refresh()

    def _note(self, notice: ConfigNotice) -> None:
        self._noted = (*self._noted, notice)
        self._refresh()

    def _refresh(self) -> None:
        """Make sense of the document again and tell what is different."""
        document = self._store.document
        before = (self._settings, self._profiles.page, self._notices)
        raw = document.section("globalSettings")
        misplaced = sorted(setting_keys() & raw.keys())
        raw = {key: value for key, value in raw.items() if key not in misplaced}
        self._own, bad = readable_settings(GlobalSettings, raw)
        bad = (*bad, *map(_key_in_settings, misplaced))
        self._settings = self._in_force(self._own)
        defaults = {**self._operator.provider_defaults(), **self._user_config.provider}
        page = read_profiles(document.section("providerProfiles"), self._policy, defaults)
        if not page.entries and self._profiles.page.entries:
            # Someone emptied the file. There is always a profile: until a new one is written, those from before.
            page = self._profiles.page
            self._held.begin(self._store.modify(self._prepare))
        self._profiles.turn_to(page, self._policy)
        self._notices = (*self._store.notices, *bad, *page.notices, *self._user_config.notices, *self._noted)
        change = _difference(before, (self._settings, page, self._notices))
        # A setting that can no longer be changed, or can again, is different too.
        fixed, self._fixed = self._fixed, self.fixed
        self._announce(replace(change, settings=change.settings | (fixed ^ self._fixed)))
        if self._unsubscribe is not None:
            self._follow_secrets()

    def _follow_secrets(self) -> None:
        self.secrets.expect(self._wanted_secrets)
        self.secrets.follow(self._settings.secret_storage)

    def _in_force(self, own: Raw) -> GlobalSettings:
        names = wire_names(GlobalSettings)
        values = {**self._user_config.settings, **own, **self._policy.forced_settings()}
        settings = GlobalSettings.model_validate({names[key]: values[key] for key in values if key in names})
        modes = self._policy.allowed_modes
        if modes and settings.mode not in modes:
            settings = settings.model_copy(update={"mode": _FALLBACK_MODE if _FALLBACK_MODE in modes else modes[0]})
        return settings

    def _announce(self, change: ConfigChange) -> None:
        if not change:
            return
        for listener in tuple(self._listeners):
            try:
                listener(change)
            except Exception:
                # One listener's failure must neither undo the change nor keep it from the others.
                logger.exception("A listener for configuration changes failed")


def _difference(
    before: tuple[GlobalSettings, ProfilesSection, tuple[ConfigNotice, ...]],
    after: tuple[GlobalSettings, ProfilesSection, tuple[ConfigNotice, ...]],
) -> ConfigChange:
    changed = frozenset(
        wire for wire, name in wire_names(GlobalSettings).items() if getattr(before[0], name) != getattr(after[0], name)
    )
    return ConfigChange(settings=changed, profiles=before[1] != after[1], notices=before[2] != after[2])


def _profile_key(key: str) -> str:
    """The key, or InvalidSetting if it belongs to no profile."""
    if key in setting_keys():
        raise InvalidSetting(f"{key} is not a key of a profile.", field=key, reason="unknown")
    return key


def _key_in_settings(key: str) -> ConfigNotice:
    return ConfigNotice(
        code="key_in_config",
        message=f"config.json contains a key ({key}). It is not used there, and anyone who reads the file can see it. Remove "
        "it, and save the key in the settings.",
        params={"keys": key},
        field=key,
    )


def _build_validators() -> None:
    """A few hundredths of a second each, which the event loop need not spend."""
    for model in (GlobalSettings, ProviderSettings, PassThroughState):
        model.model_rebuild()


def _pass_through_keys() -> frozenset[str]:
    return frozenset(wire_names(PassThroughState))


def _apply(section: Raw, values: Mapping[str, JsonValue]) -> None:
    for key, value in values.items():
        if value is None:
            section.pop(key, None)
        else:
            section[key] = value


def _chosen_by_name(
    by_notebook: ApprovalsChange | None, by_client: ApprovalsChange | None, asking: QuestionsChange | None
) -> Mapping[str, _Choice]:
    """What makes the settings that have an entry for each name, from the settings in force."""
    chosen: dict[str, _Choice] = {}
    if by_notebook is not None:
        chosen["notebookApprovals"] = lambda now: {**by_notebook(now.notebook_approvals)}
    if by_client is not None:
        chosen["clientApprovals"] = lambda now: {**by_client(now.client_approvals)}
    if asking is not None:
        chosen["clientQuestions"] = lambda now: {**asking(now.client_questions)}
    return chosen
