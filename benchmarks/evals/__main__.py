"""Has errands done and shows all that was said: ``python -m benchmarks.evals plot-sine``, or a kind, or all."""

from __future__ import annotations

import asyncio
import sys
from argparse import ArgumentParser
from pathlib import Path

from ..results import keep
from ._eval_task import KINDS, Errand
from ._measure import ARMS, do_errand, ready_models
from ._verdicts import Arm, Verdict, keep_verdict, kept_verdict, rates
from .tasks import ERRANDS


def _chosen(names: list[str]) -> list[Errand]:
    return [errand for errand in ERRANDS if not names or errand.name in names or errand.kind in names]


async def _run(errands: list[Errand], arms: list[Arm], into: Path | None) -> list[Verdict]:
    verdicts: list[Verdict] = []
    async with ready_models() as models:
        for arm in arms:
            for errand in errands:
                verdict = kept_verdict(errand.name, arm, into) if into is not None else None
                if verdict is None:
                    verdict, page = await do_errand(errand, arm, models)
                    print(page if into is None else verdict.line, flush=True)
                    if into is not None:
                        keep_verdict(verdict, page, into)
                verdicts.append(verdict)
    return verdicts


def main() -> int:
    """Show them, and the rates in the end if there were several."""
    parser = ArgumentParser(prog="python -m benchmarks.evals", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"errands, or kinds ({', '.join(KINDS)}); none is all")
    parser.add_argument("--arm", choices=[*ARMS, "all"], default="product", help="who does them (default: product)")
    parser.add_argument(
        "--into",
        type=Path,
        metavar="FOLDER",
        help="write what was said there; what lies there already is not done again",
    )
    parser.add_argument("--keep", action="store_true", help="keep the rates, as make bench does; with --arm all")
    parser.add_argument("--list", action="store_true", help="only list the errands")
    options = parser.parse_args()
    known = {errand.name for errand in ERRANDS} | set(KINDS)
    unknown = sorted(set(options.names) - known)
    if unknown:
        parser.error(f"there is no {', '.join(unknown)}; --list shows what there is")
    errands = _chosen(options.names)
    if options.list:
        for errand in errands:
            print(f"{errand.kind:8} {errand.name:22} {errand.words}")
        return 0
    if options.into is not None:
        options.into.mkdir(parents=True, exist_ok=True)
    if options.keep and (options.names or options.arm != "all"):
        parser.error("--keep needs all errands with --arm all")
    verdicts = asyncio.run(_run(errands, list(ARMS) if options.arm == "all" else [options.arm], options.into))
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
