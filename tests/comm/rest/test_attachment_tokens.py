"""The tokens of a message that is being written over REST: exact where its model is here, and of nobody else's."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from hdsp_agent.agent import _profile_models
from hdsp_agent.comm.services import Services
from tests._helpers.jupyter_fetch import Fetch
from tests._helpers.model_server import RawServer, Reply, raw_server
from tests._helpers.model_server import refusal as answer
from tests.comm._helpers.stored_tasks import keep

from .test_checkpoints import NOBODY, post, refusal

CELL = {"kind": "cell", "path": "a.ipynb", "cellId": "c1", "label": "Cell 1", "content": "x = 1"}
PAGE = {"kind": "page", "path": "https://example.org/", "label": "A page"}
ABOUT = {"tokens": 22, "isExact": False}


async def llama(reply: Reply) -> None:
    """A llama.cpp server that counts characters."""
    if reply.request.path == "/v1/models":
        await reply.send(answer("200 OK", {"data": [{"id": "coder", "owned_by": "llamacpp"}]}))
    else:
        await reply.send(answer("200 OK", {"tokens": [1] * len(reply.request.body["content"])}))


async def chosen(services: Services, server: RawServer) -> None:
    """A server of the person's own."""
    await services.config.profiles.update(
        "default", {"apiProvider": "openai", "openAiModelId": "coder", "openAiBaseUrl": f"{server.url}/v1"}
    )


async def counted(jp_fetch: Fetch, **asked: object) -> Any:
    return await post(jp_fetch, "attachments", "tokens", **asked)


async def test_a_model_on_this_machine_counts_itself(services: Services, jp_fetch: Fetch, jp_root_dir: Path) -> None:
    (jp_root_dir / "a.txt").write_text("hello\n")
    async with raw_server(llama) as server:
        await chosen(services, server)
        found = await counted(jp_fetch, text="See @/a.txt now", attachments=[CELL, PAGE])
        texts = [request.body["content"] for request in server.requests if request.method == "POST"]
        assert [text.count("\n") for text in texts] == [6, 2]
        assert "1 | hello" in texts[0] and "See" not in texts[0]
        each = {"tokens": len(texts[1]), "isExact": True}
        assert found == {
            "total": {"tokens": len(texts[0]), "isExact": True},
            "isPartial": True,
            "attachments": [each, None],
            "images": [],
        }


async def test_a_model_elsewhere_is_sent_nothing(
    services: Services, jp_fetch: Fetch, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The server of this test is on this machine.
    monkeypatch.setattr(_profile_models, "place_on_this_machine", lambda _: None)
    async with raw_server(llama) as server:
        await chosen(services, server)
        found = await counted(jp_fetch, attachments=[CELL])
        assert found["total"] == found["attachments"][0] == ABOUT
        assert server.requests == []


async def test_without_its_key_it_is_an_estimate(services: Services, jp_fetch: Fetch) -> None:
    async with raw_server(llama) as server:
        await chosen(services, server)
        await services.config.use_storage("file")
        await services.config.set_secret("default", "openAiApiKey", SecretStr("planted-key-0123456789"))
        assert (await counted(jp_fetch, attachments=[CELL]))["total"]["isExact"] is True
        elsewhere = {"openAiBaseUrl": "http://127.0.0.1:9/v1"}
        await services.config.profiles.update("default", elsewhere)
        assert (await counted(jp_fetch, attachments=[CELL]))["total"] == ABOUT


async def test_it_is_of_the_conversation_that_is_named(services: Services, jp_fetch: Fetch) -> None:
    async with raw_server(llama) as server:
        await chosen(services, server)
        task = await keep(services, "Plot it")
        assert (await counted(jp_fetch, task=task, attachments=[CELL]))["total"]["isExact"] is True
        theirs = await keep(services, "Secret", user="somebody else")
        for nobodys in (theirs, NOBODY):
            assert (await refusal(counted(jp_fetch, task=nobodys, attachments=[CELL])))[0] == 404
        named = {"kind": "conversation", "path": theirs, "label": "theirs"}
        await counted(jp_fetch, attachments=[named])
        assert "Secret" not in str([request.content for request in server.requests])


@pytest.mark.parametrize(
    "bad",
    [
        {"attachments": [{**CELL, "kind": "planet"}]},
        {"attachments": [{**CELL, "label": "x" * 1_001}]},
        {"attachments": [{**CELL, "content": 5}]},
        {"attachments": [CELL] * 1_001},
        {"images": ["https://example.org/a.png"]},
        {"images": ["data:image/png;base64,AAAA"] * 21},
        {"task": "../etc"},
        {"notebook": ""},
        {"text": "x" * 1_000_001},
        {"words": "x"},
    ],
)
async def test_what_no_page_sends_is_refused(services: Services, jp_fetch: Fetch, bad: dict[str, object]) -> None:
    assert await refusal(counted(jp_fetch, **bad)) == (400, "invalid_input")


async def test_a_file_that_is_kept_from_the_agent_is_not_read(
    services: Services, jp_fetch: Fetch, jp_root_dir: Path
) -> None:
    (jp_root_dir / ".env").write_text("PASSWORD=TREASURE\n")
    async with raw_server(llama) as server:
        await chosen(services, server)
        await counted(jp_fetch, text="@/.env ")
        told = str([request.content for request in server.requests])
        assert "TREASURE" not in told and "Not attached" in told


async def test_who_changes_the_message_is_waited_for_no_more(
    services: Services, jp_fetch: Fetch, jp_http_port: int, jp_base_url: str, jp_auth_header: dict[str, str]
) -> None:
    async def silence(_reply: Reply) -> None:
        await asyncio.Event().wait()

    async with raw_server(silence) as server:
        await chosen(services, server)
        _, writer = await asyncio.open_connection("127.0.0.1", jp_http_port)
        body = json.dumps({"attachments": [CELL]}).encode()
        head = [
            f"POST {jp_base_url}hdsp-agent/api/attachments/tokens HTTP/1.1",
            f"Host: 127.0.0.1:{jp_http_port}",
            f"Content-Length: {len(body)}",
            *(f"{name}: {value}" for name, value in jp_auth_header.items()),
        ]
        writer.write("\r\n".join([*head, "", ""]).encode() + body)
        await server.asked.wait()
        writer.close()
        await asyncio.wait_for(server.closed.wait(), 60)
