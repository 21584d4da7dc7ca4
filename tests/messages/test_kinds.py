"""Asks and the state they leave a task in."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest
from pydantic import ValidationError

from hdsp_agent import messages
from hdsp_agent.messages import AnyAsk, ClineAsk, ClineMessage, HistoryItem


def test_the_classes_share_no_ask_and_leave_none_out() -> None:
    sets = [messages.IdleAsk, messages.ResumableAsk, messages.InteractiveAsk, messages.NonBlockingAsk]
    members = [ask for asks in sets for ask in get_args(asks)]
    assert sorted(members) == sorted(get_args(ClineAsk))


@pytest.mark.parametrize(
    ("ask", "status"),
    [
        ("command_output", "running"),
        ("tool", "interactive"),
        ("resume_task", "resumable"),
        ("completion_result", "idle"),
        ("browser_action_launch", "interactive"),
    ],
)
def test_the_last_ask_decides_a_tasks_status(ask: AnyAsk, status: str) -> None:
    assert messages.status_during(ask) == status


@pytest.mark.parametrize("kind", sorted(messages.LEGACY_SAYS))
def test_messages_of_older_conversations_are_read(kind: str) -> None:
    assert ClineMessage.model_validate({"ts": 1, "type": "say", "say": kind}).say == kind


def test_kinds_of_older_conversations_are_not_among_those_we_write() -> None:
    assert not messages.LEGACY_ASKS & set(get_args(messages.ClineAsk))
    assert not messages.LEGACY_SAYS & set(get_args(messages.ClineSay))


def test_each_kind_we_are_said_to_write_is_written_by_some_code_of_the_server() -> None:
    package = Path(messages.__file__).parent.parent
    readers = (package / "messages", package / "cli", package / "persistence" / "exchange")
    sources = [path.read_text(encoding="utf-8") for path in package.rglob("*.py") if not {*readers} & {*path.parents}]
    brought = (package / "persistence" / "exchange" / "_import_embedded.py").read_text(encoding="utf-8")
    code = "\n".join([*sources, brought])
    written = {*get_args(messages.ClineSay), *get_args(messages.ClineAsk)} - {"use_mcp_server"}
    assert {kind for kind in written if f'"{kind}"' not in code} == set()
    assert {kind for kind in messages.UNWRITTEN_SAYS if f'"{kind}"' in code} == set()
    assert set(messages.UNWRITTEN_SAYS) == set(get_args(messages.UnwrittenSay))


def test_an_unknown_kind_is_an_error() -> None:
    with pytest.raises(ValidationError):
        ClineMessage.model_validate({"ts": 1, "type": "say", "say": "sung"})


def test_fields_of_a_newer_version_are_dropped_from_what_is_read() -> None:
    message = ClineMessage.model_validate({"ts": 1, "type": "say", "say": "text", "hologram": True})
    assert message.to_wire() == {"ts": 1, "type": "say", "say": "text"}


def test_a_history_item_of_roo_is_read_and_written_unchanged() -> None:
    item = {
        "id": "t1",
        "number": 3,
        "ts": 1_765_000_000_000,
        "task": "plot it",
        "tokensIn": 5,
        "tokensOut": 6,
        "totalCost": 0.25,
        "status": "delegated",
        "childIds": ["t2"],
    }
    assert HistoryItem.model_validate(item).to_wire() == item


def test_a_message_cannot_be_changed() -> None:
    message = ClineMessage(ts=1, type="say", say="text")
    with pytest.raises(ValidationError):
        message.text = "other"  # type: ignore[misc]
