"""What the page sends about files and commits."""

from typing import Literal

from ._base import FilePath, Query
from ._webview_base import Request

__all__ = [
    "FindFileRequest",
    "SearchCommitsRequest",
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


class SearchCommitsRequest(Request):
    """Search the workspace's commits by the beginning of their hash or words of their subject; without a query the newest."""

    type: Literal["searchCommits"] = "searchCommits"
    query: Query | None = None


ServicesMessage = SearchFilesRequest | FindFileRequest | SearchCommitsRequest
