"""Finding out what there is to import: which folders and files hold tasks, and of which layout. Everything here blocks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from pydantic import JsonValue

from ...append_log.gzip_logs import PACKED
from ...errors import InvalidInput, NotFound
from ...messages import JsonObject
from .._records import STREAM_FILES
from ._import_json import ImportFindings, is_ordinary_file, members, read_object

__all__ = ["EXPORT_FORMAT", "EXPORT_VERSION", "ImportableTask", "Layout", "find_tasks"]

Layout = Literal["roo", "contexts", "export", "notebook"]

EXPORT_FORMAT: Final = "hdsp-agent-task"
"""What our own JSON export says it is."""
EXPORT_VERSION: Final = 1

UI_NAMES: Final = ("ui_messages.json",)
API_NAMES: Final = ("api_conversation_history.json", "api_conversation.json")
LEGACY_NAME: Final = "claude_messages.json"
"""Roo Code kept the API history in it, Cline the UI history: the messages tell."""
ITEM_NAMES: Final = ("history_item.json", "metadata.json")
_ROO_NAMES: Final = (*UI_NAMES, *API_NAMES, LEGACY_NAME, "history_item.json", "task_metadata.json")
_LISTS: Final = ("tasks/_index.json", "_index.json", "state/taskHistory.json", "task_history.json", "taskHistory.json")


@dataclass(frozen=True)
class ImportableTask:
    """A task that may be imported. ``listed`` is what a list of all tasks says of it."""

    path: Path
    layout: Layout
    source_id: str
    listed: Mapping[str, JsonValue] = field(default_factory=dict)


def find_tasks(source: Path, findings: ImportFindings) -> list[ImportableTask]:
    """The tasks at a path, in order of their names. Raises if there is nothing of the kind."""
    try:
        # What the person names may be a link; what is in it may not lead out of it.
        source = source.resolve()
        if source.is_dir():
            found = _in_folder(source, findings)
        elif is_ordinary_file(source):
            found = _in_file(source)
        else:
            raise NotFound(f"There is no file or folder {source} to import. Check the path.", path=str(source))
    except OSError as error:
        raise InvalidInput(
            f"{source} cannot be read: {error.strerror or error}. Check its permissions.", field="source"
        ) from error
    if not found:
        raise InvalidInput(
            f"{source} holds no conversation. Give a tasks/ folder of Roo Code, Cline or Kilo Code, the folder above it, "
            "one task's folder, a contexts/ folder, or a JSON file that was exported from here.",
            field="source",
            path=str(source),
        )
    return found


def _in_file(path: Path) -> list[ImportableTask]:
    if path.suffix == ".ipynb":
        return [ImportableTask(path, "notebook", path.stem)]
    if path.name in _ROO_NAMES:
        return [_roo_task(path.parent, {})]
    return [ImportableTask(path, "export", path.stem)] if _is_export(path) else []


def _in_folder(folder: Path, findings: ImportFindings) -> list[ImportableTask]:
    if task := _task(folder, {}):
        return [task]
    listed = _listed(folder, findings)
    found: list[ImportableTask] = []
    for place in _places(folder):
        for entry in sorted(place.iterdir(), key=lambda entry: entry.name):
            if entry.name.startswith((".", "_")):
                continue
            if _is_own_folder(entry, folder):
                task = _task(entry, listed)
                found += [task] if task is not None else []
            elif entry.is_symlink():
                findings.add(entry, "It is a link that points elsewhere and was left out.")
            elif entry.suffix in (".json", PACKED) and is_ordinary_file(entry) and _is_export(entry):
                found.append(ImportableTask(entry, "export", entry.stem))
    return found


def _places(folder: Path) -> Iterator[Path]:
    """The folders below which each entry may be a task."""
    yield folder
    for name in (
        "tasks",
        "contexts",
        "running",
        "completed",
        "contexts/running",
        "contexts/completed",
        "globalStorage/tasks",
    ):
        if _is_own_folder(folder / name, folder):
            yield folder / name


def _is_own_folder(entry: Path, source: Path) -> bool:
    """Whether this is a folder, and within the one that is brought in: a link may lead anywhere."""
    return entry.is_dir() and entry.resolve().is_relative_to(source)


def _task(folder: Path, listed: Mapping[str, JsonObject]) -> ImportableTask | None:
    if any(is_ordinary_file(folder / f"{STREAM_FILES['api']}{end}") for end in ("", PACKED)):
        return ImportableTask(folder, "contexts", folder.name)
    if any(is_ordinary_file(folder / name) for name in _ROO_NAMES) or left_behind(folder, UI_NAMES[0]):
        return _roo_task(folder, listed)
    return None


def left_behind(folder: Path, name: str) -> list[Path]:
    """What a crash of Roo Code between two renames left in the place of a file."""
    with suppress(OSError):
        return sorted(path for kind in ("new", "bak") for path in folder.glob(f".{name}.{kind}_*.tmp"))
    return []


def _roo_task(folder: Path, listed: Mapping[str, JsonObject]) -> ImportableTask:
    name = folder.resolve().name
    if not listed and folder.parent.is_dir():
        listed = _listed(folder.parent, ImportFindings()) or _listed(folder.parent.parent, ImportFindings())
    return ImportableTask(folder, "roo", name, listed.get(name, {}))


def _listed(folder: Path, findings: ImportFindings) -> dict[str, JsonObject]:
    """What lists of all tasks say of each; the first that names a task counts."""
    listed: dict[str, JsonObject] = {}
    for name in _LISTS:
        path = folder / name
        if not is_ordinary_file(path):
            continue
        for _, value in members(path, findings):
            by_id = isinstance(value, dict) and not isinstance(value.get("id"), str)
            for entry in list(value.values()) if by_id and isinstance(value, dict) else [value]:
                if isinstance(entry, dict) and isinstance(id_ := entry.get("id"), str):
                    listed.setdefault(id_, entry)
    return listed


def _is_export(path: Path) -> bool:
    findings = ImportFindings()
    for name, value in members(path, findings):
        return name == "format" and value == EXPORT_FORMAT
    return False


def notebook_metadata(path: Path, findings: ImportFindings) -> JsonObject:
    """What a notebook's file says of itself."""
    notebook = read_object(path, findings)
    metadata = None if notebook is None else notebook.get("metadata")
    return metadata if isinstance(metadata, dict) else {}


def notebook_memory(metadata: JsonObject) -> JsonObject | None:
    """What an agent left in a notebook's metadata: ``task_id``, ``messages`` and ``api_history``."""
    memory = metadata.get("hdsp_agent")
    if isinstance(memory, str):
        with suppress(ValueError):
            memory = json.loads(memory)
    return memory if isinstance(memory, dict) else None
