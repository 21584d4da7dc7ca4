"""``clean``, ``backup``, ``restore``, ``doctor`` and ``migrate`` over real folders."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from tests._helpers.parsed_json import parsed

from .._helpers.postgres import TasksDatabase
from .._helpers.stored_tasks import change_state, remove_task
from ._helpers.homes import FAILED, FINISHED, UNFINISHED, Home

LONG_AGO = "2024-01-01T00:00:00.000000Z"


def age(home: Home, task_id: str, moment: str) -> Path:
    """Let a finished task have been finished then."""
    folder = home.path / "contexts" / "completed" / task_id
    state = json.loads((folder / "state.json").read_text(encoding="utf-8"))
    state.update(completed_at=moment, updated_at=moment, started_at=moment)
    (folder / "state.json").write_text(json.dumps(state), encoding="utf-8")
    return folder


def settle(home: Home, moment: str) -> tuple[Path, Path]:
    """Both finished tasks that old, and a clock that is believed."""
    folders = age(home, FINISHED, moment), age(home, FAILED, moment)
    assert home.run("clean", "--compress-days", "0", "--delete-days", "0").code == 0
    return folders


def test_old_tasks_are_packed_and_can_still_be_read(own_home: Home) -> None:
    folders = settle(own_home, "2024-01-01T00:00:00.000000Z")
    dry = own_home.run("clean", "--dry-run", "--delete-days", "0", "--json").json()
    assert isinstance(dry["done"], list)
    assert {(task["taskId"], task["step"]) for task in dry["done"]} == {(FINISHED, "packed"), (FAILED, "packed")}
    assert all((folder / "messages.jsonl").exists() for folder in folders)
    before = own_home.run("view", "--uuid", FINISHED, "--messages").out
    ran = own_home.run("clean", "--delete-days", "0")
    assert ran.code == 0
    assert FINISHED in ran.out
    assert all((folder / "messages.jsonl.gz").exists() for folder in folders)
    assert own_home.run("view", "--uuid", FINISHED, "--messages").out == before


def test_the_settings_of_the_person_and_the_operator_decide_what_is_old(own_home: Home) -> None:
    folder, _ = settle(own_home, "2024-01-01T00:00:00.000000Z")
    config = own_home.path / "config.json"
    config.write_text(
        json.dumps({"version": 1, "globalSettings": {"retentionDeleteDays": 0, "retentionCompressDays": 0}}),
        encoding="utf-8",
    )
    assert own_home.run("clean", "--dry-run", "--json").json()["done"] == []
    (own_home.config / "jupyter_hdsp_agent_config.py").write_text(
        "c.HdspAgentApp.compress_after_days = 1\n", encoding="utf-8"
    )
    done = own_home.run("clean", "--dry-run", "--json").json()["done"]
    assert isinstance(done, list)
    assert {task["step"] for task in done} == {"packed"}
    config.write_text("{ not json", encoding="utf-8")
    ran = own_home.run("clean")
    assert ran.code == 2
    assert "config.json" in ran.err
    assert folder.exists()
    # Numbers harm nobody: they are there all the same.
    numbers = own_home.run("stats", "--summary")
    assert (numbers.code, "config.json" in numbers.err) == (0, True)


def test_a_backup_comes_back_whole(own_home: Home, tmp_path: Path) -> None:
    ran = own_home.run("backup")
    assert ran.code == 0
    archive = Path(ran.out.strip())
    assert archive.parent == own_home.path / "backups"
    (listed,) = parsed(own_home.run("backup", "--list", "--json").json())["backups"]
    assert [listed["path"], listed["tasks"]] == [str(archive), 3]
    kept = tmp_path / archive.name
    shutil.copy(archive, kept)
    before = own_home.run("view", "--uuid", FINISHED, "--json").json()
    assert own_home.run("restore", str(kept)).code == 1
    shutil.rmtree(own_home.path)
    restored = own_home.run("restore", str(kept))
    assert restored.code == 0
    assert "3 tasks" in restored.out
    assert own_home.run("view", "--uuid", FINISHED, "--json").json() == before
    again = own_home.run("restore", str(kept), "--overwrite", "--json").json()
    assert again["tasks"] == 3
    assert Path(str(again["aside"])).is_dir()


def test_old_generations_go(own_home: Home, tmp_path: Path) -> None:
    made = [
        own_home.run("backup", "--to", str(tmp_path / "kept"), "--generations", "2", "--json").json() for _ in range(3)
    ]
    assert made[2]["removed"] == [made[0]["path"]]
    assert len(list((tmp_path / "kept").glob("*.tar.gz"))) == 2


def test_an_archive_that_is_none_is_refused(own_home: Home, tmp_path: Path) -> None:
    archive = tmp_path / "other.tar.gz"
    archive.write_bytes(os.urandom(1000))
    ran = own_home.run("restore", str(archive), "--overwrite")
    assert ran.code == 2
    assert ran.err.count("\n") == 1
    assert own_home.run("view", "--uuid", FINISHED).code == 0


def test_the_doctor_finds_tells_and_mends(own_home: Home) -> None:
    path = own_home.path / "contexts" / "completed" / FINISHED / "messages.jsonl"
    with path.open("ab") as file:
        file.write(b'{"seq":18,"role":"us')
    path.chmod(0o644)
    ran = own_home.run("doctor")
    assert ran.code == 3
    assert str(path) in ran.out
    assert "doctor --repair" in ran.err
    kinds = {problem["kind"] for problem in parsed(own_home.run("doctor", "--json").json())["problems"]}
    assert {"torn_tail", "permissions"} <= kinds
    mended = own_home.run("doctor", "--repair")
    assert "repaired" in mended.out
    assert own_home.run("doctor").code == 0
    assert path.stat().st_mode & 0o077 == 0


def test_the_doctor_looks_at_what_is_remembered_and_puts_damaged_records_aside(own_home: Home) -> None:
    folder = own_home.path / "memories"
    (folder / "extracted").mkdir(mode=0o700, parents=True)
    folder.chmod(0o700)
    for name, text in (("extracted/t1.json", b"{half"), ("consolidated.json", b"[]"), ("profile.md", b"- caf\xe9")):
        (folder / name).write_bytes(text)
        (folder / name).chmod(0o600)
    ran = own_home.run("doctor")
    assert ran.code == 3
    assert "what was learned from this conversation is not used" in ran.out and "It is not UTF-8 text" in ran.out
    mended = own_home.run("doctor", "--repair")
    assert mended.code == 0 and "It was renamed to t1.json.damaged." in mended.out
    assert own_home.run("doctor").code == 0
    assert (folder / "extracted" / "t1.json.damaged").read_bytes() == b"{half"
    newer = folder / "consolidated.json"
    newer.write_text('{"ofALaterVersion": 1}')
    newer.chmod(0o600)
    assert "This version does not understand it" in own_home.run("doctor", "--repair").out
    assert newer.exists(), "a later version can read it"
    newer.unlink()


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="needs folders that can be closed to us")
def test_a_memory_folder_that_cannot_be_read_is_a_finding(own_home: Home) -> None:
    folder = own_home.path / "memories" / "people"
    folder.mkdir(mode=0o700, parents=True)
    folder.chmod(0)
    try:
        assert "It cannot be opened" in own_home.run("doctor").out
    finally:
        folder.chmod(0o700)


def test_tasks_go_to_the_database_and_back(own_home: Home) -> None:
    nothing = own_home.run("migrate", "--to", "files")
    assert nothing.code == 1
    assert "migrate --to sqlite" in nothing.err
    dry = own_home.run("migrate", "--to", "sqlite", "--dry-run", "--json").json()
    assert isinstance(dry["copied"], list)
    assert set(dry["copied"]) == {FINISHED, FAILED, UNFINISHED}
    assert not (own_home.path / "tasks.db").exists()
    assert own_home.run("migrate", "--to", "sqlite", "--json").json()["complete"] is True
    assert own_home.run("migrate", "--to", "sqlite", "--json").json()["copied"] == []
    before = own_home.run("view", "--uuid", FINISHED, "--messages").out
    shutil.rmtree(own_home.path / "contexts")
    assert own_home.run("view", "--uuid", FINISHED).code == 2
    ran = own_home.run("migrate", "--to", "files")
    assert ran.code == 0
    assert "Of 3 tasks 3 copied" in ran.out
    assert own_home.run("view", "--uuid", FINISHED, "--messages").out == before


@pytest.mark.parametrize("storage_backend", ["postgres"], indirect=True)
def test_a_dry_run_writes_nothing_to_a_postgresql_server(own_home: Home, postgres_database: TasksDatabase) -> None:
    assert own_home.run("migrate", "--from", "postgres", "--to", "files").code == 0

    def dry() -> tuple[object, object]:
        found = own_home.run("migrate", "--from", "files", "--to", "postgres", "--dry-run", "--json").json()
        return found["copied"], found["already"]

    copied, already = dry()
    assert copied == [] and isinstance(already, list) and len(already) == 3
    with postgres_database.connect() as connection:
        connection.execute("DROP SCHEMA hdsp_agent CASCADE")
        connection.execute(f"ALTER DATABASE {postgres_database.name} OWNER TO ada")
        copied, already = dry()
        assert already == [] and isinstance(copied, list) and len(copied) == 3
        assert connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = 'hdsp_agent'").fetchall() == []


@pytest.mark.parametrize("storage_backend", ["postgres"], indirect=True)
def test_tasks_go_from_a_postgresql_server_and_back(own_home: Home) -> None:
    shown = own_home.run("view", "--uuid", FINISHED, "--messages").out
    assert own_home.run("doctor").code == 0
    assert own_home.run("migrate", "--to", "files", "--from", "files").code == 2
    for to in ("files", "sqlite"):
        assert own_home.run("migrate", "--from", "postgres", "--to", to, "--json").json()["complete"] is True
        assert own_home.run("--storage-backend", to, "view", "--uuid", FINISHED, "--messages").out == shown
    assert own_home.run("list", "--json").json()["total"] == 3
    for task_id in (FINISHED, FAILED, UNFINISHED):
        remove_task(own_home.path, task_id)
    assert own_home.run("doctor", "--repair").code == 0
    assert own_home.run("list", "--json").json()["total"] == 0
    assert own_home.run("migrate", "--to", "postgres", "--json").json()["complete"] is True
    shutil.rmtree(own_home.path / "contexts")
    remove_task(own_home.path, FINISHED)
    # Now the folder has but a database.
    assert own_home.run("migrate", "--to", "postgres", "--json").json()["copied"] == [FINISHED]
    assert own_home.run("view", "--uuid", FINISHED, "--messages").out == shown
    assert own_home.run("list", "--json").json()["total"] == 3
    contexts = own_home.run("stats", "--json").json()["contexts"]
    assert isinstance(contexts, dict) and contexts["total"] == 3
    assert "pg_dump" in own_home.run("backup").err


@pytest.mark.parametrize("storage_backend", ["postgres"], indirect=True)
def test_memory_goes_to_a_postgresql_server_and_back(own_home: Home) -> None:
    files = ("--storage-backend", "files")
    assert own_home.run(*files, "memory", "add", "Use", "polars").code == 0
    assert "memory" not in own_home.run("migrate", "--from", "files", "--to", "sqlite").out
    dry = own_home.run("migrate", "--from", "files", "--to", "postgres", "--dry-run", "--json").json()
    assert dry["memory"] is None
    policy = own_home.config / "jupyter_server_config.py"
    policy.write_text("c.HdspAgentApp.allow_memory = False\n")
    assert own_home.run("migrate", "--from", "files", "--to", "postgres", "--json").json()["memory"] is None
    policy.unlink()
    assert own_home.run("migrate", "--from", "files", "--to", "postgres", "--json").json()["memory"] == {
        "sent": 1,
        "taken": 0,
    }
    shutil.rmtree(own_home.path / "memories")
    ran = own_home.run("migrate", "--from", "postgres", "--to", "files")
    assert "Of your memory 0 files were sent to the database, 1 taken from it." in ran.out
    assert "Use polars" in own_home.run(*files, "memory").out


@pytest.mark.parametrize("storage_backend", ["postgres"], indirect=True)
def test_a_postgresql_server_is_made_ready_by_its_administrator(
    postgres_database: TasksDatabase, own_home: Home
) -> None:
    with postgres_database.connect() as connection:
        connection.execute("DROP SCHEMA hdsp_agent CASCADE")
    refused = own_home.run("clean")
    assert (refused.code, "hdsp-agent create-tables" in refused.err) == (1, True)
    made = own_home.run("create-tables", env={"HDSP_AGENT_STORAGE_URL": postgres_database.url("postgres")})
    assert (made.code, "is ready for conversations" in made.out) == (0, True)
    assert own_home.run("clean").code == 0


def test_the_operators_configuration_says_what_tasks_are_kept_in(
    own_home: Home, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HDSP_AGENT_STORAGE_BACKEND", "files")
    assert own_home.run("migrate", "--to", "sqlite").code == 0
    shutil.rmtree(own_home.path / "contexts")
    (own_home.config / "jupyter_hdsp_agent_config.py").write_text("c.HdspAgentApp.storage_backend = 'sqlite'\n")
    assert own_home.run("view", "--uuid", FINISHED, "--storage-backend", "files").code == 2
    shown = own_home.run("--storage-backend", "sqlite", "view", "--uuid", FINISHED, "--json").json()
    assert own_home.run("view", "--uuid", FINISHED, "--json").json() == shown
    listed = own_home.run("list", "--json").json()
    assert listed["total"] == 3
    contexts = own_home.run("stats", "--json").json()["contexts"]
    assert isinstance(contexts, dict) and contexts["total"] == 3
    assert own_home.run("doctor").code == 0
    exported = tmp_path / "task.json"
    assert own_home.run("export", "--uuid", FINISHED, "--format", "json", "--to", str(exported)).code == 0
    change_state(own_home.path, FINISHED, backend="sqlite", completed_at=LONG_AGO, updated_at=LONG_AGO)
    assert own_home.run("clean", "--json").json()["forgotten"] == 1
    assert own_home.run("list", "--json").json()["total"] == 2
    assert own_home.run("import", str(exported)).code == 0
    assert own_home.run("list", "--json").json()["total"] == 3
    assert own_home.run("doctor").code == 0
    assert own_home.run("migrate", "--to", "files", "--json").json()["complete"] is True
    assert own_home.run("list", "--storage-backend", "files", "--json").json()["total"] == 3
    assert own_home.run("stats", env={"HDSP_AGENT_STORAGE_BACKEND": "paper"}).code == 0
    (own_home.config / "jupyter_hdsp_agent_config.py").unlink()
    wrong = own_home.run("stats", env={"HDSP_AGENT_STORAGE_BACKEND": "paper"})
    assert (wrong.code, "storage_backend cannot be 'paper'" in wrong.err) == (2, True)


@pytest.mark.parametrize("arguments", [["clean"], ["backup"], ["migrate", "--to", "sqlite"]])
def test_a_task_that_is_worked_on_is_left_to_who_works_on_it(own_home: Home, arguments: list[str]) -> None:
    import asyncio

    from hdsp_agent.persistence import ApiDraft, FileStore

    async def work() -> int:
        store = FileStore(own_home.path)
        await store.start()
        task = await store.resume(UNFINISHED)
        ran = await asyncio.to_thread(own_home.run, *arguments)
        await task.append_api(ApiDraft(role="assistant", content="still mine"))
        await task.finish()
        await store.stop()
        return ran.code

    assert asyncio.run(work()) == (3 if "migrate" in arguments else 0)
    assert "still mine" in own_home.run("view", "--uuid", UNFINISHED, "--messages").out


def test_a_backup_that_is_not_there_is_a_bad_request(own_home: Home, tmp_path: Path) -> None:
    for missing in (tmp_path / "none.tar.gz", tmp_path):
        ran = own_home.run("restore", str(missing))
        assert ran.code == 2
        assert f"There is no file {missing}" in ran.err
