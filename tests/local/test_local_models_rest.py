"""Embedded models over REST: what there is, getting one with consent and progress, removing it, the process."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tornado.httpclient import HTTPClientError

from hdsp_agent.comm.services import Services
from hdsp_agent.local import LocalModel
from hdsp_agent.local import _local_models as local_models_module
from hdsp_agent.local import _model_list as catalogue_module
from hdsp_agent.local import _runtime as runtime_module
from tests._helpers.jupyter_fetch import Fetch

from ._helpers.weights import COMMIT, CONTENT, Hub, hub, model_of, real_weights

API = ("hdsp-agent", "api")
SHA256 = hashlib.sha256(CONTENT).hexdigest()
CONSENT = {"licence": "Apache-2.0", "size": len(CONTENT)}


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[dict[str, object]]:
    """The list of models holds one, from the source that the test writes here."""
    source: dict[str, object] = {}
    monkeypatch.delenv("HF_ENDPOINT", raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "huggingface"))

    def read(file: Path) -> catalogue_module.Catalogue:
        model: LocalModel = model_of(source)
        return catalogue_module.Catalogue(default="small", models=(model,))

    monkeypatch.setattr(catalogue_module, "_read", read)
    source.update(Hub("http://127.0.0.1:9").source)
    yield source


class Api:
    """The endpoints, with errors as answers."""

    def __init__(self, jp_fetch: Fetch) -> None:
        self._fetch = jp_fetch

    async def ask(self, verb: str, *path: str, body: object = None) -> tuple[int, dict[str, Any]]:
        text = None if verb in ("GET", "DELETE") else json.dumps(body or {})
        try:
            answer = await self._fetch(*API, *path, method=verb, body=text)
        except HTTPClientError as error:
            assert error.response is not None
            return error.code, json.loads(error.response.body)
        return answer.code, json.loads(answer.body)

    async def model(self, *, until: str | None = None) -> dict[str, Any]:
        """The only model there is, once it is in this state."""
        for _ in range(400):
            _, seen = await self.ask("GET", "local-models", "small")
            if until is None or seen["state"] == until:
                return seen
            await asyncio.sleep(0.05)
        raise AssertionError(seen)


@pytest.fixture
def api(jp_fetch: Fetch) -> Api:
    return Api(jp_fetch)


async def test_it_says_what_there_is_and_what_getting_it_would_take(
    services: Services, api: Api, listed: dict[str, object]
) -> None:
    status, seen = await api.ask("GET", "local-models")
    assert status == 200
    assert seen["allowed"] is True and seen["free"] > 0
    assert seen["folder"].endswith("embedded-models")
    assert seen["freeMemory"] is None or seen["freeMemory"] > 0
    (model,) = seen["models"]
    assert (model["id"], model["isOffered"], model["state"], model["done"]) == ("small", True, "absent", 0)
    assert (model["size"], model["licence"]) == (len(CONTENT), "Apache-2.0")
    assert seen["runtime"] == {"state": "stopped", "waiting": 0}


@pytest.mark.parametrize("consent", [None, {"licence": "MIT", "size": len(CONTENT)}, {**CONSENT, "size": 5}])
async def test_without_consent_nothing_is_fetched(
    services: Services, api: Api, listed: dict[str, object], consent: object
) -> None:
    async with hub() as there:
        listed.update(there.source)
        status, error = await api.ask("POST", "local-models", "small", body={"consent": consent} if consent else {})
        assert (status, error["code"]) == (400, "local_consent_missing")
        assert error["params"] == {"model": "small", "licence": "Apache-2.0", "megabytes": 3}
    assert there.asked == []
    assert (await api.model())["state"] == "absent"


async def test_a_model_is_got_in_sight_of_the_person_stopped_resumed_and_deleted(
    services: Services, api: Api, listed: dict[str, object]
) -> None:
    async with hub() as there:
        there.slow = 0.05
        listed.update(there.source)
        status, seen = await api.ask("POST", "local-models", "small", body={"consent": CONSENT})
        assert (status, seen["state"]) == (202, "getting")
        for _ in range(400):
            seen = await api.model()
            if seen["done"] > 500_000:
                break
            await asyncio.sleep(0.02)
        # It does not come to an end while this goes on.
        there.slow = 1
        assert (seen["state"], seen["source"]) == ("getting", "hub")
        # Twice is once.
        assert (await api.ask("POST", "local-models", "small", body={"consent": CONSENT}))[0] == 202
        _, seen = await api.ask("POST", "local-models", "small", "cancel")
        assert seen["state"] == "partial" and "failure" not in seen and seen["done"] > 500_000
        there.slow = 0
        await api.ask("POST", "local-models", "small", body={"consent": CONSENT})
        assert (await api.model(until="ready"))["done"] == len(CONTENT)
    assert there.asked == ["", f"{seen['done']}-"]
    status, freed = await api.ask("DELETE", "local-models", "small")
    assert (status, freed["freed"] >= len(CONTENT)) == (200, True)
    assert (await api.model())["state"] == "absent"


async def test_why_it_could_not_be_got_stays_to_be_read(
    services: Services, api: Api, listed: dict[str, object]
) -> None:
    await api.ask("POST", "local-models", "small", body={"consent": CONSENT})
    for _ in range(400):
        seen = await api.model()
        if "failure" in seen:
            break
        await asyncio.sleep(0.05)
    assert seen["state"] == "absent"
    assert seen["failure"]["code"] == "local_weights_unreachable"
    assert "cannot be reached" in seen["failure"]["params"]["reason"]


async def test_a_file_of_the_person_s_needs_consent_too_and_its_whole_path(
    services: Services, api: Api, listed: dict[str, object], tmp_path: Path
) -> None:
    own = tmp_path / "own.gguf"
    own.write_bytes(CONTENT)
    assert (await api.ask("POST", "local-models", "small", body={"path": str(own)}))[0] == 400
    status, error = await api.ask("POST", "local-models", "small", body={"path": "own.gguf", "consent": CONSENT})
    assert (status, error["field"]) == (400, "path")
    await api.ask("POST", "local-models", "small", body={"path": str(own), "consent": CONSENT})
    assert (await api.model(until="ready"))["state"] == "ready"


async def test_a_profile_is_ready_once_its_model_is_here(
    services: Services, api: Api, listed: dict[str, object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def ready() -> bool:
        answer: bool = (await api.ask("GET", "setup", "candidates"))[1]["ready"]
        return answer

    monkeypatch.setattr(local_models_module, "is_installed", lambda: True)
    await services.config.profiles.update("default", {"apiProvider": "local"})
    assert not await ready()
    own = tmp_path / "own.gguf"
    own.write_bytes(CONTENT)
    await api.ask("POST", "local-models", "small", body={"path": str(own), "consent": CONSENT})
    await api.model(until="ready")
    assert await ready()
    monkeypatch.setattr(local_models_module, "is_installed", lambda: False)
    assert not await ready()


async def test_a_profile_is_made_of_a_model_that_is_here_and_used_again(
    services: Services, api: Api, listed: dict[str, object], tmp_path: Path
) -> None:
    status, error = await api.ask("POST", "setup", "embedded", body={"model": "small"})
    assert (status, error["code"]) == (404, "local_weights_missing")
    assert services.config.profiles.current.api_provider is None
    own = tmp_path / "own.gguf"
    own.write_bytes(CONTENT)
    await api.ask("POST", "local-models", "small", body={"path": str(own), "consent": CONSENT})
    await api.model(until="ready")
    status, made = await api.ask("POST", "setup", "embedded")
    assert (status, made["settings"]) == (201, {"apiProvider": "local", "apiModelId": "small"})
    assert services.config.profiles.current.id == made["id"]
    # A file of one's own is another matter than the model that is listed.
    file = {"path": str(own), "context": 2048, "output": 256}
    status, other = await api.ask("POST", "setup", "embedded", body=file)
    assert status == 201 and other["id"] != made["id"]
    assert other["settings"] == {
        "apiProvider": "local",
        "localModelPath": str(own),
        "modelContextWindow": 2048,
        "modelMaxTokens": 256,
    }
    assert (await api.ask("POST", "setup", "embedded", body={"model": "small"}))[1]["id"] == made["id"]


async def test_a_file_that_is_no_model_makes_no_profile(services: Services, api: Api, tmp_path: Path) -> None:
    own = tmp_path / "own.gguf"
    own.write_bytes(b"something else")
    for path in (own, tmp_path / "missing.gguf"):
        status, error = await api.ask("POST", "setup", "embedded", body={"path": str(path)})
        assert (status, error["code"]) == (400, "local_not_a_model"), path
    assert (await api.ask("POST", "setup", "embedded", body={"path": "own.gguf"}))[1]["field"] == "path"
    assert services.config.profiles.current.api_provider is None


async def test_a_try_says_why_the_model_does_not_run_here(
    services: Services, api: Api, listed: dict[str, object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (await api.ask("POST", "local-runtime"))[1]["code"] == "local_weights_missing"
    own = tmp_path / "own.gguf"
    own.write_bytes(CONTENT)
    await api.ask("POST", "local-models", "small", body={"path": str(own), "consent": CONSENT})
    await api.model(until="ready")
    monkeypatch.setattr(runtime_module, "is_installed", lambda: True)
    monkeypatch.setattr(runtime_module, "available_memory", lambda: 500_000)
    status, error = await api.ask("POST", "local-runtime")
    assert (status, error["code"]) == (503, "local_too_little_memory")
    assert (await api.ask("GET", "local-runtime"))[1]["failure"]["code"] == "local_too_little_memory"
    monkeypatch.undo()
    monkeypatch.setattr(runtime_module, "is_installed", lambda: False)
    assert (await api.ask("POST", "local-runtime", body={"path": str(own)}))[1]["code"] == "local_runtime_missing"


async def test_a_model_of_a_hub_is_looked_up_agreed_to_and_used(
    services: Services, api: Api, listed: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with hub() as there:
        monkeypatch.setenv("HF_ENDPOINT", there.address)
        file = {"rfilename": "Other-Q4_0.gguf", "lfs": {"sha256": SHA256, "size": len(CONTENT)}}
        told = {"sha": COMMIT, "cardData": {"license": "mit"}, "siblings": [file]}
        there.pages["/api/models/ada/other?blobs=true"] = 200, json.dumps(told).encode()
        status, found = await api.ask("POST", "hub-models", body={"name": "ada/other"})
        [model] = found["models"]
        assert (status, model["licence"], model["sha256"], model["isAdded"]) == (200, "mit", SHA256, True)
        status, error = await api.ask("POST", "local-models", model["id"], body={"consent": CONSENT})
        assert (status, error["code"]) == (400, "local_consent_missing")
        consent = {"licence": "mit", "size": len(CONTENT)}
        await api.ask("POST", "local-models", model["id"], body={"consent": consent})
        await services.local_models.got(model["id"])
    _, seen = await api.ask("GET", "local-models")
    assert [(one["id"], one["state"]) for one in seen["models"]] == [("small", "absent"), (model["id"], "ready")]
    status, made = await api.ask("POST", "setup", "embedded", body={"model": model["id"]})
    # Its file says how much it takes in; the profile tells that to whoever cannot see the file.
    assert (status, made["settings"]) == (
        201,
        {"apiProvider": "local", "apiModelId": model["id"], "modelContextWindow": 4096, "modelMaxTokens": 2048},
    )
    assert (await api.ask("POST", "hub-models", body={"name": "ada"}))[1]["code"] == "local_hub_refused"


async def test_the_license_of_a_listed_model_can_be_read(services: Services, api: Api) -> None:
    status, seen = await api.ask("GET", "local-models", "qwen2.5-coder-1.5b-instruct", "license")
    assert status == 200 and "TERMS AND CONDITIONS" in seen["licence"]
    assert (await api.ask("GET", "local-models", "gpt-9", "license"))[0] == 404


async def test_an_unknown_model_is_not_found(services: Services, api: Api) -> None:
    for verb, path in (("GET", ()), ("POST", ()), ("DELETE", ()), ("POST", ("cancel",))):
        status, error = await api.ask(verb, "local-models", "gpt-9", *path, body={"consent": CONSENT})
        assert (status, error["code"]) == (404, "not_found"), verb


class TestForbidden:
    """Where the operator does not want them."""

    @pytest.fixture
    def jp_server_config(self, jp_server_config: dict[str, Any]) -> dict[str, Any]:
        return {**jp_server_config, "HdspAgentApp": {**jp_server_config["HdspAgentApp"], "allow_local_models": False}}

    async def test_nothing_is_fetched(self, services: Services, api: Api, listed: dict[str, object]) -> None:
        assert (await api.ask("GET", "local-models"))[1]["allowed"] is False
        status, error = await api.ask("POST", "local-models", "small", body={"consent": CONSENT})
        assert (status, error["code"]) == (403, "forbidden_by_operator")
        for path in (("setup", "embedded"), ("local-runtime",)):
            status, error = await api.ask("POST", *path)
            assert (status, error["code"]) == (403, "forbidden_by_operator"), path
        status, error = await api.ask("PATCH", "profiles", "default", body={"settings": {"apiProvider": "local"}})
        assert (status, error["code"]) == (403, "forbidden_by_operator")


@pytest.mark.long
async def test_the_process_shows_in_the_status_and_can_be_ended(
    services: Services, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = await real_weights()
    local, own = services.local_models, services.config.with_keys
    await services.config.profiles.update("default", {"apiProvider": "local", "localModelPath": str(weights)})
    file = await local.file_of(await own("default"))
    async with local.runtime.turn(file):
        _, seen = await api.ask("GET", "local-runtime")
        assert seen["state"] == "busy" and seen["model"] == file.id
        # Somebody is at work.
        assert (await api.ask("DELETE", "local-runtime"))[1]["state"] == "busy"
    _, seen = await api.ask("GET", "local-runtime")
    assert seen["state"] == "ready" and seen["startSeconds"] > 0 and seen["memory"] > 10_000_000
    assert "writingSpeed" not in seen
    status, seen = await api.ask("POST", "local-runtime", body={"path": str(weights)})
    assert (status, seen["state"]) == (200, "ready")
    assert seen["writingSpeed"] > 0 and seen["readingSpeed"] > 0
    assert (await api.ask("DELETE", "local-runtime"))[1]["state"] == "stopped"
