"""The settings that a folder brings in a file of its own. They count only in a folder that the person trusts.

Only what changes how the agent works with a project may be set there: nothing that approves an action, holds or sends a
key, or leads to another model or provider. Everything here blocks.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final

from pydantic import JsonValue

from .._regular_files import open_regular_file
from ..errors import HdspAgentError
from ._settings import GlobalSettings
from ._validation import check_setting

__all__ = ["PROJECT_SETTINGS", "PROJECT_SETTINGS_FILE", "project_settings", "with_project"]

PROJECT_SETTINGS_FILE: Final = ".hdsp/settings.json"

_ADDED: Final = frozenset({"deniedCommands", "disabledTools", "disabledHooks"})
"""Lists of what is not done: a folder may add to them, and never take anything away."""
_CHOSEN: Final = frozenset(
    {
        "autoCondenseContext",
        "autoCondenseContextPercent",
        "includeCurrentCost",
        "includeCurrentTime",
        "maxGitStatusFiles",
        "maxOpenTabsContext",
        "maxWorkspaceFiles",
        "preventCompletionWithOpenTodos",
    }
)
PROJECT_SETTINGS: Final = _ADDED | _CHOSEN
"""By their names in the file, which are those of the exported settings."""

_LARGEST_BYTES: Final = 64 * 1024

logger = logging.getLogger(__name__)


def project_settings(folder: Path) -> Mapping[str, JsonValue]:
    """What the file of a folder sets, of what it may set; nothing if there is none or it cannot be read."""
    path = folder / PROJECT_SETTINGS_FILE
    try:
        if not path.is_file():
            return {}
        if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder)):
            logger.warning("%s is ignored: the link points outside the folder", path)
            return {}
        with open_regular_file(path) as file:
            data = file.read(_LARGEST_BYTES + 1)
        found = json.loads(data) if len(data) <= _LARGEST_BYTES else None
    except (OSError, ValueError, RecursionError) as error:
        logger.warning("%s cannot be read: %s", path, error)
        return {}
    if not isinstance(found, dict):
        logger.warning("%s is not a JSON object, or is larger than %d bytes", path, _LARGEST_BYTES)
        return {}
    return {name: value for name, value in found.items() if _may_be_set(path, name, value)}


def with_project(
    base: GlobalSettings, project: Mapping[str, JsonValue], fixed: Collection[str] = frozenset()
) -> GlobalSettings:
    """The person's settings with those of a trusted folder over them, but for those that the operator has ``fixed``."""
    if not project:
        return base
    values = base.to_wire()
    for name, value in project.items():
        if name in fixed:
            continue
        if name in _ADDED:
            mine, more = values.get(name), value
            known = [*(mine if isinstance(mine, list) else ()), *(more if isinstance(more, list) else ())]
            value = [one for place, one in enumerate(known) if one not in known[:place]]
        try:
            check_setting(GlobalSettings, name, value)
        except HdspAgentError as error:
            # Each list may be as long as it is allowed to be, and both together are not.
            logger.warning(
                "%s stays unchanged: with what %s adds to it, %s", name, PROJECT_SETTINGS_FILE, error.message
            )
            continue
        values[name] = value
    return GlobalSettings.model_validate(values)


def _may_be_set(path: Path, name: str, value: JsonValue) -> bool:
    if name not in PROJECT_SETTINGS:
        logger.warning("%s sets %s, which a folder may not set", path, name[:100])
        return False
    try:
        # None stands for the default, which is for the person to go back to.
        return check_setting(GlobalSettings, name, value) is not None
    except HdspAgentError as error:
        logger.warning("%s: %s", path, error.message)
        return False
