"""Runs eval tasks, judges what came of them, and counts by kind: the product beside the plain loop."""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from hdsp_agent.errors import HdspAgentError
from hdsp_agent.local import Consent, LocalModels

from ..results import Result
from ._blind_prompts import BLIND_PROMPTS
from ._eval_task import EvalTask, NotDone, Outcome, RerunResult, SeenCell
from ._notebook_fixture import open_notebook_fixture
from ._plain_loop import run_plain_loop
from ._product import run_product
from ._rerun import rerun_kernel
from ._reworded_prompts import REWORDED_PROMPTS
from ._runner import MOST_SECONDS, Attempt, ReadyModel, Runner
from ._verdicts import Arm, Verdict, rates
from .tasks import EVAL_TASKS

__all__ = ["ARMS", "Ran", "measure", "page", "ready_models", "run_eval_task", "run_in_folder"]

ARMS: Final[Mapping[Arm, Runner]] = {
    "product": run_product,
    "plain": run_plain_loop,
    "reworded": run_product,
    "blind": run_product,
}

_PROMPTS: Final[Mapping[Arm, Mapping[str, str]]] = {"reworded": REWORDED_PROMPTS, "blind": BLIND_PROMPTS}
"""Of the arms that are not asked with the first prompts."""

_MOST_SHOWN: Final = 600


@dataclass(frozen=True)
class Ran:
    """A task as a runner left it."""

    attempt: Attempt
    outcome: Outcome
    seconds: float
    files: Mapping[str, str]
    """The task's own files, as they are now; those that are gone are left out."""
    why_not: str | None
    """Why it counts as not done; None if it is done."""


@asynccontextmanager
async def ready_models(id: str | None = None) -> AsyncIterator[ReadyModel]:
    """An embedded model's weights, fetched if need be. Raises HdspAgentError where they cannot be had."""
    models = LocalModels()
    try:
        model = await models.state(id)
        await models.begin(model.id, Consent(model.licence, model.size))
        await models.got(model.id)
        yield ReadyModel(models, model.id)
    finally:
        await models.stop()


async def run_in_folder(task: EvalTask, runner: Runner, ready: ReadyModel) -> Ran:
    """Run one task in a folder of its own, and judge it by what is there afterwards, answer or not."""
    with tempfile.TemporaryDirectory(prefix="hdsp-eval-") as home:
        folder = Path(home, "work")
        await asyncio.to_thread(folder.mkdir)
        async with open_notebook_fixture(task, folder) as fixture:
            before = fixture.cells()
            began = time.monotonic()
            try:
                attempt = await asyncio.wait_for(runner(fixture, ready), MOST_SECONDS)
            except TimeoutError:
                attempt = Attempt(ended=f"no answer within {MOST_SECONDS} seconds")
            seconds = time.monotonic() - began
        # Read when all runs have written what they showed.
        after = fixture.cells()
        files = await asyncio.to_thread(_files, task, folder)
        rerun = await asyncio.to_thread(_rerun, task, after, folder)
    outcome = Outcome(before, after, attempt.answer, rerun)
    try:
        task.judge(outcome)
    except NotDone as why:
        return Ran(attempt, outcome, seconds, files, str(why))
    return Ran(attempt, outcome, seconds, files, None)


async def run_eval_task(task: EvalTask, arm: Arm, ready: ReadyModel) -> tuple[Verdict, str]:
    """One task as an arm does it. The second is a page with all that was said."""
    if arm in _PROMPTS:
        task = replace(task, prompt=_PROMPTS[arm][task.name])
    ran = await run_in_folder(task, ARMS[arm], ready)
    attempt = ran.attempt
    seconds = round(ran.seconds, 1)
    verdict = Verdict(task.name, task.kind, arm, ran.why_not, attempt.requests, attempt.tokens, seconds)
    return verdict, page(verdict.line, task, ran)


def _files(task: EvalTask, folder: Path) -> Mapping[str, str]:
    there = [name for name in task.tables if (folder / name).is_file()]
    return {name: (folder / name).read_text(encoding="utf-8", errors="replace") for name in there}


def page(line: str, task: EvalTask, ran: Ran) -> str:
    """All there is to know of how a task was done."""
    attempt = ran.attempt
    shown = [
        f"[{number}] {'code' if cell.is_code else 'text'}\n{cell.source}\n--> {cell.text[:_MOST_SHOWN]}"
        + (" [a picture]" if cell.has_image else "")
        + (" [an error]" if cell.failed else "")
        for number, cell in enumerate(ran.outcome.after, 1)
    ]
    lines = [f"==== {line}", f"prompt: {task.prompt}", *attempt.transcript, f"ended: {attempt.ended}"]
    return "\n".join([*lines, f"answer: {attempt.answer}", "---- the notebook in the end", *shown, ""])


def _rerun(task: EvalTask, cells: Sequence[SeenCell], folder: Path) -> RerunResult:
    with rerun_kernel() as kernel:
        return kernel.run_from_top(cells, folder, task.probes)


def measure() -> list[Result]:
    """All tasks with both. Nothing is measured, and said so, where the model cannot be had."""
    return asyncio.run(_measured())


async def _measured() -> list[Result]:
    verdicts: list[Verdict] = []
    try:
        async with ready_models() as ready:
            for arm in ARMS:
                for task in EVAL_TASKS:
                    verdict, _ = await run_eval_task(task, arm, ready)
                    verdicts.append(verdict)
                    print(verdict.line, file=sys.stderr, flush=True)
    except HdspAgentError as error:
        print(f"evals: NOT MEASURED: {error.message}", file=sys.stderr)
        return []
    return rates(verdicts)
