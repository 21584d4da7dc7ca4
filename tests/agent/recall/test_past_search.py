"""Conversations, memory and notebooks are found by what was said and written in them, and by their person alone."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest

from hdsp_agent.agent.recall import PastSearch, past_search
from hdsp_agent.config import ContextProxy, OperatorPolicy, SecretStore
from hdsp_agent.errors import StorageUnavailable
from hdsp_agent.memory import Memories
from hdsp_agent.messages import ClineMessage, HistoryItem, JsonObject, TaskId
from hdsp_agent.persistence import (
    ApiDraft,
    HistoryIndex,
    MessageManager,
    NewTaskRecord,
    StateDatabase,
    TaskStore,
    history_database,
    open_history,
    task_records,
)
from hdsp_agent.recall import SourceOvertaken, open_recall

from ..._helpers.stored_tasks import backend_under_test, make_store

ME = "me"


@dataclass
class Past:
    """What a test searches."""

    store: TaskStore
    index: HistoryIndex
    search: PastSearch
    memories: Memories
    workspace: Path
    config: ContextProxy

    async def conversation(
        self, *said: str, owner: str = ME, profile: str | None = None, used_local_model: bool | None = None
    ) -> TaskId:
        log = await self.store.create(NewTaskRecord(user=owner, workspace=str(self.workspace)))
        last = 0
        for at, text in enumerate(said):
            message = await log.append_ui(
                ClineMessage(ts=1, type="say", say="text" if at % 2 == 0 else "completion_result", text=text)
            )
            last = message.ts
            await log.append_api(ApiDraft(role="user" if at % 2 == 0 else "assistant", content=text, ts=message.ts))
        item = HistoryItem(
            id=log.task_id,
            number=0,
            ts=last,
            task=said[0],
            tokens_in=0,
            tokens_out=0,
            total_cost=0,
            status="completed",
            api_config_name=profile,
        )
        log.update_state(history_item=item, used_local_model=used_local_model)
        await log.finish("completed")
        await self.index.upsert(item, text=said[0], owner=owner)
        return log.task_id

    async def found(self, text: str, owner: str = ME) -> list[tuple[str, str]]:
        return [(hit.source.kind, hit.passage.text) for hit in await self.search.search(owner, text)]


@asynccontextmanager
async def past(home: Path, policy: OperatorPolicy | None = None, *, off: bool = True) -> AsyncIterator[Past]:
    """What is searched by words alone, unless a test or its configuration says otherwise."""
    workspace = home / "work"
    workspace.mkdir(exist_ok=True)
    store = make_store(home / "home")
    database = StateDatabase(history_database(home / "home", backend_under_test()))
    index = open_history(store, backend_under_test(), database, source=lambda: task_records(store, ME))
    memories = Memories(home / "home", ME, lambda folder: None)
    policy = policy or OperatorPolicy()
    config = ContextProxy(home / "home", policy, SecretStore(home / "home", policy))

    async def opened_store() -> TaskStore:
        return store

    async def opened_index() -> HistoryIndex:
        return index

    search = past_search(
        open_recall(index, database),
        config=config,
        person=ME,
        workspace=workspace,
        memories=memories,
        store=opened_store,
        index=opened_index,
    )
    await config.start()
    if off:
        await config.update({"searchByMeaning": "off"})
    await store.start()
    try:
        async with database, index:
            yield Past(store, index, search, memories, workspace, config)
    finally:
        await store.stop()
        await config.stop()


async def test_what_was_said_is_found_with_who_said_it_and_when(tmp_path: Path) -> None:
    async with past(tmp_path) as at:
        task_id = await at.conversation(
            "Which columns has churn.csv?", "churn.csv has the columns age_months and plan."
        )
        await at.conversation("Plot the weather", "Here is the plot of rain.")
        await at.search.feed.catch_up(ME)
        [hit, *_] = await at.search.search(ME, "columns of churn.csv")
        assert hit.source.id == task_id and hit.passage.author in ("agent", "person")
        assert "churn.csv" in hit.snippet.text and hit.passage.ts > 0


async def test_what_is_said_just_now_is_found_and_what_was_taken_back_is_not(tmp_path: Path) -> None:
    async with past(tmp_path) as at:
        task_id = await at.conversation("Use the zebra palette", "The zebra palette is used.")
        at.search.feed.touched(task_id)
        assert len(await at.found("zebra palette")) == 2
        log = await at.store.resume(task_id)
        messages = [message async for message in log.ui.iterate()]
        assert await MessageManager(log).rewind_to_timestamp(messages[1].ts)
        await log.close()
        at.search.feed.touched(task_id)
        assert [text for _, text in await at.found("zebra palette")] == ["Use the zebra palette"]


async def test_what_was_taken_back_is_not_found_though_it_could_not_be_put_in_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with past(tmp_path) as at:
        task_id = await at.conversation("Use the zebra palette", "The zebra palette is used.")
        assert len(await at.found("zebra palette")) == 2
        log = await at.store.resume(task_id)
        messages = [message async for message in log.ui.iterate()]
        assert await MessageManager(log).rewind_to_timestamp(messages[1].ts)
        await log.close()
        at.search.feed.touched(task_id)
        failure: Exception = StorageUnavailable("The database is away.")

        async def fail(*_: object, **__: object) -> None:
            raise failure

        monkeypatch.setattr(at.search._recall, "replace", fail)
        for use in (at.found("zebra palette"), at.search.feed.catch_up(ME)):
            with pytest.raises(StorageUnavailable):
                await use
        # Others put it in each time.
        failure = SourceOvertaken()
        assert await at.found("zebra palette") == [] and at.search.feed.is_behind
        monkeypatch.undo()
        await at.search.feed.catch_up(ME)
        assert [text for _, text in await at.found("zebra palette")] == ["Use the zebra palette"]


async def test_nobody_finds_what_is_anothers(tmp_path: Path) -> None:
    async with past(tmp_path) as at:
        await at.conversation("The merger is called aardvark", "Noted.", owner="somebody")
        await at.search.feed.catch_up("somebody")
        await at.search.feed.catch_up(ME)
        assert await at.found("aardvark") == []
        assert await at.found("aardvark", owner="somebody")


async def test_what_was_deleted_is_gone_at_once_whoever_deleted_it(tmp_path: Path) -> None:
    async with past(tmp_path) as at:
        task_id = await at.conversation("The code word is xylophone", "Understood.")
        await at.search.feed.catch_up(ME)
        assert await at.found("xylophone")
        await at.store.delete(task_id)
        await at.index.forget([task_id])
        assert await at.found("xylophone") == []
        assert (await at.search._recall.outdated("conversation", {}, owner=ME)).gone == frozenset()


async def test_notes_what_was_learned_and_notebooks_are_found_too(tmp_path: Path) -> None:
    async with past(tmp_path) as at:
        at.memories.notes(ME).person().add("항상 polars를 쓴다", day="2026-01-01")
        at.memories.folder(ME).write("MEMORY.md", "# Task Group: churn\n\n- ages are in months\n")
        cell = nbformat.v4.new_code_cell("df = pl.read_csv('churn.csv')", id="load")
        cell.outputs = [nbformat.v4.new_output("stream", text="7,043 customers\n")]
        nbformat.write(nbformat.v4.new_notebook(cells=[cell]), at.workspace / "churn.ipynb")
        (at.workspace / "broken.ipynb").write_text("{")
        await at.search.feed.catch_up(ME)
        assert ("memory", "ages are in months") in [
            (kind, text.split("- ")[-1].strip()) for kind, text in await at.found("ages months")
        ]
        assert any("polars" in text for _, text in await at.found("polars를"))
        kinds = {kind for kind, text in await at.found("7,043 customers")}
        assert kinds == {"notebook"}
        (at.workspace / "churn.ipynb").unlink()
        await at.search.feed.catch_up(ME)
        assert await at.found("7,043 customers") == []


async def test_nothing_that_is_remembered_is_found_or_kept_in_the_index_where_memory_is_off(tmp_path: Path) -> None:
    async with past(tmp_path) as at:
        at.memories.notes(ME).person().add("always use zebra colours", day="2026-01-01")
        at.memories.folder(ME).write("MEMORY.md", "# Task Group: churn\n\n- zebra ages are in months\n")
        await at.conversation("the zebra palette")
        await at.search.feed.catch_up(ME)
        assert {kind for kind, _ in await at.found("zebra")} == {"memory", "conversation"}
        hurried: list[None] = []
        at.search.embedder.on_changed = lambda: hurried.append(None)
        await at.config.update({"memoryEnabled": False})
        assert len(hurried) == 1
        assert {kind for kind, _ in await at.found("zebra")} == {"conversation"}
        assert await at.search.search(ME, "zebra", kinds=frozenset({"memory"})) == ()
        assert (await at.search._recall.outdated("memory", {}, owner=ME)).gone == frozenset()
        await at.config.update({"memoryEnabled": True})
        assert {kind for kind, _ in await at.found("zebra")} == {"memory", "conversation"}
    async with past(tmp_path, OperatorPolicy(allow_memory=False)) as at:
        await at.search.feed.catch_up(ME)
        assert {kind for kind, _ in await at.found("zebra")} == {"conversation"}
        assert (await at.search._recall.outdated("memory", {}, owner=ME)).gone == frozenset()


async def test_a_notebook_of_another_workspace_cannot_be_opened_here(tmp_path: Path) -> None:
    cell = nbformat.v4.new_code_cell("rents = load()", id="load")
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        nbformat.write(nbformat.v4.new_notebook(cells=[cell]), tmp_path / name / f"{name}.ipynb")
    (tmp_path / "work").symlink_to(tmp_path / "first")
    async with past(tmp_path) as at:
        await at.search.feed.catch_up(ME)
        (tmp_path / "work").unlink()
        (tmp_path / "work").symlink_to(tmp_path / "second")
        await at.search.feed.catch_up(ME)
        hits = await at.search.search(ME, "rents")
        assert {hit.source.title for hit in hits} == {"first.ipynb", "second.ipynb"}
        here = await at.search.notebooks_here(hits)
        assert here == {str((tmp_path / "second" / "second.ipynb").resolve()): "second.ipynb"}


async def test_what_is_there_already_is_not_read_again(tmp_path: Path) -> None:
    async with past(tmp_path) as at:
        await at.conversation("One", "Two")
        assert await at.search.feed.catch_up(ME) == 1
        assert await at.search.feed.catch_up(ME) == 0


async def test_a_hidden_notebook_is_not_searched(tmp_path: Path) -> None:
    async with past(tmp_path) as at:
        (at.workspace / ".hdspignore").write_text("secret.ipynb\n")
        cell: JsonObject = {
            "cell_type": "code",
            "source": "walrus = 1",
            "id": "a",
            "metadata": {},
            "outputs": [],
            "execution_count": None,
        }
        (at.workspace / "secret.ipynb").write_text(
            json.dumps({"cells": [cell], "nbformat": 4, "nbformat_minor": 5, "metadata": {}})
        )
        await at.search.feed.catch_up(ME)
        assert await at.found("walrus") == []
