"""A task from its first to its last request through each official SDK: what is done, kept, and on the wire."""

from __future__ import annotations

import base64
import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from hdsp_agent.context._content_blocks import IMAGE_OMITTED

from .._helpers.model_gateway import GOOGLE_TOKEN, gateway
from .._helpers.model_server import ModelServer, RawRequest
from ..providers._helpers.protocol_profiles import PIXEL
from ._helpers.provider_agent import (
    CHAT_SERVERS,
    KEY,
    PROTOCOLS,
    agent_behind,
    call,
    completion,
    conversation_of,
    sent_by,
    turn,
    unmarked,
)

DIFF = "<<<<<<< SEARCH\nprint('old')\n=======\nprint('new')\n>>>>>>> REPLACE"
WORK = (
    turn(None, call("read_file", "call_read", path="a.py"), content="I read it first."),
    turn("call_read", call("apply_diff", "call_diff", path="a.py", diff=DIFF)),
    completion("call_diff"),
)


def marks(body: dict[str, Any]) -> list[str]:
    """Where the cache marks are: in the tools, in the system prompt, in which messages."""
    found = [name for name in ("tools", "system") if "cache_control" in body[name][-1]]
    messages = enumerate(body["messages"])
    return found + [str(n) for n, message in messages if "cache_control" in json.dumps(message["content"])]


def flat(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages without marks; one text that is a list of parts, to hold a mark, is that text."""
    return [
        {**message, "content": message["content"][0]["text"]} if isinstance(message["content"], list) else message
        for message in messages
    ]


def own_headers(protocol: str, request: RawRequest) -> bool:
    """Whether the request has the headers with which this provider knows its callers."""
    headers = request.headers
    if protocol in ("responses", "chat"):
        return headers["authorization"] == f"Bearer {KEY}" and headers["user-agent"].startswith("AsyncOpenAI/")
    if not headers["user-agent"].startswith("AsyncAnthropic"):
        return False
    match protocol:
        case "anthropic":
            return headers["x-api-key"] == KEY and bool(headers["anthropic-version"])
        case "bedrock":
            signed = "AWS4-HMAC-SHA256 Credential=AKIAFAKEFAKEFAKEFAKE/"
            return headers["authorization"].startswith(signed) and bool(request.body["anthropic_version"])
        case _:
            return headers["authorization"] == f"Bearer {GOOGLE_TOKEN}" and bool(request.body["anthropic_version"])


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_task_reads_changes_and_completes(model_server: ModelServer, tmp_path: Path, protocol: str) -> None:
    model_server.answer(*WORK)
    async with agent_behind(gateway(model_server), home=tmp_path, protocol=protocol) as (server, agent):
        (agent.workspace / "a.py").write_text("print('old')\n")
        task_id = await agent.finished()
        assert (agent.workspace / "a.py").read_text() == "print('new')\n"
        assert [said.text for said in await agent.says(task_id, "text")] == ["Do it", "I read it first."]
        assert len(await agent.says(task_id, "api_req_started")) == len(model_server.journal()) == 3
    asked = [request for request in server.requests if request.path != "/token"]
    assert all(own_headers(protocol, request) for request in asked)

    bodies = sent_by(server.requests)
    for before, after in pairwise(bodies):
        known = unmarked(conversation_of(before))
        grown = unmarked(conversation_of(after))
        assert grown[: len(known)] == known and len(grown) > len(known)
        same = ("tools", "system", "instructions", "tool_choice", "prompt_cache_key", "model")
        assert [unmarked(after.get(key)) for key in same] == [unmarked(before.get(key)) for key in same]
    if protocol in ("anthropic", "bedrock", "vertex"):
        assert [marks(body) for body in bodies] == [
            ["tools", "system", "0"],
            ["tools", "system", "0", "2"],
            ["tools", "system", "2", "4"],
        ]
    if protocol == "responses":
        assert {body["prompt_cache_key"] for body in bodies} == {task_id}
        assert all(body["store"] is False for body in bodies)


@pytest.mark.parametrize("server_name", CHAT_SERVERS)
async def test_servers_with_ways_of_their_own_do_the_same(
    model_server: ModelServer, tmp_path: Path, server_name: str
) -> None:
    # Some get other ids than the model gave, so the answers are told apart by their number.
    read, change, _ = (answer["response"]["toolCalls"] for answer in WORK)
    model_server.answer(turn(0, *read, content="I read it first."), turn(1, *change), completion(2))
    async with agent_behind(gateway(model_server), home=tmp_path, protocol=server_name) as (server, agent):
        (agent.workspace / "a.py").write_text("print('old')\n")
        await agent.finished()
        assert (agent.workspace / "a.py").read_text() == "print('new')\n"
    bodies = sent_by(server.requests)
    for before, after in pairwise(bodies):
        known = flat(before["messages"])
        assert flat(after["messages"])[: len(known)] == known
        assert unmarked(after["tools"]) == unmarked(before["tools"])
    last = bodies[-1]["messages"]
    assert [message["role"] for message in last] == ["system", "user", "assistant", "tool", "assistant", "tool"]
    for answer, result in ((last[2], last[3]), (last[4], last[5])):
        assert [each["id"] for each in answer["tool_calls"]] == [result["tool_call_id"]]
    if server_name == "openrouter":
        assert ["cache_control" in json.dumps(message) for message in last] == [True, False, False, True, False, True]
    if server_name == "gemini":
        schemas = json.dumps([tool["function"]["parameters"] for tool in bodies[0]["tools"]])
        assert not re.search(r'"(?:\$ref|\$defs|const|additionalProperties|exclusiveMinimum)"', schemas)


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_no_key_is_in_what_is_kept_of_a_task(model_server: ModelServer, tmp_path: Path, protocol: str) -> None:
    model_server.answer(completion(None))
    async with agent_behind(gateway(model_server), home=tmp_path, protocol=protocol) as (_, agent):
        await agent.finished()
        heard = repr(agent.heard.log)
    kept = [path for path in agent.home.rglob("*") if path.is_file()]
    with_key = [path.name for path in kept if KEY.encode() in path.read_bytes()]
    held = [path.name for path in kept if b"PRIVATE KEY" in path.read_bytes() or KEY.encode() in path.read_bytes()]
    assert held == ["secrets.json"], with_key
    assert KEY not in heard and GOOGLE_TOKEN not in heard
    assert GOOGLE_TOKEN.encode() not in b"".join(path.read_bytes() for path in kept)


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_two_calls_of_one_answer_get_their_results_in_one_turn(
    model_server: ModelServer, tmp_path: Path, protocol: str
) -> None:
    model_server.answer(
        turn(None, call("read_file", "call_one", path="one.txt"), call("read_file", "call_two", path="two.txt")),
        completion("call_two"),
    )
    async with agent_behind(gateway(model_server), home=tmp_path, protocol=protocol) as (server, agent):
        for name in ("one", "two"):
            (agent.workspace / f"{name}.txt").write_text(f"this is {name}\n")
        await agent.finished()
    before, after = (conversation_of(body) for body in sent_by(server.requests))
    added = after[len(before) :]
    expected = [("call_one", "1 | this is one"), ("call_two", "1 | this is two")]
    match protocol:
        case "responses":
            results = [item for item in added if item["type"] == "function_call_output"]
            assert [(item["call_id"], item["output"]) for item in results] == expected
            assert [item["call_id"] for item in added if item["type"] == "function_call"] == ["call_one", "call_two"]
        case "chat":
            assert [message["role"] for message in added] == ["assistant", "tool", "tool"]
            assert [each["id"] for each in added[0]["tool_calls"]] == ["call_one", "call_two"]
            assert [(message["tool_call_id"], message["content"]) for message in added[1:]] == expected
        case _:
            assert [message["role"] for message in added] == ["assistant", "user"]
            assert [block["id"] for block in added[0]["content"]] == ["call_one", "call_two"]
            assert [(block["tool_use_id"], block["content"]) for block in added[1]["content"]] == expected


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("sees", [True, False], ids=["sees", "blind"])
async def test_an_image_that_was_read_reaches_a_model_that_sees(
    model_server: ModelServer, tmp_path: Path, protocol: str, sees: bool
) -> None:
    model_server.answer(turn(0, call("read_file", "call_look", path="dot.png")), completion(1))
    async with agent_behind(
        gateway(model_server), home=tmp_path, protocol=protocol, profile={"modelSupportsImages": sees}
    ) as (server, agent):
        (agent.workspace / "dot.png").write_bytes(base64.b64decode(PIXEL))
        await agent.finished()
    before, after = (conversation_of(body) for body in sent_by(server.requests))
    added = json.dumps(after[len(before) :])
    assert "dot.png" in added
    if not sees:
        assert IMAGE_OMITTED in added and "iVBOR" not in added
        return
    match protocol:
        case "responses":
            shown = next(part for part in after[-1]["output"] if part["type"] == "input_image")
            assert shown["image_url"].startswith("data:image/png;base64,iVBOR")
        case "chat":
            assert after[-1]["role"] == "user"
            assert after[-1]["content"][0]["image_url"]["url"].startswith("data:image/png;base64,iVBOR")
        case _:
            shown = next(part for part in after[-1]["content"][0]["content"] if part["type"] == "image")
            assert shown["source"]["media_type"] == "image/png"
            assert shown["source"]["data"].startswith("iVBOR")
