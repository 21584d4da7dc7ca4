"""The newest messages of a conversation that is worked on, over what was read of it when it was opened."""

from __future__ import annotations

from hdsp_agent.comm.live_messages import LiveMessages
from hdsp_agent.messages import ClineMessage

PAGE = 50


def message(ts: int) -> ClineMessage:
    return ClineMessage(ts=ts, type="say", say="text", text=str(ts))


def told(first: int, last: int) -> LiveMessages:
    live = LiveMessages()
    for ts in range(first, last + 1):
        live.put(message(ts))
    return live


def test_a_conversation_that_was_opened_before_its_first_message_has_older_ones() -> None:
    page, has_older = told(1, 200).over([], PAGE)
    assert [one.ts for one in page] == list(range(151, 201)) and has_older


def test_what_fits_on_a_page_has_none_before_it() -> None:
    assert told(1, PAGE).over([], PAGE) == ([message(ts) for ts in range(1, PAGE + 1)], False)
    page, has_older = told(11, PAGE).over([message(ts) for ts in range(1, 11)], PAGE)
    assert len(page) == PAGE and not has_older
    assert told(11, PAGE + 1).over([message(ts) for ts in range(1, 11)], PAGE)[1]


def test_where_the_conversation_changed_the_disk_says_it() -> None:
    live = told(1, 200)
    live.clear()
    assert live.over([message(1)], PAGE) == ([message(1)], False)
