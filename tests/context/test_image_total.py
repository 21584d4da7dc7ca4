"""All images of a request together: the oldest are left out, in steps, and what fits stays the very same."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hdsp_agent.context import SentHistory, within_picture_total
from hdsp_agent.context._image_total import PICTURE_LEFT_OUT, picture_sizes
from hdsp_agent.messages import ApiMessage, JsonObject


def picture(size: int) -> JsonObject:
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * (size * 4 // 3)}}


def said(*sizes: int) -> ApiMessage:
    return ApiMessage(role="user", ts=1, content=[{"type": "text", "text": "look"}, *(picture(size) for size in sizes)])


def returned(*sizes: int) -> ApiMessage:
    parts: list[JsonObject] = [{"type": "text", "text": "plot"}, *(picture(size) for size in sizes)]
    return ApiMessage(role="user", ts=2, content=[{"type": "tool_result", "tool_use_id": "t", "content": [*parts]}])


def kept(messages: list[ApiMessage]) -> list[str]:
    """Each image in its order: sent, or left out."""
    found: list[str] = []
    for message in messages:
        assert not isinstance(message.content, str)
        for block in message.content:
            content = block.get("content")
            for part in content if isinstance(content, list) else [block]:
                assert isinstance(part, dict)
                if part.get("type") == "image":
                    found.append("sent")
                elif part.get("text") == PICTURE_LEFT_OUT:
                    found.append("left out")
    return found


def test_what_fits_is_the_same_object() -> None:
    messages = [said(300), returned(300), ApiMessage(role="assistant", ts=3, content="text")]
    assert within_picture_total(messages, 600) is messages


def test_the_oldest_are_left_out_of_words_and_of_results() -> None:
    messages = [said(300, 300), returned(300, 300), said(300)]
    assert kept(list(within_picture_total(messages, 1_200))) == ["left out", "sent", "sent", "sent", "sent"]
    assert kept(list(within_picture_total(messages, 600))) == ["left out", "left out", "left out", "sent", "sent"]
    # The texts stay, and the messages given are not changed.
    assert "look" in str(within_picture_total(messages, 600)[0].content)
    assert kept(messages) == ["sent"] * 5
    assert kept(list(within_picture_total(messages, 0))) == ["left out"] * 5


def test_room_is_made_in_steps_so_that_the_beginning_mostly_stays_as_it_was_sent() -> None:
    messages: list[ApiMessage] = []
    beginnings: set[int] = set()
    for _ in range(40):
        messages.append(said(300))
        beginnings.add(kept(list(within_picture_total(messages, 3_600))).count("left out"))
    # Forty images of which twelve fit: three at a time go.
    assert beginnings == set(range(0, 31, 3))


@given(st.lists(st.lists(st.integers(0, 500), max_size=4), max_size=8), st.integers(0, 2_000))
def test_what_is_left_always_fits_and_the_newest_stay(sizes: list[list[int]], most: int) -> None:
    messages = [said(*each) if number % 2 else returned(*each) for number, each in enumerate(sizes)]
    fitting = list(within_picture_total(messages, most))
    marks = kept(fitting)
    assert marks == sorted(marks)  # "left out" before "sent"
    flat = [len("A" * (size * 4 // 3)) * 3 // 4 for each in sizes for size in each]
    assert sum(size for size, mark in zip(flat, marks, strict=True) if mark == "sent") <= most
    assert len(marks) == len(flat)


def test_what_a_growing_history_knows_of_its_images_is_what_there_is_in_it() -> None:
    history = SentHistory()
    for number in range(6):
        history.add(said(300 * number, 30))
        history.pictures()
        history.add(
            ApiMessage(
                role="assistant", ts=1, content=[{"type": "tool_use", "id": f"t{number}", "name": "x", "input": {}}]
            )
        )
        part: JsonObject = {"type": "tool_result", "tool_use_id": f"t{number}", "content": [picture(60)]}
        history.add(ApiMessage(role="user", ts=2, content=[part]))
        assert history.pictures() == {
            place: sizes for place, message in enumerate(history.messages) if (sizes := picture_sizes(message))
        }
    history.clear_results({"t0": "cleared", "t3": "cleared"})
    assert sum(map(len, history.pictures().values())) == 6 * 2 + 4
