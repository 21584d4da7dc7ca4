"""Stored conversations over the channel: found, read, shown, deleted, each person their own."""

from __future__ import annotations

import asyncio
import json
import subprocess
from datetime import datetime
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from hdsp_agent.comm.history import ItemChange
from hdsp_agent.comm.identity import server_owner
from hdsp_agent.comm.services import Services
from hdsp_agent.errors import Conflict, UnknownTask
from hdsp_agent.messages import ClineMessage, HistoryItem, ModelFailure, TaskId
from hdsp_agent.persistence import HistoryQuery, MessageManager, NewTaskRecord
from tests._helpers.forked_python import forked_python
from tests._helpers.jupyter_fetch import Fetch
from tests.comm._helpers.stored_tasks import begin, eventually, keep
from tests.comm.channel._helpers.channel_panel import Panel
from tests.comm.conftest import Connect, messages

from .._helpers.postgres import TasksDatabase
from .._helpers.stored_tasks import is_worked_on, make_store, remove_history, remove_task, stored_ids, stored_state
from .._helpers.timing import until

ME = server_owner()
ROOT = Path(__file__).parents[2]
_OTHER_PROCESS = """
import asyncio, sys
from pathlib import Path
from hdsp_agent.messages import HistoryItem, TaskId
from hdsp_agent.persistence import NewTaskRecord, history_database, open_history
from hdsp_agent.persistence.history._state_database import StateDatabase
from tests._helpers.stored_tasks import backend_under_test, make_store

async def main(home, what, task_id):
    store, database = make_store(home), StateDatabase(history_database(home, backend_under_test()))
    index = open_history(store, backend_under_test(), database)
    await store.start()
    async with database, index:
        if what == "rename":
            await index.rename(task_id, "from elsewhere")
        elif what == "delete":
            await store.delete(TaskId(task_id))
            await index.forget([task_id])
        else:
            task = await store.create(NewTaskRecord(task_id=TaskId(task_id)))
            item = HistoryItem(id=task_id, number=1, ts=5, task="brought in", tokens_in=1, tokens_out=1, total_cost=0)
            task.update_state(history_item=item)
            await task.finish()
            await index.upsert(item)
    await store.stop()

asyncio.run(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3]))
"""


async def elsewhere(home: Path, what: str, task_id: str) -> None:
    """Let another process do it."""
    command = [forked_python(), "-c", _OTHER_PROCESS, str(home), what, task_id]
    await asyncio.to_thread(subprocess.run, command, check=True, cwd=ROOT)


async def listed(jp_fetch: Fetch, **query: str) -> dict[str, Any]:
    """A page of the history, as the panel asks for it."""
    page: dict[str, Any] = json.loads((await jp_fetch("hdsp-agent", "api", "history", params=query)).body)
    return page


def texts(page: dict[str, object], name: str) -> list[str]:
    listed = page[name]
    assert isinstance(listed, list)
    return [entry["task" if name == "taskHistory" else "text"] for entry in listed]


async def test_pages_follow_each_other_by_cursor_though_the_history_grows_meanwhile(
    services: Services, jp_fetch: Fetch
) -> None:
    for number in range(5):
        await keep(services, f"task {number}")
    more: dict[str, str] = {}
    seen: list[str] = []
    for _ in range(3):
        page = await listed(jp_fetch, sort="newest", limit="2", **more)
        seen += texts(page, "taskHistory")
        more = {"cursor": page["nextCursor"]} if page.get("nextCursor") else {}
        await keep(services, "one more")
    assert seen == [f"task {number}" for number in (4, 3, 2, 1, 0)]
    assert more == {}


async def test_a_search_says_where_it_found_what(services: Services, jp_fetch: Fetch) -> None:
    found = await keep(services, "그래프를 그려 줘", "판다스로 그립니다")
    await keep(services, "something else")
    page = await listed(jp_fetch, query="판다스", sort="mostRelevant")
    assert (page["total"], texts(page, "taskHistory")) == (1, ["그래프를 그려 줘"])
    assert [part["text"] for part in page["snippets"][found]["parts"] if part["found"]] == ["판다스"]


async def test_filters_narrow_the_history(services: Services, jp_fetch: Fetch) -> None:
    await keep(services, "about a notebook", notebook="work/a.ipynb")
    favorite = await keep(services, "a favourite")
    await services.history.change(ME, favorite, ItemChange(favorite=True))
    pages = [
        await listed(jp_fetch, **query)
        for query in ({"notebook": "work/a.ipynb"}, {"favorites": "true"}, {"until": "1"})
    ]
    assert [texts(page, "taskHistory") for page in pages] == [["about a notebook"], ["a favourite"], []]


async def test_older_messages_come_before_the_answer(services: Services, connect: Connect) -> None:
    task = await keep(services, *(f"message {number}" for number in range(7)))
    async with connect() as panel:
        await panel.ask("loadMessages", taskId=task, limit=3)
        (page,) = messages(panel, "messagesPage")
        assert texts(page, "clineMessages") == ["message 4", "message 5", "message 6"]
        assert page["hasOlderMessages"] is True
        ops = [frame["op"] for frame in panel.frames]
        assert ops.index("ack") > ops.index("msg")
        oldest = page["clineMessages"]
        assert isinstance(oldest, list)
        await panel.ask("loadMessages", taskId=task, beforeTs=oldest[0]["ts"], limit=50)
        page = messages(panel, "messagesPage")[-1]
        assert texts(page, "clineMessages") == [f"message {number}" for number in range(4)]
        assert page["hasOlderMessages"] is False


async def test_rewound_messages_are_not_among_those_shown(services: Services) -> None:
    task = await begin(services, *(f"message {number}" for number in range(30)))
    shown = await task.ui.newest(30)
    await MessageManager(task, []).rewind_to_timestamp(shown[3].ts)
    page = await services.history.messages(ME, task.task_id, limit=2)
    kept = [message.text for message in page.messages]
    assert kept in (["message 1", "message 2"], ["message 2", "message 3"])
    assert page.has_older
    await task.close()


async def test_a_conversation_is_shown_on_all_tabs_until_it_is_put_aside(services: Services, connect: Connect) -> None:
    task = await keep(services, "hello", "there")
    async with connect() as one, connect() as other:
        assert (await one.ask("showTaskWithId", taskId=task))["ok"]
        await other.until(lambda: len(messages(other, "state")) > 1)
        state = messages(other, "state")[-1]["state"]
        assert isinstance(state, dict)
        assert (state["currentTaskId"], texts(state, "clineMessages")) == (task, ["hello", "there"])
        assert state["canStartTasks"] is True
        async with connect() as late:
            late_state = messages(late, "state")[-1]["state"]
            assert isinstance(late_state, dict) and late_state["currentTaskId"] == task
        await other.ask("clearTask")
        await one.until(lambda: "currentTaskId" not in messages(one, "state")[-1]["state"])


async def test_a_conversation_nobody_works_on_tells_what_it_used_and_what_its_model_takes_in(
    services: Services, connect: Connect
) -> None:
    await services.config.profiles.update(
        "default", {"apiProvider": "anthropic", "apiModelId": "claude-sonnet-4-5-20250929"}
    )
    task = await begin(services, "Plot it")
    task.update_state(current_context_tokens=1234)
    await task.save_state()
    await task.finish()
    state = await state_after_reload(connect, task.task_id)
    usage, room = state["tokenUsage"], state["modelRoom"]
    assert (usage["contextTokens"], usage["totalCost"]) == (1234, 0.5)
    assert room["contextWindow"] >= 200_000
    # Of a model nobody knows there is nothing to tell.
    await services.config.profiles.update("default", {"apiModelId": "one-of-my-own"})
    assert "modelRoom" not in await state_after_reload(connect, task.task_id)


async def state_after_reload(connect: Connect, task_id: str) -> dict[str, Any]:
    """What a page begins with that is loaded while the conversation is on screen."""
    async with connect() as panel:
        assert (await panel.ask("showTaskWithId", taskId=task_id))["ok"]
    async with connect() as reloaded:
        state: dict[str, Any] = messages(reloaded, "state")[0]["state"]
        return state


@pytest.mark.each_backend
async def test_a_new_title_reaches_folder_index_and_all_tabs(
    services: Services, storage_dir: Path, connect: Connect, jp_fetch: Fetch
) -> None:
    task = await keep(services, "first words")
    async with connect() as panel:
        await services.history.change(ME, task, ItemChange(title="  A\nbetter name "))
        await panel.until(lambda: messages(panel, "taskHistoryItemUpdated"))
        item = messages(panel, "taskHistoryItemUpdated")[-1]["taskHistoryItem"]
        assert isinstance(item, dict) and item["title"] == "A better name"
        kept = stored_state(storage_dir, task)["history_item"]
        assert isinstance(kept, dict) and kept["title"] == "A better name"
        assert (await listed(jp_fetch, query="better"))["total"] == 1
        await services.history.change(ME, task, ItemChange(title=""))
        assert (await services.history.item(ME, task)).title is None


@pytest.mark.each_backend
async def test_deleting_takes_the_subtasks_along_and_tells_all_tabs(
    services: Services, storage_dir: Path, connect: Connect, jp_fetch: Fetch
) -> None:
    grandchild = await keep(services, "part of a part")
    child = await keep(services, "part", children=[grandchild])
    parent = await keep(services, "whole", children=[child])
    other = await keep(services, "other")
    async with connect() as one, connect() as two:
        ack = await one.ask("deleteTaskWithId", taskId=parent)
        assert sorted(ack["result"]) == sorted([parent, child, grandchild])
        await two.until(lambda: messages(two, "taskHistoryItemsRemoved"))
        assert stored_ids(storage_dir, "completed") == [other]
        assert texts(await listed(jp_fetch), "taskHistory") == ["other"]
        assert (await one.ask("deleteTaskWithId", taskId=parent))["error"]["code"] == "unknown_task"


async def test_subtasks_that_the_whole_does_not_list_go_too_unless_they_are_worked_on(services: Services) -> None:
    parent = await keep(services, "whole")
    child = await keep(services, "part", parent=parent)
    busy = await begin(services, "busy part", parent=parent)
    assert sorted(await services.history.delete(ME, [parent])) == sorted([parent, child])
    page = await services.history.page(ME, HistoryQuery())
    assert [hit.item.id for hit in page.hits] == [busy.task_id]
    await busy.close()


@pytest.mark.each_backend
async def test_a_subtask_that_is_worked_on_keeps_the_whole_family(services: Services, connect: Connect) -> None:
    child = await begin(services, "busy part")
    parent = await keep(services, "whole", children=[child.task_id])
    done = await keep(services, "done")
    async with connect() as panel:
        ack = await panel.ask("deleteMultipleTasksWithIds", ids=[done, parent])
        assert (ack["error"]["code"], ack["error"]["params"]["task"]) == ("conflict", child.task_id)
        assert "Stop it first" in ack["error"]["message"]
        for task in (parent, done, child.task_id):
            assert await services.history.has(ME, task)
    with pytest.raises(Conflict):
        await services.history.change(ME, child.task_id, ItemChange(title="x"))
    await child.close()


@pytest.mark.each_backend
async def test_an_entry_whose_folder_is_gone_can_be_deleted(services: Services, storage_dir: Path) -> None:
    task = await keep(services, "gone")
    remove_task(storage_dir, task)
    assert await services.history.delete(ME, [task]) == [task]
    assert not await services.history.has(ME, task)


async def test_what_is_told_late_of_a_deleted_task_does_not_bring_its_entry_back(
    services: Services, connect: Connect
) -> None:
    gone, other = await keep(services, "gone"), await keep(services, "other")
    item = await services.history.item(ME, gone)
    await services.history.delete(ME, [gone])
    async with connect() as panel:
        await services.history.put(ME, item)
        assert not await services.history.has(ME, gone)
        await services.history.change(ME, other, ItemChange(title="told after it"))
        await panel.until(lambda: messages(panel, "taskHistoryItemUpdated"))
        assert gone not in str(messages(panel, "taskHistoryItemUpdated"))


async def test_the_details_of_an_error_are_what_a_report_needs_and_no_key(services: Services, connect: Connect) -> None:
    key = "sk-ant-api03-" + "Ab3" * 31 + "AA"
    log = await begin(services, "secret plans")
    error = ClineMessage(
        ts=log.next_ts(), type="ask", ask="api_req_failed", text=f"refused {key} of me@example.com",
        model_failure=ModelFailure(kind="authentication"),
    )  # fmt: skip
    await log.put_ui(error)
    await log.finish()
    await services.config.profiles.update("default", {"apiProvider": "ollama", "ollamaModelId": "qwen"})
    async with connect() as panel:
        details = (await panel.ask("errorDetails", taskId=log.task_id, messageTs=error.ts))["result"]
        assert details["version"] == services.version
        assert (details["message"], details["kind"]) == ("api_req_failed", "authentication")
        assert (details["provider"], details["model"]) == ("ollama", "qwen")
        assert datetime.fromisoformat(details["time"]).timestamp() == error.ts / 1000
        said = json.dumps(details)
        assert "refused" in details["text"]
        assert key not in said and "me@example.com" not in said and "secret plans" not in said
        ack = await panel.ask("errorDetails", taskId=log.task_id, messageTs=1)
        assert ack["error"]["code"] == "not_found"


async def test_what_is_anothers_is_as_unknown_as_what_is_not_there(
    services: Services, connect: Connect, jp_fetch: Fetch
) -> None:
    theirs = await keep(services, "private thoughts", user="somebody-else")
    async with connect() as panel:
        for type_ in ("loadMessages", "showTaskWithId", "deleteTaskWithId", "exportTaskWithId"):
            ack = await panel.ask(type_, taskId=theirs)
            assert ack["error"]["code"] == "unknown_task", type_
        ack = await panel.ask("errorDetails", taskId=theirs, messageTs=1)
        assert ack["error"]["code"] == "unknown_task"
        ack = await panel.ask("deleteMultipleTasksWithIds", ids=[theirs])
        assert ack["error"]["code"] == "unknown_task"
        assert (await listed(jp_fetch, query="private"))["total"] == 0
        assert not messages(panel, "taskHistoryItemUpdated")
    with pytest.raises(UnknownTask):
        await services.history.change(ME, theirs, ItemChange(title="mine"))


async def test_costs_are_summed_over_subtasks(services: Services, connect: Connect) -> None:
    child = await keep(services, "part", cost=0.25)
    parent = await keep(services, "whole", cost=0.5, children=[child])
    async with connect() as panel:
        await panel.ask("getTaskWithAggregatedCosts", taskId=parent)
        (told,) = messages(panel, "taskWithAggregatedCosts")
        assert told["aggregatedCosts"] == {"totalCost": 0.75, "ownCost": 0.5, "childrenCost": 0.25}


@pytest.mark.each_backend
async def test_what_another_process_does_is_seen(services: Services, storage_dir: Path, connect: Connect) -> None:
    task = await keep(services, "shared")
    async with connect() as panel:
        await elsewhere(storage_dir, "rename", task)
        await panel.until(
            lambda: any(
                item["taskHistoryItem"].get("title") == "from elsewhere"
                for item in messages(panel, "taskHistoryItemUpdated")
            )
        )
        await elsewhere(storage_dir, "delete", task)
        await panel.until(lambda: messages(panel, "taskHistoryItemsRemoved"))


@pytest.mark.each_backend("postgres")
async def test_what_a_server_with_a_folder_of_its_own_does_is_seen(
    services: Services, tmp_path: Path, connect: Connect, jp_fetch: Fetch, postgres_database: TasksDatabase
) -> None:
    services.storage._look_seconds = 0.05
    item = HistoryItem(id="there", number=1, ts=5, task="of the other server", tokens_in=1, tokens_out=1, total_cost=0)
    other = make_store(tmp_path / "other-home")
    await other.start()
    async with connect() as panel:
        task = await other.create(NewTaskRecord(task_id=TaskId("there"), user=ME))
        task.update_state(history_item=item)
        await panel.until(lambda: titles(panel)[-1:] == [("there", None)])
        assert (await listed(jp_fetch, query="other server"))["total"] == 1
        postgres_database.end_sessions()
        # Nobody listens just now, it may be.
        task.update_state(history_item=item.model_copy(update={"title": "renamed"}))
        await task.save_state()

        async def is_renamed() -> bool:
            return bool((await listed(jp_fetch, query="renamed"))["total"] == 1)

        await until(is_renamed)
        await task.finish()
        await other.delete(task.task_id)
        await panel.until(
            lambda: [told["taskIds"] for told in messages(panel, "taskHistoryItemsRemoved")][-1:] == [["there"]]
        )
        assert (await listed(jp_fetch, query="renamed"))["total"] == 0
    await other.stop()


def titles(panel: Panel) -> list[tuple[object, object]]:
    """The tasks whose lines were sent, with their titles."""
    items = [told["taskHistoryItem"] for told in messages(panel, "taskHistoryItemUpdated")]
    return [(item["id"], item.get("title")) for item in items]


async def test_what_was_brought_in_without_a_name_belongs_to_whom_the_server_belongs(
    services: Services, storage_dir: Path, connect: Connect, jp_fetch: Fetch
) -> None:
    async with connect() as panel:
        await elsewhere(storage_dir, "import", "brought-in")
        await panel.until(lambda: messages(panel, "taskHistoryItemUpdated"))
        assert (await listed(jp_fetch, query="brought"))["total"] == 1
        assert (await panel.ask("loadMessages", taskId="brought-in"))["ok"]


@pytest.mark.each_backend
async def test_the_history_is_there_after_its_index_is_lost(services: Services, storage_dir: Path) -> None:
    task = await keep(services, "words to find")
    remove_history(storage_dir)

    async def found() -> int:
        return (await services.history.page(ME, HistoryQuery(text="words"))).total

    deadline = monotonic() + 60
    while not await found():
        assert monotonic() < deadline
        await asyncio.sleep(0.05)
    assert (await services.history.item(ME, task)).task == "words to find"


async def test_a_task_that_names_no_line_of_the_history_is_described_by_its_files(services: Services) -> None:
    store = await services.storage.store()
    from hdsp_agent.messages import ClineMessage
    from hdsp_agent.persistence import NewTaskRecord

    task = await store.create(NewTaskRecord(user=ME))
    await task.put_ui(ClineMessage(ts=task.next_ts(), type="say", say="text", text="never recorded"))
    await task.finish("failed", error="crashed")
    item = await services.history.item(ME, task.task_id)
    assert (item.task, item.status) == ("never recorded", "active")
    changed = await services.history.change(ME, task.task_id, ItemChange(favorite=True))
    assert (changed.task, changed.is_favorited) == ("never recorded", True)


@pytest.mark.each_backend
async def test_the_store_is_closed_with_the_server(services: Services) -> None:
    task = await begin(services, "still open")
    await services.stop()
    await eventually(lambda: not is_worked_on(services.storage.home, task.task_id))
