"""What a person names in a message with an ``@``, read for the model as its own tools would read it.

Files and folders, the errors in the conversation's notebook, what Git knows (changes and commits), and resources of MCP
servers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Final

from ..._threads import Stop, in_thread
from ...messages import JsonObject
from ...tools import ActionRequest, data_url, place_of
from ..conversation.conversation import text_block
from ..git import NoRepository, commit_text, working_tree_text
from ._quiet_reader import MOST_CHARACTERS, QuietReader, by_tool, not_attached, read_quietly, within

if TYPE_CHECKING:
    from ...tools import PathPolicy

__all__ = ["Mentioned", "is_resource", "mentions_in", "read_mentions"]

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
_MOST_FAILED_CELLS: Final = 50


@dataclass(frozen=True)
class Mentioned:
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


async def read_mentions(named: Sequence[str], reader: QuietReader) -> Mentioned:
    """Read what a message names. What cannot be read is said in words; nobody is asked anything."""
    texts: list[str] = []
    images: list[str] = []
    left = MOST_CHARACTERS
    for name in named[:_MOST]:
        attached = await _attached(name, reader)
        if attached is None:
            continue
        content = attached.content
        words = "\n".join(str(block["text"]) for block in content if block.get("type") == "text")
        words = within(words, left)
        left = max(0, left - len(words))
        texts.append(f"<{attached.tag}{attached.attributes}>\n{words}\n</{attached.tag}>")
        images += [url for block in content if (url := data_url(block)) is not None]
    if len(named) > _MOST:
        texts.append(f"[{len(named) - _MOST} more were named. They are not attached; read them with the tools.]")
    return Mentioned("\n\n".join(texts), tuple(images))


async def _attached(name: str, context: QuietReader) -> _Attached | None:
    """What a name stands for; None where it stands for nothing, such as a person whose name has the letters of a hash."""
    if name.startswith("/"):
        relative = name.lstrip("/") or "."
        tool, arguments = _reader(relative, context)
        kind = "folder_content" if name.endswith("/") else "file_content"
        return _Attached(kind, await read_quietly(by_tool(tool, arguments, context)), f' path="{escape(relative)}"')
    if name == _PROBLEMS:
        path = f' path="{escape(context.notebook.path)}"' if context.notebook is not None else ""
        return _Attached("notebook_errors", await read_quietly(_errors_of_notebook(context)), path)
    if name == _GIT_CHANGES:
        return _Attached("git_working_state", await read_quietly(_by_git(working_tree_text, context)))
    if ":" in name:
        return await _resource(name, context)
    content = await read_quietly(_by_git(lambda paths: _commit(paths, name), context))
    if not content and len(name) < _WHOLE_HASH:
        return None
    return _Attached("git_commit", content or [not_attached("there is no such commit here.")], f' hash="{name}"')


def is_resource(name: str, reader: QuietReader) -> bool:
    """Whether a name is that of a resource of an MCP server."""
    server, colon, uri = name.partition(":")
    return bool(colon) and not name.startswith("/") and reader.has_resource(server, uri)


async def _resource(name: str, context: QuietReader) -> _Attached | None:
    """A resource of an MCP server; None for what only looks like one."""
    if not is_resource(name, context):
        return None
    server, _, uri = name.partition(":")
    attributes = f' server="{escape(server)}" uri="{escape(uri)}"'
    return _Attached("mcp_resource", await read_quietly(context.resource(server, uri)), attributes)


def _reader(relative: str, context: QuietReader) -> tuple[str, JsonObject]:
    if relative == "." or relative.endswith("/"):
        return "list_files", {"path": relative.rstrip("/") or "."}
    if relative.endswith(".ipynb") and context.has_notebooks:
        return "read_notebook", {"path": relative, "view": "cells"}
    return "read_file", {"path": relative}


async def _errors_of_notebook(context: QuietReader) -> Sequence[JsonObject]:
    """The cells of the conversation's notebook whose outputs hold an error, with those outputs."""
    if context.notebook is None or not context.has_notebooks:
        return [not_attached("this conversation is about no notebook.")]
    place = await place_of(None, context)
    snapshot = await place.document.snapshot(outputs="none")
    failed = [cell.id for cell in snapshot.cells if cell.output_summary.error is not None]
    if not failed:
        return [text_block("No cell of the notebook shows an error.")]
    shown: JsonObject = {"view": "outputs", "cells": list(failed[:_MOST_FAILED_CELLS])}
    content = await by_tool("read_notebook", shown, context)
    if len(failed) > _MOST_FAILED_CELLS:
        return [*content, text_block(f"[… {len(failed) - _MOST_FAILED_CELLS} more cells show an error …]")]
    return content


async def _by_git(read: Callable[[PathPolicy], str | None], context: QuietReader) -> Sequence[JsonObject]:
    """A text of what Git knows, masked; nothing where it knows nothing."""
    # It shows what files contain, so whoever forbids reading those forbids this.
    await context.approve(ActionRequest(risks=frozenset({"read"}), tool="read_file"), "tool", "")

    def masked(_stop: Stop) -> str | None:
        text = read(context.paths)
        return None if text is None else context.mask(text)

    text = await in_thread(masked)
    return [] if text is None else [text_block(text)]


def _commit(paths: PathPolicy, name: str) -> str | None:
    try:
        return commit_text(paths, name)
    except NoRepository:
        return None
