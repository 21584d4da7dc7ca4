"""What a request names, whatever the language: exactly, weakly, or not at all; and names that look like code."""

from __future__ import annotations

import pytest

from hdsp_agent.tools.compound._names import asked_names, is_question, repeats, said_cells


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("price", "the mean of price, please"),
        ("unit_price", "plot the unit price"),
        ("Unit Price", "plot unit_price"),
        ("temp_f", "temp_f가 높은 날을 보여 줘"),
        ("df", "df에서 결측치를 세어 줘"),
        ("매출", "매출의 평균을 구해 줘"),
        ("매출", "월별 매출을 그려 줘"),
        ("売上", "売上の平均を教えて"),
        ("売上", "店舗ごとの売上を描いて"),
        ("sales.csv", "sales.csv를 읽어 줘"),
        ("n", "Change n to 100"),
    ],
)
def test_a_name_is_found_with_what_the_language_puts_behind_it(name: str, words: str) -> None:
    assert asked_names([name], words).exact == {name}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("price", "the prices"),
        ("price", "priced well"),
        ("team", "how many teams are there?"),
        ("sales", "read sales.csv"),
        ("a", "Add a cell"),
        ("I", "what I want"),
        ("売上", "売上高の平均"),
        ("売上", "総売上の平均"),
        ("매출", "총매출을 보여 줘"),
        ("df", "df2 is better"),
    ],
)
def test_a_part_of_another_word_is_no_name(name: str, words: str) -> None:
    assert not asked_names([name], words).exact


def test_plurals_and_parts_are_weak_and_longer_names_cover_shorter() -> None:
    asked = asked_names(["team", "unit_price", "price", "city"], "the teams of all cities, by unit price")
    assert asked.exact == {"unit_price"} and asked.weak == {"team", "city", "price"}
    # A single letter counts where it is marked as code.
    assert asked_names(["a"], "rename `a`").exact == {"a"}


def test_new_names_are_those_that_look_like_code() -> None:
    words = (
        "Add `total` and net_price from sales.csv, save out.png; title 'North', as JupyterLab does. The sum matters."
    )
    asked = asked_names(["net_price"], words)
    assert set(asked.new) == {"total", "sales.csv", "out.png"}
    assert set(asked.perhaps) == {"North", "JupyterLab"}
    assert asked_names([], "ratio라는 열을 만들어 줘").perhaps == ("ratio",)
    assert asked_names([], "Show the ratio of both").perhaps == ()


@pytest.mark.parametrize(
    ("words", "cells"),
    [
        ("Fix cell 3.", [3]),
        ("3번 셀", [3]),
        ("3번째 셀을 고쳐 줘", [3]),
        ("セル3を直して", [3]),
        ("3番目のセル", [3]),
        ("see #12", [12]),
        ("Swap cells 2 and 5.", [2, 5]),
        ("2번과 3번 셀을 지워 줘", [2, 3]),
        ("セル2とセル4", [2, 4]),
        # Counts and values.
        ("What are the 2 largest rents?", []),
        ("Delete the last 2 rows.", []),
        ("2행을 삭제해 줘", []),
        ("Add 2 cells.", []),
        ("셀 2개를 추가해 줘", []),
        ("セルを2つ足して", []),
        ("In cell 4, draw it again. 3 bins will do.", [4]),
        ("3.5 or 40% of x2, 1,000 at 10:30, -4", []),
    ],
)
def test_the_numbers_of_cells_are_told_from_counts_and_values(words: str, cells: list[int]) -> None:
    assert said_cells(words) == cells


def test_a_question_is_told_by_its_mark() -> None:
    assert is_question("What is it?") and is_question("何ですか？ ") and not is_question("What is it")


def test_what_repeats_a_text_says_no_more_than_that() -> None:
    words = "Add a column with the price in euros."
    assert repeats("add a column with the price in euros", words)
    assert repeats("Add the column with the price in Euros!", words)
    assert not repeats("The column price_eur has the price in euros now.", words)
    assert not repeats("bananas", "Which is better, apples or bananas?")
    assert repeats("열을 추가하고 평균을 보여 주세요", "열을 추가하고 평균을 보여 주세요.")
