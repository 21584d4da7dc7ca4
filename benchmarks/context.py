"""What the context costs: long work under the cache's rules, and building a request from a long conversation."""

from __future__ import annotations

import gc
import time
import tracemalloc
from collections.abc import Sequence
from functools import partial
from statistics import median
from typing import Final

from hdsp_agent.context import SentHistory
from hdsp_agent.messages import ApiMessage, JsonObject

from .context_cost import billed, masked_each_step, nothing_saved, ours, plain_compaction
from .results import Result, result

MESSAGES: Final = 10_000
RUNS: Final = 9
MOST_MS: Final = 20.0
MOST_BYTES: Final = 4 * 1024 * 1024
ECONOMICAL: Final = 25
"""Per cent of a window of 200 000 tokens, as the setting has it."""


def measure() -> list[Result]:
    """All claims about the context."""
    return [*_costs(), *_building()]


def _costs() -> list[Result]:
    nothing, plain, masked = billed(nothing_saved), billed(plain_compaction), billed(masked_each_step)
    ways = {"economical": billed(partial(ours, percent=ECONOMICAL)), "default": billed(ours)}
    what = {
        "economical": f"200 steps, condensed at {ECONOMICAL} % of a window of 200k",
        "default": "200 steps, as set by default, window of 200k",
    }
    results = [
        result(
            "context.cost.masking", "200 steps, an output cleared at each", masked.cost, "ITE",
            goal="for comparison", met=True, runs=1, baseline=nothing.cost,
        )
    ]  # fmt: skip
    goals = {"economical": (0.40, 0.70), "default": (0.52, 1.00)}
    for name, bill in ways.items():
        for against, baseline, most in zip(("nothing", "plain"), (nothing, plain), goals[name], strict=True):
            results.append(
                result(
                    f"context.cost.{name}@{against}", what[name], bill.cost, "ITE",
                    goal=f"<= {most:.2f}x of {against}", met=bill.cost <= most * baseline.cost, runs=1, baseline=baseline.cost,
                )
            )  # fmt: skip
        for what_is, share, told in (
            ("hits", bill.hits, "of the input is read from the cache, between compactions"),
            ("kept", bill.kept, "of a request is found in the cache by the next, between compactions"),
        ):
            results.append(
                result(
                    f"context.cache.{name}.{what_is}", told, share * 100, "%", goal=">= 97 %", met=share >= 0.97, runs=1,
                )
            )  # fmt: skip
    return results


def _building() -> list[Result]:
    messages = _conversation()
    times = []
    for _ in range(RUNS):
        gc.collect()
        begun = time.process_time()
        assert len(_built(messages).messages) == MESSAGES
        times.append((time.process_time() - begun) * 1000)
    gc.collect()
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    history = _built(messages)
    request = history.messages
    taken = tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()
    begun = time.perf_counter()
    for _ in range(1_000):
        request = history.messages
    next_one = time.perf_counter() - begun
    assert len(request) == MESSAGES
    ms = median(times)
    what = f"of a conversation of {MESSAGES:,} messages"
    return [
        result(f"context.build.time@{MESSAGES}", f"the first request {what}, without reading it", ms, "ms",
               goal=f"<= {MOST_MS:g} ms", met=ms <= MOST_MS, runs=RUNS),
        result(f"context.build.next@{MESSAGES}", f"each further request {what}", next_one * 1_000, "us",
               goal=f"<= {MOST_MS:g} ms", met=next_one <= MOST_MS, runs=1_000),
        result(f"context.build.bytes@{MESSAGES}", f"the memory of a request {what}", taken, "bytes",
               goal=f"<= {MOST_BYTES}", met=taken <= MOST_BYTES, runs=1),
    ]  # fmt: skip


def _built(messages: Sequence[ApiMessage]) -> SentHistory:
    history = SentHistory()
    for message in messages:
        history.add(message)
    return history


def _conversation() -> list[ApiMessage]:
    made: list[ApiMessage] = []
    for number in range(MESSAGES // 2):
        call = f"call_{number}"
        result_block: JsonObject = {"type": "tool_result", "tool_use_id": f"call_{number - 1}", "content": "x" * 2_000}
        said: JsonObject = {"type": "text", "text": "Go on."}
        made.append(ApiMessage(role="user", content=[result_block if number else said]))
        use: JsonObject = {"type": "tool_use", "id": call, "name": "read_file", "input": {"path": f"{number}.csv"}}
        made.append(ApiMessage(role="assistant", content=[{"type": "text", "text": "w" * 200}, use]))
    # The last call has no result yet: it is answered as interrupted.
    made[-1] = ApiMessage(role="assistant", content=[{"type": "text", "text": "Done."}])
    return made
