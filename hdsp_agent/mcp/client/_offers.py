"""From servers to what the model is offered: every tool under a name that no other tool has."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from typing import Final

from ...tools import MCP_PREFIX, McpOffer, McpResource, OfferedMcpTool
from ._server_config import ServerConfig
from ._server_state import ServerState

__all__ = ["offer_of", "tool_name"]

_LONGEST_NAME: Final = 64
"""What providers take."""
_OTHER: Final = re.compile(r"[^A-Za-z0-9_-]")
_MOST_RESOURCES: Final = 500


def offer_of(states: Iterable[ServerState]) -> McpOffer:
    """What these servers offer, in an order that stays."""
    usable = [state for state in states if state.is_usable]
    tools = tuple(tool for state in usable for tool in _tools(state))
    resources = tuple(one for state in usable for one in _resources(state))
    return McpOffer(tools, resources, len({tool.server for tool in tools}))


def tool_name(server: ServerConfig, tool: str) -> str:
    """How the model calls a tool. A name that had to be changed for that has an ending that no other one has."""
    plain = f"{_OTHER.sub('_', server.name)}--{_OTHER.sub('_', tool)}"
    if plain == f"{server.name}--{tool}" and len(MCP_PREFIX) + len(plain) <= _LONGEST_NAME and "--" not in server.name:
        return f"{MCP_PREFIX}{plain}"
    ending = hashlib.sha256(f"{server.key}\n{tool}".encode()).hexdigest()[:8]
    return f"{MCP_PREFIX}{plain}"[: _LONGEST_NAME - len(ending) - 1] + f"_{ending}"


def _tools(state: ServerState) -> Iterator[OfferedMcpTool]:
    for tool in state.listing.tools:
        if state.is_enabled(tool):
            words = [part for part in (tool.title, tool.description) if part]
            yield OfferedMcpTool(
                name=tool_name(state.config, tool.name),
                server=state.config.name,
                tool=tool.name,
                description="\n".join(words),
                input_schema=tool.input_schema,
                fingerprint=state.fingerprint(tool),
                always_allowed=state.is_always_allowed(tool),
                has_changed=state.has_changed(tool),
            )


def _resources(state: ServerState) -> Iterator[McpResource]:
    listing, server = state.listing, state.config.name
    for one in listing.resources[:_MOST_RESOURCES]:
        yield McpResource(server, one.uri, one.name, one.description, one.media_type)
    for form in listing.templates[:_MOST_RESOURCES]:
        yield McpResource(server, form.template, form.name, form.description, form.media_type, is_template=True)
