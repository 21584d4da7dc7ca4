"""Makes answers and the notebooks they are about with a seed: of each family in every language, right ones and wrong ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import Final

from benchmarks.errands import LANGUAGES, Language, split_of
from benchmarks.errands._generate import Split

from ._answer import Answer, Claim, MentionFamily, ResultFamily, Sentence, ShownCell, Written
from ._notebook import background, known_numbers
from .families import FAMILIES

__all__ = ["ANSWERS_EACH", "answers_of"]

ANSWERS_EACH: Final = 40
"""Of each family in every language: half of them right, half wrong."""
_WHAT: Final[dict[Language, Sequence[str]]] = {
    "en": ("mean rent", "median", "total", "largest value"),
    "ko": ("평균 임대료", "중앙값", "합계", "최댓값"),
    "ja": ("平均家賃", "中央値", "合計", "最大値"),
}
_CLEAR: Final = 3.0
"""So many times what a number may be off by lies nothing else."""


class _NotClear(Exception):
    """Something else in the notebook could be meant, too."""


def answers_of(split: Split, seed: int, each: int = ANSWERS_EACH) -> list[Answer]:
    """The answers of this seed."""
    families = [family for family in FAMILIES if split_of(family.name) == split]
    mentions = [family for family in families if isinstance(family, MentionFamily)]
    return [
        _answer(family, mentions, language, seed, number)
        for family in families
        for language in LANGUAGES
        for number in range(each)
    ]


def _answer(
    family: ResultFamily | MentionFamily, mentions: Sequence[MentionFamily], language: Language, seed: int, number: int
) -> Answer:
    name = f"{family.name}-{language}-{seed}-{number}"
    for attempt in range(1_000):
        rng = Random(f"{name} {attempt}")
        try:
            cells, sentence = _made(family, language, rng, is_right=number % 2 == 0)
        except _NotClear:
            continue
        sentences = [sentence]
        if isinstance(family, ResultFamily) and rng.random() < 0.5:
            # A list or a heading begins a block of its own.
            sentences.insert(rng.randint(0, 1), _mention(rng.choice(mentions), language, rng))
        return Answer(name, language, cells, sentences)
    raise AssertionError(f"{name} cannot be made")


def _made(
    family: ResultFamily | MentionFamily, language: Language, rng: Random, *, is_right: bool
) -> tuple[list[ShownCell], Sentence]:
    cells = background(rng)
    if isinstance(family, MentionFamily):
        return cells, _mention(family, language, rng)
    shown = family.show(rng)
    place = rng.randint(0, len(cells))
    others = [value for cell in cells for value in known_numbers(cell)]
    cells.insert(place, shown)
    written: list[Written] = []
    claims: list[Claim] = []
    for value in shown.values:
        if is_right:
            told = family.write(value, language, rng)
            _check_clear(told, others)
            claims.append(Claim(told.text, place))
        else:
            told = _wrong(family, value, language, rng, [*others, *known_numbers(shown)])
            claims.append(Claim(told.text, None))
        written.append(told)
    phrase = rng.choice(family.phrases[language])
    if "{b}" not in phrase and len(written) > 1:
        raise _NotClear
    fields = dict(zip("ab", (one.text for one in written), strict=False))
    return cells, Sentence(family.name, phrase.format(what=rng.choice(_WHAT[language]), **fields), claims)


def _wrong(family: ResultFamily, value: float, language: Language, rng: Random, known: Sequence[float]) -> Written:
    """A number like the right one that stands nowhere."""
    for other in _others(value, rng):
        told = family.write(other, language, rng)
        if _is_clear(told, known) and _is_large(told):
            return told
    raise _NotClear


def _others(value: float, rng: Random) -> Iterator[float]:
    whole = isinstance(value, int)
    for _ in range(20):
        factor = rng.choice((rng.uniform(0.4, 0.97), rng.uniform(1.03, 1.9), rng.choice((0.1, 10))))
        other = value * factor
        yield round(other) if whole else other


def _is_large(told: Written) -> bool:
    """Whether it is not one of the small whole numbers, which nothing checks."""
    return any(character in told.text for character in ".．eE×%％") or max(high for _, high in told.spans) > 11


def _check_clear(told: Written, known: Sequence[float]) -> None:
    if not _is_clear(told, known) or not _is_large(told):
        raise _NotClear


def _is_clear(told: Written, known: Sequence[float]) -> bool:
    for low, high in told.spans:
        middle, half = (low + high) / 2, max((high - low) / 2, abs(high) * 1e-6)
        if any(abs(value - middle) <= _CLEAR * half for value in known):
            return False
    return True


def _mention(family: MentionFamily, language: Language, rng: Random) -> Sentence:
    return Sentence(family.name, rng.choice(family.phrases[language]).format(**family.fill(rng)))
