"""What is alive outside of any bytes: it is reported, and never pretended to be saved."""
# mypy: ignore-errors
# Runs in a kernel, in another Python than ours.

import _thread
import asyncio
import concurrent.futures
import io
import mmap
import queue
import selectors
import socket
import subprocess
import sys
import threading
import types

_KINDS = [
    (types.GeneratorType, "a generator"),
    (types.CoroutineType, "a coroutine"),
    (types.AsyncGeneratorType, "an asynchronous generator"),
    (types.FrameType, "a frame of a running function"),
    (types.TracebackType, "a traceback"),
    (socket.socket, "a network connection"),
    (subprocess.Popen, "a running process"),
    (threading.Thread, "a thread"),
    (_thread.LockType, "a lock"),
    (type(threading.RLock()), "a lock"),
    (threading.Event, "a lock"),
    (threading.Condition, "a lock"),
    (threading.Semaphore, "a lock"),
    (threading.Barrier, "a lock"),
    (threading.local, "values of threads"),
    (queue.Queue, "a queue of threads"),
    (queue.SimpleQueue, "a queue of threads"),
    (mmap.mmap, "a mapped file"),
    (selectors.BaseSelector, "a selector"),
    (concurrent.futures.Executor, "a pool of workers"),
    (concurrent.futures.Future, "work that may go on"),
    (asyncio.Future, "work that may go on"),
    (asyncio.AbstractEventLoop, "an event loop"),
]
_LATER = {
    ("sqlite3", "Connection"): "a database connection",
    ("sqlite3", "Cursor"): "a database cursor",
    ("numpy", "memmap"): "a mapped file",
}
_CONNECTIONS = {"psycopg", "psycopg2", "pymysql", "MySQLdb", "duckdb", "oracledb", "pyodbc", "sqlalchemy", "asyncpg"}


class Unsavable(Exception):
    """Something that cannot be saved, and what it is."""


def what(kind):
    """What a type's values are, where they live outside of bytes; None for data."""
    if issubclass(kind, io.IOBase):
        return None if kind in (io.StringIO, io.BytesIO) else "an open file"
    for base, words in _KINDS:
        if issubclass(kind, base):
            return words
    for base in kind.__mro__:
        room = base.__module__.partition(".")[0]
        words = _LATER.get((room, base.__name__))
        if words is not None:
            return words
        if room in _CONNECTIONS and base.__name__.lower() in ("connection", "cursor", "engine", "session"):
            return "a database connection"
    return None


def wanted_names(value):
    """The names a generator or coroutine would read when it goes on."""
    code = getattr(value, "gi_code", None) or getattr(value, "cr_code", None) or getattr(value, "ag_code", None)
    return set(code.co_names) if code is not None else set()


def has_own_threads():
    """Whether threads run that a cell began: what they change shows in no cell's code."""
    main = sys.modules["threading"].main_thread()
    for thread in threading.enumerate():
        room = type(thread).__module__.partition(".")[0]
        target = getattr(thread, "_target", None)
        if thread is main or thread.name.startswith("hdsp-agent"):
            continue
        if room == "__main__" or getattr(target, "__module__", None) == "__main__":
            return True
        if type(thread) is threading.Timer and getattr(thread.function, "__module__", None) == "__main__":
            return True
        if room == "concurrent" or thread.name.startswith("ThreadPoolExecutor"):
            return True
    return False
