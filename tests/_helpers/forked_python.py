"""Python programs of ours that begin at once: each is a process of its own, forked from one that has imported them already.

``forked_python()`` stands where ``sys.executable`` would: it takes ``-m``, ``-c`` or a script, and standard streams, signals
and the way it ends are those of the program. Most of the time of a short program goes into its imports, and the tests begin
hundreds of them. A test of what is imported, of memory, of a terminal, of the tree of processes, or of what is there the moment
a process was killed from outside takes ``sys.executable``; limits, umask, session, PYTHONPATH and the seed of hashes are not
those of the one who begins it.
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
from typing import Final, NamedTuple, TypedDict

__all__ = ["forked_python"]

ROOT: Final = Path(__file__).resolve().parent.parent.parent
_STUB: Final = Path(__file__).with_name("forked_stub.py")
_PRELOADED: Final = (
    "hdsp_agent.app",
    "hdsp_agent.cli.commands.run",
    "hdsp_agent.mcp.client._hub",
    "mcp.server.mcpserver",
    "hdsp_agent.persistence.masking._masking_rules",
    "tests.agent._helpers.scripted_agent",
    "tests.mcp.client._helpers.hubs",
)
_PATIENCE_SECONDS: Final = 10


class _Wanted(TypedDict):
    args: list[str]
    env: dict[str, str]
    cwd: str


class _Child(NamedTuple):
    ends: int
    """A descriptor that tells of its end."""
    connection: socket.socket


@cache
def forked_python(preloaded: tuple[str, ...] = _PRELOADED, path: Path | None = None) -> str:
    """The program to begin; the first call of a process begins the one that all of its are forked from.

    Modules are looked for in ``path`` first.
    """
    if not hasattr(os, "pidfd_open"):
        return sys.executable
    folders = [*([str(path)] if path else []), *filter(None, [os.environ.get("PYTHONPATH")])]
    folder = tempfile.mkdtemp(prefix="hdsp-forked-")
    stub = Path(folder, "python")
    address = f"{folder}/socket"
    own, theirs = socket.socketpair()
    server = subprocess.Popen(
        [sys.executable, "-m", __name__, address, str(theirs.fileno()), *preloaded],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(folders)},
        pass_fds=[theirs.fileno()],
    )
    theirs.close()
    if not own.recv(1):
        raise RuntimeError(f"What programs are forked from ended with {server.wait()}.")
    text = f"#!{sys.executable} -SI\n{_STUB.read_text('utf-8')}\nmain({sys.executable!r}, {address!r})\n"
    stub.write_text(text, encoding="utf-8")
    stub.chmod(0o700)

    def end() -> None:
        own.close()
        try:
            server.wait(_PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            server.kill()
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
        self._children: dict[int, _Child] = {}

    def serve(self) -> None:
        """Until whoever began this is gone."""
        self._selector.register(self._listening, selectors.EVENT_READ)
        self._selector.register(self._parent, selectors.EVENT_READ)
        while True:
            for key, _ in self._selector.select():
                if key.fileobj is self._parent:
                    for process in self._children:
                        os.kill(process, signal.SIGKILL)
                    return
                if key.fileobj is self._listening:
                    connection = self._listening.accept()[0]
                    try:
                        self._begin(connection)
                    except (OSError, ValueError, SyntaxError):
                        # Whoever wanted it was killed before it could say so, or hear of it.
                        connection.close()
                elif key.data in self._children:
                    self._heard(key.data, is_end=key.fd == self._children[key.data].ends)

    def _begin(self, connection: socket.socket) -> None:
        wanted, streams = _wanted(connection)
        try:
            process = os.fork()
            if process == 0:
                self._selector.close()
                for child in self._children.values():
                    child.connection.close()
                    os.close(child.ends)
                for other in (self._listening, self._parent, connection):
                    other.close()
                _become(wanted, streams)
        finally:
            for stream in streams:
                os.close(stream)
        child = _Child(os.pidfd_open(process), connection)
        self._children[process] = child
        self._selector.register(child.ends, selectors.EVENT_READ, process)
        self._selector.register(connection, selectors.EVENT_READ, process)
        with contextlib.suppress(OSError):
            connection.sendall(f"{process}\n".encode())

    def _heard(self, process: int, *, is_end: bool) -> None:
        child = self._children[process]
        with contextlib.suppress(KeyError):
            self._selector.unregister(child.connection)
        if not is_end:
            # Whoever began it was killed, and so is it.
            os.kill(process, signal.SIGKILL)
            return
        status = os.waitid(os.P_PIDFD, child.ends, os.WEXITED)
        assert status is not None
        with contextlib.suppress(OSError):
            said = status.si_status if status.si_code == os.CLD_EXITED else -status.si_status
            child.connection.sendall(f"{said}\n".encode())
        self._selector.unregister(child.ends)
        del self._children[process]
        child.connection.close()
        os.close(child.ends)


def _wanted(connection: socket.socket) -> tuple[_Wanted, Sequence[int]]:
    data, streams, _, _ = socket.recv_fds(connection, 8, 3)
    try:
        text = bytearray()
        while len(text) < int.from_bytes(data, "big"):
            more = connection.recv(1 << 16)
            if not more:
                break
            text += more
        wanted: _Wanted = ast.literal_eval(text.decode())
    except (OSError, ValueError, SyntaxError):
        for stream in streams:
            os.close(stream)
        raise
    return wanted, streams


def main(address: str, parent: socket.socket, preloaded: Sequence[str]) -> None:
    """Import what most programs need, then serve."""
    # A kernel learns while it is imported that it belongs to somebody.
    os.environ["JPY_PARENT_PID"] = str(os.getpid())
    for module in preloaded:
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
        os.environ.clear()
        os.environ.update(wanted["env"])
        time.tzset()
        os.chdir(wanted["cwd"])
        random.seed()
        _open_streams(is_direct="-u" in wanted["args"][:2] or "PYTHONUNBUFFERED" in os.environ)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        is_interrupted = False
        try:
            code = _run(wanted["args"])
        except KeyboardInterrupt:
            is_interrupted = True
            sys.excepthook(*sys.exc_info())
        except BaseException:  # noqa: BLE001 -- it is told as the interpreter would
            sys.excepthook(*sys.exc_info())
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        except OSError:
            code = 120
        if is_interrupted:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGINT)
    finally:
        os._exit(code)


def _open_streams(*, is_direct: bool) -> None:
    sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)), encoding="utf-8")
    output, errors = (io.FileIO(number, "w", closefd=False) for number in (1, 2))
    sys.stdout = io.TextIOWrapper(output if is_direct else io.BufferedWriter(output), "utf-8", write_through=is_direct)
    sys.stderr = io.TextIOWrapper(io.BufferedWriter(errors), "utf-8", "backslashreplace", line_buffering=True)


def _run(args: Sequence[str]) -> int:
    rest = list(args)
    rules = [rule for rule in os.environ.get("PYTHONWARNINGS", "").split(",") if rule]
    while rest[0] in ("-u", "-W"):
        if rest.pop(0) == "-W":
            rules.append(rest.pop(0))
    for rule in rules:
        warnings._setoption(rule)  # type: ignore[attr-defined]
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
    main(sys.argv[1], socket.socket(fileno=int(sys.argv[2])), sys.argv[3:])
