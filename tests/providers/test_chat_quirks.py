"""Servers of the Chat Completions protocol, each with its own idea of it."""

from __future__ import annotations

import json

import pytest

from hdsp_agent.messages import ApiMessage, JsonObject
from hdsp_agent.providers import ModelError, TextDelta, ThinkingDelta, UsageReport, cost_of

from .._helpers.model_server import raw_server, refusal, sse
from ._helpers.protocol_profiles import ask, ask_once, image, opened, profile, request, result, user


def delta(content: dict[str, object], finish: str | None = None) -> dict[str, object]:
    return {"choices": [{"index": 0, "delta": content, "finish_reason": finish}]}


def calls(*pieces: dict[str, object]) -> dict[str, object]:
    return delta({"tool_calls": list(pieces)})


STOP = [delta({}, "stop"), "[DONE]"]
DONE = sse(*STOP)


def called(*ids: str) -> ApiMessage:
    content: list[JsonObject] = [
        {"type": "tool_use", "id": id, "name": "get_weather", "input": {"n": id}} for id in ids
    ]
    return ApiMessage(role="assistant", content=content)


@pytest.mark.parametrize(
    "pieces",
    [
        pytest.param(
            [
                {"index": 0, "id": "a", "function": {"name": "one", "arguments": ""}},
                {"index": 0, "function": {"arguments": '{"x"'}},
                {"index": 0, "function": {"arguments": ": 1}"}},
                {"index": 1, "id": "b", "function": {"name": "two", "arguments": '{"x": 2}'}},
            ],
            id="as documented",
        ),
        pytest.param(
            [
                {"id": "a", "function": {"name": "one", "arguments": '{"x"'}},
                {"function": {"arguments": ": 1}"}},
                {"id": "b", "function": {"name": "two", "arguments": '{"x": 2}'}},
            ],
            id="no index",
        ),
        pytest.param(
            [
                {"index": 0, "id": "a", "function": {"name": "one", "arguments": '{"x": 1}'}},
                {"index": 0, "id": "b", "function": {"name": "two", "arguments": '{"x": 2}'}},
            ],
            id="whole calls, all with index 0",
        ),
        pytest.param(
            [
                {"function": {"name": "one", "arguments": '{"x": 1}'}},
                {"function": {"name": "two", "arguments": '{"x": 2}'}},
            ],
            id="whole calls, neither index nor id",
        ),
        pytest.param(
            [
                {"index": 0, "id": "", "function": {"name": "one", "arguments": {"x": 1}}},
                {"index": 1, "id": "", "function": {"name": "two", "arguments": {"x": 2}}},
            ],
            id="empty ids, arguments as objects",
        ),
        pytest.param(
            [
                {"index": 0, "id": "same", "function": {"name": "one", "arguments": '{"x": 1}'}},
                {"index": 1, "id": "same", "function": {"name": "two", "arguments": '{"x": 2}'}},
            ],
            id="the same id for all",
        ),
        pytest.param(
            [
                {"index": 0, "id": "a", "function": {"arguments": '{"x"'}},
                {"index": 0, "id": "a", "function": {"name": "one", "arguments": ": 1}"}},
                {"index": 1, "id": "b", "function": {"name": "two", "arguments": '{"x": 2}'}},
            ],
            id="the id in every piece, the name late",
        ),
        pytest.param(
            [
                {"index": 0, "id": "a", "function": {"name": "one", "arguments": '{"x"'}},
                {"index": 1, "id": "b", "function": {"name": "two", "arguments": '{"x"'}},
                {"index": 0, "function": {"arguments": ": 1}"}},
                {"index": 1, "function": {"arguments": ": 2}"}},
            ],
            id="pieces of two calls in turn",
        ),
        pytest.param(
            [
                {"index": 0, "id": "a", "function": {"name": "one", "arguments": '{"x"'}},
                {"index": 0, "id": "a", "function": {"name": "one", "arguments": ": 1}"}},
                {"index": 1, "id": "b", "function": {"name": "two", "arguments": '{"x": 2}'}},
            ],
            id="the name again",
        ),
    ],
)
@pytest.mark.parametrize("finish", ["tool_calls", "stop"])
async def test_calls_are_put_together_however_they_come(pieces: list[dict[str, object]], finish: str) -> None:
    async with raw_server(sse(*(calls(piece) for piece in pieces), delta({}, finish), "[DONE]")) as server:
        answer, _ = await ask_once(profile("chat", server.url), request(user("hi")))
    assert [(call.name, json.loads(call.arguments)) for call in answer.calls] == [("one", {"x": 1}), ("two", {"x": 2})]
    assert answer.stop == "tool_use"
    ids = [call.id for call in answer.calls]
    assert all(ids)
    assert len(set(ids)) == 2


@pytest.mark.parametrize(
    "chunks",
    [
        [delta({"reasoning_content": "Think"}), delta({"reasoning_content": "ing."})],
        [delta({"reasoning": "Thinking."})],
        [delta({"reasoning_details": [{"type": "reasoning.text", "text": "Thinking.", "index": 0}]})],
        [delta({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Thinking."}]}]})],
        [
            delta({"content": "<th"}),
            delta({"content": "ink>\nThinking."}),
            delta({"content": "\n</thi"}),
            delta({"content": "nk>\n\n"}),
        ],
    ],
    ids=["reasoning_content", "reasoning", "details", "parts", "tags"],
)
async def test_thoughts_are_found_wherever_they_are(chunks: list[object]) -> None:
    async with raw_server(sse(*chunks, delta({"content": "Answer."}), *STOP)) as server:
        answer, events = await ask_once(profile("chat", server.url), request(user("hi")))
    assert "".join(event.text for event in events if isinstance(event, ThinkingDelta)) == "Thinking."
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == "Answer."
    assert [block["type"] for block in answer.content] == ["thinking", "text"]


@pytest.mark.parametrize("words", ["<b>bold</b>", "a <think> in the middle", "<", "  <thin", "<think"])
async def test_text_that_only_looks_like_thoughts_stays_text(words: str) -> None:
    async with raw_server(sse(*(delta({"content": letter}) for letter in words), *STOP)) as server:
        answer, _ = await ask_once(profile("chat", server.url), request(user("hi")))
    assert answer.text == words
    assert answer.stop == "end"


@pytest.mark.parametrize(
    ("usage", "report"),
    [
        ({"prompt_tokens": 10, "completion_tokens": 5}, UsageReport(10, 5)),
        (
            {"prompt_tokens": 100, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 80}},
            UsageReport(20, 5, cache_read=80),
        ),
        (
            {"prompt_tokens": 100, "completion_tokens": 5, "prompt_cache_hit_tokens": 64},
            UsageReport(36, 5, cache_read=64),
        ),
        (
            {
                "prompt_tokens": 10,
                "completion_tokens": 5,
                "total_tokens": 45,
                "completion_tokens_details": {"reasoning_tokens": 30},
            },
            UsageReport(10, 35, reasoning=30),
        ),
        ({"prompt_tokens": 10, "completion_tokens": 5, "cost": 0.25}, UsageReport(10, 5, cost=0.25)),
    ],
    ids=["plain", "cached", "deepseek", "thinking apart", "cost"],
)
async def test_usage_is_understood_in_each_form(usage: dict[str, object], report: UsageReport) -> None:
    async with raw_server(sse(delta({}, "stop"), {"choices": [], "usage": usage}, "[DONE]")) as server:
        answer, _ = await ask_once(profile("chat", server.url), request(user("hi")))
    assert answer.usage == report


async def test_a_server_without_usage_ends_as_well() -> None:
    async with raw_server(DONE) as server:
        answer, _ = await ask_once(profile("chat", server.url), request(user("hi")))
    assert (answer.stop, answer.usage) == ("end", None)


async def test_a_server_that_cannot_stream_is_asked_for_the_whole_answer() -> None:
    message = {"content": "Done.", "tool_calls": [{"id": "a", "function": {"name": "one", "arguments": "{}"}}]}
    whole = {
        "choices": [{"message": message, "finish_reason": "tool_calls"}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2},
    }
    async with raw_server(refusal("200 OK", whole)) as server:
        answer, _ = await ask_once(profile("chat", server.url, openAiStreamingEnabled=False), request(user("hi")))
        body = server.requests[0].body
    assert body["stream"] is False
    assert "stream_options" not in body
    assert (answer.text, answer.stop, [call.name for call in answer.calls]) == ("Done.", "tool_use", ["one"])


@pytest.mark.parametrize(
    ("words", "refused", "instead"),
    [
        ("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
         "max_tokens", "max_completion_tokens"),
        ("Unrecognized request argument supplied: stream_options", "stream_options", None),
        ("body.stream_options: Extra inputs are not permitted", "stream_options", None),
        ("Unknown parameter: 'reasoning_effort'", "reasoning_effort", None),
    ],
)  # fmt: skip
async def test_a_parameter_the_server_does_not_know_is_left_out_from_then_on(
    words: str, refused: str, instead: str | None
) -> None:
    no = refusal("400 Bad Request", {"error": {"message": words, "type": "invalid_request_error"}})
    settings = {"modelMaxTokens": 500, "reasoningEffort": "low"}
    async with raw_server(no, DONE) as server, opened(profile("chat", server.url, **settings)) as client:
        await ask(client, request(user("hi")))
        await ask(client, request(user("hi")))
        bodies = [each.body for each in server.requests]
    assert [refused in body for body in bodies] == [True, False, False]
    if instead is not None:
        assert [body.get(instead) for body in bodies] == [None, 500, 500]


async def test_other_refusals_are_not_tried_again() -> None:
    no = refusal("400 Bad Request", {"error": {"message": "max_tokens is too large: 500. At most 100 are supported."}})
    async with raw_server(no) as server, opened(profile("chat", server.url, modelMaxTokens=500)) as client:
        with pytest.raises(ModelError):
            await ask(client, request(user("hi")))
        assert len(server.requests) == 1


async def test_mistral_gets_ids_and_words_it_takes() -> None:
    conversation = [
        user("hi"),
        called("toolu_01ABC", "abcDEF123"),
        user(result("toolu_01ABC", "x"), result("abcDEF123", "y"), "And now?"),
    ]
    async with raw_server(DONE) as server:
        await ask_once(profile("mistral", server.url), request(*conversation, tool_choice="any"))
        body = server.requests[0].body
    roles = [message["role"] for message in body["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "tool", "assistant", "user"]
    ids = [call["id"] for call in body["messages"][2]["tool_calls"]]
    assert ids == [message["tool_call_id"] for message in body["messages"][3:5]]
    assert all(len(id) == 9 and id.isalnum() for id in ids)
    assert ids[1] == "abcDEF123"
    assert body["tool_choice"] == "any"
    assert "stream_options" not in body


async def test_deepseek_gets_the_thoughts_behind_every_call_back() -> None:
    def thought(id: str, *thoughts: str) -> ApiMessage:
        thinking: list[JsonObject] = [{"type": "thinking", "thinking": text} for text in thoughts]
        use: JsonObject = {"type": "tool_use", "id": id, "name": "get_weather", "input": {}}
        return ApiMessage(role="assistant", content=[*thinking, use])

    conversation = [
        user("one"),
        thought("a", "about a"),
        user(result("a", "x")),
        user("two"),
        thought("b"),
        user(result("b", "y")),
        ApiMessage(role="assistant", content="Nothing thought, nothing called."),
        user("three"),
    ]
    async with raw_server(DONE) as server:
        await ask_once(profile("deepseek", server.url, reasoningEffort="high"), request(*conversation))
        body = server.requests[0].body
    answers = [message for message in body["messages"] if message["role"] == "assistant"]
    assert [message.get("reasoning_content") for message in answers] == ["about a", "", None]
    assert body["thinking"] == {"type": "enabled"}


async def test_deepseek_without_thoughts_gets_none_back() -> None:
    use: JsonObject = {"type": "tool_use", "id": "a", "name": "get_weather", "input": {}}
    called = ApiMessage(role="assistant", content=[use])
    async with raw_server(DONE) as server:
        await ask_once(profile("deepseek", server.url), request(user("one"), called, user(result("a", "x"))))
        assert "reasoning_content" not in str(server.requests[0].body["messages"])


async def test_openrouter_gets_details_back_cache_marks_and_the_upstream_provider() -> None:
    details = [
        {"type": "reasoning.text", "text": "Thin", "index": 0, "format": "anthropic"},
        {"type": "reasoning.text", "text": "king.", "signature": "c2ln", "index": 0},
        {"type": "reasoning.encrypted", "data": "xyz", "index": 1},
    ]
    answering = sse(*(delta({"reasoning_details": [each]}) for each in details), delta({"content": "Yes."}), *STOP)
    settings = {"openRouterSpecificProvider": "Anthropic", "enableReasoningEffort": True}
    async with (
        raw_server(answering, DONE) as server,
        opened(profile("openrouter", server.url, **settings)) as client,
    ):
        answer, _ = await ask(client, request(user("hi")))
        await ask(client, request(user("hi"), answer.message(), user("more")))
        body = server.requests[1].body
        assert server.requests[0].headers["authorization"] == "Bearer k"
    assert body["messages"][2]["reasoning_details"] == [
        {"type": "reasoning.text", "text": "Thinking.", "signature": "c2ln", "index": 0, "format": "anthropic"},
        {"type": "reasoning.encrypted", "data": "xyz", "index": 1},
    ]
    marked = [n for n, message in enumerate(body["messages"]) if "cache_control" in json.dumps(message)]
    assert marked == [0, 1, 3]
    assert body["provider"]["only"] == ["Anthropic"]
    assert body["reasoning"] == {"effort": "medium"}
    assert body["usage"] == {"include": True}


async def test_signatures_of_calls_go_back_with_their_calls() -> None:
    piece = {"index": 0, "id": "a", "function": {"name": "one", "arguments": "{}"}}
    extra = {"google": {"thought_signature": "c2ln"}}
    async with (
        raw_server(sse(calls({**piece, "extra_content": extra}), *STOP), DONE) as server,
        opened(profile("chat", server.url)) as client,
    ):
        answer, _ = await ask(client, request(user("hi")))
        await ask(client, request(user("hi"), answer.message(), user(result("a", "x"))))
        sent = server.requests[1].body["messages"][2]["tool_calls"][0]
    assert sent["extra_content"] == extra


async def test_r1_format_alternates_roles_without_a_system_message() -> None:
    async with raw_server(DONE) as server:
        settings = profile("chat", server.url, openAiR1FormatEnabled=True)
        await ask_once(settings, request(user("one"), user("two"), called("a"), user(result("a", "x"), "three")))
        messages = server.requests[0].body["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant", "tool"]
    assert messages[0]["content"] == "Be brief.\n\none\n\ntwo"
    assert messages[2]["content"] == "x\n\nthree"


async def test_pictures_in_results_follow_them_and_blind_models_get_words() -> None:
    shown = user(result("a", [{"type": "text", "text": "a plot"}, image()]))
    for sees in (True, False):
        async with raw_server(DONE) as server:
            settings = profile("chat", server.url, modelSupportsImages=sees)
            await ask_once(settings, request(user("hi"), called("a"), shown))
            messages = server.requests[0].body["messages"]
        assert [message["role"] for message in messages][3:] == (["tool", "user"] if sees else ["tool"])
        assert "a plot" in messages[3]["content"]
        assert ("image_url" in json.dumps(messages)) == sees
    assert "left out" in messages[3]["content"]


async def test_ollama_is_found_below_its_bare_address_and_gets_no_key() -> None:
    async with raw_server(DONE) as server:
        await ask_once(profile("ollama", server.url), request(user("hi"), parallel_tools=False))
        sent = server.requests[0]
    assert sent.path == "/v1/chat/completions"
    assert sent.headers["authorization"] == "Bearer none"
    assert "parallel_tool_calls" not in sent.body


@pytest.mark.parametrize(
    ("base", "path", "key"),
    [
        ("", "/openai/deployments/some-model/chat/completions?api-version=2025-01-01", "api-key"),
        ("/openai/deployments/other", "/openai/deployments/other/chat/completions?api-version=2025-01-01", "api-key"),
        ("/openai/v1", "/openai/v1/chat/completions", "api-key"),
    ],
)
async def test_azure_is_spoken_to_in_its_own_ways(base: str, path: str, key: str) -> None:
    settings = {
        "openAiUseAzure": True,
        "azureApiVersion": "2025-01-01",
        "openAiApiKey": "azure-key",
        "modelMaxTokens": 9,
    }
    async with raw_server(DONE) as server:
        await ask_once(profile("chat", server.url, **settings, openAiBaseUrl=server.url + base), request(user("hi")))
        sent = server.requests[0]
    assert sent.path == path
    assert sent.headers[key] == "azure-key"
    assert sent.body["max_completion_tokens"] == 9


async def test_own_headers_are_sent_and_those_with_keys_are_never_shown() -> None:
    headers = {"openAiHeaders": {"X-Team": "data"}, "openAiSecretHeaders": "X-Gateway-Key: hush\nX-Other: b"}
    async with raw_server(DONE) as server:
        settings = profile("chat", server.url, **headers)
        await ask_once(settings, request(user("hi")))
        sent = server.requests[0].headers
    assert (sent["x-team"], sent["x-gateway-key"], sent["x-other"]) == ("data", "hush", "b")
    assert "hush" not in repr(settings)


async def test_gemini_gets_schemas_it_understands() -> None:
    from hdsp_agent.providers import ToolSpec

    parameters: JsonObject = {
        "$defs": {"City": {"type": "object", "properties": {"default": {"type": "string", "title": "x"}}}},
        "type": "object",
        "additionalProperties": False,
        "properties": {"city": {"$ref": "#/$defs/City"}, "kind": {"const": "now", "default": "now"}},
    }
    async with raw_server(DONE) as server:
        settings = profile("chat", server.url, apiProvider="gemini", geminiApiKey="k", apiModelId="gemini-3-pro")
        settings = settings.model_copy(update={"google_gemini_base_url": server.url})
        await ask_once(settings, request(user("hi"), tools=[ToolSpec("t", "d", parameters)]))
        sent = server.requests[0].body["tools"][0]["function"]["parameters"]
    assert sent == {
        "type": "object",
        "properties": {
            "city": {"type": "object", "properties": {"default": {"type": "string"}}},
            "kind": {"enum": ["now"]},
        },
    }


async def test_costs_come_from_prices_unless_the_provider_tells() -> None:
    prices = {"modelInputPrice": 2, "modelOutputPrice": 10, "modelCacheReadsPrice": 0.2, "modelCacheWritesPrice": 2.5}
    async with raw_server(DONE) as server, opened(profile("chat", server.url, **prices)) as client:
        info = client.info
    usage = UsageReport(input=1_000_000, output=100_000, cache_read=500_000, cache_write=100_000)
    assert cost_of(info, usage) == pytest.approx(2 + 1 + 0.1 + 0.25)
    assert cost_of(info, UsageReport(1, 1, cost=0.5)) == 0.5


def test_each_service_is_known_by_its_address() -> None:
    from hdsp_agent.providers._quirks import server_of

    addresses = {
        "https://api.openai.com/v1": "openai",
        "https://me.openai.azure.com": "azure",
        "https://api.x.ai/v1": "xai",
        "https://notx.ai/v1": "unknown",
        "https://api.groq.com/openai/v1": "groq",
        "http://localhost:11434/v1": "ollama",
        "http://127.0.0.1:1234/v1": "lmstudio",
        "http://localhost:8000/v1": "vllm",
        "http://localhost:8080/v1": "llamacpp",
        "https://gateway.example/v1": "unknown",
    }
    settings = profile("chat", "http://localhost")
    assert {address: server_of(settings, address) for address in addresses} == addresses


@pytest.mark.parametrize(
    ("provider", "expected"),
    [
        ("groq", {"reasoning_effort": "high", "reasoning_format": "parsed", "max_completion_tokens": 9}),
        ("gemini", {"reasoning_effort": "high", "max_tokens": 9}),
        ("lmstudio", {"max_tokens": 9}),
        ("azure", {"reasoning_effort": "high", "max_completion_tokens": 9, "prompt_cache_key": "t"}),
        ("xai", {"reasoning_effort": "high", "max_completion_tokens": 9}),
    ],
)
def test_each_service_is_asked_in_its_own_words(provider: str, expected: dict[str, object]) -> None:
    from hdsp_agent.providers._chat_request import ChatOptions, chat_body
    from hdsp_agent.providers._quirks import quirks_of

    quirks = quirks_of(provider, "some-model", profile("chat", "http://localhost"))
    options = ChatOptions("some-model", quirks, images=True, max_output=9, effort="high")
    body = chat_body(request(user("hi"), cache_key="t"), options)
    common = ("model", "messages", "stream", "tools", "stream_options")
    assert {key: value for key, value in body.items() if key not in common} == expected
