"""Patterns for paths that people, files and models write, and rules of ignore files.

They run on RE2, whose time grows with the length of the text alone: Python's own engine can be made to run for ever.
Roo Code's patterns are JavaScript's; what people write for paths means the same in RE2.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, Protocol

__all__ = ["LinearPattern", "PatternProblem", "linear_pattern", "path_matches"]

_MOST_MEMORY: Final = 1 << 17
"""Of one pattern, in bytes. With it the slowest pattern takes 25 ms for the longest path."""
_LONGEST_PATH: Final = 4096
_BEYOND_RE2: Final = re.compile(r"\(\?<?[=!]|\\(?:[1-9]|k<)")


class PatternProblem(ValueError):
    """The pattern cannot be used, and why, as the end of a sentence that begins with its name."""


class Match(Protocol):
    """Where a pattern was found."""

    def groupdict(self) -> dict[str, bytes | None]:
        """The named groups."""


class LinearPattern(Protocol):
    """A pattern ready to be used."""

    def search(self, text: bytes) -> Match | None:
        """Where it is found first in a text in UTF-8."""


def path_matches(pattern: str, path: str) -> bool:
    """Whether the pattern is found in the path. No pattern matches one that is longer than any file's."""
    data = path.encode("utf-8", "replace")
    return len(data) <= _LONGEST_PATH and linear_pattern(pattern).search(data) is not None


@lru_cache(maxsize=256)
def linear_pattern(pattern: str) -> LinearPattern:
    """The pattern ready to be used. Raises PatternProblem."""
    # Few people have a mode with a pattern: who starts Jupyter does not wait for it.
    import re2

    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MOST_MEMORY
    try:
        return re2.compile(pattern.encode(), options)  # type: ignore[no-any-return]  # the library has no types
    except UnicodeEncodeError:
        raise PatternProblem("contains half a character") from None
    except re2.error as error:
        if _BEYOND_RE2.search(pattern):
            raise PatternProblem(
                "uses look-around or a back reference, which patterns for files cannot. Write it without"
            ) from None
        said = error.args[0] if error.args else b""
        reason = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
        if "too large" in reason:
            raise PatternProblem("is too large a pattern. Repeat less") from None
        raise PatternProblem(f"is not a regular expression: {reason}") from None
