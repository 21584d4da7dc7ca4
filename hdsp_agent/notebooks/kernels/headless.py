"""Kernels without a server: Jupyter Server's own managers, built for one folder."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

from jupyter_client.kernelspec import KernelSpecManager
from jupyter_core.paths import jupyter_runtime_dir
from jupyter_core.utils import ensure_dir_exists
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager
from jupyter_server.services.kernels.kernelmanager import AsyncMappingKernelManager
from jupyter_server.services.sessions.sessionmanager import SessionManager

from .jupyter import JupyterKernels, until_settled

__all__ = ["HeadlessKernels"]

_log = logging.getLogger(__name__)
# Jupyter warns of every notebook that is not trusted, which concerns only pages that would show it.
_log.setLevel(logging.ERROR)


class HeadlessKernels:
    """Contents, kernels and sessions as a server would have them. Its kernels end with it."""

    def __init__(self, root: Path) -> None:
        folder = str(root.resolve())
        self.contents = AsyncLargeFileManager(root_dir=folder, log=_log)
        self.kernel_specs = KernelSpecManager()
        # Else the files with the kernels' ports and keys would lie in whatever folder the program was started in.
        runtime = jupyter_runtime_dir()
        ensure_dir_exists(runtime, mode=0o700)
        self.kernels = AsyncMappingKernelManager(  # type: ignore[no-untyped-call]  # Jupyter Server leaves it untyped
            root_dir=folder, kernel_spec_manager=self.kernel_specs, connection_dir=runtime
        )
        self.sessions = SessionManager(  # type: ignore[no-untyped-call]  # as above
            kernel_manager=self.kernels, contents_manager=self.contents
        )
        self.port = JupyterKernels(self.sessions, self.kernels, self.kernel_specs)

    async def close(self) -> None:
        """Shut all kernels down and give everything back."""
        await self.port.close()
        for kernel_id in self.kernels.list_kernel_ids():
            await until_settled(self.kernels.get_kernel(kernel_id))
        await self.kernels.shutdown_all(now=True)
        # Waits for the input/output thread of ZeroMQ.
        await asyncio.to_thread(self.kernels.context.destroy, 0)
        self.sessions.close()  # type: ignore[no-untyped-call]  # as above
        self.sessions.connection.close()
