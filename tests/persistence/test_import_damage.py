"""Whatever is wrong with another program's files, all that can be read comes in, and the rest is told."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from hdsp_agent.messages import TaskId
from hdsp_agent.persistence.exchange._import_json import ImportFindings, list_records

from ._helpers.import_fixtures import a_store, bring, histories, say, texts_of, write_roo

DAMAGED = {
    "torn in a message": ('[{"ts":1,"type":"say","say":"text","text":"a"},{"ts":2,"type":"say","say":"te', ["a"]),
    "torn between messages": ('[{"ts":1,"type":"say","say":"text","text":"a"},', ["a"]),
    "garbage between": (
        '[{"ts":1,"type":"say","say":"text","text":"a"},{"ts":2, oops "text":"b"},{"ts":3,"type":"say","say":"text","text":"c"}]',
        ["a", "c"],
    ),
    "not objects": ('[7,"x",null,{"ts":3,"type":"say","say":"text","text":"c"}]', ["c"]),
    "wrong types": ('[{"ts":"12","type":"say","say":"text","text":{"x":1},"images":"none","partial":"?"}]', ['{"x": 1}']),
    "infinite": ('[{"ts":NaN,"type":"say","say":"text","text":"a"},{"ts":1e999,"type":"say","say":"text","text":"b"}]', ["a", "b"]),
    "byte order mark": ('\ufeff[{"ts":1,"type":"say","say":"text","text":"a"}]', ["a"]),
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGED)
async def test_a_damaged_file_gives_all_that_can_be_read(tmp_path: Path, name: str) -> None:
    text, readable = DAMAGED[name]
    source = write_roo(tmp_path / "tasks/t1", ui=text)
    async with a_store(tmp_path / "home") as store:
        report = await bring(source.parent, store)
        ui, _ = await histories(store, TaskId("t1"))
        assert [message.text for message in ui] == readable
        assert report.tasks[0].findings


async def test_half_a_surrogate_pair_in_the_first_words_costs_no_task(tmp_path: Path) -> None:
    source = write_roo(tmp_path / "tasks/t1", ui='[{"ts":1,"type":"say","say":"text","text":"a\\ud800b"}]')
    write_roo(tmp_path / "tasks/t2", ui=[say(1, "fine")])
    async with a_store(tmp_path / "home") as store:
        report = await bring(source.parent, store)
        assert [task.outcome for task in report.tasks] == ["imported", "imported"]
        ui, _ = await histories(store, TaskId("t1"))
        assert [message.text for message in ui] == ["a?b"]


async def test_hopeless_files_are_told_and_the_others_come_in(tmp_path: Path) -> None:
    tasks = tmp_path / "tasks"
    write_roo(tasks / "binary", ui="\x00\x01\x02")
    write_roo(tasks / "empty", ui="")
    write_roo(tasks / "object", ui='{"a": [1]}')
    write_roo(tasks / "deep", ui="[" * 100_000)
    write_roo(tasks / "good", ui=[say(1, "fine")], item="{not json")
    (tasks / "pipe").mkdir()
    os.mkfifo(tasks / "pipe/ui_messages.json")
    async with a_store(tmp_path / "home") as store:
        report = await bring(tasks, store)
        assert {task.source.name: task.outcome for task in report.tasks} == {
            "binary": "empty", "empty": "empty", "object": "empty", "deep": "empty", "good": "imported",
        }  # fmt: skip
        assert all(task.problems for task in report.tasks)
        assert any(problem.path.name == "history_item.json" for problem in report.problems)


async def test_what_a_crash_of_roo_left_beside_the_file_is_found(tmp_path: Path) -> None:
    source = write_roo(tmp_path / "tasks/t1")
    (source / ".ui_messages.json.bak_1_x.tmp").write_text(json.dumps([say(1, "a")]))
    (source / ".ui_messages.json.new_1_x.tmp").write_text(json.dumps([say(1, "a"), say(2, "b")]))
    async with a_store(tmp_path / "home") as store:
        await bring(source.parent, store)
        ui, _ = await histories(store, TaskId("t1"))
        assert [message.text for message in ui] == ["a", "b"]


async def test_a_message_nested_beyond_reason_costs_only_itself(tmp_path: Path) -> None:
    deep = (
        '[{"role":"user","content":['
        + '{"type":"x","content":[' * 200
        + "]}" * 200
        + ']},{"role":"user","content":"b"}]'
    )
    odd = '[{"role":"user","content":[{"type":"x","y":' + "[" * 900 + "]" * 900 + '}]},{"role":"user","content":"b"}]'
    write_roo(tmp_path / "tasks/deep", ui=[say(1, "a")], api=deep)
    write_roo(tmp_path / "tasks/odd", ui=[say(1, "a")], api=odd)
    async with a_store(tmp_path / "home") as store:
        await bring(tmp_path / "tasks", store)
        for name in ("deep", "odd"):
            _, api = await histories(store, TaskId(name))
            assert texts_of(api[-1]) == "b"


def test_a_large_file_is_read_a_message_at_a_time(tmp_path: Path) -> None:
    import tracemalloc

    path = tmp_path / "ui_messages.json"
    with path.open("w", encoding="utf-8") as file:
        file.write("[")
        for number in range(20_000):
            file.write(("," if number else "") + json.dumps(say(number + 1, "x" * 2_000)))
        file.write("]")
    tracemalloc.start()
    try:
        assert sum(1 for _ in list_records(path, ImportFindings())) == 20_000
        assert tracemalloc.get_traced_memory()[1] < 8_000_000
    finally:
        tracemalloc.stop()
    shutil.rmtree(tmp_path)
