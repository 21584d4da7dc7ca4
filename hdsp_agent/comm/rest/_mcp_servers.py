"""The MCP servers that the agent uses: how they stand, adding some, their logs, and logging in to them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from ...messages import McpServer, McpSource
from ...tools import MOST_OFFERED_MCP_TOOLS
from ...wire import WireModel
from ..identity import Owner, owner_of
from ._rest_endpoint import RestHandler, endpoint

__all__ = ["McpConnectHandler", "McpLogHandler", "McpLoginHandler", "McpServersHandler"]


class McpFileView(WireModel):
    """A file that names servers."""

    source: McpSource
    path: str
    exists: bool
    error: str | None = None


class McpServersView(WireModel):
    """All servers, with what they offer."""

    enabled: bool
    """Whether they are used at all."""
    servers: list[McpServer]
    files: list[McpFileView]
    folder_trusted: bool
    """Whether what the folder brings counts."""
    operator_limits: bool
    """Whether the administrator lists which servers may be used."""
    tool_count: int
    """Tools that the model may use."""
    offered_at_most: int
    """Where there are more tools than that, the model searches them."""


class McpImportBody(WireModel):
    """Servers to add: the text of a file of the common form, or one entry and its name."""

    text: Annotated[str, Field(min_length=1, max_length=1_000_000, repr=False)]
    name: Annotated[str, Field(min_length=1, max_length=64)] | None = None
    replace: bool = False
    """Whether a server of the same name is replaced."""
    keep_secrets_in_file: bool = False
    """Whether keys stay in the file; else they are kept where keys are kept."""


class McpImportView(WireModel):
    """What came of it."""

    added: list[str]
    replaced: list[str]
    secrets: list[str]
    """The keys that are kept where keys are kept, by name."""
    servers: list[McpServer]


class McpServerQuery(WireModel):
    """Which of two files names the server."""

    source: McpSource = "global"


class McpLogLine(WireModel):
    """One line."""

    ts: int
    origin: Literal["server", "agent"]
    text: str


class McpLogView(WireModel):
    """The newest lines, oldest first."""

    lines: list[McpLogLine]
    dropped: int
    """How many older ones are gone."""


class McpLoginBody(WireModel):
    """Where the browser comes back to: this server's ``hdsp-agent/mcp-login``, as the page reaches it."""

    redirect_uri: Annotated[str, Field(min_length=1, max_length=2_000)]


class McpLoginView(WireModel):
    """The page to open for logging in."""

    url: str


class McpLogoutView(WireModel):
    """The tokens are forgotten."""

    done: Literal[True] = True


class _McpRest(RestHandler):
    """What the handlers below share."""

    def view(self, owner: Owner) -> McpServersView:
        """All servers as they stand."""
        access = self.services.mcp_servers
        hub, folder = access.hub, access.workspace
        return McpServersView(
            enabled=hub.is_on,
            servers=access.shown(owner, whole=True),
            files=[
                McpFileView(source=file.source, path=str(file.path), exists=file.exists, error=file.problem)
                for file in hub.files(folder)
            ],
            folder_trusted=hub.is_trusted(folder),
            operator_limits=self.services.config.policy.allowed_mcp_servers is not None,
            tool_count=len(hub.offer(owner, folder).tools),
            offered_at_most=MOST_OFFERED_MCP_TOOLS,
        )


class McpServersHandler(_McpRest):
    """`GET|POST mcp/servers`"""

    @endpoint("List the MCP servers that the agent uses", answer=McpServersView)
    async def get(self) -> McpServersView:
        """The files are read; nothing is started."""
        owner, access = owner_of(self), self.services.mcp_servers
        await access.hub.look(owner, access.workspace)
        return self.view(owner)

    @endpoint("Add MCP servers", answer=McpImportView, body=McpImportBody, action="write", status=201)
    async def post(self, *, body: McpImportBody) -> McpImportView:
        """Into the person's own file."""
        owner, access = owner_of(self), self.services.mcp_servers
        done = await access.hub.add(
            owner,
            access.workspace,
            body.text,
            name=body.name,
            replace_old=body.replace,
            keep_secrets=body.keep_secrets_in_file,
        )
        access.hub.start(owner, access.workspace)
        return McpImportView(
            added=list(done.added),
            replaced=list(done.replaced),
            secrets=list(done.secrets),
            servers=access.shown(owner, whole=True),
        )


class McpConnectHandler(_McpRest):
    """`POST mcp/servers/connect`"""

    @endpoint("Connect to the MCP servers that are switched on", answer=McpServersView, action="write")
    async def post(self) -> McpServersView:
        """Answered at once: how they fare pages are told."""
        owner, access = owner_of(self), self.services.mcp_servers
        await access.hub.look(owner, access.workspace)
        access.hub.start(owner, access.workspace)
        return self.view(owner)


class McpLogHandler(_McpRest):
    """`GET mcp/servers/{server}/log`"""

    @endpoint("Show what an MCP server wrote", answer=McpLogView, query=McpServerQuery)
    async def get(self, server: str, *, query: McpServerQuery) -> McpLogView:
        """Since it was started last; nothing of a server that was not."""
        owner, access = owner_of(self), self.services.mcp_servers
        await access.hub.look(owner, access.workspace)
        connection = access.hub.state(owner, access.workspace, server, query.source).connection
        if connection is None:
            return McpLogView(lines=[], dropped=0)
        log = connection.log
        return McpLogView(
            lines=[McpLogLine(ts=line.ts, origin=line.origin, text=line.text) for line in log.lines],
            dropped=log.dropped,
        )


class McpLoginHandler(_McpRest):
    """`POST|DELETE mcp/servers/{server}/login`"""

    @endpoint(
        "Log in to a remote MCP server",
        answer=McpLoginView,
        body=McpLoginBody,
        query=McpServerQuery,
        action="write",
    )
    async def post(self, server: str, *, body: McpLoginBody, query: McpServerQuery) -> McpLoginView:
        """The browser comes back to this server when that is done."""
        access = self.services.mcp_servers
        url = await access.hub.log_in(owner_of(self), access.workspace, server, query.source, body.redirect_uri)
        return McpLoginView(url=url)

    @endpoint("Log out of a remote MCP server", answer=McpLogoutView, query=McpServerQuery, action="write")
    async def delete(self, server: str, *, query: McpServerQuery) -> McpLogoutView:
        """Its tokens are forgotten."""
        access = self.services.mcp_servers
        await access.hub.log_out(owner_of(self), access.workspace, server, query.source)
        return McpLogoutView()
