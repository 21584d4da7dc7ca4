"""What people should know about their configuration, until it no longer holds or they have put it away."""

from __future__ import annotations

import hashlib
import json

from ..config import ContextProxy
from ..config import Notice as ConfigNotice
from ..messages import Notice

__all__ = ["NoticeBoard"]

# What costs a person something if it goes unseen; the rest is a warning.
_ERRORS = frozenset({"config_corrupt", "storage_unavailable"})


class NoticeBoard:
    """The configuration's notices in the form in which they are shown, without those put away.

    What is put away comes back with the next start of the server if it still holds then.
    """

    def __init__(self, config: ContextProxy) -> None:
        self._config = config
        self._put_away: set[str] = set()

    @property
    def standing(self) -> list[Notice]:
        """Each notice once, with an id that stays the same as long as it says the same."""
        told = {notice.id: notice for notice in map(_told, self._config.notices)}
        return [notice for notice in told.values() if notice.id not in self._put_away]

    def put_away(self, notice_id: str) -> None:
        """Do not show this notice any more; one that does not stand is nothing to remember."""
        if any(notice.id == notice_id for notice in self.standing):
            self._put_away.add(notice_id)


def _told(notice: ConfigNotice) -> Notice:
    params = {**notice.params, **({"field": notice.field} if notice.field else {})}
    same = json.dumps([notice.code, params], sort_keys=True).encode()
    return Notice(
        id=hashlib.sha256(same).hexdigest()[:16],
        level="error" if notice.code in _ERRORS else "warning",
        code=notice.code,
        message=notice.message,
        params=params,
    )
