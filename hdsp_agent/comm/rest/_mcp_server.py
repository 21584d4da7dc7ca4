"""The MCP server: switched on or off, what other programs need to connect, and which of them are here."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import Annotated, Literal

from jupyter_server.utils import url_path_join
from pydantic import Field

from ...agent.external.port import AgentActivity, ConnectedAgent
from ...config import ApprovalPreset
from ...errors import ForbiddenByOperator, NotFound
from ...mcp.connect import TOKEN_VARIABLE, ConnectProgram, connect_programs, proxy_command
from ...mcp.connection_check import ConnectionCheck
from ...messages import TaskId
from ...wire import WireModel
from ..identity import owner_of
from ..mcp.handler import MCP_PATH
from ..mcp.own_check import check_own_server
from ._rest_endpoint import RestHandler, endpoint

__all__ = ["ExternalAgentHandler", "McpServerHandler", "McpServerTestHandler"]

_SETTING = "mcpServerEnabled"


class McpPageQuery(WireModel):
    """The origin that the browser sees: behind a proxy the server does not know it."""

    origin: Annotated[str, Field(pattern=r"^https?://[^/?#\s]{1,300}$")] | None = None


class McpServerBody(WireModel):
    """Whether other agents may connect."""

    enabled: bool


class NoBody(WireModel):
    """Nothing to say."""


class ConnectSnippetView(WireModel):
    """A command for a terminal, or text for a file."""

    kind: Literal["command", "file"]
    language: Literal["shell", "json", "toml"]
    text: str
    file: str | None = None
    """Beginning with ~, or in the project's folder."""


class ConnectWayView(WireModel):
    """One way to connect. The first snippet is enough; others say the same in another way."""

    kind: Literal["local", "http"]
    """On this machine, without a token; or from anywhere, with one."""
    snippets: list[ConnectSnippetView]


class ConnectProgramView(WireModel):
    """A program with its ways, the usual one first."""

    id: str
    name: str
    ways: list[ConnectWayView]


class ConnectedAgentView(WireModel):
    """An agent that works here."""

    key: str
    name: str
    version: str | None = None
    since: int
    last_call: int | None = None
    activity: AgentActivity
    doing: str | None = None
    task_id: TaskId | None = None
    notebook: str | None = None
    approvals: ApprovalPreset
    """What every program of this name may do without asking."""
    can_ask: bool
    """Whether it can ask in its own window, and whether that may be allowed."""
    may_ask: bool
    """Whether every program of this name may."""


class ExternalAgentBody(WireModel):
    """What holds for every program of an agent's name from now on; what is left out stays as it is."""

    approvals: ApprovalPreset | None = None
    """What it may do without asking."""
    may_ask: bool | None = None
    """Whether it may also ask in its own window."""


class McpServerView(WireModel):
    """The MCP server as its page shows it."""

    enabled: bool
    fixed: bool
    """The administrator decided it."""
    url: str
    folder: str
    """Programs that work here, or below, find this server."""
    hub: bool
    token_variable: str
    """From which programs that connect over HTTP read their token."""
    hub_token_url: str | None = None
    hub_scope: str | None = None
    programs: list[ConnectProgramView]
    agents: list[ConnectedAgentView]


class McpTestStep(WireModel):
    """One thing that was looked at."""

    step: Literal["found", "reached", "signedIn", "enabled", "tools"]
    ok: bool
    message: str


class McpServerTest(WireModel):
    """What a program that connects would meet, up to the first thing that is wrong."""

    ok: bool
    steps: list[McpTestStep]
    tools: int | None = None


class _McpServerBase(RestHandler):
    def view(self, origin: str | None = None) -> McpServerView:
        services, owner = self.services, owner_of(self)
        url = url_path_join(origin or f"{self.request.protocol}://{self.request.host}", self.base_url, MCP_PATH)
        person = os.environ.get("JUPYTERHUB_USER")
        programs = connect_programs(url, proxy_command(), http_first=person is not None)
        return McpServerView(
            enabled=services.mcp_endpoint.is_on,
            fixed=_SETTING in services.config.fixed,
            url=url,
            folder=str(services.mcp_endpoint.root),
            hub=person is not None,
            token_variable=TOKEN_VARIABLE,
            hub_token_url=None if person is None else _hub_token_url(origin),
            hub_scope=None if person is None else f"access:servers!user={person}",
            programs=[_program_view(program) for program in programs],
            agents=[_agent_view(agent) for agent in services.mcp_endpoint.agents.connected(owner)],
        )


class McpServerHandler(_McpServerBase):
    """`GET|PUT mcp/server`"""

    _track_activity = False

    @endpoint("Show how other agents connect, and which are connected", answer=McpServerView, query=McpPageQuery)
    async def get(self, *, query: McpPageQuery) -> McpServerView:
        """The caller's own agents."""
        return self.view(query.origin)

    @endpoint("Let other agents connect, or stop it", answer=McpServerView, body=McpServerBody, action="write")
    async def put(self, *, body: McpServerBody) -> McpServerView:
        """Switched off, whoever is connected is disconnected."""
        config = self.services.config
        if _SETTING in config.fixed and body.enabled != config.settings.mcp_server_enabled:
            raise ForbiddenByOperator("Your administrator decides whether other agents may connect.", field="enabled")
        await config.update({_SETTING: body.enabled})
        return self.view()


class McpServerTestHandler(_McpServerBase):
    """`POST mcp/server/test`"""

    @endpoint("Test whether another agent could connect", answer=McpServerTest, body=NoBody, action="write")
    async def post(self, *, body: NoBody) -> McpServerTest:
        """By a real request of this server to itself."""
        # On a crowded machine, loading takes longer than one waits for an answer.
        await self.services.mcp_endpoint.load()
        return _test_view(await check_own_server(self))


class ExternalAgentHandler(_McpServerBase):
    """`PATCH|DELETE mcp/server/agents/{agent}`"""

    @endpoint(
        "Choose what programs of an agent's name may do without asking, and where they may ask",
        answer=McpServerView,
        body=ExternalAgentBody,
        action="write",
    )
    async def patch(self, agent: str, *, body: ExternalAgentBody) -> McpServerView:
        """It holds for the next time, too."""
        agents, owner = self.services.mcp_endpoint.agents, owner_of(self)
        found = any(one.key == agent for one in agents.connected(owner))
        if body.approvals is not None:
            # What holds without a choice needs none.
            found = await agents.choose_approvals(owner, agent, None if body.approvals == "ask" else body.approvals)
        if found and body.may_ask is not None:
            found = await agents.choose_questions(owner, agent, body.may_ask)
        return self._after(found, agent)

    @endpoint("Disconnect an agent; what it was doing is stopped", answer=McpServerView, action="write")
    async def delete(self, agent: str) -> McpServerView:
        """Its conversation stays in the history."""
        return self._after(await self.services.mcp_endpoint.agents.disconnect(owner_of(self), agent), agent)

    def _after(self, found: bool, agent: str) -> McpServerView:
        if not found:
            raise NotFound("This agent is not connected any more.", agent=agent)
        return self.view()


def _program_view(program: ConnectProgram) -> ConnectProgramView:
    ways = [
        ConnectWayView(kind=way.kind, snippets=[ConnectSnippetView(**asdict(each)) for each in way.snippets])
        for way in program.ways
    ]
    return ConnectProgramView(id=program.id, name=program.name, ways=ways)


def _agent_view(agent: ConnectedAgent) -> ConnectedAgentView:
    return ConnectedAgentView(
        key=agent.key,
        name=agent.name,
        version=agent.version,
        since=agent.since,
        last_call=agent.last_call,
        activity=agent.activity,
        doing=agent.doing,
        task_id=agent.task_id,
        notebook=agent.notebook,
        approvals=agent.approvals,
        can_ask=agent.can_ask,
        may_ask=agent.may_ask,
    )


def _test_view(check: ConnectionCheck) -> McpServerTest:
    steps = [McpTestStep(step=each.step, ok=each.ok, message=each.message) for each in check.steps]
    return McpServerTest(ok=all(step.ok for step in steps), steps=steps, tools=check.tools)


def _hub_token_url(origin: str | None) -> str:
    environment = os.environ
    return url_path_join(
        environment.get("JUPYTERHUB_HOST") or origin or "", environment.get("JUPYTERHUB_BASE_URL", "/"), "hub/token"
    )
