"""Runs tests on mutants: each in a process forked from one that has everything imported but our own code."""

from __future__ import annotations

import atexit
import importlib.machinery
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Final, Literal

from tests.mutation.mutants import mutants_of
from tests.mutation.targets import LEFT_OUT

__all__ = ["Job", "Outcome", "Result", "preload", "run_all"]

Outcome = Literal["killed", "timed out", "survived"]

_THIRD_PARTY: Final = (
    "anyio", "hypothesis", "jupyter_server.serverapp", "nbformat", "pathspec", "pydantic", "pytest", "pytest_jupyter",
    "pytest_timeout", "tornado.web", "tree_sitter", "tree_sitter_bash", "yaml",
)  # fmt: skip


@dataclass(frozen=True)
class Job:
    """A mutant by its number in its file; none is the file as it is."""

    file: str
    number: int | None
    name: str
    tests: tuple[str, ...]
    seconds: float
    """How long the tests may take; a mutant that makes them endless is found as well."""


@dataclass(frozen=True)
class Result:
    """What became of it."""

    job: Job
    outcome: Outcome
    seconds: float


def preload() -> None:
    """Import what all tests need, so that no fork does it again."""
    # What is compiled once is read by all others, and lies in no folder of the working tree.
    sys.dont_write_bytecode = False
    sys.pycache_prefix = tempfile.mkdtemp(prefix="mutation-")
    atexit.register(shutil.rmtree, sys.pycache_prefix, ignore_errors=True)
    for name in _THIRD_PARTY:
        with suppress(ImportError):
            __import__(name)
    assert not any(name.partition(".")[0] == "hdsp_agent" for name in sys.modules), "our own code must come mutated"


def run_all(jobs: Iterable[Job], *, at_a_time: int) -> Iterator[Result]:
    """Run them, in the order in which they end."""
    waiting = iter(jobs)
    running: dict[int, tuple[Job, float]] = {}
    while True:
        while len(running) < at_a_time and (job := next(waiting, None)) is not None:
            running[_fork(job)] = (job, time.monotonic())
        if not running:
            return
        yield from _ended(running)
        time.sleep(0.02)


def _ended(running: dict[int, tuple[Job, float]]) -> Iterator[Result]:
    for process, (job, began) in list(running.items()):
        took = time.monotonic() - began
        ended, status = os.waitpid(process, os.WNOHANG)
        if ended == 0 and took <= job.seconds:
            continue
        del running[process]
        if ended == 0:
            with suppress(ProcessLookupError):
                os.killpg(process, signal.SIGKILL)
            os.waitpid(process, 0)
            yield Result(job, "timed out", took)
        else:
            # What its tests left behind goes with it.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process, signal.SIGKILL)
            yield Result(job, "survived" if os.waitstatus_to_exitcode(status) == 0 else "killed", took)
        shutil.rmtree(f"{sys.pycache_prefix}/{process}", ignore_errors=True)


def _fork(job: Job) -> int:
    process = os.fork()
    if process == 0:
        code = 70
        try:
            os.setpgid(0, 0)
            _silence()
            _plant(job)
            code = _test(job.tests)
        finally:
            os._exit(code)
    with suppress(ProcessLookupError, PermissionError):
        os.setpgid(process, process)
    return process


def _silence() -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)


def _test(tests: Sequence[str]) -> int:
    import pytest

    # Nobody reads what a failing assertion has to say, so none is rewritten.
    quiet = ["-x", "-q", "-p", "no:cacheprovider", "--assert=plain", "--no-header", "--tb=no", "--no-summary"]
    left_out = [word for test in LEFT_OUT for word in ("--deselect", test)]
    # Another run of pytest tidies up among the usual folders, and what it takes away would look like a mutant found.
    folder = f"{sys.pycache_prefix}/{os.getpid()}"
    # One file after the other: most mutants are found by the first, and the others need not even be imported then.
    codes = (int(pytest.main([*quiet, f"--basetemp={folder}", *left_out, file])) for file in dict.fromkeys(tests))
    return next((code for code in codes if code != 0), 0)


def _plant(job: Job) -> None:
    """Have the import of this file give the mutant, whatever is cached of it."""
    path = Path(job.file).resolve()
    module, mutants = mutants_of(path.read_text("utf-8"), job.file)
    if job.number is not None:
        mutants[job.number].plant()
    import ast

    code = compile(ast.fix_missing_locations(module), str(path), "exec", dont_inherit=True)
    whole = importlib.machinery.SourceFileLoader.get_code

    def get_code(loader: importlib.machinery.SourceFileLoader, fullname: str) -> CodeType | None:
        return code if Path(loader.path).resolve() == path else whole(loader, fullname)

    importlib.machinery.SourceFileLoader.get_code = get_code  # type: ignore[method-assign, assignment]  # this file alone is another
