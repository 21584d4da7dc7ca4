"""What a person names in a message with an ``@``, read for the model as its own tools would read it.

Files and folders, the errors in the conversation's notebook, what Git knows (changes and commits), and resources of MCP
servers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Final

from ..._threads import Stop, in_thread
from ..._timeouts import wait_at_most
from ...errors import HdspAgentError
from ...messages import ClineAsk, ClineSay, CommandRun, JsonObject, NotebookRef, ProgressStatus
from ...tools import (
    ActionRequest,
    Approval,
    ApprovalAsk,
    Proposal,
    ToolFailed,
    ToolResult,
    answer_blocks,
    data_url,
    place_of,
)
from ..conversation.asks import AskAnswer
from ..git import NoRepository, commit_text, working_tree_text
from ..task.tool_context import CallContext, CallParts

if TYPE_CHECKING:
    from ...tools import PathPolicy
    from ..task.task_state import TaskState

__all__ = ["Attachments", "attachments_for", "mentions_in"]

_MENTION: Final = re.compile(
    r"(?:(?<=\s)|^)@(?:(?P<path>/(?:\\ |[^\s\\])*)"
    # A resource of an MCP server: its name, and the address.
    r"|(?P<resource>[A-Za-z0-9][A-Za-z0-9_.-]{0,63}:[^\s:/][^\s]*)"
    # A name that only begins like one of these is none; the ending of a Korean or Japanese word may follow.
    r"|(?P<name>problems|git-changes|[0-9a-fA-F]{7,40})(?![A-Za-z0-9_@/\\-]|[.:][A-Za-z0-9_]))",
    re.MULTILINE,
)
_TRAILING: Final = ".,;:!?)]}'\""
_PROBLEMS: Final = "problems"
_GIT_CHANGES: Final = "git-changes"
_WHOLE_HASH: Final = 40
_MOST: Final = 10
_MOST_CHARACTERS: Final = 200_000
_MOST_FAILED_CELLS: Final = 50
_PATIENCE_SECONDS: Final = 15.0


@dataclass(frozen=True)
class Attachments:
    """What was read: text in the order in which it was named, and pictures as data URLs."""

    text: str = ""
    images: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Attached:
    """What one name stands for, and the tag that says what it is."""

    tag: str
    content: Sequence[JsonObject]
    attributes: str = ""


def mentions_in(text: str) -> list[str]:
    """What a text names, each once: paths, which begin with a slash, ``problems``, ``git-changes``, hashes, and resources.

    A space in a path has a backslash in front.
    """
    found: list[str] = []
    for match in _MENTION.finditer(text):
        path, resource = match["path"], match["resource"]
        if path is not None:
            found.append(path.rstrip(_TRAILING).replace("\\ ", " "))
        else:
            found.append(match["name"] if resource is None else resource.rstrip(_TRAILING))
    return list(dict.fromkeys(name for name in found if name))


async def attachments_for(text: str, state: TaskState, parts: CallParts) -> Attachments:
    """Read what a message names. What cannot be read is said in words; nobody is asked anything."""
    named = mentions_in(text)
    texts: list[str] = []
    images: list[str] = []
    left = _MOST_CHARACTERS
    for name in named[:_MOST]:
        attached = await _attached(name, _Named(state, parts))
        if attached is None:
            continue
        content = attached.content
        words = "\n".join(str(block["text"]) for block in content if block.get("type") == "text")
        if len(words) > left:
            words = f"{words[:left]}\n[… the rest is left out: too much was attached at once. Read it with the tools …]"
        left = max(0, left - len(words))
        texts.append(f"<{attached.tag}{attached.attributes}>\n{words}\n</{attached.tag}>")
        images += [url for block in content if (url := data_url(block)) is not None]
    if len(named) > _MOST:
        texts.append(f"[{len(named) - _MOST} more were named. They are not attached; read them with the tools.]")
    return Attachments("\n\n".join(texts), tuple(images))


async def _attached(name: str, context: _Named) -> _Attached | None:
    """What a name stands for; None where it stands for nothing, such as a person whose name has the letters of a hash."""
    if name.startswith("/"):
        relative = name.lstrip("/") or "."
        tool, arguments = _reader(relative, context)
        kind = "folder_content" if name.endswith("/") else "file_content"
        return _Attached(kind, await _read(_by_tool(tool, arguments, context)), f' path="{escape(relative)}"')
    if name == _PROBLEMS:
        path = f' path="{escape(context.notebook.path)}"' if context.notebook is not None else ""
        return _Attached("notebook_errors", await _read(_errors_of_notebook(context)), path)
    if name == _GIT_CHANGES:
        return _Attached("git_working_state", await _read(_by_git(working_tree_text, context)))
    if ":" in name:
        return await _resource(name, context)
    content = await _read(_by_git(lambda paths: _commit(paths, name), context))
    if not content and len(name) < _WHOLE_HASH:
        return None
    return _Attached("git_commit", content or [_not_attached("there is no such commit here.")], f' hash="{name}"')


async def _read(reading: Awaitable[Sequence[JsonObject]]) -> Sequence[JsonObject]:
    """What is read, or in words why it is not."""
    try:
        return await wait_at_most(reading, _PATIENCE_SECONDS)
    except TimeoutError:
        return [_not_attached(f"reading it took longer than {_PATIENCE_SECONDS:.0f} seconds.")]
    except (HdspAgentError, ToolFailed, OSError) as error:
        return [_not_attached(str(error))]


async def _resource(name: str, context: _Named) -> _Attached | None:
    """A resource of an MCP server; None for what only looks like one."""
    server, _, uri = name.partition(":")
    if not context.has_resource(server, uri):
        return None
    attributes = f' server="{escape(server)}" uri="{escape(uri)}"'
    return _Attached("mcp_resource", await _read(context.resource(server, uri)), attributes)


def _reader(relative: str, context: _Named) -> tuple[str, JsonObject]:
    if relative == "." or relative.endswith("/"):
        return "list_files", {"path": relative.rstrip("/") or "."}
    if relative.endswith(".ipynb") and context.has_notebooks:
        return "read_notebook", {"path": relative, "view": "cells"}
    return "read_file", {"path": relative}


async def _by_tool(tool: str, arguments: JsonObject, context: _Named) -> Sequence[JsonObject]:
    result = await context.run(tool, arguments)
    content = [_words(result.content)] if isinstance(result.content, str) else result.content
    return [_not_attached(str(block["text"])) for block in content] if result.is_error else content


async def _errors_of_notebook(context: _Named) -> Sequence[JsonObject]:
    """The cells of the conversation's notebook whose outputs hold an error, with those outputs."""
    if context.notebook is None or not context.has_notebooks:
        return [_not_attached("this conversation is about no notebook.")]
    place = await place_of(None, context)
    snapshot = await place.document.snapshot(outputs="none")
    failed = [cell.id for cell in snapshot.cells if cell.output_summary.error is not None]
    if not failed:
        return [_words("No cell of the notebook shows an error.")]
    shown: JsonObject = {"view": "outputs", "cells": list(failed[:_MOST_FAILED_CELLS])}
    content = await _by_tool("read_notebook", shown, context)
    if len(failed) > _MOST_FAILED_CELLS:
        return [*content, _words(f"[… {len(failed) - _MOST_FAILED_CELLS} more cells show an error …]")]
    return content


async def _by_git(read: Callable[[PathPolicy], str | None], context: _Named) -> Sequence[JsonObject]:
    """A text of what Git knows, masked; nothing where it knows nothing."""
    # It shows what files contain, so whoever forbids reading those forbids this.
    await context.approve(ActionRequest(risks=frozenset({"read"}), tool="read_file"), "tool", "")

    def masked(_stop: Stop) -> str | None:
        text = read(context.paths)
        return None if text is None else context.mask(text)

    text = await in_thread(masked)
    return [] if text is None else [_words(text)]


def _commit(paths: PathPolicy, name: str) -> str | None:
    try:
        return commit_text(paths, name)
    except NoRepository:
        return None


def _not_attached(why: str) -> JsonObject:
    return _words(f"[Not attached: {why}]")


def _words(text: str) -> JsonObject:
    return {"type": "text", "text": text}


class _Named(CallContext):
    """Reads what the person named without asking them again, and without a message that says so."""

    @property
    def has_notebooks(self) -> bool:
        """Whether there are notebooks and kernels here."""
        return self._state.services.notebooks is not None

    def has_resource(self, server: str, uri: str) -> bool:
        """Whether an MCP server lists such a resource."""
        state = self._state
        if state.mcp is None or not state.settings.mcp_enabled:
            return False
        return any(one.server == server and one.fits(uri) for one in state.mcp.offer.resources)

    async def resource(self, server: str, uri: str) -> Sequence[JsonObject]:
        """What it holds: a stranger's words."""
        self._check(ActionRequest(risks=frozenset({"mcp"}), tool="access_mcp_resource", server=server))
        answer = await self.mcp.read(server, uri)
        self._state.conversation.log.update_state(has_external_content=True)
        return await answer_blocks(answer, self)

    async def run(self, tool: str, arguments: JsonObject) -> ToolResult:
        """What one of the model's own tools makes of it."""
        tools = self._state.services.tools
        return await tools.get(tool).run(tools.validate(tool, json.dumps(arguments)), self)

    async def approve(
        self,
        action: ActionRequest,
        ask: ApprovalAsk,
        text: str,
        *,
        proposal: Proposal | None = None,
        meanwhile: Callable[[], Awaitable[None]] | None = None,
        progress: ProgressStatus | None = None,
    ) -> Approval:
        """Whether it may be read: what is outside the workspace or may hold passwords is left to a tool that asks."""
        self._check(action)
        if action.risks - {"read", "none"}:
            # The name may have come in with text that somebody else wrote and the person only pasted.
            raise ToolFailed(
                f"{action.path} is outside the workspace, another person's, or may hold passwords. "
                "If it is needed, read it with a tool: the person is asked then."
            )
        return Approval(approved=True)

    def _check(self, action: ActionRequest) -> None:
        """Raise for what somebody has forbidden."""
        state = self._state
        decision = state.services.approvals.decide(
            action, settings=state.settings, policy=state.services.policy(), mode=state.mode
        )
        if decision.verdict == "deny":
            raise ToolFailed(decision.reason)

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

    async def ask(self, ask: ClineAsk, text: str | None = None, *, verbatim: bool = False) -> AskAnswer:
        """Nothing is asked."""
        raise ToolFailed("It cannot be read without asking the person something. Read it with a tool.")
