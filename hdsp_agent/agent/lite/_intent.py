"""What a person's words ask for, as far as their words alone tell: a small model chooses badly among many tools."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ...tools.compound import CellFact, asks_to_mend, made_names
from ._intent_patterns import asks_for_names, asks_what_for, begs, rids_of_cell, tells_precision

__all__ = ["Intent", "intent_of"]


def _words(pattern: str, others: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{pattern})\b|{others}", re.IGNORECASE)


_MAKE: Final = _words(
    r"plot|draw|chart|graph|histogram|scatter|visuali[sz]e|comput\w*|calculat\w*|load|read|import|print|show|display|"
    r"write|create|generate|count|sum|average|mean|median|find|sort|group|filter|define|implement|list|simulate|build|"
    r"train|fit|merge|join|add|use|get|open|summari[sz]e|describe|preview|check|inspect|list|top|first|fill|drop|missing|convert|save|total|max\w*|min\w*|largest|smallest|highest|lowest|number of|per|"
    r"rows?|columns?|statistics|distribution|correlation|frequency|percent\w*|values?",
    r"그려|그래프|계산|불러|읽|출력|보여|작성|만들|구해|描|グラフ|計算|読み|表示|出力|書い|作",
)
_CHANGE: Final = _words(
    r"change|modify|edit|update|replace|instead|improve|refactor|rewrite|simplify|optimi[sz]e|correct|make (?:the|it|this)|"
    r"set (?:the|\w+ (?:to|=))|use .+ instead|(?:into|as|to) (?:an? |one )?(?:\w+ )?(?:function|method|class|comprehension)|add (?:a |an )?(?:title|legend|labels?|grid|docstring|comments?|argument|parameter|type hints?)|"
    r"in (?:this|the) (?:cell|plot|chart|figure|function)|to (?:this|the) (?:cell|plot|chart|figure|function)",
    r"수정|바꿔|바꾸|변경|고쳐|変更|変え|書き換え|修正",
)
_AT_ONCE: Final = re.compile(
    r"^\W*(?:(?:please|pls|can you|could you|now|then|just|only|and|also)\W+)*(?:change|modify|edit|update|replace|rewrite|refactor|"
    r"simplify|optimi[sz]e|improve|correct|set (?:the|\w+ (?:to|=))|make (?:the|it|this)|put .+ in(?:to)? |move|extract|turn .+ into)\b"
    r"|\binstead\b",
    re.IGNORECASE,
)
"""Begins a wish for a change of what there is, and for nothing else."""
_LOOK: Final = _words(
    r"round\w*|decimals?|decimal places?|digits?|format\w*|(?:upper|lower) ?case|capitali[sz]e\w*|labels?|titles?|legend|"
    r"colou?rs?|colou?red|size|bigger|smaller|font|ax[ie]s|[xy]-?(?:axis|label)|captions?|bold|thick\w*|thin\w*|wider|taller|grid|"
    r"(?:be|to|them|it) (?:red|green|blue|black|orange|purple|gr[ae]y)|dashed|dotted|scale|markers?|precision|places",
    r"반올림|소수|자리|형식|대문자|소문자|제목|색|범례|四捨五入|小数|桁|形式|大文字|小文字|色|凡例",
)
"""How something looks that is there already."""
_PLOTTED: Final = _words(
    r"plots?|charts?|graphs?|figures?|ax[ie]s|labels?|titles?|legend|lines?|bars?|colou?rs?|x-?axis|y-?axis|[xy]label",
    r"그래프|차트|축|제목|범례|グラフ|軸|タイトル|凡例",
)
_NEW: Final = re.compile(
    r"^\W*(?:(?:please|pls|can you|could you|now|then|just|also)\W+)*(?:plot|draw|chart|graph|create|generate|make an?|scatter|"
    r"histogram|bar(?! colou?rs?)|line (?:chart|plot)|visuali[sz]e|"
    r"(?:new|another)(?! (?:titles?|labels?|legend|colou?rs?|names?|caption))|"
    r"(?:i (?:want|need|would like|'d like)|give me|show me|let'?s (?:have|see)) (?:an?|another) (?:\w+ ){0,2}(?:plot|chart|graph|figure))\b",
    re.IGNORECASE,
)
_RENAME: Final = _words(
    r"renam\w*|re-nam\w*|renmae|raname|rname|call \w+ \w+ instead|new name|(?:change|replace|update) (?:the )?(?:\w+ )?names?",
    r"이름|변수명|名前|改名|変数名",
)
_SHOWN_NAME: Final = _words(r"titles?|labels?|headings?|legend|captions?", r"제목|타이틀|タイトル|見出し|ラベル")
"""Named, but no variable."""
_HERE: Final = _words(r"this|here|current", r"이 ?셀|여기|이거|이 코드|この|ここ|これ")
_FUNCTION: Final = _words(r"function|method|def", r"함수|関数")
_WORD: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_ARTICLES: Final = frozenset({"a", "i", "A", "I"})
_TEXT: Final = _words(
    r"heading|headline|title above|markdown|text cell|note|caption|section|introduction",
    r"제목|마크다운|텍스트|見出し|タイトル|マークダウン",
)
_DELETE: Final = _words(r"delete|remove|drop|get rid of", r"삭제|지워|제거|削除|消し|取り除")
_OF_DATA: Final = _words(
    r"rows?|columns?|values?|duplicates?|missing|nans?|nulls?|outliers?|entries|records|items?|elements?|blanks|"
    r"spaces|whitespace|punctuation|stop ?words|characters|letters|digits|numbers|files?|keys?",
    r"행|열|결측|중복|行|列|欠損|重複",
)
_CELL_WORD: Final = _words(r"cells?", r"셀|セル")
_RUN: Final = _words(r"run|rerun|re-run|execute", r"실행|実行")
_EXPLAIN: Final = _words(
    r"explain|describe (?:what|how|the code|this|cell)|why|what does|what do|how does|how do|what(?: is|'s) (?:an?|wrong)|"
    r"what went wrong|difference between|meaning of|tell me about|summari[sz]e (?:what|how|(?:the|this) (?:notebook|code|cell))",
    r"설명|왜|무슨 뜻|説明|なぜ|どういう意味",
)
_QUESTION: Final = _words(
    r"what|how|who|when|where|which|is there|are there|does|do",
    r"[?？]|무엇|뭐|몇|얼마|어떤|알려|何|いくつ|どの|教えて",
)
_MANY_DIGITS: Final = re.compile(r"\d\.\d{3}")
_PICTURE: Final = "[picture]"
_CELL: Final = re.compile(r"\bcell\s*#?(\d+)\b|(\d+)\s*번\s*셀|셀\s*(\d+)|セル\s*(\d+)", re.IGNORECASE)


@dataclass(frozen=True)
class Intent:
    """The tools that fit, and the cells that can be meant; None where the words do not tell."""

    tools: frozenset[str] | None
    cells: tuple[int, ...] | None
    is_guess: bool = False
    """Whether the words do not tell which tools fit."""


def intent_of(words: str, cells: Mapping[int, CellFact], here: int | None = None) -> Intent:
    """What is asked for. ``cells`` are the notebook's code cells by number; ``here`` is the one the person is in."""
    tools: set[str] = set()
    mends, what_for = asks_to_mend(words), asks_what_for(words)
    explains = what_for is True or (what_for is None and bool(_EXPLAIN.search(words)))
    mends = mends or (not explains and _failed(cells) != () and begs(words))
    renames = bool(_RENAME.search(words)) or asks_for_names(words, _made(cells))
    at_once = bool(_AT_ONCE.search(words)) or _restyles(words, cells)
    changes = at_once or bool(_CHANGE.search(words))
    if explains:
        tools.add("answer")
    if cells and (mends or changes) and not (explains and not mends):
        tools.add("edit_cell")
    if _TEXT.search(words):
        tools.add("add_text")
    if cells and renames:
        tools.add("edit_cell" if _SHOWN_NAME.search(words) else "rename_variable")
    if cells and _RUN.search(words):
        tools.add("run_cell")
    if tools & {"edit_cell", "rename_variable"}:
        # What is edited is run anyway.
        tools.discard("run_cell")
    if "rename_variable" in tools and not mends:
        tools.discard("edit_cell")
    of_data = _OF_DATA.search(words) is not None
    rids = rids_of_cell(words) and (not of_data or _CELL_WORD.search(words) is not None)
    if rids or (_DELETE.search(words) and (not of_data or _CELL_WORD.search(words))):
        tools |= {"delete_cell", "edit_cell"} if cells else {"delete_cell"}
    makes = bool(_MAKE.search(words)) and not (rids and not of_data)
    makes = makes or (of_data and not rids and _DELETE.search(words) is not None)
    alone = not tools or (makes and not mends and not explains and not tools & {"rename_variable", "add_text"})
    if alone and (tools or makes or _QUESTION.search(words)) and not (at_once and cells):
        tools.add("add_cell")
    if not tools:
        # In a language, or of a thing, that these words do not cover.
        return Intent(None if cells else frozenset({"add_cell", "add_text", "answer"}), tuple(cells) or None, True)
    return Intent(frozenset(tools), _meant(words, cells, here, mends=mends, changes=changes))


def _restyles(words: str, cells: Mapping[int, CellFact]) -> bool:
    """Whether something that a cell makes, or draws, is to look otherwise."""
    if not _LOOK.search(words) or _QUESTION.match(words.strip()) or _NEW.match(words):
        return False
    if tells_precision(words) and any(_MANY_DIGITS.search(cell.shown) for cell in cells.values()):
        return True
    drawn = any(_PICTURE in cell.shown for cell in cells.values())
    return bool(_making(words, cells)) or (drawn and _PLOTTED.search(words) is not None)


def _meant(
    words: str, cells: Mapping[int, CellFact], here: int | None, *, mends: bool, changes: bool
) -> tuple[int, ...] | None:
    named = [int(next(one for one in found if one)) for found in _CELL.findall(words)]
    there = tuple(number for number in dict.fromkeys(named) if number in cells)
    if there and not (mends and _making(words, cells)):
        return there
    failed = _failed(cells)
    if mends and failed:
        return (here,) if here in failed and here is not None else failed
    if here in cells and here is not None and _HERE.search(words):
        return (here,)
    if mends or changes:
        making = _making(words, cells)
        if _PLOTTED.search(words):
            drawing = tuple(number for number, cell in cells.items() if _PICTURE in cell.shown)
            making = drawing or making
        if not making and mends and _FUNCTION.search(words):
            making = tuple(
                number for number, cell in cells.items() if re.search(r"^\s*def ", cell.source, re.MULTILINE)
            )
        if not making and tells_precision(words):
            making = tuple(number for number, cell in cells.items() if _MANY_DIGITS.search(cell.shown))
        if making:
            return making
    return there or tuple(cells) or None


def _failed(cells: Mapping[int, CellFact]) -> tuple[int, ...]:
    return tuple(number for number, cell in cells.items() if cell.state == "failed")


def _made(cells: Mapping[int, CellFact]) -> frozenset[str]:
    return frozenset(name for cell in cells.values() for name in made_names(cell.source))


def _making(words: str, cells: Mapping[int, CellFact]) -> tuple[int, ...]:
    """The cells that make something which the words name."""
    said = set(_WORD.findall(words)) - _ARTICLES
    return tuple(number for number, cell in cells.items() if made_names(cell.source) & said)
