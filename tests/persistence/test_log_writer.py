from __future__ import annotations

import asyncio
import errno
import os
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from blockbuster import blockbuster_ctx

from hdsp_agent.append_log import appender as _append_file
from hdsp_agent.errors import StorageUnavailable
from hdsp_agent.persistence.files._log_writer import LogFile, LogWriter

from .._helpers.timing import until


@asynccontextmanager
async def running(**limits: int) -> AsyncIterator[LogWriter]:
    writer = LogWriter(**limits)
    try:
        yield writer
    finally:
        await writer.stop()


def lines(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines()


def record(number: int) -> bytes:
    return b'{"n":%d}\n' % number


async def test_lines_of_one_file_keep_their_order_durable_or_not(tmp_path: Path) -> None:
    async with running() as writer:
        log = LogFile(tmp_path / "log")
        with blockbuster_ctx(scanned_modules=["hdsp_agent"]):
            await asyncio.gather(*(writer.append(log, record(n), durable=n % 7 == 0) for n in range(2000)))
        assert lines(log.path) == [record(n).strip() for n in range(2000)]
        assert log.acknowledged == 2000


async def test_what_is_acknowledged_has_reached_the_os(tmp_path: Path) -> None:
    async with running() as writer:
        log = LogFile(tmp_path / "log")
        for number in range(50):
            await writer.append(log, record(number), durable=False)
            assert len(lines(log.path)) == number + 1


async def test_many_durable_lines_share_the_disks_commits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    syncs = 0
    sync = _append_file._sync

    def counting(descriptor: int) -> None:
        nonlocal syncs
        syncs += 1
        time.sleep(0.05)
        sync(descriptor)

    monkeypatch.setattr(_append_file, "_sync", counting)
    async with running() as writer:
        log = LogFile(tmp_path / "log")
        await asyncio.gather(*(writer.append(log, record(n), durable=True) for n in range(1000)))
        assert syncs < 20


async def test_a_slow_disk_under_one_file_does_not_hold_up_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = threading.Event()
    monkeypatch.setattr(_append_file, "_sync", lambda descriptor: release.wait(100))
    async with running() as writer:
        slow, quick = LogFile(tmp_path / "slow"), LogFile(tmp_path / "quick")
        durable = writer.append(slow, record(1), durable=True)
        behind = writer.append(slow, record(2), durable=False)
        for number in range(100):
            await asyncio.wait_for(writer.append(quick, record(number), durable=False), 60)
        assert not durable.done() and not behind.done()
        release.set()
        await asyncio.gather(durable, behind)


async def test_while_written_lines_are_synced_others_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = threading.Event()
    synced: list[int] = []

    def slow(descriptor: int) -> None:
        synced.append(os.fstat(descriptor).st_size)
        release.wait(100)

    monkeypatch.setattr(_append_file, "_sync", slow)
    async with running() as writer:
        log = LogFile(tmp_path / "log")
        await writer.append(log, record(0), durable=False)
        done = writer.append(log, b"", durable=True)
        for number in range(1, 4):
            await asyncio.wait_for(writer.append(log, record(number), durable=False), 60)
        assert lines(log.path) == [record(n).strip() for n in range(4)]
        assert not done.done()
        # What needs the disk waits for another sync, and what comes behind it too.
        durable = writer.append(log, record(4), durable=True)
        behind = writer.append(log, record(5), durable=False)
        await asyncio.sleep(0.05)
        assert not durable.done() and not behind.done()
        release.set()
        await asyncio.gather(done, durable, behind)
    assert synced[-1] == len(log.path.read_bytes())
    assert lines(log.path) == [record(n).strip() for n in range(6)]


async def test_lines_that_were_written_while_a_sync_failed_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = threading.Event()

    def failing(descriptor: int) -> None:
        release.wait(100)
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    async with running() as writer:
        log = LogFile(tmp_path / "log")
        await writer.append(log, record(0), durable=False)
        with monkeypatch.context() as patch:
            patch.setattr(_append_file, "_sync", failing)
            done = writer.append(log, b"", durable=True)
            await writer.append(log, record(1), durable=False)
            release.set()
            with pytest.raises(StorageUnavailable):
                await done
        assert log.accepted == 2
        await writer.append(log, record(2), durable=True)
        assert lines(log.path) == [record(n).strip() for n in range(3)]


async def test_a_refused_line_fails_with_all_behind_it_and_leaves_no_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running() as writer:
        log = LogFile(tmp_path / "log")
        await writer.append(log, record(0), durable=False)
        with full_disk(monkeypatch, room=3):
            outcomes = await asyncio.gather(
                *(writer.append(log, record(n), durable=n % 2 == 0) for n in range(1, 30)), return_exceptions=True
            )
            assert all(isinstance(outcome, StorageUnavailable) for outcome in outcomes)
            paused = log.paused
            assert paused is not None and "space" in str(paused)
            assert (log.accepted, lines(log.path)) == (1, [record(0).strip()])
        await writer.append(log, record(1), durable=True)
        assert log.paused is None
        assert lines(log.path) == [record(0).strip(), record(1).strip()]


async def test_whole_lines_written_before_the_disk_was_full_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running() as writer:
        log = LogFile(tmp_path / "log")
        await writer.append(log, record(0), durable=False)
        with full_disk(monkeypatch, room=len(record(1)) * 2 + 3):
            outcomes = await asyncio.gather(
                *(writer.append(log, record(n), durable=n == 2) for n in range(1, 6)), return_exceptions=True
            )
            kept = [number for number, outcome in enumerate(outcomes, 1) if outcome is None]
        assert kept == [1, 2]
        assert lines(log.path) == [record(n).strip() for n in (0, *kept)]
        assert log.accepted == 1 + len(kept)


async def test_a_failed_sync_takes_back_the_lines_it_was_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(descriptor: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    async with running() as writer:
        log = LogFile(tmp_path / "log")
        await writer.append(log, record(0), durable=False)
        with monkeypatch.context() as patch:
            patch.setattr(_append_file, "_sync", failing)
            outcomes = await asyncio.gather(
                *(writer.append(log, record(n), durable=n == 2) for n in range(1, 4)), return_exceptions=True
            )
            assert [outcome is None for outcome in outcomes] == [True, False, False]
        await writer.append(log, record(9), durable=True)
        assert lines(log.path) == [record(n).strip() for n in (0, 1, 9)]


async def test_half_a_line_that_cannot_be_cut_off_is_cut_off_before_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running() as writer:
        log = LogFile(tmp_path / "log")
        await writer.append(log, record(0), durable=False)
        with full_disk(monkeypatch, room=3, cut=False), pytest.raises(StorageUnavailable):
            await writer.append(log, record(1), durable=False)
        assert log.path.read_bytes() == record(0) + record(1)[:3]
        await writer.append(log, record(2), durable=False)
        assert lines(log.path) == [record(0).strip(), record(2).strip()]


@pytest.mark.parametrize(
    ("left", "expected"),
    [
        (record(0), [record(0)]),
        (record(0) + b'{"n":', [record(0)]),
        (record(0) + b'{"n":7}', [record(0), record(7)]),
        (record(0) + b"\0" * 100_000, [record(0)]),
        (b'{"n"', []),
        (b"", []),
    ],
)
async def test_what_a_crash_left_of_a_line_is_repaired(tmp_path: Path, left: bytes, expected: list[bytes]) -> None:
    path = tmp_path / "log"
    path.write_bytes(left)
    async with running() as writer:
        await writer.append(LogFile(path), record(1), durable=False)
    assert path.read_bytes() == b"".join((*expected, record(1)))


async def test_more_than_fits_is_waited_for_and_written_in_order(tmp_path: Path) -> None:
    async with running(max_pending_bytes=1000) as writer:
        log = LogFile(tmp_path / "log")
        most = 0

        async def add(number: int) -> None:
            nonlocal most
            if writer.crowded:
                await writer.room()
            done = writer.append(log, record(number), durable=False)
            most = max(most, log.outstanding)
            await done

        await asyncio.gather(*(add(number) for number in range(5000)))
        assert most <= 1000 // len(record(0)) * 1.2
        assert lines(log.path) == [record(number).strip() for number in range(5000)]


async def test_those_who_gave_up_waiting_do_not_keep_others_from_going_on(tmp_path: Path) -> None:
    async with running(max_pending_bytes=10) as writer:
        log = LogFile(tmp_path / "log")

        async def add(number: int) -> None:
            if writer.crowded:
                await writer.room()
            await writer.append(log, record(number), durable=False)

        tasks = [asyncio.create_task(add(number)) for number in range(100)]
        await asyncio.sleep(0)
        for task in tasks[::2]:
            task.cancel()
        await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 60)
        await asyncio.wait_for(add(1000), 60)
        assert set(lines(log.path)) >= {record(number).strip() for number in range(1, 100, 2)}


async def test_few_files_are_open_however_many_are_written(tmp_path: Path) -> None:
    if not Path("/proc/self/fd").exists():
        pytest.skip("Counts descriptors in /proc")
    async with running(max_open_files=10) as writer:
        logs = [LogFile(tmp_path / f"{number}") for number in range(200)]
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(3):
            await asyncio.gather(*(writer.append(log, record(1), durable=True) for log in logs))
        assert len(os.listdir("/proc/self/fd")) - before <= 12
        assert all(len(lines(log.path)) == 3 for log in logs)


async def test_stopping_writes_what_was_handed_over_and_ends_the_threads(tmp_path: Path) -> None:
    before = threading.active_count()
    writer = LogWriter()
    log = LogFile(tmp_path / "log")
    done = [writer.append(log, record(number), durable=number == 500) for number in range(1000)]
    await writer.stop()
    assert all(future.done() for future in done)
    assert len(lines(log.path)) == 1000
    await until(lambda: threading.active_count() <= before)
    with pytest.raises(StorageUnavailable):
        writer.append(log, record(1), durable=False)


class full_disk:
    """While this is in force, ``room`` bytes more can be written, and perhaps nothing be cut off."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, room: int, cut: bool = True) -> None:
        self.patch = pytest.MonkeyPatch()
        self.room = room
        self.cut = cut

    def __enter__(self) -> None:
        write: Callable[[int, bytes], int] = os.write

        def limited(descriptor: int, data: bytes) -> int:
            if self.room <= 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            taken = write(descriptor, bytes(data)[: self.room])
            self.room -= taken
            return taken

        def refuse(descriptor: int, size: int) -> None:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

        # Only what the appender calls: asyncio writes to its own pipe to wake up.
        appender = type("os", (), {**vars(os), "write": staticmethod(limited)})
        if not self.cut:
            appender.ftruncate = staticmethod(refuse)  # type: ignore[attr-defined]  # a stand-in for the module
        self.patch.setattr(_append_file, "os", appender)

    def __exit__(self, *_: object) -> None:
        self.patch.undo()
