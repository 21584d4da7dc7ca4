"""The service in a real JupyterHub, behind its proxy, with two people and an administrator."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests._helpers.free_port import free_port
from tests._helpers.long_tests import rounds
from tests._helpers.model_server import RawServer, Reply, raw_server, refusal, sse, sse_events
from tests._helpers.real_hub import RealHub, running_hub
from tests.cli._helpers.homes import PROGRAM

from ._helpers.policy_files import KEY, write
from ._helpers.running import ADMIN, USE

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(rounds(0, 1) == 0, reason="make test-long installs JupyterHub and its proxy"),
]

_SERVICE = "/services/hdsp-agent/"
_POLICIES = """
    time_zone: Asia/Seoul
    ask: "Ask the course team."
    providers:
      far:
        protocol: openai
        url: {url}/v1
        key_env: A_KEY
        models:
          qwen3: {{input_price: 1, output_price: 1, context_window: 100000}}
    groups:
      students:
        models: [qwen3]
        budgets:
          - {{tokens: {limit}, period: month, per: user}}
"""
_CONFIG = """
c.Spawner.poll_interval = 1
c.JupyterHub.custom_scopes = {{
    "{use}": {{"description": "Use models through the hub service"}},
    "{admin}": {{"description": "See what everybody used"}},
}}
c.Spawner.server_token_scopes = ["users:activity!user", "access:servers!server", "{use}"]
c.JupyterHub.load_groups = {{"students": {{"users": ["ada", "bob"]}}, "staff": {{"users": ["root", "tess"]}}}}
c.JupyterHub.load_roles += [
    {{"name": "user", "scopes": ["self", "{use}"]}},
    {{"name": "usage", "users": ["root"], "scopes": ["{admin}", "access:services!service=hdsp-agent"]}},
    {{"name": "curious", "users": ["bob", "tess"], "scopes": ["access:services!service=hdsp-agent"]}},
    {{"name": "look", "services": ["tests"], "scopes": ["read:services"]}},
]
c.JupyterHub.services += [{{
    "name": "hdsp-agent",
    "url": "http://127.0.0.1:{port}",
    "command": [{python!r}, "-m", "hdsp_agent.cli", "hub", "--policies", {policies!r}, "--data", {data!r}],
    "environment": {{"A_KEY": {key!r}}},
    "oauth_client_allowed_scopes": ["{admin}"],
    "oauth_no_confirm": True,
}}]
"""
_DONE = {"name": "attempt_completion", "arguments": json.dumps({"result": "It is done."})}
_USAGE = {"choices": [], "usage": {"prompt_tokens": 900, "completion_tokens": 100}}


async def model(reply: Reply) -> None:
    """Ends each task at once; asked without tools it says Hi, and says it for ever if asked to."""
    body = reply.request.body
    if reply.request.headers.get("authorization") != f"Bearer {KEY}":
        await reply.send(refusal("401 Unauthorized", {"error": {"message": "Who is that?"}}))
    elif "for ever" in str(body["messages"][-1]["content"]):
        await reply.begin()
        await reply.send(sse_events({"choices": [{"index": 0, "delta": {"content": "Hi"}}]}))
        await asyncio.Event().wait()
    elif "tools" in body:
        call = {"index": 0, "id": "c1", "type": "function", "function": _DONE}
        end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}
        await reply.send(sse({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}, end, _USAGE, "[DONE]"))
    else:
        await reply.send(
            sse({"choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": "stop"}]}, _USAGE, "[DONE]")
        )


class People:
    """What people of the hub ask."""

    def __init__(self, hub: RealHub, direct: str, http: httpx2.AsyncClient) -> None:
        self.hub = hub
        self._direct = direct
        self._http = http

    async def get(self, path: str, token: str) -> httpx2.Response:
        return await self._http.get(f"{self.hub.url}{path}", headers={"Authorization": f"token {token}"})

    async def post(self, path: str, token: str, body: object) -> httpx2.Response:
        return await self._http.post(
            f"{self.hub.url}{path}", headers={"Authorization": f"token {token}"}, content=json.dumps(body)
        )

    async def delete(self, path: str, token: str) -> httpx2.Response:
        return await self._http.delete(f"{self.hub.url}{path}", headers={"Authorization": f"token {token}"})

    async def usage(self, token: str) -> Any:
        answer = await self.get(f"{_SERVICE}api/usage", token)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def until(self, token: str, holds: Callable[[Any], bool]) -> Any:
        """Their use, once the service is there and this holds."""
        for _ in range(1200):
            answer = await self.get(f"{_SERVICE}api/usage", token)
            if answer.status_code == 200 and holds(answer.json()):
                return answer.json()
            await asyncio.sleep(0.1)
        raise AssertionError(f"the service did not come so far: {answer.status_code} {answer.text}")

    def chat(self, token: str, text: str = "Hello", most: int = 100, *, directly: bool = False) -> Any:
        address = self._direct if directly else self.hub.url + _SERVICE
        body = {"model": "qwen3", "stream": True, "max_tokens": most, "messages": [{"role": "user", "content": text}]}
        return self._http.stream(
            "POST", f"{address}openai/v1/chat/completions",
            headers={"Authorization": f"Bearer {token}"}, json=body,
        )  # fmt: skip


async def test_people_of_a_hub_have_models_without_keys(tmp_path: Path) -> None:
    async with raw_server(model) as server, httpx2.AsyncClient(trust_env=False, timeout=120) as http:
        policies = write(tmp_path, _POLICIES.format(url=server.url, limit=1500))
        port = free_port()
        direct = f"http://127.0.0.1:{port}{_SERVICE}"
        config = _CONFIG.format(
            use=USE,
            admin=ADMIN,
            port=port,
            python=sys.executable,
            policies=str(policies),
            data=str(tmp_path / "data"),
            key=KEY,
        )
        settings = {
            "ServerApp": {"jpserver_extensions": {"hdsp_agent": True, "jupyter_server_terminals": False}},
            "HdspAgentApp": {
                "hub_service_url": direct,
                "default_provider": "openai",
                "default_model": "qwen3",
                # However busy the machine is.
                "keyring_timeout": 30.0,
            },
        }
        async with running_hub(tmp_path, settings, people=("ada", "bob", "tess"), config=config) as hub:
            await asyncio.gather(hub.start("ada"), hub.start("bob"))
            people = People(hub, direct, http)
            ada, bob = [(await hub.environment(person))["JUPYTERHUB_API_TOKEN"] for person in ("ada", "bob")]
            await _the_agent_works_in_a_terminal(hub, server, tmp_path / "ada/project")
            await _the_panel_lists_the_models(people)
            await _each_sees_their_own(people, ada, bob)
            await _only_the_administrator_sees_all(people, ada)
            await _administrators_alone_sign_in_to_the_pages(hub)
            await _tokens_without_the_scope_are_refused(people)
            links = await _a_conversation_is_shared(people, tmp_path)
            await _a_budget_is_reached_and_raised(people, ada, policies, server.url, tmp_path / "ada/project")
            await _a_killed_service_comes_again_and_has_lost_nothing(people, bob)
            await _each_reads_what_is_for_them(hub, links)
            await _a_link_is_taken_back(people, ada, links, hub)


async def _the_agent_works_in_a_terminal(hub: RealHub, server: RawServer, folder: Path) -> None:
    environment = await hub.environment("ada")
    assert KEY not in environment.values()
    code, told = await _run(environment, folder)
    assert code == 0, told
    assert server.requests[-1].headers["authorization"] == f"Bearer {KEY}"


async def _run(environment: dict[str, str], folder: Path) -> tuple[int, str]:
    process = await asyncio.create_subprocess_exec(
        *PROGRAM, "run", "--json", "Say that it is done.",
        cwd=folder, env=environment, stdin=DEVNULL, stdout=PIPE, stderr=PIPE,
    )  # fmt: skip
    out, err = await process.communicate()
    return process.returncode or 0, (out + err).decode()


async def _the_panel_lists_the_models(people: People) -> None:
    token, _ = await people.hub.token("ada", "access:servers!user=ada")
    answer = await people.get("/user/ada/hdsp-agent/api/models?profile=default", token)
    assert answer.status_code == 200, answer.text
    assert "qwen3" in answer.text and "100000" in answer.text
    told = (await people.get("/user/ada/hdsp-agent/api/secrets", token)).text
    assert KEY not in told and (await people.hub.environment("ada"))["JUPYTERHUB_API_TOKEN"] not in told


async def _each_sees_their_own(people: People, ada: str, bob: str) -> None:
    usage = await people.usage(ada)
    assert (usage["user"], usage["group"]) == ("ada", "students")
    assert [(row["model"], row["tokens_in"], row["tokens_out"]) for row in usage["usage"]] == [("qwen3", 900, 100)]
    assert (await people.usage(bob))["usage"] == []
    assert (await people.get(f"{_SERVICE}api/config/ada", bob)).status_code == 403
    assert (await people.get(f"{_SERVICE}api/config/bob", bob)).status_code == 200


async def _only_the_administrator_sees_all(people: People, ada: str) -> None:
    root, _ = await people.hub.token("root", ADMIN)
    rows = (await people.get(f"{_SERVICE}api/admin/usage", root)).json()["usage"]
    assert [(row["user"], row["requests"]) for row in rows] == [("ada", 1)]
    assert (await people.get(f"{_SERVICE}metrics", root)).status_code == 200
    for path in ("api/admin/usage", "metrics"):
        assert (await people.get(_SERVICE + path, ada)).status_code == 403


async def _administrators_alone_sign_in_to_the_pages(hub: RealHub) -> None:
    for person, status, told in (("root", 200, ">ada</a>"), ("bob", 403, ADMIN), ("ada", 403, "")):
        async with httpx2.AsyncClient(trust_env=False, timeout=60, follow_redirects=True) as browser:
            form = await browser.get(hub.url + _SERVICE)
            assert "/hub/login" in str(form.url)
            login = {"username": person, "password": "any", "_xsrf": browser.cookies.get("_xsrf", path="/hub/") or ""}
            shown = await browser.post(form.url, data=login)
            assert shown.status_code == status and told in shown.text
            if status == 200:
                assert (await browser.get(f"{hub.url}{_SERVICE}policies")).status_code == 200
                await browser.get(f"{hub.url}/hub/logout")
            else:
                assert ">ada</a>" not in shown.text


async def _tokens_without_the_scope_are_refused(people: People) -> None:
    weak, _ = await people.hub.token("ada", "access:servers!user=ada")
    for token, status in ((weak, 403), ("none", 401)):
        async with people.chat(token) as answer:
            assert answer.status_code == status


async def _a_conversation_is_shared(people: People, folder: Path) -> list[Any]:
    """By Ada's server: one link for her group, one for staff."""
    token, _ = await people.hub.token("ada", "access:servers!user=ada")
    server = "/user/ada/hdsp-agent/api"
    [task, *_] = (await people.get(f"{server}/history", token)).json()["taskHistory"]
    offer = await people.get(f"{server}/tasks/{task['id']}/share", token)
    assert offer.status_code == 200 and offer.json()["groups"] == ["students"], offer.text
    links = []
    for group in ("students", "staff"):
        made = await people.post(f"{server}/tasks/{task['id']}/share", token, {"groups": [group], "days": 3})
        assert made.status_code == 201, made.text
        links.append(made.json()["url"])
    await _each_reads_what_is_for_them(people.hub, links)
    lines = [json.loads(line) for line in (folder / "data/audit.jsonl").read_text().splitlines()]
    opened = {(line["user"], line["via"]) for line in lines if line["via"].startswith("hub open link")}
    assert opened == {
        ("bob", "hub open link 1 of ada"), ("tess", "hub open link 2 of ada"), ("root", "hub open link 2 of ada"),
    }  # fmt: skip
    return links


async def _each_reads_what_is_for_them(hub: RealHub, links: list[Any]) -> None:
    for person, may in (("bob", (True, False)), ("tess", (False, True)), ("root", (False, True))):
        async with signed_in(hub, links[0], person) as browser:
            for link, is_for_them in zip(links, may, strict=True):
                seen = await browser.get(hub.url + link)
                assert seen.status_code == (200 if is_for_them else 404), (person, seen.text)
                assert ("It is done." in seen.text) == is_for_them


async def _a_link_is_taken_back(people: People, ada: str, links: list[Any], hub: RealHub) -> None:
    told = await people.get(f"{_SERVICE}api/shared", ada)
    [number] = [link["number"] for link in told.json()["links"] if link["url"] == links[0]]
    assert (await people.delete(f"{_SERVICE}api/shared/{number}", ada)).status_code == 200
    async with signed_in(hub, links[0], "bob") as browser:
        assert (await browser.get(hub.url + links[0])).status_code == 404


@asynccontextmanager
async def signed_in(hub: RealHub, page: str, person: str) -> AsyncIterator[httpx2.AsyncClient]:
    """A browser that followed a link and typed a name."""
    async with httpx2.AsyncClient(trust_env=False, timeout=60, follow_redirects=True) as browser:
        form = await browser.get(hub.url + page)
        assert "/hub/login" in str(form.url)
        login = {"username": person, "password": "any", "_xsrf": browser.cookies.get("_xsrf", path="/hub/") or ""}
        await browser.post(form.url, data=login)
        yield browser


async def _a_budget_is_reached_and_raised(people: People, ada: str, policies: Path, url: str, folder: Path) -> None:
    async with people.chat(ada) as answer:
        assert answer.status_code == 200 and b"Hi" in await answer.aread()
    code, told = await _run(await people.hub.environment("ada"), folder)
    assert code == 1 and "Your budget of 1,500 tokens a month is used up." in told and "Ask the course team." in told
    write(policies.parent, _POLICIES.format(url=url, limit=200_000))
    await people.until(ada, lambda usage: bool(usage["budgets"][0]["limit"] == 200_000))
    code, told = await _run(await people.hub.environment("ada"), folder)
    assert code == 0, told


async def _a_killed_service_comes_again_and_has_lost_nothing(people: People, bob: str) -> None:
    before = (await people.usage(bob))["budgets"][0]["used"]
    process = (await people.hub.ask("GET", "services/hdsp-agent"))["pid"]
    # The hub's proxy would leave the client waiting: it does not tell when what is behind it is gone.
    async with people.chat(bob, "Say it for ever.", most=5_000, directly=True) as answer:
        pieces = answer.aiter_raw()
        assert b"Hi" in await anext(pieces)
        os.kill(int(str(process)), signal.SIGKILL)
        with pytest.raises(httpx2.RemoteProtocolError):
            await anext(pieces)
    [budget] = (await people.until(bob, lambda usage: True))["budgets"]
    assert before + 5_000 < budget["used"] < before + 5_100 and budget["reserved"] == 0
