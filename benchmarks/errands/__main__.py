"""Runs errands and shows what came of them: ``python -m benchmarks.errands --split development --model qwen2.5-coder-0.5b-instruct``.

Of held out errands only verdicts are shown, never what was said: nobody is to learn from them.
"""

from __future__ import annotations

import asyncio
import hashlib
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from benchmarks.evals import ready_models

from ..results import keep
from ._errand import Errand
from ._generate import errands_of
from ._measure import RUNNERS, models_named, run_errands
from ._verdict import Verdict, rates


def main() -> int:
    """Run what is chosen, and tell the rates."""
    parser = ArgumentParser(prog="python -m benchmarks.errands", description=__doc__)
    parser.add_argument("families", nargs="*", metavar="FAMILY", help="none is all of the split")
    parser.add_argument("--split", choices=["development", "held out"], default="development")
    parser.add_argument("--by", choices=[*RUNNERS], action="append", help="who does them (default: product)")
    parser.add_argument("--model", action="append", help="ids of the catalogue (default: all that are measured)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--each", type=int, default=1, metavar="N", help="errands of each family in each language")
    parser.add_argument("--most", type=int, metavar="N", help="only N families, the first in the order of a hash")
    parser.add_argument("--language", action="append", choices=["en", "ko", "ja"])
    parser.add_argument(
        "--into", type=Path, metavar="FOLDER", help="write there what was said; what lies there is kept"
    )
    parser.add_argument("--keep", action="store_true", help="keep the rates, as make bench does")
    parser.add_argument("--list", action="store_true", help="only list the errands")
    options = parser.parse_args()
    errands = _chosen(options)
    if options.list:
        for errand in errands:
            print(f"{errand.task.name:45} {errand.task.prompt}")
        return 0
    if options.into is not None:
        options.into.mkdir(parents=True, exist_ok=True)
    # The rates of some families are no rates of all.
    prefix = "errands" if options.most is None else f"errands.of_{options.most}_families"
    results = rates(asyncio.run(_run(errands, options)), prefix)
    for entry in results:
        print(entry.line(), entry.what)
    if options.keep:
        keep(results)
    return 0


def _chosen(options: Namespace) -> list[Errand]:
    errands = [
        errand
        for errand in errands_of(options.split, options.seed, options.each)
        if (not options.families or errand.family in options.families)
        and (not options.language or errand.language in options.language)
    ]
    families = sorted({errand.family for errand in errands}, key=_hashed)[: options.most]
    return [errand for errand in errands if errand.family in families]


def _hashed(family: str) -> str:
    # Whoever has too little time for all families must not choose which: another hash than the one that splits them.
    return hashlib.sha256(f"order {family}".encode()).hexdigest()


async def _run(errands: list[Errand], options: Namespace) -> list[Verdict]:
    verdicts: list[Verdict] = []
    for id in models_named(options.model or []):
        async with ready_models(id) as ready:
            for by in options.by or ["product"]:
                verdicts += await run_errands(errands, by, ready, options.into)
    return verdicts


if __name__ == "__main__":
    sys.exit(main())
