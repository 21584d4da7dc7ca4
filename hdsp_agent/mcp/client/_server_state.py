"""A server as it stands for one person: what its file says, what they chose, and what became of connecting to it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from ._choices import ServerChoice, ToolChoice
from ._connection import Connection
from ._listing import Listing, ServerTool
from ._server_config import ServerConfig

__all__ = ["ServerState"]


@dataclass(frozen=True)
class ServerState:
    """One server."""

    config: ServerConfig
    choice: ServerChoice
    is_forbidden: bool
    """The operator does not allow it."""
    connection: Connection | None = None

    @property
    def needs_approval(self) -> bool:
        """A folder brings it, and the person has not switched it on as it is now."""
        return self.config.source == "project" and self.choice.disabled is None

    @property
    def is_disabled(self) -> bool:
        """Whether it is switched off. What a folder brings is, until somebody switches it on."""
        if self.choice.disabled is not None:
            return self.choice.disabled
        return self.needs_approval or self.config.entry.disabled

    @property
    def is_usable(self) -> bool:
        """Whether it may be connected to."""
        return not (self.is_disabled or self.is_forbidden or self.config.problem is not None)

    @property
    def timeout(self) -> float:
        """How long a call may take without a sign of life, in seconds."""
        return self.choice.timeout or self.config.entry.timeout

    @property
    def listing(self) -> Listing:
        """What it offers."""
        return Listing() if self.connection is None else self.connection.listing

    def fingerprint(self, tool: ServerTool) -> str:
        """Another one for a tool that says something else of itself, or where something else is started or called for it."""
        return hashlib.sha256(f"{self.config.key}\n{self.config.fingerprint}\n{tool.fingerprint}".encode()).hexdigest()[
            :32
        ]

    def is_enabled(self, tool: ServerTool) -> bool:
        """Whether the model gets the tool."""
        chosen = self._chosen(tool)
        return tool.name not in self.config.entry.disabled_tools if chosen is None else chosen.enabled

    def is_always_allowed(self, tool: ServerTool) -> bool:
        """Whether the person allowed the tool once and for all, as it is."""
        chosen = self._chosen(tool)
        return chosen is not None and chosen.allowed == tool.fingerprint

    def has_changed(self, tool: ServerTool) -> bool:
        """Whether they allowed it as it was, and it is another one now."""
        chosen = self._chosen(tool)
        return chosen is not None and chosen.allowed not in (None, tool.fingerprint)

    def unseen_allowed(self) -> list[ServerTool]:
        """Tools that the person's own file allows, and about which nothing was decided: they are meant as they are first seen."""
        if self.config.source != "global":
            return []
        named = self.config.entry.always_allow
        return [tool for tool in self.listing.tools if tool.name in named and not self._decided(tool)]

    def _decided(self, tool: ServerTool) -> bool:
        chosen = self._chosen(tool)
        return chosen is not None and chosen.decided

    def _chosen(self, tool: ServerTool) -> ToolChoice | None:
        return self.choice.tools.get(tool.name)
