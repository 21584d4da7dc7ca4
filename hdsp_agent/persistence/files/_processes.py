"""Whether a process still runs, and is still the same one."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

__all__ = ["is_gone", "process_started"]


def process_started(process_id: int) -> str | None:
    """When the process began, as a text only it has; None if there is no such process or nobody can tell."""
    if sys.platform == "win32":
        return _windows_start(process_id)
    elif sys.platform == "linux":
        return _linux_start(process_id)
    else:
        return _ps_start(process_id)


def is_gone(process_id: int, started: str | None) -> bool:
    """Whether a process of this machine has ended, even if another has its id by now."""
    now = process_started(process_id)
    if now is not None:
        return started is not None and now != started
    if sys.platform == "win32":
        return True
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        return False
    # It has no start to tell although it exists: a process that ended and waits to be reaped.
    return sys.platform.startswith("linux")


def _linux_start(process_id: int) -> str | None:
    with suppress(OSError, IndexError):
        stat = Path(f"/proc/{process_id}/stat").read_text("utf-8", "replace")
        fields = stat[stat.rindex(")") + 2 :].split()
        if fields[0] in "ZX":
            return None
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        return f"{boot}:{fields[19]}"
    return None


def _ps_start(process_id: int) -> str | None:
    with suppress(OSError, subprocess.SubprocessError):
        said = subprocess.run(  # noqa: S603 -- fixed arguments
            ["/bin/ps", "-o", "state=,lstart=", "-p", str(process_id)],
            capture_output=True, text=True, timeout=5, check=False, env={"LC_ALL": "C"},
        ).stdout.strip()  # fmt: skip
        if said and not said.startswith("Z"):
            return said.split(None, 1)[1]
    return None


if sys.platform == "win32":

    def _windows_start(process_id: int) -> str | None:
        import ctypes
        from ctypes import wintypes

        kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        kernel.OpenProcess.restype = wintypes.HANDLE
        query_limited_information, still_active = 0x1000, 259
        handle = wintypes.HANDLE(kernel.OpenProcess(query_limited_information, False, process_id))
        if not handle:
            return None
        try:
            code = wintypes.DWORD()
            if not kernel.GetExitCodeProcess(handle, ctypes.byref(code)) or code.value != still_active:
                return None
            created, ended, in_kernel, in_user = (wintypes.FILETIME() for _ in range(4))
            if not kernel.GetProcessTimes(
                handle, ctypes.byref(created), ctypes.byref(ended), ctypes.byref(in_kernel), ctypes.byref(in_user)
            ):
                return None
            return f"{created.dwHighDateTime}:{created.dwLowDateTime}"
        finally:
            kernel.CloseHandle(handle)
