"""A disk that is full in every phase: nothing is kept by halves, nothing is lost, and afterwards it goes on."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hdsp_agent.checkpoints.variables import VariableStore, user_key
from hdsp_agent.errors import StorageUnavailable

from ._helpers.kernel_fixtures import KEY, KernelSetup, kernel_setup

MADE = "import numpy as np\nclass Box:\n    kind = 'first'\nbox = Box(); big = np.arange(400_000); words = ['a']"
CHANGED = "Box.kind = 'second'; big[0] = 7; words.append('b'); later = 2"
TOLD = "(Box.kind, int(big[0]), words, 'later' in globals())"
FIRST = "('first', 0, ['a'], False)"
SECOND = "('second', 7, ['a', 'b'], True)"

KERNEL_CALLS = ("makedirs", "open", "fsync", "replace")
SERVER_CALLS = ("open", "fsync", "replace")

FULL = """exec('''
import errno, os, sys
runtime = sys.modules["_hdsp_agent_variables_runtime"]
class Full:
    def __getattr__(self, name):
        return self.refuse if name == {name!r} else getattr(os, name)
    def refuse(self, *arguments, **options):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
runtime._chunks.os = Full()
runtime.answers.chunks.held = {held}
''', {{}})"""
"""No space for the runtime's writes of one kind. ``held``: so many bytes wait already, so that it writes at once."""
ROOM = """exec('''
import os, sys
runtime = sys.modules["_hdsp_agent_variables_runtime"]
runtime._chunks.os, runtime.answers.chunks.held = os, 0
''', {})"""


class Full:
    """The store's ``os``, whose nth call of some name finds no space."""

    def __init__(self, name: str, at: int) -> None:
        self._name, self._left = name, at

    def __getattr__(self, name: str) -> object:
        if name != self._name:
            return getattr(os, name)
        self._left -= 1
        return self._refuse if self._left == 0 else getattr(os, name)

    @property
    def reached(self) -> bool:
        """Whether it found none."""
        return self._left <= 0

    def _refuse(self, *arguments: object, **options: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@contextmanager
def _full(name: str, at: int) -> Iterator[Full]:
    with pytest.MonkeyPatch.context() as patch:
        full = Full(name, at)
        patch.setattr("hdsp_agent.checkpoints.variables._variable_store.os", full)
        yield full


async def _looks_whole(at: KernelSetup, manifests: list[str], told: str) -> None:
    assert at.store.manifests() == manifests
    assert all(at.store.missing(at.store.load(one)) == 0 for one in manifests)
    assert list(at.store.folder.rglob("*.part")) == []
    assert await at.told(TOLD) == told


@pytest.mark.in_short(1)
@pytest.mark.parametrize("held", [0, 1_000_000_000], ids=["later", "at once"])
async def test_a_kernel_whose_disk_is_full_saves_all_or_nothing(tmp_path: Path, held: int) -> None:
    async with kernel_setup(tmp_path) as at:
        await at.run(MADE)
        first = await at.save()
        for name in KERNEL_CALLS:
            await at.run(CHANGED, f"big[1:] = np.random.default_rng({len(name)}).integers(0, 9, 399_999)")
            manifests = at.store.manifests()
            await at.work.cell(FULL.format(name=name, held=held), store_history=False)
            with pytest.raises(StorageUnavailable, match="there is no space left"):
                await at.save()
            # It would be undone by what cannot be saved.
            with pytest.raises(StorageUnavailable, match="there is no space left"):
                await at.restore(first)
            await at.work.cell(ROOM, store_history=False)
            await _looks_whole(at, manifests, SECOND)
            report = await at.restore(first)
            assert await at.told(TOLD) == FIRST
            await at.restore(report.before)
            assert await at.told(TOLD) == SECOND
            await at.restore(first)


@pytest.mark.in_short(1)
@pytest.mark.parametrize("name", SERVER_CALLS)
async def test_a_server_whose_disk_is_full_saves_and_restores_all_or_nothing(tmp_path: Path, name: str) -> None:
    async with kernel_setup(tmp_path) as at:
        await at.run(MADE)
        first = await at.save()
        await at.run(CHANGED)
        for what in ("save", "restore"):
            refused = 0
            while True:
                manifests = at.store.manifests()
                with _full(name, refused + 1) as full:
                    try:
                        await (at.save() if what == "save" else at.restore(first))
                    except StorageUnavailable as error:
                        assert "No space left" in str(error)
                        refused += 1
                if not full.reached:
                    break
                kept = at.store.manifests()
                await _looks_whole(at, kept, SECOND)
                assert set(kept) >= set(manifests)
            # A restore asks whether the kernel sees the store, and saves what would undo it.
            assert refused == {"save": 1, "restore": 2}[what]
        assert await at.told(TOLD) == FIRST


@pytest.mark.in_short(1)
@pytest.mark.parametrize("name", SERVER_CALLS)
async def test_dropping_checkpoints_on_a_full_disk_loses_no_other(tmp_path: Path, name: str) -> None:
    async with kernel_setup(tmp_path) as at:
        await at.run(MADE)
        first = await at.save()
        await at.run(CHANGED)
        second = await at.save()
        with _full(name, 1), pytest.raises(StorageUnavailable, match="No space left"):
            at.store.collect([second.id], spared_seconds=0)
        await _looks_whole(at, [second.id], SECOND)
        before = at.store.size()
        at.store.collect([second.id], spared_seconds=0)
        assert at.store.size() < before
        await at.run("big = words = box = None")
        await at.restore(second)
        assert await at.told(TOLD) == SECOND
        assert first.id not in at.store.manifests()


@pytest.mark.parametrize("name", ["fsync", "link"])
def test_a_key_that_finds_no_space_leaves_nothing_behind(tmp_path: Path, name: str) -> None:
    path = tmp_path / "keys" / "variables"
    with _full(name, 1), pytest.raises(StorageUnavailable, match="No space left"):
        user_key(path)
    assert list(path.parent.iterdir()) == []
    assert len(user_key(path)) == 32


def test_what_a_dead_server_was_writing_is_dropped_in_time(tmp_path: Path) -> None:
    store = VariableStore(tmp_path / "store", KEY)
    probe, _ = store.probe()
    left = [store.pieces / probe, store.folder / "manifests" / "a.json.1.part", store.folder / "epoch.2.part"]
    for path in left[1:]:
        path.write_bytes(b"half")
    store.collect([])
    assert all(path.exists() for path in left)
    store.collect([], spared_seconds=0)
    assert not any(path.exists() for path in left)
