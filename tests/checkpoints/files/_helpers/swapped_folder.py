"""Restores again and again, and each time a folder becomes a link to elsewhere before another call to the system.

``python -m tests.checkpoints.files._helpers.swapped_folder FOLDER SWAPPED EACH``: SWAPPED is the folder in the workspace that is swapped, EACH
says before which calls: 1 before all in turn, 7 before every seventh. Prints how many calls there were, how the restores
ended, and what went wrong, as JSON.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

from hdsp_agent.checkpoints import FileLimits
from hdsp_agent.checkpoints.files.file_checkpoints import Anchor, FileCheckpoints, Selection
from hdsp_agent.checkpoints.files.restoration import Restoration
from hdsp_agent.errors import HdspAgentError

from .workspace_fixtures import Picture, picture, write

CALLS = frozenset(
    ("open", "os.rename", "os.link", "os.symlink", "os.remove", "os.rmdir", "os.mkdir", "os.chmod", "os.utime",
     "os.listdir", "os.scandir")
)  # fmt: skip
FILES = {"changed": "1", "deleted": "1", "sub/changed": "1", "sub/folder/in": "1", "mode": "1", "kind": "1"}


class Swap:
    """Hears of each call right before it is made; before the chosen one the folder is swapped."""

    def __init__(self, root: Path, name: str) -> None:
        self._folder, self._aside, self._elsewhere = (
            root / name,
            root.parent / "aside",
            root.parent / "elsewhere" / name,
        )
        self.calls, self.at, self.begun, self.done = 0, 0, False, False
        sys.addaudithook(self._hear)

    def begin(self, at: int) -> None:
        """Swap it before this call."""
        self.calls, self.at, self.begun, self.done = 0, at, True, False

    def pause(self) -> None:
        """Nothing is swapped from here on."""
        self.begun = False

    def end(self) -> None:
        """Put the folder back, or what the restore made of it."""
        if self.done:
            self._folder.unlink()
            self._aside.rename(self._folder)

    def _hear(self, event: str, arguments: tuple[object, ...]) -> None:
        if not self.begun or event not in CALLS:
            return
        self.calls += 1
        if self.calls >= self.at and not self.done and self._folder.is_dir():
            self.begun, self.done = False, True
            self._folder.rename(self._aside)
            self._folder.symlink_to(self._elsewhere)
            self.begun = True


def _first_state(root: Path) -> None:
    write(root, {f"dir/{name}": content for name, content in FILES.items()})
    write(root, {"dir/sub/large": b"1" * 20_000})
    (root / "dir" / "link").symlink_to("changed")
    (root / "dir" / "mode").chmod(0o640)


def _second_state(root: Path) -> None:
    write(root, {"dir/changed": "2", "dir/added": "2", "dir/sub/changed": "2", "dir/sub/large": b"2" * 20_000})
    (root / "dir" / "deleted").unlink()
    shutil.rmtree(root / "dir" / "sub" / "folder")
    (root / "dir" / "mode").chmod(0o600)
    (root / "dir" / "link").unlink()
    (root / "dir" / "link").symlink_to("added")
    (root / "dir" / "kind").unlink()
    write(root, {"dir/kind/inner": "2", "dir/more/inner": "2"})
    (root / "dir" / "sub").chmod(0o750)


class Scenario:
    """A workspace with two states, and elsewhere the same files, which are not to be touched."""

    def __init__(self, folder: Path, swapped: str) -> None:
        self.root, self._elsewhere = folder / "workspace", folder / "elsewhere"
        self._store = folder / "home" / "checkpoints"
        for root in (self.root, self._elsewhere):
            _first_state(root)
        files = self._open()
        self._first = files.save("first", "person", Anchor()).id
        for root in (self.root, self._elsewhere):
            _second_state(root)
        self._second_picture: Picture = picture(self.root)
        self._untouched: Picture = picture(self._elsewhere)
        files.save("second", "agent", Anchor())
        shutil.copytree(folder / "home", folder / "kept", symlinks=True)
        self.swap = Swap(self.root, swapped)
        self._begin_at = 0
        preflight, close = Restoration.preflight, Restoration.close

        def begins(restoration: Restoration) -> None:
            if self._begin_at:
                self.swap.begin(self._begin_at)
            preflight(restoration)

        def ends(restoration: Restoration) -> None:
            self.swap.pause()
            close(restoration)

        Restoration.preflight, Restoration.close = begins, ends  # type: ignore[method-assign, assignment]  # to know when
        self.wrong: list[str] = []
        self.ended: dict[str, int] = {}

    def _open(self) -> FileCheckpoints:
        return FileCheckpoints(self.root, self._store, FileLimits(file_bytes=10_000, watch=False))

    def restore(self, at: int) -> bool:
        """Whether there were so many calls from its first look at what it is to change."""
        shutil.rmtree(self._store.parent)
        shutil.copytree(self._store.parent.with_name("kept"), self._store.parent, symlinks=True)
        files = self._open()
        self._begin_at = at
        ended = "done"
        try:
            files.restore(self._first, Selection())
        except (HdspAgentError, OSError) as error:
            ended = type(error).__name__
        finally:
            self._begin_at = 0
            self.swap.end()
        self.ended[ended] = self.ended.get(ended, 0) + 1
        if picture(self._elsewhere) != self._untouched:
            self.wrong.append(f"before call {at} of the restore, which ended as {ended}: something elsewhere changed")
            return False
        self._back(at, ended)
        return self.swap.done

    def _back(self, at: int, ended: str) -> None:
        later = self._open()
        if later.interrupted() is not None:
            later.recover("roll_back")
        elif ended == "done":
            later.undo(None, Selection(overwrite_all=True))
        if picture(self.root) != self._second_picture:
            self.wrong.append(f"before call {at} of the restore, which ended as {ended}: it is not as it was")


def main() -> None:
    """Until a restore has fewer calls than that."""
    scenario = Scenario(Path(sys.argv[1]), sys.argv[2])
    at, each = 1, int(sys.argv[3])
    while scenario.restore(at) and len(scenario.wrong) < 5:
        at += each
    print(json.dumps({"calls": at - each, "ended": scenario.ended, "wrong": scenario.wrong}))


if __name__ == "__main__":
    os.umask(0o022)
    main()
