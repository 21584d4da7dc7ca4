"""What enters the index of recall holds no keys and passwords, whatever a person lets stand in conversations."""

from __future__ import annotations

from typing import Final

from ...config import ALL_MASKED_KINDS
from ...persistence import Masker

__all__ = ["index_masker"]

# Who lets addresses of mail stand in conversations looks for them too; whether they are sent is decided apart from this.
_KINDS: Final = tuple(kind for kind in ALL_MASKED_KINDS if kind != "email")


def index_masker() -> Masker:
    """What masks whole texts of one source. A piece of a text does not tell what was a key in the whole."""
    return Masker(_KINDS)
