"""Two gigabytes that a program's cell puts out: bounded in memory, on the disk and in the answer, and told.

What Jupyter Server takes in by itself of every kernel is not counted. ``make test-long`` puts out all of them, every day it
is less.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import psutil
import pytest

from hdsp_agent.config import GlobalSettings
from hdsp_agent.notebooks.kernels._transport import LARGEST_MESSAGE

from ..._helpers.long_tests import rounds
from ...notebooks._helpers.headless import without_jupyters_own_ear
from ._helpers.program import program, text_of

pytestmark = [
    pytest.mark.filterwarnings("ignore:Passing unrecognized arguments:DeprecationWarning"),
    pytest.mark.timeout(1_800),
]

FREE: Final = GlobalSettings(client_approvals={"Claude Code": "everything"})
MEGABYTES: Final = rounds(768, 2_048)
MEGABYTE: Final = 1_048_576
PRINTS: Final = (
    "import sys\n"
    "print('the beginning')\n"
    "line = 'x' * (1_048_576 - 1) + '\\n'\n"
    f"for _ in range({MEGABYTES}): _ = sys.stdout.write(line)\n"
    "print('the end')"
)
SHOWS: Final = (
    "from IPython.display import HTML, display\n"
    f"for _ in range({MEGABYTES // 32}): display(HTML('x' * (32 * 1_048_576)))\n"
    "print('the end')"
)
RETURNS: Final = f"'x' * ({MEGABYTES} * 1_048_576)"


@asynccontextmanager
async def growth() -> AsyncIterator[list[int]]:
    """By how many bytes this process grew at most, once it is over."""
    process, most = psutil.Process(), [0]
    before = process.memory_info().rss

    async def watch() -> None:
        while True:
            most[0] = max(most[0], process.memory_info().rss - before)
            await asyncio.sleep(0.02)

    watching = asyncio.create_task(watch())
    try:
        yield most
    finally:
        watching.cancel()


def bytes_in(folder: Path) -> int:
    """What everything in it takes."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


@pytest.mark.in_short(1)
@pytest.mark.parametrize("source", [PRINTS, SHOWS, RETURNS], ids=["prints", "shows", "returns"])
async def test_what_a_cell_puts_out_is_bounded_and_told(tmp_path: Path, source: str) -> None:
    async with program(tmp_path, source, "1 + 1", settings=FREE, checkpoints=True) as claude:
        await claude.call("run_cells", path="a.ipynb", cells=["c2"])
        notebooks = claude.agent.manager.services.notebooks
        assert notebooks is not None
        await without_jupyters_own_ear(notebooks.executor, "a.ipynb")
        async with growth() as most:
            result = await claude.call("run_cells", path="a.ipynb", cells=["c1"], timeout=1_200)
        text = text_of(result)
        assert not result.is_error and any(words in text for words in ("is missing", "is not shown", "left out")), text
        # As the largest message is, as a text, and as it came.
        assert most[0] < 2.5 * LARGEST_MESSAGE < MEGABYTES * MEGABYTE
        assert bytes_in(tmp_path) < 60 * MEGABYTE
        assert (claude.agent.workspace / "a.ipynb").stat().st_size < 12 * MEGABYTE
        assert len(text) < 100_000 and len(str(result.structured)) < 100_000
        again = await claude.structured("run_cells", path="a.ipynb", cells=["c2"])
        assert again["cells"][0]["output"] == "2"
