"""Pieces to and from a kernel that does not see the store: as messages, in both directions."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Collection, Iterable, Sequence
from typing import Final

from ...messages import JsonObject
from ._kernel_runtime import KernelQuestion
from ._manifest import VariableGroup
from ._variable_store import VariableStore

__all__ = ["PieceTransfer"]

_AT_ONCE: Final = 4
"""Of a megabyte each: a server of Jupyter takes no message of more than 10 MB."""


class PieceTransfer:
    """Between a store and the folder where a kernel keeps pieces until it has sent them."""

    def __init__(self, store: VariableStore, asked: KernelQuestion, seconds: float) -> None:
        self._store = store
        self._asked = asked
        self._seconds = seconds

    async def fetch(self, keys: Sequence[str]) -> None:
        """Have the kernel send these pieces, as far as it has them."""
        for start in range(0, len(keys), _AT_ONCE):
            told = await self._asked.ask("send", {"keys": [*keys[start : start + _AT_ONCE]]}, seconds=self._seconds)
            pieces = told["pieces"]
            assert isinstance(pieces, dict)
            for key, piece in pieces.items():
                await asyncio.to_thread(self._store.add_piece, key, base64.b64decode(str(piece)))

    async def send(self, groups: Iterable[VariableGroup]) -> Collection[str]:
        """Send the kernel all pieces of these groups."""
        keys = sorted({key for group in groups for part in group.parts() for key in part.keys})
        for start in range(0, len(keys), _AT_ONCE):
            pieces = await asyncio.to_thread(self._read, keys[start : start + _AT_ONCE])
            await self._asked.ask("receive", {"pieces": pieces}, seconds=self._seconds)
        return keys

    async def drop(self, keys: Collection[str]) -> None:
        """Have the kernel delete what it need not keep any more."""
        await self._asked.ask("drop", {"keys": [*keys]}, seconds=self._seconds)

    def _read(self, keys: Sequence[str]) -> JsonObject:
        return {key: base64.b64encode(self._store.read_piece(key)).decode() for key in keys}
