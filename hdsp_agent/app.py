"""The server extension: what an operator may set, and the object graph it becomes."""

from __future__ import annotations

import asyncio
import os
from importlib import import_module
from typing import TYPE_CHECKING

from jupyter_server.extension.application import ExtensionApp
from traitlets import Bool, Dict, Enum, Float, Integer, List, Unicode, Union, default

from ._storage_dir import (
    ARTIFACT_STORE_URL_VARIABLE,
    STORAGE_URL_VARIABLE,
    default_artifact_store_url,
    default_storage_backend,
    default_storage_dir,
    default_storage_url,
)
from ._version import __version__

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp

    from .comm.services import Services

__all__ = ["HdspAgentApp"]


class HdspAgentApp(ExtensionApp):
    """HDSP Agent: an AI agent that lives in JupyterLab.

    Set these in ``jupyter_server_config.py`` or ``jupyter_hdsp_agent_config.py`` as ``c.HdspAgentApp.…``, or on the
    command line as ``--HdspAgentApp.…``.
    """

    name = "hdsp_agent"
    description = "An AI agent that lives in JupyterLab."
    load_other_extensions = True
    extension_url = "/lab"
    # Else Jupyter goes on without a configuration file it cannot read, and without all that the operator decided in it.
    raise_config_file_errors = True

    # -- where things are kept

    storage_dir = Unicode(
        help="""Folder of everything the agent stores (made with mode 0700). Default: the environment variable
        HDSP_AGENT_HOME, else ~/.hdsp-agent."""
    ).tag(config=True)

    storage_backend = Enum(
        ["files", "sqlite", "postgres"],
        help="""How conversations are stored: 'files', a folder for each, 'sqlite', one database (tasks.db) in the
        storage folder, or 'postgres', the PostgreSQL database of storage_url. Default: the environment variable
        HDSP_AGENT_STORAGE_BACKEND, else 'files'. To take conversations along, run `hdsp-agent migrate --to sqlite` (or
        files, or postgres) before you change it.""",
    ).tag(config=True)

    storage_url = Unicode(
        help="""PostgreSQL database for storage_backend = 'postgres', for example
        'postgresql://ada@db.example.org/agent'. Default: the environment variable HDSP_AGENT_STORAGE_URL, which kernels and
        commands do not see, else libpq's own variables and files. If it has a password, keep the file that sets this
        readable by its owner only."""
    ).tag(config=True)

    artifact_store_url = Unicode(
        help="""Where long outputs and images of conversations are kept, for storage_backend = 'postgres': an S3-compatible
        store, for example 's3://KEY:SECRET@bucket/prefix?endpoint=https://s3.example.org', or a folder on a shared disk,
        for example 'file:///srv/hdsp-agent/artifacts'. Empty: in the database. Default: the environment variable
        HDSP_AGENT_ARTIFACT_STORE_URL, which kernels and commands do not see. Without a key in the address, the AWS_…
        variables or the machine's role are used. If it has a key, keep the file that sets this readable by its owner
        only."""
    ).tag(config=True)

    local_models_dir = Unicode(
        help="""Folder of the embedded models' weights, which several servers may share. Default: the environment variable
        HDSP_AGENT_MODELS, else hdsp-agent/models in the person's cache folder."""
    ).tag(config=True)

    # -- what people may do

    allowed_providers = List(
        Unicode(),
        help="Model providers that may be used, by id (for example ['anthropic', 'ollama']). Empty: all of them.",
    ).tag(config=True)
    allowed_modes = List(Unicode(), help="Modes that may be used, by slug. Empty: all, custom ones too.").tag(
        config=True
    )
    allowed_tools = List(Unicode(), help="Tools the agent may use, by name. Empty: all.").tag(config=True)
    allow_auto_approval = Bool(
        True,
        help="Whether people may let the agent act without asking. False: the agent asks before every action, whatever they set.",
    ).tag(config=True)
    allow_local_models = Bool(
        True, help="Whether people may download an embedded model and run it on this machine."
    ).tag(config=True)
    allow_unlisted_models = Bool(
        True,
        help="""Whether people may also run embedded models that are not of the list: any GGUF file of a hub, or one on this
        machine. False: only those of the list.""",
    ).tag(config=True)
    allow_memory = Bool(
        True,
        help="""Whether the agent may remember things between conversations. False: nothing is saved, used, searched or learned;
        what was saved before stays where it is.""",
    ).tag(config=True)
    allow_mcp_server = Bool(
        True,
        help="""Whether people may let other agents, such as Claude Code or Codex, connect to this server and work in their
        notebooks. False: nobody can. To switch it on for everyone, set fixed_settings = {'mcpServerEnabled': True}.""",
    ).tag(config=True)
    allowed_mcp_servers = List(
        Unicode(),
        help="""MCP servers that the agent may use, by address or command line, in which * stands for anything, for example
        ['https://mcp.example.com/*', 'npx @example/*']. Empty: all.""",
    ).tag(config=True)
    workspace_trust = Enum(
        ["ask", "always", "never"],
        default_value="ask",
        help="""What a folder brings for the agent (modes, rules, slash commands, AGENTS.md) counts only if it is trusted.
        'ask': people decide, folder by folder. 'always': every folder is trusted. 'never': none is, but for
        trusted_folders.""",
    ).tag(config=True)
    trusted_folders = List(
        Unicode(),
        help="""Folders that are trusted whatever people decide, with all inside them, for example ['/srv/team']. Whole
        paths, or ones that begin with ~. List none that others may write to.""",
    ).tag(config=True)
    team_folders = List(
        Unicode(),
        help="""Folders whose modes, slash commands, rules and notes everybody uses, for example ['/srv/team']. Whole
        paths, or ones that begin with ~. Let people read them, and only those who look after them write to them.""",
    ).tag(config=True)
    fixed_settings = Dict(
        help="""Settings people can see but not change, by name: {'mode': 'ask', 'autoApprovalEnabled': False}.
        Names are those of the exported settings file."""
    ).tag(config=True)

    audit_log = Unicode(
        "audit.jsonl",
        help="""File that records who read or changed which conversation: user, time, action and the conversation's id, never
        what was said. In the storage folder, unless it is a full path. Only its owner can read it; at 10 MB it is renamed,
        and five older ones are kept. Empty: nothing is recorded.""",
    ).tag(config=True)

    # -- which model answers

    default_profile = Unicode("default", help="Name of the provider profile that new users start with.").tag(
        config=True
    )
    default_provider = Unicode(help="Provider of the profile that new users start with, for example 'openai'.").tag(
        config=True
    )
    default_model = Unicode(help="Model of the profile that new users start with.").tag(config=True)
    provider_keys = Dict(
        value_trait=Unicode(),
        help="""Keys that you provide for everyone, by provider id: {'anthropic': '…'}. They are used instead of people's own keys. People
        see them as present, never as text. A key from the environment overrides them. Keep the file that sets this readable
        by its owner only.""",
    ).tag(config=True)

    # -- where keys are kept

    allowed_keyring_backends = List(
        Unicode(),
        help="""Further keyring modules to trust (for example ['my_company.keyring']). The system keyrings of Linux,
        macOS and Windows are trusted; plain-text and null ones never are.""",
    ).tag(config=True)
    keyring_timeout = Float(
        1.5, min=0.1, max=30.0, help="Seconds to wait for the system keyring before continuing without it."
    ).tag(config=True)

    # -- programs outside

    ipc_enabled = Bool(
        False,
        help="""Whether other programs may start, answer and stop tasks through a socket in the storage folder, as
        `hdsp-agent ipc` does. Only the account the server runs under can open it; what comes through it is taken for the
        person the server belongs to.""",
    ).tag(config=True)

    metrics_with_users = Bool(
        False, help="Whether this server's metrics for Prometheus name the person whose server it is."
    ).tag(config=True)

    # -- settings from elsewhere

    hub_service_url = Unicode(
        help="""Address of the hub service (`hdsp-agent hub`), for example
        'http://hub.example.org/services/hdsp-agent'. Requests to Anthropic and OpenAI models go through it, with the token
        that JupyterHub gave this server instead of a key. Settings come from it too, unless user_config_api_url is set."""
    ).tag(config=True)

    hub_reports = Bool(
        True,
        help="""Whether the hub service of hub_service_url is told which tasks run on this server and how much it stores, so
        that administrators see it and can stop tasks. It is told ids, modes, models, times, tokens, cost and bytes, and never
        what anybody wrote.""",
    ).tag(config=True)

    user_config_api_url = Unicode(
        help="""URL that answers with a user's settings as JSON; {username} is replaced. What it says becomes that
        user's defaults. Empty: not asked."""
    ).tag(config=True)
    user_config_api_token = Unicode(help="Sent to that URL as a bearer token.").tag(config=True)
    user_config_api_timeout = Float(5.0, min=0.1, max=60.0, help="Seconds to wait for that URL.").tag(config=True)

    # -- sizes and times

    max_frame_bytes = Integer(
        8 * 1024 * 1024, min=16 * 1024, help="Largest message a panel may send over the channel, in bytes."
    ).tag(config=True)
    max_body_bytes = Integer(2 * 1024 * 1024, min=16 * 1024, help="Largest body of a REST request, in bytes.").tag(
        config=True
    )
    ring_frames = Integer(
        4096, min=16, help="Messages kept for a panel that lost its connection, per user. Older: it reloads its state."
    ).tag(config=True)
    ring_bytes = Integer(16 * 1024 * 1024, min=64 * 1024, help="The same limit in bytes, per user.").tag(config=True)
    heartbeat_seconds = Float(20.0, min=0.2, max=300.0, help="Seconds between heartbeats on the channel.").tag(
        config=True
    )
    slow_client_seconds = Float(
        30.0, min=0.2, max=600.0, help="A panel that receives nothing for this long is disconnected; it can reconnect."
    ).tag(config=True)
    max_memory_messages = Integer(
        20, min=1, max=1000, help="Newest messages of a conversation held in memory; older ones are read from disk."
    ).tag(config=True)

    monitor_seconds = Float(
        300.0,
        min=1.0,
        max=86_400.0,
        help="Seconds between two checks for conversations that a stopped server or program left unfinished; they can be resumed.",
    ).tag(config=True)

    # -- retention: people's own settings, unless these are set

    compress_after_days = Union(
        [Integer(min=0), Float(min=0)],
        default_value=7,
        help="""Finished conversations are compressed after this many days. 0: never. Set here, people see it and cannot
        change it; left out, it is a setting of theirs. So are the next three.""",
    ).tag(config=True)
    delete_after_days = Union(
        [Integer(min=0), Float(min=0)],
        default_value=30,
        help="Finished conversations are deleted after this many days, except pinned ones and favorites. 0: never.",
    ).tag(config=True)
    storage_warning_gb = Float(
        10.0, min=0.0, help="Size of the storage folder at which people are warned. 0: never."
    ).tag(config=True)
    storage_critical_gb = Float(50.0, min=0.0, help="Size at which they are warned urgently. 0: never.").tag(
        config=True
    )

    services: Services | None = None
    """The object graph, once it is built."""
    _refused: Exception | None = None
    _starting: asyncio.Task[None] | None = None
    _stopping: asyncio.Task[None] | None = None

    @default("storage_dir")
    def _default_storage_dir(self) -> str:
        return default_storage_dir()

    @default("storage_backend")
    def _default_storage_backend(self) -> str:
        return default_storage_backend()

    @default("storage_url")
    def _default_storage_url(self) -> str:
        return default_storage_url()

    @default("artifact_store_url")
    def _default_artifact_store_url(self) -> str:
        return default_artifact_store_url()

    def _link_jupyter_server_extension(self, serverapp: ServerApp) -> None:
        try:
            super()._link_jupyter_server_extension(serverapp)
            # Kernels get the server's environment, and these may hold a password or a key.
            _ = self.storage_url, self.artifact_store_url
            os.environ.pop(STORAGE_URL_VARIABLE, None)
            os.environ.pop(ARTIFACT_STORE_URL_VARIABLE, None)
        except Exception as error:
            # Jupyter logs this and starts the extension all the same, with none of the operator's decisions.
            self._refused = error
            raise

    def _prepare_config(self) -> None:
        # Jupyter copies an extension's traits into settings that every handler of every extension can see.
        super()._prepare_config()  # type: ignore[no-untyped-call]
        for secret in ("artifact_store_url", "provider_keys", "storage_url", "user_config_api_token"):
            self.extension_config.pop(secret, None)

    async def _start_jupyter_server_extension(self, serverapp: ServerApp) -> None:
        if self._refused is not None:
            raise self._refused
        self._starting = asyncio.create_task(self._begin(), name="hdsp-agent start")
        await asyncio.wait([self._starting])
        if not self._starting.cancelled():
            self._starting.result()

    async def _begin(self) -> None:
        # Not while Jupyter loads its extensions: importing the vocabulary takes longer than anybody should wait for a
        # server to listen. In a thread it costs other requests next to nothing. Until the handlers are there, a page
        # that is already open gets 404 and tries again, as with any server that is starting.
        #
        # Nowhere a thread of anyio's: a server that is stopped meanwhile would wait for it for ever.
        graph = await asyncio.to_thread(import_module, "hdsp_agent._graph")
        self.services = graph.build_services(self)
        await graph.start_services(self, self.services)
        self.log.info("HDSP Agent %s is ready; it keeps its files in %s", __version__, self.storage_dir)

    async def stop_extension(self) -> None:
        """Finish what is under way and let go of everything. Jupyter asks for it once for each signal that it gets."""
        if self._stopping is None:
            self._stopping = asyncio.create_task(self._end(), name="hdsp-agent stop")
        await asyncio.shield(self._stopping)

    async def _end(self) -> None:
        if self._starting is not None:
            self._starting.cancel()
            await asyncio.wait([self._starting])
        if self.services is not None:
            await self.services.stop()
