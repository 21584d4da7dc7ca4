"""The conversation that a notebook carries in its metadata: whether there is one, and opening it. Asked for by the page."""

from typing import Literal

from ._base import FilePath, Message
from ._webview_base import Request

__all__ = ["EmbeddedConversationOffer", "FindEmbeddedConversationRequest", "OpenEmbeddedConversationRequest"]


class FindEmbeddedConversationRequest(Request):
    """Ask for the conversation in a notebook's file. The answer is an offer; null where it has none, or its conversation
    is among the person's own.
    """

    type: Literal["findEmbeddedConversation"] = "findEmbeddedConversation"
    path: FilePath


class OpenEmbeddedConversationRequest(Request):
    """Make a conversation of what a notebook's file carries, and show it; the answer is its id. Whoever has it already is
    shown theirs.
    """

    type: Literal["openEmbeddedConversation"] = "openEmbeddedConversation"
    path: FilePath


class EmbeddedConversationOffer(Message):
    """What could be opened."""

    title: str
    messages: int
    left_out: int
    """The oldest messages, which the notebook does not have."""
