"""A restore that is killed half way. Run as ``python -m tests.agent._helpers.killed_restore HOME files|notebook``.

The agent has changed ``a.txt`` and ``b.txt`` in the folder ``work``, and a notebook there if one is wanted; one of the files
is back when the process dies.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

from hdsp_agent.agent.checkpoints.checkpoint_service import CheckpointService, SavedStep
from hdsp_agent.agent.checkpoints.file_rollback import WorkspaceRollback
from hdsp_agent.config import GlobalSettings
from hdsp_agent.messages import CellId, TaskId
from hdsp_agent.notebooks import EditSource
from hdsp_agent.tools import ActionRequest

from ...notebooks._helpers.headless import headless_notebooks
from ...notebooks._helpers.pages import code, notebook

TASK = TaskId("one")
NAMES = ("a.txt", "b.txt")
NOTEBOOK = "work.ipynb"


def die_at_the_second(folder: Path) -> None:
    """Let this process die when it is about to bring back its second file."""
    brought_back = 0

    def audit(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal brought_back
        target = arguments[1] if event == "os.rename" else None
        # A path from the folder's descriptor on, which is the third argument.
        is_in_folder = target is not None and _is_folder(arguments[2], folder)
        if isinstance(target, (str, bytes)) and is_in_folder and os.fsdecode(target) in NAMES:
            brought_back += 1
            if brought_back == 2:
                os.kill(os.getpid(), signal.SIGKILL)

    # Python itself says when a file is about to take another's place.
    sys.addaudithook(audit)


def _is_folder(descriptor: object, folder: Path) -> bool:
    return isinstance(descriptor, int) and descriptor >= 0 and os.path.samestat(os.fstat(descriptor), folder.stat())


async def main(home: Path, *, with_notebook: bool) -> None:
    folder = home / "work"
    folder.mkdir(exist_ok=True)
    for name in NAMES:
        (folder / name).write_text("before\n")
    if with_notebook:
        (folder / NOTEBOOK).write_text(json.dumps(notebook(code("c1", "before"))))
    settings = GlobalSettings()
    async with headless_notebooks(folder) as notebooks:
        history = CheckpointService(home / "home", lambda: settings, notebooks if with_notebook else None)
        step = SavedStep(history, folder, TASK, "execute_command", NOTEBOOK if with_notebook else None)
        await step.approved(ActionRequest(frozenset({"shell"}), "execute_command"), 1)
        for name in NAMES:
            (folder / name).write_text("the agent's\n")
        if with_notebook:
            await notebooks.access.document(NOTEBOOK).apply([EditSource(CellId("c1"), "before", "the agent's")])
        step.ended()
        die_at_the_second(folder)
        await WorkspaceRollback(history).go_back(folder, [TASK], 1)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), with_notebook=sys.argv[2] == "notebook"))
