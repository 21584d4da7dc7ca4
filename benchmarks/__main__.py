"""Measure the claims named, or all of them, print each as it comes out, and keep them in results.json."""

from __future__ import annotations

import importlib
import sys

from .results import Result, keep

CLAIMS = ("start", "channel", "store", "history", "agent", "notebooks", "kernels")


def main(names: list[str]) -> int:
    """Run the claims' measurements one after another: they would disturb each other."""
    unknown = sorted(set(names) - set(CLAIMS))
    if unknown:
        print(f"Unknown: {', '.join(unknown)}. There are: {', '.join(CLAIMS)}.", file=sys.stderr)
        return 2
    for name in names or CLAIMS:
        results: list[Result] = importlib.import_module(f"benchmarks.{name}").measure()
        for entry in results:
            print(entry.line(), flush=True)
        keep(results)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
