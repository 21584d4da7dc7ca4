"""A shell command as a process: begun in a session of its own, read by a thread, ended with all its descendants."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shutil
import signal
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from .._timeouts import wait_at_most
from ..config import secret_environment
from ._output_buffer import OutputBuffer
from ._watched_process import KILL, WatchedProcess

__all__ = ["ShellProcess", "command_environment", "shell"]

_GRACE_SECONDS: Final = 0.08
_PIPE_GRACE_SECONDS: Final = 0.15
# Tokens of the server the agent runs in, and what would change the meaning of the command that was shown.
_LEFT_OUT: Final = re.compile(
    r"JPY_.*|JUPYTER_TOKEN|JUPYTERHUB_API_TOKEN|JUPYTERHUB_ADMIN.*|HDSP_.*|BASH_ENV|ENV|BASH_FUNC_.*|SHELLOPTS|BASHOPTS"
    r"|PROMPT_COMMAND|PS4"
)
# All that a command keeps which no person approved: who and where one is, languages, certificates, the way to the
# network, and which environment is active. Any other variable may have a program run or read something else.
_KEPT_UNASKED: Final = re.compile(
    r"PATH|LD_LIBRARY_PATH|DYLD_(?:FALLBACK_)?LIBRARY_PATH|PYTHONPATH|HOME|USER|LOGNAME|USERNAME|HOSTNAME|SHELL|PWD"
    r"|LANG|LANGUAGE|LC_[A-Z]+|LOCALE_ARCHIVE|TZ|TZDIR|TMPDIR|TMP|TEMP|COLUMNS|LINES|NO_COLOR"
    r"|XDG_(?:CONFIG|CACHE|DATA|STATE)_HOME|XDG_RUNTIME_DIR|SSH_AUTH_SOCK|KRB5CCNAME"
    r"|(?:https?|all|no|ftp)_proxy|(?:HTTPS?|ALL|NO|FTP)_PROXY|SSL_CERT_(?:FILE|DIR)|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE"
    r"|VIRTUAL_ENV|CONDA_(?:PREFIX|DEFAULT_ENV|EXE|PYTHON_EXE|SHLVL)|PYENV_(?:ROOT|VERSION)|NVM_DIR|JAVA_HOME|R_HOME"
    r"|CARGO_HOME|RUSTUP_HOME|GOPATH|GOROOT|GIT_(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL|DATE)"
    r"|PYTHON(?:UTF8|IOENCODING|DONTWRITEBYTECODE|HASHSEED|NOUSERSITE)"
    r"|SYSTEMROOT|SYSTEMDRIVE|WINDIR|COMSPEC|PATHEXT|USERPROFILE|APPDATA|LOCALAPPDATA|PROGRAMDATA|PROGRAMFILES.*",
    re.IGNORECASE if sys.platform == "win32" else 0,
)
_LISTS_OF_FOLDERS: Final = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH", "PYTHONPATH")
_SET_UNASKED: Final = {
    # A repository may lie among the plain files of another, with settings that have Git run programs.
    "GIT_CONFIG_COUNT": "2",
    "GIT_CONFIG_KEY_0": "safe.bareRepository",
    "GIT_CONFIG_VALUE_0": "explicit",
    "GIT_CONFIG_KEY_1": "core.fsmonitor",
    "GIT_CONFIG_VALUE_1": "false",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh",
    "GIT_NO_LAZY_FETCH": "1",
    "LESSSECURE": "1",
}
_SET: Final = {
    # Nobody is there to page through an output, or to answer a prompt.
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_EDITOR": "true",
    "GIT_TERMINAL_PROMPT": "0",
    "TERM": "dumb",
    "PIP_NO_INPUT": "1",
    "PYTHONUNBUFFERED": "1",
}


def shell(*, unasked: bool = False) -> list[str]:
    """The system's shell and the option that takes a command. What runs unasked gets one that reads no settings."""
    if sys.platform == "win32":
        return [os.environ.get("COMSPEC", "cmd.exe"), "/d", "/s", "/c"]
    bash = shutil.which("bash")
    if bash is None:
        return ["/bin/sh", "-c"]
    return [bash, *(("--noprofile", "--norc", "-p") if unasked else ()), "-c"]


def command_environment(environment: Mapping[str, str], *, unasked: bool = False) -> dict[str, str]:
    """The environment for a command: without keys, tokens, and what would change what the command means.

    A command that no person approved keeps only what is known to be harmless.
    """
    secret = secret_environment()
    kept = {name: value for name, value in environment.items() if name not in secret and not _LEFT_OUT.fullmatch(name)}
    if not unasked:
        return {**kept, **_SET}
    kept = {name: value for name, value in kept.items() if _KEPT_UNASKED.fullmatch(name)}
    for name in _LISTS_OF_FOLDERS:
        if name in kept:
            # An empty or relative one is looked up in the workspace, where the agent writes.
            kept[name] = os.pathsep.join(each for each in kept[name].split(os.pathsep) if os.path.isabs(each))
    kept = {name: value for name, value in kept.items() if value or name not in _LISTS_OF_FOLDERS}
    return {**kept, "PATH": kept.get("PATH", os.defpath), **_SET, **_SET_UNASKED}


class ShellProcess:
    """One running command. Made by ``start``."""

    def __init__(self, watched: WatchedProcess, output: OutputBuffer) -> None:
        self._watched = watched
        self._process = watched.process
        self._loop = asyncio.get_running_loop()
        self.output = output
        self.wrote = asyncio.Event()
        """Set whenever there is more output."""
        self.exited = asyncio.Event()
        """Set when the command itself has ended, whatever it left running."""
        self._closed = asyncio.Event()
        self._watchers = threading.Semaphore(1)
        for work in (self._read, self._wait):
            # Daemons: a command nobody waits for any more must not hold up the end of the server.
            threading.Thread(target=work, name=f"hdsp-command-{watched.pid}", daemon=True).start()

    @classmethod
    async def start(cls, command: str, folder: Path, *, unasked: bool = False) -> ShellProcess:
        """Run the command in the system's shell. Raises OSError if that cannot be done."""
        environment = command_environment(os.environ, unasked=unasked)

        def begin() -> WatchedProcess:
            return WatchedProcess.start([*shell(unasked=unasked), command], folder, environment)

        starting = asyncio.ensure_future(asyncio.to_thread(begin))
        try:
            watched = await asyncio.shield(starting)
        except asyncio.CancelledError:
            # It may be starting all the same.
            watched = await starting
            await asyncio.to_thread(cls(watched, OutputBuffer()).kill_now)
            raise
        return cls(watched, OutputBuffer())

    @property
    def pid(self) -> int:
        """The shell's process id, and the id of the group it leads."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """The exit code once it has ended; negative for the signal that ended it."""
        return self._process.returncode

    async def drained(self) -> bool:
        """Wait for the end of the output after the end of the command; False if a process it left holds it open."""
        with contextlib.suppress(asyncio.TimeoutError):
            await wait_at_most(self._closed.wait(), _PIPE_GRACE_SECONDS)
        return self._closed.is_set()

    async def kill(self) -> None:
        """End the command and all it started: first asked to, and a moment later forced to."""
        self._watched.signal(signal.SIGTERM)
        with contextlib.suppress(asyncio.TimeoutError):
            await wait_at_most(self._closed.wait(), _GRACE_SECONDS)
        self._watched.signal(KILL)
        await asyncio.to_thread(self._watched.kill_strays)
        with contextlib.suppress(asyncio.TimeoutError):
            await wait_at_most(self.exited.wait(), 1)

    async def kill_left(self) -> None:
        """End what the command left running when it ended."""
        if sys.platform == "darwin":
            # It does not show the marks of its own programs. Elsewhere the group's number may be another's by now.
            self._watched.signal(signal.SIGTERM)
        await asyncio.to_thread(self._watched.kill_strays)

    def kill_now(self) -> None:
        """The same at once, without waiting for anything."""
        self._watched.kill_now()

    def _read(self) -> None:
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        with contextlib.suppress(OSError, ValueError):
            while data := os.read(descriptor, 1 << 16):
                self.output.write(data)
                self._tell(self.wrote)
        with contextlib.suppress(OSError):
            self._process.stdout.close()
        self._tell(self._closed)
        self._tell(self.wrote)
        self._watched_to_the_end()

    def _wait(self) -> None:
        self._process.wait()
        self._tell(self.exited)
        self._tell(self.wrote)
        self._watched_to_the_end()

    def _watched_to_the_end(self) -> None:
        """The command has ended, or nobody can write to its output any more: when both are so, nothing is left of it."""
        if not self._watchers.acquire(blocking=False):
            self._watched.forget()

    def _tell(self, event: asyncio.Event) -> None:
        # The loop may be gone: then nobody is left to be told.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(event.set)
