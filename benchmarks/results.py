"""One measured number, its goal, and the file they are kept in."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

FILE = Path(__file__).with_name("results.json")


@dataclass(frozen=True)
class Result:
    """A number as it came out, beside a baseline measured in the same run."""

    id: str
    what: str
    value: float
    unit: str
    baseline: float | None
    goal: str
    met: bool
    runs: int
    ratio: float | None = None
    date: str = field(default_factory=lambda: datetime.now(tz=UTC).date().isoformat())

    def line(self) -> str:
        """The result as a person reads it."""
        beside = f" (baseline {self.baseline:g}, ratio {self.ratio:g})" if self.ratio is not None else ""
        verdict = "met" if self.met else "NOT MET"
        return f"{self.id:34} {self.value:>10g} {self.unit:8}{beside}  goal {self.goal}: {verdict}"


def result(
    id_: str, what: str, value: float, unit: str, *, goal: str, met: bool, runs: int, baseline: float | None = None
) -> Result:
    """A result with rounded numbers and its ratio to the baseline."""
    ratio = round(value / baseline, 3) if baseline else None
    rounded = None if baseline is None else round(baseline, 3)
    return Result(id_, what, round(value, 3), unit, rounded, goal, met, runs, ratio)


def keep(results: list[Result]) -> None:
    """Replace what was measured before under the same ids; a claim that is not met stays in the list as not met."""
    known = {entry["id"]: entry for entry in json.loads(FILE.read_text(encoding="utf-8"))} if FILE.exists() else {}
    known.update({entry.id: asdict(entry) for entry in results})
    ordered = [known[key] for key in sorted(known)]
    FILE.write_text(json.dumps(ordered, indent=2) + "\n", encoding="utf-8")


def percentile(values: list[float], share: float) -> float:
    """The value that ``share`` of them do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
