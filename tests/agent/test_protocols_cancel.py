"""Stopping a task while its model streams, through each official SDK: at once on both ends, and it can go on."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from .._helpers.model_gateway import gateway
from .._helpers.model_server import ModelServer, Reply
from ._helpers.provider_agent import PROTOCOLS, agent_behind, call, completion, conversation_of, sent_by, turn
from ._helpers.scripted_agent import until

SLOW = (
    turn(
        None,
        call("write_to_file", "call_late", path="late.txt", content="late"),
        content="One word after the other, " * 20,
    ),
    completion(1),
)


@pytest.mark.in_short(2)
@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_cancel_in_mid_stream_closes_the_connection_and_the_task_can_go_on(
    model_server: ModelServer, tmp_path: Path, protocol: str
) -> None:
    model_server.answer(*SLOW)
    scripts = (gateway(model_server, pause=0.1), gateway(model_server))
    async with agent_behind(*scripts, home=tmp_path, protocol=protocol) as (server, agent):
        task_id = await agent.start()
        shown = agent.heard.shown
        await until(lambda: any("One word" in (each.text or "") for each in shown.get(task_id, {}).values()))

        await agent.manager.cancel(task_id)
        await asyncio.wait_for(server.closed.wait(), 60)

        ask = await agent.asked(task_id, "resume_task")
        messages = await agent.ui(task_id)
        (partial,) = [message.text or "" for message in messages if message.say == "text"][1:]
        assert partial.startswith("One word") and len(partial) < len("One word after the other, " * 20)
        (account,) = [message.text or "" for message in messages if message.say == "api_req_started"]
        assert '"cancelReason":"user_cancelled"' in account
        assert not [message for message in messages if message.partial]

        await agent.manager.answer(task_id, ask.ts, "yesButtonClicked")
        await agent.ended(task_id)
        assert not (agent.workspace / "late.txt").exists()
    before, after = (conversation_of(body) for body in sent_by(server.requests))
    assert after[: len(before) - 1] == before[:-1]
    said = str(after[len(before)])
    assert partial.strip() in said and "interrupted by user" in said


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_cancel_before_the_answer_begins_closes_the_connection(
    model_server: ModelServer, tmp_path: Path, protocol: str
) -> None:
    model_server.answer(completion(None))

    async def silent(reply: Reply) -> None:
        await asyncio.Event().wait()

    async with agent_behind(silent, gateway(model_server), home=tmp_path, protocol=protocol) as (server, agent):
        task_id = await agent.start()
        await until(lambda: len(sent_by(server.requests)) == 1)
        await agent.manager.cancel(task_id)
        await asyncio.wait_for(server.closed.wait(), 60)
        ask = await agent.asked(task_id, "resume_task")
        await agent.manager.answer(task_id, ask.ts, "yesButtonClicked")
        await agent.ended(task_id)
