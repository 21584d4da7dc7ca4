"""Checks the numbers of the answers, and a search for the same digits beside it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from benchmarks.errands._generate import Split
from benchmarks.errands._verdict import interval
from hdsp_agent.verify import AnswerNumber, TextAt, answer_numbers, outputs_of

from ..results import Result, result
from ._answer import Answer, Claim
from ._generate import answers_of

__all__ = ["Verdict", "checked", "measure", "rates", "same_digits"]

Kind: TypeAlias = Literal["right", "wrong", "mention"]
Place: TypeAlias = tuple[Literal["output", "code"], int]
Check: TypeAlias = Callable[[str, Sequence[Sequence[TextAt[Place]]]], Iterable[AnswerNumber[Place]]]
_SEED: Final = 1
_TEXTS: Final = frozenset({"stream", "text", "html", "json", "error"})
_DIGITS: Final = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")


@dataclass(frozen=True)
class Verdict:
    """What the check made of one number: a claim that is right or wrong, or a mention."""

    answer: Answer
    family: str
    kind: Kind
    text: str
    ok: bool
    """A right one is linked to its cell, a wrong one is marked, a mention is not."""
    marked: bool


def checked(answers: Iterable[Answer], check: Check = answer_numbers) -> list[Verdict]:
    """What the check makes of each number."""
    return [verdict for answer in answers for verdict in _verdicts(answer, list(check(answer.text, _seen(answer))))]


def same_digits(answer: str, seen: Sequence[Sequence[TextAt[Place]]]) -> list[AnswerNumber[Place]]:
    """The plain way: the digits of each number, as they are written, are looked for in the texts."""
    found: list[AnswerNumber[Place]] = []
    for text in dict.fromkeys(_DIGITS.findall(answer)):
        if "." in text or len(text) > 1:
            exact = re.compile(rf"(?<![\d.,]){re.escape(text)}(?![\d]|[.,]\d)")
            places = [one.place for texts in seen for one in reversed(texts) if exact.search(one.text)]
            found.append(AnswerNumber(text, places[0] if places else None))
    return found


def measure() -> list[Result]:
    """Both splits with the same seed."""
    return [entry for split in ("held out", "development") for entry in rates(split, answers_of(split, _SEED))]


def rates(split: Split, answers: Sequence[Answer]) -> list[Result]:
    """Of these answers: wrong numbers marked, right ones linked, and what is marked in vain."""
    ours, plain = checked(answers), checked(answers, same_digits)
    return [_rate(part, split, ours, plain) for part in _PARTS]


@dataclass(frozen=True)
class _Part:
    """A rate that is told: of which numbers, and of how many of them it has to hold."""

    id: str
    what: str
    kind: Kind
    counts: Callable[[Verdict], bool]
    goal: float
    at_most: bool = False


_PARTS: Final = (
    _Part("wrong_marked", "numbers that stand nowhere and are marked", "wrong", lambda one: one.ok, 95.0),
    _Part("right_linked", "numbers that are linked to the output they stand in", "right", lambda one: one.ok, 95.0),
    _Part("false_marks", "numbers that stand in an output and are marked", "right", lambda one: one.marked, 2.0, True),
    _Part(
        "marked_mentions", "numbers that are no results, such as dates, and are marked", "mention",
        lambda one: one.marked, 2.0, True,
    ),
)  # fmt: skip


def _rate(part: _Part, split: Split, ours: Sequence[Verdict], plain: Sequence[Verdict]) -> Result:
    hits, of = _counted(part, ours)
    low, high = interval(hits, of)
    rate, is_goal = 100 * hits / of, split == "held out"
    return result(
        f"verify.numbers.{'' if is_goal else 'development.'}{part.id}",
        f"{part.what}, {split}: {hits} of {of}, 95 % interval {low:.1f} to {high:.1f} %; baseline: a search for the same "
        "digits",
        rate,
        "%",
        goal=f"{'<=' if part.at_most else '>='} {part.goal:g} %" if is_goal else "none",
        met=not is_goal or (rate <= part.goal if part.at_most else rate >= part.goal),
        runs=of,
        baseline=100 * _counted(part, plain)[0] / of,
    )


def _counted(part: _Part, verdicts: Sequence[Verdict]) -> tuple[int, int]:
    some = [one for one in verdicts if one.kind == part.kind]
    return sum(map(part.counts, some)), len(some)


def _verdicts(answer: Answer, numbers: Sequence[AnswerNumber[Place]]) -> list[Verdict]:
    claims = [(sentence.family, claim) for sentence in answer.sentences for claim in sentence.claims]
    left = [one for one in numbers if not any(_is_about(one, claim) for _, claim in claims)]
    made = [
        _of_claim(answer, family, claim, [one for one in numbers if _is_about(one, claim)]) for family, claim in claims
    ]
    for sentence in answer.sentences:
        if not sentence.claims:
            marked = [one.text for one in left if one.place is None]
            made.append(Verdict(answer, sentence.family, "mention", ", ".join(marked), not marked, bool(marked)))
    return made


def _of_claim(answer: Answer, family: str, claim: Claim, numbers: Sequence[AnswerNumber[Place]]) -> Verdict:
    marked = any(one.place is None for one in numbers)
    if claim.cell is None:
        return Verdict(answer, family, "wrong", claim.text, marked, marked)
    linked = bool(numbers) and all(one.place is not None and one.place[1] == claim.cell for one in numbers)
    return Verdict(answer, family, "right", claim.text, linked, marked)


def _is_about(number: AnswerNumber[Place], claim: Claim) -> bool:
    """Whether it is the claim or a part of it, and not only some of its digits."""
    if claim.text in number.text:
        return True
    part = re.escape(number.text)
    return re.search(rf"(?<![\d.,]){part}(?![\d]|[.,]\d)", claim.text) is not None


def _seen(answer: Answer) -> list[list[TextAt[Place]]]:
    """As the server gives them to the check: outputs first, then code."""
    outputs = [
        TextAt[Place](("output", at), one.content)
        for at, cell in enumerate(answer.cells)
        for one in outputs_of({"outputs": list(cell.outputs)})
        if one.kind in _TEXTS
    ]
    return [outputs, [TextAt[Place](("code", at), cell.code) for at, cell in enumerate(answer.cells)]]
