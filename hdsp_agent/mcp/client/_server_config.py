"""What a file says of one MCP server, in the form that most programs share, and what is wrong with it."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final, Literal, TypeAlias
from urllib.parse import urlsplit

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from ...config import CREDENTIAL_NAME
from ...errors import InvalidInput
from ...messages import JsonObject

__all__ = [
    "DEFAULT_SECONDS",
    "LONGEST_NAME",
    "MOST_SECONDS",
    "Entry",
    "ServerConfig",
    "Source",
    "Transport",
    "parsed_entry",
    "server_config",
    "server_name_problem",
]

Source: TypeAlias = Literal["global", "project"]
"""The person's own file, or that of the folder."""
Transport: TypeAlias = Literal["stdio", "streamable-http"]

DEFAULT_SECONDS: Final = 60
MOST_SECONDS: Final = 3_600
LONGEST_NAME: Final = 64

_PLAIN_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9 _.-]*")
_TYPES: Final[Mapping[str, Transport]] = {
    "stdio": "stdio",
    "local": "stdio",
    "http": "streamable-http",
    "streamable-http": "streamable-http",
    "streamableHttp": "streamable-http",
    "streamable_http": "streamable-http",
    "remote": "streamable-http",
}

_Text = Annotated[str, Field(max_length=32_768)]
_Name = Annotated[str, Field(min_length=1, max_length=1_000)]


def _as_text(value: object) -> object:
    """Others allow numbers and switches as values of variables."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, (int, float)) else value


_Value = Annotated[_Text, BeforeValidator(_as_text)]


class OAuthEntry(BaseModel):
    """How the agent is registered at a remote server's authorization server, where it does not register itself."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="ignore", frozen=True)

    client_id: _Name | None = None
    client_secret: _Text | None = None
    client_metadata_url: Annotated[str, Field(pattern=r"^https://[^/]+/.+", max_length=4_096)] | None = None
    """An address that says who we are: some servers take it in place of an id."""


class Entry(BaseModel):
    """One server as it is written down. What other programs add to it is left alone."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="ignore", frozen=True)

    type: str | None = Field(default=None, validation_alias=AliasChoices("type", "transport", "transportType"))
    command: Annotated[str, Field(min_length=1, max_length=4_096)] | None = None
    args: Annotated[tuple[_Value, ...], Field(max_length=1_000)] = ()
    env: Annotated[dict[_Name, _Value], Field(max_length=1_000)] = Field(
        default_factory=dict, validation_alias=AliasChoices("env", "environment")
    )
    cwd: Annotated[str, Field(min_length=1, max_length=4_096)] | None = None
    url: Annotated[str, Field(min_length=1, max_length=4_096)] | None = Field(
        default=None, validation_alias=AliasChoices("url", "httpUrl", "serverUrl")
    )
    headers: Annotated[dict[_Name, _Value], Field(max_length=100)] = Field(
        default_factory=dict, validation_alias=AliasChoices("headers", "http_headers")
    )
    oauth: OAuthEntry | None = None
    disabled: bool = False
    timeout: Annotated[float, Field(ge=1, le=MOST_SECONDS)] = DEFAULT_SECONDS
    always_allow: Annotated[tuple[_Name, ...], Field(max_length=10_000)] = Field(
        default=(), validation_alias=AliasChoices("alwaysAllow", "autoApprove")
    )
    disabled_tools: Annotated[tuple[_Name, ...], Field(max_length=10_000)] = ()


@dataclass(frozen=True)
class ServerConfig:
    """One server. With a ``problem`` it cannot be used, and that says why."""

    name: str
    source: Source
    folder: Path | None
    """The folder that brings it; None for the person's own."""
    entry: Entry = field(default_factory=Entry)
    problem: str | None = None

    @property
    def key(self) -> str:
        """Tells servers apart, whatever they are called elsewhere."""
        return json.dumps([self.source, None if self.folder is None else str(self.folder), self.name])

    @property
    def transport(self) -> Transport:
        """How it is talked to."""
        return "streamable-http" if self.entry.command is None and self.entry.url is not None else "stdio"

    @property
    def address(self) -> str:
        """What is started or called, as a person reads it; without keys."""
        entry = self.entry
        if self.transport == "streamable-http":
            parts = urlsplit(entry.url or "")
            host = parts.netloc.rpartition("@")[2]
            return f"{parts.scheme}://{host}{parts.path}{'?…' if parts.query else ''}"
        return shlex.join([*self._surroundings, entry.command or "", *entry.args])

    @property
    def _surroundings(self) -> Sequence[str]:
        """What a folder sets around its command, as a shell has it: it decides what runs as much as the command does."""
        entry = self.entry
        if self.source != "project" or not (entry.env or entry.cwd):
            return ()
        variables = [f"{name}={'…' if CREDENTIAL_NAME.search(name) else value}" for name, value in entry.env.items()]
        return ("env", *(["-C", entry.cwd] if entry.cwd else ()), *variables)

    @property
    def fingerprint(self) -> str:
        """Another one for anything that makes it another server: what was decided about it does not hold then."""
        entry = self.entry
        what: JsonObject = {
            "command": entry.command,
            "args": list(entry.args),
            "env": dict(sorted(entry.env.items())),
            "cwd": entry.cwd,
            "url": entry.url,
            "headers": dict(sorted(entry.headers.items())),
            "oauth": None if entry.oauth is None else entry.oauth.model_dump(),
        }
        return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:32]

    def shown(self) -> JsonObject:
        """The entry as it may be shown: the values of variables and headers are left out."""
        entry = self.entry
        shown: JsonObject = {"type": self.transport}
        if self.transport == "stdio":
            shown |= {"command": entry.command, "args": list(entry.args)}
            if entry.cwd is not None:
                shown["cwd"] = entry.cwd
        else:
            shown["url"] = self.address
        if entry.env:
            shown["env"] = dict.fromkeys(entry.env, "…")
        if entry.headers:
            shown["headers"] = dict.fromkeys(entry.headers, "…")
        return shown


def server_config(name: str, source: Source, folder: Path | None, written: object) -> ServerConfig:
    """What an entry of a file means. Never raises: a broken one is listed with what is wrong."""
    problem = server_name_problem(name, source)
    try:
        entry = parsed_entry(written)
    except InvalidInput as error:
        return ServerConfig(name, source, folder, problem=problem or error.message)
    return ServerConfig(name, source, folder, entry, problem)


def parsed_entry(written: object) -> Entry:
    """An entry that can be used. Raises InvalidInput."""
    try:
        entry = Entry.model_validate(written)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field_name = ".".join(str(part) for part in first["loc"]) or None
        where = f"{field_name}: " if field_name else ""
        raise InvalidInput(f"This entry is not valid: {where}{first['msg']}.", field=field_name) from None
    problem = _problem(entry)
    if problem is not None:
        raise InvalidInput(problem)
    return entry


def server_name_problem(name: str, source: Source) -> str | None:
    """Why a server cannot be called that; None if it can."""
    if not name or len(name) > LONGEST_NAME:
        return f"The name of an MCP server has 1 to {LONGEST_NAME} characters."
    if source == "project" and not _PLAIN_NAME.fullmatch(name):
        # A folder chooses it, and it must not pass for another one.
        return (
            "In the file of a folder, a server's name has only the letters A to Z, digits, spaces, dots, and hyphens."
        )
    if not name.isprintable() or name != name.strip():
        return "The name of an MCP server cannot have characters that are not visible."
    return None


def _problem(entry: Entry) -> str | None:
    if entry.type is not None and entry.type.lower() == "sse":
        return "The older SSE transport is not supported. Use the server's Streamable HTTP address with type http."
    if entry.type is not None and entry.type not in _TYPES:
        return f"The type {entry.type[:50]} is not known. Use stdio or http."
    if (entry.command is None) == (entry.url is None):
        return "An entry needs a command or a url, and not both."
    if entry.type is not None and (_TYPES[entry.type] == "stdio") != (entry.command is not None):
        return "The type does not fit: stdio needs a command, http needs a url."
    if any("\0" in text for text in _texts(entry)):
        return "The entry contains a NUL character."
    if entry.url is not None:
        return _url_problem(entry.url)
    return None


def _texts(entry: Entry) -> Sequence[str]:
    return (entry.command or "", *entry.args, *entry.env, *entry.env.values(), entry.cwd or "", entry.url or "")


def _url_problem(url: str) -> str | None:
    if "${" in url:
        # It is looked at again when the variables are filled in.
        return None
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        usable = False
    return None if usable else "The url must be a whole http or https address."
