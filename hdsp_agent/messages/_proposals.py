"""What the agent proposes, for the person to edit before approving it: asked for by the page."""

from typing import Literal

from ._base import Message, Timestamp
from ._webview_base import Request

__all__ = ["ProposalMessage", "ProposalRequest", "ProposedText"]


class ProposalRequest(Request):
    """Ask for the texts that the question ``messageTs`` proposes; they come as a ``proposal`` message to this tab."""

    type: Literal["requestProposal"] = "requestProposal"
    message_ts: Timestamp


class ProposedText(Message):
    """One text that can be edited: a file, the source of a cell, code or a command."""

    name: str
    text: str


class ProposalMessage(Message):
    """The texts a question proposes. To approve with changes, answer it with ``edited``: all of them, in this order."""

    type: Literal["proposal"] = "proposal"
    request_id: str
    task_id: str
    message_ts: int
    texts: list[ProposedText]
