"""Tables, numbers and times as people read them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import get_args
from unicodedata import normalize

import pytest

from hdsp_agent.cli._amounts import bytes_text, count_text, duration_text
from hdsp_agent.cli._columns import cut, table, width_of
from hdsp_agent.cli._options import begin, end
from hdsp_agent.cli._status import STATUS_COLOURS, STATUSES
from hdsp_agent.cli._terminal import printable
from hdsp_agent.persistence import TaskStatus


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("abc", 3), ("한국어", 6), ("日本語", 6), ("ｱｲｳ", 3), ("e\u0301", 1), ("ＡＢ", 4), ("한a", 3), ("", 0),
        # As macOS writes the names of files, in parts.
        (normalize("NFD", "한국어"), 6), ("👩\u200d👩\u200d👧", 2), ("❤\ufe0f", 2), ("🇰🇷", 2), ("👍🏽", 2),
    ],
)  # fmt: skip
def test_a_wide_character_takes_two_columns_and_an_accent_none(text: str, columns: int) -> None:
    assert width_of(text) == columns


@pytest.mark.parametrize("columns", range(8))
def test_a_cut_text_never_takes_more_room(columns: int) -> None:
    assert width_of(cut("한국어 text", columns)) <= columns
    assert cut("abc", 3) == "abc"


def test_what_is_one_sign_is_never_cut_in_two() -> None:
    family = "👩\u200d👩\u200d👧"
    assert cut(family * 3, 5) == family * 2 + "…"
    assert cut(normalize("NFD", "한국어") + " text", 4) == normalize("NFD", "한") + "…"


def test_columns_stand_under_each_other_whatever_is_in_them() -> None:
    rows = [("아다", "1", "버그\n고치기"), ("bob", "1,234", "plot"), ("山田太郎", "12", "x")]
    lines = list(table(("USER", "TOKENS", "TASK"), rows, right=frozenset({1})))
    starts = {
        width_of(line[: line.index(word)])
        for line, word in zip(lines, ("TASK", "버그 고치기", "plot", "x"), strict=True)
    }
    assert starts == {18}
    assert lines[2] == "bob        1,234  plot"


def test_on_a_narrow_terminal_the_last_column_gives_way() -> None:
    rows = [("1", "긴 제목 " * 30)]
    assert all(width_of(line) <= 40 for line in table(("ID", "TASK"), rows, width=40))


def test_amounts_are_short() -> None:
    assert [bytes_text(size) for size in (0, 999, 1000, 120_000_000, 5_400_000_000)] == [
        "0 bytes", "999 bytes", "1.0 kB", "120 MB", "5.4 GB",
    ]  # fmt: skip
    assert [duration_text(seconds) for seconds in (0, 59.6, 923, 3600, 90061)] == [
        "0s",
        "1m 0s",
        "15m 23s",
        "1h 0m",
        "1d 1h",
    ]
    assert [count_text(number) for number in (0, 1.84, 12, 45678)] == ["0", "1.8", "12", "45,678"]


def test_a_day_that_ends_a_period_is_in_it_whole() -> None:
    first, last = begin("2024-01-01"), end("2024-01-31")
    assert first == datetime(2024, 1, 1).astimezone()
    assert last == datetime(2024, 2, 1).astimezone()
    assert end("2024-01-31T12:00:00Z") == datetime(2024, 1, 31, 12, tzinfo=UTC)


def test_what_a_terminal_would_obey_is_shown_as_what_it_is() -> None:
    assert printable("a\x1b[2Jb\u202ec\r\nd\re\x9bf") == "a\\x1b[2Jb\\u202ec\nd\\x0de\\x9bf"
    assert printable("한국어\t日本語 👍") == "한국어\t日本語 👍"


def test_every_status_is_known_here() -> None:
    assert get_args(TaskStatus) == STATUSES
    assert set(STATUS_COLOURS) == set(STATUSES)
