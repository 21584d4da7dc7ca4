"""A person's server and the real hub service: what is told of tasks and storage, and how an administrator stops a task."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import anyio
import httpx2
import pytest
from pydantic import SecretStr

from hdsp_agent.comm import hub_reports as hub_reports_module
from hdsp_agent.comm.services import Services
from hdsp_agent.hub import HubAddresses, HubServer, HubService
from hdsp_agent.hub.oauth_login import OAuthClient
from hdsp_agent.hub.reporting_servers import ReportingServer
from hdsp_agent.telemetry import ServerReport, StopAnswer
from tests._helpers.free_port import free_port
from tests._helpers.model_server import RawServer, Reply, raw_server, sse, sse_events
from tests.comm._helpers.scripted_pages import Turn, asked, question, said, speak
from tests.comm.conftest import Connect
from tests.hub._helpers.browsers import browser
from tests.hub._helpers.policy_files import write
from tests.hub._helpers.running import ADMIN, USE, HubOfTests, RunningService, hub_of_tests
from tests.hub.test_admin_pages import page

POLICIES = """
    providers:
      far:
        protocol: openai
        url: {url}/v1
        models:
          qwen3: {{input_price: 1, output_price: 2, context_window: 100000}}
    default:
      models: ["*"]
"""
SECRET = "my-secret-plan"
_DONE = {"name": "attempt_completion", "arguments": json.dumps({"result": "It is done."})}
_USAGE = {"choices": [], "usage": {"prompt_tokens": 900, "completion_tokens": 100}}
LOOK: Turn = ({"tool": "list_files", "arguments": {"path": "."}, "id": "l"},)
LOOK_AT_SECRET: Turn = ({"tool": "list_files", "arguments": {"path": SECRET}, "id": "l"},)


class Model:
    """Streams without an end the first time, and then is done."""

    def __init__(self) -> None:
        self.ended = asyncio.Event()
        self._asked = 0

    async def answer(self, reply: Reply) -> None:
        self._asked += 1
        if self._asked == 1:
            await reply.begin()
            await reply.send(sse_events({"choices": [{"index": 0, "delta": {"content": "Half an answer"}}]}))
            try:
                await asyncio.Event().wait()
            finally:
                self.ended.set()
        call = {"index": 0, "id": "c1", "type": "function", "function": _DONE}
        end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}
        await reply.send(sse({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}, end, _USAGE, "[DONE]"))


class Hub:
    """The service on a port that stays, so that it can go away and come back; what it is told waits in ``told``."""

    def __init__(self, folder: Path, hub: HubOfTests, model: RawServer, http: httpx2.AsyncClient) -> None:
        self._folder = folder
        self._port = free_port()
        self._prefix = "/services/hdsp-agent/"
        self.told: asyncio.Queue[ServerReport] = asyncio.Queue()
        hub.service = f"http://127.0.0.1:{self._port}"
        self._client = OAuthClient(
            "service", SecretStr("service-token"), hub.url.removesuffix("api"), f"{self._prefix}oauth_callback"
        )
        self._hub = hub
        self._policies = write(folder, POLICIES.format(url=model.url))
        self._http = http
        self._server: HubServer | None = None
        self.running: RunningService

    async def start(self) -> None:
        addresses = HubAddresses(f"http://127.0.0.1:{self._port}", self._prefix, self._hub.url, self._client)
        service = HubService(addresses, self._policies, self._folder / "data")
        told = service.servers.told

        def watched(user: str, report: ServerReport) -> ReportingServer:
            server = told(user, report)
            self.told.put_nowait(report)
            return server

        service.servers.told = watched  # type: ignore[method-assign]
        self._server = HubServer(service)
        await self._server.start()
        self.running = RunningService(
            f"{self._hub.service}{self._prefix}", self._hub, service, self._policies, self._http
        )

    async def stop(self) -> None:
        if self._server is not None:
            await self._server.stop()
        self._server = None

    async def until(self, holds: Callable[[ServerReport], bool]) -> ServerReport:
        """The next report of which this is so."""
        with anyio.fail_after(60):
            while not holds(report := await self.told.get()):
                continue
        return report


def works(report: ServerReport) -> list[str]:
    return [task.work for task in report.tasks]


@pytest.fixture
def model() -> Model:
    return Model()


@pytest.fixture
def hub(
    tmp_path: Path, model: Model, jp_asyncio_loop: asyncio.AbstractEventLoop, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Hub]:
    monkeypatch.setattr(hub_reports_module, "_LEAST_SECONDS", 0.01)
    monkeypatch.setattr(hub_reports_module, "_AWAY_SECONDS", 0.05)
    monkeypatch.setattr(hub_reports_module, "_LONGEST_AWAY_SECONDS", 0.05)
    monkeypatch.setattr("hdsp_agent.hub.admin.server_pages._STOP_SECONDS", 30.0)
    monkeypatch.setenv("JUPYTERHUB_API_TOKEN", "ada-token")
    monkeypatch.setenv("JUPYTERHUB_USER", "ada")
    monkeypatch.setenv("JUPYTERHUB_SERVER_NAME", "gpu")
    stack = AsyncExitStack()

    async def begin() -> Hub:
        of_tests = await stack.enter_async_context(hub_of_tests())
        of_tests.add("ada-token", "ada", "students")
        of_tests.add("root-token", "root", scopes=(USE, ADMIN))
        http = await stack.enter_async_context(httpx2.AsyncClient(trust_env=False, timeout=60))
        hub = Hub(tmp_path, of_tests, await stack.enter_async_context(raw_server(model.answer)), http)
        stack.push_async_callback(hub.stop)
        await hub.start()
        return hub

    yield jp_asyncio_loop.run_until_complete(begin())
    jp_asyncio_loop.run_until_complete(stack.aclose())


@pytest.fixture
def hub_reports() -> bool:
    """Whether the operator wants them."""
    return True


@pytest.fixture
def jp_server_config(jp_server_config: dict[str, dict[str, object]], hub: Hub, hub_reports: bool) -> dict[str, object]:
    own = {"hub_service_url": hub.running.url.rstrip("/"), "hub_reports": hub_reports}
    return {**jp_server_config, "HdspAgentApp": {**jp_server_config["HdspAgentApp"], **own}}


async def answered(services: Services) -> None:
    """Return once the server has its settings from the service."""
    there = asyncio.Event()
    services.config.subscribe(lambda change: there.set())
    while services.config.profiles.settings("default").api_provider != "openai":
        there.clear()
        await there.wait()


async def test_an_administrator_stops_a_task_in_the_middle_of_a_stream(
    services: Services, hub: Hub, model: Model, connect: Connect, storage_dir: Path
) -> None:
    await answered(services)
    async with connect() as panel, browser(hub.running) as root:
        task = (await panel.ask("newTask", text=f"Tell me of {SECRET}."))["result"]
        await panel.until(lambda: "Half an" in "".join(said(panel, "text")))
        report = await hub.until(lambda report: works(report) == ["running"])
        assert (report.server, report.tasks[0].id, report.tasks[0].model, report.hold) == ("gpu", task, "qwen3", True)
        shown = await page(root, "running")
        assert SECRET not in shown and "<td>gpu</td>" in shown and "Stop the request of ada to qwen3" in shown
        [form] = re.findall(r'running/stop-task">(.*?)</form>', shown)
        fields = dict(re.findall(r'name="(\w+)" value="([^"]*)"', form))
        answer = await root.post("running/stop-task", data=fields)
        assert "The task was stopped." in answer.text
        ts = await question(panel, "resume_task")
        assert asked(panel, "resume_task")[-1]["stoppedBy"] == "administrator"
        # The model's work ends, too.
        await model.ended.wait()
        assert works(await hub.until(lambda report: works(report) != ["running"])) == ["paused"]
        assert "<td>Paused</td>" in await page(root, "running")
        await panel.ask("askResponse", messageTs=ts, askResponse="yesButtonClicked", taskId=task)
        await question(panel, "completion_result")
        await hub.until(lambda report: not report.tasks)
        await services.audit.stop()
        lines = [json.loads(line) for line in (storage_dir / "audit.jsonl").read_text().splitlines()]
        stopped = [line for line in lines if line["via"] == "hub stop"]
        assert [(line["user"], line["action"], line["conversation"]) for line in stopped] == [
            ("hub administrator", "change", task)
        ]


async def test_a_task_that_waits_is_told_and_stopped(
    services: Services, hub: Hub, connect: Connect, tmp_path: Path, jp_root_dir: Path
) -> None:
    await answered(services)
    (jp_root_dir / SECRET).mkdir()
    await speak(services, tmp_path, LOOK_AT_SECRET)
    async with connect() as panel:
        task = (await panel.ask("newTask", text=f"Look at {SECRET}."))["result"]
        await question(panel, "tool")
        report = await hub.until(lambda report: works(report) == ["waiting"])
        # Neither words nor paths leave the server, and of a model that is a file only its name.
        told = report.model_dump_json()
        assert SECRET not in told and str(tmp_path) not in told and report.tasks[0].model == "script-0.json"
        server = hub.running.service.servers.server("ada", report.instance)
        assert server is not None and await hub.running.service.servers.stop(server, task, 60)
        await question(panel, "resume_task")
        assert not asked(panel, "tool")


async def test_storage_is_told_once_it_is_measured(
    services: Services, hub: Hub, connect: Connect, tmp_path: Path
) -> None:
    await answered(services)
    await speak(services, tmp_path, LOOK)
    async with connect() as panel:
        await panel.ask("newTask", text="Look.")
        await question(panel, "tool")
        await services.retention_job.measure()
        report = await hub.until(lambda report: report.storage is not None)
        assert report.storage is not None and services.retention_job.measured is not None
        assert report.storage.total == services.retention_job.measured.use.total_bytes
        assert report.storage.conversations > 0 and report.storage.free
        [stored] = hub.running.service.servers.storage
        assert (stored.user, stored.storage) == ("ada", report.storage)


async def test_the_service_goes_away_and_comes_back(
    services: Services, hub: Hub, connect: Connect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await answered(services)
    await speak(services, tmp_path, LOOK)
    reports, is_away = services.hub_reports, asyncio.Event()
    assert reports is not None
    exchange = reports._exchange

    async def watched(http: httpx2.AsyncClient, report: ServerReport) -> StopAnswer | None:
        answer = await exchange(http, report)
        if answer is None:
            is_away.set()
        return answer

    monkeypatch.setattr(reports, "_exchange", watched)
    async with connect() as panel:
        await panel.ask("newTask", text="Look.")
        await question(panel, "tool")
        before = await hub.until(lambda report: works(report) == ["waiting"])
        notices = services.notices.standing
        await hub.stop()
        await is_away.wait()
        await hub.start()
        after = await hub.until(lambda report: works(report) == ["waiting"])
        assert after.instance == before.instance and services.notices.standing == notices
        # One that ends says so.
        await reports.stop()
        assert (await hub.until(lambda report: report.ended)).tasks == ()
        assert hub.running.service.servers.all == []


@pytest.mark.parametrize("hub_reports", [False])
async def test_the_operator_can_switch_it_off(services: Services) -> None:
    assert services.hub_reports is None
