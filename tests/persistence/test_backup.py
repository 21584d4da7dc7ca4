from __future__ import annotations

import asyncio
import errno
import gzip
import hashlib
import io
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tarfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from hdsp_agent.errors import Conflict, HdspAgentError, InvalidInput, StorageUnavailable
from hdsp_agent.messages import TaskId
from hdsp_agent.persistence import ApiDraft, FileStore, NewTaskRecord
from hdsp_agent.persistence.upkeep._archive import ArchiveHead, ArchiveWriter
from hdsp_agent.persistence.upkeep._backup import _failure, back_up, backups, restore_backup, verify_backup
from hdsp_agent.persistence.upkeep._doctor import examine
from hdsp_agent.persistence.upkeep._retention import RetentionRules, clean

from .._helpers.long_tests import rounds
from .._helpers.stored_tasks import backend_under_test
from ..checkpoints._helpers.volumes import small_volume
from ._helpers.history_samples import found, history, task
from ._helpers.old_tasks import contents, file_store, finished, kept_store
from ._helpers.store_contract import said
from .test_crashes import Disk, quick_folder, unix

__all__ = ["quick_folder"]

KEY = "sk-planted-0123456789abcdef"


async def make_home(home: Path) -> None:
    async with file_store(home) as store, history(home) as index:
        await finished(store, 1, task_id="plain")
        await finished(store, 9, task_id="packed")
        await clean(store, RetentionRules(7, 30))
        log = await store.create(NewTaskRecord())
        await log.put_artifact(b"an image")
        await log.finish()
        for task_id in ("plain", "packed"):
            item = (await (await store.view(TaskId(task_id))).read_state()).history_item
            assert item is not None
            await index.upsert(item)
    (home / "config.json").write_text(json.dumps({"version": 1, "globalSettings": {"language": "ko"}}))
    (home / "history.jsonl").write_text('{"text":"one"}\n{"text":"half')
    objects = home / "checkpoints" / "workspace" / "objects" / "ab"
    objects.mkdir(parents=True)
    (objects / "cdef").write_bytes(b"object")
    (home / "checkpoints" / "workspace" / "refs" / "heads").mkdir(parents=True)
    (home / "memories").mkdir()
    (home / "memories" / "MEMORY.md").write_text("remember")


async def test_what_is_restored_is_what_was_backed_up(tmp_path: Path) -> None:
    home, other = tmp_path / "home", tmp_path / "other"
    await make_home(home)
    report = await back_up(home, tmp_path / "backups")
    assert report.left_out == {}
    assert report.backup.tasks == 3
    assert report.backup.path.stat().st_mode & 0o777 == 0o600
    restored = await restore_backup(report.backup.path, other)
    assert (restored.tasks, restored.aside) == (3, None)
    async with file_store(home) as old, file_store(other) as new:
        assert sorted(await new.tasks()) == sorted(await old.tasks())
        for task_id in await old.tasks():
            assert await contents(new, task_id) == await contents(old, task_id)
    async with history(other) as index:
        assert sorted(await found(index)) == ["packed", "plain"]
    assert (other / "history.jsonl").read_text() == '{"text":"one"}\n'
    assert (other / "checkpoints" / "workspace" / "objects" / "ab" / "cdef").read_bytes() == b"object"
    assert (other / "checkpoints" / "workspace" / "refs" / "heads").is_dir()
    assert (other / "memories" / "MEMORY.md").read_text() == "remember"
    assert json.loads((other / "config.json").read_text())["globalSettings"] == {"language": "ko"}
    if sys.platform != "win32":
        modes = {path.stat().st_mode & 0o777 for path in other.rglob("*") if path.is_file()}
        assert modes == {0o600}
    assert (await examine(other)).problems == []


async def test_other_programs_can_check_it(tmp_path: Path) -> None:
    await make_home(tmp_path / "home")
    report = await back_up(tmp_path / "home", tmp_path / "backups")
    subprocess.run(["tar", "-xzf", report.backup.path, "-C", tmp_path], check=True)
    subprocess.run(["sha256sum", "--quiet", "-c", "SHA256SUMS"], cwd=tmp_path, check=True)


async def test_no_key_gets_into_a_backup(tmp_path: Path) -> None:
    home = tmp_path / "home"
    await make_home(home)
    for name in (
        "secrets.json", "secrets.enc", ".secrets.json.0a1b.tmp", "secrets.json.corrupt-20260101T000000Z",
        "config.json.corrupt-20260101T000000Z", "secrets.json.bak", "anything.txt", "memories/../keyring.cfg",
    ):  # fmt: skip
        (home / name).write_text(KEY)
    os.link(home / "secrets.json", home / "memories" / "notes.md")
    os.symlink(home / "secrets.json", home / "memories" / "linked.md")
    os.symlink(home / "secrets.json", home / "history.db")
    profile = {
        "apiProvider": "openai", "openAiApiKey": KEY, "apiKey": KEY, "openAiHeaders": {"Authorization": KEY, "X-Team": "a"}
    }  # fmt: skip
    content = {"version": 1, "providerProfiles": {"apiConfigs": {"mine": profile}}, "later": [{"geminiApiKey": KEY}]}
    (home / "config.json").write_text(json.dumps(content))
    report = await back_up(home, tmp_path / "backups")
    with tarfile.open(report.backup.path) as tar:
        names = tar.getnames()
        whole = b"".join(data.read() for info in tar if (data := tar.extractfile(info)))
    assert KEY.encode() not in whole
    assert b"X-Team" in whole
    assert not [name for name in names if "secret" in name or "corrupt-2026" in name or "linked" in name]


async def test_settings_that_cannot_be_read_are_left_out_and_said(tmp_path: Path) -> None:
    await make_home(tmp_path / "home")
    (tmp_path / "home" / "config.json").write_text('{"apiKey": "' + KEY)
    report = await back_up(tmp_path / "home", tmp_path / "backups")
    assert list(report.left_out) == ["config.json"]
    assert KEY.encode() not in gzip.decompress(report.backup.path.read_bytes())


async def test_seven_generations_are_kept_and_the_oldest_goes_first(tmp_path: Path) -> None:
    home, target = tmp_path / "home", tmp_path / "backups"
    home.mkdir()
    for number in range(1, 10):
        report = await back_up(home, target)
        assert report.backup.generation == number
    assert [info.generation for info in backups(target)] == [9, 8, 7, 6, 5, 4, 3]
    assert (await back_up(home, target, generations=2)).removed != []
    assert [info.generation for info in backups(target)] == [10, 9]
    with pytest.raises(InvalidInput):
        await back_up(home, target, generations=0)


async def test_a_backup_made_while_tasks_append_has_whole_lines_and_all_that_was_acknowledged(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with file_store(home) as store:
        logs = [await store.create(NewTaskRecord()) for _ in range(3)]
        acknowledged = dict.fromkeys((log.task_id for log in logs), 0)
        stopping = False

        async def talk() -> None:
            while not stopping:
                for log in logs:
                    await log.append_api(ApiDraft(role="user", content="x" * 3000))
                    await log.put_ui(said(log, "y"))
                    acknowledged[log.task_id] += 1

        talking = asyncio.create_task(talk())
        for _ in range(5):
            await asyncio.sleep(0.02)
            before = dict(acknowledged)
            report = await back_up(home, tmp_path / "backups")
            other = tmp_path / f"other {report.backup.generation}"
            await restore_backup(report.backup.path, other)
            damage: list[object] = []
            restored = FileStore(other, on_damage=damage.append)
            await restored.start()
            for task_id, count in before.items():
                reader = await restored.view(task_id)
                assert await reader.api.count() >= count
                assert await reader.ui.count() >= count
                state = await reader.read_state()
                assert state.status == "paused"
            await restored.stop()
            assert damage == []
        stopping = True
        await talking


async def test_a_database_in_use_is_backed_up_with_what_is_in_its_write_ahead_log(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with history(home) as index:
        await index.upsert(task("a"))
        report = await back_up(home, tmp_path / "backups")
        await index.upsert(task("b"))
    await restore_backup(report.backup.path, tmp_path / "other")
    connection = sqlite3.connect(tmp_path / "other" / "state.db")
    assert connection.execute("SELECT id FROM history_tasks").fetchall() == [("a",)]
    connection.close()


async def test_a_home_that_is_not_empty_is_kept_aside_or_left_alone(tmp_path: Path) -> None:
    home, target = tmp_path / "home", tmp_path / "backups"
    await make_home(home)
    archive = (await back_up(home, target)).backup.path
    with pytest.raises(Conflict, match="not empty"):
        await restore_backup(archive, home)
    (home / "secrets.json").write_text("keys")
    (home / "memories" / "MEMORY.md").write_text("newer")
    report = await restore_backup(archive, home, overwrite=True)
    assert report.aside is not None
    assert (report.aside / "memories" / "MEMORY.md").read_text() == "newer"
    assert (home / "memories" / "MEMORY.md").read_text() == "remember"
    assert (home / "secrets.json").read_text() == "keys"
    async with file_store(home) as store:
        log = await store.create(NewTaskRecord())
        with pytest.raises(Conflict, match="in use"):
            await restore_backup(archive, home, overwrite=True)
        await log.append_api(ApiDraft(role="user", content="undisturbed"), durable=True)


@pytest.mark.each_backend("files", "sqlite")
async def test_a_task_that_was_worked_on_is_paused_in_the_backup_and_keeps_the_home_from_being_replaced(
    tmp_path: Path,
) -> None:
    home, other = tmp_path / "home", tmp_path / "other"
    async with kept_store(home) as store:
        await finished(store, 1, task_id="done")
        log = await store.create(NewTaskRecord())
        await log.append_api(ApiDraft(role="user", content="acknowledged"), durable=True)
        report = await back_up(home, tmp_path / "backups")
        assert (report.backup.tasks, report.left_out) == (2, {})
        archive = report.backup.path
        with pytest.raises(Conflict, match="in use"):
            await restore_backup(archive, home, overwrite=True)
        await log.append_api(ApiDraft(role="user", content="undisturbed"), durable=True)
    assert (await restore_backup(archive, other)).tasks == 2
    async with kept_store(other) as store:
        assert (await (await store.view(log.task_id)).read_state()).status == "paused"
        again = await store.resume(log.task_id)
        assert [record.content for record in await again.api.newest()] == ["acknowledged"]
    assert (await restore_backup(archive, home, overwrite=True)).aside is not None
    assert (await examine(home, backend=backend_under_test())).problems == []


Member = tuple[tarfile.TarInfo, bytes]


def member(name: str, data: bytes = b"x", kind: bytes = tarfile.REGTYPE, link: str = "") -> Member:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size = kind, link, len(data) if kind == tarfile.REGTYPE else 0
    return info, data


def archive_of(path: Path, *members: Member, sums: Callable[[bytes], bytes] = lambda lines: lines) -> Path:
    head = member("backup.json", json.dumps({"format": 1, "created_at": "2026-01-01T00:00:00Z", "tasks": 0}).encode())
    lines = b""
    with tarfile.open(path, "w:gz") as tar:
        for info, data in (head, *members):
            tar.addfile(info, io.BytesIO(data))
            if info.isreg():
                lines += f"{hashlib.sha256(data).hexdigest()}  {info.name}\n".encode()
        info, data = member("SHA256SUMS", sums(lines))
        tar.addfile(info, io.BytesIO(data))
    return path


@pytest.mark.parametrize(
    "hostile",
    [
        member("../outside"), member("contexts/../../outside"), member("/etc/outside"), member("contexts/running/.."),
        member("contexts\\..\\outside"), member("C:/outside"), member("contexts//outside"), member("contexts/./x"),
        member("memories/link", kind=tarfile.SYMTYPE, link="/etc/passwd"), member("contexts", kind=tarfile.SYMTYPE, link="/"),
        member("memories/hard", kind=tarfile.LNKTYPE, link="../../x"), member("memories/device", kind=tarfile.CHRTYPE),
        member("memories/pipe", kind=tarfile.FIFOTYPE), member("secrets.json"), member("secrets.enc"), member(".bashrc"),
        member(".restore.json"), member("config.json/x"), member("contexts"), member("backup.json"),
        member("memories/line\nbreak"), member("x" * 300 + ".db"),
    ],
    ids=lambda hostile: repr(hostile[0].name[:30]),
)  # fmt: skip
async def test_hostile_archives_are_refused(tmp_path: Path, hostile: Member) -> None:
    archive = archive_of(tmp_path / "a.tar.gz", member("memories/good"), hostile)
    home = tmp_path / "deep" / "home"
    home.mkdir(parents=True)
    (home / "memories").mkdir()
    (home / "memories" / "mine").write_text("mine")
    with pytest.raises(InvalidInput):
        await restore_backup(archive, home, overwrite=True)
    assert {str(path.relative_to(tmp_path / "deep")) for path in (tmp_path / "deep").rglob("*")} == {
        "home", "home/memories", "home/memories/mine"
    }  # fmt: skip
    assert not (tmp_path / "outside").exists()


async def test_what_is_no_whole_backup_is_refused(tmp_path: Path) -> None:
    good = archive_of(tmp_path / "good", member("memories/a", b"a" * 100_000))
    assert await verify_backup(good) == 1
    data = good.read_bytes()
    twice = archive_of(tmp_path / "twice", member("memories/a"), member("memories/a"))
    forged = archive_of(tmp_path / "forged", member("memories/a"), sums=lambda lines: lines.replace(b"0", b"1"))
    cases = [twice, forged]
    for name, content in {
        "cut": data[: len(data) // 2], "empty": b"", "text": b"hello", "zip": b"PK\x03\x04" + bytes(1000),
        "short": data[:-8], "tar": gzip.compress(b"\0" * 10240),
    }.items():  # fmt: skip
        (tmp_path / name).write_bytes(content)
        cases.append(tmp_path / name)
    for case in cases:
        with pytest.raises(InvalidInput):
            await restore_backup(case, tmp_path / "home")
        assert not any((tmp_path / "home").iterdir()) if (tmp_path / "home").exists() else True
    with pytest.raises(StorageUnavailable):
        await restore_backup(tmp_path / "nowhere", tmp_path / "home")


async def test_a_header_as_long_as_memory_is_refused(tmp_path: Path) -> None:
    info = tarfile.TarInfo("pax")
    info.type, info.size = tarfile.XHDTYPE, 1 << 40
    (tmp_path / "bomb").write_bytes(gzip.compress(info.tobuf(tarfile.GNU_FORMAT) + bytes(10_000)))
    with pytest.raises(InvalidInput, match="too long"):
        await restore_backup(tmp_path / "bomb", tmp_path / "home")


async def test_a_damaged_new_backup_costs_no_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, target = tmp_path / "home", tmp_path / "backups"
    await make_home(home)
    await back_up(home, target, generations=1)
    replace = os.fsync

    def spoil(descriptor: int) -> None:
        # A disk that says it has what it has not.
        replace(descriptor)
        if os.fstat(descriptor).st_size > 1000 and os.readlink(f"/proc/self/fd/{descriptor}").endswith(".tmp"):
            os.ftruncate(descriptor, 700)

    if not Path("/proc/self/fd").exists():
        pytest.skip("Needs /proc")
    monkeypatch.setattr(os, "fsync", spoil)
    with pytest.raises(HdspAgentError):
        await back_up(home, target, generations=1)
    assert [info.generation for info in backups(target)] == [1]
    assert await verify_backup(backups(target)[0].path) > 0


@pytest.mark.in_short(1)
@pytest.mark.slow
@pytest.mark.parametrize("what", ["back_up", "restore"])
async def test_a_disk_that_refuses_any_call_costs_nothing(quick_folder: Path, what: str) -> None:
    origin, target, home = quick_folder / "origin", quick_folder / "backups", quick_folder / "home"
    await make_home(origin)
    archive = (await back_up(origin, target)).backup.path
    for nth in range(1, 10_000, rounds(3, 1)):
        disk = Disk(str(home if what == "restore" else target), refuse_at=nth)
        if what == "restore":
            home.mkdir()
            (home / "memories").mkdir()
            (home / "memories" / "mine").write_text("mine")
        with disk.installed():
            try:
                if what == "restore":
                    await restore_backup(archive, home, overwrite=True)
                else:
                    await back_up(origin, target, generations=2)
            except HdspAgentError as error:
                assert isinstance(error, (StorageUnavailable, InvalidInput))
        if what == "restore":
            await restore_backup(archive, home, overwrite=True)
            assert (home / "memories" / "MEMORY.md").read_text() == "remember"
            assert [path.read_text() for path in home.glob("before-restore-*/memories/mine")] == ["mine"]
            shutil.rmtree(home)
        else:
            assert backups(target)
            for info in backups(target):
                await verify_backup(info.path)
        if not disk.refused:
            break
    assert nth > 10


@unix
async def test_a_disk_that_is_full_costs_no_old_backup_and_leaves_nothing(tmp_path: Path) -> None:
    import resource

    home, target = tmp_path / "home", tmp_path / "backups"
    await make_home(home)
    (home / "memories" / "large").write_bytes(os.urandom(3_000_000))
    await back_up(home, target)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, before[1]))
    try:
        with pytest.raises(StorageUnavailable):
            await back_up(home, target)
        with pytest.raises(StorageUnavailable):
            await restore_backup(backups(target)[0].path, tmp_path / "other")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert {path.name for path in target.iterdir()} - {"backup.lock"} == {backups(target)[0].path.name}
    assert list((tmp_path / "other").iterdir()) == []
    assert await verify_backup(backups(target)[0].path) > 0


@unix
async def test_a_disk_that_is_full_for_the_copy_of_a_database_is_the_reason(tmp_path: Path) -> None:
    home, disk = tmp_path / "home", tmp_path / "disk"
    await make_home(home)
    with closing(sqlite3.connect(home / "state.db")) as database:
        database.execute("CREATE TABLE large (text)")
        database.execute("INSERT INTO large VALUES (?)", ("x" * 3_000_000,))
        database.commit()
    with small_volume(disk, 1) as folder:
        with pytest.raises(StorageUnavailable, match=r"write .*backups.*No space left") as refused:
            await back_up(home, folder / "backups")
        assert refused.value.params["action"] == "write"
        assert backups(folder / "backups") == []


def test_a_file_that_cannot_be_read_is_named_and_not_the_backup(tmp_path: Path) -> None:
    backup, source = tmp_path / "backups" / "b.tar.gz", tmp_path / "home" / "memories" / "a.md"
    unreadable = _failure(backup, PermissionError(errno.EACCES, "Permission denied", str(source)))
    assert (unreadable.params["action"], unreadable.params["path"]) == ("read", str(source))
    for name in (None, str(tmp_path / "backups" / ".unfinished")):
        unwritable = _failure(backup, OSError(errno.ENOSPC, "No space left on device", name))
        assert (unwritable.params["action"], unwritable.params["path"]) == ("write", str(backup))


async def test_a_backup_is_not_kept_among_what_is_backed_up(tmp_path: Path) -> None:
    await make_home(tmp_path / "home")
    for target in ("home", "home/contexts", "home/memories/old"):
        with pytest.raises(InvalidInput, match="itself backed up"):
            await back_up(tmp_path / "home", tmp_path / target)
    assert (await back_up(tmp_path / "home", tmp_path / "home" / "backups")).files > 0


@unix
async def test_a_name_that_another_system_obeys_is_left_out_and_the_backup_can_be_restored(tmp_path: Path) -> None:
    home, other = tmp_path / "home", tmp_path / "other"
    await make_home(home)
    for name in ("..\\..\\up.md", "C:x.md", "aux.md", "end.", "what?.md"):
        (home / "memories" / name).write_text("x")
    (home / "memories" / "nul").mkdir()
    (home / "memories" / "nul" / "in.md").write_text("x")
    report = await back_up(home, tmp_path / "backups")
    assert {name.split("/", 1)[1] for name in report.left_out} == {
        "..\\..\\up.md", "C:x.md", "aux.md", "end.", "what?.md", "nul/in.md",
    }  # fmt: skip
    await restore_backup(report.backup.path, other)
    assert [path.name for path in (other / "memories").iterdir()] == ["MEMORY.md"]


@pytest.mark.parametrize(
    "name",
    ["../up", "memories/../../up", "memories/..\\..\\up", "/etc/x", "C:/x", "memories/C:x", "memories/nul", "memories/Con.md",
     "memories/com1.tar", "memories/end.", "memories/end ", "memories/a\nb", "memories//x", "\\\\host\\x"],
)  # fmt: skip
async def test_a_backup_with_a_name_that_leads_elsewhere_is_refused(tmp_path: Path, name: str) -> None:
    archive = tmp_path / "made.tar.gz"
    with archive.open("wb") as file:
        writer = ArchiveWriter(file, ArchiveHead("2026-01-01T00:00:00Z", 0), tmp_path)
        writer.add_bytes(name, b"x", 0)
        writer.finish()
    with pytest.raises(InvalidInput, match="is not a backup"):
        await restore_backup(archive, tmp_path / "home")
    assert not (tmp_path / "home" / "memories").exists()
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "home") == ["made.tar.gz"]
