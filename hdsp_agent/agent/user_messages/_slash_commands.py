"""Slash commands: built in, the team's, the person's own, and the workspace's, each a Markdown file with a few facts in front."""

from __future__ import annotations

import asyncio
import logging
import os.path
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from typing import Final

from ..._regular_files import open_regular_file
from ...errors import Conflict, InvalidInput, NotAllowed, NotFound
from ...messages import Command, CommandSource, Source
from .._yaml import yaml_value
from ._builtin_commands import BUILT_IN, BuiltinCommand

__all__ = ["SlashCommand", "SlashCommands", "project_commands", "spoken_command"]

_FOLDER: Final = (".hdsp", "commands")
_LARGEST: Final = 200_000
_MOST_FILES: Final = 200
_LONGEST_FACT: Final = 300
_LONGEST_FACTS: Final = 4_000
_LONGEST_LABEL: Final = 60
_NAME: Final = r"[A-Za-z0-9_.-]{1,100}"
_SPOKEN: Final = re.compile(rf"/({_NAME})(?=\s|$)\s*(.*)", re.DOTALL)
_FACTS: Final = re.compile(r"\A---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)(.*)", re.DOTALL | re.MULTILINE)
_ARGUMENTS: Final = "$ARGUMENTS"

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class SlashCommand:
    """A command as lists show it, what it says to the model, and the mode it is for."""

    shown: Command
    text: str
    mode: str | None = None

    def filled(self, arguments: str) -> str:
        """What it says with these arguments, in their place or at the end."""
        arguments = arguments.strip()
        if _ARGUMENTS in self.text:
            return self.text.replace(_ARGUMENTS, arguments).strip()
        return f"{self.text}\n\n{arguments}" if arguments else self.text


def _trusts_none(folder: Path) -> Path | None:
    return None


def _no_team() -> tuple[Path, ...]:
    return ()


class SlashCommands:
    """Looks slash commands up. One of the team comes before a built-in, the person's own before both, and one of a trusted
    workspace before all."""

    def __init__(
        self,
        person: Path | None = None,
        trusted: Callable[[Path], Path | None] = _trusts_none,
        team_folders: Callable[[], tuple[Path, ...]] = _no_team,
    ) -> None:
        """``trusted`` says where a trusted folder really is, and None of others; both may block."""
        self._person = person
        self._trusted = trusted
        self._team_folders = team_folders

    async def all(self, workspace: str | None) -> Sequence[SlashCommand]:
        """All there are, by name."""
        found = await asyncio.to_thread(self._read, Path(workspace) if workspace else None)
        return [found[name] for name in sorted(found, key=str.casefold)]

    async def listed(self, workspace: str | None) -> list[Command]:
        """The same, as lists show them."""
        return [command.shown for command in await self.all(workspace)]

    async def get(self, name: str, workspace: str | None) -> SlashCommand | None:
        """The command of this name."""
        return next((command for command in await self.all(workspace) if command.shown.name == name), None)

    async def file(self, name: str, source: Source, workspace: str | None) -> str:
        """What the file of a command says. Raises NotFound."""
        return await asyncio.to_thread(_text_of, await self._place(name, source, workspace))

    async def write(
        self, name: str, source: Source, content: str, workspace: str | None, *, is_new: bool = False
    ) -> None:
        """Write the file of a command, whether there is one or not, or of a new one. Raises InvalidInput, NotAllowed, or Conflict."""
        place = await self._place(name, source, workspace)
        if is_new and await asyncio.to_thread(os.path.lexists, place):
            raise Conflict(
                f"{place} already has a command /{name}. Choose another name, or edit that one.", field="text"
            )
        if len(content.encode()) > _LARGEST:
            raise InvalidInput(f"A command can have up to {_LARGEST:,} bytes.", field="values.content", most=_LARGEST)
        if not _parted(place, content)[1].strip():
            raise InvalidInput("A command needs a text that says what the agent should do.", field="values.content")
        await asyncio.to_thread(_write, place, content)

    async def remove(self, name: str, source: Source, workspace: str | None) -> None:
        """Delete the file of a command. Raises NotFound."""
        await asyncio.to_thread(_remove, await self._place(name, source, workspace))

    async def _place(self, name: str, source: Source, workspace: str | None) -> Path:
        if not re.fullmatch(_NAME, name) or name.startswith("."):
            raise InvalidInput(
                "A command's name can have up to 100 letters, digits, dots, hyphens and underscores.", field="text"
            )
        if source == "global":
            if self._person is None:
                raise NotAllowed("You cannot save your own commands here.")
            return self._person / f"{name}.md"
        folder = await asyncio.to_thread(self._trusted, Path(workspace)) if workspace else None
        if folder is None:
            raise NotAllowed("Trust this folder first: until then its commands are not used.")
        place = folder.joinpath(*_FOLDER, f"{name}.md")
        if not place.resolve().is_relative_to(folder):
            raise NotAllowed("The command's file is outside this folder.")
        return place

    def _read(self, workspace: Path | None) -> dict[str, SlashCommand]:
        found = {command.name: _built_in(command) for command in BUILT_IN}
        for shared in self._team_folders():
            found |= {each.shown.name: each for each in _folder(shared.joinpath(*_FOLDER), shared, "team")}
        if self._person is not None:
            found |= {each.shown.name: each for each in _folder(self._person, self._person, "global")}
        folder = self._trusted(workspace) if workspace is not None else None
        if folder is not None:
            found |= {each.shown.name: each for each in project_commands(folder)}
        return found


def project_commands(workspace: Path) -> Iterator[SlashCommand]:
    """The slash commands of a folder, whether it is trusted or not. Blocks."""
    return _folder(workspace.joinpath(*_FOLDER), workspace, "project")


def spoken_command(text: str) -> tuple[str, str] | None:
    """The name of the command a message begins with, and what follows it."""
    found = _SPOKEN.match(text.lstrip())
    return None if found is None else (found[1], found[2])


def _text_of(place: Path) -> str:
    # Whoever made the folder may have put something there that never ends.
    if not place.is_file():
        raise NotFound(f"There is no command in {place}.")
    if place.stat().st_size > _LARGEST:
        raise InvalidInput(f"{place} is larger than a command may be: {_LARGEST:,} bytes.", field="text", most=_LARGEST)
    try:
        return _read_text(place)
    except UnicodeDecodeError:
        raise InvalidInput(f"{place} is not UTF-8 text.", field="text") from None


def _read_text(path: Path) -> str:
    with TextIOWrapper(open_regular_file(path), "utf-8-sig") as file:
        return file.read()


def _write(place: Path, content: str) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    new = place.with_name(f".{place.name}.new")
    # It may be left from before, or be a link that the folder brought: what it leads to is not to be written.
    new.unlink(missing_ok=True)
    with new.open("x", encoding="utf-8") as file:
        file.write(content)
    new.replace(place)


def _remove(place: Path) -> None:
    try:
        place.unlink()
    except (FileNotFoundError, NotADirectoryError):
        raise NotFound(f"There is no command in {place}.") from None


def _built_in(command: BuiltinCommand) -> SlashCommand:
    shown = Command(
        name=command.name,
        source="built-in",
        description=command.description,
        argument_hint=command.argument_hint,
        cell_label=command.cell_label,
    )
    return SlashCommand(shown, command.text)


def _folder(folder: Path, within: Path, source: CommandSource) -> Iterator[SlashCommand]:
    try:
        paths = sorted(path for path in folder.iterdir() if path.suffix == ".md") if folder.is_dir() else []
    except OSError as error:
        logger.warning("The commands in %s cannot be read: %s", folder, error)
        return
    for path in paths[:_MOST_FILES]:
        command = _command(path, within, source) if re.fullmatch(_NAME, path.stem) else None
        if command is not None:
            yield command


def _command(path: Path, within: Path, source: CommandSource) -> SlashCommand | None:
    try:
        if not path.is_file():
            return None
        if not path.resolve().is_relative_to(within.resolve()):
            # Whoever made the folder would choose which of the person's files is sent to the model.
            logger.warning("The command in %s is ignored: the link points outside %s", path, within)
            return None
        if path.stat().st_size > _LARGEST:
            logger.warning("The command in %s is ignored: it is larger than %s bytes", path, _LARGEST)
            return None
        written = _read_text(path)
    except (OSError, UnicodeDecodeError) as error:
        logger.warning("The command in %s cannot be read: %s", path, error)
        return None
    facts, text = _parted(path, written)
    if not text.strip():
        return None
    shown = Command(
        name=path.stem,
        source=source,
        file_path=str(path),
        description=_fact(facts, "description"),
        argument_hint=_fact(facts, "argument-hint"),
        cell_label=_cell_label(path.stem, facts),
    )
    return SlashCommand(shown, text.strip(), _fact(facts, "mode"))


def _parted(path: Path, written: str) -> tuple[Mapping[object, object], str]:
    """The facts in front, and the text. Facts that cannot be understood are left out; the text is not."""
    found = _FACTS.match(written)
    if found is None:
        return {}, written
    if len(found[1]) > _LONGEST_FACTS:
        logger.warning("The front matter of the command in %s is too long and is ignored", path)
        return {}, found[2]
    try:
        facts = yaml_value(found[1])
    except ValueError as error:
        logger.warning("The front matter of the command in %s is not YAML: %s", path, error)
        return {}, found[2]
    return facts if isinstance(facts, dict) else {}, found[2]


def _cell_label(name: str, facts: Mapping[object, object]) -> str | None:
    """What the menus of cells call it: what ``cell`` says, and with ``cell: true`` its name in words."""
    value = facts.get("cell")
    if isinstance(value, bool):
        words = re.sub(r"[-_.]+", " ", name).strip()
        return (words[:1].upper() + words[1:] or name)[:_LONGEST_LABEL] if value else None
    label = _fact(facts, "cell")
    return None if label is None else label[:_LONGEST_LABEL]


def _fact(facts: Mapping[object, object], name: str) -> str | None:
    value = facts.get(name)
    if isinstance(value, list):
        # ``argument-hint: [path]`` is a list in YAML and is not meant to be one.
        value = " ".join(f"[{entry}]" for entry in value)
    return None if value is None else " ".join(str(value).split())[:_LONGEST_FACT] or None
