"""Models, and a browser that does not wait for them."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from typing import TYPE_CHECKING

import pytest

from hdsp_agent.comm.rest import _models
from hdsp_agent.comm.rest._endpoint import RestHandler
from hdsp_agent.comm.services import Services

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp


async def test_models_are_those_of_the_provider_asked_for(services: Services, jp_fetch) -> None:
    answer = await jp_fetch("hdsp-agent", "api", "models", params={"provider": "anthropic"})
    assert any("claude" in model["id"] for model in json.loads(answer.body)["models"])


async def test_a_browser_that_leaves_before_its_answer_is_no_error(
    services: Services,
    http_server_client: object,
    jp_serverapp: ServerApp,
    jp_auth_header: dict[str, str],
    jp_base_url: str,
    jp_http_port: int,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    asked, said, left = asyncio.Event(), asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def slow_catalogue(_provider: str) -> list[object]:
        loop.call_soon_threadsafe(asked.set)
        left.wait(10)
        return []

    monkeypatch.setattr(_models, "known_models", slow_catalogue)
    monkeypatch.setattr(RestHandler, "on_finish", lambda _handler: said.set())
    caplog.set_level(logging.DEBUG, logger=jp_serverapp.log.name)
    jp_serverapp.log.addHandler(caplog.handler)
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", jp_http_port)
        writer.write(
            f"GET {jp_base_url}hdsp-agent/api/models HTTP/1.1\r\nHost: localhost\r\n"
            f"Authorization: {jp_auth_header['Authorization']}\r\n\r\n".encode()
        )
        await asyncio.wait_for(asked.wait(), 10)
        writer.transport.abort()
        await asyncio.sleep(0.05)
        left.set()
        await asyncio.wait_for(said.wait(), 10)
    finally:
        jp_serverapp.log.removeHandler(caplog.handler)
    assert "did not wait" in caplog.text
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]
