"""What a person's words ask for, as far as their words alone tell: a small model chooses badly among many tools."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

__all__ = ["Wish", "wish_of"]


def _words(pattern: str, others: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{pattern})\b|{others}", re.IGNORECASE)


_MAKE: Final = _words(
    r"plot|draw|chart|graph|histogram|scatter|visuali[sz]e|comput\w*|calculat\w*|load|read|import|print|show|display|"
    r"write|create|generate|count|sum|average|mean|median|find|sort|group|filter|define|implement|list|simulate|build|"
    r"train|fit|merge|join|add|use|get|convert|save|total|max\w*|min\w*|largest|smallest|highest|lowest|number of|per|"
    r"rows?|columns?|statistics|distribution|correlation|frequency|percent\w*|values?",
    r"그려|그래프|계산|불러|읽|출력|보여|작성|만들|구해|描|グラフ|計算|読み|表示|出力|書い|作",
)
_MEND: Final = _words(
    r"fix|repair|debug|error|bug|broken|fails?|failing|failed|does(?:n't| not) work|crash\w*|exception",
    r"고쳐|고치|오류|에러|버그|直し|修正して|エラー|バグ",
)
_CHANGE: Final = _words(
    r"change|modify|edit|update|replace|instead|improve|refactor|rewrite|simplify|optimi[sz]e|correct|make (?:the|it|this)|"
    r"set (?:the|\w+ (?:to|=))|use .+ instead|add (?:a |an )?(?:title|legend|labels?|grid|docstring|comments?|argument|parameter|type hints?)|"
    r"in (?:this|the) (?:cell|plot|chart|figure|function)|to (?:this|the) (?:cell|plot|chart|figure|function)",
    r"수정|바꿔|바꾸|변경|고쳐|変更|変え|書き換え|修正",
)
_RENAME: Final = _words(r"renam\w*|call \w+ \w+ instead|new name", r"이름|변수명|名前|改名|変数名")
_TEXT: Final = _words(
    r"heading|headline|title above|markdown|text cell|note|caption|section|introduction",
    r"제목|마크다운|텍스트|見出し|タイトル|マークダウン",
)
_DELETE: Final = _words(r"delete|remove|drop|get rid of", r"삭제|지워|제거|削除|消し|取り除")
_RUN: Final = _words(r"run|rerun|re-run|execute", r"실행|実行")
_EXPLAIN: Final = _words(
    r"explain|describe (?:what|how|the code|this|cell)|why|what does|what do|how does|how do|what(?: is|'s) (?:an?|wrong)|"
    r"what went wrong|difference between|meaning of|tell me about|summari[sz]e (?:the|this) (?:notebook|code|cell)",
    r"설명|왜|무슨 뜻|説明|なぜ|どういう意味",
)
_QUESTION: Final = _words(
    r"what|how|who|when|where|which|is there|are there|does|do",
    r"[?？]|무엇|뭐|몇|얼마|어떤|알려|何|いくつ|どの|教えて",
)
_CELL: Final = re.compile(r"\bcell\s*#?(\d+)\b|(\d+)\s*번\s*셀|셀\s*(\d+)|セル\s*(\d+)", re.IGNORECASE)


@dataclass(frozen=True)
class Wish:
    """The tools that fit, and the cells that can be meant; None where the words do not tell."""

    tools: frozenset[str] | None
    cells: tuple[int, ...] | None


def wish_of(words: str, cells: Mapping[int, str]) -> Wish:
    """What is asked for. ``cells`` are the notebook's code cells by number, with how they stand."""
    tools: set[str] = set()
    explains, mends, changes = (bool(one.search(words)) for one in (_EXPLAIN, _MEND, _CHANGE))
    if explains:
        tools.add("answer")
    if cells and (mends or changes) and not (explains and not mends):
        tools.add("edit_cell")
    if _TEXT.search(words):
        tools.add("add_text")
    for pattern, tool in ((_RENAME, "rename_variable"), (_RUN, "run_cell")):
        if cells and pattern.search(words):
            tools.add(tool)
    if "edit_cell" in tools:
        # What is edited is run anyway.
        tools.discard("run_cell")
    if _DELETE.search(words):
        tools |= {"delete_cell", "edit_cell"} if cells else {"delete_cell"}
    makes = bool(_MAKE.search(words))
    alone = not tools or (makes and not mends and not explains and not tools & {"rename_variable", "add_text"})
    if alone and (tools or makes or _QUESTION.search(words)):
        tools.add("add_cell")
    if not tools:
        # In a language, or of a thing, that these words do not cover.
        return Wish(None if cells else frozenset({"add_cell", "add_text", "answer"}), tuple(cells) or None)
    return Wish(frozenset(tools), _meant(words, cells, mends=mends))


def _meant(words: str, cells: Mapping[int, str], *, mends: bool) -> tuple[int, ...] | None:
    named = [int(next(one for one in found if one)) for found in _CELL.findall(words)]
    there = tuple(number for number in dict.fromkeys(named) if number in cells)
    if there:
        return there
    failed = tuple(number for number, state in cells.items() if state == "failed")
    if mends and failed:
        return failed
    return tuple(cells) or None
