"""What the program writes: results on standard output, everything else on standard error."""

from __future__ import annotations

import json
import logging
import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TextIO

from ._home import find_backend
from ._progress_bar import ProgressBar

if TYPE_CHECKING:
    from ..persistence import Backend

__all__ = ["Colour", "Terminal", "printable"]

Colour = Literal["bold", "dim", "red", "green", "yellow", "cyan"]

_CODES: Final[dict[Colour, str]] = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}

# A conversation may hold anything, also what makes a terminal obey or shows text in another order than it is in.
_UNPRINTABLE: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff]"
)


def printable(text: str) -> str:
    """The text without what a terminal would obey; line ends and tabs stay."""
    return _UNPRINTABLE.sub(_escaped, text.replace("\r\n", "\n"))


class Terminal:
    """Where a command writes. ``home`` is the storage folder that is meant, ``given_backend`` the --storage-backend."""

    def __init__(self, *, json: bool, quiet: bool, out: TextIO | None = None, err: TextIO | None = None) -> None:
        self.json: Final = json
        self.quiet: Final = quiet
        self.home = Path()
        self.given_backend: str | None = None
        self._out = sys.stdout if out is None else out
        self._err = sys.stderr if err is None else err
        for stream in (self._out, self._err):
            _never_fail_to_encode(stream)
        self._coloured = not json and self._out.isatty() and not os.environ.get("NO_COLOR") and _knows_colours()
        self._sign: Final = f"\0{os.urandom(8).hex()}:"
        self._painted: Final = re.compile(f"({self._sign}[0-9]+\0)")
        self.progress: Final = ProgressBar(self._err, shown=not quiet and self._err.isatty())
        self._handler = _Warnings(self)
        logging.getLogger().addHandler(self._handler)
        logging.getLogger().setLevel(logging.CRITICAL if quiet else logging.WARNING)

    @property
    def backend(self) -> Backend:
        """What the tasks are kept in. Raises InvalidSetting."""
        return find_backend(self.given_backend)

    @property
    def width(self) -> int | None:
        """How many columns there are; None if nobody looks."""
        if not self._out.isatty():
            return None
        try:
            columns = os.get_terminal_size(self._out.fileno()).columns
        except OSError:
            return 80
        # A terminal that does not know its size says 0.
        return columns or 80

    @property
    def is_seen(self) -> bool:
        """Whether the output goes to a terminal."""
        return self._out.isatty()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep whatever else writes to standard output out of it, such as a kernel's programs: it goes to standard error."""
        if self._out is not sys.stdout:
            yield
            return
        try:
            number, instead = self._out.fileno(), self._err.fileno()
        except (OSError, ValueError):
            # No file is behind it, so no program can write to it either.
            yield
            return
        self.flush()
        before, own = self._out, os.dup(number)
        os.dup2(instead, number)
        try:
            with open(os.dup(own), "w", encoding="utf-8") as self._out:
                _never_fail_to_encode(self._out)
                yield
        finally:
            self._out = before
            os.dup2(own, number)
            os.close(own)

    def line(self, text: str = "") -> None:
        """Print a line of the result."""
        self.progress.clear()
        # Only what was painted here becomes a colour: a conversation cannot know the sign.
        print("".join(self._shown(part) for part in self._painted.split(text)), file=self._out)

    def text(self, text: str) -> None:
        """Print a piece of the result, which may end within a line."""
        self.progress.clear()
        print(printable(text), file=self._out, end="")

    def lines(self, lines: Iterable[str]) -> None:
        """Print lines of the result."""
        for text in lines:
            self.line(text)

    def document(self, value: object) -> None:
        """Print the result as one JSON document."""
        self.progress.clear()
        print(self._dumps(value, indent=2), file=self._out)

    def record(self, value: object) -> None:
        """Print one record of the result as a line of JSON."""
        self.progress.clear()
        print(self._dumps(value, indent=None), file=self._out)

    def note(self, text: str) -> None:
        """Tell the person something that is not the result."""
        if not self.quiet:
            self._say(text)

    def warn(self, text: str) -> None:
        """Tell the person what is not as it should be; the command goes on."""
        if not self.quiet:
            self._say(f"hdsp-agent: warning: {text}")

    def error(self, text: str) -> None:
        """Say why the command failed."""
        self._say(f"hdsp-agent: {text}")

    def paint(self, text: str, colour: Colour) -> str:
        """The text in a colour, where there are colours."""
        return f"{self._sign}{_CODES[colour]}\0{text}{self._sign}0\0" if self._coloured else text

    def flush(self) -> None:
        """Hand everything over; a reader who has gone shows here at the latest."""
        self.progress.clear()
        self._out.flush()

    def close(self) -> None:
        """Stop listening to warnings."""
        self.progress.clear()
        logging.getLogger().removeHandler(self._handler)

    def _shown(self, part: str) -> str:
        if self._painted.fullmatch(part):
            return f"\x1b[{part[len(self._sign) : -1]}m"
        return printable(part)

    def _say(self, text: str) -> None:
        self.progress.clear()
        print(" ".join(printable(text).split("\n")), file=self._err, flush=True)

    def _dumps(self, value: object, *, indent: int | None) -> str:
        unicode = (self._out.encoding or "").lower().replace("-", "") == "utf8"
        text = json.dumps(value, ensure_ascii=not unicode, indent=indent, allow_nan=False)
        # Half a surrogate pair is JSON only as an escape.
        return re.sub("[\ud800-\udfff]", lambda found: f"\\u{ord(found[0]):04x}", text)


class _Warnings(logging.Handler):
    """Shows what the package logs as one line each."""

    def __init__(self, terminal: Terminal) -> None:
        super().__init__(logging.WARNING)
        self._terminal = terminal

    def emit(self, record: logging.LogRecord) -> None:
        # A traceback, if there is one, is for whoever debugs, as in the rest of the program.
        self._terminal.warn(record.getMessage())


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


def _never_fail_to_encode(stream: TextIO) -> None:
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")


def _knows_colours() -> bool:
    return os.environ.get("TERM") != "dumb" and os.name == "posix"
