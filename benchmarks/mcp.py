"""What a call of another agent costs over the tool that it calls."""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median
from typing import Final

from hdsp_agent.agent import headless_agent
from hdsp_agent.agent.external.port import ExternalClient
from hdsp_agent.agent.external.sessions import ExternalSessions
from hdsp_agent.agent.task.tool_context import CallContext
from hdsp_agent.config import OperatorPolicy
from hdsp_agent.messages import JsonObject

from .results import Result, percentile, result

__all__ = ["measure"]

_RUNS: Final = int(os.environ.get("MCP_RUNS", "200"))
_GOAL_MS: Final = 5.0
_CELLS: Final = 50
_CLIENT: Final = ExternalClient(owner=None, name="Benchmark", key="benchmark")
_CALL: Final[JsonObject] = {"path": "a.ipynb", "view": "outline"}
_TOOL: Final = "read_notebook"


def measure() -> list[Result]:
    """The overhead of a call through the session, its log and its approval."""
    with tempfile.TemporaryDirectory() as folder:
        return [asyncio.run(_overhead(Path(folder)))]


async def _overhead(home: Path) -> Result:
    workspace = home / "work"
    workspace.mkdir()
    (workspace / "a.ipynb").write_text(json.dumps(_notebook()), encoding="utf-8")
    overrides: JsonObject = {"clientApprovals": {_CLIENT.name: "everything"}}
    async with headless_agent(home / "home", OperatorPolicy(), workspace=workspace, overrides=overrides) as agent:
        sessions = ExternalSessions(agent.manager)

        async def through_session() -> None:
            done = await sessions.call(_CLIENT, _TOOL, _CALL, _tell_nobody)
            assert not done.is_error, done.content

        await through_session()
        [connected] = sessions.connected(None)
        assert connected.task_id is not None
        task = agent.manager.tasks.get(connected.task_id)
        tools = agent.manager.services.external_tools
        tool, arguments = tools.get(_TOOL), tools.validate(_TOOL, json.dumps(_CALL))

        async def tool_itself() -> None:
            # With the row that the person sees, and the decision about it.
            done = await tool.run(arguments, CallContext(task.state, task._parts))
            assert not done.is_error, done.content

        with_session, alone = await _in_turns(through_session, tool_itself)
        await sessions.stop()
    overhead = [(one - median(alone)) * 1000 for one in with_session]
    middle = median(overhead)
    return result(
        "mcp.call.overhead",
        f"a call of another agent over its tool ({_TOOL} of {_CELLS} cells), p50; p95 {percentile(overhead, 0.95):.1f} ms",
        middle,
        "ms",
        goal=f"<= {_GOAL_MS:g} ms",
        met=middle <= _GOAL_MS,
        runs=_RUNS,
        baseline=median(alone) * 1000,
    )


async def _in_turns(*works: Callable[[], Awaitable[None]]) -> list[list[float]]:
    """The seconds of each, measured in turns so that all meet the same machine."""
    taken: list[list[float]] = [[] for _ in works]
    for _ in range(_RUNS):
        for times, work in zip(taken, works, strict=True):
            begun = time.perf_counter()
            await work()
            times.append(time.perf_counter() - begun)
    return taken


def _notebook() -> JsonObject:
    return {
        "cells": [
            {
                "cell_type": "code",
                "id": f"c{number}",
                "source": f"x{number} = {number}",
                "metadata": {},
                "outputs": [],
                "execution_count": None,
            }
            for number in range(_CELLS)
        ],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


async def _tell_nobody(text: str) -> None:
    """Nobody listens."""
