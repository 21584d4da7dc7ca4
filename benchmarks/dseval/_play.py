"""Plays a problem set through the agent: a scripted model that inserts a cell and runs it, for each of its cells."""

from __future__ import annotations

import ast
import asyncio
import json
import shutil
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Final, TypeAlias

from pydantic import JsonValue

from hdsp_agent.agent import AskNotOpen, TaskManager, TaskRequest, build_agent
from hdsp_agent.config import ContextProxy, OperatorPolicy, SecretStore
from hdsp_agent.messages import JsonObject, NotebookRef, TaskId
from hdsp_agent.notebooks import Notebooks
from hdsp_agent.notebooks.documents.contents import ContentsNotebooks
from hdsp_agent.notebooks.kernels import Executor, RunLimits
from hdsp_agent.notebooks.kernels.headless import HeadlessKernels
from hdsp_agent.persistence import FileStore

__all__ = ["REFERENCE_FAILS", "Played", "Verdict", "alone", "play"]

REFERENCE_FAILS: Final = "The reference fails"
"""What a reason begins with then; as in ``_in_kernel``."""
_NOTEBOOK: Final = "work.ipynb"
_JUDGE: Final = Path(__file__).with_name("_in_kernel.py")
_SHELL: Final = "__import__('IPython').get_ipython()"
_NAMESPACE: Final = f"{_SHELL}.user_ns"
_THE: Final = "__import__('sys').modules['_dseval_judge'].the"
_SECONDS: Final = 300
_LOOK_SECONDS: Final = 0.01
_ALLOWED: Final[dict[str, JsonValue]] = {
    "autoApprovalEnabled": True,
    "alwaysAllowReadOnly": True,
    "alwaysAllowWrite": True,
    "alwaysAllowRunCells": True,
    "alwaysAllowExecute": True,
}

Speak: TypeAlias = Callable[[list[JsonValue]], Awaitable[None]]
"""Makes the model say these turns next."""


@dataclass(frozen=True)
class Verdict:
    """What came of one problem."""

    problem: str
    passed: bool
    reason: str = ""


@dataclass
class Played:
    """What came of a problem set."""

    verdicts: list[Verdict] = field(default_factory=list)
    strange: list[str] = field(default_factory=list)
    """Names in the kernel that nobody's code made."""
    cells: int = 0


def alone(dseval: Path, file: Path, folder: Path) -> list[Verdict]:
    """The references without the agent. Blocks."""
    _copy_data(file, folder)
    command = [sys.executable, str(_JUDGE), str(dseval), str(file)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    lines = done.stdout.strip().splitlines()
    if done.returncode != 0 or not lines:
        raise RuntimeError(f"{file.stem} could not be tried: {done.stderr[-500:]}")
    return [
        Verdict(f"{file.stem}:{at}", one["passed"], one["reason"]) for at, one in enumerate(json.loads(lines[-1]), 1)
    ]


async def play(dseval: Path, file: Path, folder: Path) -> Played:
    """What came of each problem of a set, in a notebook of its own."""
    await asyncio.to_thread(_copy_data, file, folder)
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = {"cells": [], "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    (folder / _NOTEBOOK).write_text(json.dumps(notebook), encoding="utf-8")
    played = Played()
    async with _agent(folder) as (manager, notebooks, speak):
        await notebooks.executor.start(_NOTEBOOK)
        judge = _Judge(notebooks.executor)
        failure: dict[str, Any] | None = None
        for number, (code, is_problem) in enumerate(await judge.begin(dseval, file)):
            if failure is None:
                try:
                    await judge.before(number)
                except ReferenceFails as fails:
                    # What follows stands on it.
                    failure = {"passed": False, "reason": str(fails)}
            if failure is None:
                await _answer(manager, speak, number, code)
                error, printed = await _outcome(notebooks, folder, number)
                told = await judge.after(number, error, printed)
                played.cells += 1
                played.strange += told["strange"]
            if is_problem:
                name = f"{file.stem}:{len(played.verdicts) + 1}"
                verdict = failure or told
                played.verdicts.append(Verdict(name, verdict["passed"], verdict["reason"]))
    return played


class ReferenceFails(Exception):
    """The benchmark's own code does."""


class _Judge:
    """What judges in the kernel, as we speak with it: by expressions, which leave no name behind."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    async def begin(self, dseval: Path, file: Path) -> list[tuple[str, bool]]:
        """Put it there; the code of each cell, and whether it answers a question."""
        source = _JUDGE.read_text(encoding="utf-8")
        await self._value(
            "(lambda sys, types: [sys.modules.__setitem__('_dseval_judge', types.ModuleType('_dseval_judge')),"
            f" exec({source!r}, sys.modules['_dseval_judge'].__dict__),"
            " setattr(sys.modules['_dseval_judge'], 'the',"
            f" sys.modules['_dseval_judge'].Judge({str(dseval)!r}, {str(file)!r}))][0])"
            "(__import__('sys'), __import__('types'))"
        )
        return [(code, is_problem) for code, is_problem in await self._value(f"{_THE}.sections()")]

    async def before(self, number: int) -> None:
        """What is to be known before a cell runs."""
        await self._value(f"{_THE}.before({number}, {_NAMESPACE})")

    async def after(self, number: int, error: str | None, printed: str) -> dict[str, Any]:
        """What came of a cell."""
        shown = f"{_NAMESPACE}.get('Out', {{}}).get({_SHELL}.execution_count - 1)"
        told: dict[str, Any] = await self._value(
            f"{_THE}.after({number}, {_NAMESPACE}, {shown}, {error!r}, {printed!r})"
        )
        return told

    async def _value(self, expression: str) -> Any:
        link = await self._executor.link(_NOTEBOOK)
        # On shell: the benchmark limits time by signals, which the main thread alone gets.
        content: JsonObject = {
            "code": "",
            "silent": True,
            "store_history": False,
            "user_expressions": {"it": f"__import__('json').dumps({expression})"},
            "allow_stdin": False,
        }
        reply = await link.ask("execute_request", content, channel="shell", seconds=_SECONDS)
        values = reply.get("user_expressions")
        found: Any = values.get("it") if isinstance(values, dict) else None
        if not isinstance(found, dict):
            raise ReferenceFails(f"The kernel did not say: {reply}")
        data = found.get("data")
        if found.get("status") != "ok" or not isinstance(data, dict):
            raise ReferenceFails(f"{REFERENCE_FAILS}: {found.get('ename')}: {found.get('evalue')}")
        return json.loads(ast.literal_eval(str(data["text/plain"])))


def _copy_data(file: Path, folder: Path) -> None:
    """The files of a problem set, where its code looks for them."""
    own = file.parent / "_inputs" / file.stem
    data = own if own.exists() else own.parent
    if data.exists():
        shutil.copytree(data, folder / "inputs")


@asynccontextmanager
async def _agent(folder: Path) -> AsyncIterator[tuple[TaskManager, Notebooks, Speak]]:
    """The agent of a folder, its notebooks, and what makes its model say something."""
    home = folder.with_name(f"{folder.name}-home")
    policy = OperatorPolicy()
    config, store = ContextProxy(home, policy, SecretStore(home, policy)), FileStore(home)
    headless = HeadlessKernels(folder)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(headless.close)
        limits = RunLimits(total_seconds=_SECONDS)
        notebooks = Notebooks(ContentsNotebooks(headless.contents), headless.port, limits=lambda: limits)
        stack.push_async_callback(notebooks.close)
        await config.start()
        stack.push_async_callback(config.stop)
        await store.start()
        stack.push_async_callback(store.stop)
        manager = build_agent(config, store, workspace=folder, overrides=_ALLOWED, notebooks=notebooks)
        stack.push_async_callback(manager.stop)
        numbers = count()

        async def speak(turns: list[JsonValue]) -> None:
            # A new file each time: a model that is open goes on in its script.
            script = folder.with_name(f"says-{next(numbers)}.json")
            await asyncio.to_thread(script.write_text, json.dumps(turns), encoding="utf-8")
            speaks: dict[str, JsonValue] = {"apiProvider": "fake-ai", "apiModelId": str(script)}
            await config.profiles.update(config.profiles.current.id, speaks)

        yield manager, notebooks, speak


async def _answer(manager: TaskManager, speak: Speak, number: int, code: str) -> None:
    """A task whose model answers with this cell."""
    cell: JsonValue = {"op": "insert", "source": code}
    calls: list[JsonValue] = [
        {"tool": "edit_cells", "arguments": {"operations": [cell]}, "id": "edit"},
        {"tool": "run_cells", "arguments": {"cells": [number + 1], "timeout": _SECONDS}, "id": "run"},
    ]
    await speak([calls, [{"tool": "attempt_completion", "arguments": {"result": "The cell is there."}, "id": "done"}]])
    task_id = await manager.start(TaskRequest("Answer the question.", notebook=NotebookRef(path=_NOTEBOOK)))
    try:
        await _until_done(manager, task_id)
    finally:
        if manager.tasks.opened(task_id) is not None:
            await manager.tasks.close(task_id)


async def _until_done(manager: TaskManager, task_id: TaskId) -> None:
    """Say yes to what is asked, until the task says that it is done."""
    answered: set[int] = set()
    while (task := manager.tasks.opened(task_id)) is not None:
        await asyncio.sleep(_LOOK_SECONDS)
        question = task.state.dialogue.asks.newest()
        if question is None or question.ts in answered:
            continue
        answered.add(question.ts)
        if question.ask == "completion_result":
            return
        if question.ask not in ("tool", "command"):
            raise RuntimeError(f"The agent asks: {question.ask}: {question.text}")
        with suppress(AskNotOpen):
            await manager.answer(task_id, question.ts, "yesButtonClicked")


async def _outcome(notebooks: Notebooks, folder: Path, number: int) -> tuple[str | None, str]:
    """Why a cell failed, if it did, and what it printed, as the notebook has it."""
    await (await notebooks.executor.link(_NOTEBOOK)).until_not_busy(_SECONDS)
    cell = (await _saved(folder))["cells"][number]
    if cell["execution_count"] is None:
        return "it did not run", ""
    errors = [f"{one['ename']}: {one['evalue']}" for one in cell["outputs"] if one["output_type"] == "error"]
    printed = ["".join(one["text"]) for one in cell["outputs"] if one["output_type"] == "stream"]
    return (errors[0] if errors else None), "".join(printed)


async def _saved(folder: Path) -> Any:
    """The notebook's file. Jupyter writes it in place, and may be at it."""
    until = time.monotonic() + _SECONDS
    while True:
        text = await asyncio.to_thread((folder / _NOTEBOOK).read_text, encoding="utf-8")
        try:
            return json.loads(text)
        except ValueError:
            if time.monotonic() > until:
                raise
            await asyncio.sleep(_LOOK_SECONDS)
