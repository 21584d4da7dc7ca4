"""The dimensions of a task's notebook: its cells, its kernel's variables, what the person ran, and what is open."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from ..._timeouts import wait_at_most
from ...config import GlobalSettings, OperatorPolicy
from ...errors import HdspAgentError
from ...notebooks import Notebooks
from ...notebooks.kernels import InspectionLimits, KernelInfo, Variable, VariablesReport
from ...tools import NotebookSummary, PathPolicy, ToolFailed, notebook_digest
from ...tools.compound import variable_words
from .sections import Section, SectionEntry

__all__ = ["NotebookSections", "open_files_part", "reads_at_once"]

_LIMITS: Final = InspectionLimits(seconds=1.0, each_seconds=0.1, head_characters=100, rows=1, columns=15, items=4)
_PATIENCE_SECONDS: Final = 4.0
_MOST_NAMES: Final = 1000
"""As many names a kernel tells of variables that it did not look at; there may be more."""


class NotebookSections:
    """Looks at one notebook. A kernel in which nothing has run since is not asked again, even if it gave no answer."""

    def __init__(self, notebooks: Notebooks, path: str) -> None:
        self._notebooks = notebooks
        self._path = path
        self._seen: tuple[tuple[str, str, int, int, int], VariablesReport | None] | None = None
        self.inspections = 0
        """How often the kernel was asked."""

    async def look(self, paths: PathPolicy, *, values: bool) -> Sequence[Section]:
        """How it stands; empty dimensions if it is kept from the agent.

        ``values`` lets columns and short values of variables be told, as their tool does after it was approved.
        """
        digest = await notebook_digest(self._notebooks, self._path, paths)
        if digest is None:
            self._seen = None
            return [Section(name, ()) for name in ("notebook", "outline", "variables")]
        about = Section("notebook", (SectionEntry("notebook", digest.about),))
        if not digest.is_seen:
            return [about]
        outline = tuple(SectionEntry(cell_id, text, at) for at, (cell_id, text) in enumerate(digest.cells, 1))
        runs = tuple(SectionEntry(key, text) for key, text in digest.runs)
        found = [about, Section("outline", outline), Section("person_runs", runs)]
        variables = await self._variables(digest, values)
        return [*found, variables] if variables is not None else found

    async def _variables(self, digest: NotebookSummary, values: bool) -> Section | None:
        """None while it cannot be told: the kernel works, or is of another language."""
        kernel = digest.kernel
        if kernel is None:
            self._seen = None
            return Section("variables", ())
        report = await self._report(digest.path, kernel)
        if report is None:
            return None
        told = tuple(
            SectionEntry(variable.name, variable_words(_shown(variable, values))) for variable in report.variables
        )
        unread = len(report.unseen)
        return Section("variables", told, frozenset(report.unseen), unread, is_partial=unread >= _MOST_NAMES)

    async def _report(self, path: str, kernel: KernelInfo) -> VariablesReport | None:
        stirred = self._notebooks.stirred(path, kernel)
        if self._seen is not None and self._seen[0] == stirred:
            return self._seen[1]
        if kernel.state != "idle":
            return None
        self.inspections += 1
        report: VariablesReport | None = None
        with suppress(HdspAgentError, asyncio.TimeoutError):
            asking = self._notebooks.executor.inspect(path, limits=_LIMITS)
            report = await wait_at_most(asking, _PATIENCE_SECONDS)
        # One that does not answer is not waited for at each message.
        self._seen = stirred, report
        return report


def reads_at_once(settings: GlobalSettings, policy: OperatorPolicy) -> bool:
    """Whether the agent may look at data without asking."""
    return bool(policy.allow_auto_approval and settings.auto_approval_enabled and settings.always_allow_read_only)


def open_files_part(notebooks: Notebooks, paths: PathPolicy, most: int) -> Section:
    """What the person has open in the browser, but for what is kept from the agent. Blocks."""
    root = notebooks.access.root
    shown: list[str] = []
    for path in sorted(notebooks.access.open_paths) if most else ():
        with suppress(ToolFailed):
            shown.append(paths.resolve(path if root is None else str(root / path)).shown)
    names = list(dict.fromkeys(shown))
    return Section("open_files", tuple(SectionEntry(name, name) for name in names[:most]), others=len(names[most:]))


def _shown(variable: Variable, values: bool) -> Variable:
    return variable if values else variable.model_copy(update={"columns": (), "head": None, "error": None})
