"""A snippet shows what was found, in the words it was written in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hdsp_agent.persistence.history._snippets import Snippet, SnippetField, cut_snippet
from hdsp_agent.persistence.history._text_normalization import fold, search_terms, tidy


def snippet(text: str, query: str) -> Snippet | None:
    return cut_snippet((("text", text, fold(text)),), search_terms(query))


def marked(text: str, query: str) -> list[str]:
    cut = snippet(text, query)
    assert cut is not None
    return [part.text for part in cut.parts if part.found]


@pytest.mark.parametrize(
    ("text", "query", "expected"),
    [
        ("판다스로 데이터를 읽는다", "데이터", ["데이터"]),
        ("グラフを表示して、表示を消す", "表示", ["表示", "表示"]),
        ("Le CAFÉ … et le café", "cafe", ["CAFÉ", "café"]),
        ("ｶﾞｲﾄﾞ を読む", "ガイド", ["ｶﾞｲﾄﾞ"]),
        ("Straße nach Hause", "strasse", ["Straße"]),
        ("I ❤️ pandas", "❤", ["❤️"]),
        ("read the ﬁle", "file", ["ﬁle"]),
        ("load data, train model", "model data", ["data", "model"]),
    ],
)
def test_matches_are_marked_in_the_original_spelling(text: str, query: str, expected: list[str]) -> None:
    assert marked(text, query) == expected


def test_a_match_far_into_a_text_whose_letters_change_length_is_found() -> None:
    text = "… ½ ﬁn " * 900 + "바늘 here " + "… ™ " * 900
    cut = snippet(text, "바늘")
    assert cut is not None
    assert [part.text for part in cut.parts if part.found] == ["바늘"]
    assert cut.text.startswith("…") and cut.text.endswith("…") and len(cut.text) < 200


def test_the_title_is_preferred_and_nothing_found_is_no_snippet() -> None:
    fields: tuple[tuple[SnippetField, str, str], ...] = (("title", "Plot", "plot"), ("task", "plot it", "plot it"))
    cut = cut_snippet(fields, ["plot"])
    assert cut is not None and cut.field == "title"
    assert cut_snippet(fields, ["absent"]) is None


@given(st.text(max_size=300), st.text(max_size=20))
def test_any_text_and_query_give_parts_of_the_text(text: str, query: str) -> None:
    line = tidy(text, 300)
    cut = snippet(line, query)
    if cut is not None:
        assert cut.text.strip("…") in line
