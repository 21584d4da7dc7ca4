"""Reading one task of each layout: its raw messages, again as often as asked, and what is said about it as a whole.

Everything here blocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal, assert_never

from pydantic import JsonValue

from ...messages import JsonObject
from ..marks._marks import TruncateMark
from ._embedded import EMBEDDED_KEY, embedded_copy_id, read_embedded
from ._import_embedded import EmbeddedTask
from ._import_folds import ApiHead, FoldEvents, Folding, UiTimes, fold_range, fold_tags
from ._import_json import ImportFindings, is_ordinary_file, list_records, members, read_object
from ._import_messages import is_api_message, is_ui_message, whole_number
from ._import_own import ContextsTask, ExportedTask
from ._import_raw import RawTask
from ._import_sources import (
    API_NAMES,
    ITEM_NAMES,
    LEGACY_NAME,
    UI_NAMES,
    ImportableTask,
    left_behind,
    notebook_memory,
    notebook_metadata,
)

__all__ = ["open_task"]


class RooTask(RawTask):
    """A folder of Roo Code, Cline or Kilo Code, or of an early version of this agent."""

    tagged = True

    def __init__(self, found: ImportableTask, findings: ImportFindings) -> None:
        super().__init__(found, findings)
        folder = found.path
        legacy, kind = folder / LEGACY_NAME, _legacy_kind(folder / LEGACY_NAME)
        self._ui = self._file(UI_NAMES, legacy if kind == "ui" else None)
        self._api = self._file(API_NAMES, legacy if kind == "api" else None)
        self._item: JsonObject | None = None
        self._metadata = read_object(folder / "task_metadata.json", findings) or {}

    @property
    def source(self) -> str:
        is_cline = "model_usage" in self._metadata or "cwdOnTaskInitialization" in self.item()
        return "cline" if is_cline else "roo-code"

    @property
    def ui_path(self) -> Path:
        return self._ui or self.found.path / UI_NAMES[0]

    @property
    def api_path(self) -> Path:
        return self._api or self.found.path / API_NAMES[0]

    def ui(self, findings: ImportFindings) -> Iterator[JsonObject]:
        return _of_form(self._ui, findings, "ui")

    def api(self, findings: ImportFindings) -> Iterator[JsonObject]:
        return _of_form(self._api, findings, "api")

    def item(self) -> JsonObject:
        """The task's history item; what its own file leaves open, a list of all tasks may tell."""
        if self._item is None:
            self._item = dict(self.found.listed)
            for name in reversed(ITEM_NAMES):
                self._item.update(read_object(self.found.path / name, self.findings) or {})
        return self._item

    def config(self) -> JsonObject:
        """The model that was used last, and the files that were read, if that is known."""
        config: JsonObject = {}
        used = self._metadata.get("model_usage")
        last = used[-1] if isinstance(used, list) and used else None
        model = last.get("model_id") if isinstance(last, dict) else self.item().get("modelId")
        if isinstance(model, str):
            config["model"] = model
        files = self._metadata.get("files_in_context")
        if isinstance(files, list) and files:
            config["files_in_context"] = files[:1_000]
        return config

    def fold(self, heads: Sequence[ApiHead], events: FoldEvents, times: UiTimes) -> Folding:
        """The marks that the tags, or Cline's range of deleted messages, stand for."""
        folding = fold_tags(heads, events, times)
        span = self.item().get("conversationHistoryDeletedRange")
        if folding.marks or not isinstance(span, list) or len(span) != 2:
            return folding
        first, last = (whole_number(end) for end in span)
        if first is None or last is None:
            return folding
        marks = fold_range(first + 1, last + 1, len(heads), "deleted-range", times, heads[0].ts if heads else None)
        return Folding(folding.seqs, [mark for mark in marks if isinstance(mark, TruncateMark)], {})

    def _file(self, names: Iterable[str], legacy: Path | None) -> Path | None:
        folder = self.found.path
        there = [folder / name for name in names if is_ordinary_file(folder / name)]
        if there:
            best = there[0]
            if any(True for _ in members(best, ImportFindings())):
                return best
        leftovers = [path for name in names for path in left_behind(folder, name)]
        sizes = [(sum(1 for _ in members(path, ImportFindings())), path) for path in leftovers]
        count, path = max(sizes, default=(0, folder), key=lambda size: size[0])
        if count:
            self.findings.add(path, "A crash left the messages in this file; they were read from it.", weight="note")
            return path
        return legacy or (there[0] if there else None)


class NotebookTask(RawTask):
    """What an agent kept of its conversation in a notebook's metadata."""

    tagged = True

    def __init__(self, found: ImportableTask, findings: ImportFindings, metadata: JsonObject) -> None:
        super().__init__(found, findings)
        self._memory = notebook_memory(metadata) or {}

    @property
    def source(self) -> str:
        return "notebook"

    def ui(self, findings: ImportFindings) -> Iterator[JsonObject]:
        return (raw for raw in _objects(self._memory.get("messages")) if is_ui_message(raw))

    def api(self, findings: ImportFindings) -> Iterator[JsonObject]:
        return (raw for raw in _objects(self._memory.get("api_history")) if is_api_message(raw))

    def item(self) -> JsonObject:
        """The task's id and notebook."""
        return {"id": self._memory.get("task_id"), "notebook": {"path": self.found.path.name}}

    def fold(self, heads: Sequence[ApiHead], events: FoldEvents, times: UiTimes) -> Folding:
        """The marks that the tags stand for."""
        return fold_tags(heads, events, times)


def open_task(found: ImportableTask, findings: ImportFindings) -> RawTask:
    """The task that was found, to be read."""
    match found.layout:
        case "roo":
            return RooTask(found, findings)
        case "contexts":
            return ContextsTask(found, findings)
        case "export":
            return ExportedTask(found, findings)
        case "notebook":
            return _notebook_task(found, findings)
        case _:
            assert_never(found.layout)


def _notebook_task(found: ImportableTask, findings: ImportFindings) -> RawTask:
    metadata = notebook_metadata(found.path, findings)
    carried = metadata.get(EMBEDDED_KEY)
    if carried is None:
        return NotebookTask(found, findings, metadata)
    conversation = read_embedded(carried)
    copy = embedded_copy_id(conversation, "")
    return EmbeddedTask(found, findings, conversation, task_id=copy, notebook=found.path.name)


def _objects(value: JsonValue) -> list[JsonObject]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _of_form(path: Path | None, findings: ImportFindings, form: Literal["ui", "api"]) -> Iterator[JsonObject]:
    if path is None:
        return
    is_record = is_ui_message if form == "ui" else is_api_message
    for raw in list_records(path, findings, is_record=is_record):
        if is_record(raw):
            yield raw
        else:
            findings.add(path, "An entry is not a message and was left out.")


def _legacy_kind(path: Path) -> Literal["ui", "api"] | None:
    if not is_ordinary_file(path):
        return None
    for _, value in members(path, ImportFindings()):
        if is_api_message(value):
            return "api"
        if is_ui_message(value):
            return "ui"
    return None
