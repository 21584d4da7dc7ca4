"""What a page hears of agents outside."""

from typing import Literal

from ._base import Message

__all__ = ["ExternalAgentsUpdatedMessage"]


class ExternalAgentsUpdatedMessage(Message):
    """Another agent came, went or does something else. Ask again what is shown of it."""

    type: Literal["externalAgentsUpdated"] = "externalAgentsUpdated"
