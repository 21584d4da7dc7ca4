"""Looks a database of tasks over. What is mended is what a server would see to at its start; no row of a log changes.

Rows that cannot be read stay where they are and are passed over, so they are notes: nothing is left to be done about them.
"""

from __future__ import annotations

import hashlib
from functools import partial
from pathlib import Path

from pydantic import ValidationError

from ...append_log.log_tail import is_record
from ...errors import ArtifactStoreUnavailable, HdspAgentError, UnknownTask
from ...messages import TaskId
from .._records import StoredTaskState, TaskMetadata
from .._task_store import TaskStore
from .._task_streams import LINE_FORMS
from ..tables._sql import STREAM_TABLES, SqlConnection
from ..tables._table_store import TableStore
from ..tables._task_rows import TaskRow
from ._doctor_findings import FindingKind, Report
from ._doctor_task import REFERENCE
from ._long_work import LongWork, in_thread
from ._work_progress import Progress

__all__ = ["examine_database"]


async def examine_database(store: TaskStore, report: Report, *, repair: bool, progress: Progress | None) -> int:
    """Look at all tasks of a database; how many there are. Not started: a start already mends what a crash left behind."""
    assert isinstance(store, TableStore)
    examination = _DatabaseExamination(store, report, repair=repair)
    try:
        tasks = await in_thread(examination.run, progress)
        await _examine_objects(store, examination.path, report)
        return tasks
    except HdspAgentError as error:
        report.add("database_damaged", examination.path, str(error))
        return 0
    finally:
        await store.stop()


async def _examine_objects(store: TaskStore, path: Path, report: Report) -> None:
    """Objects that no conversation names."""
    upkeep = store.artifact_upkeep
    if upkeep is None or any(finding.kind == "artifact_store_away" for finding in report.findings):
        return
    try:
        unnamed = await upkeep.unnamed()
    except ArtifactStoreUnavailable as error:
        report.add("artifact_store_away", path, error.message)
        return
    if unnamed:
        report.add(
            "unused_objects", path,
            f"Objects that no conversation refers to: {len(unnamed)}, {sum(each.size for each in unnamed):,} bytes. To delete "
            "them, run hdsp-agent clean.",
            note=True,
        )  # fmt: skip


class _DatabaseExamination:
    def __init__(self, store: TableStore, report: Report, *, repair: bool) -> None:
        self._database = store.database
        self._writer = store.writer
        self._rows = store.rows
        self._artifact_rows = store.artifacts
        self.path = Path(store.database.name)
        self._report = report
        self._repair = repair
        self._store_is_away = False

    def run(self, work: LongWork) -> int:
        problems = self._database.read(self._database.problems)
        for problem in problems:
            self._report.add("database_damaged", self.path, f"{problem}. Restore it from a backup.")
        if problems:
            return 0
        self._left_behind()
        ids = self._database.read(lambda connection: self._rows.ids(connection, None))
        for done, task_id in enumerate(ids):
            work.tell("examine", done, len(ids))
            try:
                self._database.read(partial(self._task, task_id=task_id))
            except UnknownTask:
                # Deleted meanwhile.
                continue
            if self._is_damaged(task_id):
                self._mend_records(task_id)
        work.tell("examine", len(ids), len(ids))
        return len(ids)

    def _left_behind(self) -> None:
        """What a monitor would see to."""
        for task_id, lock in self._database.read(self._rows.left_behind):
            settle = partial(self._settle, task_id)
            if lock is not None:
                self._report.mend(
                    "dead_task", self.path, "The process that worked on it has stopped.",
                    settle if self._repair else None, task_id=task_id,
                )  # fmt: skip
            else:
                self._report.mend(
                    "stopped_task", self.path,
                    "No process works on it. The next start of the server pauses it, and it can be resumed.",
                    settle if self._repair else None, task_id=task_id, note=not self._repair,
                )  # fmt: skip

    def _settle(self, task_id: TaskId) -> None:
        self._writer.submit(partial(self._rows.recover, task_id=task_id), durable=True).result()

    def _task(self, connection: SqlConnection, task_id: TaskId) -> None:
        dialect = self._database.dialect
        row = self._rows.find(connection, task_id)
        referenced: set[str] = set()
        for stream, (table, _) in STREAM_TABLES.items():
            query = f"SELECT id, {dialect.as_bytes.format('record')} FROM {table} WHERE task = ? ORDER BY id"  # noqa: S608 -- our own names
            rows = dialect.rows(connection, query, (row.number,))
            for number, line in rows:
                referenced.update(match.decode() for match in REFERENCE.findall(line))
                try:
                    LINE_FORMS[stream].parse(line)
                except (ValueError, RecursionError):
                    form = "has the format of another version" if is_record(line) else "cannot be read"
                    self._add(
                        "corrupt_line", f"Row {number} of {table} {form}. It stays and is skipped.", row, note=True
                    )
        self._artifacts(connection, row, referenced)
        kept = connection.execute("SELECT what FROM set_aside WHERE task = ? ORDER BY id", (row.number,))
        for (what,) in kept:
            self._add("kept_aside", f"{what} was damaged and set aside.", row, note=True)

    def _artifacts(self, connection: SqlConnection, row: TaskRow, referenced: set[str]) -> None:
        if self._store_is_away:
            # Each attempt would wait for it again.
            return
        there: set[str] = set()
        try:
            for name, data in self._artifact_rows.of_task(connection, row.number):
                there.add(name)
                if data is None:
                    self._add("artifact_missing", f"Artifact {name} is missing from the object store.", row)
                elif hashlib.sha256(data).hexdigest() != name:
                    self._add("artifact_damaged", f"The content of artifact {name} does not match its name.", row)
        except ArtifactStoreUnavailable as error:
            self._store_is_away = True
            self._report.add("artifact_store_away", self.path, error.message)
            return
        for name in sorted(referenced - there):
            self._add("artifact_missing", f"A message refers to artifact {name}, which is missing.", row)

    def _is_damaged(self, task_id: TaskId) -> bool:
        row = self._database.read(lambda connection: self._rows.find(connection, task_id))
        return not (_is_readable(TaskMetadata, row.metadata) and _is_readable(StoredTaskState, row.state))

    def _mend_records(self, task_id: TaskId) -> None:
        def mend() -> None:
            self._writer.submit(partial(self._rows.mend, task_id=task_id), durable=True).result()

        self._report.mend(
            "damaged_record", self.path, "Its title or state cannot be read.",
            mend if self._repair else None, task_id=task_id,
        )  # fmt: skip

    def _add(self, kind: FindingKind, message: str, row: TaskRow, *, note: bool = False) -> None:
        self._report.add(kind, self.path, message, task_id=row.task_id, note=note)


def _is_readable(kind: type[TaskMetadata | StoredTaskState], data: bytes) -> bool:
    try:
        kind.model_validate_json(data)
    except ValidationError:
        return False
    return True
