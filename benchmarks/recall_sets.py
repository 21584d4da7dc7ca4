"""Sets of conversations with questions and the passages that answer them. LoCoMo and BEAM are read from a copy, if there is one."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from pydantic import BaseModel, JsonValue

from hdsp_agent.recall import Passage, RecallSource

LOCOMO: Final = "RECALL_LOCOMO"
"""The environment variable with the path of ``locomo10.json``."""
BEAM: Final = "RECALL_BEAM"
"""That of a folder with BEAM's conversations of 100K tokens: ``1/chat.json``, ``1/probing_questions/…``, and so on."""

_FIRST_DAY: Final = datetime(2024, 1, 1, 9, tzinfo=UTC)
_SESSIONS: Final = 60


@dataclass(frozen=True)
class Evidence:
    """Where an answer is."""

    source: str
    place: str


@dataclass(frozen=True)
class Probe:
    """A question of an owner, and where it is answered. ``outdated`` says what was so before; it must not come first."""

    question: str
    owner: str
    kind: str
    evidence: frozenset[Evidence]
    outdated: frozenset[Evidence] = frozenset()
    profile: str | None = None
    now: int | None = None


@dataclass(frozen=True)
class Conversation:
    """A source and its messages as they were written; long ones are not split yet."""

    source: RecallSource
    messages: tuple[Passage, ...]


@dataclass(frozen=True)
class ProbeSet:
    """Conversations and probes."""

    name: str
    conversations: tuple[Conversation, ...]
    probes: tuple[Probe, ...]


def locomo() -> ProbeSet | None:
    """LoCoMo: ten pairs of people, some twenty sessions each. A pair is an owner, so that it is searched by itself."""
    path = os.environ.get(LOCOMO)
    if path is None:
        return None
    conversations: list[Conversation] = []
    probes: list[Probe] = []
    for number, sample in enumerate(json.loads(Path(path).read_text(encoding="utf-8"))):
        owner = f"pair {number}"
        places: dict[str, str] = {}
        for session in range(1, _SESSIONS):
            turns = sample["conversation"].get(f"session_{session}") or []
            began = _FIRST_DAY + timedelta(days=7 * session)
            source = f"{owner} session {session}"
            messages = [_turn(turn, began + timedelta(minutes=place)) for place, turn in enumerate(turns)]
            places.update({turn["dia_id"]: source for turn in turns})
            if messages:
                conversations.append(Conversation(RecallSource(owner, "conversation", source), tuple(messages)))
        for question in sample["qa"]:
            ids = re.findall(r"D\d+:\d+", " ".join(question.get("evidence", [])))
            evidence = frozenset(Evidence(places[one], one) for one in ids if one in places)
            if evidence:
                probes.append(Probe(question["question"], owner, f"category {question['category']}", evidence))
    return ProbeSet("LoCoMo", tuple(conversations), tuple(probes))


def beam() -> ProbeSet | None:
    """BEAM, 100K: twenty conversations of some hundred exchanges. Each is an owner and each exchange a source."""
    path = os.environ.get(BEAM)
    if path is None:
        return None
    conversations: list[Conversation] = []
    probes: list[Probe] = []
    for folder in sorted(Path(path).iterdir()):
        owner = folder.name
        places: dict[int, str] = {}
        for batch in json.loads((folder / "chat.json").read_text(encoding="utf-8")):
            for number, turn in enumerate(batch["turns"]):
                source = f"{owner} {batch['batch_number']}.{number}"
                messages = [_BeamMessage.model_validate(message) for message in turn]
                places.update({message.id: source for message in messages})
                passages = tuple(message.passage() for message in messages)
                conversations.append(Conversation(RecallSource(owner, "conversation", source), passages))
        questions = json.loads((folder / "probing_questions" / "probing_questions.json").read_text(encoding="utf-8"))
        for kind, asked in questions.items():
            for question in asked:
                ids = set(_numbers(question.get("source_chat_ids")))
                evidence = frozenset(Evidence(places[one], str(one)) for one in ids if one in places)
                if evidence:
                    probes.append(Probe(question["question"], owner, kind, evidence))
    return ProbeSet("BEAM-100K", tuple(conversations), tuple(probes))


class _BeamMessage(BaseModel):
    id: int
    role: str
    content: str

    def passage(self) -> Passage:
        text = re.sub(r"->->.*$", "", self.content)  # the generator's own mark at the end of a message
        when = _FIRST_DAY + timedelta(minutes=self.id)
        return Passage(text, str(self.id), _milliseconds(when), "person" if self.role == "user" else "agent")


def _turn(turn: dict[str, str], when: datetime) -> Passage:
    caption = f" [{turn['blip_caption']}]" if turn.get("blip_caption") else ""
    return Passage(f"{turn['speaker']}: {turn['text']}{caption}", turn["dia_id"], _milliseconds(when))


def _numbers(ids: JsonValue) -> Iterator[int]:
    match ids:
        case int(number):
            yield number
        case list(several):
            for one in several:
                yield from _numbers(one)
        case dict(several):
            for one in several.values():
                yield from _numbers(one)
        case _:
            pass


def _milliseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)
