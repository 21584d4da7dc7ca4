"""An agent in a process of its own that is killed. Run as ``python -m tests.agent._helpers.killed_agent HOME SCENARIO``.

It prints the task's id. When the moment has come, it dies.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

from hdsp_agent.config import GlobalSettings
from hdsp_agent.providers import TextDelta, call_tool
from hdsp_agent.providers._scripted import Turn

from .scripted_agent import Agent, running_agent, until

AUTO = GlobalSettings(auto_approval_enabled=True, always_allow_write=True, always_allow_subtasks=True)
ASKING = GlobalSettings()
SCENARIOS: dict[str, tuple[GlobalSettings, list[Turn]]] = {
    "approval": (ASKING, [call_tool("write_note", {"text": "one"})]),
    "tool": (AUTO, [call_tool("write_note", {"text": "one"}, id="w"), call_tool("slow", {"text": "x"}, id="s")]),
    "stream": (AUTO, [[TextDelta("Half an answer, "), 0.05, TextDelta("and more "), 600.0]]),
    "subtask": (AUTO, [call_tool("new_task", {"mode": "ask", "message": "Find it"}, id="sub"), [600.0]]),
    "queue": (ASKING, [call_tool("write_note", {"text": "one"})]),
}


async def main(home: Path, scenario: str) -> None:
    settings, turns = SCENARIOS[scenario]
    async with running_agent(home, turns, settings=settings) as agent:
        task_id = await agent.start("Do it")
        print(task_id, flush=True)
        await reached(agent, scenario)
        os.kill(os.getpid(), signal.SIGKILL)


async def reached(agent: Agent, scenario: str) -> None:
    """Wait for the moment to be killed at."""
    task_id = agent.manager.tasks.current
    assert task_id is not None
    match scenario:
        case "approval" | "queue":
            await agent.asked(task_id, "tool")
            if scenario == "queue":
                await agent.manager.queue(task_id, "and then that")
        case "tool":
            await until((agent.workspace / "slow.txt").exists)
        case "stream":
            await until(lambda: any(m.say == "text" and m.partial for m in agent.heard.shown.get(task_id, {}).values()))
        case "subtask":
            await until(lambda: len(agent.model.requests) == 2)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
