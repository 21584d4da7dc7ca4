"""Conversations of other programs come in whole: what they show, what the model would be sent, and what is said of them."""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hdsp_agent.errors import InvalidInput, NotFound
from hdsp_agent.messages import ClineMessage, TaskId
from hdsp_agent.persistence import (
    CondenseMark,
    HistoryIndex,
    Masker,
    NewTaskRecord,
    embedded_conversation,
)
from hdsp_agent.persistence._records import StoredTaskState
from hdsp_agent.persistence.exchange._import import import_tasks
from hdsp_agent.persistence.exchange._import_images import artifact_of_block, artifact_of_link
from hdsp_agent.persistence.history._state_database import StateDatabase
from hdsp_agent.persistence.sqlite._sqlite_store import SqliteStore

from .._helpers.long_tests import rounds
from ._helpers.import_fixtures import (
    CLINE,
    CONTEXT,
    KINDS,
    ROO,
    ROO_CHILD,
    SAMPLES,
    a_store,
    bring,
    histories,
    roo_sends,
    say,
    texts_of,
    told_texts,
    write_roo,
)


async def test_what_old_versions_called_their_messages_to_the_model_is_read_and_stays(tmp_path: Path) -> None:
    asked = [{"role": "user", "content": [{"type": "text", "text": "Plot it"}], "ts": 1764900000100}]
    folder = write_roo(tmp_path / "tasks" / "1764900000100", ui=[say(1764900000100, "Plot it")], api=asked)
    [recent] = folder.glob("api_conversation*.json")
    old = recent.rename(folder / "claude_messages.json")
    async with a_store(tmp_path / "home") as store:
        [task] = (await bring(tmp_path, store)).tasks
        assert task.outcome == "imported" and task.task_id is not None
        assert "Plot it" in (await told_texts(store, task.task_id))[1][0]
    assert old.exists()


async def test_a_roo_task_comes_in_with_both_histories_and_its_line_in_the_history(tmp_path: Path) -> None:
    async with a_store(tmp_path) as store:
        report = await bring(SAMPLES / "roo", store)
        assert [task.outcome for task in report.tasks] == ["imported", "imported"]
        assert set(await store.tasks("completed")) == {ROO, ROO_CHILD}
        ui, api = await histories(store, ROO)
        raw = json.loads((SAMPLES / f"roo/tasks/{ROO}/api_conversation_history.json").read_text(encoding="utf-8"))
        assert [texts_of(record) for record in api] == roo_sends(raw)
        shown = json.loads((SAMPLES / f"roo/tasks/{ROO}/ui_messages.json").read_text(encoding="utf-8"))
        assert [message.ts for message in ui] == [message["ts"] for message in shown]
        reader = await store.view(ROO)
        state = await reader.read_state()
        item = state.history_item
        assert item is not None
        assert (item.title, item.total_cost, item.tokens_in, item.workspace) == (
            "Rain bars",
            0.012,
            1200,
            "/home/ada/weather",
        )
        assert (item.ts, item.child_ids, item.status) == (1764900000100, [ROO_CHILD], "delegated")
        assert (state.status, state.resumable, state.llm_call_count, state.tool_call_count) == ("completed", True, 5, 3)
        child = await store.view(ROO_CHILD)
        assert (child.metadata.parent_task_id, child.metadata.root_task_id) == (ROO, ROO)
        assert [summary.summary async for summary in reader.summaries.iterate()] == [
            "Rainfall is to be plotted as bars."
        ]


async def test_an_imported_task_can_be_gone_on_with_and_its_summary_undone(tmp_path: Path) -> None:
    from hdsp_agent.persistence import MessageManager

    async with a_store(tmp_path) as store:
        await bring(SAMPLES / "roo", store)
        log = await store.resume(ROO)
        marks = [mark async for mark in log.marks.iterate()]
        manager = MessageManager(log, marks)
        condense = next(mark for mark in marks if isinstance(mark, CondenseMark))
        await manager.rewind_to_timestamp(condense.event_ts)
        sent = [texts_of(record) for record in await manager.api_history()]
        assert "Use bars, please." in sent[-1]
        assert "<task>" in sent[0]


async def test_what_is_wrong_with_messages_is_told_and_nothing_is_dropped(tmp_path: Path) -> None:
    async with a_store(tmp_path) as store:
        report = await bring(SAMPLES / "roo", store)
        first, second = report.tasks
        assert any("hologram_shown" in finding.reason for finding in first.findings)
        assert any("sparkle" in finding.reason for finding in first.findings)
        ui, _ = await histories(store, ROO)
        assert [message.text for message in ui if message.text == "from a later version"]
        assert any(message.say == "browser_action" for message in ui)
        assert any("out of order" in finding.reason for finding in second.findings)
        ui, api = await histories(store, ROO_CHILD)
        assert [message.ts - 1764900000200 for message in ui] == [0, 1, 2, 10]
        assert [texts_of(record) for record in api] == ["Check the units", "They are millimetres."]


async def test_a_cline_task_keeps_what_was_left_out_of_the_context_left_out(tmp_path: Path) -> None:
    async with a_store(tmp_path) as store:
        await bring(SAMPLES / "cline", store)
        ui, api = await histories(store, CLINE)
        assert [message.ask or message.say for message in ui] == ["text", "api_req_started", "followup", "text"]
        sent = " ".join(texts_of(record) for record in api)
        assert "Seven." in sent
        assert "old question" not in sent
        reader = await store.view(CLINE)
        item = (await reader.read_state()).history_item
        assert item is not None
        assert (item.is_favorited, item.workspace, item.total_cost) == (True, "/home/ada/words", 0.5)
        assert reader.metadata.task_key.task_source == "cline"
        assert reader.metadata.config["model"] == "a-model"


async def test_a_flat_contexts_folder_comes_in_with_its_summaries_in_force(tmp_path: Path) -> None:
    async with a_store(tmp_path) as store:
        report = await bring(SAMPLES / "contexts", store)
        assert [finding.place for finding in report.tasks[0].problems if "corrupt" in finding.reason] != []
        ui, api = await histories(store, CONTEXT)
        assert [texts_of(record) for record in api] == [
            "You help with weather data.", "The script was looked at.", '{"output":"print(mm)"}', "It is fixed.",
        ]  # fmt: skip
        assert [message.text for message in ui] == ["Fix the rain gauge script", "I look at it.", "It is fixed."]
        reader = await store.view(CONTEXT)
        assert (await reader.tools.newest())[0].result == "print(mm)"
        assert reader.metadata.task_key.task_source == "github"


async def test_the_early_layout_of_this_agent_comes_in_and_ids_that_are_none_are_mapped(tmp_path: Path) -> None:
    async with a_store(tmp_path) as store:
        await bring(SAMPLES / "early", store)
        ui, api = await histories(store, TaskId("task-001"))
        assert [message.text for message in ui] == ["Early days"] == [texts_of(record) for record in api]
        parent = (await store.view(TaskId("task-001"))).metadata.parent_task_id
        assert parent is not None
        assert " " not in parent


async def test_a_conversation_kept_in_a_notebook_comes_in(tmp_path: Path) -> None:
    memory = {"task_id": "task-9", "messages": [say(5, "in a notebook")], "api_history": []}
    source = tmp_path / "old.ipynb"
    source.write_text(json.dumps({"cells": [], "metadata": {"hdsp_agent": memory}, "nbformat": 4, "nbformat_minor": 5}))
    async with a_store(tmp_path / "home") as store:
        await bring(source, store)
        ui, _ = await histories(store, TaskId("task-9"))
        assert [message.text for message in ui] == ["in a notebook"]


async def test_the_conversation_that_a_notebook_carries_comes_in_once_as_words(tmp_path: Path) -> None:
    said = [{"ts": 5, "by": "agent", "text": "I look."}, {"ts": 6, "by": "agent", "text": "It is 6."}]
    carried = {"version": 1, "task_id": "task-9", "title": "Sum", "left_out": 0, "messages": said}
    source = tmp_path / "old.ipynb"
    metadata = {"hdsp_conversation": carried, "hdsp_agent": {"version": 1, "head": "a"}}
    source.write_text(json.dumps({"cells": [], "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}))
    async with a_store(tmp_path / "home") as store:
        await bring(source, store)
        assert (await bring(source, store)).count("already_there") == 1
        (task_id,) = await store.tasks()
        ui, api = await histories(store, task_id)
        assert task_id != "task-9" and [message.text for message in ui[1:]] == ["I look.", "It is 6."]
        assert [record.role for record in api] == ["user", "assistant", "user"]
        again = await embedded_conversation(await store.view(task_id), 10_000)
        assert again is not None and again["messages"] == said, "who said what is another one now"
        source.write_text(source.read_text().replace('"version": 1, "task_id"', '"version": 2, "task_id"'))
        report = await bring(source, store)
        assert report.count("failed") == 1 and "later version" in report.problems[0].reason


async def test_importing_twice_makes_one_task(tmp_path: Path) -> None:
    async with a_store(tmp_path) as store:
        await bring(SAMPLES / "roo", store)
        before = await histories(store, ROO)
        report = await bring(SAMPLES / "roo", store)
        assert report.count("already_there") == 2
        assert await histories(store, ROO) == before
        assert len(await store.tasks()) == 2


@pytest.mark.parametrize("where", ["roo/tasks", f"roo/tasks/{ROO}", f"roo/tasks/{ROO}/ui_messages.json"])
async def test_the_source_may_be_any_part_of_the_storage_folder(tmp_path: Path, where: str) -> None:
    async with a_store(tmp_path) as store:
        await bring(SAMPLES / where, store)
        assert ROO in await store.tasks()


async def test_a_dry_run_says_the_same_and_writes_nothing(tmp_path: Path) -> None:
    async with a_store(tmp_path) as store:
        dry = await bring(SAMPLES / "roo", store, dry_run=True)
        assert await store.tasks() == []
        wet = await bring(SAMPLES / "roo", store)
        assert dry.count("would_import") == wet.count("imported") == 2
        for one, other in zip(dry.tasks, wet.tasks, strict=True):
            assert (one.findings, one.ui_messages, one.api_messages, one.marks, one.title) == (
                other.findings, other.ui_messages, other.api_messages, other.marks, other.title,
            )  # fmt: skip


async def test_an_import_that_was_interrupted_is_made_anew(tmp_path: Path) -> None:
    async with a_store(tmp_path) as store:
        # What a killed import leaves: a task that names its origin, without a line for the history.
        log = await store.create(NewTaskRecord(task_id=ROO, config={"imported": {"from": "roo-code"}}))
        await log.put_ui(ClineMessage(ts=1, type="say", say="text", text="half"))
        await log.close()
        report = await bring(SAMPLES / "roo", store)
        assert report.count("imported") == 2
        ui, _ = await histories(store, ROO)
        assert len(ui) == 10


async def test_a_cancelled_import_leaves_no_half_task(tmp_path: Path) -> None:
    source = tmp_path / "tasks"
    for number in range(30):
        write_roo(source / f"t{number}", ui=[say(ts, "x") for ts in range(1, 300)], api=[])
    async with a_store(tmp_path / "home") as store:
        running = asyncio.create_task(bring(source, store))
        while not await store.tasks("running"):  # noqa: ASYNC110 -- only the folder tells
            await asyncio.sleep(0)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        for task_id in await store.tasks():
            assert (await (await store.view(task_id)).read_state()).history_item is not None
        await bring(source, store)
        assert len(await store.tasks("completed")) == 30


async def test_secrets_are_masked_everywhere_and_numbered_anew_in_each_task(tmp_path: Path) -> None:
    key = "ghp_9dK2mQ7xTfB4vLs8RzH1nWc6YpJ3gEa5UoXi"
    source = tmp_path / "tasks"
    for name in ("one", "two"):
        api = [
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "sh", "input": {"cmd": f"use {key}"}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": [{"type": "text", "text": key}]}]},
        ]  # fmt: skip
        write_roo(
            source / name, ui=[say(1, f"my token {key}")], api=api, item={"task": f"my token {key}", "title": key}
        )
    home = tmp_path / "home"
    async with a_store(home) as store:
        await import_tasks(source, store, None, masker=Masker(KINDS))
    written = b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())
    assert key.encode() not in written
    assert written.count(b"[GITHUB_TOKEN]") >= 8
    assert b"[GITHUB_TOKEN_2]" not in written


async def test_large_images_become_artifacts_and_small_ones_stay(tmp_path: Path) -> None:
    import base64

    data = bytes(range(256)) * 100
    encoded = base64.b64encode(data).decode()
    small = "data:image/png;base64,iVBORw0KGgo="
    block = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": encoded}}
    source = write_roo(
        tmp_path / "task-1",
        ui=[say(1, "look", images=[f"data:image/png;base64,{encoded}", small])],
        api=[{"role": "user", "content": [block]}],
    )
    async with a_store(tmp_path / "home") as store:
        await import_tasks(source, store, None, masker=Masker(KINDS))
        reader = await store.view(TaskId("task-1"))
        images = (await reader.ui.newest())[0].images or []
        link = artifact_of_link(images[0])
        assert link is not None
        assert images[1] == small
        assert await reader.read_artifact(link[0]) == data
        content = (await reader.api.newest())[0].content
        assert not isinstance(content, str)
        assert artifact_of_block(content[0]) == link


async def test_nothing_to_import_is_an_error_that_says_what_to_give(tmp_path: Path) -> None:
    async with a_store(tmp_path / "home") as store:
        with pytest.raises(InvalidInput, match="holds no conversation"):
            await bring(tmp_path, store)
        with pytest.raises(NotFound):
            await bring(tmp_path / "nowhere", store)


async def test_the_history_index_has_what_was_imported(tmp_path: Path) -> None:
    from hdsp_agent.persistence import HistoryQuery

    database = StateDatabase(tmp_path / "state.db")
    index = HistoryIndex(database)
    async with a_store(tmp_path) as store:
        await database.start()
        try:
            async with index:
                await import_tasks(SAMPLES / "roo", store, index, masker=None, user="ada")
                page = await index.search(HistoryQuery(text="강수량", owner="ada"))
                assert [hit.item.id for hit in page.hits] == [ROO]
                await index.forget([ROO])
                await import_tasks(SAMPLES / "roo", store, index, masker=None, user="ada")
                assert await index.get(ROO) is not None
        finally:
            await database.close()


async def test_the_sqlite_store_takes_imports_as_well(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "tasks.db")
    await store.start()
    try:
        await bring(SAMPLES / "roo", store)
        _, api = await histories(store, ROO)
        raw = json.loads((SAMPLES / f"roo/tasks/{ROO}/api_conversation_history.json").read_text(encoding="utf-8"))
        assert [texts_of(record) for record in api] == roo_sends(raw)
    finally:
        await store.stop()


async def test_a_task_of_our_own_home_comes_in_packed_or_not(tmp_path: Path) -> None:
    import gzip

    async with a_store(tmp_path / "old") as old:
        await bring(SAMPLES / "roo", old)
        expected = await told_texts(old, ROO)
        await old.amend(ROO, allowing_everything)
    log = tmp_path / "old/contexts/completed" / ROO / "messages.jsonl"
    log.with_name("messages.jsonl.gz").write_bytes(gzip.compress(log.read_bytes()))
    log.unlink()
    async with a_store(tmp_path / "new") as new:
        report = await bring(tmp_path / "old", new)
        assert report.count("imported") == 2
        assert report.problems == []
        assert await told_texts(new, ROO) == expected
        state = await (await new.view(ROO)).read_state()
        assert state.history_item is not None
        assert state.history_item.title == "Rain bars"
        # Who brings a conversation along does not decide what it may do here.
        assert state.history_item.approval_preset is None


def allowing_everything(state: StoredTaskState) -> StoredTaskState:
    assert state.history_item is not None
    item = state.history_item.model_copy(update={"approval_preset": "everything"})
    return state.model_copy(update={"history_item": item})


@pytest.mark.long
async def test_two_processes_that_import_the_same_at_once_make_each_task_once(tmp_path: Path) -> None:
    source, home = tmp_path / "tasks", tmp_path / "home"
    for number in range(40):
        write_roo(source / f"t{number}", ui=[say(ts, "x" * 300) for ts in range(1, 200)], api=[])
    script = """
import asyncio, sys
from pathlib import Path
from hdsp_agent.persistence import FileStore
from hdsp_agent.persistence.exchange._import import import_tasks
async def main():
    store = FileStore(Path(sys.argv[2]))
    await store.start()
    report = await import_tasks(Path(sys.argv[1]), store, None, masker=None)
    await store.stop()
    print(report.count("imported"), report.count("failed"))
asyncio.run(main())
"""
    commands = [sys.executable, "-c", script, str(source), str(home)]
    children = [await asyncio.create_subprocess_exec(*commands, stdout=asyncio.subprocess.PIPE) for _ in range(2)]
    said = [(await child.communicate())[0].split() for child in children]
    assert [child.returncode for child in children] == [0, 0]
    assert [int(failed) for _, failed in said] == [0, 0]
    assert sum(int(imported) for imported, _ in said) == 40
    async with a_store(home) as store:
        assert len(await store.tasks("completed")) == 40
        assert {await (await store.view(task_id)).ui.count() for task_id in await store.tasks()} == {199}


@pytest.mark.long
async def test_a_killed_import_can_be_run_again(tmp_path: Path) -> None:
    source = tmp_path / "tasks"
    for number in range(40):
        write_roo(source / f"t{number}", ui=[say(ts, "x" * 500) for ts in range(1, 400)], api=[])
    script = """
import asyncio, sys
from pathlib import Path
from hdsp_agent.persistence import FileStore
from hdsp_agent.persistence.exchange._import import import_tasks
async def main():
    store = FileStore(Path(sys.argv[2]))
    await store.start()
    await import_tasks(Path(sys.argv[1]), store, None, masker=None)
asyncio.run(main())
"""
    home = tmp_path / "home"
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", script, str(source), str(home))
    completed = home / "contexts/completed"
    while not completed.is_dir() or len(list(completed.iterdir())) < 5:
        assert child.returncode is None
        await asyncio.sleep(0.005)
    child.kill()
    await child.wait()
    async with a_store(home) as store:
        report = await bring(source, store)
        assert report.count("already_there") >= 5
        assert report.count("already_there") + report.count("imported") == 40
        for task_id in await store.tasks("completed"):
            reader = await store.view(task_id)
            assert await reader.ui.count() == 399
        assert len(await store.tasks()) == 40


@pytest.mark.skipif(sys.platform != "linux", reason="limits the size of files as Linux does")
def test_a_disk_that_refuses_ends_the_import_and_leaves_no_half_task(tmp_path: Path) -> None:
    write_roo(tmp_path / "tasks/t1", ui=[say(1, "small")], api=[])
    write_roo(tmp_path / "tasks/t2", ui=[say(ts, "x" * 1000) for ts in range(1, 3000)], api=[])
    script = """
import asyncio, resource, sys
from pathlib import Path
from hdsp_agent.errors import StorageUnavailable
from hdsp_agent.persistence import FileStore
from hdsp_agent.persistence.exchange._import import import_tasks
async def main():
    store = FileStore(Path(sys.argv[2]))
    await store.start()
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
    try:
        await import_tasks(Path(sys.argv[1]), store, None, masker=None)
    except StorageUnavailable:
        print(*await store.tasks())
    await store.stop()
asyncio.run(main())
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "tasks"), str(tmp_path / "home")],
        capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout.split()) == (0, ["t1"]), done.stderr


def tagged(rng: random.Random) -> Iterator[dict[str, object]]:
    """A history with tags as Roo Code and its older versions write them, and wrong ones."""
    names = ["s1", "s2", "gone"]
    markers = ["t1", "t2", "lost"]
    for number in range(rng.randint(1, 14)):
        message: dict[str, object] = {"role": rng.choice(["user", "assistant"]), "content": f"m{number}"}
        if rng.random() < 0.8:
            message["ts"] = 100 + number * 10
        if rng.random() < 0.15:
            message.update(role="user", isSummary=True, condenseId=rng.choice(names))
        elif rng.random() < 0.15:
            message.update(role="user", isTruncationMarker=True, truncationId=rng.choice(markers))
            message["content"] = f"marker {number}"
        else:
            if rng.random() < 0.4:
                message["condenseParent"] = rng.choice(names)
            if rng.random() < 0.4:
                message["truncationParent"] = rng.choice(markers)
        yield message


async def test_any_tags_give_the_history_that_roo_code_would_send(tmp_path: Path) -> None:
    rng = random.Random(7)
    cases = {f"t{number}": list(tagged(rng)) for number in range(rounds(25, 80))}
    for name, messages in cases.items():
        write_roo(tmp_path / "tasks" / name, ui=[say(1, "x")], api=messages)
    async with a_store(tmp_path / "home") as store:
        await bring(tmp_path / "tasks", store)
        for name, messages in cases.items():
            _, api = await histories(store, TaskId(name))
            ours = [text for record in api if not record.is_truncation_marker for text in [texts_of(record)]]
            roos = [text for text in roo_sends(messages) if not text.startswith("marker")]
            assert [text for text in ours if not text.startswith("marker")] == roos, messages
            assert any(r.is_truncation_marker or "marker" in texts_of(r) for r in api) == any(
                text.startswith("marker") for text in roo_sends(messages)
            ), messages
