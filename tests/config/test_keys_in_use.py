"""The very keys in use are found in texts, in whatever form, and nothing else is."""

from __future__ import annotations

import base64
import copy
import html
import json
import logging
import pickle
import random
import re
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hdsp_agent.config import KeysInUse, keys_in_use
from hdsp_agent.config._masked_logs import mask_logs
from hdsp_agent.persistence import Masker

ODD = 'p+a/n&t"e\\d=7-Key<9>%ä é'
PLAIN = "plainkey-0f9a8b7c6d5e-zz"
WORDS = {
    "as it is": lambda key: key,
    "in JSON": json.dumps,
    "in JSON in JSON": lambda key: json.dumps(json.dumps({"k": key})),
    "as Python prints it": repr,
    "in an address": lambda key: quote(key, safe=""),
    "in an address, slashes kept": quote,
    "in a form": quote_plus,
    "in a form, lower case": lambda key: re.sub("%..", lambda found: found[0].lower(), quote(key, safe="")),
    "in HTML": html.escape,
    "in hex": lambda key: key.encode().hex(),
    "in base64": lambda key: base64.b64encode(key.encode()).decode(),
    "in base64 for addresses": lambda key: base64.urlsafe_b64encode(key.encode()).decode().rstrip("="),
    "in Basic": lambda key: base64.b64encode(f"u:{key}".encode()).decode(),
    "in Basic, one further": lambda key: base64.b64encode(f"us:{key}".encode()).decode(),
    "in Basic, two further": lambda key: base64.b64encode(f"usr:{key}:x".encode()).decode(),
    "in capitals": lambda key: key.upper(),
    "cut off": lambda key: key[: len(key) * 2 // 3] + "…",
}


@pytest.mark.parametrize("key", [PLAIN, ODD, "sk-proj-" + "a1B2_c3D4-" * 8], ids=["plain", "odd", "long"])
@pytest.mark.parametrize("form", WORDS.values(), ids=WORDS)
def test_a_key_is_found_in_every_form(key: str, form: Callable[[str], str]) -> None:
    keys = KeysInUse()
    keys.add(key)
    shown = keys.mask(f"Incorrect API key provided: {form(key)} (see the docs).")
    assert "[KEY_IN_USE]" in shown
    bare = form(key).strip("\"'…=")
    assert not any(bare[at : at + 12] in shown for at in range(len(bare) - 12))


@pytest.mark.parametrize("word", ["", "none", "ollama", "lm-studio", "password", "EMPTY", "aaaaaaaaaaaaaaaaaaaaaaaaa"])
def test_what_could_be_an_ordinary_word_is_left_alone(word: str) -> None:
    keys = KeysInUse()
    keys.add(word, None)
    assert not keys
    assert keys.mask(f"the {word} of it") == f"the {word} of it"


def test_the_first_letters_of_a_key_say_nothing() -> None:
    keys = KeysInUse()
    keys.add(PLAIN)
    assert keys.mask("plainkey-0… is wrong, so is plainkey-***-zz") == "plainkey-0… is wrong, so is plainkey-***-zz"


def test_old_keys_go_when_there_are_many() -> None:
    keys = KeysInUse()
    keys.add(*(f"key-number-{number:04}-x" for number in range(100)))
    assert keys.mask("key-number-0099-x") == "[KEY_IN_USE]"
    assert len(repr(keys)) < 40


@given(st.integers(0, 10_000), st.lists(st.integers(0, 400), max_size=8))
def test_however_a_stream_is_cut_the_outcome_is_that_of_the_whole(seed: int, places: list[int]) -> None:
    rng = random.Random(seed)
    keys_in_use.clear()
    keys_in_use.add(PLAIN, ODD, "plainkey-0f9a8b7c6d5e-zz-and-more-of-it-77")
    parts = [
        PLAIN,
        PLAIN[:15],
        PLAIN[:9],
        ODD,
        json.dumps(ODD),
        " ",
        "x",
        "plainkey-0f9a8b7c6d5e-zz-and-more-of-it-77",
        "\n",
    ]
    text = "".join(rng.choices(parts, k=8))
    ends = sorted({min(place, len(text)) for place in places} | {len(text)})
    stream = Masker(()).stream()
    given_out = "".join([*(stream.feed(text[a:b]) for a, b in zip([0, *ends], ends, strict=False)), stream.finish()])
    assert given_out == Masker(()).mask(text)
    assert PLAIN not in given_out and PLAIN[:15] not in given_out
    letters = Masker(()).stream()
    assert "".join([*map(letters.feed, text), letters.finish()]) == given_out
    keys_in_use.clear()


def test_a_tool_that_was_approved_gets_the_key_back() -> None:
    keys_in_use.add(PLAIN)
    masker = Masker(())
    assert masker.mask(f"curl -H 'X: {PLAIN}'") == "curl -H 'X: [KEY_IN_USE]'"
    assert masker.unmask("curl -H 'X: [KEY_IN_USE]'") == f"curl -H 'X: {PLAIN}'"


def test_keys_cannot_be_taken_away() -> None:
    keys = KeysInUse()
    keys.add(PLAIN)
    assert PLAIN not in repr(keys)
    for take in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError):
            take(keys)


def test_no_line_of_a_log_shows_a_key(caplog: pytest.LogCaptureFixture) -> None:
    mask_logs()
    mask_logs()
    keys_in_use.add(PLAIN, ODD)
    log = logging.getLogger("some.library")
    with caplog.at_level(logging.DEBUG):
        log.debug("request %s", {"headers": {"authorization": f"Bearer {PLAIN}"}})
        log.warning("no %s", "key here")
        try:
            try:
                raise ValueError(f"Incorrect key {PLAIN}")
            except ValueError as error:
                raise RuntimeError(f"refused {ODD}") from error
        except RuntimeError:
            log.exception("It failed")
    formatted = [logging.Formatter().format(record) for record in caplog.records]
    assert PLAIN not in caplog.text + "".join(formatted)
    assert ODD not in caplog.text + "".join(formatted)
    assert "Traceback" in formatted[-1] and "Incorrect key [KEY_IN_USE]" in formatted[-1]
    assert "no key here" in formatted[1]
