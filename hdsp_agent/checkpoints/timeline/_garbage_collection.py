"""What the states of notebooks and variables take, and dropping those no checkpoint needs, with reports. Everything here blocks."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final

from ...errors import HdspAgentError
from ..files.records import OperationRecord, RestoredParts
from ..files.undo import restores_in_force
from ..variables import ManifestId, VariableManifest, VariableStore
from ._notebook_states import NotebookStates, StateId
from ._timeline_limits import TimelineLimits
from ._verification_reports import VerificationReports

__all__ = ["StateCollector"]

_log = logging.getLogger(__name__)

_PINNED: Final = 20
"""The newest cells, which no quota drops."""
_PINNED_VARIABLES: Final = 2
"""The same for variables, which take far more."""
_MOST_PARENTS: Final = 16
"""So far back from each kept manifest its parents' runs stay: they know which cells ran."""


class StateCollector:
    """Called with the operations that stay, under the store's lock."""

    def __init__(
        self,
        states: NotebookStates,
        variables: VariableStore | None,
        reports: VerificationReports,
        limits: TimelineLimits,
    ) -> None:
        self._states = states
        self._reports = reports
        self._variables = variables
        self._limits = limits

    def __call__(self, operations: Sequence[OperationRecord]) -> None:
        try:
            spared = self._limits.spared_seconds
            pinned, others = _states_in(operations)
            self._states.collect(pinned, others, most_bytes=self._limits.notebooks_bytes, spared_seconds=spared)
            if self._variables is not None:
                keep = self._kept_manifests(self._variables, operations)
                # The next one's parent is among the newest.
                ends = [*keep, *self._variables.manifests()[:_MOST_PARENTS]]
                runs = {*ends, *(parent for name in ends for parent in self._parents(self._variables, name, keep))}
                self._variables.collect(keep, runs, spared_seconds=spared)
            self._reports.collect({done.checkpoint.id for done in operations if done.checkpoint is not None})
        except (HdspAgentError, OSError) as error:
            # The files are within their limits; the next time tries again.
            _log.warning("What no checkpoint needs any more could not be deleted: %s", error)

    def is_over(self) -> bool:
        """Whether they take more than they may."""
        limits = self._limits
        return self._states.size() > limits.notebooks_bytes or self.size_of_variables() > limits.variables_bytes

    def size_of_variables(self) -> int:
        """The bytes they take."""
        return self._variables.size() if self._variables is not None else 0

    def _kept_manifests(self, store: VariableStore, operations: Sequence[OperationRecord]) -> set[ManifestId]:
        """The newest first, until they take too much; what an undo needs, and what is being made, in any case."""
        undo, newest = _manifests_in(operations)
        keep: set[ManifestId] = set()
        pieces: set[str] = set()
        size = 0
        for number, name in enumerate([*undo, *newest]):
            manifest = self._load(store, name)
            if manifest is None or name in keep:
                continue
            fresh = {key: part.size / len(part.keys) for group in manifest.groups for part in group.parts()
                     for key in part.keys if key not in pieces}  # fmt: skip
            size += int(sum(fresh.values()))
            if number >= len(undo) + _PINNED_VARIABLES and size > self._limits.variables_bytes:
                break
            keep.add(name)
            pieces.update(fresh)
        # A checkpoint that is recorded is not being made any more.
        young = set(store.manifests(younger_than=self._limits.spared_seconds)).difference(newest)
        return keep.union(name for name in young if self._load(store, name) is not None)

    def _parents(self, store: VariableStore, name: ManifestId, known: set[ManifestId]) -> list[ManifestId]:
        """Up to the next that is kept anyway."""
        found: list[ManifestId] = []
        manifest = self._load(store, name)
        while manifest is not None and manifest.parent is not None and len(found) < _MOST_PARENTS:
            if manifest.parent in known:
                break
            manifest = self._load(store, manifest.parent)
            if manifest is not None:
                found.append(manifest.id)
        return found

    def _load(self, store: VariableStore, name: ManifestId) -> VariableManifest | None:
        try:
            return store.load(name)
        except HdspAgentError:
            # Dropped before, or not ours.
            return None


def _states_in(operations: Sequence[OperationRecord]) -> tuple[set[StateId], list[StateId]]:
    """Those that the way back and the newest checkpoints need, and those of other checkpoints, the newest first."""
    restored = [one for parts in _parts_needed(operations) for one in parts.notebooks]
    pinned = {name for one in restored for name in (one.before, one.after) if name is not None}
    records = [done.checkpoint for done in reversed(operations) if done.checkpoint is not None]
    pinned.update(kept.state for record in records[:_PINNED] for kept in record.notebooks)
    return pinned, [kept.state for record in records[_PINNED:] for kept in record.notebooks]


def _parts_needed(operations: Sequence[OperationRecord]) -> list[RestoredParts]:
    """Of restores that can still be taken back, or wait for somebody to decide about them."""
    open_ones = [done for done in operations if done.status == "begun"]
    return [done.parts for done in (*restores_in_force(operations).values(), *open_ones) if done.parts is not None]


def _manifests_in(operations: Sequence[OperationRecord]) -> tuple[list[ManifestId], list[ManifestId]]:
    """Those that the way back needs, and those of checkpoints, the newest first."""
    back = [one.before for parts in _parts_needed(operations) for one in parts.variables]
    newest = [
        kept.manifest
        for done in reversed(operations)
        if done.checkpoint is not None
        for kept in done.checkpoint.variables
    ]
    return back, newest
