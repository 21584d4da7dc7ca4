"""What recording a message costs: bytes, time, memory; beside rewriting a whole JSON file, and beside a bare write."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from statistics import median

from hdsp_agent.messages import ClineMessage
from hdsp_agent.persistence import ApiDraft, FileStore, NewTaskRecord, TaskLog

from .results import Result, percentile, result

SIZES = (100, 1_000, 10_000)
CALLS = (100, 1_000, 10_000)
RUNS = 9
APPEND_MICROSECONDS = 25
CONSTANT = 1.25
AT_ONCE = 100
TASKS = 1_000
SECONDS = 6
APPENDS_PER_SECOND = 2_000
DURABLE_SHARE = 0.05
CALL_CHARACTERS = 8_500
"""A tenth of what a task usually makes, so that the list of the largest run fits anywhere."""


def _text(number: int, characters: int = 2_000) -> str:
    words = f"message {number} said that the table has {number * 7} rows and the model fits; "
    return (words * (characters // len(words) + 1))[:characters]


def _message(log: TaskLog, number: int) -> ClineMessage:
    return ClineMessage(ts=log.next_ts(), type="say", say="text", text=_text(number))


def _rewrite(path: Path, messages: Sequence[Mapping[str, object]]) -> int:
    """The seeds' ``safeWriteJson``: the whole list into a temporary file, then a rename. Returns the bytes written."""
    content = json.dumps(messages, indent=2, ensure_ascii=False).encode()
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_bytes(content)
    os.replace(temporary, path)
    return len(content)


async def _fill(log: TaskLog, count: int) -> None:
    for start in range(0, count, AT_ONCE):
        await asyncio.gather(*(log.put_ui(_message(log, n)) for n in range(start, min(count, start + AT_ONCE))))


@contextmanager
def _timed(times: list[float], *, per: int = 1) -> Iterator[None]:
    """Add how many microseconds the block took."""
    gc.collect()
    started = time.perf_counter()
    yield
    times.append((time.perf_counter() - started) * 1e6 / per)


async def _appends(store: FileStore, home: Path, size: int, shortest: float | None) -> list[Result]:
    """At this length of the task: one message of ours, one rewrite of everything, one bare write, in turns.

    ``shortest`` is what one of ours took in the shortest task; None if this is it.
    """
    log = await store.create(NewTaskRecord())
    await _fill(log, size)
    path = home / "contexts" / "running" / log.task_id / "ui_messages.jsonl"
    whole = [dict(message.to_wire()) async for message in log.ui.iterate()]
    bare = os.open(home / f"bare-{size}", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    before = path.stat().st_size
    one_by_one: list[float] = []
    together: list[float] = []
    written: list[float] = []
    rewritten: list[float] = []
    rewritten_bytes = 0
    for run in range(RUNS):
        messages = [_message(log, size + run * AT_ONCE + number) for number in range(AT_ONCE)]
        more = [_message(log, number) for number in range(AT_ONCE)]
        lines = [message.to_json().encode() + b"\n" for message in messages]
        whole[-1] = dict(messages[0].to_wire())
        with _timed(written, per=AT_ONCE):
            for line in lines:
                os.write(bare, line)
        with _timed(together, per=AT_ONCE):
            await asyncio.gather(*map(log.put_ui, messages))
        with _timed(one_by_one, per=AT_ONCE):
            for message in more:
                await log.put_ui(message)
        with _timed(rewritten):
            rewritten_bytes = _rewrite(home / "whole.json", whole)
    os.close(bare)
    bytes_each = (path.stat().st_size - before) / (2 * RUNS * AT_ONCE)
    await log.finish()
    fewer = rewritten_bytes / bytes_each
    shortest = median(together) if shortest is None else shortest
    return [
        result(
            f"store.append.bytes@{size}", f"bytes written for one message after {size:,}, beside rewriting all", bytes_each,
            "bytes", baseline=float(rewritten_bytes), goal=">= 100x fewer at 1,000" if size == 1_000 else "constant",
            met=fewer >= 100 if size == 1_000 else bytes_each < 3_000, runs=RUNS,
        ),
        result(
            f"store.append.rewrite@{size}", f"time for one message after {size:,}, awaited, beside rewriting all",
            median(one_by_one), "us", baseline=median(rewritten), goal="less than rewriting",
            met=median(one_by_one) < median(rewritten), runs=RUNS,
        ),
        result(
            f"store.append.time@{size}", f"time a message after {size:,}, {AT_ONCE} at once, beside the same after {SIZES[0]}"
            f" (a bare os.write: {median(written):.1f} us)",
            median(together), "us", baseline=shortest, goal="<= 25 us, and constant: <= 1.25x",
            met=median(together) <= APPEND_MICROSECONDS and median(together) <= CONSTANT * shortest, runs=RUNS,
        ),
        result(
            f"store.append.await@{size}", f"time a message after {size:,}, each awaited, beside a bare os.write of the same",
            median(one_by_one), "us", baseline=median(written), goal="<= 2x",
            met=median(one_by_one) <= 2 * median(written), runs=RUNS,
        ),
    ]  # fmt: skip


async def _durable(store: FileStore, home: Path) -> Result:
    log = await store.create(NewTaskRecord())
    bare = os.open(home / "bare-durable", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    ours: list[float] = []
    theirs: list[float] = []
    for number in range(200):
        message = _message(log, number)
        line = message.to_json().encode() + b"\n"
        started = time.perf_counter()
        os.write(bare, line)
        getattr(os, "fdatasync", os.fsync)(bare)
        theirs.append((time.perf_counter() - started) * 1e6)
        started = time.perf_counter()
        await log.put_ui(message, durable=True)
        ours.append((time.perf_counter() - started) * 1e6)
    os.close(bare)
    await log.finish()
    return result(
        "store.append.durable", "time for a message that must survive a power cut, beside a bare write and fdatasync",
        median(ours), "us", baseline=median(theirs), goal="<= 2x", met=median(ours) <= 2 * median(theirs), runs=200,
    )  # fmt: skip


async def _opening(home: Path) -> list[Result]:
    store = FileStore(home)
    await store.start()
    log = await store.create(NewTaskRecord())
    await _fill(log, 10_000)
    for number in range(0, 10_000, 2):
        await log.append_api(ApiDraft(role="user", content=_text(number)))
    whole = home / "whole.json"
    _rewrite(whole, [dict(message.to_wire()) async for message in log.ui.iterate()])
    await log.finish()
    await store.stop()
    newest: list[float] = []
    resumed: list[float] = []
    older: list[float] = []
    loads: list[float] = []
    for _ in range(RUNS):
        store = FileStore(home)
        await store.start()
        with _timed(newest, per=1000):
            task = await store.view(log.task_id)
            await task.read_state()
            assert len(await task.ui.newest(50)) == 50
        task = await store.view(log.task_id)
        middle = (await task.ui.newest(1))[0].ts - 5_000
        with _timed(older, per=1000):
            await task.ui.page(before=middle, limit=50)
        with _timed(loads, per=1000):
            json.loads(whole.read_bytes())
        with _timed(resumed, per=1000):
            await store.resume(log.task_id)
        await store.stop()
    return [
        result(
            "store.open", "opening a task of 10,000 messages and its newest page, beside parsing it whole", median(newest),
            "ms", baseline=median(loads), goal="<= 50 ms", met=median(newest) <= 50, runs=RUNS,
        ),
        result(
            "store.open.older", "the first page from the middle of it, which builds the index", median(older), "ms",
            baseline=median(loads), goal="<= 100 ms", met=median(older) <= 100, runs=RUNS,
        ),
        result(
            "store.open.resume", "taking it to work on: lock, move, state, newest messages", median(resumed), "ms",
            baseline=median(loads), goal="<= 100 ms", met=median(resumed) <= 100, runs=RUNS,
        ),
    ]  # fmt: skip


async def _crowd(home: Path) -> list[Result]:
    """A thousand tasks that append at random moments, while a ticker looks how late the event loop is."""
    store = FileStore(home)
    await store.start()
    logs: list[TaskLog] = []
    for _ in range(TASKS // 50):
        logs += await asyncio.gather(*(store.create(NewTaskRecord()) for _ in range(50)))
    latencies: list[float] = []

    async def tick(late: list[float], over: asyncio.Event) -> None:
        while not over.is_set():
            before = time.perf_counter()
            await asyncio.sleep(0.001)
            late.append((time.perf_counter() - before - 0.001) * 1000)

    @asynccontextmanager
    async def ticking() -> AsyncIterator[list[float]]:
        gc.collect()
        late: list[float] = []
        over = asyncio.Event()
        ticker = asyncio.create_task(tick(late, over))
        yield late
        over.set()
        await ticker

    async def work(log: TaskLog, seed: int) -> None:
        chance = random.Random(seed)
        end = time.perf_counter() + SECONDS
        number = 0
        while time.perf_counter() < end:
            await asyncio.sleep(chance.uniform(0, 2 * TASKS / APPENDS_PER_SECOND))
            message = _message(log, number)
            number += 1
            started = time.perf_counter()
            await log.put_ui(message, durable=chance.random() < DURABLE_SHARE)
            latencies.append((time.perf_counter() - started) * 1000)

    async with ticking() as idle:
        await asyncio.sleep(SECONDS)
    async with ticking() as late:
        await asyncio.gather(*(work(log, seed) for seed, log in enumerate(logs)))
    await store.stop()
    p99, longest = percentile(latencies, 0.99), max(late)
    return [
        result(
            "store.crowd.p99", f"{TASKS:,} tasks appending {APPENDS_PER_SECOND:,} messages a second, 5 % to disk: p99", p99,
            "ms", goal="<= 20 ms", met=p99 <= 20, runs=len(latencies),
        ),
        result(
            "store.crowd.loop", "longest time the event loop came late meanwhile, beside doing nothing", longest, "ms",
            baseline=max(idle), goal="<= 10 ms", met=longest <= 10, runs=len(late),
        ),
    ]  # fmt: skip


def _resident_mb() -> float:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGESIZE") / 1e6


async def _remember(how: str, home: Path) -> list[float]:
    """The resident memory after each number of model calls, kept in the store or in a list."""
    store = FileStore(home)
    await store.start()
    log = await store.create(NewTaskRecord())
    kept: list[dict[str, object]] = []
    seen: list[float] = []
    for number in range(1, max(CALLS) + 1):
        sent, said = _text(number, CALL_CHARACTERS * 4 // 5), _text(number, CALL_CHARACTERS // 5)
        if how == "store":
            await log.append_api(ApiDraft(role="user", content=sent))
            await log.append_api(ApiDraft(role="assistant", content=said))
            await log.api.newest(20)
        else:
            kept += [{"role": "user", "content": sent}, {"role": "assistant", "content": said}]
        if number in CALLS:
            seen.append(_resident_mb())
    await log.finish()
    await store.stop()
    return seen


def _memory() -> list[Result]:
    seen: dict[str, list[list[float]]] = {"store": [], "list": []}
    for _ in range(3):
        for how, runs in seen.items():
            with tempfile.TemporaryDirectory() as home:
                said = subprocess.run(
                    [sys.executable, "-m", "benchmarks.store", how, home], capture_output=True, text=True, check=True
                )
            runs.append(json.loads(said.stdout))
    results: list[Result] = []
    for place, calls in enumerate(CALLS):
        ours = median(run[place] for run in seen["store"])
        growth = ours - median(run[0] for run in seen["store"])
        measured = result(
            f"store.memory@{calls}", f"resident memory of a process after {calls:,} model calls, beside a list", ours, "MB",
            baseline=median(run[place] for run in seen["list"]), goal="<= 2 MB more than at 100", met=growth <= 2, runs=3,
        )  # fmt: skip
        results.append(measured)
    return results


async def _in_process() -> list[Result]:
    results: list[Result] = []
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        store = FileStore(home / "appends")
        await store.start()
        warm = await store.create(NewTaskRecord())
        await _fill(warm, 200)
        shortest: float | None = None
        for size in SIZES:
            results += await _appends(store, home / "appends", size, shortest)
            shortest = shortest or next(one.value for one in results if one.id == f"store.append.time@{size}")
        results.append(await _durable(store, home / "appends"))
        await store.stop()
        results += await _opening(home / "opening")
        results += await _crowd(home / "crowd")
    return results


def measure() -> list[Result]:
    """Appends at three lengths, opening, a crowd of tasks; memory in processes of its own."""
    # The tasks left behind here are left behind on purpose.
    logging.getLogger("hdsp_agent").setLevel(logging.ERROR)
    return asyncio.run(_in_process()) + _memory()


if __name__ == "__main__":
    print(json.dumps(asyncio.run(_remember(sys.argv[1], Path(sys.argv[2])))))
