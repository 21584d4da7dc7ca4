"""Where an answer states no result: likely mentions, what it looks at, advice, conditions, conventions and questions."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import deque
from itertools import pairwise
from typing import Final

from ._likely_mentions import LIKELY_MENTION

__all__ = ["Unstated"]

_NUMBER: Final = r"[-+−$€£₩¥]?\d[\d.,]{0,20}"
_BOUND: Final = re.compile(
    r"(?<![A-Za-z])(?!(?:is|was|has|this|always|lies|rises|stays|remains|goes|drops|falls)\s)(?:[A-Za-z]{2,20}s\s(?:above|below|under|over|beyond)|(?:older|younger)\sthan)\s"
    + _NUMBER
    + r"|"
    + _NUMBER
    + r"[A-Za-z%％가-힣ァ-ヶ一-龯]{0,4}?\s?(?:(?:이상|이하|미만|초과)(?:인|의|만)\s|(?:以上|以下|未満)の)"
)
"""Of which things something is told. That there are more than so many of them would be told of all."""
_FROM_HERE: Final = re.compile(
    r"(?:^[\s>*-]{0,9}|(?<=[.,;:!?]\s)|(?<![A-Za-z])(?:to|and|or|then|please|just|can|could|should)\s)"
    r"(?:try|consider|use|set|increase|decrease|raise|lower|pass|choose|pick)(?![A-Za-z])"
    r"|(?<![A-Za-z])(?:if\s(?:you|your)|when\syou|unless|you\s(?:could|should|might|may|would|need|want)|I\s(?:would\s(?:try|use|set)|suggest|recommend)"
    r"|I[’']d\s(?:try|use|set|suggest|recommend)|shall\sI|should\sI|do\syou|would\syou|let\sme\sknow|let[’']s|(?:we|I)\s(?:suggest|recommend)|feel\sfree"
    r"|suppose|assum(?:e|ing)|imagine|rule\sof\sthumb|by\s(?:default|definition|convention)|the\sdefault|conventional(?:ly)?"
    r"|(?:is|are)\s(?:considered|regarded)|counts?\sas|would\s(?:take|need|require)|(?:will|may|might)\stake)(?![A-Za-z])"
    r"|만약|만일|관례|기본값|정의상|もし|既定|デフォルト|慣例|定義上|目安",
    re.IGNORECASE | re.MULTILINE,
)
_UP_TO_HERE: Final = re.compile(
    r"(?:해|어|아|여|려|꿔|눠|줘)\s(?:보세요|보십시오|보시|도\s됩니다|도\s좋)|(?<!확인)(?<!참고)(?<!주목)(?<!기억)(?<!유의)(?<!주의)(?:하|리|추|꾸|누|쓰|두)(?:세요|십시오)"
    r"|으세요|려면|(?:는|은)\s것이\s좋|면\s(?:됩니다|좋|충분)|추천|권장|까요"
    r"|(?<!見)(?<!確認し)(?<!参照し)(?<!注意し)(?<!ご覧)(?:て|で)ください|(?<!見て)(?<!見てみ)ましょう|(?:と|ば|たら|ても)(?:よい|良い|いい)|たい場合"
    r"|べき|お?勧め|おすすめ|推奨|必要があ|でしょうか|ますか|ですか"
)
_SENTENCE_END: Final = re.compile(r"(?<!e\.g)(?<!i\.e)[.!](?=\s)|[?？。！\n]|\Z")
_CLAUSE_END: Final = re.compile(r"[,;:](?=\s)|[、；：]")


class Unstated:
    """The places of an answer where it states no result."""

    def __init__(self, plain: str) -> None:
        spans = [found.span() for kind in (_BOUND, LIKELY_MENTION) for found in kind.finditer(plain)]
        ends = [found.end() for found in _SENTENCE_END.finditer(plain)]
        for begin, end in pairwise([0, *ends]):
            spans += _of_sentence(plain, begin, end)
        self._spans = sorted(spans)
        self._furthest = _furthest(self._spans)

    def has(self, at: int) -> bool:
        """Whether what begins there is in one of them."""
        before = bisect_right(self._spans, (at, len(self._furthest) and self._furthest[-1]))
        return before > 0 and self._furthest[before - 1] > at


def _of_sentence(plain: str, begin: int, end: int) -> list[tuple[int, int]]:
    if plain[end - 1 : end] in ("?", "？"):
        return [(begin, end)]
    spans: list[tuple[int, int]] = []
    first = _FROM_HERE.search(plain, begin, end)
    if first is not None:
        spans.append((first.start(), end))
    for last in deque(_UP_TO_HERE.finditer(plain, begin, end), maxlen=1):
        clauses = [found.end() for found in _CLAUSE_END.finditer(plain, begin, last.start())]
        spans.append((clauses[-1] if clauses else begin, last.end()))
    return spans


def _furthest(spans: list[tuple[int, int]]) -> list[int]:
    """How far the spans reach up to each of them."""
    reached: list[int] = []
    for _, end in spans:
        reached.append(max(end, reached[-1] if reached else 0))
    return reached
