"""Processes beside the server: each answers lines with lines and ends with its standard input."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

__all__ = ["ROOT", "Child", "ask", "child", "python_child"]

ROOT = Path(__file__).resolve().parent.parent

Child = subprocess.Popen[str]


@contextmanager
def child(command: Sequence[str]) -> Iterator[Child]:
    """A process that says "ready" when it is."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert process.stdin is not None and process.stdout is not None
    try:
        if process.stdout.readline().strip() != "ready":
            raise RuntimeError(f"This did not come up: {command}")
        yield process
    finally:
        process.stdin.close()
        process.wait(timeout=60)


@contextmanager
def python_child(module: str, *arguments: str) -> Iterator[Child]:
    """The same with a module of this package."""
    with child([sys.executable, "-m", f"benchmarks.{module}", *arguments]) as process:
        yield process


def ask(process: Child, line: str) -> str:
    """Say a line and hear its answer."""
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(f"{line}\n")
    process.stdin.flush()
    answer = process.stdout.readline()
    if not answer:
        raise RuntimeError(f"It ended before it answered {line!r}: {process.args!r}")
    return answer
