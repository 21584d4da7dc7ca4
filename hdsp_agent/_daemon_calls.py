"""Calls that may never return, such as those to a keyring whose daemon has died.

Each runs in a daemon thread of its own: an executor waits for its threads when the interpreter exits, and would hang it.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

__all__ = ["Unresponsive", "call_in_daemon"]

T = TypeVar("T")


class Unresponsive(Exception):
    """The call did not come back in time; its thread is left to itself."""


async def call_in_daemon(work: Callable[[], T], timeout: float | None) -> T:
    """Run ``work`` in a daemon thread and wait for it no longer than ``timeout`` seconds."""
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[None] = loop.create_future()
    # Not the future's own: in debug mode asyncio logs results and arguments of what is slow, and this may be a key.
    values: list[T] = []

    def deliver(error: Exception | None) -> None:
        if outcome.done():
            return
        if error is not None:
            outcome.set_exception(error)
        else:
            outcome.set_result(None)

    def run() -> None:
        failure: Exception | None = None
        try:
            values.append(work())
        except Exception as error:  # noqa: BLE001 -- whatever it is belongs to the caller
            failure = error
        # The loop may be closed by the time a call that hung comes back.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(deliver, failure)

    threading.Thread(target=run, name="hdsp-agent secrets", daemon=True).start()
    done, _ = await asyncio.wait({outcome}, timeout=timeout)
    if not done:
        outcome.cancel()
        raise Unresponsive
    outcome.result()
    return values[0]
