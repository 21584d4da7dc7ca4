"""Whether a shell command may run without asking.

Every command in it must fit a rule that allows it, and nothing in it may be in doubt. One command that is denied denies
all of them, however it is wrapped.
"""

from __future__ import annotations

import os.path
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from ...tools import CommandWord, SimpleCommand, is_protected_name, parse_script
from ._options import dangerous_argument, takes_dangerous_options
from ._programs import (
    CHANGES_THE_SHELL,
    SHELLS,
    TRANSPARENT,
    WRAPPERS,
    inner_words,
    installs,
    reads_script,
    script_of,
    sensitive,
    writes_to,
)
from ._rules import Rule, longest, read_rules

__all__ = ["CommandDecision", "CommandPart", "Verdict", "decide_command"]

Verdict = Literal["approve", "ask", "deny"]

_DEEPEST: Final = 5
_HARMLESS_VARIABLES: Final = frozenset(
    {"LANG", "LC_ALL", "LC_CTYPE", "TZ", "NO_COLOR", "CLICOLOR", "FORCE_COLOR", "TERM", "COLUMNS", "LINES"}
)

_READ_BY_XARGS: Final = CommandWord("", "what is read", dynamic=True)


@dataclass(frozen=True)
class CommandPart:
    """One command of a command line, what is decided about it, and why."""

    command: str
    words: tuple[str, ...]
    verdict: Verdict
    reason: str
    rule: str | None = None


@dataclass(frozen=True)
class CommandDecision:
    """What is decided about a whole command line."""

    verdict: Verdict
    reason: str
    parts: tuple[CommandPart, ...] = ()
    installs: bool = False


@dataclass
class _Judge:
    allow: tuple[Rule, ...]
    deny: tuple[Rule, ...]
    workspace: str | None
    allow_installs: bool
    parts: list[CommandPart] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    installs: bool = False

    def script(self, text: str, depth: int = 0) -> None:
        script = parse_script(text)
        self.doubts += script.doubts
        self.doubts += [f"it writes to a file: {redirection}" for redirection in script.writes]
        self.doubts += [
            f"it reads {word.source}"
            for word in script.reads
            if word.dynamic or word.text.startswith("-") or sensitive(word.text, is_pattern=word.pattern)
        ]
        for command in script.commands:
            self.parts.append(self._command(command, depth))

    def _command(self, command: SimpleCommand, depth: int) -> CommandPart:
        texts = tuple(word.text for word in command.words)
        if not command.words:
            return self._part(command, texts, "ask", "it only sets variables")
        denied = self._denied(texts)
        if denied is not None:
            return self._part(command, texts, "deny", f"the rule {denied.source!r} denies it", denied)
        inner = self._inner(command, texts, depth)
        name = texts[0]
        if command.words[0].dynamic or command.words[0].pattern:
            return self._part(
                command, texts, "ask", f"which program {command.words[0].source} is shows only when it runs"
            )
        if not name.isascii() or any(_looks_like_another(word) for word in texts[1:]):
            return self._part(command, texts, "ask", "its name or an option has letters that may look like others")
        variables = [each for each in command.assignments if not _is_harmless(each)]
        if variables:
            return self._part(
                command, texts, "ask", f"it sets {variables[0]} for the program, which may change what it does"
            )
        return self._ruled(command, texts, inner)

    def _ruled(self, command: SimpleCommand, texts: tuple[str, ...], inner: int) -> CommandPart:
        name = texts[0]
        rule = longest(self.allow, texts)
        if name in CHANGES_THE_SHELL:
            return self._part(command, texts, "ask", f"{name} changes what later commands mean")
        program = os.path.basename(name)
        if inner == 0 and (reads_script(program, texts) or (program in WRAPPERS and not _runs_nothing(program, texts))):
            return self._part(command, texts, "ask", f"what {name} runs cannot be told")
        if rule is None and name not in TRANSPARENT:
            return self._part(command, texts, "ask", "no rule allows it")
        danger = self._danger(command, texts, () if rule is None else rule.words)
        if danger is not None:
            return self._part(command, texts, "ask", danger, rule)
        why = (
            f"the rule {rule.source!r} allows it" if rule is not None else f"{name} changes nothing about what it runs"
        )
        return self._part(command, texts, "approve", why, rule)

    def _danger(self, command: SimpleCommand, texts: tuple[str, ...], rule: tuple[str, ...]) -> str | None:
        # A rule may name a program by its path, or allow every one.
        name = os.path.basename(texts[0])
        argument = dangerous_argument(name, texts, rule)
        if argument is not None:
            return f"with {argument} it may do more than read"
        if takes_dangerous_options(name):
            untold = next((word for word in command.words[1:] if _may_be_an_option(word)), None)
            if untold is not None:
                return f"what {untold.source} is shows only when it runs, and it may be an option that does more"
        variable = _set_by(name, texts)
        if variable is not None:
            return f"it sets {variable} for the program, which may change what it does"
        if installs(texts):
            self.installs = True
            if not self.allow_installs:
                return "it installs, changes or fetches packages"
        secret = next((word for word in command.words[1:] if sensitive(word.text, is_pattern=word.pattern)), None)
        if secret is not None:
            return f"keys or passwords may be in {secret.source}"
        written = tuple(writes_to(name, texts))
        outside = next((path for path in written if self._is_outside(path)), None)
        if outside is not None:
            return f"{outside} is outside the workspace"
        special = next((path for path in written if _is_special(path)), None)
        if special is not None:
            return f"{special} is a notebook, or steers the agent or other programs"
        if name in ("cd", "pushd", "popd") and not written:
            return "which folder it leads to shows only when it runs"
        if written and any(word.dynamic for word in command.words[1:]):
            return "which files it changes shows only when it runs"
        return None

    def _denied(self, texts: tuple[str, ...]) -> Rule | None:
        """The rule that denies the command, or what it wraps: there every word may begin the command that runs."""
        name = os.path.basename(texts[0])
        starts = [0, *range(1, len(texts))] if name.lower() in WRAPPERS | SHELLS else [0]
        for start in starts:
            words = (os.path.basename(texts[start]) if "/" in texts[start] else texts[start], *texts[start + 1 :])
            for candidate in (words, texts[start:]):
                rule = longest(self.deny, candidate, any_case=True)
                allowed = longest(self.allow, texts[start:]) if start == 0 else None
                if rule is not None and (allowed is None or len(allowed.words) <= len(rule.words)):
                    return rule
        return None

    def _inner(self, command: SimpleCommand, texts: tuple[str, ...], depth: int) -> int:
        """Judge what the command runs in turn; how many commands that are."""
        name = os.path.basename(texts[0])
        before = len(self.parts)
        script = script_of(name, texts)
        words = inner_words(name, texts)
        if script is None and not words:
            return 0
        if depth >= _DEEPEST:
            self.doubts.append("it is nested too deeply")
        elif script is not None:
            if any(word.dynamic for word in command.words[1:]):
                self.doubts.append(f"what {name} is given to run shows only when it runs")
            self.script(script, depth + 1)
        elif words:
            kept = command.words[len(texts) - len(words) :]
            if name in ("xargs", "parallel"):
                # Arguments it reads are put behind these, or into them.
                kept = (*(replace(word, dynamic=True) for word in kept[1:]), _READ_BY_XARGS)
                kept = (_first_for_xargs(command.words, len(texts) - len(words)), *kept)
            self.parts.append(self._command(SimpleCommand(" ".join(word.source for word in kept), kept), depth + 1))
        return len(self.parts) - before

    def _is_outside(self, path: str) -> bool:
        if path.startswith("~"):
            return True
        if self.workspace is None:
            return path.startswith("/") or os.path.normpath(path).split("/")[0] == ".."
        whole = os.path.normpath(os.path.join(self.workspace, path))
        return whole != self.workspace and not whole.startswith(self.workspace.rstrip("/") + "/")

    def _part(
        self, command: SimpleCommand, texts: tuple[str, ...], verdict: Verdict, reason: str, rule: Rule | None = None
    ) -> CommandPart:
        return CommandPart(command.source, texts, verdict, reason, None if rule is None else rule.source)


def decide_command(
    text: str,
    *,
    allow: Iterable[str],
    deny: Iterable[str] = (),
    workspace: str | None = None,
    allow_installs: bool = False,
) -> CommandDecision:
    """Decide about a command line by the rules on its words."""
    judge = _Judge(read_rules(allow), read_rules(deny), workspace, allow_installs)
    judge.script(text)
    parts = tuple(judge.parts)
    denied = next((part for part in parts if part.verdict == "deny"), None)
    if denied is not None:
        return CommandDecision("deny", f"{denied.command}: {denied.reason}", parts, judge.installs)
    if judge.doubts:
        return CommandDecision("ask", judge.doubts[0], parts, judge.installs)
    asked = next((part for part in parts if part.verdict == "ask"), None)
    if asked is not None:
        return CommandDecision("ask", f"{asked.command}: {asked.reason}", parts, judge.installs)
    if not parts:
        return CommandDecision("approve", "it runs nothing", parts)
    return CommandDecision("approve", _why(parts), parts, judge.installs)


def _looks_like_another(word: str) -> bool:
    """Whether it is an option with strange letters in its name, or begins with what only looks like a hyphen."""
    if word.startswith("-"):
        return not word.partition("=")[0].isascii()
    return bool(word) and not word[0].isascii() and unicodedata.category(word[0]) == "Pd"


def _is_harmless(assignment: str) -> bool:
    name, _, value = assignment.partition("=")
    return name in _HARMLESS_VARIABLES and re.fullmatch(r"[\w.,:@+-]*", value) is not None


def _set_by(name: str, words: Sequence[str]) -> str | None:
    """The variable that env or sudo sets for what it runs."""
    if name not in ("env", "sudo", "doas"):
        return None
    before = words[1 : len(words) - len(inner_words(name, words) or ())]
    return next((word for word in before if re.match(r"\w+\+?=", word) and not _is_harmless(word)), None)


def _may_be_an_option(word: CommandWord) -> bool:
    """Whether the shell may make an option of it: by a variable, or of the name of a file that looks like one."""
    return word.dynamic or (word.pattern and word.text[:1] in ("*", "?", "[", "-"))


def _is_special(path: str) -> bool:
    parts = [part for part in path.split("/") if part not in ("", ".", "..")]
    return path.lower().endswith(".ipynb") or is_protected_name(parts)


def _runs_nothing(name: str, words: Sequence[str]) -> bool:
    """Whether this use of a wrapper runs no other program."""
    return name == "find" or (name in ("env", "time", "command") and len(words) == 1)


def _first_for_xargs(words: Sequence[CommandWord], index: int) -> CommandWord:
    """The program xargs runs; it may itself be made of what is read."""
    replaces = any(re.match(r"-[^-]*[Ii]|--replace", word.text) for word in words[1:index])
    return replace(words[index], dynamic=True) if replaces else words[index]


def _why(parts: Sequence[CommandPart]) -> str:
    return parts[0].reason if len(parts) == 1 else "every command in it is allowed by a rule"
