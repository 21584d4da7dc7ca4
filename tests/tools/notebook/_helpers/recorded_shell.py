"""A program: IPython's real shell, which runs the cells it reads and writes down what it would have given to a shell."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import NoReturn

import IPython.core.interactiveshell
from ipykernel import zmqshell
from IPython.core.alias import Alias

__all__: list[str] = []

given: list[tuple[str, str]] = []


def recorder(kind: str, answer: object = None) -> Callable[..., object]:
    """Stands for a function that has a shell run something."""

    def record(command: object, *_more: object, **_named: object) -> object:
        given.append((kind, command if isinstance(command, str) else " ".join(map(str, command))))  # type: ignore[call-overload]  # a list then
        return answer

    return record


async def start_script(*words: str, **_named: object) -> NoReturn:
    """Stands for the start of a script's program."""
    given.append(("script", json.dumps(words)))
    raise OSError("it is only recorded")


class NoProcess:
    """Stands for a process that Python starts."""

    def __init__(self, command: object, *_more: object, **_named: object) -> None:
        recorder("python")(command)
        raise OSError("it is only recorded")


def main() -> None:
    """Run the cells of standard input, a list in JSON; write a list of what each gave away."""
    cells = json.load(sys.stdin)
    shell = zmqshell.ZMQInteractiveShell.instance()
    for name in ("system", "getoutput"):
        for module in (IPython.core.interactiveshell, zmqshell, IPython.utils.process):
            if hasattr(module, name):
                setattr(module, name, recorder("shell", "" if name == "getoutput" else 0))
    os.system = recorder("python", 0)  # type: ignore[assignment]  # nothing is to run
    subprocess.Popen = NoProcess  # type: ignore[assignment,misc]
    asyncio.create_subprocess_exec = start_script  # type: ignore[assignment]
    for alias in ("ls", "cat", "cp", "mkdir", "mv", "rm", "rmdir"):
        # They have options of their own here and there.
        found = shell.magics_manager.magics["line"][alias]
        assert isinstance(found, Alias)
        found.cmd = alias
    # Most of the time would go by in drawing these.
    for name in ("showtraceback", "showsyntaxerror"):
        setattr(shell, name, lambda *_more, **_named: None)
    shell.user_ns["x"] = "value"
    told = []
    for cell in cells:
        given.clear()
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            shell.run_cell(cell, store_history=False)
        told.append(list(given))
    print(json.dumps(told))


if __name__ == "__main__":
    main()
