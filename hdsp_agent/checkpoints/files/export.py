"""A checkpoint for elsewhere: as a zip of its files, or as a git repository with its history. Everything here blocks."""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import stat
import time
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Final

from ..._portable_names import portable_path
from ..._private_files import storage_error
from ...errors import Conflict
from .checkpoint_store import CheckpointStore
from .file_names import joined
from .folders import FileEntry, Folder, Node
from .garbage_collection import objects_of
from .git_objects import LargeId, ObjectId, is_large
from .records import CheckpointRecord
from .repository import MAIN, Repository

__all__ = ["export_repository", "export_zip"]

_EARLIEST: Final = (1980, 1, 1, 0, 0, 0)


def export_zip(store: CheckpointStore, record: CheckpointRecord, target: Path) -> None:
    """Write the checkpoint's files into a zip: modes, times, links and empty folders as well. It appears whole."""
    _refuse_to_overwrite(target)
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        with open(temporary, "xb") as file:
            _write_zip(store, record, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except OSError as error:
        raise storage_error(target, "write", error) from error
    finally:
        with suppress(OSError):
            temporary.unlink()


def export_repository(store: CheckpointStore, record: CheckpointRecord, target: Path) -> None:
    """Make a bare repository of the checkpoint and those before it, to be cloned or looked at with git.

    For large files it has pointers, and the files themselves where git-lfs keeps them.
    """
    _refuse_to_overwrite(target)
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    repository = Repository(temporary)
    try:
        repository.prepare()
        pack = repository.writer().pack
        seen: set[ObjectId] = set()
        history = list(_history(store, record))
        for one in history:
            for oid, _ in objects_of(store, one, seen, with_side=False):
                pack.add_entry(oid, store.repository.packs.entry(oid)[1])
                seen.add(oid)
        pack.finish()
        for large in _large_contents(store, history):
            repository.large.take_from(store.repository.large, large)
        last = history[-1]
        cut = [bytes.fromhex(last.commit)] if last.parent_commit is not None else []
        repository.write_refs({MAIN: bytes.fromhex(record.commit)}, cut)
        os.replace(temporary, target)
    except OSError as error:
        raise storage_error(target, "write", error) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _write_zip(store: CheckpointStore, record: CheckpointRecord, file: IO[bytes]) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for path, state in _everything(store, store.node(record), b""):
            # A zip's names are text, and safe to unpack on every system.
            name = portable_path(path)
            if isinstance(state, Folder):
                folder = zipfile.ZipInfo(name + "/", _EARLIEST)
                folder.external_attr = (stat.S_IFDIR | stat.S_IMODE(state.mode)) << 16 | 0x10
                archive.writestr(folder, b"")
            else:
                when = time.gmtime(max(state.mtime // 1_000_000_000, 0))[:6]
                info = zipfile.ZipInfo(name, max(when, _EARLIEST))
                info.compress_type = zipfile.ZIP_DEFLATED
                info.external_attr = state.mode << 16
                if is_large(state.oid):
                    _add_large(archive, info, store, state)
                else:
                    archive.writestr(info, store.repository.packs.read(state.oid))


def _add_large(archive: zipfile.ZipFile, info: zipfile.ZipInfo, store: CheckpointStore, entry: FileEntry) -> None:
    info.file_size = entry.size
    digest = hashlib.sha256()
    with archive.open(info, "w") as file:
        for block in store.repository.large.blocks(entry.oid):
            digest.update(block)
            file.write(block)
    if digest.digest() != entry.oid:
        raise store.repository.large.damaged(entry.oid, "it is not what was stored")


def _large_contents(store: CheckpointStore, history: Iterable[CheckpointRecord]) -> set[LargeId]:
    found: set[LargeId] = set()
    seen: set[ObjectId] = set()
    for record in history:
        needed = {oid for oid, _ in objects_of(store, record, seen)}
        seen |= needed
        found |= {oid for oid in needed if is_large(oid)}
    return found


def _everything(store: CheckpointStore, node: Node, path: bytes) -> Iterator[tuple[bytes, FileEntry | Folder]]:
    folder = store.loader.folder(node)
    if path and not folder.files and not folder.folders:
        yield path, folder
    for name, entry in sorted(folder.files.items()):
        yield joined(path, name), entry
    for name, below in sorted(folder.folders.items()):
        yield from _everything(store, below, joined(path, name))


def _history(store: CheckpointStore, record: CheckpointRecord) -> Iterator[CheckpointRecord]:
    by_commit = {one.commit: one for one in store.log.checkpoints.values()}
    at: CheckpointRecord | None = record
    while at is not None:
        yield at
        at = by_commit.get(at.parent_commit) if at.parent_commit is not None else None


def _refuse_to_overwrite(target: Path) -> None:
    if os.path.lexists(target):
        raise Conflict(f"{target} is there already. Name another file, or move it away.", path=str(target))
