"""``hdsp-agent checkpoint`` for what is in kernels: the real program, beside a real server that has them."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from asyncio.subprocess import PIPE, Process
from pathlib import Path

import pytest
from jupyter_server.serverapp import ServerApp

from hdsp_agent.comm.services import Services
from tests._helpers.forked_python import forked_python
from tests._helpers.jupyter_fetch import Fetch
from tests.cli._helpers.homes import PROGRAM, Ran
from tests.comm._helpers.jupyterlab_kernels import lab
from tests.comm.rest.test_checkpoints import post
from tests.comm.test_checkpoint_restore import value
from tests.comm.test_iopub_bridge import until

PATH = "work.ipynb"


class Program:
    """``hdsp-agent checkpoint`` in the server's folder, as its user has it."""

    def __init__(self, storage_dir: Path, folder: Path) -> None:
        self._folder = folder
        self._environment = {**os.environ, "HDSP_AGENT_HOME": str(storage_dir), "PYTHONWARNINGS": "error"}

    async def start(self, *arguments: str, stdin: int | None = None) -> Process:
        return await asyncio.create_subprocess_exec(
            forked_python(), *PROGRAM[1:], "checkpoint", *arguments,
            cwd=self._folder, env=self._environment, stdin=stdin, stdout=PIPE, stderr=PIPE,
        )  # fmt: skip

    async def run(self, *arguments: str) -> Ran:
        program = await self.start(*arguments)
        out, err = await program.communicate()
        assert program.returncode is not None
        return Ran(program.returncode, out.decode(), err.decode())


@pytest.fixture
def program(services: Services, storage_dir: Path, jp_root_dir: Path) -> Program:
    return Program(storage_dir, jp_root_dir)


async def test_variables_are_restored_through_the_server_but_for_one_that_is_left_out(
    program: Program, tmp_path: Path, jp_serverapp: ServerApp, jp_fetch: Fetch
) -> None:
    async with lab(jp_serverapp, jp_fetch, PATH, ("n = 1",)) as work:
        await work.run("n, names, rows = 1, ['a'], (one for one in 'ab')")
        here = (await post(jp_fetch, "checkpoints", note="here", path=PATH))["id"]
        await work.run("n, names, rows, later = 2, ['b'], None, 5")

        plan = await program.run("restore", here, "--variables", "--dry-run")
        assert plan.code == 3 and "loaded: n, names;" in plan.out and "newer: later" in plan.out, plan
        assert await value(work, "n", tmp_path) == "2"

        done = await program.run("restore", here, "--variables", "--notebook", PATH, "--leave-variable", "names")
        assert done.code == 3 and "lost: rows (it holds a generator" in done.err, done
        assert await value(work, "(n, names, [name for name in ('later', 'rows') if name in globals()])", tmp_path) == (
            "(1, ['b'], [])"
        )
        undone = await program.run("undo", done.out.strip())
        assert undone.code == 0, undone
        assert await value(work, "(n, names, later)", tmp_path) == "(2, ['b'], 5)"


async def test_without_a_server_it_says_what_is_missing(
    program: Program, jp_serverapp: ServerApp, jp_fetch: Fetch
) -> None:
    async with lab(jp_serverapp, jp_fetch, PATH, ("n = 1",)) as work:
        await work.run("n = 1")
        here = (await post(jp_fetch, "checkpoints", note="here", path=PATH))["id"]
    jp_serverapp.remove_server_info_file()
    alone = await program.run("restore", here, "--variables")
    assert alone.code == 1 and "No Jupyter Server with HDSP Agent runs for" in alone.err, alone
    # Of files alone it says what it leaves.
    files = await program.run("restore", here, "--only", "a.txt")
    assert files.code == 0 and "also has kernel variables" in files.err, files


async def test_a_kernel_is_restarted_and_its_cells_run_again_once_somebody_agrees(
    program: Program, tmp_path: Path, jp_serverapp: ServerApp, jp_fetch: Fetch, jp_root_dir: Path
) -> None:
    slow = "import pathlib, time\npathlib.Path('begun').touch()\ntime.sleep(300)"
    async with lab(jp_serverapp, jp_fetch, PATH, ("n = 1", "n += 1\n\n\n# The end.", slow, "n = 0")) as work:
        await work.run("n = 99")
        asked = await program.run("restart", PATH, "--cell", "c1")
        assert asked.code == 2 and "--yes" in asked.err and "c1: n += 1" in asked.err, asked
        assert await value(work, "n", tmp_path) == "99"
        # What was typed before the question is no answer to it.
        keys, terminal = os.openpty()
        os.write(keys, b"y\n")
        waiting = await program.start("restart", PATH, "--cell", "c1", stdin=terminal)
        assert waiting.stderr is not None
        assert b"# The end." in await waiting.stderr.readuntil(b"[y/N] ")
        # Later than lines that are pasted, which are no answer either.
        await asyncio.sleep(0.3)
        os.write(keys, b"n\n")
        await waiting.communicate()
        assert waiting.returncode == 2 and await value(work, "n", tmp_path) == "99"
        os.close(keys)
        os.close(terminal)
        done = await program.run("restart", PATH, "--cell", "c1", "--yes", "--json")
        assert done.code == 0, done
        assert [cell["state"] for cell in json.loads(done.out)["cells"]] == ["ok", "ok"]
        await work.connect()
        assert await value(work, "n", tmp_path) == "2"

        # Who stops the program stops the cells.
        running = await program.start("restart", PATH, "--cell", "c3", "--yes")
        await until((jp_root_dir / "begun").exists)
        running.send_signal(signal.SIGINT)
        await running.communicate()
        assert running.returncode == 130
        await work.connect()
        assert await value(work, "n", tmp_path) == "2"
