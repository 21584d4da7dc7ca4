"""What the page sends about files."""

from typing import Literal

from ._base import FilePath, Query
from ._webview_base import Request

__all__ = [
    "FindFileRequest",
    "SearchFilesRequest",
    "ServicesMessage",
]


class SearchFilesRequest(Request):
    """Search the workspace's files by name."""

    type: Literal["searchFiles"] = "searchFiles"
    query: Query | None = None


class FindFileRequest(Request):
    """Whether there is a file or folder of this path; the answer says so."""

    type: Literal["findFile"] = "findFile"
    path: FilePath


ServicesMessage = SearchFilesRequest | FindFileRequest
