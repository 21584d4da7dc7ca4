"""What the server says about files, and what it asks of the panel."""

from typing import Literal

from ._attachments import Attachment
from ._base import Message
from ._choices import (
    FileResult,
    GitCommit,
)
from ._conversation_changes import ConversationPreview

__all__ = [
    "CommitSearchResultsMessage",
    "FileSearchResultsMessage",
    "ServicesUpdate",
    "ShowDeleteMessageDialogMessage",
    "ShowEditMessageDialogMessage",
]


class FileSearchResultsMessage(Message):
    """Files and folders a search found."""

    type: Literal["fileSearchResults"] = "fileSearchResults"
    results: list[FileResult]
    request_id: str | None = None
    error: str | None = None


class CommitSearchResultsMessage(Message):
    """Commits a search found, the newest first; ``error`` says why none can be found, as in a folder without Git."""

    type: Literal["commitSearchResults"] = "commitSearchResults"
    commits: list[GitCommit]
    request_id: str | None = None
    error: str | None = None


class ShowDeleteMessageDialogMessage(Message):
    """Ask whether a message shall really be deleted."""

    type: Literal["showDeleteMessageDialog"] = "showDeleteMessageDialog"
    message_ts: int
    preview: ConversationPreview | None = None


class ShowEditMessageDialogMessage(Message):
    """Ask whether a message shall really be replaced by ``text``."""

    type: Literal["showEditMessageDialog"] = "showEditMessageDialog"
    message_ts: int
    text: str
    images: list[str] | None = None
    attachments: list[Attachment] | None = None
    preview: ConversationPreview | None = None


ServicesUpdate = (
    FileSearchResultsMessage
    | CommitSearchResultsMessage
    | ShowDeleteMessageDialogMessage
    | ShowEditMessageDialogMessage
)
