"""Kernels that do not see the store: their variables come and go as messages."""

from __future__ import annotations

import os
from pathlib import Path
from threading import Event

import pytest

from hdsp_agent.checkpoints.variables import VariableCheckpoints, VariableLimits, VariableStore
from hdsp_agent.checkpoints.variables.runtime._chunks import Chunks
from hdsp_agent.checkpoints.variables.runtime._sent_pieces import SentPieces
from hdsp_agent.errors import Unsupported

from ._helpers.kernel_fixtures import KEY, KernelSetup, kernel_setup

BIG = "import random\nbig = random.Random(1).randbytes(9_000_000); words = ['a']; tied = words"


class StoreElsewhere(VariableStore):
    """What the kernel is told to look for is not there, as on another machine."""

    def probe(self) -> tuple[str, str]:
        name, word = super().probe()
        self.drop_probe(name)
        return name, word


def elsewhere(at: KernelSetup, root: Path, limits: VariableLimits | None = None) -> None:
    at.store = StoreElsewhere(root / "elsewhere", KEY)
    at.checkpoints = VariableCheckpoints(at.store, limits)


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the kernel keeps what it has not sent yet."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


async def test_variables_are_sent_and_come_back_also_after_a_restart(tmp_path: Path, temporary: Path) -> None:
    async with kernel_setup(tmp_path) as at:
        elsewhere(at, tmp_path)
        await at.checkpoints.follow(await at.link())
        await at.run(BIG)
        saved = await at.save()
        assert at.store.missing(saved) == 0 and at.store.size() > 9_000_000
        assert not [path for path in temporary.rglob("*") if path.is_file()]
        await at.run("words.append('b'); big = b'other'; later = 1")
        report = await at.restore(saved)
        assert set(report.loaded) == {"big", "words", "tied"} and report.removed == ("later",)
        made = "big == random.Random(1).randbytes(9_000_000), words, tied is words"
        assert await at.told(made) == "True ['a'] True"
        assert not [path for path in temporary.rglob("*") if path.is_file()]
        await at.restore(report.before)
        assert await at.told("big, words, later") == "b'other' ['a', 'b'] 1"
        # It removes its folder at its end, however busy this machine is.
        at.work.kernels.kernels.get_kernel(await at.work.kernel_id()).shutdown_wait_time = 60
        await at.restart()
        assert not list(temporary.glob("hdsp-agent-variables-*"))
        await at.restore(saved)
        assert await at.told(made) == "True ['a'] True"


async def test_what_is_too_large_to_be_sent_is_named_with_the_limit(tmp_path: Path) -> None:
    async with kernel_setup(tmp_path) as at:
        elsewhere(at, tmp_path, VariableLimits(sent_variable_bytes=1_000_000))
        await at.run(BIG)
        saved = await at.save()
        assert {name: one.why for name, one in saved.unsaved.items()} == {
            "big": "it is larger than the 1 MB a variable may have"
        }


async def test_what_nobody_fetched_does_not_pile_up(tmp_path: Path, temporary: Path) -> None:
    async with kernel_setup(tmp_path) as at:
        elsewhere(at, tmp_path, VariableLimits(sent_total_bytes=10_000_000))
        await at.checkpoints.follow(await at.link())
        for number in range(4):
            await at.run(f"import random\nbig = random.Random({number}).randbytes(6_000_000); same = 'x' * 2_000_000")
        saved = await at.save()
        assert at.store.missing(saved) == 0
        await at.run("big = 0; same = 0")
        await at.restore(saved)
        assert await at.told("big == random.Random(3).randbytes(6_000_000), len(same)") == "True 2000000"
        assert sum(path.stat().st_size for path in temporary.rglob("*") if path.is_file()) <= 12_000_000


def test_a_piece_that_is_being_written_is_not_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writes, go_on, is_written = Event(), Event(), Event()

    def slowly(handle: int) -> None:
        writes.set()
        assert go_on.wait(60)

    chunks = Chunks()
    sent = SentPieces(chunks)
    sent.folder = str(tmp_path)
    chunks.use(sent.folder, 1)
    value = memoryview(b"some bytes")
    [(mark, key)] = chunks.pieces(value)
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", slowly)
        chunks.keep(value, [(mark, key)], 1000)
        assert writes.wait(60) and sent.tidy(0)
        go_on.set()
        chunks.after(is_written.set)
        assert is_written.wait(60)
    assert chunks.failure is None and list(sent.read([key])) == [key]


async def test_a_kernel_without_a_temporary_folder_is_refused(tmp_path: Path) -> None:
    async with kernel_setup(tmp_path) as at:
        elsewhere(at, tmp_path)
        await at.run("import tempfile\ntempfile.tempdir = '/proc/nothing/here'\na = 1")
        with pytest.raises(Unsupported, match="for want of a temporary folder"):
            await at.save()
