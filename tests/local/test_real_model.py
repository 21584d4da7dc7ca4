"""A real model in a real process, asked through the profile of a person. Skipped, and said so, where there is none."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

import pytest
from blockbuster import blockbuster_ctx

from hdsp_agent.agent._profile_models import ProfileModels
from hdsp_agent.config import ContextProxy, OperatorPolicy, ProviderSettings, SecretStore
from hdsp_agent.errors import ForbiddenByOperator, NotFound
from hdsp_agent.local import LocalModels, NotAModelFile, WeightsFolder, WeightsMissing, model_limits
from hdsp_agent.providers import (
    ModelClient,
    ModelError,
    ModelRequest,
    Stop,
    TextDelta,
    UsageReport,
    list_models,
    model_info,
    open_client,
)

from ..providers._helpers.protocol_profiles import user
from ._helpers.weights import REAL_FOLDER, SMALL, gguf_head, real_weights

pytestmark = pytest.mark.timeout(300)


CODER: Final = "qwen2.5-coder-0.5b-instruct"
LARGER: Final = "qwen2.5-coder-1.5b-instruct"


def profile(**more: object) -> ProviderSettings:
    """A profile of the small model, which is a file to the agent."""
    path = str(WeightsFolder(REAL_FOLDER).file(SMALL))
    own = {"apiProvider": "local", "localModelPath": path, "modelContextWindow": 4096, "modelMaxTokens": 1024}
    return ProviderSettings.model_validate({**own, **more})


def listed(id: str | None, **more: object) -> ProviderSettings:
    """A profile of a model of the list."""
    return ProviderSettings.model_validate({"apiProvider": "local", "apiModelId": id, **more})


@dataclass
class Asked:
    models: LocalModels
    client: ModelClient

    async def say(self, text: str, *, longest: int | None = 12) -> tuple[str, UsageReport, Stop]:
        """What it answers."""
        words, usage, stop = "", None, None
        request = ModelRequest(system="You are helpful.", messages=[user(text)], max_output=longest)
        async for event in self.client.stream(request):
            match event:
                case TextDelta(text=more):
                    words += more
                case UsageReport():
                    usage = event
                case Stop():
                    stop = event
        assert usage is not None and stop is not None
        return words, usage, stop

    async def busy(self) -> int:
        """Wait until it answers somebody; its process id."""
        for _ in range(1200):
            status = await self.models.runtime.status()
            if status.state == "busy" and (process := self.models.runtime.process_id) is not None:
                return process
            await asyncio.sleep(0.05)
        raise AssertionError("it never began")


@asynccontextmanager
async def asked(settings: ProviderSettings | None = None) -> AsyncIterator[Asked]:
    await real_weights()
    models = LocalModels(REAL_FOLDER)
    client = await open_client(settings or profile(), local=models)
    try:
        yield Asked(models, client)
    finally:
        await client.close()
        await models.stop()


async def test_it_answers_with_its_own_limits_and_keeps_what_it_read(monkeypatch: pytest.MonkeyPatch) -> None:
    # A proxy is nothing that a process on this machine is behind.
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    async with asked() as it:
        assert (it.client.info.context_window, it.client.info.max_output) == (4096, 1024)
        assert it.client.info.input_price == 0
        with blockbuster_ctx(scanned_modules=["hdsp_agent"]):
            words, usage, stop = await it.say("Say hello.")
        assert words.strip() and usage.output > 0
        assert stop.reason in ("end", "max_tokens")
        status = await it.models.runtime.status()
        assert status.state == "ready" and status.memory and status.start_seconds
        assert status.writing_speed
        process = it.models.runtime.process_id
        _, again, _ = await it.say("Say hello.")
        assert again.cache_read > 0
        assert it.models.runtime.process_id == process


async def test_it_is_there_for_nobody_else() -> None:
    async with asked() as it:
        file = await it.models.file_of(profile())
        async with it.models.runtime.turn(file) as endpoint:
            assert endpoint.url.startswith("http://127.0.0.1:")
            root = endpoint.url.removesuffix("/v1")
            body = json.dumps({"messages": [{"role": "user", "content": "hi"}], "max_tokens": 1}).encode()

            def ask(path: str, key: str | None, data: bytes | None) -> tuple[int, str | None, str]:
                headers = {"Content-Type": "application/json", "Origin": "https://elsewhere.example"}
                if key is not None:
                    headers["Authorization"] = f"Bearer {key}"
                try:
                    answer = urllib.request.urlopen(urllib.request.Request(root + path, data, headers), timeout=60)
                except urllib.error.HTTPError as error:
                    answer = error
                with answer:
                    text = answer.read().decode()
                    return answer.status or 0, answer.headers.get("Access-Control-Allow-Origin"), text

            chat = "/v1/chat/completions"
            assert (await asyncio.to_thread(ask, chat, None, body))[0] == 401
            assert (await asyncio.to_thread(ask, chat, "none", body))[0] == 401
            status, allowed, _ = await asyncio.to_thread(ask, chat, endpoint.key, body)
            assert (status, allowed or "") == (200, "")
            assert (await asyncio.to_thread(ask, "/", endpoint.key, None))[0] == 404
            for public in ("/health", "/v1/models"):
                _, allowed, text = await asyncio.to_thread(ask, public, None, None)
                assert not allowed and str(REAL_FOLDER) not in text


async def test_two_servers_never_want_the_same_port() -> None:
    async with asked() as one, asked() as other:
        file = await one.models.file_of(profile())
        async with one.models.runtime.turn(file) as first, other.models.runtime.turn(file) as second:
            assert first.url != second.url and first.key != second.key


async def test_who_is_cancelled_frees_it_at_once() -> None:
    async with asked() as it:
        await it.say("Say hello.", longest=1)
        long = asyncio.create_task(it.say("Tell me a very long story.", longest=1000))
        await it.busy()
        await asyncio.sleep(0.5)
        assert not long.done()
        long.cancel()
        await asyncio.wait([long], timeout=5)
        assert long.cancelled()
        assert (await it.models.runtime.status()).state == "ready"
        # Else this would wait for a thousand words.
        await asyncio.wait_for(it.say("Say hello.", longest=1), 60)


async def test_one_that_dies_while_it_answers_is_told_of_and_asked_again() -> None:
    async with asked() as it:
        answer = asyncio.create_task(it.say("Tell me a very long story.", longest=1000))
        process = await it.busy()
        await asyncio.sleep(0.5)
        os.kill(process, signal.SIGSEGV)
        with pytest.raises(ModelError, match=r"cannot run.*starts again") as told:
            await answer
        assert told.value.retryable
        assert (await it.say("Say hello."))[0]


async def test_a_file_of_the_person_s_runs_within_the_limits_of_the_profile() -> None:
    weights = await real_weights()
    own = profile(localModelPath=str(weights), modelContextWindow=512, modelMaxTokens=8)
    async with asked(own) as it:
        assert (it.client.info.context_window, it.client.info.max_output) == (512, 8)
        _, usage, stop = await it.say("Tell me a very long story.", longest=None)
        assert usage.output <= 9 and stop.reason == "max_tokens"
        with pytest.raises(ModelError) as told:
            await it.say("word " * 2000)
        assert told.value.kind == "overflow"


async def test_a_file_that_is_no_model_is_refused(tmp_path: Path) -> None:
    models = LocalModels(tmp_path / "none")
    for content, reason in [
        (b"PK\x03\x04" * 30, "does not begin"),
        (b"GGUF", "middle of its header"),
        (b"GGUF\x09" + bytes(40), "version 9"),
        (gguf_head()[:60], "middle of its header"),
    ]:
        own = tmp_path / "own.gguf"
        own.write_bytes(content)
        with pytest.raises(NotAModelFile, match=reason):
            await models.file_of(profile(localModelPath=str(own)))
    with pytest.raises(NotAModelFile, match="no such file"):
        await open_client(profile(localModelPath=str(tmp_path / "missing.gguf")), local=models)


def test_the_head_of_a_file_tells_its_window(tmp_path: Path) -> None:
    own = tmp_path / "own.gguf"
    for context, window in ((2048, 2048), (131_072, 8192), (None, 8192)):
        own.write_bytes(gguf_head("Mine", context))
        limits = model_limits(profile(localModelPath=str(own), modelContextWindow=None, modelMaxTokens=None))
        assert (limits.id, limits.name, limits.context, limits.output) == ("own", "Mine", window, 2048)


async def test_a_profile_without_a_model_uses_the_default_and_says_what_is_missing(tmp_path: Path) -> None:
    models = LocalModels(tmp_path / "none")
    settings = ProviderSettings.model_validate({"apiProvider": "local"})
    assert model_info(settings).id == CODER
    client = await open_client(settings, local=models)
    with pytest.raises(WeightsMissing, match="hdsp-agent model get qwen"):
        async for _ in client.stream(ModelRequest(system="", messages=[user("hi")])):
            pass
    with pytest.raises(NotFound, match="Choose one of: qwen"):
        await open_client(listed("gpt-9"), local=models)
    # The history shows conversations of such a profile all the same.
    assert model_info(listed("gpt-9")).context_window is None
    # More than the model can would not do what the number says.
    assert model_info(listed(CODER, modelContextWindow=10**6)).context_window == 32_768


async def test_the_agent_s_profiles_reach_it(tmp_path: Path) -> None:
    config = ContextProxy(tmp_path / "home", OperatorPolicy(), SecretStore(tmp_path / "home", OperatorPolicy()))
    await config.start()
    await config.profiles.update("default", {"apiProvider": "local", "apiModelId": CODER, "localIdleMinutes": 1})
    local = LocalModels(tmp_path / "none")
    profiles = ProfileModels(config, local)
    try:
        client = await profiles.client("default")
        assert client.info.name == "Qwen2.5 Coder 0.5B Instruct"
        assert set(await profiles.known()) == {LARGER, CODER}
        with pytest.raises(WeightsMissing):
            await anext(aiter(client.stream(ModelRequest(system="", messages=[user("hi")]))))
    finally:
        await profiles.close()
        await local.stop()
        await config.stop()


async def test_its_models_are_listed_and_an_operator_can_forbid_them(tmp_path: Path) -> None:
    assert [model.id for model in await list_models(listed(None))] == [LARGER, CODER]
    for policy in (OperatorPolicy(allow_local_models=False), OperatorPolicy(allowed_providers=("anthropic",))):
        models = LocalModels(tmp_path, policy=partial(replace, policy))
        assert not models.allowed
        with pytest.raises(ForbiddenByOperator):
            await open_client(profile(), policy=policy, local=models)
        with pytest.raises(ForbiddenByOperator):
            await models.file_of(profile())
        with pytest.raises(ForbiddenByOperator):
            await models.begin(CODER, None)
