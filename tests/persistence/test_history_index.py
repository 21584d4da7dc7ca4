"""The history keeps what it was told, merges, sums, deletes with subtasks, and can be had again from the folders."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from blockbuster import blockbuster_ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from hdsp_agent.errors import UnknownTask
from hdsp_agent.messages import HistoryItem
from hdsp_agent.persistence.history._index import HistoryChange, HistoryIndex, HistoryRecord
from hdsp_agent.persistence.history._query import HistoryQuery

from .._helpers.long_tests import rounds
from ._helpers.history_samples import eventually, found, history, notebook, task

each_backend = pytest.mark.each_backend("files", "postgres")
FULL = task(
    "full", root_task_id="r", parent_task_id="p", ts=5, task="첫 요청", cache_writes=1, cache_reads=2, total_cost=0.25,
    size=10, workspace="/w", mode="code", api_config_name="default", status="delegated", delegated_to_id="d",
    child_ids=["c1", "c2"], awaiting_child_id="c1", completed_by_child_id="c2", completion_result_summary="끝",
    title="제목", is_favorited=True, forked_from="f", notebook=notebook("a.ipynb"),
)  # fmt: skip


@each_backend
async def test_every_field_comes_back(tmp_path: Path) -> None:
    async with history(tmp_path) as index:
        assert await index.upsert(FULL, owner="kim") == FULL
    async with history(tmp_path) as index:
        hit = await index.get("full")
        assert hit is not None and (hit.item, hit.owner) == (FULL, "kim")
        assert await index.get("absent") is None


@each_backend
async def test_an_update_keeps_what_it_does_not_state_and_drops_what_it_states_as_none(tmp_path: Path) -> None:
    async with history(tmp_path) as index:
        await index.upsert(FULL, owner="kim", text="본문")
        merged = await index.upsert(task("full", ts=6, task="첫 요청", awaiting_child_id=None))
        assert merged == FULL.model_copy(update={"ts": 6, "total_cost": 0.0, "awaiting_child_id": None})
        assert await found(index, "본문", owner="kim") == ["full"]


@each_backend
async def test_half_surrogates_and_numbers_that_are_none_do_no_harm(tmp_path: Path) -> None:
    async with history(tmp_path) as index:
        item = task("odd", total_cost=float("nan")).model_copy(update={"task": "a\ud800b", "title": "\udfff"})
        stored = await index.upsert(item, text="x\ud83dy", owner="\ud800")
        assert (stored.total_cost, stored.task) == (0.0, "a?b")
        assert await found(index, owner="\ud800") == ["odd"]
        assert (await index.get("odd")) is not None
        assert await index.get("\ud800") is None


@each_backend
async def test_a_title_is_kept_and_found(tmp_path: Path) -> None:
    async with history(tmp_path) as index:
        await index.upsert(task("t", task="원래 요청"), text="대화")
        assert (await index.rename("t", "  매출\n분석 ")).title == "매출 분석"
        assert await found(index, "매출", sort="mostRelevant") == ["t"]
        assert (await index.upsert(task("t", task="원래 요청", ts=9))).title == "매출 분석"
        assert (await index.rename("t", " ")).title is None
        assert await found(index, "매출") == []
        assert await found(index, "대화") == ["t"]


@each_backend
async def test_an_unknown_task_is_named(tmp_path: Path) -> None:
    async with history(tmp_path) as index:
        for action in (index.delete, index.costs, lambda task_id: index.rename(task_id, "x")):
            with pytest.raises(UnknownTask, match="nobody"):
                await action("nobody")


@each_backend
async def test_costs_add_up_over_subtasks_even_in_a_circle(tmp_path: Path) -> None:
    async with history(tmp_path) as index:
        await index.upsert(task("root", total_cost=1.0, child_ids=["a", "b", "gone"], parent_task_id="leaf"))
        await index.upsert(task("a", total_cost=2.0))  # known as a child by its parent only
        await index.upsert(task("b", total_cost=4.0, parent_task_id="root", child_ids=["root", "b"]))
        await index.upsert(task("leaf", total_cost=8.0, parent_task_id="b", tokens_in=100, tokens_out=0))
        await index.upsert(task("other", total_cost=16.0))
        costs = await index.costs("root")
        assert (costs.own_cost, costs.children_cost, costs.total_cost, costs.children) == (1.0, 14.0, 15.0, 3)
        assert costs.tokens == 3 * 11 + 100
        assert (await index.costs("other")).total_cost == 16.0


@each_backend
async def test_deleting_takes_the_subtasks_along_but_nobody_elses(tmp_path: Path) -> None:
    async with history(tmp_path) as index:
        await index.upsert(task("root", child_ids=["listed", "anothers"]))
        await index.upsert(task("listed"), text="목록")
        await index.upsert(task("named", parent_task_id="root"))
        await index.upsert(task("deep", parent_task_id="named"), text="깊은")
        await index.upsert(task("another", child_ids=["anothers"]))
        await index.upsert(task("anothers", parent_task_id="another"))
        removed = await index.delete("root")
        assert removed[0] == "root" and sorted(removed) == ["deep", "listed", "named", "root"]
        assert sorted(await found(index)) == ["another", "anothers"]
        assert await found(index, "깊은") == []
        assert await index.problems() == []


_IDS = st.sampled_from("abcdef")
_FAMILIES = st.lists(st.tuples(_IDS, st.none() | _IDS, st.lists(_IDS, max_size=3)), min_size=1, max_size=12)


@each_backend
async def test_no_family_however_tangled_hangs_or_counts_twice(tmp_path: Path) -> None:
    loop = asyncio.get_running_loop()
    async with history(tmp_path) as index:

        async def tangle(family: list[tuple[str, str | None, list[str]]]) -> None:
            for name, parent, children in family:
                await index.upsert(task(name, total_cost=1.0, parent_task_id=parent, child_ids=children))
            alive = {name for name, *_ in family}
            for name in sorted(alive):
                costs = await index.costs(name)
                assert costs.total_cost == costs.children + 1 <= len(alive)
            while alive:
                removed = await index.delete(min(alive))
                assert len(removed) == len(set(removed)) and set(removed) <= alive
                alive -= set(removed)

        @settings(max_examples=rounds(20, 60), deadline=None)
        @given(_FAMILIES)
        def any_family(family: list[tuple[str, str | None, list[str]]]) -> None:
            asyncio.run_coroutine_threadsafe(tangle(family), loop).result(120)

        await asyncio.to_thread(any_family)


def folders(count: int) -> Iterator[HistoryRecord]:
    for number in range(count):
        yield HistoryRecord(task(f"t{number}", ts=number, title="폴더의 제목"), f"본문 {number}번", "kim")


@each_backend
async def test_an_empty_index_fills_itself_from_the_folders(tmp_path: Path) -> None:
    changes: list[HistoryChange] = []
    async with history(tmp_path, source=lambda: folders(50), on_change=changes.append) as index:
        await eventually(index.is_complete)
        page = await index.search(HistoryQuery("본문", owner="kim"))
        assert page.total == 50
        await asyncio.sleep(0.05)
        assert [change.everything for change in changes] == [True]
    async with history(tmp_path, source=lambda: pytest.fail("it is complete")) as index:
        assert (await index.search(HistoryQuery())).total == 50


@each_backend
async def test_tasks_are_numbered_in_their_order_and_keep_their_numbers(tmp_path: Path) -> None:
    def numbered(**numbers: int) -> list[HistoryRecord]:
        began = {"a": "2026-01-03", "b": "2026-01-01", "c": "2026-01-02"}
        return [HistoryRecord(task(id_, number=number), began=began[id_]) for id_, number in numbers.items()]

    async def numbers(index: HistoryIndex) -> dict[str, int]:
        return {hit.item.id: hit.item.number for hit in (await index.search(HistoryQuery())).hits}

    # Of an older version none has a number; of an index that was lost some have.
    async with history(tmp_path / "old", source=lambda: numbered(a=0, b=0, c=0)) as index:
        await eventually(index.is_complete)
        assert await numbers(index) == {"b": 1, "c": 2, "a": 3}
        assert (await index.upsert(task("d", number=0))).number == 4
        assert (await index.upsert(task("b", number=0, ts=9))).number == 1
        await index.delete("d")
        assert (await index.upsert(task("e", number=0))).number == 5
    async with history(tmp_path / "lost", source=lambda: numbered(a=0, b=7, c=0)) as index:
        await eventually(index.is_complete)
        assert await numbers(index) == {"b": 7, "c": 8, "a": 9}


@each_backend
async def test_no_number_is_given_before_those_given_earlier_are_known(tmp_path: Path) -> None:
    begun, goes_on = threading.Event(), threading.Event()

    def slow() -> Iterator[HistoryRecord]:
        begun.set()
        assert goes_on.wait(60)
        yield HistoryRecord(task("old", number=1), began="2026-01-01")
        yield HistoryRecord(task("older", number=0), began="2025-01-01")

    async with history(tmp_path, source=slow) as index:
        await asyncio.to_thread(begun.wait)
        await index.upsert(task("new", number=0))
        goes_on.set()
        await eventually(index.is_complete)
        found = (await index.search(HistoryQuery())).hits
        assert {hit.item.id: hit.item.number for hit in found} == {"old": 1, "older": 2, "new": 3}


async def test_an_index_from_before_there_were_numbers_is_filled_anew(tmp_path: Path) -> None:
    async with history(tmp_path) as index:
        await index.upsert(task("t", number=3, title="kept"), owner="kim")
    with closing(sqlite3.connect(tmp_path / "state.db")) as old:
        old.execute("UPDATE history_items SET item = json_set(item, '$.number', 0)")
        old.execute("INSERT OR REPLACE INTO history_facts VALUES ('complete', 1)")
        old.execute("DELETE FROM history_facts WHERE name = 'numbers'")
        old.commit()
    record = HistoryRecord(task("t", number=0, size=77, state="paused"), owner="kim")
    async with history(tmp_path, source=lambda: [record]) as index:
        await eventually(index.is_complete)
        hit = await index.get("t")
    assert hit is not None and hit.item == task("t", number=1, size=77, state="paused", title="kept")


@each_backend
async def test_rebuilding_keeps_what_is_newer_and_drops_what_has_no_folder(tmp_path: Path) -> None:
    async with history(tmp_path) as index:
        await index.upsert(task("ghost"), text="유령")
        await index.upsert(task("t1", is_favorited=True))

        def slowly() -> Iterator[HistoryRecord]:
            # What happens while the folders are read is newer than what was read.
            asyncio.run_coroutine_threadsafe(index.upsert(task("t0", ts=77, tokens_in=5)), loop).result(60)
            asyncio.run_coroutine_threadsafe(index.upsert(task("late"), text="늦은"), loop).result(60)
            asyncio.run_coroutine_threadsafe(index.delete("t2"), loop).result(60)
            yield from folders(3)

        loop = asyncio.get_running_loop()
        await index.upsert(task("t2"))
        report = await index.rebuild(slowly())
        assert (report.put, report.removed) == (3, 1)
        assert sorted(await found(index)) == ["late", "t0", "t1"]
        first, second = await index.get("t0"), await index.get("t1")
        assert first is not None and second is not None
        assert (first.item.ts, first.item.tokens_in, first.item.title) == (77, 5, "폴더의 제목")
        assert await found(index, "0번") == ["t0"]
        assert second.item.is_favorited is True
        assert await index.problems() == []


@each_backend
async def test_a_folder_that_cannot_be_read_leaves_the_history_working(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def broken() -> Iterator[HistoryRecord]:
        yield from folders(30)
        raise OSError("the disk is gone")

    async with history(tmp_path, source=broken) as index:
        await eventually(lambda: _logged(caplog, "could not be rebuilt"))
        assert await found(index, "본문 19번") == ["t19"]
        await index.upsert(task("new"))
        assert not await index.is_complete()


async def _logged(caplog: pytest.LogCaptureFixture, text: str) -> bool:
    return text in caplog.text


@each_backend
async def test_stopping_in_the_middle_of_a_rebuilding_is_clean_and_the_next_start_finishes_it(tmp_path: Path) -> None:
    def endless() -> Iterator[HistoryRecord]:
        number = 0
        while True:
            yield HistoryRecord(HistoryItem.model_validate(task(f"e{number}")), "끝없이")
            number += 1

    async with history(tmp_path, source=endless) as index:
        await eventually(lambda: found(index, "끝없이"))
    async with history(tmp_path, source=lambda: folders(3)) as index:
        await eventually(index.is_complete)
        assert {"t0", "t1", "t2"} < set(await found(index, limit=500))
        await index.rebuild(folders(3))
        assert sorted(await found(index)) == ["t0", "t1", "t2"]


@each_backend
async def test_nothing_blocks_the_event_loop(tmp_path: Path) -> None:
    changes: list[HistoryChange] = []
    with blockbuster_ctx(scanned_modules=["hdsp_agent"]):
        async with history(tmp_path, source=lambda: folders(5), on_change=changes.append) as index:
            await eventually(index.is_complete)
            writing = [index.upsert(task(f"w{n}"), text="데이터 분석") for n in range(30)]
            reading = [index.search(HistoryQuery("데이터", sort="mostRelevant")) for _ in range(30)]
            await asyncio.gather(*writing, *reading)
            async with history(tmp_path) as neighbour:
                await neighbour.delete("w1")
                await eventually(lambda: _removal(changes))
            await index.rename("t1", "x")
            await index.costs("t1")


async def _removal(changes: list[HistoryChange]) -> bool:
    return any("w1" in change.removed for change in changes)
