"""How many cells and variables are others than when they were kept before."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from ...errors import HdspAgentError
from ..files.async_file_checkpoints import AsyncFileCheckpoints
from ..files.file_checkpoints import NOT_COUNTED, Counted
from ..files.records import Changed, CheckpointId, CheckpointRecord, KeptNotebook, KeptVariables
from ..variables import ManifestId, VariableManifest, VariableStore
from ._notebook_states import NotebookStates, StateId
from ._paths import Paths

__all__ = ["ChangeCounts"]

_MOST_REMEMBERED: Final = 32


class ChangeCounts:
    """Compares what is kept now with what was kept of the same notebooks last; what was never kept is not counted."""

    def __init__(
        self, checkpoints: AsyncFileCheckpoints, states: NotebookStates, variables: VariableStore | None, paths: Paths
    ) -> None:
        self._checkpoints = checkpoints
        self._states = states
        self._variables = variables
        self._paths = paths
        self._values: OrderedDict[ManifestId, Mapping[str, object]] = OrderedDict()

    async def since_last(self, notebooks: Sequence[KeptNotebook], variables: Sequence[KeptVariables]) -> Counted:
        """What is about to be recorded, against what is."""
        if not notebooks and not variables:
            return NOT_COUNTED
        records = await self._checkpoints.list()
        return await asyncio.to_thread(self._count, notebooks, variables, records)

    async def between(self, earlier: CheckpointId, checkpoint: CheckpointRecord) -> Changed | None:
        """What changed from one checkpoint to another; None if the earlier one is not kept any more."""
        records = await self._checkpoints.list()
        at = next((place for place, record in enumerate(records) if record.id == earlier), None)
        if at is None:
            return None
        counted = await asyncio.to_thread(self._count, checkpoint.notebooks, checkpoint.variables, records[at:])
        return await self._checkpoints.changed(earlier, checkpoint.id, counted)

    def _count(
        self,
        notebooks: Iterable[KeptNotebook],
        variables: Iterable[KeptVariables],
        records: Sequence[CheckpointRecord],
    ) -> Counted:
        cells = {one.path: self._cells(_last_state(one.path, records), one.state) for one in notebooks}
        values = [self._names(_last_values(one.path, records), one) for one in variables]
        known = [path for path, count in cells.items() if count is not None]
        return Counted(
            cells=sum(count for count in cells.values() if count is not None),
            variables=sum(values),
            notebooks=tuple(self._paths.all_in_workspace(known).values()),
        )

    def _cells(self, before: StateId | None, after: StateId) -> int | None:
        """None if one of the two is not kept any more."""
        if before == after:
            return 0
        old, new = self._states.digests(before), self._states.digests(after)
        if old is None or new is None:
            return None
        came, went = new.keys() - old.keys(), old.keys() - new.keys()
        others = sum(old[cell] != new[cell] for cell in old.keys() & new.keys())
        # Without ids of their own, cells go by what they say: one that was changed came and went.
        return others + (len(came) + len(went) if new.has_ids else max(len(came), len(went)))

    def _names(self, before: KeptVariables | None, after: KeptVariables) -> int:
        if before is None or (before.state and before.state == after.state):
            return 0
        old, new = self._digests(before.manifest), self._digests(after.manifest)
        if old is None or new is None:
            return 0
        return sum(old.get(name) != new.get(name) for name in old.keys() | new.keys())

    def _digests(self, name: ManifestId) -> Mapping[str, object] | None:
        if self._variables is None:
            return None
        found = self._values.get(name)
        if found is None:
            try:
                manifest = self._variables.load(name)
            except HdspAgentError:
                # Dropped, or not ours.
                return None
            if manifest.runs_only:
                return None
            found = self._values[name] = _values_in(manifest)
            while len(self._values) > _MOST_REMEMBERED:
                self._values.popitem(last=False)
        return found


def _last_state(path: str, records: Iterable[CheckpointRecord]) -> StateId | None:
    return next((kept.state for record in records for kept in record.notebooks if kept.path == path), None)


def _last_values(path: str, records: Iterable[CheckpointRecord]) -> KeptVariables | None:
    return next((kept for record in records for kept in record.variables if kept.path == path), None)


def _values_in(manifest: VariableManifest) -> Mapping[str, object]:
    """What tells each variable's values apart; of what cannot be saved, its object."""
    saved = {name: group.digest for group in manifest.groups for name in group.names}
    return {
        name: saved.get(name) or (entry.status, entry.type, entry.number)
        for name, entry in manifest.variables.items()
        if entry.status != "module"
    }
