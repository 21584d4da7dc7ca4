"""Instructions that lie in files: of the person, of the workspace, for all modes or for one.

They are read anew for each task. The workspace given here must be one that the person trusts, by its real path:
whoever asks makes sure of that. Files of the person come first, those of the workspace after them, so that the nearer
ones have the last word. What other agents left for the same purpose is read too.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from ..._regular_files import open_regular_file

__all__ = [
    "RuleText",
    "agent_rules",
    "folder_rules",
    "mode_rules",
    "shared_rules",
    "subfolder_rules",
    "subfolders_with_rules",
    "team_rules",
]

_LARGEST: Final = 200_000
_MOST_FILES: Final = 200
_FOLDERS: Final = (".hdsp", ".roo")
_LEGACY: Final = (".hdsprules", ".roorules", ".clinerules")
_AGENTS: Final = ("AGENTS.md", "AGENT.md")
_NOTES: Final = ".hdsp/memory/notes.md"
_AGENTS_LOCAL: Final = "AGENTS.local.md"
_SKIPPED: Final = (".DS_Store", "Thumbs.db", ".swp", ".bak", ".tmp", ".log", ".cache", ".old", "~")

_MODE: Final = "(?:-[a-zA-Z0-9-]+)?"
_RULES: Final = re.compile(f"rules{_MODE}")
_LEGACY_RULES: Final = re.compile(rf"\.(?:hdsp|roo|cline)rules{_MODE}")
_MOST_LOOKED_AT: Final = 10_000
_MOST_SUBFOLDERS: Final = 50
_DEEPEST_SUBFOLDER: Final = 6
_NOT_ENTERED: Final = frozenset({"node_modules", "site-packages", "venv", "env", "__pycache__", "dist-packages"})

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class RuleText:
    """The text of one file, and where it lies."""

    source: str
    text: str


def mode_rules(mode: str, workspace: Path | None, person: Path) -> list[RuleText]:
    """The rules for one mode. Blocks."""
    found = [rule for base in _bases(workspace, person) for rule in _first_folder(base, f"rules-{mode}")]
    if not found and workspace is not None:
        found = _first_file(workspace, [f"{name}-{mode}" for name in _LEGACY])
    return found


def shared_rules(workspace: Path | None, person: Path) -> list[RuleText]:
    """The rules for all modes. Blocks."""
    found = [rule for base in _bases(workspace, person) for rule in _first_folder(base, "rules")]
    if workspace is not None and not any(rule.source.startswith(str(workspace)) for rule in found):
        found += _first_file(workspace, _LEGACY)
    return found


def agent_rules(workspace: Path | None) -> list[RuleText]:
    """``AGENTS.md`` and what a person adds to it for themselves. Blocks."""
    if workspace is None:
        return []
    return _first_file(workspace, _AGENTS) + _first_file(workspace, (_AGENTS_LOCAL,))


def team_rules(mode: str, folders: Sequence[Path], workspace: Path | None) -> list[RuleText]:
    """What the operator's shared folders say to everybody: rules, ``AGENTS.md``, and the notes of the team. Blocks."""
    found: list[RuleText] = []
    for folder in folders:
        if folder != workspace:
            found += [
                *_first_folder(folder, f"rules-{mode}"), *_first_file(folder, _AGENTS), *_first_folder(folder, "rules"),
                *_first_file(folder, (_NOTES,)),
            ]  # fmt: skip
    return found


def subfolder_rules(mode: str, workspace: Path | None) -> list[RuleText]:
    """The rules and ``AGENTS.md`` of folders below the workspace, each said to count for its folder. Blocks."""
    if workspace is None:
        return []
    found: list[RuleText] = []
    for folder in subfolders_with_rules(workspace):
        where = folder.relative_to(workspace).as_posix()
        rules = [
            *_first_folder(folder, f"rules-{mode}"), *agent_rules(folder), *_first_folder(folder, "rules")
        ]  # fmt: skip
        found += [RuleText(rule.source, f"These count for files below {where}.\n\n{rule.text}") for rule in rules]
    return found


def subfolders_with_rules(workspace: Path) -> list[Path]:
    """The folders below the workspace that have rules of their own, in the order of their names. Blocks."""
    found: list[Path] = []
    looked_at = 0
    for parent, folders, names in os.walk(workspace):
        folder = Path(parent)
        depth = len(folder.relative_to(workspace).parts)
        looked_at += 1 + len(folders)
        if looked_at > _MOST_LOOKED_AT or len(found) == _MOST_SUBFOLDERS:
            logger.warning("There are too many folders below %s; rules in some subfolders are ignored", workspace)
            break
        if depth and (
            set(names) & {*_AGENTS, _AGENTS_LOCAL} or any(_named(folder / name, _RULES) for name in _FOLDERS)
        ):
            found.append(folder)
        # Hidden folders hold what programs keep for themselves. Links to folders are not followed.
        keep = depth < _DEEPEST_SUBFOLDER
        folders[:] = sorted(name for name in folders if keep and not name.startswith(".") and name not in _NOT_ENTERED)
    return found


def folder_rules(workspace: Path, person: Path) -> Iterator[Path]:
    """The files of rules that a folder brings, for whatever mode; each is looked for when it is asked for. Blocks."""
    found = _named(workspace, _LEGACY_RULES)
    if _bases(workspace, person) != [person]:
        # Those in the person's home are their own.
        found += [path for name in _FOLDERS for path in _named(workspace / name, _RULES)]
    for path in found:
        if path.is_dir():
            yield from (Path(rule.source) for rule in _folder(path, workspace))
        elif path.name.startswith(_LEGACY) and _read(path, workspace) is not None:
            yield path


def _named(folder: Path, pattern: re.Pattern[str]) -> list[Path]:
    """What lies in a folder under such a name; a folder of data may hold very many others."""
    try:
        with os.scandir(folder) as entries:
            return sorted(folder / entry.name for entry in entries if pattern.fullmatch(entry.name))
    except OSError:
        return []


def _bases(workspace: Path | None, person: Path) -> list[Path]:
    if workspace is None or workspace in (person, Path(os.path.realpath(person))):
        return [person]
    return [person, workspace]


def _first_folder(base: Path, name: str) -> list[RuleText]:
    for parent in _FOLDERS:
        rules = list(_folder(base / parent / name, base))
        if rules:
            return rules
    return []


def _folder(folder: Path, within: Path) -> Iterator[RuleText]:
    if not folder.is_dir():
        return
    count = 0
    for path in sorted(
        islice(_files(folder), _MOST_LOOKED_AT), key=lambda path: str(path.relative_to(folder)).casefold()
    ):
        rule = _read(path, within)
        if rule is not None:
            count += 1
            if count > _MOST_FILES:
                logger.warning("%s has more than %s rules files; the others are ignored", folder, _MOST_FILES)
                return
            yield rule


def _files(folder: Path) -> Iterator[Path]:
    # os.walk does not follow links to folders, so it cannot run in circles.
    for parent, folders, names in os.walk(folder):
        folders.sort()
        yield from (Path(parent, name) for name in names if not name.endswith(_SKIPPED))


def _first_file(folder: Path, names: tuple[str, ...] | list[str]) -> list[RuleText]:
    for name in names:
        path = folder / name
        if path.is_dir():
            return list(_folder(path, folder))
        rule = _read(path, folder)
        if rule is not None:
            return [rule]
    return []


def _read(path: Path, within: Path) -> RuleText | None:
    try:
        if not path.is_file():
            return None
        if not path.resolve().is_relative_to(within.resolve()):
            # Whoever made the folder would choose which of the person's files is sent to the model.
            logger.warning("The rules in %s are ignored: the link points outside %s", path, within)
            return None
        with open_regular_file(path) as stream:
            raw = stream.read(_LARGEST + 1)
    except OSError as error:
        logger.warning("The rules in %s cannot be read: %s", path, error)
        return None
    if b"\0" in raw:
        return None
    text = raw[:_LARGEST].decode("utf-8", "replace").strip()
    if len(raw) > _LARGEST:
        text += f"\n\n[The rest of this file is left out: it is larger than {_LARGEST:,} bytes.]"
    return RuleText(str(path), text) if text else None
