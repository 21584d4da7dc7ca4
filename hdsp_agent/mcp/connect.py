"""What to paste into other programs so that they connect to the server, exactly as they want it."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, Literal

from jupyter_core.paths import jupyter_runtime_dir
from pydantic import JsonValue

__all__ = ["TOKEN_VARIABLE", "ConnectProgram", "ConnectSnippet", "ConnectWay", "connect_programs", "proxy_command"]

TOKEN_VARIABLE: Final = "HDSP_AGENT_TOKEN"  # noqa: S105 -- the name of a variable
_NAME: Final = "hdsp-agent"
_DAY_SECONDS: Final = 86_400
"""A call waits for a person; these programs give up after a minute unless they are told."""
_BEARER: Final = "Bearer "


@dataclass(frozen=True)
class ConnectSnippet:
    """A command for a terminal, or text for a file."""

    kind: Literal["command", "file"]
    language: Literal["shell", "json", "toml"]
    text: str
    file: str | None = None


@dataclass(frozen=True)
class ConnectWay:
    """``local`` starts our proxy, which needs no token; ``http`` works from anywhere, with a token of the environment."""

    kind: Literal["local", "http"]
    snippets: tuple[ConnectSnippet, ...]
    """The first is enough; others say the same in another way."""


@dataclass(frozen=True)
class ConnectProgram:
    """A program that people have."""

    id: str
    name: str
    ways: tuple[ConnectWay, ...]


def proxy_command() -> tuple[str, ...]:
    """How to start the proxy from anywhere on this machine: the program beside this Python, whatever the path says."""
    folder = Path(sys.executable).parent
    program = folder / ("hdsp-agent.exe" if os.name == "nt" else "hdsp-agent")
    command = (str(program), "mcp") if program.exists() else (sys.executable, "-m", "hdsp_agent.cli", "mcp")
    return (*command, *_elsewhere())


def _elsewhere() -> tuple[str, ...]:
    """Where Jupyter's runtime folder is, if only this server's environment says it: other programs pass little of theirs on."""
    if not any(os.environ.get(name) for name in ("JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR", "XDG_DATA_HOME")):
        return ()
    return ("--runtime-dir", jupyter_runtime_dir())


def connect_programs(url: str, command: Sequence[str], *, http_first: bool = False) -> tuple[ConnectProgram, ...]:
    """Every program with its ways, in the order they are shown."""
    order = reversed if http_first else list
    return tuple(
        ConnectProgram(
            each.id,
            each.name,
            tuple(order([ConnectWay("local", each.local(tuple(command))), ConnectWay("http", each.http(url))])),
        )
        for each in _PROGRAMS
    )


@dataclass(frozen=True)
class _Program:
    id: str
    name: str
    local: Callable[[tuple[str, ...]], tuple[ConnectSnippet, ...]]
    http: Callable[[str], tuple[ConnectSnippet, ...]]


def _shell(*words: str) -> ConnectSnippet:
    text = subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)
    return ConnectSnippet("command", "shell", text)


def _json(file: str, *path: str, **entry: JsonValue) -> ConnectSnippet:
    document: JsonValue = entry
    for name in reversed((*path, _NAME)):
        document = {name: document}
    return ConnectSnippet("file", "json", json.dumps(document, indent=2, ensure_ascii=False), file)


def _toml(file: str, **entry: JsonValue) -> ConnectSnippet:
    # Strings, lists of strings and numbers are written alike in both.
    lines = [f"[mcp_servers.{_NAME}]", *(f"{name} = {json.dumps(value)}" for name, value in entry.items())]
    return ConnectSnippet("file", "toml", "\n".join(lines), file)


def _claude_local(command: tuple[str, ...]) -> tuple[ConnectSnippet, ...]:
    program, *arguments = command
    return (
        _shell("claude", "mcp", "add", "--scope", "user", _NAME, "--", *command),
        _json(".mcp.json", "mcpServers", type="stdio", command=program, args=[*arguments]),
    )


def _claude_http(url: str) -> tuple[ConnectSnippet, ...]:
    headers: JsonValue = {"Authorization": f"{_BEARER}${{{TOKEN_VARIABLE}}}"}
    return (_json(".mcp.json", "mcpServers", type="http", url=url, headers=headers),)


def _codex_local(command: tuple[str, ...]) -> tuple[ConnectSnippet, ...]:
    program, *arguments = command
    return (
        _toml("~/.codex/config.toml", command=program, args=[*arguments], tool_timeout_sec=_DAY_SECONDS),
        _shell("codex", "mcp", "add", _NAME, "--", *command),
    )


def _codex_http(url: str) -> tuple[ConnectSnippet, ...]:
    return (_toml("~/.codex/config.toml", url=url, bearer_token_env_var=TOKEN_VARIABLE, tool_timeout_sec=_DAY_SECONDS),)


def _gemini_local(command: tuple[str, ...]) -> tuple[ConnectSnippet, ...]:
    program, *arguments = command
    file = partial(_json, "~/.gemini/settings.json", "mcpServers", timeout=_DAY_SECONDS * 1000)
    return (
        file(command=program, args=[*arguments]),
        _shell("gemini", "mcp", "add", "--scope", "user", "--timeout", str(_DAY_SECONDS * 1000), _NAME, *command),
    )


def _gemini_http(url: str) -> tuple[ConnectSnippet, ...]:
    headers: JsonValue = {"Authorization": f"{_BEARER}${TOKEN_VARIABLE}"}
    timeout = _DAY_SECONDS * 1000
    return (_json("~/.gemini/settings.json", "mcpServers", httpUrl=url, headers=headers, timeout=timeout),)


def _opencode_local(command: tuple[str, ...]) -> tuple[ConnectSnippet, ...]:
    timeout = _DAY_SECONDS * 1000
    return (_json("opencode.json", "mcp", type="local", command=[*command], enabled=True, timeout=timeout),)


def _opencode_http(url: str) -> tuple[ConnectSnippet, ...]:
    headers: JsonValue = {"Authorization": f"{_BEARER}{{env:{TOKEN_VARIABLE}}}"}
    timeout = _DAY_SECONDS * 1000
    return (
        _json(
            "opencode.json", "mcp", type="remote", url=url, headers=headers, oauth=False, enabled=True, timeout=timeout
        ),
    )


def _copilot_local(command: tuple[str, ...]) -> tuple[ConnectSnippet, ...]:
    program, *arguments = command
    everything: JsonValue = ["*"]
    file = "~/.copilot/mcp-config.json"
    return (_json(file, "mcpServers", type="local", command=program, args=[*arguments], tools=everything),)


def _copilot_http(url: str) -> tuple[ConnectSnippet, ...]:
    headers: JsonValue = {"Authorization": f"{_BEARER}${{{TOKEN_VARIABLE}}}"}
    everything: JsonValue = ["*"]
    file = "~/.copilot/mcp-config.json"
    return (_json(file, "mcpServers", type="http", url=url, headers=headers, tools=everything),)


def _editor_local(file: str, key: str, command: tuple[str, ...]) -> tuple[ConnectSnippet, ...]:
    """Editors start programs in a folder of their own choice, so the project's is said."""
    program, *arguments = command
    where = [*arguments, "--folder", "${workspaceFolder}"]
    return (_json(file, key, type="stdio", command=program, args=[*where]),)


def _cursor_http(url: str) -> tuple[ConnectSnippet, ...]:
    headers: JsonValue = {"Authorization": f"{_BEARER}${{env:{TOKEN_VARIABLE}}}"}
    return (_json(".cursor/mcp.json", "mcpServers", url=url, headers=headers),)


def _vscode_http(url: str) -> tuple[ConnectSnippet, ...]:
    headers: JsonValue = {"Authorization": f"{_BEARER}${{env:{TOKEN_VARIABLE}}}"}
    return (_json(".vscode/mcp.json", "servers", type="http", url=url, headers=headers),)


_PROGRAMS: Final = (
    _Program("claude-code", "Claude Code", _claude_local, _claude_http),
    _Program("codex", "Codex", _codex_local, _codex_http),
    _Program("cursor", "Cursor", partial(_editor_local, ".cursor/mcp.json", "mcpServers"), _cursor_http),
    _Program("vscode", "VS Code", partial(_editor_local, ".vscode/mcp.json", "servers"), _vscode_http),
    _Program("gemini-cli", "Gemini CLI", _gemini_local, _gemini_http),
    _Program("opencode", "opencode", _opencode_local, _opencode_http),
    _Program("copilot-cli", "Copilot CLI", _copilot_local, _copilot_http),
)
