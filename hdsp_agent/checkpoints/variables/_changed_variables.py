"""Which variables differ from those of a manifest, by what the kernel found out after its last run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

from ...wire import WireModel
from ._manifest import VariableEntry, VariableGroup, VariableManifest, VariableStatus

__all__ = ["VariableChange", "VariablesSeen", "changes_since"]


_WITHOUT_BYTES: Final = ("live", "failed")
_BUILTIN: Final = "builtin_function_or_method"
"""Imported, and not listed."""


class SeenVariable(BaseModel):
    """One variable after the last run."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    type: str
    status: VariableStatus
    number: int = 0
    digest: str | None = None
    """Of its group; absent where it has no bytes."""
    alone: bool = True
    """Whether it shares no objects with others."""


class VariablesSeen(BaseModel):
    """All of them."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    life: str
    variables: Mapping[str, SeenVariable]


class VariableChange(WireModel):
    """How one variable differs from a checkpoint."""

    name: str
    kind: Literal["added", "changed", "shared", "gone"]
    """``shared``: it changed, or one that shares objects with it did, or it shares them with others than then."""
    can_restore: bool
    """Whether the checkpoint has its value."""


def changes_since(then: VariableManifest, now: VariablesSeen) -> list[VariableChange]:
    """The differences by name. Of what has no bytes it is known only whether it is another object."""
    groups = {name: group for group in then.groups for name in group.names}
    same_life = then.life == now.life
    found = [
        VariableChange(name=name, kind=kind, can_restore=kind != "added" and name in groups)
        for name, one in now.variables.items()
        if _is_theirs(name, one.status)
        and (kind := _kind(one, then.variables.get(name), groups.get(name), same_life=same_life)) is not None
    ]
    found += [
        VariableChange(name=name, kind="gone", can_restore=name in groups)
        for name, was in then.variables.items()
        if name not in now.variables and _is_theirs(name, was.status) and was.type != _BUILTIN
    ]
    return found


def _kind(
    now: SeenVariable, then: VariableEntry | None, group: VariableGroup | None, *, same_life: bool
) -> Literal["added", "changed", "shared"] | None:
    if then is None:
        return "added"
    if now.digest is None or group is None:
        same = same_life and (now.number, now.type) == (then.number, then.type)
        # It holds something that has no bytes since, or no more. What was too large or came too late may be the same.
        without = then.status if group is None else now.status
        is_other = (now.digest is None) != (group is None) and without in _WITHOUT_BYTES
        return "changed" if is_other or not same else None
    if now.digest == group.digest:
        return None
    return "changed" if now.alone and len(group.names) == 1 else "shared"


def _is_theirs(name: str, status: VariableStatus) -> bool:
    return not name.startswith("_") and status != "module"
