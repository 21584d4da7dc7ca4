"""Notebooks of a folder with real kernels, as the command line has them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

from jupyter_server.services.kernels.kernelmanager import MappingKernelManager
from jupyter_server.services.sessions.sessionmanager import SessionManager

from hdsp_agent.notebooks import Notebooks, TabPort
from hdsp_agent.notebooks.documents.contents import ContentsNotebooks
from hdsp_agent.notebooks.kernels import Executor, RunLimits
from hdsp_agent.notebooks.kernels.headless import HeadlessKernels
from hdsp_agent.notebooks.kernels.jupyter import JupyterKernels

__all__ = ["end_kernel", "headless_notebooks", "without_jupyters_own_ear"]


async def end_kernel(executor: Executor, path: str) -> None:
    """Shut a notebook's kernel down as JupyterLab's list of kernels does it."""
    port = executor._port
    assert isinstance(port, JupyterKernels)
    session = await executor._sessions.require(path)
    await cast("SessionManager", port._sessions).delete_session(session.id)


async def without_jupyters_own_ear(executor: Executor, path: str) -> None:
    """Jupyter Server listens itself to when a kernel was active, and so takes in all that it publishes; not from now on."""
    port = executor._port
    assert isinstance(port, JupyterKernels)
    session = await executor._sessions.require(path)
    cast("MappingKernelManager", port._kernels).stop_watching_activity(session.kernel_id)


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
