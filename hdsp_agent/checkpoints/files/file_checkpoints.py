"""Saving, restoring and undoing, as whole operations under the store's lock. Everything here blocks.

The order of a save: objects into a pack on the disk, then the log's line; the refs are only for git. The order of a restore:
a save, the plan, everything staged, the line that it began, the changes, a look whether they are what was planned, the line
that it is done, and last the removal of what was kept for the way back. A crash anywhere leaves either no line, or a line
that says what to roll back to.
"""

from __future__ import annotations

import logging
import os
import secrets
import time
from collections.abc import Callable, Collection, Container, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final, Literal

from ...errors import Conflict, HdspAgentError, InvalidInput, StorageUnavailable
from ..failure_codes import Why, why_of
from .anchor import NOT_COUNTED, Anchor, Counted, says_nothing_new
from .attribution import State, changed_by_persons, changed_since_crash
from .checkpoint_store import CheckpointStore, store_folder_of
from .compare import file_changes
from .file_limits import FileLimits
from .file_names import NamedFile, from_text, named
from .file_views import CheckpointViews
from .folders import Folder, Node
from .garbage_collection import collect, wants_collection
from .git_objects import COMMIT, EMPTY_TREE, commit_text
from .records import (
    Author,
    Changed,
    CheckpointId,
    CheckpointRecord,
    FileRestorePlan,
    OperationRecord,
    RestoredParts,
    StoreStatistics,
)
from .restoration import Restoration
from .restore_steps import Choice, FilePlan, Selection, make_plan, named_files
from .undo import restore_to_undo
from .watcher import WorkspaceWatcher
from .workspace import PathsOf, Workspace

__all__ = ["INTERRUPTED", "NOT_COUNTED", "Anchor", "Counted", "FileCheckpoints", "Selection"]

_logger = logging.getLogger(__name__)
INTERRUPTED: Final = Why(code="interrupted")
"""Why a restore that a crash cut short came to no end."""
_BEFORE_RESTORE: Final = "before restore"
_ASKED_FOR: Final = "asked for"
_WORTH_COLLECTING: Final = 10
"""So many new checkpoints, and the store is looked at again."""


class FileCheckpoints:
    """The files of one workspace through time."""

    def __init__(self, workspace: Path, store_dir: Path, limits: FileLimits) -> None:
        self.limits = limits
        root = Path(os.path.realpath(workspace))
        folder = store_folder_of(store_dir, root)
        self._watching = WorkspaceWatcher(folder / "watch") if limits.watch else None
        self.workspace = Workspace(root, store_dir, limits, self._watching)
        self.store = CheckpointStore(folder, self.workspace.root, limits.lock_seconds)
        self.views = CheckpointViews(self.store, self.workspace.path)
        self._generation: int | None = None
        self._collected = (0, 0)

    def set_limits(self, limits: FileLimits) -> None:
        """Heed others: the next save looks at the workspace and the store again, whatever was too much before."""
        self.limits = limits
        self.workspace.set_limits(limits)
        self._collected = (-_WORTH_COLLECTING, 0)

    def touch(self, paths: Collection[str]) -> None:
        """Keep these files from now on even where not everything is kept: the agent is about to change them."""
        for path in paths:
            # The agent may change files elsewhere too; they are not this workspace's.
            with suppress(InvalidInput):
                self.workspace.touched.add(from_text(path, self.workspace.path))

    def save(
        self, reason: str, author: Author, anchor: Anchor, claims: Collection[str] | None = None
    ) -> CheckpointRecord:
        """Save the workspace. Without a change and without a new anchor this is the newest checkpoint again."""
        with self.store.changing():
            return self._save(reason, author, anchor, claims=claims, thorough=False)

    def plan(self, target: str, selection: Selection) -> FileRestorePlan:
        """What ``restore`` would do. Saves the workspace as it is, so the restore itself has nothing left to save."""
        with self.store.changing():
            record = self.store.log.checkpoint(target)
            self._save(_BEFORE_RESTORE, "person", Anchor(), self._paths_of(record))
            return self._plan(self._known(), record, selection).told(record.id)

    def restore(
        self,
        target: str,
        selection: Selection,
        *,
        undo_of: CheckpointId | None = None,
        parts: RestoredParts | None = None,
    ) -> OperationRecord:
        """Go back to a checkpoint; what the person changed since the newest one stays unless selected.

        With ``parts``, files are only the first of them: until ``end``, or ``recover``, the log says that it began.
        """
        with self.store.changing():
            self._refuse_while_interrupted()
            record = self.store.log.checkpoint(target)
            before = self._save(_BEFORE_RESTORE, "person", Anchor(), self._paths_of(record))
            plan = self._plan(self._known(), record, selection)
            here = self.workspace.path
            begun = OperationRecord(
                seq=self.store.log.next_seq(), id=secrets.token_hex(8), ts=_now_ms(),
                kind="restore" if undo_of is None else "undo", status="begun",
                target=record.id, before=before.id, undo_of=undo_of, kept=len(plan.conflicts),
                only=None if selection.only is None else named_files(selection.only, here),
                leave=named_files(selection.leave, here),
                overwrite=named_files(selection.overwrite, here), parts=parts,
            )  # fmt: skip
            return self._carry_out(begun, plan)

    def end(
        self, begun: OperationRecord, parts: RestoredParts, anchor: Anchor, notebooks: Collection[str] = ()
    ) -> OperationRecord:
        """All parts of a restore are done: record what the workspace is now. ``notebooks`` are the files of those whose
        cells it changed: what else is not as in the checkpoint somebody changed meanwhile."""
        with self.store.changing():
            log = self.store.log
            self._see_others()
            assert begun.target is not None
            more = self._paths_of(log.checkpoint(begun.target))
            record, root = self._record("after restore", "restore", anchor, more)
            record = record.model_copy(update={"claims": self._restored(begun, root, notebooks)})
            if log.operations[-1].seq != begun.seq:
                # Somebody saved meanwhile, and this is what the workspace is after that.
                log.append(
                    OperationRecord(seq=log.next_seq(), id=record.id, ts=record.ts, kind="save", checkpoint=record)
                )
            done = begun.model_copy(update={"status": "done", "checkpoint": record, "parts": parts})
            log.append(done)
            self._generation = log.generation
            self.store.write_refs()
            return done

    def undo(self, operation: CheckpointId | None, selection: Selection) -> OperationRecord:
        """Take a restore back; without an id, the newest that was not taken back yet."""
        with self.store.changing():
            found = restore_to_undo(self.store.log.operations, operation)
            assert found.before is not None
            if found.parts is not None and found.parts.beyond_files:
                raise Conflict(
                    "That restore also covered notebooks, variables or the conversation. Undo it in JupyterLab, or restore only "
                    "files from a checkpoint.",
                    operation=found.id,
                    why="beyond_files",
                )
            selection = replace(
                selection, leave=[*selection.leave, *(os.fsdecode(file.name()) for file in found.leave)]
            )
            if selection.only is None and found.only is not None:
                # What it did not touch it does not take back.
                selection = replace(selection, only=[os.fsdecode(file.name()) for file in found.only])
            return self.restore(found.before, selection, undo_of=found.id)

    def changed(self, old: CheckpointId, new: CheckpointId, counted: Counted) -> Changed:
        """How many files differ between two checkpoints, with what was counted besides."""
        with self.store.reading():
            before, after = self.store.log.checkpoint(old), self.store.log.checkpoint(new)
            return self._changed(self.store.node(before), self.store.node(after), counted)

    def interrupted(self) -> OperationRecord | None:
        """A restore that a crash cut short: ask the person, then ``recover``. Until then nothing can be restored."""
        # One that is just under way in another process looks the same in the log; whoever does it holds the lock.
        if not self.store.seems_interrupted():
            return None
        with self.store.changing():
            return self.store.log.interrupted

    def recover(
        self,
        choice: Literal["roll_back", "keep"],
        *,
        leave: Sequence[str] = (),
        mend: Sequence[str] = (),
        error: str = "interrupted",
        why: Why | None = INTERRUPTED,
    ) -> OperationRecord | None:
        """Roll a half restore back, or keep the workspace as it is now. None if there is none.

        ``leave`` are files that are rolled back in another way, ``mend`` such as could not be: they are put back whatever
        they are now. ``error`` and ``why`` say why.
        """
        with self.store.changing():
            half = self.store.log.interrupted
            if half is None:
                return None
            if choice == "keep":
                self._end_interrupted("left", error, why)
                return half.model_copy(update={"status": "left"})
            return self._roll_back_half(half, leave, mend, error, why)

    def wait(self) -> None:
        """Come back when nothing of this process is under way, and let the system watch no longer."""
        self.store.wait()
        if self._watching is not None:
            self._watching.stop()

    def statistics(self) -> StoreStatistics:
        """What the checkpoints take."""
        with self.store.changing():
            records = list(self.store.log.checkpoints.values())
            half = self.store.log.interrupted
            packs = self.store.repository.packs
            return StoreStatistics(
                checkpoints=len(records), states=len({record.commit for record in records}),
                bytes=self.store.repository.size(),
                quota_bytes=self.limits.quota_bytes, packs=len(packs.paths()),
                oldest_ts=records[0].ts if records else None, newest_ts=records[-1].ts if records else None,
                scope=records[-1].scope if records else None,
                scope_reason=records[-1].scope_reason if records else None,
                interrupted=half.id if half else None, wants_gc=wants_collection(self.store, self.limits),
            )  # fmt: skip

    def collect(self, listeners: Sequence[Callable[[Sequence[OperationRecord]], None]] = ()) -> StoreStatistics:
        """Bring the store within its limits; the listeners drop what belongs to no operation that stays."""
        with self.store.changing():
            if collect(self.store, self.limits):
                # It may name objects that were dropped.
                self.workspace.known = None
            for listener in listeners:
                listener(self.store.log.operations)
            statistics = self.statistics()
            self._collected = (statistics.states, statistics.bytes)
            return statistics

    def wants_collection(self) -> bool:
        """Whether the store is beyond its limits, and has grown since that was last seen to."""
        with self.store.reading():
            states, size = self._collected
            grown = (
                len(self.store.log.checkpoints) >= states + _WORTH_COLLECTING
                or self.store.repository.size() > 1.1 * size
            )
            return grown and wants_collection(self.store, self.limits)

    def _roll_back_half(
        self, half: OperationRecord, leave: Sequence[str], mend: Sequence[str], error: str, why: Why | None
    ) -> OperationRecord:
        assert half.before is not None and half.target is not None
        log, loader = self.store.log, self.store.loader
        before, target = log.checkpoint(half.before), log.checkpoint(half.target)
        here = self._save("after a crash", "person", Anchor(), self._paths_of(before))
        now = self._known()
        aims = {
            change.path: change for change in file_changes(self.store.node(before), self.store.node(target), loader)
        }
        persons = changed_since_crash(now, self.store.node(before), aims, loader)
        root = self.workspace.path
        mended = {from_text(path, root) for path in mend}
        only = None if half.only is None else {file.name() for file in half.only} | mended
        left = {from_text(path, root) for path in leave} - mended
        plan = make_plan(now, self.store.node(before), loader, persons, Choice(only, left, mended), self._largest())
        recovery = OperationRecord(
            seq=log.next_seq(), id=secrets.token_hex(8), ts=_now_ms(), kind="recovery", status="begun",
            target=before.id, before=here.id, undo_of=half.id, kept=len(plan.conflicts),
        )  # fmt: skip
        # The half restore stays open until this is done.
        done = self._carry_out(recovery, plan)
        self._end_interrupted("rolled_back", error, why)
        return done

    def _end_interrupted(self, status: Literal["rolled_back", "left"], error: str, why: Why | None) -> None:
        """Close the half restore, last of all, and before it any recovery of it that was cut short as well."""
        for half in reversed([one for one in self.store.log.operations if one.status == "begun"]):
            self.store.log.append(half.model_copy(update={"status": status, "error": error, "error_why": why}))
        self.store.clear_leftovers()

    def _carry_out(self, begun: OperationRecord, plan: FilePlan) -> OperationRecord:
        restoration = Restoration(self.workspace.path, begun.id, plan.steps, self.store.repository, self.store.loader)
        try:
            return self._carry_out_with(restoration, begun, plan)
        finally:
            restoration.close()

    def _carry_out_with(self, restoration: Restoration, begun: OperationRecord, plan: FilePlan) -> OperationRecord:
        restoration.preflight()
        self.store.note_restore(begun.id, restoration.leftovers())
        try:
            restoration.stage()
            self.store.log.append(begun)
        except BaseException:
            restoration.roll_back()
            self.store.clear_leftovers()
            raise
        try:
            restoration.commit()
            checkpoint = self._result_of(begun, plan)
            restoration.check_unchanged()
            done = begun.model_copy(
                update={
                    "status": "done", "checkpoint": checkpoint, "written": _count(plan, "write"),
                    "deleted": _count(plan, "delete"),
                }
            )  # fmt: skip
            if begun.parts is not None:
                # What it led to is known when the other parts are done as well.
                done = done.model_copy(update={"status": "begun", "checkpoint": None})
            self.store.log.append(done)
        except BaseException as error:
            self._roll_back(begun, restoration, error)
            raise
        # What a half restore left goes when that is closed.
        if restoration.finish() and begun.kind != "recovery":
            self.store.forget_restore()
        self.store.write_refs()
        return done

    def _roll_back(self, begun: OperationRecord, restoration: Restoration, error: BaseException) -> None:
        failed = restoration.roll_back()
        if failed:
            # The half restore stays in the log: whoever looks next is offered to roll it back from the store.
            raise HdspAgentError(
                "A restore failed and could not be rolled back completely: "
                f"{'; '.join(failed[:3])}. Fix that, then roll back the restore.",
                operation=begun.id,
                details="; ".join(failed[:3]),
                why="not_put_back",
            ) from error
        self.store.clear_leftovers()
        text = error.message if isinstance(error, HdspAgentError) else type(error).__name__
        why = why_of(error) if isinstance(error, HdspAgentError) else None
        self.store.log.append(begun.model_copy(update={"status": "rolled_back", "error": text, "error_why": why}))

    def _result_of(self, begun: OperationRecord, plan: FilePlan) -> CheckpointRecord:
        """Look at the workspace again, and record it; raises if it is not what was planned."""
        # Touched files include those just restored, or the result would know nothing of them.
        paths = [step.path for step in plan.steps]
        record, root = self._record("after restore", "restore", Anchor(), paths, paths)
        contents = self.store.loader.contents
        wrong = next((step.path for step in plan.steps if not step.is_done(root, contents)), None)
        if wrong is not None:
            text, _ = named(wrong)
            raise Conflict(
                f"{text} changed during the restore. Everything was rolled back. Try again.",
                path=text,
                why="changed_meanwhile",
            )
        return record

    def _save(
        self,
        reason: str,
        author: Author,
        anchor: Anchor,
        more: Collection[bytes] = (),
        claims: Collection[str] | None = None,
        *,
        thorough: bool = True,
    ) -> CheckpointRecord:
        head = self.store.log.head
        self._see_others()
        record, root = self._record(reason, author, anchor, more, thorough=thorough)
        if author == "restore":
            half = self.store.log.interrupted
            record = record.model_copy(update={"claims": self._restored(half, root, claims or ())})
        elif claims is not None:
            record = record.model_copy(update={"claims": named_files(sorted(claims), self.workspace.path)})
        if head is not None and record.commit == head.commit and not anchor.always and says_nothing_new(record, head):
            return head
        self.store.log.append(
            OperationRecord(seq=self.store.log.next_seq(), id=record.id, ts=record.ts, kind="save", checkpoint=record)
        )
        self._generation = self.store.log.generation
        self.store.write_refs()
        return record

    def _see_others(self) -> None:
        """Another server may have packed the store anew: what is remembered may name objects that were dropped."""
        head = self.store.log.head
        if self.store.log.generation != self._generation:
            self.workspace.known = None
            self.store.loader.forget()
            self._generation = self.store.log.generation
        if head is not None and self.workspace.known is None:
            try:
                self.workspace.remember(self.store.node(head), self.store.loader)
            except StorageUnavailable as error:
                # What the agent names from here on is kept again.
                _logger.warning("Could not read which files the agent touched before: %s", error)

    def _record(
        self,
        reason: str,
        author: Author,
        anchor: Anchor,
        more: Collection[bytes],
        again: Collection[bytes] | None = None,
        *,
        thorough: bool = True,
    ) -> tuple[CheckpointRecord, Folder]:
        """Store the workspace and make a record of it, which is in no log yet."""
        head, now = self.store.log.head, _now_ms()
        before = self._as_known(head)
        writer = self.store.repository.writer()
        try:
            snapshot = self.workspace.snapshot(writer, self.store.loader, more, again, thorough=thorough)
            root = snapshot.root
            reason, anchor = anchor.as_kept(reason)
            same = head is not None and (head.tree, head.side) == (root.tree.hex(), root.side.hex())
            # One whose commit was lost is made anew, as is all else that was.
            same = same and head is not None and writer.has(bytes.fromhex(head.commit))
            parent = head.parent_commit if head is not None and same else head.commit if head is not None else None
            if head is not None and same:
                commit = head.commit
            else:
                parents = [] if parent is None else [bytes.fromhex(parent)]
                # Whoever may see the folder may have its history for git, but a person's note is theirs.
                title = reason if anchor.owner is None else _ASKED_FOR
                text = f"{title}\n" + (f"\nTask: {anchor.task_id}\n" if anchor.task_id else "")
                if root.tree == EMPTY_TREE:
                    writer.put_tree(b"")
                commit = writer.put(COMMIT, commit_text(root.tree, parents, now // 1000, text)).hex()
            writer.finish()
        except BaseException:
            writer.pack.abandon()
            # What they remember may name objects that were never stored.
            self.workspace.known = None
            self.store.loader.forget()
            raise
        record = CheckpointRecord(
            id=secrets.token_hex(8), parent=head.id if head else None, ts=now, reason=reason, commit=commit,
            parent_commit=parent, tree=root.tree.hex(), side=root.side.hex(), author=author, scope=snapshot.scope,
            scope_reason=snapshot.scope_reason, owner=anchor.owner, task_id=anchor.task_id, under_way=anchor.under_way,
            message_ts=anchor.message_ts,
            files=snapshot.files, bytes=snapshot.bytes,
            skipped=snapshot.skipped, notebooks=anchor.notebooks, variables=anchor.variables, left_out=anchor.left_out,
            changed=None if before is None else self._counted(before, root, anchor.counted),
        )  # fmt: skip
        return record, root

    def _as_known(self, record: CheckpointRecord | None) -> Node | None:
        """The workspace as a checkpoint has it, from memory if it is the one that was looked at last."""
        if record is None:
            return None
        node, known = self.store.node(record), self.workspace.known
        return known if known is not None and (known.tree, known.side) == (node.tree, node.side) else node

    def _counted(self, before: Node, now: Node, counted: Counted) -> Changed | None:
        """None where it cannot be said: a damaged checkpoint before this one is no reason not to make it."""
        try:
            return self._changed(before, now, counted)
        except StorageUnavailable as error:
            _logger.warning("Could not count what changed since the newest checkpoint: %s", error)
            return None

    def _changed(self, before: Node, now: Node, counted: Counted) -> Changed:
        told = {from_text(path, self.workspace.path) for path in counted.notebooks}
        files = sum(change.path not in told for change in file_changes(before, now, self.store.loader))
        return Changed(files=files, cells=counted.cells, variables=counted.variables)

    def _restored(self, done: OperationRecord | None, now: Folder, notebooks: Collection[str]) -> tuple[NamedFile, ...]:
        """The files that are as a restore made them; what else changed meanwhile is somebody's work."""
        names = {named(from_text(path, self.workspace.path)) for path in notebooks}
        if done is not None and done.before is not None and done.target is not None:
            log, loader = self.store.log, self.store.loader
            before, target = log.checkpoint(done.before), log.checkpoint(done.target)
            wanted = self.store.node(target)
            others = {change.path for change in file_changes(now, wanted, loader)}
            aims = (change.path for change in file_changes(self.store.node(before), wanted, loader))
            names.update(named(path) for path in aims if path not in others)
        return tuple(NamedFile(path=text, raw=raw) for text, raw in sorted(names, key=lambda name: name[0]))

    def _known(self) -> Folder:
        assert self.workspace.known is not None
        return self.workspace.known

    def _paths_of(self, record: CheckpointRecord) -> Collection[bytes]:
        """What must be looked at before this is restored, where not everything is."""
        return PathsOf(self.store.node(record), self.store.loader)

    def _plan(self, now: Folder, target: CheckpointRecord, selection: Selection) -> FilePlan:
        loader = self.store.loader
        persons: Container[bytes] = ()
        if not selection.overwrite_all:
            persons = changed_by_persons(self._states_since(target), now, loader)
        choice = selection.choice(self.workspace.path)
        return make_plan(now, self.store.node(target), loader, persons, choice, self._largest())

    def _largest(self) -> int:
        """How large a file may be that is about to be restored."""
        limits = self.limits
        cloned = 0 if self.store.repository.large.clones is False else limits.cloned_bytes
        return max(limits.file_bytes, limits.touched_file_bytes, cloned)

    def _states_since(self, target: CheckpointRecord) -> list[State]:
        records = list(self.store.log.checkpoints.values())
        first = next(number for number, record in enumerate(records) if record.id == target.id)
        return [
            State(
                self.store.node(record),
                record.author,
                None if record.claims is None else frozenset(file.name() for file in record.claims),
            )
            for record in records[first:]
        ]

    def _refuse_while_interrupted(self) -> None:
        half = self.store.log.interrupted
        if half is not None:
            raise Conflict(
                "An earlier restore was interrupted. Roll it back, or keep the files as they are now, then try again.",
                operation=half.id,
                why="cut_short",
            )


def _count(plan: FilePlan, kind: Literal["write", "delete"]) -> int:
    return sum(step.kind == kind for step in plan.steps)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
