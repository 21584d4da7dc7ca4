"""What came of errands, and the rates of that with their intervals."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias

from benchmarks.evals import Claim

from ..results import Result, result
from ._errand import LANGUAGES, Language
from ._generate import Split

__all__ = ["By", "Verdict", "interval", "load_verdict", "rates", "save_verdict"]

By: TypeAlias = Literal["product", "plain"]
"""Who did it: the agent, or the same weights in the plain loop."""

_DONE_GOALS: Final = {"qwen2.5-coder-0.5b-instruct": 45.0, "qwen2.5-coder-1.5b-instruct": 75.0}
_WRONG_CLAIMS_GOAL: Final = 5.0
_Z: Final = 1.96
_SIZE: Final = {"qwen2.5-coder-0.5b-instruct": "0.5b", "qwen2.5-coder-1.5b-instruct": "1.5b"}


@dataclass(frozen=True)
class Verdict:
    """One errand as it was done."""

    name: str
    family: str
    language: Language
    split: Split
    by: By
    model: str
    why_not: str | None
    """None if it is done."""
    claim: Claim
    damage: str | None
    requests: int
    tokens: int
    questions: int
    seconds: float

    @property
    def done(self) -> bool:
        """Whether it is done, and right."""
        return self.why_not is None

    @property
    def wrong_claim(self) -> bool:
        """Whether it is said to be done and checked, and is not done."""
        return self.claim == "checked" and not self.done

    @property
    def wrong_unchecked(self) -> bool:
        """Whether it is said to be done, with the word that nobody checked it, and is not done."""
        return self.claim == "unchecked" and not self.done

    @property
    def line(self) -> str:
        """In one line; of what is held out nobody is told why it failed."""
        took = f"{self.requests} requests, {self.tokens} tokens, {self.questions} questions, {self.seconds:.0f} s"
        open_to_us = self.split == "development"
        verdict = "done" if self.done else f"NOT DONE: {self.why_not}" if open_to_us else "NOT DONE"
        damaged = (f"; DAMAGE: {self.damage}" if open_to_us else "; DAMAGE") if self.damage else ""
        return f"{self.by:7} {self.name:40} [{self.claim}] {verdict}{damaged} ({took})"


def save_verdict(verdict: Verdict, page: str | None, folder: Path) -> None:
    """Write it down, with all that was said if that may be read."""
    stem = f"{verdict.name}.{verdict.by}.{verdict.model}"
    if page is not None:
        (folder / f"{stem}.txt").write_text(page, encoding="utf-8")
    (folder / f"{stem}.json").write_text(json.dumps(asdict(verdict), ensure_ascii=False), encoding="utf-8")


def load_verdict(name: str, by: By, model: str, folder: Path) -> Verdict | None:
    """What was written down of this errand before."""
    path = folder / f"{name}.{by}.{model}.json"
    return Verdict(**json.loads(path.read_text(encoding="utf-8"))) if path.exists() else None


def interval(hits: int, of: int) -> tuple[float, float]:
    """The 95 % interval of a rate in percent, as Wilson gives it."""
    if not of:
        return 0.0, 100.0
    share, z2 = hits / of, _Z * _Z
    middle = share + z2 / (2 * of)
    half = _Z * math.sqrt(share * (1 - share) / of + z2 / (4 * of * of))
    low, high = 100 * (middle - half) / (1 + z2 / of), 100 * (middle + half) / (1 + z2 / of)
    return max(0.0, low), min(100.0, high)


def rates(verdicts: Sequence[Verdict], prefix: str = "errands") -> list[Result]:
    """The rates of each model: of held out errands those that are reported, beside them the rate in development."""
    models = list(dict.fromkeys(one.model for one in verdicts))
    return [
        entry for model in models for entry in _of_model(model, [one for one in verdicts if one.model == model], prefix)
    ]


def _of_model(model: str, verdicts: Sequence[Verdict], prefix: str) -> list[Result]:
    at = f"@{_SIZE.get(model, model)}"
    product = [one for one in verdicts if one.by == "product"]
    held, plain = (
        [one for one in some if one.split == "held out"] for some in (product, [v for v in verdicts if v.by == "plain"])
    )
    developed = [one for one in product if one.split == "development"]
    found: list[Result] = []
    goal = _DONE_GOALS.get(model)
    if held:
        found.append(
            _rate(f"{prefix}.held_out{at}", "held out errands done and right", held, _done, plain, at_least=goal)
        )
        found += [
            _rate(
                f"{prefix}.held_out.{language}{at}",
                f"held out errands in {language} done and right",
                some,
                _done,
                _in(plain, language),
            )
            for language in LANGUAGES
            if (some := _in(held, language))
        ]
        found += [
            _rate(
                f"{prefix}.damage{at}",
                "held out errands that damaged a cell or a file",
                held,
                _damaged,
                plain,
                at_most=0.0,
            ),
            _rate(
                f"{prefix}.wrong_claims{at}",
                "held out errands said to be done and checked that are not done",
                held,
                _wrong,
                plain,
                at_most=_WRONG_CLAIMS_GOAL,
            ),
            _rate(
                f"{prefix}.wrong_unchecked{at}",
                "held out errands said to be done but not checked that are not done",
                held,
                _unchecked,
                plain,
            ),
        ]
    if developed:
        found.append(
            _rate(
                f"{prefix}.development{at}",
                "errands of the families in development, never to be quoted",
                developed,
                _done,
                [],
            )
        )
    return found


def _rate(
    id_: str,
    what: str,
    verdicts: Sequence[Verdict],
    counts: Callable[[Verdict], bool],
    plain: Sequence[Verdict],
    *,
    at_least: float | None = None,
    at_most: float | None = None,
) -> Result:
    hits, of = sum(map(counts, verdicts)), len(verdicts)
    rate = 100 * hits / of
    low, high = interval(hits, of)
    goal = f">= {at_least:g} %" if at_least is not None else f"<= {at_most:g} %" if at_most is not None else "none"
    return result(
        id_,
        f"{what}: {hits} of {of}, 95 % interval {low:.0f} to {high:.0f} %{'; baseline: the plain loop' if plain else ''}",
        rate,
        "%",
        goal=goal,
        met=(at_least is None or rate >= at_least) and (at_most is None or rate <= at_most),
        runs=of,
        baseline=100 * sum(map(counts, plain)) / len(plain) if plain else None,
    )


def _in(verdicts: Sequence[Verdict], language: Language) -> list[Verdict]:
    return [one for one in verdicts if one.language == language]


def _done(verdict: Verdict) -> bool:
    return verdict.done


def _damaged(verdict: Verdict) -> bool:
    return verdict.damage is not None


def _wrong(verdict: Verdict) -> bool:
    return verdict.wrong_claim


def _unchecked(verdict: Verdict) -> bool:
    return verdict.wrong_unchecked
