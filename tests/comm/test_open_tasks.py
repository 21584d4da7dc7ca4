"""Several conversations open beside each other: their order, what each does, closing, and a server that starts again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jupyter_server.serverapp import ServerApp

from hdsp_agent.comm.live_messages import ends_in_failure
from hdsp_agent.comm.open_tasks import MOST_OPEN, OpenTaskStatus
from hdsp_agent.comm.services import Services
from hdsp_agent.messages import ClineMessage, HistoryItem, NotebookRef, TaskId
from tests._helpers.jupyter_fetch import Fetch
from tests.comm._helpers.scripted_pages import Turn, question, said, speak
from tests.comm._helpers.stored_tasks import eventually, keep
from tests.comm.channel._helpers.channel_panel import Panel
from tests.comm.conftest import Connect, messages
from tests.comm.test_running_agent import DONE, ME, WRITE, another_server

from .._helpers.timing import until

WAIT: Turn = ({"text": "I look. "}, {"wait": 600})
DELEGATE: Turn = ({"tool": "new_task", "arguments": {"mode": "code", "message": "Do the part"}},)


def strip(panel: Panel) -> list[dict[str, Any]]:
    """The open conversations, as the page knows them last."""
    told: list[dict[str, Any]] = []
    for frame in panel.of("msg"):
        data = frame["data"]
        if data["type"] == "openTasksUpdated":
            told = data["openTasks"]
        elif data["type"] == "state":
            told = data["state"]["openTasks"]
    return told


def ids(panel: Panel) -> list[str]:
    return [task["taskId"] for task in strip(panel)]


def shown(panel: Panel) -> str | None:
    task: str | None = messages(panel, "state")[-1]["state"].get("currentTaskId")
    return task


async def start(panel: Panel, text: str, **more: object) -> str:
    ack = await panel.ask("newTask", text=text, **more)
    assert ack["ok"], ack
    task: str = ack["result"]
    return task


async def test_each_task_that_is_begun_or_shown_is_open_and_tells_all_tabs_what_it_does(
    services: Services, connect: Connect, tmp_path: Path
) -> None:
    await speak(services, tmp_path, WRITE, DONE)
    old = await keep(services, "An old matter")
    async with connect() as panel, connect() as other:
        assert strip(panel) == []
        first = await start(panel, "Write a note\nin two lines " + "x" * 200, notebook={"path": "a.ipynb"})
        await other.until(lambda: strip(other) and strip(other)[0]["needsYou"])
        assert strip(other) == [
            {
                "taskId": first,
                "title": "Write a note",
                "status": "interactive",
                "needsYou": True,
                "notebook": {"path": "a.ipynb"},
            }
        ]
        assert (await panel.ask("newConversation"))["ok"]
        await other.until(lambda: shown(other) is None)
        assert ids(other) == [first]
        assert (await other.ask("showTaskWithId", taskId=old))["ok"]
        await panel.until(lambda: ids(panel) == [first, old])
        ts = next(m["message"]["ts"] for m in messages(panel, "messageCreated") if m["message"].get("ask") == "tool")
        # Answered while another one is on screen.
        assert (await panel.ask("askResponse", taskId=first, messageTs=ts, askResponse="yesButtonClicked"))["ok"]
        await other.until(lambda: [task["status"] for task in strip(other)] == ["idle", "none"])
        # One tab may hear it a moment after the other.
        await panel.until(lambda: [task["needsYou"] for task in strip(panel)] == [False, False])


async def test_an_error_that_waits_for_an_answer_needs_the_person(
    services: Services, connect: Connect, tmp_path: Path
) -> None:
    await speak(services, tmp_path, ({"error": "server_error", "message": "Broken"},))
    await services.config.update({"autoApprovalEnabled": False})
    async with connect() as panel:
        await start(panel, "Do it")
        await question(panel, "api_req_failed")
        await panel.until(lambda: strip(panel)[0]["needsYou"])
        assert strip(panel)[0]["status"] == "idle"
        assert strip(panel)[0]["failed"] is True


async def test_what_failed_says_so_until_it_goes_on(services: Services, connect: Connect, tmp_path: Path) -> None:
    await speak(services, tmp_path, ({"error": "server_error", "message": "Broken"},), WAIT)
    await services.config.update({"autoApprovalEnabled": False})
    async with connect() as panel:
        await start(panel, "Do it")
        ts = await question(panel, "api_req_failed")
        await panel.until(lambda: strip(panel)[0].get("failed"))
        assert (await panel.ask("askResponse", messageTs=ts, askResponse="yesButtonClicked"))["ok"]
        await panel.until(lambda: strip(panel)[0]["status"] == "running" and "failed" not in strip(panel)[0])


async def test_what_failed_says_so_also_when_it_was_put_aside(
    services: Services, connect: Connect, tmp_path: Path
) -> None:
    await speak(services, tmp_path, ({"error": "server_error", "message": "Broken"},))
    await services.config.update({"autoApprovalEnabled": False})
    async with connect() as panel:
        task = await start(panel, "Do it")
        await question(panel, "api_req_failed")
        await panel.until(lambda: strip(panel)[0].get("failed"))
        await (await services.agent.manager()).tasks.close(TaskId(task))
        assert services.history.details(task) is None
        assert await services.history.plight_in_log(ME, task) == OpenTaskStatus(needs_you=True, failed=True)
        assert [(line.needs_you, line.failed) for line in services.history.open_tasks.of(ME)] == [(True, True)]


@pytest.mark.parametrize(
    ("newest", "failed"),
    [
        ([], False),
        ([("say", "text")], False),
        ([("say", "error")], True),
        ([("say", "error"), ("ask", "resume_task")], True),
        ([("say", "error"), ("say", "text")], False),
        ([("say", "text"), ("ask", "resume_task")], False),
        ([("say", "text"), ("ask", "mistake_limit_reached")], True),
        ([("say", "error"), ("ask", "completion_result")], False),
    ],
)
def test_the_last_word_says_whether_an_error_stopped_it(newest: list[tuple[str, str]], failed: bool) -> None:
    words = [
        ClineMessage.model_validate({"ts": ts, "type": kind, kind: what}) for ts, (kind, what) in enumerate(newest)
    ]
    assert ends_in_failure(words) is failed


def test_the_traceback_of_a_cell_stopped_nobody() -> None:
    about = {"ts": 1, "type": "say", "say": "error", "text": "KeyboardInterrupt", "notebook": {"path": "a.ipynb"}}
    asks = {"ts": 2, "type": "ask", "ask": "resume_task"}
    assert not ends_in_failure([ClineMessage.model_validate(about), ClineMessage.model_validate(asks)])


async def test_closing_shows_the_neighbour_and_puts_aside_what_rests(
    services: Services, connect: Connect, tmp_path: Path
) -> None:
    await speak(services, tmp_path, WRITE, DONE)
    one, two = await keep(services, "one"), await keep(services, "two")
    async with connect() as panel:
        for task in (one, two):
            await panel.ask("showTaskWithId", taskId=task)
        waits = await start(panel, "Write a note")
        ts = await question(panel, "tool")
        assert ids(panel) == [one, two, waits]
        assert (await panel.ask("closeConversation", taskId=one))["ok"]
        await panel.until(lambda: ids(panel) == [two, waits])
        assert shown(panel) == waits
        assert (await panel.ask("closeConversation", taskId=waits))["ok"]
        await panel.until(lambda: shown(panel) == two)
        assert services.history.details(waits) is None
        assert (await panel.ask("closeConversation", taskId=two))["ok"]
        await panel.until(lambda: shown(panel) is None and not strip(panel))
        # What was put aside has kept its question.
        assert (await panel.ask("showTaskWithId", taskId=waits))["ok"]
        assert await question(panel, "tool") == ts


async def test_a_closed_task_that_works_goes_on_unless_it_is_to_stop(
    services: Services, connect: Connect, tmp_path: Path
) -> None:
    await speak(services, tmp_path, WAIT)
    async with connect() as panel:
        task = await start(panel, "Look")
        await panel.until(lambda: len(said(panel, "text")) == 2)
        assert (await panel.ask("closeConversation", taskId=task))["ok"]
        await panel.until(lambda: shown(panel) is None)
        doing = services.history.details(task)
        assert doing is not None
        assert doing.status == "running"
        assert (await panel.ask("closeConversation", taskId=task, stop=True))["ok"]
        assert services.history.details(task) is None
        unknown = await panel.ask("closeConversation", taskId="nowhere")
        assert unknown["error"]["code"] == "unknown_task"


async def test_a_name_and_a_favourite_reach_all_tabs(services: Services, connect: Connect, tmp_path: Path) -> None:
    task = await keep(services, "An old matter")
    async with connect() as panel, connect() as other:
        await panel.ask("showTaskWithId", taskId=task)
        assert (await panel.ask("renameTask", taskId=task, title="  Plots   and tables "))["ok"]
        assert (await panel.ask("favoriteTask", taskId=task, favorite=True))["ok"]
        await other.until(lambda: [each["title"] for each in strip(other)] == ["Plots and tables"])
        await other.until(lambda: messages(other, "taskHistoryItemUpdated"))
        item = await services.history.item(ME, task)
        assert (item.title, item.is_favorited) == ("Plots and tables", True)
        assert (await panel.ask("renameTask", taskId=task, title=""))["ok"]
        await other.until(lambda: [each["title"] for each in strip(other)] == ["An old matter"])


async def test_conversations_say_the_new_name_of_a_renamed_notebook(
    services: Services, connect: Connect, tmp_path: Path, jp_fetch: Fetch, jp_root_dir: Path
) -> None:
    (jp_root_dir / "old").mkdir()
    (jp_root_dir / "old" / "a.ipynb").write_text('{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}')
    await speak(services, tmp_path, WRITE, DONE)
    resting, unseen = [await keep(services, "A matter", notebook="old/a.ipynb") for _ in range(2)]
    other = await keep(services, "Another matter")
    async with connect() as panel:
        await panel.ask("showTaskWithId", taskId=resting)
        working = await start(panel, "Write a note", notebook={"path": "old/a.ipynb", "cellId": "one"})
        await panel.until(lambda: strip(panel)[-1].get("needsYou"))
        await jp_fetch("api", "contents", "old/a.ipynb", method="PATCH", body=json.dumps({"path": "old/b.ipynb"}))
        now = [{"path": "old/b.ipynb"}, {"path": "old/b.ipynb", "cellId": "one"}]
        await panel.until(lambda: [task["notebook"] for task in strip(panel)] == now)
        on_screen = services.history.shown(ME)
        assert on_screen is not None and on_screen.item.id == working
        assert on_screen.item.notebook == NotebookRef(path="old/b.ipynb", cell_id="one")
        await eventually(lambda: {item["id"] for item in told(panel)} >= {resting, unseen, working})
        assert (await services.history.item(ME, unseen)).notebook == NotebookRef(path="old/b.ipynb")
        await jp_fetch("api", "contents", "old", method="PATCH", body=json.dumps({"path": "new"}))
        await panel.until(lambda: [task["notebook"]["path"] for task in strip(panel)] == ["new/b.ipynb"] * 2)
        everyone = {resting, unseen, working}
        await eventually(lambda: {one["id"] for one in told(panel) if len(one.get("renames", [])) == 2} >= everyone)
        for task in everyone:
            renames = (await services.history.item(ME, task)).renames or []
            assert [(each.old, each.new) for each in renames] == [("old/a.ipynb", "old/b.ipynb"), ("old", "new")]
            assert all(each.ts > 0 for each in renames)
        assert (await services.history.item(ME, other)).renames is None


async def test_an_open_conversation_learns_of_renames_of_notebooks_it_is_not_about(
    services: Services, connect: Connect, jp_fetch: Fetch, jp_root_dir: Path
) -> None:
    (jp_root_dir / "a.csv").write_text("1,2")
    task = await keep(services, "A matter")
    async with connect() as panel:
        await panel.ask("showTaskWithId", taskId=task)
        await jp_fetch("api", "contents", "a.csv", method="PATCH", body=json.dumps({"path": "b.csv"}))
        await panel.until(lambda: [item.get("renames", [{}])[-1].get("new") for item in told(panel)] == ["b.csv"])
        assert (await services.history.item(ME, task)).notebook is None


async def test_a_tab_asks_whether_a_file_is_there(connect: Connect, jp_root_dir: Path) -> None:
    (jp_root_dir / "data").mkdir()
    (jp_root_dir / "data" / "a b.csv").write_text("1,2")
    async with connect() as panel:
        found = [(await panel.ask("findFile", path=path))["result"] for path in ("data/a b.csv", "data", "gone/a.csv")]
        assert found == [True, True, False]
        assert (await panel.ask("findFile", path="../../etc/passwd"))["result"] is False


def told(panel: Panel) -> list[dict[str, Any]]:
    """The lines of the history a tab heard of."""
    return [message["taskHistoryItem"] for message in messages(panel, "taskHistoryItemUpdated")]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ('Explain this\n\n<attachment kind="file" path="a.py" label="a.py">\nx\n</attachment>', "Explain this"),
        (
            f'<attachment kind="file" path="{"x" * 99}" label="a&#10;b\u202ecod &amp; 🎉.py">\nx\n</attachment>',
            "a bcod & 🎉.py",
        ),
        ("Write\u200b \u202ethis", "Write this"),
    ],
)
async def test_a_title_is_words_one_can_read(services: Services, connect: Connect, text: str, title: str) -> None:
    task = await keep(services, text)
    async with connect() as panel:
        await panel.ask("showTaskWithId", taskId=task)
        await panel.until(lambda: [each["title"] for each in strip(panel)] == [title])


async def test_a_conversation_that_begins_with_pictures_alone_tells_how_many(
    services: Services, connect: Connect, tmp_path: Path
) -> None:
    await speak(services, tmp_path, DONE)
    async with connect() as panel:
        task = await start(panel, "", images=["data:image/png;base64,AAAA"] * 2)
        await panel.until(lambda: strip(panel) and strip(panel)[0].get("pictures") == 2)

        async def kept() -> bool:
            return (await services.history.item(ME, task)).pictures == 2

        await until(kept)


async def test_a_deleted_task_is_closed(services: Services, connect: Connect, tmp_path: Path) -> None:
    task = await keep(services, "An old matter")
    async with connect() as panel:
        await panel.ask("showTaskWithId", taskId=task)
        await panel.until(lambda: ids(panel) == [task])
        assert (await panel.ask("deleteTaskWithId", taskId=task))["ok"]
        await panel.until(lambda: not strip(panel) and shown(panel) is None)


async def test_a_subtask_has_its_parents_place_while_it_works(
    services: Services, connect: Connect, tmp_path: Path
) -> None:
    await services.config.update({"autoApprovalEnabled": True, "alwaysAllowSubtasks": False})
    await speak(services, tmp_path, DELEGATE, DONE, DONE)
    last = await keep(services, "last")
    async with connect() as panel:
        parent = await start(panel, "Have it done")
        await panel.ask("showTaskWithId", taskId=last)
        await panel.ask("showTaskWithId", taskId=parent)
        ts = await question(panel, "tool")
        assert (await panel.ask("askResponse", messageTs=ts, askResponse="yesButtonClicked"))["ok"]
        await panel.until(lambda: len(ids(panel)) == 2 and ids(panel)[0] != parent)
        child = ids(panel)[0]
        assert ids(panel) == [child, last]
        assert [task.get("rootTaskId") for task in strip(panel)] == [parent, None]
        await panel.until(lambda: shown(panel) == child)
        ts = await question(panel, "tool")
        assert (await panel.ask("askResponse", messageTs=ts, askResponse="yesButtonClicked"))["ok"]
        await panel.until(lambda: ids(panel) == [parent, last])
        await panel.until(lambda: shown(panel) == parent)
        await question(panel, "completion_result")


async def test_what_was_open_is_open_again_after_a_restart_and_says_what_still_waits(
    services: Services, jp_serverapp: ServerApp, connect: Connect, tmp_path: Path
) -> None:
    await speak(services, tmp_path, WRITE, DONE)
    old = await keep(services, "old")
    async with connect() as panel:
        waits = await start(panel, "Write a note")
        ts = await question(panel, "tool")
        await panel.ask("showTaskWithId", taskId=old)
        await panel.ask("newConversation")
        await panel.until(lambda: shown(panel) is None)
    async with another_server(jp_serverapp) as again, connect() as panel:
        assert shown(panel) is None
        assert [(task["taskId"], task["needsYou"], task["status"]) for task in strip(panel)] == [
            (waits, True, "none"),
            (old, False, "none"),
        ]
        # Nobody has taken it up: that it waits is read in its log.
        assert again.history.details(waits) is None
        assert (await panel.ask("showTaskWithId", taskId=waits))["ok"]
        assert await question(panel, "tool") == ts
        await eventually(lambda: ids(panel) == [waits, old])


def line(id_: str, title: str = "") -> HistoryItem:
    return HistoryItem(id=id_, number=1, ts=1, task=title or id_, tokens_in=0, tokens_out=0, total_cost=0.0)


async def test_many_changes_are_told_at_once(services: Services, connect: Connect) -> None:
    def tellings() -> int:
        # That nothing was left open by the server before may be told at any time.
        return sum(bool(told["openTasks"]) for told in messages(panel, "openTasksUpdated"))

    async with connect() as panel:
        for number in range(20):
            services.history.open_tasks.put(ME, line(f"t{number}"))
        await panel.until(lambda: len(ids(panel)) == 20)
        assert tellings() == 1
        services.history.open_tasks.put(ME, line("t3", "another name"))
        services.history.open_tasks.put(ME, line("t3"))
        services.history.open_tasks.put(ME, line("last"))
        await panel.until(lambda: len(ids(panel)) == 21)
        assert ids(panel) == [*(f"t{number}" for number in range(20)), "last"]
        assert tellings() == 2


async def test_a_tab_that_connects_between_two_tellings_is_told_too(services: Services, connect: Connect) -> None:
    services.history.open_tasks.put(ME, line("t1"))
    async with connect() as panel:
        await panel.until(lambda: ids(panel) == ["t1"])
        services.history.open_tasks.put(ME, line("t2"))
        async with connect() as late:
            assert ids(late) == ["t1", "t2"]
            services.history.open_tasks.remove(ME, ["t2"])
            await late.until(lambda: ids(late) == ["t1"])
            # One tab may hear it a moment after the other.
            await panel.until(lambda: ids(panel) == ["t1"])


async def test_what_is_opened_beyond_the_most_closes_the_first_that_rests(
    services: Services, connect: Connect, tmp_path: Path
) -> None:
    await speak(services, tmp_path, WRITE)
    async with connect() as panel:
        waits = await start(panel, "Write a note")
        await question(panel, "tool")
        for number in range(MOST_OPEN + 1):
            services.history.open_tasks.put(ME, line(f"t{number}"))
        assert services.history.open_tasks.ids(ME) == [waits, *(f"t{number}" for number in range(2, MOST_OPEN + 1))]


async def test_a_subtask_whose_parent_was_opened_again_leaves_the_parent_where_it_is(services: Services) -> None:
    tasks = services.history.open_tasks
    for each in ("a", "parent", "b"):
        tasks.put(ME, line(each))
    tasks.replace(ME, "parent", line("child"))
    assert tasks.ids(ME) == ["a", "child", "b"]
    tasks.put(ME, line("parent"))
    tasks.replace(ME, "child", line("parent"))
    assert tasks.ids(ME) == ["a", "b", "parent"]
    tasks.replace(ME, "gone", line("other"))
    assert tasks.ids(ME) == ["a", "b", "parent"]


async def test_what_was_open_before_a_restart_comes_before_what_was_opened_since(services: Services) -> None:
    tasks = services.history.open_tasks
    tasks.put(ME, line("new"))
    tasks.put(ME, line("both"))
    tasks.restore(ME, [line("old"), line("both")], {"old": OpenTaskStatus(needs_you=True, failed=True)})
    assert tasks.ids(ME) == ["old", "both", "new"]
    assert [task.needs_you for task in tasks.of(ME)] == [True, False, False]
    assert [task.failed for task in tasks.of(ME)] == [True, None, None]


async def test_what_a_conversation_may_do_is_set_for_its_subtask_and_what_waits_for_that_too(
    services: Services, connect: Connect, tmp_path: Path
) -> None:
    await speak(services, tmp_path, DELEGATE, WAIT)
    async with connect() as panel:
        parent = await start(panel, "Do all of it", approvalPreset="everything")
        await panel.until(lambda: ids(panel) and ids(panel) != [parent])
        [child] = ids(panel)
        for task, preset in ((child, "ask"), (parent, "edit"), (child, None)):
            chosen = {} if preset is None else {"approvalPreset": preset}
            assert (await panel.ask("setTaskApprovals", taskId=task, **chosen))["ok"]
            items = [await services.history.item(ME, one) for one in (parent, child)]
            assert [item.approval_preset for item in items] == [preset, preset]


async def test_memory_that_is_turned_off_over_rest_is_off_for_its_subtask_too(
    services: Services, connect: Connect, jp_fetch: Fetch, tmp_path: Path
) -> None:
    await speak(services, tmp_path, DELEGATE, WAIT)
    async with connect() as panel:
        parent = await start(panel, "Do all of it", approvalPreset="everything")
        await panel.until(lambda: ids(panel) and ids(panel) != [parent])
        [child] = ids(panel)
        for is_off in (True, False):
            body = json.dumps({"memoryOff": is_off})
            answer = await jp_fetch("hdsp-agent", "api", "history", parent, method="PATCH", body=body)
            assert json.loads(answer.body).get("memoryOff", False) is is_off
            items = [await services.history.item(ME, one) for one in (parent, child)]
            assert [bool(item.memory_off) for item in items] == [is_off, is_off]
