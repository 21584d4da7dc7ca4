"""Where weights are kept, and which of them may be used. What is only half there has another name."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal

from pydantic import ValidationError

from .._storage_dir import home_folder
from ..errors import StorageUnavailable
from ..wire import WireModel
from ._errors import NoSpace, WrongChecksum
from ._model_list import LocalModel

__all__ = ["Presence", "WeightsFolder", "default_weights_folder", "digest_of", "size_of", "storage_error"]

VARIABLE: Final = "HDSP_AGENT_MODELS"
_ADDED: Final = "added.json"
_CHUNK: Final = 4 * 1024 * 1024
_LEFT_FREE: Final = 256 * 1024 * 1024
"""Bytes of the disk that stay free: people have notebooks to save."""

Presence = Literal["absent", "partial", "ready"]


class _Added(WireModel):
    models: tuple[LocalModel, ...] = ()


def default_weights_folder() -> Path:
    """The folder HDSP_AGENT_MODELS names, else one among the person's caches, which all their servers share."""
    if named := os.environ.get(VARIABLE):
        return Path(named).expanduser().absolute()
    if sys.platform == "win32":
        caches = os.environ.get("LOCALAPPDATA") or str(home_folder() / "AppData" / "Local")
    else:
        caches = os.environ.get("XDG_CACHE_HOME") or str(home_folder() / ".cache")
    return Path(caches).absolute() / "hdsp-agent" / "models"


class WeightsFolder:
    """The files of the models. Everything here blocks: call it in a thread."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def file(self, model: LocalModel) -> Path:
        """The model's weights, once they are whole and checked."""
        return self.path / model.file

    def part(self, model: LocalModel) -> Path:
        """As much of them as was fetched: always the beginning of the file."""
        return self.path / f"{model.file}.part"

    def lock(self, model: LocalModel) -> Path:
        """Held by whoever fetches them."""
        return self.path / f"{model.file}.lock"

    def work(self, model: LocalModel) -> Path:
        """For what is needed only while they are fetched."""
        return self.path / f"{model.file}.work"

    def make(self) -> None:
        """Make the folder, readable by nobody else."""
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise storage_error(self.path, "make the folder", error) from None

    def added(self) -> tuple[LocalModel, ...]:
        """The models that people added to those of the list; none where nobody can read which."""
        try:
            return _Added.model_validate_json((self.path / _ADDED).read_bytes()).models
        except (OSError, ValidationError):
            return ()

    def change_added(self, model: LocalModel, *, is_kept: bool) -> None:
        """Add a model, or forget it."""
        models = tuple(other for other in self.added() if other.id != model.id) + ((model,) if is_kept else ())
        path = self.path / _ADDED
        self.make()
        try:
            unfinished = path.with_suffix(".new")
            unfinished.write_text(_Added(models=models).to_json(), encoding="utf-8")
            os.replace(unfinished, path)
        except OSError as error:
            raise storage_error(path, "write", error) from None

    def presence(self, model: LocalModel) -> tuple[Presence, int]:
        """Whether the weights are there, and how many bytes of them."""
        if size_of(self.file(model)) == model.size:
            return "ready", model.size
        part = size_of(self.part(model))
        return ("partial", part) if part else ("absent", 0)

    def checked(self, model: LocalModel) -> Path | None:
        """The weights, if they are there and are the model's. Raises WrongChecksum.

        A file is read through once; after that it is enough that nobody has touched it.
        """
        path = self.file(model)
        try:
            if _recorded(self._record(model)) == _identity(path, model):
                return path
            is_right = path.stat().st_size == model.size and digest_of(path) == model.sha256
        except FileNotFoundError:
            return None
        except OSError as error:
            raise storage_error(path, "read", error) from None
        if not is_right:
            raise WrongChecksum(
                f"{path} is not {model.name}, or has changed: its checksum is wrong. Delete it, then download the model again.",
                model=model.id,
                source=str(path),
            )
        # Where the folder is somebody else's, it is looked over each time.
        with suppress(OSError):
            self._remember(model)
        return path

    def keep_part(self, model: LocalModel) -> Path:
        """The part is whole and checked: put it in its place."""
        part, path = self.part(model), self.file(model)
        try:
            with part.open("rb+") as file:
                os.fsync(file.fileno())
            os.replace(part, path)
            self._remember(model)
        except OSError as error:
            raise storage_error(path, "write", error) from None
        return path

    def remove(self, model: LocalModel) -> int:
        """Delete the weights and whatever there is of them; how many bytes that were."""
        freed = 0
        for path in (self.file(model), self.part(model), self._record(model), self.lock(model)):
            try:
                size = size_of(path)
                path.unlink(missing_ok=True)
                freed += size
            except OSError as error:
                raise storage_error(path, "delete", error) from None
        shutil.rmtree(self.work(model), ignore_errors=True)
        return freed

    def free(self) -> int | None:
        """Bytes free on its disk; None if nobody can tell."""
        folder = next((each for each in (self.path, *self.path.parents) if each.is_dir()), None)
        try:
            return shutil.disk_usage(folder).free if folder else None
        except OSError:
            return None

    def check_space(self, needed: int) -> None:
        """Raise NoSpace unless so many bytes can be written, and some are left for others."""
        free = self.free()
        needed += _LEFT_FREE
        if free is not None and free < needed:
            raise NoSpace(
                f"There is not enough space in {self.path}: {needed / 1e6:.0f} MB are needed and {free / 1e6:.0f} MB are "
                f"free. Nothing was downloaded. Free some space, or choose another folder with {VARIABLE}.",
                path=str(self.path),
                needed=round(needed / 1e6),
                free=round(free / 1e6),
            )

    def _record(self, model: LocalModel) -> Path:
        return self.path / f"{model.file}.checked"

    def _remember(self, model: LocalModel) -> None:
        self._record(model).write_text(json.dumps(_identity(self.file(model), model)), encoding="utf-8")


def storage_error(path: Path, action: str, error: OSError) -> StorageUnavailable | NoSpace:
    """The error a person reads when the disk refuses."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return NoSpace(
            f"The disk of {path} is full. The partial download was deleted. Free some space, "
            f"or choose another folder with {VARIABLE}.",
            path=str(path),
        )
    reason = error.strerror or str(error)
    return StorageUnavailable(
        f"Could not {action} {path}: {reason}. Check who owns that folder and its permissions, or choose another with "
        f"{VARIABLE}.",
        path=str(path),
        action=action,
        reason=reason,
    )


def digest_of(path: Path, progress: Callable[[int], None] = lambda done: None) -> str:
    """The file's sha256, in hexadecimal."""
    digest, done = hashlib.sha256(), 0
    try:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
                done += len(chunk)
                progress(done)
    except OSError as error:
        raise storage_error(path, "read", error) from None
    return digest.hexdigest()


def _identity(path: Path, model: LocalModel) -> dict[str, str | int]:
    """What tells that nobody has touched the file since it was looked over."""
    now = path.stat()
    return {"sha256": model.sha256, "size": now.st_size, "modified": now.st_mtime_ns, "inode": now.st_ino}


def size_of(path: Path) -> int:
    """The file's size in bytes; 0 where there is none."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _recorded(path: Path) -> object:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
