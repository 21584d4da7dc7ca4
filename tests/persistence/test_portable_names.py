"""Names in archives are safe on every system, and different files keep different names."""

from __future__ import annotations

import re
from pathlib import PurePosixPath, PureWindowsPath

from hypothesis import example, given
from hypothesis import strategies as st

from hdsp_agent._portable_names import is_portable, portable, portable_path

_PIECES = st.sampled_from(
    [
        "..",
        ".",
        "\\",
        ":",
        "C",
        "con",
        "NUL",
        "com1",
        "LPT²",
        " ",
        "%5C",
        "%",
        "\0",
        "\n",
        "\x7f",
        "x",
        "자료",
        "\udc80",
        "~",
    ]
)
NAMES = st.lists(_PIECES | st.characters(blacklist_characters="/"), min_size=1, max_size=6).map("".join)


@given(NAMES)
@example("con")
@example("\ud800")
@example("\udfff")
@example("CON .x")
@example("..")
@example("aux.tar.gz")
def test_every_name_is_below_the_folder_on_every_system(name: str) -> None:
    made = portable(name)
    assert is_portable(made)
    assert PureWindowsPath(made).parts == (made,) == PurePosixPath(made).parts
    assert not PureWindowsPath(made).is_reserved()
    assert re.search(r"[\x00-\x1f\\:/]|[. ]\Z", made) is None


@given(NAMES, NAMES)
@example("\ud800", "%uD800")
@example("\ud800", "\udced\udca0\udc80")
def test_different_names_stay_different(one: str, other: str) -> None:
    assert (portable(one) == portable(other)) == (one == other)


@given(NAMES.filter(is_portable).filter(lambda name: "%" not in name))
def test_a_safe_name_stays_as_it_is(name: str) -> None:
    assert portable(name) == name


def test_usual_names_are_safe() -> None:
    for name in ("a.txt", ".env", "자료 1.csv", "console.log", "con-1", "nullable.py", "com10.x", "100%.md", "a%41.md"):
        assert is_portable(name)
    assert portable_path(b"..\\up/aux.txt/bad\xff") == "..%5Cup/au%78.txt/bad%FF"
