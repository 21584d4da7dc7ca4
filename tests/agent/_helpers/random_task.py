"""A person and a model who do anything at any time, and what must hold however it goes."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from hdsp_agent.config import GlobalSettings
from hdsp_agent.errors import HdspAgentError
from hdsp_agent.messages import ClineAskResponse, ClineMessage, JsonObject, TaskEvent, TaskId, TaskSpawned
from hdsp_agent.persistence import INTERRUPTED
from hdsp_agent.providers import ModelError, ModelRequest, Stop, TextDelta, UsageReport, call_tool
from hdsp_agent.providers._scripted import Step

from ..context_window._helpers.small_window import asks_for_summary
from .scripted_agent import Agent, running_agent

__all__ = ["live"]

_DEEDS: Final = 30
"""Of each of two people."""
_MOST_TURNS: Final = 60
_PAUSES: Final = (0, 0, 0.001, 0.003, 0.01, 0.03)
_CALLS: Final[tuple[tuple[str, tuple[JsonObject, ...]], ...]] = (
    ("write_note", ({"text": "a"}, {"text": "b"})),
    ("look", ({"text": "a"}, {"text": "b"})),
    ("slow", ({"text": "x"}, {"text": "deaf"})),
    ("broken", ({"text": "bug"}, {"text": "fail"})),
    ("ask_followup_question", ({"question": "Which?"},)),
    ("new_task", ({"mode": "code", "message": "Find it"},)),
    ("switch_mode", ({"mode": "ask"}, {"mode": "code"}, {"mode": "nope"})),
    ("update_todo_list", ({"todos": ["a", "b"]},)),
    ("attempt_completion", ({"result": "done"},)),
    ("nope", ({},)),
)


async def live(home: Path, seed: int) -> None:
    """One life of a task and its subtasks, from the first words to the end."""
    life = _Life(random.Random(seed))
    settings = GlobalSettings(auto_approval_enabled=life.rng.random() < 0.3, always_allow_write=True)
    async with running_agent(home, [life.turn] * 2_000, settings=settings) as agent:
        task_id = await agent.start("Begin")
        life.begin(agent, task_id)
        await asyncio.gather(life.deeds(), life.deeds())
        await life.to_its_end(task_id)
        await life.check()


class _Life:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self._agent: Agent
        self._tasks: list[TaskId] = []
        self._turns = 0
        self._words = 0
        self._ends = False
        self._said: set[str] = set()
        self._unsaid: list[str] = []
        self._interrupted: set[str] = set()

    def begin(self, agent: Agent, task_id: TaskId) -> None:
        self._agent, self._tasks = agent, [task_id]
        agent.manager.tasks.events.on_any(self._spawned)

    def _spawned(self, event: TaskEvent) -> None:
        if isinstance(event, TaskSpawned):
            self._tasks += [TaskId(task_id) for task_id in event.payload if task_id not in self._tasks]

    # ---- the model

    def turn(self, request: ModelRequest) -> list[Step]:
        _assert_paired(request)
        if not asks_for_summary(request):
            self._interrupted |= _interrupted_in(request)
        rng, self._turns = self.rng, self._turns + 1
        turn = self._turns
        if self._ends or turn > _MOST_TURNS:
            return call_tool("attempt_completion", {"result": "done"}, id=f"end{turn}")
        steps: list[Step] = []
        if rng.random() < 0.5:
            steps += [TextDelta("thinking "), rng.choice(_PAUSES), TextDelta("aloud ")]
        kind = rng.random()
        if kind < 0.08:
            return [*steps, ModelError("Slow down.", kind="rate_limit", provider="x", retry_after=1)]
        if kind < 0.14:
            return steps or [TextDelta("cut")]
        if kind < 0.2:
            return [*steps, TextDelta("only words"), Stop("end")]
        for number in range(rng.choice([1, 1, 1, 2, 3])):
            name, arguments = rng.choice(_CALLS)
            steps += call_tool(name, rng.choice(arguments), id=f"k{turn}_{number}", index=number, stop=False)
            if rng.random() < 0.3:
                steps.append(rng.choice(_PAUSES))
        return [*steps, UsageReport(input=10, output=5), Stop("tool_use")]

    # ---- the person

    async def deeds(self) -> None:
        for _ in range(_DEEDS):
            await asyncio.sleep(self.rng.choice(_PAUSES))
            # What cannot be done is refused, and that is all.
            with suppress(HdspAgentError):
                await self._deed(self.rng.choice(self._tasks))

    async def _deed(self, task_id: TaskId) -> None:
        manager = self._agent.manager
        deeds: list[tuple[int, Callable[[], Awaitable[object]]]] = [
            (45, lambda: self._answer(task_id)),
            (15, lambda: manager.cancel(task_id)),
            (15, lambda: self._queue(task_id)),
            (8, lambda: self._send(task_id)),
            (5, lambda: manager.tasks.close(task_id)),
            (5, lambda: manager.resume(task_id)),
            (2, lambda: manager.switch_mode(task_id, "code")),
            (2, lambda: manager.condense(task_id)),
            (3, lambda: manager.update_todos(task_id, [])),
        ]
        weights, choices = zip(*deeds, strict=True)
        await self.rng.choices(choices, weights)[0]()

    def _word(self) -> str:
        self._words += 1
        return f"W{self._words}w"

    async def _answer(self, task_id: TaskId) -> None:
        task, rng = self._agent.manager.tasks.opened(task_id), self.rng
        if task is None or not (open_ := task.state.dialogue.asks.open):
            return
        question = rng.choice(open_)
        responses: list[ClineAskResponse] = [
            "yesButtonClicked",
            "yesButtonClicked",
            "noButtonClicked",
            "messageResponse",
        ]
        response = rng.choice(responses)
        words = self._word() if response == "messageResponse" or rng.random() < 0.3 else None
        await self._agent.manager.answer(task_id, question.ts, response, words)
        if words and not _ignores_words(question):
            self._said.add(words)

    async def _queue(self, task_id: TaskId) -> None:
        manager, rng, words = self._agent.manager, self.rng, self._word()
        queued = await manager.queue(task_id, words)
        self._said.add(words)
        then = rng.random()
        if then < 0.6:
            await asyncio.sleep(rng.choice(_PAUSES))
        if then < 0.3:
            await manager.tasks.get(task_id).state.queue.remove(queued.id)
            self._said.remove(words)
            self._unsaid.append(words)
        elif then < 0.6:
            other = self._word()
            await manager.tasks.get(task_id).state.queue.edit(queued.id, other)
            self._said.remove(words)
            self._unsaid.append(words)
            self._said.add(other)

    async def _send(self, task_id: TaskId) -> None:
        words = self._word()
        await self._agent.manager.send(task_id, words)
        self._said.add(words)

    # ---- the end

    async def to_its_end(self, first: TaskId) -> None:
        """The model is done with everything, and the person agrees."""
        self._ends = True
        manager, resting = self._agent.manager, Counter[TaskId]()
        # One that is done may be about to go on with what was said last.
        while manager.tasks.open or manager.tasks._settling or self._unfinished(first):
            if not manager.tasks.open and not manager.tasks._settling:
                for task_id in [first, *filter(self._unfinished, self._tasks)]:
                    with suppress(HdspAgentError):
                        await manager.resume(task_id)
            for task_id in list(manager.tasks.open):
                task = manager.tasks.opened(task_id)
                questions = [] if task is None else task.state.dialogue.asks.open
                resting[task_id] = 0 if questions else resting[task_id] + 1
                with suppress(HdspAgentError):
                    if resting[task_id] > 100:
                        # What would go on for minutes.
                        resting[task_id] = 0
                        await manager.cancel(task_id)
                    for question in questions:
                        await manager.answer(task_id, question.ts, "yesButtonClicked")
            await asyncio.sleep(0.005)

    def _unfinished(self, task_id: TaskId) -> bool:
        item = self._agent.history.items.get(task_id)
        return item is None or item.status != "completed"

    async def check(self) -> None:
        """Nobody's words were lost or told twice, and the log holds together."""
        said = ""
        self._said.add("Begin")
        for task_id in self._tasks:
            reader = await self._agent.store.view(task_id)
            records = [record async for record in reader.api.iterate()]
            # A summary carries what the person said over: that is not telling it again.
            told = [record for record in records if record.role == "user" and not record.is_summary]
            said += "\n".join(str(record.content) for record in told)
            results = [
                (str(block["tool_use_id"]), block["content"])
                for record in records
                for block in (record.content if isinstance(record.content, list) else [])
                if block.get("type") == "tool_result"
            ]
            assert len(results) == len(dict(results))
            assert not [call for call, content in results if call in self._interrupted and content != INTERRUPTED]
            shown = [message async for message in reader.ui.iterate()]
            assert not [message for message in shown if message.partial]
            assert not [message.text for message in shown if message.say == "error" and _is_ours(message)]
            assert [message.ts for message in shown] == sorted({message.ts for message in shown})
        # pytest does not rewrite the assertions of helpers.
        wrong = {words: said.count(words) for words in sorted(self._said) if said.count(words) != 1}
        assert not wrong, f"how often words were told: {wrong}"
        assert not [words for words in self._unsaid if words in said]


def _ignores_words(question: ClineMessage) -> bool:
    """Questions of the test's own tools that look at the button only."""
    text = question.text or ""
    return question.ask == "tool" and any(
        name in text for name in ("slow.txt", "newTask", "readFile", "updateTodoList")
    )


def _is_ours(message: ClineMessage) -> bool:
    return (message.text or "").startswith("The task stopped because of an error")


def _interrupted_in(request: ModelRequest) -> set[str]:
    """The calls that the model is told were interrupted."""
    return {
        str(block["tool_use_id"])
        for message in request.messages
        for block in (message.content if isinstance(message.content, list) else [])
        if block.get("type") == "tool_result" and block.get("content") == INTERRUPTED
    }


def _assert_paired(request: ModelRequest) -> None:
    """Each call has its one result right behind it."""
    waiting: list[object] = []
    for message in request.messages:
        blocks = message.content if isinstance(message.content, list) else []
        results = [block["tool_use_id"] for block in blocks if block.get("type") == "tool_result"]
        if message.role != "assistant":
            assert sorted(map(str, results)) == sorted(map(str, waiting))
        waiting = [block["id"] for block in blocks if block.get("type") == "tool_use"]
        assert len(waiting) == len(set(map(str, waiting)))
    assert not waiting
