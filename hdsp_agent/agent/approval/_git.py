"""What Git's commands do besides reading, and the configuration of a folder that has Git run programs."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

__all__ = ["git_configuration", "git_danger", "without_harmless_options"]

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
    "output", "ext-diff", "textconv", "filters", "exec", "upload-pack", "receive-pack", "config-env", "open-files-in-pager", "git-dir", "work-tree", "exec-path", "extcmd",
    "in-place", "remote", "tree-filter", "super-prefix", "attr-source", "template", "separate-git-dir", "config", "output-directory",
)  # fmt: skip
"""From git(1) and the manuals of its commands: they write files, run programs, or change which are run."""
_HARMLESS_LONG: Final = frozenset({"remotes", "text"})
_SHORT_OF: Final = {"clone": "uc", "format-patch": "o", "grep": "O"}
_ANYWHERE: Final = re.compile(r"ext::|fd::")
_CONFIGURED: Final = re.compile(
    rb"""^\s*(?:\[[^\]\n]*\]\s*)?(?:
        fsmonitor\s*=(?!\s*(?:true|false)\s*$) | (?:pager|sshcommand|askpass|editor|gitproxy|program|command|textconv|external|driver|clean|smudge|process|helper
        |cmd|path|uploadpack|receivepack|tool|browser|alternaterefscommand)\s*=
        | \[\s*(?:alias|include|includeif|pager|trailer|sendemail|guitool)\b )""",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
_ELSEWHERE: Final = re.compile(rb"^\s*(?:\[[^\]\n]*\]\s*)?worktree\s*=", re.IGNORECASE | re.MULTILINE)
_HOOKS: Final = re.compile(rb"^\s*(?:\[[^\]\n]*\]\s*)?hookspath\s*=\s*(.*?)\s*$", re.IGNORECASE | re.MULTILINE)
_HOOK_OF_READING: Final = "post-index-change"
"""The hook that runs where a command only looks, such as ``git status``."""
_SUBMODULE: Final = re.compile(rb"^\s*path\s*=\s*(.+?)\s*$", re.MULTILINE)
_MOST_SUBMODULES: Final = 200
_MOST_CONFIGURATION: Final = 1_000_000


def without_harmless_options(words: Sequence[str]) -> tuple[str, ...]:
    """The words of a Git command without the options in front that change nothing, for rules: ``git --no-pager log``."""
    if not words or os.path.basename(words[0]) != "git":
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


def git_configuration(folder: str) -> str | None:
    """Why Git may run a program of the folder's own choice there, as the end of a sentence. Blocks."""
    place = Path(os.path.realpath(folder))
    if _looks_bare(place):
        return "the folder looks like the inside of a Git repository, whose settings Git would follow"
    for each in (place, *place.parents):
        repository = each / ".git"
        if os.path.lexists(repository):
            problem = _runs_something(repository)
            return f"the settings of the repository in {each} can have Git run a program" if problem else None
    return None


def _looks_bare(place: Path) -> bool:
    return (place / "HEAD").is_file() and (place / "objects").is_dir() and (place / "refs").is_dir()


def _runs_something(repository: Path) -> bool:
    try:
        if repository.is_dir():
            return _is_configured(repository, repository.parent) or _ELSEWHERE.search(_settings(repository)) is not None
        # Of a work tree or a submodule: what it follows lies elsewhere.
        found = re.fullmatch(rb"gitdir:\s*(.+?)\s*", repository.read_bytes()[:4_096])
        if found is None:
            return True
        there = (repository.parent / os.fsdecode(found[1])).resolve()
        common = there / "commondir"
        main = (there / os.fsdecode(common.read_bytes().strip())).resolve() if common.is_file() else there
        return not main.is_dir() or any(_is_configured(each, repository.parent) for each in {main, there})
    except (OSError, ValueError):
        return True


def _is_configured(repository: Path, tree: Path) -> bool:
    settings = _settings(repository)
    hooks = [repository / "hooks", *(tree / os.fsdecode(found.strip(b'"')) for found in _HOOKS.findall(settings))]
    if _CONFIGURED.search(settings) or any((each / _HOOK_OF_READING).exists() for each in hooks):
        return True
    # Git looks into submodules by itself, and there by their own settings.
    return any(_CONFIGURED.search(_settings(each)) for each in _submodules(repository, tree))


def _submodules(repository: Path, tree: Path) -> Iterator[Path]:
    """The repositories of submodules, as far as they are named or kept here."""
    named = tree / ".gitmodules"
    if named.is_file():
        paths = _SUBMODULE.findall(named.read_bytes()[:_MOST_CONFIGURATION])
        yield from (tree / os.fsdecode(path) / ".git" for path in paths[:_MOST_SUBMODULES])
    kept = (repository / "modules").glob("**/config")
    yield from (found.parent for found in islice(kept, _MOST_SUBMODULES))


def _settings(repository: Path) -> bytes:
    if not repository.is_dir():
        return b""
    files = [repository / name for name in ("config", "config.worktree")]
    return b"\n".join(file.read_bytes()[:_MOST_CONFIGURATION] for file in files if file.is_file())
