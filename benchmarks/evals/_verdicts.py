"""What came of eval tasks, kept in a folder: a run of an hour can be cut, looked into, and gone on with."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias

from ..results import Result, result
from ._eval_task import KINDS, Kind

__all__ = ["Arm", "Verdict", "load_verdict", "rates", "save_verdict"]

Arm: TypeAlias = Literal["product", "plain", "reworded", "blind"]
"""``reworded`` is the product again, asked with reworded prompts, whose failures are not fixed one by one; ``blind`` with prompts
that were written blind, to which nothing may be tuned."""

_AGAIN: Final[Mapping[Arm, str]] = {
    "reworded": "the same tasks with reworded prompts, whose failures are not fixed one by one",
    "blind": "the same tasks with prompts written blind, to which nothing may be tuned",
}
"""What is measured by the arms that are the product with other prompts."""

_GOAL_PERCENT: Final = 80.0
_GOAL_RATIO: Final = 2.0


@dataclass(frozen=True)
class Verdict:
    """One task as one arm did it. ``why_not`` is None if it is done."""

    name: str
    kind: Kind
    arm: Arm
    why_not: str | None
    requests: int
    tokens: int
    seconds: float

    @property
    def line(self) -> str:
        """In one line."""
        took = f"{self.requests} requests, {self.tokens} tokens, {self.seconds:.0f} s"
        verdict = "done" if self.why_not is None else f"NOT DONE: {self.why_not}"
        return f"{self.arm:7} {self.name:22} {verdict} ({took})"


def save_verdict(verdict: Verdict, page: str, folder: Path) -> None:
    """Write it down, with all that was said."""
    stem = f"{verdict.name}.{verdict.arm}"
    (folder / f"{stem}.txt").write_text(page, encoding="utf-8")
    (folder / f"{stem}.json").write_text(json.dumps(asdict(verdict), ensure_ascii=False), encoding="utf-8")


def load_verdict(name: str, arm: Arm, folder: Path) -> Verdict | None:
    """What was written down of this task before."""
    path = folder / f"{name}.{arm}.json"
    return Verdict(**json.loads(path.read_text(encoding="utf-8"))) if path.exists() else None


def rates(verdicts: Sequence[Verdict]) -> list[Result]:
    """How much of all, and of each kind, was done: the product beside the plain loop; and with other prompts, if so asked."""
    kinds = [
        _rate(f"evals.{kind}", f"eval tasks: {title}", of_kind)
        for kind, title in KINDS.items()
        if (of_kind := [one for one in verdicts if one.kind == kind])
    ]
    every = _rate("evals.all", "tasks of a data scientist done by the embedded model", verdicts)
    return [every, *kinds, *(rate for arm, what in _AGAIN.items() for rate in _again(arm, what, verdicts))]


def _again(arm: Arm, what: str, verdicts: Sequence[Verdict]) -> list[Result]:
    again = [one for one in verdicts if one.arm == arm]
    if not again:
        return []
    rate = _percent(again)
    return [
        result(
            f"evals.{arm}",
            f"{what}; baseline: with the first prompts",
            rate,
            "%",
            baseline=_percent(one for one in verdicts if one.arm == "product"),
            goal=f">= {_GOAL_PERCENT:g} %",
            met=rate >= _GOAL_PERCENT,
            runs=len(again),
        )
    ]


def _rate(id_: str, what: str, verdicts: Sequence[Verdict]) -> Result:
    product, plain = (_percent(one for one in verdicts if one.arm == arm) for arm in ("product", "plain"))
    return result(
        id_,
        f"{what}, judged by effect; baseline: the same model in the plain loop",
        product,
        "%",
        baseline=plain,
        goal=f">= {_GOAL_PERCENT:g} % and >= {_GOAL_RATIO:g}x the plain loop",
        met=product >= _GOAL_PERCENT and product >= _GOAL_RATIO * plain,
        runs=len({one.name for one in verdicts}),
    )


def _percent(verdicts: Iterable[Verdict]) -> float:
    done = [one.why_not is None for one in verdicts]
    return 100 * sum(done) / len(done) if done else 0.0
