"""Lines that are nearly the same: what is found depends on the texts alone, never on how fast the machine is."""

from __future__ import annotations

import pytest

from hdsp_agent.tools._matching import NoMatch, find_place


def _function(name: str, lines: int) -> list[str]:
    return [f"def {name}(rows):", *(f"    row_{n} = [{'0, ' * 14}0]" for n in range(lines))]


def test_a_second_place_that_is_nearly_as_close_is_seen_in_long_texts_too() -> None:
    text = "\n".join([*_function("first", 110), "", *_function("other", 110), ""])
    with pytest.raises(NoMatch, match="not clear which place is meant: the one at line 113 is nearly as close"):
        find_place(text, "\n".join(_function("frist", 110)), ["pass"])


def test_one_line_that_is_nearly_right_is_found_among_three_thousand() -> None:
    lines = [f"value_{n} = compute(table[{n * 7919}], limit={n * 31}, name='row {n}')" for n in range(3_000)]
    lines[2_900] = "the_only_line_of_this_kind = open_the_file(path, encoding='utf-8', newline='')"
    wanted = lines[2_900].replace("open_the_file", "open_teh_file")
    place = find_place("\n".join(lines), wanted, ["closed = True"])
    assert (place.line, place.how) == (2_901, "nearly")
