"""``hdsp-agent list`` and ``stats``: finding tasks and adding them up."""

from __future__ import annotations

import asyncio
import json

import pytest

from hdsp_agent.cli.commands.stats import _warnings
from hdsp_agent.persistence import FileStore, NewTaskRecord, Statistics, StorageUse
from hdsp_agent.persistence.exchange._migration import migrate
from hdsp_agent.persistence.sqlite._sqlite_store import SqliteStore

from ._helpers.homes import ADA, FAILED, FINISHED, UNFINISHED, Home


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ([], [UNFINISHED, FAILED, FINISHED]),
        (["--sort", "oldest"], [FINISHED, FAILED, UNFINISHED]),
        (["--sort", "most-expensive", "--limit", "1"], [FINISHED]),
        (["--user", "bob"], [UNFINISHED, FAILED]),
        (["--user", ADA], [FINISHED]),
        (["--status", "active"], [UNFINISHED]),
        (["--status", "active", "--status", "completed"], [UNFINISHED, FAILED, FINISHED]),
        (["고치기"], [FINISHED]),
        (["Draw", "plot"], [FAILED]),
        (["안녕하세요"], [FINISHED]),
        (["--from", "2024-03-09", "--to", "2024-03-09"], [FAILED]),
        (["--favorites"], []),
        (["--workspace", "/elsewhere"], []),
    ],
)
def test_tasks_are_found_as_in_the_history(shared_home: Home, arguments: list[str], found: list[str]) -> None:
    tasks = shared_home.run("list", "--json", *arguments).json()["tasks"]
    assert isinstance(tasks, list)
    assert [task["id"] for task in tasks] == found


def test_the_list_is_a_table_with_ids_that_other_commands_take(shared_home: Home) -> None:
    ran = shared_home.run("list")
    head, *lines = ran.out.splitlines()
    assert head.split() == ["ID", "LAST", "ACTIVE", "STATUS", "USER", "TOKENS", "COST", "TASK"]
    assert len(lines) == 3
    for line in lines:
        assert shared_home.run("view", "--uuid", line.split()[0]).code == 0
    assert lines[2].endswith("버그 고치기")
    few = shared_home.run("list", "--limit", "2")
    assert "2 of 3 tasks" in few.err


def test_nothing_found_is_no_failure(shared_home: Home) -> None:
    ran = shared_home.run("list", "no such words")
    assert (ran.code, ran.out) == (0, "")
    assert "No tasks found" in ran.err


def test_the_summary_is_the_one_of_the_seed(shared_home: Home) -> None:
    ran = shared_home.run("stats", "--summary")
    assert ran.code == 0
    lines = ran.out.splitlines()
    for line in (
        "Context Storage Statistics",
        "==========================",
        "Total contexts: 3",
        "  - Running: 0",
        "  - Paused: 1",
        "  - Completed: 2",
        "Disk usage:",
        "Average per task:",
        "  - Messages: 6.3",
        "  - Tokens: 15,226",
        "  - Compressions: 0.7",
        "By user:",
        "  - bob: 2 tasks (67%)",
        f"  - {ADA}: 1 task (33%)",
    ):
        assert line in lines, line
    assert "By status:" not in lines
    assert "50% of the finished tasks failed" in ran.err


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (["--status", "failed"], {FAILED}),
        (["--user", "bob"], {FAILED, UNFINISHED}),
        (["--user", "bob", "--status", "failed", "--status", "timeout"], {FAILED}),
        (["--from", "2020-01-01"], {FINISHED, FAILED, UNFINISHED}),
        (["--from", "2020-01-01", "--to", "2020-12-31"], set()),
    ],
)
def test_a_search_counts_and_lists_the_same_tasks(shared_home: Home, arguments: list[str], found: set[str]) -> None:
    document = shared_home.run("stats", *arguments, "--json").json()
    tasks, contexts = document["tasks"], document["contexts"]
    assert isinstance(tasks, list) and isinstance(contexts, dict)
    assert {task["uuid"] for task in tasks} == found
    assert contexts["total"] == len(found)
    text = shared_home.run("stats", *arguments)
    assert all(task_id in text.out for task_id in found)
    assert text.err == ""


def test_a_folder_that_is_much_too_big_ends_with_3(own_home: Home) -> None:
    (own_home.path / "config.json").write_text(
        json.dumps({"version": 1, "globalSettings": {"sizeCriticalGigabytes": 0.000001}}), encoding="utf-8"
    )
    ran = own_home.run("stats", "--summary")
    assert ran.code == 3
    assert "critical" in ran.err
    assert own_home.run("stats", "--json").code == 3


def test_tasks_in_a_database_are_shown_the_same(own_home: Home) -> None:
    assert own_home.run("view", "--uuid", FINISHED, "--backend", "sqlite").code == 1

    async def copy() -> None:
        files, database = FileStore(own_home.path), SqliteStore(own_home.path / "tasks.db")
        await files.start()
        await database.start()
        assert (await migrate(files, database)).complete
        await database.stop()
        await files.stop()

    asyncio.run(copy())
    for arguments in (["view", "--uuid", FINISHED], ["view", "--uuid", FINISHED, "--messages", "--json"]):
        assert own_home.run(*arguments, "--backend", "sqlite").out == own_home.run(*arguments).out


def test_a_hostile_name_makes_no_lines_of_its_own(own_home: Home) -> None:
    async def forge() -> None:
        store = FileStore(own_home.path)
        await store.start()
        await (await store.create(NewTaskRecord(user="eve\nTotal contexts: 9\x1b[2J"))).close()
        await store.stop()

    asyncio.run(forge())
    out = own_home.run("stats").out
    assert "Total contexts: 9" not in out.splitlines()
    assert "\x1b" not in out


def test_the_last_day_there_is_can_be_named(own_home: Home) -> None:
    for command in ("list", "stats"):
        ran = own_home.run(command, "--to", "9999-12-31", "--json")
        assert (ran.code, ran.err) == (0, "")


@pytest.mark.parametrize(("running", "warned"), [(100, False), (101, True)])
def test_more_than_a_hundred_unfinished_tasks_are_warned_of(running: int, warned: bool) -> None:
    warnings = list(_warnings(Statistics(running=running), StorageUse(), "ok", whole=True))
    assert [f"{running} tasks are not finished" in warning for warning in warnings] == [True] * warned
    assert not list(_warnings(Statistics(running=running), StorageUse(), "ok", whole=False))
