"""The very keys that this process uses, so that none of them shows up where text is kept or shown.

They are in memory only. A key is found as it is, in the encodings that servers and libraries put it into, and cut off
behind its first half: errors are shortened before anybody masks them.
"""

from __future__ import annotations

import base64
import html
import json
import re
import threading
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple, NoReturn
from urllib.parse import quote, quote_plus

__all__ = ["KEY_IN_USE", "KeySpan", "KeysInUse", "keys_in_use"]

KEY_IN_USE: Final = "KEY_IN_USE"
"""What is written, in brackets, in place of a key."""

_SHORTEST: Final = 8
_SHORTEST_OF_LETTERS: Final = 20
_SHORTEST_RESPELLED: Final = 16
_FEWEST_CHARACTERS: Final = 5
_MOST_KEYS: Final = 64
_LONGEST: Final = 8192


class KeySpan(NamedTuple):
    """Where a key stands in a text."""

    start: int
    end: int


class _Form(NamedTuple):
    """One spelling of a key, and how much of it must be there."""

    text: str
    head: str


class KeysInUse:
    """A set of keys that is looked for in texts. It is never written, printed, copied or pickled."""

    __slots__ = ("_forms", "_keys", "_lock")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._keys: dict[str, tuple[_Form, ...]] = {}
        self._forms: tuple[_Form, ...] = ()

    def add(self, *values: str | None) -> None:
        """Look for these from now on. What could be an ordinary word is left out; the oldest go when there are many."""
        with self._lock:
            for value in values:
                text = (value or "").strip()
                if not _is_distinct(text):
                    continue
                self._keys[text] = self._keys.pop(text, ()) or tuple(_forms(text))
            while len(self._keys) > _MOST_KEYS:
                del self._keys[next(iter(self._keys))]
            self._forms = tuple({form.text: form for forms in self._keys.values() for form in forms}.values())

    def clear(self) -> None:
        """Forget all of them."""
        with self._lock:
            self._keys, self._forms = {}, ()

    def mask(self, text: str) -> str:
        """The text with a placeholder for every key."""
        spans, _ = self.find(text, final=True)
        if not spans:
            return text
        pieces, end = [], 0
        for span in spans:
            pieces += [text[end : span.start], f"[{KEY_IN_USE}]"]
            end = span.end
        return "".join([*pieces, text[end:]])

    def find(self, text: str, *, final: bool) -> tuple[list[KeySpan], int]:
        """Where keys stand, and up to where text that follows can change nothing."""
        forms = self._forms
        if not forms:
            return [], len(text)
        undecided = [] if final else sorted({at for form in forms for at in _beginnings(text, form.text)})
        spans: list[KeySpan] = []
        position = 0
        for at in sorted({at for form in forms for at in _places(text, form.head)}):
            if at < position:
                continue
            if (first := _first(undecided, position)) is not None and first <= at:
                return spans, first
            end = max(_end_of_match(text, at, form) for form in forms)
            spans.append(KeySpan(at, end))
            position = end
        first = _first(undecided, position)
        return spans, len(text) if first is None else first

    def __bool__(self) -> bool:
        return bool(self._forms)

    def __repr__(self) -> str:
        return f"<{len(self._keys)} keys in use>"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("The keys in use can be neither copied nor pickled.")


keys_in_use: Final = KeysInUse()
"""Those of this process. Whatever reads a key from where it is kept adds it; whatever shows text asks."""


def _is_distinct(text: str) -> bool:
    """Whether the key can be told from ordinary words, such as the ``none`` that some servers want."""
    if not _SHORTEST <= len(text) <= _LONGEST or len(set(text)) < _FEWEST_CHARACTERS:
        return False
    has_both = any(map(str.isdigit, text)) and any(map(str.isalpha, text))
    return has_both or len(text) >= _SHORTEST_OF_LETTERS


def _forms(key: str) -> Iterator[_Form]:
    for text in dict.fromkeys(_spellings(key)):
        if len(text) >= _SHORTEST:
            # Half of it and not less than a dozen characters are no accident.
            yield _Form(text, text[: max(12, len(text) // 2)])


def _spellings(key: str) -> Iterator[str]:
    yield key
    if len(key) >= _SHORTEST_RESPELLED:
        yield from (key.lower(), key.upper())
    yield from _quoted(key)
    raw = key.encode("utf-8", "replace")
    yield from (raw.hex(), raw.hex().upper())
    yield from _in_base64(raw)


def _quoted(key: str) -> Iterable[str]:
    in_json = json.dumps(key)[1:-1]
    percent = quote(key, safe="")
    return (
        in_json,
        json.dumps(key, ensure_ascii=False)[1:-1],
        in_json.replace("/", "\\/"),
        json.dumps(in_json)[1:-1],
        repr(key)[1:-1],
        html.escape(key),
        percent,
        quote(key),
        quote_plus(key),
        re.sub("%[0-9A-F]{2}", lambda found: found[0].lower(), percent),
    )


def _in_base64(raw: bytes) -> Iterator[str]:
    """As it looks wherever it stands in what is encoded, as in ``user:key``: without the characters its neighbours shape."""
    for offset in range(3):
        first, last = -(-8 * offset // 6), 8 * (offset + len(raw)) // 6
        encoded = base64.b64encode(b"\0" * offset + raw).decode()[first:last]
        yield encoded
        yield encoded.translate({ord("+"): "-", ord("/"): "_"})
        yield quote(encoded, safe="")


def _places(text: str, head: str) -> Iterator[int]:
    at = text.find(head)
    while at >= 0:
        yield at
        at = text.find(head, at + 1)


def _beginnings(text: str, form: str) -> Iterator[int]:
    """Where the end of the text could be the beginning of the form."""
    first = form[0]
    at = text.find(first, max(0, len(text) - len(form) + 1))
    while at >= 0:
        if form.startswith(text[at:]):
            yield at
        at = text.find(first, at + 1)


def _end_of_match(text: str, at: int, form: _Form) -> int:
    if not text.startswith(form.head, at):
        return at
    end, limit = at + len(form.head), min(len(text), at + len(form.text))
    while end < limit and text[end] == form.text[end - at]:
        end += 1
    return end


def _first(places: list[int], floor: int) -> int | None:
    return next((place for place in places if place >= floor), None)
