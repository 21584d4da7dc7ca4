"""A program outside, and the agent it works through: the real engine, store, notebooks and kernels."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, cast

import jsonschema
from pydantic import JsonValue

from hdsp_agent.agent.approval import ApprovalEngine
from hdsp_agent.agent.checkpoints.checkpoint_service import CheckpointService
from hdsp_agent.agent.external.port import ExternalClient, ExternalResult
from hdsp_agent.agent.external.sessions import ExternalSessions
from hdsp_agent.config import GlobalSettings, OperatorPolicy
from hdsp_agent.messages import ClineAskResponse, ClineMessage, JsonObject, TaskId

from ...._helpers.parsed_json import ParsedJson, parsed
from ....notebooks._helpers.headless import headless_notebooks
from ..._helpers.scripted_agent import Agent, running_agent, until

__all__ = ["CLAUDE", "Program", "notebook_file", "program", "text_of"]

CLAUDE = ExternalClient(owner=None, name="Claude Code", version="2.1", key="k1")


class AsksProgram(Protocol):
    """A program's own window."""

    async def ask(self, text: str) -> bool | None:
        """What the person there says."""


@dataclass
class Program:
    """What a test talks to."""

    agent: Agent
    sessions: ExternalSessions
    client: ExternalClient = CLAUDE
    told: list[str] = field(default_factory=list)
    window: AsksProgram | None = None
    """Where it asks its person, if it can."""

    async def call(self, name: str, /, **arguments: object) -> ExternalResult:
        """Call a tool, and hold its result against the schema that was promised."""

        async def tell(text: str) -> None:
            self.told.append(text)

        ask = None if self.window is None else self.window.ask
        result = await self.sessions.call(self.client, name, cast("JsonObject", arguments), tell, ask)
        offered = {tool.name: tool for tool in await self.sessions.tools(self.client)}
        schema = offered[name].output_schema if name in offered else None
        if schema is not None:
            assert result.structured is not None
            jsonschema.validate(result.structured, schema)
        return result

    def begin(self, name: str, /, **arguments: object) -> asyncio.Task[ExternalResult]:
        """Call a tool, and do something else meanwhile."""
        return asyncio.create_task(self.call(name, **arguments))

    async def structured(self, name: str, /, **arguments: object) -> ParsedJson:
        """What a call gives that succeeds."""
        result = await self.call(name, **arguments)
        assert not result.is_error, text_of(result)
        return parsed(result.structured)

    async def failure(self, name: str, /, **arguments: object) -> ParsedJson:
        """What a call that fails says went wrong."""
        result = await self.call(name, **arguments)
        assert result.is_error, text_of(result)
        return parsed(result.structured)["error"]

    @property
    def task_id(self) -> TaskId:
        """Its conversation."""
        [agent] = [one for one in self.sessions.connected(self.client.owner) if one.key == self.client.key]
        assert agent.task_id is not None
        return agent.task_id

    async def asked(self, *, after: int = 0) -> ClineMessage:
        """What it waits for, once it is asked."""

        def open_question() -> ClineMessage | None:
            for task_id in self.agent.manager.tasks.open:
                question = self.agent.task(task_id).state.dialogue.asks.newest("tool", "command")
                if question is not None and question.ts > after:
                    return question
            return None

        return await until(open_question)

    async def answer(self, question: ClineMessage, response: ClineAskResponse, text: str | None = None) -> None:
        """What the person says to it."""
        await self.agent.manager.answer(self.task_id, question.ts, response, text)

    async def approved(self, name: str, /, **arguments: object) -> ExternalResult:
        """A call that the person approves, however often it asks."""
        call, seen = self.begin(name, **arguments), 0
        while not call.done():
            question = asyncio.create_task(self.asked(after=seen))
            await asyncio.wait({call, question}, return_when=asyncio.FIRST_COMPLETED)
            if question.done():
                seen = question.result().ts
                await self.answer(question.result(), "yesButtonClicked")
            else:
                question.cancel()
        return await call


def text_of(result: ExternalResult) -> str:
    """All texts of a result."""
    return "\n".join(str(block["text"]) for block in result.content if block["type"] == "text")


def notebook_file(path: Path, *sources: str) -> None:
    """A notebook of these code cells, c1, c2 …"""
    cells: list[JsonValue] = [
        {"cell_type": "code", "id": f"c{at}", "source": source, "metadata": {}, "outputs": [], "execution_count": None}
        for at, source in enumerate(sources, 1)
    ]
    written = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(written), encoding="utf-8")


@asynccontextmanager
async def program(
    home: Path,
    *sources: str,
    settings: GlobalSettings | None = None,
    policy: OperatorPolicy | None = None,
    trusted: bool = False,
    checkpoints: bool = False,
    notebooks: bool = True,
    engine: ApprovalEngine | None = None,
) -> AsyncIterator[Program]:
    """A program that works in a folder with a notebook ``a.ipynb`` of these code cells, if there are any."""
    workspace, current = home / "work", settings or GlobalSettings()
    workspace.mkdir(parents=True, exist_ok=True)
    if sources:
        notebook_file(workspace / "a.ipynb", *sources)
    if not notebooks:
        files = CheckpointService(home / "home", lambda: current, None) if checkpoints else None
        async with (
            running_agent(home, settings=current, policy=policy, files=files, trusted=trusted, engine=engine) as agent,
            _program(agent) as made,
        ):
            yield made
        return
    async with headless_notebooks(workspace) as opened:
        files = CheckpointService(home / "home", lambda: current, opened) if checkpoints else None
        async with (
            running_agent(
                home, settings=current, policy=policy, notebooks=opened, files=files, trusted=trusted, engine=engine
            ) as agent,
            _program(agent) as made,
        ):
            yield made


@asynccontextmanager
async def _program(agent: Agent) -> AsyncIterator[Program]:
    sessions = ExternalSessions(agent.manager)
    try:
        yield Program(agent, sessions)
    finally:
        await sessions.stop()
