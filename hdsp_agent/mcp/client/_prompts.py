"""Prompts of servers as slash commands: ``/mcp.SERVER.PROMPT arguments``."""

from __future__ import annotations

import re
import shlex
from typing import Final

from ...errors import InvalidInput
from ._listing import Prompt
from ._server_config import ServerConfig

__all__ = ["PROMPT_PREFIX", "argument_hint", "prompt_arguments", "prompt_command"]

PROMPT_PREFIX: Final = "mcp."
_OTHER: Final = re.compile(r"[^A-Za-z0-9_-]")
_LONGEST: Final = 100
_NAMED: Final = re.compile(r"([^\s=]{1,200})=(.*)", re.DOTALL)


def prompt_command(server: ServerConfig, prompt: Prompt) -> str:
    """The name of the command, without the slash."""
    return f"{PROMPT_PREFIX}{_OTHER.sub('_', server.name)}.{_OTHER.sub('_', prompt.name)}"[:_LONGEST]


def argument_hint(prompt: Prompt) -> str | None:
    """What to write behind it."""
    return " ".join(one.name if one.required else f"[{one.name}]" for one in prompt.arguments) or None


def prompt_arguments(prompt: Prompt, text: str) -> dict[str, str]:
    """What was written behind the command, for each argument: in their order, or as ``name=value``. Raises InvalidInput."""
    names = [one.name for one in prompt.arguments]
    text = text.strip()
    if len(names) == 1:
        named = _NAMED.fullmatch(text)
        given = {names[0]: named[2] if named is not None and named[1] == names[0] else text} if text else {}
    else:
        given = _of_words(names, text)
    missing = [one.name for one in prompt.arguments if one.required and not given.get(one.name)]
    if missing:
        raise InvalidInput(f"The prompt {prompt.name} needs: {', '.join(missing)}.")
    return given


def _of_words(names: list[str], text: str) -> dict[str, str]:
    try:
        words = shlex.split(text)
    except ValueError:
        words = text.split()
    given: dict[str, str] = {}
    rest: list[str] = []
    for word in words:
        named = _NAMED.fullmatch(word)
        if named is not None and named[1] in names:
            given[named[1]] = named[2]
        else:
            rest.append(word)
    open_names = [name for name in names if name not in given]
    for place, name in enumerate(open_names):
        # The last one takes all that is left.
        value = " ".join(rest[place:]) if place == len(open_names) - 1 else "".join(rest[place : place + 1])
        if value:
            given[name] = value
    return given
