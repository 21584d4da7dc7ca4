"""What a request may use, read from its body alone."""

from __future__ import annotations

import json

import pytest

from hdsp_agent.hub.model_requests import read_request, reservation_of
from hdsp_agent.providers import KnownModel


def test_halves_of_characters_and_numbers_beyond_all_measure_do_no_harm() -> None:
    body = b'{"model": "m", "input": "\\ud83d", "max_output_tokens": 99999999999999999999999999}'
    call = read_request("responses", body)
    assert (call.body, call.max_output) == (body, 99999999999999999999999999)


@pytest.mark.parametrize(
    ("window", "most", "asked", "reserved"),
    [
        (32_768, None, 10**8, 32_768),
        (200_000, 64_000, 10**8, 64_000),
        (None, None, 10**8, 8_192),
        (32_768, None, 50, 50),
    ],
)
def test_no_more_is_reserved_than_a_model_can_give(
    window: int | None, most: int | None, asked: int, reserved: int
) -> None:
    call = read_request("chat", json.dumps({"model": "m", "max_tokens": asked, "n": 2, "messages": []}).encode())
    model = KnownModel(id="m", provider="far", context_window=window, max_output=most)
    assert reservation_of(call, model).tokens == call.input_tokens + 2 * reserved


def test_a_limit_that_another_protocol_reads_changes_nothing() -> None:
    limits = b'"max_tokens": 5, "max_completion_tokens": 70, "max_output_tokens": 600}'
    read = [read_request(kind, b'{"model": "m", ' + limits).max_output for kind in ("chat", "responses", "messages")]
    assert read == [70, 600, 5]


def test_of_a_name_that_stands_twice_the_provider_reads_what_was_read_here() -> None:
    call = read_request("messages", b'{"model": "dear", "model": "m", "max_tokens": 9, "max_tokens": 5}')
    assert (call.model, call.max_output, call.body) == ("m", 5, b'{"model": "m", "max_tokens": 5}')


def test_the_length_of_a_request_is_reckoned_without_what_is_in_files() -> None:
    picture = "data:image/png;base64," + "A" * 400_000
    parts = [{"type": "text", "text": "안녕" * 100}, {"type": "image_url", "image_url": {"url": picture}}]
    call = read_request("chat", json.dumps({"model": "m", "messages": [{"role": "user", "content": parts}]}).encode())
    assert 150 + 1_844 < call.input_tokens < 150 + 1_844 + 50


@pytest.mark.parametrize(
    "content",
    [
        "x" * 400_000,
        "data:image/png;base64," + "A" * 400_000,
        [{"type": "text", "text": "data:text/plain," + "A" * 400_000}],
        [{"type": "document", "source": {"type": "text", "data": "A" * 400_000}}],
        [{"type": "tool_use", "input": {"url": "data:image/png;base64," + "A" * 400_000}}],
    ],
)
def test_text_counts_by_its_length_whatever_it_looks_like(content: object) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": content}]}
    assert read_request("messages", json.dumps(body).encode()).input_tokens > 100_000


def test_files_count_by_their_size() -> None:
    source = {"type": "base64", "media_type": "application/pdf", "data": "A" * 400_000}
    body = {"model": "m", "messages": [{"role": "user", "content": [{"type": "document", "source": source}]}]}
    assert 10_000 < read_request("messages", json.dumps(body).encode()).input_tokens < 10_050
