"""The agent in the running server: a task from its first words to its end, on all tabs, over a restart."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from jupyter_server.serverapp import ServerApp

from hdsp_agent.comm.history import ItemChange
from hdsp_agent.comm.identity import server_owner
from hdsp_agent.comm.services import Services
from hdsp_agent.events import (
    ACCESS_SCHEMA,
    CHECKPOINT_SCHEMA,
    FEEDBACK_SCHEMA,
    MEMORY_SCHEMA,
    SESSION_SCHEMA,
    TASK_SCHEMA,
)
from hdsp_agent.persistence import HistoryQuery
from tests.comm._helpers.scripted_pages import Turn, conversation, question, said, speak
from tests.comm._helpers.stored_tasks import eventually
from tests.comm.channel._helpers.channel_panel import Panel
from tests.comm.conftest import Connect, messages

ME = server_owner()

WRITE: Turn = (
    {"text": "I will write a note."},
    {"tool": "write_to_file", "arguments": {"path": "note.txt", "content": "once\n"}, "id": "w"},
)
DONE: Turn = ({"text": "Now I am done."}, {"tool": "attempt_completion", "arguments": {"result": "It is written."}})


def completed(panel: Panel) -> bool:
    """Whether the history has told of a task that it is completed."""
    told = messages(panel, "taskHistoryItemUpdated")
    return any(message["taskHistoryItem"]["status"] == "completed" for message in told)


@asynccontextmanager
async def another_server(jp_serverapp: ServerApp) -> AsyncIterator[Services]:
    """The extension stopped and started again, with nothing of the old one left."""
    from hdsp_agent._graph import build_services, start_services

    (app,) = jp_serverapp.extension_manager.extension_apps["hdsp_agent"]
    await app.services.stop()
    assert jp_serverapp.event_logger is not None
    for schema in (ACCESS_SCHEMA, CHECKPOINT_SCHEMA, FEEDBACK_SCHEMA, MEMORY_SCHEMA, SESSION_SCHEMA, TASK_SCHEMA):
        jp_serverapp.event_logger.schemas.remove(schema)
    services = build_services(app)
    app.services = services
    await start_services(app, services)
    yield services


async def test_a_task_goes_from_its_first_words_over_an_approval_to_its_end(
    services: Services, connect: Connect, tmp_path: Path, jp_root_dir: Path
) -> None:
    await speak(services, tmp_path, WRITE, DONE)
    async with connect() as panel, connect() as other:
        ack = await panel.ask("newTask", text="Write a note", notebook={"path": "a.ipynb"})
        assert ack["ok"], ack
        task = ack["result"]
        ts = await question(panel, "tool")
        assert await question(other, "tool") == ts
        assert not (jp_root_dir / "note.txt").exists()
        assert (await other.ask("askResponse", messageTs=ts, askResponse="yesButtonClicked"))["ok"]
        await panel.until(lambda: said(panel, "completion_result"))
        assert (jp_root_dir / "note.txt").read_text() == "once\n"
        late = await panel.ask("askResponse", messageTs=ts, askResponse="yesButtonClicked")
        assert late["error"]["code"] == "conflict"
        await question(other, "completion_result")
        for page in (panel, other):
            assert said(page, "text") == ["Write a note", "I will write a note.", "Now I am done."]
        state = messages(panel, "state")[-1]["state"]
        assert (state["currentTaskId"], state["currentTaskStatus"]) == (task, "running")
        # The question itself comes first.
        await other.until(lambda: messages(other, "taskProgress")[-1]["status"] == "idle")
        heard = [message["status"] for message in messages(other, "taskProgress")]
        assert {"interactive", "running"} < set(heard)
        await other.until(lambda: completed(other))
        item = await services.history.item(ME, task)
        assert (item.status, item.task, item.notebook and item.notebook.path) == (
            "completed",
            "Write a note",
            "a.ipynb",
        )


async def test_a_plan_is_shown_while_the_model_thinks_about_its_next_step(
    services: Services, connect: Connect, tmp_path: Path
) -> None:
    plan: Turn = ({"tool": "update_todo_list", "arguments": {"todos": "[x] Look\n[ ] Plot"}, "id": "p"},)
    await speak(services, tmp_path, plan, ({"wait": 600},))
    async with connect() as panel:
        task = (await panel.ask("newTask", text="Plot it"))["result"]
        await panel.until(lambda: any(len(told["todos"]) == 2 for told in messages(panel, "taskProgress")))
        assert (await panel.ask("cancelTask", taskId=task))["ok"]


async def test_what_is_cleared_on_one_tab_is_gone_from_all_and_can_be_opened_again(
    services: Services, connect: Connect, tmp_path: Path, jp_root_dir: Path
) -> None:
    await speak(services, tmp_path, WRITE, DONE)
    async with connect() as panel, connect() as other:
        task = (await panel.ask("newTask", text="Write a note"))["result"]
        ts = await question(other, "tool")
        assert (await other.ask("clearTask"))["ok"]
        await panel.until(lambda: "currentTaskId" not in messages(panel, "state")[-1]["state"])
        assert (await panel.ask("askResponse", messageTs=ts, askResponse="yesButtonClicked"))["error"]["code"] == (
            "not_found"
        )
        assert (await panel.ask("showTaskWithId", taskId=task))["ok"]
        assert await question(other, "tool") == ts
        assert (await panel.ask("askResponse", messageTs=ts, askResponse="noButtonClicked", text="Not there"))["ok"]
        await other.until(lambda: said(other, "user_feedback") == ["Not there"])
        await other.until(lambda: said(other, "completion_result"))
        assert not (jp_root_dir / "note.txt").exists()


async def test_an_approval_that_waited_while_the_server_was_away_is_asked_again_and_nothing_runs_twice(
    services: Services, jp_serverapp: ServerApp, connect: Connect, tmp_path: Path, jp_root_dir: Path
) -> None:
    await speak(services, tmp_path, WRITE)
    async with connect() as panel:
        task = (await panel.ask("newTask", text="Write a note"))["result"]
        ts = await question(panel, "tool")
    async with another_server(jp_serverapp) as again:
        await speak(again, tmp_path, DONE)
        async with connect() as panel:
            assert (await panel.ask("showTaskWithId", taskId=task))["ok"]
            assert await question(panel, "tool") == ts
            assert not (jp_root_dir / "note.txt").exists()
            assert (await panel.ask("askResponse", messageTs=ts, askResponse="yesButtonClicked"))["ok"]
            await question(panel, "completion_result")
            assert (jp_root_dir / "note.txt").read_text() == "once\n"
            answered = [message for message in conversation(panel).values() if message.get("ask") == "tool"]
            assert [message["ts"] for message in answered] == [ts]
            assert [message for message in conversation(panel).values() if message.get("ask") == "resume_task"] == []


async def test_a_tab_that_opens_while_the_model_speaks_hears_every_word_once(
    services: Services, connect: Connect, tmp_path: Path
) -> None:
    words = [f"word{number} " for number in range(60)]
    pieces: list[Mapping[str, object]] = [step for word in words for step in ({"text": word}, {"wait": 0.005})]
    await speak(services, tmp_path, [*pieces, DONE[1]])
    async with connect() as panel:
        task = (await panel.ask("newTask", text="Speak"))["result"]
        await panel.until(lambda: len(said(panel, "text")) == 2)
        await panel.ask("showTaskWithId", taskId=task)
        async with connect() as late:
            await question(late, "completion_result")
            await question(panel, "completion_result")
            for page in (panel, late):
                assert said(page, "text") == ["Speak", "".join(words)]


async def test_a_conversation_is_condensed_when_the_person_wishes_and_all_tabs_hear_of_it(
    services: Services, connect: Connect, tmp_path: Path, jp_root_dir: Path
) -> None:
    long: Turn = ({"text": "I look at it. " + "x" * 9_000}, WRITE[1])
    summary: Turn = ({"text": "## Work Completed\nIt was looked at."},)
    await speak(services, tmp_path, long, DONE, summary)
    async with connect() as panel, connect() as other:
        task = (await panel.ask("newTask", text="Write a note"))["result"]
        ts = await question(panel, "tool")
        refused = await panel.ask("condenseTaskContextRequest", taskId=task)
        assert refused["error"]["code"] == "conflict" and "too short" in refused["error"]["message"]
        assert (await panel.ask("askResponse", messageTs=ts, askResponse="noButtonClicked"))["ok"]
        await question(panel, "completion_result")
        answer = await panel.ask("condenseTaskContextRequest", taskId=task)
        assert answer["ok"], answer
        await other.until(lambda: len(messages(other, "condenseTaskContextResponse")) == 2)
        assert [message["text"] for message in messages(other, "condenseTaskContextStarted")] == [task, task]
        view = await (await services.storage.store()).view(task)
        [row] = [message async for message in view.ui.iterate() if message.say == "condense_context"]
        assert row.context_condense is not None and "It was looked at." in row.context_condense.summary


async def test_cancel_stops_the_model_and_asks_whether_to_go_on(
    services: Services, connect: Connect, tmp_path: Path
) -> None:
    await speak(services, tmp_path, [{"text": "I begin. "}, {"wait": 600}], DONE)
    async with connect() as panel:
        await panel.ask("newTask", text="Begin")
        await panel.until(lambda: len(said(panel, "text")) == 2)
        assert (await panel.ask("cancelTask"))["ok"]
        ts = await question(panel, "resume_task")
        await panel.ask("askResponse", messageTs=ts, askResponse="yesButtonClicked")
        await question(panel, "completion_result")


async def test_a_running_task_is_renamed_through_itself_and_its_end_does_not_undo_that(
    services: Services, connect: Connect, tmp_path: Path
) -> None:
    await speak(services, tmp_path, WRITE, DONE)
    async with connect() as panel:
        task = (await panel.ask("newTask", text="Write a note"))["result"]
        ts = await question(panel, "tool")
        item = await services.history.change(ME, task, ItemChange(title="My  note", favorite=True))
        assert (item.title, item.is_favorited) == ("My note", True)
        await panel.ask("askResponse", messageTs=ts, askResponse="yesButtonClicked")
        await question(panel, "completion_result")
        # The question is on screen before the history hears of the end.
        await panel.until(lambda: completed(panel))
        (hit,) = (await services.history.page(ME, HistoryQuery())).hits
        assert (hit.item.title, hit.item.is_favorited, hit.item.status) == ("My note", True, "completed")


async def test_messages_are_queued_changed_and_taken_back(
    services: Services, connect: Connect, tmp_path: Path, jp_root_dir: Path
) -> None:
    await speak(services, tmp_path, WRITE, DONE)
    async with connect() as panel:
        await panel.ask("newTask", text="Write a note")
        ts = await question(panel, "tool")
        one = (await panel.ask("queueMessage", text="one"))["result"]
        two = (await panel.ask("queueMessage", text="two"))["result"]
        assert (await panel.ask("removeQueuedMessage", text=one))["ok"]
        assert (await panel.ask("editQueuedMessage", payload={"id": two, "text": "second"}))["ok"]
        await panel.ask("clearTask")
        assert not (jp_root_dir / "note.txt").exists()
        (hit,) = (await services.history.page(ME, HistoryQuery())).hits
        await panel.ask("showTaskWithId", taskId=hit.item.id)
        queue = messages(panel, "state")[-1]["state"]["messageQueue"]
        assert [message["text"] for message in queue] == ["second"]
        await panel.ask("askResponse", messageTs=ts, askResponse="yesButtonClicked")
        await question(panel, "completion_result")
        assert said(panel, "user_feedback") == ["second"]


async def test_a_message_is_deleted_after_a_question_on_the_tab_that_asked(
    services: Services, connect: Connect, tmp_path: Path
) -> None:
    await speak(services, tmp_path, WRITE, WRITE)
    async with connect() as panel, connect() as other:
        await panel.ask("newTask", text="Write a note")
        ts = await question(panel, "tool")
        first, second = [
            number for number, message in sorted(conversation(panel).items()) if message.get("say") == "text"
        ]
        assert (await panel.ask("deleteMessage", value=second))["ok"]
        assert messages(panel, "showDeleteMessageDialog")[-1]["messageTs"] == second
        assert messages(other, "showDeleteMessageDialog") == []
        assert (await panel.ask("deleteMessageConfirm", messageTs=second))["ok"]
        await question(other, "resume_task")
        assert second not in conversation(other) and ts not in conversation(other)
        assert (await panel.ask("editMessageConfirm", messageTs=first, text="Write another note"))["ok"]
        await other.until(lambda: said(other, "text")[:1] == ["Write another note"])
        await question(panel, "tool")


async def test_the_mode_of_a_named_task_is_its_own(services: Services, connect: Connect, tmp_path: Path) -> None:
    await speak(services, tmp_path, WRITE)
    async with connect() as panel:
        task = (await panel.ask("newTask", text="Write a note"))["result"]
        await question(panel, "tool")
        before = services.config.settings.mode
        assert (await panel.ask("mode", text="ask", taskId=task))["ok"]
        assert ((await services.history.item(ME, task)).mode, services.config.settings.mode) == ("ask", before)
        assert (await panel.ask("mode", text="debug"))["ok"]
        assert ((await services.history.item(ME, task)).mode, services.config.settings.mode) == ("debug", "debug")
        unknown = await panel.ask("mode", text="nonsense", taskId=task)
        assert unknown["error"]["code"] == "invalid_input"


async def test_operators_hear_what_happens_without_a_word_of_it(
    services: Services, jp_serverapp: ServerApp, connect: Connect, tmp_path: Path
) -> None:
    await speak(services, tmp_path, DONE)
    heard: list[dict[str, object]] = []

    async def listen(logger: object, schema_id: str, data: dict[str, object]) -> None:
        heard.append(data)

    logger = jp_serverapp.event_logger
    assert logger is not None
    logger.add_listener(schema_id=TASK_SCHEMA, listener=listen)
    async with connect() as panel:
        task = (await panel.ask("newTask", text="A secret wish"))["result"]
        await question(panel, "completion_result")
        await eventually(lambda: any(event["event"] == "taskCompleted" for event in heard))
    logger.remove_listener(schema_id=TASK_SCHEMA, listener=listen)
    assert {event["task_id"] for event in heard} == {task}
    assert "secret wish" not in json.dumps(heard)


class TestIpc:
    """Where the operator lets programs outside in."""

    @pytest.fixture
    def jp_server_config(self, jp_server_config: dict[str, object]) -> dict[str, object]:
        traits = jp_server_config["HdspAgentApp"]
        assert isinstance(traits, dict)
        return {**jp_server_config, "HdspAgentApp": {**traits, "ipc_enabled": True}}

    async def test_a_program_outside_starts_a_task_that_pages_can_open(
        self, services: Services, connect: Connect, tmp_path: Path, storage_dir: Path
    ) -> None:
        from hdsp_agent.ipc import FOLDER, IpcClient, find_servers
        from hdsp_agent.messages import StartNewTaskCommand, StartNewTaskData, TaskCompleted

        await speak(services, tmp_path, DONE)
        (server,) = find_servers(storage_dir / FOLDER)
        async with IpcClient.connect(server.address) as client:
            await client.send(StartNewTaskCommand(data=StartNewTaskData(configuration={}, text="From outside")))
            async for event in client.events():
                if event.event_name == "taskCompleted":
                    break
            assert isinstance(event, TaskCompleted)
            task = str(event.payload[0])
        async with connect() as panel:
            assert (await panel.ask("showTaskWithId", taskId=task))["ok"]
            assert said(panel, "completion_result") == ["It is written."]


async def test_without_the_operators_wish_there_is_no_socket(services: Services, storage_dir: Path) -> None:
    await asyncio.sleep(0)
    assert services.ipc is None
    assert not (storage_dir / "ipc").exists()


async def test_jupyter_may_tell_it_to_stop_more_than_once(
    services: Services, jp_serverapp: ServerApp, connect: Connect
) -> None:
    """Each signal makes it do so, as when somebody presses Ctrl+C again."""
    async with connect():
        await asyncio.gather(*(services.history.page(ME, HistoryQuery()) for _ in range(20)))
    (app,) = jp_serverapp.extension_manager.extension_apps["hdsp_agent"]
    await asyncio.gather(*(app.stop_extension() for _ in range(5)))
    await app.stop_extension()
