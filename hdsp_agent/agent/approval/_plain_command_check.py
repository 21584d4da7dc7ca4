"""The judgement of a plain command line: word by word, with nothing left for the shell to work out."""

from __future__ import annotations

import os.path
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from ...tools import NotPlain, PlainCommand, PlainRedirection, PlainScript, PlainWord, is_protected_name
from ._command_rules import CommandRule, longest
from ._denied_commands import denying_rule
from ._file_patterns import FilePatternProblem, expanded
from ._git_commands import git_danger, without_harmless_options
from ._git_settings import git_settings_problem
from ._program_options import dangerous_argument
from ._programs import (
    CHANGES_THE_SHELL,
    ONLY_PRINT,
    SHELLS,
    changes_files,
    container_looks,
    installs,
    is_container_tool,
    may_hold_keys,
    script_of,
    writes_to,
)
from ._workspace_bounds import WorkspaceBounds
from ._wrapper_programs import ALWAYS_ASK, TRANSPARENT, WRAPPERS, inner_command

__all__ = ["CommandPart", "PlainCommandChecker", "Verdict"]

Verdict = Literal["approve", "ask", "deny"]

_DEEPEST: Final = 5
_MOST_WORDS: Final = 2_000
_MOST_FOLDERS: Final = 16
_HARMLESS_VARIABLES: Final = frozenset(
    {"LANG", "LC_ALL", "LC_CTYPE", "TZ", "NO_COLOR", "CLICOLOR", "FORCE_COLOR", "TERM", "COLUMNS", "LINES"}
)
_HARMLESS_SETTINGS: Final = frozenset({"PAGER=cat", "GIT_PAGER=cat", "MANPAGER=cat", "GIT_OPTIONAL_LOCKS=0"})
_MAKES_LINKS: Final = frozenset({"tar", "bsdtar", "unzip", "7z", "cpio", "ln", "cp", "mv", "rsync", "patch", "install"})
_GIT_LEAVES_FILES: Final = frozenset(
    {"log", "diff", "show", "status", "branch", "blame", "ls-files", "ls-tree", "grep", "rev-parse", "describe", "shortlog", "reflog", "remote", "config", "cat-file", "merge-base", "rev-list",
     "tag", "count-objects", "check-ignore", "add", "commit", "push", "fetch", "name-rev", "for-each-ref", "--version", "whatchanged", "notes", "var", "cherry"}
)  # fmt: skip
_ONLY_LISTS: Final = re.compile(r"(?:bsd)?tar (?:-?[tvfzjJ]*t[tvfzjJ]*|--list)|unzip -[lvptqZ]+")
_SOME_FILE: Final = './x;system("x")|import "x" load("x") print > x'
"""Stands for the name of a file that find gives to a program: it may be anything behind the folder."""


@dataclass(frozen=True)
class CommandPart:
    """One command of a command line, what is decided about it, and why."""

    command: str
    words: tuple[str, ...]
    verdict: Verdict
    reason: str
    rule: str | None = None


@dataclass
class PlainCommandChecker:
    """Judges one line. What it finds is in ``parts``."""

    allow: tuple[CommandRule, ...]
    deny: tuple[CommandRule, ...]
    bounds: WorkspaceBounds
    workspace: str | None
    allow_installs: bool
    allow_outside_reads: bool
    may_write: Callable[[str], bool] | None
    parts: list[CommandPart] = field(default_factory=list)
    _folders: tuple[str | None, ...] = ()
    """The folders that the command looked at may run in."""
    _repositories: dict[str, str | None] = field(default_factory=dict)

    def judged(self, script: PlainScript) -> PlainScript:
        """The line with its patterns replaced by names, each command judged. Raises NotPlain where that cannot be."""
        if sum(len(command.words) for command in script.commands) > _MOST_WORDS:
            raise NotPlain("it has too many words to be judged")
        seen: tuple[str | None, ...] = (self.workspace,)
        self._folders, is_certain = seen, True
        commands: list[PlainCommand] = []
        for index, command in enumerate(script.commands):
            before = script.operators[index - 1] if index else ";"
            behind = script.operators[index] if index < len(script.operators) else ";"
            if before in (";", "\n"):
                self._folders, is_certain = seen, True
            is_certain = is_certain and "||" not in (before, behind)
            now = self._with_names(command)
            self._command(now, commands[-1] if before == "|" else None)
            if _may_be_new(now, commands):
                texts = tuple(word.text for word in now.words)
                self.parts.append(
                    CommandPart(now.source, texts, "ask", "a command before it may have made what it names")
                )
            commands.append(now)
            entered = self._entered(now) if "|" not in (before, behind) else ()
            seen = tuple(dict.fromkeys((*seen, *entered)))
            if len(seen) > _MOST_FOLDERS:
                raise NotPlain("it changes folders too often")
            if entered:
                self._folders = entered if is_certain and behind == "&&" else seen
            elif not is_certain:
                self._folders = seen
        return replace(script, commands=tuple(commands))

    # ---- folders and names

    def _entered(self, command: PlainCommand) -> tuple[str | None, ...]:
        """The folders the shell may be in behind a change of folder."""
        texts = [word.text for word in command.words]
        if texts[0] != "cd" or len(texts) != 2:
            return ()
        return tuple(None if each is None else os.path.join(each, texts[1]) for each in self._folders)

    def _with_names(self, command: PlainCommand) -> PlainCommand:
        if all(word.pattern is None for word in command.words):
            return command
        words: list[PlainWord] = []
        for word in command.words:
            words += [word] if word.pattern is None else self._names_for(word, word.pattern)
        return replace(command, words=tuple(words))

    def _names_for(self, word: PlainWord, pattern: str) -> list[PlainWord]:
        # Behind a change of folder that may have failed, the names are those of the new one; all words are looked at
        # in both.
        folder = self._folders[-1]
        if self.workspace is None or folder is None or not os.path.isdir(folder):
            raise NotPlain(f"which files {word.source} stands for shows only when it runs")
        try:
            names = expanded(pattern, folder, self.workspace)
        except FilePatternProblem as problem:
            raise NotPlain(str(problem)) from None
        # As in a shell, a pattern that fits nothing stays as it is.
        return [PlainWord(name, word.source) for name in names] or [replace(word, pattern=None)]

    # ---- commands

    def _command(self, command: PlainCommand, source: PlainCommand | None) -> None:
        texts = tuple(word.text for word in command.words)
        piped = None if source is None else tuple(word.text for word in source.words)
        variables = [f"{name}={value}" for name, value in command.assignments]
        self._judge(command.source, texts, variables, piped, 0)
        for redirection in command.redirections:
            problem = self._redirected(redirection)
            if problem is not None:
                self.parts.append(CommandPart(command.source, texts, "ask", problem))

    def _judge(
        self, source: str, texts: tuple[str, ...], variables: Sequence[str], piped: tuple[str, ...] | None, depth: int
    ) -> None:
        """Judge one command, and what it runs in turn, which must be allowed as well."""
        denied = denying_rule(texts, self.allow, self.deny)
        if denied is not None:
            self._add(source, texts, "deny", f"the rule {denied.source!r} denies it", denied)
            return
        place = len(self.parts)
        rule = longest(self.allow, without_harmless_options(texts))
        problem = (
            _odd_name(texts)
            or _setting(variables)
            or self._inner(texts, piped, depth)
            or _unruled(texts, rule)
            or self._danger(texts, () if rule is None else rule.words)
        )
        self.parts[place:place] = [self._part(source, texts, problem, rule)]

    def _inner(self, texts: tuple[str, ...], piped: tuple[str, ...] | None, depth: int) -> str | None:
        """Judge what the command runs in turn; why that cannot be told, if it cannot."""
        name = os.path.basename(texts[0])
        if depth >= _DEEPEST:
            return "it is nested too deeply"
        if depth and name == "cd":
            return "which folder it leads to shows only when it runs"
        if name in ALWAYS_ASK:
            return f"{name} can run whatever it is given"
        if name in SHELLS:
            return _shell_problem(name, texts)
        if name == "find":
            return self._run_by_find(texts, depth)
        if is_container_tool(name):
            return None if container_looks(texts) else f"what {name} runs elsewhere cannot be told"
        inner = inner_command(name, texts)
        if inner is None or (name == "command" and any(word in ("-v", "-V") for word in texts[1:2])):
            return None
        if inner.problem is not None:
            return inner.problem
        if name == "xargs":
            problem = _fed_problem(texts, inner.start, piped)
            if problem is not None:
                return problem
        if inner.start < len(texts):
            kept = texts[inner.start :]
            given = (*kept, _SOME_FILE, _SOME_FILE) if name == "xargs" else kept
            self._judge(" ".join(kept), given, inner.variables, None, depth + 1)
        return _setting(inner.variables)

    def _run_by_find(self, texts: tuple[str, ...], depth: int) -> str | None:
        """Judge what find runs for each file: only files, not links, so that all of them are where it looks."""
        start = 1
        while "-exec" in texts[start:]:
            start = texts.index("-exec", start) + 1
            end = next((at for at in range(start, len(texts)) if _ends_exec(texts, at)), None)
            if end is None or end == start:
                return "what find runs cannot be told"
            kept = texts[start:end]
            if not _finds_only_files(texts) or any("{}" in word and word != "{}" for word in kept) or kept[0] == "{}":
                return "which files find gives to what it runs shows only when it runs"
            if changes_files(os.path.basename(kept[0])):
                return "which files it changes shows only when it runs"
            names = (_SOME_FILE, _SOME_FILE) if texts[end] == "+" else (_SOME_FILE,)
            given = tuple(name for word in kept for name in (names if word == "{}" else (word,)))
            self._judge(" ".join(kept), given, (), None, depth + 1)
            start = end
        return None

    def _danger(self, texts: tuple[str, ...], rule: tuple[str, ...]) -> str | None:
        # A rule may name a program by its path, or allow every one.
        name = os.path.basename(texts[0])
        is_git = name == "git" or name.startswith("git-")
        argument = git_danger(texts, rule) if is_git else dangerous_argument(name, texts)
        if argument is not None:
            return f"with {argument} it may do more than read"
        if is_git:
            problem = self._git_problem()
            if problem is not None:
                return problem
        if installs(texts) and not self.allow_installs:
            return "it installs, changes or fetches packages"
        secret = next((word for word in texts[1:] if may_hold_keys(word)), None)
        if secret is not None:
            return f"keys or passwords may be in {secret}"
        return self._place(name, texts)

    def _git_problem(self) -> str | None:
        """Why a repository here may have Git do more; each folder is looked at once for a line."""
        for folder in self._folders:
            if folder is not None and folder not in self._repositories:
                self._repositories[folder] = git_settings_problem(folder)
        found = (self._repositories.get(folder) for folder in self._folders if folder is not None)
        return next((problem for problem in found if problem is not None), None)

    def _place(self, name: str, texts: tuple[str, ...]) -> str | None:
        """Which file of another place, or of a special kind, it reads or changes."""
        written = tuple(writes_to(name, texts))
        outside = next((part for path in written if (part := self._outside(path)) is not None), None)
        if outside is None and name not in ONLY_PRINT and not self.allow_outside_reads:
            outside = next((part for word in texts[1:] if (part := self._outside(word)) is not None), None)
        if outside is not None:
            return f"{outside} is outside the workspace"
        special = next((path for path in written if self._is_special(path)), None)
        if special is not None:
            return f"{special} is a notebook, or steers the agent or other programs"
        if name in ("pushd", "popd") or (name == "cd" and len(texts) != 2):
            return "which folder it leads to shows only when it runs"
        return None

    def _outside(self, word: str) -> str | None:
        return next((part for each in self._folders if (part := self.bounds.outside(word, each)) is not None), None)

    def _is_special(self, path: str) -> bool:
        real = [os.path.realpath(os.path.join(each, path)) for each in self._folders if each is not None]
        root = "" if self.workspace is None else os.path.realpath(self.workspace)
        inside = [each.removeprefix(root) if self.bounds.holds(each) else os.path.basename(each) for each in real]
        return any(_steers(each) for each in (path, *inside))

    def _redirected(self, redirection: PlainRedirection) -> str | None:
        """Why a person must decide about a redirection."""
        target = redirection.target
        if redirection.kind not in ("read", "write", "append"):
            return None
        if may_hold_keys(target):
            return f"keys or passwords may be in {target}"
        outside = self._outside(target)
        if redirection.kind == "read":
            return None if outside is None or self.allow_outside_reads else f"{outside} is outside the workspace"
        if outside is not None:
            return f"{outside} is outside the workspace"
        if self._is_special(target):
            return f"{target} is a notebook, or steers the agent or other programs"
        allowed = self.may_write is not None and all(self.may_write(each) for each in self._in_workspace(target))
        return None if allowed else f"it writes to the file {target}"

    def _in_workspace(self, path: str) -> list[str]:
        """The path as seen from the workspace, for each folder the command may run in."""
        if self.workspace is None:
            return [path]
        places = [os.path.join(each, path) for each in self._folders if each is not None]
        return [os.path.relpath(os.path.realpath(each), os.path.realpath(self.workspace)) for each in places]

    def _part(self, source: str, texts: tuple[str, ...], problem: str | None, rule: CommandRule | None) -> CommandPart:
        named = None if rule is None else rule.source
        if problem is not None:
            return CommandPart(source, texts, "ask", problem, named)
        why = f"the rule {named!r} allows it" if rule is not None else f"{texts[0]} changes nothing about what it runs"
        return CommandPart(source, texts, "approve", why, named)

    def _add(self, source: str, texts: tuple[str, ...], verdict: Verdict, reason: str, rule: CommandRule) -> None:
        self.parts.append(CommandPart(source, texts, verdict, reason, rule.source))


def _odd_name(texts: tuple[str, ...]) -> str | None:
    name = texts[0]
    if not name or not name.isascii() or any(_looks_like_another(word) for word in texts[1:]):
        return "its name or an option has letters that may look like others"
    if name in CHANGES_THE_SHELL:
        return f"{name} changes what later commands mean"
    return None


def _setting(variables: Sequence[str]) -> str | None:
    found = next((each for each in variables if each not in _HARMLESS_SETTINGS and not _is_harmless(each)), None)
    return None if found is None else f"it sets {found} for the program, which may change what it does"


def _unruled(texts: tuple[str, ...], rule: CommandRule | None) -> str | None:
    name = texts[0]
    if rule is None and name not in TRANSPARENT:
        return "no rule allows it"
    if rule is not None and is_container_tool(os.path.basename(name)) and len(rule.words) < 2:
        return f"the rule {rule.source!r} does not say what {name} is to do"
    return None


def _shell_problem(name: str, texts: tuple[str, ...]) -> str | None:
    if name == "eval" or script_of(name, texts) is not None:
        return f"{name} runs a text, which another shell reads anew"
    if len(texts) < 2 or texts[1].startswith(("-", "+", "/dev/")):
        return f"what {name} runs cannot be told"
    return None


def _fed_problem(texts: tuple[str, ...], start: int, piped: tuple[str, ...] | None) -> str | None:
    """Why what xargs reads cannot be told; None where find gives it the names of files, each exactly."""
    exact = any(re.fullmatch(r"-[0rt]*0[0rt]*|--null", word) for word in texts[1:start])
    named = piped is not None and piped[0] == "find" and "-print0" in piped and _finds_only_files(piped)
    if not (exact and named):
        return "what xargs is given shows only when it runs"
    if changes_files(os.path.basename(texts[start])):
        return "which files it changes shows only when it runs"
    return None


def _finds_only_files(texts: Sequence[str]) -> bool:
    """Whether find names only ordinary files below where it looks, and begins no name with a hyphen."""
    own: list[str] = []
    is_own = True
    for at, word in enumerate(texts):
        if word == "-exec":
            is_own = False
        elif not is_own and _ends_exec(texts, at):
            is_own = True
        elif is_own:
            own.append(word)
    kinds = [own[at + 1] for at, word in enumerate(own[:-1]) if word == "-type"]
    chosen = {"-o", "-or", ",", "!", "-not"}.intersection(own)
    return kinds == ["f"] and not chosen


def _ends_exec(texts: Sequence[str], at: int) -> bool:
    """Whether what find is to run ends here."""
    return texts[at] == ";" or (texts[at] == "+" and texts[at - 1] == "{}")


def _may_be_new(command: PlainCommand, before: Sequence[PlainCommand]) -> bool:
    """Whether the command may read through a link that another makes before it: none was there to be looked at."""
    names_files = bool(command.redirections or (command.words[1:] and command.words[0].text not in ONLY_PRINT))
    return names_files and any(_makes_links([word.text for word in each.words]) for each in before)


def _makes_links(texts: Sequence[str]) -> bool:
    """Whether it may make a link; behind a wrapper any word may be the program that does."""
    starts = range(len(texts)) if os.path.basename(texts[0]) in WRAPPERS else range(1)
    return any(_program_makes_links(texts[start:]) for start in starts)


def _program_makes_links(texts: Sequence[str]) -> bool:
    words = without_harmless_options(texts)
    name = os.path.basename(words[0])
    if name == "git":
        return len(words) > 1 and words[1] not in _GIT_LEAVES_FILES
    return name in _MAKES_LINKS and not (len(words) > 1 and _ONLY_LISTS.fullmatch(f"{name} {words[1]}"))


def _steers(path: str) -> bool:
    return path.lower().endswith(".ipynb") or is_protected_name(path.split("/"))


def _looks_like_another(word: str) -> bool:
    """Whether it is an option with strange letters in its name, or begins with what only looks like a hyphen."""
    if word.startswith("-"):
        return not word.partition("=")[0].isascii()
    return bool(word) and unicodedata.category(word[0]) == "Pd"


def _is_harmless(assignment: str) -> bool:
    name, _, value = assignment.partition("=")
    return name in _HARMLESS_VARIABLES and re.fullmatch(r"[\w.,:@+-]*", value) is not None
