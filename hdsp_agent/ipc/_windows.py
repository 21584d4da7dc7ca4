"""Named pipes, for Windows: an entry in the folder holds the pipe's name."""

from __future__ import annotations

import asyncio
import os
import secrets
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ..errors import Conflict, Unsupported
from ._socket_files import SUFFIX, SocketEndpoint, entry_name, info_of, make_own_folder, this_host

if TYPE_CHECKING:
    from ._socket_files import Connected

assert sys.platform == "win32"

import ctypes
from ctypes import wintypes

__all__ = ["address_of", "answers", "is_same_person", "listen", "open_streams"]

_QUERY_LIMITED_INFORMATION: Final = 0x1000
_TOKEN_QUERY: Final = 0x0008
_TOKEN_USER: Final = 1


class PipeEndpoint(SocketEndpoint):
    """A named pipe that serves any number of clients."""

    def __init__(self, entry: Path, address: str, servers: list[asyncio.windows_events.PipeServer]) -> None:
        super().__init__(entry, address)
        self._servers = servers

    async def show_life(self) -> None:
        await asyncio.to_thread(os.utime, self.entry)

    async def close(self) -> None:
        for server in self._servers:
            server.close()
        with suppress(FileNotFoundError):
            await asyncio.to_thread(self.entry.unlink)


async def listen(folder: Path, connected: Connected) -> PipeEndpoint:
    """Listen at a place of our own that this folder leads to."""
    loop = asyncio.get_running_loop()
    if not isinstance(loop, asyncio.ProactorEventLoop):
        raise Unsupported("On Windows, the socket for other programs needs asyncio's proactor event loop.")
    address = rf"\\.\pipe\hdsp-agent-{secrets.token_hex(16)}"

    def protocol() -> asyncio.StreamReaderProtocol:
        return asyncio.StreamReaderProtocol(asyncio.StreamReader(loop=loop), connected, loop=loop)

    servers = await loop.start_serving_pipe(protocol, address)
    try:
        entry = await asyncio.to_thread(_write_entry, folder, address)
    except BaseException:
        for server in servers:
            server.close()
        raise
    return PipeEndpoint(entry, address, servers)


async def open_streams(address: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect to a server. Raises OSError."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, asyncio.ProactorEventLoop)
    reader = asyncio.StreamReader(loop=loop)
    protocol = asyncio.StreamReaderProtocol(reader, loop=loop)
    transport, _ = await loop.create_pipe_connection(lambda: protocol, address)
    return reader, asyncio.StreamWriter(transport, protocol, reader, loop)


def is_same_person(writer: asyncio.StreamWriter) -> bool:
    """Whether the other end is ours. A pipe's default rights let everybody read it: nothing is said before."""
    pid = wintypes.DWORD()
    handle = wintypes.HANDLE(writer.get_extra_info("pipe").handle)
    if not ctypes.WinDLL("kernel32").GetNamedPipeClientProcessId(handle, ctypes.byref(pid)):
        return False
    person = _person_of(pid.value)
    return person is not None and person == _person_of(os.getpid())


def address_of(entry: Path) -> str:
    """What a client connects to for this entry."""
    try:
        return entry.read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def answers(entry: Path) -> bool:
    """Whether the server's process lives on this machine; to knock at a pipe would take a place of its clients."""
    if entry.stem.partition("@")[2] != this_host():
        return False
    return _person_of(info_of(entry, "").pid) == _person_of(os.getpid())


def _write_entry(folder: Path, address: str) -> Path:
    make_own_folder(folder)
    for entry in folder.glob(f"*@{this_host()}{SUFFIX}"):
        if not answers(entry):
            with suppress(OSError):
                entry.unlink()
    for number in range(1, 1000):
        entry = folder / entry_name(number)
        with suppress(FileExistsError), entry.open("x", encoding="utf-8") as file:
            file.write(address)
            return entry
    raise Conflict(f"There is no free name for a pipe in {folder}. Remove what is there.")


def _person_of(pid: int) -> bytes | None:
    """The security identifier a process runs under; None if it is gone or may not be asked."""
    kernel = ctypes.WinDLL("kernel32", use_last_error=True)
    rights = ctypes.WinDLL("advapi32", use_last_error=True)
    kernel.OpenProcess.restype = wintypes.HANDLE
    rights.GetLengthSid.restype = wintypes.DWORD
    process = wintypes.HANDLE(kernel.OpenProcess(_QUERY_LIMITED_INFORMATION, False, pid))
    if not process.value:
        return None
    token = wintypes.HANDLE()
    try:
        if not rights.OpenProcessToken(process, _TOKEN_QUERY, ctypes.byref(token)):
            return None
        size = wintypes.DWORD()
        answer = ctypes.create_string_buffer(256)
        if not rights.GetTokenInformation(token, _TOKEN_USER, answer, len(answer), ctypes.byref(size)):
            return None
        # The answer begins with a pointer to the identifier.
        person = ctypes.c_void_p.from_buffer(answer)
        return ctypes.string_at(person.value or 0, rights.GetLengthSid(person))
    finally:
        if token.value:
            kernel.CloseHandle(token)
        kernel.CloseHandle(process)
