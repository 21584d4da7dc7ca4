"""Kills a restore of files and a notebook, or its recovery, at each of its calls to the system, and looks at what is left.

Run as ``python -m tests.checkpoints.timeline._helpers.killed_restore FOLDER restore|recover STEP``; prints what went wrong as JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

from hdsp_agent.checkpoints import AsyncFileCheckpoints, FileLimits
from hdsp_agent.checkpoints.timeline import Parts, Timeline
from hdsp_agent.messages import CellId
from hdsp_agent.notebooks import EditSource

from ....notebooks._helpers.headless import headless_notebooks
from ....notebooks._helpers.pages import code, notebook, sources_in
from ...files._helpers.killed_operation import in_child

BOTH = Parts(files=True, notebooks=True, overwrite=True)
WHOLE = (["a = 1", "b = 2"], "x\n1\n")
BROKEN = (["a = broken", "b = 2"], "gone\n")


class Scenario:
    """A workspace with two checkpoints."""

    def __init__(self, folder: Path) -> None:
        self.root, self.store_dir = folder / "workspace", folder / "checkpoints"
        self.root.mkdir()
        made = notebook(code("one", "a = 1"), code("two", "b = 2"))
        (self.root / "work.ipynb").write_text(json.dumps(made, indent=1), "utf-8")
        (self.root / "data.csv").write_text("x\n1\n", "utf-8")
        self.wrong: list[str] = []
        self.target = self.do(lambda line: self.save(line, "before"))
        self.do(self.spoil)

    def do(self, work: Callable[[Timeline], Awaitable[object]]) -> object:
        """Work with the time line as a server of its own has it."""

        async def all_of_it() -> object:
            files = AsyncFileCheckpoints(self.root, self.store_dir, FileLimits(checkpoints=100_000))
            async with headless_notebooks(self.root) as notebooks:
                line = Timeline(files, files.folder, notebooks=notebooks, variables=None, root=self.root)
                found = await work(line)
                await line.close()
                return found

        return asyncio.run(all_of_it())

    async def save(self, line: Timeline, reason: str) -> str:
        author = "agent" if reason == "after" else "person"
        return (await line.save(reason, notebooks=["work.ipynb"], changes_by=author)).id  # type: ignore[arg-type]  # one of both

    async def spoil(self, line: Timeline) -> None:
        assert line.notebooks is not None
        await line.notebooks.access.document("work.ipynb").apply([EditSource(CellId("one"), "1", "broken")])
        (self.root / "data.csv").write_text("gone\n", "utf-8")
        await self.save(line, "after")

    async def back(self, line: Timeline) -> None:
        await line.restore(str(self.target), BOTH)

    @property
    def there(self) -> tuple[list[str], str]:
        return sources_in(self.root / "work.ipynb"), (self.root / "data.csv").read_text("utf-8")

    def look(self, at: int) -> None:
        """After a death: in one of the two states, or rolled back to the one before; and everything works again."""
        if self.do(lambda line: line.interrupted()) is not None:
            if at % 3 == 0:
                self.do(lambda line: line.recover("keep"))
                self.do(self.back)
                self.check(f"{at}: what was kept cannot go on", self.there == WHOLE)
                self.do(lambda line: line.undo())
            else:
                self.do(lambda line: line.recover("roll_back"))
                self.check(f"{at}: rolled back to {self.there}", self.there == BROKEN)
            self.check(f"{at}: still interrupted", self.do(lambda line: line.interrupted()) is None)
        elif self.there not in (WHOLE, BROKEN):
            self.check(f"{at}: between two states: {self.there}", False)
        self.do(self.back)
        self.check(f"{at}: cannot be restored any more", self.there == WHOLE)
        (self.root / "data.csv").write_text("gone\n", "utf-8")
        self.do(self.spoil)

    def check(self, what: str, holds: bool) -> None:
        if not holds:
            self.wrong.append(what)


def killed_restore(scenario: Scenario, at: int) -> bool:
    lived = in_child(at, lambda: scenario.do(scenario.back))
    scenario.look(at)
    return lived


def killed_recovery(scenario: Scenario, at: int) -> bool:
    half = 20
    while True:
        # Half a restore first, then its recovery dies too.
        in_child(half, lambda: scenario.do(scenario.back))
        if scenario.do(lambda line: line.interrupted()) is not None:
            break
        half += 2
    lived = in_child(at, lambda: scenario.do(lambda line: line.recover("roll_back")))
    scenario.look(at)
    return lived


def main() -> None:
    """Die once at each so many calls."""
    scenario = Scenario(Path(sys.argv[1]))
    kill = killed_restore if sys.argv[2] == "restore" else killed_recovery
    for at in range(1, 1000, int(sys.argv[3])):
        if kill(scenario, at):
            break
    print(json.dumps({"wrong": scenario.wrong, "calls": at - 1}))


if __name__ == "__main__":
    main()
