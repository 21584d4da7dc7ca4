"""Whose servers and programs have been in touch since the service started, and in which groups JupyterHub has them."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

from .people import HubPerson

__all__ = ["SeenPeople", "SeenPerson"]

_MOST: Final = 20_000


@dataclass(frozen=True)
class SeenPerson:
    """When a person's token came last, and the groups they had then."""

    time: float
    groups: tuple[str, ...]


class SeenPeople:
    """In memory alone; of too many the one that is longest ago goes."""

    def __init__(self) -> None:
        self._people: OrderedDict[str, SeenPerson] = OrderedDict()

    def add(self, person: HubPerson, time: float) -> None:
        """They are in touch."""
        self._people[person.name] = SeenPerson(time, person.groups)
        self._people.move_to_end(person.name)
        if len(self._people) > _MOST:
            self._people.popitem(last=False)

    def all(self) -> dict[str, SeenPerson]:
        """Each by name."""
        return dict(self._people)
