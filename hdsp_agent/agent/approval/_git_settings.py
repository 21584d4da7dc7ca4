"""Whether the settings of a repository could have Git run a program, or read another folder.

A folder brings these settings along, so only those that are known to be harmless may be there. Git itself lists them:
its files have more forms than an expression can tell.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final

from ..._regular_files import open_regular_file

__all__ = ["git_settings_problem"]

_LARGEST_SETTINGS: Final = 1_000_000
_MOST_REPOSITORIES: Final = 100
_DEEPEST: Final = 4
_SECONDS: Final = 10
_HARMLESS: Final = re.compile(
    r"core\.(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|safecrlf|eol|quotepath|abbrev|compression|preloadindex"
    r"|untrackedcache|splitindex|commitgraph|multipackindex|sparsecheckout|sparsecheckoutcone|longpaths|protecthfs|protectntfs|trustctime|checkstat|whitespace|commentchar|bigfilethreshold)"
    r"|(?:user|author|committer|branch|color|column|advice|status|pull|push|pack|index|feature|rerere|stash|i18n|grep|log|tag|rebase|fetch|versionsort)\..*"
    r"|remote\..*\.(?:fetch|push|tagopt|prune|prunetags|skipdefaultupdate|mirror)|remote\.pushdefault|submodule\..*\.(?:active|branch|ignore|fetchrecursesubmodules)|submodule\.(?:active|recurse)"
    r"|diff\.(?:renames|renamelimit|algorithm|context|interhunkcontext|mnemonicprefix|noprefix|colormoved|colormovedws|indentheuristic|ignoresubmodules|submodule|suppressblankempty|relative)"
    r"|merge\.(?:conflictstyle|ff|renames|log|stat)|commit\.(?:gpgsign|verbose|status)|extensions\.(?:objectformat|refstorage|worktreeconfig)"
    r"|init\.defaultbranch|gc\.(?:auto|autodetach|autopacklimit|prune.*|reflog.*|worktreepruneexpire|packrefs)|blame\.(?:coloring|date|showroot|showemail|blankboundary)"
    r"|lfs\.repositoryformatversion|lfs\..*\.(?:access|locksverify)",
    re.DOTALL,
)
"""Keys whose values Git reads as numbers, names and switches. All others are asked about."""
_ADDRESS: Final = re.compile(r"(?:remote|submodule)\..*\.(?:url|pushurl)", re.DOTALL)
_HOOK_OF_READING: Final = "post-index-change"
"""The hook that runs where a command only looks, such as ``git status``."""
_QUIET: Final = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}


def git_settings_problem(folder: str) -> str | None:
    """Why Git may run a program of the folder's own choice there, as the end of a sentence. Blocks."""
    place = Path(os.path.realpath(folder))
    for each in (place, *place.parents):
        if os.path.lexists(each / ".git"):
            return _of_tree(each, _Budget(), 0)
        if _looks_bare(each):
            return "the folder looks like the inside of a Git repository, whose settings Git would follow"
    return None


class _Budget:
    """How many repositories are still looked at for one command."""

    def __init__(self) -> None:
        self._left = _MOST_REPOSITORIES

    def take(self) -> bool:
        """Whether one more may be looked at."""
        self._left -= 1
        return self._left >= 0


def _looks_bare(place: Path) -> bool:
    return os.path.lexists(place / "HEAD") and (place / "objects").is_dir() and (place / "refs").is_dir()


def _of_tree(tree: Path, budget: _Budget, depth: int) -> str | None:
    problem = f"the settings of the repository in {tree} can have Git run a program"
    if not budget.take() or depth > _DEEPEST:
        return f"there are too many repositories in {tree}"
    try:
        folders = _repository(tree)
        if folders is None or any(_does_more(each, tree) for each in folders):
            return problem
        for link in _links(tree, folders[0]):
            inner = tree / link
            if os.path.lexists(inner / ".git") and (found := _of_tree(inner, budget, depth + 1)) is not None:
                return found
    except (OSError, ValueError, subprocess.SubprocessError):
        return problem
    return None


def _repository(tree: Path) -> tuple[Path, ...] | None:
    """The folders that hold the repository of a work tree and its settings; None where they are in an unusual place."""
    entry = tree / ".git"
    if entry.is_dir():
        # Only the folders that Git makes for further work trees have it.
        return None if os.path.lexists(entry / "commondir") else (entry,)
    found = re.fullmatch(rb"gitdir: (.+?)\s*", _beginning(entry), re.DOTALL)
    if found is None:
        return None
    there = (tree / os.fsdecode(found[1])).resolve()
    if not there.is_dir():
        return None
    common = there / "commondir"
    if not os.path.lexists(common):
        return (there,)
    main = (there / os.fsdecode(_beginning(common).strip())).resolve()
    return (there, main) if main.is_dir() and not os.path.lexists(main / "commondir") else None


def _beginning(file: Path) -> bytes:
    with open_regular_file(file) as opened:
        return opened.read(4_096)


def _regular(file: Path) -> os.stat_result:
    """What the system says of a file that Git is to read: it would wait for whoever writes into a named pipe."""
    found = file.stat()
    if not stat.S_ISREG(found.st_mode):
        raise ValueError(f"{file} is not a regular file")
    return found


def _does_more(repository: Path, tree: Path) -> bool:
    """Whether a setting may have Git run something, or work in another folder than the tree."""
    hooks = [repository / "hooks"]
    for key, value in _settings(repository):
        if key == "core.hookspath":
            hooks.append(tree / value)
        elif key == "core.worktree":
            if (repository / value).resolve() != tree:
                return True
        elif _ADDRESS.fullmatch(key):
            if "::" in value:
                return True
        elif key == "core.fsmonitor":
            if value not in ("", "true", "false"):
                return True
        elif not _HARMLESS.fullmatch(key):
            return True
    return any(os.path.lexists(each / _HOOK_OF_READING) for each in hooks)


def _settings(repository: Path) -> Iterator[tuple[str, str]]:
    for name in ("config", "config.worktree"):
        file = repository / name
        if not os.path.lexists(file):
            continue
        found = _regular(file)
        if found.st_size > _LARGEST_SETTINGS:
            raise ValueError(f"{file} is too large")
        yield from _listed(str(file), (found.st_ino, found.st_size, found.st_mtime_ns))


@lru_cache(maxsize=256)
def _listed(file: str, _version: tuple[int, int, int]) -> tuple[tuple[str, str], ...]:
    """Each setting of a file by its key, as Git reads it; once for each version of the file."""
    text = _git(["config", "--file", file, "--no-includes", "--list", "-z"], os.path.dirname(file))
    rows = [entry.partition("\n") for entry in text.split("\0") if entry]
    return tuple((key, value) for key, _, value in rows)


def _links(tree: Path, repository: Path) -> tuple[str, ...]:
    """Where other repositories are tied into the tree: Git looks into them by itself."""
    index = repository / "index"
    if not index.exists():
        return ()
    found = _regular(index)
    return _tied(str(tree), (found.st_ino, found.st_size, found.st_mtime_ns))


@lru_cache(maxsize=64)
def _tied(tree: str, _version: tuple[int, int, int]) -> tuple[str, ...]:
    # The settings were looked at before, so this runs nothing.
    text = _git(["-c", "core.fsmonitor=false", "ls-files", "-s", "-z"], tree)
    return tuple(entry.partition("\t")[2] for entry in text.split("\0") if entry.startswith("160000 "))


def _git(arguments: list[str], folder: str) -> str:
    program = shutil.which("git")
    if program is None:
        # Then it can run nothing.
        return ""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    done = subprocess.run(  # noqa: S603 -- fixed words and a path
        [program, *arguments], cwd=folder, env={**kept, **_QUIET}, stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS, check=True,
    )  # fmt: skip
    return os.fsdecode(done.stdout)
