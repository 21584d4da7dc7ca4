"""Programs come, rest, come back, and are told of what nobody knows any more."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from hdsp_agent.agent.external.loop import MOST_WAITING
from hdsp_agent.agent.external.port import ExternalClient
from hdsp_agent.agent.external.sessions import IDLE_SECONDS, ExternalSessions
from hdsp_agent.config import GlobalSettings
from hdsp_agent.errors import NotFound, Unavailable, Unsupported
from hdsp_agent.messages import JsonObject

from .._helpers.scripted_agent import until
from ._helpers.program import CLAUDE, Program, program, text_of

pytestmark = pytest.mark.filterwarnings("ignore:Passing unrecognized arguments:DeprecationWarning")

FREE = GlobalSettings(client_approvals={"Claude Code": "everything"})


async def test_a_program_is_listed_from_when_it_connects_to_when_it_leaves(tmp_path: Path) -> None:
    async with program(tmp_path, "x = 1", settings=FREE) as claude:
        changed: list[str | None] = []
        claude.sessions.on_changed = changed.append
        claude.sessions.connect(CLAUDE)
        [agent] = claude.sessions.connected(None)
        assert (agent.name, agent.version, agent.activity, agent.task_id) == ("Claude Code", "2.1", "idle", None)
        assert agent.approvals == "everything" and changed == [None]
        await claude.call("read_notebook", path="a.ipynb")
        [agent] = claude.sessions.connected(None)
        assert agent.task_id is not None and agent.notebook == "a.ipynb"
        assert await claude.sessions.disconnect(None, "k1")
        assert claude.sessions.connected(None) == [] and claude.agent.manager.tasks.open == []
        assert not await claude.sessions.disconnect(None, "k1")


async def test_who_rests_is_put_aside_and_goes_on_when_it_calls_again(tmp_path: Path) -> None:
    async with program(tmp_path, "x = 1", settings=FREE) as claude:
        at = [1_000_000_000.0]
        sessions = claude.sessions = ExternalSessions(claude.agent.manager, clock=lambda: at[0])
        await claude.call("list_kernels")
        task_id = claude.task_id
        at[0] += IDLE_SECONDS - 1
        await sessions.put_aside_idle()
        assert claude.agent.manager.tasks.opened(task_id) is not None
        at[0] += 2
        await sessions.put_aside_idle()
        assert claude.agent.manager.tasks.opened(task_id) is None and sessions.connected(None) == []
        await claude.call("list_kernels")
        assert claude.task_id == task_id
        await sessions.stop()


async def test_a_long_run_is_no_rest(tmp_path: Path) -> None:
    waits = "import pathlib, time\nwhile not pathlib.Path('go').exists(): time.sleep(0.01)"
    async with program(tmp_path, waits, settings=FREE) as claude:
        at = [1_000_000_000.0]
        sessions = claude.sessions = ExternalSessions(claude.agent.manager, clock=lambda: at[0])
        ran = await claude.structured("run_cells", path="a.ipynb", cells=["c1"], timeout=0)
        for _ in range(24):
            at[0] += IDLE_SECONDS
            await sessions.put_aside_idle()
            assert not (await claude.structured("wait_run", run=ran["run"], seconds=0))["done"]
        (claude.agent.workspace / "go").write_text("")
        assert bool((await claude.structured("wait_run", run=ran["run"], seconds=60))["done"])
        await sessions.stop()


async def test_a_server_that_was_killed_in_a_call_says_that_nobody_knows_its_outcome(tmp_path: Path) -> None:
    async with program(tmp_path, "x = 1", settings=FREE) as claude:
        await claude.call("list_kernels")
        task_id = claude.task_id
        conversation = claude.agent.task(task_id).state.conversation
        block: JsonObject = {"type": "tool_use", "id": "lost", "name": "run_cells", "input": {"path": "a.ipynb"}}
        # As a kill leaves it: begun, and without a result.
        await conversation.add_api("assistant", [block], durable=True)
        await conversation.create(conversation.ask_message("tool", '{"tool":"runCells"}'), durable=True)
        await claude.agent.manager.tasks.close(task_id)
        told = text_of(await claude.call("list_kernels"))
        assert claude.task_id == task_id
        assert "run_cells" in told and "Nobody knows whether they were done" in told
        assert "interrupted" in (await claude.agent.results(task_id))["lost"]
        [asked] = await claude.agent.asks(task_id, "tool")
        assert asked.is_answered is False
        assert "Nobody knows" not in text_of(await claude.call("list_kernels"))


async def test_a_program_is_known_again_after_a_restart(tmp_path: Path) -> None:
    async with program(tmp_path, settings=FREE) as claude:
        await claude.call("list_kernels")
        before = claude.task_id
        await claude.agent.manager.tasks.close(before)
        again = Program(claude.agent, ExternalSessions(claude.agent.manager))
        await again.call("list_kernels")
        assert again.task_id == before
        other = Program(claude.agent, again.sessions, replace(CLAUDE, key="k2"))
        await other.call("list_kernels")
        assert other.task_id != before
        await again.sessions.stop()


async def test_a_deleted_conversation_is_begun_anew(tmp_path: Path) -> None:
    async with program(tmp_path, settings=FREE) as claude:
        await claude.call("list_kernels")
        before = claude.task_id
        await claude.agent.manager.tasks.close(before)
        await claude.agent.store.delete(before)
        assert not (await claude.call("list_kernels")).is_error
        assert len(await claude.agent.results(claude.task_id)) == 1


async def test_two_people_have_programs_of_their_own(tmp_path: Path) -> None:
    async with program(tmp_path, settings=FREE) as claude:
        anna = Program(claude.agent, claude.sessions, replace(CLAUDE, owner="anna"))
        ben = Program(claude.agent, claude.sessions, replace(CLAUDE, owner="ben"))
        await asyncio.gather(anna.call("list_kernels"), ben.call("list_kernels"))
        assert anna.task_id != ben.task_id
        assert [agent.key for agent in claude.sessions.connected("anna")] == ["k1"]
        assert claude.sessions.connected(None) == []
        for one in (anna, ben):
            metadata = (await claude.agent.store.view(one.task_id)).metadata
            assert metadata.user == one.client.owner
        assert not await claude.sessions.disconnect("carl", "k1")


async def test_fifty_programs_work_at_a_time(tmp_path: Path) -> None:
    async with program(tmp_path, "x = 1", settings=FREE) as claude:
        programs = [Program(claude.agent, claude.sessions, replace(CLAUDE, key=f"k{number}")) for number in range(50)]
        results = await asyncio.gather(*(one.call("read_notebook", path="a.ipynb") for one in programs))
        assert not any(result.is_error for result in results)
        assert len({one.task_id for one in programs}) == 50


@pytest.mark.long
async def test_a_flood_of_calls_is_bounded(tmp_path: Path) -> None:
    async with program(tmp_path, "x = 1") as claude:
        waiting = [claude.begin("read_notebook", path="a.ipynb")]
        await claude.asked()
        waiting += [claude.begin("read_notebook", path="a.ipynb") for _ in range(MOST_WAITING - 1)]
        task = claude.agent.task(claude.task_id)
        assert task.external is not None
        await until(lambda: len(task.external._working) + len(task.external._waiting) == MOST_WAITING)  # type: ignore[union-attr]
        with pytest.raises(Unavailable, match="under way already"):
            await claude.call("read_notebook", path="a.ipynb")
        await claude.agent.manager.cancel(claude.task_id)
        results = await asyncio.gather(*waiting)
        assert all(result.is_error for result in results)


async def test_what_is_chosen_for_a_program_holds_for_all_of_its_name_at_once(tmp_path: Path) -> None:
    async with program(tmp_path, "x = 1") as claude:
        claude.sessions.connect(CLAUDE)
        assert claude.sessions.connected(None)[0].approvals == "ask"
        assert await claude.sessions.choose_approvals(None, "k1", "edit")
        assert claude.sessions.connected(None)[0].approvals == "edit"
        assert not (await claude.call("read_notebook", path="a.ipynb")).is_error
        assert await claude.sessions.choose_approvals(None, "k1", None)
        call = claude.begin("read_notebook", path="a.ipynb")
        await claude.answer(await claude.asked(), "noButtonClicked")
        assert (await call).is_error
        assert not await claude.sessions.choose_approvals(None, "other", "edit")


async def test_an_unknown_tool_is_none(tmp_path: Path) -> None:
    async with program(tmp_path, settings=FREE) as claude:
        for name in ("attempt_completion", "ask_followup_question", "new_task", "nothing"):
            with pytest.raises(NotFound):
                await claude.call(name)
        refused = await claude.call("execute_command", command="true")
        assert refused.is_error and "There is no tool execute_command" in text_of(refused)


async def test_nobody_but_the_program_goes_on_with_its_conversation(tmp_path: Path) -> None:
    async with program(tmp_path, "x = 1", settings=FREE) as claude:
        await claude.call("read_notebook", path="a.ipynb")
        manager, task_id = claude.agent.manager, claude.task_id
        [asked] = await claude.agent.asks(task_id, "tool")
        with pytest.raises(Unsupported):
            await manager.messages.edit(task_id, asked.ts, "something else")
        with pytest.raises(Unsupported):
            await manager.messages.retry(task_id, asked.ts)
        with pytest.raises(Unsupported):
            await manager.condense(task_id)
        await manager.messages.rewind(task_id, asked.ts, keep=False)
        assert not (await claude.call("read_notebook", path="a.ipynb")).is_error
        fork = await manager.messages.fork(task_id, (await claude.agent.ui(task_id))[-1].ts)
        own = await manager.resume(fork)
        assert own.external is None and own.state.external_agent is None
        assert (await claude.agent.store.view(fork)).metadata.task_key.task_source == "jupyterlab"


async def test_a_name_is_no_instruction(tmp_path: Path) -> None:
    async with program(tmp_path, settings=FREE) as claude:
        (claude.agent.workspace / "secret.txt").write_text("the password")
        strange = Program(claude.agent, claude.sessions, ExternalClient(None, "@/secret.txt /init", key="s"))
        await strange.call("list_kernels")
        reader = await claude.agent.store.view(strange.task_id)
        assert "the password" not in str([record.content async for record in reader.api.iterate()])


async def test_what_another_server_works_on_is_not_waited_for(tmp_path: Path) -> None:
    async with program(tmp_path, settings=FREE) as claude:
        await claude.call("list_kernels")
        before = claude.task_id
        await claude.agent.manager.tasks.close(before)
        log = await claude.agent.store.resume(before)
        try:
            again = Program(claude.agent, ExternalSessions(claude.agent.manager))
            assert not (await again.call("list_kernels")).is_error
            assert again.task_id != before
            await again.sessions.stop()
        finally:
            await log.close()


async def test_no_rule_is_suggested_for_a_program(tmp_path: Path) -> None:
    async with program(tmp_path, "x = 1") as claude:
        call = claude.begin("read_notebook", path="a.ipynb")
        question = await claude.asked()
        suggested = await claude.agent.manager.suggest_rules(claude.task_id, question.ts)
        assert suggested.rules == () and suggested.reason is not None
        await claude.answer(question, "noButtonClicked")
        await call


async def test_a_conversation_that_a_person_opens_is_told_of_as_one_nobody_is_connected_to(tmp_path: Path) -> None:
    async with program(tmp_path, settings=FREE) as claude:
        await claude.call("list_kernels")
        task_id = claude.task_id
        assert claude.agent.task(task_id).state.status == "idle"
        await claude.sessions.disconnect(None, "k1")
        task = await claude.agent.manager.resume(task_id)
        await until(lambda: task.external is not None and task.state.status == "none")
        await claude.agent.manager.queue(task_id, "Are you there?")
        assert "Are you there?" in text_of(await claude.call("list_kernels"))
        assert task.state.status == "idle"


async def test_a_call_on_its_way_when_its_program_is_disconnected_is_not_begun(tmp_path: Path) -> None:
    async with program(tmp_path, settings=FREE) as claude:
        claude.sessions.connect(CLAUDE)
        writing = claude.begin("write_to_file", path="late.txt", content="late")
        # Its conversation is just being made.
        await asyncio.sleep(0)
        assert await claude.sessions.disconnect(None, "k1")
        with pytest.raises(Unavailable, match="before the call was begun"):
            await writing
        assert not (claude.agent.workspace / "late.txt").exists()
        assert claude.agent.manager.tasks.open == [] and claude.sessions.connected(None) == []
        # It may come again, as it came first.
        assert not (await claude.call("list_kernels")).is_error


async def test_a_program_under_another_name_does_nothing_under_the_first_ones_rules(tmp_path: Path) -> None:
    async with program(tmp_path, settings=FREE) as claude:
        await claude.call("list_kernels")
        before = claude.task_id
        claude.client = replace(CLAUDE, name="Somebody else")
        writing = claude.begin("write_to_file", path="a.txt", content="a")
        question = await claude.asked()
        assert claude.task_id != before
        [agent] = claude.sessions.connected(None)
        assert (agent.name, agent.approvals) == ("Somebody else", "ask")
        await claude.answer(question, "noButtonClicked")
        assert (await writing).is_error and not (claude.agent.workspace / "a.txt").exists()
