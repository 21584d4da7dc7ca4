"""Whether a change did what was asked, by what the cells showed before and after: the kernel is asked, not the model."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Mapping, Sequence
from typing import Final, TypeVar

from ._code import parsed_or_empty
from ._request_check import asks_to_mend

__all__ = ["expected_number", "keeps_results", "not_as_asked", "written_in"]

Key = TypeVar("Key")
_EXPECTED: Final = re.compile(
    r"\b(?:should|must|ought to|has to|supposed to|expect(?:ed|ing)?)\b(?: \w+){0,3}?\s+['\"`]?(-?\d+(?:\.\d+)?)(?![\w%])"
    r"|(-?\d+(?:\.\d+)?)\s*(?:이|가)?\s*(?:여야|이어야|나와야)|(-?\d+(?:\.\d+)?)\s*(?:に(?:なる|すべき)|であるべき|のはず)",
    re.IGNORECASE,
)
_REWORKS: Final = re.compile(
    r"\b(?:refactor\w*|extract\w*|rewrite|simplif\w+|shorten|tidy|clean ?up|optimi[sz]e\w*|speed up|vectori[sz]e|"
    r"(?:into|as|to|it) (?:an? |one )?(?:\w+ )?(?:function|method|class|comprehension))\b|리팩터|함수로|リファクタ|関数に",
    re.IGNORECASE,
)
_CHANCE: Final = re.compile(r"rand|shuffle|sample|time|now\(|today|uuid")
_NUMBER: Final = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?", re.IGNORECASE)
_MOST: Final = 120


def expected_number(words: str) -> float | None:
    """The number that should come out, if the person says so."""
    found = _EXPECTED.search(words)
    return None if found is None else float(next(one for one in found.groups() if one))


def keeps_results(words: str) -> bool:
    """Whether code is to be written otherwise, and to do the same."""
    return _REWORKS.search(words) is not None and not asks_to_mend(words)


def not_as_asked(words: str, before: Mapping[Key, str], after: Mapping[Key, str], sources: Sequence[str]) -> str | None:
    """Why what the cells show now cannot be what was asked for; None if it can.

    ``before`` is what they showed, ``sources`` is their code now.
    """
    if any(_CHANCE.search(source) for source in sources):
        return None
    if asks_to_mend(words):
        expected = expected_number(words)
        if expected is not None and not any(_shows(text, expected) for text in after.values()):
            return f"It should show {expected:g}, and it does not."
        same = all(before.get(key) == text for key, text in after.items())
        if same and any(after.values()):
            return f"It still shows {_short(next(text for text in after.values() if text))}, which is wrong."
    elif keeps_results(words):
        other = next((key for key, text in after.items() if before.get(key, text) != text), None)
        if other is not None and before[other]:
            return f"It showed {_short(before[other])} before, and has to show that again."
    return None


def written_in(code: str, old: str, number: float | None) -> bool:
    """Whether the code gives the number that should come out as it is, and the old does not."""
    return number is not None and number in _given(code) - _given(old)


def _given(code: str) -> set[float]:
    """The numbers that the code returns, prints or assigns without computing anything."""
    values: list[ast.expr | None] = []
    for node in ast.walk(parsed_or_empty(code)):
        if isinstance(node, (ast.Return, ast.Assign)):
            values.append(node.value)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
            values += node.args
    constants = [value.value for value in values if isinstance(value, ast.Constant)]
    return {float(value) for value in constants if isinstance(value, (int, float)) and not isinstance(value, bool)}


def _shows(text: str, number: float) -> bool:
    return any(math.isclose(float(one), number, rel_tol=1e-6, abs_tol=1e-9) for one in _NUMBER.findall(text))


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _MOST else f"{flat[:_MOST]}…"
