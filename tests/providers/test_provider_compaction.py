"""Condensing at the provider, over a real socket and the official SDK: what is sent, what comes back, and what goes back."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any, Final

import pytest
from openai import AsyncOpenAI
from openai.types.responses import CompactedResponse
from openai.types.responses.response_compact_params import ResponseCompactParams
from pydantic import TypeAdapter

from hdsp_agent.messages import ApiMessage
from hdsp_agent.providers import (
    CompactingClient,
    CompactionOffers,
    EncryptedItemRefused,
    ModelError,
    Timeouts,
    UsageReport,
    sealed_items,
)
from hdsp_agent.providers._provider_compaction import endpoint_of

from .._helpers.model_server import Reply, raw_server, refusal
from ._helpers.protocol_profiles import ask, image, opened, profile, request, result, user
from .test_responses import DONE, USAGE, message

SEALED: Final[dict[str, Any]] = {"type": "compaction", "id": "cmp_1", "encrypted_content": "b3BhcXVl" * 40}


def compacted(*output: object) -> dict[str, Any]:
    """The documented answer: what the person said, and one sealed item."""
    usage = {**USAGE, "total_tokens": 120}
    return {"id": "resp_1", "object": "response.compaction", "created_at": 1, "output": [*output], "usage": usage}


ANSWER: Final = compacted({"type": "message", "role": "user", "content": []}, SEALED)
CONDENSED: Final = refusal("200 OK", ANSWER)


def conversation() -> tuple[ApiMessage, ...]:
    called = ApiMessage(
        role="assistant",
        content=[
            {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": "call_1", "name": "get_weather", "input": {"city": "Seoul"}},
        ],
    )
    return user("hi", image()), called, user(result("call_1", "sunny"))


async def test_the_endpoint_is_asked_as_the_sdk_asks_it_with_the_conversation_as_it_is_sent() -> None:
    asked = request(*conversation(), cache_key="task-1", max_output=500)
    async with raw_server(CONDENSED, DONE) as server, opened(profile("responses", server.url)) as client:
        assert isinstance(client, CompactingClient)
        found = await client.compact(asked)
        await ask(client, asked)
        sent, ordinary = server.requests
    async with raw_server(CONDENSED) as server:
        sdk = AsyncOpenAI(api_key="k", base_url=f"{server.url}/v1", max_retries=0)
        told = await sdk.responses.compact(model="gpt-5.1", input="hi")
        await sdk.close()
        [official] = server.requests
    assert (sent.method, sent.path) == (official.method, official.path)
    assert set(sent.body) == {"model", "input", "instructions", "prompt_cache_key"}
    TypeAdapter(ResponseCompactParams).validate_python(sent.body)
    # The beginning is the conversation's own, so the provider has it in its cache.
    assert all(sent.body[key] == ordinary.body[key] for key in sent.body)
    assert isinstance(told, CompactedResponse)
    assert found.item == {**SEALED, "sealed_for": client.endpoint}
    assert found.usage == UsageReport(10, 20, cache_read=60, cache_write=30, reasoning=15)


async def test_the_sealed_item_goes_back_as_it_came_and_only_where_it_can_be_read() -> None:
    async with raw_server(CONDENSED, DONE, DONE) as server, opened(profile("responses", server.url)) as client:
        assert isinstance(client, CompactingClient)
        found = await client.compact(request(user("hi")))
        told = user("What was.").model_copy(update={"reasoning_details": [found.item], "is_summary": True})
        await ask(client, request(user("hi"), told, user("On.")))
        here = server.requests[-1].body["input"]
        async with opened(profile("responses", server.url, apiModelId="gpt-5.1-mini")) as other:
            await ask(other, request(user("hi"), told, user("On.")))
        there = server.requests[-1].body["input"]
    assert [item.get("type", item.get("role")) for item in here] == ["user", "compaction", "user", "user"]
    assert here[1] == SEALED
    assert there == [here[0], *here[2:]] and "What was." in json.dumps(there)


@pytest.mark.parametrize("protocol", ["anthropic", "chat", "openrouter"])
async def test_other_protocols_are_sent_the_text_alone(protocol: str) -> None:
    told = user("What was.").model_copy(update={"reasoning_details": [{**SEALED, "sealed_for": "x"}]})
    async with raw_server(refusal("400 Bad Request", {})) as server, opened(profile(protocol, server.url)) as client:
        assert not isinstance(client, CompactingClient)
        with pytest.raises(ModelError):
            await ask(client, request(told))
        sent = json.dumps(server.requests[0].body)
    assert "What was." in sent and "compaction" not in sent and str(SEALED["encrypted_content"]) not in sent


async def test_what_is_kept_of_an_address_tells_nothing_of_it() -> None:
    async with raw_server(CONDENSED) as server, opened(profile("responses", server.url)) as client:
        assert isinstance(client, CompactingClient)
        found = await client.compact(request(user("hi")))
    assert found.item == {**SEALED, "sealed_for": client.endpoint} and "127.0.0.1" not in json.dumps(found.item)
    plain = endpoint_of("https://host:8443/v1/", "m")
    assert plain == endpoint_of("https://anna:pass-word@host:8443/v1/", "m") and re.fullmatch("[0-9a-f]{64}", plain)
    others = [("https://host:8443/v1/", "n"), ("https://host/v1/", "m"), ("http://host:8443/v1/", "m")]
    assert len({plain, *(endpoint_of(*other) for other in others)}) == 4


def refused(message: str, code: str | None = None, param: str | None = None, status: str = "400 Bad Request") -> bytes:
    error = {"message": message, "type": "invalid_request_error", "code": code, "param": param}
    return refusal(status, {"error": error})


UNREADABLE: Final = {
    "code": refused("It could not be verified.", "invalid_encrypted_content"),
    "words": refused("The encrypted content for item cmp_1 could not be verified. Reason: another organization."),
    "words_of_old": refused("The encrypted content b3Bh...cXVl could not be decrypted or parsed."),
    "unknown_kind": refused("Invalid value: 'compaction'.", "invalid_value", "input[1].type"),
    "unprocessable": refused("No.", None, "input[1].encrypted_content", "422 Unprocessable Entity"),
}
OTHERWISE: Final = {
    "echo": refused("Invalid prompt: 'explain compaction and encrypted_content to me'", "invalid_prompt"),
    "echoed_words": refused("Refused: 'The encrypted content for item cmp_1 could not be verified.'", "invalid_prompt"),
    "echoed_code": refused('Refused: {"code": "invalid_encrypted_content"}', "invalid_prompt"),
    "another_item": refused("Invalid value.", "invalid_value", "input[0].type"),
    "reasoning": refused("The encrypted content for item rs_1 could not be verified.", "invalid_encrypted_content"),
    "busy": refused("The encrypted content x could not be verified.", status="503 Service Unavailable"),
}


def answered() -> ApiMessage:
    thought: dict[str, Any] = {"type": "reasoning", "id": "rs_1", "encrypted_content": "dGhvdWdodA=="}
    said = ApiMessage(role="assistant", content=[{"type": "text", "text": "Yes."}])
    return said.model_copy(update={"reasoning_details": [thought]})


@pytest.mark.parametrize("words", UNREADABLE)
async def test_what_the_provider_cannot_read_any_more_is_said_and_left_out_from_then_on(words: str) -> None:
    no = UNREADABLE[words]
    async with raw_server(CONDENSED, no, DONE) as server, opened(profile("responses", server.url)) as client:
        assert isinstance(client, CompactingClient)
        found = await client.compact(request(user("hi")))
        told = user("What was.").model_copy(update={"reasoning_details": [found.item]})
        asked = request(user("hi"), told, answered(), user("On."))
        with pytest.raises(EncryptedItemRefused):
            await ask(client, asked)
        assert client.endpoint is None
        await ask(client, asked)
        with pytest.raises(ModelError):
            await client.compact(asked)
        kinds = ["compaction" in json.dumps(one.body["input"]) for one in server.requests[1:]]
    assert kinds == [True, False]


@pytest.mark.parametrize("words", OTHERWISE)
async def test_no_other_refusal_costs_what_is_sealed(words: str) -> None:
    no = OTHERWISE[words]
    async with raw_server(CONDENSED, no, DONE) as server, opened(profile("responses", server.url)) as client:
        assert isinstance(client, CompactingClient)
        endpoint = client.endpoint
        found = await client.compact(request(user("hi")))
        told = user("What was.").model_copy(update={"reasoning_details": [found.item]})
        asked = request(user("hi"), told, answered(), user("On."))
        with pytest.raises(ModelError) as raised:
            await ask(client, asked)
        await ask(client, asked)
        assert not isinstance(raised.value, EncryptedItemRefused) and client.endpoint == endpoint is not None
        kinds = ["compaction" in json.dumps(one.body["input"]) for one in server.requests[1:]]
    assert kinds == [True, True]


async def test_what_it_cannot_read_when_it_is_to_condense_again_is_said_too() -> None:
    no = UNREADABLE["code"]
    async with raw_server(CONDENSED, no) as server, opened(profile("responses", server.url)) as client:
        assert isinstance(client, CompactingClient)
        found = await client.compact(request(user("hi")))
        told = user("What was.").model_copy(update={"reasoning_details": [found.item]})
        with pytest.raises(EncryptedItemRefused):
            await client.compact(request(user("hi"), told))
        assert client.endpoint is None


@pytest.mark.parametrize(
    ("output", "found"),
    [([], 0), ([SEALED, SEALED], 2), ([{**SEALED, "encrypted_content": ""}], 0), ([message("A summary.")], 0)],
)
async def test_an_answer_without_just_one_sealed_item_is_none(output: list[object], found: int) -> None:
    async with (
        raw_server(refusal("200 OK", compacted(*output))) as server,
        opened(profile("responses", server.url)) as client,
    ):
        assert isinstance(client, CompactingClient)
        with pytest.raises(ModelError, match=f"to {found} items"):
            await client.compact(request(user("hi")))


@pytest.mark.parametrize("answer", [refusal("200 OK", "a page"), b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n<html"])
async def test_an_answer_that_is_no_such_thing_is_a_model_s_error(answer: bytes) -> None:
    async with raw_server(answer) as server, opened(profile("responses", server.url)) as client:
        assert isinstance(client, CompactingClient)
        with pytest.raises(ModelError):
            await client.compact(request(user("hi")))


async def test_a_provider_that_never_answers_is_given_up() -> None:
    async def silent(reply: Reply) -> None:
        await asyncio.Event().wait()

    async with raw_server(silent) as server, opened(profile("responses", server.url), Timeouts(1, 0.2, 0.2)) as client:
        assert isinstance(client, CompactingClient)
        with pytest.raises(ModelError) as raised:
            await client.compact(request(user("hi")))
    assert raised.value.kind == "timeout"


def test_an_endpoint_that_lacks_it_is_not_asked_again_and_one_that_failed_not_soon() -> None:
    now = [0.0]
    offers = CompactionOffers(lambda: now[0])
    assert offers.may_be_asked("a") and offers.may_be_asked("b")
    offers.failed("a", ModelError("No.", http_status=404))
    offers.failed("b", ModelError("Slow.", kind="timeout"))
    assert not offers.may_be_asked("a") and not offers.may_be_asked("b") and offers.may_be_asked("c")
    now[0] = 600.0
    assert offers.may_be_asked("b") and not offers.may_be_asked("a")


def test_only_sealed_items_are_found() -> None:
    told = user("x").model_copy(
        update={"reasoning_details": [{"type": "reasoning"}, "odd", {**SEALED, "sealed_for": "e"}]}
    )
    assert len(sealed_items(told)) == len(sealed_items(told, "e")) == 1 and not sealed_items(told, "other")
