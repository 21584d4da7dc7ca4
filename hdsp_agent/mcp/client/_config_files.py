"""The files ``mcp.json`` that name servers: read leniently, changed under a lock. Everything here blocks."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import JsonValue

from ..._private_files import (
    Identity,
    identity_of,
    locked,
    make_private_folder,
    read_with_identity,
    replace_file,
)
from ...errors import HdspAgentError, InvalidInput, NotFound, StorageUnavailable
from ...messages import JsonObject
from ._server_config import ServerConfig, Source, server_config

__all__ = ["GLOBAL_FILE", "PROJECT_FILE", "ConfigFile", "project_servers", "servers_in"]

GLOBAL_FILE: Final = "mcp.json"
PROJECT_FILE: Final = ".hdsp/mcp.json"

_LARGEST_BYTES: Final = 1_000_000
_MOST_SERVERS: Final = 200
_LOCK_SECONDS: Final = 10.0


@dataclass(frozen=True)
class _Read:
    identity: Identity | None
    servers: tuple[ServerConfig, ...] = ()
    problem: str | None = None


class ConfigFile:
    """One such file, and what it said when it was last looked at."""

    def __init__(self, source: Source, folder: Path) -> None:
        """``folder`` is the storage folder, or the real path of a workspace's."""
        self.source: Final = source
        self.folder: Final = folder
        self.path: Final = folder / (GLOBAL_FILE if source == "global" else PROJECT_FILE)
        self._read: _Read | None = None

    @property
    def servers(self) -> tuple[ServerConfig, ...]:
        """The servers it names, in its order."""
        return () if self._read is None else self._read.servers

    @property
    def problem(self) -> str | None:
        """Why it cannot be read."""
        return None if self._read is None else self._read.problem

    @property
    def exists(self) -> bool:
        """Whether there was such a file."""
        return self._read is not None and self._read.identity is not None

    def look(self) -> bool:
        """Read it again if it changed; whether it did. What cannot be read any more keeps what it said before."""
        identity = identity_of(self.path)
        before = self._read
        if before is not None and before.identity == identity:
            return False
        if identity is None:
            self._read = _Read(None)
            return before is not None
        try:
            servers = tuple(self._parsed(self._content()))
        except HdspAgentError as error:
            kept = () if before is None else before.servers
            self._read = _Read(identity, kept, error.message)
        else:
            self._read = _Read(identity, servers)
        return True

    def change(self, work: Callable[[dict[str, JsonValue]], None]) -> None:
        """Change the servers as they are written, as one step. Raises StorageUnavailable, InvalidInput, and what ``work`` raises."""
        if self.source == "global":
            make_private_folder(self.folder)
        with locked(self.path, _LOCK_SECONDS):
            content = self._content()
            written = content.setdefault("mcpServers", {})
            if not isinstance(written, dict):
                raise InvalidInput(
                    f"{self.path} cannot be changed: mcpServers is not an object. Repair the file first."
                )
            work(written)
            replace_file(self.path, (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode())
        self._read = None
        self.look()

    def remove(self, name: str) -> None:
        """Take a server out. Raises NotFound."""

        def take(written: dict[str, JsonValue]) -> None:
            if written.pop(name, None) is None:
                raise NotFound(f"There is no MCP server {name} in {self.path}.")

        self.change(take)

    def _content(self) -> JsonObject:
        inside = Path(os.path.realpath(self.path)).is_relative_to(os.path.realpath(self.folder))
        if self.source == "project" and not inside:
            raise InvalidInput(f"{self.path} is a link that leads out of the folder. It is not used.")
        found = read_with_identity(self.path)
        if found is None:
            return {}
        if len(found[0]) > _LARGEST_BYTES:
            raise InvalidInput(f"{self.path} is larger than {_LARGEST_BYTES:,} bytes. It is not used.")
        return _object(found[0], str(self.path))

    def _parsed(self, content: JsonObject) -> list[ServerConfig]:
        folder = None if self.source == "global" else self.folder
        return [
            server_config(name, self.source, folder, written)
            for name, written in list(servers_in(content, str(self.path)).items())[:_MOST_SERVERS]
        ]


def project_servers(folder: Path) -> list[str]:
    """The names of the servers that a folder brings, whether it is trusted or not."""
    file = ConfigFile("project", folder)
    try:
        file.look()
    except StorageUnavailable:
        return []
    return [server.name for server in file.servers]


def servers_in(content: JsonObject, where: str) -> Mapping[str, JsonValue]:
    """The servers that a document names: ``mcpServers``, or ``servers`` as VS Code has it. Raises InvalidInput."""
    for name in ("mcpServers", "servers"):
        if name in content:
            servers = content[name]
            if not isinstance(servers, dict):
                raise InvalidInput(f"{where}: {name} is not an object.")
            return servers
    return {}


def _object(data: bytes, where: str) -> JsonObject:
    try:
        content = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{where} is not JSON: {str(error)[:200]}.") from None
    if not isinstance(content, dict):
        raise InvalidInput(f"{where} is not a JSON object.")
    return content
