"""Looking over the files of what is remembered, and putting aside what nobody can read any more. Everything here blocks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from ..persistence import DoctorFinding
from ..wire import WireModel
from .extracted_files import Extracted
from .memory_folder import CONSOLIDATED, EXTRACTED_FOLDER, HANDBOOK, SUMMARY
from .publication import PublishedState

__all__ = ["examine_memory"]

_ASIDE: Final = ".damaged"
_STATE_LOST: Final = "which lines a person wrote is not known any more, so that all count as written by hand"
_TAUGHT_LOST: Final = "what this conversation taught is left out of what is remembered"


def examine_memory(home: Path, *, repair: bool) -> list[DoctorFinding]:
    """What is wrong with the memory of everybody in this storage folder; with ``repair``, damaged records are renamed."""
    memories = home / "memories"
    people = memories / "people"
    folders = [memories, *(sorted(people.iterdir()) if people.is_dir() else ())]
    return [finding for folder in folders if folder.is_dir() for finding in _examined(folder, repair)]


def _examined(folder: Path, repair: bool) -> Iterator[DoctorFinding]:
    yield from _record(folder / CONSOLIDATED, PublishedState, _STATE_LOST, repair)
    extracted = folder / EXTRACTED_FOLDER
    for path in sorted(extracted.glob("*.json")) if extracted.is_dir() else ():
        yield from _record(path, Extracted, _TAUGHT_LOST, repair)
    for name in (SUMMARY, HANDBOOK, "profile.md"):
        path = folder / name
        if path.is_symlink():
            yield DoctorFinding("unknown_file", path, "It is a link, and may lead anywhere.", note=True)
        elif path.is_file():
            yield from _text(path)


def _record(path: Path, model: type[WireModel], consequence: str, repair: bool) -> Iterator[DoctorFinding]:
    if not path.is_file():
        return
    try:
        model.model_validate_json(path.read_bytes())
        return
    except OSError as error:
        yield DoctorFinding("permissions", path, f"It cannot be read: {error.strerror}; {consequence}.")
        return
    except ValidationError:
        message = f"It is damaged: {consequence}."
    if repair:
        try:
            path.rename(path.with_name(f"{path.name}{_ASIDE}"))
        except OSError as error:
            message = f"{message} It could not be renamed: {error.strerror}."
        else:
            yield DoctorFinding("damaged_record", path, f"{message} It is kept as {path.name}{_ASIDE}.", mended=True)
            return
    yield DoctorFinding("damaged_record", path, message)


def _text(path: Path) -> Iterator[DoctorFinding]:
    try:
        path.read_text(encoding="utf-8")
    except OSError as error:
        yield DoctorFinding("permissions", path, f"It cannot be read, so the agent is not told it: {error.strerror}.")
    except UnicodeDecodeError:
        yield DoctorFinding("damaged_record", path, "It is no UTF-8 text: some characters are lost.", note=True)
