"""Whether this machine's processor can run the embedded model, told before half a gigabyte is fetched for it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Final

from ._exit_reasons import cpu_too_old

__all__ = ["NEEDED", "check_processor"]

NEEDED: Final = ("avx", "avx2", "f16c", "fma", "bmi2")
"""What the runtime's x86 wheel was built with. One that lacks any of it ends at the first step."""
_PROCESSORS: Final = Path("/proc/cpuinfo")


def check_processor(name: str) -> None:
    """Raise CpuTooOld where the system tells that it cannot. It reads a file: call it in a thread."""
    with suppress(OSError, ValueError):
        for line in _PROCESSORS.read_text("ascii", errors="replace").splitlines():
            # Only x86 has this line.
            key, _, flags = line.partition(":")
            if key.strip() == "flags":
                lacking = [flag for flag in NEEDED if flag not in flags.split()]
                if lacking:
                    raise cpu_too_old(name, lacking)
                return
