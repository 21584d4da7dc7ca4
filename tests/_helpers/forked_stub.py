"""What ``forked_python`` names: it hands its streams, arguments and signals on, and ends as the program does.

It is begun hundreds of times, and imports next to nothing for that.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from types import FrameType

_TAKEN = ("-m", "-c", "-u", "-W")
_PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_LOST = 111
"""How this ends if it never hears how the program did."""


def main(python: str, address: str) -> None:
    """Be the program; a real Python for what the other end does not know."""
    args = sys.argv[1:]
    if not args or (args[0].startswith("-") and args[0] not in _TAKEN) or "PYTHONIOENCODING" in os.environ:
        os.execv(python, [python, *args])
    # What comes before there is a program waits for it.
    signal.pthread_sigmask(signal.SIG_BLOCK, _PASSED_ON)
    status = _end_of_program(address, args)
    if status < 0:
        if -status not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status)


def _end_of_program(address: str, args: list[str]) -> int:
    wanted = repr({"args": args, "env": dict(os.environ), "cwd": os.getcwd()}).encode()
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(address)
        socket.send_fds(server, [len(wanted).to_bytes(8, "big")], [0, 1, 2])
        server.sendall(wanted)
        # What the program closes is closed for whoever reads it.
        for stream in (0, 1, 2):
            os.close(stream)
        said = server.makefile("r")
        process = int(said.readline() or "0")
        if not process:
            return _LOST

        def pass_on(number: int, frame: FrameType | None) -> None:
            try:  # noqa: SIM105 -- contextlib is an import more
                os.kill(process, number)
            except ProcessLookupError:
                pass

        for number in _PASSED_ON:
            signal.signal(number, pass_on)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _PASSED_ON)
        return int(said.readline() or _LOST)
