"""Which files of a workspace may have changed, told by the system, so that a save need not look at all. Everything here blocks.

Only hints: what the system cannot see (memory maps, other names of a file, a queue that ran over) is found by the walks that
are made now and then and before each restore. ``watchfiles`` is an extra; without it every save walks.
"""

from __future__ import annotations

import logging
import os
import secrets
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Final, Literal, Protocol

from ..._private_files import make_private_folder
from ..._private_open import open_private
from ...errors import StorageUnavailable

__all__ = ["WorkspaceWatcher"]

_logger = logging.getLogger(__name__)
_MOST_FOLDERS: Final = 5_000
"""The system grants a user so many; others want some too."""
_MOST_HINTS: Final = 5_000
"""Beyond it the system's queue may have run over, and a walk costs no more."""
_FENCE_SECONDS: Final = 0.25
_ABANDONED_SECONDS: Final = 60.0
_STEP_MS: Final = 1
_DEBOUNCE_MS: Final = 20
_IDLE_SECONDS: Final = 600.0
"""What nobody asks for piles up; after so long the next save walks."""
_LOSSY: Final = "\ufffd"


class _Notify(Protocol):
    """What is used of ``watchfiles``, which need not be installed."""

    def watch(
        self, debounce_ms: int, step_ms: int, timeout_ms: int, stop_event: None
    ) -> set[tuple[int, str]] | Literal["signal", "stop", "timeout"]: ...

    def close(self) -> None: ...


class WorkspaceWatcher:
    """Watches the folders of one workspace, each for itself: links are not followed, nor is entered what is not kept."""

    def __init__(self, fences: Path) -> None:
        self._fences = fences
        self._lock = threading.Lock()
        self._watcher: _Notify | None = None
        self._root = ""
        self._watched: frozenset[bytes] = frozenset()
        self._idle: threading.Timer | None = None
        # Elsewhere the system tells in no order that one could rely on.
        self._is_useless = sys.platform != "linux"

    @property
    def is_on(self) -> bool:
        """Whether ``changed`` may know something."""
        return self._watcher is not None

    def start(self, root: bytes, folders: Sequence[bytes]) -> None:
        """Watch these folders, named relative to the root. What changed before is not told."""
        self.stop()
        if self._is_useless or len(folders) > _MOST_FOLDERS:
            return
        paths = {folder: _text(os.path.join(root, folder) if folder else root) for folder in folders}
        known = {folder: path for folder, path in paths.items() if path is not None}
        if b"" not in known:
            return
        try:
            notify: Callable[..., _Notify] = import_module("watchfiles._rust_notify").RustNotify
            make_private_folder(self._fences)
            self._clear_fences()
            # Neither to tell of itself, nor to poll, nor what is below the folders; those that may not be read are left.
            watcher = notify([str(self._fences), *known.values()], False, False, 0, False, True)
        except (ImportError, OSError, StorageUnavailable) as error:
            # Not installed, or all that the system grants is in use: every save walks.
            self._is_useless = True
            if not isinstance(error, ImportError):
                _logger.info("%s is not watched: %s", os.fsdecode(root), error)
            return
        with self._lock:
            self._watcher, self._root, self._watched = watcher, known[b""], frozenset(known)
        self._wait_idle()

    def unwatched(self, folders: Sequence[bytes]) -> set[bytes]:
        """Which of these folders came later, and are to be looked at each time."""
        return set(folders) - self._watched

    def changed(self) -> set[bytes] | None:
        """The paths that may have changed since the last time; None if that is not known."""
        with self._lock:
            watcher = self._watcher
            if watcher is None:
                return None
            told = self._until_fence(watcher)
            found = None if told is None or len(told) > _MOST_HINTS else self._relative(told)
            self._forget_moved(found or set())
        if told is None:
            self.stop()
        else:
            self._wait_idle()
        return found

    def give_up(self) -> None:
        """Something changed and was not told: trust it no more."""
        self._is_useless = True
        self.stop()

    def stop(self) -> None:
        """Watch no longer."""
        with self._lock:
            watcher, self._watcher = self._watcher, None
            if self._idle is not None:
                self._idle.cancel()
            if watcher is not None:
                watcher.close()

    def _until_fence(self, watcher: _Notify) -> set[str] | None:
        """What was told up to now. The system tells in order, so when it tells of a file made now, it has told all before."""
        fence = self._fences / secrets.token_hex(8)
        told: set[str] = set()
        deadline = time.monotonic() + _FENCE_SECONDS
        try:
            os.close(open_private(fence, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
            while time.monotonic() < deadline:
                found = watcher.watch(_DEBOUNCE_MS, _STEP_MS, _DEBOUNCE_MS, None)
                if isinstance(found, str):
                    continue
                told |= {path for _, path in found}
                if str(fence) in told:
                    return told
        except (OSError, RuntimeError, ValueError) as error:
            # Where a name is no text, nothing can be told, now or later.
            self._is_useless = True
            _logger.info("%s is no longer watched: %s", self._root, error)
        finally:
            with suppress(OSError):
                fence.unlink()
        return None

    def _clear_fences(self) -> None:
        """Remove what servers that were killed left; others may be about to use theirs."""
        for fence in self._fences.iterdir():
            with suppress(OSError):
                if fence.stat().st_mtime < time.time() - _ABANDONED_SECONDS:
                    fence.unlink()

    def _relative(self, told: set[str]) -> set[bytes] | None:
        prefix = self._root.rstrip("/") + "/"
        found: set[bytes] = set()
        for path in told:
            if not path.startswith(prefix):
                continue
            inner = path[len(prefix) :]
            if _LOSSY in inner:
                # It may stand for a name that is no text.
                return None
            found.add(os.fsencode(inner))
        return found

    def _forget_moved(self, found: set[bytes]) -> None:
        """A folder that went or came is not the one that is watched under this name, nor is any in it."""
        moved = tuple(folder + b"/" for folder in found & self._watched)
        if moved:
            self._watched = frozenset(folder for folder in self._watched if not (folder + b"/").startswith(moved))

    def _wait_idle(self) -> None:
        with self._lock:
            if self._idle is not None:
                self._idle.cancel()
            if self._watcher is not None:
                self._idle = threading.Timer(_IDLE_SECONDS, self.stop)
                self._idle.daemon = True
                self._idle.start()


def _text(path: bytes) -> str | None:
    try:
        return path.decode("utf-8")
    except UnicodeDecodeError:
        return None
