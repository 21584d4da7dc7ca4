"""What the person chose about servers and their tools, in a file of the storage folder. Everything here blocks.

A choice holds for the server and the tool as they were: for another command, address, description or set of arguments
it has to be made again. What a folder writes into its file decides nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import Field, ValidationError

from ..._private_files import (
    Identity,
    identity_of,
    locked,
    make_private_folder,
    read_with_identity,
    replace_file,
    set_aside,
)
from ...wire import WireModel
from ._server_config import MOST_SECONDS, ServerConfig

__all__ = ["ServerChoice", "ServerChoices", "ToolChoice"]

logger = logging.getLogger(__name__)

_FILE: Final = "mcp-choices.json"
_LOCK_SECONDS: Final = 10.0


class ToolChoice(WireModel):
    """What was chosen about one tool."""

    enabled: bool = True
    allowed: str | None = None
    """The fingerprint of the tool that may always be used, as it was then."""
    decided: bool = False
    """Whether always allowing it was decided here: then what its entry says of that counts no more."""


class ServerChoice(WireModel):
    """What was chosen about one server."""

    fingerprint: str
    disabled: bool | None = None
    timeout: Annotated[float, Field(ge=1, le=MOST_SECONDS)] | None = None
    tools: dict[str, ToolChoice] = Field(default_factory=dict)


class _ChoicesFile(WireModel):
    version: Literal[1] = 1
    servers: dict[str, ServerChoice] = Field(default_factory=dict)


class ServerChoices:
    """The file."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._path: Final = home / _FILE
        self._read: tuple[Identity | None, Mapping[str, ServerChoice]] = (None, {})

    def of(self, server: ServerConfig) -> ServerChoice:
        """What counts for a server as it is now, as the file was last read."""
        found = self._read[1].get(server.key)
        if found is None or found.fingerprint != server.fingerprint:
            return ServerChoice(fingerprint=server.fingerprint)
        return found

    def look(self) -> bool:
        """Read it again if it changed; whether it did."""
        if identity_of(self._path) == self._read[0]:
            return False
        self._read = self._load(to_change=False)
        return True

    def change(self, server: ServerConfig, work: Callable[[ServerChoice], ServerChoice]) -> None:
        """Choose something else about a server."""

        def choose(servers: dict[str, ServerChoice]) -> None:
            found = servers.get(server.key)
            if found is None or found.fingerprint != server.fingerprint:
                found = ServerChoice(fingerprint=server.fingerprint)
            servers[server.key] = work(found)

        self._change(choose)

    def forget(self, server: ServerConfig) -> None:
        """Nothing is chosen about it any more."""
        self._change(lambda servers: servers.pop(server.key, None))

    def _change(self, work: Callable[[dict[str, ServerChoice]], object]) -> None:
        make_private_folder(self._home)
        with locked(self._path, _LOCK_SECONDS):
            servers = dict(self._load(to_change=True)[1])
            work(servers)
            identity = replace_file(self._path, _ChoicesFile(servers=servers).to_json().encode())
        self._read = identity, servers

    def _load(self, *, to_change: bool) -> tuple[Identity | None, Mapping[str, ServerChoice]]:
        found = read_with_identity(self._path)
        if found is None:
            return None, {}
        try:
            return found[1], _ChoicesFile.model_validate_json(found[0]).servers
        except ValidationError:
            logger.warning("%s cannot be read, so nothing in it counts", self._path)
            if to_change:
                set_aside(self._path, datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ"))
            return found[1], {}
