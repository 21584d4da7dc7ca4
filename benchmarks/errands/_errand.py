"""What an errand is, and what its family is given to make one of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Final, Literal, TypeAlias

from benchmarks.evals import EndState, EvalTask, Kind, Outcome

from ._data_sets import DataSet

__all__ = ["LANGUAGES", "Errand", "Family", "Language", "Made", "Scene", "with_particles"]

Language: TypeAlias = Literal["en", "ko", "ja"]
LANGUAGES: Final[tuple[Language, ...]] = ("en", "ko", "ja")

_HANGUL: Final = range(0xAC00, 0xD7A4)
_FINALS: Final = 28
_RIEUL: Final = 8
_DIGITS: Final = dict(zip("0123456789", "영일이삼사오육칠팔구", strict=True))
_PARTICLES: Final[Mapping[str, tuple[str, str]]] = {
    "object": ("을", "를"),
    "subject": ("이", "가"),
    "topic": ("은", "는"),
    "with": ("과", "와"),
    "by": ("으로", "로"),
}
"""Behind a final consonant, and behind none."""


@dataclass(frozen=True)
class Scene:
    """The table an errand is about, and the notebook the person has open."""

    data: DataSet
    language: Language
    rng: Random
    loaded: bool
    """Whether a cell has read the table; else only its file is there."""
    variable: str
    before: Sequence[str]
    """The cells that are there whatever is asked."""

    def column(self, name: str) -> str:
        """What the person calls a column: in English sometimes not by its name."""
        spoken = self.data.words.spoken.get(name)
        return spoken if self.language == "en" and spoken and self.rng.random() < 0.5 else name

    @property
    def table(self) -> str:
        """What the person calls the table."""
        return self.variable if self.loaded else self.data.file

    @property
    def read(self) -> str:
        """Code that makes the variable, if no cell has."""
        return "" if self.loaded else f"import pandas as pd\n\n{self.variable} = pd.read_csv({self.data.file!r})\n"

    def ends(self, *cells: str, answer: str = "") -> EndState:
        """An ending with these cells below the others."""
        return EndState([*self.before, *cells], answer)

    def with_table(self, code: str, answer: str = "") -> EndState:
        """An ending with this code in a new cell, which can use the table."""
        return self.ends(self.read + code, answer=answer)


@dataclass(frozen=True)
class Made:
    """An errand as its family makes it. The phrases may name what is in ``says``."""

    judge: Callable[[Outcome], None]
    right: EndState
    wrong: Sequence[EndState]
    says: Mapping[str, str] = field(default_factory=dict)
    also_right: Sequence[EndState] = ()
    cells: Sequence[str] | None = None
    """The notebook, if it is not that of the scene."""
    probes: Sequence[str] = ()
    at: int | None = None
    may_change: frozenset[int] = frozenset()
    """The numbers of the cells that it is right to change or delete."""
    means: int | None = None
    """The number of the cell the person means, if they are asked."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Files beside that of the table."""


@dataclass(frozen=True)
class Family:
    """Errands of one form. ``phrases`` are how people word it in each language."""

    name: str
    kind: Kind
    phrases: Mapping[Language, Sequence[str]]
    make: Callable[[Scene], Made]
    loaded: bool | None = None
    """Whether a cell has read the table; None is either."""
    gaps: bool = False
    repeats: bool = False


@dataclass(frozen=True)
class Errand:
    """One errand: a task, and what is known of it beside."""

    family: str
    language: Language
    task: EvalTask
    may_change: frozenset[int]
    """The numbers of the cells that it is right to change or delete."""


def with_particles(names: Mapping[str, str]) -> Mapping[str, str]:
    """The same words with the Korean particle behind them that fits how they end: ``name_object`` is the name as an object."""
    return {
        f"{key}_{role}": word + particle[_ends_open(word, role)]
        for key, word in names.items()
        if word
        for role, particle in _PARTICLES.items()
    }


def _ends_open(word: str, role: str) -> bool:
    """Whether it ends without a final consonant; a word in foreign letters counts as such, a number as it is read."""
    last = ord(_DIGITS.get(word[-1], word[-1]))
    if last not in _HANGUL:
        return True
    final = (last - _HANGUL.start) % _FINALS
    return final == 0 or (role == "by" and final == _RIEUL)
