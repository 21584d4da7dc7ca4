"""A provider that quotes the key it was sent, in whatever form, shows it to nobody and to no file."""

from __future__ import annotations

import base64
import json
import logging
from pathlib import Path
from urllib.parse import quote

import pytest
from pydantic import SecretStr

from hdsp_agent.comm.services import Services
from tests._helpers.jupyter_fetch import Fetch
from tests._helpers.kept_files import kept_in
from tests._helpers.model_server import Reply, raw_server, refusal
from tests.comm.conftest import Connect

KEYS = ("plainkey-" + "0f9a8b7c6d5e" + "-zz", "odd+key/" + "77=&\\x" + "-a1B2c3D4")
API = ("hdsp-agent", "api")


def forms(key: str) -> dict[str, str]:
    return {
        "plain": key,
        "json": json.dumps(key)[1:-1],
        "percent": quote(key, safe=""),
        "base64": base64.b64encode(key.encode()).decode(),
        "basic": base64.b64encode(f"user:{key}".encode()).decode(),
        "hex": key.encode().hex(),
        "upper": key.upper(),
    }


@pytest.mark.parametrize("status", ["400 Bad Request", "401 Unauthorized", "500 Internal Server Error"])
@pytest.mark.parametrize("key", KEYS, ids=["plain", "odd"])
async def test_no_row_frame_log_file_or_answer_shows_it(
    services: Services,
    connect: Connect,
    jp_fetch: Fetch,
    caplog: pytest.LogCaptureFixture,
    storage_dir: Path,
    status: str,
    key: str,
) -> None:
    said = " ".join(f"{name}: {form}" for name, form in forms(key).items())

    async def echo(reply: Reply) -> None:
        body = {
            "error": {"message": f"Incorrect API key provided. {said}", "type": "invalid_request_error", "param": key}
        }
        await reply.send(refusal(status, body, f"x-request-id: {forms(key)['hex']}"))

    caplog.set_level(logging.DEBUG)
    async with raw_server(echo) as server:
        config = services.config
        await config.use_storage("file")
        settings = {"apiProvider": "openai", "openAiBaseUrl": f"{server.url}/v1", "openAiModelId": "m"}
        await config.profiles.update("default", {**settings, "modelContextWindow": 8000})
        headers = f"X-Gate: {key}" if key.isascii() else "X-Gate: other-0123456789"
        await config.set_secret("default", "openAiSecretHeaders", SecretStr(headers))
        await config.set_secret("default", "openAiApiKey", SecretStr(key))
        shown: list[str] = []
        async with connect() as panel:
            task = (await panel.ask("newTask", text="hi"))["result"]
            await panel.until(
                lambda: any(
                    row in json.dumps(panel.of("msg")) for row in ("api_req_failed", "api_req_retry", '"error"')
                )
            )
            for path in (
                "models",
                f"tasks/{task}",
                f"tasks/{task}/logs/ui",
                f"tasks/{task}/logs/api",
                "secrets",
                "health",
            ):
                query = {"provider": "openai"} if path == "models" else {}
                shown.append((await jp_fetch(*API, *path.split("/"), params=query)).body.decode())
            for form in ("json", "markdown"):
                params = {"format": form}
                shown.append((await jp_fetch(*API, "tasks", task, "export", params=params)).body.decode())
            body = json.dumps({"provider": "openai", "profile": "default"})
            shown.append((await jp_fetch(*API, "setup", "check", method="POST", body=body)).body.decode())
            await panel.ask("cancelTask", taskId=task)
            shown.append(json.dumps(panel.frames, ensure_ascii=False))
        assert server.requests
    shown.append(caplog.text)
    shown += [logging.Formatter().format(record) for record in caplog.records]
    shown += [
        content.decode("utf-8", "replace")
        for file, content in kept_in(storage_dir).items()
        if file.name != "secrets.json"
    ]
    # Around the key in what is encoded stands more, which may be left.
    pieces = {name: form[12:-6] if name == "basic" else form for name, form in forms(key).items()}
    left = {name for name, piece in pieces.items() for text in shown if piece in text}
    assert left == set()
    if key.isascii():
        assert any("KEY_IN_USE" in text for text in shown)
