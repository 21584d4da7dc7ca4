"""The person's side of kernels: sessions as JupyterLab makes them, and a second client that runs cells as Lab does."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from queue import Empty

import nbformat
from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_server.serverapp import ServerApp

from hdsp_agent.comm.services import Services
from hdsp_agent.notebooks.kernels.iopub import IopubListener
from tests._helpers.jupyter_fetch import Fetch
from tests._helpers.timing import until

__all__ = ["Lab", "lab", "write_notebook"]


def write_notebook(file: Path, *sources: str) -> None:
    """A notebook of these code cells; their ids are c0, c1 …"""
    cells = [nbformat.v4.new_code_cell(source, id=f"c{number}") for number, source in enumerate(sources)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), file)


class Lab:
    """A kernel with JupyterLab's client at it."""

    def __init__(self, app: ServerApp, fetch: Fetch, path: str, session: dict[str, dict[str, str]]) -> None:
        self.kernel_id = session["kernel"]["id"]
        self.path = path
        self.manager = app.kernel_manager.get_kernel(self.kernel_id)
        self._app = app
        self._session_id = session["id"]
        self._fetch = fetch
        self._client: AsyncKernelClient | None = None

    async def connect(self) -> None:
        """Speak to the kernel; again after its restart."""
        await self.leave()
        # A session of its own, as the page has one.
        self._client = AsyncKernelClient(parent=self.manager)
        self._client.load_connection_info(self.manager.get_connection_info())
        self._client.start_channels(stdin=False, hb=False)
        await self._until_heard()
        await self._until_watched()

    async def _until_heard(self) -> None:
        """Wait until what the kernel publishes arrives. The client's own ``wait_for_ready`` waits for silence after that."""
        client = self._client
        assert client is not None

        async def is_heard() -> bool:
            client.kernel_info()
            try:
                await client.get_shell_msg(timeout=1)
            except Empty:
                return False
            return bool(await client.iopub_channel.msg_ready())

        await until(is_heard)
        await self.heard()

    def send(self, code: str, **options: bool) -> str:
        """Send code to run; the request's id."""
        assert self._client is not None
        return str(self._client.execute(code, **options))

    async def run(self, *codes: str, **options: bool) -> None:
        """Run cells one after another to their ends."""
        for code in codes:
            await self.replied(self.send(code, **options))

    async def replied(self, request: str) -> dict[str, object]:
        """The reply to a request."""
        assert self._client is not None
        while True:
            reply = await self._client.get_shell_msg(timeout=120)
            if reply["parent_header"].get("msg_id") == request:
                return dict(reply["content"])

    async def heard(self) -> list[dict[str, object]]:
        """What the kernel published until now, as the page gets it."""
        assert self._client is not None
        found = []
        while await self._client.iopub_channel.msg_ready():
            found.append(await self._client.get_iopub_msg(timeout=1))
        return found

    async def restart(self) -> None:
        """Restart it as the person does."""
        await self._fetch("api", "kernels", self.kernel_id, "restart", method="POST", body="")

    async def shut_down(self) -> None:
        """Shut it down as the person does."""
        await self._fetch("api", "sessions", self._session_id, method="DELETE")

    async def _until_watched(self) -> None:
        """Wait until the extension, if it runs, hears what this kernel does: what ran before that is not known."""
        services: Services | None = self._app.web_app.settings.get("hdsp_agent_services")
        if services is None or services.notebooks.bridge._looking is None:
            return
        watches = services.notebooks.bridge._watches

        def heard() -> tuple[object, int]:
            watch = watches.get(self.kernel_id)
            listener = watch._listener if watch is not None else None
            return listener, listener.taken if isinstance(listener, IopubListener) else 0

        before = heard()

        async def is_heard() -> bool:
            await self.run("", silent=True)
            listener, taken = heard()
            return taken > (before[1] if listener is before[0] else 0)

        await until(is_heard)

    async def leave(self) -> None:
        if self._client is not None:
            client, self._client = self._client, None
            client.stop_channels()
            await asyncio.to_thread(client.context.destroy, 0)


@asynccontextmanager
async def lab(
    app: ServerApp, fetch: Fetch, path: str, sources: Sequence[str] = (), *, kernel: str = "python3"
) -> AsyncIterator[Lab]:
    """A notebook of these cells with its kernel, which ends with the block."""
    if sources:
        write_notebook(Path(app.root_dir) / path, *sources)
    asked = {"path": path, "type": "notebook", "name": path, "kernel": {"name": kernel}}
    answer = await fetch("api", "sessions", method="POST", body=json.dumps(asked))
    work = Lab(app, fetch, path, json.loads(answer.body))
    try:
        await work.connect()
        yield work
    finally:
        await work.leave()
        if work.kernel_id in app.kernel_manager:
            await app.kernel_manager.shutdown_kernel(work.kernel_id, now=True)
