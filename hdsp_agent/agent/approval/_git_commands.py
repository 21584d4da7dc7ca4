"""What Git's commands do besides reading."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Final

__all__ = ["git_danger", "without_harmless_options"]

# Its options in front of the command that change nothing about what runs.
_HARMLESS_GLOBALS: Final = frozenset({"--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs"})

_RUNS: Final = frozenset(
    {"bisect", "rebase", "submodule", "filter-branch", "config", "difftool", "mergetool", "daemon", "send-email", "hook", "for-each-repo", "instaweb",
     "credential", "shell", "maintenance", "archive", "upload-pack", "receive-pack", "upload-archive", "http-backend", "web--browse", "cvsserver", "svn", "p4",
     "fast-import", "filter-repo", "var", "gui", "citool", "credential-cache", "credential-store", "remote-ext", "remote-fd", "imap-send", "request-pull", "fsmonitor--daemon",
     "mergetool--lib", "quiltimport", "lfs", "annex", "flow", "update-index", "scalar", "merge-index", "merge-one-file", "merge-octopus", "merge-resolve", "diagnose", "bugreport"}
)  # fmt: skip
"""What of Git runs programs it is given, or decides which are run later: only a rule that names it allows it."""

_LONG: Final = (
    "ext-diff", "textconv", "filters", "upload-pack", "receive-pack", "config-env", "open-files-in-pager", "git-dir", "work-tree", "exec-path", "extcmd",
    "in-place", "remote", "tree-filter", "super-prefix", "attr-source", "template", "separate-git-dir", "output-directory",
)  # fmt: skip
"""From git(1) and the manuals of its commands: they write files, run programs, or change which are run.

Git takes abbreviations, so ``output-directory`` stands for ``output`` too, ``exec-path`` for ``exec``, and ``config-env`` for
``config``.
"""
_HARMLESS_LONG: Final = frozenset({"text"})
_SHORT_OF: Final = {"clone": "uc", "format-patch": "o", "grep": "O"}
_ANYWHERE: Final = re.compile(r"ext::|fd::")


def without_harmless_options(words: Sequence[str]) -> tuple[str, ...]:
    """The words of a Git command without the options in front that change nothing, for rules: ``git --no-pager log``."""
    name = os.path.basename(words[0]) if words else ""
    if name.startswith("git-"):
        # The programs behind Git's commands, each by its own name.
        return ("git", name.removeprefix("git-"), *words[1:])
    if name != "git":
        return tuple(words)
    kept = list(words)
    while len(kept) > 1 and kept[1] in _HARMLESS_GLOBALS:
        del kept[1]
    return tuple(kept)


def git_danger(words: Sequence[str], rule: Sequence[str]) -> str | None:
    """The first argument that makes a Git command do more than it seems, unless the rule that allows it names it."""
    kept = without_harmless_options(words)
    if len(kept) > 1 and kept[1].startswith("-"):
        return None if kept[1:] in (("--version",), ("--help",), ("-h",), ("-v",)) else kept[1]
    subcommand = kept[1] if len(kept) > 1 else ""
    if subcommand in _RUNS and subcommand not in rule:
        return subcommand
    short = set(_SHORT_OF.get(subcommand, ""))
    return next((word for word in kept[2:] if word not in rule and _is_dangerous(word, short)), None)


def _is_dangerous(word: str, short: set[str]) -> bool:
    if _ANYWHERE.match(word):
        return True
    if word.startswith("--"):
        name = word[2:].partition("=")[0].lower()
        return bool(name) and name not in _HARMLESS_LONG and any(full.startswith(name) for full in _LONG)
    return word.startswith("-") and bool(set(word[1:]) & short)
