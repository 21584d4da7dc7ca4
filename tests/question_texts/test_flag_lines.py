"""Warnings of a question, in words."""

from __future__ import annotations

from typing import get_args

import pytest

from hdsp_agent.messages import ApprovalFlag, ClineMessage
from hdsp_agent.question_texts import flag_lines
from hdsp_agent.question_texts._flag_lines import _WORDS


def test_every_warning_has_words() -> None:
    assert set(_WORDS) == set(get_args(ApprovalFlag))
    for words in _WORDS.values():
        assert all(len(sentence.split()) <= 25 for sentence in words.split("."))


def test_a_question_without_warnings_has_none() -> None:
    assert list(flag_lines(ClineMessage(ts=1, type="ask", ask="command", text="ls"))) == []


@pytest.mark.skipif("approval_flags" not in ClineMessage.model_fields, reason="questions carry no warnings yet")
def test_the_warnings_of_a_question_are_told_in_its_order() -> None:
    question = ClineMessage.model_validate(
        {"ts": 1, "type": "ask", "ask": "command", "text": "x", "approvalFlags": ["uses_network", "as_other_user"]}
    )
    assert list(flag_lines(question)) == [
        "! It can fetch and send data over the network.",
        "! It runs with the permissions of another user, such as root.",
    ]
