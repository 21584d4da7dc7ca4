"""What of a checkpoint somebody wants back, in the words of the rest of the product."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass

from .file_names import NamedFile, from_text, named
from .restore_steps import AllFiles, Choice

__all__ = ["Selection", "named_files"]


@dataclass(frozen=True)
class Selection:
    """What of a checkpoint to restore, as paths absolute or relative to the workspace."""

    only: Sequence[str] | None = None
    leave: Sequence[str] = ()
    overwrite: Sequence[str] = ()
    overwrite_all: bool = False

    def choice(self, root: bytes) -> Choice:
        """The same as paths within the workspace."""
        overwrite: Container[bytes] = AllFiles()
        if not self.overwrite_all:
            overwrite = {from_text(path, root) for path in self.overwrite}
        only = None if self.only is None else {from_text(path, root) for path in self.only}
        return Choice(only, {from_text(path, root) for path in self.leave}, overwrite)


def named_files(paths: Sequence[str], root: bytes) -> tuple[NamedFile, ...]:
    """These paths as the log has them."""
    pairs = (named(from_text(path, root)) for path in paths)
    return tuple(NamedFile(path=text, raw=raw) for text, raw in pairs)
