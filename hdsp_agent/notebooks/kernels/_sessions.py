"""Which kernel runs for a notebook: the one there is, or a new one."""

from __future__ import annotations

import asyncio
from weakref import WeakValueDictionary

from ...errors import NotFound
from ._ports import KernelPort, KernelSession, KernelSpec

__all__ = ["Sessions"]


class Sessions:
    """Finds sessions by path. Two runs that need a kernel for the same notebook at once start one."""

    def __init__(self, port: KernelPort) -> None:
        self._port = port
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def find(self, path: str) -> KernelSession | None:
        """The session of this notebook."""
        return next((one for one in await self._port.sessions() if one.path == path), None)

    async def require(self, path: str) -> KernelSession:
        """The session of this notebook, which must have one."""
        found = await self.find(path)
        if found is None:
            raise NotFound(f"No kernel runs for {path}. Start one, or run a cell.", path=path)
        return found

    async def ensure(self, path: str, kernel_name: str | None = None) -> KernelSession:
        """The session of this notebook; a kernel is started if there is none."""
        lock = self._locks.setdefault(path, asyncio.Lock())
        async with lock:
            if (found := await self.find(path)) is not None and await self._there(found):
                return found
            return await self._port.start_session(path, (await self.spec(kernel_name)).name)

    async def _there(self, session: KernelSession) -> bool:
        """A gateway's kernel may be gone while its session still stands in our list."""
        try:
            await self._port.alive(session.kernel_id)
        except NotFound:
            return False
        return True

    async def spec(self, name: str | None) -> KernelSpec:
        """The kernel of this name; an error that lists those there are, if there is none."""
        specs = await self._port.specs()
        wanted = name or self._port.default_spec
        if (found := specs.get(wanted)) is not None:
            return found
        there = ", ".join(f"{one.name} ({one.display_name})" for one in specs.values()) or "none"
        raise NotFound(
            f"There is no kernel {wanted!r} on this server. There are: {there}.", kernel=wanted, kernels=there
        )
