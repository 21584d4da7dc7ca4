"""Whether recall finds what answers a question, side by side with plain FTS5: our own probes, and LoCoMo and BEAM if there is a copy.

The environment variables ``RECALL_LOCOMO`` and ``RECALL_BEAM`` say where the copies are. Shares are per cent.
"""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Final

from hdsp_agent.memory import Memories
from hdsp_agent.recall import Embedder, bundled_embedder

from .recall_probes import generate
from .recall_quality import Score, plain_score, recall_score
from .recall_sets import ProbeSet, beam, locomo
from .results import Result, result

_TUNED: Final = 20
_HELD_OUT: Final = 2020
"""The seeds. The second set's wordings were not looked at while the ranking was made."""


def measure() -> list[Result]:
    """By words alone, and with the extra ``semantic`` if it is installed."""
    embedder = bundled_embedder()
    results = _own(generate(_TUNED, "tuned"), "recall.own", embedder)
    results += _own(generate(_HELD_OUT, "held_out"), "recall.held_out", embedder)
    if (tested := locomo()) is not None:
        results += _published(tested, "recall.locomo", embedder, {"passages@10": 78.0, "sources@5": 94.0})
    if (tested := beam()) is not None:
        results += _published(tested, "recall.beam", embedder, {"passages@10": 72.0})
    return results


def _own(tested: ProbeSet, id_: str, embedder: Embedder | None) -> list[Result]:
    """Preferences are measured apart: a search cannot find what a request does not name; they belong into a profile."""
    facts = replace(tested, probes=tuple(probe for probe in tested.probes if probe.profile is None))
    wishes = replace(tested, probes=tuple(probe for probe in tested.probes if probe.profile is not None))
    plain = plain_score(facts)
    results = []
    for variant, used in _variants(embedder):
        score = _recall(facts, used)
        found = score.passages[5]
        results += [
            result(
                f"{id_}{variant}", f"{len(facts.probes)} questions of {tested.name}: the answer among the first 5", found, "%",
                baseline=plain.passages[5], goal=">= 90 %", met=found >= 90, runs=len(facts.probes),
            ),
            result(
                f"{id_}{variant}.outdated", "questions where what is outdated comes before what replaced it",
                score.outdated_first, "probes", goal="0", met=score.outdated_first == 0, runs=len(facts.probes),
            ),
        ]  # fmt: skip
    wished = _recall(wishes, None).passages[5]
    results.append(
        result(
            f"{id_}.preferences", "requests for which search alone finds the preference that matters", wished, "%",
            baseline=plain_score(wishes).passages[5], goal="none: the profile holds them", met=True, runs=len(wishes.probes),
        )
    )  # fmt: skip
    told = _told_with_profile(wishes)
    results.append(
        result(
            f"{id_}.profile", "requests for which the model is told the preference that matters, once all were kept as notes",
            told, "%", baseline=wished, goal=">= 95 %", met=told >= 95, runs=len(wishes.probes),
        )
    )  # fmt: skip
    return results


def _told_with_profile(wishes: ProbeSet) -> float:
    """The share of requests whose preference is in the text that a new conversation begins with."""
    wanted = [(probe.owner, probe.profile) for probe in wishes.probes if probe.profile is not None]
    with tempfile.TemporaryDirectory() as folder:
        memories = Memories(Path(folder), "person", lambda workspace: None)
        for owner, text in dict.fromkeys(wanted):
            memories.of_task(owner, None, lambda: None).remember(text, "person", day=date.today(), task=None)
        told = {
            owner: "\n".join(text.text for text in memories.of_task(owner, None, lambda: None).texts())
            for owner, _ in wanted
        }
    return 100 * sum(text in told[owner] for owner, text in wanted) / len(wanted)


def _published(tested: ProbeSet, id_: str, embedder: Embedder | None, goals: dict[str, float]) -> list[Result]:
    plain = plain_score(tested)
    results = []
    for variant, used in _variants(embedder):
        score = _recall(tested, used)
        for name, wanted in goals.items():
            found, before = _named(score, name), _named(plain, name)
            goal = wanted if used is not None else before
            results.append(
                result(
                    f"{id_}{variant}.{name}", f"{tested.name}, {len(tested.probes)} questions: {name}", found, "%",
                    baseline=before, goal=f">= {goal:.1f} %", met=found >= goal, runs=len(tested.probes),
                )
            )  # fmt: skip
    return results


def _variants(embedder: Embedder | None) -> list[tuple[str, Embedder | None]]:
    return [("", None)] if embedder is None else [("", None), (".semantic", embedder)]


def _recall(tested: ProbeSet, embedder: Embedder | None) -> Score:
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(recall_score(tested, Path(folder), embedder))


def _named(score: Score, name: str) -> float:
    kind, place = name.split("@")
    return (score.passages if kind == "passages" else score.sources)[int(place)]
