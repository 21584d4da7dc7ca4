"""A disk that fills up in the middle of any phase: all parts or none, with the reason, and with room again it goes on."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest

from hdsp_agent.checkpoints.variables import VariableLimits
from hdsp_agent.errors import HdspAgentError, Unavailable
from tests._helpers.long_tests import rounds
from tests.persistence.test_crashes import unix

from .._helpers.volumes import small_volume
from ..files._helpers.killed_operation import CALLS
from ..files._helpers.workspace_fixtures import assert_sound
from ..files.test_full_disk import fill
from ._helpers.timeline_fixtures import EVERYTHING, TimelineSetup, timeline_setup
from .test_restoring import Conversation, broken, is_broken, is_whole

pytestmark = [unix, pytest.mark.slow]

NO_ROOM = re.compile(r"no space left|has not so many", re.IGNORECASE)
MEGABYTES = 24


class Disk:
    """A small one, which something else can use up to the last byte."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.is_full = False
        self._calls: int | None = None
        self._lock = threading.Lock()

    def count(self) -> None:
        """From here on calls to the system are counted."""
        self._calls = 0

    @contextmanager
    def filling_up(self, at: int) -> Iterator[None]:
        """It is full from the nth counted call on that changes something; when the block ends there is room again."""

        def counted(original: Callable[..., object]) -> Callable[..., object]:
            def call(*arguments: object, **options: object) -> object:
                with self._lock:
                    if self._calls is not None:
                        self._calls += 1
                        if self._calls == at:
                            fill(self.folder)
                            self.is_full = True
                return original(*arguments, **options)

            return call

        self._calls, self.is_full = None, False
        with pytest.MonkeyPatch.context() as patch:
            for name in CALLS:
                patch.setattr(os, name, counted(getattr(os, name)))
            yield
        (self.folder / "filler").unlink(missing_ok=True)


class Refusing(Conversation):
    """It refuses when all else is back, and the way back begins."""

    def __init__(self, disk: Disk) -> None:
        super().__init__()
        self.disk = disk

    async def go_back(self, mark_id: str) -> None:
        self.disk.count()
        raise Unavailable("The conversation is gone.")


@asynccontextmanager
async def small_timeline_setup(tmp_path: Path) -> AsyncIterator[tuple[TimelineSetup, Disk]]:
    """Workspace and store on a small disk of their own."""
    with small_volume(tmp_path / "disk", MEGABYTES) as folder:
        async with timeline_setup(folder) as here:
            # By default none are saved where so little is left.
            here.values.set_limits(VariableLimits(free_bytes=0))
            yield here, Disk(folder)


@pytest.mark.in_short(1)
@pytest.mark.parametrize(("phase", "step", "least"), [("restore", rounds(17, 9), 60), ("roll back", rounds(11, 7), 20)])
async def test_a_restore_of_all_parts_is_whole_or_nothing(tmp_path: Path, phase: str, step: int, least: int) -> None:
    async with small_timeline_setup(tmp_path) as (here, disk):
        target = await broken(here)
        waited = 0
        for at in range(1, 1000, step):
            conversation = Conversation() if phase == "restore" else Refusing(disk)
            error: HdspAgentError | None = None
            with disk.filling_up(at):
                if phase == "restore":
                    disk.count()
                try:
                    await here.line.restore(target, EVERYTHING, conversation=conversation)
                except HdspAgentError as raised:
                    error = raised
            half = await here.line.interrupted()
            if error is None:
                assert half is None and await is_whole(here) and conversation.done == ["back"], at
                await here.line.undo()
            else:
                said = "The conversation is gone" in error.message and phase == "roll back"
                assert said or NO_ROOM.search(error.message), (at, error.message)
                assert (half is not None) == ("could not be rolled back completely" in error.message), (
                    at,
                    error.message,
                )
                assert conversation.done in ([], ["back", "put back mark1"]), at
            if half is not None:
                waited += 1
                await here.another_line().recover("roll_back")
            assert await is_broken(here), at
            await here.line.restore(target, EVERYTHING)
            assert await is_whole(here), at
            await here.line.undo()
            if not disk.is_full:
                break
        assert least <= at < 990
        assert_sound(here.store_dir, leftovers=True)
        assert waited or phase == "restore", "the way back always found room"


async def test_a_save_of_all_parts_is_whole_or_says_what_is_not_in_it(tmp_path: Path) -> None:
    async with small_timeline_setup(tmp_path) as (here, disk):
        target = await broken(here)
        failed = 0
        for at in range(1, 1000, rounds(11, 4)):
            await here.edit("two", here.sources[1], f"b = {at}")
            (here.root / "data.csv").write_text(f"{at}\n" * 3000, "utf-8")
            await here.run(f"value.append({at})")
            now = here.sources, here.csv, await here.value("value")
            with disk.filling_up(at):
                disk.count()
                try:
                    record = await here.save("full", by="agent", code="thorough")
                    assert all(NO_ROOM.search(one.why) for one in record.left_out), record.left_out
                    assert len(record.left_out) + len(record.notebooks) + len(record.variables) == 2
                except HdspAgentError as error:
                    failed += 1
                    assert NO_ROOM.search(error.message), error.message
            assert await here.line.interrupted() is None and (await here.line.view()).operations
            again = await here.save("room", by="agent", code="thorough")
            assert again.notebooks and again.variables and not again.left_out, at
            assert (here.sources, here.csv, await here.value("value")) == now, at
            assert_sound(here.store_dir, leftovers=True)
            await here.line.restore(target, EVERYTHING)
            assert await is_whole(here), at
            await here.line.restore(again.id, EVERYTHING)
            assert (here.sources, here.csv, await here.value("value")) == now, at
            if not disk.is_full:
                break
        assert failed and 15 <= at < 990
