from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hdsp_agent.comm._frame_ring import FramesGone, Ring


def ring_of(count: int, *, max_frames: int = 100, max_bytes: int = 10_000) -> Ring:
    ring = Ring(max_frames=max_frames, max_bytes=max_bytes)
    for number in range(1, count + 1):
        assert ring.append(b"%d" % number) == number
    return ring


def test_returns_what_was_missed_in_order() -> None:
    assert ring_of(5).since(2) == [b"3", b"4", b"5"]


def test_a_tab_that_missed_nothing_gets_nothing() -> None:
    assert ring_of(5).since(5) == []


def test_the_very_first_place_is_valid_while_nothing_was_dropped() -> None:
    assert ring_of(2).since(0) == [b"1", b"2"]
    assert ring_of(0).since(0) == []


def test_a_place_that_was_dropped_is_gone() -> None:
    ring = ring_of(6, max_frames=4)
    assert isinstance(ring.since(1), FramesGone)
    assert ring.since(2) == [b"3", b"4", b"5", b"6"]


def test_a_place_that_never_was_is_gone() -> None:
    ring = ring_of(3)
    assert isinstance(ring.since(4), FramesGone)
    assert isinstance(ring.since(-1), FramesGone)


def test_every_ring_has_a_life_of_its_own() -> None:
    assert ring_of(1).epoch != ring_of(1).epoch


def test_a_frame_larger_than_the_ring_still_reaches_tabs_that_keep_up() -> None:
    ring = ring_of(3, max_bytes=10)
    ring.append(b"x" * 50)
    assert ring.since(3) == [b"x" * 50]
    assert isinstance(ring.since(2), FramesGone)
    ring.append(b"y")
    assert ring.bytes_held == 1


def test_reading_stops_at_the_size_asked_for_but_always_moves_on() -> None:
    ring = ring_of(9)
    assert ring.since(0, max_bytes=3) == [b"1", b"2", b"3"]
    assert ring.since(0, max_bytes=0) == [b"1"]
    assert ring.since(2, until=4) == [b"3", b"4"]


@given(
    sizes=st.lists(st.integers(0, 40), max_size=60),
    max_frames=st.integers(1, 10),
    max_bytes=st.integers(1, 100),
)
def test_bounds_hold_and_what_is_kept_is_the_unbroken_newest_part(
    sizes: list[int], max_frames: int, max_bytes: int
) -> None:
    ring = Ring(max_frames=max_frames, max_bytes=max_bytes)
    sent = [b"%d:" % number + b"x" * size for number, size in enumerate(sizes)]
    for frame in sent:
        ring.append(frame)
        assert len(ring) <= max_frames
        assert ring.bytes_held <= max_bytes or len(ring) == 1
    for place in range(len(sent) + 1):
        missed = ring.since(place)
        if isinstance(missed, FramesGone):
            assert len(sent) - place > len(ring)
        else:
            assert missed == sent[place:]
