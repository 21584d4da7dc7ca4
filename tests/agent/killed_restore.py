"""A restore of files that is killed half way. Run as ``python -m tests.agent.killed_restore HOME``.

The agent has changed ``a.txt`` and ``b.txt`` in the folder ``work``; one of them is back when the process dies.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

from hdsp_agent.agent._workspace_history import SavedStep, WorkspaceHistory
from hdsp_agent.config import GlobalSettings
from hdsp_agent.messages import TaskId
from hdsp_agent.tools import ActionRequest

TASK = TaskId("one")
NAMES = ("a.txt", "b.txt")


def die_at_the_second(folder: Path) -> None:
    """Let this process die when it is about to bring back its second file."""
    brought_back = 0

    def audit(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal brought_back
        target = arguments[1] if event == "os.rename" else None
        if isinstance(target, (str, bytes)) and os.fsdecode(target) in [str(folder / name) for name in NAMES]:
            brought_back += 1
            if brought_back == 2:
                os.kill(os.getpid(), signal.SIGKILL)

    # Python itself says when a file is about to take another's place.
    sys.addaudithook(audit)


async def main(home: Path) -> None:
    folder = home / "work"
    folder.mkdir(exist_ok=True)
    for name in NAMES:
        (folder / name).write_text("before\n")
    settings = GlobalSettings()
    history = WorkspaceHistory(home / "home", lambda: settings, None)
    step = SavedStep(history, folder, TASK, "execute_command")
    await step.approved(ActionRequest(frozenset({"shell"}), "execute_command"), 1)
    for name in NAMES:
        (folder / name).write_text("the agent's\n")
    step.ended()
    die_at_the_second(folder)
    await history.go_back(folder, [TASK], 1)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
