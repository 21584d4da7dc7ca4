"""What sockets and pipes have in common: the entry in a folder by which a server is found, and what listens there."""

from __future__ import annotations

import asyncio
import os
import re
import socket
import stat
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from .._private_files import make_private_folder
from ..errors import StorageUnavailable

__all__ = [
    "SUFFIX",
    "Connected",
    "IpcServerInfo",
    "SocketEndpoint",
    "entry_name",
    "info_of",
    "make_own_folder",
    "this_host",
]

Connected: TypeAlias = Callable[[asyncio.StreamReader, asyncio.StreamWriter], None]

SUFFIX: Final = ".sock"
_LONGEST_HOST: Final = 32


class SocketEndpoint(ABC):
    """A place where a server listens."""

    def __init__(self, entry: Path, address: str) -> None:
        self.entry: Final = entry
        """The file in the folder by which the server is found."""
        self.address: Final = address
        """What a client connects to."""

    @abstractmethod
    async def show_life(self) -> None:
        """Let other machines that share the folder see that the server lives."""

    @abstractmethod
    async def close(self) -> None:
        """Listen no more, and leave nothing behind."""


@dataclass(frozen=True)
class IpcServerInfo:
    """A server that can be reached from this machine."""

    name: str
    address: str
    pid: int


def this_host() -> str:
    """This machine's name, as it can stand in a file's."""
    return re.sub(r"[^A-Za-z0-9_.-]", "_", socket.gethostname())[:_LONGEST_HOST] or "localhost"


def entry_name(number: int) -> str:
    """What this process's entry is called; the number tells several apart."""
    return f"{os.getpid()}{f'-{number}' if number > 1 else ''}@{this_host()}{SUFFIX}"


def info_of(entry: Path, address: str) -> IpcServerInfo:
    """What an entry's name tells."""
    pid = entry.stem.partition("@")[0].partition("-")[0]
    return IpcServerInfo(entry.stem, address, int(pid) if pid.isascii() and pid.isdigit() else 0)


def make_own_folder(folder: Path) -> None:
    """Make the folder so that nobody else can enter it, whatever the umask; refuse one that is somebody else's."""
    make_private_folder(folder.parent)
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        # On Windows the rights of a person's home come down to it.
        if sys.platform != "win32":
            status = folder.lstat()
            if status.st_uid != os.geteuid() or not stat.S_ISDIR(status.st_mode):
                raise PermissionError(None, "It is not a folder of your own")
            folder.chmod(0o700)
    except OSError as error:
        raise StorageUnavailable(
            f"Could not create {folder} for the sockets of other programs: {error.strerror}. Remove what is there, or "
            "choose another storage folder with HDSP_AGENT_HOME.",
            path=str(folder), action="make the folder", reason=error.strerror or "",
        ) from error  # fmt: skip
