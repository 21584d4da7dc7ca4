"""The places a key can be kept. Everything here blocks, and a keyring can block for ever: call it in a daemon thread."""

from __future__ import annotations

import base64
import json
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from .._private_files import locked, make_private_folder, read_with_identity, replace_file
from ..errors import HdspAgentError, Param
from ._provider_settings import PASSPHRASE_VARIABLE
from ._secret_status import StorageKind
from ._settings import StorageChoice

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

__all__ = [
    "BackendProblem",
    "EncryptedFile",
    "KeyringBackend",
    "MemoryBackend",
    "PlainFile",
    "SecretBackend",
    "account_name",
    "open_backend",
]

SERVICE: Final = "hdsp-agent"

VETTED_KEYRINGS: Final = frozenset(
    {
        "keyring.backends.SecretService",
        "keyring.backends.libsecret",
        "keyring.backends.kwallet",
        "keyring.backends.macOS",
        "keyring.backends.Windows",
    }
)
"""The modules of backends that really protect what they keep. Anything else may write plain text or forget."""


class BackendProblem(Exception):
    """Why a place cannot keep keys."""

    def __init__(self, code: str, message: str, params: dict[str, Param] | None = None, *, empty: bool = False) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.params = params or {}
        self.empty = empty
        """No key can have been kept there, so there is none to miss."""


class SecretBackend(ABC):
    """A place for keys, by account name."""

    kind: StorageKind
    """What people call it."""

    @abstractmethod
    def get(self, account: str) -> str | None:
        """The value, or None if there is none."""

    @abstractmethod
    def set(self, account: str, value: str) -> None:
        """Keep the value, replacing one that is there."""

    @abstractmethod
    def delete(self, account: str) -> None:
        """Forget the value; none there is fine."""


class Keyring(Protocol):
    """What we use of a ``keyring`` backend."""

    def get_password(self, service: str, username: str) -> str | None: ...

    def set_password(self, service: str, username: str, password: str) -> None: ...

    def delete_password(self, service: str, username: str) -> None: ...


class KeyringBackend(SecretBackend):
    """The keyring of the operating system, one entry a key: Windows limits the size of an entry."""

    kind: StorageKind = "keyring"

    def __init__(self, keyring: Keyring) -> None:
        self._keyring = keyring

    def get(self, account: str) -> str | None:
        return self._ask("read", lambda: self._keyring.get_password(SERVICE, account))

    def set(self, account: str, value: str) -> None:
        self._ask("save", lambda: self._keyring.set_password(SERVICE, account, value))

    def delete(self, account: str) -> None:
        if self.get(account) is not None:
            self._ask("delete", lambda: self._keyring.delete_password(SERVICE, account))

    def _ask(self, action: str, call: Callable[[], str | None]) -> str | None:
        from keyring import errors

        try:
            return call()
        except errors.KeyringLocked:
            raise BackendProblem(
                "keyring_locked", "The system keyring is locked. Unlock it, then try again.", {"action": action}
            ) from None
        except errors.InitError:
            raise BackendProblem(
                "keyring_not_set_up",
                "The system keyring has not been set up, or the request to unlock it was dismissed. "
                "Log in to a desktop session once, or unlock it, then try again.",
                {"action": action},
            ) from None
        except Exception as error:  # noqa: BLE001 -- each backend has errors of its own
            # Its text is not repeated: some backends quote what they were given.
            raise BackendProblem(
                "keyring_failed",
                f"The system keyring could not {action} the key ({type(error).__name__}). Try again.",
                {"action": action, "error": type(error).__name__},
            ) from None


def open_keyring(also_allowed: Iterable[str]) -> KeyringBackend:
    """The system's keyring, if it is one that protects what it keeps."""
    import keyring
    from keyring.backend import KeyringBackend as AnyKeyring
    from keyring.backends import chainer, fail

    allowed = VETTED_KEYRINGS | set(also_allowed)
    chosen = keyring.get_keyring()
    candidates = chosen.backends if isinstance(chosen, chainer.ChainerBackend) else [chosen]
    if isinstance(chosen, (fail.Keyring, chainer.ChainerBackend)):
        # keyring looks for backends once in a process; a daemon may have been started since.
        found = [kind for kind in AnyKeyring.get_viable_backends() if kind.__module__ in allowed]
        candidates = [*candidates, *(kind() for kind in sorted(found, key=_priority, reverse=True))]
    for candidate in candidates:
        if type(candidate).__module__ in allowed and _priority(type(candidate)) >= 1:
            return KeyringBackend(candidate)
    refused = [type(one) for one in candidates if not isinstance(one, fail.Keyring)]
    if not refused:
        raise BackendProblem("keyring_missing", "This system has no keyring that works.", empty=True)
    names = ", ".join(f"{kind.__module__}.{kind.__name__}" for kind in refused)
    raise BackendProblem(
        "keyring_refused",
        f"The keyring set up on this system ({names}) does not protect keys, so it is not used.",
        {"backend": names},
        empty=True,
    )


def _priority(kind: object) -> float:
    try:
        return float(getattr(kind, "priority", 0))
    except Exception:  # noqa: BLE001 -- a backend says by any exception that it does not work here
        return 0


class MemoryBackend(SecretBackend):
    """The memory of this process: what is kept is forgotten when it ends."""

    kind: StorageKind = "memory"

    def __init__(self) -> None:
        self._secrets: dict[str, str] = {}

    def get(self, account: str) -> str | None:
        return self._secrets.get(account)

    def set(self, account: str, value: str) -> None:
        self._secrets[account] = value

    def delete(self, account: str) -> None:
        self._secrets.pop(account, None)


class _FileBackend(SecretBackend):
    """Keys in one file, read and replaced as a whole."""

    def __init__(self, path: Path, lock_timeout: float) -> None:
        self.path: Final = path
        self._lock_timeout = lock_timeout

    def get(self, account: str) -> str | None:
        return self._read().get(account)

    def set(self, account: str, value: str) -> None:
        self._change(lambda secrets: secrets.__setitem__(account, value))

    def delete(self, account: str) -> None:
        if account in self._read():
            self._change(lambda secrets: secrets.pop(account, None))

    def _read(self) -> dict[str, str]:
        try:
            found = read_with_identity(self.path)
        except HdspAgentError as error:
            raise BackendProblem(error.code, error.message, error.params) from error
        if found is None:
            return {}
        if sys.platform != "win32" and self.path.stat().st_mode & 0o077:
            with suppress(OSError):
                self.path.chmod(0o600)
        try:
            secrets = self._decode(found[0])
        except (ValueError, KeyError, TypeError, RecursionError):
            raise BackendProblem(
                "secrets_file_corrupt",
                f"{self.path} cannot be read. It is never overwritten: repair it or move it away, then try again.",
                {"path": str(self.path)},
            ) from None
        return secrets

    def _change(self, change: Callable[[dict[str, str]], object]) -> None:
        try:
            make_private_folder(self.path.parent)
            with locked(self.path, self._lock_timeout):
                secrets = self._read()
                change(secrets)
                if secrets:
                    replace_file(self.path, self._encode(secrets))
                else:
                    self.path.unlink(missing_ok=True)
        except HdspAgentError as error:
            raise BackendProblem(error.code, error.message, error.params) from error

    @abstractmethod
    def _decode(self, data: bytes) -> dict[str, str]: ...

    @abstractmethod
    def _encode(self, secrets: Mapping[str, str]) -> bytes: ...


class PlainFile(_FileBackend):
    """A file that only its owner can read. The permissions are the whole protection."""

    kind: StorageKind = "file"

    def _decode(self, data: bytes) -> dict[str, str]:
        return _strings(json.loads(data)["secrets"])

    def _encode(self, secrets: Mapping[str, str]) -> bytes:
        return json.dumps({"version": 1, "secrets": dict(secrets)}, indent=2).encode()


class EncryptedFile(_FileBackend):
    """A file encrypted with AES-GCM under a key that scrypt makes of a passphrase."""

    kind: StorageKind = "encrypted-file"
    _COST: Final = 2**15

    def __init__(self, path: Path, lock_timeout: float, passphrase: str) -> None:
        super().__init__(path, lock_timeout)
        self._passphrase = passphrase.encode()
        self._derived: tuple[bytes, bytes] | None = None

    def _decode(self, data: bytes) -> dict[str, str]:
        from cryptography.exceptions import InvalidTag

        box = json.loads(data)
        if box["version"] != 1:
            raise ValueError("made by another version")
        salt, nonce, sealed = (base64.b64decode(box[part], validate=True) for part in ("salt", "nonce", "sealed"))
        try:
            opened = self._cipher(salt).decrypt(nonce, sealed, SERVICE.encode())
        except InvalidTag:
            raise BackendProblem(
                "wrong_passphrase",
                f"{self.path} was encrypted with another passphrase than the one in {PASSPHRASE_VARIABLE}. "
                "Start the server with the right one, or move the file away and save the keys again.",
                {"path": str(self.path)},
            ) from None
        return _strings(json.loads(opened))

    def _encode(self, secrets: Mapping[str, str]) -> bytes:
        salt = self._derived[0] if self._derived else os.urandom(16)
        nonce = os.urandom(12)
        sealed = self._cipher(salt).encrypt(nonce, json.dumps(dict(secrets)).encode(), SERVICE.encode())
        parts = {"salt": salt, "nonce": nonce, "sealed": sealed}
        encoded = {name: base64.b64encode(part).decode() for name, part in parts.items()}
        return json.dumps({"version": 1, "kdf": "scrypt", "cipher": "AES-256-GCM", **encoded}, indent=2).encode()

    def _cipher(self, salt: bytes) -> AESGCM:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
        from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

        if self._derived is None or self._derived[0] != salt:
            self._derived = (salt, Scrypt(salt=salt, length=32, n=self._COST, r=8, p=1).derive(self._passphrase))
        return AESGCM(self._derived[1])


def open_backend(
    choice: StorageChoice,
    home: Path,
    *,
    memory: MemoryBackend,
    also_allowed: Iterable[str],
    passphrase: str | None,
    lock_timeout: float,
) -> SecretBackend:
    """The place to keep keys that was chosen, after it has answered once. Raises BackendProblem."""

    def encrypted() -> SecretBackend:
        if not passphrase:
            raise BackendProblem(
                "passphrase_missing",
                f"An encrypted file needs a passphrase: set {PASSPHRASE_VARIABLE} before you start the server.",
                empty=True,
            )
        return _answering(EncryptedFile(home / "secrets.enc", lock_timeout, passphrase))

    if choice == "memory":
        return memory
    if choice == "file":
        return _answering(PlainFile(home / "secrets.json", lock_timeout))
    if choice == "encrypted-file":
        return encrypted()
    if choice == "auto" and passphrase and (home / "secrets.enc").exists():
        # Keys went there when no keyring worked; they must not vanish from sight once one does.
        return encrypted()
    try:
        return _answering(open_keyring(also_allowed))
    except BackendProblem:
        if choice == "auto" and passphrase:
            return encrypted()
        raise


def account_name(profile_id: str, key: str) -> str:
    """What the entry of a profile's key is called."""
    return f"{profile_id}/{key}"


def _answering(backend: SecretBackend) -> SecretBackend:
    backend.get(account_name("availability", "check"))
    return backend


def _strings(value: object) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(one, str) for pair in value.items() for one in pair):
        raise TypeError("not a mapping of text to text")
    return value
