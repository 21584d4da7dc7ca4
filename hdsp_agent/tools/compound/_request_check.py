"""What the person's words name and code leaves out. A small model forgets half of a sentence; told so, it tries again."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Final

from .._tool import SinceAsked
from ._code import made_names, parsed_or_empty
from ._step_report import NOTHING_DONE

__all__ = ["as_heading", "asks_to_mend", "forgotten", "labelled", "only_labels"]

_CALLED: Final = re.compile(r"\b([A-Za-z_]\w*)\(|`([A-Za-z_]\w*)`|\b([A-Za-z]\w*_\w+)\b")
_COLUMNS: Final = re.compile(r"\bcolumns:? (.+)$", re.MULTILINE)
_WORD: Final = re.compile(r"\w+")
_BY_NAME: Final = re.compile(r"\bcolumns?\s+['\"`]?(\w+)", re.IGNORECASE)
_HEADING: Final = re.compile(r"\b(?:heading|headline|title|section)\b|제목|見出し|タイトル", re.IGNORECASE)
_MEND: Final = re.compile(
    r"\b(?:fix(?:es|ing)?|fx|fxi|repair|mend|debug|troubleshoot|"
    r"(?<!squared )(?<!absolute )(?<!standard )(?<!relative )(?<!percentage )(?<!prediction )error(?! bars?\b)|errors out|(?:gives?|giving|gets?|getting|with|shows?) (?:\w+ )?errors|(?-i:[A-Z]\w*(?:Error|Exception))|(?:key|name|type|value|index|syntax|attribute|import)errors?|"
    r"bugs?|buggy|broke|broken|wrong|incorrect|fails?|failing|failed|crash\w*|exceptions?|traceback|stack ?trace|complain(?:s|ing)?|"
    r"(?:does(?:n['’]?t| not)|did(?:n['’]?t| not)|wo(?:n['’]?t)|will not|can(?:['’]?t|not)|is(?:n['’]?t| not)|stopped) "
    r"(?:even |really |seem to )?(?:work|run|compile|execute|finish)(?:ing|s)?|(?:not|never|don['’]?t) (?:work(?:ing|s)?|running|compiling)|(?:blows?|blowing|blew|acts?|acting|messed|screwed) up|chok(?:es|ing)|misbehav\w*|"
    r"(?:it|this|cell(?: \d+)?|code) (?:just |always |now )?(?:throws|dies|explodes|bombs)|throw(?:s|ing) an? \w*(?:error|exception)|throwing|"
    r"(?:has|have|having|got|is) (?:a |some )?(?:problems?|issues?|trouble)|(?:problems?|issues?|trouble) (?:with|in) (?:this|the|my|cell|it)|"
    r"(?:looks?|seems?) (?:off|odd|fishy|not right)|(?:can['’]?t|cannot|isn['’]?t|not) (?:be )?right|(?:an?|the|my|some) (?:typo|mistake)s?|"
    r"(?:sort|straighten) (?:this|it|that|cell \d+|the \w+) out|get (?:this|it|that|cell \d+|the \w+) (?:to )?(?:work|run|going)(?:ing)?|"
    r"make (?:it|this|that|the \w+|cell \d+) (?:work|run)|correct (?:it|this|the \w+))\b|"
    r"고쳐|고치|오류|에러|버그|틀렸|틀려|망가|고장|안 ?(?:돼|되|돌아|나와)|작동하지|실행이 ?안|문제가|이상해|"
    r"直し|直す|修正して|修正を|エラー|バグ|間違|壊れ|動かな|動きませ|失敗|おかし",
    re.IGNORECASE,
)
_FRAME: Final = re.compile(r"\bdata ?frame\b|데이터 ?프레임|データ ?フレーム", re.IGNORECASE)
_MAKES: Final = re.compile(
    r"\b(?:make|create|build|generate|construct|give|want|need)\b|만들|생성|作|生成", re.IGNORECASE
)
_FRAMED: Final = re.compile(r"DataFrame|read_\w+\(|\.to_frame\(|\bdf\b")
_USES: Final = re.compile(
    r"\b(?:use|using|call\w*|apply|try|test|show|print|run|extract|replace|refactor|put|move|turn|avoid)\b|"
    r"사용|호출|출력|보여|使|呼び|表示",
    re.IGNORECASE,
)
_SHOW: Final = re.compile(r"plt\.show\(")
_LONGEST_HEADING: Final = 80
_LABELS: Final = frozenset(
    {
        "xlabel", "ylabel", "title", "suptitle", "legend", "grid", "xticks", "yticks", "xlim", "ylim", "tight_layout",
        "show", "set_xlabel", "set_ylabel", "set_title", "set_xlim", "set_ylim", "set_xticks", "set_yticks", "gca",
    }
)  # fmt: skip
_MOST_TIMES: Final = 2
_AGAIN: Final = "The person speaks of "


def forgotten(code: str, since: SinceAsked, sources: Sequence[str]) -> str | None:
    """What to send the code back with; None if it has all that was named, or was sent back for that before.

    ``sources`` are the code cells there are.
    """
    if sum(call.is_error and call.result.startswith(_AGAIN) for call in since.calls) >= _MOST_TIMES:
        return None
    frame = _FRAME.search(since.words)
    if frame is not None and _MAKES.search(since.words) and not _FRAMED.search(code):
        return f"{_AGAIN}a {frame[0]}: the code has to make one with pd.DataFrame.{NOTHING_DONE}"
    uncalled = _uncalled(code, since.words, sources)
    if uncalled is not None:
        return f"{_AGAIN}using {uncalled}: the code has to call it below its definition.{NOTHING_DONE}"
    there = {name for source in sources for name in made_names(source)}
    names = [next(one for one in found if one) for found in _CALLED.findall(since.words)]
    for wanted in ([name for name in names if name not in there], _columns_meant(since)):
        if not all(_has(code, name) for name in wanted):
            # All of them, not only those left out: else the next try leaves out the others.
            named = list(dict.fromkeys(wanted))
            return f"{_AGAIN}{' and '.join(named)}: the code has to use {'it' if len(named) == 1 else 'them'}.{NOTHING_DONE}"
    return None


def _uncalled(code: str, words: str, sources: Sequence[str]) -> str | None:
    """A function that is to be used, and that the code only defines."""
    tree = parsed_or_empty(code)
    defined = {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}
    named = [name for found in _CALLED.findall(words) for name in found if name in defined]
    if not named or not _USES.search(words):
        return None
    called = {
        node.func.id
        for one in (tree, *map(parsed_or_empty, sources))
        for node in ast.walk(one)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    return next((name for name in named if name not in called), None)


def asks_to_mend(words: str) -> bool:
    """Whether something is said to be wrong."""
    return _MEND.search(words) is not None


def only_labels(code: str) -> bool:
    """Whether the code says how a plot looks and draws none: in a cell of its own that makes an empty picture."""
    called = [node.func for node in ast.walk(parsed_or_empty(code)) if isinstance(node, ast.Call)]
    names = [func.attr if isinstance(func, ast.Attribute) else "" for func in called]
    return any(name in _LABELS - {"show", "gca"} for name in names) and all(name in _LABELS for name in names)


def labelled(plot: str, labels: str) -> str:
    """The code of a plot with these labels, before it is shown."""
    lines = plot.rstrip().split("\n")
    more = [line for line in labels.strip().split("\n") if not _SHOW.match(line) and line not in lines]
    at = next((at for at, line in enumerate(lines) if _SHOW.match(line)), len(lines))
    return "\n".join([*lines[:at], *more, *lines[at:]])


def as_heading(text: str, words: str) -> str:
    """The text as a heading, if that is what was asked for and it is none."""
    if "\n" in text or text.lstrip().startswith("#") or len(text) > _LONGEST_HEADING or not _HEADING.search(words):
        return text
    return f"# {text.strip()}"


def _columns_meant(since: SinceAsked) -> list[str]:
    """The columns of known tables that the person names."""
    shown = "\n".join([since.surroundings, *(call.result for call in since.calls)])
    columns = {each.rpartition(" ")[0] for line in _COLUMNS.findall(shown) for each in line.split(", ")}
    said = [word.lower() for word in _WORD.findall(since.words)]
    by_name = {name.lower() for name in _BY_NAME.findall(since.words)}
    # A letter is rather a word of the sentence.
    return [
        column
        for column in sorted(columns)
        if column.lower() in by_name or (len(column) > 1 and {column.lower(), f"{column.lower()}s"} & set(said))
    ]


def _has(code: str, name: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", code) is not None
