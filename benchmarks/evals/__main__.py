"""Runs eval tasks and shows all that was said: ``python -m benchmarks.evals plot-sine``, or a kind, or all."""

from __future__ import annotations

import asyncio
import sys
from argparse import ArgumentParser
from pathlib import Path

from ..results import keep
from ._eval_task import KINDS, EvalTask
from ._measure import ARMS, ready_models, run_eval_task
from ._verdicts import Arm, Verdict, load_verdict, rates, save_verdict
from .tasks import EVAL_TASKS


def _chosen(names: list[str]) -> list[EvalTask]:
    return [task for task in EVAL_TASKS if not names or task.name in names or task.kind in names]


async def _run(tasks: list[EvalTask], arms: list[Arm], into: Path | None) -> list[Verdict]:
    verdicts: list[Verdict] = []
    async with ready_models() as ready:
        for arm in arms:
            for task in tasks:
                verdict = load_verdict(task.name, arm, into) if into is not None else None
                if verdict is None:
                    verdict, page = await run_eval_task(task, arm, ready)
                    print(page if into is None else verdict.line, flush=True)
                    if into is not None:
                        save_verdict(verdict, page, into)
                verdicts.append(verdict)
    return verdicts


def main() -> int:
    """Show them, and the rates in the end if there were several."""
    parser = ArgumentParser(prog="python -m benchmarks.evals", description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"eval tasks, or kinds ({', '.join(KINDS)}); none is all"
    )
    parser.add_argument("--arm", choices=[*ARMS, "all"], default="product", help="who does them (default: product)")
    parser.add_argument(
        "--into",
        type=Path,
        metavar="FOLDER",
        help="write what was said there; what lies there already is not done again",
    )
    parser.add_argument("--keep", action="store_true", help="keep the rates, as make bench does; with --arm all")
    parser.add_argument("--list", action="store_true", help="only list the tasks")
    options = parser.parse_args()
    known = {task.name for task in EVAL_TASKS} | set(KINDS)
    unknown = sorted(set(options.names) - known)
    if unknown:
        parser.error(f"there is no {', '.join(unknown)}; --list shows what there is")
    tasks = _chosen(options.names)
    if options.list:
        for task in tasks:
            print(f"{task.kind:8} {task.name:22} {task.prompt}")
        return 0
    if options.into is not None:
        options.into.mkdir(parents=True, exist_ok=True)
    if options.keep and (options.names or options.arm != "all"):
        parser.error("--keep needs all tasks with --arm all")
    verdicts = asyncio.run(_run(tasks, list(ARMS) if options.arm == "all" else [options.arm], options.into))
    results = rates(verdicts) if options.arm == "all" else []
    for entry in results:
        print(entry.line())
    if not results and len(verdicts) > 1:
        print(f"{sum(one.why_not is None for one in verdicts)} of {len(verdicts)} are done.")
    if options.keep:
        keep(results)
    return 0 if all(one.why_not is None for one in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
