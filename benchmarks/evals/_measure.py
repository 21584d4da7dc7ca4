"""Has errands done, judges what came of them, and counts by kind: the product beside the plain loop."""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

from hdsp_agent.errors import HdspAgentError
from hdsp_agent.local import Consent, LocalModels

from ..results import Result
from ._blind_prompts import FRESH_WORDS
from ._eval_task import Errand, Fresh, NotDone, Outcome, SeenCell
from ._notebook_fixture import Scene, open_scene
from ._plain_loop import do_plainly
from ._product import do_with_the_product
from ._rerun import rerun_kernel
from ._reworded_prompts import OTHER_WORDS
from ._runner import MOST_SECONDS, Done
from ._verdicts import Arm, Verdict, rates
from .tasks import ERRANDS

__all__ = ["ARMS", "do_errand", "measure", "ready_models"]

ARMS: Final[Mapping[Arm, Callable[[Scene, LocalModels], Awaitable[Done]]]] = {
    "product": do_with_the_product,
    "plain": do_plainly,
    "reworded": do_with_the_product,
    "fresh": do_with_the_product,
}

_WORDS: Final[Mapping[Arm, Mapping[str, str]]] = {"reworded": OTHER_WORDS, "fresh": FRESH_WORDS}
"""Of the arms that are not asked in the first words."""

_MOST_SHOWN: Final = 600


@asynccontextmanager
async def ready_models() -> AsyncIterator[LocalModels]:
    """The embedded model's weights, fetched if need be. Raises HdspAgentError where they cannot be had."""
    models = LocalModels()
    try:
        model = (await models.state(None)).model
        await models.begin(model.id, Consent(model.licence, model.size))
        await models.got(model.id)
        yield models
    finally:
        await models.stop()


async def do_errand(errand: Errand, arm: Arm, models: LocalModels) -> tuple[Verdict, str]:
    """Have one errand done in a folder of its own, and judge it by what is there afterwards, answer or not.

    The second is a page with all that was said.
    """
    if arm in _WORDS:
        errand = replace(errand, words=_WORDS[arm][errand.name])
    with tempfile.TemporaryDirectory(prefix="hdsp-errand-") as home:
        folder = Path(home, "work")
        await asyncio.to_thread(folder.mkdir)
        async with open_scene(errand, folder) as scene:
            before = scene.cells()
            began = time.monotonic()
            try:
                done = await asyncio.wait_for(ARMS[arm](scene, models), MOST_SECONDS)
            except TimeoutError:
                done = Done(ended=f"no answer within {MOST_SECONDS} seconds")
            seconds = time.monotonic() - began
        # Read when all runs have written what they showed.
        after = scene.cells()
        fresh = await asyncio.to_thread(_fresh, errand, after, folder)
    why_not: str | None = None
    try:
        errand.judge(Outcome(before, after, done.answer, fresh))
    except NotDone as why:
        why_not = str(why)
    verdict = Verdict(errand.name, errand.kind, arm, why_not, done.requests, done.tokens, round(seconds, 1))
    return verdict, _page(verdict, errand, done, after)


def _page(verdict: Verdict, errand: Errand, done: Done, cells: Sequence[SeenCell]) -> str:
    """All there is to know of it."""
    shown = [
        f"[{number}] {'code' if cell.is_code else 'text'}\n{cell.source}\n--> {cell.text[:_MOST_SHOWN]}"
        + (" [a picture]" if cell.has_image else "")
        + (" [an error]" if cell.failed else "")
        for number, cell in enumerate(cells, 1)
    ]
    lines = [f"==== {verdict.line}", f"words: {errand.words}", *done.transcript, f"ended: {done.ended}"]
    return "\n".join([*lines, f"answer: {done.answer}", "---- the notebook in the end", *shown, ""])


def _fresh(errand: Errand, cells: Sequence[SeenCell], folder: Path) -> Fresh:
    with rerun_kernel() as kernel:
        return kernel.fresh(cells, folder, errand.probes)


def measure() -> list[Result]:
    """All errands with both. Nothing is measured, and said so, where the model cannot be had."""
    return asyncio.run(_measured())


async def _measured() -> list[Result]:
    verdicts: list[Verdict] = []
    try:
        async with ready_models() as models:
            for arm in ARMS:
                for errand in ERRANDS:
                    verdict, _ = await do_errand(errand, arm, models)
                    verdicts.append(verdict)
                    print(verdict.line, file=sys.stderr, flush=True)
    except HdspAgentError as error:
        print(f"errands: NOT MEASURED: {error.message}", file=sys.stderr)
        return []
    return rates(verdicts)
