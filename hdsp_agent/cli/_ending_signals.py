"""Being told to end by a signal, as Ctrl+C tells it."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["ends_by_signals"]


@contextmanager
def ends_by_signals() -> Iterator[list[int]]:
    """End as Ctrl+C does when the program is told to end or its terminal is gone; the list has what told it."""
    loop, work = asyncio.get_running_loop(), asyncio.current_task()
    assert work is not None
    came: list[int] = []
    terminals = [number for number in range(3) if os.isatty(number)]

    def end(number: int) -> None:
        if came:
            return
        came.append(number)
        if number == getattr(signal, "SIGHUP", None):
            # The terminal is gone: what is written to it would fail, and with it what is to be kept.
            nowhere = os.open(os.devnull, os.O_RDWR)
            for terminal in terminals:
                os.dup2(nowhere, terminal)
        work.cancel()

    heard: list[int] = []
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        # Whoever began it with nohup wants it to go on.
        if number is None or signal.getsignal(number) is signal.SIG_IGN:
            continue
        try:
            loop.add_signal_handler(number, end, number)
        except (NotImplementedError, RuntimeError, ValueError):
            # Windows has no such signals, and another thread than the main one gets none.
            continue
        heard.append(number)
    try:
        yield came
    finally:
        for number in heard:
            loop.remove_signal_handler(number)
