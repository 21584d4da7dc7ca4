"""Modes that a workspace brings along, in the file Roo Code uses for them too."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from functools import lru_cache
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from ..._regular_files import open_regular_file
from ...config import ModeConfig
from .._yaml import yaml_value

__all__ = ["MODE_FILES", "known_fields", "project_modes"]

MODE_FILES: Final = (".hdspmodes", ".roomodes")

_LARGEST: Final = 256 * 1024
_MOST_MODES: Final = 100

logger = logging.getLogger(__name__)


def project_modes(workspace: Path) -> tuple[ModeConfig, ...]:
    """The valid modes of the first file there is; what is wrong with the others is logged. Blocks."""
    for name in MODE_FILES:
        path = workspace / name
        try:
            if not path.is_file():
                continue
            if not path.resolve().is_relative_to(workspace.resolve()):
                logger.warning("The modes in %s are ignored: the link points outside %s", path, workspace)
                return ()
            status = path.stat()
            if status.st_size > _LARGEST:
                logger.warning("%s is too large for a list of modes; it is ignored", path)
                return ()
            return _read(path, (status.st_ino, status.st_size, status.st_mtime_ns))
        except (OSError, UnicodeDecodeError) as error:
            logger.warning("The modes in %s cannot be read: %s", path, error)
            return ()
    return ()


@lru_cache(maxsize=32)
def _read(path: Path, identity: tuple[int, int, int]) -> tuple[ModeConfig, ...]:
    """Once for each version of the file: a large one takes seconds, and it is asked for at every step."""
    with TextIOWrapper(open_regular_file(path), "utf-8-sig") as file:
        listed = _parsed(path, file.read())
    return tuple(islice(_modes(path, listed), _MOST_MODES))


def _modes(path: Path, listed: list[object]) -> Iterator[ModeConfig]:
    seen: set[str] = set()
    # An alias of YAML costs four letters, and what it stands for is checked each time.
    for entry in listed[: 2 * _MOST_MODES]:
        try:
            mode = ModeConfig.model_validate(known_fields(entry)).model_copy(update={"source": "project"})
        except ValidationError as error:
            # Of a union's branches, the one that got furthest is the one that was meant.
            problem = max(error.errors(include_url=False, include_input=False), key=lambda one: len(one["loc"]))
            where = ".".join(str(part) for part in problem["loc"])
            logger.warning("A mode in %s is ignored: %s %s", path, where, problem["msg"])
            continue
        if mode.slug in seen:
            logger.warning("%s has the mode %s twice; the first one counts", path, mode.slug)
            continue
        seen.add(mode.slug)
        yield mode


def _parsed(path: Path, text: str) -> list[object]:
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        try:
            value = yaml_value(text)
        except ValueError as error:
            logger.warning("The modes in %s are neither YAML nor JSON: %s", path, error)
            return []
    listed = value.get("customModes") if isinstance(value, dict) else None
    if not isinstance(listed, list):
        logger.warning("%s has no list customModes; it is ignored", path)
        return []
    return listed


def known_fields(entry: object) -> object:
    """Without what we do not know, and without tool groups that exist no more."""
    if not isinstance(entry, dict):
        return entry
    known = {field.alias or name for name, field in ModeConfig.model_fields.items()}
    kept = {key: value for key, value in entry.items() if key in known}
    groups = kept.get("groups")
    if isinstance(groups, list):
        kept["groups"] = [
            group
            for group in groups
            if group != "browser" and (not isinstance(group, list) or group[:1] != ["browser"])
        ]
    return kept
