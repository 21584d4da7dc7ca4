"""Estimates, and how they learn from what providers count."""

from __future__ import annotations

import pytest

from hdsp_agent.config import GlobalSettings
from hdsp_agent.context import Calibration, TokenCounter, TokenParts, used_tokens
from hdsp_agent.messages import ApiMessage, JsonObject
from hdsp_agent.providers import ModelRequest, UsageReport

from ._helpers.conversations import TOOL, answer, call, image, result, user

COUNT = TokenCounter()
CJK = TokenCounter("cjk")


@pytest.mark.parametrize(
    ("words", "by_bytes", "by_characters"),
    [
        ("", 0, 0),
        ("abc", 1, 1),
        ("abcde", 2, 2),
        ("한국어", 3, 3),
        ("日本語のテキスト", 6, 8),
        ("데이터 frame", 4, 5),
        ("naïve café", 3, 3),
    ],
)
def test_a_text_costs_a_token_for_four_bytes_or_for_a_wide_character(
    words: str, by_bytes: int, by_characters: int
) -> None:
    assert COUNT.text(words) == by_bytes
    assert CJK.text(words) == by_characters


def test_the_setting_decides_how_characters_count() -> None:
    assert TokenCounter.of(GlobalSettings()) == COUNT
    assert TokenCounter.of(GlobalSettings(count_cjk_characters=True)) == CJK


def test_an_image_costs_the_same_however_large_its_data_is() -> None:
    small, large = COUNT.blocks([image("A" * 10)]), COUNT.blocks([image("A" * 1_000_000)])
    assert small == large == 1_844


@pytest.mark.parametrize(
    ("url", "tokens"),
    [
        ("https://example.org/a.png", 1_844),
        ("DATA:image/PNG;Base64,AAAA", 1_844),
        ("data:image/svg+xml,<svg/>", 7),
        ("data:application/octet-stream;base64,AAAA", 11),
    ],
)
def test_an_address_counts_as_a_picture_only_if_a_model_would_see_one(url: str, tokens: int) -> None:
    block: JsonObject = {"type": "image", "source": {"type": "url", "url": url}}
    assert COUNT.blocks([block]) == tokens


def test_encrypted_thoughts_cost_what_is_in_them() -> None:
    hidden: JsonObject = {"type": "redacted_thinking", "data": "A" * 2_000}
    assert COUNT.blocks([hidden]) == (1_500 - 650 + 3) // 4
    assert COUNT.blocks([{"type": "redacted_thinking", "data": "A" * 800}]) == 0
    detail = ApiMessage(role="assistant", content="", reasoning_details=[{"encrypted_content": "A" * 2_000}])
    assert COUNT.message(detail) == 4 + (850 + 3) // 4


def test_thoughts_and_their_signature_are_not_counted_twice() -> None:
    thought: JsonObject = {"type": "thinking", "thinking": "t" * 400, "signature": "A" * 400}
    assert COUNT.blocks([thought]) == 100


def test_a_call_costs_its_name_and_arguments_and_a_result_its_content() -> None:
    asked = answer(call("c1", "read_file", path="a.py"))
    assert COUNT.message(asked) == -(-(16 + len("c1read_file") + len('{"path":"a.py"}')) // 4)
    assert COUNT.message(user(result("c1", "x" * 40))) == -(-(16 + 2 + 40) // 4)


def test_a_request_is_counted_part_by_part() -> None:
    request = ModelRequest("s" * 40, [user("u" * 24)], [TOOL])
    tool = len(TOOL.name) + len(TOOL.description) + len('{"type":"object","properties":{"path":{"type":"string"}}}')

    parts = TokenParts(COUNT.text(request.system), COUNT.tools(request.tools), COUNT.messages(request.messages))

    assert parts == TokenParts(system=10, tools=-(-tool // 4), messages=10)
    assert parts.total == 20 + -(-tool // 4)


def test_what_the_provider_counted_goes_before_the_estimate() -> None:
    report = UsageReport(input=1_000, output=200, cache_read=8_000, cache_write=800)

    assert used_tokens(report, after=50, whole=99_999) == 10_050
    assert used_tokens(report, after=50, whole=99_999, factor=1.2) == 10_060
    assert used_tokens(None, after=50, whole=500) == 500
    assert used_tokens(UsageReport(0, 0), after=50, whole=500, factor=1.5) == 750


def test_estimates_of_a_model_follow_what_its_provider_counts() -> None:
    known = Calibration()
    assert known.factor("m") == 1.0

    known.observe("m", estimated=10_000, reported=12_000)
    assert known.factor("m") == pytest.approx(1.2)
    known.observe("m", estimated=100_000, reported=130_000)
    assert known.factor("m") == pytest.approx((12_000 * 0.8 + 130_000) / (10_000 * 0.8 + 100_000))
    assert known.factor("other") == 1.0


def test_a_server_that_left_something_out_teaches_nothing() -> None:
    known = Calibration()
    known.observe("m", estimated=32_000, reported=4_096)
    known.observe("m", estimated=100, reported=90_000)
    assert known.factor("m") == 1.0


def test_no_factor_is_out_of_all_proportion() -> None:
    known = Calibration()
    known.observe("high", estimated=1_000, reported=90_000)
    known.observe("low", estimated=1_000, reported=510)
    assert (known.factor("high"), known.factor("low")) == (3.0, 0.6)
