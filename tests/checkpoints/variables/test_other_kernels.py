"""Kernels of another Python and of another pandas: real ones, that keep their own variables and are refused those of others.

Both are installed for it; that a store which says so is refused is in ``test_restoring``.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path

import pytest

from hdsp_agent.checkpoints.variables import VariableCheckpoints, VariableStore
from hdsp_agent.errors import Unsupported

from ...notebooks.kernels._helpers.executors import HeadlessExecutor, headless_executor, text_of
from ._helpers.kernel_fixtures import KEY

OURS, THEIRS = "ours.ipynb", "theirs.ipynb"
MADE = (
    "import sys, functools\n"
    "class Point:\n    kind = 'p'\n    def __init__(self, x): self.x = x\n"
    "rate = 3\ndef scaled(x): return x * rate\n"
    "points = [Point(n) for n in range(3000)]; alias = points; deep = {'k': [1, {2}, (3, [4])]}; lock = functools.partial(scaled, 2)"
)
CHANGED = "points[5].x = -1; deep['k'].append('more'); Point.kind = 'q'\ndef scaled(x): return 0"
TOLD = "points[5].x, Point.kind, scaled(2), lock(), deep, alias is points, isinstance(points[0], Point)"


class Pair:
    """Our own kernel and another one, on one store."""

    def __init__(self, work: HeadlessExecutor, checkpoints: VariableCheckpoints) -> None:
        self.work = work
        self.checkpoints = checkpoints

    async def run(self, path: str, *codes: str) -> None:
        run = await self.work.run(*codes, path=path, kernel_name="python3" if path == OURS else "theirs")
        for cell in run.cells:
            assert cell.state == "ok", text_of(cell) or cell.error

    async def told(self, path: str, expression: str) -> str:
        cell = await self.work.cell(f"print({expression})", path=path, store_history=False)
        assert cell.state == "ok", cell.error
        return text_of(cell).strip()

    async def save(self, path: str) -> str:
        return (await self.checkpoints.capture(await self.work.executor.link(path))).id

    async def restore(self, path: str, target: str) -> None:
        await self.checkpoints.restore(target, await self.work.executor.link(path))


@asynccontextmanager
async def pair(
    root: Path, monkeypatch: pytest.MonkeyPatch, python: str, path: Path | None = None
) -> AsyncIterator[Pair]:
    """The other kernel runs with this Python, and finds this folder's packages first."""
    spec = root / "jupyter" / "kernels" / "theirs"
    spec.mkdir(parents=True)
    described = {
        "argv": [python, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": "theirs",
        "language": "python",
        "env": {"PYTHONPATH": str(path)} if path is not None else {},
    }
    (spec / "kernel.json").write_text(json.dumps(described), encoding="utf-8")
    monkeypatch.setenv("JUPYTER_PATH", str(root / "jupyter"))
    (root / "work").mkdir()
    async with headless_executor(root / "work") as work:
        yield Pair(work, VariableCheckpoints(VariableStore(root / "store", KEY)))


def another_python(root: Path) -> str:
    """One with a kernel, made for this test."""
    found: list[str] = []
    for minor in range(8, 15):
        if minor != sys.version_info.minor:
            found += [str(one) for one in Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/python")]
            found += [one] if (one := shutil.which(f"python3.{minor}")) is not None and "shims" not in one else []
    if not found:
        pytest.skip("there is no other Python here")
    made = root / "python"
    subprocess.run([found[-1], "-m", "venv", str(made)], check=True, capture_output=True)
    python = str(made / "bin" / "python")
    install(python, "ipykernel")
    return python


def install(python: str, *what: str) -> None:
    done = subprocess.run([python, "-m", "pip", "install", "-q", *what], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"{what[-1]} cannot be installed here: {done.stderr[-300:]}")


@pytest.mark.long
async def test_another_python_keeps_its_own_variables_and_is_refused_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with pair(tmp_path, monkeypatch, another_python(tmp_path)) as at:
        saved = {}
        for path in (OURS, THEIRS):
            await at.run(path, MADE)
            before = await at.told(path, TOLD)
            saved[path] = await at.save(path)
            await at.run(path, CHANGED)
            changed = await at.told(path, TOLD)
            assert changed != before
            await at.restore(path, saved[path])
            assert await at.told(path, TOLD) == before
            await at.work.executor.restart(path)
            await at.restore(path, saved[path])
            assert await at.told(path, TOLD) == before
        for path, other in ((OURS, THEIRS), (THEIRS, OURS)):
            await at.run(path, "rate = 7")
            with pytest.raises(Unsupported, match=r"were saved in CPython 3\.\d+, and this kernel is CPython 3\.\d+"):
                await at.restore(path, saved[other])
            assert await at.told(path, "rate, len(points)") == "7 3000"


@pytest.mark.long
async def test_another_pandas_is_refused_frames(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    major = int(version("pandas").partition(".")[0])
    install(sys.executable, "--target", str(tmp_path / "other"), "--no-deps", "pytz", f"pandas<{major}")
    async with pair(tmp_path, monkeypatch, sys.executable, tmp_path / "other") as at:
        for path in (OURS, THEIRS):
            await at.run(
                path, "import pandas as pd\ndf = pd.DataFrame({'a': range(5000), 's': ['x', 'y'] * 2500}); n = 1"
            )
        assert await at.told(OURS, "pd.__version__") != await at.told(THEIRS, "pd.__version__")
        theirs = await at.save(THEIRS)
        ours = await at.save(OURS)
        for path, own in ((OURS, ours), (THEIRS, theirs)):
            await at.run(path, "df['a'] = 0; n = 2")
            with pytest.raises(Unsupported, match=r"saved with pandas \d.*, and this kernel has pandas \d"):
                await at.restore(path, theirs if path == OURS else ours)
            assert await at.told(path, "int(df.a.sum()), n") == "0 2"
            await at.restore(path, own)
            assert await at.told(path, "int(df.a.sum()), ''.join(df.s[:3]), n") == "12497500 xyx 1"
