"""Talking to the runtime inside a kernel."""

from __future__ import annotations

import asyncio
import base64
import importlib.util
import marshal
import time
import zlib
from functools import cache
from importlib.resources import files
from types import CodeType
from typing import Final, Literal, Protocol

from ...errors import StorageUnavailable, Unavailable, Unsupported
from ...messages import JsonObject

__all__ = ["LIBRARIES", "KernelQuestion", "VariableKernel"]

LIBRARIES: Final = ("numpy", "pandas", "polars", "pyarrow", "scipy", "sklearn", "torch", "xarray")
"""Whose objects another major version may not read; as in the runtime's ``_groups``."""

_KEY: Final = "hdsp_agent_variables_6"
"""With the version of what is asked: another version's runtime in the kernel does not understand it, and is replaced."""
_PACKAGE: Final = "_hdsp_agent_variables_runtime"
_MODULES: Final = (
    "_unsavable",
    "_plain_data",
    "_reachability",
    "_shared_groups",
    "_chunks",
    "_classes",
    "_objects",
    "_code",
    "_groups",
    "_reused_arrays",
    "_restore",
    "_sweep",
    "_main_thread",
    "_sent_pieces",
    "_protocol",
)
_ASK_ON_SHELL: Final = "ask on shell"
"""As in the runtime's ``_main_thread``."""
_LOAD_SECONDS: Final = 30.0
_OVERLOOKED_SECONDS: Final = 1.0
_FIRST_PAUSE: Final = 0.002
_LONGEST_PAUSE: Final = 0.1
_ANSWER_SECONDS: Final = 10.0


class VariableKernel(Protocol):
    """What is needed of a connection to a kernel; ``KernelClient`` has it."""

    kernel_id: str
    language: str

    async def ask(
        self,
        kind: str,
        content: JsonObject,
        *,
        channel: Literal["shell", "control"] = "control",
        seconds: float | None = None,
    ) -> JsonObject:
        """A request's reply. The kernel's end, or too long a silence, is Unavailable."""

    async def evaluate(self, expression: str, seconds: float) -> JsonObject:
        """What an expression is once no cell runs, as a reply to a request to run code has it."""


class KernelQuestion:
    """Questions to one kernel's runtime."""

    def __init__(self, kernel: VariableKernel) -> None:
        self._kernel = kernel

    async def _load(self, seconds: float) -> None:
        """Put the runtime into the kernel."""
        value = await self._kernel.evaluate(_expression(), seconds + _LOAD_SECONDS)
        if value.get("status") != "ok":
            why = str(value.get("evalue", ""))
            raise Unsupported(
                f"Variables of this kernel cannot be saved; only those of IPython's own kernel can. {why}".strip(),
                details=why,
                why="not_ipython",
            )

    async def ask(self, do: str, question: JsonObject, *, seconds: float) -> JsonObject:
        """One answer of the runtime, once no cell runs; ``collect`` is answered at once."""
        if self._kernel.language != "python":
            language = self._kernel.language or "an unknown language"
            raise Unsupported(
                f"Only the variables of Python kernels can be saved; this one is for {language}.",
                language=self._kernel.language or None,
                why="other_language",
            )
        content: JsonObject = {_KEY: {"do": do, **question}}
        reply = await self._kernel.ask("comm_info_request", content, seconds=seconds)
        if _KEY not in reply and do != "collect":
            await self._load(seconds)
            reply = await self._kernel.ask("comm_info_request", content, seconds=seconds)
        if reply.get(_KEY) == _ASK_ON_SHELL:
            reply = await self._ask_on_shell(content, seconds)
        told = reply.get(_KEY)
        if not isinstance(told, dict):
            raise Unavailable(
                "The kernel lost the code that saves its variables.",
                kernel=self._kernel.kernel_id,
                why="kernel_failed",
            )
        if "error" in told:
            raise Unavailable(
                f"The kernel could not work with its variables: {told['error']}.",
                kernel=self._kernel.kernel_id,
                details=str(told["error"]),
                why="kernel_failed",
            )
        return told

    async def last(self, seconds: float) -> JsonObject:
        """What a runtime found after the last run; ``unknown`` also where there is none, ``pending`` what takes longer.

        No runtime is loaded for it.
        """
        until = time.monotonic() + seconds
        content: JsonObject = {_KEY: {"do": "last"}}
        while True:
            told = (await self._kernel.ask("comm_info_request", content, seconds=_ANSWER_SECONDS)).get(_KEY)
            if not isinstance(told, dict) or "error" in told:
                return {"unknown": True}
            if "pending" not in told or time.monotonic() > until:
                return told
            await asyncio.sleep(_LONGEST_PAUSE)

    async def _ask_on_shell(self, content: JsonObject, seconds: float) -> JsonObject:
        """A window's loop sometimes overlooks a message, and finds it when the next one comes."""

        def ask(content: JsonObject) -> asyncio.Task[JsonObject]:
            asking = self._kernel.ask("comm_info_request", content, channel="shell", seconds=seconds)
            return asyncio.ensure_future(asking)

        asked, pause = ask(content), _OVERLOOKED_SECONDS
        nudges: list[asyncio.Task[JsonObject]] = []
        try:
            while not (await asyncio.wait({asked}, timeout=pause))[0]:
                nudges.append(ask({_KEY: {"do": "nothing"}}))
                pause *= 2
            return await asked
        finally:
            for one in (asked, *nudges):
                one.cancel()
            await asyncio.gather(asked, *nudges, return_exceptions=True)

    async def collect(self, sweep: int, runs_after: int, seconds: float) -> JsonObject:
        """A sweep's record, once all of it is on disk."""
        until = time.monotonic() + seconds
        pause = _FIRST_PAUSE
        question: JsonObject = {"sweep": sweep, "runs_after": runs_after}
        while True:
            told = await self.ask("collect", question, seconds=_ANSWER_SECONDS)
            if "failed" in told:
                raise StorageUnavailable(
                    f"The variables were not saved: {told['failed']}.",
                    details=str(told["failed"]),
                    why="values_not_written",
                )
            if "gone" in told:
                raise Unavailable("The kernel lost what it saved. Save its variables again.", why="kernel_failed")
            if "pending" not in told:
                return told
            if time.monotonic() > until:
                raise Unavailable(
                    f"The variables were not written within {seconds:g} s.", seconds=seconds, why="values_not_written"
                )
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)


@cache
def _expression() -> str:
    """Makes a package of the runtime's modules that exists in memory only."""
    folder = files(__package__).joinpath("runtime")
    sources = [(name, folder.joinpath(f"{name}.py").read_text(encoding="utf-8")) for name in _MODULES]
    # A kernel of our own Python need not compile them.
    ready = [
        (name, compile(source, f"<hdsp-agent {name}>", "exec", dont_inherit=True, optimize=0))
        for name, source in sources
    ]
    loader = (
        "def load(take, magic, ready, sources):\n"
        "    sys, types, marshal, zlib, base64 = map(take, ('sys', 'types', 'marshal', 'zlib', 'base64'))\n"
        "    is_ours = take('importlib.util').util.MAGIC_NUMBER == magic\n"
        "    modules = marshal.loads(zlib.decompress(base64.b64decode(ready if is_ours else sources)))\n"
        f"    name = {_PACKAGE!r}\n"
        "    known = sys.modules.get(name)\n"
        "    if known is not None:\n"
        "        known.answers.retire()\n"
        "    package = types.ModuleType(name)\n"
        "    package.__path__ = []\n"
        "    sys.modules[name] = package\n"
        "    try:\n"
        "        for short, code in modules:\n"
        "            module = types.ModuleType(name + '.' + short)\n"
        "            module.__package__ = name\n"
        "            sys.modules[module.__name__] = module\n"
        "            if not is_ours:\n"
        "                code = compile(code, '<hdsp-agent ' + short + '>', 'exec')\n"
        "            exec(code, module.__dict__)\n"
        "            setattr(package, short, module)\n"
        "        package.answers = package._protocol.install()\n"
        "        return True\n"
        "    except BaseException:\n"
        "        del sys.modules[name]\n"
        "        raise\n"
    )
    return (
        f"(lambda b, s, space: (b.exec({loader!r}, space), space['load'](s, {importlib.util.MAGIC_NUMBER!r},"
        f" {_packed(ready)!r}, {_packed(sources)!r}))[-1])"
        "(__import__('builtins'), __import__, {})"
    )


def _packed(modules: list[tuple[str, CodeType]] | list[tuple[str, str]]) -> str:
    """Texts alone look the same to every Python since 3.4."""
    return base64.b64encode(zlib.compress(marshal.dumps(modules, 4))).decode()
