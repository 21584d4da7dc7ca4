"""The MCP servers of the person at a page: how they stand, what to do about them, and who hears of changes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from ..mcp.client import McpHub, ServerState, prompt_command
from ..messages import (
    DeleteMcpServerRequest,
    ExtensionMessage,
    McpPrompt,
    McpPromptArgument,
    McpResourceInfo,
    McpResourceTemplate,
    McpServer,
    McpServersMessage,
    McpTool,
    RefreshAllMcpServersRequest,
    RestartMcpServerRequest,
    ToggleMcpServerRequest,
    ToggleToolAlwaysAllowRequest,
    ToggleToolEnabledForPromptRequest,
    UpdateMcpTimeoutRequest,
)
from ._dispatch import Dispatcher, RequestContext
from ._owner import Owner

__all__ = ["McpServersAccess"]

_MOST_LISTED: Final = 500
_PUBLISH_SECONDS: Final = 0.1
"""Changes come in groups, as when all servers are started."""


class McpServersAccess:
    """What pages may see and do of servers. They mean the folder that new conversations work in."""

    def __init__(self, hub: McpHub, workspace: Path, publish_to: Callable[[Owner, ExtensionMessage], object]) -> None:
        self.hub: Final = hub
        self.workspace: Final = workspace
        self._publish_to = publish_to
        self._due: dict[str, asyncio.TimerHandle] = {}
        hub.on_changed = self._changed

    def register(self, dispatcher: Dispatcher) -> None:
        """Take responsibility for these types of message."""
        dispatcher.handle_all(
            {
                "restartMcpServer": self.restart,
                "toggleMcpServer": self.toggle,
                "toggleToolAlwaysAllow": self.allow_tool,
                "toggleToolEnabledForPrompt": self.enable_tool,
                "updateMcpTimeout": self.set_timeout,
                "deleteMcpServer": self.delete,
                "refreshAllMcpServers": self.refresh,
            }
        )

    async def stop(self) -> None:
        """End all servers; nobody is told any more."""
        for due in self._due.values():
            due.cancel()
        self.hub.on_changed = lambda owner: None
        await self.hub.stop()

    # ---- what there is

    def shown(self, owner: Owner, *, whole: bool) -> list[McpServer]:
        """All servers, as they stand; ``whole`` with what they offer."""
        logins = self.hub.logins(owner)

        def auth(state: ServerState) -> str | None:
            if logins.is_under_way(state.config):
                return "awaiting_auth"
            if state.connection is not None and state.connection.wants_login:
                return "unauthenticated"
            return "authenticated" if logins.is_logged_in(state.config) else None

        states = self.hub.states(owner, self.workspace)
        return [_shown(state, auth(state), whole=whole) for state in states]

    # ---- what is asked for

    async def restart(self, context: RequestContext, message: RestartMcpServerRequest) -> None:
        """Connect anew."""
        await self.hub.restart(context.owner, self.workspace, message.text, message.source)

    async def toggle(self, context: RequestContext, message: ToggleMcpServerRequest) -> None:
        """Switch a server on or off."""
        await self.hub.switch(
            context.owner, self.workspace, message.server_name, message.source, disabled=message.disabled
        )

    async def allow_tool(self, context: RequestContext, message: ToggleToolAlwaysAllowRequest) -> None:
        """Allow a tool once and for all, or ask about it again."""
        await self.hub.allow_tool(
            context.owner,
            self.workspace,
            message.server_name,
            message.source,
            message.tool_name,
            always=message.always_allow,
            shown=message.fingerprint,
        )

    async def enable_tool(self, context: RequestContext, message: ToggleToolEnabledForPromptRequest) -> None:
        """Offer a tool to the model, or do not."""
        await self.hub.enable_tool(
            context.owner,
            self.workspace,
            message.server_name,
            message.source,
            message.tool_name,
            enabled=message.is_enabled,
        )

    async def set_timeout(self, context: RequestContext, message: UpdateMcpTimeoutRequest) -> None:
        """How long calls may take."""
        await self.hub.set_timeout(context.owner, self.workspace, message.server_name, message.source, message.timeout)

    async def delete(self, context: RequestContext, message: DeleteMcpServerRequest) -> None:
        """Take a server out of its file."""
        await self.hub.delete(context.owner, self.workspace, message.server_name, message.source)

    async def refresh(self, context: RequestContext, _: RefreshAllMcpServersRequest) -> None:
        """Connect to all anew."""
        await self.hub.restart_all(context.owner, self.workspace)

    # ---- inside

    def _changed(self, owner: str) -> None:
        if owner not in self._due:
            loop = asyncio.get_running_loop()
            self._due[owner] = loop.call_later(_PUBLISH_SECONDS, self._publish, owner)

    def _publish(self, owner: str) -> None:
        self._due.pop(owner, None)
        person = Owner(owner)
        self._publish_to(person, McpServersMessage(mcp_servers=self.shown(person, whole=False)))


def _shown(state: ServerState, auth_status: str | None, *, whole: bool) -> McpServer:
    config, listing, connection = state.config, state.listing, state.connection
    shown = McpServer.model_validate(
        {
            "name": config.name,
            "config": json.dumps(config.shown(), ensure_ascii=False),
            "status": "disconnected" if connection is None else connection.status,
            "auth_status": auth_status,
            "error": config.problem or (None if connection is None else connection.error),
            "disabled": state.is_disabled,
            "timeout": state.timeout,
            "source": config.source,
            "instructions": listing.instructions,
            "address": config.address,
            "needs_approval": state.needs_approval,
            "forbidden": state.is_forbidden,
            "unusable": config.problem is not None,
            "tool_count": len(listing.tools),
        }
    )
    return shown if not whole else shown.model_copy(update=_offered(state))


def _offered(state: ServerState) -> dict[str, Sequence[object]]:
    listing = state.listing
    return {
        "tools": [
            McpTool(
                name=tool.name,
                title=tool.title,
                description=tool.description or None,
                always_allow=state.is_always_allowed(tool),
                enabled_for_prompt=state.is_enabled(tool),
                fingerprint=state.fingerprint(tool),
                changed=state.has_changed(tool),
                read_only=tool.read_only,
                destructive=tool.destructive,
            )
            for tool in listing.tools[:_MOST_LISTED]
        ],
        "resources": [
            McpResourceInfo(uri=one.uri, name=one.name, mime_type=one.media_type, description=one.description)
            for one in listing.resources[:_MOST_LISTED]
        ],
        "resource_templates": [
            McpResourceTemplate(
                uri_template=one.template, name=one.name, mime_type=one.media_type, description=one.description
            )
            for one in listing.templates[:_MOST_LISTED]
        ],
        "prompts": [
            McpPrompt(
                name=one.name,
                title=one.title,
                description=one.description,
                command=f"/{prompt_command(state.config, one)}",
                arguments=[
                    McpPromptArgument(name=each.name, description=each.description, required=each.required)
                    for each in one.arguments
                ],
            )
            for one in listing.prompts[:_MOST_LISTED]
        ],
    }
