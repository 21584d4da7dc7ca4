"""Requests to models that are not passed on: of whom, to which models, how large, and what cannot be counted."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx2
import pytest

from .._helpers.model_server import raw_server
from ._helpers.policy_files import KEY
from ._helpers.proxied_models import CHAT, policies
from ._helpers.running import RunningService, running_service


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_KEY", KEY)


@pytest.mark.parametrize(
    ("token", "status", "told"),
    [
        ("", 401, "JupyterHub does not know this token"),
        ("nobodys-token", 401, "JupyterHub does not know this token"),
        ("two words", 401, "JupyterHub does not know this token"),
        ("weak-token", 403, "may not use models"),
        ("service-token", 403, "may not use models"),
        ("eves-token", 403, "may not use models"),
    ],
)
async def test_only_people_with_the_scope_come_through(tmp_path: Path, token: str, status: int, told: str) -> None:
    async with raw_server(CHAT) as server, running_service(tmp_path, policies(server)) as running:
        running.hub.add("weak-token", "ada", scopes=("access:servers!user=ada",))
        running.hub.add("service-token", "grader", kind="service")
        running.hub.add("eves-token", "eve", scopes=("custom:hdsp-agent:use!user=ada",))
        answer = await running.chat(token)
        assert answer.status_code == status and told in answer.json()["error"]["message"]
        assert answer.headers["x-should-retry"] == "false"
        assert server.requests == []


@pytest.mark.parametrize(("path", "told"), [("openai/v1/responses", b"401"), ("health", b"400")])
async def test_no_large_body_is_read_of_somebody_unknown(tmp_path: Path, path: str, told: bytes) -> None:
    async with raw_server(CHAT) as server, running_service(tmp_path, policies(server)) as running:
        address = httpx2.URL(running.url)
        reader, writer = await asyncio.open_connection(address.host, address.port)
        writer.write(f"POST {address.path}{path} HTTP/1.1\r\nHost: hub\r\nContent-Length: 60000000\r\n\r\n".encode())
        assert told in await reader.readline()
        writer.close()


async def test_large_requests_wait_for_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hdsp_agent.hub.model_proxy._MOST_BODIES", 1_000)
    async with raw_server(CHAT) as server, running_service(tmp_path, policies(server)) as running:
        large = await running.chat(stream=True, messages=[{"role": "user", "content": "x" * 1_000}])
        assert large.status_code == 503 and large.headers["x-should-retry"] == "true"
        # What has ended takes no room.
        assert [(await running.chat(stream=True)).status_code for _ in range(20)] == [200] * 20
        # Nor does one whose client goes in the middle of its body.
        address = httpx2.URL(running.url)
        _, writer = await asyncio.open_connection(address.host, address.port)
        head = f"POST {address.path}openai/v1/responses HTTP/1.1\r\nHost: hub\r\nContent-Length: 900\r\n"
        writer.write(f"{head}Authorization: Bearer ada-token\r\n\r\n{{".encode())
        assert await becomes(900, running)
        writer.close()
        assert await becomes(0, running)


async def becomes(size: int, running: RunningService) -> bool:
    """Whether the bodies take so much room soon."""
    for _ in range(1200):
        if running.service.body_bytes == size:
            return True
        await asyncio.sleep(0.05)
    return False


async def test_a_scope_for_ones_own_server_is_enough(tmp_path: Path) -> None:
    async with raw_server(CHAT) as server, running_service(tmp_path, policies(server)) as running:
        running.hub.add("server-token", "ada", scopes=("custom:hdsp-agent:use!server=ada/",))
        assert (await running.chat("server-token", stream=True)).status_code == 200


async def test_the_hub_is_asked_once_for_many_requests(tmp_path: Path) -> None:
    async with raw_server(CHAT) as server, running_service(tmp_path, policies(server)) as running:
        await asyncio.gather(*(running.chat(stream=True) for _ in range(10)))
        assert running.hub.asked == ["ada-token"]


async def test_a_hub_that_does_not_answer_is_told(tmp_path: Path) -> None:
    async with raw_server(CHAT) as server, running_service(tmp_path, policies(server)) as running:
        running.service.people._url = "http://127.0.0.1:1/hub/api/user"
        answer = await running.chat(stream=True)
        assert answer.status_code == 503 and "JupyterHub could not be asked" in answer.json()["error"]["message"]
        assert answer.headers["x-should-retry"] == "true" and server.requests == []


async def test_policies_that_change_under_way_leave_a_request_as_it_was(tmp_path: Path) -> None:
    async with raw_server(CHAT) as server, running_service(tmp_path, policies(server)) as running:
        running.hub.delay = asyncio.Event()
        asked = asyncio.create_task(running.chat(stream=True))
        while not running.hub.asked:
            await asyncio.wait([asked], timeout=0.05)
        running.policies.write_text(running.policies.read_text().replace("qwen3", "qwen4"))
        await running.service.policies.read_again()
        running.hub.delay.set()
        assert (await asked).status_code == 403
        assert (await running.chat(model="qwen4", stream=True)).status_code == 200


async def test_other_models_are_refused_with_those_that_are_allowed(tmp_path: Path) -> None:
    async with raw_server(CHAT) as server, running_service(tmp_path, policies(server)) as running:
        for model in ("other", "unheard-of", "claude-sonnet-5-5"):
            error = (await running.chat(model=model)).json()["error"]
            assert error["message"] == (
                f"You may not use the model {model} here. Allowed: qwen3, claude-sonnet-5-5. Ask the course team."
            )
            assert error["code"] == "model_not_allowed"
        listed = [model.id async for model in running.openai().models.list()]
        assert listed == ["qwen3"]
        assert [model.id async for model in running.anthropic().models.list()] == ["claude-sonnet-5-5"]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"{", "The body is not JSON."),
        (b"[" * 100_000, "The body is not JSON."),
        (b"[]", "The body is not a JSON object."),
        (b"{}", "The field model is missing."),
        (b'{"model": "qwen3", "background": true}', "Leave out the field background."),
        (b'{"model": "qwen3", "service_tier": "priority"}', "Leave out the field service_tier."),
        (b'{"model": "qwen3", "service_tier": ["x"]}', "Leave out the field service_tier."),
        (b'{"model": "qwen3", "speed": "fast"}', "Leave out the field speed."),
        (b'{"model": "qwen3", "store": true}', "Leave out the field store."),
        (b'{"model": "qwen3", "previous_response_id": "r"}', "Leave out the field previous_response_id."),
        (b'{"model": "qwen3", "conversation": "c"}', "Leave out the field conversation."),
        (b'{"model": "qwen3", "prompt": {"id": "p"}}', "Leave out the field prompt."),
        (b'{"model": "qwen3", "Background": true}', "Write the field Background in small letters."),
        (b'{"model": "qwen3", "n": 1000}', "The field n must be a number from 1 to 128."),
        (b'{"model": "qwen3", "temperature": 1e999}', "The body is not JSON."),
    ],
)
async def test_what_cannot_be_counted_is_refused(tmp_path: Path, body: bytes, told: str) -> None:
    async with raw_server(CHAT) as server, running_service(tmp_path, policies(server)) as running:
        answer = await running.http.post(
            f"{running.url}openai/v1/responses", headers={"Authorization": "Bearer ada-token"}, content=body
        )
        assert answer.status_code == 400 and told in answer.json()["error"]["message"]


async def test_other_addresses_and_methods_lead_nowhere(tmp_path: Path) -> None:
    async with raw_server(CHAT) as server, running_service(tmp_path, policies(server)) as running:
        for path in (
            "openai/v1/files",
            "openai/v1/responses/resp_1",
            "anthropic/v1/messages/batches",
            "static/..%2fpages.py",
            "api/config/",
        ):
            assert (await running.get(path)).status_code == 404, path
        assert (await running.get("openai/v1/responses")).status_code == 405
        assert (await running.get("health", "")).json() == {"status": "ok"}
        assert server.requests == []
