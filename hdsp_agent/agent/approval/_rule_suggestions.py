"""Which rules would have approved an action that is asked about: offered to the person, who sees what each allows."""

from __future__ import annotations

import os.path
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from ...config import GlobalSettings, ModeConfig, OperatorPolicy
from ...messages import ErrorBody, RuleSuggestion
from ...tools import ActionRequest, Risk
from ._command_approval import CommandPart, decide_command
from ._engine import _SETTINGS, ApprovalEngine
from ._programs import CHANGES_THE_SHELL, SHELLS, installs
from ._wrapper_programs import WRAPPERS

__all__ = ["NO_RULES", "Suggestions", "suggest_rules"]

_MAIN_SWITCH: Final = "auto_approval_enabled"
_CLASS: Final = "always_allow_"
_MOST_WORDS: Final = 8
_BROAD_FOR_ONE: Final = 2
_PLAIN: Final = re.compile(r"[\w./:=@%+,-]+")

_NEVER: Final = WRAPPERS | SHELLS | CHANGES_THE_SHELL | {
    "rm", "rmdir", "dd", "shred", "chmod", "chown", "chgrp", "mv", "cp", "ln", "tee", "truncate", "unlink", "install", "kill", "pkill", "killall", "shutdown", "reboot",
    "service", "passwd", "useradd", "usermod", "scp", "rsync", "curl", "wget", "awk", "gawk", "mawk", "sed", "cd", "pushd", "popd", "aws", "gcloud", "az", "gh", "terraform", "helm",
}  # fmt: skip
"""Programs that destroy, reach other machines or run what they are given: words in front do not say what they will do."""
_RUNS_CODE: Final = re.compile(
    r"(?:python|pypy|node|deno|bun|ruby|perl|php|lua|Rscript|R|julia|java|scala|osascript)[\d.]*"
)
"""Programs that run the script they are given: a rule names the script, or the module behind ``-m``."""
_HAS_SUBCOMMANDS: Final = frozenset(
    {"git", "npm", "pnpm", "yarn", "jlpm", "pip", "pip3", "uv", "poetry", "pdm", "conda", "mamba", "cargo", "go", "make", "just", "jupyter", "dvc", "dotnet", "mvn", "gradle", "apt", "apt-get", "brew", "npx", "uvx", "pipx", "nox", "tox", "hatch", "rye", "bundle", "gem", "composer"}
)  # fmt: skip
"""Programs of which the first word says nothing: a rule names what they are to do."""
_RUNS_WHAT_FOLLOWS: Final = frozenset({"run", "exec", "dlx", "x", "tool"})
"""Subcommands that say nothing either without the word behind them."""
_THROWS_AWAY: Final = frozenset(
    {"push", "reset", "clean", "checkout", "switch", "restore", "rebase", "rm", "config", "filter-branch", "gc", "reflog", "update-ref", "submodule", "branch", "tag"}
)  # fmt: skip
"""Subcommands of git that change what others have, or lose what was not committed."""


_ALWAYS_ASKED: Final = ErrorBody(
    code="rule_always_asked", message="Your administrator requires approval for every action.", params={}
)
_COMMANDS_FIXED: Final = ErrorBody(
    code="rule_commands_fixed", message="Your administrator decides which commands are allowed.", params={}
)
_SETTINGS_FIXED: Final = ErrorBody(
    code="rule_settings_fixed", message="Your administrator requires approval for actions of this kind.", params={}
)
_DENIED: Final = ErrorBody(
    code="rule_denied", message="A rule in the settings denies this command, and goes before any other.", params={}
)
_ANY_COMMAND: Final = ErrorBody(
    code="rule_any_command",
    message="This command can do anything, so no rule can allow it. The agent asks each time.",
    params={},
)
_NO_RULE: Final = ErrorBody(code="rule_none", message="No rule can allow this. The agent asks each time.", params={})


@dataclass(frozen=True)
class Suggestions:
    """The rules, or why there are none."""

    rules: tuple[RuleSuggestion, ...] = ()
    reason: ErrorBody | None = None


NO_RULES: Final = Suggestions(reason=_NO_RULE)
"""There is no rule that would allow it."""


def suggest_rules(
    action: ActionRequest,
    *,
    settings: GlobalSettings,
    policy: OperatorPolicy,
    mode: ModeConfig,
    fixed: Sequence[str] = (),
) -> Suggestions:
    """The rules that approve this action. Only such that the engine then really accepts are suggested.

    ``fixed`` are the settings nobody can change, by their names on the wire.
    """
    if not policy.allow_auto_approval:
        return Suggestions(reason=_ALWAYS_ASKED)
    switches = [name for name in _needed(action) if not getattr(settings, name)]
    opened = settings.model_copy(update=dict.fromkeys(switches, True))
    rules, problem = _command_rules(action, opened)
    if rules and "allowedCommands" in fixed:
        rules, problem = [], _COMMANDS_FIXED
    if any(_wire(name) in fixed for name in switches):
        return Suggestions(reason=_SETTINGS_FIXED)
    if problem is not None:
        return Suggestions(reason=problem)
    chosen = {rule.command: rule.value for rule in reversed(rules)}
    tried = opened.model_copy(update={"allowed_commands": (*opened.allowed_commands, *chosen.values())})
    decision = ApprovalEngine().decide(action, settings=tried, policy=policy, mode=mode)
    if decision.verdict != "approve":
        return NO_RULES
    classes = [RuleSuggestion(kind="class", value=_wire(name), label=_title(name)) for name in switches]
    return Suggestions((*rules, *classes))


# ---- settings


def _needed(action: ActionRequest) -> list[str]:
    """The switches that must be on for what the action risks, the main one first."""
    found = [_MAIN_SWITCH, *(name for risk in sorted(action.risks - {"none"}) for name in _switches(risk))]
    parts = decide_command(action.command, allow=()).parts if action.command is not None else ()
    if any(installs(part.words) for part in parts):
        found.append("always_allow_install_packages")
    return list(dict.fromkeys(found))


@cache
def _switches(risk: Risk) -> tuple[str, ...]:
    """The settings without which the risk is not taken, found by switching each off."""
    allowed, _ = _SETTINGS[risk]
    names = [name for name in GlobalSettings.model_fields if name.startswith(_CLASS)]
    every = GlobalSettings().model_copy(update=dict.fromkeys(names, True))
    return tuple(name for name in names if not allowed(every.model_copy(update={name: False})))


def _wire(name: str) -> str:
    return GlobalSettings.model_fields[name].alias or name


def _title(name: str) -> str:
    return GlobalSettings.model_fields[name].title or name


# ---- commands


def _command_rules(action: ActionRequest, settings: GlobalSettings) -> tuple[list[RuleSuggestion], ErrorBody | None]:
    """Rules for each command of the line that is asked about; or why one of them has none."""
    if action.command is None:
        return [], None
    decision = decide_command(
        action.command,
        allow=settings.allowed_commands,
        deny=settings.denied_commands,
        workspace=action.cwd,
        allow_installs=settings.always_allow_install_packages,
    )
    if decision.verdict == "deny":
        return [], _DENIED
    rules: list[RuleSuggestion] = []
    for part in decision.parts:
        if part.verdict != "ask" or any(rule.command == part.command for rule in rules):
            continue
        found = [prefix for prefix in _prefixes(part) if _approves(prefix, part, action, settings)]
        if not found:
            return [], _ANY_COMMAND if _does_anything(part.words) else _NO_RULE
        rules += [RuleSuggestion(kind="command", value=prefix, command=part.command) for prefix in _offered(found)]
    return rules, None


def _offered(prefixes: Sequence[str]) -> list[str]:
    """Of prefixes from few words to many: what allows least first, because the first is taken by who does not choose."""
    *broader, narrowest = prefixes
    return [narrowest, *reversed(broader[:_BROAD_FOR_ONE])]


def _prefixes(part: CommandPart) -> Iterator[str]:
    """The first words of a command that say what it does, from few to all."""
    words = part.words
    least = _least_words(words)
    if least is None:
        return
    for count in range(least, min(len(words), _MOST_WORDS) + 1):
        if not all(_PLAIN.fullmatch(word) for word in words[:count]):
            return
        yield shlex.join(words[:count])


def _does_anything(words: Sequence[str]) -> bool:
    """Whether it does whatever the rest of its words say."""
    program = os.path.basename(words[0]) if words else ""
    return program in WRAPPERS | SHELLS | CHANGES_THE_SHELL or _RUNS_CODE.fullmatch(program) is not None


def _least_words(words: Sequence[str]) -> int | None:
    """How many words it takes to say what the command does; None if no number is enough."""
    program = os.path.basename(words[0]) if words else ""
    if not program or program in _NEVER:
        return None
    if _RUNS_CODE.fullmatch(program):
        if words[1:2] == ("-m",) and len(words) > 2:
            return 3
        return 2 if len(words) > 1 and not words[1].startswith("-") else None
    if program in _HAS_SUBCOMMANDS:
        return _least_of_subcommand(program, words)
    return 1


def _least_of_subcommand(program: str, words: Sequence[str]) -> int | None:
    least = 3 if words[1:2] and words[1] in _RUNS_WHAT_FOLLOWS else 2
    if len(words) < least or any(word.startswith("-") for word in words[1:least]):
        return None
    return None if program == "git" and words[1] in _THROWS_AWAY else least


def _approves(prefix: str, part: CommandPart, action: ActionRequest, settings: GlobalSettings) -> bool:
    decision = decide_command(
        part.command,
        allow=(*settings.allowed_commands, prefix),
        deny=settings.denied_commands,
        workspace=action.cwd,
        allow_installs=settings.always_allow_install_packages,
    )
    return decision.verdict == "approve"
