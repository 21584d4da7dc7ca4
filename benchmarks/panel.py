"""The panel in a real browser: a long conversation, a fast answer, and what it costs JupyterLab's start."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from statistics import median
from typing import Final

from .agent_history import LONG, stored_conversations
from .children import ROOT, Child, ask, child
from .panel_bundle import production_build
from .results import Result, result
from .server import TOKEN, Server, jupyter_server

OPEN_RUNS: Final = 5
OPEN_GOAL_MS: Final = 300.0
SCROLL_SECONDS: Final = 20
LONG_TASK_MS: Final = 50.0

TOKENS_PER_SECOND: Final = 200
STREAM_SECONDS: Final = 60
BUSY_GOAL: Final = 25.0
GROWTH_GOAL_MB: Final = 10.0

START_RUNS: Final = 15
START_GOAL: Final = 1.03


def measure() -> list[Result]:
    """One after the other, each on a server of its own, with the bundle that people get."""
    with production_build() as share:
        environment = {"JUPYTER_PATH": str(share)}
        return [*_long_conversation(environment), *_fast_answer(environment), *_start(environment)]


def _browser() -> AbstractContextManager[Child]:
    chromium = subprocess.run(
        [sys.executable, str(ROOT / "scripts/find_chromium.py")], capture_output=True, text=True, check=True
    ).stdout.strip()
    node = shutil.which("node") or "node"
    return child([node, str(ROOT / "benchmarks/panel.mjs"), chromium])


def _lab(server: Server, workspace: str) -> str:
    return f"{server.url}/lab/workspaces/{workspace}?token={TOKEN}"


# ---- a long conversation


def _long_conversation(environment: Mapping[str, str]) -> list[Result]:
    milliseconds: list[float] = []

    def prepare(home: Path) -> None:
        stored_conversations(home, str(home.parent))

    with jupyter_server(prepare=prepare, environment=environment) as server, _browser() as browser:
        for run in range(OPEN_RUNS):
            ask(browser, json.dumps({"visit": _lab(server, f"open-{run}")}))
            milliseconds.append(float(ask(browser, json.dumps({"open": f"A conversation of {LONG} messages"}))))
        scrolled = json.loads(ask(browser, json.dumps({"scroll": SCROLL_SECONDS})))
    if scrolled["grownBy"] <= 0:
        raise RuntimeError(f"Nothing older was shown while scrolling: {scrolled}")
    opened, longest = median(milliseconds), float(scrolled["longest"])
    return [
        result(
            f"panel.open@{LONG}", f"a conversation of {LONG:,} messages: from its page's arrival to its rows on screen, p50",
            opened, "ms", goal=f"<= {OPEN_GOAL_MS:g} ms", met=opened <= OPEN_GOAL_MS, runs=len(milliseconds),
        ),
        result(
            f"panel.scroll@{LONG}",
            f"the longest task of {SCROLL_SECONDS} s of scrolling towards its beginning ({scrolled['longTasks']} over 50 ms)",
            longest, "ms", goal=f"<= {LONG_TASK_MS:g} ms", met=longest <= LONG_TASK_MS, runs=SCROLL_SECONDS * 20,
        ),
    ]  # fmt: skip


# ---- a fast answer


def _fast_answer(environment: Mapping[str, str]) -> list[Result]:
    with _scripted(environment) as server, _browser() as browser:
        ask(browser, json.dumps({"visit": _lab(server, "stream")}))
        _stream(server, 10)  # warm up: code paths, caches, the rows' first rendering
        before = json.loads(ask(browser, json.dumps({"usage": True})))
        _stream(server, STREAM_SECONDS)
        after = json.loads(ask(browser, json.dumps({"usage": True})))
    busy = (after["busy"] - before["busy"]) / (after["at"] - before["at"]) * 100
    grown = after["heapMb"] - before["heapMb"]
    return [
        result(
            "panel.stream", f"how busy {TOKENS_PER_SECOND} tokens a second keep the page's main thread", busy, "%",
            goal=f"<= {BUSY_GOAL:g} %", met=busy <= BUSY_GOAL, runs=STREAM_SECONDS,
        ),
        result(
            "panel.stream_memory", f"growth of the page's JS heap in these {STREAM_SECONDS} s, after garbage collection",
            grown, "MB", goal=f"flat: <= {GROWTH_GOAL_MB:g} MB", met=grown <= GROWTH_GOAL_MB, runs=1,
        ),
    ]  # fmt: skip


def _scripted(environment: Mapping[str, str]) -> AbstractContextManager[Server]:
    return jupyter_server(extensions=("hdsp_agent", "scripted_agent"), environment=environment)


def _stream(server: Server, seconds: int) -> None:
    wanted = {"messages": 1, "perSecond": TOKENS_PER_SECOND, "seconds": seconds}
    server.post("/hdsp-agent-test/stream", wanted, patience=seconds + 60)


# ---- Lab's start


def _without_panel(home: Path) -> None:
    """As somebody has it who switched the extension off in Lab's extension manager."""
    config = home.parent / ".jupyter" / "labconfig"
    config.mkdir(parents=True)
    disabled = json.dumps({"disabledExtensions": {"hdsp-agent": True}})
    (config / "page_config.json").write_text(disabled, encoding="utf-8")


def _start(environment: Mapping[str, str]) -> list[Result]:
    """Both servers are there all the time, so that only the page differs; with and without take turns."""
    times: dict[str, list[float]] = {"with": [], "without": []}
    with (
        jupyter_server(environment=environment) as with_it,
        jupyter_server(extensions=(), prepare=_without_panel, wait_for="/api") as without,
        _browser() as browser,
    ):

        def start(server: Server) -> float:
            return float(ask(browser, json.dumps({"start": _lab(server, "start")})))

        for server in (with_it, without):
            start(server)  # what the servers make once
        for _ in range(START_RUNS):
            times["without"].append(start(without))
            times["with"].append(start(with_it))
    with_ms, without_ms = median(times["with"]), median(times["without"])
    return [
        result(
            "panel.start", "JupyterLab, from the address to its launcher, nothing cached, p50, beside it without the panel",
            with_ms, "ms", baseline=without_ms, goal=f"<= {START_GOAL:g}x", met=with_ms <= START_GOAL * without_ms,
            runs=START_RUNS,
        ),
    ]  # fmt: skip
