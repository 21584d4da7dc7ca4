"""Shows what the check gets wrong in development: ``python -m benchmarks.numbers [FAMILY …]``. Of what is held out only totals.

With ``--held-out`` the totals of held out families are told, and nothing else.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections import Counter

from benchmarks.errands._generate import Split

from ..results import keep
from ._generate import answers_of
from ._measure import checked, rates


def main() -> int:
    """Tell the rates, and in development each number that was taken wrongly."""
    parser = ArgumentParser(prog="python -m benchmarks.numbers", description=__doc__)
    parser.add_argument("families", nargs="*", metavar="FAMILY", help="of which to show what went wrong; none is all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--held-out", action="store_true", help="the totals of what is held out")
    parser.add_argument("--keep", action="store_true", help="keep the rates, as make bench does")
    options = parser.parse_args()
    split: Split = "held out" if options.held_out else "development"
    answers = answers_of(split, options.seed)
    results = rates(split, answers)
    for entry in results:
        print(entry.line(), entry.what)
    if options.keep:
        keep(results)
    if options.held_out:
        return 0
    missed: Counter[tuple[str, str]] = Counter()
    for verdict in checked(answers):
        if not verdict.ok:
            missed[verdict.family, verdict.kind] += 1
            if verdict.family in options.families:
                print(f"{verdict.answer.name}: {verdict.kind} {verdict.text!r} in {verdict.answer.text!r}")
    for (family, kind), count in missed.most_common():
        print(f"{count:5} {kind:8} {family}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
