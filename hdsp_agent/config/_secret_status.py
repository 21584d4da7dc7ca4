"""What may be said about keys: whether they are there, their last four characters, and where they are kept."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ..errors import Param
from ..wire import WireModel

__all__ = ["SecretPresence", "SecretSource", "SecretStatus", "SecretStorageStatus", "StorageKind", "last4"]

StorageKind = Literal["keyring", "encrypted-file", "file", "memory"]
SecretSource = Literal["keyring", "encrypted-file", "file", "memory", "environment", "operator"]

_SHORTEST_TO_SHOW = 12


class SecretPresence(WireModel):
    """One key of one profile, without the key."""

    profile_id: str
    key: str
    """The setting that holds it, such as ``apiKey``."""
    present: bool
    last4: str | None = None
    """Its last four characters, if it is long enough for them to give nothing away."""
    source: SecretSource | None = None
    variable: str | None = None
    """The environment variable it comes from, or would come from if it could go to the profile's address."""
    given_for: str | None = None
    """The address it was given for, if that is not where the profile is now: it is not used until it is typed again."""


class SecretStorageStatus(WireModel):
    """Where keys that a person saves are kept, or why they cannot be."""

    kind: StorageKind | None = None
    available: bool
    code: str
    """``ok``, ``checking``, or what is wrong."""
    message: str
    params: dict[str, Param] = Field(default_factory=dict)


class SecretStatus(WireModel):
    """All that is ever told about keys."""

    storage: SecretStorageStatus
    secrets: tuple[SecretPresence, ...] = ()


def last4(value: str) -> str | None:
    """The last four characters of a key long enough to show them; nothing of JSON or of several lines."""
    tail = value[-4:]
    if len(value) < _SHORTEST_TO_SHOW or "\n" in value or value.startswith("{") or not tail.isprintable():
        return None
    return tail
