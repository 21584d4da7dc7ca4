"""What was done since the person last spoke, as the history of the conversation has it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import unescape
from typing import Final, Protocol

from ...messages import JsonObject
from ...persistence import INTERRUPTED
from ...tools import PastCall, SinceAsked

__all__ = [
    "PUT_BACK",
    "RecentSteps",
    "is_surroundings",
    "is_words",
    "plain_words",
    "since_asked",
    "spoken_in",
    "surroundings_in",
]

PUT_BACK: Final = "[TASK RESUMPTION] The cells are as they were before."
"""What was done before this is as if it had not been."""
_SURROUNDINGS: Final = "<environment_details>"
_SURROUNDINGS_END: Final = "</environment_details>"
_WORDS: Final = re.compile(r"</?user_message>\n?")
_MARK: Final = "<user_message>"
_ALONG: Final = "<attachment "
_CONTENTS: Final = re.compile(r"(<attachment [^>\n]*>)\n.*?\n</attachment>(?=\n\n|\Z)", re.DOTALL)
"""Nothing in a block's content is a line that ends it."""
_CELLS: Final = re.compile(
    r'^<attachment kind="(?:cell|selection|output|error)"[^>\n]* label="([^"\n]*)">', re.MULTILINE
)
_BY_US: Final = ("[ERROR]", "[TASK RESUMPTION]", _SURROUNDINGS)


class RecentSteps(Protocol):
    """A message of the history."""

    @property
    def role(self) -> str:
        """Whose it is."""

    @property
    def content(self) -> str | Sequence[JsonObject]:
        """Its blocks."""


def since_asked(messages: Sequence[RecentSteps]) -> SinceAsked:
    """The person's last words and what followed. A call without a result is being made now and left out."""
    begin = max((at for at, message in enumerate(messages) if _speaks(message)), default=0)
    words: list[str] = []
    surroundings: list[str] = []
    calls: dict[str, JsonObject] = {}
    done: list[PastCall] = []
    for at, message in enumerate(messages):
        if at == begin and message.role == "user":
            words += spoken_in(_texts(message))[0]
        for block in _blocks(message):
            text = str(block.get("text", ""))
            match block.get("type"):
                case "text" if is_surroundings(text):
                    surroundings.append(surroundings_in(text))
                case _ if at < begin:
                    continue
                case "text" if text.startswith(PUT_BACK):
                    done.clear()
                case "tool_use":
                    calls[str(block.get("id"))] = block
                case "tool_result" if (call := calls.get(str(block.get("tool_use_id")))) is not None:
                    if block.get("content") == INTERRUPTED:
                        # It is being made now, or nobody knows what came of it.
                        continue
                    done.append(_past(call, block))
    return SinceAsked("\n".join(words), "\n".join(surroundings), tuple(done))


def is_surroundings(text: str) -> bool:
    """Whether the text tells how things are."""
    return text.startswith(_SURROUNDINGS)


def is_words(text: str) -> bool:
    """Whether the text is what a person said."""
    return bool(text.strip()) and not text.startswith(_BY_US)


def spoken_in(texts: Sequence[str]) -> tuple[list[str], list[str]]:
    """What the person says in a message, with what the cells are called that they point at; and what else went along.

    Only their own words, and no page or conversation that was read for them, say what is to be done with which cell.
    """
    heard = [text for text in texts if is_words(text)]
    marked = [text for text in heard if text.startswith(_MARK)]
    along = [text for text in heard if text not in marked and (marked or text.startswith(_ALONG))]
    cells = [unescape(label) for text in along for label in _CELLS.findall(_CONTENTS.sub(r"\1", text))]
    said = [plain_words(text) for text in heard if text not in along]
    # The words last: a question ends like one.
    return [*(label for label in cells if label not in said), *said], along


def plain_words(text: str) -> str:
    """What the person said, without the marks around it."""
    return _WORDS.sub("", text).strip()


def surroundings_in(text: str) -> str:
    """How things are, without the marks around it."""
    return text.removeprefix(_SURROUNDINGS).removesuffix(_SURROUNDINGS_END).strip("\n")


def _speaks(message: RecentSteps) -> bool:
    return message.role == "user" and any(
        block.get("type") == "text" and is_words(str(block.get("text", ""))) for block in _blocks(message)
    )


def _texts(message: RecentSteps) -> list[str]:
    return [str(block.get("text", "")) for block in _blocks(message) if block.get("type") == "text"]


def _blocks(message: RecentSteps) -> Sequence[JsonObject]:
    content = message.content
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _past(call: JsonObject, result: JsonObject) -> PastCall:
    given, content = call.get("input"), result.get("content")
    parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
    text = "\n".join(
        str(part.get("text", "")) for part in parts if isinstance(part, dict) and part.get("type") == "text"
    )
    return PastCall(
        str(call.get("name")), given if isinstance(given, dict) else {}, text, is_error=result.get("is_error") is True
    )
