"""The hashes by which notebooks and cells are compared."""

from __future__ import annotations

import hashlib

from ..messages import SourceHash

__all__ = ["source_hash"]


def source_hash(source: str) -> SourceHash:
    """sha256 of a cell's source as UTF-8."""
    # A file may hold half a surrogate pair, which is no UTF-8.
    return hashlib.sha256(source.encode("utf-8", errors="surrogatepass")).hexdigest()
