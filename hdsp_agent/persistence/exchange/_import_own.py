"""Reading tasks of the ``contexts`` layout, with or without what we added to it, and of our own JSON export.

Everything here blocks.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from base64 import b64decode
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from pydantic import JsonValue, ValidationError

from ..._iso_time import parse_iso_time
from ...append_log.jsonl import JsonlLog, LineForm
from ...messages import JsonObject
from .._records import STREAM_FILES, Stream
from .._task_streams import LINE_FORMS
from ..files._artifacts import ARTIFACT_NAME
from ..files._task_folders import METADATA, STATE
from ..marks._marks import CondenseMark, Mark, RewindMark, TruncateMark, UndoMark, UnknownMark, parse_mark
from ._import_json import ImportFindings, is_ordinary_file, members, read_object
from ._import_messages import is_api_message, is_ui_message, whole_number
from ._import_raw import RawTask
from ._import_sources import ImportableTask

__all__ = ["ContextsTask", "ExportedTask"]

_GREATEST: Final = 2**62
_PAGE: Final = 200


class _Numbered(RawTask):
    """A task with marks, or with the summaries that stand for them in the plain layout."""

    def own_marks(self, seqs: Sequence[int]) -> list[Mark]:
        """The marks, renumbered if the log had gaps."""
        marks = [mark for mark in map(self._mark, self.raw_marks()) if mark is not None]
        if list(seqs) == list(range(1, len(seqs) + 1)):
            return marks
        return [_renumbered(mark, seqs) for mark in marks]

    @abstractmethod
    def raw_marks(self) -> Iterator[JsonObject]:
        """The marks as they were written."""

    def _mark(self, raw: JsonObject) -> Mark | None:
        try:
            mark = parse_mark(json.dumps(raw))
        except (ValueError, ValidationError):
            self.findings.add(self.found.path, "A mark is not valid and was left out.")
            return None
        if isinstance(mark, UnknownMark):
            self.findings.add(self.found.path, f"A mark of the unknown kind {mark.kind!r} was left out.")
            return None
        return mark


class ContextsTask(_Numbered):
    """A folder of the ``contexts`` layout, flat or below ``running`` and ``completed``, with or without what we added to it."""

    def __init__(self, found: ImportableTask, findings: ImportFindings) -> None:
        super().__init__(found, findings)
        self._metadata = read_object(found.path / METADATA, findings) or {}
        self._state = read_object(found.path / STATE, findings) or {}

    @property
    def source(self) -> str:
        key = self._metadata.get("task_key")
        source = key.get("task_source") if isinstance(key, dict) else None
        return source if isinstance(source, str) else "contexts"

    @property
    def ui_path(self) -> Path:
        return self.found.path / STREAM_FILES["ui"]

    @property
    def api_path(self) -> Path:
        return self.found.path / STREAM_FILES["api"]

    def ui(self, findings: ImportFindings) -> Iterator[JsonObject]:
        return (raw for raw in self._lines("ui", findings) if is_ui_message(raw))

    def api(self, findings: ImportFindings) -> Iterator[JsonObject]:
        """The messages of the API history, and after them the summaries that are only in a file of their own."""
        for raw in self._lines("api", findings):
            if is_api_message(raw):
                yield {"ts": _milliseconds(raw.get("timestamp")), **raw}
        if self._is_plain():
            last, told = self._last_seq(), ""
            for number, summary in enumerate(self.summaries(), 1):
                told = f"{told}\n\n{summary.get('summary')}".strip()
                yield {
                    "seq": last + number, "role": "user", "content": told, "isSummary": True,
                    "condenseId": f"summary-{number}", "ts": _milliseconds(summary.get("created_at")),
                }  # fmt: skip

    def item(self) -> JsonObject:
        """What the task's two files say."""
        own = self._state.get("history_item")
        item: JsonObject = dict(own) if isinstance(own, dict) else {}
        item.setdefault("id", self.found.source_id)
        for name, key in (("parentTaskId", "parent_task_id"), ("rootTaskId", "root_task_id"), ("mode", "mode")):
            item.setdefault(name, self._metadata.get(key))
        item.setdefault("workspace", self._metadata.get("workspace"))
        item.setdefault("ts", _milliseconds(self._state.get("completed_at") or self._metadata.get("created_at")))
        item.setdefault("tokensIn", self._state.get("total_tokens_used"))
        return item

    def config(self) -> JsonObject:
        """What the task was set up with."""
        config = self._metadata.get("config")
        return dict(config) if isinstance(config, dict) else {}

    def tools(self) -> Iterator[JsonObject]:
        return self._lines("tools", self.findings)

    def summaries(self) -> Iterator[JsonObject]:
        return self._lines("summaries", self.findings)

    def artifacts(self) -> Iterator[bytes]:
        folder = self.found.path / "artifacts"
        for path in sorted(folder.iterdir()) if folder.is_dir() else ():
            if is_ordinary_file(path) and ARTIFACT_NAME.fullmatch(path.name):
                yield path.read_bytes()

    def raw_marks(self) -> Iterator[JsonObject]:
        """The marks; in the plain layout each summary stands for what it names."""
        if not self._is_plain():
            yield from self._lines("marks", self.findings)
            return
        last = self._last_seq()
        covers: list[tuple[int, int]] = []
        for number, summary in enumerate(self.summaries(), 1):
            first, end = (whole_number(summary.get(name), at_least=1) or 1 for name in ("start_seq", "end_seq"))
            if first <= min(end, last):
                covers.append((max(first, covers[-1][1] + 1 if covers else 1), min(end, last)))
            covers = [span for span in covers if span[0] <= span[1]]
            yield {
                "kind": "condense", "id": f"summary-{number}", "ts": number, "uiEnd": 0, "apiEnd": last,
                "condenseId": f"summary-{number}", "summarySeq": last + number, "covers": [[*span] for span in covers],
                "after": covers[-1][1] if covers else 0,
                "eventTs": (_milliseconds(summary.get("created_at")) or number) * 1_000 + number,
            }  # fmt: skip

    def _is_plain(self) -> bool:
        path = self.found.path / STREAM_FILES["marks"]
        return not path.exists() and not path.with_name(f"{path.name}.gz").exists()

    def _last_seq(self) -> int:
        newest = JsonlLog(lambda: [self.api_path], _raw_form("api"), lambda path, line: None).newest(1)
        return newest[-1].key if newest else 0

    def _lines(self, stream: Stream, findings: ImportFindings) -> Iterator[JsonObject]:
        path = self.found.path / STREAM_FILES[stream]
        log = JsonlLog(
            lambda: [path],
            _raw_form(stream),
            lambda where, line: findings.add(
                where, f"A line is {line.damage} and was left out.", place=f"byte {line.offset}"
            ),
        )
        after = -1
        while page := log.between(after + 1, _GREATEST, _PAGE, newest=False):
            for entry in page:
                yield entry.record
            after = page[-1].key


class ExportedTask(_Numbered):
    """A JSON file that was exported from here."""

    def __init__(self, found: ImportableTask, findings: ImportFindings) -> None:
        super().__init__(found, findings)
        self._heads: dict[str, JsonValue] = {}
        for name, value in members(found.path, ImportFindings()):
            if name in STREAM_FILES or name == "artifacts":
                break
            self._heads[name] = value

    @property
    def source(self) -> str:
        return "hdsp-agent"

    @property
    def version(self) -> int:
        """Of which version the file is."""
        return whole_number(self._heads.get("version")) or 0

    def ui(self, findings: ImportFindings) -> Iterator[JsonObject]:
        return (raw for raw in self._section("ui", findings) if is_ui_message(raw))

    def api(self, findings: ImportFindings) -> Iterator[JsonObject]:
        return (raw for raw in self._section("api", findings) if is_api_message(raw))

    def item(self) -> JsonObject:
        item = self._heads.get("historyItem")
        return dict(item) if isinstance(item, dict) else {}

    def config(self) -> JsonObject:
        """What the task was set up with."""
        metadata = self._heads.get("metadata")
        config = metadata.get("config") if isinstance(metadata, dict) else None
        return dict(config) if isinstance(config, dict) else {}

    def tools(self) -> Iterator[JsonObject]:
        return self._section("tools", ImportFindings())

    def summaries(self) -> Iterator[JsonObject]:
        return self._section("summaries", ImportFindings())

    def artifacts(self) -> Iterator[bytes]:
        for artifact in self._section("artifacts", ImportFindings()):
            if isinstance(data := artifact.get("data"), str):
                yield b64decode(data)

    def raw_marks(self) -> Iterator[JsonObject]:
        return self._section("marks", ImportFindings())

    def _section(self, section: str, findings: ImportFindings) -> Iterator[JsonObject]:
        reached = False
        for name, value in members(self.found.path, findings):
            if name == section and isinstance(value, dict):
                reached = True
                yield value
            elif reached and name != section:
                return


def _raw_form(stream: Stream) -> LineForm[JsonObject]:
    form = LINE_FORMS[stream]

    def parse(line: bytes) -> JsonObject:
        value = json.loads(line)
        if isinstance(value, dict):
            value.pop("replaces", None)
            return value
        raise ValueError("it contains no object")

    return LineForm(form.key, parse, latest_wins=form.latest_wins)


def _milliseconds(text: JsonValue) -> int | None:
    time = parse_iso_time(text) if isinstance(text, str) else None
    return None if time is None else int(time.timestamp() * 1000)


def _renumbered(mark: Mark, seqs: Sequence[int]) -> Mark:
    def at(seq: int) -> int:
        return bisect_left(seqs, seq) + 1

    def until(seq: int) -> int:
        return bisect_right(seqs, seq)

    def spans(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
        return [span for span in ((at(first), until(last)) for first, last in ranges) if span[0] <= span[1]]

    ends = {"api_end": until(mark.api_end)}
    match mark:
        case CondenseMark():
            changed = {"summary_seq": at(mark.summary_seq), "covers": spans(mark.covers), "after": until(mark.after)}
        case TruncateMark():
            changed = {"hides": spans(mark.hides), "before": at(mark.before)}
        case RewindMark():
            changed = {"api_hides": spans(mark.api_hides)}
        case UndoMark():
            changed = {}
    return mark.model_copy(update={**ends, **changed})
