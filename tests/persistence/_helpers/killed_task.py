"""Forks a busy task, kills it at a random moment, looks at what is left, and does so again.

Run as ``python -m tests.persistence._helpers.killed_task HOME ROUNDS SEED``; prints what went wrong as JSON. What the task was
told to be recorded it says through a pipe at once, so the pipe holds everything that was acknowledged and no more. The
next task resumes the same one, so the kills hit starts, recoveries, moves and repairs too.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from hdsp_agent.messages import ClineMessage, TaskId
from hdsp_agent.persistence import ApiDraft, FileStore, NewTaskRecord, SummaryDraft, TaskLog, ToolDraft, UndoMark

TASK = TaskId("busy")
ROUNDS_PER_TASK = 40

Acknowledged = dict[str, dict[int, str]]


async def busy(home: Path, pipe: int, name: str) -> None:
    def acknowledge(stream: str, key: int, text: str) -> None:
        os.write(pipe, json.dumps([stream, key, text]).encode() + b"\n")

    store = FileStore(home, heartbeat_seconds=0.01)
    await store.start()
    known = await store.tasks()
    log = await store.resume(TASK) if TASK in known else await store.create(NewTaskRecord(task_id=TASK))
    acknowledge("start", 0, name)

    async def converse(log: TaskLog, who: int) -> None:
        for number in range(6):
            text = f"{name} {who} {number} " + "x" * random.choice((1, 100, 5000, 70_000))
            durable = number % 2 == who % 2
            if who == 0:
                record = await log.append_api(ApiDraft(role="user", content=text), durable=durable)
                acknowledge("api", record.seq, text)
            elif who == 1:
                ts = log.next_ts()
                await log.put_ui(ClineMessage(ts=ts, type="say", say="text", text=text[:50], partial=True))
                acknowledge("ui", ts, text[:50])
                await log.put_ui(ClineMessage(ts=ts, type="say", say="text", text=text, partial=False), durable=durable)
                acknowledge("ui", ts, text)
            elif who == 2:
                tool = ToolDraft(tool_name=text, arguments={}, status="success", duration_ms=1)
                acknowledge("tools", (await log.append_tool(tool)).seq, text)
                log.update_state(last_activity=text[:20])
            else:
                draft = SummaryDraft(start_seq=1, end_seq=2, summary=text, original_tokens=1, summary_tokens=1)
                acknowledge("summaries", (await log.append_summary(draft)).summary_id, text)
                mark = UndoMark(id=text, ts=log.next_ts(), ui_end=0, api_end=0, target="x")
                await log.append_mark(mark)
                acknowledge("marks", mark.ts, text)

    while True:
        await asyncio.gather(*(converse(log, who) for who in range(4)))
        await log.finish(random.choice(("completed", "failed")))
        log = await store.resume(TASK)


async def look(home: Path, acknowledged: Acknowledged) -> list[str]:
    """What is missing, or cannot be opened."""
    wrong: list[str] = []
    store = FileStore(home, on_damage=lambda notice: wrong.append(f"damage: {notice}"))
    await store.start()
    try:
        log = await store.resume(TASK)
        held: Acknowledged = {
            "api": {record.seq: str(record.content) async for record in log.api.iterate()},
            "ui": {message.ts: message.text or "" async for message in log.ui.iterate()},
            "tools": {record.seq: record.tool_name async for record in log.tools.iterate()},
            "summaries": {record.summary_id: record.summary async for record in log.summaries.iterate()},
            "marks": {mark.ts or 0: mark.id or "" async for mark in log.marks.iterate()},
        }
        for stream, records in acknowledged.items():
            for key, text in records.items():
                found = held[stream].get(key)
                if found is None or (found != text and not (stream == "ui" and found.startswith(text))):
                    wrong.append(f"{stream} {key}: {text[:30]!r} became {found and found[:30]!r}")
        for stream in ("api", "tools", "summaries"):
            if list(held[stream]) != list(range(1, len(held[stream]) + 1)):
                wrong.append(f"{stream} is not numbered in order")
        record = await log.append_api(ApiDraft(role="user", content="after the crash"), durable=True)
        acknowledged["api"][record.seq] = "after the crash"
        await log.close()
    finally:
        await store.stop()
    return wrong


def kill_one(home: Path, name: str, longest: float) -> list[list[object]]:
    """Fork a busy task, kill it, and return what it said was acknowledged."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            asyncio.run(busy(home, writing, name))
        except BaseException as error:  # noqa: BLE001 -- all the parent hears of it
            os.write(writing, json.dumps(["error", 0, f"{type(error).__name__}: {error}"]).encode() + b"\n")
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        # Where it waits for nothing, the kill mostly hits the start.
        lines = [pipe.readline() for _ in range(random.choice((0, 1, 1, 3, 8, 20)))]
        time.sleep(random.uniform(0, longest))
        os.kill(child, signal.SIGKILL)
        lines += pipe.readlines()
    os.waitpid(child, 0)
    return [json.loads(line) for line in lines if line.endswith(b"\n")]


async def warm_up(home: Path) -> None:
    """Do everything once."""
    store = FileStore(home)
    await store.start()
    log = await store.create(NewTaskRecord(task_id=TASK))
    await log.put_ui(ClineMessage(ts=log.next_ts(), type="say", say="text", text="x"))
    await log.append_tool(ToolDraft(tool_name="x", arguments={}, status="success", duration_ms=1))
    await log.append_summary(SummaryDraft(start_seq=1, end_seq=2, summary="x", original_tokens=1, summary_tokens=1))
    await log.append_mark(UndoMark(id="x", ts=log.next_ts(), ui_end=0, api_end=0, target="x"))
    await log.close()
    await store.stop()
    await look(home, {stream: {} for stream in ("api", "ui", "tools", "summaries", "marks")})


def main() -> None:
    home, rounds, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    random.seed(seed)
    wrong: list[str] = []
    started = messages = 0
    # Builds what pydantic builds at first use, so that each fork need not.
    asyncio.run(warm_up(home / "warm-up"))
    for number in range(rounds):
        if number % ROUNDS_PER_TASK == 0:
            acknowledged: Acknowledged = {stream: {} for stream in ("api", "ui", "tools", "summaries", "marks")}
        place = home / str(number // ROUNDS_PER_TASK)
        for stream, key, text in kill_one(place, f"round {number}", random.choice((0.005, 0.02, 0.05))):
            if stream == "start":
                started += 1
            elif stream == "error":
                wrong.append(f"round {number}: {text}")
            else:
                acknowledged[str(stream)][int(str(key))] = str(text)
                messages += 1
        if (place / "contexts" / "running" / TASK).exists() or (place / "contexts" / "completed" / TASK).exists():
            wrong += [f"round {number}: {what}" for what in asyncio.run(look(place, acknowledged))]
    print(json.dumps({"wrong": wrong, "started": started, "messages": messages}))


if __name__ == "__main__":
    main()
