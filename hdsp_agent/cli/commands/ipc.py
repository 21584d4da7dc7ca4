"""``hdsp-agent ipc``: talk to a running server through its socket for programs outside."""

from __future__ import annotations

import argparse
import asyncio
import json
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Final

from .._columns import table
from .._command import CliCommand, ExitCode, UsageError

if TYPE_CHECKING:
    from pydantic import JsonValue

    from ...ipc import IpcServerInfo
    from ...messages import TaskCommand, TaskEvent
    from .._terminal import Terminal

__all__ = ["COMMAND"]

_WITHOUT_DATA: Final = ("CancelTask", "CloseTask", "GetCommands", "GetModes", "GetModels")
_WITH_TEXT: Final = ("StartNewTask", "SendMessage")
_WITH_ID: Final = ("ResumeTask", "DeleteQueuedMessage")
_ANSWER: Final = "AnswerAsk"
_WITHOUT_TASK: Final = ("StartNewTask", "ResumeTask", "GetCommands", "GetModes", "GetModels")
_BUTTONS: Final = {"yes": "yesButtonClicked", "no": "noButtonClicked"}
_NEEDED: Final = {
    "StartNewTask": "a text or a JSON object",
    "SendMessage": "a text or a JSON object",
    "AnswerAsk": "the question's number from watch, then yes, no or your answer, or a JSON object",
}
_DONE: Final = {
    "StartNewTask": "Started.",
    "SendMessage": "Sent. The agent reads it as soon as it can. To approve a request, use AnswerAsk.",
    "AnswerAsk": "Answered.",
    "DeleteQueuedMessage": "Removed from the queue.",
    "CancelTask": "Stopped. The task asks whether to continue.",
    "CloseTask": "Paused. Use ResumeTask to continue it.",
    "ResumeTask": "Taken up.",
}
_LONGEST_LINE: Final = 200


def _arguments(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    _action(actions.add_parser("list", help="list running servers", allow_abbrev=False))
    send = actions.add_parser("send", help="send a command, and print the answer", allow_abbrev=False)
    names = (*_WITH_TEXT, *_WITH_ID, _ANSWER, *_WITHOUT_DATA)
    send.add_argument("name", metavar="COMMAND", choices=names, help="%(choices)s")
    send.add_argument("data", metavar="DATA", nargs="?", help="a text, an id or a JSON object; for AnswerAsk the "
                      "question's number from watch, then yes, no or your answer: '1795276642390 yes'")  # fmt: skip
    send.add_argument("--task", metavar="ID", help="the task, if several are active")
    watch = actions.add_parser("watch", help="print task events until interrupted", allow_abbrev=False)
    for parser_of_one in (send, watch):
        _action(parser_of_one)
        parser_of_one.add_argument("--server", metavar="NAME", help="the server's name from list, or the socket's path")


def _action(parser: ArgumentParser) -> None:
    # What may stand after `ipc` may stand after `ipc watch` too.
    for option, meaning in (("--json", "print JSON"), ("--quiet", "no notes, no warnings")):
        parser.add_argument(option, action="store_true", default=argparse.SUPPRESS, help=meaning)


async def _run(terminal: Terminal, options: Namespace) -> ExitCode:
    match options.action:
        case "list":
            return await _list(terminal)
        case "send":
            return await _send(terminal, options)
        case _:
            return await _watch(terminal, options)


async def _list(terminal: Terminal) -> ExitCode:
    found = await _servers(terminal)
    if terminal.json:
        terminal.document(
            {"servers": [{"name": server.name, "pid": server.pid, "path": server.address} for server in found]}
        )
    elif found:
        rows = [(server.name, str(server.pid), server.address) for server in found]
        terminal.lines(table(("SERVER", "PROCESS", "SOCKET"), rows, right=frozenset({1})))
    else:
        terminal.note(_none(terminal))
    return ExitCode.OK


async def _send(terminal: Terminal, options: Namespace) -> ExitCode:
    from ...ipc import IpcClient

    command = _command(options.name, options.data, options.task)
    async with IpcClient.connect(await _address(terminal, options.server)) as client:
        event = await client.send(command)
        task = client.task_id
    if terminal.json:
        terminal.document({"ok": True, "event": None if event is None else event.to_wire(), "taskId": task})
    elif event is None:
        terminal.line(_DONE.get(options.name, "Done.") + (f" Task: {task}" if task else ""))
    else:
        _show_answer(terminal, event)
    return ExitCode.OK


def _show_answer(terminal: Terminal, event: TaskEvent) -> None:
    payload = event.to_wire().get("payload")
    # An event's parts are a list; an answer has one.
    said = payload[0] if isinstance(payload, list) and payload else payload
    if said:
        terminal.document(said)
    else:
        terminal.note("No server is running.")


async def _watch(terminal: Terminal, options: Namespace) -> ExitCode:
    from ...ipc import IpcClient

    async with IpcClient.connect(await _address(terminal, options.server)) as client:
        terminal.note(f"Watching the server of process {client.server_pid}. Press Ctrl+C to stop.")
        async for event in client.events():
            if terminal.json:
                terminal.record(event.to_wire())
            else:
                terminal.line(_line(terminal, event))
            # Whoever reads wants to see it when it happens.
            terminal.flush()
    terminal.note("The server has stopped.")
    return ExitCode.OK


def _line(terminal: Terminal, event: TaskEvent) -> str:
    """An event in one line: which task, what happened, and what it is about."""
    from ...events import task_id_of
    from ...messages import MessageEvent, TaskCompleted, TaskTokenUsageUpdated

    if isinstance(event, MessageEvent):
        change = event.payload[0]
        message = change.message
        kind = f"ask {message.ts} {message.ask}" if message.type == "ask" else f"say {message.say}"
        about = f"{change.action} {kind}: {message.text or ''}"
    elif isinstance(event, TaskCompleted | TaskTokenUsageUpdated):
        used = event.payload[1]
        about = f"{used.total_tokens_in} tokens in, {used.total_tokens_out} out, ${used.total_cost:.4f}"
    else:
        payload = event.to_wire().get("payload")
        parts = payload if isinstance(payload, list) else []
        about = " ".join(_short(part) for part in (parts[1:] if task_id_of(event) else parts))
    about = " ".join(about.split())
    if len(about) > _LONGEST_LINE:
        about = f"{about[:_LONGEST_LINE]}…"
    return f"{terminal.paint(task_id_of(event) or '-', 'dim')}  {event.event_name:<24}{about}".rstrip()


def _short(part: JsonValue) -> str:
    return part if isinstance(part, str) else json.dumps(part, ensure_ascii=False)


async def _servers(terminal: Terminal) -> list[IpcServerInfo]:
    from ...ipc import FOLDER, find_servers

    return await asyncio.to_thread(find_servers, terminal.home / FOLDER)


async def _address(terminal: Terminal, wanted: str | None) -> str:
    """The socket of the server that is meant: the only one, if none is named."""
    from ...errors import NotFound

    if wanted is not None and ("/" in wanted or "\\" in wanted):
        return wanted
    found = await _servers(terminal)
    if wanted is not None:
        found = [server for server in found if wanted in (server.name, str(server.pid))]
        if not found:
            raise NotFound(f"No server {wanted} answers. To list servers, run hdsp-agent ipc list.")
    if not found:
        raise NotFound(_none(terminal))
    if len(found) > 1:
        names = ", ".join(server.name for server in found)
        raise UsageError(f"Several servers run: {names}. Choose one with --server NAME.", field="server")
    return found[0].address


def _none(terminal: Terminal) -> str:
    return (
        f"No server of the storage folder {terminal.home} answers. Start one, or use --home to choose another folder."
    )


def _command(name: str, text: str | None, task: str | None) -> TaskCommand:
    from pydantic import TypeAdapter, ValidationError

    from ...messages import TaskCommand

    wire: dict[str, JsonValue] = {"commandName": name}
    if name in _WITHOUT_DATA:
        if text is not None:
            raise UsageError(f"{name} takes no data.", field="data")
    else:
        wire["data"] = _data(name, text)
    if task is not None:
        if name in _WITHOUT_TASK:
            raise UsageError(f"{name} does not apply to an active task, so it takes no --task.", field="task")
        wire["taskId"] = task
    adapter: TypeAdapter[TaskCommand] = TypeAdapter(TaskCommand)
    try:
        return adapter.validate_python(wire)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False, include_context=False)[0]
        # The path begins with the union's tag, which the person has just typed.
        where = ".".join(str(part) for part in problem["loc"][1:])
        raise UsageError(f"{name}: {where}: {problem['msg']}.", field=where) from None


def _data(name: str, text: str | None) -> JsonValue:
    if text is None:
        raise UsageError(f"{name} needs data: {_NEEDED.get(name, 'an id')}.", field="data")
    given: JsonValue = text
    if text.lstrip().startswith(("{", '"')):
        try:
            given = json.loads(text)
        except ValueError as error:
            raise UsageError(f"The data of {name} is not JSON: {error}.", field="data") from None
    if name in _WITH_TEXT and isinstance(given, str):
        given = {"text": given}
    if name == _ANSWER and isinstance(given, str):
        given = _answer(given)
    if name == "StartNewTask" and isinstance(given, dict):
        given = {"configuration": {}, **given}
    return given


def _answer(given: str) -> JsonValue:
    ts, _, words = given.strip().partition(" ")
    if not ts.isdecimal() or not words.strip():
        raise UsageError(f"{_ANSWER} needs data: {_NEEDED[_ANSWER]}.", field="data")
    button = _BUTTONS.get(words.strip().lower())
    if button is not None:
        return {"messageTs": int(ts), "askResponse": button}
    return {"messageTs": int(ts), "askResponse": "messageResponse", "text": words.strip()}


COMMAND: Final = CliCommand(
    help="control a running server: watch, start and stop tasks",
    run=_run,
    arguments=_arguments,
    details="hdsp-agent ipc list | send COMMAND [DATA] | watch. Commands are Roo Code's: StartNewTask, SendMessage,\n"
    "ResumeTask, CancelTask, CloseTask, DeleteQueuedMessage, GetCommands, GetModes, GetModels; AnswerAsk is ours.\n"
    "Use --task if several tasks are active. Only you can open the sockets.",
)
