"""Notebooks of a folder with real kernels, as the command line has them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from hdsp_agent.notebooks import Notebooks, TabPort
from hdsp_agent.notebooks.contents import ContentsNotebooks
from hdsp_agent.notebooks.kernels import RunLimits
from hdsp_agent.notebooks.kernels.headless import HeadlessKernels

__all__ = ["headless_notebooks"]


@asynccontextmanager
async def headless_notebooks(
    folder: Path, limits: RunLimits | None = None, tabs: TabPort | None = None
) -> AsyncIterator[Notebooks]:
    """The notebooks of this folder; their kernels end with the block."""
    headless = HeadlessKernels(folder)
    notebooks = Notebooks(
        ContentsNotebooks(headless.contents), headless.port, tabs=tabs, limits=lambda: limits or RunLimits()
    )
    try:
        yield notebooks
    finally:
        await notebooks.close()
        await headless.close()
