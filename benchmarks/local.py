"""The embedded model: how long it takes to be there, how long to its first words, and that it takes nothing when idle."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path
from statistics import median

from hdsp_agent.config import ProviderSettings
from hdsp_agent.errors import HdspAgentError
from hdsp_agent.local import Consent, LocalModels
from hdsp_agent.messages import ApiMessage
from hdsp_agent.providers import ModelClient, ModelRequest, TextDelta, open_client

from .results import Result, result

RUNS = 3
GOAL_SECONDS = 3

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
    except HdspAgentError as error:
        print(f"local: NOT MEASURED: {error.message}", file=sys.stderr)
        return []
    finally:
        await models.stop()
    start, second = median(starts), median(seconds)
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
            "local.idle_memory", "memory of the embedded model when nobody uses it", idle / 1e6, "MB",
            goal="0 MB", met=idle == 0, runs=1,
        ),
    ]  # fmt: skip


async def _have(models: LocalModels) -> None:
    model = (await models.state(None)).model
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
