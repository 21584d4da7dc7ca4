"""Which number in a refusal is what was sent, which the limit, and which the answer that was asked for.

Wordings put them in any order, so each number is judged by the words next to it: those right behind it, else those
before it in its own clause, else those of the clause before.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise, zip_longest
from typing import Final, Literal

__all__ = ["TokenNumbers", "token_numbers"]

Role = Literal["input", "output", "limit", "total", "none"]

_NUMBER: Final = re.compile(
    r"(?<![\w.\-\[/$#:])(?<!\d,)(?<![A-Za-z]=)(\d{1,3}(?:[,_  ]\d{3})+|\d+(?:\.\d+)?[kKmM](?![\w])|\d+)"
    r"(?![\w]|\.\d|[-:]\w|/(?!\d{4,7}\b)\w|\s*(?:%|status code|ms\b|seconds?\b|s\b|bytes\b|[KMG]i?B\b))"
)
_KEYED: Final = re.compile(r"\b([A-Za-z_]{3,}) ?= ?(?=\d)|\b(length|limit|size|tokens?|window):(?=\d)", re.IGNORECASE)

# What providers call the answer's budget; its "max" must not make a limit of the number beside it.
_BUDGET: Final = re.compile(r"\bmax_?(?:new|completion|output)?_?tokens(?:_to_sample)?\b|num_predict", re.IGNORECASE)

# Behind the number, before anything else is said.
_BEHIND_WORDS: Final[tuple[tuple[str, Role], ...]] = (
    (r"(?:tokens? )?(?:in|of|from|for) (?:the |your )?(?:\w+ )?(?:completion|output|response|generation|answer)", "output"),
    ((r"(?:tokens? )?(?:in|of|from|for) (?:the |your )?(?:tool |text |image |system )?"
     r"(?:input|prompt|messages|functions?|tools?|context messages|conversation|request|history)"), "input"),
    (r"answerbudget", "output"),
    (r"(?:output|completion|new|generated|response) tokens?", "output"),
    (r"tokens? (?:requested|sent|provided|given|received|long|were|in total)", "input"),
    (r"[`'\"]?(?:inputs?|prompt|context|message)[`'\"]? (?:length|tokens?)", "input"),
    (r"draft tokens?", "none"),
    (r"(?:tokens? )?(?:is |was )?(?:the )?(?:max(?:imum)?\b|limit\b|token limit|allowed\b|available\b|context (?:window|length|limit|size))",
     "limit"),
    (r"tokens? (?:per|a|/) ?min", "none"),
)  # fmt: skip
_BEHIND: Final = tuple(
    (re.compile(rf"[`'\"]?\s*(?:{pattern})", re.IGNORECASE), role) for pattern, role in _BEHIND_WORDS
)

_LIMIT: Final = re.compile(
    r"max(?:imum)?\b|max_|max-|\blimit|\bexceed(?:s|ing)?\s*$|at most|up to\b|only\b|less than|smaller than|fewer than|lower than|no more than"
    r"|<=|≤|must not exceed|cannot exceed|can(?:not|'t) be (?:more|greater|larger|longer)|allowed|n_ctx"
    r"|context[ _-](?:length|window|size)|supports?\b|capacity|available|上限|最大|최대|within|should be \[|between|range",
    re.IGNORECASE,
)
_EXCESS: Final = re.compile(r"\bby(?: about| approximately)?\s*$", re.IGNORECASE)
_OUTPUT: Final = re.compile(
    r"completion|output|answerbudget|new tokens|generat|response length",
    re.IGNORECASE,
)
_TOTAL: Final = re.compile(
    r"requested(?: about| a total of| approximately)?:?\s*$|\btotal(?: of|:)?(?: at least| about| approximately)?\s*$|you requested",
    re.IGNORECASE,
)
_INPUT: Final = re.compile(
    r"prompt|inputs?\b|input_|messages?\b|request contains|resulted in|your request|the request|current length|received|given"
    r"|\bgot\b|sent|keep|n_keep|passed|conversation|context\b|tokens? in request|requested|actual|token count|length\b|\bused?\b"
    r"|入力|输入|입력|トークン数|number of tokens|토큰 수|令牌数|词元数|\brequest\W*$|this request|size\b|contains|has\b|have\b|is\b|were\b|was\b",
    re.IGNORECASE,
)
_CLAUSE: Final = re.compile(
    r"[,;(){}\n]|\.\s|:\s|\s-\s|\b(?:but|however|while|whereas|and|which|than the|exceeds?|exceeded|"
    r"(?:is |are )?(?:longer|larger|greater|more) than|against|versus|vs\.?)\b",
    re.IGNORECASE,
)

_FORMULA_WORDS: Final[tuple[tuple[str, tuple[Role, ...]], ...]] = (
    (r"(\d[\d,]*)(?: tokens?)? ?\+ ?(\d[\d,]*)(?: tokens?)? ?(?:>=?|≥|exceeds?) ?(\d[\d,]*)", ("input", "output", "limit")),
    (r"(\d[\d,]*) ?> ?(\d[\d,]*) ?- ?(\d[\d,]*)", ("output", "limit", "input")),
    (r"(\d[\d,]*)(?: tokens?)? ?(?:>=?|≥) ?(\d[\d,]*)", ("input", "limit")),
    (r"\((\d[\d,]*)(?: tokens?)? / (\d[\d,]*)(?: tokens?)?\)", ("input", "limit")),
)  # fmt: skip
_FORMULAS: Final = tuple((re.compile(pattern), roles) for pattern, roles in _FORMULA_WORDS)

_RANGE: Final = re.compile(
    r"\[\s*\d+\s*,\s*(\d+)\s*\]|\bbetween \d+ and (\d[\d,]*)"
    r"|\brange (?:is |of )?from \d+(?: \(\w+\))? to (\d[\d,]*)( \(exclusive\))?",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class TokenNumbers:
    """Tokens: what was sent (or all that was asked for, where that is not told apart), the limit, the answer's budget."""

    current: int | None = None
    limit: int | None = None
    output: int | None = None


def token_numbers(text: str, *, about_output: bool = False) -> TokenNumbers:
    """Read the numbers; ``about_output`` when the refusal is about the length of the answer alone."""
    found: dict[Role, list[int]] = {"input": [], "output": [], "limit": [], "total": [], "none": []}
    text = _BUDGET.sub("answerbudget", _KEYED.sub(_unkeyed, text))
    text = _take_formulas(text, found, about_output=about_output)
    breakdown = False
    previous_end = 0
    matches = list(_NUMBER.finditer(text))
    for match, following in zip_longest(matches, matches[1:]):
        before = text[previous_end : match.start()]
        behind = text[match.end() : following.start() if following else match.end() + 60]
        previous_end = match.end()
        role = _role(before, behind, text[: match.start()], about_output=about_output)
        if role == "limit" and _is_code(match, text):
            role = "none"
        if role != "none":
            breakdown = breakdown or (role in ("input", "output") and bool(found["total"]))
            found[role].append(_value(match[1]))
    return _settled(found, breakdown=breakdown, about_output=about_output)


def _take_formulas(text: str, found: dict[Role, list[int]], *, about_output: bool) -> str:
    for pattern, roles in _FORMULAS:
        if match := pattern.search(text):
            for role, number in zip(roles, match.groups(), strict=True):
                found["output" if about_output and role == "input" else role].append(_value(number))
            return text[: match.start()] + text[match.end() :]
    if match := _RANGE.search(text):
        found["limit"].append(_value(match[1] or match[2] or match[3]) - (1 if match[4] else 0))
        return text[: match.start()] + text[match.end() :]
    return text


def _unkeyed(match: re.Match[str]) -> str:
    return f"{match[1] or match[2]} "


def _is_code(match: re.Match[str], text: str) -> bool:
    """Whether this is a number some providers put behind their sentence, as in ``exceeds limit (2013)``."""
    alone = text[match.start() - 1 : match.start()] == "(" and text[match.end() :].strip(" .") == ")"
    return alone and re.search(r"token|length|n_ctx", text, re.IGNORECASE) is None


def _role(before: str, behind: str, all_before: str, *, about_output: bool) -> Role:
    if about_output and _LIMIT.search(_clauses(before, all_before)[0]):
        return "limit"
    for pattern, role in _BEHIND:
        if pattern.match(behind):
            return role
    if _EXCESS.search(before):
        return "none"
    for clause in _clauses(before, all_before):
        if _TOTAL.search(clause):
            return "total"
        if _LIMIT.search(clause):
            return "limit"
        if _OUTPUT.search(clause):
            return "output"
        if _INPUT.search(clause):
            return "input"
    return "none"


def _clauses(before: str, all_before: str) -> list[str]:
    """The clause the number stands in, then the ones before it, the nearest first."""
    parts = _split(before)
    if len(parts) == 1 and not before.strip():
        parts = _split(all_before[-80:])
    return parts[:3]


def _split(text: str) -> list[str]:
    """Clauses, the last first; a clause keeps the word it begins with, such as ``exceeds``."""
    cuts = [0, *(match.start() for match in _CLAUSE.finditer(text)), len(text)]
    parts = [text[start:end] for start, end in pairwise(cuts)]
    return [part for part in reversed(parts) if re.search(r"\w|<=|≤", part)] or [text]


def _settled(found: dict[Role, list[int]], *, breakdown: bool, about_output: bool) -> TokenNumbers:
    limit = found["limit"][0] if found["limit"] else None
    output = found["output"][0] if found["output"] else None
    if about_output:
        asked = output if output is not None else next(iter(found["input"] + found["total"]), None)
        return TokenNumbers(None, limit, asked)
    total = found["total"][0] if found["total"] else None
    current: int | None = None
    if found["input"]:
        # Only the parts of one sum belong together; a number that is said again is no other part.
        current = sum(dict.fromkeys(found["input"])) if breakdown else max(found["input"])
    elif total is not None:
        current = total - output if output is not None and output < total else total
    return TokenNumbers(current, limit, output)


def _value(number: str) -> int:
    factor = {"k": 1_000, "m": 1_000_000}.get(number[-1].lower(), 1)
    digits = re.sub(r"[,_  ]", "", number[:-1] if factor > 1 else number)
    return round(float(digits) * factor)
