"""What ``quick_python`` names: it hands its streams, arguments and signals on, and ends as the program does.

It is begun hundreds of times, and imports next to nothing for that.
"""

from __future__ import annotations

import os
import signal
import socket
import sys

_TAKEN = ("-m", "-c", "-u", "-W")


def main(python: str, address: str) -> None:
    """Be the program; a real Python for what the other end does not know."""
    args = sys.argv[1:]
    if not args or (args[0].startswith("-") and args[0] not in _TAKEN) or "PYTHONIOENCODING" in os.environ:
        os.execv(python, [python, *args])
    wanted = repr({"args": args, "env": dict(os.environ), "cwd": os.getcwd()}).encode()
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(address)
        socket.send_fds(server, [len(wanted).to_bytes(8, "big")], [0, 1, 2])
        server.sendall(wanted)
        # What the program closes is closed for whoever reads it.
        for stream in (0, 1, 2):
            os.close(stream)
        said = server.makefile("r")
        process = int(said.readline())
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda number, frame: os.kill(process, number))
        status = int(said.readline() or "-9")
    if status < 0:
        signal.signal(-status, signal.SIG_DFL) if -status not in (signal.SIGKILL, signal.SIGSTOP) else None
        os.kill(os.getpid(), -status)
    os._exit(status)
