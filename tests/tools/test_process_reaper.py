"""A process that runs commands is killed without warning: nothing it began outlives it."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from hdsp_agent.tools._process_reaper import ProcessReaper
from tests.tools.test_shell import alive, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

_PROGRAM = """
import asyncio, os, sys
from pathlib import Path
from hdsp_agent.tools import RunningCommands
from hdsp_agent.tools._process_reaper import GUARDIAN

async def show(text, is_all): ...

def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):  # the second if it ends between opening and reading
        return False

async def main(folder):
    board = RunningCommands()
    over = await board.start("echo over", folder, show, limit=None)
    await over.ended.wait()
    await board.start("echo $$ > plain; sleep 600", folder, show, limit=None)
    await board.start("trap '' TERM; echo $$ > deaf; while true; do sleep 0.1; done", folder, show, limit=None)
    stray = "setsid sh -c 'echo $$ > stray; sleep 600' & wait"
    await board.start(stray, folder, show, limit=None)
    left = await board.start("sh -c 'echo $$ > left; sleep 600' & sleep 0.2", folder, show, limit=None)
    await left.ended.wait()
    if len(sys.argv) > 2:
        watcher = GUARDIAN.pid
        os.kill(watcher, 9)
        while is_alive(watcher):
            await asyncio.sleep(0.01)
        await board.start("echo $$ > later; sleep 600", folder, show, limit=None)
    print("now", flush=True)
    await asyncio.sleep(600)

asyncio.run(main(Path(sys.argv[1])))
"""
_NAMES = ("plain", "deaf", "stray", "left")


@pytest.mark.parametrize("watcher_dies", [False, True], ids=["killed", "its reaper was killed before"])
async def test_all_that_runs_ends_with_the_process_that_began_it(tmp_path: Path, watcher_dies: bool) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _PROGRAM, str(tmp_path), *(["x"] if watcher_dies else []), stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    names = (*_NAMES, "later") if watcher_dies else _NAMES
    try:
        assert await asyncio.wait_for(process.stdout.readline(), 120) == b"now\n"
        await until(lambda: all((tmp_path / name).is_file() and (tmp_path / name).read_text() for name in names))
        pids = [int((tmp_path / name).read_text("utf-8")) for name in names]
        assert all(alive(pid) for pid in pids)
    finally:
        process.kill()
        await process.wait()
    try:
        await until(lambda: not any(alive(pid) for pid in pids))
    finally:
        for pid in filter(alive, pids):
            os.kill(pid, signal.SIGKILL)


async def test_what_it_does_not_watch_any_more_is_left_alone() -> None:
    reaper = ProcessReaper()
    other = await asyncio.create_subprocess_exec("sleep", "600", start_new_session=True)
    try:
        # A number that was a command's once and is another's now.
        await asyncio.to_thread(reaper.watch, "mark-of-a-command", other.pid)
        await asyncio.to_thread(reaper.close)
        assert alive(other.pid)
    finally:
        other.kill()
        await other.wait()
