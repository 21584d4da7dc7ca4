"""Endings of eval tasks made by hand, run in a kernel and judged."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from benchmarks.evals import DATA, EndState, EvalTask, NotDone, Outcome, RerunKernel, SeenCell, Text

__all__ = ["JudgedTask", "cells_of"]


def cells_of(sources: Sequence[str], kernel: RerunKernel, folder: Path, *, ran: bool) -> list[SeenCell]:
    """A notebook of these cells, run or not."""
    code = [source for source in sources if not isinstance(source, Text)]
    outputs = iter(kernel.outputs(code, folder)) if ran else iter([])
    return [
        SeenCell(str(at), source, not isinstance(source, Text), () if isinstance(source, Text) else next(outputs, ()))
        for at, source in enumerate(sources)
    ]


class JudgedTask:
    """A task whose judge is tried with endings."""

    def __init__(self, task: EvalTask, kernel: RerunKernel, folder: Path) -> None:
        self._task = task
        self._kernel = kernel
        self._folder = folder
        self._lay_out()
        self._before = cells_of(list(task.cells), kernel, folder, ran=task.ran)

    def judged(self, state: EndState) -> str | None:
        """Why the judge is not content; None if it is."""
        self._lay_out()
        cells = self._before if state.cells is None else self._cells(state)
        rerun = self._kernel.run_from_top(cells, self._folder, self._task.probes)
        try:
            self._task.judge(Outcome(self._before, cells, state.answer, rerun))
        except NotDone as why:
            return str(why)
        return None

    def must_know_right_from_wrong(self) -> None:
        """It is content with the right endings, and neither with nothing nor with the wrong ones."""
        assert self.judged(EndState()) is not None, "content with nothing"
        assert self.judged(EndState(answer="Done.")) is not None, "content with a claim"
        for number, state in enumerate((self._task.right, *self._task.also_right)):
            assert self.judged(state) is None, f"not content with right end state {number}"
        for number, state in enumerate(self._task.wrong):
            assert self.judged(state) is not None, f"content with wrong end state {number}"

    def _cells(self, state: EndState) -> list[SeenCell]:
        return cells_of(list(state.cells or ()), self._kernel, self._folder, ran=state.ran)

    def _lay_out(self) -> None:
        """The files as they were: an ending may have written others."""
        for file in self._folder.iterdir():
            file.unlink()
        for name in self._task.files:
            shutil.copy(DATA / name, self._folder)
        for name, text in self._task.tables.items():
            (self._folder / name).write_text(text, encoding="utf-8")
