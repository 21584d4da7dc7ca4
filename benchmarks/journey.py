"""What a person decides and clicks on the way to a plot, and how much of the panel is conversation.

The journeys are played in Chromium with a model that a script plays. With ``JOURNEY_BEFORE``, the folder of a built checkout of an
earlier commit, the same journeys are played there in the same run, and are the baseline.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from statistics import median
from typing import Final

from .results import Result, result

ROOT: Final = Path(__file__).resolve().parent.parent
_RUNS: Final = int(os.environ.get("JOURNEY_RUNS", "3"))
_PLACES: Final = ("1280x800", "1440x900", "250px", "150%")
# What is measured, what it is, its unit, and the most or the least that is wanted.
_CLAIMS: Final[dict[str, tuple[str, str, float | None]]] = {
    "plot.ask.decisions": ("decisions for a plot by hand, each asked about", "", 2),
    "plot.ask.clicks": ("clicks for the same", "", None),
    "plot.editAndRun.decisions": ("decisions for the plot where the agent may edit and run", "", 0),
    "answer.requests": ("requests to the model for a question that is answered in words", "", 1),
    **{
        f"height.{place}.{part}": (f"height of {what}, {place}, while a run is asked about", "px", most)
        for place in _PLACES
        for part, what, most in (
            ("tabs", "the row of tabs", 32 if place != "150%" else None),
            ("header", "the row of the conversation", 26 if place != "150%" else None),
            ("question", "the question", 72),
            ("composer", "the field with its buttons", 76),
        )
    },
}
_LEAST: Final[dict[str, float | None]] = {"1280x800": 65, "1440x900": None, "250px": 55, "150%": None}


def measure() -> list[Result]:
    """Play the journeys here, and in the earlier checkout if one is named."""
    now = _played(ROOT)
    earlier = os.environ.get("JOURNEY_BEFORE")
    before = _played(Path(earlier)) if earlier else {}
    results = [
        result(
            f"journey.{name}", what, median(now[name]), unit,
            goal="none" if most is None else f"<= {most:g}", met=most is None or median(now[name]) <= most,
            runs=len(now[name]), baseline=_middle(before.get(name)),
        )
        for name, (what, unit, most) in _CLAIMS.items()
    ]  # fmt: skip
    for place, least in _LEAST.items():
        name = f"height.{place}.share"
        value = median(now[name])
        results.append(
            result(
                f"journey.{name}",
                f"share of the panel that is conversation, {place}, while a run is asked about",
                value,
                "%",
                goal="none" if least is None else f">= {least:g}",
                met=least is None or value >= least,
                runs=len(now[name]),
                baseline=_middle(before.get(name)),
            )
        )
    return results


def _middle(values: list[float] | None) -> float | None:
    return median(values) if values else None


def _played(checkout: Path) -> dict[str, list[float]]:
    """What each run measured, by name."""
    if checkout != ROOT:
        for name in ("journeys", "journeys.config.ts"):
            source, target = ROOT / "ui-tests" / name, checkout / "ui-tests" / name
            if source.is_dir():
                shutil.copytree(source, target, dirs_exist_ok=True)
            else:
                shutil.copyfile(source, target)
    values: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(_RUNS):
            told = Path(folder) / "told"
            told.write_text("", encoding="utf-8")
            subprocess.run(
                ["jlpm", "playwright", "test", "--config", "ui-tests/journeys.config.ts"],
                cwd=checkout,
                env={
                    **os.environ,
                    "JOURNEY_RESULTS": str(told),
                    "PATH": f"{checkout / '.venv/bin'}:{os.environ['PATH']}",
                },
                check=True,
            )
            for line in told.read_text(encoding="utf-8").splitlines():
                entry = json.loads(line)
                values.setdefault(entry["name"], []).append(entry["value"])
    return values
