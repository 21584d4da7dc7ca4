"""Answers typed at the terminal: only what was typed after the question could be read."""

from __future__ import annotations

import asyncio
import os
import select
import sys
import threading
from contextlib import suppress
from typing import Final

__all__ = ["Keyboard", "says_yes"]

_PASTE_SECONDS: Final = 0.05
"""No person types a second line so soon after the first; a terminal sends what is pasted at once."""
_PIECE: Final = 4096
_MOST_BYTES: Final = 1024 * 1024
"""What comes after so much is no answer: the next question throws it away."""


class Keyboard:
    """The terminal's keys. A thread waits for them, and keeps nobody from ending the program."""

    def forget_typed(self) -> None:
        """Throw away what was typed so far. Call it when all of a question but its prompt is on the screen."""
        _forget_typed(sys.stdin.fileno())

    async def lines(self) -> list[str] | None:
        """The lines that arrive together, without white space around them; None when there are no more."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[bytes] = loop.create_future()

        def read() -> None:
            data = _next_lines()
            # The loop is closed if nobody asks any more.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(_tell, done, data)

        # Not the loop's own threads: it waits for those when it ends.
        threading.Thread(target=read, daemon=True, name="keyboard").start()
        data = await done
        if not data:
            return None
        text = data.decode(sys.stdin.encoding or "utf-8", "replace")
        return [line.strip() for line in text.removesuffix("\n").split("\n")]


async def says_yes(prompt: str) -> bool:
    """Whether the person at the terminal agrees to what is on the screen."""
    keyboard = Keyboard()
    keyboard.forget_typed()
    print(f"{prompt} [y/N] ", end="", file=sys.stderr, flush=True)
    return await keyboard.lines() in (["y"], ["Y"], ["yes"], ["Yes"], ["YES"])


def _tell(done: asyncio.Future[bytes], data: bytes) -> None:
    if not done.done():
        done.set_result(data)


def _next_lines() -> bytes:
    # Not sys.stdin's own buffer: it is locked while somebody reads, and the interpreter needs that lock to end.
    descriptor = sys.stdin.fileno()
    data = b""
    while len(data) < _MOST_BYTES and (not data.endswith(b"\n") or _more_follows(descriptor)):
        try:
            piece = os.read(descriptor, _PIECE)
        except OSError:
            piece = b""
        if not piece:
            break
        data += piece
    return data


if sys.platform == "win32":
    import msvcrt

    def _forget_typed(descriptor: int) -> None:
        while msvcrt.kbhit():
            msvcrt.getwch()

    def _more_follows(descriptor: int) -> bool:
        threading.Event().wait(_PASTE_SECONDS)
        return msvcrt.kbhit()

else:
    import termios

    def _forget_typed(descriptor: int) -> None:
        # The output may go elsewhere. A terminal that is gone says so when it is read.
        with suppress(termios.error):
            termios.tcdrain(sys.stdout.fileno())
        with suppress(termios.error):
            termios.tcflush(descriptor, termios.TCIFLUSH)

    def _more_follows(descriptor: int) -> bool:
        return bool(select.select([descriptor], [], [], _PASTE_SECONDS)[0])
