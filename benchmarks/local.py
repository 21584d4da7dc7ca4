"""The embedded model: how long it takes to be there, how long to its first words, and that it takes nothing when idle.

Its first words are measured twice: asked alone, and in a task about a notebook, as the person sees them.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Final

from pydantic import JsonValue

from hdsp_agent.agent import NoListener, TaskRequest, headless_agent
from hdsp_agent.config import OperatorPolicy, ProviderSettings
from hdsp_agent.errors import HdspAgentError
from hdsp_agent.local import Consent, LocalModels
from hdsp_agent.messages import ApiMessage, ClineMessage, JsonObject, NotebookRef, TaskId
from hdsp_agent.providers import ModelClient, ModelRequest, TextDelta, open_client

from .results import Result, result

RUNS = 3
GOAL_SECONDS = 3

_NOTEBOOK = NotebookRef(path="prices.ipynb")
_ALLOWED: dict[str, JsonValue] = {
    "autoApprovalEnabled": True, "alwaysAllowReadOnly": True, "alwaysAllowWrite": True, "alwaysAllowRunCells": True
}  # fmt: skip
_PATIENCE_SECONDS = 120
_LOOK_SECONDS = 0.02
_PROFILE = ProviderSettings.model_validate({"apiProvider": "local"})
# About as long as what the embedded model is told in earnest.
_SYSTEM = (
    "You are an assistant inside a notebook. You answer in a few words, and where code is asked for you write Python that "
    "uses pandas and matplotlib. You never claim that code ran unless you were shown its output. "
) * 8


def measure() -> list[Result]:
    """Each run starts the process anew. Nothing is measured, and said so, where the model cannot be had."""
    return asyncio.run(_measured())


async def _measured() -> list[Result]:
    models = LocalModels()
    try:
        await _have(models)
        starts, firsts, seconds = zip(*[await _one_run(models) for _ in range(RUNS)], strict=True)
        client = await open_client(_PROFILE, local=models)
        await _first_word(client, [_said("user", "Say hello.")])
        working = (await models.runtime.status()).memory or 0
        await models.runtime.release()
        idle = _memory_below(os.getpid())
        await client.close()
        firsts_shown, seconds_shown = zip(*[await _one_task() for _ in range(RUNS)], strict=True)
    except HdspAgentError as error:
        print(f"local: NOT MEASURED: {error.message}", file=sys.stderr)
        return []
    finally:
        await models.stop()
    start, second, shown = median(starts), median(seconds), median(seconds_shown)
    return [
        result(
            "local.start", f"embedded model: process begun to ready (then {working / 1e6:.0f} MB)", start, "s",
            goal=f"<= {GOAL_SECONDS} s", met=start <= GOAL_SECONDS, runs=RUNS,
        ),
        result(
            "local.second_message", "first word of the second message; beside it that of the first, which is read anew",
            second, "s", baseline=median(firsts), goal=f"<= {GOAL_SECONDS} s", met=second <= GOAL_SECONDS, runs=RUNS,
        ),
        result(
            "local.second_message_in_task", "the same in a task about a notebook, until the person sees the first of it",
            shown, "s", baseline=median(firsts_shown), goal=f"<= {GOAL_SECONDS} s", met=shown <= GOAL_SECONDS, runs=RUNS,
        ),
        result(
            "local.idle_memory", "memory of the embedded model when nobody uses it", idle / 1e6, "MB",
            goal="0 MB", met=idle == 0, runs=1,
        ),
    ]  # fmt: skip


async def _have(models: LocalModels) -> None:
    model = await models.state(None)
    await models.begin(model.id, Consent(model.licence, model.size))
    await models.got(model.id)


async def _one_run(models: LocalModels) -> tuple[float, float, float]:
    """Seconds to ready, to the first word of the first message, and of the second."""
    client = await open_client(_PROFILE, local=models)
    try:
        file = await models.file_of(_PROFILE)
        async with models.runtime.turn(file):
            pass
        start = (await models.runtime.status()).start_seconds
        assert start is not None
        told = [_said("user", "How do I draw a sine in a notebook?")]
        first, answer = await _first_word(client, told)
        second, _ = await _first_word(client, [*told, _said("assistant", answer), _said("user", "And a cosine?")])
        return start, first, second
    finally:
        await client.close()
        await models.runtime.release()


async def _first_word(client: ModelClient, messages: list[ApiMessage]) -> tuple[float, str]:
    began, first, words = time.monotonic(), 0.0, ""
    request = ModelRequest(system=_SYSTEM, messages=messages, max_output=24)
    async for event in client.stream(request):
        if isinstance(event, TextDelta):
            first = first or time.monotonic() - began
            words += event.text
    return first, words


_OF_AGENT: Final = ("tool", "text", "completion_result")


class _Watched(NoListener):
    """Notes when the first of a step, or of an answer, is shown."""

    def __init__(self) -> None:
        self.shown = asyncio.Event()
        self._spoken = False

    def created(self, task_id: TaskId, message: ClineMessage) -> None:
        """A message was added."""
        if message.say == "text" and not self._spoken:
            # What the person begins with.
            self._spoken = True
        elif message.ask in _OF_AGENT or message.say in _OF_AGENT:
            self.shown.set()


async def _one_task() -> tuple[float, float]:
    """Seconds from what a person says to the first that they see of the work, for the first message and the second."""
    with tempfile.TemporaryDirectory(prefix="hdsp-bench-local-") as folder:
        workspace = Path(folder, "work")
        await asyncio.to_thread(_prepare, workspace)
        watched = _Watched()
        async with headless_agent(
            Path(folder, "home"), OperatorPolicy(), workspace=workspace, sink=watched, overrides=_ALLOWED
        ) as agent:
            manager = agent.manager
            await agent.config.profiles.update(agent.config.profiles.current.id, {"apiProvider": "local"})
            began = time.monotonic()
            task_id = await manager.start(TaskRequest("What is the sum of prices?", notebook=_NOTEBOOK))
            first = await _seen(watched, began)
            await _until(lambda: manager.tasks.opened(task_id) is None)
            task = await manager.resume(task_id)
            await _until(lambda: task.state.dialogue.asks.newest() is not None)
            question = task.state.dialogue.asks.newest()
            assert question is not None
            watched.shown.clear()
            began = time.monotonic()
            await manager.answer(task_id, question.ts, "messageResponse", "And what is the largest of them?")
            second = await _seen(watched, began)
            await _until(lambda: manager.tasks.opened(task_id) is None)
            return first, second


async def _seen(watched: _Watched, began: float) -> float:
    await asyncio.wait_for(watched.shown.wait(), _PATIENCE_SECONDS)
    return time.monotonic() - began


async def _until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while True:
        if holds() or time.monotonic() > deadline:
            return
        await asyncio.sleep(_LOOK_SECONDS)


def _prepare(workspace: Path) -> None:
    cell: JsonObject = {
        "cell_type": "code", "id": "prices", "source": "prices = [12, 30, 18]", "metadata": {}, "outputs": [],
        "execution_count": None,
    }  # fmt: skip
    notebook = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    workspace.mkdir()
    (workspace / _NOTEBOOK.path).write_text(json.dumps(notebook), encoding="utf-8")


def _said(role: str, text: str) -> ApiMessage:
    return ApiMessage.model_validate({"role": role, "content": [{"type": "text", "text": text}], "ts": 1})


def _memory_below(process: int) -> int:
    """Bytes that the processes begun by this one take."""
    pages = 0
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            fields = (entry / "stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
            if int(fields[1]) == process and fields[0] != "Z":
                pages += int((entry / "statm").read_text(encoding="ascii").split()[1])
        except (OSError, IndexError):
            # It ended meanwhile.
            continue
    return pages * os.sysconf("SC_PAGE_SIZE")
