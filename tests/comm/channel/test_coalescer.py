from __future__ import annotations

import asyncio
from contextlib import closing

from hypothesis import given, settings
from hypothesis import strategies as st

from hdsp_agent.comm._coalescer import Delta, DeltaCoalescer, utf16_length


def coalescer_into(deltas: list[Delta], *, interval: float = 0.01, max_waiting: int = 1000) -> DeltaCoalescer:
    return DeltaCoalescer(deltas.append, interval=interval, max_waiting=max_waiting)


def javascript_length(text: str) -> int:
    return sum(2 if ord(character) > 0xFFFF else 1 for character in text)


async def test_many_small_pieces_cost_one_frame_per_interval() -> None:
    deltas: list[Delta] = []
    coalescer = coalescer_into(deltas, interval=0.05)
    loop = asyncio.get_running_loop()
    began = loop.time()
    count = 0
    while loop.time() - began < 0.5 or count < 500:
        coalescer.add("t", 1, "text", "ab")
        count += 1
        await asyncio.sleep(0.001)
    coalescer.stop()
    assert len(deltas) <= (loop.time() - began) / 0.05 + 3
    assert "".join(delta.append for delta in deltas) == "ab" * count


async def test_the_first_piece_after_a_pause_goes_at_once() -> None:
    deltas: list[Delta] = []
    coalescer = coalescer_into(deltas)
    coalescer.add("t", 1, "text", "a")
    assert [delta.append for delta in deltas] == ["a"]
    coalescer.add("t", 1, "text", "b")
    assert len(deltas) == 1
    await asyncio.sleep(0.1)
    assert [delta.append for delta in deltas] == ["a", "b"]
    coalescer.add("t", 1, "text", "c")
    assert deltas[-1] == Delta("t", 1, "text", 2, "c")
    coalescer.stop()


async def test_a_piece_after_a_flush_still_leaves_by_itself() -> None:
    deltas: list[Delta] = []
    coalescer = coalescer_into(deltas)
    coalescer.settle("t", 1, {"text": 0})
    coalescer.add("t", 1, "text", "a")
    coalescer.add("t", 1, "text", "b")
    coalescer.flush("t", 1)
    coalescer.add("t", 1, "text", "c")
    await asyncio.sleep(0.1)
    assert "".join(delta.append for delta in deltas) == "abc"
    coalescer.stop()


async def test_each_message_has_its_own_turn_and_one_timer_serves_all() -> None:
    deltas: list[Delta] = []
    coalescer = coalescer_into(deltas)
    timers = 0
    loop = asyncio.get_running_loop()
    call_later = loop.call_later

    def counted(*args, **kwargs):  # type: ignore[no-untyped-def]
        nonlocal timers
        timers += 1
        return call_later(*args, **kwargs)

    loop.call_later = counted  # type: ignore[method-assign, assignment]  # to count
    try:
        for ts in range(50):
            coalescer.add("t", ts, "text", "a")
            coalescer.add("t", ts, "text", "b")
    finally:
        loop.call_later = call_later  # type: ignore[method-assign]
    assert len(deltas) == 50
    assert timers == 1
    await asyncio.sleep(0.1)
    assert len(deltas) == 100
    coalescer.stop()


async def test_a_pause_leaves_no_timer_running() -> None:
    deltas: list[Delta] = []
    coalescer = coalescer_into(deltas)
    coalescer.add("t", 1, "text", "a")
    await asyncio.sleep(0.1)
    assert coalescer._timer is None


async def test_whatever_follows_about_a_message_comes_after_its_text() -> None:
    deltas: list[Delta] = []
    coalescer = coalescer_into(deltas)
    coalescer.add("t", 1, "text", "a")
    coalescer.add("t", 1, "text", "b")
    coalescer.add("t", 2, "text", "x")
    coalescer.add("t", 2, "text", "y")
    coalescer.flush("t", 1)
    assert [(delta.ts, delta.append) for delta in deltas] == [(1, "a"), (2, "x"), (1, "b")]
    coalescer.stop()


async def test_offsets_count_what_javascript_counts() -> None:
    deltas: list[Delta] = []
    coalescer = coalescer_into(deltas)
    coalescer.settle("t", 1, {"text": utf16_length("안녕")})
    for piece in ["하세요 ", "👩🏽‍🚀", "é", "끝"]:
        coalescer.add("t", 1, "text", piece)
        coalescer.flush("t", 1)
    text = "안녕"
    for delta in deltas:
        assert delta.offset == javascript_length(text)
        text += delta.append
    assert text == "안녕하세요 👩🏽‍🚀é끝"
    coalescer.stop()


async def test_halves_of_an_emoji_that_arrive_apart_are_joined() -> None:
    deltas: list[Delta] = []
    coalescer = coalescer_into(deltas)
    coalescer.add("t", 1, "text", "a\ud83d")
    await asyncio.sleep(0.05)
    assert [delta.append for delta in deltas] == ["a"]
    coalescer.add("t", 1, "text", "\ude00b")
    await asyncio.sleep(0.05)
    assert [(delta.offset, delta.append) for delta in deltas] == [(0, "a"), (1, "😀b")]
    coalescer.stop()


async def test_half_an_emoji_that_stays_alone_is_replaced_and_offsets_still_fit() -> None:
    deltas: list[Delta] = []
    coalescer = coalescer_into(deltas)
    coalescer.add("t", 1, "text", "a\ud83d")
    coalescer.flush("t", 1)
    coalescer.add("t", 1, "text", "\ude00")
    coalescer.stop()
    assert [(delta.offset, delta.append) for delta in deltas] == [(0, "a"), (1, "\ufffd"), (2, "\ufffd")]


async def test_text_that_waits_stays_small() -> None:
    deltas: list[Delta] = []
    coalescer = coalescer_into(deltas, interval=10, max_waiting=100)
    for _ in range(1000):
        coalescer.add("t", 1, "text", "x" * 30)
    assert len(deltas) > 200
    assert max(len(delta.append) for delta in deltas) < 200
    coalescer.stop()


async def test_stopping_emits_what_waits_and_nothing_waits_afterwards() -> None:
    deltas: list[Delta] = []
    coalescer = coalescer_into(deltas, interval=10)
    coalescer.add("t", 1, "text", "a")
    coalescer.add("t", 1, "text", "b")
    coalescer.stop()
    coalescer.add("t", 1, "text", "c")
    coalescer.add("t", 1, "text", "d")
    assert "".join(delta.append for delta in deltas) == "abcd"


async def test_a_finished_message_and_a_closed_task_are_forgotten() -> None:
    deltas: list[Delta] = []
    coalescer = coalescer_into(deltas)
    coalescer.add("t", 1, "text", "a")
    coalescer.settle("t", 1, None)
    coalescer.add("t", 2, "text", "b")
    coalescer.add("u", 2, "text", "c")
    coalescer.forget_task("t")
    assert len(coalescer) == 1
    coalescer.stop()


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["text", "reasoning"]), st.text(max_size=8), st.booleans()), max_size=40))
def test_what_arrives_is_what_was_appended_at_the_offsets_said(pieces: list[tuple[str, str, bool]]) -> None:
    async def run() -> None:
        deltas: list[Delta] = []
        coalescer = coalescer_into(deltas)
        for field, piece, flush in pieces:
            coalescer.add("t", 1, field, piece)
            if flush:
                coalescer.flush("t", 1)
        coalescer.stop()
        for field in ("text", "reasoning"):
            text = ""
            for delta in deltas:
                if delta.field == field:
                    assert delta.offset == javascript_length(text)
                    text += delta.append
            assert text == "".join(piece for name, piece, _ in pieces if name == field)

    with closing(asyncio.new_event_loop()) as loop:
        loop.run_until_complete(run())
