"""Folders: what they bring for the agent, and whether the person trusts them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from ...agent.trust import BroughtKind, FolderTrust
from ...config import FolderVerdict, TrustedFolder
from ...wire import WireModel
from ..identity import owner_of
from ._rest_endpoint import RestHandler, endpoint

__all__ = ["FolderTrustHandler", "TrustedFoldersHandler"]


class FolderTrustQuery(WireModel):
    """Whose folder: that of a task; absent, the one that new tasks work in."""

    task: Annotated[str, Field(min_length=1, max_length=128)] | None = None


class BroughtView(WireModel):
    """One thing that a folder brings."""

    kind: BroughtKind
    name: str
    path: str
    """The file it is in, from the folder on."""


class FolderTrustView(WireModel):
    """How a folder stands, and what it brings: that counts only where ``verdict`` is trusted."""

    folder: str
    """Where it really is, links followed."""
    verdict: FolderVerdict
    decided_by: Literal["person", "operator"] | None = None
    through: str | None = None
    """The folder that was decided about; another one where it lies inside that."""
    brings: list[BroughtView]


class FolderDecisionBody(WireModel):
    """What to do about a folder: trust it, do not, or (null) ask about it again."""

    folder: Annotated[str, Field(min_length=1, max_length=32_768)]
    trusted: bool | None


class TrustedFoldersView(WireModel):
    """What the person decided, and what the administrator did."""

    folders: list[TrustedFolder]
    workspace_trust: Literal["ask", "always", "never"]
    """Whether people decide, or all folders are trusted, or none but those the administrator lists."""
    operators: list[str]
    """The folders the administrator lists."""


class FolderTrustHandler(RestHandler):
    """`GET|PUT folder-trust`"""

    @endpoint(
        "Show what a folder brings for the agent, and whether it is trusted",
        answer=FolderTrustView,
        query=FolderTrustQuery,
    )
    async def get(self, *, query: FolderTrustQuery) -> FolderTrustView:
        """Looked at anew each time: files may have come since."""
        return _view(await self.services.folder_trusts.of(owner_of(self), query.task))

    @endpoint("Trust a folder, or stop trusting it", answer=FolderTrustView, body=FolderDecisionBody, action="write")
    async def put(self, *, body: FolderDecisionBody) -> FolderTrustView:
        """Conversations there go by it from their next step on."""
        return _view(await self.services.folder_trusts.trust.decide(Path(body.folder), body.trusted))


class TrustedFoldersHandler(RestHandler):
    """`GET trusted-folders`"""

    @endpoint("List the folders that someone decided about", answer=TrustedFoldersView)
    async def get(self) -> TrustedFoldersView:
        """The person's decisions, which all of their servers share."""
        trusts = self.services.folder_trusts
        return TrustedFoldersView(
            folders=list(await trusts.trust.decisions()),
            workspace_trust=trusts.policy.workspace_trust,
            operators=list(trusts.policy.trusted_folders),
        )


def _view(trust: FolderTrust) -> FolderTrustView:
    standing = trust.standing
    return FolderTrustView(
        folder=str(standing.folder),
        verdict=standing.verdict,
        decided_by=standing.decided_by,
        through=None if standing.through is None else str(standing.through),
        brings=[BroughtView(kind=one.kind, name=one.name, path=one.path) for one in trust.brings],
    )
