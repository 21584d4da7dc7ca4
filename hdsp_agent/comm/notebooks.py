"""The notebooks of the running server: its contents, its kernels, and the tabs that have notebooks open."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, cast

from jupyter_core.utils import ensure_async

from .._background_tasks import BackgroundTasks
from ..config import ContextProxy
from ..errors import HdspAgentError, NotFound
from ..messages import FindFileRequest
from ..notebooks import Notebooks, Unreviewed
from ..notebooks.documents.contents import ContentsNotebooks
from ..notebooks.documents.ydoc import Collaboration, SharedNotebooks
from ..notebooks.kernels import RunLimits
from ..notebooks.kernels.iopub import IopubListeners, PageMessages
from ..notebooks.kernels.jupyter import JupyterKernels
from ._channel_hub import ChannelHub
from ._dispatch import Dispatcher, RequestContext
from .iopub_bridge import IopubBridge
from .notebook_approvals import NotebookApprovals
from .notebook_memory import NotebookMemory
from .notebook_tabs import NotebookTabs

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp

    from ._bad_input_log import Log

__all__ = ["ServerNotebooks"]

_COLLABORATION: Final = "jupyter_server_ydoc"
_CONTENTS_EVENTS: Final = "https://events.jupyter.org/jupyter_server/contents_service/v1"


class ServerNotebooks:
    """What the server has of notebooks, for the agent. It starts nothing; kernels are those people see in Jupyter."""

    def __init__(
        self,
        server: ServerApp,
        channels: ChannelHub,
        dispatcher: Dispatcher,
        config: ContextProxy,
        memory: NotebookMemory,
        unreviewed: Unreviewed,
        *,
        log: Log,
    ) -> None:
        specs = server.kernel_spec_manager
        assert specs is not None
        self._server = server
        self._config = config
        self.tabs = NotebookTabs(channels, memory=memory, log=log)
        self.tabs.register(dispatcher)
        dispatcher.handle("findFile", self._find_file)
        kernels = JupyterKernels(server.session_manager, server.kernel_manager, specs)
        self._contents = ContentsNotebooks(server.contents_manager)
        self.notebooks = Notebooks(
            self._contents,
            kernels,
            tabs=self.tabs,
            rooms=SharedNotebooks(self._collaboration, server.contents_manager),
            limits=self._limits,
            active=self._active,
            on_work=channels.publish_to_all,
            unreviewed=unreviewed,
        )
        self._looking_up = BackgroundTasks()
        self.approvals: Final = NotebookApprovals(config, self.notebooks.access)
        channels.on_tab(lambda owner, client_id: self.approvals.look_soon())
        iopub_listeners = IopubListeners(server.kernel_manager, self._heard_pages())
        self.bridge = IopubBridge(iopub_listeners, kernels, self.notebooks, channels.publish_to_all, log=log)
        self.notebooks.person_runs = self.bridge
        channels.on_tab(lambda owner, client_id: self.bridge.tell_again())
        self.tabs.on_opened(self.notebooks.live_outputs.look)
        self.tabs.offer(self.notebooks.unreviewed.of)
        self.tabs.on_renamed(self._renamed_in_tab)
        if server.event_logger is not None:
            server.event_logger.add_listener(schema_id=_CONTENTS_EVENTS, listener=self._contents_changed)

    async def has(self, path: str) -> bool:
        """Whether Jupyter shows people a file or a folder of this path."""
        if not await self._contents.has(path):
            return False
        manager = self._server.contents_manager
        return manager.allow_hidden or not await ensure_async(manager.is_hidden(path))  # type: ignore[no-untyped-call]

    @property
    def has_local_kernels(self) -> bool:
        """Whether kernels run on this machine, and not behind a gateway."""
        return not self._server.gateway_config.gateway_enabled

    async def start(self) -> None:
        """Learn which tabs will come back and what nobody has looked at, and begin to watch the kernels."""
        await self.approvals.look()
        await self.tabs.start()
        await self.notebooks.unreviewed.recall()
        self.bridge.start()

    async def stop(self) -> None:
        """Keep the outputs there are, and ask tabs nothing any more."""
        await self.bridge.stop()
        await self._looking_up.drain()
        await self.approvals.stop()
        if self._server.event_logger is not None:
            self._server.event_logger.remove_listener(listener=self._contents_changed)
        await self.notebooks.close()
        await self.tabs.stop()

    async def _find_file(self, _: RequestContext, message: FindFileRequest) -> bool:
        try:
            return await self._contents.has(message.path.strip("/"))
        except NotFound:
            # It leads out of the folder the server serves.
            return False

    def _renamed_in_tab(self, old: str, new: str) -> None:
        self._looking_up.begin(self._follow_if_moved(old, new))

    async def _follow_if_moved(self, old: str, new: str) -> None:
        """A tab only says that a notebook moved. It concerns everybody, so the files must say it too."""
        with suppress(HdspAgentError):
            if await self._contents.has(new) and not await self._contents.has(old):
                self.notebooks.access.moved(old, new)

    def _heard_pages(self) -> PageMessages | None:
        """Where a gateway runs the kernels, what it sends to pages is heard on its way."""
        if self.has_local_kernels:
            return None
        from jupyter_server.gateway.connections import GatewayWebSocketConnection

        settings = self._server.web_app.settings
        chosen = settings["kernel_websocket_connection_class"]
        if not issubclass(chosen, GatewayWebSocketConnection):
            return None
        pages = PageMessages()
        settings["kernel_websocket_connection_class"] = pages.heard_connections(chosen)
        return pages

    def _limits(self) -> RunLimits:
        settings = self._config.settings
        return RunLimits(
            idle_seconds=settings.kernel_run_idle_limit_seconds, total_seconds=settings.kernel_run_total_limit_seconds
        )

    def _active(self) -> None:
        """A server with a working agent is not idle: hubs stop idle ones."""
        times: dict[str, datetime] = self._server.web_app.settings["last_activity_times"]
        times["hdsp_agent"] = datetime.now(UTC)

    def _collaboration(self) -> Collaboration | None:
        """jupyter-collaboration's extension, where it is switched on and works. Whether it is installed tells nothing."""
        package = self._server.extension_manager.extensions.get(_COLLABORATION)
        if package is None or not package.enabled or "file_id_manager" not in self._server.web_app.settings:
            return None
        app = next((point.app for point in package.extension_points.values() if point.app is not None), None)
        return None if app is None or app.disable_rtc else cast(Collaboration, app)

    async def _contents_changed(self, logger: object, schema_id: str, data: Mapping[str, str]) -> None:
        """Somebody did something with a file through the server, with or without a tab."""
        access, path = self.notebooks.access, data["path"].strip("/")
        match data["action"]:
            case "rename":
                old = data["source_path"].strip("/")
                self.tabs.file_renamed(old, path)
                access.moved(old, path)
                await self._take_kernels_along()
            case "delete":
                access.deleted(path)
            case "save" | "create" | "upload" | "copy":
                access.appeared(path)

    async def _take_kernels_along(self) -> None:
        """A tab that has a notebook does this for it; one that nobody has open keeps its kernel, too."""
        sessions = self._server.session_manager
        for session in await sessions.list_sessions():
            now = self.notebooks.access.now_at(session["path"])
            if now != session["path"]:
                await sessions.update_session(session["id"], path=now, name=now.rpartition("/")[2])
