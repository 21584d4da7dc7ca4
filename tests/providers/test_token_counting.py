"""Counting tokens by the servers that can, and by no other."""

from __future__ import annotations

import pytest

from hdsp_agent.config import OperatorPolicy, ProviderSettings
from hdsp_agent.local import LocalModels
from hdsp_agent.messages import JsonObject
from hdsp_agent.providers import count_tokens

from .._helpers.model_server import RawServer, Reply, Script, raw_server, refusal
from ._helpers.protocol_profiles import profile

TEXTS = ("one two", "", "three")


def served(*entries: JsonObject, says: object = None) -> Script:
    """A server with this list of models, which counts words."""

    async def answer(reply: Reply) -> None:
        if reply.request.path == "/v1/models":
            told: object = {"object": "list", "data": list(entries)}
        else:
            body = reply.request.body
            words = str(body.get("content", body.get("prompt"))).split()
            told = says or {"tokens": [7] * len(words), "count": len(words), "max_model_len": 4096}
        await reply.send(refusal("200 OK", told))

    return answer


def texts_sent(server: RawServer) -> list[JsonObject]:
    return [request.body for request in server.requests if request.method == "POST"]


async def test_a_llama_cpp_server_is_asked_for_each_text() -> None:
    async with raw_server(served({"id": "file.gguf", "owned_by": "llamacpp"})) as server:
        assert await count_tokens(profile("chat", server.url), TEXTS) == [2, 0, 1]
        assert [request.path for request in server.requests] == ["/v1/models", *["/tokenize?autoload=false"] * 2]
        assert texts_sent(server)[0] == {"content": "one two", "model": "some-model"}


async def test_a_vllm_server_is_asked_its_own_way() -> None:
    async with raw_server(served({"id": "some-model", "owned_by": "vllm"}, {"id": "b", "owned_by": "vllm"})) as server:
        assert await count_tokens(profile("chat", server.url), TEXTS) == [2, 0, 1]
        assert server.requests[1].path == "/tokenize"
        assert texts_sent(server)[0] == {"prompt": "one two", "model": "some-model", "add_special_tokens": False}


@pytest.mark.parametrize(
    "entries",
    [
        pytest.param((), id="no model"),
        pytest.param(({"id": "some-model", "owned_by": "openai"},), id="a gateway to others"),
        pytest.param(({"id": "some-model"},), id="nobody knows whose"),
        pytest.param(({"id": "some-model", "owned_by": "llamacpp", "status": {"value": "unloaded"}},), id="not loaded"),
        pytest.param(
            (
                {"id": "other", "owned_by": "llamacpp", "status": {"value": "loaded"}},
                {"id": "some-model", "owned_by": "llamacpp", "status": {"value": "sleeping"}},
            ),
            id="another one is loaded",
        ),
    ],
)
async def test_no_other_server_is_sent_the_text(entries: tuple[JsonObject, ...]) -> None:
    async with raw_server(served(*entries)) as server:
        assert await count_tokens(profile("chat", server.url), TEXTS) is None
        assert texts_sent(server) == []


async def test_a_server_of_many_models_counts_by_one_that_is_loaded() -> None:
    entries: list[JsonObject] = [
        {"id": "a", "owned_by": "llamacpp", "status": {"value": "unloaded"}},
        {"id": "b", "aliases": ["some-model"], "owned_by": "llamacpp", "status": {"value": "loaded"}},
    ]
    async with raw_server(served(*entries)) as server:
        assert await count_tokens(profile("chat", server.url), TEXTS) == [2, 0, 1]


@pytest.mark.parametrize("provider", ["anthropic", "responses", "ollama", "mistral"])
async def test_who_is_not_known_to_count_here_is_asked_nothing(provider: str) -> None:
    async with raw_server(served({"id": "some-model", "owned_by": "llamacpp"})) as server:
        assert await count_tokens(profile(provider, server.url), TEXTS) is None
        assert server.requests == []


@pytest.mark.parametrize("says", [{"tokens": "many"}, {"tokens": []}, [1, 2], {"error": "no"}])
async def test_an_answer_of_another_form_is_none(says: object) -> None:
    async with raw_server(served({"id": "x", "owned_by": "llamacpp"}, says=says)) as server:
        assert await count_tokens(profile("chat", server.url), TEXTS) is None


@pytest.mark.parametrize("status", ["404 Not Found", "500 Internal Server Error", "307 Temporary Redirect"])
async def test_a_refusal_is_none(status: str) -> None:
    where = () if not status.startswith("3") else ("Location: http://127.0.0.1:9/v1/models",)
    async with raw_server(refusal(status, {"error": "no"}, *where)) as server:
        assert await count_tokens(profile("chat", server.url), TEXTS) is None


async def test_what_cannot_be_used_counts_nothing() -> None:
    unreachable = profile("chat", "http://127.0.0.1:9")
    assert await count_tokens(unreachable, TEXTS) is None
    assert await count_tokens(ProviderSettings(api_provider="openai"), TEXTS) is None
    assert await count_tokens(unreachable, TEXTS, policy=OperatorPolicy(allowed_providers=("anthropic",))) is None


async def test_no_embedded_model_is_loaded_to_count() -> None:
    models = LocalModels()
    settings = ProviderSettings(api_provider="local")
    assert await count_tokens(settings, TEXTS, local=models) is None
    assert await count_tokens(settings, TEXTS) is None
    assert models.runtime.process_id is None
