"""What an image costs, by the rule of its model."""

from __future__ import annotations

import base64
import io
from functools import cache

import pytest
from PIL import Image

from hdsp_agent.context import TokenCounter

from ._helpers.conversations import image


@cache
def picture(width: int, height: int, kind: str = "PNG", **options: object) -> str:
    target = io.BytesIO()
    Image.new("RGB", (width, height)).save(target, kind, **options)
    return base64.b64encode(target.getvalue()).decode()


def tokens(model: str, data: str) -> int:
    return TokenCounter(model=model).blocks([image(data)])


@pytest.mark.parametrize(
    ("model", "width", "height", "expected"),
    [
        # A patch of 28 pixels a side is a token.
        ("claude-opus-5-5", 28, 29, 2),
        ("claude-opus-5-5", 1000, 1000, 36 * 36),
        ("anthropic/claude-sonnet-4.5", 1000, 1000, 36 * 36),
        # Those before 4.7 see at most 1568 pixels a side, and as many tokens.
        ("claude-opus-4-7", 2576, 1288, 92 * 46),
        ("claude-sonnet-4-5-20250929", 2576, 1288, 56 * 28),
        ("claude-3-5-haiku-20241022", 4000, 4000, 1568),
        ("claude-opus-5-5", 4000, 4000, 4784),
        # So much, and so much for each tile of 512 pixels a side.
        ("gpt-5.1", 512, 512, 210),
        ("gpt-5-2025-08-07", 1024, 1024, 630),
        ("o3", 512, 512, 225),
        ("gpt-4o-mini", 128, 64, 8_500),
        ("gpt-4o", 1024, 1024, 765),
        ("openai/gpt-4.1", 2048, 4096, 1105),
        # So much for each patch of 32 pixels a side.
        ("gpt-4.1-mini-2025-04-14", 1024, 1024, 1659),
        ("gpt-4.1-nano", 1024, 1024, 2520),
        ("o4-mini", 4000, 1474, 2642),
        # 258 for each tile of 768 pixels a side.
        ("gemini-3-pro", 384, 384, 258),
        ("google/gemini-2.5-flash", 1000, 700, 516),
        # Nobody says.
        ("gpt-5-mini", 512, 512, 1844),
        ("gpt-5.2", 512, 512, 1844),
        ("gpt-oss-120b", 512, 512, 1844),
        ("qwen3-vl", 1000, 1000, 1844),
        ("", 1000, 1000, 1844),
    ],
)
def test_it_is_counted_as_its_models_provider_documents(model: str, width: int, height: int, expected: int) -> None:
    assert tokens(model, picture(width, height)) == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF"])
def test_its_beginning_tells_how_large_it_is(kind: str) -> None:
    whole = picture(1000, 700, kind)
    assert tokens("gemini-3-pro", whole[: min(len(whole) - 5, 20_000)]) == 516


@pytest.mark.parametrize("options", [{}, {"lossless": True}, {"exif": b"Exif"}])
def test_the_head_of_a_webp_tells_how_large_it_is(options: dict[str, object]) -> None:
    assert tokens("gemini-3-pro", picture(1000, 700, "WEBP", **options)[:40]) == 516


@pytest.mark.parametrize("model", ["gemini-3-pro", "claude-opus-5-5", "gpt-4o"])
def test_one_without_a_width_counts_like_any_other(model: str) -> None:
    assert tokens(model, base64.b64encode(b"RIFF\0\0\0\0WEBPVP8 " + bytes(32)).decode()) == 1844


def test_what_no_model_is_sent_is_not_opened() -> None:
    assert tokens("gemini-3-pro", picture(1000, 700, "PPM")) == 1844


@pytest.mark.parametrize("data", ["", "AAAA", "not base64", "A" * 21])
def test_what_is_no_image_counts_like_any_other(data: str) -> None:
    assert tokens("gemini-3-pro", data) == 1844
