"""Sharing from a person's server: they are told what goes, the service keeps it, and others of the hub read it."""

from __future__ import annotations

from pathlib import Path

import httpx2
import pytest

from hdsp_agent.comm import Owner
from hdsp_agent.comm.hub_links import HubLinks
from hdsp_agent.comm.services import Services
from tests._helpers.jupyter_fetch import Fetch
from tests.comm._helpers.stored_tasks import keep
from tests.comm.rest.test_checkpoints import NOBODY, get, post, refusal

from ._helpers.browsers import browser
from ._helpers.policy_files import ENVIRONMENT, SMALL
from ._helpers.running import RunningService, running_service

KEY = "sk-ant-api03-" + "Ab3" * 31 + "AA"


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)


def connect(services: Services, url: str, token: str = "ada-token") -> None:
    services.hub_links.__init__(url, token)  # type: ignore[misc]  # where the service is, is known only now


async def opened(running: RunningService, url: str, token: str) -> httpx2.Response:
    running.hub.browser = token
    async with browser(running) as one:
        return await one.get(httpx2.URL(running.url).join(url))


async def test_a_person_sees_what_goes_and_shares_it(
    services: Services, jp_fetch: Fetch, tmp_path: Path, storage_dir: Path
) -> None:
    task = await keep(services, f"Plot the sales with {KEY}", "The mean is **4**.")
    async with running_service(tmp_path, SMALL) as running:
        connect(services, running.url)
        offer = await get(jp_fetch, "tasks", task, "share")
        assert (offer["available"], offer["messages"], offer["groups"], offer["mostDays"]) == (
            True,
            2,
            ["students"],
            90,
        )
        assert (offer["links"], offer["mostLinks"], offer["page"]) == (0, 20, "/services/hdsp-agent/shared")
        link = await post(jp_fetch, "tasks", task, "share", groups=["students"], days=7)
        seen = await opened(running, link["url"], "bob-token")
        assert "The mean is <strong>4</strong>." in seen.text and KEY not in seen.text
        assert (await opened(running, link["url"], "tess-token")).status_code == 404
        assert link["ends"] / 1000 - running.service.time() == pytest.approx(7 * 86_400, abs=600)
        assert (await get(jp_fetch, "tasks", task, "share"))["links"] == 1
        await services.audit.stop()
        assert '"export", "via": "POST tasks/{task}/share"' in (storage_dir / "audit.jsonl").read_text()


async def test_what_cannot_be_shared_is_said(services: Services, jp_fetch: Fetch, tmp_path: Path) -> None:
    task = await keep(services, "Plot the sales")
    empty = await keep(services)
    share = ("tasks", task, "share")
    assert await get(jp_fetch, *share) == {**await get(jp_fetch, *share), "available": False}
    assert await refusal(post(jp_fetch, *share, everybody=True)) == (501, "unsupported")
    assert await refusal(get(jp_fetch, "tasks", NOBODY, "share")) == (404, "unknown_task")
    async with running_service(tmp_path, SMALL + "    sharing: {links: 1}\n") as running:
        connect(services, running.url)
        assert await refusal(get(jp_fetch, "tasks", empty, "share")) == (400, "invalid_input")
        assert await refusal(post(jp_fetch, *share)) == (400, "invalid_input")
        assert await refusal(post(jp_fetch, *share, everybody=True, people=["bob"])) == (400, "invalid_input")
        assert await refusal(post(jp_fetch, *share, everybody=True, days=91)) == (400, "invalid_input")
        await post(jp_fetch, *share, everybody=True)
        assert await refusal(post(jp_fetch, *share, everybody=True)) == (409, "conflict")
        connect(services, running.url, "unknown-token")
        assert await refusal(get(jp_fetch, *share)) == (403, "not_allowed")
    connect(services, running.url)
    assert await refusal(get(jp_fetch, *share)) == (503, "unavailable")
    assert not HubLinks("", "token").is_there and not HubLinks("http://hub", "").is_there


async def test_a_guest_shares_nothing_in_the_name_of_the_servers_owner(
    services: Services, jp_fetch: Fetch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = await keep(services, "Plot the sales", user="guest")
    monkeypatch.setattr("hdsp_agent.comm.rest._share.owner_of", lambda handler: Owner("guest"))
    async with running_service(tmp_path, SMALL) as running:
        connect(services, running.url)
        assert (await get(jp_fetch, "tasks", task, "share"))["available"] is False
        assert await refusal(post(jp_fetch, "tasks", task, "share", everybody=True)) == (403, "not_allowed")
        assert (await running.json("api/shared"))["links"] == []
