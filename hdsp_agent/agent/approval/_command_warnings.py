"""What a person is warned of in a command: found in the whole grammar of the shell, whether or not it may run."""

from __future__ import annotations

import os.path
import re
from collections.abc import Iterator, Sequence
from typing import Final, get_args

from ...messages import ApprovalFlag
from ...tools import Script, SimpleCommand, strange_characters
from ._programs import ONLY_PRINT, SHELLS, installs, may_hold_keys, reaches_network, runs_text, writes_to
from ._workspace_bounds import WorkspaceBounds
from ._wrapper_programs import WRAPPERS

__all__ = ["flags_of"]

_OTHER_USER: Final = frozenset({"sudo", "doas", "su", "runuser", "pkexec", "run0"})
_INTERPRETERS: Final = re.compile(r"(?:python|pypy|perl|ruby|node|php|Rscript|R)[\d.]*|source|\.|eval|xargs")
_RECURSIVE: Final = re.compile(r"-\w*[rR]\w*|--recursive|--delete\w*|--del")
_MOST_WRAPPED: Final = 40
"""How many words behind a wrapper are looked at as programs."""
_LOSES: Final = (
    ("push", re.compile(r"-\w*f|--force|--mirror|--delete|-\w*d|:|\+")),
    ("reset", re.compile(r"--hard|--merge|--keep")),
    ("clean", re.compile(r"-\w*[fdxX]|--force")),
    ("checkout", re.compile(r"-\w*f|--force|--$|\.$")),
    ("restore", re.compile(r"")),
    ("switch", re.compile(r"-\w*[fC]|--force|--discard-changes")),
    ("branch", re.compile(r"-\w*[DM]|--delete|--force|-\w*f")),
    ("tag", re.compile(r"-\w*[df]|--delete|--force")),
    ("stash", re.compile(r"drop|clear|pop")),
    ("reflog", re.compile(r"expire|delete")),
    ("rebase", re.compile(r"")),
    ("filter-branch", re.compile(r"")),
    ("filter-repo", re.compile(r"")),
    ("gc", re.compile(r"--prune|--aggressive")),
    ("update-ref", re.compile(r"")),
    ("commit", re.compile(r"--amend")),
)
_ORDER: Final = {flag: index for index, flag in enumerate(get_args(ApprovalFlag))}


def flags_of(
    text: str, found: Sequence[tuple[Script, SimpleCommand]], bounds: WorkspaceBounds, folder: str | None
) -> tuple[ApprovalFlag, ...]:
    """The warnings, most serious first. Blocks: it looks at where paths lead."""
    flags: set[ApprovalFlag] = set()
    if next(strange_characters(text), None) is not None:
        flags.add("strange_characters")
    programs: list[str] = []
    for script, command in found:
        words = tuple(word.text for word in command.words)
        if script.has_hidden_parts or any(word.dynamic for word in command.words):
            flags.add("hidden_parts")
        for start in _program_places(words):
            programs.append(os.path.basename(words[start]))
            flags.update(_of_program(programs[-1], words[start:]))
        flags.update(_of_paths(words, bounds, folder))
        flags.update(_of_redirections(script, bounds, folder))
    if any(script.joins for script, _ in found) and _runs_downloads(programs):
        flags.add("network_to_shell")
    return tuple(sorted(flags, key=_ORDER.__getitem__))


def _program_places(words: Sequence[str]) -> Iterator[int]:
    """Where the programs stand that the command runs; behind a wrapper any word may be one."""
    if not words:
        return
    yield 0
    if os.path.basename(words[0]) in WRAPPERS:
        yield from range(1, min(len(words), _MOST_WRAPPED))


def _of_program(name: str, words: Sequence[str]) -> Iterator[ApprovalFlag]:
    if name in _OTHER_USER:
        yield "as_other_user"
    if _deletes_recursively(name, words):
        yield "deletes_recursively"
    if installs((name, *words[1:])):
        yield "installs"
    if reaches_network(name, words):
        yield "uses_network"
    if runs_text(name, words):
        yield "runs_text"
    if name == "git" and _loses(words):
        yield "overwrites_history"


def _deletes_recursively(name: str, words: Sequence[str]) -> bool:
    if name == "find":
        return "-delete" in words
    if name in ("rm", "rsync", "srm", "shred"):
        return any(_RECURSIVE.fullmatch(word) and (name != "rsync" or word.startswith("--del")) for word in words[1:])
    return False


def _loses(words: Sequence[str]) -> bool:
    for command, danger in _LOSES:
        if command in words[1:4]:
            behind = words[list(words).index(command) + 1 :]
            return not danger.pattern or any(danger.match(word) for word in behind)
    return False


def _of_paths(words: Sequence[str], bounds: WorkspaceBounds, folder: str | None) -> Iterator[ApprovalFlag]:
    if not words or os.path.basename(words[0]) in ONLY_PRINT:
        return
    written = set(writes_to(os.path.basename(words[0]), words))
    for word in words[1:]:
        if may_hold_keys(word):
            yield "reads_secrets"
        outside = bounds.outside(word, folder)
        if outside is not None:
            yield "reads_outside" if written.isdisjoint((word, outside)) else "writes_outside"


def _of_redirections(script: Script, bounds: WorkspaceBounds, folder: str | None) -> Iterator[ApprovalFlag]:
    if any(bounds.outside(word.text, folder) for word in script.writes):
        yield "writes_outside"
    if any(bounds.outside(word.text, folder) for word in script.reads):
        yield "reads_outside"
    if any(may_hold_keys(word.text) for word in script.reads):
        yield "reads_secrets"


def _runs_downloads(programs: Sequence[str]) -> bool:
    downloads = any(name in ("curl", "wget", "fetch", "aria2c", "http", "xh", "nc", "ncat") for name in programs)
    return downloads and any(name in SHELLS or _INTERPRETERS.fullmatch(name) for name in programs)
