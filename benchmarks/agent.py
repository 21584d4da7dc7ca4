"""What the agent adds to the model's time: per turn, until the first word is on the panel, and to other people's requests.

A real server with the extension; the model, and the tab that watches, are processes of their own. The first words end with
a space: a word that has not ended may become a secret, so the agent holds it back until the next piece.
"""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from statistics import median
from typing import Final

from hdsp_agent.messages import TaskId

from .agent_history import LONG, SHORT, stored_conversations
from .agent_model import PER_SECOND, begins
from .children import Child, ask, python_child
from .probe import Probe
from .results import Result, percentile, result
from .server import TOKEN, Server, jupyter_server

TURNS: Final = 100
WARM_TURNS: Final = 10
PIECES: Final = 20
ANSWERS: Final = 40
TASKS: Final = 20
SECONDS: Final = 12
PROBES_PER_SECOND: Final = 40

_KEY: Final = "bench"
_PATIENCE_SECONDS: Final = 60.0
_ROUNDS: Final = 3


def measure() -> list[Result]:
    """All on one server, one after the other."""
    with tempfile.TemporaryDirectory(prefix="hdsp-bench-agent-") as folder:
        tasks: dict[int, TaskId] = {}
        with (
            jupyter_server(
                extensions=("hdsp_agent", "benchmarks.agent_watch"),
                prepare=lambda home: tasks.update(stored_conversations(home, folder)),
            ) as server,
            python_child("agent_model") as model,
            python_child("agent_tab", server.url, TOKEN) as tab,
        ):
            server.patch(
                "/hdsp-agent/api/settings",
                {"autoApprovalEnabled": True, "autoCondenseContext": False, "secretStorage": "file"},
            )
            bench = _Bench(server, model, tab)
            return [*bench.turns(Path(folder), tasks), bench.first_words(), bench.neighbour()]


class _Bench:
    """The server, and what stands around it."""

    def __init__(self, server: Server, model: Child, tab: Child) -> None:
        self._server = server
        self._model = model
        self._tab = tab
        self._model_url = ask(model, "url").strip()

    # ---- turns

    def turns(self, folder: Path, tasks: Mapping[int, TaskId]) -> list[Result]:
        """The time from one request to the next, with a model that answers at once, in a short and a long conversation."""
        self._began()
        milliseconds: dict[int, list[float]] = {size: [] for size in tasks}
        for round_ in range(_ROUNDS):
            for size, task in tasks.items():
                milliseconds[size] += self._take_turns(folder, task, again=round_ > 0)
        short, long = milliseconds[SHORT], milliseconds[LONG]
        runs = len(long)
        return [
            result(
                f"agent.turn.overhead@{LONG}",
                f"one turn of the agent with {LONG:,} messages of history, of which the model sees what fits, its time left out: p50 (p95"
                f" {percentile(long, 0.95):.1f} ms), beside {SHORT} messages (p95 {percentile(short, 0.95):.1f} ms)",
                median(long), "ms", baseline=median(short), goal="<= 5 ms", met=median(long) <= 5, runs=runs,
            ),
        ]  # fmt: skip

    def _take_turns(self, folder: Path, task: TaskId, *, again: bool) -> list[float]:
        """A round of turns in a conversation that was interrupted, or came to its end in the round before."""
        self._speak(apiProvider="fake-ai", apiModelId=str(_script(folder)))
        before = len(self._began().get(task, ()))
        self._request(type="showTaskWithId", taskId=task)
        question = self._question("completion_result" if again else "resume_task")
        self._request(type="askResponse", taskId=task, messageTs=question, askResponse="messageResponse", text="Go on.")
        self._until(lambda: len(self._began().get(task, ())) > before + WARM_TURNS + TURNS)
        began = self._began()[task][before + WARM_TURNS :]
        return [(began[turn + 1] - began[turn]) / 1e6 for turn in range(TURNS)]

    def _question(self, kind: str) -> int:
        return int(ask(self._tab, json.dumps({"question": kind})))

    def _began(self) -> dict[str, list[int]]:
        told: dict[str, list[int]] = json.loads(self._server.get("/hdsp-agent-bench/turns"))
        return told

    # ---- the first word

    def first_words(self) -> Result:
        """From the model server's socket to a tab, beside the official SDK alone reading the same server."""
        self._speak_with("first")
        task = self._request(type="newTask", text="Look at all parts.")
        self._until(lambda: len(self._arrived()) >= ANSWERS + WARM_TURNS)
        self._request(type="clearTask", taskId=task)
        arrived = self._arrived()
        ours = self._later_than_written(arrived)[WARM_TURNS:]
        bare = self._later_than_written(asyncio.run(_bare_sdk(f"{self._model_url}/first", ANSWERS + WARM_TURNS)))[
            WARM_TURNS:
        ]
        p50, p95 = median(ours), percentile(ours, 0.95)
        return result(
            "agent.first_token",
            f"the first words of an answer, written by the provider to seen by a tab: p95 (p50 {p50:.1f} ms), beside the "
            f"bare SDK reading them (p50 {median(bare):.1f} ms)",
            p95, "ms", baseline=percentile(bare, 0.95), goal="<= 10 ms", met=p95 <= 10, runs=len(ours),
        )  # fmt: skip

    def _arrived(self) -> dict[int, int]:
        told = json.loads(ask(self._tab, json.dumps({"report": True})))["arrived"]
        return {int(number): at for number, at in told.items()}

    def _later_than_written(self, arrived: Mapping[int, int]) -> list[float]:
        written = json.loads(ask(self._model, "report"))["written"]
        return [(at - written[str(number)]) / 1e6 for number, at in sorted(arrived.items())]

    # ---- neighbours

    def neighbour(self) -> Result:
        """Another Jupyter endpoint, idle and while many tasks stream."""
        self._speak_with("steady")
        idle, loaded = (Probe(self._server, per_second=PROBES_PER_SECOND) for _ in range(2))
        with idle.running():
            time.sleep(SECONDS)
        tasks = [self._request(type="newTask", text=f"Look at part {number}.") for number in range(TASKS)]
        # Between two answers a task streams nothing for a moment.
        self._until(lambda: self._streaming() >= TASKS - 1)
        streaming: list[int] = []
        with loaded.running():
            for _ in range(SECONDS):
                time.sleep(1)
                streaming.append(self._streaming())
        for task in tasks:
            self._request(type="clearTask", taskId=task)
        p99_idle, p99_loaded = percentile(idle.milliseconds, 0.99), percentile(loaded.milliseconds, 0.99)
        return result(
            "agent.neighbour",
            f"p99 of another Jupyter endpoint while {TASKS} tasks stream {PER_SECOND} tokens a second each to a tab, beside"
            f" idle, on {os.cpu_count()} cores (p50 {median(loaded.milliseconds):.1f} and {median(idle.milliseconds):.1f} ms;"
            f" {median(streaming):.0f} streamed at a time)",
            p99_loaded, "ms", baseline=p99_idle, goal="<= 2x idle", met=p99_loaded <= 2 * p99_idle,
            runs=len(loaded.milliseconds),
        )  # fmt: skip

    def _streaming(self) -> int:
        return int(json.loads(ask(self._model, "report"))["streaming"])

    # ---- what all use

    def _speak_with(self, how: str) -> None:
        self._speak(
            apiProvider="anthropic",
            apiModelId="claude-sonnet-4-5",
            anthropicBaseUrl=f"{self._model_url}/{how}",
            # An environment's key goes to Anthropic alone.
            apiKey=_KEY,
        )

    def _speak(self, **settings: str) -> None:
        self._server.patch("/hdsp-agent/api/profiles/default", {"settings": settings})

    def _request(self, **request: object) -> str:
        said = json.loads(ask(self._tab, json.dumps({"request": request})))
        if said is None or isinstance(said, str):
            return said or ""
        raise RuntimeError(f"The server refused {request}: {said}")

    def _until(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while not condition():
            if time.monotonic() > deadline:
                raise RuntimeError("The tasks do not go on; the server's log may say why.")
            time.sleep(0.2)


def _script(folder: Path) -> Path:
    """Turns that say something and change the plan, and at last the end of the task."""
    turn = partial(_turn, count=TURNS + WARM_TURNS)
    done = [{"tool": "attempt_completion", "arguments": {"result": "All parts were looked at."}, "id": "done"}]
    # A name of its own: a script that was played is at its end.
    path = folder / f"script-{time.monotonic_ns()}.json"
    path.write_text(json.dumps([*map(turn, range(TURNS + WARM_TURNS)), done]), encoding="utf-8")
    return path


def _turn(number: int, *, count: int) -> list[dict[str, object]]:
    said: list[dict[str, object]] = [{"text": f"This is piece {piece} of what I say. "} for piece in range(PIECES)]
    plan = {"todos": f"[x] look at part {number} of {count}\n[ ] look at part {number + 1}"}
    return [
        *said,
        {"tool": "update_todo_list", "arguments": plan, "id": f"plan_{number}"},
        {"usage": {"input": 10, "output": 90}},
    ]


async def _bare_sdk(url: str, answers: int) -> dict[int, int]:
    """When the first words of each answer were there for whoever uses the SDK alone."""
    from anthropic import AsyncAnthropic

    arrived: dict[int, int] = {}
    async with AsyncAnthropic(api_key=_KEY, base_url=url, max_retries=0) as sdk:
        for _ in range(answers):
            stream = await sdk.messages.create(
                model="claude-sonnet-4-5", max_tokens=100, stream=True, messages=[{"role": "user", "content": "Look."}]
            )
            async for event in stream:
                if event.type == "content_block_delta" and event.delta.type == "text_delta":
                    number = begins(event.delta.text)
                    if number is not None:
                        arrived.setdefault(number, time.monotonic_ns())
    return arrived
