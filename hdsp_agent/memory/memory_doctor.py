"""Looking over the files of what is remembered, and putting aside what nobody can read any more. Everything here blocks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from ..persistence import DoctorFinding
from ..wire import WireModel
from .extracted_files import Extracted
from .memory_folder import CONSOLIDATED, DAMAGED, EXTRACTED_FOLDER, HANDBOOK, SUMMARY
from .publication import PublishedState

__all__ = ["examine_memory"]

_STATE_LOST: Final = "it is no longer known which lines a person wrote, so all count as written by hand"
_TAUGHT_LOST: Final = "what was learned from this conversation is not used"


def examine_memory(home: Path, *, repair: bool) -> list[DoctorFinding]:
    """What is wrong with the memory of everybody in this storage folder; with ``repair``, damaged records are renamed."""
    memories = home / "memories"
    findings: list[DoctorFinding] = []
    folders = [memories, *_inside(memories / "people", findings)]
    for folder in folders:
        findings += _examined(folder, repair)
    return findings


def _examined(folder: Path, repair: bool) -> list[DoctorFinding]:
    findings: list[DoctorFinding] = []
    names = {path.name for path in _inside(folder, findings)}
    if CONSOLIDATED in names:
        findings += _record(folder / CONSOLIDATED, PublishedState, _STATE_LOST, repair)
    for path in _inside(folder / EXTRACTED_FOLDER, findings):
        if path.suffix == ".json":
            findings += _record(path, Extracted, _TAUGHT_LOST, repair)
    for name in sorted(names & {SUMMARY, HANDBOOK, "profile.md"}):
        findings += _text(folder / name)
    return findings


def _inside(folder: Path, findings: list[DoctorFinding]) -> list[Path]:
    """What is in a folder; nothing if there is none, and a finding if it cannot be looked into."""
    try:
        return sorted(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        findings.append(
            DoctorFinding("permissions", folder, f"It cannot be opened, so nothing in it is used: {error.strerror}.")
        )
        return []


def _record(path: Path, model: type[WireModel], consequence: str, repair: bool) -> Iterator[DoctorFinding]:
    try:
        text = path.read_bytes()
        model.model_validate_json(text)
        return
    except OSError as error:
        yield DoctorFinding("permissions", path, f"It cannot be read: {error.strerror}; {consequence}.")
        return
    except ValidationError:
        message = f"It is damaged: {consequence}."
    if _is_object(text):
        # A newer version may have written it.
        yield DoctorFinding("damaged_record", path, f"This version does not understand it: {consequence}.")
        return
    if repair:
        try:
            path.rename(path.with_name(f"{path.name}{DAMAGED}"))
        except OSError as error:
            message = f"{message} It could not be renamed: {error.strerror}."
        else:
            yield DoctorFinding(
                "damaged_record", path, f"{message} It was renamed to {path.name}{DAMAGED}.", mended=True
            )
            return
    yield DoctorFinding("damaged_record", path, message)


def _is_object(text: bytes) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def _text(path: Path) -> Iterator[DoctorFinding]:
    if path.is_symlink():
        yield DoctorFinding("unknown_file", path, "It is a link, and may point anywhere.", note=True)
        return
    try:
        path.read_text(encoding="utf-8")
    except OSError as error:
        yield DoctorFinding("permissions", path, f"It cannot be read, so the agent does not use it: {error.strerror}.")
    except UnicodeDecodeError:
        yield DoctorFinding("damaged_record", path, "It is not UTF-8 text. Some characters are lost.", note=True)
