"""The pages for administrators: who gets in, what they show, and that nothing in them is taken for markup."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import httpx2
import pytest

from hdsp_agent.hub.usage_store import Amounts, RequestEnd, RequestStart

from .._helpers.model_server import Reply, raw_server, refusal, sse_events
from ._helpers.browsers import browser
from ._helpers.policy_files import write
from ._helpers.running import USE, RunningService, running_service

NOON = datetime(2026, 3, 31, 12, 0, tzinfo=UTC).timestamp()
EVIL = '<script>alert("1")</script>'
TEXT = """
    providers:
      far:
        protocol: openai
        url: {url}/v1
        models:
          qwen3: {{input_price: 1000, output_price: 2000}}
    budgets:
      - {{money: 500, period: month, per: all}}
    default:
      models: ["*"]
    groups:
      students:
        models: [qwen3]
        budgets:
          - {{tokens: 1000, period: day, per: user}}
        fixed: {{autoApprovalEnabled: false}}
        limits: {{allowed_modes: [ask, code]}}
"""
USED = refusal("200 OK", {"choices": [], "usage": {"prompt_tokens": 40, "completion_tokens": 10}})
REFUSED = refusal("400 Bad Request", {"error": {"code": "context_length_exceeded", "message": "Too long: my words."}})
PAGES = ("", "usage.csv", "person?name=ada", "running", "storage", "storage.csv", "policies", "status", "audit")


async def page(one: httpx2.AsyncClient, path: str = "") -> str:
    answer = await one.get(path)
    assert answer.status_code == 200, answer.text
    return answer.text


@asynccontextmanager
async def used_service(folder: Path) -> AsyncIterator[RunningService]:
    """One that Ada, Bob and somebody with a strange name have used."""
    async with (
        raw_server(USED, USED, USED, REFUSED) as server,
        running_service(folder, TEXT.format(url=server.url), now=lambda: NOON) as running,
    ):
        running.hub.add("evil-token", EVIL)
        for token in ("ada-token", "bob-token", "evil-token", "ada-token"):
            await running.chat(token)
            await running.settled()
        yield running


def start_of(person: str) -> RequestStart:
    return RequestStart(NOON, person, "default", "far", "qwen3", "chat", Amounts(1, 0.0))


async def test_an_administrator_logs_in_through_the_hub_and_sees_all(tmp_path: Path) -> None:
    async with used_service(tmp_path) as running, browser(running) as root:
        usage = await page(root)
        for seen in (
            ">ada</a>", ">bob</a>", "<td>students</td>", "context_length_exceeded", "US$0.1800",
            "0.1800 in all. The most was 0.1800 on 2026-03-31.", "<title>2026-03-31 · Cost: 0.1800</title>",
            "&lt;script&gt;alert(&#34;1&#34;)&lt;/script&gt;",
        ):  # fmt: skip
            assert seen in usage
        policies = await page(root, "policies")
        for seen in (
            "1,000 tokens",
            "US$500.00",
            "autoApprovalEnabled: false",
            "allowed_modes: [&#34;ask&#34;, &#34;code&#34;]",
        ):
            assert seen in policies
        assert re.search(r"name=bob\">bob</a></th><td>students</td>", policies)
        assert "<dt>Estimated or reserved</dt><dd>0</dd>" in usage
        ada = await page(root, "person?name=ada")
        assert (
            "Policy: students." in ada
            and "50 (5%)" in ada
            and "<td>All</td>" in ada
            and "<td>*</td>" not in ada
            and ">bob<" not in ada
        )
        status = await page(root, "status")
        for seen in (
            "Answers, version 6.1.1",
            "usage.db",
            "context_length_exceeded",
            "3 in the past ten minutes",
        ):
            assert seen in status
        audit = await page(root, "audit")
        assert audit.count("<td>root</td>") == 5 and "hub page policies" in audit
        assert "hub page person ada" in audit
        everything = usage + policies + ada + status + audit
        assert "<script" not in everything and "style=" not in everything
        # Neither what was asked nor what was answered is anywhere.
        assert "Hello" not in everything and "my words" not in everything


async def test_pages_are_searched_and_sorted_and_downloaded(tmp_path: Path) -> None:
    async with used_service(tmp_path) as running, browser(running) as root:
        assert ">bob</a>" not in await page(root, "?q=AD") and ">ada</a>" in await page(root, "?q=AD&model=WEN")
        assert "Nothing found." in await page(root, "?model=none")
        assert "Nothing in this time." in await page(root, "?until=2026-02-01")
        by_name = await page(root, "?sort=user")
        assert by_name.index(">ada</a>") < by_name.index(">bob</a>")
        rows = list(csv.DictReader(io.StringIO(await page(root, "usage.csv?q=ada"))))
        assert [(row["user"], row["requests"], row["last_error"]) for row in rows] == [
            ("ada", "2", "context_length_exceeded")
        ]
        # The file has what the table has, also where letters have accents.
        await running.service.store.start(start_of("Émile"))
        for q in ("émi", "ÉMI"):
            assert (">Émile</a>" in await page(root, f"?q={q}")) == ("Émile" in await page(root, f"usage.csv?q={q}"))
        assert "<dt>Estimated or reserved</dt><dd>1</dd>" in await page(root, "?q=mile")
        for days in (
            "?since=yesterday",
            "?since=2020-01-01",
            "?since=9999-12-31",
            "?since=2026-03-31&until=2026-03-01",
        ):
            assert (await root.get(days)).status_code == 400


async def test_a_long_table_comes_in_parts(tmp_path: Path) -> None:
    async with used_service(tmp_path) as running, browser(running) as root:
        for number in range(100):
            await running.service.store.start(start_of(f"one-{number:03}"))
        first = await page(root, "?q=one&sort=user")
        assert "Part 1 of" not in first and "1–100 of 100" in first
        last = await page(root, "?sort=user&part=2")
        assert "Part 2 of 2" in last and "101–103 of 103" in last and ">one-099</a>" in last and ">ada</a>" not in last
        assert "101–103 of 103" in await page(root, "policies?part=2")


async def test_nobody_else_gets_in(tmp_path: Path) -> None:
    async with used_service(tmp_path) as running:
        running.hub.browser = "ada-token"
        async with browser(running) as ada:
            for path in PAGES:
                answer = await ada.get(path)
                assert (
                    answer.status_code == 403 and "custom:hdsp-agent:admin" in answer.text and "bob" not in answer.text
                )
            assert "hdsp-agent-hub" not in ada.cookies
            for stop in ("running/stop-request", "running/stop-task"):
                answer = await ada.post(stop, data={"request": "1", "person": "bob", "server": "s", "task": "t"})
                assert answer.status_code == 403
        assert not (tmp_path / "data/audit.jsonl").exists()


async def test_a_log_in_belongs_to_the_browser_that_began_it(tmp_path: Path) -> None:
    async with used_service(tmp_path) as running, browser(running) as one, browser(running) as other:
        begun = await one.get("", follow_redirects=False)
        assert (await other.get("", follow_redirects=False)).status_code == 302
        allowed = await one.get(begun.headers["location"], follow_redirects=False)
        answer = await other.get(allowed.headers["location"])
        assert answer.status_code == 403 and "hdsp-agent-hub" not in other.cookies
        assert (await one.get("oauth_callback?state=&code=")).status_code == 403


async def test_strangers_push_nobodys_log_in_out(tmp_path: Path) -> None:
    async with used_service(tmp_path) as running, browser(running) as root:
        begun = await root.get("person?name=bob", follow_redirects=False)
        login = running.service.login
        assert login is not None
        for _ in range(10_000):
            login.begin("stranger", "/")
        assert "<h1>bob</h1>" in await page(root, begun.headers["location"])


async def test_an_address_that_is_too_long_leads_to_the_first_page(tmp_path: Path) -> None:
    async with used_service(tmp_path) as running, browser(running) as root:
        begun = await root.get(f"person?name=bob&more={'x' * 20_000}", follow_redirects=False)
        assert len(begun.headers["location"]) < 1_000
        assert "<h1>Usage</h1>" in await page(root, begun.headers["location"])


async def test_browsers_keep_other_pages_from_reading_and_changing(tmp_path: Path) -> None:
    async with used_service(tmp_path) as running, browser(running) as root:
        shown = await root.get("")
        cookie = next(line for line in shown.history[-1].headers.get_list("set-cookie") if "hdsp-agent-hub=" in line)
        assert "HttpOnly" in cookie and "SameSite=Lax" in cookie and "Path=/services/hdsp-agent/" in cookie
        assert shown.headers["cross-origin-opener-policy"] == "noopener-allow-popups"
        policy = shown.headers["content-security-policy"]
        assert "default-src 'none'; img-src 'none'; style-src 'self';" in policy and "frame-ancestors 'none'" in policy
        for headers in ({"Sec-Fetch-Mode": "cors"}, {"Sec-Fetch-Mode": "same-origin"}, {"Sec-Fetch-Dest": "iframe"}):
            for path in PAGES:
                assert (await root.get(path, headers=headers)).status_code == 403
        for form in ({}, {"xsrf": "guess"}):
            for stop in ("running/stop-request", "running/stop-task"):
                assert (await root.post(stop, data={"request": "1", **form})).status_code == 403


async def test_what_the_hub_takes_back_is_over(tmp_path: Path) -> None:
    async with used_service(tmp_path) as running, browser(running) as root:
        await page(root)
        running.service.people._known.clear()
        running.hub.people["root-token"]["scopes"] = (USE,)
        assert (await root.get("")).status_code == 403


async def test_a_request_under_way_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    began, ending, may_end = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def endlessly(reply: Reply) -> None:
        await reply.begin()
        await reply.send(sse_events({"choices": [{"index": 0, "delta": {"content": "Hi"}}]}))
        began.set()
        await asyncio.Event().wait()

    async with raw_server(endlessly) as server, running_service(tmp_path, TEXT.format(url=server.url)) as running:
        store = running.service.store
        end = store.end

        async def end_late(number: int, what: RequestEnd) -> None:
            ending.set()
            await may_end.wait()
            await end(number, what)

        monkeypatch.setattr(store, "end", end_late)
        # What looks like a place in a text is a name.
        running.hub.add("strange-token", "%2")
        asked = asyncio.create_task(running.chat("strange-token", stream=True))
        await began.wait()
        async with browser(running) as root:
            status = await page(root, "running")
            assert "Stop the request of %2 to qwen3" in status
            form = dict(re.findall(r'name="(xsrf|request)" value="([^"]+)"', status))
            stopping = asyncio.create_task(root.post("running/stop-request", data=form))
            await ending.wait()
            status = await page(root, "running")
            is_early = stopping.done()
            may_end.set()
            assert "Stop the request" in status and not is_early
            stopped = await stopping
            assert stopped.status_code == 200 and "The request is being stopped." in stopped.text
            assert "Stop the request" not in stopped.text
            with pytest.raises(httpx2.RemoteProtocolError):
                await asked
            await running.settled()
            again = await root.post("running/stop-request", data=form)
            assert "That request had already ended." in again.text and "Stop the request" not in again.text
        lines = [json.loads(line) for line in (tmp_path / "data/audit.jsonl").read_text().splitlines()]
        assert [(line["user"], line["via"]) for line in lines if line["action"] == "change"] == [
            ("root", "hub stop request of %2")
        ]


@pytest.mark.parametrize(("code", "title"), [("ko", "감사 로그"), ("ja", "監査ログ")])
async def test_pages_speak_the_language_of_the_browser(tmp_path: Path, code: str, title: str) -> None:
    async with used_service(tmp_path) as running, browser(running, **{"Accept-Language": code}) as root:
        shown = await page(root, "audit")
        assert f'<html lang="{code}">' in shown and f">{title}</h1>" in shown


async def test_people_without_a_policy_are_shown(tmp_path: Path) -> None:
    text = re.sub(r"(?m)^    default:\n.*\n", "", TEXT).format(url="http://127.0.0.1:1")
    async with running_service(tmp_path, text) as running, browser(running) as root:
        assert (await running.chat("tess-token")).status_code == 403
        assert re.search(r"name=tess\">tess</a></th><td>None: no models</td>", await page(root, "policies"))


async def test_mistakes_in_the_policies_are_shown(tmp_path: Path) -> None:
    async with used_service(tmp_path) as running, browser(running) as root:
        write(tmp_path, "providers: 7")
        await running.service.policies.read_again()
        for path in ("policies", "status"):
            assert "line 1: providers" in await page(root, path)
