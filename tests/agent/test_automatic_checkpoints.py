"""Whose a change of the files is, and what goes back with a conversation, when things happen at the same time or fail."""

from __future__ import annotations

import asyncio
import shutil
import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hdsp_agent.agent.checkpoints.checkpoint_service import CheckpointService, SavedStep
from hdsp_agent.agent.checkpoints.file_rollback import WorkspaceRollback
from hdsp_agent.agent.conversation.side_effects import SideEffects
from hdsp_agent.checkpoints import AsyncFileCheckpoints, CheckpointRecord, FileLimits
from hdsp_agent.checkpoints.files.file_checkpoints import Anchor, FileCheckpoints
from hdsp_agent.checkpoints.files.records import Author
from hdsp_agent.config import GlobalSettings
from hdsp_agent.errors import HdspAgentError, StorageUnavailable, Unavailable, Unsupported
from hdsp_agent.messages import ConversationChange, FilesPreview, TakeBack, TaskId, UndoOrRedo
from hdsp_agent.providers import call_tool
from hdsp_agent.tools import ActionRequest, Risk, ToolContext, ToolResult

from ._helpers.scripted_agent import Agent, NoteArguments, Toolbox, WriteNote, running_agent, until

ONE, OTHER = TaskId("one"), TaskId("other")
WRITES = ActionRequest(frozenset({"shell"}), "execute_command")
SLOW = call_tool("slow", {"text": "deaf"}, id="s")
NOTE = call_tool("write_note", {"text": "a line"}, id="n")
DONE = call_tool("attempt_completion", {"result": "All done"}, id="end")


def kept_at(home: Path, settings: GlobalSettings | None = None) -> CheckpointService:
    current = settings or GlobalSettings()
    return CheckpointService(home / "home", lambda: current, None)


def work_in(home: Path) -> Path:
    folder = home / "work"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "note.txt").write_text("before\n")
    (folder / "mine.txt").write_text("before\n")
    return folder


async def step(history: CheckpointService, folder: Path, ts: int, task_id: TaskId = ONE) -> SavedStep:
    begun = SavedStep(history, folder, task_id, "execute_command")
    await begun.approved(WRITES, ts)
    return begun


@contextmanager
def failing(monkeypatch: pytest.MonkeyPatch, error: Exception) -> Iterator[None]:
    async def save(*_: object, **__: object) -> None:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(AsyncFileCheckpoints, "save", save)
        yield


@pytest.mark.parametrize("error", [StorageUnavailable("The disk is full."), RuntimeError("a slip of ours")])
async def test_what_the_person_changed_before_a_save_that_failed_stays_theirs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    folder, history = work_in(tmp_path), kept_at(tmp_path)
    (await step(history, folder, 1)).ended()
    await WorkspaceRollback(history).preview(folder, [ONE], 1, SideEffects())
    (folder / "mine.txt").write_text("mine\n")
    begun = SavedStep(history, folder, ONE, "execute_command")
    with failing(monkeypatch, error), pytest.raises(StorageUnavailable):
        await begun.approved(WRITES, 2)
    (folder / "note.txt").write_text("the agent's\n")
    begun.ended()
    await WorkspaceRollback(history).go_back(folder, [ONE], 1)
    assert (folder / "mine.txt").read_text() == "mine\n"
    await history.close()


@pytest.mark.parametrize(("risk", "kept"), [("write", "meanwhile\n"), ("shell", "before\n")])
async def test_of_what_changes_while_a_file_is_written_only_that_file_is_the_agents(
    tmp_path: Path, risk: Risk, kept: str
) -> None:
    folder, history = work_in(tmp_path), kept_at(tmp_path)
    begun = SavedStep(history, folder, ONE, "write_to_file")
    await begun.approved(ActionRequest(frozenset({risk}), "write_to_file", path="note.txt"), 1)
    (folder / "note.txt").write_text("the agent's\n")
    (folder / "mine.txt").write_text("meanwhile\n")
    begun.ended()
    await WorkspaceRollback(history).go_back(folder, [ONE], 1)
    # A command may change anything, so what changed while it ran cannot be told apart.
    assert [(folder / name).read_text() for name in ("note.txt", "mine.txt")] == ["before\n", kept]
    await history.close()


async def test_a_look_while_a_tool_works_does_not_take_its_work_for_the_persons(tmp_path: Path) -> None:
    folder, history = work_in(tmp_path), kept_at(tmp_path)
    begun = await step(history, folder, 1)
    (folder / "note.txt").write_text("the agent's\n")
    preview = await WorkspaceRollback(history).preview(folder, [ONE], 1, SideEffects())
    assert preview is not None
    assert ([change.path for change in preview.changes], preview.kept) == (["note.txt"], [])
    begun.ended()
    await WorkspaceRollback(history).go_back(folder, [ONE], 1)
    assert (folder / "note.txt").read_text() == "before\n"
    await history.close()


async def test_a_save_for_another_task_does_not_take_the_work_of_a_tool_for_the_persons(tmp_path: Path) -> None:
    folder, history = work_in(tmp_path), kept_at(tmp_path)
    one = await step(history, folder, 1)
    (folder / "note.txt").write_text("the agent's\n")
    (await step(history, folder, 5, OTHER)).ended()
    one.ended()
    await WorkspaceRollback(history).go_back(folder, [ONE], 1)
    assert (folder / "note.txt").read_text() == "before\n"
    await history.close()


async def test_going_back_with_one_conversation_keeps_what_another_one_did(tmp_path: Path) -> None:
    folder, history = work_in(tmp_path), kept_at(tmp_path)
    one = await step(history, folder, 1)
    (folder / "note.txt").write_text("the first one's\n")
    one.ended()
    other = await step(history, folder, 1, OTHER)
    (folder / "other.txt").write_text("the other one's\n")
    other.ended()
    preview = await WorkspaceRollback(history).preview(folder, [ONE], 1, SideEffects())
    assert preview is not None
    assert ([change.path for change in preview.changes], preview.kept) == (["note.txt"], ["other.txt"])
    operation = await WorkspaceRollback(history).go_back(folder, [ONE], 1)
    assert operation is not None
    assert (folder / "note.txt").read_text() == "before\n"
    assert (folder / "other.txt").read_text() == "the other one's\n"

    other = await step(history, folder, 2, OTHER)
    (folder / "other.txt").write_text("gone on\n")
    other.ended()
    await WorkspaceRollback(history).undo(folder, [ONE], operation)
    assert (folder / "note.txt").read_text() == "the first one's\n"
    assert (folder / "other.txt").read_text() == "gone on\n"
    await history.close()


@pytest.mark.parametrize("seen_by", ["a look", "the first one's next step", "its own next action"])
async def test_what_another_conversation_is_just_doing_stays_whatever_saved_it(tmp_path: Path, seen_by: str) -> None:
    folder, history = work_in(tmp_path), kept_at(tmp_path)
    one = await step(history, folder, 1)
    (folder / "note.txt").write_text("the first one's\n")
    one.ended()
    other = await step(history, folder, 1, OTHER)
    (folder / "other.txt").write_text("the other one's\n")
    if seen_by == "the first one's next step":
        (await step(history, folder, 2)).ended()
    elif seen_by == "its own next action":
        await other.approved(WRITES, 2)
    await WorkspaceRollback(history).go_back(folder, [ONE], 1)
    assert (folder / "note.txt").read_text() == "before\n"
    assert (folder / "other.txt").read_text() == "the other one's\n"
    other.ended()
    await WorkspaceRollback(history).go_back(folder, [OTHER], 1)
    assert not (folder / "other.txt").exists()
    await history.close()


async def test_a_file_that_a_step_says_it_wrote_goes_back_though_another_conversation_was_at_work(
    tmp_path: Path,
) -> None:
    folder, history = work_in(tmp_path), kept_at(tmp_path)
    other = await step(history, folder, 1, OTHER)
    one = SavedStep(history, folder, ONE, "write_to_file")
    await one.approved(ActionRequest(frozenset({"write"}), "write_to_file", path="note.txt"), 2)
    (folder / "note.txt").write_text("the first one's\n")
    (folder / "other.txt").write_text("the other one's\n")
    one.ended()
    await WorkspaceRollback(history).go_back(folder, [ONE], 1)
    assert (folder / "note.txt").read_text() == "before\n"
    assert (folder / "other.txt").read_text() == "the other one's\n"
    other.ended()
    await history.close()


async def test_what_a_tool_did_right_before_the_next_one_is_the_agents(tmp_path: Path) -> None:
    folder, history = work_in(tmp_path), kept_at(tmp_path)
    for ts in range(1, 9):
        begun = await step(history, folder, ts)
        (folder / "note.txt").write_text(f"{ts}\n" * ts)
        begun.ended()
    await WorkspaceRollback(history).go_back(folder, [ONE], 1)
    assert (folder / "note.txt").read_text() == "before\n"
    await history.close()


async def test_a_slow_save_is_told_and_neither_holds_up_the_agent_nor_the_end_of_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = work_in(tmp_path)
    history = kept_at(tmp_path, GlobalSettings.model_construct(checkpoint_timeout=0))
    slow = asyncio.Event()

    async def save(*_: object, **__: object) -> None:
        await slow.wait()

    monkeypatch.setattr(AsyncFileCheckpoints, "save", save)
    begun = SavedStep(history, folder, ONE, "execute_command")
    with pytest.raises(Unavailable, match="longer"):
        await begun.approved(WRITES, 1)
    begun.ended()
    await history.close()


@pytest.mark.parametrize("in_time", [False, True])
async def test_a_save_that_nobody_waited_for_is_the_state_before_only_if_it_was_made_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_time: bool
) -> None:
    folder = work_in(tmp_path)
    settings = [GlobalSettings()]
    history = CheckpointService(tmp_path / "home", lambda: settings[0], None)
    (await step(history, folder, 1)).ended()
    await WorkspaceRollback(history).preview(folder, [ONE], 1, SideEffects())
    settings[0] = GlobalSettings.model_construct(checkpoint_timeout=4 if in_time else 0)
    whole, may_end, saved = FileCheckpoints.save, threading.Event(), threading.Event()

    def slow(
        files: FileCheckpoints, reason: str, author: Author, anchor: Anchor, claims: Collection[str] | None = None
    ) -> CheckpointRecord:
        if not in_time:
            may_end.wait(60)
        record = whole(files, reason, author, anchor, claims)
        saved.set()
        may_end.wait(60)
        return record

    (folder / "mine.txt").write_text("mine\n")
    begun = SavedStep(history, folder, ONE, "execute_command")
    with monkeypatch.context() as patch:
        patch.setattr(FileCheckpoints, "save", slow)
        with pytest.raises(Unavailable, match="longer"):
            await begun.approved(WRITES, 2)
        (folder / "note.txt").write_text("half done\n")
        may_end.set()
        assert await asyncio.to_thread(saved.wait, 60)
    (folder / "note.txt").write_text("done\n")
    begun.ended()
    preview = await WorkspaceRollback(history).preview(folder, [ONE], 2, SideEffects())
    line = await history.timeline(folder)
    told = {
        record.reason: (record.message_ts, record.author) for record in reversed(await line.files.list(task_id=ONE))
    }
    if in_time:
        assert told["before execute_command"] == (2, "person") and preview is not None
        await WorkspaceRollback(history).go_back(folder, [ONE], 2)
        assert (folder / "note.txt").read_text() == "before\n"
    else:
        assert told["while execute_command"] == (None, "person") and preview is None
        assert told["before execute_command"] == (1, "person")
    await WorkspaceRollback(history).go_back(folder, [ONE], 1)
    assert (folder / "mine.txt").read_text() == "mine\n"
    await history.close()


async def test_a_step_that_was_stopped_while_it_was_saved_claims_nothing(tmp_path: Path) -> None:
    folder, history = work_in(tmp_path), kept_at(tmp_path)
    (await step(history, folder, 1)).ended()
    await WorkspaceRollback(history).preview(folder, [ONE], 1, SideEffects())
    begun = SavedStep(history, folder, ONE, "execute_command")
    saving = asyncio.create_task(begun.approved(WRITES, 2))
    await asyncio.sleep(0)
    saving.cancel()
    await asyncio.wait({saving})
    (folder / "mine.txt").write_text("mine\n")
    begun.ended()
    await WorkspaceRollback(history).go_back(folder, [ONE], 1)
    assert (folder / "mine.txt").read_text() == "mine\n"
    await history.close()


async def test_a_workspace_that_is_not_there_is_an_error_with_a_sentence(tmp_path: Path) -> None:
    history = kept_at(tmp_path)
    begun = SavedStep(history, tmp_path / "nothing", ONE, "execute_command")
    with pytest.raises(HdspAgentError, match="nothing"):
        await begun.approved(WRITES, 1)
    begun.ended()
    await history.close()


async def test_a_tool_that_is_slow_to_end_does_not_write_behind_what_was_brought_back(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [SLOW, DONE], files=kept_at(tmp_path)) as agent:
        task_id = await agent.start("The task")
        ask = await agent.asked(task_id, "tool")
        await agent.manager.answer(task_id, ask.ts, "yesButtonClicked")
        await until((agent.workspace / "slow.txt").exists)
        await agent.manager.messages.delete(task_id, ask.ts, files=True)
        assert not (agent.workspace / "slow.txt").exists()
        await agent.manager.messages.undo(task_id)
        assert (agent.workspace / "slow.txt").read_text() == "began\n"


async def test_a_task_that_works_is_not_stopped_for_what_is_switched_off(tmp_path: Path) -> None:
    settings = GlobalSettings(enable_checkpoints=False)
    async with running_agent(tmp_path, [[60.0]], settings=settings, files=kept_at(tmp_path, settings)) as agent:
        task_id = await agent.start("The task")
        await until(lambda: agent.model.requests)
        first = (await agent.ui(task_id))[0].ts
        with pytest.raises(Unsupported):
            await agent.manager.messages.rewind(task_id, first, files=True)
        assert await agent.asks(task_id, "resume_task") == []
        assert agent.manager.tasks.status(task_id) == "running"


async def test_files_come_back_if_the_mark_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with running_agent(tmp_path, [NOTE, DONE], files=kept_at(tmp_path)) as agent:
        task_id = await agent.start("The task")
        ask = await agent.asked(task_id, "tool")
        log = type(agent.task(task_id).state.conversation.log)
        await agent.manager.answer(task_id, ask.ts, "yesButtonClicked")
        await agent.completed(task_id)

        async def full(*_: object, **__: object) -> None:
            assert not (agent.workspace / "notes.txt").exists()
            raise StorageUnavailable("The disk is full.")

        with monkeypatch.context() as patch:
            patch.setattr(log, "append_mark", full)
            with pytest.raises(StorageUnavailable):
                await agent.manager.messages.delete(task_id, ask.ts, files=True)
        assert agent.notes() == ["a line"]
        await agent.manager.messages.delete(task_id, ask.ts, files=True)
        assert agent.notes() == []


async def test_whoever_asks_for_a_change_and_goes_away_leaves_it_whole(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [NOTE, DONE], files=kept_at(tmp_path)) as agent:
        task_id = await agent.start("The task")
        ask = await agent.asked(task_id, "tool")
        await agent.manager.answer(task_id, ask.ts, "yesButtonClicked")
        await agent.completed(task_id)
        asking = asyncio.create_task(agent.manager.messages.delete(task_id, ask.ts, files=True))
        await until(lambda: agent.notes() == [])
        asking.cancel()
        await asyncio.wait({asking})
        await agent.manager.messages.undo(task_id)
        assert agent.notes() == ["a line"]


async def test_a_call_does_not_go_with_a_later_call_of_the_same_answer_that_was_shown_before_it_ran(
    tmp_path: Path,
) -> None:
    first_call = call_tool("write_note", {"text": "first"}, id="a", stop=False)
    both = [*first_call, *call_tool("write_note", {"text": "second"}, id="b", index=1)]
    async with running_agent(tmp_path, [both, DONE], files=kept_at(tmp_path)) as agent:
        task_id = await agent.start("The task")
        first = await agent.asked(task_id, "tool")
        await agent.manager.answer(task_id, first.ts, "yesButtonClicked")
        second = await agent.asked(task_id, "tool", after=first.ts)
        await agent.manager.answer(task_id, second.ts, "yesButtonClicked")
        await agent.completed(task_id)
        assert agent.notes() == ["first", "second"]
        await agent.manager.messages.delete(task_id, second.ts, files=True)
        assert agent.notes() == ["first"]


async def test_all_calls_go_back_though_the_first_was_approved_with_words_later_than_the_second_was_shown(
    tmp_path: Path,
) -> None:
    first_call = call_tool("write_note", {"text": "first"}, id="a", stop=False)
    both = [*first_call, *call_tool("write_note", {"text": "second"}, id="b", index=1)]
    async with running_agent(tmp_path, [both, DONE], files=kept_at(tmp_path)) as agent:
        task_id = await agent.start("The task")
        first = await agent.asked(task_id, "tool")
        await agent.manager.answer(task_id, first.ts, "yesButtonClicked", "with care")
        second = await agent.asked(task_id, "tool", after=first.ts)
        await agent.manager.answer(task_id, second.ts, "yesButtonClicked")
        await agent.completed(task_id)
        change = TakeBack(operation="delete", message_ts=first.ts)
        preview = await agent.manager.messages.preview(task_id, change, files=True)
        assert preview.files is not None and not preview.files.incomplete
        await agent.manager.messages.delete(task_id, first.ts, files=True)
        assert agent.notes() == []


async def noted(agent: Agent, task_id: TaskId, *, after: int = 0) -> int:
    """Allow the next line in notes.txt; the time of the question."""
    ask = await agent.asked(task_id, "tool", after=after)
    await agent.manager.answer(task_id, ask.ts, "yesButtonClicked")
    return ask.ts


async def foreseen(agent: Agent, task_id: TaskId, change: ConversationChange) -> FilesPreview | None:
    return (await agent.manager.messages.preview(task_id, change, files=True)).files


async def test_who_goes_back_further_than_checkpoints_are_kept_is_told(tmp_path: Path) -> None:
    history = kept_at(tmp_path)
    async with running_agent(tmp_path, [NOTE, NOTE, DONE], files=history) as agent:
        task_id = await agent.start("The task")
        first = await noted(agent, task_id)
        second = await noted(agent, task_id, after=first)
        await agent.completed(task_id)
        whole = await foreseen(agent, task_id, TakeBack(operation="delete", message_ts=first))
        assert whole is not None and not whole.incomplete
        only = AsyncFileCheckpoints(
            agent.workspace, tmp_path / "home" / "checkpoints", FileLimits(checkpoints=2, kept_checkpoints=2)
        )
        await only.gc()
        half = await foreseen(agent, task_id, TakeBack(operation="delete", message_ts=first))
        assert half is not None and half.incomplete
        late = await foreseen(agent, task_id, TakeBack(operation="delete", message_ts=second))
        assert late is not None and not late.incomplete


async def test_who_goes_back_to_what_a_fork_was_copied_from_is_told_that_files_stay(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [NOTE, DONE, NOTE, DONE], files=kept_at(tmp_path)) as agent:
        task_id = await agent.start("The task")
        copied = await noted(agent, task_id)
        result = await agent.completed(task_id)
        fork = await agent.manager.messages.fork(task_id, result.ts)
        change = TakeBack(operation="delete", message_ts=copied)
        of_the_copy = await foreseen(agent, fork, change)
        assert of_the_copy == FilesPreview(changes=[], more_changes=0, kept=[], open_notebooks=[], incomplete=True)
        of_the_other = await foreseen(agent, task_id, change)
        assert of_the_other is not None and not of_the_other.incomplete


async def test_an_undo_whose_files_are_not_kept_any_more_says_so(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [NOTE, DONE], files=kept_at(tmp_path)) as agent:
        task_id = await agent.start("The task")
        ask = await noted(agent, task_id)
        await agent.completed(task_id)
        await agent.manager.messages.delete(task_id, ask, files=True)
        shutil.rmtree(tmp_path / "home" / "checkpoints")
        assert await foreseen(agent, task_id, UndoOrRedo(operation="undo")) == FilesPreview(
            changes=[], more_changes=0, kept=[], open_notebooks=[], incomplete=True
        )


async def test_the_quota_is_that_of_the_settings_now(tmp_path: Path) -> None:
    settings = [GlobalSettings(checkpoint_quota_megabytes=1_000)]
    folder, history = work_in(tmp_path), CheckpointService(tmp_path / "home", lambda: settings[0], None)
    (await step(history, folder, 1)).ended()
    await WorkspaceRollback(history).preview(folder, [ONE], 1, SideEffects())
    settings[0] = GlobalSettings(checkpoint_quota_megabytes=100)
    (await step(history, folder, 2)).ended()
    await WorkspaceRollback(history).preview(folder, [ONE], 1, SideEffects())
    (workspace,) = history.opened.values()
    assert (await workspace.files.statistics()).quota_bytes == 100_000_000
    await history.close()


async def test_only_so_many_workspaces_are_remembered_and_none_that_is_worked_in(tmp_path: Path) -> None:
    history = kept_at(tmp_path)
    busy = work_in(tmp_path / "0")
    begun = await step(history, busy, 1)
    for number in range(1, 13):
        folder = work_in(tmp_path / str(number))
        (await step(history, folder, 1)).ended()
        await WorkspaceRollback(history).preview(folder, [ONE], 1, SideEffects())
    assert len(history.opened) == 8 and busy in history.opened
    begun.ended()
    first = tmp_path / "1" / "work"
    (first / "note.txt").write_text("mine\n")
    preview = await WorkspaceRollback(history).preview(first, [ONE], 1, SideEffects())
    assert preview is not None and preview.kept == ["note.txt"]
    await history.close()
    assert not history.opened


async def test_what_a_tool_did_before_it_failed_goes_back_too(tmp_path: Path) -> None:
    class WriteAndFail(WriteNote):
        async def _run(self, arguments: NoteArguments, context: ToolContext) -> ToolResult:
            await super()._run(arguments, context)
            raise RuntimeError("a slip of ours")

    tools = Toolbox()
    tools.add(WriteAndFail())
    async with running_agent(tmp_path, [NOTE, DONE, DONE], tools=tools, files=kept_at(tmp_path)) as agent:
        task_id = await agent.start("The task")
        ask = await noted(agent, task_id)
        await until(lambda: len(agent.model.requests) > 1)
        assert agent.notes() == ["a line"]
        await agent.manager.messages.delete(task_id, ask, files=True)
        assert agent.notes() == []
