"""The ways people put a few wishes that one word alone does not tell: a new name, a cell too many, what code is for."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

__all__ = ["asks_for_names", "asks_what_for", "begs", "rids_of_cell", "tells_precision"]


def _any(pattern: str) -> re.Pattern[str]:
    # In ASCII, so that a word ends where Korean or Japanese begins.
    return re.compile(pattern, re.IGNORECASE | re.ASCII)


_OLD: Final = r"[`'\"]?(?<![\w.])(?P<old>[A-Za-z_]\w*)(?:\(\))?[`'\"]?"
_NEW: Final = _OLD.replace("<old>", "<new>")
_KIND: Final = (
    r"(?:(?:the|my|our|this|that)\s+)?(?:(?:variable|function|method|class|(?:data ?)?frame|table|list|name)\s+)?"
)
_BE: Final = r"(?:should|shall|must|ought to|needs? to|has to|have to|can|could|would|is to|had|'d|will)?\s*(?:rather|better|now)?\s*"
_RENAMES: Final = tuple(
    _any(pattern)
    for pattern in (
        rf"\bcall\s+{_KIND}{_OLD}\s+(?:as\s+)?{_NEW}(?=\s*(?:$|[.,;!?)]|\b(?:instead|please|pls|everywhere|throughout|now|from)\b))",
        rf"{_OLD}\s+{_BE}(?:be\s+|is\s+|gets?\s+)?(?:better\s+|rather\s+)?(?:called|named|known as|spelled)\s+{_NEW}",
        rf"{_OLD}\s*(?:→|-+>|=>|⇒|➜|➡)\s*{_NEW}",
        rf"\bname\s+{_KIND}{_OLD}\s+(?:as\s+)?{_NEW}(?=\s*(?:$|[.,;!?)]|\b(?:instead|please|pls|everywhere|throughout|now)\b))",
        (
            rf"{_OLD}(?:이라는|라는)?\s*(?:변수|함수)?\s*(?:을|를|은|는|이|가)?\s*(?:전부|모두|다)?\s*{_NEW}\s*(?:으로|로|라고|이라고)\s*(?:다|모두|전부)?\s*"
            r"(?:바꾸|바꿔|변경|고쳐|고치|부르|불러|하자|해)"
        ),
        rf"{_OLD}(?:という)?(?:変数|関数)?\s*(?:を|は)\s*(?:全部|すべて|全て)?\s*{_NEW}\s*(?:に|と|へ)\s*(?:全部|すべて)?(?:変え|変更|改名|呼|リネーム|置き換え|直)",
    )
)
_REPLACES: Final = tuple(
    _any(pattern)
    for pattern in (
        rf"\b(?:use|have|say|write|want|prefer|put)\s+{_KIND}{_NEW}\s+(?:instead of|rather than|in place of|where .{{0,20}}says|for)\s+{_KIND}{_OLD}",
        (
            rf"\b(?:replac\w*|swap|switch|exchange|substitute|change|turn|make)\s+(?:every|each|all|any)?\s*(?:occurrences? of |uses? of |of )?{_KIND}{_OLD}"
            rf"\s+(?:for|to|with|by|into|as)\s+{_KIND}{_NEW}"
        ),
        rf"\b(?:instead of|rather than)\s+{_KIND}{_OLD},?\s+(?:use|have|say|write|call it|put)\s+{_NEW}",
    )
)
_THROUGHOUT: Final = _any(
    r"\b(?:everywhere|through ?out|all over|every(?=\s)|each (?:time|place|occurrence)|all (?:occurrences|places|cells|uses)|"
    r"whole notebook|in all cells|wherever|variable|as (?:a |the )?name)\b|전부|모두|すべて|全部|全て"
)
"""Otherwise it may be the code that is to do something else."""
_NAMING: Final = _any(
    r"\b(?:better|other|another|different|nicer|clearer|proper|descriptive|shorter|longer|new|good|meaningful|telling|sensible|"
    r"readable|bad|poor|terrible|silly|stupid|ugly|confusing|awful|misleading|(?:dis|don'?t )like (?:the|that)|wrong|change the|change)"
    r"\s+(?:\w+\s+)?(?:name|naming|identifier)s?\b|\bname\s+(?:it|this|that)\b|\bcall\s+(?:it|this|that)\s+\w+\s+instead\b"
)
_NEW_THING: Final = _any(
    r"\b(?:add|create|write|define|load|read|save|store|compute|calculate|generate|plot|draw|group|merge|count|columns?|files?|"
    r"people|customers?|make an?|titles?|labels?)\b"
)
_NO_NAMES: Final = (
    "a an the it its this that them with on for and or to again here there in into of once twice from by as at zero zeros one ones "
    "nan none null something anything not now please instead int float str string strings integer integers list lists dict tuple "
    "set array lowercase uppercase numpy pandas median mean average max min sum function variable"
)
_NO_NAME: Final = frozenset(_NO_NAMES.split())


def asks_for_names(words: str, made: Collection[str]) -> bool:
    """Whether something that is there, one of the names ``made``, is to be called otherwise."""
    there = {name.lower() for name in made}
    found = [hit for pattern in _RENAMES for hit in pattern.finditer(words)]
    if _THROUGHOUT.search(words):
        found += [hit for pattern in _REPLACES for hit in pattern.finditer(words)]
    for hit in found:
        old, new = hit["old"].lower(), hit["new"].lower()
        if old in there and new not in there and new not in _NO_NAME:
            return True
    said = {word.lower() for word in re.findall(r"[A-Za-z_]\w*", words, re.ASCII)}
    return bool(said & there) and _NAMING.search(words) is not None and not _NEW_THING.search(words)


_RID: Final = (
    r"delete|delet|dele?te|remove|rm|drop|get rid of|getting rid of|kill|trash|bin|discard|scrap|erase|ditch|toss|axe|wipe|lose|cut|"
    r"throw (?:away|out)|take (?:out|away|off)|do away with|chuck(?: out)?"
)
_CELLS: Final = (
    r"(?:(?:the|that|this|my|these|those|whole|entire|very|last|first|second|third|next|previous|empty|current|other|bottom|top|"
    r"failing|broken|unused|useless|test|old|code|extra|both)\s+)*(?:cells?|one|blocks?|셀|セル)\b"
)
_RIDS: Final = _any(
    rf"\b(?:{_RID})\s+{_CELLS}|\b(?:take|throw|toss|chuck)\s+{_CELLS}[\s#\d]*(?:out|away|off)\b|"
    rf"{_CELLS}[\s#\d]*(?:\w+\s+){{0,2}}?(?:can|may|must|should|has to|could)\s+(?:\w+\s+)?(?:go|be (?:deleted|removed|dropped|gone))\b|"
    rf"\b(?:no longer|do not|don'?t|dont|never)\s+(?:need|want|use)\s+{_CELLS}|"
    rf"{_CELLS}[\s#\d]*(?:is|are)\s+(?:\w+\s+)?(?:superfluous|redundant|useless|not needed|unneeded|unnecessary|no longer (?:needed|used))|"
    r"\bthat(?: last)?(?: one)? can go\b|(?:셀|セル)\s*\d*\s*(?:을|를|은|는|を|は)?\s*(?:더 ?이상 |もう)?(?:\S+\s)?(?:삭제|지워|지우|없애|버려|빼|필요 ?없|削除|消し|消して|取り除|捨て|要らな|いらな|不要)"
)


def rids_of_cell(words: str) -> bool:
    """Whether a cell, and not data, is to go."""
    return _RIDS.search(words) is not None


_CODE: Final = r"(?:this|that|it|here|(?:the |this |that )?(?:\w+ )?(?:cell|code|function|line|loop|block|notebook|step)s?(?: \d+)?)"
_WHAT_FOR: Final = _any(
    rf"\b(?:purpose|(?:walk|talk|guide|take|lead) (?:me|us) through|go (?:over|through) {_CODE}|break {_CODE} down|clarify|elaborate|eli5|"
    r"what(?:'?s| is| are| was) (?:\S+ ){1,5}?(?:(?:good |used |here |there )?for|about|supposed to do|meant to do|doing|up to)(?=\W*$)|"
    r"what(?:'?s| is) (?:going on|happening|the (?:point|idea|use|role|job|intent\w*|gist|meaning))|what (?:happens|goes on) (?:in|here)|"
    rf"what(?:'?s| is) {_CODE}(?=\W*$)|(?:i )?(?:do not|don'?t|dont|can'?t|cannot) (?:get|understand|follow|grasp|see) {_CODE}|"
    r"makes? no sense|in (?:plain|simple) (?:words|english|terms)|help me (?:to )?understand|(?:tell|show) me (?:what|how|why) (?:this|it|that|cell|the code)|"
    r"what (?:did|have) (?:i|we|you) (?:do|write|done|written)|(?:huh|wtf)\b|explian|expl?ane?|expalin|wha?t d(?:oe|eo)s)\b"
    r"|무엇을 하는|뭐 ?하는|뭘 하는|무슨 (?:일|역할|의미|코드)|어떤 (?:역할|코드|의미)|이해가? ?(?:안|못)|뜻|何をして|何をする|何のため|どんな処理|目的|意味|解説|教えて.{0,3}(?:コード|セル)"
)
_HELD: Final = _any(
    r"\bwh?at (?:do|does|did) (?!(?:this|that|the|cell) ?(?:\d+ )?(?:cell|code|function|loop|line)).{1,40}?\b(?:contain|hold|look like|consist of|include|equal|cost|"
    r"add up to|sum to|weigh|have in)\b"
)
"""What data holds shows when it is looked at."""


def asks_what_for(words: str) -> bool | None:
    """Whether it is asked what code is for: False for a question of what data holds, None if neither."""
    if _HELD.search(words):
        return False
    return True if _WHAT_FOR.search(words) else None


_PRECISION: Final = _any(
    r"\bdecimals?\b|\bdecimal (?:places?|points?)|\b(?:\d+|one|two|three|four) (?:places?|digits?)\b|\b(?:round|precision|rounded)\b|"
    r"\b(?:cut|trim|truncate|shorten|limit) (?:\S+ ){0,4}?(?:to|after|at) (?:\d+|one|two|three|four)\b|"
    r"반올림|소수점?|자리|四捨五入|小数|桁"
)
_COMPUTES: Final = _any(
    r"\b(?:comput\w*|calculat\w*|plot|draw|load|read|generate|create|find|sum|average|mean|median|total|rows?|columns?|"
    r"values|random|list|function|per|each|by|count|pi|write|add)\b|평균|합계|계산|平均|合計|計算"
)


def tells_precision(words: str) -> bool:
    """Whether the words only say how many digits are to be shown, of what is shown already."""
    return _PRECISION.search(words) is not None and not _COMPUTES.search(words)


_PLAIN_WORDS: Final = (
    "help me please pls plz with this that it its cell still again not no nope ugh hmm hm oh argh damn hey hi here look looks into "
    "take a an at the red now can could would you sort out deal handle do something about my code i im i'm stuck am is am have ideas "
    "idea any lost get going rid make right again what happened happens why how come and of on up want to just go try gone bad "
    "this's it's that's isn't ain't dont don't know need some hand us thanks thank"
)
_PLAIN: Final = frozenset(_PLAIN_WORDS.split())


def begs(words: str) -> bool:
    """Whether the words speak of nothing but what is there: said of a cell that failed, they ask to mend it."""
    said = re.findall(r"[^\W\d_]+(?:['’][^\W\d_]+)?", words.lower())
    helped = re.search(r"도와|살려|왜 이래|안 ?돼|助けて|どうした|動か|動きません|ダメ|駄目", words) is not None
    return helped or all(word.replace("’", "'") in _PLAIN for word in said)
