"""Sixty conversations about twenty projects, and twenty questions about each project. The same seed makes the same ones."""

from __future__ import annotations

import calendar
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final, Literal

from hdsp_agent.recall import Passage, RecallSource

from ..recall_sets import Conversation, Evidence, Probe, ProbeSet
from .english import ENGLISH
from .japanese import JAPANESE
from .korean import KOREAN
from .wordings import FactKind, FactWording, Language, Project

__all__ = ["OWNER", "generate"]

OWNER: Final = "ana"
_PROJECTS_OF: Final = ((ENGLISH, 7), (KOREAN, 7), (JAPANESE, 6))
_FIRST_DAY: Final = datetime(2026, 1, 12, 10, tzinfo=UTC)
_FACTS: Final[tuple[tuple[FactKind, ...], ...]] = (
    ("path", "column", "metric", "model", "deadline", "person"),
    ("column", "missing", "split", "result", "dropped"),
    ("column", "threshold", "result"),
)
"""What is stated in a project's first, second and third conversation, beside what has changed by then."""
_ASKED_TWICE: Final = frozenset(("path", "metric", "model"))
_DAY: Final = timedelta(days=1)

Wordings = Literal["tuned", "held_out"]


@dataclass(frozen=True)
class _Fact:
    """A statement with its place, the values in it, and the questions it answers."""

    kind: FactKind
    values: Mapping[str, str]
    wording: FactWording
    evidence: Evidence


@dataclass
class _Talk:
    """A conversation while it is written."""

    source: RecallSource
    began: datetime
    messages: list[Passage] = field(default_factory=list)

    def say(self, author: Literal["person", "agent"], text: str) -> Evidence:
        """Add a message; where it is."""
        place = str(len(self.messages))
        when = self.began + timedelta(minutes=3 * len(self.messages))
        self.messages.append(Passage(text, place, int(when.timestamp() * 1000), author))
        return Evidence(self.source.id, place)


def generate(seed: int, wordings: Wordings) -> ProbeSet:
    """Conversations of one person, and what that person asks later."""
    chance = random.Random(seed)
    conversations: list[Conversation] = []
    probes: list[Probe] = []
    number = 0
    for language, count in _PROJECTS_OF:
        for project in chance.sample(list(language.projects), count):
            writer = _ProjectWriter(chance, language, project, number, wordings)
            conversations += writer.write()
            probes += writer.ask()
            number += 1
    chance.shuffle(conversations)
    return ProbeSet(f"own probes, {wordings}", tuple(conversations), tuple(probes))


class _ProjectWriter:
    """Writes three conversations about a project and the questions about them."""

    def __init__(
        self, chance: random.Random, language: Language, project: Project, number: int, wordings: Wordings
    ) -> None:
        self._chance = chance
        self._language = language
        self._project = project
        self._number = number
        self._wordings = language.tuned if wordings == "tuned" else language.held_out
        self._columns = list(project.columns)
        self._facts: list[_Fact] = []
        self._outdated: dict[FactKind, Evidence] = {}
        self._preference = chance.choice(list(language.preferences))
        self._preference_place = Evidence("", "")
        self._talks: list[_Talk] = []

    def write(self) -> Iterator[Conversation]:
        """The conversations, some weeks apart."""
        day = self._chance.randrange(60)
        for part, kinds in enumerate(_FACTS):
            began = _FIRST_DAY + day * _DAY + timedelta(minutes=self._chance.randrange(420))
            title = self._fill(self._language.titles[part])
            source = RecallSource(
                "ana", "conversation", f"{self._number}-{part}", title, f"/home/ana/{self._project.folder}"
            )
            talk = _Talk(source, began)
            self._talks.append(talk)
            self._write_talk(talk, part, kinds)
            yield Conversation(source, tuple(talk.messages))
            day += self._chance.randrange(12, 40)

    def ask(self) -> Iterator[Probe]:
        """The questions, asked a week after the last conversation."""
        asked_at = int((self._talks[-1].began + 7 * _DAY).timestamp() * 1000)
        for fact in self._facts:
            wanted = 2 if fact.kind in _ASKED_TWICE else 1
            outdated = frozenset(filter(None, (self._outdated.get(fact.kind),)))
            for question in self._chance.sample(list(fact.wording.asked), wanted):
                kind = "changed" if outdated else fact.kind
                yield Probe(
                    question.format_map(fact.values), OWNER, f"{self._language.code} {kind}",
                    frozenset((fact.evidence,)), outdated, now=asked_at,
                )  # fmt: skip
        yield Probe(
            self._fill(self._preference.asked), OWNER, f"{self._language.code} preference",
            frozenset((self._preference_place,)), profile=self._preference.profile, now=asked_at,
        )  # fmt: skip
        middle, last = self._talks[1], self._talks[2]
        on_day = self._fill(self._chance.choice(list(self._language.asked_on_day)), day=self._day(middle.began))
        relative = self._fill(self._chance.choice(list(self._language.asked_relative)))
        for question, talk in ((on_day, middle), (relative, last)):
            yield Probe(question, OWNER, f"{self._language.code} when", _said_by_person(talk), now=asked_at)

    def _write_talk(self, talk: _Talk, part: int, kinds: tuple[FactKind, ...]) -> None:
        statements: list[FactKind | Literal["preference"]] = [*kinds]
        if part == 0:
            statements.append("preference")
        if part == 2:
            statements += self._changing()
        self._chance.shuffle(statements)
        self._chat(talk)
        for kind in statements:
            if kind == "preference":
                self._preference_place = talk.say("person", self._preference.stated)
            else:
                self._state(talk, kind, changed=part == 2 and kind in self._changing())
            talk.say("agent", self._fill(self._chance.choice(list(self._language.confirmations))))
            self._chat(talk)

    def _changing(self) -> tuple[FactKind, FactKind]:
        return "metric" if self._number % 2 else "model", "path" if self._number % 4 < 2 else "deadline"

    def _state(self, talk: _Talk, kind: FactKind, *, changed: bool) -> None:
        before = next((fact for fact in self._facts if changed and fact.kind == kind), None)
        wording = self._wordings[kind]
        values = self._values(kind, before)
        form = self._chance.choice(list(wording.changed if before else wording.stated))
        evidence = talk.say("person", form.format_map(values))
        if before is not None:
            self._facts.remove(before)
            self._outdated[kind] = before.evidence
        self._facts.append(_Fact(kind, values, wording, evidence))

    def _values(self, kind: FactKind, before: _Fact | None) -> dict[str, str]:
        values = {"subject": self._project.subject, "data": self._project.data}
        if kind in ("column", "missing", "dropped"):
            taken = {fact.values["column"] for fact in self._facts if fact.kind == kind}
            column = self._chance.choice([one for one in self._columns if one not in taken])
            values |= {"column": column, "meaning": self._project.columns[column]}
        for name, choices in self._language.values.items():
            known = {fact.values.get(name) for fact in self._facts if fact.kind == kind}
            values[name] = self._chance.choice([one for one in choices if one not in known])
        version = 2 if before else 1
        ending = self._chance.choice(("parquet", "csv", "feather"))
        values["path"] = f"data/{self._project.folder}/raw_v{version}_{self._chance.randrange(10, 99)}.{ending}"
        values["number"] = f"0.{self._chance.randrange(5000, 9900)}"
        values["threshold"] = f"0.{self._chance.randrange(11, 95)}"
        values["person"] = self._chance.choice(list(self._project.people))
        values["day"] = self._day(_FIRST_DAY + self._chance.randrange(120, 330) * _DAY)
        return values

    def _chat(self, talk: _Talk) -> None:
        """What else is said: it names the same files and columns, and answers nothing."""
        for _ in range(self._chance.randrange(1, 4)):
            column, other = self._chance.sample(self._columns, 2)
            for author, forms in (("person", self._language.requests), ("agent", self._language.replies)):
                text = self._fill(self._chance.choice(list(forms)), column=column, other=other)
                talk.say("person" if author == "person" else "agent", text)

    def _fill(self, form: str, **values: str) -> str:
        return form.format(subject=self._project.subject, data=self._project.data, **values)

    def _day(self, moment: datetime) -> str:
        return self._language.day.format(
            year=moment.year, month=moment.month, day=moment.day, name=calendar.month_name[moment.month]
        )


def _said_by_person(talk: _Talk) -> frozenset[Evidence]:
    return frozenset(Evidence(talk.source.id, one.place) for one in talk.messages if one.author == "person")
