"""What we write is what clients of Roo Code's published types can read, but for what is listed here by name.

Roo's schemas *strip* fields they do not know and *reject* kinds they do not know: a message with our ``notebook`` arrives
without it, a message of our kind ``cell_executed`` does not arrive.
"""

from __future__ import annotations

import json
import re
import runpy
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, get_args

import pytest
from pydantic import JsonValue

from hdsp_agent import messages
from hdsp_agent.events import ROO_TOOLS
from hdsp_agent.wire import WireModel
from tests._helpers.parsed_json import ParsedJson, parsed
from tests.messages._helpers.vocabulary_samples import arms, both, full, node

ROOT = Path(__file__).parents[2]

# Roo Code's enum has them, its union does not, so a client that validates drops them. Ours has them.
EVENTS_ROO_FORGOT = {"taskUserMessage", "modeChanged", "providerProfileChanged"}

# What we add, spelled out once more: whoever adds to the vocabulary changes this file too, knowingly.
OUR_SAYS = {"cell_executed", "kernel_status", "notebook_conversation"}
OUR_CLINE_MESSAGE_FIELDS = {
    "answeredIn",
    "approvalFlags",
    "attachments",
    "commandRun",
    "denied",
    "ending",
    "failure",
    "feedback",
    "halt",
    "modelFailure",
    "noteSuggestion",
    "notebook",
    "recalled",
    "stoppedBy",
}
OUR_QUEUE_FIELDS = {"attachments"}
OUR_CONDENSE_FIELDS = {"kept", "dropped", "model", "way", "markId"}
OUR_TRUNCATION_FIELDS = {"cleared", "end", "markId"}
OUR_NESTED_FIELDS = {f"contextCondense.{field}" for field in OUR_CONDENSE_FIELDS} | {
    f"contextTruncation.{field}" for field in OUR_TRUNCATION_FIELDS
}
# A ``tool`` message about a notebook has a text that Roo Code's clients cannot show; the message itself they can read.
OUR_SAY_TOOLS = {
    "readNotebook",
    "editCells",
    "runCells",
    "runCode",
    "waitRun",
    "inspectVariables",
    "listKernels",
    "startKernel",
    "interruptKernel",
    "restartKernel",
    "createNotebook",
    "installPackages",
    "remember",
    "forget",
    "searchMemory",
    "readMemory",
    "listNotebooks",
    "listCheckpoints",
    "diffCheckpoint",
    "restoreCheckpoint",
    "undoRestore",
}
OUR_SAY_TOOL_FIELDS = {"canRun", "cellEdits", "cells", "kernel"}
OUR_HISTORY_FIELDS = {
    "approvalPreset",
    "externalAgent",
    "forkedFrom",
    "isFavorited",
    "memoryOff",
    "notebook",
    "pictures",
    "renames",
    "state",
    "title",
}
OUR_IPC_TYPES = {"Error"}
OUR_IPC_COMMANDS = {"AnswerAsk"}
# Names of tools as they are, beside payloads that hold only names Roo Code knows.
OUR_EVENT_FIELDS = {"tool", "tools"}
# Here several tasks may be at work, so a command may say which one it means.
OUR_COMMAND_FIELDS = {"taskId"}
# What menus of cells call a command.
OUR_SLASH_COMMAND_FIELDS = {"cellLabel"}
OUR_EXTENSION_TYPES = {
    "contextNotice",
    "kernelStatus",
    "messageCreated",
    "messageDelta",
    "messagesPage",
    "taskProgress",
    "conversationChanged",
    "conversationMarksUpdated",
    "conversationPreview",
    "profilesUpdated",
    "noticesUpdated",
    "secretsUpdated",
    "settingsUpdated",
    "taskHistoryItemsRemoved",
    "applyNotebookOperations",
    "readNotebook",
    "reloadNotebook",
    "changeOutputs",
    "notebookWork",
    "cellEditPreview",
    "openTasksUpdated",
    "ruleSuggestions",
    "proposal",
    "folderTrustUpdated",
    "memoryUpdated",
    "externalAgentsUpdated",
}
OUR_WEBVIEW_TYPES = {
    "dismissNotice",
    "errorDetails",
    "loadMessages",
    "rewindTask",
    "forkTask",
    "undoConversation",
    "redoConversation",
    "previewConversation",
    "openNotebooks",
    "notebookOperationsResult",
    "notebookPage",
    "cellReview",
    "fixCell",
    "editCell",
    "newConversation",
    "closeConversation",
    "renameTask",
    "favoriteTask",
    "rememberTask",
    "setTaskApprovals",
    "decideNoteSuggestion",
    "rateMessage",
    "retryAnswer",
    "suggestRules",
    "findEmbeddedConversation",
    "openEmbeddedConversation",
    "requestProposal",
    "findFile",
}
# Fields we add to messages of Roo Code's, because here several tasks may run and several tabs look on.
OUR_EXTENSION_FIELDS = {
    "messageUpdated": {"taskId"},
    "currentCheckpointUpdated": {"taskId"},
    "commandExecutionStatus": {"taskId"},
    "showDeleteMessageDialog": {"preview"},
    "showEditMessageDialog": {"attachments", "preview"},
}
OUR_WEBVIEW_FIELDS = {
    "newTask": {"approvalPreset", "attachments", "notebook"},
    "askResponse": {"attachments", "edited", "run"},
    "queueMessage": {"attachments"},
    "submitEditedMessage": {"attachments"},
    "editMessageConfirm": {"attachments"},
    "updateSettings": {"notebookApproval"},
    "toggleToolAlwaysAllow": {"fingerprint"},
}
# Roo Code brings back files and the conversation, here also cells and variables.
OUR_RESTORE_FIELDS = {"parts"}

EVENT_NAMES = [model.model_fields["event_name"].default for model in arms(messages.TaskEvent)]

TASK_ID = "0b8f9d0e-6f2c-4d7b-9d52-6a1f3c2b4e5d"


class Sample(NamedTuple):
    """Something we write, and what Roo's schema shall make of it."""

    name: str
    schema: str
    value: JsonValue
    accepted: bool = True
    stripped: frozenset[str] = frozenset()


class Verdict(NamedTuple):
    """What it makes of it."""

    sample: Sample
    accepted: bool
    stripped: frozenset[str]
    reason: str


def _messages() -> Iterator[Sample]:
    ours = frozenset(OUR_CLINE_MESSAGE_FIELDS | OUR_NESTED_FIELDS)
    kinds = [
        *(("ask", ask) for ask in get_args(messages.AnyAsk)),
        *(("say", say) for say in get_args(messages.AnySay)),
    ]
    unknown = OUR_SAYS | messages.LEGACY_ASKS | messages.LEGACY_SAYS
    for type_, kind in kinds:
        for variant, wire in both(messages.ClineMessage):
            value = {key: part for key, part in wire.items() if key not in ("ask", "say")} | {
                "type": type_,
                type_: kind,
            }
            stripped = ours if variant == "full" else frozenset()
            known = kind not in unknown
            yield Sample(f"{kind} {variant}", "clineMessageSchema", value, known, stripped if known else frozenset())


def _plain() -> Iterator[Sample]:
    schemas: dict[str, type[WireModel]] = {
        "historyItemSchema": messages.HistoryItem,
        "todoItemSchema": messages.TodoItem,
        "queuedMessageSchema": messages.QueuedMessage,
        "tokenUsageSchema": messages.TokenUsage,
        "contextCondenseSchema": messages.ContextCondense,
        "contextTruncationSchema": messages.ContextTruncation,
        "toolProgressStatusSchema": messages.ProgressStatus,
        "followUpDataSchema": messages.FollowUpData,
        "modelInfoSchema": messages.ModelInfo,
        "checkoutDiffPayloadSchema": messages.CheckpointDiffPayload,
        "checkoutRestorePayloadSchema": messages.CheckpointRestorePayload,
        "ackSchema": messages.IpcAckData,
    }
    ours = {
        messages.HistoryItem: OUR_HISTORY_FIELDS,
        messages.QueuedMessage: OUR_QUEUE_FIELDS,
        messages.CheckpointRestorePayload: OUR_RESTORE_FIELDS,
        messages.ContextCondense: OUR_CONDENSE_FIELDS,
        messages.ContextTruncation: OUR_TRUNCATION_FIELDS,
    }
    for schema, model in schemas.items():
        for variant, wire in both(model):
            stripped = ours.get(model, set()) if variant == "full" else set()
            yield Sample(f"{model.__name__} {variant}", schema, wire, stripped=frozenset(stripped))
    for schema, union in (("commandExecutionStatusSchema", messages.CommandExecutionStatus),):
        for model in arms(union):
            yield from (Sample(f"{model.__name__} {variant}", schema, wire) for variant, wire in both(model))
    yield Sample("tool usage", "toolUsageSchema", {"read_file": {"attempts": 2, "failures": 1}})
    yield Sample(
        "tool usage with a tool of ours", "toolUsageSchema", {"run_cell": {"attempts": 2, "failures": 1}}, False
    )


def _event(model: type[WireModel], wire: dict[str, JsonValue]) -> tuple[dict[str, JsonValue], frozenset[str]]:
    """An event whose parts are Roo's, so that the event itself is what is judged."""
    name = wire["eventName"]
    payload = parsed(wire.get("payload"))
    if name in ("taskCompleted", "taskTokenUsageUpdated"):
        payload[2] = {"read_file": {"attempts": 2, "failures": 1}}
    elif name == "taskToolFailed":
        payload[1] = "read_file"
    told = json.dumps(wire)
    at = "payload[][]" if name == "queuedMessagesUpdated" else "payload[].message"
    stripped = {f"{at}.{field}" for field in OUR_CLINE_MESSAGE_FIELDS if f'"{field}"' in told}
    if '"contextCondense"' in told:
        stripped |= {f"payload[].message.{field}" for field in OUR_NESTED_FIELDS}
    if "tools" in wire:
        wire["tools"] = {"run_cell": {"attempts": 2, "failures": 1}}
    stripped |= OUR_EVENT_FIELDS & set(wire)
    stripped |= {f"payload[][].{field}" for field in OUR_SLASH_COMMAND_FIELDS if f'"{field}"' in told}
    if model in (messages.EvalPass, messages.EvalFail):
        assert "payload" not in wire
    return wire, frozenset(stripped)


def _ipc() -> Iterator[Sample]:
    for model in arms(messages.TaskCommand):
        for variant, wire in both(model):
            if wire["commandName"] == "StartNewTask":
                parsed(wire)["data"]["configuration"] = {"mode": "code"}
            known = wire["commandName"] not in OUR_IPC_COMMANDS
            stripped = frozenset(OUR_COMMAND_FIELDS & set(wire) if known else ())
            yield Sample(f"{wire['commandName']} {variant}", "taskCommandSchema", wire, known, stripped)
            frame = messages.IpcTaskCommand.model_validate({"clientId": "a1b2", "data": wire}).to_wire()
            stripped = frozenset(f"data.{path}" for path in stripped)
            yield Sample(f"IPC {wire['commandName']} {variant}", "ipcMessageSchema", frame, known, stripped)
    for model in arms(messages.TaskEvent):
        for variant, raw in both(model):
            wire, stripped = _event(model, raw)
            known = wire["eventName"] not in EVENTS_ROO_FORGOT
            dropped = stripped if known else frozenset()
            yield Sample(f"{wire['eventName']} {variant}", "taskEventSchema", wire, known, dropped)
            frame = messages.IpcTaskEvent.model_validate({"relayClientId": "a1b2", "data": wire}).to_wire()
            dropped = frozenset(f"data.{path}" for path in dropped)
            yield Sample(f"IPC {wire['eventName']} {variant}", "ipcMessageSchema", frame, known, dropped)
    for variant, wire in both(messages.IpcAck):
        yield Sample(f"Ack {variant}", "ipcMessageSchema", wire)
    for variant, wire in both(messages.IpcError):
        yield Sample(f"Error {variant}", "ipcMessageSchema", wire, False)


SAMPLES = [*_messages(), *_plain(), *_ipc()]


@pytest.fixture(scope="module")
def roo() -> ParsedJson:
    """What the published package says, asked once for everything."""
    done = subprocess.run(
        [node(), str(Path(__file__).parent / "_helpers" / "roo_compat.mjs")],
        input=json.dumps([{"schema": sample.schema, "value": sample.value} for sample in SAMPLES]),
        capture_output=True,
        encoding="utf-8",
        check=False,
        cwd=ROOT,
        timeout=60,
    )
    assert done.returncode == 0, f"Roo Code's types could not be asked (is `jlpm install` done?):\n{done.stderr}"
    answer: ParsedJson = json.loads(done.stdout)
    return answer


@pytest.fixture(scope="module")
def declarations() -> str:
    """The interfaces of the package, which it has no schemas for."""
    return (ROOT / "node_modules/@roo-code/types/dist/index.d.ts").read_text(encoding="utf-8")


def test_roo_reads_all_we_write_but_what_is_listed_as_ours(roo: ParsedJson) -> None:
    surprises = []
    for sample, verdict in zip(SAMPLES, roo["verdicts"], strict=True):
        stripped = frozenset(verdict.get("stripped", ()))
        if verdict["accepted"] != sample.accepted or stripped != sample.stripped:
            surprises.append((sample.name, sample.schema, verdict))
    assert surprises == []


def test_every_kind_is_sampled() -> None:
    names = {sample.name.removesuffix(" full").removesuffix(" minimal") for sample in SAMPLES}
    assert {*get_args(messages.AnyAsk), *get_args(messages.AnySay)} <= names
    assert set(EVENT_NAMES) <= names
    assert {f"IPC {name}" for name in EVENT_NAMES} <= names
    assert len(SAMPLES) > 200


def test_asks_and_their_classes_are_roos(roo: ParsedJson) -> None:
    lists = roo["lists"]
    assert set(get_args(messages.ClineAsk)) == set(lists["asks"])
    for kind in get_args(messages.AskClass):
        assert {ask for ask in get_args(messages.ClineAsk) if messages.ask_class(ask) == kind} == set(lists[kind])


def test_says_are_roos_and_ours(roo: ParsedJson) -> None:
    assert set(get_args(messages.ClineSay)) - set(roo["lists"]["says"]) == OUR_SAYS == set(get_args(messages.OwnSay))
    assert set(roo["lists"]["says"]) == set(get_args(messages.RooSay)) <= set(get_args(messages.AnySay))


def test_events_commands_and_statuses_are_roos(roo: ParsedJson) -> None:
    lists = roo["lists"]
    assert set(EVENT_NAMES) == set(lists["events"])
    commands = {model.model_fields["command_name"].default for model in arms(messages.TaskCommand)}
    assert commands - set(lists["commands"]) == OUR_IPC_COMMANDS
    assert set(lists["commands"]) <= commands
    assert set(lists["tools"]) == ROO_TOOLS
    assert set(get_args(messages.TaskStatus)) == set(lists["statuses"])
    assert set(get_args(messages.IpcMessageType)) - set(lists["ipc"]) == OUR_IPC_TYPES


def test_what_the_protocol_page_marks_as_ours_is_complete() -> None:
    marked = runpy.run_path(str(ROOT / "scripts" / "generation" / "roo_additions.py"))
    assert marked["OWN_CLINE_MESSAGE_FIELDS"] == OUR_CLINE_MESSAGE_FIELDS
    assert marked["OWN_HISTORY_FIELDS"] == OUR_HISTORY_FIELDS
    assert marked["OWN_EXTENSION_TYPES"] == OUR_EXTENSION_TYPES
    assert marked["OWN_WEBVIEW_TYPES"] == OUR_WEBVIEW_TYPES
    assert marked["OWN_IPC_TYPES"] == OUR_IPC_TYPES
    assert set(get_args(messages.OwnSayTool)) == OUR_SAY_TOOLS


@pytest.mark.parametrize(
    ("interface", "union", "own_types", "own_fields"),
    [
        ("ExtensionMessage", messages.ExtensionMessage, OUR_EXTENSION_TYPES, OUR_EXTENSION_FIELDS),
        ("WebviewMessage", messages.WebviewMessage, OUR_WEBVIEW_TYPES, OUR_WEBVIEW_FIELDS),
    ],
)
def test_messages_and_their_fields_are_those_of_the_published_interface(
    declarations: str,
    interface: str,
    union: object,
    own_types: set[str],
    own_fields: dict[str, set[str]],
) -> None:
    body = _interface(declarations, interface)
    published_types = set(re.findall(r'"([^"]+)"', body.split(";", 1)[0]))
    published_fields = set(re.findall(r"^    (\w+)\??:", body, re.MULTILINE))
    types = {model.model_fields["type"].default: set(full(model)) for model in arms(union)}

    assert set(types) - published_types == own_types
    additions = {
        name: fields - published_fields
        for name, fields in types.items()
        if name not in own_types and fields - published_fields
    }
    assert additions == own_fields


def test_state_carries_roos_names_or_ours(declarations: str) -> None:
    body = declarations[declarations.index("type ExtensionState = ") :]
    body = body[: body.index("\n};\n")]
    published = set(re.findall(r"^    (\w+)\??:", body, re.MULTILINE)) | set(re.findall(r'"(\w+)"', body))
    fields = {info.alias for info in messages.ExtensionState.model_fields.values()}
    assert fields - published == {
        "autoAnswer",
        "canRestoreFiles",
        "canStartTasks",
        "currentCheckpoint",
        "currentTaskMarks",
        "currentTaskStatus",
        "fixed",
        "hasOlderMessages",
        "modelRoom",
        "notebookRoot",
        "notices",
        "openTasks",
        "runningCommands",
        "secretStatus",
        "settings",
        "tokenUsage",
    }


@pytest.mark.parametrize(
    ("interface", "model"),
    [
        ("ClineSayTool", messages.ClineSayTool),
        ("ClineApiReqInfo", messages.ClineApiReqInfo),
        ("ClineAskUseMcpServer", messages.ClineAskUseMcpServer),
        ("GitCommit", messages.GitCommit),
        ("Command", messages.Command),
    ],
)
def test_objects_without_a_schema_have_the_fields_of_the_published_interface(
    declarations: str, interface: str, model: type[WireModel]
) -> None:
    body = _interface(declarations, interface)
    ours = {
        "ClineSayTool": OUR_SAY_TOOL_FIELDS,
        "ClineAskUseMcpServer": {"fingerprint"},
        "Command": OUR_SLASH_COMMAND_FIELDS,
    }.get(interface, set())
    assert {info.alias or name for name, info in model.model_fields.items()} - ours == set(
        re.findall(r"^    (\w+)\??:", body, re.MULTILINE)
    )


def test_the_tools_of_a_tool_message_are_roos(declarations: str) -> None:
    body = _interface(declarations, "ClineSayTool")
    assert set(get_args(messages.SayToolName)) == set(re.findall(r'"([^"]+)"', body.split(";", 1)[0]))


def _interface(declarations: str, name: str) -> str:
    start = declarations.index(f"\ninterface {name} {{")
    return declarations[start : declarations.index("\n}\n", start)]
