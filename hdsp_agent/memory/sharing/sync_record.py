"""What a memory folder and the database had in common last, in a file of the folder. Everything here blocks."""

from __future__ import annotations

import secrets
import socket
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError

from ..._private_files import make_private_folder, read_with_identity, replace_file
from ...wire import WireModel
from .file_join import JOINED_ENDING, counts_of
from .line_join import line_keys
from .shared_names import RECORD

__all__ = ["CommonFile", "PushedFiles", "SyncRecord", "load_record", "save_record"]

_Number = Annotated[int, Field(ge=0)]


class CommonFile(WireModel):
    """A version of a file that both had; without a hash it was deleted. Of its text only what shows later changes is kept."""

    version: _Number = 0
    hash: str | None = None
    lines: list[str] = Field(default_factory=list)
    counts: dict[str, _Number] = Field(default_factory=dict)

    @classmethod
    def of(cls, name: str, version: int, content: bytes | None) -> CommonFile:
        """What is kept of this version."""
        if content is None:
            return cls(version=version)
        lines = line_keys(content.decode("utf-8", "replace")) if name.endswith(JOINED_ENDING) else []
        return cls(version=version, hash=hash_of(content), lines=lines, counts=counts_of(name, content))


class PushedFiles(WireModel):
    """What is being written to the database: whether it was shows there."""

    change: _Number
    files: dict[str, CommonFile]


class SyncRecord(WireModel, frozen=False):
    """All of it. ``taking`` are versions that are being put into the folder: some of them may be there already.

    ``behind`` are files of which the database has a version that could not be put into the folder yet.
    """

    server: str
    place: str = ""
    change: _Number = 0
    looked_at: float = 0.0
    files: dict[str, CommonFile] = Field(default_factory=dict)
    taking: dict[str, CommonFile] = Field(default_factory=dict)
    behind: list[str] = Field(default_factory=list)
    pushing: PushedFiles | None = None


def hash_of(content: bytes) -> str:
    """What tells contents apart."""
    return sha256(content).hexdigest()[:32]


def load_record(root: Path) -> SyncRecord:
    """The folder's record; one that has nothing in common with any database if there is none that can be read."""
    found = read_with_identity(root / RECORD)
    with suppress(ValidationError):
        if found is not None:
            return SyncRecord.model_validate_json(found[0])
    return SyncRecord(server=f"{socket.gethostname()[:60]}-{secrets.token_hex(6)}")


def save_record(root: Path, record: SyncRecord) -> None:
    """Keep it. Raises StorageUnavailable."""
    make_private_folder(root)
    replace_file(root / RECORD, record.to_json().encode())
