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
_OBJECT: Final = r"(?:(?-i:the|an?|your|it)\s|(?-i:[a-z_][\w.]{0,30})\s?=)"
"""What tells that a word is a verb: use a, not use of; set the, not Set A."""
_SOME: Final = r"(?:\d|(?:at\sleast|at\smost|about|roughly|up\sto|more|fewer|only|all)\s)"
_ADVICE: Final = re.compile(
    r"(?:^[\s>*-]{0,9}|(?<=[.,;:!?]\s)(?:and\s)?|(?<![A-Za-z])(?:or|then|please|just|(?:can|could|should)(?:\salso)?|(?:better|best|common|usual|wise|safer|enough)\sto)\s)"
    r"(?:try\s|consider\s(?:[a-z]{2,20}ing\s|(?!the\s)" + _OBJECT + "|" + _SOME + r")"
    r"|(?:use|set|increase|decrease|raise|lower|pass|choose|pick)\s"
    + _OBJECT
    + r"|(?:use|choose)\s"
    + _SOME
    # Not: Increase in sales to.
    + r"|(?:set|increase|decrease|raise|lower)\s(?!(?:in|of|rose|fell|grew|went|came|[a-z]{2,20}ed)\s)(?-i:[a-z_][\w.]{0,30})\sto\s)"
    r"|(?<![A-Za-z])(?:you\s(?:could|should|might|may|would|need\sto|want\sto)(?!\s(?:expect|notice|see|find|recall|remember|know|guess|think|have)(?![a-z]))"
    r"|I\s(?:would\s(?:try|use|set)|suggest|recommend)|I[’']d\s(?:try|use|set|suggest|recommend)|shall\sI|should\sI|do\syou|would\syou"
    r"|let\sme\sknow|let[’']s(?!\s(?:see|look|note))|(?:we|I)\s(?:suggest|recommend)|feel\sfree|rule\sof\sthumb"
    r"|by\s(?:default|definition|convention)(?![^.;\n]{0,200}\s(?:was|were|reached|gave|got|had|rose|fell)\s)"
    r"|would\s(?:take|need|require)|(?:will|may|might)\stake)(?![A-Za-z])"
    r"|관례|정의상|慣例|定義上|目安",
    re.IGNORECASE | re.MULTILINE,
)
_ADVICE_END: Final = re.compile(r"[;；]|,\s(?:then|so|but|which|where|since|because|as|while|whereas)\s", re.IGNORECASE)
"""After it comes what was found, or may be."""
_CONDITION: Final = re.compile(
    r"(?:^[\s>*-]{0,9}|(?<=[.,;:!?]\s))(?:assume|suppose|imagine)\s"
    r"|(?<![A-Za-z])(?:(?:if\s(?:you|your)|when\syou|unless|conventional\s(?:value|threshold|level|cut-?off|choice))(?![A-Za-z])"
    r"|default\s(?:value\s)?(?:is|of)\s|(?:(?:is|are)\s(?:considered|regarded)|counts?\sas)\s(?:[a-z]{1,20}\s){1,3}(?:above|below|over|under|beyond|from|if)\s)"
    r"|만약|만일|もし|기본값(?:은|이|인|으로)\s?(?:약\s?)?\d|(?:既定|デフォルト)(?:値|設定)?(?:では?|は|の)\s?約?\d",
    re.IGNORECASE | re.MULTILINE,
)
_CONDITION_END: Final = re.compile(r"[,;:](?=\s)|[、；：]|(?<=[가-힣])면(?=\s)|たら|れば|なら|場合")
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
    for kind, its_end in ((_ADVICE, _ADVICE_END), (_CONDITION, _CONDITION_END)):
        at = begin
        while (found := kind.search(plain, at, end)) is not None:
            last = its_end.search(plain, found.end(), end)
            at = end if last is None else last.end()
            spans.append((found.start(), at))
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
