"""How full the model's window is, and what to say about it: to the agent, and to the person."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from ..config import GlobalSettings
from ..messages import ApiMessage, ModelRoom
from ..providers import KnownModel
from ._content_blocks import content_blocks, string_of

__all__ = [
    "ADVICE",
    "ContextMonitor",
    "ContextThresholds",
    "DegradationWatch",
    "Meter",
    "NoticeKind",
    "WindowNotice",
    "condense_percent",
    "meter",
    "room_of",
]

NoticeKind: TypeAlias = Literal["reassurance", "advice"]

ADVICE: Final = (
    "High context usage detected (>80%). Consider summarizing recent tool outputs or delegating subtasks to background "
    "agents to free up context space."
)
_REASSURANCE: Final = (
    "There is enough room left in the context, and older parts are condensed before it runs out. Go on with the work as "
    "planned: do not hurry, and leave nothing out."
)
_LARGEST_SHARE: Final = 0.9
"""Of the window: what is counted may be a little less than what arrives."""
_LARGEST_RESERVE: Final = 0.5


@dataclass(frozen=True)
class ContextThresholds:
    """The parts of the window at which something is said."""

    reassurance: float = 0.70
    advice: float = 0.80


@dataclass(frozen=True)
class WindowNotice:
    """Something to say now. ``text`` is for the agent; the panel words its own by ``kind`` and ``percent``."""

    kind: NoticeKind
    text: str
    percent: int


class ContextMonitor:
    """Says once per task and threshold how full the window has become.

    ``issued`` is what was said before, such as before a restart of the server.
    """

    def __init__(self, thresholds: ContextThresholds | None = None, issued: Collection[NoticeKind] = ()) -> None:
        self._thresholds = thresholds or ContextThresholds()
        self._issued: set[NoticeKind] = set(issued)

    @property
    def issued(self) -> frozenset[NoticeKind]:
        """What need not be said again."""
        return frozenset(self._issued)

    def observe(self, used: int, window: int | None) -> WindowNotice | None:
        """What there is to say at this many tokens. Of two thresholds passed at once only the higher one counts."""
        if not window:
            return None
        share = used / window
        if share >= self._thresholds.advice:
            new = "advice" not in self._issued
            self._issued |= {"reassurance", "advice"}
            return _notice("advice", ADVICE, used, window) if new else None
        if share >= self._thresholds.reassurance and "reassurance" not in self._issued:
            self._issued.add("reassurance")
            return _notice("reassurance", _REASSURANCE, used, window)
        return None


@dataclass(frozen=True)
class Meter:
    """The window in tokens. ``limit`` is where the conversation is condensed."""

    window: int
    used: int
    reserved: int
    """For the answer."""
    limit: int

    @property
    def free(self) -> int:
        """What neither the conversation nor the answer needs."""
        return max(0, self.window - self.reserved - self.used)

    @property
    def is_over_limit(self) -> bool:
        """Whether it is time to condense."""
        return self.used >= self.limit


def meter(used: int, *, window: int, answer: int | None = None, percent: int = 100) -> Meter:
    """How full a window is. ``percent`` is the setting; whatever it says, the request and its answer must fit.

    An answer that may be as long as the window itself is not kept more than half of it.
    """
    reserved = min(answer or 0, int(window * _LARGEST_RESERVE))
    limit = min(window * percent // 100, int(window * _LARGEST_SHARE), window - reserved)
    return Meter(window, used, reserved, limit)


def room_of(info: KnownModel, profile: str | None, settings: GlobalSettings, *, window: int | None) -> ModelRoom:
    """What people are told of a model's window, whose size may be better known than the catalogue has it."""
    if window is None:
        return ModelRoom(max_output=info.max_output)
    percent = condense_percent(
        profile, general=settings.auto_condense_context_percent, by_profile=settings.profile_thresholds
    )
    full = meter(0, window=window, answer=info.max_output, percent=percent)
    return ModelRoom(
        context_window=window,
        max_output=info.max_output,
        reserved=None if info.max_output is None else full.reserved,
        condense_at=full.limit if settings.auto_condense_context else None,
    )


def condense_percent(profile: str | None, *, general: int, by_profile: Mapping[str, int]) -> int:
    """How full the window may get with this profile; -1 and whatever is no percentage mean the general setting."""
    own = by_profile.get(profile, -1) if profile is not None else -1
    return own if 5 <= own <= 100 else general


class DegradationWatch:
    """Looks at the first answers after a condensation: a model that has lost the thread calls tools and says nothing.

    Many models never say anything beside their calls; only one that did before is judged by it.
    """

    WATCHED: Final = 5
    IN_A_ROW: Final = 3
    MOST_RECOVERIES: Final = 3

    def __init__(self) -> None:
        self._left = 0
        self._silent = 0
        self._recoveries = 0

    def condensed(self, before: Sequence[ApiMessage]) -> None:
        """Begin to watch; ``before`` are the messages that were condensed."""
        answers = [message for message in before if message.role == "assistant"]
        talks = 2 * sum(not _is_silent(answer) for answer in answers) >= len(answers) > 0
        self._left = self.WATCHED if talks and self._recoveries < self.MOST_RECOVERIES else 0
        self._silent = 0

    def has_degraded(self, answer: ApiMessage) -> bool:
        """Take in the next answer; whether the conversation should be condensed once more, from the whole log."""
        if self._left == 0:
            return False
        self._left -= 1
        self._silent = self._silent + 1 if _is_silent(answer) else 0
        if self._silent < self.IN_A_ROW:
            return False
        self._left = 0
        self._recoveries += 1
        return True


def _is_silent(answer: ApiMessage) -> bool:
    """Whether an answer calls tools without a word."""
    kinds = {block.get("type") for block in content_blocks(answer) if string_of(block, "text").strip() or "id" in block}
    return "tool_use" in kinds and "text" not in kinds


def _notice(kind: NoticeKind, text: str, used: int, window: int) -> WindowNotice:
    percent = used * 100 / window
    left = max(0.0, 100 - percent)
    status = f"[Context Status: {percent:.1f}% used ({used:,}/{window:,} tokens), {left:.1f}% remaining]"
    return WindowNotice(kind, f"{text}\n{status}", int(percent))
