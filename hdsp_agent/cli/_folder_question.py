"""Before a task begins: whether what its folder brings for the agent counts."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ..agent.trust import BroughtKind, FolderContents, FolderTrust
    from ..config import ContextProxy
    from ._responder import Responder
    from ._terminal import Terminal

__all__ = ["settle_folder"]

_MOST_LISTED: Final = 20
_KINDS: Final[dict[BroughtKind, tuple[str, str]]] = {
    "mode": ("mode", "modes"),
    "rules": ("rules file", "rules files"),
    "instructions": ("instructions file", "instructions files"),
    "command": ("slash command", "slash commands"),
    "setting": ("setting", "settings"),
}


async def settle_folder(
    config: ContextProxy, folder: Path, responder: Responder, terminal: Terminal, *, trust_now: bool
) -> None:
    """Have the person decide about a folder that brings something. Nobody there to decide: it is not used, and said so."""
    from ..agent.trust import WorkspaceTrust

    trust = WorkspaceTrust(config.trusted_folders, with_subfolders=lambda: config.settings.enable_subfolder_rules)
    if trust_now:
        await asyncio.to_thread(trust.trust_for_now, folder)
    found = await trust.of(folder)
    if found.is_question:
        answer = await responder.agrees(_question(found), "Trust this folder from now on? [y]es, [n]o: ")
        found = found if answer is None else await trust.decide(folder, answer)
    if found.brings and not found.standing.is_trusted:
        terminal.note(_unused(found))


def _question(found: FolderTrust) -> Sequence[str]:
    listed = [f"  {one.name}" + (f" ({one.path})" if one.path != one.name else "") for one in found.brings]
    more = len(listed) - _MOST_LISTED
    return [
        f"{found.standing.folder} brings {_counted(found.brings)} for the agent:",
        *listed[:_MOST_LISTED],
        *([f"  and {more} more"] if more > 0 else []),
        "The agent follows them if you trust this folder. Trust it only if you know who wrote them.",
    ]


def _unused(found: FolderTrust) -> str:
    what = f"{_counted(found.brings)} of {found.standing.folder} {'is' if len(found.brings) == 1 else 'are'} not used"
    if found.standing.decided_by == "operator":
        return f"{what}: your administrator does not allow it"
    return f"{what}: the folder is not trusted (use --trust-folder to use them this time)"


def _counted(brings: Sequence[FolderContents]) -> str:
    counts = Counter(one.kind for one in brings)
    return ", ".join(f"{counts[kind]} {words[counts[kind] > 1]}" for kind, words in _KINDS.items() if counts[kind])
