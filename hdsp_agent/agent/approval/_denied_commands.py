"""What is denied, wherever it stands in a command line, and the parts a person is shown of a line that is asked about.

It reads the whole grammar of the shell and approves nothing: what is not found here is asked about at best.
"""

from __future__ import annotations

import os.path
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from ...tools import Script, SimpleCommand, parse_script
from ._command_rules import CommandRule, longest
from ._git_commands import without_harmless_options
from ._programs import SHELLS, script_of
from ._wrapper_programs import WRAPPERS

__all__ = ["commands_of", "denying_rule"]

_DEEPEST: Final = 5


def denying_rule(words: Sequence[str], allow: Sequence[CommandRule], deny: Sequence[CommandRule]) -> CommandRule | None:
    """The rule that denies the command, or what it wraps: there every word may begin the command that runs."""
    if not words or not deny:
        return None
    name = os.path.basename(words[0])
    starts = range(len(words)) if name.lower() in WRAPPERS | SHELLS else range(1)
    most = max(len(rule.words) for rule in deny)
    by_first = _by_first_word(tuple(deny))
    for start in starts:
        given = (words[start], *words[start + 1 : start + most])
        named = (os.path.basename(given[0]), *given[1:])
        # However many options of Git's stand in front of its command.
        told = without_harmless_options((named[0], *words[start + 1 :])) if named[0].startswith("git") else named
        for candidate in dict.fromkeys((named, given, told)):
            fitting = (*by_first.get(candidate[0].lower(), ()), *by_first.get("", ()))
            rule = longest(fitting, candidate, any_case=True)
            allowed = longest(allow, words) if start == 0 else None
            if rule is not None and (allowed is None or len(allowed.words) <= len(rule.words)):
                return rule
    return None


@lru_cache(maxsize=16)
def _by_first_word(rules: tuple[CommandRule, ...]) -> dict[str, tuple[CommandRule, ...]]:
    """The rules by the word they begin with, in small letters; those without words fit everything."""
    found: dict[str, tuple[CommandRule, ...]] = {}
    for rule in rules:
        first = rule.words[0].lower() if rule.words else ""
        found[first] = (*found.get(first, ()), rule)
    return found


def commands_of(text: str, depth: int = 0) -> Iterator[tuple[Script, SimpleCommand]]:
    """Every command in the line as far as it can be read, those in texts that a shell is given among them."""
    script = parse_script(text)
    for command in script.commands:
        yield script, command
        words = tuple(word.text for word in command.words)
        inner = _script_in(words) if words and depth < _DEEPEST else None
        if inner is not None:
            yield from commands_of(inner, depth + 1)


def _script_in(words: Sequence[str]) -> str | None:
    """The text that a shell is given to run, also behind programs that run a shell."""
    for start, word in enumerate(words):
        name = os.path.basename(word)
        if name in SHELLS:
            return script_of(name, words[start:])
        if start == 0 and name not in WRAPPERS:
            return None
    return None
