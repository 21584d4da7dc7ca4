"""Notebooks that people have verified in the page: each in a process of its own, which is gone when nobody waits for it.

What is verified is saved as a checkpoint, and the report is kept with it.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ..checkpoints import CheckpointId
from ..checkpoints.timeline import VerificationReport
from ..errors import Conflict, HdspAgentError, NotFound, Unsupported
from ..notebooks import Notebooks
from ._owner import Owner
from .checkpoint_access import CheckpointAccess, CheckpointPlace

if TYPE_CHECKING:
    from ..verify import NotebookReport, VerifyProgress

__all__ = ["Verification", "Verifications"]

_log = logging.getLogger(__name__)

_MOST_OF_ONE: Final = 2
_MOST_RUNNING: Final = 6
_MOST_REMEMBERED: Final = 32
_UNSEEN_SECONDS: Final = 60.0
"""A page that waits asks every second; one that does not for so long is gone."""


@dataclass
class Verification:
    """One notebook that is being verified, or was."""

    path: str
    owner: Owner
    id: str = field(default_factory=lambda: secrets.token_hex(8))
    progress: VerifyProgress | None = None
    report: NotebookReport | None = None
    ended_ts: int | None = None
    """When there was a report, in milliseconds."""
    error: HdspAgentError | None = None
    """Why there is no report."""
    is_stopped: bool = False
    seen_at: float = field(default_factory=time.monotonic)
    """When somebody asked about it last."""
    work: asyncio.Task[None] | None = None

    @property
    def is_done(self) -> bool:
        """Whether nothing runs any more."""
        return self.work.done() if self.work is not None else self.report is not None


class Verifications:
    """Runs notebooks in kernels of their own, that nobody else sees. Of somebody else none is known."""

    def __init__(
        self,
        notebooks: Notebooks,
        checkpoints: CheckpointAccess,
        *,
        has: Callable[[str], Awaitable[bool]],
        kernels_are_here: bool,
        unseen_seconds: float = _UNSEEN_SECONDS,
    ) -> None:
        self._notebooks = notebooks
        self._checkpoints = checkpoints
        self._has = has
        self._kernels_are_here = kernels_are_here
        self._unseen_seconds = unseen_seconds
        self._known: OrderedDict[str, Verification] = OrderedDict()

    async def start(self, owner: Owner, path: str) -> Verification:
        """Begin to verify a notebook as it is now, saved or not. One that is being verified goes on."""
        path = self._notebooks.access.now_at(path)
        file = await self._file(path)
        # Nothing is awaited from here on, so that no other is begun meanwhile.
        running = [one for one in self._known.values() if not one.is_done and not one.is_stopped]
        own = [one for one in running if one.owner == owner]
        if (same := next((one for one in own if one.path == path), None)) is not None:
            return same
        if len(own) >= _MOST_OF_ONE or len(running) >= _MOST_RUNNING:
            raise Conflict("Several notebooks are being verified. Try again when one of them is done.", why="too_many")
        begun = Verification(path, owner)
        self._known[begun.id] = begun
        begun.work = asyncio.create_task(self._verify(begun, file), name=f"verify {path}")
        for old in [one for one in self._known.values() if one.is_done]:
            if len(self._known) <= _MOST_REMEMBERED:
                break
            del self._known[old.id]
        return begun

    async def look(self, place: CheckpointPlace, verification: str) -> Verification:
        """How far one is, or what came of it: of one that ended long ago, as it is kept with the checkpoints there."""
        found = self._known.get(verification)
        if found is None or found.owner != place.owner:
            return await self._earlier(place, verification)
        found.seen_at = time.monotonic()
        return found

    async def cancel(self, owner: Owner, verification: str) -> Verification:
        """Stop it; its kernel and its copy of the folder are gone then."""
        found = await self.look(CheckpointPlace(owner), verification)
        await self._end(found)
        return found

    async def stop(self) -> None:
        """Stop all of them: they are told before anything is awaited."""
        if ending := [work for one in self._known.values() if (work := _cancelled(one)) is not None]:
            await asyncio.wait(ending)

    async def _end(self, verification: Verification) -> None:
        if (work := _cancelled(verification)) is not None:
            await asyncio.wait([work])

    async def _file(self, path: str) -> Path:
        root = self._notebooks.access.root
        if root is None:
            raise Unsupported("Only notebooks in files of this server can be verified.")
        if not self._kernels_are_here:
            raise Unsupported(
                "A gateway runs the kernels, and a notebook is verified with a new kernel on this server. Run"
                " `hdsp-agent verify` where the kernels are."
            )
        # As Jupyter shows it: links lead where they lead, and what is hidden or outside is not there.
        with suppress(HdspAgentError):
            if path.endswith(".ipynb") and await self._has(path):
                return root / path
        raise NotFound(f"There is no notebook {path}.", path=path)

    async def _verify(self, verification: Verification, file: Path) -> None:
        # Not loaded before somebody wants it.
        from ..verify import verify_apart

        owner, path = verification.owner, verification.path

        def progressed(progress: VerifyProgress) -> None:
            verification.progress = progress

        watching = asyncio.create_task(self._end_unseen(verification))
        try:
            content = await self._notebooks.access.on_screen(path, owner)
            checkpoint = await self._saved(owner, path, file)
            verification.report = await verify_apart(file, progressed, content)
            verification.ended_ts = time.time_ns() // 1_000_000
            if checkpoint is not None:
                await self._keep(verification, verification.report, checkpoint)
        except HdspAgentError as error:
            verification.error = error
        except Exception:  # noqa: BLE001 -- whatever it was, the person is told
            _log.exception("Verifying %s failed", path)
            if verification.report is None:
                verification.error = HdspAgentError("The notebook could not be verified. The server's log says why.")
        finally:
            watching.cancel()

    async def _saved(self, owner: Owner, path: str, file: Path) -> CheckpointId | None:
        """The checkpoint of what is verified, if there is one."""
        try:
            return await self._checkpoints.save_for_verification(owner, path, file)
        except HdspAgentError as error:
            _log.warning("No checkpoint was saved before %s was verified: %s", path, error.message)
        except Exception:  # noqa: BLE001 -- it is verified all the same
            _log.exception("No checkpoint was saved before %s was verified", path)
        return None

    async def _keep(self, verification: Verification, report: NotebookReport, checkpoint: CheckpointId) -> None:
        from ..verify import written_report

        states = [cell.state for cell in report.cells]
        kept = VerificationReport(
            id=verification.id,
            ts=verification.ended_ts or 0,
            owner=verification.owner,
            checkpoint=checkpoint,
            path=verification.path,
            same=states.count("same"),
            differing=states.count("differs"),
            report=written_report(report),
        )
        try:
            await self._checkpoints.keep_report(verification.owner, kept)
        except HdspAgentError as error:
            _log.warning("The report of %s was not kept: %s", verification.path, error.message)

    async def _earlier(self, place: CheckpointPlace, verification: str) -> Verification:
        from ..verify import read_report

        try:
            kept = await self._checkpoints.report(place, verification)
            if kept is not None:
                path, report = self._notebooks.access.now_at(kept.path), read_report(kept.report)
                return Verification(path, place.owner, kept.id, report=report, ended_ts=kept.ts)
        except NotFound:
            raise
        except (ValueError, HdspAgentError) as error:
            _log.error("The report of verification %s cannot be read: %s", verification, error)
        raise NotFound("This verification is not known any more. Verify the notebook again.", id=verification)

    async def _end_unseen(self, verification: Verification) -> None:
        """A page that was closed asks no more, and says nothing."""
        left = self._unseen_seconds
        while left > 0:
            await asyncio.sleep(left)
            left = verification.seen_at + self._unseen_seconds - time.monotonic()
        _cancelled(verification)


def _cancelled(verification: Verification) -> asyncio.Task[None] | None:
    """What is under way of it, told to end."""
    work = verification.work
    if work is None or work.done():
        return None
    if not verification.is_stopped:
        # Once: the second time would end what cleans up.
        verification.is_stopped = True
        work.cancel()
    return work
