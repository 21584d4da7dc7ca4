"""A server that was killed while a conversation went back with its files: afterwards both went, or neither."""

from __future__ import annotations

import asyncio
import json
import signal
from pathlib import Path
from typing import Literal

import pytest

from hdsp_agent.agent.checkpoints.checkpoint_service import CheckpointService
from hdsp_agent.messages import Parts, TaskId
from hdsp_agent.providers import call_tool
from tests._helpers.forked_python import forked_python
from tests._helpers.long_tests import rounds

from ._helpers.killed_conversation import ALLOWED, before_the_second
from ._helpers.scripted_agent import Agent, running_agent, until

ROOT = Path(__file__).parents[2]
DONE = call_tool("attempt_completion", {"result": "All done"}, id="end")
_STEPS = range(1, 60, rounds(5, 1))


async def killed(home: Path, what: Literal["restore", "undo"], step: int) -> tuple[TaskId, bool]:
    """The task, and whether the process died rather than came to its end."""
    process = await asyncio.create_subprocess_exec(
        forked_python(), "-m", "tests.agent._helpers.killed_conversation", str(home), what, str(step),
        cwd=ROOT, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, _ = await asyncio.wait_for(process.communicate(), 120)
    assert process.returncode in (0, -signal.SIGKILL)
    return TaskId(out.decode().strip()), process.returncode != 0


def files_of(home: Path) -> CheckpointService:
    return CheckpointService(home / "home", lambda: ALLOWED, None)


async def seen(agent: Agent, task_id: TaskId) -> str:
    """How far the conversation goes, as a person sees it."""
    log = await agent.manager.tasks.open_log(task_id)
    try:
        shown = [message.text or "" for message in await log[1].ui_page()]
    finally:
        await log[0].close()
    return "".join(sign for sign in "ab" if any(f'"{sign}"' in text for text in shown))


async def both(agent: Agent, task_id: TaskId) -> tuple[str, str]:
    return "".join(agent.notes()), await seen(agent, task_id)


@pytest.mark.in_short(1)
@pytest.mark.slow
@pytest.mark.parametrize(("what", "before"), [("restore", "ab"), ("undo", "a")])
async def test_both_went_or_neither_wherever_it_was_killed(
    tmp_path: Path, what: Literal["restore", "undo"], before: str
) -> None:
    after = "a" if before == "ab" else "ab"
    halves, died = set(), True
    for number, step in enumerate(_STEPS):
        home = tmp_path / str(step)
        task_id, died = await killed(home, what, step)
        files = files_of(home)
        async with running_agent(home, settings=ALLOWED, files=files) as agent:
            left = await both(agent, task_id)
            half = await (await files.timeline(agent.workspace)).interrupted()
            if half is None:
                assert left == (after, after), f"at {step}"
            else:
                halves.add(left)
                choice: Literal["roll_back", "keep"] = "keep" if number % 2 else "roll_back"
                await agent.manager.checkpoints.look_after(agent.workspace, choice)
                assert await both(agent, task_id) == (left if choice == "keep" else (before, before)), f"at {step}"
                assert await (await files.timeline(agent.workspace)).interrupted() is None
                target = await before_the_second(agent, task_id)
                again = Parts(files=True, notebooks=True, overwrite=True)
                await agent.manager.checkpoints.restore(agent.workspace, target, again)
                assert agent.notes() == ["a"]
        if not died:
            break
    assert halves == {(after, before), (after, after)}, "it was never killed on either side of the mark"
    assert not died


async def test_after_keep_all_parts_say_the_same(tmp_path: Path) -> None:
    task_id, _ = await killed(tmp_path, "restore", 0)
    files = files_of(tmp_path)
    async with running_agent(tmp_path, settings=ALLOWED, files=files) as agent:
        checkpoints = agent.manager.checkpoints
        await checkpoints.look_after(agent.workspace, "keep")
        assert await both(agent, task_id) == ("a", "a")
        row = (await (await checkpoints.timeline(agent.workspace)).view()).operations[0]
        assert (row.kind, row.status) == ("restore", "left") and "conversation" in row.parts
        # It went back by itself, as it were: the person can still have it again.
        await agent.manager.messages.undo(task_id)
        assert await both(agent, task_id) == ("a", "ab")


async def test_the_conversation_itself_asks_and_goes_on_from_where_it_was(tmp_path: Path) -> None:
    task_id, _ = await killed(tmp_path, "restore", 0)
    async with running_agent(tmp_path, [DONE], settings=ALLOWED, files=files_of(tmp_path)) as agent:
        assert await both(agent, task_id) == ("a", "a")
        await agent.manager.resume(task_id)
        ask = await agent.asked(task_id, "followup")
        put_back = json.loads(ask.text or "")["suggest"][0]["answer"]
        await agent.manager.answer(task_id, ask.ts, "messageResponse", put_back)
        again = await agent.asked(task_id, "resume_completed_task")
        assert agent.notes() == ["a", "b"]
        shown = [message.text or "" for message in await agent.task(task_id).state.conversation.history.ui_page()]
        assert any('"b"' in text for text in shown) and not any(put_back in text for text in shown)
        await agent.manager.answer(task_id, again.ts, "messageResponse", "Go on")
        await until(lambda: agent.manager.tasks.opened(task_id) is None or None)
        assert "wrote b" in str(agent.model.requests) and put_back not in str(agent.model.requests)


async def test_another_conversation_asks_and_the_one_that_went_back_is_put_back(tmp_path: Path) -> None:
    task_id, _ = await killed(tmp_path, "restore", 0)
    async with running_agent(tmp_path, [DONE], settings=ALLOWED, files=files_of(tmp_path)) as agent:
        await agent.manager.resume(task_id)
        await agent.asked(task_id, "followup")
        other = await agent.start("Something else")
        ask = await agent.asked(other, "followup")
        put_back = json.loads(ask.text or "")["suggest"][0]["answer"]
        await agent.manager.answer(other, ask.ts, "messageResponse", put_back)
        await agent.completed(other)
        # It was open, and is put aside with its result as it was.
        await until(lambda: agent.manager.tasks.opened(task_id) is None or None)
        assert await both(agent, task_id) == ("ab", "ab")


async def test_a_conversation_that_went_on_since_stays_and_the_rest_is_put_back(tmp_path: Path) -> None:
    task_id, _ = await killed(tmp_path, "restore", 0)
    files = files_of(tmp_path)
    async with running_agent(tmp_path, [DONE], settings=ALLOWED, files=files) as agent:
        await agent.manager.resume(task_id)
        ask = await agent.asked(task_id, "followup")
        await agent.manager.answer(task_id, ask.ts, "messageResponse", "Just go on")
        resume = await agent.asked(task_id, "resume_task")
        await agent.manager.answer(task_id, resume.ts, "yesButtonClicked")
        await until(lambda: agent.manager.tasks.opened(task_id) is None or None)
        await agent.manager.checkpoints.look_after(agent.workspace, "roll_back")
        assert await both(agent, task_id) == ("ab", "a")
        assert await (await files.timeline(agent.workspace)).interrupted() is None


async def test_a_conversation_deleted_since_is_left_out(tmp_path: Path) -> None:
    task_id, _ = await killed(tmp_path, "restore", 0)
    files = files_of(tmp_path)
    async with running_agent(tmp_path, settings=ALLOWED, files=files) as agent:
        await agent.manager.services.store.delete(task_id)
        await agent.manager.checkpoints.look_after(agent.workspace, "roll_back")
        assert agent.notes() == ["a", "b"] and await (await files.timeline(agent.workspace)).interrupted() is None
