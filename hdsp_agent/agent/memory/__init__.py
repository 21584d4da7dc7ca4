"""The agent's part in the memory work: which model learns, and the run that makes one memory of many."""

from __future__ import annotations

from .agent_memory import memory_pipeline
from .consolidator import LoopConsolidator
from .memory_models import ProfileMemoryModels

__all__ = ["LoopConsolidator", "ProfileMemoryModels", "memory_pipeline"]
