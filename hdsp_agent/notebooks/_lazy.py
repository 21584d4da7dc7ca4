"""Contents and kernels that are made when they are first needed: what runs them without a server takes long to import."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Generic, TypeVar, cast

from ._access import DiskPort
from .kernels import KernelPort, KernelSession

__all__ = ["Lazy", "lazy_contents", "lazy_kernels"]

T = TypeVar("T")


class Lazy(Generic[T]):
    """Something that is made once, on first use."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self.made: T | None = None

    def __call__(self) -> T:
        """It."""
        if self.made is None:
            self.made = self._make()
        return self.made


class _MadeOnUse(Generic[T]):
    """Has what it stands for made when it is asked for anything but ``known``, or ``before`` there is anything."""

    def __init__(self, lazy: Lazy[T], *, known: Mapping[str, object], before: Mapping[str, object]) -> None:
        self._lazy = lazy
        self._known = known
        self._before = before

    def __getattr__(self, name: str) -> object:
        if name in self._known:
            return self._known[name]
        if self._lazy.made is None and name in self._before:
            return self._before[name]
        return getattr(self._lazy(), name)


def lazy_contents(disk: Lazy[DiskPort], root: Path) -> DiskPort:
    """Contents whose ``root`` is this, as it was given."""
    return cast("DiskPort", _MadeOnUse(disk, known={"root": lambda: root}, before={}))


def lazy_kernels(port: Lazy[KernelPort]) -> KernelPort:
    """Kernels of which none runs before they are made."""
    before = {"sessions": _no_sessions, "life": lambda kernel_id: "", "close": _done}
    return cast("KernelPort", _MadeOnUse(port, known={}, before=before))


async def _no_sessions() -> list[KernelSession]:
    return []


async def _done() -> None:
    return None
