"""A first look at a task to import: how many messages, with which times and marks, and its line in the history.

Everything here blocks.
"""

from __future__ import annotations

import json
import math
import os
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final, TypeAlias

from pydantic import JsonValue, ValidationError

from ..._iso_time import iso_time
from ...errors import InvalidInput
from ...messages import ClineMessage, HistoryItem, JsonObject, TaskId
from .._new_task import NewTaskRecord
from .._records import ApiDraft, SummaryDraft, TaskKey, ToolDraft
from ..files._task_folders import checked_id
from ..marks._marks import Mark
from ._export_parts import without_frames
from ._import_folds import ApiHead, FoldEvents, Folding, UiTimes
from ._import_json import ImportFindings
from ._import_messages import Converter, ImportedMessage, message_ts, whole_number
from ._import_raw import RawTask

__all__ = ["IMPORTED", "ImportTaskPlan", "MayWorkIn", "mapped_id", "nowhere", "task_id_of"]

IMPORTED: Final = "imported"
"""The name in a task's ``config`` under which stands where it was imported from."""

MayWorkIn: TypeAlias = Callable[[Path], bool]
"""Whether an imported conversation may work in this folder, whose links are followed. Blocks."""

_DECIDED_HERE: Final = frozenset({"settings", "forkedAt", "externalAgent"})
_IDS: Final = uuid.UUID("c02a2f0c-9d3b-4a86-8d1f-7f9b7a0d4f11")
_TITLE_CHARACTERS: Final = 4_000


def nowhere(folder: Path) -> bool:
    """Says of no folder that a file may choose it."""
    return False


def mapped_id(id_: JsonValue) -> TaskId | None:
    """The id a task gets here: its own where that may be one, else one that is always the same for it."""
    if not isinstance(id_, (str, int)) or isinstance(id_, bool) or id_ == "":
        return None
    try:
        return TaskId(checked_id(TaskId(str(id_))))
    except InvalidInput:
        return TaskId(str(uuid.uuid5(_IDS, str(id_))))


def task_id_of(raw: RawTask) -> TaskId:
    """The id that a task will have here."""
    named = raw.item().get("id") if raw.found.layout in ("export", "notebook") else None
    return mapped_id(named) or mapped_id(raw.found.source_id) or TaskId(str(uuid.uuid5(_IDS, str(raw.found.path))))


@dataclass
class _Totals:
    """What the messages add up to, where no history item says it."""

    first_text: str | None = None
    last_ts: int | None = None
    tokens_in: int = 0
    tokens_out: int = 0
    cache_writes: int = 0
    cache_reads: int = 0
    cost: float = 0.0
    model_calls: int = 0
    tool_calls: int = 0

    def see_ui(self, raw: JsonObject) -> None:
        """Take a message of the UI history into account."""
        text = raw.get("text")
        if self.first_text is None and isinstance(text, str) and text:
            self.first_text = text
        if raw.get("ask") not in ("resume_task", "resume_completed_task"):
            self.last_ts = message_ts(raw) or self.last_ts
        if raw.get("say") in ("api_req_started", "deleted_api_reqs") and isinstance(text, str):
            with suppress(ValueError, RecursionError):
                self._add(json.loads(text))
        details = raw.get("contextCondense")
        if isinstance(details, dict):
            self.cost += _price(details.get("cost"))

    def see_api(self, raw: JsonObject) -> None:
        """Take a message of the API history into account."""
        self.model_calls += raw.get("role") == "assistant"
        content = raw.get("content")
        if isinstance(content, list):
            self.tool_calls += sum(isinstance(part, dict) and part.get("type") == "tool_use" for part in content)

    def _add(self, info: JsonValue) -> None:
        if isinstance(info, dict):
            self.tokens_in += whole_number(info.get("tokensIn")) or 0
            self.tokens_out += whole_number(info.get("tokensOut")) or 0
            self.cache_writes += whole_number(info.get("cacheWrites")) or 0
            self.cache_reads += whole_number(info.get("cacheReads")) or 0
            self.cost += _price(info.get("cost"))


@dataclass
class ImportTaskPlan:
    """What will be written. The iterators read the source again, and note down what they have to change."""

    raw: RawTask
    task_id: TaskId
    converter: Converter
    findings: ImportFindings
    times: UiTimes
    folding: Folding
    marks: list[Mark]
    totals: _Totals
    ui_source: Callable[[ImportFindings], Iterator[JsonObject]]
    api_count: int
    may_work_in: MayWorkIn

    @classmethod
    def of(cls, raw: RawTask, converter: Converter, may_work_in: MayWorkIn) -> ImportTaskPlan | None:
        """A first look at a task; None if it has no messages at all."""
        findings, totals, events = raw.findings, _Totals(), FoldEvents()
        heads: list[ApiHead] = []
        seqs: list[int] = []
        for number, message in enumerate(raw.api(findings), 1):
            heads.append(ApiHead.of(message))
            seqs.append(whole_number(message.get("seq")) or number)
            totals.see_api(message)
        times: list[int | None] = []

        def see(index: int, message: JsonObject) -> None:
            times.append(message_ts(message))
            events.see(index, message)
            totals.see_ui(message)

        for index, message in enumerate(raw.ui(findings)):
            see(index, message)
        ui_source: Callable[[ImportFindings], Iterator[JsonObject]] = raw.ui
        if not times and heads:
            findings.add(
                raw.ui_path, "There are no messages for the screen; they were created from the model's messages."
            )
            ui_source = partial(_screen_messages, raw)
            for index, message in enumerate(ui_source(ImportFindings())):
                see(index, message)
        elif times and not heads:
            findings.add(raw.api_path, "There are no messages for the model, so it will not know this conversation.")
        if not times and not heads:
            return None
        ui_times = UiTimes(times)
        if ui_times.changed:
            reason = "Messages without a time, or out of order, were given a new time"
            findings.add(raw.ui_path, f"{reason} ({ui_times.changed}).", weight="note")
        folding = raw.fold(heads, events, ui_times)
        marks = [*folding.marks, *raw.own_marks(seqs)]
        return cls(
            raw, task_id_of(raw), converter, findings, ui_times, folding, marks, totals, ui_source,
            sum(seq is not None for seq in folding.seqs), may_work_in,
        )  # fmt: skip

    def ui(self) -> Iterator[ImportedMessage[ClineMessage]]:
        """The messages of the UI log."""
        for raw, ts in zip(self.ui_source(ImportFindings()), self.times.times, strict=False):
            yield self.converter.ui(raw, ts, self.raw.ui_path)

    def api(self) -> Iterator[ImportedMessage[ApiDraft]]:
        """The messages of the API log, without the markers that marks stand for."""
        for index, raw in enumerate(islice(self.raw.api(ImportFindings()), len(self.folding.seqs))):
            if self.folding.seqs[index] is None:
                continue
            brought = self.converter.api(raw, self.raw.api_path, tagged=not self.raw.tagged)
            condense_id = self.folding.condense_ids.get(index)
            if condense_id is not None:
                record = brought.record.model_copy(update={"condense_id": condense_id})
                brought = ImportedMessage(record, brought.images)
            yield brought

    def tools(self) -> Iterator[ToolDraft]:
        """The records of tools' runs."""
        drafts = (self.converter.tool(raw, self.raw.found.path) for raw in self.raw.tools())
        return (draft for draft in drafts if draft is not None)

    def summaries(self) -> Iterator[SummaryDraft]:
        """The records of summaries."""
        for raw in self.raw.summaries():
            fields = {name: whole_number(raw.get(name)) for name in ("start_seq", "end_seq")}
            tokens = {name: whole_number(raw.get(name)) or 0 for name in ("original_tokens", "summary_tokens")}
            with suppress(ValidationError):
                text = self.converter.text(str(raw.get("summary")))
                yield SummaryDraft.model_validate({**fields, **tokens, "summary": text})

    def new_task(self, user: str | None) -> NewTaskRecord:
        """What the task begins with."""
        item, raw = self.item(), self.raw
        config = self.converter.value(raw.config())
        assert isinstance(config, dict)
        # What it may do, and from where its cost counts, is decided here, and not by who wrote the file.
        config = {name: value for name, value in config.items() if name not in _DECIDED_HERE}
        began = self.times.times[0] if self.times.times else None
        origin: JsonObject = {"from": raw.source, "id": raw.found.source_id}
        if began is not None:
            with suppress(OverflowError, ValueError, OSError):
                origin["began"] = iso_time(datetime.fromtimestamp(began / 1000, tz=UTC))
        return NewTaskRecord(
            task_key=TaskKey(task_source=raw.source, task_id=raw.found.source_id),
            config={**config, IMPORTED: origin},
            user=user,
            parent_task_id=TaskId(item.parent_task_id) if item.parent_task_id else None,
            root_task_id=TaskId(item.root_task_id) if item.root_task_id else None,
            forked_from=TaskId(item.forked_from) if item.forked_from else None,
            workspace=item.workspace,
            notebook=item.notebook,
            mode=item.mode,
            task_id=self.task_id,
        )

    @property
    def left_folder(self) -> str | None:
        """The folder that the file names and that it may not choose: the task works where the server does that opens it."""
        named = self._named_folder
        if named is None:
            return None
        folder = self._folder()
        return named if folder is None or not self.may_work_in(folder) else None

    @property
    def _named_folder(self) -> str | None:
        said = self.raw.item()
        named = said.get("workspace") or said.get("cwdOnTaskInitialization")
        return named if isinstance(named, str) else None

    def _folder(self) -> Path | None:
        """Where that folder really is, so that a link in it cannot lead elsewhere later."""
        named = self._named_folder
        try:
            return Path(os.path.realpath(named)) if named is not None and os.path.isabs(named) else None
        except (OSError, ValueError):
            # A name that no folder can have.
            return None

    def item(self) -> HistoryItem:
        """The task's line in the history: what is said about it, and for the rest what its messages add up to."""
        said, totals = self.raw.item(), self.totals
        fields: dict[str, JsonValue] = {
            alias: said.get(alias) for alias in (info.alias or name for name, info in HistoryItem.model_fields.items())
        }
        for name in (
            "parentTaskId",
            "rootTaskId",
            "delegatedToId",
            "awaitingChildId",
            "completedByChildId",
            "forkedFrom",
        ):
            fields[name] = mapped_id(said.get(name))
        children = said.get("childIds")
        if isinstance(children, list):
            fields["childIds"] = [mapped for child in children if (mapped := mapped_id(child)) is not None]
        for name, value in (
            ("tokensIn", totals.tokens_in), ("tokensOut", totals.tokens_out),
            ("cacheWrites", totals.cache_writes or None), ("cacheReads", totals.cache_reads or None),
            ("ts", totals.last_ts or self.times.last or 1),
        ):  # fmt: skip
            number = whole_number(fields[name])
            fields[name] = value if number is None else number
        cost = said.get("totalCost")
        fields["totalCost"] = _price(cost) if isinstance(cost, (int, float)) else totals.cost
        folder = self._folder()
        fields["workspace"] = None if folder is None or self.left_folder is not None else str(folder)
        task = said.get("task") if isinstance(said.get("task"), str) else totals.first_text or ""
        fields["task"] = self.converter.text(str(task)[:_TITLE_CHARACTERS])
        for name in ("title", "completionResultSummary"):
            text = fields.get(name)
            fields[name] = self.converter.text(text) if isinstance(text, str) else None
        # Its number counted somewhere else, nobody stopped it here, no program goes on with it, and what it may do is decided here.
        fields.update(id=self.task_id, number=0, size=None, state=None, approvalPreset=None, externalAgent=None)
        item = _valid_item({name: value for name, value in fields.items() if value is not None})
        # What holds for a notebook is for the person's own conversations about it, and not for whatever names it.
        return item if item.notebook is None else item.model_copy(update={"approval_preset": "ask"})


def _valid_item(fields: dict[str, JsonValue]) -> HistoryItem:
    while True:
        try:
            return HistoryItem.model_validate(fields)
        except ValidationError as error:
            wrong = {str(detail["loc"][0]) for detail in error.errors(include_url=False)}
            fields = {name: value for name, value in fields.items() if name not in wrong}


def _price(value: JsonValue) -> float:
    good = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value) and value >= 0
    return float(value) if good and isinstance(value, (int, float)) else 0.0


def _screen_messages(raw: RawTask, findings: ImportFindings) -> Iterator[JsonObject]:
    """What a person would have seen of a conversation of which only the model's side is there."""
    first = True
    for message in raw.api(findings):
        if message.get("isSummary") or message.get("isTruncationMarker") or message.get("role") in ("system", "tool"):
            continue
        content = message.get("content")
        parts: list[JsonValue] = content if isinstance(content, list) else [content]
        texts = [part.get("text") if isinstance(part, dict) and part.get("type") == "text" else part for part in parts]
        said = "\n\n".join(text for text in texts if isinstance(text, str))
        shown = without_frames(said)
        if shown:
            is_person = message.get("role") == "user" and not first
            yield {
                "ts": message.get("ts"),
                "type": "say",
                "say": "user_feedback" if is_person else "text",
                "text": shown,
            }
            first = False
