"""The jobs of the memory work, each step a transaction of the database that they are in."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from ..messages import TaskId
from ..persistence import SqlConnection, StateDatabase
from .job_table import (
    ClaimRefusal,
    JobClaim,
    JobRow,
    LeaseLost,
    claim_consolidation,
    claim_extraction,
    enqueue_consolidation,
    extend_lease,
    finish_job,
    forget_job,
    job_rows,
    note_done,
    release_job,
    void_all_jobs,
    void_consolidation,
)
from .memory_folder import MemoryFolder, extracted_name

if TYPE_CHECKING:
    from .sharing import MemorySharing

__all__ = ["JobDatabase", "MemoryJobs", "StateJobDatabase"]

T = TypeVar("T")


class JobDatabase(Protocol):
    """Where the table is: in ``state.db`` of one folder, or in PostgreSQL, where all servers of a person share it.

    ``generation`` rises each time another table takes its place. ``for_update`` is as ``job_table`` takes it.
    """

    @property
    def generation(self) -> int: ...

    @property
    def for_update(self) -> str: ...

    async def read(self, work: Callable[[SqlConnection], T], /) -> T: ...

    async def write(self, work: Callable[[SqlConnection], T], /) -> T: ...

    def now(self, connection: SqlConnection, /) -> int:
        """What time it is, in seconds, by the clock that leases are measured by."""

    def hold_person(self, connection: SqlConnection, owner: str, /) -> None:
        """Nobody else claims a job of this person until the transaction ends."""


class StateJobDatabase:
    """``state.db``, in which one transaction writes at a time, and the clock of this machine."""

    for_update: Final = ""

    def __init__(self, database: StateDatabase, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    @property
    def generation(self) -> int:
        return self._database.generation

    async def read(self, work: Callable[[SqlConnection], T], /) -> T:
        return await self._database.read(work)

    async def write(self, work: Callable[[SqlConnection], T], /) -> T:
        return await self._database.write(work)

    def now(self, connection: SqlConnection, /) -> int:
        return int(self._clock())

    def hold_person(self, connection: SqlConnection, owner: str, /) -> None:
        """Whoever writes has the whole file."""


class MemoryJobs:
    """What ``job_table`` says, done. Everything raises StorageUnavailable where the database cannot be used."""

    def __init__(self, database: JobDatabase, sharing: MemorySharing | None = None) -> None:
        """``sharing`` brings files in line with other servers, in the same transactions."""
        self._database: Final = database
        self._sharing: Final = sharing

    @property
    def generation(self) -> int:
        """Rises each time another table, which may be empty, takes the place of the one in use."""
        return self._database.generation

    async def rows(self, owner: str) -> list[JobRow]:
        """How the jobs of a person stand, those that ended last first."""
        return (await self.standing(owner))[0]

    async def standing(self, owner: str) -> tuple[list[JobRow], int]:
        """The same, and what time it is for them."""
        return await self._database.read(
            lambda connection: (job_rows(connection, owner), self._database.now(connection))
        )

    async def claim_extraction(
        self, task_id: str, owner: str, *, watermark: int, most_running: int, is_wanted_again: bool = False
    ) -> JobClaim | ClaimRefusal:
        """Take the extraction of one conversation, or why it cannot be taken."""

        def claim(connection: SqlConnection) -> JobClaim | ClaimRefusal:
            self._database.hold_person(connection, owner)
            return claim_extraction(
                connection,
                task_id,
                owner,
                watermark=watermark,
                most_running=most_running,
                now=self._database.now(connection),
                is_wanted_again=is_wanted_again,
                for_update=self._database.for_update,
            )

        return await self._database.write(claim)

    async def claim_consolidation(self, owner: str, *, is_asked_for: bool = False) -> JobClaim | ClaimRefusal:
        """Take the consolidation of a person's memory, or why it cannot be taken."""

        def claim(connection: SqlConnection) -> JobClaim | ClaimRefusal:
            self._database.hold_person(connection, owner)
            now = self._database.now(connection)
            locking = self._database.for_update
            return claim_consolidation(connection, owner, now=now, is_asked_for=is_asked_for, for_update=locking)

        return await self._database.write(claim)

    async def extend(self, claim: JobClaim) -> bool:
        """Go on holding a job; False if it is somebody else's by now."""
        return await self._database.write(lambda connection: self._extend(connection, claim))

    async def write_if_leased(self, claim: JobClaim, work: Callable[[], T]) -> T:
        """Change a person's files, which blocks, while the job is still ours. Raises LeaseLost.

        It is a part of the transaction, as what forgets is: whoever forgets comes before it or after it, never in between.
        """

        def write(connection: SqlConnection) -> T:
            if not self._extend(connection, claim):
                raise LeaseLost
            return self._changed(connection, claim.owner, work)

        return await self._database.write(write)

    async def succeed(self, claim: JobClaim, *, watermark: int | None = None, is_news: bool = False) -> bool:
        """A job is done; False if it is somebody else's by now. ``is_news`` says that there is something to consolidate."""

        def write(connection: SqlConnection) -> bool:
            is_ours = finish_job(connection, claim, now=self._database.now(connection), watermark=watermark)
            if is_ours and is_news:
                self._enqueue(connection, claim.owner, claim.watermark)
            return is_ours

        return await self._database.write(write)

    async def fail(self, claim: JobClaim, error: str) -> bool:
        """A job failed; False if it is somebody else's by now."""
        return await self._database.write(
            lambda connection: finish_job(connection, claim, now=self._database.now(connection), error=error)
        )

    async def release(self, claim: JobClaim) -> bool:
        """Give a job back undone; False if it is somebody else's by now."""
        return await self._database.write(lambda connection: release_job(connection, claim))

    async def note_done(self, owner: str, watermarks: Sequence[tuple[TaskId, int]]) -> None:
        """These conversations were extracted up to there, as the files say."""

        def write(connection: SqlConnection) -> None:
            # Two servers that begin at once wait for each other, if both go in the same order.
            for task_id, watermark in sorted(watermarks):
                note_done(connection, task_id, owner, watermark)

        await self._database.write(write)

    async def forget(
        self,
        owner: str,
        folder: MemoryFolder,
        task_ids: Sequence[TaskId],
        work: Callable[[MemoryFolder], bool],
        watermark: int,
    ) -> None:
        """Conversations are gone. The work takes what they taught out of files, and says whether that was anything."""

        def write(connection: SqlConnection) -> None:
            # First these rows: what is being made of them just now is thrown away. See ``write_if_leased``.
            for task_id in sorted(task_ids):
                forget_job(connection, "extract", task_id)
            void_consolidation(connection, owner, for_update=self._database.for_update)
            if self._sharing is None:
                is_news = work(folder)
            else:
                # Whoever is away may come back with what they learned from them.
                is_news = self._sharing.forgotten_in(owner, connection, work, map(extracted_name, task_ids))
            if is_news:
                self._enqueue(connection, owner, watermark)

        await self._database.write(write)

    async def forget_all(self, owner: str, work: Callable[[], None]) -> None:
        """The work forgets everything that was learned; what was read counts as read."""

        def write(connection: SqlConnection) -> None:
            read = [TaskId(row.key) for row in job_rows(connection, owner) if row.kind == "extract"]
            void_all_jobs(connection, owner)
            self._changed(connection, owner, work, map(extracted_name, read))

        await self._database.write(write)

    async def bring_up_to_date(self, owner: str) -> None:
        """Have the files in line with those of other servers, as far as that can be done now."""
        if self._sharing is not None:
            await asyncio.to_thread(self._sharing.bring_up_to_date, owner)

    def files_changed(self, owner: str) -> None:
        """A person's files say something else than other servers know."""
        if self._sharing is not None:
            self._sharing.changed(owner)

    def _changed(self, connection: SqlConnection, owner: str, work: Callable[[], T], gone: Iterable[str] = ()) -> T:
        return work() if self._sharing is None else self._sharing.written_in(owner, connection, work, gone)

    def _extend(self, connection: SqlConnection, claim: JobClaim) -> bool:
        return extend_lease(connection, claim, self._database.now(connection))

    def _enqueue(self, connection: SqlConnection, owner: str, watermark: int) -> None:
        enqueue_consolidation(connection, owner, watermark, for_update=self._database.for_update)
