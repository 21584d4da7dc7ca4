"""What ghost text adds to a key that somebody presses in a cell, in a real browser.

The same text is written again and again, with ghost text off and on by turns. A pause behind the first letters of each
line lets a suggestion come; then the person writes on through it. Suggestions are written by a small server that knows what
will be typed; every second one is wrong.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median
from typing import Final

from hdsp_agent.messages import JsonObject

from .children import ROOT, Child, ask, child
from .panel_bundle import production_build
from .results import Result, percentile, result
from .server import TOKEN, Server, jupyter_server

_NOTEBOOK: Final = "typing.ipynb"
_ROUNDS: Final = 5
_PAUSE_AT: Final = 3
_MOST_ADDED_MS: Final = 16.0
_CELLS: Final = (
    "import pandas as pd\nimport matplotlib.pyplot as plt",
    "flats = pd.read_csv('flats.csv')\nflats.head()",
    "flats['price_per_m2'] = flats['rent'] / flats['size']\nflats.describe()",
    "towns = flats.groupby('town')['rent'].mean().sort_values(ascending=False)\ntowns",
)
_LINES: Final = (
    "large = flats[flats['size'] > 80]",
    "small = flats[flats['size'] < 40]",
    "ratio = len(large) / len(small)",
    "print('large and small', ratio)",
    "means = large.groupby('town').mean()",
    "joined = means.join(small, on='town')",
    "ax = joined['rent'].plot.bar(color='grey')",
    "ax.set_ylabel('mean rent per month')",
    "plt.tight_layout()",
)
"""About 300 characters that nothing is indented in, so that Lab adds none."""


@dataclass
class _Rounds:
    """What was measured with ghost text off, or on: milliseconds for each key of each round."""

    frames: list[list[float]] = field(default_factory=list)
    tasks: list[list[float]] = field(default_factory=list)
    shown: int = 0


def measure() -> list[Result]:
    """With the bundle that people get."""
    with production_build() as share, _known_text() as url:
        off, on = _written({"JUPYTER_PATH": str(share)}, url)
    if not on.shown or off.shown:
        raise RuntimeError(f"Ghost text was shown {on.shown} times while on, {off.shown} times while off")
    told = f"with ghost text, shown {on.shown} times in {_ROUNDS} rounds; beside it without"
    return [
        *_results("", f"from a key in a cell to the frame that shows it, {told}", on.frames, off.frames),
        *_results(
            "busy_", f"the page's longest task from a key to the next, in processor time, {told}", on.tasks, off.tasks
        ),
    ]  # fmt: skip


def _written(environment: Mapping[str, str], model: str) -> tuple[_Rounds, _Rounds]:
    """Off and on."""
    chromium = subprocess.run(
        [sys.executable, str(ROOT / "scripts/find_chromium.py")], capture_output=True, text=True, check=True
    ).stdout.strip()
    script = [shutil.which("node") or "node", str(ROOT / "benchmarks/typing.mjs")]
    off, on = _Rounds(), _Rounds()
    with jupyter_server(prepare=lambda home: _write(home.parent), environment=environment) as server:
        profile = {"apiProvider": "openai", "openAiModelId": "known", "openAiBaseUrl": model}
        server.patch("/hdsp-agent/api/profiles/default", {"settings": profile})
        server.patch("/hdsp-agent/api/settings", {"ghostTextApiConfigId": "default"})
        url = f"{server.url}/lab/tree/{_NOTEBOOK}?token={TOKEN}"
        with child([*script, url, chromium]) as page:
            # The first of each is not counted: code is compiled then.
            for number in range(1 + _ROUNDS):
                for is_on, rounds in ((False, off), (True, on)):
                    _round(server, page, is_on, rounds if number else _Rounds())
    return off, on


def _round(server: Server, page: Child, is_on: bool, rounds: _Rounds) -> None:
    server.patch("/hdsp-agent/api/settings", {"ghostTextEnabled": is_on})
    ask(page, json.dumps({"isOn": is_on}))
    told = json.loads(ask(page, json.dumps({"lines": _LINES, "pauseAt": _PAUSE_AT})))
    if told["text"].split() != "\n".join(_LINES).split():
        raise RuntimeError(f"Something else was written than what was typed: {told['text']!r}")
    keys = sum(len(line) + 1 for line in _LINES)
    if (len(told["frames"]), len(told["tasks"])) != (keys, keys):
        raise RuntimeError(f"Of {keys} keys {len(told['frames'])} frames and {len(told['tasks'])} tasks were measured")
    rounds.frames.append(told["frames"])
    rounds.tasks.append(told["tasks"])
    rounds.shown += told["shown"]


def _results(which: str, what: str, on: list[list[float]], off: list[list[float]]) -> list[Result]:
    measured: tuple[tuple[str, str, Callable[[list[list[float]]], float]], ...] = (
        ("p50", "p50", lambda rounds: percentile([key for keys in rounds for key in keys], 0.5)),
        ("p95", "p95", lambda rounds: percentile([key for keys in rounds for key in keys], 0.95)),
        ("worst", "the worst key of a round, median of them", lambda rounds: median(max(keys) for keys in rounds)),
    )
    return [
        result(
            f"completion.typing.{which}{name}", f"{what}, {which_key}", of(on), "ms", baseline=of(off),
            goal=f"<= {_MOST_ADDED_MS:g} ms more", met=of(on) - of(off) <= _MOST_ADDED_MS, runs=sum(map(len, on)),
        )
        for name, which_key, of in measured
    ]  # fmt: skip


def _write(folder: Path) -> None:
    cells: list[JsonObject] = [
        {"cell_type": "code", "execution_count": None, "id": f"cell-{at}", "metadata": {}, "outputs": [], "source": text}
        for at, text in enumerate((*_CELLS, ""))
    ]  # fmt: skip
    kernel = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
    notebook = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    (folder / _NOTEBOOK).write_text(json.dumps(notebook), encoding="utf-8")


@contextmanager
def _known_text() -> Iterator[str]:
    """The address of a model that knows what will be typed. Of every second line it says something else."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            begun = str(asked["prompt"]).rpartition("\n")[2]
            at, line = next(((at, one) for at, one in enumerate(_LINES) if begun and one.startswith(begun)), (0, ""))
            text = line[len(begun) :] if at % 2 == 0 else "_of_the_year = flats.sample(n=10)"
            body = json.dumps({"choices": [{"text": text, "finish_reason": "stop"}]}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Nobody reads it."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
