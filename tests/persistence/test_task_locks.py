from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from hdsp_agent.errors import Conflict
from hdsp_agent.persistence import LockRecord, LockWatch, TaskLock, iso_time, read_lock
from hdsp_agent.persistence.files import _processes, _task_locks

HOLD = """
import sys, time
from pathlib import Path
from hdsp_agent.persistence import TaskLock
TaskLock.acquire(Path(sys.argv[1]))
print("held", flush=True)
time.sleep(60)
"""
NOBODY = 2**22 - 3


@contextmanager
def holder(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the lock."""
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(folder)], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None and process.stdout.readline() == "held\n"
        yield process
    finally:
        process.kill()
        process.communicate()


def leave(folder: Path, *, age: float = 0.0, **fields: object) -> LockRecord:
    """A lock that nobody's OS lock holds any more."""
    then = iso_time(datetime.now(tz=UTC) - timedelta(seconds=age))
    record = LockRecord.model_validate(
        {"process_id": NOBODY, "hostname": "", "acquired_at": then, "heartbeat_at": then, "token": "old", **fields}
    )
    path = folder / ".lock"
    path.write_text(record.to_json(), encoding="utf-8")
    os.utime(path, (time.time() - age, time.time() - age))
    return record


@pytest.fixture
def here() -> str:
    return socket.gethostname()


def test_a_lock_says_who_has_it_and_is_gone_when_given_up(tmp_path: Path) -> None:
    lock = TaskLock.acquire(tmp_path)
    said = json.loads((tmp_path / ".lock").read_text(encoding="utf-8"))
    assert said["process_id"] == os.getpid()
    with pytest.raises(Conflict, match=str(os.getpid())):
        TaskLock.acquire(tmp_path)
    lock.release()
    lock.release()
    assert list(tmp_path.iterdir()) == []
    TaskLock.acquire(tmp_path).release()


def test_the_lock_of_a_living_process_stays_its_own_however_old_its_heartbeat(tmp_path: Path) -> None:
    with holder(tmp_path):
        record = read_lock(tmp_path)
        assert record is not None
        old = record.model_copy(update={"heartbeat_at": "2020-01-01T00:00:00Z"})
        with (tmp_path / ".lock").open("r+", encoding="utf-8") as file:
            file.write(old.to_json().ljust(1023))
        os.utime(tmp_path / ".lock", (0, 0))
        with pytest.raises(Conflict):
            TaskLock.acquire(tmp_path)


def test_the_lock_of_a_killed_process_can_be_taken_at_once(tmp_path: Path) -> None:
    with holder(tmp_path) as process:
        process.kill()
        process.wait()
        lock = TaskLock.acquire(tmp_path)
        assert lock.record.process_id == os.getpid()
        lock.release()


def test_another_process_that_got_the_dead_ones_id_is_no_holder(tmp_path: Path, here: str) -> None:
    started = _processes.process_started(os.getppid())
    leave(tmp_path, hostname=here, process_id=os.getppid(), process_started=f"not {started}")
    TaskLock.acquire(tmp_path).release()


def test_a_living_process_without_its_os_lock_keeps_its_lock_as_long_as_it_beats(tmp_path: Path, here: str) -> None:
    fields = {"hostname": here, "process_id": os.getppid(), "process_started": _processes.process_started(os.getppid())}
    leave(tmp_path, age=30, **fields)
    with pytest.raises(Conflict):
        TaskLock.acquire(tmp_path)
    leave(tmp_path, age=61, **fields)
    TaskLock.acquire(tmp_path).release()


def test_a_lock_from_another_host_is_judged_by_its_heartbeat_alone(tmp_path: Path) -> None:
    leave(tmp_path, hostname="elsewhere", process_id=os.getpid(), age=30)
    with pytest.raises(Conflict, match="elsewhere"):
        TaskLock.acquire(tmp_path)
    leave(tmp_path, hostname="elsewhere", process_id=os.getpid(), age=61)
    TaskLock.acquire(tmp_path).release()


@pytest.mark.parametrize("shift", [-7200, 7200])
def test_a_clock_that_was_set_makes_no_living_host_dead(tmp_path: Path, shift: float) -> None:
    # Its clock differs from ours by two hours, but the file system has seen its heartbeat just now.
    then = iso_time(datetime.now(tz=UTC) + timedelta(seconds=shift))
    leave(tmp_path, hostname="elsewhere", heartbeat_at=then)
    with pytest.raises(Conflict):
        TaskLock.acquire(tmp_path)


def test_the_monitor_believes_no_clock_but_waits_until_a_heartbeat_stands_still(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch = LockWatch(patient=True)
    now = 1000.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    leave(tmp_path, hostname="elsewhere", age=10_000, beats=1)
    with pytest.raises(Conflict):
        TaskLock.acquire(tmp_path, watch)
    now += 300
    record = leave(tmp_path, hostname="elsewhere", age=10_000, beats=2)
    with pytest.raises(Conflict):
        TaskLock.acquire(tmp_path, watch)
    now += 61
    watch.forget_all_but([record])
    TaskLock.acquire(tmp_path, watch).release()


def test_a_holder_that_was_taken_for_dead_notices(tmp_path: Path) -> None:
    lock = TaskLock.acquire(tmp_path)
    leave(tmp_path, hostname="elsewhere", age=61)
    # What another host would do: it does not see our OS lock.
    os.rename(tmp_path / ".lock", tmp_path / "ours")
    leave(tmp_path, hostname="elsewhere")
    with pytest.raises(Conflict, match="elsewhere"):
        lock.beat()
    lock.release()
    assert read_lock(tmp_path) is not None


def test_without_os_locks_a_dead_process_of_this_host_is_given_a_minute(
    tmp_path: Path, here: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_task_locks, "_lock_descriptor", lambda descriptor: None)
    leave(tmp_path, hostname=here, age=30)
    with pytest.raises(Conflict):
        TaskLock.acquire(tmp_path)
    leave(tmp_path, hostname=here, age=61)
    lock = TaskLock.acquire(tmp_path)
    with pytest.raises(Conflict):
        TaskLock.acquire(tmp_path)
    lock.release()


@pytest.mark.parametrize("content", ["", "{", "\0" * 100])
def test_a_lock_that_says_nothing_is_taken_if_nobody_holds_it(tmp_path: Path, content: str) -> None:
    (tmp_path / ".lock").write_text(content, encoding="utf-8")
    TaskLock.acquire(tmp_path).release()


def test_a_takeover_that_was_interrupted_is_no_obstacle(tmp_path: Path, here: str) -> None:
    leave(tmp_path, hostname=here)
    os.rename(tmp_path / ".lock", tmp_path / ".lock.claim")
    leave(tmp_path, hostname=here)
    TaskLock.acquire(tmp_path).release()


def test_a_heartbeat_shows_and_keeps_the_lock(tmp_path: Path) -> None:
    lock = TaskLock.acquire(tmp_path)
    before = lock.record
    after = lock.beat()
    assert (after.beats, after.token, after.acquired_at) == (before.beats + 1, before.token, before.acquired_at)
    assert after.heartbeat_at > before.heartbeat_at
    assert read_lock(tmp_path) == after
    lock.release()


def test_a_folder_that_is_not_there_has_no_lock(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        TaskLock.acquire(tmp_path / "gone")


def test_a_process_that_ended_is_gone_even_before_it_is_reaped() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    started = _processes.process_started(process.pid)
    assert _processes.is_gone(os.getpid(), _processes.process_started(os.getpid())) is False
    deadline = time.monotonic() + 60
    while not _processes.is_gone(process.pid, started) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert _processes.is_gone(process.pid, started)
    process.wait()
    assert _processes.is_gone(process.pid, started)


def test_when_a_process_began_is_the_same_however_it_is_asked(tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    began = _processes._began(process.pid)
    assert began is not None
    assert began == _processes._began(process.pid)
    # As version 0.1.0 wrote it on macOS, where this text is all that a lock has.
    as_ps_says = time.strftime("%a %b %e %H:%M:%S %Y", time.localtime(began))
    assert _processes._is_same_time(f"{began:.6f}", as_ps_says)
    assert not _processes._is_same_time(f"{began + 5:.6f}", as_ps_says)
    assert not _processes._is_same_time(f"{began:.6f}", "long ago")
    process.communicate(b"\n")
    assert _processes._began(process.pid) is None


@pytest.mark.parametrize(("process_id", "gone"), [(2**22 + 1, True), (2**40, False), (2**70, False)])
def test_only_what_can_be_a_process_can_be_gone(process_id: int, gone: bool) -> None:
    assert _processes.is_gone(process_id, "long ago") is gone
