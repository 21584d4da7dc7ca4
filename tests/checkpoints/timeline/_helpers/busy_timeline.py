"""A server with a notebook of its own in a workspace that others use too, which saves, restores and undoes as fast as it can.

Run as ``python -m tests.checkpoints.timeline._helpers.busy_timeline WORKSPACE STORE NAME``; prints how often it had to wait for others.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

from hdsp_agent.checkpoints import AsyncFileCheckpoints, FileLimits
from hdsp_agent.checkpoints.timeline import Parts, Timeline
from hdsp_agent.errors import Conflict
from hdsp_agent.messages import CellId
from hdsp_agent.notebooks import EditSource

from ....notebooks._helpers.headless import headless_notebooks
from ....notebooks._helpers.pages import code, notebook, sources_in

T = TypeVar("T")
TURNS = 5
TRIES = 400


class Busy:
    """What it does over and over."""

    def __init__(self) -> None:
        self.waits = 0

    async def retried_while_busy(self, work: Callable[[], Awaitable[T]]) -> T:
        """One restore at a time in a workspace, whoever does it: try again when others have."""
        for _ in range(TRIES):
            try:
                return await work()
            except Conflict as error:
                assert "being restored" in error.message, error.message
                self.waits += 1
                await asyncio.sleep(0.05)
        raise AssertionError("others never came to an end")


async def main(root: Path, store_dir: Path, name: str) -> None:
    path, table = f"{name}.ipynb", root / f"{name}.csv"
    (root / path).write_text(json.dumps(notebook(code("one", "turn = 0"))), "utf-8")
    busy = Busy()
    files = AsyncFileCheckpoints(root, store_dir, FileLimits(checkpoints=60, kept_checkpoints=40))
    async with headless_notebooks(root) as notebooks:
        line = Timeline(files, files.folder, notebooks=notebooks, variables=None, root=root)
        document = notebooks.access.document(path)
        for turn in range(TURNS):
            table.write_text(f"{turn}", "utf-8")
            target = (await line.save(f"before {name} {turn}", notebooks=[path])).id
            await document.apply([EditSource(CellId("one"), f"turn = {turn}", f"turn = {turn + 1}")])
            table.write_text("broken", "utf-8")
            claims = [str(root / path), str(table)]
            await line.save(f"after {name} {turn}", notebooks=[path], changes_by="agent", claims=claims)
            for parts in (Parts(notebooks=True, path=path), Parts(files=True, path=table.name, overwrite=True)):
                await busy.retried_while_busy(partial(line.restore, target, parts))
            assert (sources_in(root / path), table.read_text("utf-8")) == ([f"turn = {turn}"], f"{turn}")
            # However much the others did meanwhile.
            done = await line.files.operations()
            mine = next(one for one in done if one.kind == "restore" and one.parts and one.parts.path == path)
            await busy.retried_while_busy(partial(line.undo, mine.id))
            assert sources_in(root / path) == [f"turn = {turn + 1}"]
        await line.close()
    print(busy.waits)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]))
