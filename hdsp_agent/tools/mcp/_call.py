"""One use of a server: asked about, shown, and waited for."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from ...errors import HdspAgentError
from ...messages import (
    ApprovalFlag,
    ClineAskUseMcpServer,
    FollowUpData,
    JsonObject,
    Suggestion,
    attachments_text,
)
from .._action import ActionRequest
from .._deceptive_characters import strange_characters
from .._mcp_port import AskPerson, McpAnswer, McpResource, OfferedMcpTool, Progressed
from .._tool import Approval, ToolContext, ToolResult, answered, denied
from .._tool_failed import ToolFailed
from ._answers import shown_answer

__all__ = ["RESOURCE_TOOL", "USE_TOOL", "read_resource", "use_tool"]

USE_TOOL: Final = "use_mcp_tool"
RESOURCE_TOOL: Final = "access_mcp_resource"
_LARGEST_ARGUMENTS: Final = 1_000_000
_PROGRESS_SECONDS: Final = 0.5
_NOT_CHOSEN: Final = "You have not chosen to always allow this tool."
_NOT_LISTED: Final = "The server does not list this address."
_CHANGED: Final = "You allowed this tool as it was. What it says of itself, or what it takes, has changed since."

_Use = Callable[[Progressed, AskPerson], Awaitable[McpAnswer]]


async def use_tool(tool: OfferedMcpTool, arguments: JsonObject, context: ToolContext) -> ToolResult:
    """Use a tool of a server with these arguments, exactly as they are shown. Raises ToolFailed."""
    if tool.name in context.settings.disabled_tools:
        raise ToolFailed(f"The person switched off the tool {tool.tool} of the MCP server {tool.server}.")
    given = json.dumps(arguments, ensure_ascii=False, indent=2)
    if len(given) > _LARGEST_ARGUMENTS:
        raise ToolFailed(f"The arguments have more than {_LARGEST_ARGUMENTS:,} characters. Send less at a time.")
    unmasked = context.vault.unmask(given)
    shown = ClineAskUseMcpServer(
        server_name=tool.server,
        type="use_mcp_tool",
        tool_name=tool.tool,
        arguments=given,
        fingerprint=tool.fingerprint,
    )
    objection = None if tool.always_allowed else _CHANGED if tool.has_changed else _NOT_CHOSEN
    flags: list[ApprovalFlag] = ["mcp_changed"] if tool.has_changed else []
    if any(strange_characters(given)):
        flags.append("strange_characters")
    action = ActionRequest(
        risks=frozenset({"mcp"}),
        tool=USE_TOOL,
        server=tool.server,
        not_always_allowed=objection,
        puts_back_masked=unmasked != given,
        flags=tuple(flags),
    )
    approval = await context.approve(action, "use_mcp_server", shown.to_json())
    if not approval.approved:
        return denied(approval)
    # Only a person gives a masked value back, and only as they were asked.
    sent = json.loads(unmasked, strict=False) if approval.by_person else arguments
    _check_same(tool, context)

    async def use(progressed: Progressed, ask: AskPerson) -> McpAnswer:
        return await context.mcp.call(tool, sent, progressed=progressed, ask=ask)

    return await _done(use, approval, context)


async def read_resource(server: str, uri: str, context: ToolContext) -> ToolResult:
    """Read a resource of a server. Raises ToolFailed."""
    if not any(one.server == server for one in context.mcp.offer.resources):
        raise ToolFailed(f"There is no MCP server {server!a} with resources. {_servers(context.mcp.offer.resources)}")
    shown = ClineAskUseMcpServer(server_name=server, type="access_mcp_resource", uri=uri)
    # Anything may be told to a server in an address that it has not listed as it stands.
    is_listed = any(
        one.server == server and one.uri == uri and not one.is_template for one in context.mcp.offer.resources
    )
    action = ActionRequest(
        risks=frozenset({"mcp"}),
        tool=RESOURCE_TOOL,
        server=server,
        not_always_allowed=None if is_listed else _NOT_LISTED,
        flags=("strange_characters",) if any(strange_characters(uri)) else (),
    )
    approval = await context.approve(action, "use_mcp_server", shown.to_json())
    if not approval.approved:
        return denied(approval)

    async def use(_: Progressed, ask: AskPerson) -> McpAnswer:
        return await context.mcp.read(server, uri, ask=ask)

    return await _done(use, approval, context)


def _check_same(tool: OfferedMcpTool, context: ToolContext) -> None:
    """While the person thought about it the server may have changed what the tool is, or its file what the server is."""
    now = context.mcp.offer.by_name.get(tool.name)
    if now is None or now.fingerprint != tool.fingerprint:
        raise ToolFailed(
            f"The tool {tool.tool} of the MCP server {tool.server} was changed or taken away while the question was open. It "
            "was not used."
        )


def _servers(resources: Sequence[McpResource]) -> str:
    names = list(dict.fromkeys(one.server for one in resources))
    return f"There are: {', '.join(names)}." if names else "No server has any."


async def _done(use: _Use, approval: Approval, context: ToolContext) -> ToolResult:
    progress = _Progress(context)
    await progress.begin()
    try:
        answer = await use(progress.told, lambda question, suggested: _asked(question, suggested, context))
    except HdspAgentError as error:
        await context.say("mcp_server_response", f"Error: {error.message}")
        return answered(approval, ToolResult(error.message, is_error=True, shown=True))
    finally:
        await asyncio.shield(progress.end())
    return answered(approval, await shown_answer(answer, context))


async def _asked(question: str, suggested: Sequence[str], context: ToolContext) -> str:
    suggest = [Suggestion(answer=one) for one in suggested]
    reply = await context.ask("followup", FollowUpData(question=question, suggest=suggest).to_json(), verbatim=True)
    # What goes along and is not read yet is for the model, and no server gets it.
    along = attachments_text(one for one in reply.attachments if one.content is not None)
    return "\n\n".join(part for part in (reply.text, along) if part)


class _Progress:
    """Shows that a call is under way, and how far it has come; not each of a flood of steps."""

    def __init__(self, context: ToolContext) -> None:
        self._context = context
        self._ts: int | None = None
        self._text: str | None = None
        self._shown_at = 0.0

    async def begin(self) -> None:
        """It is under way."""
        self._ts = await self._context.say("mcp_server_request_started", partial=True)

    async def told(self, text: str) -> None:
        """It has come so far."""
        self._text = text
        now = asyncio.get_running_loop().time()
        if now - self._shown_at >= _PROGRESS_SECONDS:
            self._shown_at = now
            await self._context.say("mcp_server_request_started", text, partial=True, ts=self._ts)

    async def end(self) -> None:
        """It is over, however it went."""
        await self._context.say("mcp_server_request_started", self._text, partial=False, ts=self._ts)
