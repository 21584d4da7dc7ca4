"""The scripts of backup and restore, with a real PostgreSQL and the hub service's own files."""

from __future__ import annotations

import os
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from hdsp_agent.hub.usage_store import Amounts, RequestStart, UsageStore
from hdsp_agent.messages import TaskId
from hdsp_agent.persistence import NewTaskRecord, create_tables

from .._helpers.postgres import PostgresCluster, TasksDatabase, postgres_cluster
from ..persistence._helpers.store_contract import asked
from ._files import DEPLOY

psycopg = pytest.importorskip("psycopg")

from hdsp_agent.persistence.postgres._postgres_store import PostgresStore

pytestmark = pytest.mark.skipif(os.name != "posix", reason="scripts of a shell")


def run(script: Path | str, *arguments: str | Path, **environment: str) -> tuple[int, str]:
    """Its exit code, and what it said."""
    done = subprocess.run(
        [DEPLOY / script, *arguments],
        env={"PATH": os.environ["PATH"], **environment},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout.strip()


def server(cluster: PostgresCluster, role: str = "postgres") -> dict[str, str]:
    """The variables that pg_dump and its like read."""
    host, _, port = cluster.place.partition(":")
    path = f"{cluster._programs}{os.pathsep}{os.environ['PATH']}"
    return {"PGHOST": host, "PGPORT": port, "PGUSER": role, "PATH": path}


async def use(data: Path) -> UsageStore:
    """A store in which a request is counted that has not ended."""
    data.mkdir(exist_ok=True)
    store = UsageStore(data / "usage.db")
    await store.open()
    await store.start(RequestStart(1_800_000_000, "ada", "students", "vllm", "qwen3", "chat", Amounts(900, 0.5)))
    return store


async def say(database: TasksDatabase, role: str, folder: Path) -> tuple[TaskId, str]:
    """The task, and the name of its artifact."""
    store = PostgresStore(folder / role, database.url(role))
    await store.start()
    log = await store.create(NewTaskRecord())
    await log.append_api(asked(f"by {role}"))
    artifact = await log.put_artifact(b"\x00kept")
    await log.finish()
    await store.stop()
    return log.task_id, artifact


async def test_a_lost_machine_is_restored_on_a_new_one(tmp_path: Path, postgres_database: TasksDatabase) -> None:
    data, target, name = tmp_path / "data", tmp_path / "backups", postgres_database.name
    tasks = {role: await say(postgres_database, role, tmp_path) for role in ("ada", "bob")}
    with postgres_database.connect() as admin:
        admin.execute(f"GRANT CONNECT ON DATABASE {name} TO ada")
        admin.execute("CREATE ROLE keeper LOGIN BYPASSRLS IN ROLE pg_read_all_data")
    store = await use(data)
    (data / "audit.jsonl").write_text("{}\n")
    code, told = run("backup.sh", data, target, PGDATABASE=name, **server(postgres_database.cluster, "keeper"))
    assert code == 0, told
    [backup] = target.iterdir()
    assert told == str(backup) and backup.stat().st_mode & 0o077 == 0
    await store.close()

    new, empty = tmp_path / "new", tmp_path / "empty"
    new.mkdir()
    empty.mkdir()
    with postgres_cluster() as cluster:
        # Without people's roles it stops, and does not pass for restored.
        code, told = run("restore.sh", backup, new, **server(cluster))
        assert code != 0 and 'role "ada" does not exist' in told
        assert list(new.iterdir()) == []
        with closing(cluster.connect()) as admin:
            admin.execute(f"DROP DATABASE {name}")

        psql = cluster._programs / "psql"
        run(psql, "--quiet", "--file", backup / "roles.sql", PGDATABASE="postgres", **server(cluster))
        code, told = run("restore.sh", backup, new, **server(cluster))
        assert code == 0, told
        for role, (task, artifact) in tasks.items():
            again = PostgresStore(tmp_path / role, TasksDatabase(cluster, name).url(role))
            await again.start()
            assert list(await again.tasks()) == [task]
            log = await again.resume(task)
            assert [record.content for record in await log.api.newest()] == [f"by {role}"]
            assert await log.read_artifact(artifact) == b"\x00kept"
            await again.stop()
        with closing(cluster.connect()) as admin:
            [access] = admin.execute("SELECT datacl::text FROM pg_database WHERE datname = ?", (name,)).fetchone()
            assert "ada=c" in access
        # A version that is newer than the backup goes on from there.
        create_tables(TasksDatabase(cluster, name).url("postgres"))

        code, told = run("restore.sh", backup, new, **server(cluster))
        assert code == 1 and told == f"{new} is not empty"
        code, told = run("restore.sh", backup, empty, **server(cluster))
        assert code != 0 and f'database "{name}" already exists' in told
        assert list(empty.iterdir()) == []
    restored = UsageStore(new / "usage.db")
    await restored.open()
    assert [(row.user, row.money) for row in await restored.rows(0, 2e9)] == [("ada", 0.5)]
    await restored.close()
    assert (new / "audit.jsonl").read_text() == "{}\n"


async def test_the_newest_backups_stay_and_none_is_half_made(tmp_path: Path) -> None:
    data, target = tmp_path / "data", tmp_path / "a disk" / "hub"
    others = (tmp_path / "a", target / "notes of 2001Z")
    for other in others:
        other.mkdir(parents=True)
    await (await use(data)).close()
    for day in range(1, 16):
        (target / f"2001-01-{day:02}T000000Z").mkdir()
    code, told = run("backup.sh", data, target)
    assert code == 0, told
    assert all(other.is_dir() for other in others)
    names = sorted(path.name for path in target.iterdir() if path not in others)
    assert len(names) == 14 and names[0] == "2001-01-03T000000Z" and (target / names[-1]) == Path(told)
    assert {path.name for path in Path(told).iterdir()} == {"usage.db"}

    (data / "usage.db").write_bytes(b"no database, and longer than the head of one" * 10)
    code, told = run("backup.sh", data, target)
    assert code != 0 and "not a database" in told
    assert sorted(path.name for path in target.iterdir() if path not in others) == names


def test_a_folder_without_a_hub_service_is_told(tmp_path: Path) -> None:
    assert run("backup.sh", tmp_path, tmp_path) == (1, f"{tmp_path} has no usage.db")


def test_a_wrong_path_is_told_before_anything_is_restored(tmp_path: Path) -> None:
    backup, gone = tmp_path / "backup", tmp_path / "gone"
    backup.mkdir()
    assert run("restore.sh", gone, backup) == (1, f"{gone} has no usage.db")
    (backup / "usage.db").touch()
    (backup / "conversations.dump").touch()
    assert run("restore.sh", backup, gone) == (1, f"{gone} is no folder")
