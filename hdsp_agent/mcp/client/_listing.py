"""What a server offers: tools, resources and prompts, each within bounds, and how one tool is told from another."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from pydantic import JsonValue

from ...messages import JsonObject

if TYPE_CHECKING:
    import mcp_types
    from mcp import Client

__all__ = ["Listing", "Prompt", "PromptArgument", "Resource", "ResourceTemplate", "ServerTool", "listing_of"]

_NAME: Final = re.compile(r"[A-Za-z0-9_./:-]{1,128}")
"""What the specification allows, and what is common besides: nothing that looks like another name."""
_HIDDEN: Final = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e0fff]"
)
_SAID: Final = frozenset({"title", "description", "$comment"})
"""What a schema says to whoever reads it."""
_LONGEST_DESCRIPTION: Final = 2_000
_LONGEST_LINE: Final = 200
_LONGEST_URI: Final = 2_000
_LONGEST_INSTRUCTIONS: Final = 4_000
_MOST_ARGUMENTS: Final = 50
_MOST_PAGES: Final = 100

T = TypeVar("T")


@dataclass(frozen=True)
class ServerTool:
    """One tool, as its server describes it."""

    name: str
    title: str | None
    description: str
    input_schema: JsonObject
    read_only: bool | None = None
    destructive: bool | None = None
    """What the server claims of it: it decides nothing."""

    @property
    def fingerprint(self) -> str:
        """Another one for a tool that says something else of itself, or takes something else."""
        what = [self.name, self.title, self.description, self.input_schema, self.read_only, self.destructive]
        return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:32]


@dataclass(frozen=True)
class Resource:
    """Something that can be read."""

    uri: str
    name: str
    description: str | None = None
    media_type: str | None = None


@dataclass(frozen=True)
class ResourceTemplate:
    """Addresses of one form that can be read."""

    template: str
    name: str
    description: str | None = None
    media_type: str | None = None


@dataclass(frozen=True)
class PromptArgument:
    """What a prompt is filled in with."""

    name: str
    description: str | None = None
    required: bool = False


@dataclass(frozen=True)
class Prompt:
    """A message that is written already."""

    name: str
    title: str | None = None
    description: str | None = None
    arguments: tuple[PromptArgument, ...] = ()


@dataclass(frozen=True)
class Listing:
    """All that a server offers."""

    tools: tuple[ServerTool, ...] = ()
    resources: tuple[Resource, ...] = ()
    templates: tuple[ResourceTemplate, ...] = ()
    prompts: tuple[Prompt, ...] = ()
    instructions: str | None = None
    left_out: tuple[str, ...] = field(default=(), compare=False)
    """What is not among it, and why: sentences for the log."""


async def listing_of(client: Client, most: int) -> Listing:
    """Ask a server what it offers; at most so many of each kind. Raises what the SDK raises."""
    can = client.server_capabilities
    asked = _Asked(most)
    tools: Sequence[mcp_types.Tool] = ()
    if can.tools is not None:
        tools = await asked.all(lambda at: client.list_tools(cursor=at), lambda page: page.tools, "tools")
    resources: Sequence[mcp_types.Resource] = ()
    templates: Sequence[mcp_types.ResourceTemplate] = ()
    if can.resources is not None:
        resources = await asked.all(
            lambda at: client.list_resources(cursor=at), lambda page: page.resources, "resources"
        )
        templates = await _templates(client, asked)
    prompts: Sequence[mcp_types.Prompt] = ()
    if can.prompts is not None:
        prompts = await asked.all(lambda at: client.list_prompts(cursor=at), lambda page: page.prompts, "prompts")
    usable = tuple(_usable(tools, asked.left_out))
    return Listing(
        usable,
        tuple(_resource(one) for one in resources if len(one.uri) <= _LONGEST_URI),
        tuple(_template(one) for one in templates if len(one.uri_template) <= _LONGEST_URI),
        tuple(_prompt(one) for one in prompts if _NAME.fullmatch(one.name)),
        _words(client.instructions, _LONGEST_INSTRUCTIONS),
        tuple(asked.left_out),
    )


async def _templates(client: Client, asked: _Asked) -> Sequence[mcp_types.ResourceTemplate]:
    from mcp import MCPError

    try:
        return await asked.all(
            lambda at: client.list_resource_templates(cursor=at),
            lambda page: page.resource_templates,
            "resource templates",
        )
    except MCPError:
        # Many servers that have resources do not know the method.
        return ()


class _Page(Protocol):
    @property
    def next_cursor(self) -> str | None: ...


PageT = TypeVar("PageT", bound=_Page)


class _Asked:
    """Asks for page after page, and remembers what was too much."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.left_out: list[str] = []

    async def all(
        self, ask: Callable[[str | None], Awaitable[PageT]], of: Callable[[PageT], Sequence[T]], kind: str
    ) -> Sequence[T]:
        """The first ones of all pages."""
        found: list[T] = []
        cursor: str | None = None
        seen: set[str | None] = set()
        for _ in range(_MOST_PAGES):
            page = await ask(cursor)
            found += of(page)
            cursor = page.next_cursor
            if cursor is None or cursor in seen or len(found) > self._most:
                break
            seen.add(cursor)
        if len(found) > self._most or cursor is not None:
            used = min(self._most, len(found))
            self.left_out.append(f"It lists too many {kind}. Only the first {used:,} are used.")
        return found[: self._most]


def _usable(tools: Sequence[mcp_types.Tool], left_out: list[str]) -> Iterator[ServerTool]:
    names: set[str] = set()
    for tool in tools:
        if not _NAME.fullmatch(tool.name):
            left_out.append(f"The tool {tool.name[:100]!a} is not used: its name has characters that none may have.")
        elif tool.name in names:
            left_out.append(f"The tool {tool.name} is listed twice. The second one is not used.")
        else:
            names.add(tool.name)
            yield _tool(tool)


def _tool(tool: mcp_types.Tool) -> ServerTool:
    hints = tool.annotations
    return ServerTool(
        tool.name,
        _words(tool.title or (None if hints is None else hints.title), _LONGEST_LINE),
        _words(tool.description, _LONGEST_DESCRIPTION) or "",
        _plain_schema(tool.input_schema),
        None if hints is None else hints.read_only_hint,
        None if hints is None else hints.destructive_hint,
    )


def _plain_schema(schema: JsonObject) -> JsonObject:
    """A schema whose descriptions hold nothing that cannot be seen. What it takes stays as it is."""
    return {
        name: _HIDDEN.sub("", value) if isinstance(value, str) and name in _SAID else _plain_part(value)
        for name, value in schema.items()
    }


def _plain_part(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return _plain_schema(value)
    return [_plain_part(one) for one in value] if isinstance(value, list) else value


def _resource(resource: mcp_types.Resource) -> Resource:
    return Resource(
        _words(resource.uri, _LONGEST_URI) or "",
        _words(resource.title or resource.name, _LONGEST_LINE) or "",
        _words(resource.description, _LONGEST_DESCRIPTION),
        _words(resource.mime_type, _LONGEST_LINE),
    )


def _template(template: mcp_types.ResourceTemplate) -> ResourceTemplate:
    return ResourceTemplate(
        _words(template.uri_template, _LONGEST_URI) or "",
        _words(template.title or template.name, _LONGEST_LINE) or "",
        _words(template.description, _LONGEST_DESCRIPTION),
        _words(template.mime_type, _LONGEST_LINE),
    )


def _prompt(prompt: mcp_types.Prompt) -> Prompt:
    arguments = tuple(
        PromptArgument(
            _words(one.name, _LONGEST_LINE) or "", _words(one.description, _LONGEST_LINE), bool(one.required)
        )
        for one in (prompt.arguments or ())[:_MOST_ARGUMENTS]
    )
    return Prompt(
        prompt.name, _words(prompt.title, _LONGEST_LINE), _words(prompt.description, _LONGEST_LINE), arguments
    )


def _words(text: str | None, most: int) -> str | None:
    """A stranger's text as it may be shown and sent to a model: nothing that cannot be seen, and not without end."""
    if text is None:
        return None
    plain = _HIDDEN.sub("", text).strip()
    return (plain if len(plain) <= most else f"{plain[: most - 1]}…") or None
