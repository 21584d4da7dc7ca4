"""What was found in the code of a cell."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from ....messages import ApprovalFlag
from ._shell_text import is_literal, is_plain_package_command, pieces

__all__ = ["CodeFindings"]

_MOST_COMMANDS: Final = 200
_MOST_PIECES: Final = 4_000
_UNKNOWN: Final = "$(known_when_it_runs)"
"""A command that no rule can allow: it stands for what only the kernel knows."""
_LOOKS: Final = re.compile(
    r"(?:pip +(?:list|show|freeze|check|inspect|debug|help)|(?:conda|mamba|micromamba) +(?:list|info|search|env +list)"
    r"|uv +(?:tree|version|pip +(?:list|show|freeze|check|tree))|\w+ +(?:--version|-V|--help|-h))\b(?P<rest>.*)"
)
_LOOKING_OPTIONS: Final = re.compile(
    r"(?: +(?:[\w.][\w.=*-]*|-[ehoqvV]|--(?:outdated|uptodate|user|local|not-required|verbose|quiet|files|editable|pre|json|envs"
    r"|all|format=\w+)))* *"
)
_COMMANDS: Final = re.compile(r"[^|;&\n]+")
_INSTALLER: Final = re.compile(r"\b(?:pip3?|conda|mamba|micromamba|uv|poetry|pixi|apt|apt-get|yum|dnf|brew|npm|yarn)\b")
_INSTALLS: Final = re.compile(
    r"\b(?:install|uninstall|add|remove|update|upgrade|sync|create|download|wheel|lock|venv|compile)\b"
)


@dataclass
class CodeFindings:
    """What the code of a cell does beside Python, collected while it is read."""

    exact: list[str] = field(default_factory=list)
    """Commands that a shell gets word for word."""
    unclear: list[str] = field(default_factory=list)
    """Commands, or words for them, of which only a part is known before they run."""
    packages: list[str] = field(default_factory=list)
    """Installations by magics."""
    started: list[str] = field(default_factory=list)
    """What Python itself starts, as far as it is written out."""
    written: list[str] = field(default_factory=list)
    """Files that a magic writes."""
    flags: set[ApprovalFlag] = field(default_factory=set)

    def shell(self, command: str, *, interpolated: bool = True) -> None:
        """A shell gets this, after IPython put the values of variables into it if ``interpolated``."""
        command = command.strip()
        if not command:
            return
        if len(self.exact) < _MOST_COMMANDS and is_literal(command, interpolated=interpolated):
            self.exact.append(command)
        else:
            self.unclear.append(command)

    def unknown(self, words: str = "") -> None:
        """Something runs of which no more than these words is known."""
        self.unclear.append(words.strip())

    def package_magic(self, name: str, line: str) -> None:
        """What ``%pip``, ``%conda`` and their like do: IPython hands the line to a shell."""
        command = f"{name} {line}".strip()
        if not is_plain_package_command(command):
            self.unclear.append(command)
            return
        looks = _LOOKS.fullmatch(command)
        if command == name or (looks is not None and _LOOKING_OPTIONS.fullmatch(looks["rest"])):
            return
        if _INSTALLS.search(command):
            self.packages.append(command)
        else:
            self.unclear.append(command)

    @property
    def installs(self) -> bool:
        """Whether packages are installed, changed or fetched."""
        return bool(self.packages) or any(_install(command) for command in (*self.exact, *self.unclear))

    @property
    def command(self) -> str | None:
        """The commands as one text for the rules; where a part is not known, with a command that no rule allows."""
        if not self.unclear:
            return "\n".join(self.exact) or None
        return "\n".join([*self.exact, *_for_deny_rules(self.unclear), _UNKNOWN])

    @property
    def same_as(self) -> str | None:
        """Commands that would do the same in a terminal, for the rules that deny."""
        whole = [text for text in self.started[:_MOST_COMMANDS] if is_literal(text, interpolated=False)]
        others = [text for text in self.started if text not in set(whole)]
        return "\n".join([*self.packages, *whole, *_for_deny_rules(others)]) or None


def _for_deny_rules(texts: list[str]) -> list[str]:
    """Every piece that may be a command, without what could join it to the next one."""
    found: dict[str, None] = {}
    length = 0
    for text in texts:
        for piece in pieces(text):
            if length + len(piece) > _MOST_PIECES:
                return list(found)
            if piece not in found:
                found[piece] = None
                length += len(piece) + 1
    return list(found)


def _install(command: str) -> bool:
    for one in _COMMANDS.finditer(command):
        installer = _INSTALLER.search(one[0])
        if installer is not None and _INSTALLS.search(one[0], installer.end()):
            return True
    return False
