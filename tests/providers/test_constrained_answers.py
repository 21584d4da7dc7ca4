"""Answers held to a form: what is asked for, and what becomes of what comes."""

from __future__ import annotations

import json
from urllib.parse import urlsplit

import pytest

from hdsp_agent.config import ProviderSettings, tool_set
from hdsp_agent.messages import ApiMessage
from hdsp_agent.providers import ToolCallDelta, ToolCallStart, ToolSpec, _quirks

from .._helpers.model_server import raw_server, sse
from ._helpers.protocol_profiles import ask_once, profile, request, result, user

CELL = ToolSpec(
    "edit_cell",
    "Changes a cell.",
    {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "cell": {"type": "integer", "minimum": 1, "description": "Its number."},
            "code": {"type": "string", "minLength": 1, "maxLength": 20_000},
        },
        "required": ["cell", "code"],
    },
)
ANSWER = ToolSpec("answer", "Answers.", {"type": "object", "properties": {"text": {"type": "string"}}})


def pieces(*texts: str, finish: str = "stop") -> bytes:
    """An answer that comes in these pieces."""
    said = [{"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]} for text in texts]
    return sse(*said, {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}, "[DONE]")


def weak(url: str, **more: object) -> ProviderSettings:
    return profile("ollama", url, toolSet="compound", **more)


def llama(url: str, monkeypatch: pytest.MonkeyPatch) -> ProviderSettings:
    """A profile of a llama.cpp server, which is known by its port."""
    port = urlsplit(url).port
    assert port is not None
    monkeypatch.setitem(_quirks._PORTS, port, "llamacpp")
    return profile("chat", url, toolSet="compound")


def test_the_embedded_model_has_few_tools_and_others_have_all_unless_told_otherwise() -> None:
    assert tool_set(ProviderSettings.model_validate({"apiProvider": "local"})) == "compound"
    assert tool_set(ProviderSettings.model_validate({"apiProvider": "local", "toolSet": "full"})) == "full"
    assert tool_set(ProviderSettings.model_validate({"apiProvider": "ollama"})) == "full"
    assert tool_set(ProviderSettings.model_validate({"apiProvider": "ollama", "toolSet": "compound"})) == "compound"
    assert tool_set(None) == "full"


async def test_the_form_names_the_tool_first_and_calls_go_back_as_text() -> None:
    call = ApiMessage(
        role="assistant",
        content=[{"type": "tool_use", "id": "a", "name": "edit_cell", "input": {"cell": 2, "code": "x = 1"}}],
    )
    said = [user("Fix it"), call, user(result("a", "Cell 2 ran.", is_error=False), "And now?")]
    async with raw_server(pieces('{"tool": "answer", "text": "Done."}')) as server:
        answer, _ = await ask_once(weak(server.url), request(*said, tools=[CELL, ANSWER], tool_choice="any"))
        body = server.requests[0].body
    assert "tools" not in body and "tool_choice" not in body
    assert body["temperature"] == 0
    edit, other = body["response_format"]["json_schema"]["schema"]["anyOf"]
    assert list(edit["properties"]) == ["tool", "cell", "code"] == edit["required"]
    assert edit["properties"] == {
        "tool": {"const": "edit_cell"}, "cell": {"type": "integer", "minimum": 1}, "code": {"type": "string"}
    }  # fmt: skip
    assert other["required"] == ["tool", "text"]
    assert [(message["role"], message["content"]) for message in body["messages"][1:]] == [
        ("user", "Fix it"),
        ("assistant", '{"tool": "edit_cell", "cell": 2, "code": "x = 1"}'),
        ("user", "Cell 2 ran.\n\nAnd now?"),
    ]
    assert [(one.name, json.loads(one.arguments)) for one in answer.calls] == [("answer", {"text": "Done."})]
    assert answer.stop == "tool_use" and answer.text == ""


async def test_one_tool_is_a_form_of_its_own_and_a_request_s_temperature_counts() -> None:
    async with raw_server(pieces('{"tool": "answer", "text": "Done."}')) as server:
        asked = request(user("hi"), tools=[ANSWER], temperature=0.7)
        await ask_once(weak(server.url, modelTemperature=0.2), asked)
        body = server.requests[0].body
    assert body["response_format"]["json_schema"]["schema"]["properties"]["tool"] == {"const": "answer"}
    assert body["temperature"] == 0.7


async def test_a_server_with_grammars_has_the_code_below_the_object(monkeypatch: pytest.MonkeyPatch) -> None:
    call = ApiMessage(
        role="assistant",
        content=[{"type": "tool_use", "id": "a", "name": "edit_cell", "input": {"cell": 2, "code": "x = 1"}}],
    )
    said = [user("Fix it"), call, user(result("a", "Cell 2 ran.", is_error=False), "And now?")]
    text = '{"tool": "edit_cell", "cell": 2}\n```python\nfor x in "ab":\n    print("}\\n")\n```'
    async with raw_server(pieces(*(text[at : at + 3] for at in range(0, len(text), 3)))) as server:
        settings = llama(server.url, monkeypatch)
        answer, events = await ask_once(settings, request(*said, tools=[CELL, ANSWER], tool_choice="any"))
        body = server.requests[0].body
    assert "response_format" not in body and "tools" not in body
    grammar = str(body["grammar"])
    assert grammar.startswith("root ::= call0 | call1\n")
    assert r'''call0 ::= "{\"tool\": \"edit_cell\"" ", \"cell\": " number "}" "\n```python\n" code "\n```"''' in grammar
    assert (
        json.dumps(body["messages"]).count(json.dumps('{"tool": "edit_cell", "cell": 2}\n```python\nx = 1\n```')) == 1
    )
    arguments = {"cell": 2, "code": 'for x in "ab":\n    print("}\\n")'}
    assert json.loads(answer.calls[0].arguments) == arguments
    assert json.loads("".join(event.json for event in events if isinstance(event, ToolCallDelta))) == arguments


async def test_code_that_was_cut_off_is_there_as_far_as_it_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    text = '{"tool": "add_cell"}\n```python\nprint(1)\nprin'
    async with raw_server(pieces(text, finish="length")) as server:
        answer, _ = await ask_once(llama(server.url, monkeypatch), request(user("hi"), tools=[CELL]))
    assert json.loads(answer.calls[0].arguments) == {"code": "print(1)\nprin"}


async def test_a_request_without_tools_is_an_ordinary_one() -> None:
    async with raw_server(pieces("Hello.")) as server:
        answer, _ = await ask_once(weak(server.url), request(user("hi"), tools=[]))
        assert "response_format" not in server.requests[0].body
    assert answer.text == "Hello."


async def test_arguments_arrive_as_they_are_written() -> None:
    text = '{"tool": "edit_cell", "cell": 2, "code": "x = \\"1\\"\\nprint(x)"}'
    async with raw_server(pieces(*(text[at : at + 3] for at in range(0, len(text), 3)))) as server:
        answer, events = await ask_once(weak(server.url), request(user("hi"), tools=[CELL, ANSWER]))
    [start] = [event for event in events if isinstance(event, ToolCallStart)]
    assert start.name == "edit_cell"
    streamed = "".join(event.json for event in events if isinstance(event, ToolCallDelta))
    assert json.loads(streamed) == {"cell": 2, "code": 'x = "1"\nprint(x)'}
    assert json.loads(answer.calls[0].arguments) == {"cell": 2, "code": 'x = "1"\nprint(x)'}


@pytest.mark.parametrize(
    ("text", "finish", "arguments"),
    [
        ('{"tool": "answer", "text": "As far as it we', "length", {"text": "As far as it we"}),
        ('```json\n{"tool": "answer", "text": "Fenced."}\n```', "stop", {"text": "Fenced."}),
        ('{"tool":"answer","text":"One."} {"tool":"answer","text":"Two."}', "stop", {"text": "One."}),
    ],
)
async def test_an_answer_that_is_cut_off_or_wrapped_is_read_as_far_as_it_goes(
    text: str, finish: str, arguments: dict[str, str]
) -> None:
    async with raw_server(pieces(text[:20], text[20:], finish=finish)) as server:
        answer, _ = await ask_once(weak(server.url), request(user("hi"), tools=[CELL, ANSWER]))
    assert [json.loads(one.arguments) for one in answer.calls] == [arguments]


@pytest.mark.parametrize("text", ["I would rather talk.", "{ no object", '{"other": 1}'])
async def test_what_is_no_call_stays_text(text: str) -> None:
    async with raw_server(pieces(*text)) as server:
        answer, _ = await ask_once(weak(server.url), request(user("hi"), tools=[CELL, ANSWER]))
    assert (answer.text, answer.calls) == (text, [])
