"""The folder of what was learned for one person: plain Markdown that they, and nobody else, may read. Everything here blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Final, Literal, TypeAlias

from .._portable_names import portable
from .._private_files import make_private_folder, read_with_identity, replace_file
from ..errors import InvalidInput, NotFound, StorageUnavailable
from ..messages import TaskId
from ..persistence import checked_id

__all__ = [
    "ASIDE_FOLDER",
    "CONSOLIDATED",
    "DAMAGED",
    "EXTRACTED_FOLDER",
    "HANDBOOK",
    "RAW_MEMORIES",
    "SKILLS_FOLDER",
    "SUMMARIES_FOLDER",
    "SUMMARY",
    "MemoryFileKind",
    "MemoryFolder",
    "extracted_name",
    "person_folder",
]

SUMMARY: Final = "memory_summary.md"
HANDBOOK: Final = "MEMORY.md"
CONSOLIDATED: Final = "consolidated.json"
"""What the last consolidation was made of and wrote."""
DAMAGED: Final = ".damaged"
"""Added to the name of a record that nobody can read any more."""
RAW_MEMORIES: Final = "raw_memories.md"
SUMMARIES_FOLDER: Final = "rollout_summaries"
SKILLS_FOLDER: Final = "skills"
EXTRACTED_FOLDER: Final = "extracted"
ASIDE_FOLDER: Final = "other_versions"
"""Where a version of a file is that was changed on two servers at once and could not be joined."""

MemoryFileKind: TypeAlias = Literal["summary", "handbook", "raw", "rollout_summary", "skill"]

_OTHERS_FOLDER: Final = "people"
_LARGEST: Final = 2_000_000
_MOST_FILES: Final = 5_000
_PLAIN: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,119}")


def person_folder(home: Path, owner: str, person: str) -> Path:
    """Where what is remembered for a person is kept. ``person`` is whom the server belongs to."""
    memories = home / "memories"
    if owner in ("", person):
        return memories
    digest = blake2b(owner.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
    return memories / _OTHERS_FOLDER / f"{portable(owner)[:40]}-{digest}"


def extracted_name(task_id: TaskId) -> str:
    """The file of what a conversation taught."""
    return f"{EXTRACTED_FOLDER}/{checked_id(task_id)}.json"


class MemoryFolder:
    """One person's folder. A file that is missing is as good as empty."""

    def __init__(self, root: Path) -> None:
        self.root: Final = root

    def make(self) -> None:
        """Have the folder, readable by its owner only. Raises StorageUnavailable."""
        for name in ("", SUMMARIES_FOLDER, SKILLS_FOLDER, EXTRACTED_FOLDER):
            make_private_folder(self.root / name)

    def text(self, name: str) -> str:
        """What a file says, however long; empty if there is none. Raises StorageUnavailable."""
        found = read_with_identity(self.root / name)
        return "" if found is None else found[0].decode("utf-8", "replace")

    def write(self, name: str, text: str) -> None:
        """Put a text in a file's place, in one step. Raises StorageUnavailable."""
        path = self.root / name
        make_private_folder(path.parent)
        replace_file(path, text.encode("utf-8", "replace"))

    def remove(self, name: str) -> None:
        """Have no such file."""
        with suppress(FileNotFoundError):
            (self.root / name).unlink()

    def readable(self) -> Iterator[tuple[str, MemoryFileKind]]:
        """The names of the files that may be shown, and what each is."""
        for name, kind in ((SUMMARY, "summary"), (HANDBOOK, "handbook"), (RAW_MEMORIES, "raw")):
            if (self.root / name).is_file():
                yield name, kind  # type: ignore[misc]  # a tuple of literals loses them
        for name in self.names(SUMMARIES_FOLDER):
            yield name, "rollout_summary"
        for name in self.names(SKILLS_FOLDER):
            yield name, "skill"

    def names(self, folder: str) -> list[str]:
        """The files below one of the folders, by their names from here, without links and hidden ones."""
        found: list[str] = []
        base = self.root / folder
        for path in sorted(base.rglob("*")) if base.is_dir() else ():
            parts = path.relative_to(self.root).parts
            if path.is_symlink() or not path.is_file() or any(part.startswith(".") for part in parts):
                continue
            found.append("/".join(parts))
            if len(found) == _MOST_FILES:
                break
        return found

    def shown(self, name: str) -> tuple[str, MemoryFileKind]:
        """A file by the name that a model or a person gives. Raises NotFound, InvalidInput, StorageUnavailable."""
        parts = name.strip().split("/")
        if not all(_PLAIN.fullmatch(part) for part in parts):
            raise InvalidInput(f"{name!r} is no name of a memory file, such as {HANDBOOK}.", field="path")
        wanted = "/".join(parts)
        for known, kind in self.readable():
            if known == wanted:
                return self.text(known)[:_LARGEST], kind
        raise NotFound(f"There is no memory file {wanted}.", path=wanted)

    def is_writable(self) -> bool:
        """Whether files can be kept here just now."""
        try:
            self.make()
            replace_file(self.root / ".writable", b"")
            (self.root / ".writable").unlink()
        except (StorageUnavailable, OSError):
            return False
        return True
