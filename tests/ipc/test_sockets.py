"""Where the socket is: open to one person alone, found by its folder, gone with its server."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hdsp_agent.errors import StorageUnavailable
from hdsp_agent.ipc import IpcLimits, IpcServer, find_servers
from hdsp_agent.ipc._socket_files import this_host
from hdsp_agent.ipc._unix import LONGEST_PATH

from .._helpers.timing import until
from ._helpers.fake_agent import FakeAgent, Wire, serving

SERVE = """
import asyncio, sys
from pathlib import Path
from hdsp_agent.ipc import IpcServer
from tests.ipc._helpers.fake_agent import FakeAgent

async def main():
    async with IpcServer(FakeAgent(), Path(sys.argv[1])) as server:
        print(server.address, flush=True)
        await asyncio.sleep(60)

asyncio.run(main())
"""


def mode_of(path: Path | str) -> int:
    return stat.S_IMODE(os.lstat(path).st_mode)


def start_process(folder: Path) -> tuple[subprocess.Popen[str], str]:
    """A server in a process of its own, and its address."""
    process = subprocess.Popen([sys.executable, "-c", SERVE, str(folder)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


def kill(process: subprocess.Popen[str]) -> None:
    with process:
        process.send_signal(signal.SIGKILL)


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
async def test_nobody_else_may_enter_whatever_the_umask(umask: int, tmp_path: Path) -> None:
    before = os.umask(umask)
    try:
        async with serving(tmp_path) as (server, _):
            assert mode_of(server.address) == 0o600
            assert mode_of(tmp_path / "ipc") == 0o700
    finally:
        os.umask(before)


async def test_a_folder_left_open_is_closed(tmp_path: Path) -> None:
    (tmp_path / "ipc").mkdir()
    (tmp_path / "ipc").chmod(0o777)
    async with serving(tmp_path):
        assert mode_of(tmp_path / "ipc") == 0o700


@pytest.mark.parametrize("kind", ["link", "file"])
async def test_what_is_no_folder_of_ones_own_is_refused(kind: str, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    if kind == "link":
        (tmp_path / "ipc").symlink_to(tmp_path / "elsewhere")
    else:
        (tmp_path / "ipc").touch()
    with pytest.raises(StorageUnavailable, match="for the sockets"):
        await IpcServer(FakeAgent(), tmp_path / "ipc").start()


async def test_a_socket_goes_with_its_server(tmp_path: Path) -> None:
    async with serving(tmp_path) as (server, _):
        (found,) = find_servers(tmp_path / "ipc")
        assert found.address == server.address
        assert found.pid == os.getpid()
        assert found.name == f"{os.getpid()}@{this_host()}"
    assert find_servers(tmp_path / "ipc") == []
    assert not list((tmp_path / "ipc").glob("*.sock"))
    # And it may be started again.
    async with serving(tmp_path):
        assert len(find_servers(tmp_path / "ipc")) == 1


async def test_several_servers_share_a_folder(tmp_path: Path) -> None:
    process, address = start_process(tmp_path / "ipc")
    try:
        async with serving(tmp_path) as (one, _), serving(tmp_path) as (two, _):
            assert {found.address for found in find_servers(tmp_path / "ipc")} == {one.address, two.address, address}
            assert len({one.address, two.address, address}) == 3
    finally:
        kill(process)


async def test_the_socket_of_a_killed_server_is_taken_away_by_the_next_one(tmp_path: Path) -> None:
    process, address = start_process(tmp_path / "ipc")
    kill(process)
    assert os.path.lexists(address)
    assert find_servers(tmp_path / "ipc") == []
    async with serving(tmp_path) as (server, _):
        assert not os.path.lexists(address)
        assert [found.address for found in find_servers(tmp_path / "ipc")] == [server.address]


async def test_another_machines_socket_stays_while_its_server_shows_life(tmp_path: Path) -> None:
    folder = tmp_path / "ipc"
    folder.mkdir()
    for name, age in (("1@elsewhere.sock", 30), ("2@elsewhere.sock", 3600)):
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(str(folder / name))
        os.utime(folder / name, (time.time() - age,) * 2)
    (folder / "3@elsewhere.sock").write_text("no socket")
    async with serving(tmp_path):
        left = {path.name for path in folder.glob("*@elsewhere.sock")}
        assert left == {"1@elsewhere.sock", "3@elsewhere.sock"}


async def test_a_server_shows_life(tmp_path: Path) -> None:
    async with serving(tmp_path, limits=IpcLimits(heartbeat_seconds=0.02)) as (server, _):
        os.utime(server.address, (0, 0))
        await until(lambda: os.stat(server.address).st_mtime > 0)
        assert time.time() - os.stat(server.address).st_mtime < 60


@pytest.mark.parametrize("killed", [False, True])
async def test_a_path_too_long_for_a_socket_leads_to_a_shorter_one(killed: bool, tmp_path: Path) -> None:
    home = tmp_path / ("long" * 40)
    if killed:
        process, address = start_process(home / "ipc")
        kill(process)
    else:
        async with serving(home) as (server, _), Wire.connect(server) as wire:
            await wire.greeting()
            address = server.address
            assert len(address.encode()) <= LONGEST_PATH
            assert mode_of(address) == 0o600
            assert mode_of(Path(address).parent) == 0o700
            (found,) = find_servers(home / "ipc")
            assert found.address == address
    assert killed is os.path.lexists(address)
    async with serving(home):
        assert not os.path.lexists(Path(address).parent)
        assert len(list((home / "ipc").glob("*.sock"))) == 1
    assert not list((home / "ipc").glob("*.sock"))


async def test_another_persons_process_is_sent_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if sys.platform != "linux":
        pytest.skip("only Linux tells whose process it is")
    async with serving(tmp_path) as (server, _):
        monkeypatch.setattr("os.geteuid", lambda: os.getuid() + 1)
        # Root may enter everywhere, so the answer of the system is what is replaced where the tests run as root.
        if os.getuid() == 0:
            monkeypatch.setattr("struct.unpack", lambda *_: (1, 4711, 4711))
        async with Wire.connect(server) as wire:
            assert await wire.reader.read() == b""
        assert server.clients == 0
