"""Text in which nothing hides, for what a person is asked to approve.

What is approved must be what was read. A character that turns the direction of writing lets ``rm`` look like a comment, and
a thousand empty lines hide what is below. The panel has the same rule in ``visibletext.tsx``; one list of cases tests both.
"""

from __future__ import annotations

import re
from itertools import groupby
from typing import Final

__all__ = ["visible", "visible_line"]

# What has no shape of its own, turns the direction, is obeyed by a terminal, or is a blank that is none to a shell.
_SHAPELESS: Final = (
    "\x00-\x08\x0b-\x1f\x7f-\xa0\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u1680\u17b4\u17b5"
    "\u180b-\u180f\u2000-\u200c\u200e\u200f\u2028-\u202f\u205f-\u206f\u2800\u3164\ud800-\udfff\ufe00-\ufe0d\ufeff\uffa0"
    "\ufff0-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d159\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"
)
_EMOJI: Final = "\u2190-\u21ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"
# Within an emoji, a joiner and the choice of its form have their place; a keycap begins with a digit.
_HIDDEN: Final = f"(?:[{_SHAPELESS}]|\u200d(?![{_EMOJI}])|[\ufe0e\ufe0f]{{2,}}|[\x20-\x7e][\ufe0e\ufe0f](?!\u20e3))+"
_UNSEEN: Final = re.compile(f"(?P<lines>\n(?:[ \t\u3000]*\n){{4,}})|(?P<blanks>[ \t\u3000]{{40,}})|{_HIDDEN}")
_UNSEEN_IN_LINE: Final = re.compile(f"(?P<lines>(?!))|(?P<blanks>[ \u3000]{{40,}})|(?:{_HIDDEN}|[\n\t])+")
_MOST_ALIKE: Final = 4
"""More of one kind in a row are counted, or they would push the rest out of sight themselves."""


def visible(text: str) -> str:
    """The text with names such as ``⟨U+202E⟩`` in the place of what cannot be seen; line ends and tabs stay."""
    return _UNSEEN.sub(_named, text)


def visible_line(text: str) -> str:
    """The same as one line, for a name or a title."""
    return _UNSEEN_IN_LINE.sub(_named, text)


def _named(found: re.Match[str]) -> str:
    if found["lines"]:
        return f"\n⟨{found[0].count(chr(10)) - 1:,} empty lines⟩\n"
    if found["blanks"]:
        return f" ⟨{len(found[0]):,} spaces⟩ "
    return "".join(_counted(character, len(list(alike))) for character, alike in groupby(found[0]))


def _counted(character: str, count: int) -> str:
    if " " <= character <= "~":
        return character * count
    code = f"U+{ord(character):04X}"
    return f"⟨{code} × {count:,}⟩" if count > _MOST_ALIKE else f"⟨{code}⟩" * count
