"""Arguments that are programs of their own: sed scripts, awk programs, and the commands of database shells."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

__all__ = ["awk_danger", "json_danger", "sed_danger", "sql_danger", "table_danger"]

_ADDRESS: Final = r"(?:\d+(?:~\d+)?|\$|[+~]\d+|/(?:[^/\\\n]|\\.)*/I?)"
_SUBSTITUTION: Final = r"s([/|,#:@!_%])(?:(?!\1)[^\\\n]|\\.)*\1(?:(?!\1)[^\\\n]|\\.)*\1[gpiI\d]*"
_SED_COMMAND: Final = re.compile(
    rf"\s*(?:{_ADDRESS}(?:,{_ADDRESS})?)?\s*!?\s*(?:[pPdDqQ=nNhHgGxl]|{_SUBSTITUTION})\s*(?:[;\n]|$)"
)
_SED_OPTION: Final = re.compile(r"-[nErsuz]+|--(?:quiet|silent|regexp-extended|null-data|separate|unbuffered|posix)")
# A comparison is no redirection: that stands behind a print.
_AWK_RUNS: Final = re.compile(r"system|getline|@|ARGV|ARGC|print.*>|(?<!\|)\|(?!\|)", re.DOTALL)
# SQL can name files and programs; the shells around it run and write by commands of their own.
_SQL_RUNS: Final = re.compile(
    r"^\s*\.|\\[!owigesc]|\bsystem\b|\bcopy\b|\battach\b|\bload\b|\binstall\b|writefile|readfile|edit\(|load_extension|outfile|dumpfile|\bsource\b|pg_read|lo_(?:im|ex)port|program",
    re.IGNORECASE | re.MULTILINE,
)
_SQL_OPTIONS: Final = re.compile(
    r"-(?:cmd|init|A)|--(?:init-command|output|log-file|file|init|variable|set|tee|pager|plugin|default)|-[oLfv]"
)


# jq and yq bring in other files by these words, Miller runs and writes by its own.
_JSON_READS: Final = re.compile(r"\b(?:import|include|load\w*|env|strenv)\b(?=\s*[\"(])")
_TABLE_RUNS: Final = re.compile(
    r"\b(?:system|exec|split|tee)\b|\b(?:emit|print|dump)\w*\b[^;]*[>|]|-[Is]$|--(?:prepipe|load|mload|from-file)"
)


def json_danger(words: Sequence[str]) -> str | None:
    """A filter that reads other files than those it is given."""
    return next((word for word in words[1:] if _JSON_READS.search(word)), None)


def table_danger(words: Sequence[str]) -> str | None:
    """A Miller expression that runs a program or writes a file."""
    return next((word for word in words[1:] if _TABLE_RUNS.search(word)), None)


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


def sql_danger(words: Sequence[str]) -> str | None:
    """A command that a database shell runs itself, or a statement that reaches files."""
    return next((word for word in words[1:] if _SQL_OPTIONS.match(word) or _SQL_RUNS.search(word)), None)
