"""The folder where variables are kept: pieces named by their content, and manifests that only their owner can have made."""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import os
import secrets
import shutil
import tempfile
import threading
import time
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from ..._private_files import make_missing_folders
from ...errors import HdspAgentError, InvalidInput, NotAllowed, NotFound, StorageUnavailable
from ._manifest import ManifestId, VariableManifest

__all__ = ["VariableStore", "user_key"]

_log = logging.getLogger(__name__)

_PURPOSE: Final = b"hdsp-agent variables 1\n"
_SHORTEST_KEY: Final = 16
_SPARED_SECONDS: Final = 3600
"""Pieces younger than this may belong to a manifest that is being made."""
_PIECE_DIGITS: Final = 64


def user_key(path: Path) -> bytes:
    """This user's key, made at first use. Keep it outside of every store: a store that is copied must not bring its key."""
    try:
        make_missing_folders(path.parent)
        fresh = secrets.token_bytes(32)
        handle, temporary = tempfile.mkstemp(dir=path.parent)
        try:
            with open(handle, "wb") as file:
                file.write(fresh)
                file.flush()
                os.fsync(file.fileno())
            # A link is made whole and by one server only.
            os.link(temporary, path)
        except FileExistsError:
            pass
        finally:
            os.unlink(temporary)
        return path.read_bytes()
    except OSError as error:
        raise StorageUnavailable(
            f"The key of the variables' checkpoints cannot be read or made: {error}",
            details=str(error),
            why="values_not_kept",
        ) from error


class VariableStore:
    """Manifests and pieces of one workspace's variables. Nothing in it is unpickled but by a kernel, and only after its
    manifest has proved to be ours: what is loaded is code.
    """

    def __init__(self, folder: Path, key: bytes) -> None:
        if len(key) < _SHORTEST_KEY:
            raise InvalidInput("The key of the variable store is too short.")
        self.folder = folder
        self._key = key
        self._lock = threading.Lock()
        self._ready = False

    @property
    def pieces(self) -> Path:
        """Where kernels write."""
        return self.folder / "pieces"

    def epoch(self) -> str:
        """Another text after pieces were dropped."""
        self._prepare()
        try:
            return (self.folder / "epoch").read_text(encoding="ascii")
        except FileNotFoundError:
            return "0"
        except OSError as error:
            raise _unavailable(error) from error

    def probe(self) -> tuple[str, str]:
        """A file a kernel shows that it sees this folder with, and what is in it."""
        self._prepare()
        word = secrets.token_hex(8)
        name = f"probe-{word}"
        self._write(self.pieces / name, word.encode())
        return name, word

    def drop_probe(self, name: str) -> None:
        """It has been seen."""
        (self.pieces / name).unlink(missing_ok=True)

    def keep(self, manifest: VariableManifest) -> None:
        """Sign a manifest and write it; before it nothing of its checkpoint exists."""
        self._prepare()
        body = manifest.to_json()
        text = json.dumps({"mac": self._mac(body), "manifest": body})
        self._write(self._path(manifest.id), text.encode())

    def load(self, manifest: ManifestId) -> VariableManifest:
        """A manifest of this user's own."""
        try:
            raw = self._path(manifest).read_bytes()
        except FileNotFoundError:
            raise NotFound(
                f"There is no checkpoint {manifest} of variables.", checkpoint=manifest, why="values_gone"
            ) from None
        except OSError as error:
            raise _unavailable(error) from error
        try:
            outer = json.loads(raw)
            mac, body = str(outer["mac"]), str(outer["manifest"])
        except (ValueError, KeyError, TypeError) as error:
            raise StorageUnavailable(
                f"The checkpoint {manifest} of variables is damaged.", checkpoint=manifest, why="values_damaged"
            ) from error
        if not hmac.compare_digest(mac, self._mac(body)):
            raise NotAllowed(
                f"The checkpoint {manifest} of variables was not made by this user, or was changed since. Loading it could run"
                " code that someone else wrote, so it is not loaded.",
                checkpoint=manifest,
                why="values_not_yours",
            )
        try:
            found = VariableManifest.model_validate_json(body)
        except ValidationError as error:
            raise StorageUnavailable(
                f"The checkpoint {manifest} of variables cannot be read.", why="values_damaged"
            ) from error
        if found.id != manifest:
            raise NotAllowed(
                f"The checkpoint {manifest} of variables belongs to another checkpoint, so it is not loaded.",
                why="values_not_yours",
            )
        return found

    def missing(self, manifest: VariableManifest) -> int:
        """How many of its pieces are not there."""
        return len(self.missing_pieces(manifest))

    def missing_pieces(self, manifest: VariableManifest) -> list[str]:
        """Those of its pieces that are not there."""
        return [key for key in sorted(set(manifest.keys())) if not self._piece(key).is_file()]

    def read_piece(self, key: str) -> bytes:
        """One piece. Who uses it checks it."""
        try:
            return self._piece(key).read_bytes()
        except OSError as error:
            raise _unavailable(error) from error

    def add_piece(self, key: str, piece: bytes) -> None:
        """Keep a piece that a kernel has sent."""
        if hashlib.sha256(piece).hexdigest() != key:
            raise StorageUnavailable(
                "A variable was damaged on its way from the kernel, so nothing was saved.", why="values_not_written"
            )
        path = self._piece(key)
        try:
            make_missing_folders(path.parent)
        except OSError as error:
            raise _unavailable(error) from error
        self._write(path, piece)

    def manifests(self, *, younger_than: float | None = None) -> list[ManifestId]:
        """All of them, or those made within so many seconds, the newest first."""
        self._prepare()
        found: list[tuple[float, ManifestId]] = []
        for path in (self.folder / "manifests").iterdir():
            with suppress(FileNotFoundError):
                if path.suffix == ".json":
                    found.append((path.stat().st_mtime, path.stem))
        since = 0.0 if younger_than is None else time.time() - younger_than
        return [name for made, name in sorted(found, reverse=True) if made >= since]

    def size(self) -> int:
        """How many bytes its pieces take."""
        self._prepare()
        return sum(path.stat().st_size for path in self._all_pieces())

    def free(self) -> int:
        """How many bytes the disk has left."""
        self._prepare()
        try:
            return shutil.disk_usage(self.folder).free
        except OSError as error:
            raise _unavailable(error) from error

    def collect(
        self,
        keep: Collection[ManifestId],
        keep_runs: Collection[ManifestId] = (),
        *,
        spared_seconds: float = _SPARED_SECONDS,
    ) -> None:
        """Drop all manifests but these, and the pieces nobody needs any more; of ``keep_runs`` only the variables."""
        self._prepare()
        with self._lock:
            needed: set[str] = set()
            dropped: set[str] = set()
            for manifest in self.manifests():
                if manifest in keep:
                    needed.update(self.load(manifest).keys())
                else:
                    dropped.update(self._drop(manifest, keep_runs=manifest in keep_runs))
            before = time.time() - spared_seconds
            unneeded = [
                one
                for one in self._all_pieces()
                if one.name not in needed and (one.name in dropped or one.stat().st_mtime <= before)
            ]
            if unneeded:
                # First: a kernel that takes a dropped piece for written asks again what the store holds.
                self._write(self.folder / "epoch", secrets.token_hex(8).encode())
            for piece in unneeded:
                piece.unlink(missing_ok=True)
            for path in self._leftovers():
                with suppress(FileNotFoundError):
                    if path.stat().st_mtime <= before:
                        path.unlink()

    def _drop(self, manifest: ManifestId, *, keep_runs: bool) -> Collection[str]:
        """The pieces that it needed."""
        try:
            found = self.load(manifest)
        except HdspAgentError:
            # Nobody could use it.
            self._path(manifest).unlink(missing_ok=True)
            return ()
        if not keep_runs:
            self._path(manifest).unlink(missing_ok=True)
        elif not found.runs_only:
            made = self._path(manifest).stat()
            self.keep(found.without_variables())
            os.utime(self._path(manifest), ns=(made.st_atime_ns, made.st_mtime_ns))
        return set(found.keys())

    def _all_pieces(self) -> Iterator[Path]:
        for folder in self.pieces.iterdir():
            if folder.is_dir():
                yield from (path for path in folder.iterdir() if path.is_file())

    def _leftovers(self) -> Iterator[Path]:
        """What servers that died were writing."""
        for folder in (self.folder, self.folder / "manifests"):
            yield from folder.glob("*.part")
        yield from (path for path in self.pieces.iterdir() if path.is_file())

    def _piece(self, key: str) -> Path:
        if len(key) != _PIECE_DIGITS or not key.isalnum():
            raise StorageUnavailable(
                "A checkpoint of variables names a piece that cannot be one.", why="values_damaged"
            )
        return self.pieces / key[:2] / key

    def _path(self, manifest: ManifestId) -> Path:
        if not manifest.isalnum():
            raise NotFound(f"There is no checkpoint {manifest} of variables.", why="values_gone")
        return self.folder / "manifests" / f"{manifest}.json"

    def _mac(self, body: str) -> str:
        return hmac.new(self._key, _PURPOSE + body.encode(), hashlib.sha256).hexdigest()

    def _prepare(self) -> None:
        if self._ready:
            return
        try:
            for folder in (self.folder, self.pieces, self.folder / "manifests"):
                make_missing_folders(folder)
        except OSError as error:
            raise _unavailable(error) from error
        self._ready = True

    def _write(self, path: Path, data: bytes) -> None:
        temporary = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
        try:
            handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with open(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        except OSError as error:
            temporary.unlink(missing_ok=True)
            raise _unavailable(error) from error


def _unavailable(error: OSError) -> StorageUnavailable:
    return StorageUnavailable(
        f"Checkpoints of variables cannot be saved: {error.strerror or error}",
        details=error.strerror or str(error),
        why="values_not_kept",
    )
