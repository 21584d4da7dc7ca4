"""The scripted model, which tests and demonstrations rely on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hdsp_agent.errors import InvalidSetting
from hdsp_agent.providers import ModelError, ModelRequest, ScriptedModel, TextDelta, call_tool, say

from ._helpers.protocol_profiles import ask, ask_once, request, settings_of, user


async def test_turns_are_played_in_order_and_then_it_repeats_what_it_hears() -> None:
    model = ScriptedModel([call_tool("read_file", {"path": "a.py"}), say("Done with it.")])
    first, _ = await ask(model, request(user("go")))
    assert [(call.name, json.loads(call.arguments)) for call in first.calls] == [("read_file", {"path": "a.py"})]
    assert first.stop == "tool_use"
    assert (await ask(model, request(user("on"))))[0].text == "Done with it."
    assert "more words" in (await ask(model, request(user("more words"))))[0].text
    assert len(model.requests) == 3


async def test_a_turn_can_look_at_the_request() -> None:
    model = ScriptedModel([lambda asked: say(f"You have {len(asked.tools)} tool.")])
    assert (await ask(model, request(user("go"))))[0].text == "You have 1 tool."


async def test_a_turn_that_ends_early_is_a_broken_stream() -> None:
    model = ScriptedModel([[TextDelta("Half")]])
    with pytest.raises(ModelError) as raised:
        await ask(model, ModelRequest("", [user("go")]))
    assert raised.value.kind == "broken_stream"


async def test_a_script_is_read_from_a_file(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(
        json.dumps(
            [
                [
                    {"thinking": "Hm.", "signature": "c2ln"},
                    {"text": "Two calls."},
                    {"wait": 0.001},
                    {"tool": "a", "arguments": {"x": 1}},
                    {"tool": "b"},
                    {"usage": {"input": 3, "cacheRead": 4}},
                ],
            ]
        )
    )
    answer, _ = await ask_once(settings_of(script), request(user("go")))
    assert [block["type"] for block in answer.content] == ["thinking", "text", "tool_use", "tool_use"]
    assert [call.id for call in answer.calls] == ["call_1", "call_2"]
    assert answer.usage is not None
    assert (answer.usage.input, answer.usage.cache_read, answer.stop) == (3, 4, "tool_use")


async def test_a_script_can_fail_like_a_provider(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text('{"turns": [[{"text": "a"}, {"error": "Busy", "kind": "rate_limit", "retryAfter": 2}]]}')
    with pytest.raises(ModelError) as raised:
        await ask_once(settings_of(script), request(user("go")))
    assert (raised.value.kind, raised.value.retry_after) == ("rate_limit", 2)


@pytest.mark.parametrize("words", ["", "{", '[[{"dance": 1}]]', "{}"])
async def test_a_script_that_is_none_is_refused(tmp_path: Path, words: str) -> None:
    script = tmp_path / "script.json"
    script.write_text(words)
    with pytest.raises(InvalidSetting, match=r"script\.json"):
        await ask_once(settings_of(script), request(user("go")))
