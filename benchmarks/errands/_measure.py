"""Runs errands with each model: the product beside the plain loop, held out and in development."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from benchmarks.evals import ReadyModel, Runner, page, ready_models, run_in_folder, run_plain_loop, run_product
from hdsp_agent.errors import HdspAgentError
from hdsp_agent.local import catalogue

from ..results import Result
from ._damage import damage
from ._errand import Errand
from ._generate import Split, errands_of, split_of
from ._verdict import By, Verdict, load_verdict, rates, save_verdict

__all__ = ["RUNNERS", "measure", "models_named", "run_errand", "run_errands"]

RUNNERS: Final[dict[By, Runner]] = {"product": run_product, "plain": run_plain_loop}
_SEED: Final = int(os.environ.get("ERRANDS_SEED", "1"))
_MODELS: Final = os.environ.get("ERRANDS_MODELS", "").split()
"""Ids of the catalogue; none is all whose name tells of a size we know."""
_SIZES: Final = ("0.5b", "1.5b")


def models_named(names: Sequence[str]) -> list[str]:
    """The ids of these models, or of all that are to be measured."""
    listed = [model.id for model in catalogue().models]
    return [id for id in listed if (id in names if names else any(size in id for size in _SIZES))]


async def run_errand(errand: Errand, by: By, ready: ReadyModel) -> tuple[Verdict, str]:
    """Run one errand. The second is a page with all that was said."""
    ran = await run_in_folder(errand.task, RUNNERS[by], ready)
    attempt = ran.attempt
    verdict = Verdict(
        errand.task.name,
        errand.family,
        errand.language,
        split_of(errand.family),
        by,
        ready.id,
        ran.why_not,
        attempt.claim,
        damage(errand, ran.outcome, ran.files, done=ran.why_not is None),
        attempt.requests,
        attempt.tokens,
        attempt.questions,
        round(ran.seconds, 1),
    )
    return verdict, page(verdict.line, errand.task, ran)


async def run_errands(errands: Sequence[Errand], by: By, ready: ReadyModel, into: Path | None) -> list[Verdict]:
    """Run them one after the other. What lies in ``into`` already is not done again."""
    verdicts: list[Verdict] = []
    for errand in errands:
        verdict = load_verdict(errand.task.name, by, ready.id, into) if into is not None else None
        if verdict is None:
            verdict, told = await run_errand(errand, by, ready)
            print(verdict.line, file=sys.stderr, flush=True)
            if into is not None:
                save_verdict(verdict, told if verdict.split == "development" else None, into)
        verdicts.append(verdict)
    return verdicts


def measure() -> list[Result]:
    """All errands of the seed with all models. Nothing is measured, and said so, where the weights cannot be had."""
    return asyncio.run(_measured())


async def _measured() -> list[Result]:
    verdicts: list[Verdict] = []
    splits: tuple[Split, ...] = ("held out", "development")
    for id in models_named(_MODELS):
        try:
            async with ready_models(id) as ready:
                for split in splits:
                    errands = errands_of(split, _SEED)
                    verdicts += await run_errands(errands, "product", ready, None)
                    if split == "held out":
                        verdicts += await run_errands(errands, "plain", ready, None)
        except HdspAgentError as error:
            print(f"errands: {id} NOT MEASURED: {error.message}", file=sys.stderr)
    return rates(verdicts)
