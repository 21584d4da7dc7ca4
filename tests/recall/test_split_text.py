"""Long texts are cut between sentences, and nothing of them is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hdsp_agent.recall import split_text


@given(text=st.text(alphabet="ab .!?\n。데", max_size=400), longest=st.integers(1, 50))
def test_pieces_are_short_and_together_say_everything(text: str, longest: int) -> None:
    pieces = list(split_text(text, longest))
    assert all(len(piece) <= longest for piece in pieces)
    assert "".join("".join(pieces).split()) == "".join(text.split())


@pytest.mark.parametrize(
    "text",
    [
        "One sentence. Another one. A third!",
        "문장 하나다. 또 하나다. 셋째!",
        "一つ目の文です。二つ目の文です。三つ目の文です!",
    ],
)
def test_sentences_stay_whole(text: str) -> None:
    pieces = list(split_text(text, 15))
    assert len(pieces) > 1
    assert all(piece[-1] in ".!。" for piece in pieces)
