"""Objects as files of a folder, such as one on a disk that several machines share. Everything here blocks."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from ..._private_files import make_private_folder, replace_file
from ...errors import ArtifactStoreUnavailable, StorageUnavailable
from ._object_store import ObjectMissing, ObjectStore, StoredObject

__all__ = ["FolderStore"]


class FolderStore(ObjectStore):
    """See ``ObjectStore`` for what it does. The folder is not made: where a disk is not mounted, there is none."""

    def __init__(self, folder: Path) -> None:
        self._folder: Final = folder
        self.name = f"the folder {folder}"

    def put(self, key: str, data: bytes) -> None:
        path = self._path(key)
        self._check_there()
        try:
            make_private_folder(path.parent)
            replace_file(path, data)
        except StorageUnavailable as error:
            raise self.unavailable(str(error.params.get("reason"))) from error
        except OSError as error:
            raise self._refusal(error) from error

    def read(self, key: str, size: int) -> bytes:
        self._check_there()
        try:
            with self._path(key).open("rb") as file:
                return file.read(size)
        except FileNotFoundError:
            self._check_there()
            raise ObjectMissing(key) from None
        except OSError as error:
            raise self._refusal(error) from error

    def delete(self, keys: Sequence[str]) -> None:
        self._check_there()
        try:
            for key in keys:
                self._path(key).unlink(missing_ok=True)
        except OSError as error:
            raise self._refusal(error) from error

    def listed(self, folder: str) -> Iterator[StoredObject]:
        self._check_there()
        # What a writer that died left of a file is listed, too: it is nobody's.
        for place, _, names in os.walk(self._path(folder)):
            for name in names:
                path = Path(place, name)
                try:
                    found = path.stat()
                except FileNotFoundError:
                    continue
                except OSError as error:
                    raise self._refusal(error) from error
                key = path.relative_to(self._folder).as_posix()
                yield StoredObject(key, found.st_size, datetime.fromtimestamp(found.st_mtime, UTC))

    def _path(self, key: str) -> Path:
        parts = key.split("/")
        assert all(part not in ("", ".", "..") for part in parts), "keys are our own"
        return self._folder.joinpath(*parts)

    def _check_there(self) -> None:
        if not self._folder.is_dir():
            raise self.unavailable("the folder does not exist")

    def _refusal(self, error: OSError) -> ArtifactStoreUnavailable:
        return self.unavailable(error.strerror or str(error))
