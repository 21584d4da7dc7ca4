"""Notebooks that people have verified in the page: each in the background, and stopped with the server."""

from __future__ import annotations

import asyncio
import secrets
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ..errors import Conflict, HdspAgentError, NotFound, Unsupported
from ..notebooks import Notebooks
from ._owner import Owner

if TYPE_CHECKING:
    from ..verify import NotebookReport, VerifyProgress

__all__ = ["Verification", "Verifications"]

_MOST_RUNNING: Final = 2
_MOST_REMEMBERED: Final = 32


@dataclass
class Verification:
    """One notebook that is being verified, or was."""

    path: str
    owner: Owner
    id: str = field(default_factory=lambda: secrets.token_hex(8))
    progress: VerifyProgress | None = None
    report: NotebookReport | None = None
    error: HdspAgentError | None = None
    """Why there is no report."""
    is_stopped: bool = False
    work: asyncio.Task[None] | None = None

    @property
    def is_done(self) -> bool:
        """Whether nothing runs any more."""
        return self.work is None or self.work.done()


class Verifications:
    """Runs notebooks in kernels of their own, that nobody else sees. Of somebody else none is known."""

    def __init__(self, notebooks: Notebooks, *, kernels_are_here: bool) -> None:
        self._notebooks = notebooks
        self._kernels_are_here = kernels_are_here
        self._known: OrderedDict[str, Verification] = OrderedDict()

    async def start(self, owner: Owner, path: str) -> Verification:
        """Begin to verify a notebook as it is saved. One that is being verified goes on."""
        path = self._notebooks.access.now_at(path)
        running = [one for one in self._known.values() if not one.is_done]
        if (same := next((one for one in running if (one.owner, one.path) == (owner, path)), None)) is not None:
            return same
        if len(running) >= _MOST_RUNNING:
            raise Conflict(f"{_MOST_RUNNING} notebooks are being verified. Wait for one of them, or stop it.")
        file = await asyncio.to_thread(self._file, path)
        begun = Verification(path, owner)
        begun.work = asyncio.create_task(self._verify(begun, file), name=f"verify {path}")
        self._known[begun.id] = begun
        for old in [one for one in self._known.values() if one.is_done]:
            if len(self._known) <= _MOST_REMEMBERED:
                break
            del self._known[old.id]
        return begun

    def look(self, owner: Owner, verification: str) -> Verification:
        """How far one is, or what came of it."""
        found = self._known.get(verification)
        if found is None or found.owner != owner:
            raise NotFound("This verification is not known any more. Verify the notebook again.", id=verification)
        return found

    async def cancel(self, owner: Owner, verification: str) -> Verification:
        """Stop it; its kernel and its copy of the folder are gone then."""
        found = self.look(owner, verification)
        if found.work is not None and not found.work.done():
            found.is_stopped = True
            found.work.cancel()
            await asyncio.wait([found.work])
        return found

    async def stop(self) -> None:
        """Stop all of them."""
        working = [one.work for one in self._known.values() if one.work is not None and not one.work.done()]
        for work in working:
            work.cancel()
        if working:
            await asyncio.wait(working)

    def _file(self, path: str) -> Path:
        root = self._notebooks.access.root
        if root is None or not self._kernels_are_here:
            raise Unsupported("Only notebooks in files of this server, with kernels on it, can be verified.")
        try:
            file = (root / path).resolve()
            is_there = file.is_relative_to(root.resolve()) and file.is_file()
        except (OSError, ValueError):
            # No file can be called that.
            is_there = False
        if not is_there:
            raise NotFound(f"There is no notebook {path}.", path=path)
        return file

    async def _verify(self, verification: Verification, file: Path) -> None:
        # Not loaded before somebody wants it.
        from ..verify import VerifyOptions, verify_notebook

        def progressed(progress: VerifyProgress) -> None:
            verification.progress = progress

        try:
            verification.report = await verify_notebook(file, VerifyOptions(on_progress=progressed))
        except HdspAgentError as error:
            verification.error = error
