"""Notices of the configuration in the form in which they are shown."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable

from ..config import Notice as ConfigNotice
from ..messages import Notice

__all__ = ["told"]

# What costs a person something if it goes unseen; the rest is a warning.
_ERRORS = frozenset({"config_corrupt", "storage_unavailable"})


def told(notices: Iterable[ConfigNotice]) -> list[Notice]:
    """Each notice once, with an id that stays the same as long as it says the same."""
    return list({notice.id: notice for notice in map(_told, notices)}.values())


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
