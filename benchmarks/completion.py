"""Ghost text by the embedded model: how soon it is there while a person writes a notebook, what it costs a cell that
runs meanwhile, and how good it is.

How good is measured with the problems of HumanEval Infilling, single line (MIT). COMPLETION_PROBLEMS is the path of their
file, ``HumanEval-SingleLineInfilling.jsonl`` or the same with ``.gz``; without it that part is not measured, and said so.
A hundred problems are used, always the same. Beside the product the bare model fills the same gaps.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

from hdsp_agent.agent.ghost_text import CellAbove, GhostText, Place
from hdsp_agent.config import ContextProxy, OperatorPolicy, ProviderSettings, SecretStore
from hdsp_agent.errors import HdspAgentError
from hdsp_agent.local import LocalModels
from hdsp_agent.providers import Gap, open_fill_in
from hdsp_agent.tools import PathPolicy

from .results import Result, percentile, result

_PROBLEMS: Final = 100
_PATIENCE_SECONDS: Final = 10
_CELLS: Final = 5
_MODELS: Final = ("qwen2.5-coder-0.5b-instruct", "qwen2.5-coder-1.5b-instruct")
_NOTEBOOK: Final = (
    "import pandas as pd\nimport matplotlib.pyplot as plt",
    "flats = pd.read_csv('flats.csv')\nflats.head()",
    "flats['price_per_m2'] = flats['rent'] / flats['size']\nflats.describe()",
    "towns = flats.groupby('town')['rent'].mean().sort_values(ascending=False)\ntowns",
    "fig, ax = plt.subplots(figsize=(8, 4))\ntowns.plot.bar(ax=ax)\nax.set_ylabel('mean rent')\nplt.show()",
    "large = flats[flats['size'] > 80]\nprint(len(large), 'flats are large')",
    "def rent_of(town, size):\n    near = flats[flats['town'] == town]\n    return near['rent'].median() * size",
    "for town in flats['town'].unique():\n    print(town, rent_of(town, 60))",
    "from sklearn.linear_model import LinearRegression\nmodel = LinearRegression().fit(flats[['size']], flats['rent'])",
    "flats['expected'] = model.predict(flats[['size']])\nflats.plot.scatter('expected', 'rent')\nplt.show()",
)
"""What a person writes in the notebook, cell by cell."""


@dataclass(frozen=True)
class _Problem:
    """A function with a line left out."""

    prompt: str
    suffix: str
    line: str
    test: str
    function: str


@dataclass(frozen=True)
class _Score:
    """How many of the problems were solved: to the letter, and so that their tests pass."""

    exact: float
    passed: float


def measure() -> list[Result]:
    """Nothing is measured, and said so, where the model cannot be had."""
    return [entry for model in _MODELS for entry in asyncio.run(_measured(model))]


async def _measured(model: str) -> list[Result]:
    short = "0.5b" if "0.5b" in model else "1.5b"
    results: list[Result] = []
    try:
        async with _ghost_text(model) as (ghost, bare):
            seconds = await _typed(ghost)
            results += _of_latency(short, seconds)
            results.append(await _beside_a_cell(short, ghost))
            problems = _problems()
            if not problems:
                print("completion: HOW GOOD IT IS IS NOT MEASURED: set COMPLETION_PROBLEMS", file=sys.stderr)
                return results
            # Beside each other, as the model remembers what it has just read.
            pairs = [(await _suggested(ghost, problem), await bare(problem)) for problem in problems]
            ours = await _scored(problems, [pair[0] for pair in pairs])
            theirs = await _scored(problems, [pair[1] for pair in pairs])
    except HdspAgentError as error:
        print(f"completion: {model} NOT MEASURED: {error.message}", file=sys.stderr)
        return []
    told = f"of {len(problems)} problems of HumanEval Infilling, single line; beside it the bare model"
    return [
        *results,
        result(
            f"completion.{short}.exact", f"solved to the letter, {told}", ours.exact, "%", baseline=theirs.exact,
            goal="none", met=True, runs=len(problems),
        ),
        result(
            f"completion.{short}.passed", f"solved so that the tests pass, {told}", ours.passed, "%",
            baseline=theirs.passed, goal="none", met=True, runs=len(problems),
        ),
    ]  # fmt: skip


@asynccontextmanager
async def _ghost_text(model: str) -> AsyncIterator[tuple[GhostText, Callable[[_Problem], Awaitable[str]]]]:
    """The product, and the bare model, which runs already."""
    with tempfile.TemporaryDirectory() as folder:
        home, policy = Path(folder), OperatorPolicy()
        config = ContextProxy(home, policy, SecretStore(home, policy))
        await config.start()
        local = LocalModels()
        settings = ProviderSettings.model_validate({"apiProvider": "local", "apiModelId": model})
        profile = await config.profiles.create("gaps", {"apiProvider": "local", "apiModelId": model})
        await config.update({"ghostTextEnabled": True, "ghostTextApiConfigId": profile.id})
        ghost = GhostText(config, local, paths=lambda: PathPolicy(home))
        client = await open_fill_in(settings, local=local)

        async def bare(problem: _Problem) -> str:
            filling = await client.fill(Gap(problem.prompt, problem.suffix, most_tokens=64, stop=("\n",)))
            return filling.text.partition("\n")[0]

        try:
            async with local.runtime.turn(await local.file_of(settings)):
                pass
            yield ghost, bare
        finally:
            await client.close()
            await ghost.stop()
            await local.stop()
            await config.stop()


async def _typed(ghost: GhostText) -> list[float]:
    """How long a suggestion takes at the places where a person pauses: behind the first word of each line, and at its end."""
    seconds: list[float] = []
    for at, source in enumerate(_NOTEBOOK):
        cells = [CellAbove("code", one) for one in _NOTEBOOK[:at]]
        written = ""
        for line in source.split("\n"):
            word = line[: len(line) - len(line.lstrip())] + line.split()[0]
            for before in (f"{written}{word}", f"{written}{line}"):
                begun = time.perf_counter()
                await ghost.suggest(Place(before, "", cells=cells))
                seconds.append(time.perf_counter() - begun)
            written += f"{line}\n"
    return seconds


def _of_latency(short: str, seconds: list[float]) -> list[Result]:
    middle, slow = percentile(seconds, 0.5), percentile(seconds, 0.95)
    what = f"from a pause in typing to the suggestion, with the {short.upper()} model"
    return [
        result(
            f"completion.{short}.latency_p50", f"{what}, p50", middle * 1000, "ms", goal="<= 400 ms",
            met=middle <= 0.4, runs=len(seconds),
        ),
        result(
            f"completion.{short}.latency_p95", f"{what}, p95", slow * 1000, "ms", goal="<= 900 ms", met=slow <= 0.9,
            runs=len(seconds),
        ),
    ]  # fmt: skip


async def _beside_a_cell(short: str, ghost: GhostText) -> Result:
    """How much longer a cell takes that only computes, while one suggestion after the other is written."""
    alone, beside = [], []
    for _ in range(_CELLS):
        alone.append(await _cell())
        writing = asyncio.create_task(_on_and_on(ghost))
        try:
            beside.append(await _cell())
        finally:
            writing.cancel()
            await asyncio.wait([writing])
    ratio = median(beside) / median(alone)
    return result(
        f"completion.{short}.cell_time", "a cell that computes while ghost text is written without a pause; beside it alone",
        median(beside), "s", baseline=median(alone), goal="<= 1 % more", met=ratio <= 1.01, runs=_CELLS,
    )  # fmt: skip


async def _cell() -> float:
    begun = "import time\nbegun = time.perf_counter()\nsum(i * i for i in range(20_000_000))\n"
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", f"{begun}print(time.perf_counter() - begun)", stdout=asyncio.subprocess.PIPE
    )
    said, _ = await process.communicate()
    return float(said)


async def _on_and_on(ghost: GhostText) -> None:
    cells = [CellAbove("code", one) for one in _NOTEBOOK]
    for number in itertools.count():
        await ghost.suggest(Place(f"table_{number} = flats.", "", cells=cells))


async def _suggested(ghost: GhostText, problem: _Problem) -> str:
    # In an editor the line that is left out is an empty one.
    return next(iter(await ghost.suggest(Place(problem.prompt, f"\n{problem.suffix}"))), "")


async def _scored(problems: list[_Problem], texts: list[str]) -> _Score:
    exact = passed = 0
    for problem, text in zip(problems, texts, strict=True):
        exact += text.strip() == problem.line.strip()
        passed += await asyncio.to_thread(_passes, problem, text)
    return _Score(100 * exact / len(problems), 100 * passed / len(problems))


def _passes(problem: _Problem, text: str) -> bool:
    """Whether the tests of the problem pass, in a process of its own."""
    program = f"{problem.prompt}{text}\n{problem.suffix}\n{problem.test}\ncheck({problem.function})\n"
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run(
                [sys.executable, "-I", "-c", program],
                cwd=folder,
                capture_output=True,
                timeout=_PATIENCE_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return False
    return done.returncode == 0


def _problems() -> list[_Problem]:
    given = os.environ.get("COMPLETION_PROBLEMS")
    if not given:
        return []
    path = Path(given)
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    entries = [json.loads(line) for line in text.decode().splitlines() if line.strip()]
    entries.sort(key=lambda entry: hashlib.sha256(entry["task_id"].encode()).hexdigest())
    return [
        _Problem(
            entry["prompt"], entry["suffix"], entry["canonical_solution"], entry["test"], entry["entry_point"]
        )
        for entry in entries[:_PROBLEMS]
    ]  # fmt: skip
