"""What a provider's refusal is taken for."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hdsp_agent.providers import PUBLIC_CLASSES, classify, is_silently_truncated

from .._helpers.timing import processor_time
from ._helpers.refusals import REFUSALS, Refusal

DATA = Path(__file__).parent / "data"
SAMPLE = json.loads((DATA / "provider_errors.json").read_text(encoding="utf-8"))
COLLECTED = [
    row
    for name in ("collected_errors.json", "held_out_errors.json", "second_held_out_errors.json")
    for row in json.loads((DATA / name).read_text(encoding="utf-8"))
]
"""What people report that providers and proxies sent them, each with its source. Of all but the first part, each was tried once
before anything was learned from it."""


def _param(row: dict[str, str]) -> str | None:
    # One row's index stands in the parameter the provider names beside the message, which its source quotes.
    match = re.search(r"\(param ([^)]+)\)", row["source"])
    return match[1] if match else None


@pytest.mark.parametrize("row", SAMPLE, ids=lambda row: str(row["id"]))
@pytest.mark.parametrize("beside", [True, False], ids=["with code and type", "the text alone"])
def test_the_sample_is_understood(row, beside: bool) -> None:  # type: ignore[no-untyped-def]
    error = classify(
        provider=row["provider"], status=row["status"], body=row["message"], param=_param(row),
        code=row["code"] if beside else None, type=row["type"] if beside else None,
    )  # fmt: skip
    got = {"cls": error.public_class, "current": error.current, "max": error.limit}
    assert {**got, "output": error.output, "index": error.index} == row["expect"]


@pytest.mark.parametrize("row", COLLECTED, ids=lambda row: f"{row['id']} {row['provider']}")
def test_what_providers_really_sent_is_understood(row) -> None:  # type: ignore[no-untyped-def]
    error = classify(provider=row["provider"], status=row["status"], body=row["body"])
    got = {"kind": error.kind, "index": error.index}
    numbers = {"current": error.current, "limit": error.limit, "output": error.output}
    # Of a rate, numbers say nothing that is acted on.
    expected = row["expect"] if row["expect"]["kind"] != "rate_limit" else {**row["expect"], **numbers}
    assert {**got, **numbers} == expected


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda refusal: refusal.text[:60])
def test_other_wordings_are_understood(refusal: Refusal) -> None:
    error = classify(status=refusal.status, body=refusal.text)
    got = (error.kind, error.current, error.limit, error.output, error.index)
    assert got == (refusal.kind, refusal.current, refusal.limit, refusal.output, refusal.index)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda text: {"error": {"message": text, "type": "invalid_request_error", "code": None}},
        lambda text: json.dumps({"type": "error", "error": {"type": "invalid_request_error", "message": text}}),
        lambda text: "Error code: 400 - " + repr({"error": {"message": text, "code": 400}}),
        lambda text: f"litellm.BadRequestError: XException - {json.dumps({'error': {'message': text}})}",
        lambda text: json.dumps(
            {"error": {"message": json.dumps({"error": {"code": 400, "message": text}}), "code": 400}}
        ),
        lambda text: f"event: error\ndata: {json.dumps({'error': {'message': text}})}\n\n",
        lambda text: json.dumps([{"error": {"message": text}}]),
        lambda text: f"API Error: 400 {text}",
    ],
    ids=["object", "json", "python", "litellm", "json in json", "event", "list", "prefix"],
)
@pytest.mark.parametrize("row", [row for row in SAMPLE if row["expect"]["current"]], ids=lambda row: str(row["id"]))
def test_wrappings_change_nothing(row, wrap) -> None:  # type: ignore[no-untyped-def]
    error = classify(provider=row["provider"], status=row["status"], body=wrap(row["message"]))
    assert (error.public_class, error.current, error.limit, error.output) == (
        row["expect"]["cls"], row["expect"]["current"], row["expect"]["max"], row["expect"]["output"],
    )  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        (
            "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `text`. When `thinking` is "
            "enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` "
            "and `tool_result` blocks)."
        ),
        "a final assistant message must start with thinking; the prompt has 230000 tokens of at most 200000",
        "Every assistant turn must begin with a thinking block. Input length exceeds nothing.",
    ],
)
@pytest.mark.parametrize("status", [400, 413, 429, None])
def test_an_order_of_thoughts_is_no_overflow(text: str, status: int | None) -> None:
    assert classify(status=status, body=text).kind == "other"


def test_the_time_to_wait_is_read_from_headers_details_and_words() -> None:
    assert classify(status=429, body="slow down", headers={"Retry-After": "7"}).retry_after == 7
    assert classify(status=429, body="slow down", headers={"retry-after-ms": "1500"}).retry_after == 1.5
    in_a_minute = format_datetime(datetime.now(tz=UTC) + timedelta(seconds=60), usegmt=True)
    waited = classify(status=429, body="slow down", headers={"Retry-After": in_a_minute}).retry_after
    assert waited is not None and 50 < waited <= 60
    for nonsense in ("nan", "inf", "soon", "Sat Nov 21 2026", ""):
        assert classify(status=429, body="slow down", headers={"Retry-After": nonsense}).retry_after is None
    assert classify(status=429, body="Rate limit reached. Please try again in 2.5s.").retry_after == 2.5
    assert classify(status=429, body="Rate limit reached. Please try again in 1m30s.").retry_after == 90
    assert classify(status=429, body="Please try again in 250ms").retry_after == 0.25
    assert classify(status=429, body='{"error":{"details":[{"retryDelay":"28s"}]}}').retry_after == 28


def test_every_class_outside_has_a_remedy_in_words() -> None:
    for refusal in REFUSALS:
        error = classify(status=refusal.status, body=refusal.text)
        assert error.public_class in PUBLIC_CLASSES
        assert error.remedy.endswith(".")


def test_what_was_left_out_in_silence_shows_in_the_usage() -> None:
    assert is_silently_truncated(estimate=30_000, reported=4_096, window=4_096)
    assert is_silently_truncated(estimate=10_000, reported=140_000, window=128_000)
    assert not is_silently_truncated(estimate=10_000, reported=9_500, window=128_000)
    assert not is_silently_truncated(estimate=300, reported=100, window=None)


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=2_000), st.sampled_from([None, 200, 400, 401, 413, 429, 500]))
def test_any_text_has_an_answer(text: str, status: int | None) -> None:
    error = classify(status=status, body=text)
    assert error.public_class in PUBLIC_CLASSES


@pytest.mark.parametrize(
    "text",
    ["{" * 50_000, "[{" * 20_000, "a" * 1_000_000, "content is " * 20_000, "1 + 1 > " * 20_000, "tool_use " * 20_000],
)
def test_a_hostile_text_takes_no_time(text: str) -> None:
    with processor_time(2):
        classify(status=400, body=text)
