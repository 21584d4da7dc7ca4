"""Talking to the runtime inside a kernel."""

from __future__ import annotations

import asyncio
import time
from functools import cache
from importlib.resources import files
from typing import Final, Literal, Protocol

from ...errors import StorageUnavailable, Unavailable, Unsupported
from ...messages import JsonObject

__all__ = ["LIBRARIES", "KernelAsked", "VariableKernel"]

LIBRARIES: Final = ("numpy", "pandas", "polars", "pyarrow", "scipy", "sklearn", "torch", "xarray")
"""Whose objects another major version may not read; as in the runtime's ``_groups``."""

_KEY: Final = "hdsp_agent_variables_2"
"""With the version of what is asked: another version's runtime in the kernel does not understand it, and is replaced."""
_PACKAGE: Final = "_hdsp_agent_variables_runtime"
_MODULES: Final = (
    "_live",
    "_sharing",
    "_chunks",
    "_classes",
    "_objects",
    "_code",
    "_groups",
    "_restoring",
    "_sweep",
    "_answers",
)
_LOAD_SECONDS: Final = 30.0
_FIRST_PAUSE: Final = 0.002
_LONGEST_PAUSE: Final = 0.1
_ANSWER_SECONDS: Final = 10.0


class VariableKernel(Protocol):
    """What is needed of a connection to a kernel; ``KernelLink`` has it."""

    kernel_id: str
    language: str

    async def ask(
        self,
        kind: str,
        content: JsonObject,
        *,
        channel: Literal["shell", "control"] = "shell",
        subshell: str | None = None,
        seconds: float | None = None,
    ) -> JsonObject:
        """A request's reply. The kernel's end, or too long a silence, is Unavailable."""
        ...


class KernelAsked:
    """Questions to one kernel's runtime."""

    def __init__(self, kernel: VariableKernel) -> None:
        self._kernel = kernel

    async def _load(self, seconds: float) -> None:
        """Put the runtime into the kernel.

        As an expression of a silent request without code: no name, no history and no count.
        """
        content: JsonObject = {
            "code": "",
            "silent": True,
            "store_history": False,
            "user_expressions": {_KEY: _expression()},
            "allow_stdin": False,
            "stop_on_error": False,
        }
        reply = await self._kernel.ask("execute_request", content, seconds=seconds + _LOAD_SECONDS)
        values = reply.get("user_expressions")
        value = values.get(_KEY) if isinstance(values, dict) else None
        if not isinstance(value, dict) or value.get("status") != "ok":
            why = str(value.get("evalue", "")) if isinstance(value, dict) else ""
            raise Unsupported(
                f"This kernel does not let its variables be kept; only IPython's own kernel does. {why}".strip()
            )

    async def ask(
        self, do: str, question: JsonObject, *, seconds: float, channel: Literal["shell", "control"] = "shell"
    ) -> JsonObject:
        """One answer of the runtime."""
        if self._kernel.language != "python":
            language = self._kernel.language or "an unknown language"
            raise Unsupported(f"Variables can be kept of Python kernels only; this one is for {language}.")
        content: JsonObject = {_KEY: {"do": do, **question}}
        reply = await self._kernel.ask("comm_info_request", content, channel=channel, seconds=seconds)
        if _KEY not in reply and channel == "shell":
            await self._load(seconds)
            reply = await self._kernel.ask("comm_info_request", content, channel=channel, seconds=seconds)
        told = reply.get(_KEY)
        if not isinstance(told, dict):
            raise Unavailable("The kernel has forgotten how to keep its variables.", kernel=self._kernel.kernel_id)
        if "error" in told:
            raise Unavailable(
                f"The kernel could not work with its variables: {told['error']}.", kernel=self._kernel.kernel_id
            )
        return told

    async def collect(self, sweep: int, runs_after: int, seconds: float) -> JsonObject:
        """A sweep's record, once all of it is on disk."""
        until = time.monotonic() + seconds
        pause = _FIRST_PAUSE
        question: JsonObject = {"sweep": sweep, "runs_after": runs_after}
        while True:
            told = await self.ask("collect", question, seconds=_ANSWER_SECONDS, channel="control")
            if "failed" in told:
                raise StorageUnavailable(f"The variables were not saved: {told['failed']}.")
            if "gone" in told:
                raise Unavailable("The kernel has forgotten what it saved; save its variables again.")
            if "pending" not in told:
                return told
            if time.monotonic() > until:
                raise Unavailable(f"The variables were not written within {seconds:g} s.")
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)


@cache
def _expression() -> str:
    """Makes a package of the runtime's modules that exists in memory only."""
    folder = files(__package__).joinpath("runtime")
    sources = [(name, folder.joinpath(f"{name}.py").read_text(encoding="utf-8")) for name in _MODULES]
    loader = (
        "def load(sys, types, sources):\n"
        f"    name = {_PACKAGE!r}\n"
        "    known = sys.modules.get(name)\n"
        "    if known is not None:\n"
        "        known.answers.retire()\n"
        "    package = types.ModuleType(name)\n"
        "    package.__path__ = []\n"
        "    sys.modules[name] = package\n"
        "    try:\n"
        "        for short, source in sources:\n"
        "            module = types.ModuleType(name + '.' + short)\n"
        "            module.__package__ = name\n"
        "            sys.modules[module.__name__] = module\n"
        "            exec(compile(source, '<hdsp-agent ' + short + '>', 'exec'), module.__dict__)\n"
        "            setattr(package, short, module)\n"
        "        package.answers = package._answers.install()\n"
        "        return True\n"
        "    except BaseException:\n"
        "        del sys.modules[name]\n"
        "        raise\n"
    )
    return (
        f"(lambda b, s, space: (b.exec({loader!r}, space), space['load'](s('sys'), s('types'), {sources!r}))[-1])"
        "(__import__('builtins'), __import__, {})"
    )
