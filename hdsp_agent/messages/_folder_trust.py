"""What the server says about the folders that a person trusts."""

from typing import Literal

from ._base import Message

__all__ = ["FolderTrustUpdatedMessage"]


class FolderTrustUpdatedMessage(Message):
    """The person decided about a folder: what it brings counts from now on, or does so no more. Ask again what is shown of it."""

    type: Literal["folderTrustUpdated"] = "folderTrustUpdated"
    folder: str
