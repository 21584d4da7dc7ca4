"""Answers that break off, refusals and overflows through each official SDK: tried again, or told, and nothing half done."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from hdsp_agent.messages import ClineMessage

from .._helpers.model_gateway import Break, gateway
from .._helpers.model_server import ModelServer, refusal
from ._helpers.provider_agent import KEY, PROTOCOLS, agent_behind, call, completion, conversation_of, sent_by, turn

PARTIAL = "I write it right now."
BROKEN_THEN_DONE = (
    turn(
        None,
        call("write_to_file", "call_broken", path="half.txt", content="half"),
        content=PARTIAL,
        sequenceIndex=0,
    ),
    completion(None, sequenceIndex=1),
)


def accounts(messages: list[ClineMessage]) -> list[dict[str, object]]:
    """What is told of each request."""
    return [json.loads(message.text or "{}") for message in messages if message.say == "api_req_started"]


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("how", ["reset", "end"])
async def test_an_answer_that_breaks_off_is_asked_for_again_and_its_calls_are_not_run(
    model_server: ModelServer, tmp_path: Path, protocol: str, how: Break
) -> None:
    model_server.answer(*BROKEN_THEN_DONE)
    scripts = (gateway(model_server, broken=how), gateway(model_server))
    async with agent_behind(*scripts, home=tmp_path, protocol=protocol) as (server, agent):
        task_id = await agent.finished()
        messages = await agent.ui(task_id)
        assert not (agent.workspace / "half.txt").exists()
        called = [block["name"] for block in await agent.blocks(task_id, "tool_use")]
    # Half an answer is not part of the conversation the model is sent.
    first, second = sent_by(server.requests)
    assert second == first
    assert called == ["attempt_completion"]
    # It was shown, stands there as the answer that failed, and no question of it is left.
    assert [message.text for message in messages if message.say == "text"] == ["Do it", PARTIAL]
    failed, ended = accounts(messages)
    assert failed["cancelReason"] == "streaming_failed" and failed["streamingFailedMessage"]
    assert "cancelReason" not in ended
    withdrawn, last = (message for message in messages if message.ask)
    assert (withdrawn.ask, withdrawn.is_answered) == ("tool", False)
    assert last.ask == "completion_result"
    assert not [message for message in messages if message.partial]
    # The wait is counted down, and over in the end.
    told = [message for _, _, message in agent.heard.log if isinstance(message, ClineMessage)]
    waits = [message.text or "" for message in told if message.say == "api_req_retry_delayed"]
    assert re.findall(r"<retry_timer>(\d+)</retry_timer>", "\n".join(waits)) == ["5", "4", "3", "2", "1"]
    assert "retry_timer" not in waits[-1]
    assert sum(agent.slept) == 5


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_task_whose_answer_broke_off_goes_on_after_a_restart(
    model_server: ModelServer, tmp_path: Path, protocol: str
) -> None:
    model_server.answer(*BROKEN_THEN_DONE)
    broken = gateway(model_server, broken="reset")
    async with agent_behind(broken, home=tmp_path, protocol=protocol, maxAutoRetries=0) as (server, agent):
        task_id = await agent.start()
        await agent.asked(task_id, "api_req_failed")
    # The same profile, at another address.
    async with agent_behind(gateway(model_server), home=tmp_path, protocol=protocol) as (server, agent):
        await agent.manager.resume(task_id)
        ask = await agent.asked(task_id, "resume_task")
        await agent.manager.answer(task_id, ask.ts, "yesButtonClicked")
        await agent.ended(task_id)
        assert not (agent.workspace / "half.txt").exists()
        assert [block["name"] for block in await agent.blocks(task_id, "tool_use")] == ["attempt_completion"]
    (second,) = sent_by(server.requests)
    asked = json.dumps(conversation_of(second))
    assert "Do it" in asked and PARTIAL not in asked


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_stream_of_garbage_ends_in_a_readable_error_and_a_retry_offer(
    model_server: ModelServer, tmp_path: Path, protocol: str
) -> None:
    model_server.answer(*BROKEN_THEN_DONE)
    scripts = (gateway(model_server, broken="garbage"), gateway(model_server))
    async with agent_behind(*scripts, home=tmp_path, protocol=protocol, maxAutoRetries=0) as (_, agent):
        task_id = await agent.start()
        ask = await agent.asked(task_id, "api_req_failed")
        assert "sent something that cannot be read" in (ask.text or "")
        assert "Traceback" not in (ask.text or "")
        assert not (agent.workspace / "half.txt").exists()
        await agent.manager.answer(task_id, ask.ts, "yesButtonClicked")
        await agent.ended(task_id)
        assert len(await agent.says(task_id, "api_req_retried")) == 1


@pytest.mark.parametrize(
    ("protocol", "key"), [("anthropic", "apiKey"), ("responses", "openAiNativeApiKey"), ("chat", "openAiApiKey")]
)
async def test_a_refused_key_is_told_at_once_and_a_new_one_lets_the_task_go_on(
    model_server: ModelServer, tmp_path: Path, protocol: str, key: str
) -> None:
    model_server.answer(completion(None))
    body = {"error": {"type": "authentication_error", "code": "invalid_api_key", "message": "Incorrect API key"}}
    scripts = (refusal("401 Unauthorized", body), gateway(model_server))
    async with agent_behind(*scripts, home=tmp_path, protocol=protocol) as (server, agent):
        task_id = await agent.start()
        ask = await agent.asked(task_id, "api_req_failed")
        assert "does not accept the key" in (ask.text or "")
        assert agent.slept == []
        await agent.config.profiles.update("tested", {key: "sk-the-new-one"})
        await agent.manager.answer(task_id, ask.ts, "yesButtonClicked")
        await agent.ended(task_id)
    assert [request.headers["authorization"] for request in server.requests] == [
        f"Bearer {KEY}",
        "Bearer sk-the-new-one",
    ]


LIMITED = {
    "anthropic": {"type": "error", "error": {"type": "rate_limit_error", "message": "Number of requests has exceeded"}},
    "responses": {"error": {"message": "Rate limit reached for requests", "code": "rate_limit_exceeded"}},
    "chat": {"error": {"message": "Rate limit reached for requests", "code": "rate_limit_exceeded"}},
    "bedrock": {"message": "Too many requests, please wait before trying again."},
    "vertex": {"error": {"code": 429, "message": "Resource exhausted, try later", "status": "RESOURCE_EXHAUSTED"}},
}


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_provider_that_says_when_to_come_back_is_waited_for(
    model_server: ModelServer, tmp_path: Path, protocol: str
) -> None:
    model_server.answer(completion(None))
    limited = refusal("429 Too Many Requests", LIMITED[protocol], "Retry-After: 17")
    async with agent_behind(limited, gateway(model_server), home=tmp_path, protocol=protocol) as (server, agent):
        task_id = await agent.finished()
        assert sum(agent.slept) == 18
        (said,) = await agent.says(task_id, "api_req_retry_delayed")
    assert len(sent_by(server.requests)) == 2
    assert said.text and "retry_timer" not in said.text


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_an_overloaded_provider_is_asked_again_ever_later(
    model_server: ModelServer, tmp_path: Path, protocol: str
) -> None:
    model_server.answer(completion(None))
    status = "529 Overloaded" if protocol in ("anthropic", "vertex") else "503 Service Unavailable"
    full = refusal(status, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})
    scripts = (full, full, full, gateway(model_server))
    async with agent_behind(*scripts, home=tmp_path, protocol=protocol, autoApprovalEnabled=False) as (server, agent):
        await agent.finished()
        # Nothing had begun, so nobody needs to be asked.
        assert sum(agent.slept) == 5 + 10 + 20
    assert len(sent_by(server.requests)) == 4


OVERFLOWS = {
    "anthropic": (
        {
            "type": "error",
            "error": {"type": "invalid_request_error", "message": "prompt is too long: 215000 tokens > 200000 maximum"},
        },
        "215",
    ),
    "responses": (
        {
            "error": {
                "message": "Your input exceeds the context window of this model. Please adjust your input and try again.",
                "type": "invalid_request_error",
                "param": "input",
                "code": "context_length_exceeded",
            }
        },
        "window",
    ),
    "chat": (
        {
            "error": {
                "message": "This model's maximum context length is 128000 tokens. However, your messages resulted in "
                "131072 tokens. Please reduce the length of the messages.",
                "type": "invalid_request_error",
                "param": "messages",
                "code": "context_length_exceeded",
            }
        },
        "131",
    ),
    "bedrock": ({"message": "Input is too long for requested model."}, "requested model"),
    "vertex": (
        {
            "type": "error",
            "error": {"type": "invalid_request_error", "message": "prompt is too long: 215000 tokens > 200000 maximum"},
        },
        "215",
    ),
}


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_an_overflow_is_told_once_and_not_tried_for_ever(tmp_path: Path, protocol: str) -> None:
    body, told = OVERFLOWS[protocol]
    async with agent_behind(refusal("400 Bad Request", body), home=tmp_path, protocol=protocol) as (server, agent):
        task_id = await agent.start()
        ask = await agent.asked(task_id, "api_req_failed")
        text = ask.text or ""
        assert "too long for the model" in text and told in text
        assert "{" not in text
        assert len(sent_by(server.requests)) <= 4
        assert agent.slept == []
        messages = await agent.ui(task_id)
        assert [message.ask for message in messages if message.ask] == ["api_req_failed"]
        assert {account["cancelReason"] for account in accounts(messages)} == {"streaming_failed"}
        await agent.manager.answer(task_id, ask.ts, "noButtonClicked")
        await agent.asked(task_id, "resume_task")
