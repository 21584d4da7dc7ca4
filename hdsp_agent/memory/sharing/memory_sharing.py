"""Brings memory folders in line with the database in time: when something changed here or elsewhere, and before it is read."""

from __future__ import annotations

import logging
import random
import threading
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Final, TypeVar

from ...errors import HdspAgentError
from ...persistence import SharedMemory, SqlConnection
from ..memory_folder import MemoryFolder
from .shared_folder import SharedFolder, SyncReport

__all__ = ["MemorySharing"]

logger = logging.getLogger(__name__)
T = TypeVar("T")

_LOOK_SECONDS: Final = 30.0
"""People change files by hand, and nobody says so."""
_AGAIN_SECONDS: Final = 1.0
_LONGEST_PAUSE_SECONDS: Final = 15.0
_READING_SECONDS: Final = 2.0
_PATIENCE_SECONDS: Final = 5.0
_FRESH_SECONDS: Final = 5.0
"""So long what was brought in line counts as such while nobody tells of changes."""


class MemorySharing:
    """All persons' folders of one home. A thread does the work from ``start`` on; without it, whoever asks does.

    While the database is away the files here serve, and what is changed in them is sent when it is back. While memory is not
    allowed, nothing goes either way.
    """

    def __init__(
        self,
        database: SharedMemory,
        folder_of: Callable[[str], MemoryFolder],
        is_allowed: Callable[[], bool] = lambda: True,
    ) -> None:
        self._database: Final = database
        self._folder_of: Final = folder_of
        self._is_allowed: Final = is_allowed
        self.on_taken: Callable[[str], None] = lambda owner: None
        """Hears, in whatever thread, whose files another server changed."""
        self.on_joined: Callable[[str, SyncReport], None] = lambda owner, report: None
        """Hears, in whatever thread, of files that two servers changed at once and that could not be joined in full."""
        self._folders: dict[str, SharedFolder] = {}
        self._changes = threading.Condition()
        self._asked: dict[str, int] = {}
        self._done: dict[str, int] = {}
        self._done_at: dict[str, float] = {}
        self._is_followed = False
        self._failed: dict[str, str] = {}
        """Whose folders could not be brought in line the last time, and why."""
        self._try_now = False
        self._stopping = False
        self._left_out: dict[str, frozenset[str]] = {}
        self._thread: threading.Thread | None = None

    def start(self, person: str) -> None:
        """Begin to keep the folders in line, first that of this person."""
        self._database.follow(self._heard)
        self.changed(person)
        self._thread = threading.Thread(target=self._run, name="hdsp-agent memory sharing", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Send what was changed, if the database is there, and end the thread. Blocks."""
        self._database.follow(lambda is_followed: None)
        with self._changes:
            self._stopping = True
            self._changes.notify_all()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def changed(self, owner: str) -> None:
        """A person's files were changed here: send it soon."""
        with self._changes:
            self._ask(owner)

    def before_reading(self, owner: str) -> None:
        """What other servers changed is in the files now, unless that takes long. Blocks."""
        if not self._is_allowed():
            return
        with self._changes:
            is_in_line = self._asked.get(owner, 0) == self._done.get(owner, -1)
            is_fresh = self._is_followed or monotonic() - self._done_at.get(owner, 0) < _FRESH_SECONDS
        if not (is_in_line and is_fresh):
            self.bring_up_to_date(owner, _READING_SECONDS)

    def bring_up_to_date(self, owner: str, patience_seconds: float = _PATIENCE_SECONDS) -> bool:
        """Have the folder in line with the database; False if that cannot be done now, or takes longer. Blocks."""
        if not self._is_allowed():
            return False
        with self._changes:
            ticket = self._ask(owner)
            if self._thread is not None:
                self._changes.wait_for(
                    lambda: owner in self._failed or self._stopping or self._done.get(owner, -1) >= ticket,
                    patience_seconds,
                )
                return self._done.get(owner, -1) >= ticket
        return self._sync(owner, ticket)

    def written_in(self, owner: str, connection: SqlConnection, work: Callable[[], T], gone: Iterable[str] = ()) -> T:
        """Do the work on the newest files; what it changes becomes a part of this transaction."""
        if not self._is_allowed():
            return work()
        result, report = self._folder(owner).written_in(connection, work, gone)
        self._tell(owner, report)
        return result

    def forgotten_in(
        self, owner: str, connection: SqlConnection, work: Callable[[MemoryFolder], bool], gone: Iterable[str]
    ) -> bool:
        """Have the work take something out of the folder and of the database; whether there was anything."""
        folder = self._folder_of(owner)
        if self._is_allowed():
            return self.written_in(owner, connection, partial(work, folder), gone)
        was_here = work(folder)
        return self._forgotten_apart(owner, connection, work, gone) or was_here

    def _forgotten_apart(
        self, owner: str, connection: SqlConnection, work: Callable[[MemoryFolder], bool], gone: Iterable[str]
    ) -> bool:
        """The same in the database alone: what is in it does not come into the person's folder."""
        if self._database.state(connection, owner) is None:
            return False
        with TemporaryDirectory(prefix="hdsp-agent-") as place:
            folder = MemoryFolder(Path(place) / "memories")
            apart = SharedFolder(folder.root, owner, self._database)
            was_there, _ = apart.written_in(connection, partial(work, folder), gone)
        return was_there

    def _ask(self, owner: str) -> int:
        self._asked[owner] = ticket = self._asked.get(owner, 0) + 1
        self._changes.notify_all()
        return ticket

    def _heard(self, is_followed: bool) -> None:
        """In the thread that follows the database."""
        with self._changes:
            self._is_followed = is_followed
            if is_followed:
                self._try_now = True
                for owner in list(self._asked):
                    self._ask(owner)

    def _folder(self, owner: str) -> SharedFolder:
        with self._changes:
            if owner not in self._folders:
                self._folders[owner] = SharedFolder(self._folder_of(owner).root, owner, self._database)
            return self._folders[owner]

    def _sync(self, owner: str, ticket: int) -> bool:
        try:
            report = self._folder(owner).sync()
        except Exception as error:
            with self._changes:
                is_told = owner in self._failed or str(error) in self._failed.values()
                self._failed[owner] = str(error)
                self._changes.notify_all()
            if not is_told:
                unexpected = None if isinstance(error, HdspAgentError) else error
                logger.warning("Memory is not shared with other servers for now: %s", error, exc_info=unexpected)
            return False
        with self._changes:
            self._failed.pop(owner, None)
            self._done[owner] = max(ticket, self._done.get(owner, -1))
            self._done_at[owner] = monotonic()
            self._changes.notify_all()
        self._tell(owner, report)
        return True

    def _tell(self, owner: str, report: SyncReport) -> None:
        left_out = frozenset(report.left_out)
        if self._left_out.get(owner, frozenset()) != left_out:
            self._left_out[owner] = left_out
            if left_out:
                logger.warning(
                    "These memory files are not shared, since they are links, too large, too many or cannot be read: %s",
                    ", ".join(sorted(left_out)[:10]),
                )
        if report.taken:
            self.on_taken(owner)
        if report.twice or report.aside:
            self.on_joined(owner, report)

    # What follows runs in the thread.

    def _run(self) -> None:
        pause = _AGAIN_SECONDS
        while True:
            with self._changes:
                if not self._is_allowed():
                    if self._changes.wait_for(lambda: self._stopping, _LOOK_SECONDS):
                        return
                    continue
                if self._failed:
                    # All servers of a hub lose the database together.
                    waiting = pause * random.uniform(0.5, 1)  # noqa: S311 -- no secret
                    self._changes.wait_for(lambda: self._stopping or self._try_now or self._promising(), waiting)
                    pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)
                else:
                    pause = _AGAIN_SECONDS
                    self._changes.wait_for(lambda: self._stopping or self._waiting(), _LOOK_SECONDS)
                self._try_now = False
                is_last = self._stopping
                # If nobody asked, people may have changed files by hand all the same.
                due = dict(self._asked) if self._failed else self._waiting() or dict(self._asked)
                owners = self._promising() if is_last else due
                # It may have been forbidden during the wait.
                if not self._is_allowed():
                    owners = {}
            for owner, ticket in owners.items():
                self._sync(owner, ticket)
            if is_last:
                return

    def _waiting(self) -> dict[str, int]:
        return {owner: ticket for owner, ticket in self._asked.items() if ticket > self._done.get(owner, -1)}

    def _promising(self) -> dict[str, int]:
        """Those who wait, and whose folders could be brought in line the last time."""
        return {owner: ticket for owner, ticket in self._waiting().items() if owner not in self._failed}
