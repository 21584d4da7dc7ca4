"""What a person is shown of a change, and how many lines it is counted as."""

from __future__ import annotations

import pytest

from hdsp_agent.tools import unified_diff


@pytest.mark.parametrize(
    ("old", "new", "added", "removed"),
    [
        ("", "a\nb", 2, 0),
        ("a\nb\n", "", 0, 2),
        ("a", "a\nb", 1, 0),
        ("a\n", "a", 0, 0),
        ("a\r\nb\r\n", "a\nb\n", 0, 0),
        ("a\nb\nc", "a\nB\nc", 1, 1),
        ("one page\fthe next", "one page\fthe last", 1, 1),
        ("-- a\n++ b\n", "-- a\n", 0, 1),
        ("\n", "\n\n", 1, 0),
    ],
)
def test_lines_are_counted_that_differ(old: str, new: str, added: int, removed: int) -> None:
    diff, stats = unified_diff(old, new, "a.py")
    assert (stats.added, stats.removed) == (added, removed)
    assert bool(diff) is bool(added or removed)


def test_one_line_among_many_that_are_the_same_is_one() -> None:
    same = ["0"] * 300
    _, stats = unified_diff("\n".join(same), "\n".join([*same[:150], "new", *same[150:]]), "table.csv")
    assert (stats.added, stats.removed) == (1, 0)


def test_what_is_too_long_to_show_is_counted_all_the_same() -> None:
    lines = [str(number) for number in range(30_000)]
    diff, stats = unified_diff(
        "\n".join(lines), "\n".join([*lines[:20_000], "new", *lines[20_001:], "last"]), "long.txt"
    )
    assert diff == "[long.txt is too long to show what changes]"
    assert (stats.added, stats.removed) == (2, 1)


def test_it_reads_as_other_tools_write_it() -> None:
    old, new = [*"abcdefghijklmnop"], [*"aBcdefghijklmnop", "q"]
    assert unified_diff("\n".join(old), "\n".join(new), "a.txt")[0].split("\n") == [
        "--- a/a.txt", "+++ b/a.txt",
        "@@ -1,5 +1,5 @@", " a", "-b", "+B", " c", " d", " e",
        "@@ -14,3 +14,4 @@", " n", " o", " p", "+q",
    ]  # fmt: skip
    assert unified_diff("", "a", "new")[0].split("\n")[2:] == ["@@ -0,0 +1 @@", "+a"]
