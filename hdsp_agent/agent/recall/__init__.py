"""Searching what was said and written before: what feeds the index, and what asks it."""

from __future__ import annotations

from .agent_recall import past_search
from .chosen_embedder import MeaningStatus
from .past_search import PastSearch
from .recall_feed import RecallFeed

__all__ = ["MeaningStatus", "PastSearch", "RecallFeed", "past_search"]
