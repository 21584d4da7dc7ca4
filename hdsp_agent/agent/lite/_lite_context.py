"""What a small model sees: little, in a form it knows, and never more than its window holds."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from ...config import GlobalSettings
from ...memory import Note, TaskMemory, recalled_note
from ...messages import ApiMessage, JsonObject, RecalledItem
from ...providers import KnownModel, ModelRequest, model_info
from ...tools.compound import NotebookFacts
from .._ports import EnvironmentText, Situation
from ..context_window import FullContext
from ..conversation.conversation import Conversation
from ._example_conversation import before, length_of_examples
from ._lite_prompt import lite_prompt
from ._next_step import next_step, step_at_cell
from ._recent_steps import PUT_BACK, is_surroundings, is_words, since_asked, spoken_in, surroundings_in

__all__ = ["LiteContext", "Seen"]

Seen = Callable[[Situation], Awaitable[NotebookFacts | str | None]]
"""How things are around the task's notebook."""

_ANSWER_TOKENS: Final = 450
_LEAST_WINDOW: Final = 4_096
_CHARACTERS_A_TOKEN: Final = 3.0
"""Fewer than code and English have: too much room is no harm."""
_KEPT: Final = 0.6
"""Of the room, once something had to go: the beginning then stays as it is for a while, and with it the cache."""
_GO_ON: Final = "Go on."
_BEGIN_AGAIN: Final = "The cells are as they were before. Begin again."
_NOTEBOOK: Final = "# Notebook\n"
_FAILED: Final = re.compile(r"^Cell \d+ (?:failed|ran)", re.MULTILINE)
_LONGEST_TOLD: Final = 2_400
"""Characters."""
_REFUSED: Final = 2
"""Messages: a call and what came of it."""


class LiteContext:
    """See ``ContextPort``."""

    def __init__(
        self,
        conversation: Conversation,
        plain: FullContext,
        *,
        settings: Callable[[], GlobalSettings],
        seen: Seen,
        memory: TaskMemory | None = None,
    ) -> None:
        self._memory = memory
        self._conversation = conversation
        self._plain = plain
        self._settings = settings
        self._seen = seen
        self._told: NotebookFacts | None = None
        self._anew = True
        self._left_out = 0
        self._recalled: Sequence[RecalledItem] = ()

    async def environment(self, situation: Situation, *, spoken: bool) -> EnvironmentText | None:
        """How things are, when the person has spoken: the first time all of it, then what is different."""
        if not spoken:
            return None
        seen = await self._seen(situation)
        if seen is None:
            return None
        if isinstance(seen, str):
            text = seen
        else:
            text = seen.told_anew(None if self._anew else self._told)
            self._told, self._anew = seen, False
        return EnvironmentText(f"<environment_details>\n{text}\n</environment_details>")

    async def build(self, situation: Situation, info: KnownModel, *, answer_tokens: int | None) -> ModelRequest:
        """The next request, with the tools that may be called next."""
        history = await self._plain.history(info)
        notes = await self._notes()
        texts = [" ".join(note.text.split()) for note in notes]
        prompt = lite_prompt(situation.mode, self._settings(), situation.tools, texts)
        told = [note for note, text in zip(notes, texts, strict=True) if text in prompt]
        self._recalled = [await self._named(note) for note in told]
        system = await self._conversation.mask(prompt)
        names = [tool.name for tool in situation.tools]
        messages = _plain(history)
        taken = len(system) + length_of_examples(names)
        room = (self._window(situation) - _ANSWER_TOKENS) * _CHARACTERS_A_TOKEN - taken
        since = since_asked(history)
        if situation.asked_at is None:
            step = next_step(situation.tools, since)
        else:
            step = step_at_cell(situation.tools, since, self._told.at if self._told is not None else None)
        fitting = _without_refused(self._fitting(messages, history, room))
        return ModelRequest(
            system=system,
            messages=before(fitting, names),
            tools=step.tools,
            tool_choice="any",
            max_output=answer_tokens or _ANSWER_TOKENS,
            parallel_tools=False,
            temperature=step.temperature,
            cache_key=situation.task_id,
        )

    async def recalled(self) -> Sequence[RecalledItem]:
        """The notes in the prompt of the last request."""
        return self._recalled

    def condensable(self, situation: Situation) -> FullContext | None:
        """Nothing: what does not fit is left out."""
        return None

    async def recover(self, situation: Situation, kind: str) -> bool:
        """Hide the older half of what the model sees."""
        self._anew = True
        return await self._plain.recover(situation, kind)

    async def _notes(self) -> Sequence[Note]:
        """What the person wants remembered. Of what was learned a small model would make nothing."""
        if self._memory is None or not self._settings().memory_enabled:
            return ()
        return await asyncio.to_thread(self._memory.notes)

    async def _named(self, note: Note) -> RecalledItem:
        item = recalled_note(note, told=True)
        return item.model_copy(update={"title": await self._conversation.mask(item.title)})

    def _window(self, situation: Situation) -> int:
        provider = situation.provider
        window = model_info(provider).context_window if provider is not None else None
        return window or _LEAST_WINDOW

    def _fitting(self, messages: list[ApiMessage], history: Sequence[ApiMessage], room: float) -> list[ApiMessage]:
        """Without the oldest, if there is no room for all. What was left out once stays out."""
        if self._left_out >= len(messages):
            self._left_out = 0
        if sum(_length(message) for message in messages[self._left_out :]) <= room:
            return messages[self._left_out :]
        begins = [at for at, message in enumerate(history) if _speaks(message)] or [0]
        for begin in begins:
            if begin > self._left_out and sum(_length(message) for message in messages[begin:]) <= room * _KEPT:
                break
        else:
            begin = begins[-1]
        self._left_out = begin
        # The notebook as a whole was told of in what is gone: the next time all of it is told.
        self._anew = True
        kept = messages[begin:]
        while len(kept) > 3 and sum(_length(message) for message in kept) > room:
            # The oldest steps of a long turn: a call with its result.
            del kept[1:3]
        return kept


def _plain(history: Sequence[ApiMessage]) -> list[ApiMessage]:
    """How things are before what the person says about them; calls and results as they are."""
    made: list[ApiMessage] = []
    for message in history:
        if message.role != "user":
            made.append(message)
            continue
        content = message.content
        blocks: Sequence[JsonObject] = [{"type": "text", "text": content}] if isinstance(content, str) else content
        results = [block for block in blocks if block.get("type") != "text"]
        texts = [str(block.get("text", "")) for block in blocks if block.get("type") == "text"]
        told = [of_notebook for text in texts if (of_notebook := _of_notebook(text))]
        words, along = spoken_in(texts)
        said = [*along, *(f"Person: {one}" for one in words)]
        ours = [text for text in texts if not is_surroundings(text) and not is_words(text)]
        automatic = [_BEGIN_AGAIN if text.startswith(PUT_BACK) else _GO_ON for text in ours][:1]
        new = [*told, *(said or automatic)]
        made.append(message.model_copy(update={"content": [*results, *({"type": "text", "text": one} for one in new)]}))
    return made


def _of_notebook(text: str) -> str:
    """How things are, if this tells of that: of what a larger model was told before, the notebook, in short."""
    if not is_surroundings(text):
        return ""
    told = surroundings_in(text)
    if not told.startswith("# "):
        return told
    begin = told.find(_NOTEBOOK)
    return "" if begin < 0 else told[begin : begin + _LONGEST_TOLD]


def _without_refused(messages: list[ApiMessage]) -> list[ApiMessage]:
    """Without the last steps that could not be made, but for why: what it wrote once a small model writes again."""
    kept, why = list(messages), ""
    while len(kept) > _REFUSED and (reason := _refusal(kept[-2:])):
        why = why or reason
        del kept[-2:]
    return _told_more(kept, why) if why else messages


def _refusal(pair: Sequence[ApiMessage]) -> str:
    """Why the call did nothing at all; empty if it did something, or was an answer."""
    call, result = pair[0].content, pair[1].content
    if isinstance(call, str) or isinstance(result, str) or len(result) != 1:
        return ""
    names = [block.get("name") for block in call if block.get("type") == "tool_use"]
    if len(names) != 1 or names == ["answer"] or not result[0].get("is_error"):
        return ""
    content = result[0].get("content")
    parts = content if isinstance(content, list) else [{"text": content}]
    text = " ".join(str(part.get("text", "")) for part in parts if isinstance(part, dict))
    return "" if _FAILED.search(text) else text


def _told_more(messages: list[ApiMessage], text: str) -> list[ApiMessage]:
    """With a word behind the last result: by then a small model thinks of that alone."""
    last = messages[-1]
    if last.role != "user" or isinstance(last.content, str):
        return messages
    more: JsonObject = {"type": "text", "text": text}
    return [*messages[:-1], last.model_copy(update={"content": [*last.content, more]})]


def _speaks(message: ApiMessage) -> bool:
    if message.role != "user":
        return False
    content = message.content
    texts = [content] if isinstance(content, str) else [str(block.get("text", "")) for block in content]
    return any(is_words(text) for text in texts)


def _length(message: ApiMessage) -> int:
    content = message.content
    if isinstance(content, str):
        return len(content)
    return sum(
        len(str(block.get("text") or block.get("content") or block.get("input") or "")) + 20 for block in content
    )
