"""What programs outside learn of a person's profiles, and may choose from them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from hdsp_agent.agent import IpcCommandSession, TaskManager, build_agent
from hdsp_agent.config import ContextProxy, OperatorPolicy, SecretStore
from hdsp_agent.errors import HdspAgentError, InvalidInput, UnknownProfile
from hdsp_agent.messages import GetModelsCommand, ModelsResponse, StartNewTaskCommand, StartNewTaskData

from .._helpers.stored_tasks import make_store


@asynccontextmanager
async def with_profiles(home: Path) -> AsyncIterator[tuple[ContextProxy, TaskManager]]:
    policy = OperatorPolicy()
    config = ContextProxy(home, policy, SecretStore(home, policy))
    store = make_store(home)
    await config.start()
    await store.start()
    manager = build_agent(config, store, workspace=home)
    try:
        yield config, manager
    finally:
        await manager.stop()
        await store.stop()
        await config.stop()


def start(**configuration: object) -> StartNewTaskCommand:
    return StartNewTaskCommand(data=StartNewTaskData.model_validate({"configuration": configuration, "text": "Do it"}))


async def test_a_task_may_name_a_saved_profile_and_nothing_but_what_it_says(tmp_path: Path) -> None:
    async with with_profiles(tmp_path) as (config, manager):
        await config.profiles.create("scripted", {"apiProvider": "fake-ai", "apiModelId": ""})
        await config.profiles.create("cloud", {"apiProvider": "anthropic", "apiModelId": "claude-x"})
        program = IpcCommandSession.of(manager)
        for configuration in (
            {"currentApiConfigName": "scripted", "apiProvider": "anthropic"},
            {"currentApiConfigName": "cloud", "apiModelId": "claude-y"},
            {"currentApiConfigName": "cloud", "apiKey": "sk-secret"},
        ):
            with pytest.raises(InvalidInput) as refused:
                await program.command(start(**configuration))
            assert "secret" not in refused.value.message
        with pytest.raises(UnknownProfile):
            await program.command(start(currentApiConfigName="gone"))
        assert manager.tasks.open == []
        await program.command(start(currentApiConfigName="scripted", apiProvider="fake-ai"))
        assert program.task is not None
        assert manager.tasks.get(program.task).state.profile == "scripted"


async def test_the_models_are_those_of_the_current_profile(tmp_path: Path) -> None:
    async with with_profiles(tmp_path) as (config, manager):
        await config.profiles.create("scripted", {"apiProvider": "fake-ai"})
        await config.profiles.activate("scripted")
        answer = await IpcCommandSession.of(manager).command(GetModelsCommand())
        assert isinstance(answer, ModelsResponse)
        assert set(answer.payload[0]) == {"scripted"}


async def test_models_of_a_server_that_is_not_there_are_an_error_and_no_hang(tmp_path: Path) -> None:
    async with with_profiles(tmp_path) as (config, manager):
        await config.profiles.create("local", {"apiProvider": "ollama", "ollamaBaseUrl": "http://127.0.0.1:9"})
        await config.profiles.activate("local")
        with pytest.raises(HdspAgentError):
            await IpcCommandSession.of(manager).command(GetModelsCommand())
