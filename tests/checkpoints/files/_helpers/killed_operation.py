"""Kills a save, a restore, a recovery or a collection at each of its calls to the system, and looks at what is left.

Run as ``python -m tests.checkpoints.files._helpers.killed_operation FOLDER save|restore|recover|collect STEP``; prints what went wrong as JSON.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from hdsp_agent.checkpoints import FileLimits
from hdsp_agent.checkpoints.files.file_checkpoints import Anchor, FileCheckpoints, Selection

from ..test_restoring import usual, wreck
from .workspace_fixtures import Picture, assert_sound, picture, write

CALLS = (
    "write", "fsync", "fdatasync", "rename", "replace", "link", "symlink", "unlink", "mkdir", "rmdir", "chmod", "utime",
    "ftruncate",
)  # fmt: skip
LARGE = "large.bin"
FEW = FileLimits(checkpoints=2, kept_checkpoints=2, file_bytes=50_000)
MANY = FileLimits(file_bytes=50_000)


def dying(at: int, *others: tuple[type, str]) -> None:
    """Let this process die at its nth call that changes something on a disk, calls of these methods included."""
    calls = 0

    def wrap(original: Callable[..., object]) -> Callable[..., object]:
        def call(*arguments: object, **options: object) -> object:
            nonlocal calls
            calls += 1
            if calls == at:
                os.kill(os.getpid(), signal.SIGKILL)
            return original(*arguments, **options)

        return call

    for owner, name in (*((os, name) for name in CALLS), *others):
        setattr(owner, name, wrap(getattr(owner, name)))


def in_child(at: int, work: Callable[[], object]) -> bool:
    """Do the work in a process that dies at its nth call; whether it lived."""
    child = os.fork()
    if child == 0:
        try:
            dying(at)
            work()
            os._exit(0)
        except BaseException as error:  # noqa: BLE001 -- all the parent hears of it
            os.write(2, f"{type(error).__name__}: {error}\n".encode())
            os._exit(1)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) != 0:
        raise AssertionError(f"the operation failed by itself at {at}")
    return os.WIFEXITED(status)


class Scenario:
    """A workspace with two states and everything that is to be true of it."""

    def __init__(self, folder: Path) -> None:
        self.root, self.store_dir = folder / "workspace", folder / "home" / "checkpoints"
        self.root.mkdir()
        usual(self.root)
        write(self.root, {LARGE: b"1" * 60_000})
        files = self.open()
        self.before: Picture = picture(self.root)
        self.first = files.save("before", "person", Anchor()).id
        wreck(self.root)
        write(self.root, {LARGE: b"2" * 60_000})
        self.after: Picture = picture(self.root)
        self.second = files.save("after", "agent", Anchor()).id
        self.wrong: list[str] = []

    def open(self, limits: FileLimits = MANY) -> FileCheckpoints:
        """As another process would."""
        files = FileCheckpoints(self.root, self.store_dir, limits)
        files.touch([LARGE])
        return files

    def check(self, what: str, holds: bool) -> None:
        """Note what does not hold."""
        if not holds:
            self.wrong.append(what)

    def look(self, at: int) -> None:
        """After a death: the workspace is in one of its two states, and every checkpoint can be read."""
        files = self.open()
        half = files.interrupted()
        if half is not None:
            files.recover("roll_back")
            self.check(f"{at}: rolled back to something else", picture(self.root) == self.after)
        there = picture(self.root)
        self.check(f"{at}: between two states", there in (self.before, self.after))
        self.check(f"{at}: still interrupted", self.open().interrupted() is None)
        states = [(self.first, self.before), (self.second, self.after)]
        if at % 10 == 0:
            assert_sound(self.store_dir, leftovers=True)
        for target, expected in states if at % 10 == 0 else states[1:]:
            self.open().restore(target, Selection(overwrite_all=True))
            self.check(f"{at}: {target} cannot be restored", picture(self.root) == expected)


def killed_restore(scenario: Scenario, at: int) -> bool:
    lived = in_child(at, lambda: scenario.open().restore(scenario.first, Selection()))
    scenario.look(at)
    return lived


def killed_recovery(scenario: Scenario, at: int) -> bool:
    # Half a restore first, then its recovery dies too.
    # What a recovery that died had rolled back counts as the person's: better asked about once too often.
    in_child(100, lambda: scenario.open().restore(scenario.first, Selection(overwrite_all=True)))
    if scenario.open().interrupted() is None:
        raise AssertionError("the restore did not die half way")
    lived = in_child(at, lambda: scenario.open().recover("roll_back"))
    scenario.look(at)
    return lived


def killed_save(scenario: Scenario, at: int) -> bool:
    write(scenario.root, {"more/new.txt": f"{at}", "README.md": f"{at}", LARGE: f"{at}" * 60_000})
    now = picture(scenario.root)
    lived = in_child(at, lambda: scenario.open().save("killed", "agent", Anchor()))
    scenario.check(f"{at}: a save changed the workspace", picture(scenario.root) == now)
    saved = scenario.open().save("again", "agent", Anchor())
    scenario.open().restore(scenario.second, Selection(overwrite_all=True))
    scenario.look(at)
    scenario.open().restore(saved.id, Selection(overwrite_all=True))
    scenario.check(f"{at}: what was saved afterwards is not whole", picture(scenario.root) == now)
    scenario.open().restore(scenario.second, Selection(overwrite_all=True))
    return lived


def killed_collection(scenario: Scenario, at: int) -> bool:
    files = scenario.open()
    for number in range(3):
        write(scenario.root, {"more.txt": f"{at} {number}", LARGE: f"{at} {number}" * 20_000})
        kept = files.save("more", "agent", Anchor()).id
    now = picture(scenario.root)
    lived = in_child(at, lambda: scenario.open(FEW).collect())
    assert_sound(scenario.store_dir, leftovers=True)
    (scenario.root / "more.txt").unlink()
    scenario.open().restore(kept, Selection(overwrite_all=True))
    scenario.check(f"{at}: the newest is not whole", picture(scenario.root) == now)
    return lived


KINDS: dict[str, Callable[[Scenario, int], bool]] = {
    "restore": killed_restore,
    "recover": killed_recovery,
    "save": killed_save,
    "collect": killed_collection,
}


def main() -> None:
    """Die once at each call, or at each so many."""
    scenario = Scenario(Path(sys.argv[1]))
    for at in range(1, 1000, int(sys.argv[3])):
        if KINDS[sys.argv[2]](scenario, at):
            break
    print(json.dumps({"wrong": scenario.wrong, "calls": at - 1}))


if __name__ == "__main__":
    main()
