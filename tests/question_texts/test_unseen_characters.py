"""Nothing hides in what a person is asked to approve; the panel's tests read the same list."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from hdsp_agent.cli._terminal import printable
from hdsp_agent.question_texts import visible, visible_line

KNOWN = json.loads(
    (Path(__file__).parents[2] / "src/ui/texts/__tests__/invisiblecharacters.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize(("text", "wanted"), [case[1:] for case in KNOWN["cases"]], ids=[c[0] for c in KNOWN["cases"]])
def test_what_hides_is_named(text: str, wanted: str) -> None:
    assert visible(text) == wanted
    # What is left is nothing that a terminal would obey.
    assert printable(visible(text)) == visible(text)


def test_exactly_these_characters_are_named_when_they_stand_alone() -> None:
    named = [
        code
        for code in range(sys.maxunicode + 1)
        if code not in (9, 10) and visible(chr(code)) == visible_line(chr(code)) != chr(code)
    ]
    assert named == [code for first, last in KNOWN["ranges"] for code in range(first, last + 1)]


def test_a_line_is_one_line() -> None:
    assert visible_line("a\u202e\n\tb" + " " * 50 + "c\n\n\n\n\n\nd") == (
        "a⟨U+202E⟩⟨U+000A⟩⟨U+0009⟩b ⟨50 spaces⟩ c⟨U+000A × 6⟩d"
    )
