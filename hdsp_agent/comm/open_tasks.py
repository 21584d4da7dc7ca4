"""The conversations each person has open beside each other, in their order, and what each of them is doing."""

from __future__ import annotations

import asyncio
import html
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ..messages import AnyAsk, HistoryItem, OpenTask, OpenTasksUpdatedMessage, TaskStatus, ask_class
from ._channel_hub import ChannelHub
from ._owner import Owner
from .task_view import TaskDetails

__all__ = ["MOST_OPEN", "OpenTaskStatus", "OpenTasks", "needs_person"]

MOST_OPEN: Final = 50
"""What is opened beyond that closes those opened first that rest."""

_TOLD_EVERY_SECONDS: Final = 0.05
_TITLE_CHARACTERS: Final = 80
_ATTACHMENT: Final = '<attachment kind="'
_LABEL: Final = re.compile(r'<attachment kind="[^>]* label="([^"]*)"')
"""What goes along with a message, as the page writes it behind the words."""
_JOINERS: Final = "\u200c\u200d"
_AT_WORK: Final = frozenset({"running", "interactive"})
_TROUBLE: Final = frozenset({"api_req_failed", "mistake_limit_reached", "auto_approval_max_req_reached"})


def needs_person(ask: AnyAsk | None) -> bool:
    """Whether a task that waits with this question cannot go on without an answer, and wants to."""
    return ask is not None and (ask in _TROUBLE or ask_class(ask) == "interactive")


@dataclass(frozen=True)
class OpenTaskStatus:
    """Whether a task needs somebody, and whether an error stopped it."""

    needs_you: bool = False
    failed: bool = False


class OpenTasks:
    """Which conversations are open. Tabs hear of what is different a moment later, and all at once."""

    def __init__(self, channels: ChannelHub, details: Callable[[str], TaskDetails | None]) -> None:
        self._channels = channels
        self._details = details
        self._open: dict[Owner, dict[str, HistoryItem]] = {}
        self._plights: dict[str, OpenTaskStatus] = {}
        """Of each task as last known: its question goes on waiting when it is put aside."""
        self._told: dict[Owner, list[OpenTask] | None] = {}
        """What all tabs have; None while some may have something else."""
        self._timers: dict[Owner, asyncio.TimerHandle] = {}
        self.on_change: Callable[[Owner], None] = lambda owner: None
        """Told when others are open, or in another order."""

    def of(self, owner: Owner) -> list[OpenTask]:
        """The open conversations as they are now, for a state."""
        lines = self._lines(owner)
        if lines != self._told.get(owner):
            self._told[owner] = None
            self._tell_soon(owner)
        return lines

    def ids(self, owner: Owner) -> list[str]:
        """The open conversations, in their order."""
        return list(self._open.get(owner, ()))

    def all(self) -> dict[str, Owner]:
        """All open conversations, and whose they are."""
        return {task_id: owner for owner, mine in self._open.items() for task_id in mine}

    # ---- changing

    def put(self, owner: Owner, item: HistoryItem) -> None:
        """Open a conversation at the end; one that is open stays where it is."""
        mine = self._open.setdefault(owner, {})
        if item.id in mine:
            self.item_changed(owner, item)
            return
        mine[item.id] = item
        self._close_what_is_too_much(mine, item.id)
        self._changed(owner)

    def restore(self, owner: Owner, items: Sequence[HistoryItem], plights: Mapping[str, OpenTaskStatus]) -> None:
        """Open again what was open when the server ended, before what was opened since."""
        before = {item.id: item for item in items}
        self._plights = {**plights, **self._plights}
        self._open[owner] = before | self._open.get(owner, {})
        self._changed(owner)

    def replace(self, owner: Owner, left: str, item: HistoryItem) -> None:
        """Work goes on in another task, which takes the place of the one left; where both are open only the left one goes."""
        mine = self._open.get(owner, {})
        if left not in mine:
            return
        if item.id in mine:
            del mine[left]
        else:
            self._open[owner] = {
                (item.id if task_id == left else task_id): (item if task_id == left else known)
                for task_id, known in mine.items()
            }
        self._changed(owner)

    def remove(self, owner: Owner, task_ids: Iterable[str]) -> None:
        """Close these."""
        mine = self._open.get(owner, {})
        gone = [task_id for task_id in task_ids if mine.pop(task_id, None) is not None]
        for task_id in gone:
            self._plights.pop(task_id, None)
        if gone:
            self._changed(owner)

    # ---- hearing

    def item_changed(self, owner: Owner, item: HistoryItem) -> None:
        """A conversation's line in the history is this now."""
        mine = self._open.get(owner, {})
        if item.id in mine:
            mine[item.id] = item
            self._tell_soon(owner)

    def touched(self, task_id: str) -> None:
        """A task may be doing something else now."""
        owners = [owner for owner, mine in self._open.items() if task_id in mine]
        doing = self._details(task_id) if owners else None
        if doing is not None:
            # Now: it may have come to its end before anybody is told.
            self._plights[task_id] = OpenTaskStatus(doing.needs_you, doing.failed)
        for owner in owners:
            self._tell_soon(owner)

    def stop(self) -> None:
        """Tell nobody anything any more."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()

    # ---- inside

    def _changed(self, owner: Owner) -> None:
        self.on_change(owner)
        self._tell_soon(owner)

    def _tell_soon(self, owner: Owner) -> None:
        if owner not in self._timers:
            loop = asyncio.get_running_loop()
            self._timers[owner] = loop.call_later(_TOLD_EVERY_SECONDS, self._tell, owner)

    def _tell(self, owner: Owner) -> None:
        self._timers.pop(owner, None)
        lines = self._lines(owner)
        if lines != self._told.get(owner):
            self._told[owner] = lines
            self._channels.publish_to(owner, OpenTasksUpdatedMessage(open_tasks=lines))

    def _lines(self, owner: Owner) -> list[OpenTask]:
        return [self._line(item) for item in self._open.get(owner, {}).values()]

    def _line(self, item: HistoryItem) -> OpenTask:
        doing = self._details(item.id)
        if doing is not None:
            self._plights[item.id] = OpenTaskStatus(doing.needs_you, doing.failed)
        plight = self._plights.get(item.id, OpenTaskStatus())
        status = _status_at_rest(item) if doing is None else doing.status
        return OpenTask(
            task_id=item.id,
            title=_title(item),
            status=status,
            needs_you=plight.needs_you,
            failed=True if plight.failed and status not in _AT_WORK else None,
            notebook=item.notebook,
            external_agent=item.external_agent,
            pictures=None if item.title else item.pictures,
            root_task_id=item.root_task_id,
        )

    def _close_what_is_too_much(self, mine: dict[str, HistoryItem], newest: str) -> None:
        resting = [task_id for task_id in mine if task_id != newest and self._details(task_id) is None]
        for task_id in resting[: max(0, len(mine) - MOST_OPEN)]:
            del mine[task_id]
            self._plights.pop(task_id, None)


def _status_at_rest(item: HistoryItem) -> TaskStatus:
    # A task that reached its end waits for what comes next, be it worked on or not.
    return "idle" if item.status == "completed" else "none"


def _title(item: HistoryItem) -> str:
    words = item.title or item.task.partition(_ATTACHMENT)[0]
    if not words.strip() and (first := _LABEL.search(item.task)):
        words = html.unescape(first[1]).replace("\n", " ")
    words = " ".join(words.strip().partition("\n")[0].split())
    words = "".join(sign for sign in words if sign in _JOINERS or unicodedata.category(sign) not in ("Cc", "Cf"))
    return words if len(words) <= _TITLE_CHARACTERS else words[: _TITLE_CHARACTERS - 1].rstrip() + "…"
