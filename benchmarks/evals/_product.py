"""The product: the agent as a person has it whose profile is the embedded model, with everything approved."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

from pydantic import JsonValue

from hdsp_agent.agent import AskNotOpen, TaskManager, TaskRequest, build_agent
from hdsp_agent.config import ContextProxy, OperatorPolicy, SecretStore
from hdsp_agent.messages import ClineMessage, TaskId
from hdsp_agent.persistence import FileStore

from ._notebook_fixture import NotebookFixture
from ._runner import MOST_REQUESTS, MOST_TOKENS, Attempt, Claim, ReadyModel

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
_CLAIMS: Final[Mapping[str, Claim]] = {"checked": "checked", "unchecked": "unchecked", "not_done": "not_done"}
_COULD_NOT: Final = "I could not do this."
_NOT_VERIFIED: Final = "_Not verified: "
_MOST_TEXT: Final = 1500


async def run_product(fixture: NotebookFixture, ready: ReadyModel) -> Attempt:
    """Do the task as a task of the agent."""
    home = fixture.folder.with_name(f"{fixture.folder.name}-home")
    async with _agent(home, fixture, ready) as (manager, store):
        request = TaskRequest(fixture.task.prompt, notebook=fixture.about, workspace=str(fixture.folder))
        task_id = await manager.start(request)
        attempt = Attempt()
        try:
            await _until_it_ends(manager, store, task_id, attempt, fixture.task.means)
        finally:
            if manager.tasks.opened(task_id) is not None:
                await manager.tasks.close(task_id)
            await _look_back(store, task_id, attempt)
        return attempt


@asynccontextmanager
async def _agent(
    home: Path, fixture: NotebookFixture, ready: ReadyModel
) -> AsyncIterator[tuple[TaskManager, FileStore]]:
    policy = OperatorPolicy()
    config, store = ContextProxy(home, policy, SecretStore(home, policy)), FileStore(home)
    async with AsyncExitStack() as stack:
        await config.start()
        stack.push_async_callback(config.stop)
        await config.profiles.update(config.profiles.current.id, {"apiProvider": "local", "apiModelId": ready.id})
        await store.start()
        stack.push_async_callback(store.stop)
        manager = build_agent(
            config, store, workspace=fixture.folder, overrides=_ALLOWED, notebooks=fixture.notebooks, local=ready.models
        )
        stack.push_async_callback(manager.stop)
        yield manager, store


async def _until_it_ends(
    manager: TaskManager, store: FileStore, task_id: TaskId, attempt: Attempt, means: int | None
) -> None:
    """Say yes to all, and to a question which cell is meant, else that the agent should decide; until it ends."""
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
                attempt.questions += 1
                await manager.answer(task_id, question.ts, "messageResponse", _reply(question.text or "", means))
        except AskNotOpen:
            continue


def _reply(question: str, means: int | None) -> str:
    """What the person says to a question: the cell they mean; or the choice that names none, if there is one."""
    try:
        suggestions = [str(one.get("answer", "")) for one in json.loads(question).get("suggest", [])]
    except (ValueError, AttributeError):
        suggestions = []
    fitting = [one for one in suggestions if (re.search(r"\d", one) is None) == (means is None)]
    if means is None:
        return fitting[0] if fitting else _NOTHING_MORE
    named = [one for one in fitting if re.search(rf"(?<!\d){means}(?!\d)", one)]
    return named[0] if named else f"Cell {means}"


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
    attempt.claim = _claimed(messages)
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


def _claimed(messages: Sequence[ClineMessage]) -> Claim:
    """How the last result says that it ended. A result that does not say so counts as done and checked."""
    for message in reversed(messages):
        if "completion_result" in (message.say, message.ask) and message.text:
            ending = message.to_wire().get("ending")
            state = ending.get("state") if isinstance(ending, dict) else _in_words(message.text)
            return _CLAIMS.get(str(state), "checked")
    return "none"


def _in_words(text: str) -> str:
    return "not_done" if text.startswith(_COULD_NOT) else "unchecked" if _NOT_VERIFIED in text else "checked"


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
