"""Processes that die, and disks that refuse, at any moment."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from hdsp_agent.errors import Conflict, HdspAgentError, StorageUnavailable, UnknownTask
from hdsp_agent.messages import TaskId
from hdsp_agent.persistence import ApiDraft, FileStore, NewTaskRecord, SummaryDraft, TaskLog, ToolDraft, UndoMark
from tests._helpers.forked_python import forked_python
from tests._helpers.long_tests import rounds

from ._helpers.store_contract import said

ROOT = Path(__file__).parents[2]
unix = pytest.mark.skipif(not hasattr(os, "fork"), reason="The scripts fork")
TASK = TaskId("task")


@pytest.fixture
def quick_folder(tmp_path: Path) -> Iterator[Path]:
    """A folder whose fsync costs nothing where there is one: what kill −9 leaves does not depend on it."""
    shared = Path("/dev/shm")
    if not os.access(shared, os.W_OK):
        yield tmp_path
        return
    folder = Path(tempfile.mkdtemp(dir=shared))
    yield folder
    shutil.rmtree(folder)


def run(script: str, *arguments: object) -> dict[str, object]:
    done = subprocess.run(
        [forked_python(), "-m", f"tests.persistence._helpers.{script}", *map(str, arguments)],
        cwd=ROOT, capture_output=True, text=True, timeout=280, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    report: dict[str, object] = json.loads(done.stdout)
    return report


@unix
@pytest.mark.slow
def test_nothing_acknowledged_is_lost_by_kills_of_a_busy_task(quick_folder: Path) -> None:
    kills = rounds(30, 500)
    report = run("killed_task", quick_folder, kills, 1)
    assert report["wrong"] == []
    assert int(str(report["started"])) > kills // 2
    assert int(str(report["messages"])) > kills


@unix
@pytest.mark.slow
def test_nothing_acknowledged_is_lost_by_kills_on_a_real_disk(tmp_path: Path) -> None:
    assert run("killed_task", tmp_path, rounds(8, 20), 2)["wrong"] == []


@pytest.mark.in_short(1)
@unix
@pytest.mark.slow
@pytest.mark.parametrize("processes", [2, 8])
def test_racing_processes_never_own_one_lock_together(quick_folder: Path, processes: int) -> None:
    races = rounds(80, 1000)
    report = run("racing_locks", quick_folder / "task", processes, races)
    assert report["wrong"] == []
    assert report["rounds without owner"] == 0
    assert int(str(report["busy"])) > races // 10


@unix
@pytest.mark.parametrize("how", ["full", "readonly"])
def test_a_task_pauses_while_the_disk_refuses_and_goes_on_afterwards(quick_folder: Path, how: str) -> None:
    quick_folder.chmod(0o755)
    report = run("refused_task", quick_folder / "home", how)
    assert report["refusal"] and report["paused"] is True
    assert report["paused after"] is False
    assert report["all there"] is True


# The calls that open, change, name or sync something. A name's ``path`` is where the file or folder is among the arguments.
WATCHED = ("open", "write", "fsync", "fdatasync", "ftruncate", "rename", "replace", "link", "unlink", "mkdir", "fchmod")


@dataclass
class Disk:
    """Counts the calls on files below a folder, and refuses the nth, or all from the nth on."""

    below: str
    refuse_at: int = sys.maxsize
    for_good: bool = False
    error: int = errno.ENOSPC
    calls: int = 0
    refused: list[str] = field(default_factory=list)
    descriptors: set[int] = field(default_factory=set)

    def wrap(self, name: str, original: Callable[..., object]) -> Callable[..., object]:
        def call(*arguments: object, **options: object) -> object:
            target = arguments[0]
            ours = target in self.descriptors if isinstance(target, int) else os.fspath(target).startswith(self.below)  # type: ignore[call-overload]  # a path
            if ours:
                self.calls += 1
                if self.calls == self.refuse_at or (self.for_good and self.calls > self.refuse_at):
                    self.refused.append(name)
                    if name == "write" and self.calls == self.refuse_at:
                        # A disk that is nearly full takes half.
                        data = bytes(arguments[1])  # type: ignore[call-overload]  # what os.write takes
                        original(target, data[: len(data) // 2])
                    raise OSError(self.error, os.strerror(self.error))
            result = original(*arguments, **options)
            if ours and name == "open":
                assert isinstance(result, int)
                self.descriptors.add(result)
            return result

        return call

    def close(self, descriptor: int) -> None:
        self.descriptors.discard(descriptor)

    @contextmanager
    def installed(self) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            close = os.close

            def closing(descriptor: int) -> None:
                self.close(descriptor)
                close(descriptor)

            patch.setattr(os, "close", closing)
            for name in WATCHED:
                patch.setattr(os, name, self.wrap(name, getattr(os, name)))
            yield


class Conversation:
    """Goes through a task's whole life, trying each step again when it is refused, and remembers what was acknowledged."""

    def __init__(self, home: Path, patience: int) -> None:
        self.store = FileStore(home)
        self.patience = patience
        self.acknowledged: dict[str, list[str]] = {"api": [], "ui": [], "tools": [], "summaries": [], "marks": []}
        self.artifacts: list[str] = []
        self.errors: list[HdspAgentError] = []

    async def go(self) -> None:
        await self.attempt(self.store.start)
        log = await self.attempt(lambda: self.store.create(NewTaskRecord(task_id=TASK)), unless=Conflict)
        if log is None:
            log = await self.attempt(lambda: self.store.resume(TASK))
        if log is not None:
            await self.talk(log, "first")
            await self.attempt(log.finish)
            again = await self.attempt(lambda: self.store.resume(TASK))
            if again is not None:
                await self.talk(again, "second")
        await self.store.stop()

    async def talk(self, log: TaskLog, name: str) -> None:
        for number in range(2):
            text = f"{name} {number}"
            message, mark = said(log, text), UndoMark(id=text, ts=log.next_ts(), ui_end=0, api_end=0, target="x")
            draft = ApiDraft(role="user", content=text)
            tool = ToolDraft(tool_name=text, arguments={}, status="success", duration_ms=1)
            summary = SummaryDraft(start_seq=1, end_seq=1, summary=text, original_tokens=1, summary_tokens=1)
            await self.record("ui", text, lambda m=message: log.put_ui(m))  # type: ignore[misc]  # bound now
            await self.record("api", text, lambda d=draft: log.append_api(d, durable=True))  # type: ignore[misc]  # bound now
            await self.record("tools", text, lambda t=tool: log.append_tool(t))  # type: ignore[misc]  # bound now
            await self.record("summaries", text, lambda s=summary: log.append_summary(s))  # type: ignore[misc]  # bound now
            await self.record("marks", text, lambda m=mark: log.append_mark(m))  # type: ignore[misc]  # bound now
        artifact = await self.attempt(lambda: log.put_artifact(name.encode()))
        self.artifacts += [artifact] if artifact else []
        await self.attempt(log.save_state)

    async def record(self, stream: str, text: str, append: Callable[[], object]) -> None:
        if await self.attempt(append, default=False) is not False:
            self.acknowledged[stream].append(text)

    async def attempt(self, step, *, unless=(), default=None):  # type: ignore[no-untyped-def]  # any step, any result
        for _ in range(self.patience):
            try:
                return await step()
            except unless:
                return default
            except HdspAgentError as error:
                self.errors.append(error)
        return default


async def look(home: Path, expected: Conversation, *, exactly: bool) -> None:
    """Start as after the crash, with a disk that works, and compare."""
    store = FileStore(home)
    await store.start()
    try:
        if TASK not in await store.tasks():
            assert not any(expected.acknowledged.values())
            return
        log = await store.resume(TASK)
        held: dict[str, Sequence[object]] = {
            "api": [str(record.content) async for record in log.api.iterate()],
            "ui": [message.text async for message in log.ui.iterate()],
            "tools": [record.tool_name async for record in log.tools.iterate()],
            "summaries": [record.summary async for record in log.summaries.iterate()],
            "marks": [mark.id async for mark in log.marks.iterate()],
        }
        for stream, texts in expected.acknowledged.items():
            if exactly:
                assert held[stream] == texts, stream
            else:
                assert [text for text in held[stream] if text in texts] == texts, stream
        for name in expected.artifacts:
            assert await log.read_artifact(name)
        assert [record.seq async for record in log.api.iterate()] == list(range(1, len(held["api"]) + 1))
        await log.append_api(ApiDraft(role="user", content="after"), durable=True)
        await log.finish()
        assert await store.tasks("completed") == [TASK]
    finally:
        await store.stop()


@pytest.mark.long
@pytest.mark.slow
async def test_a_disk_that_refuses_once_costs_nothing_whichever_call_it_refuses(quick_folder: Path) -> None:
    home = quick_folder / "home"
    refused: set[str] = set()
    for nth in range(1, 100_000):
        disk = Disk(str(home), refuse_at=nth)
        conversation = Conversation(home, patience=3)
        with disk.installed():
            await conversation.go()
        if not disk.refused:
            break
        refused |= set(disk.refused)
        await look(home, conversation, exactly=True)
        shutil.rmtree(home)
    assert nth > 100
    assert refused >= {"open", "write", "fsync", "fdatasync", "rename", "replace", "link", "mkdir"}


@pytest.mark.slow
async def test_a_disk_that_fails_for_good_costs_nothing_acknowledged(quick_folder: Path) -> None:
    home = quick_folder / "home"
    for nth in range(1, 100_000, rounds(3, 1)):
        disk = Disk(str(home), refuse_at=nth, for_good=True, error=errno.EIO)
        conversation = Conversation(home, patience=1)
        with disk.installed():
            await conversation.go()
        if not disk.refused:
            break
        assert all(isinstance(error, (StorageUnavailable, Conflict, UnknownTask)) for error in conversation.errors)
        await look(home, conversation, exactly=False)
        shutil.rmtree(home)
    assert nth > 100
