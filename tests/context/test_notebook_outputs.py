"""A notebook's outputs in little room: what they mean stays."""

from __future__ import annotations

import sys
import traceback

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hdsp_agent.context import Budget, last_written, texts_told

from .._helpers.timing import processor_time

ROOM = Budget("bytes", 2_000)


def outputs_told(texts: list[str], budget: Budget) -> str:
    return texts_told([last_written(text) for text in texts], budget)


def frame(rows: int, *, shape: bool = True) -> str:
    lines = ["       city  amount", *(f"{n:<5} Seoul  {n * 3:>6}" for n in range(rows))]
    return "\n".join([*lines, "", f"[{rows} rows x 2 columns]"] if shape else lines)


def bar(done: int, *, end: str = "\r") -> str:
    return f"Loading: {done:3d}%|{'█' * (done // 10):<10}| {done}/100 [00:0{done // 20}<00:01, 100it/s]{end}"


def test_short_outputs_are_told_whole_in_their_order() -> None:
    assert outputs_told(["one\ntwo\n", "3"], ROOM) == "one\ntwo\n3"


def test_a_table_keeps_head_tail_and_shape() -> None:
    told = outputs_told([frame(1_000)], ROOM).split("\n")

    assert told[0].split() == ["city", "amount"]
    assert told[1].startswith("0 ")
    assert told[2].startswith("1 ")
    assert told[-2].startswith("999 ")
    assert told[-1] == "[1000 rows x 2 columns]"
    note = next(line for line in told if line.startswith("[…"))
    rows = [line for line in told[1:-1] if line != note]
    assert note == f"[… {1_000 - len(rows)} rows left out …]"
    assert len("\n".join(told)) <= ROOM.bytes + 80


def test_a_table_that_does_not_tell_its_shape_is_counted() -> None:
    told = outputs_told([frame(500, shape=False)], ROOM)
    assert told.endswith("[500 rows]")
    assert "\n499 " in told


def test_a_framed_table_keeps_its_header_and_the_shape_above_it() -> None:
    rows = "\n".join(f"│ {n:<4} ┆ a{n:<4} │" for n in range(300))
    told = outputs_told(
        [
            f"shape: (300, 2)\n┌──────┬───────┐\n│ x    ┆ y     │\n│ i64  ┆ str   │\n╞══════╪═══════╡\n{rows}\n└──────┴───────┘"
        ],
        ROOM,
    )
    assert told.startswith(
        "shape: (300, 2)\n┌──────┬───────┐\n│ x    ┆ y     │\n│ i64  ┆ str   │\n╞══════╪═══════╡\n│ 0 "
    )
    assert "│ 299  ┆ a299  │" in told


def test_each_part_of_a_wide_table_keeps_head_and_tail() -> None:
    pandas = pytest.importorskip("pandas")
    data = pandas.DataFrame({f"column {n}": range(400) for n in range(12)})
    with pandas.option_context("display.max_rows", None, "display.max_columns", None, "display.width", 80):
        told = outputs_told([repr(data)], Budget("bytes", 6_000))
    assert told.count("[… ") == told.count("\n399 ") == 2
    assert "column 0 " in told
    assert "column 11" in told
    assert "\n399 " in told
    assert told.endswith("[400 rows]")


def down(depth: int) -> int:
    return down(depth - 1) + 1 if depth else int("x" * 3)


def stdlib_traceback(depth: int) -> str:
    try:
        source = (
            "".join(f"def f{n}():\n    return f{n + 1}()\n" for n in range(depth))
            + f"def f{depth}():\n    raise ValueError('the message')\n"
        )
        names: dict[str, object] = {}
        exec(compile(source, "many.py", "exec"), names)
        eval("f0()", names)
    except ValueError:
        return traceback.format_exc()
    raise AssertionError


def test_a_traceback_keeps_the_last_frames_and_the_message() -> None:
    told = outputs_told([stdlib_traceback(80)], Budget("bytes", 800))

    assert told.startswith("Traceback (most recent call last):\n[… ")
    assert told.endswith("in f80\nValueError: the message")
    kept = told.count('  File "')
    assert f"[… {83 - kept} earlier frames left out …]" in told
    assert kept >= 5
    assert len(told) <= 800 + 60


def test_of_what_led_to_an_exception_the_message_stays() -> None:
    inner = stdlib_traceback(30)
    outer = stdlib_traceback(30).replace("ValueError: the message", "RuntimeError: because of that")
    both = f"{inner}\nDuring handling of the above exception, another exception occurred:\n\n{outer}"
    told = outputs_told([both], Budget("bytes", 700))
    assert told.startswith("ValueError: the message\nwhich led to:\nTraceback")
    assert told.endswith("RuntimeError: because of that")


def test_a_traceback_of_a_notebook_keeps_the_frame_that_failed() -> None:
    ultratb = pytest.importorskip("IPython.core.ultratb")
    try:
        down(5)
    except ValueError:
        parts = ultratb.FormattedTB(mode="Context", theme_name="nocolor").structured_traceback(*sys.exc_info())
    told = outputs_told(["\n".join(parts)], Budget("bytes", 600))
    assert "earlier frames left out" in told
    assert told.endswith("ValueError: invalid literal for int() with base 10: 'xxx'")
    assert "in down(depth)" in told


def test_a_message_longer_than_its_room_is_cut_in_the_middle() -> None:
    told = outputs_told(
        [f'Traceback (most recent call last):\n  File "a.py", line 1\n    x\nValueError: {"y" * 9_000}!'], ROOM
    )
    assert "ValueError: yyy" in told
    assert told.endswith("y!")
    assert "chars truncated" in told
    assert 'File "a.py", line 1' in told


@pytest.mark.parametrize("end", ["\r", "\n"])
def test_a_progress_bar_is_told_as_it_ended(end: str) -> None:
    text = "begin\n" + "".join(bar(done, end=end) for done in range(101)) + "\ndone\n"
    assert outputs_told([text], ROOM).split("\n")[:2] == ["begin", bar(100, end="")]


def test_bars_side_by_side_each_end() -> None:
    text = "".join(f"a: {n}%|█| {n}/100\nb: {n}%|█| {n}/100\n" for n in range(101))
    assert outputs_told([text], ROOM) == "a: 100%|█| 100/100\nb: 100%|█| 100/100"


def test_bars_of_plain_characters_are_bars_and_reports_of_a_training_are_not() -> None:
    keras = "".join(f"{n}/100 [{'=' * (n // 5)}>{'.' * (20 - n // 5)}] - loss: 0.1\n" for n in range(1, 101))
    epochs = "".join(f"Epoch {n}/10 loss={10 - n}\n" for n in range(1, 11))
    told = outputs_told([keras + epochs], ROOM).split("\n")
    assert told == ["100/100 [====================>] - loss: 0.1", *epochs.strip().split("\n")]


def test_equal_lines_in_a_row_are_told_once() -> None:
    assert outputs_told(["warn\n" * 50 + "end\nend\n"], ROOM) == "warn\n[the line above 50 times]\nend\nend"


def test_long_outputs_share_the_room_short_ones_leave() -> None:
    told = outputs_told(["a" * 9_000, "short", "b" * 9_000], ROOM)
    assert "\nshort\n" in told
    assert 900 <= told.count("a") <= 1_100
    assert 900 <= told.count("b") <= 1_100


def test_of_very_many_outputs_the_first_and_the_last_are_told() -> None:
    outputs = [f"result {n} " + "x" * 500 for n in range(1_000)]
    told = outputs_told(outputs, ROOM)
    assert told.startswith("result 0 ")
    assert "result 999 " in told
    assert "[… 995 outputs left out …]" in told
    assert len(told) < 2 * ROOM.bytes


def test_of_very_many_small_tables_no_more_is_told_than_there_is_room() -> None:
    tables = "\n\n".join(f"a  b\n{n}  1\n{n}  2\n{n}  3" for n in range(1_000))
    assert len(outputs_told([tables], ROOM)) < ROOM.bytes + 100


def test_a_very_long_table_takes_no_time() -> None:
    text = "\n".join(f"{n:>8}  {'x' * 50}  {n}" for n in range(100_000))
    with processor_time(5):
        assert "rows left out" in outputs_told([text], ROOM)


LINES = st.sampled_from(
    ["x  1", "| a | b |", "Traceback (most recent call last)", '  File "a"', "E: m", "", "  10%|█ | 1/10", "한글 줄"]
)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.lists(LINES, max_size=60).map("\n".join), max_size=5), st.integers(400, 3_000))
def test_nothing_is_much_longer_than_its_room(texts: list[str], room: int) -> None:
    told = outputs_told([text for text in texts], Budget("bytes", room))
    # Each output has its least share and its notes.
    assert len(told.encode()) <= max(room, 400 * len(texts)) + 400 * len(texts)
