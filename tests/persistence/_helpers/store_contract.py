"""What every store of tasks must do. A backend's tests derive from ``StoreContract`` and say how its store is made."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from hdsp_agent.errors import Conflict, InvalidInput, NotFound, StorageUnavailable, UnknownTask
from hdsp_agent.messages import ApiMessage, ClineMessage, HistoryItem, TaskId
from hdsp_agent.persistence import (
    ApiDraft,
    NewTaskRecord,
    RewindMark,
    StoredTaskState,
    SummaryDraft,
    TaskKey,
    TaskLog,
    TaskStore,
    ToolDraft,
)
from hdsp_agent.persistence._records import Place

from ..._helpers.timing import until


def said(log: TaskLog, text: str, *, ts: int | None = None, partial: bool | None = None) -> ClineMessage:
    return ClineMessage(ts=ts or log.next_ts(), type="say", say="text", text=text, partial=partial)


def asked(text: str) -> ApiDraft:
    return ApiDraft(role="user", content=text)


class StoreContract(ABC):
    @abstractmethod
    def make_store(self, home: Path) -> TaskStore:
        """A store on this home; two of them on the same home are two servers."""

    @abstractmethod
    def leave_behind(self, home: Path, task_id: TaskId, *, locked: bool) -> None:
        """Make a paused task look as if its process had died, or, without a lock, let go of it as earlier versions did."""

    @abstractmethod
    def place_on_disk(self, home: Path) -> Path:
        """The folder or file that the store cannot be without."""

    @asynccontextmanager
    async def store(self, home: Path) -> AsyncIterator[TaskStore]:
        store = self.make_store(home)
        await store.start()
        try:
            yield store
        finally:
            await store.stop()

    async def test_what_was_recorded_is_read_back_in_every_stream(self, tmp_path: Path) -> None:
        async with self.store(tmp_path / "home") as store:
            log = await store.create(NewTaskRecord(user="ada", task_key=TaskKey(owner="o", repo="r"), mode="code"))
            size = await store.size(log.task_id)
            message = said(log, "안녕 こんにちは \n\u2028 end")
            await log.put_ui(message, durable=True)
            record = await log.append_api(ApiDraft.of(ApiMessage(role="user", content="hi!", ts=5, is_summary=True)))
            summary = await log.append_summary(
                SummaryDraft(start_seq=1, end_seq=1, summary="s", original_tokens=100, summary_tokens=40)
            )
            tool = await log.append_tool(
                ToolDraft(tool_name="t", arguments={"a": [1]}, result={"x": None}, status="success", duration_ms=3)
            )
            mark = RewindMark(
                id="m", ts=log.next_ts(), ui_end=1, api_end=1, target_ts=1, api_cutoff=1, ui_from=1, api_hides=[(1, 1)]
            )
            await log.append_mark(mark)
            await log.put_artifact(b"x" * 5_000)
            assert await store.size(log.task_id) > size + 5_000
            reader = await store.view(log.task_id)
            for task in (log, reader):
                assert await task.ui.newest() == [message]
                assert await task.api.newest() == [record]
                assert await task.summaries.newest() == [summary]
                assert await task.tools.newest() == [tool]
                assert await task.marks.newest() == [mark]
            assert (record.seq, record.token_count, record.is_summary, record.ts) == (1, 1, True, 5)
            assert (summary.summary_id, summary.compression_ratio) == (1, 0.4)
            assert reader.metadata.user == "ada"
            assert reader.metadata.task_key.repo == "r"
            assert log.state.tool_call_count == 1
            assert log.state.compression_count == 1

    async def test_pages_are_read_from_either_end_and_add_up_to_everything(self, tmp_path: Path) -> None:
        async with self.store(tmp_path / "home") as store:
            log = await store.create(NewTaskRecord())
            await asyncio.gather(*(log.append_api(asked(str(number))) for number in range(1, 451)))
            assert [r.seq for r in await log.api.newest(3)] == [448, 449, 450]
            assert [r.seq for r in await log.api.newest(25)] == list(range(426, 451))
            assert [r.seq for r in await log.api.page(before=10, limit=4)] == [6, 7, 8, 9]
            assert [r.seq for r in await log.api.page(before=3, limit=4)] == [1, 2]
            assert [r.seq for r in await log.api.page(after=448, limit=4)] == [449, 450]
            assert [r.seq for r in await log.api.page(after=0, limit=2)] == [1, 2]
            assert [r.seq for r in await log.api.between(5, 9, limit=2, newest=True)] == [8, 9]
            assert [r.seq for r in await log.api.between(5, 9, limit=2, newest=False)] == [5, 6]
            assert [r.content async for r in log.api.iterate()] == [str(number) for number in range(1, 451)]
            assert [r.seq async for r in log.api.iterate(after=448)] == [449, 450]
            assert await log.api.count() == 450
            found = await log.api.get(7)
            assert found is not None and found.content == "7"
            assert await log.api.get(451) is None
            assert await log.api.page(before=1) == []
            with pytest.raises(InvalidInput):
                await log.api.page(before=1, after=1)
            with pytest.raises(InvalidInput):
                await log.api.newest(0)

    async def test_a_later_form_of_a_message_replaces_the_earlier_in_its_place(self, tmp_path: Path) -> None:
        async with self.store(tmp_path / "home") as store:
            log = await store.create(NewTaskRecord())
            messages = [said(log, f"first {number}") for number in range(100)]
            for message in messages:
                await log.put_ui(message)
            for place in (0, 50, 98):
                messages[place] = said(log, f"again {place}", ts=messages[place].ts)
                await log.put_ui(messages[place])
            reader = await store.view(log.task_id)
            for task in (log, reader):
                assert await task.ui.newest(2) == messages[-2:]
                assert await task.ui.newest(100) == messages
                assert await task.ui.page(before=messages[51].ts, limit=2) == messages[49:51]
                assert [m async for m in task.ui.iterate()] == messages
                assert await task.ui.count() == 100

    async def test_a_streaming_message_is_kept_when_it_begins_and_ends(self, tmp_path: Path) -> None:
        async with self.store(tmp_path / "home") as store:
            log = await store.create(NewTaskRecord())
            ts = log.next_ts()
            for length in range(1, 200):
                await log.put_ui(said(log, "x" * length, ts=ts, partial=True))
            reader = await store.view(log.task_id)
            begun = await reader.ui.newest()
            assert [m.ts for m in begun] == [ts]
            await log.put_ui(said(log, "whole", ts=ts, partial=False))
            await log.put_ui(said(log, "next"))
            assert [m.text for m in await reader.ui.newest()] == ["whole", "next"]

    async def test_what_was_on_screen_of_a_streaming_message_is_kept_when_its_task_is_let_go(
        self, tmp_path: Path
    ) -> None:
        async with self.store(tmp_path / "home") as store:
            log = await store.create(NewTaskRecord())
            ts = log.next_ts()
            for length in range(1, 50):
                await log.put_ui(said(log, "x" * length, ts=ts, partial=True))
            await log.close()
            reader = await store.view(log.task_id)
            assert [m.text for m in await reader.ui.newest()] == ["x" * 49]

    async def test_times_rise_over_restarts_even_if_the_clock_goes_back(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async with self.store(tmp_path / "home") as store:
            log = await store.create(NewTaskRecord())
            times = [log.next_ts() for _ in range(1000)]
            assert times == sorted(set(times))
            await log.put_ui(said(log, "last", ts=times[-1]))
            await log.close()
        monkeypatch.setattr(time, "time_ns", lambda: 1_000_000_000)
        async with self.store(tmp_path / "home") as store:
            log = await store.resume(log.task_id)
            assert log.next_ts() > times[-1]

    async def test_a_message_before_the_newest_one_is_refused(self, tmp_path: Path) -> None:
        async with self.store(tmp_path / "home") as store:
            log = await store.create(NewTaskRecord())
            early = log.next_ts()
            await log.put_ui(said(log, "late"))
            with pytest.raises(Conflict):
                await log.put_ui(said(log, "early", ts=early))
            assert [m.text for m in await log.ui.newest()] == ["late"]

    async def test_messages_that_begin_together_have_their_times_in_the_order_of_the_log(self, tmp_path: Path) -> None:
        async with self.store(tmp_path / "home") as store:
            log = await store.create(NewTaskRecord())
            new = [said(log, str(number), ts=-1) for number in range(50)]
            async with log.new_message() as ts:
                # They wait: this one has its time, and something else is recorded before it.
                others = [asyncio.create_task(log.append_ui(message)) for message in new]
                await log.append_api(asked("hi"), durable=True)
                await log.put_ui(said(log, "first", ts=ts))
            recorded = await asyncio.gather(*others)
            await log.append_ui(recorded[0])
            shown = await log.ui.newest(100)
            assert [message.text for message in shown] == ["first", *map(str, range(50)), "0"]
            assert [message.ts for message in shown] == sorted({message.ts for message in shown})
            assert [message.ts for message in shown[1:-1]] == [message.ts for message in recorded]

    async def test_a_sync_waits_for_the_first_line_too_though_whoever_appended_it_was_stopped(
        self, tmp_path: Path
    ) -> None:
        async with self.store(tmp_path / "home") as store:
            log = await store.create(NewTaskRecord())
            first = ClineMessage(ts=0, type="say", say="text", text="first words")
            appending = asyncio.create_task(log.append_ui(first, durable=True))
            await asyncio.sleep(0)
            appending.cancel()
            await log.sync()
            assert [message.text for message in await log.ui.newest()] == ["first words"]

    async def test_half_a_surrogate_pair_is_no_reason_to_lose_a_message(self, tmp_path: Path) -> None:
        async with self.store(tmp_path / "home") as store:
            log = await store.create(NewTaskRecord())
            await log.put_ui(said(log, "before").model_copy(update={"text": "a\ud83d b"}))
            reader = await store.view(log.task_id)
            assert [m.text for m in await reader.ui.newest()] == ["a? b"]

    async def test_a_finished_task_is_among_the_completed_and_can_only_be_read(self, tmp_path: Path) -> None:
        async with self.store(tmp_path / "home") as store:
            log = await store.create(NewTaskRecord())
            assert log.state.status == "initializing"
            log.update_state(status="processing", total_tokens_used=7)
            await log.append_api(asked("hi"))
            assert await store.tasks("running") == [log.task_id]
            await log.finish()
            assert (await store.tasks("running"), await store.tasks("completed")) == ([], [log.task_id])
            for change in (
                log.append_api(asked("late")),
                log.put_ui(said(log, "late")),
                log.finish(),
                log.save_state(),
            ):
                with pytest.raises(Conflict):
                    await change
            await log.close()
            state = await (await store.view(log.task_id)).read_state()
            assert (state.status, state.total_tokens_used, state.resumable) == ("completed", 7, False)
            assert state.completed_at is not None
            assert [r.content for r in await log.api.newest()] == ["hi"]

    async def test_a_failed_task_says_why(self, tmp_path: Path) -> None:
        async with self.store(tmp_path / "home") as store:
            log = await store.create(NewTaskRecord())
            await log.finish("failed", error="The model is gone.", resumable=True)
            state = await (await store.view(log.task_id)).read_state()
            assert (state.status, state.error, state.resumable) == ("failed", "The model is gone.", True)

    async def test_a_resumed_task_goes_on_where_it_ended(self, tmp_path: Path) -> None:
        async with self.store(tmp_path / "home") as store:
            log = await store.create(NewTaskRecord())
            await log.append_api(ApiDraft(role="system", content="You help."))
            for number in range(30):
                await log.append_api(asked(str(number)))
            await log.append_summary(
                SummaryDraft(start_seq=1, end_seq=9, summary="old", original_tokens=9, summary_tokens=3)
            )
            await log.finish("failed", error="x", resumable=True)
            log = await store.resume(log.task_id)
            assert await store.tasks("running") == [log.task_id]
            assert (log.state.status, log.state.error, log.state.completed_at) == ("processing", None, None)
            assert log.system_prompt is not None and log.system_prompt.content == "You help."
            assert log.last_api_seq == 31
            assert (await log.append_api(asked("more"))).seq == 32
            assert [r.seq for r in await log.api.newest(2)] == [31, 32]

    async def test_nobody_else_can_work_on_a_task_that_is_worked_on(self, tmp_path: Path) -> None:
        home = tmp_path / "home"
        async with self.store(home) as ours, self.store(home) as theirs:
            log = await ours.create(NewTaskRecord())
            await log.append_api(asked("mine"))
            for store in (ours, theirs):
                with pytest.raises(Conflict):
                    await store.resume(log.task_id)
                with pytest.raises(Conflict):
                    await store.delete(log.task_id)
                with pytest.raises(Conflict):
                    await store.amend(log.task_id, lambda state: state)
                assert await store.recover() == []
            assert [r.content for r in await (await theirs.view(log.task_id)).api.newest()] == ["mine"]
            await log.close()
            other = await theirs.resume(log.task_id)
            assert (await other.append_api(asked("theirs"))).seq == 2

    async def test_a_task_that_is_let_go_of_is_paused_however_often_it_is_looked_after(self, tmp_path: Path) -> None:
        async with self.store(tmp_path / "home") as store:
            closed, stopped = await store.create(NewTaskRecord()), await store.create(NewTaskRecord())
            for log in (closed, stopped):
                log.update_state(status="processing")
                await log.append_api(asked("hi"))
            await closed.close()
            assert await store.recover() == []
        async with self.store(tmp_path / "home") as store:
            assert await store.recover() == []
            assert set(await store.tasks("running")) == {closed.task_id, stopped.task_id}
            assert await store.tasks("completed") == []
            for task_id in (closed.task_id, stopped.task_id):
                state = await (await store.view(task_id)).read_state()
                assert (state.status, state.error, state.is_over) == ("paused", None, False)
                log = await store.resume(task_id)
                assert log.state.status == "processing"
                assert [r.content for r in await log.api.newest()] == ["hi"]

    @pytest.mark.parametrize(
        ("newest", "item", "locked", "status"),
        [
            ({"type": "say", "say": "text"}, "active", True, "failed"),
            ({"type": "ask", "ask": "tool"}, "active", True, "paused"),
            ({"type": "ask", "ask": "resume_task"}, "active", True, "paused"),
            ({"type": "ask", "ask": "tool", "isAnswered": True}, "active", True, "failed"),
            ({"type": "ask", "ask": "tool", "partial": True}, "active", True, "failed"),
            ({"type": "ask", "ask": "command_output"}, "active", True, "failed"),
            ({"type": "ask", "ask": "resume_completed_task"}, "completed", True, "completed"),
            ({"type": "say", "say": "text"}, "active", False, "paused"),
            ({"type": "ask", "ask": "completion_result"}, "completed", False, "completed"),
        ],
    )
    async def test_only_what_a_dead_process_was_working_on_has_failed(
        self, newest: dict[str, object], item: str, locked: bool, status: str, tmp_path: Path
    ) -> None:
        home = tmp_path / "home"
        async with self.store(home) as store:
            log = await store.create(NewTaskRecord())
            line = HistoryItem.model_validate(
                {"id": log.task_id, "number": 1, "ts": 1, "task": "t", "status": item}
                | {"tokensIn": 0, "tokensOut": 0, "totalCost": 0}
            )
            log.update_state(history_item=line)
            await log.append_ui(ClineMessage.model_validate({"ts": 1, **newest}))
        self.leave_behind(home, log.task_id, locked=locked)
        async with self.store(home) as store:
            state = await (await store.view(log.task_id)).read_state()
            assert (state.status, state.resumable) == (status, status == "failed")
            assert (state.error is not None and "processing" in state.error) is (status == "failed")
            place: Place = "running" if status == "paused" else "completed"
            assert await store.tasks(place) == [log.task_id]
            assert await store.recover() == []
            assert (await store.resume(log.task_id)).state.status == "processing"

    async def test_a_start_tells_what_a_crash_left(self, tmp_path: Path) -> None:
        async with self.store(tmp_path / "home") as store:
            log = await store.create(NewTaskRecord())
            await log.close()
        self.leave_behind(tmp_path / "home", log.task_id, locked=True)
        store = self.make_store(tmp_path / "home")
        recoveries = await store.start()
        assert [(recovery.task_id, recovery.status) for recovery in recoveries] == [(log.task_id, "failed")]
        await store.stop()

    async def test_looking_before_the_start_sees_everything_and_leaves_what_a_crash_left(self, tmp_path: Path) -> None:
        async with self.store(tmp_path / "home") as store:
            log = await store.create(NewTaskRecord(user="ada"))
            for number in range(5):
                await log.put_ui(said(log, str(number)))
            await log.close()
        self.leave_behind(tmp_path / "home", log.task_id, locked=True)
        store = self.make_store(tmp_path / "home")
        assert await store.tasks() == [log.task_id]
        reader = await store.view(log.task_id)
        assert (await reader.read_state()).status == "processing"
        assert await reader.ui.count() == 5
        (seen,) = await asyncio.to_thread(lambda: list(store.overviews(messages=2)))
        assert (seen.metadata.user, seen.state.status, [one.text for one in seen.first]) == (
            "ada", "processing", ["0", "1"]
        )  # fmt: skip
        assert (await asyncio.to_thread(store.overview, log.task_id, messages=0)).first == []
        await store.stop()
        store = self.make_store(tmp_path / "home")
        assert [recovery.task_id for recovery in await store.start()] == [log.task_id]
        await store.stop()

    async def test_who_asks_hears_whether_a_task_is_worked_on_and_changes_nothing(self, tmp_path: Path) -> None:
        home = tmp_path / "home"
        async with self.store(home) as store, self.store(home) as other:
            log = await store.create(NewTaskRecord())
            for asking in (store, other):
                with pytest.raises(Conflict):
                    await asking.check_at_rest(log.task_id)
            await log.append_api(asked("still mine"), durable=True)
            await log.close()
            await other.check_at_rest(log.task_id)
            self.leave_behind(home, log.task_id, locked=True)
            await store.check_at_rest(log.task_id)
            with pytest.raises(UnknownTask):
                await store.check_at_rest(TaskId("nobody"))

    async def test_a_store_whose_place_is_gone_says_so_until_it_is_back(self, tmp_path: Path) -> None:
        home = tmp_path / "home"
        async with self.store(home) as store:
            await (await store.create(NewTaskRecord())).close()
            await store.check_usable()
            kept = self.place_on_disk(home)
            kept.rename(tmp_path / "elsewhere")
            with pytest.raises(StorageUnavailable):
                await store.check_usable()
            (tmp_path / "elsewhere").rename(kept)
            await store.check_usable()

    async def test_half_a_surrogate_pair_in_the_state_is_no_reason_to_lose_it(self, tmp_path: Path) -> None:
        async with self.store(tmp_path / "home") as store:
            log = await store.create(NewTaskRecord(task_id=TaskId("half")))
            item = HistoryItem(id=log.task_id, number=1, ts=1, task="a\ud800b", tokens_in=1, tokens_out=2, total_cost=0)
            log.update_state(history_item=item)
            await log.finish()
        async with self.store(tmp_path / "home") as store:
            state = await (await store.view(TaskId("half"))).read_state()
            assert state.history_item is not None
            assert state.history_item.task == "a?b"

    async def test_changes_of_state_are_written_soon_and_when_asked(self, tmp_path: Path) -> None:
        async with self.store(tmp_path / "home") as store:
            log = await store.create(NewTaskRecord())
            reader = await store.view(log.task_id)
            item = HistoryItem(id=log.task_id, number=1, ts=1, task="t", tokens_in=0, tokens_out=0, total_cost=0)
            log.update_state(llm_call_count=1, last_activity="llm_call", history_item=item)
            for number in range(2, 50):
                log.update_state(llm_call_count=number)
            await log.save_state()
            state = await reader.read_state()
            assert (state.llm_call_count, state.history_item, state.last_activity) == (49, item, "llm_call")
            log.update_state(llm_call_count=50)

            async def written() -> bool:
                return (await reader.read_state()).llm_call_count == 50

            await until(written)

    async def test_the_state_of_a_task_at_rest_can_be_amended(self, tmp_path: Path) -> None:
        async with self.store(tmp_path / "home") as store:
            log = await store.create(NewTaskRecord())
            await log.finish()

            def pin(state: StoredTaskState) -> StoredTaskState:
                return state.model_copy(update={"pinned": True})

            await asyncio.gather(*(store.amend(log.task_id, pin) for _ in range(4)))
            state = await (await store.view(log.task_id)).read_state()
            assert (state.pinned, state.status) == (True, "completed")

    async def test_a_deleted_task_is_gone(self, tmp_path: Path) -> None:
        async with self.store(tmp_path / "home") as store:
            log = await store.create(NewTaskRecord())
            await log.finish()
            await store.delete(log.task_id)
            assert await store.tasks() == []
            with pytest.raises(UnknownTask):
                await store.view(log.task_id)

    async def test_ids_that_name_no_task_are_refused(self, tmp_path: Path) -> None:
        async with self.store(tmp_path / "home") as store:
            for ask in (store.view, store.resume, store.delete):
                with pytest.raises(UnknownTask):
                    await ask(TaskId("550e8400-e29b-41d4-a716-446655440000"))
                for bad in ("../x", "", ".", "a/b", "x\0", ".hidden"):
                    with pytest.raises(InvalidInput):
                        await ask(TaskId(bad))

    async def test_a_task_brought_from_elsewhere_keeps_its_id_once(self, tmp_path: Path) -> None:
        async with self.store(tmp_path / "home") as store:
            log = await store.create(NewTaskRecord(task_id=TaskId("roo-1")))
            assert log.task_id == "roo-1"
            with pytest.raises(Conflict):
                await store.create(NewTaskRecord(task_id=TaskId("roo-1")))
            await log.finish()
            with pytest.raises(Conflict):
                await store.create(NewTaskRecord(task_id=TaskId("roo-1")))

    async def test_artifacts_are_kept_once_under_their_hash(self, tmp_path: Path) -> None:
        async with self.store(tmp_path / "home") as store:
            log = await store.create(NewTaskRecord())
            data = b"\x00png" * 1000
            name = await log.put_artifact(data)
            assert name == hashlib.sha256(data).hexdigest() == await log.put_artifact(data)
            await log.finish()
            reader = await store.view(log.task_id)
            assert await reader.read_artifact(name) == data
            with pytest.raises(NotFound):
                await reader.read_artifact("0" * 64)
            with pytest.raises(InvalidInput):
                await reader.read_artifact("../state.json")

    async def test_many_tasks_at_once_keep_apart_and_in_order(self, tmp_path: Path) -> None:
        async with self.store(tmp_path / "home") as store:
            logs = await asyncio.gather(*(store.create(NewTaskRecord()) for _ in range(20)))

            async def work(log: TaskLog) -> None:
                for number in range(30):
                    await asyncio.gather(
                        log.append_api(asked(f"{log.task_id} {number}"), durable=number % 10 == 0),
                        log.put_ui(said(log, f"{number}")),
                    )

            await asyncio.gather(*(work(log) for log in logs))
            for log in logs:
                assert [r.content async for r in log.api.iterate()] == [f"{log.task_id} {n}" for n in range(30)]
                assert [m.text async for m in log.ui.iterate()] == [str(n) for n in range(30)]

    async def test_pages_of_a_long_task_are_read_from_its_end(self, tmp_path: Path) -> None:
        async with self.store(tmp_path / "home") as store:
            log = await store.create(NewTaskRecord())
            messages = [said(log, f"message {number} " + "x" * 1000) for number in range(400)]
            await asyncio.gather(*(log.put_ui(message) for message in messages))
            reader = await store.view(log.task_id)
            assert await reader.ui.newest(100) == messages[-100:]
            assert await reader.ui.page(before=messages[-100].ts, limit=100) == messages[-200:-100]

    async def test_everything_logged_about_a_task_carries_its_id(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        with caplog.at_level(logging.INFO):
            async with self.store(tmp_path / "home") as store:
                log = await store.create(NewTaskRecord())
                await log.close()
                await store.recover()
        told = [record for record in caplog.records if record.name.startswith("hdsp_agent.persistence")]
        assert told
        for record in told:
            assert getattr(record, "task_id", None) == log.task_id
            assert f"[uuid:{log.task_id[:8]}]" in record.getMessage()
