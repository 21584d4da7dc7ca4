"""Whether a provider refuses to read what it sealed itself, told by what it documents and never by words anybody may say."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from ..messages import JsonObject

__all__ = ["refuses_sealed"]

_STATUSES: Final = frozenset({400, 422})
_CODE: Final = "invalid_encrypted_content"
_WORDS: Final = re.compile(
    r"The encrypted content (?:for item )?(?P<item>\S+) could not be (?:verified|decrypted)\b", re.IGNORECASE
)
"""At the beginning of the message: further on may stand what was sent."""
_PARAM: Final = re.compile(r"input\[(?P<index>\d+)\](?:\.(?:type|encrypted_content))?")
_KIND: Final = "compaction"


def refuses_sealed(error: BaseException | None, body: JsonObject) -> bool:
    """Whether the SDK's error is about a sealed item in the body that was sent."""
    from openai import APIStatusError

    if not isinstance(error, APIStatusError) or error.status_code not in _STATUSES:
        return False
    sent = body.get("input")
    items = [item if isinstance(item, dict) else {} for item in sent] if isinstance(sent, list) else []
    sealed = {place for place, item in enumerate(items) if item.get("type") == _KIND}
    if not sealed:
        return False
    if isinstance(error.param, str) and (named := _PARAM.fullmatch(error.param)):
        return int(named["index"]) in sealed
    words = _WORDS.match(_message(error.body))
    # Reasoning is encrypted too, and named in the same way.
    others = {item.get("id") for place, item in enumerate(items) if place not in sealed}
    if words and words["item"] in others:
        return False
    return error.code == _CODE or words is not None


def _message(body: object) -> str:
    message = body.get("message") if isinstance(body, Mapping) else None
    return message.strip() if isinstance(message, str) else ""
