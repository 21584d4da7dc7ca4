"""Measure the claims named, or all of them, print each as it comes out, and keep them in results.json."""

from __future__ import annotations

import importlib
import sys
from typing import Final

from .results import Result, keep

CLAIMS: Final[dict[str, tuple[str, ...]]] = {
    "start": ("start",),
    "channel": ("channel",),
    "hostile": ("hostile",),
    "store": ("store",),
    "history": ("history",),
    "agent": ("agent", "run_cells"),
    "notebook": ("notebooks", "notebook_edits"),
    "kernel": ("kernels",),
    "checkpoint": ("checkpoints",),
    "variables": ("variables",),
    "journey": ("journey",),
    "panel": ("panel_bundle", "panel"),
    "context": ("context",),
    "recall": ("recall", "recall_latency", "recall_postgres"),
    "local": ("local",),
    "completion": ("completion", "completion_typing"),
    "errands": ("errands",),
    "evals": ("evals",),
    "memory": ("memory",),
    "mcp": ("mcp", "mcp_http"),
    "hub": ("hub", "hub_store"),
    "hub.search": ("hub_search",),
    "verify": ("verify", "numbers"),
    "dseval": ("dseval",),
    "suite": ("suite",),
}
"""What the ids of results begin with, and the modules that measure them."""

# They take more than an hour, and are measured only when they are named.
_NAMED_ONLY: Final = {"dseval", "errands", "suite"}


def main(names: list[str]) -> int:
    """Run the claims' measurements one after another: they would disturb each other."""
    unknown = sorted(set(names) - set(CLAIMS))
    if unknown:
        print(f"Unknown: {', '.join(unknown)}. There are: {', '.join(CLAIMS)}.", file=sys.stderr)
        return 2
    chosen = names or [name for name in CLAIMS if name not in _NAMED_ONLY]
    for module in (module for name in chosen for module in CLAIMS[name]):
        results: list[Result] = importlib.import_module(f"benchmarks.{module}").measure()
        for entry in results:
            print(entry.line(), flush=True)
        keep(results)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
