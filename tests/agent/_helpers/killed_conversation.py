"""A restore of everything that is killed while its last part, the conversation, is done. Run as
``python -m tests.agent._helpers.killed_conversation HOME restore|undo STEP``; prints the task's id first.

A task has written two notes, and goes back to before the second one. The process dies at one of the calls that change
something on the disk, counted from the checkpoint at which all files are back; with 0 right after the conversation is back.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

from hdsp_agent.agent.checkpoints.checkpoint_service import CheckpointService
from hdsp_agent.agent.conversation.message_operations import RewindTransaction
from hdsp_agent.config import GlobalSettings
from hdsp_agent.messages import Parts, TaskId
from hdsp_agent.persistence.sqlite._sqlite_writer import SqliteWriter
from hdsp_agent.providers import call_tool

from ...checkpoints.files._helpers.killed_operation import dying
from .scripted_agent import Agent, running_agent

ALLOWED = GlobalSettings(auto_approval_enabled=True, always_allow_write=True)
EVERYTHING = Parts(files=True, notebooks=True, variables=True, conversation=True)
TURNS = (
    call_tool("write_note", {"text": "a"}, id="a"),
    call_tool("write_note", {"text": "b"}, id="b"),
    call_tool("attempt_completion", {"result": "All done"}, id="end"),
)


async def before_the_second(agent: Agent, task_id: TaskId) -> str:
    """The moment before the second note."""
    rows = [message for message in await agent.ui(task_id) if message.say == "checkpoint_saved"]
    checkpoints = agent.manager.checkpoints
    return await checkpoints.told_at(agent.workspace, str(rows[-1].text), task_id, rows[-1].ts)


def die_at(step: int) -> None:
    """Let this process die at its nth change of a disk after it began with the conversation, or when that is done."""

    def beginning(name: str) -> None:
        original = getattr(RewindTransaction, name)

        async def part(self: RewindTransaction, *arguments: str) -> None:
            if step:
                # What SQLite itself writes is no call of Python's.
                dying(step, (SqliteWriter, "_transaction"))
            await original(self, *arguments)
            if not step:
                os.kill(os.getpid(), signal.SIGKILL)

        setattr(RewindTransaction, name, part)

    beginning("go_back")
    beginning("undo")


async def main(home: Path, what: str, step: int) -> None:
    files = CheckpointService(home / "home", lambda: ALLOWED, None)
    async with running_agent(home, TURNS, settings=ALLOWED, files=files) as agent:
        task_id = await agent.finished()
        print(task_id, flush=True)
        checkpoints = agent.manager.checkpoints
        target = await before_the_second(agent, task_id)
        if what == "restore":
            die_at(step)
        done = await checkpoints.restore(agent.workspace, target, EVERYTHING)
        if what == "undo":
            die_at(step)
            await checkpoints.undo(agent.workspace, done.operation.id)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
