"""Making one memory of what single conversations taught: the files of one person, one run at a time."""

from __future__ import annotations

import asyncio
import logging
import secrets
import shutil
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final, Literal

from .extracted_files import Extracted, ExtractedFiles
from .job_table import WriteIfLeased
from .memory_folder import HANDBOOK, SUMMARY, MemoryFolder
from .model_port import NOT_AS_TOLD, ConsolidationBrief, ConsolidationFailed, Consolidator
from .publication import InvalidConsolidation, Publication, checked_files, told_codes
from .rollout_files import rollout_file, selected_inputs, sync_rollout_files
from .run_log import RunCost
from .sources import sources_by_code

__all__ = ["Consolidation"]

logger = logging.getLogger(__name__)

_STAGING: Final = ".staging-"


class Consolidation:
    """Consolidates for one person. Whoever calls it holds their lease."""

    def __init__(self, folder: MemoryFolder, consolidator: Consolidator, write_if_leased: WriteIfLeased) -> None:
        self._folder = folder
        self._write_if_leased = write_if_leased
        self._files = ExtractedFiles(folder)
        self._publication = Publication(folder)
        self._consolidator = consolidator
        self.used = RunCost()
        """What it cost so far, also if it does not come to its end."""

    async def run(self, *, notes: str, now: float, most_cost: float | None) -> tuple[RunCost, int]:
        """Bring the files up to date: what it cost, and the newest time of what was taken in, in milliseconds.

        Raises ConsolidationFailed, LeaseLost, StorageUnavailable, and what the model raises; then what was in force stays.
        """
        at = datetime.fromtimestamp(now, tz=UTC)
        inputs = await self._write_if_leased(partial(self._inputs, int(now * 1000)))
        newest = max((each.source_updated_at for each in inputs), default=0)
        files = {rollout_file(each): each.source_updated_at for each in inputs}
        if not inputs:
            await self._write_if_leased(partial(self._publication.clear, now=at))
            return RunCost(), newest
        state = await asyncio.to_thread(self._publication.state)
        has_files = await asyncio.to_thread((self._folder.root / HANDBOOK).is_file)
        if has_files and state.inputs == files:
            return RunCost(), newest
        staged = await asyncio.to_thread(self._stage)
        try:
            brief = await asyncio.to_thread(
                self._brief, staged, inputs, files, state.inputs if has_files else {}, notes, most_cost
            )
            used = self.used = await self._consolidator.consolidate(staged, brief)
            publish = partial(self._publication.publish, staged, files, frozenset(brief.codes), now=at)
            try:
                await self._write_if_leased(publish)
            except InvalidConsolidation as error:
                # What is wrong is worded for the model.
                logger.warning("What was learned could not be published: %s", error)
                raise ConsolidationFailed(NOT_AS_TOLD, used) from None
            return used, newest
        finally:
            await asyncio.to_thread(shutil.rmtree, staged.root, ignore_errors=True)

    # What follows blocks.

    def _inputs(self, now: int) -> list[Extracted]:
        # What every conversation is told stays, however old it is.
        told = told_codes(self._folder.text(SUMMARY))
        inputs = selected_inputs(self._files.all(), now=now, told=told)
        sync_rollout_files(self._folder, inputs)
        return inputs

    def _stage(self) -> MemoryFolder:
        # Those of whoever was killed; the lease says that nobody else works here.
        for left in self._folder.root.glob(f"{_STAGING}*"):
            shutil.rmtree(left, ignore_errors=True)
        return self._publication.stage(Path(self._folder.root, f"{_STAGING}{secrets.token_hex(4)}"))

    def _brief(
        self,
        staged: MemoryFolder,
        inputs: list[Extracted],
        files: Mapping[str, int],
        before: Mapping[str, int],
        notes: str,
        most_cost: float | None,
    ) -> ConsolidationBrief:
        codes = {code: rollout_file(each) for code, each in sources_by_code(inputs).items()}

        def problem() -> str | None:
            try:
                checked_files(staged, files, frozenset(codes))
            except InvalidConsolidation as error:
                return str(error)
            return None

        return ConsolidationBrief(
            mode="update" if before else "init",
            changed=_changes(before, files),
            codes=codes,
            edits={name: edits for name, edits in self._publication.edits().items() if not edits.is_empty},
            notes=notes,
            problem=problem,
            most_cost=most_cost,
            spent=self._spent,
        )

    def _spent(self, used: RunCost) -> None:
        self.used = used


def _changes(before: Mapping[str, int], now: Mapping[str, int]) -> dict[str, Literal["new", "changed", "gone"]]:
    changed: dict[str, Literal["new", "changed", "gone"]] = {}
    for name, updated_at in now.items():
        if name not in before:
            changed[name] = "new"
        elif before[name] != updated_at:
            changed[name] = "changed"
    return {**changed, **dict.fromkeys((name for name in before if name not in now), "gone")}
