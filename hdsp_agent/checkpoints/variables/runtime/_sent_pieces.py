"""Pieces for a server that does not see this machine's disk: they wait in a folder here until they were sent."""
# mypy: ignore-errors
# Runs in a kernel, in another Python than ours.

import atexit
import base64
import contextlib
import hashlib
import os
import shutil
import tempfile

from . import _chunks


class SentPieces:
    """A folder of this kernel's own."""

    def __init__(self, chunks):
        self.chunks = chunks
        self.folder = None

    def make(self):
        """The folder, made at first use and gone with the kernel."""
        if self.folder is None:
            self.folder = tempfile.mkdtemp(prefix="hdsp-agent-variables-")
            atexit.register(_remove, self.folder, os.getpid())
        return self.folder

    def read(self, keys):
        """These pieces as text; what is not there is left out."""
        found = {}
        for key in keys:
            with contextlib.suppress(OSError), open(self.chunks.path(key), "rb") as file:
                found[key] = base64.b64encode(file.read()).decode()
        return found

    def write(self, pieces):
        """Put pieces here that the server has sent."""
        for key, text in pieces.items():
            piece = base64.b64decode(text)
            if hashlib.sha256(piece).hexdigest() != key:
                raise ValueError("a piece was damaged on its way")
            self.chunks.write(key, piece)

    def drop(self, keys):
        """The server has these."""
        for key in keys:
            with contextlib.suppress(OSError):
                os.unlink(self.chunks.path(key))

    def tidy(self, most):
        """Nobody fetches what was saved after each run and is out of date by now. True if pieces were dropped.

        What is just being written stays, and so does its folder.
        """
        if self.folder is None or _size(self.folder) <= most:
            return False
        for at, _, names in os.walk(self.folder):
            for name in names:
                if not name.endswith(_chunks.PARTIAL):
                    with contextlib.suppress(OSError):
                        os.unlink(os.path.join(at, name))
        return True


def _size(folder):
    size = 0
    for at, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                size += os.stat(os.path.join(at, name)).st_size
    return size


def _remove(folder, process):
    # A child of the kernel inherits what is to be done at the end.
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)
