"""An agent that is killed while it takes a message out of the queue.

Run as ``python -m tests.agent._helpers.killed_in_queue HOME STEP``; it prints the task's id, and dies when the step has come.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import NoReturn

from hdsp_agent.config import GlobalSettings
from hdsp_agent.messages import ClineMessage
from hdsp_agent.providers import call_tool

from .scripted_agent import running_agent

STEPS = ("noted", "shown", "told")


async def main(home: Path, step: str) -> None:
    auto = GlobalSettings(auto_approval_enabled=True)
    async with running_agent(home, [[0.3, *call_tool("look", {"text": "x"}, id="look")]], settings=auto) as agent:
        task_id = await agent.start("Do it")
        print(task_id, flush=True)
        await agent.manager.queue(task_id, "and then that")
        task = agent.task(task_id)

        async def stop(*args: object, **more: object) -> NoReturn:
            os.kill(os.getpid(), signal.SIGKILL)
            raise AssertionError("nobody killed it")

        match step:
            case "noted":
                create = task.state.conversation.create

                async def unless_said(message: ClineMessage, *, durable: bool = False) -> ClineMessage:
                    if message.say == "user_feedback":
                        await stop()
                    return await create(message, durable=durable)

                task.state.conversation.create = unless_said  # type: ignore[method-assign]  # the moment to be killed at
            case "shown":
                add = task.state.conversation.add_api

                async def unless_the_persons(role: str, content: list[object], **more: object) -> object:
                    if "and then that" in str(content):
                        await stop()
                    return await add(role, content, **more)  # type: ignore[arg-type]  # as it came

                task.state.conversation.add_api = unless_the_persons  # type: ignore[method-assign, assignment]  # as above
            case _:
                task.state.queue.taken = stop  # type: ignore[method-assign]  # as above
        await asyncio.sleep(600)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
