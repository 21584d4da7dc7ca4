"""Servers as other programs write them down, to be pasted: whole files, and single entries."""

from __future__ import annotations

import json
from typing import Final

from pydantic import JsonValue

from ...errors import InvalidInput
from ...messages import JsonObject
from ._config_files import servers_in

__all__ = ["imported_servers"]

_LONGEST: Final = 1_000_000
_MOST: Final = 100
_ENTRY: Final = frozenset({"command", "url", "httpUrl", "serverUrl"})


def imported_servers(text: str, name: str | None) -> dict[str, JsonObject]:
    """The entries that a text holds, by their names. Raises InvalidInput.

    It may be a file of the common form, that of VS Code or opencode, the ``mcpServers`` alone, or one entry with its ``name``.
    """
    if len(text) > _LONGEST:
        raise InvalidInput(f"The text has more than {_LONGEST:,} characters.", field="text")
    try:
        content: JsonValue = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"This is not JSON: {str(error)[:200]}.", field="text") from None
    if not isinstance(content, dict):
        raise InvalidInput("This is not a JSON object.", field="text")
    servers = _servers(content, name)
    if not servers or len(servers) > _MOST:
        raise InvalidInput(
            f'This names no MCP servers, or more than {_MOST}. Paste {{"mcpServers": {{…}}}} or one entry and a name.',
            field="text",
        )
    entries: dict[str, JsonObject] = {}
    for server, entry in servers.items():
        if not isinstance(entry, dict):
            raise InvalidInput(f"{server[:100]}: an entry is a JSON object.", field="text")
        entries[server.strip()] = _common(entry)
    return entries


def _servers(content: JsonObject, name: str | None) -> JsonObject:
    if _ENTRY & content.keys():
        if not name:
            raise InvalidInput("Give this MCP server a name.", field="name")
        return {name: content}
    if "mcpServers" in content or "servers" in content:
        return dict(servers_in(content, "The text"))
    inside = content.get("mcp", content)
    if isinstance(inside, dict) and "servers" in inside:
        return dict(servers_in(inside, "The text"))
    if isinstance(inside, dict) and all(isinstance(one, dict) and _ENTRY & one.keys() for one in inside.values()):
        return inside
    return {}


def _common(entry: JsonObject) -> JsonObject:
    """The entry in the common form. opencode writes the whole command line as ``command``, and ``enabled``."""
    command = entry.get("command")
    if isinstance(command, list) and command and all(isinstance(word, str) for word in command):
        arguments = entry.get("args")
        entry = {
            **entry,
            "command": command[0],
            "args": [*command[1:], *(arguments if isinstance(arguments, list) else ())],
        }
    if entry.get("enabled") is False:
        entry = {**entry, "disabled": True}
    return entry
