"""The operator's list of servers that may be used: URLs and command lines, with ``*`` for anything."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit

from ._variables import FilledEntry

__all__ = ["is_allowed"]

_PORTS: Final = {"http": 80, "https": 443}


def is_allowed(entry: FilledEntry, allowed: Sequence[str] | None) -> bool:
    """Whether a server may be used, as it is with its variables filled in. None allows all."""
    if allowed is None:
        return True
    if entry.url is not None:
        return any(_url_matches(entry.url, pattern) for pattern in allowed if "://" in pattern)
    words = [entry.command or "", *entry.args]
    return any(_words_match(words, pattern) for pattern in allowed if "://" not in pattern)


def _url_matches(url: str, pattern: str) -> bool:
    """Part by part: a ``*`` for the host must not reach into the path of another one."""
    given, wanted = urlsplit(url), urlsplit(pattern)
    if any(part in (".", "..") for part in unquote(given.path).replace("\\", "/").split("/")):
        # It leads to another path than the one that is compared.
        return False
    try:
        same_port = _port(given) == _port(wanted)
    except ValueError:
        return False
    return (
        given.scheme == wanted.scheme
        and same_port
        and fnmatchcase((given.hostname or "").rstrip("."), (wanted.hostname or "").rstrip("."))
        and fnmatchcase(given.path or "/", wanted.path or "/")
    )


def _port(parts: SplitResult) -> int | None:
    return parts.port or _PORTS.get(parts.scheme)


def _words_match(words: Sequence[str], pattern: str) -> bool:
    """Word by word; a last word ``*`` stands for any number of them."""
    try:
        wanted = shlex.split(pattern)
    except ValueError:
        return False
    if wanted and wanted[-1] == "*":
        wanted = wanted[:-1]
        words = words[: len(wanted)] if len(words) >= len(wanted) else words
    return len(words) == len(wanted) and all(map(fnmatchcase, words, wanted))
