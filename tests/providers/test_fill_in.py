"""Filling gaps: each provider by its own route, and those that have none."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from hdsp_agent.config import OperatorPolicy
from hdsp_agent.errors import ForbiddenByOperator, Unsupported
from hdsp_agent.messages import JsonObject
from hdsp_agent.providers import Filling, Gap, ModelError, UsageReport, can_fill_in, open_fill_in

from .._helpers.model_server import raw_server, refusal
from ._helpers.protocol_profiles import profile

GAP = Gap("def area(w, h):\n    return ", "\n\nprint(area(1, 2))", most_tokens=20, stop=("\n",))


def answer(body: object) -> bytes:
    return refusal("200 OK", body)


COUNTED = {"prompt_tokens": 12, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 8}}
COMPLETION = {"choices": [{"text": "w * h", "finish_reason": "stop"}], "usage": COUNTED}
CHAT = {"choices": [{"message": {"content": "w * h"}, "finish_reason": "length"}]}
OLLAMA = {"response": "w * h", "done_reason": "length", "prompt_eval_count": 12, "eval_count": 3}


@pytest.mark.parametrize(
    ("provider", "path", "said", "expected"),
    [
        ("chat", "/v1/completions", COMPLETION, Filling("w * h", False, UsageReport(4, 3, cache_read=8))),
        ("mistral", "/v1/fim/completions", CHAT, Filling("w * h", True)),
        ("deepseek", "/beta/completions", COMPLETION, Filling("w * h", False, UsageReport(4, 3, cache_read=8))),
        ("ollama", "/api/generate", OLLAMA, Filling("w * h", True, UsageReport(12, 3))),
    ],
)
async def test_each_has_a_route_of_its_own(provider: str, path: str, said: object, expected: Filling) -> None:
    async with raw_server(answer(said)) as server:
        client = await open_fill_in(profile(provider, server.url))
        try:
            assert await client.fill(GAP) == expected
            assert client.info.id == server.requests[0].body["model"]
        finally:
            await client.close()
        sent = server.requests[0]
    assert sent.path == path
    assert (sent.body["prompt"], sent.body["suffix"]) == (GAP.before, GAP.after)
    options: Mapping[str, object] = sent.body.get("options", sent.body)
    assert options.get("num_predict", options.get("max_tokens")) == 20
    assert options["stop"] == ["\n"]


async def test_a_refusal_is_told_as_any_other() -> None:
    refused: JsonObject = {"error": "qwen3 does not support insert"}
    async with raw_server(refusal("400 Bad Request", refused)) as server:
        client = await open_fill_in(profile("ollama", server.url))
        try:
            with pytest.raises(ModelError, match="does not support insert"):
                await client.fill(GAP)
        finally:
            await client.close()


@pytest.mark.parametrize("body", [b"[]", b"null", json.dumps({"choices": []}).encode(), b'{"choices": [{"text": 5}]}'])
async def test_an_answer_of_another_form_is_nothing(body: bytes) -> None:
    async with raw_server(answer(json.loads(body))) as server:
        client = await open_fill_in(profile("chat", server.url))
        try:
            assert await client.fill(GAP) == Filling("", is_cut=False)
        finally:
            await client.close()


async def test_who_cannot_says_so() -> None:
    assert can_fill_in("local") and can_fill_in("ollama")
    assert not can_fill_in("anthropic") and not can_fill_in(None)
    with pytest.raises(Unsupported, match="Anthropic cannot complete code"):
        await open_fill_in(profile("anthropic", "http://127.0.0.1:9"))
    with pytest.raises(ForbiddenByOperator):
        await open_fill_in(
            profile("ollama", "http://127.0.0.1:9"), policy=OperatorPolicy(allowed_providers=("anthropic",))
        )
