"""Stored conversations over REST."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Awaitable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from jupyter_server.auth.identity import IdentityProvider, User
from tornado.httpclient import HTTPClientError, HTTPResponse

from hdsp_agent.comm.identity import server_owner
from hdsp_agent.comm.services import Services
from hdsp_agent.errors import StorageUnavailable
from hdsp_agent.messages import ClineMessage, TaskId
from hdsp_agent.persistence import ApiDraft, MessageManager, SummaryDraft, ToolDraft, history_database
from tests._helpers.jupyter_fetch import Fetch
from tests._helpers.stored_tasks import backend_under_test
from tests.comm._helpers.stored_tasks import begin, keep
from tests.comm.conftest import Connect, messages

API = ("hdsp-agent", "api")
NOWHERE = "0b8f9d0e-6f2c-4d7b-9d52-6a1f3c2b4e5d"


async def get(jp_fetch: Fetch, *path: str, **params: str) -> Any:
    return json.loads((await jp_fetch(*API, *path, params=params)).body)


async def refusal(request: Awaitable[HTTPResponse]) -> tuple[int, str]:
    with pytest.raises(HTTPClientError) as refused:
        await request
    assert refused.value.response is not None
    return refused.value.code, json.loads(refused.value.response.body)["code"]


async def test_the_history_is_paged_and_searched(services: Services, jp_fetch: Fetch) -> None:
    for number in range(3):
        await keep(services, f"task {number}", notebook="a.ipynb" if number else "b.ipynb")
    page = await get(jp_fetch, "history", limit="2", sort="oldest")
    assert ([item["task"] for item in page["taskHistory"]], page["total"]) == (["task 0", "task 1"], 3)
    page = await get(jp_fetch, "history", limit="2", sort="oldest", cursor=page["nextCursor"])
    assert [item["task"] for item in page["taskHistory"]] == ["task 2"]
    assert "nextCursor" not in page
    page = await get(jp_fetch, "history", query="task 1", favorites="false", notebook="a.ipynb")
    (item,) = page["taskHistory"]
    assert "".join(part["text"] for part in page["snippets"][item["id"]]["parts"]) == "task 1"


async def test_the_places_of_all_conversations_are_told_however_many_there_are(
    services: Services, jp_fetch: Fetch
) -> None:
    for notebook in ("a.ipynb", "b.ipynb", "a.ipynb", None):
        await keep(services, "a task", notebook=notebook)
    await keep(services, "another's", notebook="c.ipynb", user="somebody")
    places = await get(jp_fetch, "history", "places")
    assert {place["path"]: place["tasks"] for place in places["notebooks"]} == {"a.ipynb": 2, "b.ipynb": 1}
    assert [place["tasks"] for place in places["workspaces"]] in ([], [4])


@pytest.mark.parametrize("params", [{"limit": "0"}, {"sort": "best"}, {"cursor": "x"}, {"since": "-1"}])
async def test_a_bad_query_is_refused(params: dict[str, str], services: Services, jp_fetch: Fetch) -> None:
    assert await refusal(jp_fetch(*API, "history", params=params)) == (400, "invalid_input")


async def test_a_conversation_is_renamed_made_a_favourite_and_deleted(
    services: Services, jp_fetch: Fetch, connect: Connect
) -> None:
    task = await keep(services, "first words")
    async with connect() as panel:
        body = json.dumps({"title": "Better", "isFavorited": True})
        changed = await jp_fetch(*API, "history", task, method="PATCH", body=body)
        assert json.loads(changed.body)["title"] == "Better"
        item = await get(jp_fetch, "history", task)
        assert (item["title"], item["isFavorited"]) == ("Better", True)
        page = await get(jp_fetch, "history", favorites="true")
        assert page["total"] == 1
        await panel.until(lambda: messages(panel, "taskHistoryItemUpdated"))
        gone = await jp_fetch(*API, "history", task, method="DELETE")
        assert json.loads(gone.body) == {"taskIds": [task]}
        await panel.until(lambda: messages(panel, "taskHistoryItemsRemoved"))
    assert await refusal(jp_fetch(*API, "history", task)) == (404, "unknown_task")


async def test_a_task_that_is_worked_on_is_neither_changed_nor_deleted(services: Services, jp_fetch: Fetch) -> None:
    task = await begin(services, "busy")
    path = (*API, "history", task.task_id)
    with pytest.raises(HTTPClientError) as refused:
        await jp_fetch(*path, method="DELETE")
    assert refused.value.response is not None and refused.value.code == 409
    error = json.loads(refused.value.response.body)
    # Nothing of the process and the machine that work on it.
    assert (error["code"], error["params"]) == ("conflict", {"task": task.task_id})
    assert "cannot be deleted now" in error["message"] and str(os.getpid()) not in error["message"]
    assert await refusal(jp_fetch(*path, method="PATCH", body='{"title": "x"}')) == (409, "conflict")
    assert (await get(jp_fetch, "history", task.task_id))["task"] == "busy"
    await task.close()


@pytest.mark.parametrize(
    "path",
    [
        ("history", NOWHERE),
        ("tasks", NOWHERE),
        ("tasks", NOWHERE, "logs", "ui"),
        ("tasks", NOWHERE, "artifacts", "0" * 64),
        ("tasks", NOWHERE, "export"),
    ],
)
async def test_what_is_not_there_and_what_is_anothers_is_unknown(
    path: tuple[str, ...], services: Services, jp_fetch: Fetch
) -> None:
    assert await refusal(jp_fetch(*API, *path)) == (404, "unknown_task")
    theirs = await keep(services, "private", user="somebody-else")
    assert await refusal(jp_fetch(*API, *(theirs if part == NOWHERE else part for part in path))) == (
        404,
        "unknown_task",
    )


@pytest.mark.parametrize(
    "name", ["..%2F..%2Fconfig.json", "%2e%2e", "..%5C..%5Cconfig.json", "a%00b", "%2Fetc%2Fpasswd"]
)
async def test_no_name_leads_out_of_the_folders(name: str, services: Services, jp_fetch: Fetch) -> None:
    task = await keep(services, "here")
    for path in (("tasks", name), ("tasks", task, "artifacts", name), ("tasks", task, "logs", name), ("history", name)):
        code, said = await refusal(jp_fetch(*API, *path))
        assert code in (400, 404) and said in ("invalid_input", "not_found", "unknown_task"), path


@pytest.mark.each_backend
async def test_a_tasks_logs_are_read_page_by_page(services: Services, jp_fetch: Fetch) -> None:
    task = await begin(services, *(f"message {number}" for number in range(5)))
    for number in range(3):
        await task.append_api(ApiDraft(role="user", content=f"api {number}"))
    await task.append_summary(
        SummaryDraft(start_seq=1, end_seq=2, summary="short", original_tokens=10, summary_tokens=2)
    )
    await task.append_tool(ToolDraft(tool_name="read", arguments={"a": 1}, status="success", duration_ms=3))
    await task.finish()
    known = await get(jp_fetch, "tasks", task.task_id)
    assert known["counts"] == {"ui": 5, "api": 3, "summaries": 1, "tools": 1, "marks": 0}
    assert (known["state"]["status"], known["metadata"]["uuid"]) == ("completed", task.task_id)

    async def log(name: str, **params: str) -> list[Any]:
        found = await get(jp_fetch, "tasks", task.task_id, "logs", name, **params)
        records: list[Any] = found["records"]
        return records

    newest = await log("ui", limit="2")
    assert [record["text"] for record in newest] == ["message 3", "message 4"]
    before = await log("ui", limit="2", before=str(newest[0]["ts"]))
    assert [record["text"] for record in before] == ["message 1", "message 2"]
    assert [record["seq"] for record in await log("api", after="1")] == [2, 3]
    assert (await log("summaries"))[0]["summary"] == "short"
    assert (await log("tools"))[0]["tool_name"] == "read"
    assert await log("marks") == []
    path = (*API, "tasks", task.task_id, "logs")
    assert await refusal(jp_fetch(*path, "secrets")) == (404, "not_found")
    assert await refusal(jp_fetch(*path, "ui", params={"before": "5", "after": "1"})) == (400, "invalid_input")


async def test_a_text_is_found_in_all_of_a_conversation(services: Services, jp_fetch: Fetch) -> None:
    texts = ("Plot the AGES", *(f"nothing {number}" for number in range(300)), "그래프를 그려 줘", "Café: ages")
    task = await begin(services, *texts)
    tool = {"tool": "readFile", "path": "data/ages.csv", "content": {"results": ["x = ages"]}}
    in_tool = task.next_ts()
    await task.put_ui(ClineMessage(ts=in_tool, type="ask", ask="tool", text=json.dumps(tool)))
    await task.put_ui(ClineMessage(ts=task.next_ts(), type="say", say="api_req_started", text="ages"))
    await task.finish()
    first, *_, graph, last = [message.ts async for message in task.ui.iterate() if message.say == "text"]

    async def find(text: str, **more: str) -> Any:
        return await get(jp_fetch, "tasks", task.task_id, "find", text=text, **more)

    assert await find("ages") == {"found": [first, last, in_tool], "more": False}
    assert await find("cafe") == {"found": [last], "more": False}
    assert await find("그래프") == {"found": [graph], "more": False}
    assert (await find("readFile"))["found"] == [], "what is not shown is not found"
    assert await find("ages", limit="1") == {"found": [first], "more": True}
    assert await find("\u200b") == {"found": [], "more": False}, "nothing is everywhere"
    path = (*API, "tasks", task.task_id, "find")
    assert await refusal(jp_fetch(*path)) == (400, "invalid_input")
    assert await refusal(jp_fetch(*API, "tasks", NOWHERE, "find", params={"text": "x"})) == (404, "unknown_task")


async def test_what_was_taken_back_is_not_found(services: Services, jp_fetch: Fetch) -> None:
    task = await begin(services, "the blue one", "the red one")
    second = [message.ts async for message in task.ui.iterate()][1]
    history = MessageManager(task)
    await history.rewind_to_timestamp(second)
    await task.finish()
    assert (await get(jp_fetch, "tasks", task.task_id, "find", text="red"))["found"] == []
    assert len((await get(jp_fetch, "tasks", task.task_id, "find", text="blue"))["found"]) == 1


async def test_an_artifact_is_only_ever_saved(services: Services, jp_fetch: Fetch) -> None:
    task = await begin(services, "makes a page")
    name = await task.put_artifact(b"<script>alert(1)</script>" * 40_000)
    await task.finish()
    answer = await jp_fetch(*API, "tasks", task.task_id, "artifacts", name)
    assert answer.body == b"<script>alert(1)</script>" * 40_000
    assert answer.headers["Content-Type"] == "application/octet-stream"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Content-Disposition"] == f'attachment; filename="{name}"'
    assert await refusal(jp_fetch(*API, "tasks", task.task_id, "artifacts", "0" * 64)) == (404, "not_found")


@pytest.mark.parametrize(
    ("form", "media_type", "suffix"),
    [("markdown", "text/markdown", "md"), ("json", "application/json", "json"), ("notebook", "application/x-ipynb+json", "ipynb")],
)  # fmt: skip
async def test_a_conversation_is_exported(
    form: str, media_type: str, suffix: str, services: Services, jp_fetch: Fetch
) -> None:
    task = await keep(services, "그래프를 그려 줘", "done")
    answer = await jp_fetch(*API, "tasks", task, "export", params={"format": form})
    assert answer.headers["Content-Type"].partition(";")[0] == media_type
    assert answer.headers["Content-Disposition"] == f'attachment; filename="{task}.{suffix}"'
    assert "그래프를 그려 줘" in answer.body.decode()
    if form != "markdown":
        json.loads(answer.body)


async def test_an_export_that_breaks_off_does_not_pass_for_a_whole_one(
    services: Services, jp_fetch: Fetch, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hdsp_agent.comm.rest import _tasks
    from hdsp_agent.comm.rest._rest_endpoint import Download

    task = await begin(services, "has an artifact")
    name = await task.put_artifact(b"x" * 1_000_000)
    await task.finish()

    class Broken(Download):
        def __init__(self, name: str, media_type: str, chunks: object) -> None:
            async def broken() -> AsyncIterator[bytes]:
                yield b"half"
                raise StorageUnavailable("The disk is gone.")

            super().__init__(name, media_type, broken())

    monkeypatch.setattr(_tasks, "Download", Broken)
    with pytest.raises(Exception) as broken:
        await jp_fetch(*API, "tasks", task.task_id, "artifacts", name)
    assert not isinstance(broken.value, HTTPClientError) or broken.value.code == 599


async def test_statistics_count_the_callers_tasks(services: Services, jp_fetch: Fetch) -> None:
    today = datetime.now().astimezone().date().isoformat()
    await keep(services, "mine")
    await keep(services, "mine too", cost=1.0)
    await keep(services, "theirs", user="somebody-else")
    store = await services.storage.store()
    from hdsp_agent.persistence import NewTaskRecord

    await (await store.create(NewTaskRecord(task_id=TaskId("nobodys")))).finish("failed")
    told = await get(jp_fetch, "statistics")
    assert (told["total"]["tasks"], told["total"]["cost"], told["completed"]) == (3, 1.5, 3)
    assert told["failureRate"] == pytest.approx(1 / 3, abs=1e-5)
    assert set(told["byStatus"]) == {"completed", "failed"}
    days = {today, datetime.now().astimezone().date().isoformat()}
    [use] = told["use"]
    assert use.pop("day") in days
    assert use == {"model": "", "requests": 0, "tokensIn": 20, "tokensOut": 10, "cost": 1.5}
    assert (await get(jp_fetch, "statistics", status="failed"))["total"]["tasks"] == 1
    assert (await get(jp_fetch, "statistics", until="1000"))["total"]["tasks"] == 0
    assert await refusal(jp_fetch(*API, "statistics", params={"since": str(2**53 - 1)})) == (400, "invalid_input")


@pytest.mark.each_backend
async def test_storage_says_how_much_is_kept(services: Services, jp_fetch: Fetch) -> None:
    await keep(services, "x" * 10_000)
    told = await get(jp_fetch, "storage")
    assert (told["level"], told["completedTasks"]) == ("ok", 1)
    assert told["totalBytes"] >= told["tasksBytes"] > 10_000
    assert history_database(Path(), backend_under_test()).name in told["parts"]


class TestAServerThatKnowsPersons:
    @pytest.fixture
    def jp_server_config(self, jp_server_config: dict[str, Any]) -> dict[str, Any]:
        jp_server_config["ServerApp"]["identity_provider_class"] = Named
        return jp_server_config

    async def test_each_sees_their_own(self, services: Services, jp_fetch: Fetch) -> None:
        theirs = {person: await keep(services, f"of {person}", user=person) for person in ("ann", "ben")}
        nobodys = await keep(services, "unnamed", user=server_owner())
        for person, task in theirs.items():
            headers = {"X-Person": person}
            answer = await jp_fetch(*API, "history", headers=headers)
            assert [item["id"] for item in json.loads(answer.body)["taskHistory"]] == [task]
            for other in {*theirs.values(), nobodys} - {task}:
                for path in (("history", other), ("tasks", other), ("tasks", other, "logs", "api")):
                    assert await refusal(jp_fetch(*API, *path, headers=headers)) == (404, "unknown_task")
                gone = jp_fetch(*API, "history", other, method="DELETE", headers=headers)
                assert await refusal(gone) == (404, "unknown_task")


class Named(IdentityProvider):
    """Knows who asks by a header."""

    async def get_user(self, handler):  # type: ignore[no-untyped-def]
        user = await super().get_user(handler)  # type: ignore[misc]
        person = handler.request.headers.get("X-Person")
        return User(username=person) if user and person else user


@pytest.mark.each_backend
async def test_what_the_model_sees_of_a_task_is_told_with_its_tokens(services: Services, jp_fetch: Fetch) -> None:
    log = await begin(services)
    await log.append_api(ApiDraft(role="system", content="You help."))
    await log.append_api(ApiDraft(role="user", content="x" * 384))
    await log.close()
    seen = await get(jp_fetch, "tasks", log.task_id, "context")
    assert (seen["system"], seen["tokens"]["system"]) == ("You help.", 3)
    assert seen["tokens"]["eachMessage"] == [100] and seen["messages"] == [{"role": "user", "content": "x" * 384}]
    assert seen["tokens"]["total"] == 103 + seen["tokens"]["tools"]
    assert await refusal(jp_fetch(*API, "tasks", NOWHERE, "context")) == (404, "unknown_task")
