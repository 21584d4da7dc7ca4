"""A process that makes checkpoints of all kinds in a new home while everything it makes is open to all.

``python -m tests.checkpoints.files._helpers.open_umask FOLDER``: the home is ``FOLDER/new/home``.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from hdsp_agent.agent.checkpoints.checkpoint_service import CheckpointService
from hdsp_agent.checkpoints.files.checkpoint_store import CheckpointStore
from hdsp_agent.checkpoints.timeline import Parts
from hdsp_agent.config import GlobalSettings
from tests.notebooks._helpers.headless import headless_notebooks
from tests.notebooks._helpers.pages import Tabs

from ...timeline._helpers.timeline_fixtures import PATH, lay_out


async def _there_and_back(folder: Path) -> None:
    root = folder / "workspace"
    lay_out(root)
    (root / "large.bin").write_bytes(bytes(1_500_000))
    async with headless_notebooks(root, tabs=Tabs()) as notebooks:
        settings = GlobalSettings(checkpoint_max_file_megabytes=1)
        service = CheckpointService(folder / "new" / "home", lambda: settings, notebooks)
        line = await service.timeline(root)
        assert line.variables is not None
        await asyncio.to_thread(line.variables.store.probe)
        first = await line.save("first", notebooks=[PATH], touching=["large.bin"])
        (root / "data.csv").write_text("x\n2\n", "utf-8")
        await line.save("second", changes_by="agent", notebooks=[PATH])
        await line.restore(first.id, Parts(files=True, notebooks=True))
        await service.close()
    # As a restore that is cut short leaves it.
    store = CheckpointStore(line.files.folder, root, 5)
    with store.changing():
        store.note_restore("cut short", [b"/nowhere"])


if __name__ == "__main__":
    os.umask(0)
    asyncio.run(_there_and_back(Path(sys.argv[1])))
