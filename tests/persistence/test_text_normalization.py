"""Texts that a person would call the same are the same; texts that differ in meaning are not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hdsp_agent.persistence.history._text_normalization import MAX_TERMS, fold, search_terms, tidy


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("DataFrame", "dataframe"),
        ("ＤａｔａＦｒａｍｅ", "dataframe"),
        ("Straße", "STRASSE"),
        ("café", "CAFE\u0301"),
        ("Đà Nẵng".replace("Đ", "D"), "da nang"),
        ("ｶﾞｲﾄﾞ", "ガイド"),
        ("데이터", "\u1103\u1166\u110b\u1175\u1110\u1165"),
        ("a\u3000b\n\t c", "a b c"),
        ("❤️", "❤"),
        ("co\u00adop", "coop"),
        ("ёлка", "елка"),
    ],
)
def test_the_same_to_a_person_is_the_same(one: str, other: str) -> None:
    assert fold(one) == fold(other)


@pytest.mark.parametrize(("one", "other"), [("ハ", "バ"), ("は", "ぱ"), ("달", "돌"), ("カ", "か"), ("a", "b")])
def test_letters_that_tell_words_apart_stay_apart(one: str, other: str) -> None:
    assert fold(one) != fold(other)


@given(st.text())
def test_folding_twice_changes_nothing_and_can_be_stored(text: str) -> None:
    once = fold(text)
    assert fold(once) == once
    assert "\x00" not in once
    once.encode("utf-8")


def test_a_query_is_words_and_quoted_phrases() -> None:
    assert search_terms('Train  "learning  RATE" 모델 "open') == ["train", "learning rate", "모델", "open"]
    assert search_terms('"" " " \u200b') == []
    assert len(search_terms(" ".join(f"w{number}" for number in range(200)))) == MAX_TERMS


@given(st.text(), st.integers(1, 50))
def test_what_is_shown_is_one_storable_line_of_limited_length(text: str, limit: int) -> None:
    line = tidy(text, limit)
    assert not any(character in line for character in "\n\r\t\x00")
    assert len(line) <= 4 * limit  # composing may lengthen a few rare letters
    line.encode("utf-8")
