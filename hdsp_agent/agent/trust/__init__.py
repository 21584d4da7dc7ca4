"""What a folder brings for the agent, and whether the person trusts it."""

from __future__ import annotations

from ._folder_contents import BroughtKind, FolderContents, brought_by
from ._workspace_trust import FolderTrust, WorkspaceTrust

__all__ = ["BroughtKind", "FolderContents", "FolderTrust", "WorkspaceTrust", "brought_by"]
