"""``${…}`` in an entry: filled in from the environment and from the place where keys are kept, when it is used."""

from __future__ import annotations

import os
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ...config import secret_environment
from ...errors import InvalidInput
from ._server_config import Entry

__all__ = ["FilledEntry", "FilledOAuth", "ReadSecret", "filled", "secret_names", "secret_reference"]

ReadSecret = Callable[[str], Awaitable[str | None]]
"""The secret of this name."""

_VARIABLE: Final = re.compile(r"\$\{(?:(?P<kind>[A-Za-z]+):)?(?P<name>[^{}]*)\}")
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FOLDERS: Final = frozenset({"workspaceFolder", "userHome"})
_OURS: Final = re.compile(r"HDSP_.*|JPY_.*|JUPYTER_TOKEN|JUPYTERHUB_.*", re.IGNORECASE)


@dataclass(frozen=True)
class FilledOAuth:
    """How we are registered where one logs in, if we are already."""

    client_id: str | None = None
    client_secret: str | None = None
    metadata_url: str | None = None


@dataclass(frozen=True)
class FilledEntry:
    """An entry as it is used. It holds keys: it is never shown or logged."""

    command: str | None
    args: tuple[str, ...]
    env: Mapping[str, str]
    cwd: str | None
    url: str | None
    headers: Mapping[str, str]
    oauth: FilledOAuth
    secrets: frozenset[str]
    """The keys among it."""


def secret_reference(name: str) -> str:
    """What stands in a file in place of a secret."""
    return f"${{secret:{name}}}"


def secret_names(entry: Entry) -> list[str]:
    """The secrets that an entry refers to."""
    secret = entry.oauth.client_secret if entry.oauth is not None else None
    texts = (*entry.args, *entry.env.values(), entry.url or "", *entry.headers.values(), secret or "")
    found = [match["name"] for text in texts for match in _VARIABLE.finditer(text) if match["kind"] == "secret"]
    return list(dict.fromkeys(found))


async def filled(entry: Entry, workspace: Path, read_secret: ReadSecret, *, own_environment: bool) -> FilledEntry:
    """The entry with its variables filled in. Raises InvalidInput for one that there is not.

    ``own_environment`` says whether variables of the server's environment may be used: a folder's file may not have them,
    which would send them to whom it names.
    """
    fill = _Fill(workspace, read_secret, own_environment)
    env = {name: await fill.text(value, secret=True) for name, value in entry.env.items()}
    headers = {name: await fill.text(value, secret=True) for name, value in entry.headers.items()}
    args = tuple([await fill.text(arg) for arg in entry.args])
    return FilledEntry(
        command=None if entry.command is None else await fill.text(entry.command),
        args=args,
        env=env,
        cwd=None if entry.cwd is None else await fill.text(entry.cwd),
        url=None if entry.url is None else await fill.text(entry.url),
        headers=headers,
        oauth=await _oauth(entry, fill),
        secrets=frozenset(fill.secrets),
    )


async def _oauth(entry: Entry, fill: _Fill) -> FilledOAuth:
    given = entry.oauth
    if given is None:
        return FilledOAuth()
    return FilledOAuth(
        None if given.client_id is None else await fill.text(given.client_id),
        None if given.client_secret is None else await fill.text(given.client_secret, secret=True),
        given.client_metadata_url,
    )


class _Fill:
    def __init__(self, workspace: Path, read_secret: ReadSecret, own_environment: bool) -> None:
        self._workspace = workspace
        self._read_secret = read_secret
        self._own_environment = own_environment
        self.secrets: set[str] = set()

    async def text(self, text: str, *, secret: bool = False) -> str:
        """The text with its variables filled in; a ``secret`` one is remembered as a key."""
        pieces: list[str] = []
        end = 0
        for match in _VARIABLE.finditer(text):
            pieces += [text[end : match.start()], await self._value(match["kind"], match["name"], match[0])]
            end = match.end()
        whole = "".join([*pieces, text[end:]])
        if secret:
            self.secrets.add(whole.removeprefix("Bearer ").removeprefix("bearer ").strip())
        return whole

    async def _value(self, kind: str | None, name: str, written: str) -> str:
        if kind == "secret":
            found = await self._read_secret(name)
            if found is None:
                raise InvalidInput(f"There is no saved key for {written}. Add the server again with its key.")
            self.secrets.add(found)
            return found
        if kind is None and name in _FOLDERS:
            return str(self._workspace if name == "workspaceFolder" else Path.home())
        # ${NAME} and ${NAME:-default} are what Claude Code writes.
        name, _, default = name.partition(":-")
        if kind not in (None, "env") or not _NAME.fullmatch(name):
            raise InvalidInput(f"{written[:100]} cannot be filled in here. Write the value itself, or ${{env:NAME}}.")
        return self._variable(name, default or None)

    def _variable(self, name: str, default: str | None) -> str:
        value = os.environ.get(name, default)
        if not self._own_environment or _OURS.fullmatch(name) or name in secret_environment():
            raise InvalidInput(f"The environment variable {name} is not given to MCP servers.")
        if value is None:
            raise InvalidInput(f"The environment variable {name} is not set where Jupyter runs.")
        if len(value) >= 8 and name not in ("HOME", "USER", "PATH", "PWD", "LANG", "SHELL", "LOGNAME"):
            self.secrets.add(value)
        return value
