"""The channel under load: 2,000 frames a second to three tabs in a real browser.

80 messages stream at once, 30 pieces a second each, which coalescing makes a little over 2,000 frames of; every piece of text carries the time it was
published at, and each tab reads that of the newest message, the one in sight, back from its own DOM.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from contextlib import AbstractContextManager

from .children import ROOT, Child, ask, child, python_child
from .probe import Probe
from .results import Result, percentile, result
from .server import TOKEN, Server, jupyter_server

MESSAGES = 80
PIECES_PER_SECOND = 2_400
SECONDS = 30
TABS = 3


def measure() -> list[Result]:
    """With three tabs of a browser, then with three readers that leave the machine alone: idle first, then under load.

    How other endpoints fare is asked beside the readers only: tabs whose pictures are drawn by software take all cores.
    """
    with jupyter_server(extensions=("hdsp_agent", "scripted_agent")) as server:
        with _tabs(server) as tabs:
            _stream(server, seconds=5)  # warm up: code paths, caches, the rows' first rendering
            loaded = Probe(server)
            ask(tabs, "mark")
            with loaded.running():
                pieces = _stream(server, seconds=SECONDS)
            report = json.loads(ask(tabs, "report"))
        with _readers(server):
            beside_readers = Probe(server), Probe(server)
            with beside_readers[0].running():
                time.sleep(SECONDS)
            with beside_readers[1].running():
                _stream(server, seconds=SECONDS)
    return _judge(pieces, report, loaded) + _judge_readers(*beside_readers)


def _tabs(server: Server) -> AbstractContextManager[Child]:
    chromium = subprocess.run(
        [sys.executable, str(ROOT / "scripts/find_chromium.py")], capture_output=True, text=True, check=True
    ).stdout.strip()
    node = shutil.which("node") or "node"
    return child([node, str(ROOT / "benchmarks/tabs.mjs"), server.url, TOKEN, chromium, str(TABS)])


def _readers(server: Server) -> AbstractContextManager[Child]:
    return python_child("readers", server.url, TOKEN, str(TABS))


def _stream(server: Server, *, seconds: int) -> int:
    wanted = {"messages": MESSAGES, "perSecond": PIECES_PER_SECOND, "seconds": seconds}
    return int(json.loads(server.post("/hdsp-agent-test/stream", wanted, patience=seconds + 60))["pieces"])


def _judge(pieces: int, report: dict[str, list[float]], loaded: Probe) -> list[Result]:
    latencies = sorted(report["latencies"])
    seen = len(latencies) / TABS
    p95 = percentile(latencies, 0.95)
    third = len(loaded.memory_mb) // 3
    early, late = max(loaded.memory_mb[:third]), max(loaded.memory_mb[-third:])
    browser_growth = report["heapMb"][-1] - report["heapMb"][0]
    return [
        result(
            "channel.frames", "frames a second that reached each tab's page", report["frames"][0] / SECONDS, "1/s",
            goal=">= 2000 /s", met=min(report["frames"]) / SECONDS >= 2000, runs=TABS,
        ),
        result(
            "channel.pieces", "pieces of the message in sight seen in each tab's DOM, of those published", seen, "pieces",
            baseline=float(pieces // MESSAGES), goal="all of them", met=seen == pieces // MESSAGES, runs=TABS,
        ),
        result(
            "channel.server_to_dom", "published on the server to visible in the DOM, p95", p95, "ms",
            goal="<= 100 ms", met=p95 <= 100, runs=len(latencies),
        ),
        result(
            "channel.memory", "server's memory in the last third beside the first third", late, "MB",
            baseline=early, goal="flat: <= 1.05x", met=late <= 1.05 * early, runs=len(loaded.memory_mb),
        ),
        result(
            "channel.page_memory", "growth of a page's JS heap over the run, after garbage collection", browser_growth, "MB",
            goal="<= 10 MB", met=browser_growth <= 10, runs=TABS,
        ),
    ]  # fmt: skip


def _judge_readers(idle: Probe, loaded: Probe) -> list[Result]:
    p99_idle, p99_loaded = percentile(idle.milliseconds, 0.99), percentile(loaded.milliseconds, 0.99)
    return [
        result(
            "channel.neighbour_server",
            "p99 of another Jupyter endpoint under this load, read by three tabs without a browser, beside idle",
            p99_loaded, "ms", baseline=p99_idle, goal="<= 1.5x idle", met=p99_loaded <= 1.5 * p99_idle,
            runs=len(loaded.milliseconds),
        ),
    ]  # fmt: skip
