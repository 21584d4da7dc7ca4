"""Arguments that are programs of their own: sed scripts, awk programs, and the filters of jq."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

__all__ = ["awk_danger", "json_danger", "sed_danger"]

_ADDRESS: Final = r"(?:\d+(?:~\d+)?|\$|[+~]\d+|/(?:[^/\\\n]|\\.)*/I?)"
_SUBSTITUTION: Final = r"s([/|,#:@!_%])(?:(?!\1)[^\\\n]|\\.)*\1(?:(?!\1)[^\\\n]|\\.)*\1[gpiI\d]*"
_SED_COMMAND: Final = re.compile(
    rf"\s*(?:{_ADDRESS}(?:,{_ADDRESS})?)?\s*!?\s*(?:[pPdDqQ=nNhHgGxl]|{_SUBSTITUTION})\s*(?:[;\n]|$)"
)
_SED_OPTION: Final = re.compile(r"-[nErsuz]+|--(?:quiet|silent|regexp-extended|null-data|separate|unbuffered|posix)")
# A comparison is no redirection: that stands behind a print.
_AWK_RUNS: Final = re.compile(r"system|getline|@|ARGV|ARGC|SYMTAB|print.*>|(?<!\|)\|(?!\|)", re.DOTALL)

# jq and yq bring in other files by these words.
_JSON_READS: Final = re.compile(r"\b(?:import|include)\b|\b(?:load\w*|env|strenv|eval)\s*[\"(]")
_JSON_OPTIONS: Final = re.compile(r"-\w*f|--from-file|--fr")


def json_danger(words: Sequence[str]) -> str | None:
    """A filter that reads other files than those it is given, or that is in a file itself."""
    return next((word for word in words[1:] if _JSON_OPTIONS.match(word) or _JSON_READS.search(word)), None)


def sed_danger(words: Sequence[str]) -> str | None:
    """Anything but the few commands that only choose and change what is printed."""
    scripts: list[str] = []
    others: list[str] = []
    given = iter(words[1:])
    for word in given:
        if re.fullmatch(r"-[nErsuz]*e", word):
            scripts.append(next(given, ""))
        elif not word.startswith("-") or word == "-":
            others.append(word)
        elif not _SED_OPTION.fullmatch(word):
            return word
    return next((script for script in scripts or others[:1] if not _only_prints(script)), None)


def _only_prints(script: str) -> bool:
    at = 0
    while at < len(script):
        found = _SED_COMMAND.match(script, at)
        if found is None or found.end() == at:
            return not script[at:].strip()
        at = found.end()
    return True


def awk_danger(words: Sequence[str]) -> str | None:
    """A program that may run another or write, or an option that brings in a program."""
    others: list[str] = []
    given = iter(words[1:])
    for word in given:
        if word in ("-F", "-v"):
            next(given, None)
        elif not word.startswith("-") or word == "-":
            others.append(word)
        elif not re.match(r"-[Fv].", word):
            return word
    return next((program for program in others[:1] if _AWK_RUNS.search(program)), None)
