"""Differences of checkpoints, with the cells they kept in place of files that had not been saved."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from ...errors import HdspAgentError, NotFound
from ..files.async_file_checkpoints import AsyncFileCheckpoints
from ..files.diff import CheckpointDiff, FileDiff
from ..files.notebook_diff import NotebookDiff, notebook_diff
from ..files.records import CheckpointRecord, KeptNotebook
from ._notebook_states import NotebookState, NotebookStates, state_in_file
from ._paths import Paths
from ._timeline_limits import TimelineLimits

__all__ = ["CheckpointDiffs"]


class CheckpointDiffs:
    """Compares notebooks as checkpoints kept them."""

    def __init__(
        self, checkpoints: AsyncFileCheckpoints, states: NotebookStates, paths: Paths, limits: TimelineLimits
    ) -> None:
        self._checkpoints = checkpoints
        self._states = states
        self._paths = paths
        self._limits = limits

    async def with_cells(
        self, diff: CheckpointDiff, only: Sequence[str] | None, *, with_content: bool
    ) -> CheckpointDiff:
        """The difference; notebooks of which one side had unsaved changes are compared by their cells."""
        new = await self._checkpoints.checkpoint(diff.new)
        old = await self._checkpoints.checkpoint(diff.old) if diff.old is not None else None
        unsaved = {kept.path for record in (old, new) if record is not None for kept in record.notebooks if kept.dirty}
        others = _kept_otherwise(old, new)
        files = {file.path: file for file in diff.files}
        places = await asyncio.to_thread(self._paths.all_in_workspace, sorted(unsaved | others))
        for path, name in places.items():
            if only is not None and name not in only and path not in only:
                continue
            # A tab tells of a change before it tells that it is not saved: then only the cells that were kept differ.
            by_cells = path in others and name not in files
            if path not in unsaved and not by_cells:
                continue
            before = await self._side(old, path, name, by_cells=by_cells)
            after = await self._side(new, path, name, by_cells=by_cells)
            if after is None or old is None or before is None:
                continue
            found = await asyncio.to_thread(_compared, before, after)
            if found is None or not (found.cells or found.metadata_changed):
                files.pop(name, None)
                continue
            known = files.get(name) or FileDiff(path=name, change="modified", kind="notebook")
            update = {"kind": "notebook", "hunks": (), "notebook": found if with_content else None}
            files[name] = known.model_copy(update=update)
        return diff.model_copy(update={"files": tuple(files[name] for name in sorted(files))})

    async def _side(
        self, record: CheckpointRecord | None, path: str, name: str, *, by_cells: bool
    ) -> NotebookState | None:
        if record is None:
            return None
        kept = _kept(record, path)
        if kept is not None and (kept.dirty or by_cells):
            return await asyncio.to_thread(self._states.find, kept.state)
        try:
            data = await self._checkpoints.content(record.id, name)
            return await asyncio.to_thread(state_in_file, data, path, self._limits)
        except NotFound:
            return None
        except HdspAgentError:
            # It is no notebook any more; the comparison of files says what it is.
            return None


def _compared(old: NotebookState, new: NotebookState) -> NotebookDiff | None:
    return notebook_diff(old.to_bytes(), new.to_bytes())


def _kept_otherwise(old: CheckpointRecord | None, new: CheckpointRecord) -> set[str]:
    """Notebooks of which both kept cells, and not the same."""
    before = {kept.path: kept.state for kept in old.notebooks} if old is not None else {}
    return {kept.path for kept in new.notebooks if before.get(kept.path, kept.state) != kept.state}


def _kept(record: CheckpointRecord, path: str) -> KeptNotebook | None:
    return next((one for one in record.notebooks if one.path == path), None)
