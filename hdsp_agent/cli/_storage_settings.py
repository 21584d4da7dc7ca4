"""What the person and the operator decided about storage, as a server of this folder would find it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from .._private_files import read_with_identity
from ..config import GlobalSettings, readable_settings
from ..errors import InvalidSetting
from ._home import operator_traits

if TYPE_CHECKING:
    from pydantic import JsonValue

__all__ = ["storage_settings"]

_TRAITS: Final = {
    "compress_after_days": "retentionCompressDays",
    "delete_after_days": "retentionDeleteDays",
    "storage_warning_gb": "sizeWarningGigabytes",
    "storage_critical_gb": "sizeCriticalGigabytes",
}
_CHECKPOINTS: Final = frozenset(
    {
        "checkpointQuotaMegabytes", "checkpointMaxCount", "checkpointMaxFiles", "checkpointMaxWalkSeconds",
        "checkpointMaxFileMegabytes", "checkpointMaxTouchedFileMegabytes", "checkpointMaxTotalMegabytes",
        "checkpointMaxClonedMegabytes",
    }
)  # fmt: skip
_NAMES: Final = frozenset({*_TRAITS.values(), "maskedKinds"}) | _CHECKPOINTS
_NEVER_GIGABYTES: Final = 100_000


def storage_settings(home: Path) -> GlobalSettings:
    """The settings in force; those that are not about storage have their defaults. Blocks.

    A file that cannot be read is an error: what it says may be that nothing is to be deleted.
    """
    path = home / "config.json"
    found = read_with_identity(path)
    try:
        content = json.loads(found[0].decode("utf-8-sig")) if found is not None else {}
        own = content.get("globalSettings", {})
        if not isinstance(own, dict):
            raise TypeError("globalSettings is not an object")
    except (ValueError, RecursionError, AttributeError, TypeError) as error:
        raise InvalidSetting(
            f"The settings in {path} cannot be read: {error}. Fix the file, or start the server once: it sets the file "
            "aside.",
            field="home",
        ) from None
    mine, _ = readable_settings(GlobalSettings, {name: value for name, value in own.items() if name in _NAMES})
    decided, notices = readable_settings(GlobalSettings, _decided())
    if notices:
        raise InvalidSetting(f"Jupyter's configuration: {notices[0].message}", field="home")
    return GlobalSettings.model_validate({**mine, **decided})


def _decided() -> dict[str, JsonValue]:
    """What the operator decided; people's own settings do not count beside it."""
    traits = operator_traits()
    decided = {name: cast("JsonValue", traits[trait]) for trait, name in _TRAITS.items() if trait in traits}
    for name in ("sizeWarningGigabytes", "sizeCriticalGigabytes"):
        # The trait says never as 0, the setting as more than there is.
        if decided.get(name) == 0:
            decided[name] = _NEVER_GIGABYTES
    fixed = traits.get("fixed_settings")
    if isinstance(fixed, dict):
        decided.update({name: value for name, value in fixed.items() if name in _NAMES})
    return decided
