"""With which arguments a program that seems only to read does more: it writes a file, or runs another program.

A rule that allows ``git log`` or ``sort`` is meant for reading, so these are asked about all the same. Where what is
dangerous can be listed it is; where a program has too many ways, what is harmless is listed instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

__all__ = ["dangerous_argument", "takes_dangerous_options"]


@dataclass(frozen=True)
class _Dangers:
    """Options that are dangerous: ``short`` letters alone or among others, ``long`` names whole or abbreviated."""

    short: str = ""
    long: tuple[str, ...] = ()
    words: str | None = None
    """Whatever else is dangerous, as a pattern."""

    def include(self, word: str) -> bool:
        """Whether the word is one of them."""
        if word.startswith("--"):
            name = word[2:].partition("=")[0].lower()
            if name and any(full.startswith(name) for full in self.long):
                return True
        elif word.startswith("-") and set(word[1:]) & set(self.short):
            return True
        return self.words is not None and re.match(self.words, word) is not None


_FD: Final = _Dangers("xX", ("exec", "exec-batch"))
_DANGERS: Final[dict[str, _Dangers]] = {
    "git": _Dangers(
        "",
        ("output", "ext-diff", "textconv", "filters", "exec", "upload-pack", "receive-pack", "config-env", "open-files-in-pager", "git-dir", "work-tree",
         "exec-path", "extcmd", "in-place", "remote", "tree-filter", "super-prefix", "attr-source"),
        r"-[a-zA-Z]*O|-c$|-C$|ext::",
    ),
    "find": _Dangers(words=r"-(?:delete|exec|execdir|ok|okdir|fprint\w*|fls)$"),
    "fd": _FD,
    "fdfind": _FD,
    "rg": _Dangers("z", ("pre", "hostname-bin", "search-zip")),
    "sort": _Dangers("o", ("output", "compress-program")),
    "date": _Dangers("s", ("set",), r"\d{8}"),
    "tree": _Dangers("o", ("output",)),
    "file": _Dangers("C", ("compile",)),
    "xxd": _Dangers("r", ("revert",)),
    "yq": _Dangers("i", ("inplace",)),
    "split": _Dangers(long=("filter",)),
    "bat": _Dangers(long=("pager", "config-file", "diagnostic", "generate-config-file"), words=r"cache$"),
    "time": _Dangers("oa", ("output", "append")),
    # Shows the variables of other programs, with the keys in them.
    "ps": _Dangers(words=r"[a-zA-Z]*[eE][a-zA-Z]*$"),
    "printf": _Dangers(words=r"-v|.*%[-+ #0-9.*']*[hlLjzt]*n"),
    "test": _Dangers(words=r"-[vR]$"),
    "[": _Dangers(words=r"-[vR]$"),
    "cd": _Dangers(words=r"[-+]"),
    "pushd": _Dangers(words=r"[-+]"),
}  # fmt: skip

# Options that are harmless; every other is asked about.
_HARMLESS: Final[dict[str, re.Pattern[str]]] = {
    name: re.compile(pattern)
    for name, pattern in {
        "less": r"-[NRSFXriIgmMeE]+",
        "more": r"-[dflpcsu]+",
        "man": r"-[kfwa]",
        "tar": r"-?-?[cxtvfzjJkaCOru]+|--(?:create|extract|list|verbose|file|gzip|bzip2|xz|directory|exclude|keep-old-files|strip-components)(?:=.*)?",
        "curl": r"-[sSfLIvkiG46mHA]+|-[mHA].*|--(?:silent|show-error|fail|location|head|include|compressed|verbose|get|max-time|connect-timeout|retry|header"
        r"|user-agent|insecure)(?:=.*)?",
        "env": r"-[i0]|-|--(?:ignore-environment|null)",
    }.items()
}  # fmt: skip

_GIT_RUNS: Final = frozenset(
    {"bisect", "rebase", "submodule", "filter-branch", "config", "difftool", "mergetool", "daemon", "send-email", "hook", "for-each-repo", "instaweb",
     "credential", "shell", "maintenance", "archive", "upload-pack", "receive-pack", "upload-archive", "http-backend", "web--browse", "cvsserver", "svn", "p4",
     "fast-import", "filter-repo", "var", "gui", "citool"}
)  # fmt: skip
"""What of git runs programs it is given, or decides which are run later: only a rule that names it allows it."""

_ADDRESS: Final = r"(?:\d+(?:~\d+)?|\$|[+~]\d+|/(?:[^/\\\n]|\\.)*/I?)"
_SUBSTITUTION: Final = r"s([/|,#:@!_%])(?:(?!\1)[^\\\n]|\\.)*\1(?:(?!\1)[^\\\n]|\\.)*\1[gpiI\d]*"
_SED_COMMAND: Final = re.compile(
    rf"\s*(?:{_ADDRESS}(?:,{_ADDRESS})?)?\s*!?\s*(?:[pPdDqQ=nNhHgGxl]|{_SUBSTITUTION})\s*(?:[;\n]|$)"
)
_SED_OPTION: Final = re.compile(r"-[nErsuz]+|--(?:quiet|silent|regexp-extended|null-data|separate|unbuffered|posix)")
_AWK_RUNS: Final = re.compile(r"system|getline|[|>@]")


def takes_dangerous_options(name: str) -> bool:
    """Whether the program has arguments with which it does more, so that one that cannot be told is a danger."""
    return name in _DANGERS or name in _HARMLESS or name in _JUDGES


def dangerous_argument(name: str, words: Sequence[str], rule: Sequence[str]) -> str | None:
    """The first argument that makes a program do more than it seems, unless the rule that allows it names it."""
    judge = _JUDGES.get(name)
    found = judge(words, rule) if judge is not None else None
    if found is not None:
        return found
    harmless = _HARMLESS.get(name)
    if harmless is not None:
        return next((word for word in words[1:] if word[:1] in ("-", "+") and not harmless.fullmatch(word)), None)
    dangers = _DANGERS.get(name)
    return None if dangers is None else next((word for word in words[1:] if dangers.include(word)), None)


def _git(words: Sequence[str], rule: Sequence[str]) -> str | None:
    subcommand = next((word for word in words[1:] if not word.startswith("-")), None)
    return subcommand if subcommand in _GIT_RUNS and subcommand not in rule else None


def _sed(words: Sequence[str], _rule: Sequence[str]) -> str | None:
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


def _awk(words: Sequence[str], _rule: Sequence[str]) -> str | None:
    others: list[str] = []
    given = iter(words[1:])
    for word in given:
        if word in ("-F", "-v"):
            next(given, None)
        elif word.startswith("-") and word != "-" and not re.match(r"-[Fv].", word):
            return word
        else:
            others.append(word)
    return next((program for program in others[:1] if _AWK_RUNS.search(program)), None)


def _second_file(words: Sequence[str], _rule: Sequence[str]) -> str | None:
    """The second file these programs are given is the one they write."""
    files = [word for word in words[1:] if not word.startswith(("-", "+"))]
    return files[1] if len(files) > 1 else None


def _tar(words: Sequence[str], _rule: Sequence[str]) -> str | None:
    return next(_unusual_for_tar(words), None)


def _unusual_for_tar(words: Sequence[str]) -> Iterator[str]:
    # The first word is options even without a hyphen; an archive with a colon in its name is on another machine.
    if len(words) > 1 and not words[1].startswith("-") and not re.fullmatch(r"[cxtvfzjJkaCOru]+", words[1]):
        yield words[1]
    yield from (word for word in words[1:] if ":" in word)


def _man(words: Sequence[str], _rule: Sequence[str]) -> str | None:
    return next((word for word in words[1:] if "/" in word), None)


_JUDGES: Final[dict[str, Callable[[Sequence[str], Sequence[str]], str | None]]] = {
    "git": _git,
    "sed": _sed,
    "awk": _awk,
    "gawk": _awk,
    "mawk": _awk,
    "uniq": _second_file,
    "xxd": _second_file,
    "tar": _tar,
    "man": _man,
}
