"""Masking text as it streams in: however it is cut, the outcome is that of the whole."""

from __future__ import annotations

import random
from typing import get_args

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hdsp_agent.config import MaskedKind
from hdsp_agent.persistence.masking._masker import Masker

from ._helpers.planted_secrets import planted_secrets, private_key

KINDS: tuple[MaskedKind, ...] = get_args(get_args(MaskedKind)[0])
PLANTED = planted_secrets()
JUNK = [
    "\n",
    " ",
    "",
    ",",
    '"',
    "'",
    "\\",
    "\\n",
    "=",
    ": ",
    "@",
    "token",
    "password: ",
    "[SECRET]",
    "[EM",
    "://a:",
    "한",
]
TEXTS = st.lists(st.sampled_from([each.text for each in PLANTED[::11]] + JUNK * 6), max_size=8).map("".join)


def streamed(pieces: list[str]) -> str:
    stream = Masker(KINDS).stream()
    return "".join([*map(stream.feed, pieces), stream.finish()])


def cut(text: str, places: list[int]) -> list[str]:
    ends = sorted({min(place, len(text)) for place in places} | {len(text)})
    return [text[start:end] for start, end in zip([0, *ends], ends, strict=False)]


@settings(max_examples=300, deadline=None)
@example("http_proxy=http://mia:kCYKJ*BqBUm3@proxy.corp:8080DB_PASSWORD=IACwe@mmaVCv", [44])
@given(TEXTS, st.lists(st.integers(0, 800), max_size=12))
def test_however_it_is_cut_the_outcome_is_that_of_the_whole(text: str, places: list[int]) -> None:
    assert streamed(cut(text, places)) == Masker(KINDS).mask(text)


def test_no_planted_secret_survives_any_cut() -> None:
    rng = random.Random(11)
    for each in PLANTED[::2]:
        text = each.text + rng.choice(["", "\n", " and on"])
        whole = Masker(KINDS).mask(text)
        assert streamed(list(text)) == whole, each
        start = text.index(each.secret)
        for place in rng.sample(range(start, start + len(each.secret)), min(6, len(each.secret))):
            assert streamed([text[:place], text[place:]]) == whole, (each, place)


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\\n"])
def test_a_private_key_over_many_pieces_gives_out_nothing_of_itself(newline: str) -> None:
    key = private_key(random.Random(2), newline=newline, lines=50)
    stream = Masker(KINDS).stream()
    given_out = [stream.feed(key[at : at + 7]) for at in range(0, len(key), 7)]
    assert "".join(given_out) == ""
    assert (
        stream.feed(" that was it. " + "Next. " * 60) + stream.finish() == "[PRIVATE_KEY] that was it. " + "Next. " * 60
    )


def test_ordinary_words_are_given_out_at_once() -> None:
    stream = Masker(KINDS).stream()
    for word in ("Let", "us", "look", "at", "the", "data", "first,", "then", "fit", "the", "model:", "(mostly)", "3."):
        assert stream.feed(word) + stream.feed(" ") == f"{word} "
        assert stream.held == 0


def test_a_telling_word_is_held_only_until_it_tells() -> None:
    stream = Masker(KINDS).stream()
    assert stream.feed("The token ") == "The "
    assert "token" in stream.feed("is valid for a while ")
    assert stream.held == 0


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "a.",
        "ghp_",
        "token=",
        'token="a',
        "eyJabc.",
        "Bearer abc",
        "://a:",
        "[",
        "[SECRET",
        "sk-ant-a1",
        "password: x[",
    ],
)
def test_what_is_held_back_is_bounded(unit: str) -> None:
    stream = Masker(KINDS).stream()
    text = unit * (60_000 // len(unit))
    most = 0
    for at in range(0, len(text), 100):
        stream.feed(text[at : at + 100])
        most = max(most, stream.held)
    assert most <= 8192 + 1024


def test_a_private_key_without_an_end_is_held_no_longer_than_64_kib() -> None:
    stream = Masker(KINDS).stream()
    line = "A1bC" * 16 + "\n"
    stream.feed("-----BEGIN PRIVATE KEY-----\n")
    most = 0
    for _ in range(1500):
        stream.feed(line)
        most = max(most, stream.held)
    assert 8192 < most <= 65_536 * 17 // 16 + 1024


def test_a_stream_can_be_used_again_after_its_end() -> None:
    stream = Masker(KINDS).stream()
    assert stream.feed("mia@exam") + stream.feed("ple.com") + stream.finish() == "[EMAIL]"
    assert stream.feed("mia@example.com ") + stream.finish() == "[EMAIL] "


def test_streams_of_one_task_share_its_placeholders() -> None:
    masker = Masker(KINDS)
    first, second = masker.stream(), masker.stream()
    assert first.feed("a@x.com ") + first.finish() == "[EMAIL] "
    assert second.feed("b@x.com a@x.com ") + second.finish() == "[EMAIL_2] [EMAIL] "
