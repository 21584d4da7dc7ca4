"""Why the process that runs the model is not there: what it said, and how it ended, as an error people can act on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ._errors import CpuTooOld, RuntimeFailed, RuntimeMissing, TooLittleMemory

__all__ = ["cpu_too_old", "ending", "missing", "refusal", "too_little_memory"]

_ILLEGAL_INSTRUCTION: Final = frozenset({-4, 132, -1073741795, 3221225501})
_KILLED: Final = frozenset({-9, 137})
_NO_MEMORY: Final = re.compile(
    r"failed to allocate|unable to allocate|bad_alloc|out of memory|cannot allocate memory|ENOMEM", re.IGNORECASE
)
_LOG_HEAD: Final = re.compile(r"^[\d.]+ [EWID] (?:\w+\s+)?[\w~]+: ")
_LONGEST: Final = 300


def missing() -> RuntimeMissing:
    """The error for a machine where models cannot be run at all."""
    return RuntimeMissing(
        "The embedded model needs an extra that is not installed. Install it with: pip install 'hdsp-agent[local]'. Then "
        "restart the server."
    )


def too_little_memory(name: str, needed: int | None, free: int | None) -> TooLittleMemory:
    """The error for a model that does not fit."""
    numbers = f": it takes about {needed / 1e6:.0f} MB, and {free / 1e6:.0f} MB are free" if needed and free else ""
    return TooLittleMemory(
        f"There is too little memory to run {name}{numbers}. Close other programs or notebooks, or choose a smaller model "
        "or a smaller window.",
        model=name,
        needed=round(needed / 1e6) if needed else None,
        free=round(free / 1e6) if free is not None else None,
    )


def cpu_too_old(name: str, lacking: Sequence[str]) -> CpuTooOld:
    """The error for a machine whose processor cannot run any of the models."""
    return CpuTooOld(
        f"This machine's processor lacks instructions ({', '.join(lacking)}) that the embedded model needs. Use a model "
        "service or a model server on another machine instead.",
        model=name,
    )


def refusal(name: str, failed: str, reason: str, log: Sequence[str]) -> RuntimeMissing | RuntimeFailed:
    """The error for a process that could not load the model and said so."""
    if failed == "missing":
        return missing()
    if failed == "import":
        return _failed(name, f"its runtime cannot be loaded: {reason}")
    if any(_NO_MEMORY.search(line) for line in log):
        return too_little_memory(name, None, None)
    return _failed(name, _last_words(log) or reason)


def ending(name: str, code: int | None, log: Sequence[str]) -> RuntimeFailed:
    """The error for a process that ended by itself."""
    if code in _ILLEGAL_INSTRUCTION:
        return cpu_too_old(name, ["such as AVX2"])
    if any(_NO_MEMORY.search(line) for line in log):
        return too_little_memory(name, None, None)
    if code in _KILLED:
        return TooLittleMemory(
            f"The process that runs {name} was killed, most likely because memory ran out. It starts again when it is "
            "needed. If this keeps happening, close other programs or notebooks.",
            model=name,
            reason="killed",
        )
    return _failed(name, _last_words(log) or f"its process ended with {code}")


def _failed(name: str, reason: str) -> RuntimeFailed:
    return RuntimeFailed(f"{name} cannot run: {reason}. It starts again when it is needed.", model=name, reason=reason)


def _last_words(log: Sequence[str]) -> str:
    """The first error of the log: those after it follow from it."""
    told = (_LOG_HEAD.sub("", line).strip() for line in log if " E " in line)
    return next((line.rstrip(".")[:_LONGEST] for line in told if line), "")
