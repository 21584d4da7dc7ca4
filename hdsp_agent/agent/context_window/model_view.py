"""What the model sees of a conversation, for people to look at: the exact request, and what each part of it takes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ...config import tool_set, with_profile
from ...context import SUMMARY_PREFIX, TokenCounter, TokenParts, room_of, within_picture_total
from ...messages import ApiMessage, JsonObject, ModelRoom, TaskId
from ...persistence import ApiRecord, TaskReader, TaskState, history_to_read
from ...providers import KnownModel, ModelRequest, cache_marks, model_info
from .._ports import ToolBox
from ..conversation.history_items import TaskConfig
from .model_history import most_picture_bytes, sent_at_once
from .persisted_context import ContextState, context_state
from .recorded_prompts import newest_prompt, prompt_text

if TYPE_CHECKING:
    from .._agent_services import AgentServices

__all__ = ["SeenHistories", "SeenKinds", "SeenRequest", "seen_by_model"]

_KEPT_SECONDS: Final = 300.0
"""So long a conversation is kept after somebody has looked at it."""


@dataclass(frozen=True)
class SeenKinds:
    """The tokens of the messages by what is in them; together they are all of them.

    ``words`` are the person's, with what is told in between of the surroundings.
    """

    summaries: int = 0
    words: int = 0
    answers: int = 0
    outputs: int = 0
    pictures: int = 0


@dataclass(frozen=True)
class SeenRequest:
    """``sizes`` are the estimated tokens of each message. ``is_shortened`` says that a small model is sent less.

    ``marks`` are the messages at whose ends the provider's cache has a breakpoint; None where it needs none.
    """

    request: ModelRequest
    parts: TokenParts
    sizes: Sequence[int]
    kinds: SeenKinds
    marks: Sequence[int] | None
    mode: str
    profile: str
    model: KnownModel
    room: ModelRoom
    is_shortened: bool


@dataclass(frozen=True)
class _Place:
    """What a history is built from: where the task's logs end, and how it is sent."""

    task: TaskId
    seq: int
    mark: str | None
    state: ContextState
    images: bool
    counter: TokenCounter
    picture_bytes: int


@dataclass(frozen=True)
class _SeenHistory:
    system: str
    messages: Sequence[ApiMessage]
    sizes: Sequence[int]
    kinds: SeenKinds


class SeenHistories:
    """Histories as they would be sent. The last one is kept for a while: whoever looks at it looks page by page."""

    def __init__(self) -> None:
        self._kept: tuple[_Place, _SeenHistory] | None = None
        self._forgetting: asyncio.TimerHandle | None = None
        self._one_at_a_time = asyncio.Lock()
        self.built = 0
        """How often one was built."""

    async def seen(
        self, reader: TaskReader, state: TaskState, *, images: bool, counter: TokenCounter, picture_bytes: int
    ) -> _SeenHistory:
        """The history of a task as its logs have it now."""
        async with self._one_at_a_time:
            newest, marks = await reader.api.newest(1), await reader.marks.newest(1)
            seq = newest[-1].seq if newest else 0
            mark = marks[-1].id if marks else None
            place = _Place(reader.task_id, seq, mark, context_state(state), images, counter, picture_bytes)
            if self._kept is None or self._kept[0] != place:
                self.built += 1
                history = await history_to_read(reader)
                records = await history.api_history()
                prompt = await newest_prompt(reader, history.view, records)
                self._kept = place, await asyncio.to_thread(_built, records, prompt, place)
            seen = self._kept[1]
        if self._forgetting is not None:
            self._forgetting.cancel()
        self._forgetting = asyncio.get_running_loop().call_later(_KEPT_SECONDS, self._forget)
        return seen

    def _forget(self) -> None:
        self._kept = self._forgetting = None


async def seen_by_model(services: AgentServices, reader: TaskReader, *, tools: ToolBox | None = None) -> SeenRequest:
    """The request that would be sent now, as far as it is in the log. Nothing is asked or changed by looking."""
    state = await reader.read_state()
    item, metadata = state.history_item, reader.metadata
    policy = services.policy()
    settings = TaskConfig.of(metadata.config).settings(services.settings(), policy)
    slug = (item.mode if item else None) or metadata.mode or settings.mode
    profile = (item.api_config_name if item else None) or services.models.profile_for(slug)
    provider = services.models.settings_of(profile)
    settings = with_profile(settings, provider)
    # The first call reads the catalogue.
    info = KnownModel(id="", provider="") if provider is None else await asyncio.to_thread(model_info, provider)
    mode = await services.modes.get(slug, metadata.workspace)
    chosen = tool_set(provider)
    specs = [] if mode is None else (tools or services.tools).specs(mode, policy, settings, tool_set=chosen)
    counter = TokenCounter.of(settings)
    seen = await services.seen.seen(
        reader,
        state,
        images=info.supports_images,
        counter=counter,
        picture_bytes=most_picture_bytes(settings),
    )
    request = ModelRequest(system=seen.system, messages=seen.messages, tools=specs, cache_key=reader.task_id)
    return SeenRequest(
        request=request,
        parts=TokenParts(counter.text(request.system), counter.tools(request.tools), sum(seen.sizes)),
        sizes=seen.sizes,
        kinds=seen.kinds,
        marks=await asyncio.to_thread(cache_marks, provider, info, request),
        mode=slug,
        profile=profile,
        model=info,
        room=room_of(info, profile, settings, window=info.context_window),
        is_shortened=chosen == "compound",
    )


def _built(records: Sequence[ApiRecord], prompt: ApiRecord | None, place: _Place) -> _SeenHistory:
    counter = place.counter
    # A list of its own: to look for one message must not go through all of them.
    sent = sent_at_once(records, place.state, images=place.images, counter=counter).messages
    messages = [*within_picture_total(sent, place.picture_bytes)]
    return _SeenHistory("" if prompt is None else prompt_text(prompt), messages, *_counted(messages, counter))


def _counted(messages: Sequence[ApiMessage], counter: TokenCounter) -> tuple[list[int], SeenKinds]:
    sizes: list[int] = []
    tokens = dict.fromkeys(("summaries", "words", "answers", "outputs", "pictures"), 0)
    for message in messages:
        size = counter.message(message)
        sizes.append(size)
        for block in [] if isinstance(message.content, str) else message.content:
            kind = _kind(block)
            if kind is not None:
                # What is rounded up must not add up to more than the message.
                part = min(size, counter.blocks([block]))
                tokens[kind] += part
                size -= part
        tokens["answers" if message.role == "assistant" else "words"] += size
    return sizes, SeenKinds(**tokens)


def _kind(block: JsonObject) -> str | None:
    match block.get("type"):
        case "tool_result":
            return "outputs"
        case "image":
            return "pictures"
        case "text" if str(block.get("text", "")).startswith(SUMMARY_PREFIX):
            return "summaries"
        case _:
            return None
