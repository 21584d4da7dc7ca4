"""What people's servers tell of their tasks and storage: whose it is, how much of it is taken, and what comes back."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from hdsp_agent.hub import reporting_servers
from hdsp_agent.hub.reporting_servers import ReportingServer
from hdsp_agent.telemetry import StopOrder

from ._helpers.browsers import browser
from ._helpers.running import USE, RunningService, running_service
from .test_admin_pages import EVIL, NOON, TEXT, page

TASK: dict[str, Any] = {
    "id": "task-1", "mode": "code", "model": "qwen3", "work": "running", "seconds": 90, "tokens": 1200, "cost": 0.25,
}  # fmt: skip
STORAGE = {"conversations": 4096, "checkpoints": 2048, "memory": 1024, "other": 512, "free": 10**9, "seconds": 60}


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page waits for a server on a crowded machine, too."""
    monkeypatch.setattr("hdsp_agent.hub.admin.server_pages._STOP_SECONDS", 30.0)


def report(*tasks: dict[str, Any], **other: Any) -> dict[str, Any]:
    """How a server stands that does these tasks."""
    return {
        "instance": "one", "server": "", "tasks": list(tasks), "more": 0, "storage": None, "next_seconds": 30,
        "hold": False, "done": [], **other,
    }  # fmt: skip


async def tell(running: RunningService, content: object, token: str = "ada-token") -> httpx2.Response:
    """Report this; a text is sent as it is."""
    body = content if isinstance(content, str) else json.dumps(content)
    headers = {"Authorization": f"token {token}"}
    return await running.http.post(f"{running.url}api/tasks", content=body, headers=headers)


@asynccontextmanager
async def service(folder: Path, clock: list[float], text: str = TEXT) -> AsyncIterator[RunningService]:
    async with running_service(folder, text.format(url="http://127.0.0.1:9"), now=lambda: clock[0]) as running:
        yield running


def forms(shown: str) -> list[dict[str, str]]:
    """What the buttons send that stop a task."""
    found = re.findall(r'<form method="post" action="[^"]*running/stop-task">(.*?)</form>', shown)
    return [dict(re.findall(r'name="(\w+)" value="([^"]*)"', form)) for form in found]


class Held:
    """Whose reports wait for their answers, and whose do not any more."""

    def __init__(self, running: RunningService, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun: asyncio.Queue[str] = asyncio.Queue()
        self.ended: asyncio.Queue[str] = asyncio.Queue()
        servers = running.service.servers
        next_orders = servers.next_orders

        async def watched(server: ReportingServer, gone: asyncio.Event) -> list[StopOrder]:
            if server.report.hold:
                self.begun.put_nowait(server.user)
            try:
                return await next_orders(server, gone)
            finally:
                self.ended.put_nowait(server.user)

        monkeypatch.setattr(servers, "next_orders", watched)


async def test_what_runs_is_shown_until_the_server_is_silent(tmp_path: Path) -> None:
    clock = [NOON]
    async with service(tmp_path, clock) as running, browser(running) as root:
        running.hub.add("evil-token", EVIL)
        assert (await tell(running, report(TASK, {**TASK, "id": "task-2", "work": "paused"}, more=3))).json() == {
            "stop": []
        }
        assert (await tell(running, report({**TASK, "mode": EVIL, "work": "waiting"}), "evil-token")).status_code == 200
        shown = await page(root, "running")
        for seen in (
            ">ada</a>", "<td>Running</td>", "<td>Paused</td>", "<td>Waiting for the person</td>", "2026-03-31 11:58",
            "1,200", "0.2500", "3 more tasks are not listed", "Servers that report: 2.", "Stop task task-1 of ada",
            "&lt;script&gt;alert(&#34;1&#34;)&lt;/script&gt;",
        ):  # fmt: skip
            assert seen in shown
        # What is paused has nothing to stop.
        assert "<script" not in shown and [form["task"] for form in forms(shown)] == ["task-1", "task-1"]
        assert ">ada</a>" not in await page(root, "running?q=scr")
        assert "2 report their tasks" in await page(root, "status")
        clock[0] += 61
        shown = await page(root, "running")
        assert "Servers that are silent" in shown and "<td>Running</td>" not in shown and not forms(shown)
        assert "Servers that report: 0." in shown
        # The same server was started anew.
        await tell(running, report(instance="two"))
        shown = await page(root, "running")
        assert "Servers that report: 1." in shown and ">ada</a>" not in shown
        await tell(running, report(instance="two", ended=True))
        assert "Servers that report: 0." in await page(root, "running")
        clock[0] += 25 * 3600
        await tell(running, report(), "bob-token")
        assert "Servers that are silent" not in await page(root, "running")


async def test_storage_is_shown_by_person_sorted_and_downloaded(tmp_path: Path) -> None:
    async with service(tmp_path, [NOON]) as running, browser(running) as root:
        running.hub.add("evil-token", "=EVIL()")
        await tell(running, report(storage=STORAGE))
        await tell(running, report(storage={**STORAGE, "memory": 10**6, "free": None}), "bob-token")
        await tell(running, report(storage=STORAGE | {"memory": 0}), "evil-token")
        # A server that measured earlier changes nothing, and one that ends takes nothing away.
        await tell(running, report(storage={**STORAGE, "memory": 5, "seconds": 600}, instance="two"))
        await tell(running, report(ended=True))
        shown = await page(root, "storage")
        assert shown.index(">bob</a>") < shown.index(">ada</a>") < shown.index(">=EVIL()</a>")
        for seen in ("7.5 KiB", "953.7 MiB", "2026-03-31 11:59", "1–3 of 3"):
            assert seen in shown
        shown = await page(root, "storage?sort=free&q=A")
        assert ">ada</a>" in shown and ">bob</a>" not in shown
        rows = list(csv.DictReader(io.StringIO(await page(root, "storage.csv?sort=user"))))
        assert [(row["user"], row["memory"], row["total"], row["free"]) for row in rows] == [
            ("'=EVIL()", "0", "6656", "1000000000"),
            ("ada", "1024", "7680", "1000000000"),
            ("bob", "1000000", "1006656", ""),
        ]
        assert rows[1]["measured"] == "2026-03-31T11:59:00+00:00"


async def test_an_administrator_stops_a_task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with service(tmp_path, [NOON]) as running, browser(running) as root:
        reports = Held(running, monkeypatch)
        held = asyncio.create_task(tell(running, report(TASK, {**TASK, "id": "task-2"}, hold=True)))
        bobs = asyncio.create_task(tell(running, report(TASK, hold=True), "bob-token"))
        assert {await reports.begun.get(), await reports.begun.get()} == {"ada", "bob"}
        [form] = [
            form for form in forms(await page(root, "running")) if (form["person"], form["task"]) == ("ada", "task-1")
        ]
        stopping = asyncio.create_task(root.post("running/stop-task", data=form))
        [order] = (await held).json()["stop"]
        assert order["task"] == "task-1" and not stopping.done() and not bobs.done()
        # Until its server says that it is followed, the order is given again: an answer can be lost.
        again = await tell(running, report(TASK, hold=True))
        assert again.json() == {"stop": [order]} and await reports.begun.get() == "ada"
        done = asyncio.create_task(tell(running, report(TASK, done=[order["order"]], hold=True)))
        answer = await stopping
        assert answer.status_code == 200 and "The task was stopped." in answer.text
        # The person lets it go on: nobody stops it again.
        await reports.begun.get()
        newer = await tell(running, report(TASK))
        assert newer.json() == (await done).json() == {"stop": []}
        for one in (
            form | {"task": "task-9"},
            form | {"person": "nobody"},
            form | {"server": "two"},
            form | {"task": EVIL},
        ):
            assert "That task is not at work any more." in (await root.post("running/stop-task", data=one)).text
        lines = [json.loads(line) for line in (tmp_path / "data/audit.jsonl").read_text().splitlines()]
        assert [(line["user"], line["via"]) for line in lines if line["action"] == "change"] == [
            ("root", "hub stop task task-1 of ada")
        ]
        await tell(running, report(), "bob-token")
        assert (await bobs).json() == {"stop": []}


async def test_an_order_that_nobody_comes_for_is_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hdsp_agent.hub.admin.server_pages._STOP_SECONDS", 0.0)
    clock = [NOON]
    async with service(tmp_path, clock) as running, browser(running) as root:
        await tell(running, report(TASK))
        [form] = forms(await page(root, "running"))
        assert "It has not answered yet." in (await root.post("running/stop-task", data=form)).text
        clock[0] += 61
        assert (await tell(running, report(TASK))).json() == {"stop": []}


async def test_a_token_tells_and_hears_of_its_own_person_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with service(tmp_path, [NOON]) as running, browser(running) as root:
        reports = Held(running, monkeypatch)
        running.hub.add("idle-token", "idle", scopes=())
        running.hub.add("program-token", "program", kind="service")
        await tell(running, report(TASK))
        for token, status in (("nobodys-token", 401), ("idle-token", 403), ("program-token", 403)):
            assert (await tell(running, report(TASK), token)).status_code == status
        # Nobody says whose it is but the token.
        for field in ("user", "person", "username"):
            assert (await tell(running, {**report(TASK), field: "ada"}, "bob-token")).status_code == 400
        assert (await running.get("api/tasks", "bob-token")).status_code == 405
        [form] = forms(await page(root, "running"))
        held = asyncio.create_task(tell(running, report(TASK, hold=True)))
        await reports.begun.get()
        stopping = asyncio.create_task(root.post("running/stop-task", data=form))
        [order] = (await held).json()["stop"]
        # Bob's server has the same id, names the same task, and says that it was stopped.
        assert (await tell(running, report(TASK), "bob-token")).json() == {"stop": []}
        assert (await tell(running, report(done=[order["order"]], ended=True), "bob-token")).json() == {"stop": []}
        assert not stopping.done() and [server.user for server in running.service.servers.all] == ["ada"]
        await tell(running, report())
        await stopping


NO_REPORTS: list[object] = [
    "", "[]", "{", "null", '{"tasks": []}', "[" * 60_000, json.dumps(report(TASK))[:-1],
    json.dumps(report(TASK)).replace("qwen3", "\\ud800"),
    json.dumps(report(TASK)).replace("0.25", "NaN"),
    report(*[TASK] * 51),
    report(*[{"id": str(number)} for number in range(3_000)]),
    report({**TASK, "title": "My secret plan"}),
    report({**TASK, "id": "../../etc"}), report({**TASK, "id": ""}), report({**TASK, "id": "a\n"}),
    report({**TASK, "mode": "a\nb"}), report({**TASK, "model": "x" * 201}), report({**TASK, "model": "\u202eoops"}),
    report({**TASK, "work": "flying"}), report({**TASK, "tokens": -1}), report({**TASK, "tokens": True}),
    report({**TASK, "tokens": 10**30}), report({**TASK, "seconds": "90"}), report({**TASK, "cost": [1]}),
    report(next_seconds=0), report(next_seconds=10**9), report(more=-1), report(instance="x" * 101),
    report(done=["x"] * 101), report(storage={**STORAGE, "free": -1}), report(storage="much"),
]  # fmt: skip


async def test_what_is_no_report_is_refused(tmp_path: Path) -> None:
    async with service(tmp_path, [NOON]) as running:
        for content in NO_REPORTS:
            answer = await tell(running, content)
            assert answer.status_code == 400, content
            assert answer.json()["error"]["code"] == "invalid_request_error"
            assert len(answer.text) < 1_000 and "secret" not in answer.text and running.service.servers.all == []


async def test_a_huge_report_is_not_read(tmp_path: Path) -> None:
    async with service(tmp_path, [NOON]) as running:
        content = json.dumps(report(*[{**TASK, "id": str(number)} for number in range(10_000)]))
        try:
            answer = await tell(running, content)
        except httpx2.TransportError:
            # The service closed the connection while more was on its way.
            pass
        else:
            assert answer.status_code in (400, 413)
        assert running.service.servers.all == []
        assert (await tell(running, report(TASK))).status_code == 200


async def test_only_so_many_servers_and_people_are_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reporting_servers, "_MOST_PEOPLE", 2)
    async with service(tmp_path, [NOON]) as running:
        for number in range(30):
            await tell(running, report(instance=str(number), storage=STORAGE))
        assert [server.report.instance for server in running.service.servers.all] == [
            str(number) for number in range(20, 30)
        ]
        for token in ("bob-token", "tess-token"):
            await tell(running, report(storage=STORAGE), token)
        assert [server.user for server in running.service.servers.all] == ["bob", "tess"]
        assert [one.user for one in running.service.servers.storage] == ["bob", "tess"]


async def test_a_server_that_goes_away_leaves_nothing_waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with service(tmp_path, [NOON]) as running:
        reports = Held(running, monkeypatch)
        held = asyncio.create_task(tell(running, report(TASK, hold=True)))
        await reports.begun.get()
        held.cancel()
        assert await reports.ended.get() == "ada"


async def test_the_service_ends_while_reports_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with service(tmp_path, [NOON]) as running:
        reports = Held(running, monkeypatch)
        held = asyncio.create_task(tell(running, report(TASK, hold=True)))
        await reports.begun.get()
        running.service.servers.close()
        assert (await held).json() == {"stop": []}


async def test_jupyterhub_is_not_asked_about_each_report(tmp_path: Path) -> None:
    async with service(tmp_path, [NOON]) as running:
        clock = [0.0]
        running.service.people._now = lambda: clock[0]
        for _ in range(9):
            clock[0] += 31
            assert (await tell(running, report(TASK))).status_code == 200
        assert running.hub.asked == ["ada-token"]
        # Where money is spent, what it says is newer.
        await running.json("api/usage")
        assert running.hub.asked == ["ada-token"] * 2
        running.hub.people["ada-token"]["scopes"] = ()
        clock[0] += 301
        assert (await tell(running, report(TASK))).status_code == 403
        assert USE not in str(running.service.servers.all)


@pytest.mark.parametrize("with_users", [False, True])
async def test_metrics_count_servers_and_tasks(tmp_path: Path, with_users: bool) -> None:
    text = f"{TEXT}\n    metrics_with_users: {'true' if with_users else 'false'}\n"
    clock = [NOON]
    async with service(tmp_path, clock, text) as running:
        await tell(running, report(TASK, {**TASK, "id": "task-2", "work": "waiting"}))
        await tell(running, report({**TASK, "id": "task-3"}), "bob-token")
        told = (await running.get("metrics", "root-token")).text.splitlines()
        if with_users:
            assert 'hdsp_agent_hub_reporting_servers{user="ada"} 1.0' in told
            assert 'hdsp_agent_hub_tasks{state="running",user="bob"} 1.0' in told
        else:
            assert 'hdsp_agent_hub_reporting_servers{user=""} 2.0' in told
            assert 'hdsp_agent_hub_tasks{state="running",user=""} 2.0' in told
            assert 'hdsp_agent_hub_tasks{state="waiting",user=""} 1.0' in told
            assert not any("ada" in line or "task-1" in line for line in told)
        clock[0] += 61
        told = (await running.get("metrics", "root-token")).text.splitlines()
        assert not any(line.startswith("hdsp_agent_hub_tasks{") and not line.endswith(" 0.0") for line in told)
