"""What going back to a checkpoint takes: the steps, what is kept because the person made it, what cannot be done.

Two rules hold whatever is asked for. What is in no checkpoint now is never deleted or overwritten, and what the checkpoint
knows nothing of stays as it is. Everything here blocks.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from .compare import Difference, Skipped, State, differences, state_of
from .content_compare import Contents
from .file_names import NamedFile, from_text, joined, named
from .folders import FileEntry, Folder, FolderLoader, Node
from .records import CheckpointId, FileRestorePlan, PlannedChange

__all__ = ["Choice", "FilePlan", "Selection", "Step", "make_plan", "named_files"]

_WORTH_TELLING: Final = frozenset(("too_large", "budget", "unreadable", "changing", "special"))
"""Reasons for which something new that stays is mentioned; that a package was installed since is no news."""


class _AllFiles(Container[bytes]):
    """Has every path."""

    def __contains__(self, path: object) -> bool:
        return True


@dataclass(frozen=True)
class Choice:
    """What of a checkpoint is wanted."""

    only: Collection[bytes] | None = None
    """These files and what is below these folders; None for everything."""
    leave: Collection[bytes] = ()
    """Not these, which are restored in another way or not at all."""
    overwrite: Container[bytes] = ()
    """Of what the person changed, these are not kept."""

    def wants(self, path: bytes) -> bool:
        """Whether the path may be changed."""
        return (self.only is None or _is_below(path, self.only)) and not _is_below(path, self.leave)

    def wants_all_below(self, path: bytes) -> bool:
        """Whether everything below the path may be changed."""
        return self.wants(path) and not any(left.startswith(path + b"/") for left in self.leave)


@dataclass(frozen=True)
class Selection:
    """What of a checkpoint to restore, as paths absolute or relative to the workspace."""

    only: Sequence[str] | None = None
    leave: Sequence[str] = ()
    overwrite: Sequence[str] = ()
    overwrite_all: bool = False

    def choice(self, root: bytes) -> Choice:
        """The same as paths within the workspace."""
        overwrite: Container[bytes] = _AllFiles()
        if not self.overwrite_all:
            overwrite = {from_text(path, root) for path in self.overwrite}
        only = None if self.only is None else {from_text(path, root) for path in self.only}
        return Choice(only, {from_text(path, root) for path in self.leave}, overwrite)


def named_files(paths: Sequence[str], root: bytes) -> tuple[NamedFile, ...]:
    """These paths as the log has them."""
    pairs = (named(from_text(path, root)) for path in paths)
    return tuple(NamedFile(path=text, raw=raw) for text, raw in pairs)


@dataclass(frozen=True)
class Step:
    """One change of the workspace."""

    kind: Literal["displace", "make_folder", "write", "attributes", "delete", "remove_folder", "folder_mode"]
    path: bytes
    now: FileEntry | Folder | None = None
    want: FileEntry | None = None
    mode: int = 0
    """Of a folder."""

    def is_done(self, root: Folder, contents: Contents) -> bool:
        """Whether this is how it is there now."""
        *parents, name = self.path.split(b"/")
        folder = root
        for part in parents:
            below = folder.folders.get(part)
            if not isinstance(below, Folder):
                return self.kind in ("delete", "remove_folder", "displace")
            folder = below
        found = folder.files.get(name)
        if self.kind in ("write", "attributes"):
            return found is not None and self.want is not None and found.same_bytes(self.want, contents)
        if self.kind == "make_folder":
            return name in folder.folders
        return self.kind != "delete" or (found is None and name not in folder.skips)


@dataclass
class FilePlan:
    """The steps, in the order of their paths."""

    steps: list[Step] = field(default_factory=list)
    conflicts: list[PlannedChange] = field(default_factory=list)
    left: list[PlannedChange] = field(default_factory=list)

    @property
    def bytes(self) -> int:
        """How much would be written."""
        return sum(step.want.size for step in self.steps if step.kind == "write" and step.want is not None)

    def told(self, target: CheckpointId) -> FileRestorePlan:
        """The plan as others see it."""
        changes = tuple(change for step in self.steps if (change := _told(step)) is not None)
        return FileRestorePlan(
            target=target, changes=changes, conflicts=tuple(self.conflicts), left=tuple(self.left), bytes=self.bytes
        )


def make_plan(
    now: Node, target: Node, loader: FolderLoader, persons: Container[bytes], choice: Choice, largest: int
) -> FilePlan:
    """Plan the way from ``now`` to ``target``; ``persons`` are the files that a person changed last. No file of more than
    ``largest`` bytes is written: it would be in no checkpoint, and nobody could take it back."""
    planner = _Planner(loader, persons, choice, largest)
    for difference in differences(now, target, loader):
        planner.add(difference)
    return planner.plan


class _Planner:
    def __init__(self, loader: FolderLoader, persons: Container[bytes], choice: Choice, largest: int) -> None:
        self.plan = FilePlan()
        self._loader = loader
        self._persons = persons
        self._choice = choice
        self._largest = largest

    def add(self, difference: Difference) -> None:
        path, now, want = difference.path, difference.old, difference.new
        if want == "unknown" or now == "unknown":
            return
        if isinstance(now, Skipped) or isinstance(want, Skipped):
            self._cannot(path, now, want)
        elif isinstance(want, FileEntry):
            self._to_file(path, now, want)
        elif isinstance(want, Folder):
            self._to_folder(path, now, want)
        else:
            self._to_nothing(path, now)

    def _cannot(self, path: bytes, now: State, want: State) -> None:
        """At one of the two checkpoints it was left out, so nothing can be said about it."""
        reason = now.reason if isinstance(now, Skipped) else want.reason if isinstance(want, Skipped) else ""
        if isinstance(now, Skipped) and isinstance(want, Skipped):
            return
        known = isinstance(want, (FileEntry, Folder)) or isinstance(now, (FileEntry, Folder))
        if (known or reason in _WORTH_TELLING) and self._choice.wants(path):
            self._leave(path, reason, now if isinstance(want, Skipped) else want)

    def _to_file(self, path: bytes, now: State, want: FileEntry) -> None:
        if not self._choice.wants(path):
            return
        if isinstance(now, FileEntry):
            if now.same_bytes(want, self._loader.contents):
                if now.mode == want.mode or self._may_change(path, "attributes", want):
                    self.plan.steps.append(Step("attributes", path, now, want))
            elif self._can_keep(path, want) and self._may_change(path, "overwrite", want):
                self.plan.steps.append(Step("write", path, now, want))
        elif isinstance(now, Folder):
            if self._can_keep(path, want) and self._may_displace(path, now, want):
                self.plan.steps += [Step("displace", path, now), Step("write", path, None, want)]
        elif self._can_keep(path, want) and self._may_change(path, "create", want):
            self.plan.steps.append(Step("write", path, None, want))

    def _to_folder(self, path: bytes, now: State, want: Folder) -> None:
        if isinstance(now, Folder):
            if self._choice.wants(path):
                self.plan.steps.append(Step("folder_mode", path, now, mode=want.mode))
            return
        first: list[Step] = []
        if isinstance(now, FileEntry):
            if not self._choice.wants(path) or not self._may_change(path, "delete", now):
                return
            first = [Step("displace", path, now)]
        before, asked = len(self.plan.steps), len(self.plan.conflicts)
        self._fill(path, want)
        # A folder whose files all stay away, because the person deleted them, stays away as well.
        all_stay_away = len(self.plan.conflicts) > asked
        if first or len(self.plan.steps) > before or (self._choice.wants(path) and not all_stay_away):
            self.plan.steps[before:before] = [*first, Step("make_folder", path, mode=want.mode)]

    def _fill(self, path: bytes, want: Folder) -> None:
        for name in sorted({*want.files, *want.folders}):
            state = state_of(want, name, self._loader)
            if isinstance(state, FileEntry):
                self._to_file(joined(path, name), "absent", state)
            elif isinstance(state, Folder):
                self._to_folder(joined(path, name), "absent", state)

    def _to_nothing(self, path: bytes, now: State) -> None:
        if isinstance(now, FileEntry):
            if self._choice.wants(path) and self._may_change(path, "delete", now):
                self.plan.steps.append(Step("delete", path, now))
            return
        if not isinstance(now, Folder):
            return
        for name, reason in sorted(now.skips.items()):
            if reason in _WORTH_TELLING and self._choice.wants(path):
                self._leave(joined(path, name), reason, "absent")
        for name in sorted({*now.files, *now.folders}):
            self._to_nothing(joined(path, name), state_of(now, name, self._loader))
        if self._choice.wants(path):
            self.plan.steps.append(Step("remove_folder", path, now))

    def _may_change(
        self, path: bytes, action: Literal["create", "overwrite", "attributes", "delete"], entry: FileEntry
    ) -> bool:
        if path not in self._persons or path in self._choice.overwrite:
            return True
        self.plan.conflicts.append(_change(path, action, entry, conflict=True, reason="conflict"))
        return False

    def _can_keep(self, path: bytes, want: FileEntry) -> bool:
        """Whether the checkpoint after the restore would have it: limits may have been lowered since it was saved."""
        if want.size > self._largest:
            self._leave(path, "too_large", want)
            return False
        return True

    def _may_displace(self, path: bytes, now: Folder, want: FileEntry) -> bool:
        """Whether a whole folder may make room for a file: only if everything in it can be brought back."""
        if not self._choice.wants_all_below(path) or not self._is_whole(now):
            self._leave(path, "occupied", want)
            return False
        for name in self._paths(now, path):
            if name in self._persons and name not in self._choice.overwrite:
                self.plan.conflicts.append(_change(path, "overwrite", want, conflict=True, reason="conflict"))
                return False
        return True

    def _is_whole(self, folder: Folder) -> bool:
        return (
            folder.complete
            and not folder.skips
            and all(self._is_whole(self._loader.folder(below)) for below in folder.folders.values())
        )

    def _paths(self, folder: Folder, path: bytes) -> Iterator[bytes]:
        yield from (joined(path, name) for name in folder.files)
        for name, below in folder.folders.items():
            yield from self._paths(self._loader.folder(below), joined(path, name))

    def _leave(self, path: bytes, reason: str, state: State) -> None:
        entry = state if isinstance(state, (FileEntry, Folder)) else None
        self.plan.left.append(_change(path, "leave", entry, reason=reason))


def _told(step: Step) -> PlannedChange | None:
    if step.kind == "displace":
        return None
    if step.kind == "write":
        return _change(step.path, "create" if step.now is None else "overwrite", step.want)
    if step.kind == "folder_mode":
        return _change(step.path, "attributes", Folder(step.mode))
    if step.kind in ("make_folder", "remove_folder"):
        return _change(step.path, step.kind, Folder(step.mode))
    return _change(step.path, step.kind, step.want or step.now)


def _change(
    path: bytes,
    action: Literal["create", "overwrite", "attributes", "delete", "make_folder", "remove_folder", "leave"],
    entry: FileEntry | Folder | None,
    *,
    conflict: bool = False,
    reason: str | None = None,
) -> PlannedChange:
    text, raw = named(path)
    kind: Literal["file", "link", "folder"] = "file"
    if isinstance(entry, Folder):
        kind = "folder"
    elif entry is not None and entry.is_link:
        kind = "link"
    size = entry.size if isinstance(entry, FileEntry) and action != "delete" else 0
    return PlannedChange(path=text, raw=raw, action=action, kind=kind, size=size, conflict=conflict, reason=reason)


def _is_below(path: bytes, folders: Collection[bytes]) -> bool:
    if not folders:
        return False
    if path in folders or b"" in folders:
        return True
    return any(path[:at] in folders for at in range(len(path)) if path[at] == 47)
