"""What people should know, until it no longer holds or they have put it away."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping

from ..config import ConfigNotice, ContextProxy
from ..errors import Param
from ..messages import Notice, NoticeLevel

__all__ = ["Notices"]

# What costs a person something if it goes unseen; the rest is a warning.
_ERRORS = frozenset({"config_corrupt", "storage_unavailable"})


class Notices:
    """The configuration's notices and those of the other parts, in the form in which they are shown.

    What is put away comes back with the next start of the server if it still holds then, or when it says something else.
    """

    def __init__(self, config: ContextProxy) -> None:
        self._config = config
        self._posted: dict[str, Notice] = {}
        self._put_away: set[str] = set()
        self._listeners: list[Callable[[], None]] = []

    @property
    def standing(self) -> list[Notice]:
        """Each notice once, with an id that stays the same as long as it says the same."""
        told = {notice.id: notice for notice in map(_told, self._config.notices)}
        told.update((notice.id, notice) for notice in self._posted.values())
        return [notice for notice in told.values() if notice.id not in self._put_away]

    def subscribe(self, listener: Callable[[], None]) -> None:
        """Call this when a notice was posted or withdrawn; the configuration tells of its own itself."""
        self._listeners.append(listener)

    def post(
        self, topic: str, level: NoticeLevel, code: str, message: str, params: Mapping[str, Param] | None = None
    ) -> None:
        """Say this about the topic, in place of what was said about it before."""
        notice = _notice(level, code, message, dict(params or {}))
        if self._posted.get(topic) != notice:
            self._posted[topic] = notice
            self._changed()

    def withdraw(self, topic: str) -> None:
        """There is nothing to say about the topic any more."""
        notice = self._posted.pop(topic, None)
        if notice is not None:
            # Should it come to hold again, that is news.
            self._put_away.discard(notice.id)
            self._changed()

    def put_away(self, notice_id: str) -> None:
        """Do not show this notice any more; one that does not stand is nothing to remember."""
        if any(notice.id == notice_id for notice in self.standing):
            self._put_away.add(notice_id)

    def _changed(self) -> None:
        for listener in self._listeners:
            listener()


def _told(notice: ConfigNotice) -> Notice:
    params = {**notice.params, **({"field": notice.field} if notice.field else {})}
    return _notice("error" if notice.code in _ERRORS else "warning", notice.code, notice.message, params)


def _notice(level: NoticeLevel, code: str, message: str, params: dict[str, Param]) -> Notice:
    same = json.dumps([code, params], sort_keys=True).encode()
    return Notice(id=hashlib.sha256(same).hexdigest()[:16], level=level, code=code, message=message, params=params)
