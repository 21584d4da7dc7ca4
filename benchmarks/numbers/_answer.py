"""What an answer is made of: sentences with numbers, of which it is known where they stand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeAlias

from benchmarks.errands import Language
from hdsp_agent.messages import JsonObject

__all__ = ["Answer", "Claim", "Family", "MentionFamily", "Phrases", "ResultFamily", "Sentence", "ShownCell", "Written"]

Phrases: TypeAlias = Mapping[Language, Sequence[str]]


@dataclass(frozen=True)
class ShownCell:
    """A cell of the notebook that an answer is about. ``values`` are those of its outputs that answers tell."""

    code: str
    outputs: Sequence[JsonObject]
    values: Sequence[float] = ()


@dataclass(frozen=True)
class Written:
    """A number as an answer writes it, and the values it may stand for, each from the least to the greatest."""

    text: str
    spans: Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Claim:
    """A number that an answer states as a result."""

    text: str
    cell: int | None
    """The only one that shows it, from 0; None if it stands nowhere."""


@dataclass(frozen=True)
class Sentence:
    """A sentence of an answer. What it has beside its claims are mentions, which no check is to mark."""

    family: str
    text: str
    claims: Sequence[Claim] = ()


@dataclass(frozen=True)
class Answer:
    """An answer, and the notebook it is about."""

    name: str
    language: Language
    cells: Sequence[ShownCell]
    sentences: Sequence[Sentence]

    @property
    def text(self) -> str:
        """As the person reads it."""
        return "\n\n".join(sentence.text for sentence in self.sentences)


@dataclass(frozen=True)
class ResultFamily:
    """A way to show values and to write them. Phrases have ``{what}`` and a field for each value: ``{a}``, ``{b}``."""

    name: str
    phrases: Phrases
    show: Callable[[Random], ShownCell]
    write: Callable[[float, Language, Random], Written]


@dataclass(frozen=True)
class MentionFamily:
    """Numbers that are no results; ``fill`` gives what the fields of its phrases hold."""

    name: str
    phrases: Phrases
    fill: Callable[[Random], Mapping[str, str]]


Family: TypeAlias = ResultFamily | MentionFamily
