"""Masking of secrets and e-mail addresses when text is recorded, whole or as it streams in."""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Collection
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, NoReturn

from ...config import MaskedKind, keys_in_use
from ._key_stream import KeyStream
from ._rule_candidates import WORD
from ._vault import PLACEHOLDER_START, Vault

if TYPE_CHECKING:
    from ._rule_candidates import MaskingRule, SecretFound, Triggers

__all__ = ["Masker", "StreamMasker"]

# What a trigger, a name or the local part of an address may consist of: the end of a text that is held back for a while.
_UNFINISHED: Final = re.compile(r"[A-Za-z0-9_.%+\-@:/\[\\\"'$~]{0,80}")
# No pattern needs more to see that a candidate is none; that is a private key's first line.
_LONGEST_START: Final = 80
_PIECE: Final = 64 * 1024
_WORD_REST: Final = re.compile(r"[._-]?[A-Za-z0-9_-]*")


class _Scan(NamedTuple):
    findings: list[SecretFound | str]
    settled: int


class _Rules(NamedTuple):
    kinds: frozenset[MaskedKind]
    triggers: Triggers
    by_trigger: dict[str, MaskingRule]
    look_back: int


@functools.lru_cache(maxsize=32)
def _rules_for(kinds: frozenset[MaskedKind]) -> _Rules | None:
    # Compiling all the patterns takes some 20 ms, which importing the package need not cost.
    from ._masking_rules import RULES
    from ._rule_candidates import LOOK_BACK, Triggers

    by_trigger = {trigger: rule for rule in RULES if rule.kinds & kinds for trigger in rule.triggers}
    if not by_trigger:
        return None
    return _Rules(kinds, Triggers([*by_trigger, PLACEHOLDER_START], by_trigger), by_trigger, LOOK_BACK)


def _scan(rules: _Rules, text: str, start: int, *, final: bool) -> _Scan:
    """The secrets after ``start``, and up to where more text can change nothing.

    Rescans what a rejected candidate reached over, because a real one may stand inside.
    """
    findings: list[SecretFound | str] = []
    floor = position = start
    examined = 0
    while found := rules.triggers.search(text, position):
        trigger, at, position = found
        if trigger == WORD and at < examined:
            continue
        if trigger == PLACEHOLDER_START:
            findings.append(text[at:position])
            floor = position
            continue
        rule = rules.by_trigger[trigger]
        candidate = _candidate(rule, text, at, sys.maxsize if final else len(text) - rule.slack)
        if candidate == "open":
            return _Scan(findings, _word_start(text, at, floor))
        finding = rule.check(text, candidate, floor) if candidate is not None and at >= floor else None
        if finding is not None:
            position = max(position, finding.end)
            if finding.kind in rules.kinds:
                findings.append(finding)
                floor = position
        elif trigger == WORD:
            # All its separators have the same beginnings before them.
            examined = _end_of_word(text, at)
    return _Scan(findings, len(text) if final else _word_start(text, len(text), floor))


def _candidate(rule: MaskingRule, text: str, at: int, end: int) -> re.Match[str] | Literal["open"] | None:
    """All that could belong to the secret at ``at``, or that this is open if it needs text after ``end`` to be told."""
    if rule.head is not None:
        pattern, tells = rule.head
        head = pattern.match(text, at)
        if head is None or head.end() > end:
            return "open"
        if not tells(text, head):
            return None
    candidate = rule.reach.match(text, at, at + rule.limit)
    reached = at + _LONGEST_START if candidate is None else candidate.end()
    return "open" if reached > end else candidate


def _end_of_word(text: str, at: int) -> int:
    rest = _WORD_REST.match(text, at)
    return at if rest is None else rest.end()


def _word_start(text: str, end: int, floor: int) -> int:
    word = _UNFINISHED.match(text[max(floor, end - 80) : end][::-1])
    return end if word is None else end - word.end()


class Masker:
    """Masks what one task records, with placeholders that only this task's vault can turn back."""

    __slots__ = ("_rules", "vault")

    def __init__(self, kinds: Collection[MaskedKind]) -> None:
        self._rules = _rules_for(frozenset(kinds))
        self.vault = Vault()

    def mask(self, text: str) -> str:
        """The text with a placeholder for every secret. Masking it again changes nothing."""
        if keys_in_use:
            keys = KeyStream(self.vault)
            text = keys.feed(text) + keys.finish()
        if self._rules is None:
            return text
        if len(text) > _PIECE:
            return self._mask_in_pieces(text)
        return self._apply(text, 0, len(text), _scan(self._rules, text, 0, final=True).findings)

    def stream(self) -> StreamMasker:
        """A masker for text that arrives in pieces; all it gives out together is what ``mask`` gives for the whole."""
        return StreamMasker(self, KeyStream(self.vault))

    def unmask(self, text: str) -> str:
        """The text with the secrets of this task put back, for a tool that a person approved to use them."""
        return self.vault.unmask(text)

    def _mask_in_pieces(self, text: str) -> str:
        """One search holds the interpreter to its end: over a long text, even in a thread, it would stop the server."""
        # Without the keys in use, which are masked by now.
        stream = StreamMasker(self, None)
        pieces = [stream.feed(text[at : at + _PIECE]) for at in range(0, len(text), _PIECE)]
        return "".join([*pieces, stream.finish()])

    def _apply(self, text: str, start: int, end: int, findings: list[SecretFound | str]) -> str:
        pieces: list[str] = []
        for found in findings:
            if isinstance(found, str):
                self.vault.reserve(found)
                continue
            pieces.append(text[start : found.start])
            pieces.append(self.vault.placeholder(found.label, text[found.start : found.end]))
            start = found.end
        pieces.append(text[start:end])
        return "".join(pieces)

    def __repr__(self) -> str:
        return f"<Masker with {self.vault!r}>"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("A masker holds secrets: it can be neither copied nor pickled.")


class StreamMasker:
    """Masks text that arrives in pieces. It holds back what could still become a secret, and nothing else."""

    __slots__ = ("_keys", "_masker", "_patience", "_pieces", "_start", "_text")

    def __init__(self, masker: Masker, keys: KeyStream | None) -> None:
        self._masker = masker
        self._keys = keys
        self._text = ""
        # The text before this was given out and is kept for looking back.
        self._start = 0
        self._pieces: list[str] = []
        self._patience = 0

    @property
    def held(self) -> int:
        """How many characters are held back."""
        keys = 0 if self._keys is None else self._keys.held
        return len(self._text) - self._start + sum(map(len, self._pieces)) + keys

    def feed(self, chunk: str) -> str:
        """What can be given out now that this piece has arrived."""
        if self._keys is not None:
            chunk = self._keys.feed(chunk)
        rules = self._masker._rules
        if rules is None:
            return chunk
        self._pieces.append(chunk)
        self._patience -= len(chunk)
        if self._patience > 0:
            return ""
        return self._give(rules, final=False)

    def finish(self) -> str:
        """The rest, when the text has ended. The next piece begins a new text."""
        last = "" if self._keys is None else self._keys.finish()
        rules = self._masker._rules
        if rules is None:
            return last
        self._pieces.append(last)
        rest = self._give(rules, final=True)
        self._text, self._start, self._patience = "", 0, 0
        return rest

    def _give(self, rules: _Rules, *, final: bool) -> str:
        text = self._text + "".join(self._pieces)
        findings, settled = _scan(rules, text, self._start, final=final)
        given = self._masker._apply(text, self._start, settled, findings)
        kept = max(0, settled - rules.look_back)
        self._text, self._start, self._pieces = text[kept:], settled - kept, []
        # A long candidate that comes letter by letter is looked at as it grows by a part, not at every letter.
        self._patience = (len(text) - settled) // 16
        return given

    def __repr__(self) -> str:
        return f"<StreamMasker holding {self.held} characters>"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("A masker holds secrets: it can be neither copied nor pickled.")
