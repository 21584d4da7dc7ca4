"""The product: the agent as a person has it whose profile is the embedded model, with everything approved."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

from pydantic import JsonValue

from hdsp_agent.agent import AskNotOpen, TaskManager, TaskRequest, build_agent
from hdsp_agent.config import ContextProxy, OperatorPolicy, SecretStore
from hdsp_agent.local import LocalModels
from hdsp_agent.messages import ClineMessage, TaskId
from hdsp_agent.persistence import FileStore

from ._notebook_fixture import NotebookFixture
from ._runner import MOST_REQUESTS, MOST_TOKENS, Attempt

__all__ = ["run_product"]

_ALLOWED: Final[dict[str, JsonValue]] = {
    "autoApprovalEnabled": True,
    "alwaysAllowReadOnly": True,
    "alwaysAllowWrite": True,
    "alwaysAllowRunCells": True,
    "alwaysAllowExecute": True,
    "alwaysAllowModeSwitch": True,
    "alwaysAllowSubtasks": True,
    "allowedMaxRequests": MOST_REQUESTS,
}
_YES: Final = frozenset({"tool", "command", "use_mcp_server"})
_NOTHING_MORE: Final = "Do as you think best."
_LOOK_SECONDS: Final = 0.05
_MOST_TEXT: Final = 1500


async def run_product(fixture: NotebookFixture, models: LocalModels) -> Attempt:
    """Do the task as a task of the agent."""
    home = fixture.folder.with_name(f"{fixture.folder.name}-home")
    async with _agent(home, fixture, models) as (manager, store):
        request = TaskRequest(fixture.task.prompt, notebook=fixture.about, workspace=str(fixture.folder))
        task_id = await manager.start(request)
        attempt = Attempt()
        try:
            await _until_it_ends(manager, store, task_id, attempt)
        finally:
            if manager.tasks.opened(task_id) is not None:
                await manager.tasks.close(task_id)
            await _look_back(store, task_id, attempt)
        return attempt


@asynccontextmanager
async def _agent(
    home: Path, fixture: NotebookFixture, models: LocalModels
) -> AsyncIterator[tuple[TaskManager, FileStore]]:
    policy = OperatorPolicy()
    config, store = ContextProxy(home, policy, SecretStore(home, policy)), FileStore(home)
    async with AsyncExitStack() as stack:
        await config.start()
        stack.push_async_callback(config.stop)
        await config.profiles.update(config.profiles.current.id, {"apiProvider": "local"})
        await store.start()
        stack.push_async_callback(store.stop)
        manager = build_agent(
            config, store, workspace=fixture.folder, overrides=_ALLOWED, notebooks=fixture.notebooks, local=models
        )
        stack.push_async_callback(manager.stop)
        yield manager, store


async def _until_it_ends(manager: TaskManager, store: FileStore, task_id: TaskId, attempt: Attempt) -> None:
    """Say yes to all, and to a question that the agent should decide; until there is an answer, or no going on."""
    answered: set[int] = set()
    while (task := manager.tasks.opened(task_id)) is not None:
        await asyncio.sleep(_LOOK_SECONDS)
        question = task.state.dialogue.asks.newest()
        if question is None:
            if await _tokens(store, task_id) >= MOST_TOKENS:
                attempt.ended = f"no answer within {MOST_TOKENS} tokens"
                return
            continue
        if question.ts in answered:
            continue
        answered.add(question.ts)
        if question.ask not in _YES and question.ask != "followup":
            if question.ask != "completion_result":
                attempt.ended = f"{question.ask}: {(question.text or '')[:200]}"
            return
        try:
            if question.ask in _YES:
                await manager.answer(task_id, question.ts, "yesButtonClicked")
            else:
                await manager.answer(task_id, question.ts, "messageResponse", _NOTHING_MORE)
        except AskNotOpen:
            continue


async def _messages(store: FileStore, task_id: TaskId) -> list[ClineMessage]:
    reader = await store.view(task_id)
    return [message async for message in reader.ui.iterate()]


async def _tokens(store: FileStore, task_id: TaskId) -> int:
    return sum(_written(message) for message in await _messages(store, task_id))


def _written(message: ClineMessage) -> int:
    if message.say != "api_req_started":
        return 0
    try:
        told = json.loads(message.text or "{}")
    except ValueError:
        return 0
    return int(told.get("tokensOut") or 0)


async def _look_back(store: FileStore, task_id: TaskId, attempt: Attempt) -> None:
    """What was said, and what it took."""
    messages = await _messages(store, task_id)
    attempt.requests = sum(message.say == "api_req_started" for message in messages)
    attempt.tokens = sum(map(_written, messages))
    results = [one.text or "" for one in messages if "completion_result" in (one.say, one.ask) and one.text]
    words = [one.text or "" for one in messages if one.say == "text" and one.text]
    attempt.answer = (results or words[1:] or [""])[-1]
    reader = await store.view(task_id)
    async for record in reader.api.iterate():
        content = record.content
        if isinstance(content, str):
            attempt.transcript.append(f"{str(record.role).upper()}: {content[:_MOST_TEXT]}")
            continue
        for block in content:
            attempt.transcript.append(_told(str(record.role), {**block}))
    attempt.transcript += [
        f"SHOWN {message.say}: {(message.text or '')[:300]}"
        for message in messages
        if message.say in ("error", "completion_result", "api_req_retried", "rooignore_error")
    ]


def _told(role: str, block: dict[str, JsonValue]) -> str:
    match block.get("type"):
        case "tool_use":
            return f"  CALL {block.get('name')} {json.dumps(block.get('input'), ensure_ascii=False)}"
        case "tool_result":
            content = block.get("content")
            text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
            return f"  RESULT {text[:_MOST_TEXT]}"
        case "text":
            return f"{role.upper()}: {str(block.get('text'))[:_MOST_TEXT]}"
        case kind:
            return f"{role.upper()}: [{kind}]"
