"""How many tokens something is reckoned to cost, without a tokenizer."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from pydantic import JsonValue

from ..config import GlobalSettings
from ..messages import ApiMessage, JsonObject
from ..providers import ToolSpec, UsageReport
from ._content_blocks import string_of
from ._picture_tokens import picture_tokens

__all__ = [
    "APPROX_BYTES_PER_TOKEN",
    "IMAGE_BYTES_ESTIMATE",
    "Counting",
    "TokenCounter",
    "TokenParts",
    "encrypted_bytes",
    "is_data_image",
    "used_tokens",
    "utf8",
    "utf8_length",
]

APPROX_BYTES_PER_TOKEN: Final = 4
IMAGE_BYTES_ESTIMATE: Final = 7_373
"""An image that was made small enough for a model, about 1 844 tokens. An estimate of 340 proved far too few."""

_ENCRYPTION_BYTES: Final = 650
_MESSAGE_BYTES: Final = 4 * APPROX_BYTES_PER_TOKEN
"""What a message costs besides its content: its role and what ends it."""

Counting: TypeAlias = Literal["bytes", "cjk"]
"""``bytes``: four bytes a token. ``cjk``: a Chinese, Japanese or Korean character is a token, others a quarter of one."""

_encoded: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_DATA_IMAGE: Final = re.compile(r"data:image/[^,]*;base64,", re.IGNORECASE)
_CJK: Final = re.compile(
    "[\u1100-\u11ff\u2e80-\u303f\u3040-\u30ff\u3100-\u312f\u3130-\u318f\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]+"
)


def utf8(text: str) -> bytes:
    """The text's bytes. Half a surrogate pair, which a model or a file may hold, counts as three."""
    return text.encode("utf-8", "surrogatepass")


def utf8_length(text: str) -> int:
    """How many bytes of UTF-8 a text has."""
    return len(text) if text.isascii() else len(utf8(text))


def encrypted_bytes(encoded: str) -> int:
    """How much there is to read in thoughts that came encrypted, in base64."""
    return max(0, len(encoded) * 3 // 4 - _ENCRYPTION_BYTES)


def is_data_image(url: str) -> bool:
    """Whether an address holds an image itself, as base64."""
    return _DATA_IMAGE.match(url) is not None


@dataclass(frozen=True)
class TokenParts:
    """The tokens of a request by part."""

    system: int
    tools: int
    messages: int

    @property
    def total(self) -> int:
        """All of them."""
        return self.system + self.tools + self.messages


@dataclass(frozen=True)
class TokenCounter:
    """Counts tokens one way. It keeps nothing: ``SentHistory`` remembers what it has counted."""

    counting: Counting = "bytes"
    model: str = ""
    """Whose rule holds for images; without one all count the same. Their size has to be looked up: call it in a thread."""

    @classmethod
    def of(cls, settings: GlobalSettings, model: str = "") -> TokenCounter:
        """Counts as the person has set."""
        return cls("cjk" if settings.count_cjk_characters else "bytes", model)

    def text(self, text: str) -> int:
        """A text on its own."""
        return -(-self._bytes(text) // APPROX_BYTES_PER_TOKEN)

    def blocks(self, blocks: Iterable[JsonObject]) -> int:
        """Content blocks."""
        return -(-sum(self._block(block) for block in blocks) // APPROX_BYTES_PER_TOKEN)

    def message(self, message: ApiMessage) -> int:
        """A message with all it is sent with."""
        content = message.content
        size = _MESSAGE_BYTES
        size += self._bytes(content) if isinstance(content, str) else sum(map(self._block, content))
        if message.reasoning_details:
            size += sum(self._detail(detail) for detail in message.reasoning_details)
        if message.encrypted_content:
            size += encrypted_bytes(message.encrypted_content)
        return -(-size // APPROX_BYTES_PER_TOKEN)

    def messages(self, messages: Iterable[ApiMessage]) -> int:
        """Messages one after the other."""
        return sum(map(self.message, messages))

    def tools(self, tools: Sequence[ToolSpec]) -> int:
        """What the model is told of its tools."""
        return sum(
            -(-(self._bytes(tool.name) + self._bytes(tool.description) + self._json(tool.parameters)) // 4)
            for tool in tools
        )

    # ---- in bytes, so that rounding happens once

    def _bytes(self, text: str) -> int:
        if text.isascii():
            return len(text)
        if self.counting == "bytes":
            return len(utf8(text))
        wide = len(text) - len(_CJK.sub("", text))
        return wide * APPROX_BYTES_PER_TOKEN + (len(text) - wide)

    def _json(self, value: JsonValue) -> int:
        return self._bytes(_encoded(value))

    def _block(self, block: JsonObject) -> int:
        match block.get("type"):
            case "text":
                return self._bytes(string_of(block, "text"))
            case "tool_result":
                return len(string_of(block, "tool_use_id")) + self._content(block.get("content"))
            case "tool_use":
                name = string_of(block, "id") + string_of(block, "name")
                return self._bytes(name) + self._json(block.get("input") or {})
            case "image":
                return self._image(block)
            case "thinking":
                # The signature is the same thoughts once more, for the provider's own eyes.
                return max(self._bytes(string_of(block, "thinking")), encrypted_bytes(string_of(block, "signature")))
            case "redacted_thinking":
                return encrypted_bytes(string_of(block, "data"))
            case _:
                return self._json(block)

    def _content(self, content: JsonValue) -> int:
        if isinstance(content, str):
            return self._bytes(content)
        if isinstance(content, list):
            return sum(self._block(part) for part in content if isinstance(part, dict))
        return 0

    def _image(self, block: JsonObject) -> int:
        source = block.get("source")
        url = string_of(source, "url") if isinstance(source, dict) else ""
        if url[:5].lower() == "data:" and not is_data_image(url):
            # Nothing a model would see as a picture: its text is what it costs.
            return self._bytes(url)
        data = string_of(source, "data") if self.model and isinstance(source, dict) else ""
        tokens = picture_tokens(data, self.model) if data else None
        return IMAGE_BYTES_ESTIMATE if tokens is None else tokens * APPROX_BYTES_PER_TOKEN

    def _detail(self, detail: JsonValue) -> int:
        if not isinstance(detail, dict):
            return 0
        hidden = string_of(detail, "encrypted_content") or string_of(detail, "data")
        return encrypted_bytes(hidden) if hidden else self._bytes(string_of(detail, "text"))


def used_tokens(report: UsageReport | None, after: int, whole: int, factor: float = 1.0) -> int:
    """How many tokens the next request has.

    ``report`` is what the provider counted last, with the answer it gave; ``after`` the estimate of what came after that
    answer; ``whole`` the estimate of everything, for want of a report. ``factor`` is the model's calibration.
    """
    if report is None or not report.context:
        return round(whole * factor)
    return report.context + report.output + round(after * factor)
