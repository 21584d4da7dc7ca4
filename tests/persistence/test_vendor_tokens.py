"""Tokens of many services go, wherever a stream is cut; ordinary text stays."""

from __future__ import annotations

import json
import random
import time

import pytest

from hdsp_agent.config import ALL_MASKED_KINDS
from hdsp_agent.persistence.masking._masker import Masker

from ._helpers.vendor_tokens import ORDINARY, Token, vendor_tokens

TOKENS = vendor_tokens()


def masked(text: str) -> str:
    return Masker(ALL_MASKED_KINDS).mask(text)


def streamed(*pieces: str) -> str:
    stream = Masker(ALL_MASKED_KINDS).stream()
    return "".join([*map(stream.feed, pieces), stream.finish()])


def left_of(token: Token, text: str) -> bool:
    size = min(8, len(token.secret))
    return any(token.secret[at : at + size] in text for at in range(len(token.secret) - size + 1))


def test_there_are_many() -> None:
    assert len({token.name for token in TOKENS}) >= 150
    assert len(ORDINARY) >= 60


def test_each_token_goes() -> None:
    assert [(token.name, masked(token.text)) for token in TOKENS if left_of(token, masked(token.text))] == []


@pytest.mark.parametrize("seed", range(20, 28))
def test_nearly_every_token_drawn_by_lot_goes(seed: int) -> None:
    tokens = vendor_tokens(seed)
    left = [token for token in tokens if left_of(token, masked(token.text))]
    assert len(left) <= len(tokens) / 50, [(token.name, token.text) for token in left]


def test_each_token_goes_in_json_and_in_quotes_and_in_a_log() -> None:
    for token in TOKENS:
        if "\n" in token.text or '"' in token.text or token.text == token.secret:
            continue
        for text in (json.dumps({"x": token.text}), f"line\\n{token.text}", f"\x1b[31m {token.text}"):
            assert not left_of(token, masked(text)), (token.name, masked(text))


def test_wherever_one_is_cut_the_outcome_is_that_of_the_whole() -> None:
    for token in TOKENS:
        text = f"Before it. {token.text} And after."
        whole = masked(text)
        assert streamed(*text) == whole, token.name
        for place in range(1, len(text)):
            assert streamed(text[:place], text[place:]) == whole, (text[:place], text[place:])


def test_ordinary_text_stays() -> None:
    assert [
        (text, masked(text), streamed(text)) for text in ORDINARY if not masked(text) == streamed(*text) == text
    ] == []


def test_random_streams_of_all_of_them_are_as_the_whole() -> None:
    rng = random.Random(5)
    parts = [token.text for token in TOKENS] + list(ORDINARY)
    for _ in range(150):
        text = "\n".join(rng.sample(parts, 5))
        cuts = sorted(rng.sample(range(len(text)), 9))
        pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
        assert streamed(*pieces) == masked(text)


@pytest.mark.in_short(3)
@pytest.mark.parametrize(
    "unit",
    ["ghp_a1", "x_1", "-u a:", "login ", "$6$a$", "sig=", ":AA1", "1Q~", "pat.a1", "a.b-c_1", "Fernet(b'", "-us1", "_mmk",
     "$argon2id$v=", "login a\n", "8Q~8Q~", "hvs.1", "machine a login b password ", "curl -u x:", "eyJrIjoi", "A3-"],
)  # fmt: skip
def test_time_grows_with_the_text_and_no_faster(unit: str) -> None:
    def seconds(length: int) -> float:
        text = unit * (length // len(unit))
        best = 9.0
        for _ in range(3):
            begun = time.process_time()
            masked(text)
            best = min(best, time.process_time() - begun)
        return best

    # Eight times the text; a quadratic pattern would take sixty-four times as long.
    assert seconds(200_000) < 24 * max(seconds(25_000), 0.001)
