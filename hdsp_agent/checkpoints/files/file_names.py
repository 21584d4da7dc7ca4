"""Names of files: bytes here, text with a way back to the bytes on the wire.

Within this room a path is relative to the workspace, with slashes, as the bytes the file system has.
"""

from __future__ import annotations

import base64
import binascii
import os

from ...errors import InvalidInput
from ...wire import WireModel

__all__ = ["NamedFile", "from_text", "joined", "named", "shown"]


class NamedFile(WireModel):
    """Which file: ``path`` is what people read; ``raw`` has its bytes (base64) where text cannot say them."""

    path: str
    raw: str | None = None

    def name(self) -> bytes:
        """The path's bytes."""
        if self.raw is None:
            return os.fsencode(self.path)
        try:
            return base64.b64decode(self.raw, validate=True)
        except binascii.Error as error:
            raise InvalidInput("A file's raw name must be base64.", field="raw") from error


def shown(path: bytes) -> str:
    r"""The path for people: bytes that are no text stand as ``\xNN``."""
    return path.decode("utf-8", "backslashreplace")


def named(path: bytes) -> tuple[str, str | None]:
    """The ``path`` and ``raw`` of a ``NamedFile``."""
    text = shown(path)
    return text, None if text.encode() == path else base64.b64encode(path).decode()


def from_text(path: str | os.PathLike[str] | bytes, workspace: bytes) -> bytes:
    """A path given by the rest of the product, absolute or relative, as one within the workspace."""
    name = os.fsencode(path)
    absolute = os.path.normpath(os.path.join(workspace, name))
    # The folder's links are followed, the file's own are not: it is the link that would be kept.
    absolute = os.path.join(os.path.realpath(os.path.dirname(absolute)), os.path.basename(absolute))
    relative = os.path.relpath(absolute, workspace)
    if relative in (b".", b"..") or relative.startswith(b".." + os.sep.encode()):
        raise InvalidInput(f"{shown(name)} is not in the workspace {shown(workspace)}.", path=shown(name))
    return relative.replace(os.sep.encode(), b"/")


def joined(folder: bytes, name: bytes) -> bytes:
    """The path of a name within a folder; the workspace itself is empty."""
    return folder + b"/" + name if folder else name
