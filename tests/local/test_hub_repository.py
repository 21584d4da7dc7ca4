"""Any GGUF file of a hub by its name: what the hub declares is shown, agreed to, pinned to a commit and checked."""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from blockbuster import blockbuster_ctx

from hdsp_agent.config import OperatorPolicy, ProviderSettings
from hdsp_agent.errors import ForbiddenByOperator, HdspAgentError
from hdsp_agent.local import (
    ConsentMissing,
    HubRefused,
    HubUnreachable,
    LocalModels,
    WeightsMissing,
    WeightsUnreachable,
    WrongChecksum,
)
from hdsp_agent.local import _hub as hub_module
from hdsp_agent.providers import list_models, model_info

from ._helpers.weights import COMMIT, CONTENT, Hub, consent_to, hub

SHA256 = hashlib.sha256(CONTENT).hexdigest()
API = "/api/models/ada/small-GGUF?blobs=true"


def lfs(name: str, size: int = len(CONTENT), sha256: str = SHA256) -> dict[str, object]:
    return {
        "rfilename": name,
        "size": size,
        "blobId": "b" * 40,
        "lfs": {"sha256": sha256, "size": size, "pointerSize": 134},
    }


def says(there: Hub, *files: dict[str, object], **more: object) -> None:
    """What the hub tells of the repository."""
    told = {
        "id": "ada/small-GGUF",
        "sha": COMMIT,
        "gated": False,
        "cardData": {"license": "mit"},
        "siblings": [{"rfilename": "README.md", "size": 10}, *files],
        **more,
    }
    there.pages[API] = 200, json.dumps(told).encode()


@asynccontextmanager
async def served(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Hub]:
    """A hub on this machine in place of the one on the internet."""
    monkeypatch.setattr(hub_module, "_PAUSES", (0.01, 0.01))
    async with hub() as made:
        monkeypatch.setenv("HF_ENDPOINT", made.address)
        yield made


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LocalModels:
    monkeypatch.setenv("HF_HOME", str(tmp_path / "huggingface"))
    return LocalModels(tmp_path / "models")


async def test_a_repository_s_models_are_told_as_the_hub_declares_them(
    monkeypatch: pytest.MonkeyPatch, models: LocalModels
) -> None:
    async with served(monkeypatch) as there:
        says(
            there,
            lfs("Small-Q8_0.gguf", 9_000_000, "a" * 64),
            lfs("q4/Small Q4_K_M.gguf"),
            lfs("Small-BF16-00001-of-00002.gguf"),
            lfs("mmproj-F16.gguf"),
            {"rfilename": "old.gguf", "size": 5},
        )
        with blockbuster_ctx(scanned_modules=["hdsp_agent"]):
            found = await models.look_up(" https://huggingface.co/ada/small-GGUF ")
        assert [(one.name, one.size, one.sha256) for one in found] == [
            ("Small Q4_K_M", len(CONTENT), SHA256),
            ("Small-Q8_0", 9_000_000, "a" * 64),
        ]
        first = found[0]
        assert (first.licence, first.state, first.is_added, first.ability) == ("mit", "absent", True, "unknown")
        [source] = first.sources
        assert source.kind == "hub"
        assert (source.repository, source.revision, source.file) == ("ada/small-GGUF", COMMIT, "q4/Small Q4_K_M.gguf")
        assert there.paths == [API]
        assert [state.id for state in await models.states() if state.is_added] == []


@pytest.mark.parametrize(
    ("card", "licence"),
    [
        ({"license": "other", "license_name": "small-1.0"}, "small-1.0"),
        ({"license": ["mit", "apache-2.0"]}, "mit, apache-2.0"),
        ({}, ""),
        (None, ""),
    ],
)
async def test_the_license_is_what_the_card_says(
    monkeypatch: pytest.MonkeyPatch, models: LocalModels, card: object, licence: str
) -> None:
    async with served(monkeypatch) as there:
        says(there, lfs("s.gguf"), cardData=card)
        assert (await models.look_up("ada/small-GGUF:s.gguf"))[0].licence == licence


@pytest.mark.parametrize(
    ("name", "told", "reason"),
    [
        ("small", {}, "name"),
        ("../..", {}, "name"),
        ("ada/small-GGUF", {"status": 401}, "no_repository"),
        ("ada/small-GGUF", {"status": 404}, "no_repository"),
        ("ada/small-GGUF", {"gated": "manual"}, "gated"),
        ("ada/small-GGUF", {"siblings": [{"rfilename": "model.safetensors"}]}, "no_gguf"),
        ("ada/small-GGUF", {"siblings": [lfs("mmproj-F16.gguf")]}, "no_gguf"),
        ("ada/small-GGUF:t.gguf", {}, "no_file"),
        ("ada/small-GGUF:big-00001-of-00003.gguf", {"siblings": [lfs("big-00001-of-00003.gguf")]}, "split"),
        ("ada/small-GGUF", {"siblings": [{"rfilename": "s.gguf", "size": 7}]}, "no_checksum"),
        ("ada/small-GGUF", {"siblings": [{**lfs("s.gguf"), "size": 7}]}, "no_checksum"),
        ("ada/small-GGUF", {"readme": "x" * 9_000_000}, "too_long"),
    ],
)
async def test_what_cannot_be_used_is_refused_with_its_reason(
    monkeypatch: pytest.MonkeyPatch, models: LocalModels, name: str, told: dict[str, Any], reason: str
) -> None:
    async with served(monkeypatch) as there:
        says(there, lfs("s.gguf"), **told)
        if "status" in told:
            there.pages[API] = told["status"], b"{}"
        with pytest.raises(HubRefused) as refused:
            await models.look_up(name)
        assert refused.value.params["reason"] == reason
        assert not models.folder.path.exists()


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ((503, b""), "503"),
        ((200, b"<html>"), "cannot be read"),
        ((200, json.dumps({"sha": "main", "siblings": []}).encode()), "cannot be read"),
        ((302, b"ftp://127.0.0.1/elsewhere"), "not encrypted"),
    ],
)
async def test_a_hub_that_says_nothing_that_can_be_read_is_told_of(
    monkeypatch: pytest.MonkeyPatch, models: LocalModels, page: tuple[int, bytes], words: str
) -> None:
    async with served(monkeypatch) as there:
        there.pages[API] = page
        with pytest.raises(HubUnreachable, match=words):
            await models.look_up("ada/small-GGUF")


async def test_without_a_connection_it_says_so(models: LocalModels, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(HubUnreachable, match="cannot be reached"):
        await models.look_up("ada/small-GGUF")


async def test_it_is_fetched_after_consent_listed_after_a_restart_run_and_removed(
    monkeypatch: pytest.MonkeyPatch, models: LocalModels
) -> None:
    async with served(monkeypatch) as there:
        says(there, lfs("s.gguf"))
        [found] = await models.look_up("ada/small-GGUF:s.gguf")
        with pytest.raises(ConsentMissing):
            await models.begin(found.id, None)
        assert there.paths == [API] and not models.folder.path.exists()
        await models.begin(found.id, consent_to(found))
        path = await models.got(found.id)
        assert path.read_bytes() == CONTENT
        assert there.paths == [API, f"/ada/small-GGUF/resolve/{COMMIT}/s.gguf"]

        again = LocalModels(models.folder.path)
        assert [(state.id, state.state) for state in await again.states() if state.is_added] == [(found.id, "ready")]
        settings = ProviderSettings.model_validate({"apiProvider": "local", "apiModelId": found.id})
        file = await again.file_of(settings)
        # Its own head says how much it takes in.
        assert (file.path, file.name, file.context) == (path, "Small", 4096)
        assert found.id in [model.id for model in await list_models(settings, local=again)]
        own = settings.model_copy(update={"model_context_window": 2048})
        assert (model_info(own).context_window, (await again.file_of(own)).context) == (2048, 2048)

        assert await again.remove(found.id) >= len(CONTENT)
        assert not [state for state in await again.states() if state.is_added]
        assert not path.exists()
        with pytest.raises(HdspAgentError, match="Choose one of"):
            await again.file_of(settings)


async def test_what_is_partly_here_goes_on_after_a_restart(
    monkeypatch: pytest.MonkeyPatch, models: LocalModels
) -> None:
    async with served(monkeypatch) as there:
        says(there, lfs("s.gguf"))
        [found] = await models.look_up("ada/small-GGUF")
        there.cut_at = [1_000_000, 0, 0]
        await models.begin(found.id, consent_to(found))
        with pytest.raises(WeightsUnreachable):
            await models.got(found.id)
        again = LocalModels(models.folder.path)
        [state] = [state for state in await again.states() if state.is_added]
        assert (state.state, state.done) == ("partial", 1_000_000)
        with pytest.raises(WeightsMissing):
            await again.file_of(ProviderSettings.model_validate({"apiProvider": "local", "apiModelId": found.id}))
        await again.begin(found.id, consent_to(state))
        await again.got(found.id)
        assert there.asked[-1] == "1000000-"


@pytest.mark.parametrize(
    ("content", "error"),
    [(bytes(len(CONTENT)), WrongChecksum), (CONTENT + b"more", WeightsUnreachable), (CONTENT[:-9], WeightsUnreachable)],
    ids=["another checksum", "larger", "smaller"],
)
async def test_a_hub_that_gives_something_else_gives_nothing(
    monkeypatch: pytest.MonkeyPatch, models: LocalModels, content: bytes, error: type[HdspAgentError]
) -> None:
    async with served(monkeypatch) as there:
        says(there, lfs("s.gguf"))
        there.content = content
        [found] = await models.look_up("ada/small-GGUF")
        await models.begin(found.id, consent_to(found))
        with pytest.raises(error):
            await models.got(found.id)
        [state] = [state for state in await models.states() if state.is_added]
        assert state.state == "absent" and state.failure is not None and state.failure.code == error.code


async def test_whoever_sends_the_download_to_an_unencrypted_place_gives_nothing(
    monkeypatch: pytest.MonkeyPatch, models: LocalModels
) -> None:
    async with served(monkeypatch) as there:
        says(there, lfs("s.gguf"))
        there.pages[f"/ada/small-GGUF/resolve/{COMMIT}/s.gguf"] = 302, b"ftp://127.0.0.1/s.gguf"
        [found] = await models.look_up("ada/small-GGUF")
        await models.begin(found.id, consent_to(found))
        with pytest.raises(WeightsUnreachable, match="not encrypted"):
            await models.got(found.id)


async def test_an_operator_can_leave_people_the_list_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async with served(monkeypatch) as there:
        policy = OperatorPolicy(allow_unlisted_models=False)
        models = LocalModels(tmp_path / "models", policy=lambda: policy)
        assert models.allowed and not models.others_allowed
        with pytest.raises(ForbiddenByOperator):
            await models.look_up("ada/small-GGUF")
        own = tmp_path / "own.gguf"
        own.write_bytes(CONTENT)
        with pytest.raises(ForbiddenByOperator):
            await models.file_of(ProviderSettings.model_validate({"apiProvider": "local", "localModelPath": str(own)}))
        assert there.paths == []


async def test_a_list_of_added_models_that_is_broken_hides_none_of_ours(models: LocalModels) -> None:
    models.folder.make()
    (models.folder.path / "added.json").write_text("{", encoding="utf-8")
    assert len(await models.states()) == 2
