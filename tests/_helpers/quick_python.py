"""Python programs of ours that begin at once: each is a process of its own, forked from one that has imported them already.

``quick_python()`` stands where ``sys.executable`` would: it takes ``-m``, ``-c`` or a script, and standard streams, signals
and the way it ends are those of the program. Most of the time of a short program goes into its imports, and the tests begin
hundreds of them. A test of what is imported, or of a terminal, takes ``sys.executable``.
"""

from __future__ import annotations

import ast
import atexit
import contextlib
import io
import os
import random
import runpy
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final, TypeAlias, TypedDict

__all__ = ["quick_python"]

ROOT: Final = Path(__file__).resolve().parent.parent.parent
_STUB: Final = Path(__file__).with_name("quick_stub.py")
_PRELOADED: Final = (
    "hdsp_agent.app",
    "hdsp_agent.cli.commands.run",
    "hdsp_agent.mcp.client._hub",
    "tests.mcp.client._helpers.hubs",
)
_LONGEST: Final = 1 << 22


class _Wanted(TypedDict):
    args: list[str]
    env: dict[str, str]
    cwd: str


Child: TypeAlias = tuple[int, socket.socket]


@cache
def quick_python() -> str:
    """The program to begin; the first call of a process begins the one that all of its are forked from."""
    if not hasattr(os, "pidfd_open"):
        return sys.executable
    folder = tempfile.mkdtemp(prefix="hdsp-quick-")
    stub = Path(folder, "python")
    address = f"{folder}/socket"
    own, theirs = socket.socketpair()
    server = subprocess.Popen(
        [sys.executable, "-m", __name__, address, str(theirs.fileno())], cwd=ROOT, pass_fds=[theirs.fileno()]
    )
    theirs.close()
    if not own.recv(1):
        raise RuntimeError(f"What programs are forked from ended with {server.wait()}.")
    text = f"#!{sys.executable} -SI\n{_STUB.read_text('utf-8')}\nmain({sys.executable!r}, {address!r})\n"
    stub.write_text(text, encoding="utf-8")
    stub.chmod(0o700)

    def end() -> None:
        own.close()
        server.wait()
        for left in (stub, Path(address)):
            left.unlink(missing_ok=True)
        os.rmdir(folder)

    atexit.register(end)
    return str(stub)


# ---- the process that all are forked from


class _Server:
    def __init__(self, listening: socket.socket, parent: socket.socket) -> None:
        self._listening = listening
        self._parent = parent
        self._selector = selectors.DefaultSelector()
        self._children: dict[int, Child] = {}
        """By the descriptor that tells of their ends."""

    def serve(self) -> None:
        """Until whoever began this is gone."""
        self._selector.register(self._listening, selectors.EVENT_READ)
        self._selector.register(self._parent, selectors.EVENT_READ)
        while True:
            for key, _ in self._selector.select():
                if key.fileobj is self._parent:
                    for process, _ in self._children.values():
                        os.kill(process, signal.SIGKILL)
                    return
                if key.fileobj is self._listening:
                    self._begin(self._listening.accept()[0])
                elif key.data in self._children:
                    self._heard(key.data, is_end=key.fd == key.data)

    def _begin(self, connection: socket.socket) -> None:
        wanted, streams = _wanted(connection)
        process = os.fork()
        if process == 0:
            self._selector.close()
            for other in (self._listening, self._parent, connection, *(one for _, one in self._children.values())):
                other.close()
            _become(wanted, streams)
        for stream in streams:
            os.close(stream)
        connection.sendall(f"{process}\n".encode())
        ends = os.pidfd_open(process)
        self._children[ends] = process, connection
        self._selector.register(ends, selectors.EVENT_READ, ends)
        self._selector.register(connection, selectors.EVENT_READ, ends)

    def _heard(self, ends: int, *, is_end: bool) -> None:
        process, connection = self._children[ends]
        with contextlib.suppress(KeyError):
            self._selector.unregister(connection)
        if not is_end:
            # Whoever began it was killed, and so is it.
            os.kill(process, signal.SIGKILL)
            return
        status = os.waitid(os.P_PIDFD, ends, os.WEXITED)
        assert status is not None
        with contextlib.suppress(OSError):
            said = status.si_status if status.si_code == os.CLD_EXITED else -status.si_status
            connection.sendall(f"{said}\n".encode())
        self._selector.unregister(ends)
        del self._children[ends]
        connection.close()
        os.close(ends)


def _wanted(connection: socket.socket) -> tuple[_Wanted, Sequence[int]]:
    data, streams, _, _ = socket.recv_fds(connection, 8, 3)
    size = int.from_bytes(data, "big")
    text = bytearray()
    while len(text) < min(size, _LONGEST):
        text += connection.recv(size - len(text))
    wanted: _Wanted = ast.literal_eval(text.decode())
    return wanted, streams


def main(address: str, parent: socket.socket) -> None:
    """Import what most programs need, then serve."""
    for module in _PRELOADED:
        __import__(module)
    if threading.active_count() != 1:
        raise RuntimeError(f"Modules have begun threads: {threading.enumerate()}.")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen(64)
        parent.send(b".")
        _Server(listening, parent).serve()


# ---- a child


def _become(wanted: _Wanted, streams: Sequence[int]) -> None:
    """The program that is wanted, to its end."""
    code = 1
    try:
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)), encoding="utf-8")
        sys.stdout = io.TextIOWrapper(io.BufferedWriter(io.FileIO(1, "w", closefd=False)), encoding="utf-8")
        errors = io.BufferedWriter(io.FileIO(2, "w", closefd=False))
        sys.stderr = io.TextIOWrapper(errors, "utf-8", "backslashreplace", line_buffering=True)
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
            signal.signal(number, signal.SIG_IGN if number == signal.SIGPIPE else signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.environ.clear()
        os.environ.update(wanted["env"])
        time.tzset()
        os.chdir(wanted["cwd"])
        random.seed()
        code = _run(wanted["args"])
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    except KeyboardInterrupt:
        sys.excepthook(*sys.exc_info())
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    except BaseException:  # noqa: BLE001 -- it is told as the interpreter would
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(code)


def _run(args: Sequence[str]) -> int:
    rest = list(args)
    rules = [rule for rule in os.environ.get("PYTHONWARNINGS", "").split(",") if rule]
    while rest[0] in ("-u", "-W"):
        rules += [rest.pop(1)] if rest.pop(0) == "-W" else []
    for rule in rules:
        warnings.simplefilter(rule)  # type: ignore[arg-type]
    kind = rest.pop(0)
    try:
        if kind == "-m":
            sys.argv = rest
            sys.path.insert(0, os.getcwd())
            runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
        elif kind == "-c":
            sys.argv = ["-c", *rest[1:]]
            sys.path.insert(0, "")
            main = type(sys)("__main__")
            sys.modules["__main__"] = main
            exec(compile(rest[0], "<string>", "exec"), main.__dict__)
        else:
            sys.argv = [kind, *rest]
            sys.path.insert(0, str(Path(kind).parent))
            runpy.run_path(kind, run_name="__main__")
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    main(sys.argv[1], socket.socket(fileno=int(sys.argv[2])))
