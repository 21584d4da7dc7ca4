"""What models are told in the place of what is left out, and limits that documents name: nobody changes them by accident."""

from __future__ import annotations

import pytest

from hdsp_agent.agent.context_window.hidden_steps import newest_step_to_hide
from hdsp_agent.agent.context_window.largest_outputs import MOST_CUT, TRUNCATED
from hdsp_agent.context import COMPACT_USER_MESSAGE_MAX_TOKENS, room_for_output
from hdsp_agent.context._content_blocks import IMAGE_OMITTED, NOTHING_SAID
from hdsp_agent.context._window_monitor import ADVICE
from hdsp_agent.messages import JsonObject
from hdsp_agent.persistence import INTERRUPTED, ApiRecord

CALL: list[JsonObject] = [{"type": "tool_use", "id": "c", "name": "look", "input": {}}]
RESULT: list[JsonObject] = [{"type": "tool_result", "tool_use_id": "c", "content": "seen"}]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (NOTHING_SAID, "[user interrupted]"),
        (IMAGE_OMITTED, "image content omitted because you do not support image input"),
        (INTERRUPTED, "Task was interrupted before this tool call could be completed."),
        (
            TRUNCATED,
            (
                "[TOOL RESULT TRUNCATED - Context limit exceeded. Original output was too large and has been truncated to "
                "recover the session. Please re-run this tool if you need the full output.]"
            ),
        ),
        (
            ADVICE,
            (
                "High context usage detected (>80%). Consider summarizing recent tool outputs or delegating subtasks to "
                "background agents to free up context space."
            ),
        ),
    ],
)
def test_these_words_stay_as_models_know_them(words: str, expected: str) -> None:
    assert words == expected


def test_these_limits_stay() -> None:
    assert (COMPACT_USER_MESSAGE_MAX_TOKENS, MOST_CUT, room_for_output(10_000_000).amount) == (20_000, 20, 50_000)


@pytest.mark.parametrize(("before", "hidden"), [(1, []), (2, [3, 4])])
def test_two_messages_stay_when_the_newest_step_is_hidden(before: int, hidden: list[int]) -> None:
    said = [_record(seq, "user", f"word {seq}") for seq in range(3 - before, 3)]
    records = [*said, _record(3, "assistant", CALL), _record(4, "user", RESULT)]
    assert [record.seq for record in newest_step_to_hide(records)] == hidden


def _record(seq: int, role: str, content: str | list[JsonObject]) -> ApiRecord:
    return ApiRecord.model_validate(
        {"seq": seq, "role": role, "content": content, "timestamp": "2026-01-01T00:00:00Z", "token_count": 1}
    )
