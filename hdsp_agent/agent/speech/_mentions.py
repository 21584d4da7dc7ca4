"""Files and folders a person names in a message, read for the model as its own tools would read them."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Final

from ...errors import HdspAgentError
from ...messages import ClineAsk, ClineSay, CommandRun, JsonObject, NotebookRef, ProgressStatus
from ...tools import ActionRequest, Approval, ApprovalAsk, Proposal, ToolFailed, data_url
from .._asks import AskAnswer
from .._tool_context import CallContext

if TYPE_CHECKING:
    from .._task import Task

__all__ = ["Attachments", "attachments_for", "mentions_in"]

_MENTION: Final = re.compile(r"(?:(?<=\s)|^)@(/(?:\\ |[^\s\\])*)", re.MULTILINE)
_TRAILING: Final = ".,;:!?)]}'\""
_MOST: Final = 10
_MOST_CHARACTERS: Final = 200_000
_PATIENCE_SECONDS: Final = 15.0


@dataclass(frozen=True)
class Attachments:
    """What was read: text in the order in which it was named, and pictures as data URLs."""

    text: str = ""
    images: tuple[str, ...] = ()


def mentions_in(text: str) -> list[str]:
    """The paths named in a text, each once; a space in one has a backslash in front."""
    found = (match[1].rstrip(_TRAILING).replace("\\ ", " ") for match in _MENTION.finditer(text))
    return list(dict.fromkeys(path for path in found if path))


async def attachments_for(text: str, task: Task) -> Attachments:
    """Read what a message names. What cannot be read is said in words; nobody is asked anything."""
    named = mentions_in(text)
    parts: list[str] = []
    images: list[str] = []
    left = _MOST_CHARACTERS
    for path in named[:_MOST]:
        content = await _content(path, task)
        words = "\n".join(str(block["text"]) for block in content if block.get("type") == "text")
        if len(words) > left:
            words = f"{words[:left]}\n[… the rest is left out: too much was attached at once. Read it with the tools …]"
        left = max(0, left - len(words))
        kind = "folder_content" if path.endswith("/") else "file_content"
        parts.append(f'<{kind} path="{escape(path.lstrip("/") or ".")}">\n{words}\n</{kind}>')
        images += [url for block in content if (url := data_url(block)) is not None]
    if len(named) > _MOST:
        parts.append(f"[{len(named) - _MOST} more files were named. They are not attached; read them with the tools.]")
    return Attachments("\n\n".join(parts), tuple(images))


async def _content(path: str, task: Task) -> Sequence[JsonObject]:
    relative = path.lstrip("/") or "."
    try:
        tool, arguments = _reader(relative, task)
        checked = task.services.tools.validate(tool, json.dumps(arguments))
        reading = task.services.tools.get(tool).run(checked, _Named(task, task.calls))
        result = await asyncio.wait_for(reading, _PATIENCE_SECONDS)
    except asyncio.TimeoutError:
        return [_words(f"[Not attached: reading it took longer than {_PATIENCE_SECONDS:.0f} seconds.]")]
    except (HdspAgentError, OSError) as error:
        return [_words(f"[Not attached: {error}]")]
    content = [_words(result.content)] if isinstance(result.content, str) else result.content
    return [_words(f"[Not attached: {block['text']}]") for block in content] if result.is_error else content


def _reader(relative: str, task: Task) -> tuple[str, JsonObject]:
    if relative == "." or relative.endswith("/"):
        return "list_files", {"path": relative.rstrip("/") or "."}
    if relative.endswith(".ipynb") and task.services.notebooks is not None:
        return "read_notebook", {"path": relative, "view": "cells"}
    return "read_file", {"path": relative}


def _words(text: str) -> JsonObject:
    return {"type": "text", "text": text}


class _Named(CallContext):
    """Reads what the person named without asking them again, and without a message that says so."""

    async def approve(
        self,
        action: ActionRequest,
        ask: ApprovalAsk,
        text: str,
        *,
        ts: int | None = None,
        proposal: Proposal | None = None,
        meanwhile: Callable[[], Awaitable[None]] | None = None,
        progress: ProgressStatus | None = None,
    ) -> Approval:
        """Whether it may be read: what is outside the workspace or may hold passwords is left to a tool that asks."""
        task = self._task
        decision = task.services.approvals.decide(
            action, settings=task.settings, policy=task.services.policy(), mode=task.mode
        )
        if decision.verdict == "deny":
            raise ToolFailed(decision.reason)
        if action.risks - {"read", "none"}:
            # The name may have come in with text that somebody else wrote and the person only pasted.
            raise ToolFailed(
                f"{action.path} is outside the workspace, another person's, or may hold passwords. "
                "If it is needed, read it with a tool: the person is asked then."
            )
        return Approval(approved=True)

    async def say(
        self,
        say: ClineSay,
        text: str | None = None,
        *,
        partial: bool | None = None,
        ts: int | None = None,
        images: Sequence[str] = (),
        notebook: NotebookRef | None = None,
        command_run: CommandRun | None = None,
    ) -> int:
        """Nothing is said: the person named it themselves."""
        return 0

    async def ask(self, ask: ClineAsk, text: str | None = None) -> AskAnswer:
        """Nothing is asked."""
        raise ToolFailed("It cannot be read without asking the person something. Read it with a tool.")
