"""Surroundings that change between turns, through each official SDK: the prefix holds, and cache marks follow their rule."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from .._helpers.model_gateway import gateway
from .._helpers.model_server import ModelServer
from ._helpers.provider_agent import PROTOCOLS, agent_behind, call, completion, conversation_of, sent_by, turn, unmarked

RULES = "AGENTS.md"
_TELLING = re.compile(r"<environment_details>\n.*?</environment_details>", re.DOTALL)


def told_in(body: dict[str, Any]) -> list[str]:
    """The tellings of a request, in order."""
    found: list[str] = []

    def look(value: object) -> None:
        if isinstance(value, str):
            found.extend(_TELLING.findall(value))
        for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            look(inner)

    look(conversation_of(body))
    return found


def marked(body: dict[str, Any]) -> list[str]:
    """Where Anthropic's cache marks are."""
    found = [name for name in ("tools", "system") if "cache_control" in body[name][-1]]
    return found + [str(at) for at, message in enumerate(body["messages"]) if "cache_control" in json.dumps(message)]


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_the_prefix_holds_while_rules_permissions_and_mode_change(
    model_server: ModelServer, tmp_path: Path, protocol: str
) -> None:
    change = "<<<<<<< SEARCH\nBe brief.\n=======\nBe verbose.\n>>>>>>> REPLACE"
    model_server.answer(
        turn(0, call("read_file", "call_read", path="a.txt")),
        turn(1, call("apply_diff", "call_rules", path=RULES, diff=change)),
        turn(2, call("switch_mode", "call_mode", mode_slug="debug", reason="To find out")),
        turn(3, call("read_file", "call_again", path="a.txt")),
        completion(4),
    )
    async with agent_behind(
        gateway(model_server),
        home=tmp_path,
        protocol=protocol,
        trusted=True,
        alwaysAllowWriteProtected=True,
        alwaysAllowModeSwitch=True,
    ) as (server, agent):
        (agent.workspace / "a.txt").write_text("hello\n")
        (agent.workspace / RULES).write_text("Be brief.\n")
        task_id = await agent.finished()
    bodies = sent_by(server.requests)
    assert len(bodies) == 5
    for before, after in pairwise(bodies):
        known, grown = (unmarked(conversation_of(body)) for body in (before, after))
        # Byte for byte: what is compared is what was sent.
        begins = [json.dumps(message, ensure_ascii=False) for message in known]
        assert [json.dumps(message, ensure_ascii=False) for message in grown][: len(begins)] == begins
        same = ("tools", "system", "instructions", "prompt_cache_key", "model")
        assert [unmarked(after.get(key)) for key in same] == [unmarked(before.get(key)) for key in same]
    tellings = [len(told_in(body)) for body in bodies]
    assert tellings == [1, 1, 2, 3, 3]
    first, rules, mode = told_in(bodies[-1])
    assert "Current mode: code (Agent)" in first and "# What you may do\nDone without asking: reading, editing" in first
    assert f"## Rules from {agent.workspace / RULES}\n\nBe verbose." in rules and "# Mode" not in rules
    assert "Current mode: debug (Debug)" in mode and "# Your role (what changed)" in mode
    if protocol in ("anthropic", "bedrock", "vertex"):
        assert [marked(body) for body in bodies] == [
            ["tools", "system", "0"],
            ["tools", "system", "0", "2"],
            ["tools", "system", "2", "4"],
            ["tools", "system", "4", "6"],
            ["tools", "system", "6", "8"],
        ]
    if protocol == "responses":
        assert {body["prompt_cache_key"] for body in bodies} == {task_id}


async def test_other_tools_bring_another_prompt_and_what_was_said_stays(
    model_server: ModelServer, tmp_path: Path
) -> None:
    model_server.answer(
        turn(None, call("switch_mode", "call_mode", mode_slug="ask", reason="To ask")), completion("call_mode")
    )
    async with agent_behind(gateway(model_server), home=tmp_path, protocol="anthropic", alwaysAllowModeSwitch=True) as (
        server,
        agent,
    ):
        await agent.finished()
    before, after = sent_by(server.requests)
    assert unmarked(before["tools"]) != unmarked(after["tools"]) and unmarked(before["system"]) != unmarked(
        after["system"]
    )
    known = unmarked(before["messages"])
    assert unmarked(after["messages"])[: len(known)] == known
    told = told_in(after)
    assert "Current mode: ask (Ask)" in told[-1] and "# Your role" not in told[-1]
    assert marked(after) == ["tools", "system", "0", "2"]
