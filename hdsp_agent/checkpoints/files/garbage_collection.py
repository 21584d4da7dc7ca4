"""Keeping a store within its quota: drops the oldest checkpoints, and packs what is left anew. Everything here blocks.

The newest checkpoints and those that an undo needs are never dropped. A crash at any moment leaves a whole store: the new pack
comes first, then the log without the dropped lines, and the old packs and large files go last.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from .checkpoint_store import CheckpointStore
from .file_limits import FileLimits
from .folders import LARGE, parse_large
from .git_objects import EMPTY_TREE, TREE_MODE, ObjectId, parse_tree
from .records import CheckpointRecord, OperationRecord
from .undo import restores_in_force

__all__ = ["collect", "objects_of", "wants_collection"]

_MANY_PACKS: Final = 64
_SMALL_PACK: Final = 8_000_000
_WORTH_KEEPING: Final = 0.75


def wants_collection(store: CheckpointStore, limits: FileLimits) -> bool:
    """Whether something should be dropped or packed anew."""
    commits = {record.commit for record in store.log.checkpoints.values()}
    packs = store.repository.packs
    too_large = store.repository.size() > limits.quota_bytes
    return len(commits) > limits.checkpoints or too_large or len(packs.paths()) > _MANY_PACKS


def collect(store: CheckpointStore, limits: FileLimits) -> bool:
    """Bring the store within its limits. Returns whether it was packed anew. The caller holds the store's lock."""
    packs = store.repository.packs
    keep, needed = _choose(store, limits)
    operations = list(_staying(store.log.operations, keep))
    rewritten = [path for path, share in _shares(store, needed) if share < _WORTH_KEEPING]
    if len(packs.paths()) > _MANY_PACKS:
        # Damaged ones stay for whoever has a copy of them.
        whole = (path for path, _ in packs.contents())
        rewritten += [path for path in whole if path not in rewritten and path.stat().st_size < _SMALL_PACK]
    dropped = len(operations) < len(store.log.operations)
    if not rewritten and not dropped:
        # A save that died before its line may have left some.
        store.repository.large.drop_others(needed)
        return False
    writer = store.repository.writer().pack
    try:
        for oid in _in_packs(store, rewritten, needed):
            writer.add_entry(oid, packs.entry(oid)[1])
        fresh = writer.finish()
    except BaseException:
        writer.abandon()
        raise
    # Even if no line goes: another server sees by it that objects it remembers may be gone.
    store.log.rewrite(operations)
    store.write_refs()
    packs.refresh()
    store.repository.drop_packs([path for path in rewritten if path != fresh])
    store.repository.large.drop_others(needed)
    store.loader.forget()
    return True


def _choose(store: CheckpointStore, limits: FileLimits) -> tuple[set[str], set[ObjectId]]:
    """The commits that stay, and all objects they need: newest first, until a limit is reached."""
    records = list(store.log.checkpoints.values())
    pinned = _pinned(store, records, limits)
    keep: set[str] = set()
    needed: set[ObjectId] = set()
    size, within = 0, True
    for record in reversed(records):
        if record.commit in keep:
            continue
        fresh = dict(objects_of(store, record, needed))
        within = within and len(keep) < limits.checkpoints and size + sum(fresh.values()) <= limits.quota_bytes
        if within or record.commit in pinned:
            keep.add(record.commit)
            needed.update(fresh)
            size += sum(fresh.values())
    return keep, needed


def _pinned(store: CheckpointStore, records: list[CheckpointRecord], limits: FileLimits) -> set[str]:
    pinned: set[str] = set()
    for record in reversed(records):
        if len(pinned) == limits.kept_checkpoints:
            break
        pinned.add(record.commit)
    wanted: list[str | None] = []
    for done in restores_in_force(store.log.operations).values():
        # Both ends: without the state it led to, a restore's line would go, and with it the way back.
        wanted += [done.before, done.checkpoint.id if done.checkpoint else None]
    half = store.log.interrupted
    if half is not None:
        wanted += [half.before, half.target]
    known = store.log.checkpoints
    return pinned | {known[name].commit for name in wanted if name is not None and name in known}


def _staying(operations: Sequence[OperationRecord], keep: set[str]) -> Iterator[OperationRecord]:
    """What led to a checkpoint that stays, and what failed since the oldest of them."""
    oldest = min((done.seq for done in operations if done.checkpoint and done.checkpoint.commit in keep), default=0)
    for done in operations:
        if done.checkpoint is None:
            if done.seq >= oldest or done.status == "begun":
                yield done
        elif done.checkpoint.commit in keep:
            yield done


def objects_of(
    store: CheckpointStore, record: CheckpointRecord, seen: set[ObjectId], *, with_side: bool = True
) -> Iterator[tuple[ObjectId, int]]:
    """What a checkpoint needs and nobody has named yet, with the bytes it takes."""
    packs = store.repository.packs
    here: set[ObjectId] = set()
    commit, tree = bytes.fromhex(record.commit), bytes.fromhex(record.tree)
    if commit not in seen:
        yield commit, packs.packed_size(commit)
    folders = [(tree, False)] if tree != EMPTY_TREE or tree in packs else []
    if with_side:
        folders.append((bytes.fromhex(record.side), True))
    while folders:
        folder, is_side = folders.pop()
        if folder in seen or folder in here:
            continue
        here.add(folder)
        yield folder, packs.packed_size(folder)
        for mode, name, oid in parse_tree(packs.read(folder)):
            if mode == TREE_MODE:
                folders.append((oid, is_side))
            elif oid not in seen and oid not in here:
                here.add(oid)
                yield oid, packs.packed_size(oid)
                if is_side and name == LARGE:
                    yield from _large_files(store, oid, seen)


def _large_files(store: CheckpointStore, names: ObjectId, seen: set[ObjectId]) -> Iterator[tuple[ObjectId, int]]:
    for oid in parse_large(store.repository.packs.read(names)).values():
        if oid not in seen:
            yield oid, store.repository.large.size_of(oid)


def _shares(store: CheckpointStore, needed: set[ObjectId]) -> Iterator[tuple[Path, float]]:
    """Of each pack, which share of it is needed."""
    for path, sizes in store.repository.packs.contents():
        whole = sum(sizes.values()) or 1
        yield path, sum(size for oid, size in sizes.items() if oid in needed) / whole


def _in_packs(store: CheckpointStore, paths: list[Path], needed: set[ObjectId]) -> Iterator[ObjectId]:
    """The needed objects that only these packs have."""
    elsewhere: set[ObjectId] = set()
    here: list[ObjectId] = []
    for path, sizes in store.repository.packs.contents():
        if path in paths:
            here += [oid for oid in sizes if oid in needed]
        else:
            elsewhere.update(sizes)
    return (oid for oid in here if oid not in elsewhere)
