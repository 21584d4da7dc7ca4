"""A conversation in memory that is told of its surroundings, and what a reader of its requests knows of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

from hdsp_agent.agent._ports import NoListener
from hdsp_agent.agent.context_window import FullContext
from hdsp_agent.agent.conversation.conversation import Conversation, text_block
from hdsp_agent.agent.environment import EnvironmentBasis, Section, SectionEntry
from hdsp_agent.agent.environment.section_text import NOTHING_LEFT
from hdsp_agent.agent.environment.sections import DIMENSIONS, GAP, KINDS, DimensionName
from hdsp_agent.agent.modes import BUILT_IN
from hdsp_agent.config import GlobalSettings, ModeConfig, ProviderSettings
from hdsp_agent.events import Emitter
from hdsp_agent.messages import CellId, TaskId
from hdsp_agent.persistence import ApiDraft, ApiRecord, Masker, MessageManager, StoredTaskState, TaskLog
from hdsp_agent.providers import KnownModel, ModelRequest, ToolSpec

from ....persistence._helpers.conversation import Conversation as Stored

__all__ = ["INFO", "Around", "InMemory", "Read", "Where", "lines", "read"]

INFO: Final = KnownModel(id="m", provider="p", context_window=1_000_000)
_TITLES: Final = {KINDS[name].title: name for name in DIMENSIONS}
_HEAD: Final = re.compile(
    r"^# (?P<title>.*?)(?P<how> \(all of it, in place of what was told before\)| \(what changed\))?$"
)


def lines(name: DimensionName, *entries: str, numbered: bool = False) -> Section:
    """A dimension whose entries begin with their keys."""
    made = (
        SectionEntry(text.split()[0].rstrip(":"), text, at if numbered else None) for at, text in enumerate(entries, 1)
    )
    return Section(name, tuple(made))


@dataclass
class Where:
    """A situation that tests change."""

    mode: ModeConfig = BUILT_IN[0]
    tools: Sequence[ToolSpec] = (ToolSpec("look", "Look.", {"type": "object"}),)
    provider: ProviderSettings | None = None
    settings: GlobalSettings = field(default_factory=GlobalSettings)
    cost: float = 0.0
    task_id: TaskId = field(default=TaskId("task"))
    asked_at: CellId | None = None


@dataclass
class Around:
    """What there is to see; ``cheap`` is looked at in every turn."""

    prompt: dict[DimensionName, Section] = field(default_factory=dict)
    cheap: dict[DimensionName, Section] = field(default_factory=dict)
    other: dict[DimensionName, Section] = field(default_factory=dict)

    async def look(self, situation: object, *, everything: bool) -> Sequence[Section]:
        return [*self.cheap.values(), *(self.other.values() if everything else ())]

    async def standing(self, situation: object, workspace: str | None) -> EnvironmentBasis:
        tells = tuple(self.prompt.values())
        texts = [f"# {KINDS[one.name].title}\n" + "\n".join(entry.text for entry in one.entries) for one in tells]
        return EnvironmentBasis("\n".join(["You are an agent.", *texts]), tells)


class _Log:
    """As much of a task's log as a context needs. The records are those of the stored conversation."""

    def __init__(self, stored: Stored, state: StoredTaskState) -> None:
        self._stored = stored
        self.task_id = TaskId("task")
        self.state = state

    @property
    def api(self) -> _Log:
        return self

    async def between(self, first: int, last: int, *, limit: int, newest: bool) -> Sequence[ApiRecord]:
        return await self._stored.api_between(first, last, limit=limit, newest=newest)

    def next_ts(self) -> int:
        return self._stored.tick()

    def update_state(self, **changes: object) -> None:
        self.state = StoredTaskState.model_validate({**self.state.model_dump(by_alias=True), **changes})

    async def save_state(self) -> None:
        """Nothing else holds it."""

    async def append_api(self, draft: ApiDraft, *, durable: bool = False) -> ApiRecord:
        self._stored.write(draft.role, draft.content, ts=draft.ts)
        self._stored.api[-1] = self._stored.api[-1].model_copy(update={"told": draft.told})
        return self._stored.api[-1]


class InMemory:
    """One task, from its first turn over restarts."""

    def __init__(self, around: Around, where: Where | None = None) -> None:
        self.around = around
        self.where = where or Where()
        self.stored = Stored()
        self._log = _Log(self.stored, StoredTaskState(updated_at=""))
        self._open(self.stored.manager)

    def _open(self, manager: MessageManager) -> None:
        self._log = _Log(self.stored, self._log.state)
        log = cast("TaskLog", self._log)
        self.conversation = Conversation(log, manager, Masker(GlobalSettings().masked_kinds), NoListener(), Emitter())
        self.context = FullContext(self.conversation, None, prompt=self.around.standing, surrounded=self.around)

    def restart(self) -> None:
        """Nothing is known but what was written down."""
        kept = [record.model_dump(by_alias=True, exclude_none=True) for record in self.stored.api]
        self.stored.api = [ApiRecord.model_validate(record) for record in kept]
        self.stored.manager = self.stored.reopened()
        self._open(self.stored.manager)

    async def turn(self, words: str | None = None) -> ModelRequest:
        """A request, after what the person said and what there is to tell; and a short answer."""
        if words is not None:
            self.stored.say(words, say="user_feedback")
            await self.conversation.add_api("user", [text_block(words)])
        await self.tell(spoken=words is not None)
        request = await self.context.build(self.where, INFO, answer_tokens=None)
        self.stored.say("answer")
        await self.conversation.add_api("assistant", [text_block("answer")])
        return request

    async def tell(self, *, spoken: bool) -> str | None:
        """What is told just now."""
        telling = await self.context.environment(self.where, spoken=spoken)
        if telling is None:
            return None
        await self.conversation.add_api("user", [text_block(telling.text)], told=telling.told)
        return telling.text


Read = dict[DimensionName, dict[str, str]]
"""What somebody knows who read all of it: texts by key, in order."""


def read(request: ModelRequest) -> Read:
    """What the words of a request say, taken literally: the newest counts.

    Differences to what is hidden say little; all of it must be told after them.
    """
    known: Read = {}
    _take(known, request.system.split("\n")[1:])
    for message in request.messages:
        blocks = cast("list[dict[str, Any]]", message.content if isinstance(message.content, list) else [])
        for block in blocks:
            text = str(block.get("text", ""))
            if text.startswith("<environment_details>"):
                _take(known, text.split("\n")[1:-1])
    return known


def _take(known: Read, told: Sequence[str]) -> None:
    name: DimensionName | None = None
    how, heading = "", ""
    for line in filter(None, told):
        head = _HEAD.match(line)
        if head is not None:
            name, how, heading = _TITLES[head["title"]], head["how"] or "", ""
            if how != " (what changed)" and KINDS[name].style != "events":
                known[name] = {}
            known.setdefault(name, {})
            continue
        assert name is not None
        heading = _line(known[name], KINDS[name].style, line, heading)


def _line(known: dict[str, str], style: str, line: str, heading: str) -> str:
    """Take in one line; the heading that holds for the next."""
    if line in (
        "New:",
        "Changed:",
        "Added:",
        "Moved:",
        "Added or moved, from top to bottom:",
        "In place of what it said before:",
    ):
        return line
    if line == NOTHING_LEFT:
        return heading
    if line == "[Nothing is left out any more.]":
        known.pop(GAP, None)
        return heading
    for gone in ("No longer in force: ", "No longer: ", "Gone: ", "Removed: ", "Not looked at this time: "):
        if line.startswith(gone):
            for key in line.removeprefix(gone).split(", "):
                known.pop(key, None)
            return heading
    text, after = line, None
    if style == "ordered":
        place = (
            re.search(r" \((?:after (\S+)|first|after those left out)\)$", line)
            if heading.startswith(("Added", "Moved"))
            else None
        )
        if place is not None:
            text = line[: place.start()]
            after = place[1] or ("" if place[0] == " (first)" else GAP)
        text = re.sub(r"^\d+ ", "", text)
    key = GAP if text.startswith("[…") else text.split()[0].rstrip(":")
    if heading == "Moved:" or (heading.startswith("Added or") and text == key):
        text = known.get(key, "")
    if after is not None:
        known.pop(key, None)
        order = list(known.items())
        keys = [one for one, _ in order]
        at = keys.index(after) + 1 if after in keys else 0
        order.insert(at, (key, text))
        known.clear()
        known.update(order)
    else:
        known[key] = text
    return heading
