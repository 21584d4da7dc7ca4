"""Changing what was said, from the page: over a real WebSocket, on the real server, for all tabs alike."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest
from jupyter_server.serverapp import ServerApp

from hdsp_agent.checkpoints import AsyncFileCheckpoints
from hdsp_agent.comm.identity import server_owner
from hdsp_agent.comm.services import Services
from hdsp_agent.persistence import NewTaskRecord
from tests.comm._helpers.scripted_pages import Turn, asked, conversation, question, said, speak
from tests.comm.channel._helpers.channel_panel import Frame, Panel
from tests.comm.conftest import Connect, messages
from tests.comm.test_running_agent import another_server

from .._helpers.timing import until

ME = server_owner()


def asks(question: str) -> Turn:
    """The model asks the person something."""
    arguments = {"question": question, "follow_up": [{"text": "This one"}]}
    return ({"tool": "ask_followup_question", "arguments": arguments, "id": question},)


QUESTION: Turn = asks("Which?")
WRITE: Turn = (
    {"tool": "write_to_file", "arguments": {"path": "note.txt", "content": "once\n"}, "id": "w"},
)  # fmt: skip
DONE: Turn = ({"text": "Now I am done."}, {"tool": "attempt_completion", "arguments": {"result": "It is written."}})


async def talk(panel: Panel) -> tuple[str, int]:
    """A task in which the person answered a question and let a file be written; its id, and when they answered."""
    task = (await panel.ask("newTask", text="Write a note"))["result"]
    ts = await question(panel, "followup")
    assert (await panel.ask("askResponse", messageTs=ts, askResponse="messageResponse", text="the blue one"))["ok"]
    ts = await question(panel, "tool")
    assert (await panel.ask("askResponse", messageTs=ts, askResponse="yesButtonClicked"))["ok"]
    await question(panel, "completion_result")
    [spoken] = [ts for ts, message in conversation(panel).items() if message.get("say") == "user_feedback"]
    return task, spoken


def kept(panel: Panel) -> list[int]:
    """The messages on screen, but for the question whether to go on."""
    return [
        ts for ts, message in sorted(conversation(panel).items()) if not str(message.get("ask")).startswith("resume")
    ]


def marks(panel: Panel) -> dict[str, dict[str, object]]:
    """What the page knows it can undo and redo."""
    known: dict[str, dict[str, object]] = {}
    for frame in panel.of("msg"):
        data = frame["data"]
        if data["type"] == "state":
            known = data["state"].get("currentTaskMarks", {})
        elif data["type"] in ("conversationChanged", "conversationMarksUpdated"):
            known = data["marks"]
    return known


def _is_answered(panel: Panel, ts: int) -> bool:
    return not any(message["ts"] == ts for message in asked(panel, "followup"))


def refused(ack: Frame) -> str:
    """The code of an error that says what happened in a sentence."""
    assert not ack["ok"]
    assert ack["error"]["message"].endswith(".")
    return str(ack["error"]["code"])


async def test_a_rewind_takes_messages_off_all_tabs_and_an_undo_brings_them_back(
    services: Services, connect: Connect, tmp_path: Path, jp_root_dir: Path
) -> None:
    await speak(services, tmp_path, QUESTION, WRITE, DONE)
    async with connect() as panel, connect() as other:
        _, ts = await talk(panel)
        await question(other, "completion_result")
        whole, states = kept(panel), len(messages(panel, "state"))
        assert marks(panel) == {}
        assert (await panel.ask("rewindTask", messageTs=ts, keep=True))["ok"]
        await question(other, "resume_task")
        for page in (panel, other):
            await page.until(partial(lambda shown: kept(shown)[-1] == ts, page))
            assert marks(page)["undoable"]["kind"] == "rewind"
            assert marks(page)["undoable"]["messageTs"] == ts
            assert "redoable" not in marks(page)
        assert (jp_root_dir / "note.txt").exists()

        assert (await other.ask("undoConversation", markId=marks(other)["undoable"]["id"]))["ok"]
        for page in (panel, other):
            await page.until(partial(lambda shown: kept(shown) == whole, page))
            assert "undoable" not in marks(page)
            assert marks(page)["redoable"]["kind"] == "rewind"
        async with connect() as late:
            assert (kept(late), marks(late)) == (whole, marks(panel))

        assert (await panel.ask("redoConversation"))["ok"]
        await other.until(lambda: kept(other)[-1] == ts)
        # Nobody began anew: what changed was told, not all there is.
        assert len(messages(panel, "state")) == states


async def test_what_can_be_undone_is_known_after_the_server_was_started_again(
    services: Services, jp_serverapp: ServerApp, connect: Connect, tmp_path: Path
) -> None:
    await speak(services, tmp_path, QUESTION, WRITE, DONE)
    async with connect() as panel:
        task, ts = await talk(panel)
        whole = kept(panel)
        assert (await panel.ask("deleteMessageConfirm", messageTs=ts))["ok"]
        await question(panel, "resume_task")
        mark = marks(panel)["undoable"]
    async with another_server(jp_serverapp), connect() as panel:
        assert (await panel.ask("showTaskWithId", taskId=task))["ok"]
        assert marks(panel) == {"undoable": mark}
        assert (await panel.ask("undoConversation"))["ok"]
        await panel.until(lambda: kept(panel) == whole)


async def test_a_change_costs_what_changed_however_long_the_conversation(
    services: Services, connect: Connect, tmp_path: Path
) -> None:
    await speak(services, tmp_path, *[asks(f"Question {number}?") for number in range(40)], DONE)
    async with connect() as panel:
        await panel.ask("newTask", text="Ask me")
        for number in range(40):
            ts = await question(panel, "followup")
            await panel.ask("askResponse", messageTs=ts, askResponse="messageResponse", text=f"{number} " + "x" * 2000)
            await panel.until(partial(_is_answered, panel, ts))
        await question(panel, "completion_result")
        answers = [ts for ts, message in sorted(conversation(panel).items()) if message.get("say") == "user_feedback"]
        states = len(messages(panel, "state"))
        assert (await panel.ask("rewindTask", messageTs=answers[-2], keep=True))["ok"]
        await question(panel, "resume_task")
        [changed] = messages(panel, "conversationChanged")
        assert len(json.dumps(changed)) < 600
        assert len(messages(panel, "state")) == states

        # A tab that began later has only the newest page, of which nothing is left: it begins anew.
        async with connect() as late:
            assert messages(late, "state")[-1]["state"]["hasOlderMessages"]
            assert (await panel.ask("rewindTask", messageTs=answers[0], keep=True))["ok"]
            await late.until(lambda: kept(late)[-1] == answers[0])
            assert kept(late) == kept(panel)
            assert not messages(late, "state")[-1]["state"]["hasOlderMessages"]
            # More comes back than one page: all begin anew with the newest.
            assert (await panel.ask("undoConversation"))["ok"]
            await late.until(lambda: kept(late)[-1] == answers[-2])
            assert messages(late, "state")[-1]["state"]["hasOlderMessages"]


async def test_a_truncation_can_be_undone_from_the_page(services: Services, connect: Connect, tmp_path: Path) -> None:
    await speak(services, tmp_path, *[asks(f"Question {number}?") for number in range(4)])
    async with connect() as panel:
        task = (await panel.ask("newTask", text="Ask me"))["result"]
        for number in range(3):
            ts = await question(panel, "followup")
            await panel.ask("askResponse", messageTs=ts, askResponse="messageResponse", text=f"{number}")
            await panel.until(partial(_is_answered, panel, ts))
        waiting = await question(panel, "followup")
        talk_of_task = (await services.agent.manager()).tasks.get(task).state.conversation
        sent = len(await talk_of_task.history.api_history())
        mark = await talk_of_task.history.truncate(truncation_id="t", event_ts=talk_of_task.log.next_ts())
        assert mark is not None
        talk_of_task.history_changed()
        assert len(await talk_of_task.history.api_history()) < sent
        await panel.until(lambda: messages(panel, "conversationMarksUpdated"))
        assert (marks(panel)["undoable"]["id"], marks(panel)["undoable"]["kind"]) == (mark.id, "truncate")
        assert (await panel.ask("undoConversation", markId=mark.id))["ok"]
        await panel.until(lambda: marks(panel).get("redoable", {}).get("kind") == "truncate")
        history = (await services.agent.manager()).tasks.get(task).state.conversation.history
        assert len(await history.api_history()) == sent
        assert await question(panel, "followup") == waiting


async def test_a_dialog_says_what_would_be_taken_back(services: Services, connect: Connect, tmp_path: Path) -> None:
    await speak(services, tmp_path, QUESTION, WRITE, DONE, DONE)
    async with connect() as panel, connect() as other:
        task, ts = await talk(panel)
        assert (await panel.ask("deleteMessage", value=ts))["ok"]
        preview = messages(panel, "showDeleteMessageDialog")[-1]["preview"]
        # What the person said, what the agent said, and the result; calls and requests are no messages to anybody.
        assert (preview["removed"], preview["canBeUndone"]) == (3, True)
        assert preview["effects"] == [{"kind": "file", "name": "note.txt", "count": 1}]
        assert (await panel.ask("submitEditedMessage", value=ts, editedMessageContent="the red one"))["ok"]
        dialog = messages(panel, "showEditMessageDialog")[-1]
        assert (dialog["text"], dialog["preview"]["operation"]) == ("the red one", "edit")
        ack = await panel.ask(
            "previewConversation", taskId=task, change={"operation": "rewind", "messageTs": ts, "keep": True}
        )
        assert ack["ok"]
        answer = messages(panel, "conversationPreview")[-1]
        assert (answer["requestId"], answer["preview"]["removed"]) == (ack["requestId"], 2)
        assert messages(other, "conversationPreview") == messages(other, "showDeleteMessageDialog") == []

        assert (await panel.ask("editMessageConfirm", messageTs=ts, text="the red one"))["ok"]
        await other.until(lambda: said(other, "user_feedback") == ["the red one"] and asked(other, "completion_result"))
        ack = await panel.ask("previewConversation", change={"operation": "undo"})
        assert messages(panel, "conversationPreview")[-1]["preview"]["goneOn"]
        assert refused(await panel.ask("undoConversation")) == "conflict"
        assert (await panel.ask("undoConversation", newer="set_aside"))["ok"]
        await other.until(lambda: said(other, "user_feedback") == ["the blue one"])


async def test_a_fork_is_shown_listed_and_goes_on_by_itself(
    services: Services, connect: Connect, tmp_path: Path
) -> None:
    await speak(services, tmp_path, QUESTION, WRITE, DONE, DONE)
    async with connect() as panel, connect() as other:
        task, ts = await talk(panel)
        fork = (await panel.ask("forkTask", messageTs=ts))["result"]
        assert fork != task
        ask = await question(other, "resume_task")
        state = messages(other, "state")[-1]["state"]
        assert (state["currentTaskId"], state["currentTaskItem"]["forkedFrom"]) == (fork, task)
        assert said(other, "user_feedback") == ["the blue one"]
        items = [message["taskHistoryItem"] for message in messages(other, "taskHistoryItemUpdated")]
        assert any((item["id"], item.get("forkedFrom")) == (fork, task) for item in items)
        assert task in (await panel.ask("deleteTaskWithId", taskId=task))["result"]
        assert (await other.ask("askResponse", messageTs=ask, askResponse="yesButtonClicked"))["ok"]
        await question(panel, "completion_result")
        # The history is told behind the conversation.
        await until(lambda: _is_completed(services, fork))


async def _is_completed(services: Services, task: str) -> bool:
    return (await services.history.item(ME, task)).status == "completed"


async def test_files_go_back_with_the_conversation_and_come_again_with_an_undo(
    services: Services, connect: Connect, tmp_path: Path, jp_root_dir: Path
) -> None:
    note, own = jp_root_dir / "note.txt", jp_root_dir / "mine.txt"
    note.write_text("before\n")
    own.write_text("mine\n")
    await speak(services, tmp_path, QUESTION, WRITE, DONE)
    async with connect() as panel:
        _, ts = await talk(panel)
        assert messages(panel, "state")[-1]["state"]["canRestoreFiles"]
        assert note.read_text() == "once\n"
        own.write_text("mine, changed since\n")
        change = {"operation": "rewind", "messageTs": ts, "keep": True}
        assert (await panel.ask("previewConversation", change=change, restoreFiles=True))["ok"]
        files = messages(panel, "conversationPreview")[-1]["preview"]["files"]
        assert files["changes"] == [{"path": "note.txt", "action": "overwrite"}]
        assert (files["kept"], files["openNotebooks"]) == (["mine.txt"], [])
        assert note.read_text() == "once\n", "a look changes nothing"
        assert (await panel.ask("rewindTask", messageTs=ts, keep=True, restoreFiles=True))["ok"]
        assert (note.read_text(), own.read_text()) == ("before\n", "mine, changed since\n")
        assert (await panel.ask("previewConversation", change={"operation": "undo"}))["ok"]
        files = messages(panel, "conversationPreview")[-1]["preview"]["files"]
        assert files["changes"] == [{"path": "note.txt", "action": "overwrite"}]
        assert note.read_text() == "before\n", "a look changes nothing"
        assert (await panel.ask("undoConversation"))["ok"]
        assert (note.read_text(), own.read_text()) == ("once\n", "mine, changed since\n")
        assert (await panel.ask("redoConversation"))["ok"]
        assert note.read_text() == "before\n"


async def test_a_conversation_comes_back_though_its_files_are_not_kept_any_more(
    services: Services, connect: Connect, tmp_path: Path, jp_root_dir: Path
) -> None:
    await speak(services, tmp_path, QUESTION, WRITE, DONE)
    async with connect() as panel:
        _, ts = await talk(panel)
        whole = kept(panel)
        assert (await panel.ask("rewindTask", messageTs=ts, keep=True, restoreFiles=True))["ok"]
        files = AsyncFileCheckpoints(jp_root_dir, services.config.home / "checkpoints")
        await files.undo()
        await files.close()
        assert (jp_root_dir / "note.txt").exists()
        assert (await panel.ask("undoConversation"))["ok"]
        await panel.until(lambda: kept(panel) == whole)
        assert (jp_root_dir / "note.txt").exists()


@pytest.mark.parametrize(
    ("request_", "restored"),
    [
        ({"type_": "deleteMessageConfirm", "restoreCheckpoint": True}, True),
        ({"type_": "editMessageConfirm", "text": "the red one", "restoreCheckpoint": True}, True),
        ({"type_": "deleteMessageConfirm"}, False),
        ({"type_": "rewindTask", "keep": True}, False),
    ],
    ids=lambda value: str(value.get("type_")) if isinstance(value, dict) else None,
)
async def test_files_go_along_only_if_asked_for(
    request_: dict[str, object],
    restored: bool,
    services: Services,
    connect: Connect,
    tmp_path: Path,
    jp_root_dir: Path,
) -> None:
    await speak(services, tmp_path, QUESTION, WRITE, DONE, DONE)
    async with connect() as panel:
        _, ts = await talk(panel)
        assert (await panel.ask(messageTs=ts, **request_))["ok"]  # type: ignore[arg-type]
        assert (jp_root_dir / "note.txt").exists() is not restored


async def test_without_checkpoints_going_back_with_files_is_refused_before_anything_changes(
    services: Services, connect: Connect, tmp_path: Path, jp_root_dir: Path
) -> None:
    await services.config.update({"enableCheckpoints": False})
    await speak(services, tmp_path, QUESTION, WRITE, DONE)
    async with connect() as panel:
        _, ts = await talk(panel)
        whole = kept(panel)
        assert not messages(panel, "state")[-1]["state"]["canRestoreFiles"]
        ack = await panel.ask("rewindTask", messageTs=ts, keep=True, restoreFiles=True)
        assert refused(ack) == "unsupported"
        assert kept(panel) == whole and (jp_root_dir / "note.txt").exists()


async def test_a_tool_that_was_denied_saves_nothing(
    services: Services, connect: Connect, tmp_path: Path, jp_root_dir: Path
) -> None:
    await speak(services, tmp_path, WRITE, DONE)
    async with connect() as panel:
        await panel.ask("newTask", text="Write a note")
        ts = await question(panel, "tool")
        assert (await panel.ask("askResponse", messageTs=ts, askResponse="noButtonClicked"))["ok"]
        await question(panel, "completion_result")
    assert not (services.config.home / "checkpoints").exists()


async def test_what_cannot_be_done_is_said_and_a_task_that_works_goes_on(
    services: Services, connect: Connect, tmp_path: Path
) -> None:
    await speak(services, tmp_path, [{"text": "I begin. "}, {"wait": 600}])
    async with connect() as panel:
        task = (await panel.ask("newTask", text="Begin"))["result"]
        await panel.until(lambda: len(said(panel, "text")) == 2)
        first, newest = min(conversation(panel)), max(conversation(panel))
        assert refused(await panel.ask("rewindTask", messageTs=12345, keep=True)) == "not_found"
        assert refused(await panel.ask("rewindTask", messageTs=first, keep=False)) == "invalid_input"
        assert refused(await panel.ask("deleteMessage", value=first)) == "invalid_input"
        assert refused(await panel.ask("deleteMessageConfirm", messageTs=12345)) == "not_found"
        assert refused(await panel.ask("undoConversation")) == "not_found"
        assert refused(await panel.ask("redoConversation")) == "not_found"
        assert refused(await panel.ask("undoConversation", markId="nothing")) == "not_found"
        assert refused(await panel.ask("forkTask", messageTs=12345)) == "not_found"
        assert refused(await panel.ask("forkTask", taskId="nobody", messageTs=first)) == "unknown_task"
        bad = {"operation": "explode", "messageTs": first}
        ack = await panel.ask("previewConversation", change=bad)
        assert (ack["error"]["code"], ack["error"]["field"]) == ("invalid_input", "change")
        await panel.ask("previewConversation", change={"operation": "delete", "messageTs": newest})
        assert messages(panel, "conversationPreview")[-1]["preview"]["stopsTask"]
        assert asked(panel, "resume_task") == []
        assert (await services.agent.manager()).tasks.status(task) == "running"


@pytest.mark.parametrize(
    ("type_", "fields"),
    [
        ("rewindTask", {"messageTs": 1, "keep": True}),
        ("forkTask", {"messageTs": 1}),
        ("undoConversation", {}),
        ("redoConversation", {}),
        ("previewConversation", {"change": {"operation": "undo"}}),
        ("deleteMessage", {"value": 1}),
    ],
)
async def test_another_persons_task_is_as_unknown_as_none(
    services: Services, connect: Connect, type_: str, fields: dict[str, object]
) -> None:
    store = await services.storage.store()
    log = await store.create(NewTaskRecord(user="somebody-else"))
    await log.close()
    async with connect() as panel:
        assert refused(await panel.ask(type_, taskId=log.task_id, **fields)) == "unknown_task"
        assert refused(await panel.ask(type_, **fields)) == "not_found"
