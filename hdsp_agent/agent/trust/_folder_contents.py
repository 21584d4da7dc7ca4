"""What lies in a folder that would change what the agent is told or may do.

Whatever new kind of thing is read from a folder belongs here too, so that the question lists it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final, Literal, TypeAlias

from ...config import PROJECT_SETTINGS_FILE, project_settings
from ...mcp.client import PROJECT_FILE, project_servers
from ..modes import MODE_FILES, project_modes
from ..prompts import agent_rules, folder_rules, subfolders_with_rules
from ..user_messages import project_commands

__all__ = ["BroughtKind", "FolderContents", "brought_by"]

BroughtKind: TypeAlias = Literal["mode", "rules", "instructions", "command", "setting", "mcpServer"]

_MOST_OF_A_KIND: Final = 50
"""Of many things of one kind none may keep another kind from being listed."""
_LONGEST: Final = 200


@dataclass(frozen=True)
class FolderContents:
    """One thing that a folder brings, by the name a person knows it by, and the file it is in."""

    kind: BroughtKind
    name: str
    path: str


def brought_by(folder: Path, person: Path, *, subfolders: bool = False) -> list[FolderContents]:
    """All of it, up to a limit; ``subfolders`` says whether their rules count too.

    ``folder`` is a real path, ``person`` the person's home. Blocks.
    """
    below = _below(folder) if subfolders else iter(())
    kinds = (
        _modes(folder), _rules(folder, person), _instructions(folder), _commands(folder), _settings(folder),
        _servers(folder), below
    )  # fmt: skip
    return [_shown(one) for kind in kinds for one in islice(kind, _MOST_OF_A_KIND)]


def _shown(one: FolderContents) -> FolderContents:
    """The folder chose these names: none may look like something else, or fill the screen."""
    return FolderContents(one.kind, _plain(one.name), _plain(one.path))


def _plain(text: str) -> str:
    text = "".join(sign if sign.isprintable() else "\ufffd" for sign in text)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _modes(folder: Path) -> Iterator[FolderContents]:
    file = next((name for name in MODE_FILES if (folder / name).is_file()), MODE_FILES[0])
    for mode in project_modes(folder):
        yield FolderContents("mode", mode.name, file)


def _rules(folder: Path, person: Path) -> Iterator[FolderContents]:
    for path in folder_rules(folder, person):
        yield _file("rules", path, folder)


def _instructions(folder: Path) -> Iterator[FolderContents]:
    for rule in agent_rules(folder):
        yield _file("instructions", Path(rule.source), folder)


def _below(folder: Path) -> Iterator[FolderContents]:
    for subfolder in subfolders_with_rules(folder):
        yield _file("rules", subfolder, folder)


def _commands(folder: Path) -> Iterator[FolderContents]:
    for command in project_commands(folder):
        shown = command.shown
        yield FolderContents("command", f"/{shown.name}", _inside(Path(shown.file_path or ""), folder))


def _settings(folder: Path) -> Iterator[FolderContents]:
    for name in sorted(project_settings(folder)):
        yield FolderContents("setting", name, PROJECT_SETTINGS_FILE)


def _servers(folder: Path) -> Iterator[FolderContents]:
    for name in project_servers(folder):
        yield FolderContents("mcpServer", name, PROJECT_FILE)


def _file(kind: BroughtKind, path: Path, folder: Path) -> FolderContents:
    name = _inside(path, folder)
    return FolderContents(kind, name, name)


def _inside(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path)
