"""Unix sockets: made for one person alone, found again, and taken away when their server is dead."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import stat
import struct
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Final

from .._private_files import locked
from ..errors import Conflict, StorageUnavailable
from ._socket_files import SUFFIX, SocketEndpoint, entry_name, make_own_folder, this_host

if TYPE_CHECKING:
    from ._socket_files import Connected

assert sys.platform != "win32"

__all__ = ["address_of", "answers", "is_same_person", "listen", "open_streams"]

LONGEST_PATH: Final = 107 if sys.platform == "linux" else 103
"""The field for a socket's path is 108 bytes on Linux and 104 elsewhere, one of them for its end."""

_SHORT_PREFIX: Final = "hdsp-agent-"
_NO_SOCKETS_HERE: Final = (errno.EPERM, errno.EACCES, errno.EOPNOTSUPP, errno.EINVAL, errno.ENAMETOOLONG)
_BACKLOG: Final = 128
_PROBE_SECONDS: Final = 0.5
_LOCK_SECONDS: Final = 10.0
_SILENCE_SECONDS: Final = 600.0
"""A server on another machine that has shown no life for so long is dead: ten heartbeats."""


@dataclass(frozen=True)
class _Place:
    """A socket that listens already: no entry is ever seen that is not answered yet."""

    entry: Path
    address: str
    socket: socket.socket
    inode: int


class UnixEndpoint(SocketEndpoint):
    """A unix socket, by its entry in the folder; where that path is too long, the entry is a link to a shorter one."""

    def __init__(self, place: _Place, server: asyncio.AbstractServer) -> None:
        super().__init__(place.entry, place.address)
        self._place = place
        self._server = server

    async def show_life(self) -> None:
        await asyncio.to_thread(os.utime, self.entry, follow_symlinks=False)

    async def close(self) -> None:
        self._server.close()
        await asyncio.to_thread(_take_away, self._place)


async def listen(folder: Path, connected: Connected) -> UnixEndpoint:
    """Listen at a place of our own that this folder leads to."""
    place = await asyncio.to_thread(_claim, folder)
    try:
        server = await asyncio.start_unix_server(connected, sock=place.socket)
    except BaseException:
        place.socket.close()
        _take_away(place)
        raise
    return UnixEndpoint(place, server)


async def open_streams(address: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect to a server. Raises OSError."""
    return await asyncio.open_unix_connection(address)


def is_same_person(writer: asyncio.StreamWriter) -> bool:
    """Whether the other end is ours. The folder keeps others out already; the system is asked all the same."""
    if sys.platform != "linux":
        return True
    peer: socket.socket = writer.get_extra_info("socket")
    credentials = peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    _, person, _ = struct.unpack("3i", credentials)
    return person in (os.geteuid(), 0)


def address_of(entry: Path) -> str:
    """What a client connects to for this entry."""
    try:
        return os.readlink(entry)
    except OSError:
        return str(entry)


def answers(entry: Path) -> bool:
    """Whether somebody on this machine listens there."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(_PROBE_SECONDS)
        try:
            probe.connect(address_of(entry))
        except (BlockingIOError, TimeoutError):
            # It listens, and is busy.
            return True
        except OSError:
            return False
    return True


def _claim(folder: Path) -> _Place:
    make_own_folder(folder)
    with locked(folder / "servers", _LOCK_SECONDS):
        for entry in folder.glob(f"*{SUFFIX}"):
            if _is_dead(entry):
                _remove(entry)
        for number in range(1, 1000):
            entry = folder / entry_name(number)
            if not os.path.lexists(entry):
                return _listen_for(entry)
    raise Conflict(f"There is no free name for a socket in {folder}. Remove what is there.")


def _listen_for(entry: Path) -> _Place:
    refusal: OSError | None = None
    if len(os.fsencode(entry)) <= LONGEST_PATH:
        try:
            made = _listen_at(entry)
        except OSError as error:
            if error.errno not in _NO_SOCKETS_HERE:
                raise
            refusal = error
        else:
            return _Place(entry, str(entry), made, entry.lstat().st_ino)
    parents = (os.environ.get("XDG_RUNTIME_DIR"), tempfile.gettempdir(), "/tmp")  # noqa: S108 - only mkdtemp uses it
    for parent in dict.fromkeys(parents):
        try:
            place = _listen_elsewhere(entry, parent) if parent else None
        except OSError as error:
            refusal = error
        else:
            if place is not None:
                return place
    raise StorageUnavailable(
        f"No socket can be created for other programs: {entry} is longer than {LONGEST_PATH} bytes, or its disk does not "
        "allow sockets. No shorter place works either. Set TMPDIR to a short path.",
        path=str(entry), action="make the socket", reason=str(refusal) if refusal else "too long",
    )  # fmt: skip


def _listen_elsewhere(entry: Path, parent: str) -> _Place | None:
    """A socket in a private folder with a short path; None if that is too long as well."""
    name = f"{os.getpid()}{SUFFIX}"
    if len(os.fsencode(os.path.join(parent, f"{_SHORT_PREFIX}________", name))) > LONGEST_PATH:
        return None
    folder = tempfile.mkdtemp(prefix=_SHORT_PREFIX, dir=parent)
    address = os.path.join(folder, name)
    made: socket.socket | None = None
    try:
        made = _listen_at(Path(address))
        os.symlink(address, entry)
        return _Place(entry, address, made, entry.lstat().st_ino)
    except BaseException:
        if made is not None:
            made.close()
        with suppress(OSError):
            os.unlink(address)
        os.rmdir(folder)
        raise


def _listen_at(path: Path) -> socket.socket:
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        made.setblocking(False)
        made.bind(str(path))
        # Until here the umask decided; the folder kept everybody out meanwhile.
        path.chmod(0o600)
        made.listen(_BACKLOG)
    except BaseException:
        made.close()
        raise
    return made


def _is_dead(entry: Path) -> bool:
    try:
        status = entry.lstat()
    except FileNotFoundError:
        return False
    if not (stat.S_ISSOCK(status.st_mode) or stat.S_ISLNK(status.st_mode)) or answers(entry):
        return False
    is_ours = entry.stem.partition("@")[2] == this_host()
    return is_ours or time() - status.st_mtime > _SILENCE_SECONDS


def _take_away(place: _Place) -> None:
    with suppress(FileNotFoundError):
        # Somebody may have put something else there.
        if place.entry.lstat().st_ino == place.inode:
            place.entry.unlink()
    if place.address != str(place.entry):
        _remove_short(Path(place.address))


def _remove(entry: Path) -> None:
    if entry.is_symlink():
        _remove_short(Path(address_of(entry)))
    with suppress(FileNotFoundError):
        entry.unlink()


def _remove_short(socket_path: Path) -> None:
    """Remove a socket and its folder, if they are of the kind made here; a link may have been made by anybody."""
    folder = socket_path.parent
    with suppress(OSError):
        if folder.name.startswith(_SHORT_PREFIX) and folder.lstat().st_uid == os.geteuid():
            if stat.S_ISSOCK(socket_path.lstat().st_mode):
                socket_path.unlink()
            folder.rmdir()
