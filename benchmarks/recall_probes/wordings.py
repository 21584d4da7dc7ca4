"""The form of what one language's conversations are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

__all__ = ["FactKind", "FactWording", "Language", "Preference", "Project"]

FactKind = Literal[
    "path", "column", "metric", "model", "missing", "deadline", "result", "split", "dropped", "threshold", "person"
]


@dataclass(frozen=True)
class Project:
    """What a person works on: what they call it, its files and its columns with what they mean."""

    subject: str
    data: str
    folder: str
    columns: Mapping[str, str]
    people: Sequence[str]


@dataclass(frozen=True)
class FactWording:
    """How people state a fact, how they say that it has changed, and how they ask for it."""

    stated: Sequence[str]
    asked: Sequence[str]
    changed: Sequence[str] = ()


@dataclass(frozen=True)
class Preference:
    """A standing instruction as it was said, as a profile keeps it, and the request it matters for."""

    stated: str
    profile: str
    asked: str


@dataclass(frozen=True)
class Language:
    """One language's sentences. ``tuned`` wordings were looked at while the ranking was made, ``held_out`` ones were not."""

    code: str
    projects: Sequence[Project]
    tuned: Mapping[FactKind, FactWording]
    held_out: Mapping[FactKind, FactWording]
    preferences: Sequence[Preference]
    requests: Sequence[str]
    replies: Sequence[str]
    confirmations: Sequence[str]
    asked_on_day: Sequence[str]
    asked_relative: Sequence[str]
    """About last week."""
    titles: Sequence[str]
    values: Mapping[str, Sequence[str]]
    """Metrics, models, ways with missing values, splits, reasons: what fills the places in sentences."""
    day: str
    """How a date is written, for ``str.format`` with year, month, day and the month's name."""
