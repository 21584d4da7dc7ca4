"""The pages that the server makes speak the language that the browser asks for."""

from __future__ import annotations

import pytest

from hdsp_agent._page_language import page_language

TEXT = "You are signed in. You can close this page."


@pytest.mark.parametrize(
    ("accepted", "code"),
    [
        ("ko-KR,ko;q=0.9,en-US;q=0.8,en;q=0.7", "ko"),
        ("ja", "ja"),
        ("fr-FR,fr;q=0.9,ja;q=0.5", "ja"),
        ("en-GB,ko;q=0.9", "en"),
        ("fr", "en"),
        ("ko;q=0", "en"),
        ("*", "en"),
        ("../..,;q=,\u0660", "en"),
        ("", "en"),
    ],
)
def test_the_most_wanted_language_that_there_is(accepted: str, code: str) -> None:
    language = page_language(accepted)
    assert language.code == code
    assert (language.translated(TEXT) == TEXT) == (code == "en")


def test_a_text_without_a_translation_stays_english() -> None:
    assert page_language("ko").translated("No catalogue has this.") == "No catalogue has this."
