"""What people are told about their configuration."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import Field

from ..errors import Param
from ..wire import WireModel

__all__ = ["ConfigChange", "ConfigNotice"]


class ConfigNotice(WireModel):
    """Something about the configuration a person should know; shown until it no longer holds."""

    code: str
    message: str
    """The English sentence, for where no translation of the code exists."""
    params: dict[str, Param] = Field(default_factory=dict)
    field: str | None = None
    """The setting it is about, by its name on the wire."""


@dataclass(frozen=True)
class ConfigChange:
    """What is different now; listeners read the values from where they got this."""

    settings: frozenset[str] = frozenset()
    """Names on the wire of the settings whose value changed."""
    profiles: bool = False
    secrets: bool = False
    notices: bool = False

    def __bool__(self) -> bool:
        return bool(self.settings) or self.profiles or self.secrets or self.notices
