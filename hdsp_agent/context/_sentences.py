"""Sentences that say what must be, what is wanted, and what was decided, in English, Korean and Japanese."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

__all__ = ["constraints_in", "decisions_in", "goals_in"]

_LONGEST: Final = 500
_END: Final = re.compile(r"(?<=[.!?])\s+(?=[^\s\d])|(?<=[。！？])")
_BULLET: Final = re.compile(r"\s*(?:[-*•]|\d{1,2}[.)])\s+(.+)")
_FENCE: Final = re.compile(r"\s*(?:```|~~~)")
_CONSTRAINT: Final = re.compile(
    r"\b(?:must|never|always|only|without|avoid|ensure|make sure|required?|forbidden|prohibited|not allowed|do not|don['’]t|"
    r"should(?:n['’]t| not)|can(?:no|['’])t|at (?:most|least)|no (?:more|less|fewer) than|instead of|prefer|under no)\b"
    r"|지 ?마|지 ?말|말 ?것|말고|반드시|절대|항상|금지|꼭 |만 (?:사용|써|쓰)|해야 ?(?:한다|해|합|하)|이내로|없이"
    r"|ないで|必ず|絶対|常に|禁止|だけ|のみ|なければなら|てはいけ|てはなら|ではなく|以内に|せずに|ないこと",
    re.IGNORECASE,
)
_LIST_OF_CONSTRAINTS: Final = re.compile(
    r"\W*(?:\w+ )?(?:constraints?|rules?|requirements?|restrictions?|conditions?|limits?|제약|규칙|요구 ?사항|조건|制約|ルール|要件|条件)"
    r"\w*\W*[:：]?\W*$",
    re.IGNORECASE,
)
_GOAL: Final = re.compile(
    r"\W*(?:(?:final|main|overall)\s+)?(?:goal|objective|aim|목표|目標|ゴール)\W*\s*(?:is|은|는|は)?\s*[:：]\s*\S",
    re.IGNORECASE,
)
_DECISION: Final = re.compile(
    r"\b(?:decided?|decision|chose|chosen|settled on|going with|agreed (?:to|on)|we(?:['’]ll| will) use|I(?:['’]ll| will) use)\b"
    r"|결정|하기로|채택|決定|ことにし|ことにする|採用",
    re.IGNORECASE,
)


def constraints_in(text: str) -> Iterator[str]:
    """What the text says must or must not be, each sentence as it is; so is all that is listed under such a heading."""
    listed = False
    for line in _lines(text):
        bullet = _BULLET.match(line)
        if _LIST_OF_CONSTRAINTS.match(line):
            listed = True
            continue
        if bullet is None and line.strip():
            listed = False
        if listed and bullet is not None:
            yield bullet[1].strip()[:_LONGEST]
            continue
        yield from (sentence for sentence in _sentences(line) if _CONSTRAINT.search(sentence))


def decisions_in(text: str) -> Iterator[str]:
    """Sentences that tell of a decision."""
    return (sentence for line in _lines(text) for sentence in _sentences(line) if _DECISION.search(sentence))


def goals_in(text: str) -> Iterator[str]:
    """Lines that name a goal as such."""
    return (line.strip()[:_LONGEST] for line in _lines(text) if _GOAL.match(line))


def _lines(text: str) -> Iterator[str]:
    """The lines of prose: what stands in a fenced block is code or data."""
    fenced = False
    for line in text.split("\n"):
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            yield line


def _sentences(line: str) -> Iterator[str]:
    bullet = _BULLET.match(line)
    for sentence in _END.split(bullet[1] if bullet else line):
        if stripped := sentence.strip():
            yield stripped[:_LONGEST]
