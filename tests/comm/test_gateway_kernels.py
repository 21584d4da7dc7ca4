"""The extension on a real Jupyter Server whose kernels run behind a real kernel gateway."""

from __future__ import annotations

import asyncio
import json
import subprocess
import time
import uuid
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from jupyter_server.gateway.gateway_client import GatewayClient
from jupyter_server.serverapp import ServerApp
from tornado.websocket import WebSocketClientConnection

from hdsp_agent.comm.services import Services
from hdsp_agent.errors import Unavailable, Unsupported
from hdsp_agent.messages import CellId, JsonObject, TaskId
from hdsp_agent.notebooks.kernels import CellRunSpec, _kernel_queue
from tests._helpers.jupyter_fetch import Fetch, SocketFetch
from tests._helpers.kernel_gateway import GATEWAY_TOKEN, KernelGateway, running_gateway
from tests._helpers.parsed_json import parsed
from tests.comm._helpers.jupyterlab_kernels import write_notebook
from tests.comm.rest.test_checkpoints import post
from tests.comm.test_iopub_bridge import placed, runs, until

NOTEBOOK = "work.ipynb"
WAITS = "from pathlib import Path\nimport time\nwhile not Path({!r}).exists(): time.sleep(0.02)\n"


@pytest.fixture(scope="module", params=["kernel", pytest.param("enterprise", marks=pytest.mark.long)])
def gateway(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KernelGateway]:
    kind, folder = request.param, tmp_path_factory.mktemp("gateway")
    unseen = tmp_path_factory.getbasetemp() if kind == "elsewhere" else None
    if (
        unseen is not None
        and subprocess.run(["unshare", "--mount", "true"], check=False, capture_output=True).returncode
    ):
        pytest.skip("nothing can be hidden from a process here")
    with running_gateway(folder, enterprise=kind == "enterprise", unseen=unseen) as gateway:
        yield gateway


@pytest.fixture
def jp_server_config(
    jp_server_config: dict[str, object], gateway: KernelGateway, monkeypatch: pytest.MonkeyPatch
) -> Iterator[dict[str, object]]:
    # Enterprise Gateway starts no kernels for root.
    monkeypatch.setenv("KERNEL_USERNAME", "somebody")
    GatewayClient.clear_instance()
    yield {**jp_server_config, "GatewayClient": {"url": gateway.address, "auth_token": GATEWAY_TOKEN}}
    GatewayClient.clear_instance()


class Page:
    """A notebook's tab, whose messages go through the server to the gateway."""

    def __init__(self, socket: WebSocketClientConnection, kernel_id: str, session: str) -> None:
        self.socket = socket
        self.kernel_id = kernel_id
        self._session = session

    async def send(self, code: str) -> str:
        """Send code to run; the request's id."""
        name = uuid.uuid4().hex
        header = {
            "msg_id": name,
            "msg_type": "execute_request",
            "username": "",
            "session": self._session,
            "version": "5.3",
        }
        content = {"code": code, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False}
        message = {
            "channel": "shell", "header": header, "parent_header": {}, "metadata": {}, "content": content, "buffers": []
        }  # fmt: skip
        await self.socket.write_message(json.dumps(message))
        return name

    async def until(self, kind: str, request: str) -> JsonObject:
        """The message of this kind about a request."""
        while True:
            raw = await asyncio.wait_for(self.socket.read_message(), 60)
            assert isinstance(raw, str), "the page was cut off"
            message: JsonObject = json.loads(raw)
            header, parent = message["header"], message["parent_header"]
            assert isinstance(header, dict) and isinstance(parent, dict)
            if (header["msg_type"], parent.get("msg_id")) == (kind, request):
                return message

    async def run(self, *codes: str) -> None:
        """Run cells to their ends."""
        for code in codes:
            await self.until("execute_reply", await self.send(code))


@asynccontextmanager
async def page(
    app: ServerApp, fetch: Fetch, connect: SocketFetch, gateway: KernelGateway, sources: Sequence[str]
) -> AsyncIterator[Page]:
    """A notebook of these cells with its kernel behind the gateway, which ends with the block."""
    write_notebook(Path(app.root_dir) / NOTEBOOK, *sources)
    asked = {"path": NOTEBOOK, "type": "notebook", "name": NOTEBOOK, "kernel": {"name": "python3"}}
    made = parsed(json.loads((await fetch("api", "sessions", method="POST", body=json.dumps(asked))).body))
    kernel_id, session = str(made["kernel"]["id"]), uuid.uuid4().hex
    socket = await connect("api", "kernels", kernel_id, "channels", params={"session_id": session})
    try:
        yield Page(socket, kernel_id, session)
    finally:
        socket.close()
        with suppress(OSError):
            # A kernel that is just being restarted cannot be shut down; it ends with the gateway.
            await asyncio.to_thread(gateway.ask, "DELETE", f"kernels/{kernel_id}")
        app.kernel_manager._kernels.clear()


async def watched(services: Services, work: Page) -> None:
    """Wait until the bridge knows the kernel and its notebook."""
    watches = services.notebooks.bridge._watches
    await until(lambda: work.kernel_id in watches and watches[work.kernel_id].paths)


def connections(gateway: KernelGateway, work: Page) -> int:
    return int(gateway.ask("GET", f"kernels/{work.kernel_id}")["connections"])


async def until_unconnected(gateway: KernelGateway, work: Page) -> None:
    end = time.monotonic() + 60
    while await asyncio.to_thread(connections, gateway, work):
        assert time.monotonic() < end, "the connection stays"
        await asyncio.sleep(0.02)


def errors(services: Services) -> list[str | None]:
    return [run.error for run in runs(services)]


async def test_the_persons_runs_are_known_and_the_agents_are_told_apart(
    services: Services, jp_serverapp: ServerApp, jp_fetch: Fetch, jp_ws_fetch: SocketFetch, gateway: KernelGateway
) -> None:
    cells = ["prices = {}", "prices['tea']", "x = 1"]
    async with page(jp_serverapp, jp_fetch, jp_ws_fetch, gateway, cells) as work:
        await watched(services, work)
        await work.run(*cells[:2])
        await until(lambda: placed(services) == [("c0", True), ("c1", False)])
        assert errors(services)[1] == "KeyError: 'tea'"
        run = await services.notebooks.notebooks.run(
            NOTEBOOK, [CellRunSpec(CellId("c2"), cells[2])], task_id=TaskId("t")
        )
        assert await run.wait(60)
        await work.run("prices['tea'] = 3", cells[1])
        await until(lambda: placed(services)[2:] == [(None, True), ("c1", True)])
        await services.notebooks.notebooks.executor.release(TaskId("t"))


@pytest.mark.parametrize("code", [None, 1001], ids=["in JupyterLab", "of the browser"])
async def test_a_run_goes_on_being_watched_after_the_tab_was_closed_and_not_longer(
    services: Services, jp_serverapp: ServerApp, jp_fetch: Fetch, jp_ws_fetch: SocketFetch, gateway: KernelGateway,
    tmp_path: Path, code: int | None,
) -> None:  # fmt: skip
    go = tmp_path / "go"
    slow = WAITS.format(str(go)) + "1 / 0"
    async with page(jp_serverapp, jp_fetch, jp_ws_fetch, gateway, [slow, "y = 2"]) as work:
        await watched(services, work)
        await work.until("execute_input", await work.send(slow))
        await work.send("y = 2")
        work.socket.close(code)
        pages = services.notebooks.bridge._iopub_listeners._pages
        await until(lambda: pages is not None and pages.keeps(work.kernel_id))
        assert await asyncio.to_thread(connections, gateway, work) == 1
        go.touch()
        await until(lambda: placed(services) == [("c0", False)])
        await until_unconnected(gateway, work)


async def test_a_kernel_that_dies_ends_the_persons_run_and_the_agents(
    services: Services,
    jp_serverapp: ServerApp,
    jp_fetch: Fetch,
    jp_ws_fetch: SocketFetch,
    gateway: KernelGateway,
    tmp_path: Path,
) -> None:
    # What a kernel publishes right before its death may be lost.
    go = tmp_path / "go"
    dies = f"{WAITS.format(str(go))}import os\nos._exit(1)"
    async with page(jp_serverapp, jp_fetch, jp_ws_fetch, gateway, [dies]) as work:
        await watched(services, work)
        await work.until("execute_input", await work.send(dies))
        go.touch()
        await until(lambda: errors(services) == ["The kernel died while this ran."])
        run = await services.notebooks.notebooks.run(NOTEBOOK, [CellRunSpec(CellId("c0"), dies)])
        assert await run.wait(60)
        assert (run.cells[0].state, run.cells[0].reason) == ("dead", "kernel_died")


async def test_variables_are_listed_saved_and_restored(
    services: Services, jp_serverapp: ServerApp, jp_fetch: Fetch, jp_ws_fetch: SocketFetch, gateway: KernelGateway
) -> None:
    async with page(jp_serverapp, jp_fetch, jp_ws_fetch, gateway, ["n = 1"]) as work:
        await watched(services, work)
        await work.run("rows = [1]")
        saved = await post(jp_fetch, "checkpoints", path=NOTEBOOK, note="before")
        await work.run("rows.append(2)")
        parts = {"variables": True, "path": NOTEBOOK}
        await post(jp_fetch, "checkpoints", saved["id"], "restore", parts=parts, path=NOTEBOOK)
        executor = services.notebooks.notebooks.executor
        report = await executor.inspect(NOTEBOOK)
        assert [(one.name, one.head) for one in report.variables] == [("rows", "[1]")]
        assert [kernel.told.partition("), ")[2] for kernel in await executor.kernels()] == [
            "behind a gateway: its files may not be those of the workspace"
        ]


async def test_a_notebook_is_not_verified_where_kernels_are_elsewhere(services: Services, jp_fetch: Fetch) -> None:
    with pytest.raises(Unsupported, match="A gateway runs the kernels"):
        await services.verifications.start(services.history.person, NOTEBOOK)


@pytest.mark.long
@pytest.mark.parametrize("gateway", ["elsewhere"], indirect=True)
async def test_variables_of_a_kernel_with_another_disk_are_sent(
    services: Services, jp_serverapp: ServerApp, jp_fetch: Fetch, jp_ws_fetch: SocketFetch, gateway: KernelGateway
) -> None:
    async with page(jp_serverapp, jp_fetch, jp_ws_fetch, gateway, ["n = 1"]) as work:
        await watched(services, work)
        home = str(services.storage.home)
        sees = f"from pathlib import Path\nassert not Path({home!r}).exists()\nimport random\n"
        await work.run(sees + "big = random.Random(1).randbytes(30_000_000)")
        await until(lambda: [run.ok for run in runs(services)] == [True])
        saved = await post(jp_fetch, "checkpoints", path=NOTEBOOK, note="before")
        await work.run("big = 0")
        parts = {"variables": True, "path": NOTEBOOK}
        await post(jp_fetch, "checkpoints", saved["id"], "restore", parts=parts, path=NOTEBOOK)
        await work.run("assert big == random.Random(1).randbytes(30_000_000)")
        await until(lambda: [run.ok for run in runs(services)] == [True, True, True])


async def test_a_cell_that_asks_for_input_ends_with_that_reason(
    services: Services, jp_serverapp: ServerApp, jp_fetch: Fetch, jp_ws_fetch: SocketFetch, gateway: KernelGateway
) -> None:
    async with page(jp_serverapp, jp_fetch, jp_ws_fetch, gateway, ["input()"]):
        run = await services.notebooks.notebooks.run(NOTEBOOK, [CellRunSpec(CellId("c0"), "input()")])
        assert await run.wait(60)
        assert run.cells[0].reason == "input_requested"


async def test_a_connection_that_nobody_uses_does_not_keep_the_kernel(
    services: Services, jp_serverapp: ServerApp, jp_fetch: Fetch, jp_ws_fetch: SocketFetch, gateway: KernelGateway,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(_kernel_queue, "_UNUSED_SECONDS", 0.5)
    notebooks = services.notebooks.notebooks
    async with page(jp_serverapp, jp_fetch, jp_ws_fetch, gateway, ["x = 1"]) as work:
        await work.run("pass")
        work.socket.close(1001)
        run = await notebooks.run(NOTEBOOK, [CellRunSpec(CellId("c0"), "x = 1")], task_id=TaskId("t"))
        assert await run.wait(60)
        assert await asyncio.to_thread(connections, gateway, work)
        await notebooks.executor.release(TaskId("t"))
        await until_unconnected(gateway, work)
        report = await notebooks.executor.inspect(NOTEBOOK)
        assert [one.name for one in report.variables] == ["x"]


async def test_a_gateway_that_is_killed_is_told_and_works_again_when_it_is_back(
    services: Services, jp_serverapp: ServerApp, gateway: KernelGateway
) -> None:
    notebooks = services.notebooks.notebooks
    sleeps = "import time\ntime.sleep(600)"
    write_notebook(Path(jp_serverapp.root_dir) / NOTEBOOK, sleeps, "'back'")
    run = await notebooks.run(NOTEBOOK, [CellRunSpec(CellId("c0"), sleeps)])
    await until(lambda: run.cells[0].state == "running")
    await asyncio.to_thread(gateway.stop, kill=True)
    assert await run.wait(60)
    assert run.cells[0].state == "dead" and run.cells[0].advice
    with pytest.raises(Unavailable, match=r"The kernels of this server cannot be listed: [^%]*$"):
        await notebooks.executor.kernel_specs()
    await asyncio.to_thread(gateway.start)
    again = await notebooks.run(NOTEBOOK, [CellRunSpec(CellId("c1"), "'back'")])
    assert await again.wait(60)
    assert again.cells[0].state == "ok", again.cells[0].advice
    # They end with the gateway.
    jp_serverapp.kernel_manager._kernels.clear()
