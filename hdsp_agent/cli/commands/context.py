"""``hdsp-agent context``: what the model sees of a task."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Final

from .._amounts import count_text
from .._audit_log import record_access
from .._columns import cut, one_line, table
from .._command import CliCommand, ExitCode
from .._stores import find_task, store_to_read

if TYPE_CHECKING:
    from ...agent import SeenRequest
    from ...messages import ApiMessage, JsonObject
    from ...persistence import TaskReader, TaskStore
    from .._terminal import Terminal

__all__ = ["COMMAND"]

_LINE: Final = 100
_KINDS: Final = {
    "summaries": "Summaries",
    "words": "Your messages and context",
    "answers": "Answers and tool calls",
    "outputs": "Tool outputs",
    "pictures": "Pictures",
}


def _arguments(parser: ArgumentParser) -> None:
    parser.add_argument("action", choices=("show",), help="show: the next request, with the tokens of each part")
    parser.add_argument("task", metavar="TASK", help="the task's id, or its first 8 characters or more")
    parser.add_argument("--full", action="store_true", help="print whole messages, not only their beginning")


async def _run(terminal: Terminal, options: Namespace) -> ExitCode:
    async with store_to_read(terminal.home, terminal.backend) as store:
        reader = await find_task(store, options.task)
        record_access(terminal, "read", "context", reader.task_id)
        seen = await _seen(terminal, store, reader)
    if terminal.json:
        terminal.document(_document(reader, seen))
    else:
        _show(terminal, seen, full=options.full)
    return ExitCode.OK


async def _seen(terminal: Terminal, store: TaskStore, reader: TaskReader) -> SeenRequest:
    from pathlib import Path

    from ...agent import build_agent, seen_by_model
    from ...config import ContextProxy, SecretStore
    from ...tools import ToolRegistry, built_in_tools
    from .._operator_policy import operator_policy

    policy = operator_policy()
    config = ContextProxy(terminal.home, policy, SecretStore(terminal.home, policy))
    await config.start()
    try:
        workspace = Path(reader.metadata.workspace or ".")
        services = build_agent(config, store, workspace=workspace).services
        # As in a server, where notebooks can be worked with.
        tools = ToolRegistry(built_in_tools(notebooks=True))
        return await seen_by_model(replace(services, tools=tools), reader)
    finally:
        await config.stop()


def _document(reader: TaskReader, seen: SeenRequest) -> JsonObject:
    request, parts = seen.request, seen.parts
    return {
        "task": reader.task_id,
        "mode": seen.mode,
        "profile": seen.profile,
        "model": seen.model.id,
        "contextWindow": seen.model.context_window,
        "isShortened": seen.is_shortened,
        "tokens": {
            "system": parts.system,
            "tools": parts.tools,
            "messages": parts.messages,
            "total": parts.total,
            **asdict(seen.kinds),
            "eachMessage": list(seen.sizes),
        },
        "request": {
            "system": request.system,
            "tools": [
                {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
                for tool in request.tools
            ],
            "messages": [_sent(message) for message in request.messages],
        },
    }


def _show(terminal: Terminal, seen: SeenRequest, *, full: bool) -> None:
    request, parts = seen.request, seen.parts
    window = seen.model.context_window
    whole = f" of {count_text(window)}" if window else ""
    kinds = [(_KINDS[name], tokens) for name, tokens in asdict(seen.kinds).items()]
    rows = [
        ("System prompt", count_text(parts.system)),
        (f"Tools ({len(request.tools)})", count_text(parts.tools)),
        (f"Messages ({len(request.messages)})", count_text(parts.messages)),
        *((f"  {name}", count_text(tokens)) for name, tokens in kinds if tokens),
        ("Total", f"{count_text(parts.total)}{whole}"),
    ]
    terminal.lines(table(("PART", "TOKENS"), rows))
    model = seen.model.id or "unknown"
    terminal.note(f"Estimated, for the model {model} of the profile {seen.profile} in the mode {seen.mode}.")
    if seen.room.condense_at is not None:
        terminal.note(f"At {count_text(seen.room.condense_at)} tokens the conversation is condensed.")
    if seen.is_shortened:
        terminal.note("This model is small, so it gets a shorter version with its own tools.")
    terminal.line()
    if full:
        terminal.line(terminal.paint("system", "cyan"))
        terminal.lines(f"    {line}".rstrip() for line in request.system.splitlines())
        for tool in request.tools:
            terminal.line(terminal.paint(f"tool {tool.name}", "cyan"))
            terminal.lines(f"    {line}".rstrip() for line in tool.description.splitlines())
    for number, (message, size) in enumerate(zip(request.messages, seen.sizes, strict=True), 1):
        cached = ", cached up to here" if number - 1 in (seen.marks or ()) else ""
        head = f"[{number}] {message.role}, {count_text(size)} tokens{cached}"
        if full:
            terminal.line(terminal.paint(head, "cyan"))
            terminal.lines(f"    {line}".rstrip() for line in _text(message).splitlines())
        else:
            terminal.line(cut(f"{head}: {one_line(_text(message))}", terminal.width or _LINE))


def _sent(message: ApiMessage) -> JsonObject:
    content = message.content
    return {"role": message.role, "content": content if isinstance(content, str) else [*content]}


def _text(message: ApiMessage) -> str:
    content = message.content
    return content if isinstance(content, str) else "\n".join(map(_block_text, content))


def _block_text(block: JsonObject) -> str:
    import json

    match block.get("type"):
        case "text":
            return str(block.get("text", ""))
        case "tool_use":
            return f"calls {block.get('name')} {json.dumps(block.get('input'), ensure_ascii=False)}"
        case "tool_result":
            content = block.get("content")
            if not isinstance(content, list):
                return str(content)
            return "\n".join(_block_text(part) for part in content if isinstance(part, dict))
        case kind:
            return f"[{kind}]"


COMMAND = CliCommand(
    help="show what the model sees of a task",
    arguments=_arguments,
    run=_run,
    details="With --json, it prints the whole request as one document.",
)
