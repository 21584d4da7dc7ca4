"""What a page hears of memory."""

from typing import Literal

from ._base import Message

__all__ = ["MemoryUpdatedMessage"]


class MemoryUpdatedMessage(Message):
    """Something was remembered, changed or forgotten, or learning began or ended. Ask again what is shown of it."""

    type: Literal["memoryUpdated"] = "memoryUpdated"
