"""Where a workspace's checkpoints are kept: a folder outside the workspace, private, locked while it is changed.

Everything here blocks.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from ..._private_files import locked, make_private_folder, replace_file, storage_error, tighten_folder
from ..._private_open import open_private
from ...errors import InvalidInput, NotAllowed, StorageUnavailable
from .anchored_files import AnchoredFiles
from .folders import FolderLoader, FolderRef
from .git_objects import ObjectId
from .operation_log import OperationLog
from .records import CheckpointRecord
from .repository import MAIN, Repository
from .restoration import remove_leftover

__all__ = ["CheckpointStore", "store_folder_of", "workspace_with_checkpoints"]

_logger = logging.getLogger(__name__)
_LOG: Final = "operations.jsonl"
_ABOUT: Final = "workspace.json"
_UNDER_WAY: Final = "restoring.json"


def store_folder_of(store_dir: Path, workspace: Path) -> Path:
    """The folder of this workspace's checkpoints, named so that people find it."""
    path = os.fsencode(workspace)
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", workspace.name).strip("-.")[:40] or "workspace"
    return store_dir / f"{name}-{hashlib.sha256(path).hexdigest()[:16]}"


def workspace_with_checkpoints(folder: Path, store_dir: Path) -> Path | None:
    """This folder, or the nearest one above, that has checkpoints; None if none has."""
    folder = Path(os.path.realpath(folder))
    return next((one for one in (folder, *folder.parents) if (store_folder_of(store_dir, one) / _LOG).is_file()), None)


class CheckpointStore:
    """One workspace's objects and log."""

    def __init__(self, folder: Path, workspace: Path, lock_seconds: float) -> None:
        self.folder = folder
        self.repository = Repository(folder)
        self.log = OperationLog(folder / _LOG)
        self.loader = FolderLoader(self.repository.packs)
        self._workspace = workspace
        self._lock_seconds = lock_seconds
        self._threads = threading.RLock()
        self._prepared = False
        self._held = False

    def another(self) -> CheckpointStore:
        """The same store, for what takes long: neither waits for the other, as if they were of two processes."""
        return CheckpointStore(self.folder, self._workspace, self._lock_seconds)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Look at the store as it is now."""
        with self._threads:
            if not self._prepared:
                with self.changing():
                    pass
            self.log.refresh()
            try:
                yield
            finally:
                self.repository.packs.close()

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Keep every other thread and process out; within itself it changes nothing."""
        with self._threads:
            if self._held:
                yield
                return
            if not self._prepared:
                make_private_folder(self.folder)
                for ours in (self.folder.parent, self.folder):
                    tighten_folder(ours)
            with locked(self.folder / "store", self._lock_seconds):
                if not self._prepared:
                    self._check_whose()
                    self.repository.prepare()
                    self.repository.clear_leftovers()
                    self._prepared = True
                self.repository.packs.refresh()
                self.log.refresh()
                self._clear_after_restore()
                self._held = True
                try:
                    yield
                finally:
                    self._held = False
                    self.repository.packs.close()

    def wait(self) -> None:
        """Come back when no thread of this process uses the store."""
        with self._threads:
            pass

    def seems_interrupted(self) -> bool:
        """Whether a restore has no end yet, or may have left files behind. Waits for no other process, and makes no store."""
        with self._threads:
            self.log.refresh()
            return self.log.interrupted is not None or (self.folder / _UNDER_WAY).exists()

    def node(self, record: CheckpointRecord) -> FolderRef:
        """The workspace's folder as this checkpoint has it."""
        return FolderRef(bytes.fromhex(record.tree), bytes.fromhex(record.side))

    def write_refs(self) -> None:
        """Show git what the log says."""
        refs: dict[str, ObjectId] = {}
        commits: dict[str, CheckpointRecord] = {}
        for record in self.log.checkpoints.values():
            commits.setdefault(record.commit, record)
        for record in commits.values():
            refs[f"refs/checkpoints/{record.id}"] = bytes.fromhex(record.commit)
            refs[f"refs/sides/{record.id}"] = bytes.fromhex(record.side)
        if self.log.head is not None:
            refs[MAIN] = bytes.fromhex(self.log.head.commit)
        try:
            self.repository.write_refs(refs, self._shallow())
        except StorageUnavailable as error:
            # What they show is in the log, and they are written again after the next change.
            _logger.warning("Git does not see the newest checkpoints: %s", error)

    def note_restore(self, name: str, leftovers: Sequence[bytes]) -> None:
        """Remember which files a restore may leave behind if this process dies."""
        # Rolling a half restore back comes on top of what that one left.
        known = self._leftovers()
        content = {"operation": name, "leftovers": [os.fsdecode(path) for path in (*known, *leftovers)]}
        try:
            descriptor = open_private(self.folder / _UNDER_WAY, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            with os.fdopen(descriptor, "w", encoding="ascii") as file:
                json.dump(content, file)
        except OSError as error:
            raise storage_error(self.folder / _UNDER_WAY, "write", error) from error

    def forget_restore(self) -> None:
        """The restore has cleared up after itself."""
        with suppress(OSError):
            (self.folder / _UNDER_WAY).unlink()

    def clear_leftovers(self) -> None:
        """Remove the files that a restore left beside their places, now or as soon as the disk lets it."""
        root = os.fsencode(self._workspace)
        with AnchoredFiles(root) as files:
            kept = [path for path in self._leftovers() if not _is_cleared(files, root, path)]
        if not kept:
            self.forget_restore()

    def _leftovers(self) -> list[bytes]:
        try:
            content = json.loads((self.folder / _UNDER_WAY).read_text("ascii"))
            return [os.fsencode(path) for path in content["leftovers"]]
        except (OSError, ValueError, KeyError, TypeError):
            return []

    def _clear_after_restore(self) -> None:
        """A restore that began and did not end keeps what it put aside until somebody decided about it."""
        if (self.folder / _UNDER_WAY).exists() and self.log.interrupted is None:
            self.clear_leftovers()

    def _shallow(self) -> set[ObjectId]:
        """Commits whose parents were dropped."""
        records = self.log.checkpoints
        return {
            bytes.fromhex(record.commit)
            for record in records.values()
            if record.parent_commit is not None
            and not any(other.commit == record.parent_commit for other in records.values())
        }

    def _check_whose(self) -> None:
        if hasattr(os, "geteuid") and os.stat(self.folder).st_uid != os.geteuid():
            raise NotAllowed(
                f"The checkpoints in {self.folder} belong to another user, so they are not used. "
                "Move that folder away; a new one will be made.",
                path=str(self.folder),
                why="store_of_another_user",
            )
        about = self.folder / _ABOUT
        whose = {"format": 1, "workspace": str(self._workspace).encode("utf-8", "surrogateescape").hex()}
        try:
            found = json.loads(about.read_text("utf-8"))
        except FileNotFoundError:
            replace_file(about, json.dumps({**whose, "path": ascii(str(self._workspace))}).encode())
            return
        except (OSError, ValueError):
            found = None
        if not isinstance(found, dict) or any(found.get(key) != value for key, value in whose.items()):
            raise InvalidInput(
                f"The checkpoints in {self.folder} are not those of {self._workspace}. "
                "Move that folder away; a new one will be made.",
                path=str(self.folder),
                workspace=str(self._workspace),
                why="store_of_another_folder",
            )


def _is_cleared(files: AnchoredFiles, root: bytes, path: bytes) -> bool:
    """Whether this leftover is gone. One behind a link is not looked for; it is when the link is gone again."""
    within = os.path.join(root, b"")
    if not path.startswith(within):
        return True
    try:
        remove_leftover(files, path[len(within) :].replace(os.sep.encode(), b"/"))
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True
