"""Recall: one search over conversations, memories and notebooks. Whoever keeps those feeds it; it knows none of them."""

from __future__ import annotations

from ._embedders import BundledEmbedder, Embedder, EndpointEmbedder, bundled_embedder
from ._index import RecallIndex
from ._open_recall import open_recall
from ._passages import split_text
from ._records import (
    EmbedderAccess,
    OutdatedSources,
    Passage,
    PassageAuthor,
    RecallHit,
    RecallKind,
    RecallQuery,
    RecallSource,
    SourceOvertaken,
)

__all__ = [
    "BundledEmbedder",
    "Embedder",
    "EmbedderAccess",
    "EndpointEmbedder",
    "OutdatedSources",
    "Passage",
    "PassageAuthor",
    "RecallHit",
    "RecallIndex",
    "RecallKind",
    "RecallQuery",
    "RecallSource",
    "SourceOvertaken",
    "bundled_embedder",
    "open_recall",
    "split_text",
]
