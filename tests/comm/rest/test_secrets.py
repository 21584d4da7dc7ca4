"""Keys are write-only: whatever is asked, read or logged afterwards, a saved key is nowhere to be found."""

from __future__ import annotations

import io
import json
import logging
from pathlib import Path

import pytest
from jupyter_server.serverapp import ServerApp
from tornado.httpclient import HTTPClientError

from hdsp_agent.comm.rest._routes import API_PATH, routes
from hdsp_agent.comm.services import Services
from tests._helpers.jupyter_fetch import Fetch, SocketFetch
from tests._helpers.kept_files import kept_in

SECRET = "sk-ant-api03-Zq8vT4mWb2LkP9xR7nYc"
OTHERS = ("sk-proj-Hj3kLm9QwErTyUi8", "gsk_Vb7nMk2PoIuYtReWq5As", "AIzaSyD4fGhJkLzXcVbNm1Qw")
API = API_PATH.strip("/").split("/")


@pytest.fixture
def passphrase(monkeypatch: pytest.MonkeyPatch, no_keys_from_outside: None) -> None:
    """The encrypted file works where no keyring does."""
    monkeypatch.setenv("HDSP_AGENT_PASSPHRASE", "correct horse battery staple")


async def call(jp_fetch: Fetch, path: str, method: str = "GET", body: object = None) -> str:
    """Any endpoint's answer, errors included."""
    text = None if body is None else body if isinstance(body, str) else json.dumps(body)
    try:
        answer = await jp_fetch(*API, *path.strip("/").split("/"), method=method, body=text)
    except HTTPClientError as error:
        assert error.response is not None
        answer = error.response
    return str(answer.body.decode())


async def try_to_leak(jp_fetch: Fetch) -> None:
    """What people and programs do wrong with keys."""
    await call(jp_fetch, "settings", "PATCH", {"apiKey": OTHERS[0]})
    await call(jp_fetch, "settings", "PATCH", {"mode": {"apiKey": OTHERS[0]}})
    await call(jp_fetch, "settings", "PATCH", '{"apiKey": "' + OTHERS[0])
    await call(
        jp_fetch, "profiles", "POST", {"name": "typo", "settings": {"apiProvider": "anthropic", "apikey": OTHERS[0]}}
    )
    await call(
        jp_fetch, "profiles", "POST", {"name": "ok", "settings": {"apiProvider": "groq", "groqApiKey": OTHERS[1]}}
    )
    await call(jp_fetch, "profiles/default", "PATCH", {"settings": {"openAiApiKey": OTHERS[0]}})
    await call(jp_fetch, "secrets/default/noSuchKey", "PUT", {"value": OTHERS[0]})
    await call(jp_fetch, "secrets/nobody/apiKey", "PUT", {"value": OTHERS[0]})
    await call(jp_fetch, "secrets/default/apiKey", "PUT", {"val": OTHERS[0]})
    await call(jp_fetch, "secrets/default/apiKey", "PUT", {"value": [OTHERS[0]]})
    document = {
        "providerProfiles": {"apiConfigs": {"roo": {"id": "r1", "apiProvider": "gemini", "geminiApiKey": OTHERS[2]}}}
    }
    await call(jp_fetch, "settings/import", "POST", document)


async def everything_said(jp_fetch: Fetch, jp_ws_fetch: SocketFetch, services: Services) -> str:
    """What every GET answers, and what a new tab is sent."""
    parts = {"name": "default", "mode": "code", "profile": "default", "key": "apiKey"}
    parts |= {"task": "nowhere", "log": "ui", "artifact": "0" * 64, "model": "qwen2.5-coder-0.5b-instruct"}
    parts |= {
        "checkpoint": "0" * 16,
        "operation": "0" * 16,
        "run": "0" * 16,
        "note": "0" * 8,
        "item": "0" * 10,
        "agent": "0" * 32,
        "server": "nobody",
        "verification": "0" * 16,
    }
    said = [await call(jp_fetch, path.format_map(parts)) for path in routes()]
    socket = await jp_ws_fetch("hdsp-agent", "comm")
    hello = {"target": "hdsp_agent.webview", "clientId": "c1", "version": services.version, "protocol": 1}
    await socket.write_message(json.dumps({"op": "open", "commId": "k1", "data": hello}))
    while '"type":"state"' not in said[-1]:
        said.append(str(await socket.read_message()))
    requests: tuple[dict[str, object], ...] = (
        {"type": "exportSettings"},
        {"type": "updateSettings", "updatedSettings": {"apiKey": OTHERS[0]}},
    )
    for number, request in enumerate(requests):
        data = {"requestId": f"r{number}", **request}
        await socket.write_message(json.dumps({"op": "msg", "commId": "k1", "data": data}))
        said.append(str(await socket.read_message()))
    socket.close()
    return "\n".join(said)


async def test_a_saved_key_is_in_no_answer_file_log_or_event(
    passphrase: None,
    services: Services,
    storage_dir: Path,
    jp_fetch: Fetch,
    jp_ws_fetch: SocketFetch,
    jp_serverapp: ServerApp,
    jp_root_dir: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    events = io.StringIO()
    assert jp_serverapp.event_logger is not None
    jp_serverapp.event_logger.register_handler(logging.StreamHandler(events))
    caplog.set_level(logging.DEBUG)

    answer = json.loads(await call(jp_fetch, "secrets/default/apiKey", "PUT", {"value": SECRET}))
    kept = next(entry for entry in answer["secrets"] if entry["key"] == "apiKey")
    assert (kept["present"], kept["last4"], kept["source"]) == (True, SECRET[-4:], "encrypted-file")
    await try_to_leak(jp_fetch)
    said = await everything_said(jp_fetch, jp_ws_fetch, services)

    # It is there for those who may use it …
    used = await services.config.secrets.get(services.config.profiles.get("default").id, "apiKey")
    assert used is not None and used.get_secret_value() == SECRET
    # … and nowhere else.
    files = kept_in(storage_dir, jp_root_dir)
    assert files
    everything = {
        "answers": said,
        "log": caplog.text + "".join(repr(record.args) for record in caplog.records),
        "events": events.getvalue(),
        "environment and settings": repr(jp_serverapp.web_app.settings) + repr(services),
        **{str(path): content.decode("utf-8", "replace") for path, content in files.items()},
    }
    for place, text in everything.items():
        for secret in (SECRET, *OTHERS):
            assert secret not in text, place


async def test_a_removed_key_is_gone(passphrase: None, services: Services, jp_fetch: Fetch) -> None:
    await call(jp_fetch, "secrets/default/apiKey", "PUT", {"value": SECRET})
    answer = json.loads(await call(jp_fetch, "secrets/default/apiKey", "DELETE"))
    assert not any(entry["present"] for entry in answer["secrets"])
    assert await services.config.secrets.get(services.config.profiles.get("default").id, "apiKey") is None


async def test_without_any_storage_saving_says_what_the_choices_are(services: Services, jp_fetch: Fetch) -> None:
    error = json.loads(await call(jp_fetch, "secrets/default/apiKey", "PUT", {"value": SECRET}))
    assert error["code"] == "secret_storage_unavailable"
    assert "HDSP_AGENT_PASSPHRASE" in error["message"]
    assert SECRET not in json.dumps(error)


async def test_a_plain_file_is_used_only_after_opting_in(
    services: Services, storage_dir: Path, jp_fetch: Fetch
) -> None:
    await call(jp_fetch, "secrets/default/apiKey", "PUT", {"value": SECRET})
    assert not any(SECRET.encode() in content for content in kept_in(storage_dir).values())
    answer = json.loads(await call(jp_fetch, "secrets/storage", "PUT", {"kind": "file"}))
    assert answer["storage"]["kind"] == "file"
    answer = json.loads(await call(jp_fetch, "secrets/default/apiKey", "PUT", {"value": SECRET}))
    assert next(entry for entry in answer["secrets"] if entry["key"] == "apiKey")["source"] == "file"
    (file,) = [path for path, content in kept_in(storage_dir).items() if SECRET.encode() in content]
    assert file.stat().st_mode & 0o777 == 0o600
