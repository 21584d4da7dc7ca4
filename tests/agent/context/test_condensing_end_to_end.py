"""Condensing through an official SDK: the request for the summary is the conversation's own, with a wish behind it."""

from __future__ import annotations

import json
from pathlib import Path

from ...modelgateway import gateway
from ...modelserver import ModelServer
from ..provider_agent import agent_behind, call, completion, conversation_of, sent_by, turn, unmarked

SUMMARY = "## Work Completed\nThe long file was read."


async def test_the_provider_finds_the_conversation_in_its_cache_when_it_is_condensed(
    model_server: ModelServer, tmp_path: Path
) -> None:
    words = "I look at it. " + "Word after word. " * 2_500
    model_server.answer(
        {"match": {"userMessage": "CONTEXT CHECKPOINT"}, "response": {"content": SUMMARY}},
        {
            "match": {"userMessage": "The long file was read."},
            "response": {"toolCalls": [call("attempt_completion", "call_end", result="All done")]},
        },
        turn(None, call("list_files", "call_one", path="."), content=words, chunkSize=5_000),
        turn("call_one", call("list_files", "call_two", path="."), content=words, chunkSize=5_000),
        completion("call_two"),
    )
    profile = {"modelContextWindow": 26_000, "modelMaxTokens": 4_000}
    async with agent_behind(gateway(model_server), home=tmp_path, protocol="anthropic", profile=profile) as (
        server,
        agent,
    ):
        task_id = await agent.start()
        await agent.ended(task_id)
        assert len(await agent.says(task_id, "condense_context")) == 1
    bodies = sent_by(server.requests)
    asked = next(body for body in bodies if "CONTEXT CHECKPOINT" in json.dumps(body))
    before = bodies[bodies.index(asked) - 1]
    for name in ("tools", "system"):
        assert unmarked(asked.get(name)) == unmarked(before.get(name))
    known = unmarked(conversation_of(before))
    assert unmarked(conversation_of(asked))[: len(known) - 1] == known[:-1]
    # Afterwards the model has the summary, and what was asked for in the person's own words.
    after = json.dumps(conversation_of(bodies[bodies.index(asked) + 1]))
    assert "The long file was read." in after and "Do it" in after and after.count("Word after word.") < 3_000
