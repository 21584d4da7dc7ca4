"""Which running server a program that works in a folder means. It is never guessed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from ..errors import Unavailable
from ..mcp.connect import TOKEN_VARIABLE
from ..mcp.server.caller import FOLDER_HEADER
from ._runtime_files import RunningJupyter, running_jupyters

if TYPE_CHECKING:
    import httpx2

__all__ = ["McpTarget", "find_target"]

_PATH: Final = "hdsp-agent/mcp"
_HUB_TOKEN_VARIABLE: Final = "JUPYTERHUB_API_TOKEN"  # noqa: S105 -- the name of a variable
_ELSEWHERE: Final = Path()
"""The folder of a server that does not run under this account."""
_CONNECT_SECONDS: Final = 10.0
_SILENT_SECONDS: Final = 120.0
"""A call may take as long as a person needs, but the server says every few seconds that it is there."""
_LOCAL_HOST: Final = "http://localhost/"


@dataclass(frozen=True)
class McpTarget:
    """A server, and what to send along."""

    server: str
    """Its address, which ends with a slash."""
    token: str
    socket: str
    folder: Path

    @property
    def url(self) -> str:
        """Where it takes the protocol's messages."""
        return f"{_LOCAL_HOST if self.socket else self.server}{_PATH}"

    def client(self) -> httpx2.AsyncClient:
        """HTTP to it, and to nothing else."""
        import httpx2

        headers = {FOLDER_HEADER: quote(str(self.folder))}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        # A proxy of the environment is none of this token's business, and no answer may send it elsewhere.
        return httpx2.AsyncClient(
            trust_env=False,
            follow_redirects=False,
            headers=headers,
            timeout=httpx2.Timeout(_SILENT_SECONDS, connect=_CONNECT_SECONDS),
            transport=httpx2.AsyncHTTPTransport(
                uds=self.socket or None, trust_env=False, limits=httpx2.Limits(max_connections=None)
            ),
        )


def find_target(folder: Path, wanted: str | None, runtime: Path | None = None) -> McpTarget:
    """The server named by ``wanted``, else the one whose folder contains this one most closely. Raises Unavailable, with
    the servers there are."""
    here = Path(os.path.realpath(folder))
    servers = running_jupyters(runtime)
    chosen = _named(servers, wanted) if wanted is not None else _around(servers, here)
    return McpTarget(chosen.url, _token(chosen), chosen.socket, here)


def _token(server: RunningJupyter) -> str:
    """Its own, else the one that is given for it, else what a hub gave this process: that is for servers of this account alone."""
    given = server.token or os.environ.get(TOKEN_VARIABLE, "")
    return given or ("" if server.root == _ELSEWHERE else os.environ.get(_HUB_TOKEN_VARIABLE, ""))


def _named(servers: Sequence[RunningJupyter], wanted: str) -> RunningJupyter:
    address = wanted.rstrip("/") + "/"
    for server in servers:
        if address == server.url or wanted == server.socket:
            return server
    if address.startswith(("http://", "https://")):
        # On another machine, or under another account.
        return RunningJupyter(address, _ELSEWHERE, "", "")
    raise Unavailable(f"{wanted} is not the address of a Jupyter Server.{_listed(servers)}")


def _around(servers: Sequence[RunningJupyter], here: Path) -> RunningJupyter:
    roots = [(Path(os.path.realpath(server.root)), server) for server in servers]
    around = [(root, server) for root, server in roots if here.is_relative_to(root)]
    if not around:
        raise Unavailable(f"No Jupyter Server runs for {here}. Start JupyterLab there.{_listed(servers)}")
    nearest = max(len(root.parts) for root, _ in around)
    chosen = [server for root, server in around if len(root.parts) == nearest]
    if len(chosen) > 1:
        raise Unavailable(f"{len(chosen)} Jupyter Servers run for this folder.{_listed(chosen)}")
    return chosen[0]


def _listed(servers: Sequence[RunningJupyter]) -> str:
    if not servers:
        return " None is running under your account."
    lines = "".join(f"\n  {server.url} in {server.root}" for server in servers)
    return f" Choose one with --server ADDRESS:{lines}"
