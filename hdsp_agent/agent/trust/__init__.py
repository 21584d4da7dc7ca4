"""What a folder brings for the agent, and whether the person trusts it."""

from __future__ import annotations

from ._brings import Brought, BroughtKind, brought_by
from ._workspace_trust import FolderTrust, WorkspaceTrust

__all__ = ["Brought", "BroughtKind", "FolderTrust", "WorkspaceTrust", "brought_by"]
