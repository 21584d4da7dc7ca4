"""Keys: where they come from, where they are kept, and the only way to read one."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Coroutine, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from pydantic import SecretStr

from .._background_tasks import STOP_SECONDS, BackgroundTasks
from .._daemon_calls import Unresponsive, call_in_daemon
from ..errors import Conflict, ForbiddenByOperator, InvalidSetting, KeyForOtherAddress, SecretStorageUnavailable
from ._bound_keys import BoundKey, read_bound_key, write_bound_key
from ._fields import Secret, field_providers, secret_fields, wire_names
from ._key_addresses import KeyAddress, key_address
from ._keys_in_use import keys_in_use
from ._masked_logs import mask_logs
from ._operator_policy import OperatorPolicy
from ._provider_settings import PASSPHRASE_VARIABLE, ProviderSettings, secret_keys
from ._providers import provider_info
from ._secret_backends import BackendProblem, MemoryBackend, SecretBackend, account_name, open_backend
from ._secret_status import SecretPresence, SecretStatus, SecretStorageStatus, StorageKind, last4
from ._settings import GlobalSettings, StorageChoice, setting_keys

__all__ = ["SecretName", "SecretStore"]

logger = logging.getLogger(__name__)
T = TypeVar("T")

SecretName = tuple[str, str]
"""A profile's id and the setting that holds the key. A key of no profile has an id of its own in place of that."""

_OPENED_MESSAGES: Final[dict[StorageKind, str]] = {
    "keyring": "Keys are kept in the system keyring.",
    "encrypted-file": "Keys are kept in an encrypted file.",
    "file": "Keys are kept in a file only you can read. It is not encrypted.",
    "memory": "Keys are kept in memory until the server stops.",
}
_CHOICES: Final = (
    f"You can set the key as an environment variable, set {PASSPHRASE_VARIABLE} to keep keys in an encrypted file, or "
    "choose in the settings to keep them in a file only you can read."
)
_LONGEST_KEY: Final = 65_536
_OTHERS: Final = "mcp"
"""In place of a profile's id: those are longer."""


class SecretStore:
    """Keys from the environment, from the operator, and from the one place where a person's own are kept.

    The place is looked for in the background: ``start`` returns at once, ``status`` says what is known so far, and
    every call that needs the place waits for the search, which the operator's time limit bounds.
    """

    def __init__(self, home: Path, policy: OperatorPolicy, *, environ: Mapping[str, str] | None = None) -> None:
        self._home = home
        self._policy = policy
        self.environ: Final = os.environ if environ is None else environ
        self._address_of: Callable[[str, str], KeyAddress] = self._own_address
        self._choice: StorageChoice = "auto"
        # The same whenever it is chosen again, so that looking for the place loses nothing.
        self._memory: Final = MemoryBackend()
        self._backend: SecretBackend | None = None
        self._storage = _checking()
        self._nothing_kept = False
        self._wanted: tuple[SecretName, ...] = ()
        self._told: tuple[SecretPresence, ...] = ()
        self._stored: dict[SecretName, SecretPresence] = {}
        self._order = asyncio.Lock()
        self._held = BackgroundTasks()
        self._search: asyncio.Task[None] | None = None
        self._listeners: list[Callable[[], None]] = []
        self.other_names: Callable[[], Iterable[str]] = tuple
        """The names of the secrets that belong to no setting. They are moved and forgotten with the keys."""

    # ---- life

    def start(
        self,
        choice: StorageChoice,
        wanted: Iterable[SecretName],
        address_of: Callable[[str, str], KeyAddress] | None = None,
    ) -> None:
        """Begin to look for the place and for the keys that are wanted.

        ``address_of`` says where a profile's key would go now; without it, where its provider usually is.
        """
        self._choice = choice
        self._address_of = address_of or self._own_address
        mask_logs()
        keys_in_use.add(self.environ.get(PASSPHRASE_VARIABLE), *self._fixed_keys())
        self._wanted = tuple(wanted)
        self._search = self._held.begin(self._find_place())

    async def stop(self) -> None:
        """Finish what is under way; what takes too long is given up, however long a keyring may take."""
        while not await self._held.drain(STOP_SECONDS):
            logger.warning("The key storage does not respond; the last change to a key may be lost")
            self._held.cancel()

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call the listener when ``status`` has changed; returns how to end that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener) if listener in self._listeners else None

    # ---- what may be told

    @property
    def status(self) -> SecretStatus:
        """Which keys there are and where they are kept, as far as is known."""
        names = dict.fromkeys((*self._wanted, *self._stored))
        return SecretStatus(storage=self._storage, secrets=tuple(self._presence(*name) for name in names))

    def _presence(self, profile_id: str, key: str) -> SecretPresence:
        found, address = self._from_environment(key), self._address_of(profile_id, key)
        if found is not None and address.takes_environment:
            variable, value = found
            return SecretPresence(
                profile_id=profile_id,
                key=key,
                present=True,
                last4=last4(value),
                source="environment",
                variable=variable,
            )
        if self._from_operator(key) is not None:
            # Not even its last characters: it is not this person's key.
            return SecretPresence(profile_id=profile_id, key=key, present=True, source="operator")
        if (stored := self._stored.get((profile_id, key))) is not None:
            is_meant = stored.given_for == address.origin
            return stored.model_copy(update={"given_for": None}) if is_meant else stored
        absent = SecretPresence(profile_id=profile_id, key=key, present=False)
        if found is None:
            return absent
        own = self._own_address(profile_id, key).origin
        return absent.model_copy(update={"variable": found[0], "given_for": own})

    # ---- reading, the only way

    async def get(self, profile_id: str, key: str, address: KeyAddress | None = None) -> SecretStr | None:
        """The key for a request to a provider, or None if there is none.

        ``address`` is where it is to go, if not where the profile is now. Raises KeyForOtherAddress if there is a key
        that may not go there, and SecretStorageUnavailable if there may be one that cannot be read just now.
        """
        _check_key(key)
        to = address or self._address_of(profile_id, key)
        found = self._from_environment(key)
        if found is not None and to.takes_environment:
            return SecretStr(found[1])
        if (operators := self._from_operator(key)) is not None:
            return operators
        kept = await self._in_order(self._read(profile_id, key))
        if kept is not None:
            if kept.address != to.origin:
                raise _given_for_another(kept.address, to.origin, key)
            return SecretStr(kept.value)
        if found is not None and to.is_needed:
            raise _not_for_this_address(found[0], to.origin, key)
        return None

    async def _read(self, profile_id: str, key: str) -> BoundKey | None:
        backend = await self._place()
        if backend is None:
            return None
        text = await self._ask(lambda: backend.get(account_name(profile_id, key)))
        self._note(profile_id, key, text)
        return None if text is None else self._bound(profile_id, key, text)

    def _bound(self, profile_id: str, key: str, text: str) -> BoundKey:
        """A key of an earlier version that was not in use at the first start counts as the provider's own address's."""
        kept = read_bound_key(text)
        return kept if kept.address is not None else BoundKey(kept.value, self._own_address(profile_id, key).origin)

    # ---- changing

    async def set(self, profile_id: str, key: str, value: SecretStr, address: KeyAddress | None = None) -> None:
        """Keep a person's own key for an address; without one, for where the profile is now."""
        _check_key(key)
        to = address or self._address_of(profile_id, key)
        self._check_writable(key, to)
        checked = _checked_value(key, value)
        if not to.origin:
            raise InvalidSetting(
                "The key was not saved: enter the address first. A key goes only to the address it was given for.",
                field=key,
                reason="enter the address first",
            )
        keys_in_use.add(checked)
        text = write_bound_key(checked, to.origin)

        async def write() -> None:
            backend = await self._place()
            if backend is None:
                raise self._unavailable()
            await self._ask(lambda: backend.set(account_name(profile_id, key), text))
            self._note(profile_id, key, text)

        await self._in_order(write())

    async def delete(self, profile_id: str, key: str) -> None:
        """Forget a person's own key; none there is fine."""
        _check_key(key)
        if (profile_id, key) not in self._stored:
            self._check_writable(key, self._address_of(profile_id, key))
        await self._forget([(profile_id, key)])

    async def delete_profiles(self, profile_ids: Iterable[str]) -> None:
        """Forget every key of these profiles."""
        await self._forget([(profile_id, key) for profile_id in profile_ids for key in sorted(secret_keys())])

    async def delete_all(self, profile_ids: Iterable[str]) -> None:
        """Forget every key of these profiles, and those of no profile."""
        await self.delete_profiles(profile_ids)
        await self._forget([name for name in self._wanted if name[1] in setting_keys()])
        await self._forget(self._others())

    async def use_storage(self, choice: StorageChoice, profile_ids: Iterable[str]) -> None:
        """Keep keys elsewhere from now on and move those that are there.

        Raises SecretStorageUnavailable, with everything as it was, if the new place does not work.
        """
        names = [(profile_id, key) for profile_id in profile_ids for key in sorted(secret_keys())]
        names += [name for name in self._wanted if name[1] in setting_keys()]
        names += self._others()

        async def switch() -> None:
            await self._searched()
            before = (self._choice, self._backend, self._storage, self._nothing_kept, dict(self._stored))
            old = self._backend
            self._choice = choice
            await self._find_place()
            new = self._backend
            refusal = None if new is not None else self._unavailable()
            if new is not None and old is not None and new.kind != old.kind:
                try:
                    await self._move(old, new, names)
                except SecretStorageUnavailable as error:
                    refusal = error
            if refusal is not None:
                self._choice, self._backend, self._storage, self._nothing_kept, self._stored = before
                self._announce()
                raise refusal

        await self._in_order(switch())

    # ---- secrets of no setting, such as those of MCP servers

    async def get_other(self, name: str, address: str) -> SecretStr | None:
        """A secret that was given for this address; None if there is none. Raises SecretStorageUnavailable."""

        async def read() -> BoundKey | None:
            backend = await self._place()
            text = None if backend is None else await self._ask(lambda: backend.get(account_name(_OTHERS, name)))
            return None if text is None else read_bound_key(text)

        kept = await self._in_order(read())
        if kept is None or kept.address != address:
            return None
        keys_in_use.add(kept.value)
        return SecretStr(kept.value)

    async def set_other(self, name: str, value: SecretStr, address: str) -> None:
        """Keep a secret for an address, which is one line. Raises SecretStorageUnavailable."""
        checked = _checked_value(name, value)
        keys_in_use.add(checked)
        text = write_bound_key(checked, address)

        async def write() -> None:
            backend = await self._place()
            if backend is None:
                raise self._unavailable()
            await self._ask(lambda: backend.set(account_name(_OTHERS, name), text))

        await self._in_order(write())

    async def delete_others(self, names: Iterable[str]) -> None:
        """Forget such secrets; none there is fine."""
        await self._forget([(_OTHERS, name) for name in names])

    def _others(self) -> list[SecretName]:
        return [(_OTHERS, name) for name in self.other_names()]

    def follow(self, choice: StorageChoice) -> None:
        """Follow a choice made elsewhere, such as in another process, which has moved the keys."""
        if choice != self._choice:
            self._choice = choice
            self._held.begin(self._look_again())

    async def retry(self) -> SecretStatus:
        """Look again for the place, after unlocking a keyring for example."""
        await self._look_again()
        return self.status

    def expect(self, wanted: Iterable[SecretName]) -> None:
        """Keep the status of these keys from now on."""
        names = tuple(wanted)
        if set(names) == set(self._wanted):
            if self.status.secrets != self._told:
                # Another address, for which another key is needed, or none.
                self._announce()
            return
        gone = {profile_id for profile_id, _ in self._wanted} - {profile_id for profile_id, _ in names}
        fresh = [name for name in names if name not in self._wanted and name not in self._stored]
        self._wanted = names
        self._stored = {name: stored for name, stored in self._stored.items() if name[0] not in gone}
        if fresh:
            self._held.begin(self._in_order(self._look_at(fresh)))
        self._announce()

    # ---- sources that cannot be written

    def _from_environment(self, key: str) -> tuple[str, str] | None:
        for variable in _mark(key).env:
            if value := self.environ.get(variable, "").strip():
                return variable, value
        return None

    def _from_operator(self, key: str) -> SecretStr | None:
        if key in setting_keys():
            return None
        info = ProviderSettings.model_fields[wire_names(ProviderSettings)[key]]
        for name in field_providers(info):
            provider = provider_info(name)
            if provider is not None and provider.key_field == key and name in self._policy.provider_keys:
                return self._policy.provider_keys[name]
        return None

    def _fixed_keys(self) -> list[str]:
        """The keys of the environment and of the operator."""
        found = [self._from_environment(key) for key in secret_keys() | setting_keys()]
        operators = [value.get_secret_value() for value in self._policy.provider_keys.values()]
        return [*(value for each in found if each is not None for value in each[1:]), *operators]

    def _own_address(self, profile_id: str, key: str) -> KeyAddress:
        """Where the key's provider is unless a profile says otherwise."""
        if key in setting_keys():
            return KeyAddress("", True)
        return key_address(key, ProviderSettings(), {}, self._policy, self.environ)

    def _check_writable(self, key: str, address: KeyAddress) -> None:
        if (found := self._from_environment(key)) is not None and address.takes_environment:
            raise Conflict(
                f"This key comes from the environment variable {found[0]}, which overrides saved keys. "
                "Start the server without that variable to use your own.",
                field=key,
                variable=found[0],
            )
        if self._from_operator(key) is not None:
            raise ForbiddenByOperator("Your administrator provides this key; it cannot be changed here.", field=key)

    # ---- the place where a person's keys are kept

    async def _searched(self) -> None:
        while (search := self._search) is not None and not search.done():
            await asyncio.wait({search})

    async def _look_again(self) -> None:
        self._storage = _checking()
        self._announce()
        await self._in_order(self._find_place())

    async def _find_place(self) -> None:
        wanted = {name: self._address_of(*name).origin for name in self._wanted}

        def look(choice: StorageChoice) -> tuple[SecretBackend, dict[SecretName, str | None]]:
            backend = open_backend(
                choice,
                self._home,
                memory=self._memory,
                also_allowed=self._policy.allowed_keyring_backends,
                passphrase=self.environ.get(PASSPHRASE_VARIABLE) or None,
                # Less than the limit of the call, so that its error arrives and not silence.
                lock_timeout=self._policy.keyring_timeout_seconds / 2,
            )
            return backend, {name: _found_at_start(backend, name, address) for name, address in wanted.items()}

        choice = self._choice
        limit = self._policy.keyring_timeout_seconds
        has_second = choice == "auto" and bool(self.environ.get(PASSPHRASE_VARIABLE))
        try:
            try:
                backend, found = await call_in_daemon(lambda: look(choice), limit / 2 if has_second else limit)
            except Unresponsive:
                if not has_second:
                    raise
                backend, found = await call_in_daemon(lambda: look("encrypted-file"), limit / 2)
        except Unresponsive:
            self._close(self._unresponsive_status())
        except BackendProblem as problem:
            self._close(_problem_status(problem), nothing_kept=problem.empty)
        else:
            self._backend = backend
            self._storage = _open_status(backend)
            for name, value in found.items():
                self._note(*name, value, announce=False)
            self._announce()

    async def _place(self) -> SecretBackend | None:
        """The place once it is known; None if there is none and never was one."""
        await self._searched()
        if self._backend is None and not self._nothing_kept:
            raise self._unavailable()
        return self._backend

    async def _ask(self, call: Callable[[], T]) -> T:
        """One call to the place, with the operator's time limit."""
        try:
            answer = await call_in_daemon(call, self._policy.keyring_timeout_seconds)
        except Unresponsive:
            # Its thread may hang for ever; another call would only add a second one.
            self._close(self._unresponsive_status())
            raise self._unavailable() from None
        except BackendProblem as problem:
            before, self._storage = self._storage, _problem_status(problem, self._backend)
            if self._storage != before:
                # Who asks again whenever something is announced would never come to an end.
                self._announce()
            raise self._unavailable() from None
        if not self._storage.available and self._backend is not None:
            self._storage = _open_status(self._backend)
            self._announce()
        return answer

    async def _move(self, old: SecretBackend, new: SecretBackend, names: list[SecretName]) -> None:
        moved: dict[SecretName, str] = {}
        try:
            for name in names:
                account = account_name(*name)
                if (value := await self._ask(partial(old.get, account))) is not None:
                    await self._ask(partial(new.set, account, value))
                    moved[name] = value
        except SecretStorageUnavailable:
            await self._clear(new, moved)
            raise
        # They are safe in the new place by now.
        await self._clear(old, moved)
        for name, value in moved.items():
            if name[0] != _OTHERS:
                self._note(*name, value, announce=False)
        self._announce()

    async def _clear(self, backend: SecretBackend, names: Iterable[SecretName]) -> None:
        for name in names:
            try:
                await call_in_daemon(partial(backend.delete, account_name(*name)), self._policy.keyring_timeout_seconds)
            except Unresponsive:
                logger.warning("Keys were moved, but the old copies could not be deleted from: %s", backend.kind)
                return  # each further call would hang as long
            except BackendProblem:
                logger.warning("A key was moved, but its old copy could not be deleted from: %s", backend.kind)

    async def _forget(self, names: list[SecretName]) -> None:
        async def forget() -> None:
            backend = await self._place()
            if backend is None:
                return
            for name in names:
                account = account_name(*name)
                await self._ask(partial(backend.delete, account))
                self._stored.pop(name, None)
            self._announce()

        await self._in_order(forget())

    async def _look_at(self, names: list[SecretName]) -> None:
        try:
            backend = await self._place()
            if backend is None:
                return
            found = await self._ask(lambda: {name: backend.get(account_name(*name)) for name in names})
        except SecretStorageUnavailable:
            return  # the status says so
        for name, value in found.items():
            self._note(*name, value, announce=False)
        self._announce()

    async def _in_order(self, work: Coroutine[object, object, T]) -> T:
        """One operation at a time, each to its end, so that the last one asked for is the one that holds."""

        async def turn() -> T:
            try:
                async with self._order:
                    return await work
            finally:
                work.close()  # cancelled before its turn, it was never begun

        return await self._held.finish(turn())

    # ---- what is known

    def _note(self, profile_id: str, key: str, value: str | None, *, announce: bool = True) -> None:
        name = (profile_id, key)
        before = self._stored.get(name)
        if value is None or self._backend is None:
            self._stored.pop(name, None)
        else:
            kept = self._bound(profile_id, key, value)
            keys_in_use.add(kept.value)
            self._stored[name] = SecretPresence(
                profile_id=profile_id,
                key=key,
                present=True,
                last4=last4(kept.value),
                source=self._backend.kind,
                given_for=kept.address,
            )
        if announce and before != self._stored.get(name):
            self._announce()

    def _close(self, storage: SecretStorageStatus, *, nothing_kept: bool = False) -> None:
        self._backend = None
        self._nothing_kept = nothing_kept
        self._storage = storage
        self._stored.clear()
        self._announce()

    def _unavailable(self) -> SecretStorageUnavailable:
        status = self._storage
        error = SecretStorageUnavailable(f"Saved keys cannot be used: {status.message} {_CHOICES}", cause=status.code)
        error.params |= status.params
        return error

    def _unresponsive_status(self) -> SecretStorageStatus:
        seconds = self._policy.keyring_timeout_seconds
        return SecretStorageStatus(
            available=False,
            kind="keyring",
            code="keyring_unresponsive",
            message=f"The system keyring did not answer within {seconds:g} seconds. It may be waiting for you to unlock "
            "it. Unlock it, then try again.",
            params={"seconds": seconds},
        )

    def _announce(self) -> None:
        self._told = self.status.secrets
        for listener in tuple(self._listeners):
            listener()


def _found_at_start(backend: SecretBackend, name: SecretName, address: str) -> str | None:
    """A key; one of an earlier version counts from now on as given for the address in force."""
    account = account_name(*name)
    text = backend.get(account)
    if text is None or not address or read_bound_key(text).address is not None:
        return text
    bound = write_bound_key(text, address)
    try:
        backend.set(account, bound)
    except BackendProblem as problem:
        logger.warning("The address of a saved key could not be kept with it: %s", problem.code)
    return bound


def _given_for_another(given_for: str | None, origin: str, key: str) -> KeyForOtherAddress:
    whose = f"it was given for {given_for}, not for" if given_for else "it is not known whether it is for"
    return KeyForOtherAddress(
        f"Type the key again: {whose} {origin}.",
        field=key,
        given_for=given_for or "",
        address=origin,
    )


def _not_for_this_address(variable: str, origin: str, key: str) -> KeyForOtherAddress:
    return KeyForOtherAddress(
        f"The key in the environment variable {variable} is not sent to {origin}. Enter a key for this address.",
        field=key,
        variable=variable,
        address=origin,
    )


def _checking() -> SecretStorageStatus:
    return SecretStorageStatus(available=False, code="checking", message="Looking for a place to keep keys.")


def _open_status(backend: SecretBackend) -> SecretStorageStatus:
    return SecretStorageStatus(kind=backend.kind, available=True, code="ok", message=_OPENED_MESSAGES[backend.kind])


def _problem_status(problem: BackendProblem, backend: SecretBackend | None = None) -> SecretStorageStatus:
    return SecretStorageStatus(
        kind=backend.kind if backend else None,
        available=False,
        code=problem.code,
        message=problem.message,
        params=problem.params,
    )


def _mark(key: str) -> Secret:
    """How the setting that holds the key is marked."""
    return secret_fields(GlobalSettings if key in setting_keys() else ProviderSettings)[key]


def _check_key(key: str) -> None:
    if key not in secret_keys() and key not in setting_keys():
        raise InvalidSetting(f"There is no key named {key[:100]}.", field=key[:100], reason="unknown")


def _checked_value(key: str, value: SecretStr) -> str:
    text = value.get_secret_value().strip()
    reason = None
    if not text:
        reason = "it is empty"
    elif len(text) > _LONGEST_KEY:
        reason = f"it is longer than {_LONGEST_KEY} characters"
    elif any(not char.isprintable() and char not in "\r\n\t" for char in text):
        reason = "it contains characters that cannot be displayed"
    if reason is not None:
        raise InvalidSetting(f"The key was not saved: {reason}.", field=key, reason=reason)
    return text
