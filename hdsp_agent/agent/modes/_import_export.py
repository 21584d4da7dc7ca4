"""A mode as a file, in the form in which Roo Code exports and imports one: YAML, with the rules that belong to it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Final

from pydantic import Field, JsonValue, ValidationError

from ..._private_files import storage_error
from ...config import ModeConfig
from ...errors import Conflict, InvalidInput
from ...wire import WireModel
from .._yaml import yaml_value
from ._project_modes import known_fields

__all__ = ["ModeFile", "RuleFile", "mode_file", "mode_of_file", "write_rules"]

_LARGEST: Final = 1_000_000
_MOST_RULES: Final = 200


class RuleFile(WireModel):
    """A file of rules, by its place below the folder that holds rules, as ``rules-mine/style.md``."""

    relative_path: str = Field(min_length=1, max_length=1000)
    content: str = Field(max_length=200_000)


class ModeFile(WireModel):
    """What such a file holds."""

    mode: ModeConfig
    rules: tuple[RuleFile, ...] = ()


def mode_file(mode: ModeConfig, rules: Iterable[RuleFile]) -> str:
    """The file's content."""
    import yaml

    entry = ModeConfig.model_validate({**dict(mode), "source": None}).to_wire()
    kept: list[JsonValue] = [dict(rule.to_wire()) for rule in rules]
    if kept:
        entry["rulesFiles"] = kept
    text: str = yaml.safe_dump({"customModes": [entry]}, allow_unicode=True, sort_keys=False)
    return text


def mode_of_file(text: str) -> ModeFile:
    """What a file holds, whether YAML or JSON. Raises InvalidInput that says what is wrong with it."""
    entry = _entry(text)
    rules = entry.pop("rulesFiles", None) or []
    try:
        mode = ModeConfig.model_validate(known_fields(entry))
        files = ModeFile.model_validate({"mode": mode, "rules": rules})
    except ValidationError as error:
        problem = max(error.errors(include_url=False, include_input=False), key=lambda one: len(one["loc"]))
        where = ".".join(str(part) for part in problem["loc"])
        raise InvalidInput(f"The mode in this file cannot be used: {where}: {problem['msg']}.") from None
    if len(files.rules) > _MOST_RULES:
        raise InvalidInput(f"The mode in this file has more than {_MOST_RULES} rules files.", most=_MOST_RULES)
    return files


def write_rules(folder: Path, slug: str, rules: Sequence[RuleFile]) -> None:
    """Write the rules of a mode below a folder such as ``~/.hdsp``, or none of them. Blocks.

    Raises InvalidInput where one would leave the mode's own folder or take another's place, Conflict where another file is
    there already, StorageUnavailable.
    """
    own = folder / f"rules-{slug}"
    places: dict[Path, str] = {}
    for rule in rules:
        place = own / _below(rule.relative_path, own.name)
        if place in places:
            raise InvalidInput(f"{rule.relative_path!r} is in the file twice.")
        places[place] = rule.content
    for place in places:
        if any(above in places for above in place.parents):
            raise InvalidInput(f"{place.relative_to(own)} lies below a rules file.")
    written: list[Path] = []
    place = own
    try:
        for place, content in places.items():
            if not place.resolve().is_relative_to(own.resolve()):
                raise InvalidInput(f"{place} points outside the folder of the mode's rules.")
            if place.exists() and (not place.is_file() or place.read_bytes() != content.encode()):
                raise Conflict(f"{place} already contains other rules. Move them away, then import again.")
        for place, content in places.items():
            if not place.exists():
                place.parent.mkdir(parents=True, exist_ok=True)
                written.append(place)
                place.write_bytes(content.encode())
    except OSError as error:
        for one in written:
            with suppress(OSError):
                one.unlink()
        raise storage_error(place, "write", error) from error


def _entry(text: str) -> dict[str, object]:
    if len(text) > _LARGEST:
        raise InvalidInput(f"A file with a mode has at most {_LARGEST:,} characters.", most=_LARGEST)
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        try:
            value = yaml_value(text)
        except ValueError:
            raise InvalidInput("The file is neither YAML nor JSON. Choose a file with an exported mode.") from None
    listed = value.get("customModes") if isinstance(value, dict) else None
    if not isinstance(listed, list) or len(listed) != 1 or not isinstance(listed[0], dict):
        raise InvalidInput("The file does not hold one mode. Choose a file with an exported mode.")
    return dict(listed[0])


def _below(relative_path: str, own: str) -> PurePosixPath:
    """Where a file lies in the mode's folder; the folder may have had the name of another mode."""
    path = PurePosixPath(relative_path.replace("\\", "/"))
    parts = path.parts[1:] if path.parts[:1] == (own,) else path.parts
    if not parts or path.is_absolute() or "\0" in relative_path or any(part.startswith(".") for part in parts):
        raise InvalidInput(f"{relative_path!r} is not a place for rules of this mode.")
    return PurePosixPath(*parts)
