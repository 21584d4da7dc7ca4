"""Memory in the running server: what one conversation taught, or was asked to keep, the next one is told."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import nbformat
import pytest
from jupyter_server.serverapp import ServerApp
from tornado.httpclient import HTTPClientError

from hdsp_agent.comm.identity import server_owner
from hdsp_agent.comm.services import Services
from hdsp_agent.errors import StorageUnavailable
from hdsp_agent.memory.memory_folder import HANDBOOK, SUMMARY
from hdsp_agent.memory.pipeline import RoundReport
from hdsp_agent.memory.sharing import SyncReport
from hdsp_agent.messages import CodebaseSearchResult, TaskId
from tests._helpers.jupyter_fetch import Fetch
from tests._helpers.postgres import TasksDatabase
from tests._helpers.timing import until
from tests.comm._helpers.scripted_model_server import Body, Model, Part, Turn, call, model_of
from tests.comm._helpers.scripted_pages import asked, conversation, question, said
from tests.comm._helpers.stored_tasks import eventually
from tests.comm.channel._helpers.channel_panel import Panel
from tests.comm.conftest import Connect, messages
from tests.memory._helpers.memory_home import handbook, summary
from tests.memory._helpers.shared_home import SharedHome, shared_home

ME = server_owner()
API = ("hdsp-agent", "api", "memory")
DONE = call("attempt_completion", {"result": "Done: ages are in months."})
LEARNED = call(
    "save_memory",
    {
        "rollout_summary": "# Cleaning\n\nOutcome: success\n\n- 2026-11-27: ages are in months",
        "rollout_slug": "cleaning",
        "raw_memory": "---\ndescription: churn\n---\n- ages are in months",
    },
)


def writes(body: Body) -> Sequence[Part]:
    """Writes both files of the conversation that it is told of."""
    text = json.dumps([message for message in body["messages"] if message["role"] == "user"])
    begin = text.index("- [") + 3
    code, file = text[begin : begin + 4], text[begin + 6 :].split("\\n", 1)[0]
    first = call("write_to_file", {"path": "memory_summary.md", "content": summary(code)})
    second = call("write_to_file", {"path": "MEMORY.md", "content": handbook(code, file)})
    for part in second:
        part["tool_calls"][0]["index"] = 1  # type: ignore[index]  # a delta
        if "id" in part["tool_calls"][0]:  # type: ignore[index]
            part["tool_calls"][0]["id"] = "call-second"  # type: ignore[index]
    return [*first, *second]


@asynccontextmanager
async def speaking(services: Services, scenarios: Mapping[str, Sequence[Turn]]) -> AsyncIterator[Model]:
    """A model for the server's conversations and for its memory work."""
    async with model_of(scenarios) as model:
        book = services.config.profiles
        settings = {"apiProvider": "lmstudio", "lmStudioModelId": "m", "lmStudioBaseUrl": model.url}
        await book.update(book.current.id, settings)
        yield model


async def rest(
    jp_fetch: Fetch, *path: str, method: str = "GET", query: Mapping[str, str] | None = None, **body: object
) -> Any:
    has_body = method in ("POST", "PATCH")
    answer = await jp_fetch(*API, *path, method=method, params=query or {}, body=json.dumps(body) if has_body else None)
    return json.loads(answer.body)


async def refused(
    jp_fetch: Fetch, *path: str, method: str = "GET", query: Mapping[str, str] | None = None, **body: object
) -> tuple[int, str]:
    with pytest.raises(HTTPClientError) as caught:
        await rest(jp_fetch, *path, method=method, query=query, **body)
    assert caught.value.response is not None
    return caught.value.code, json.loads(caught.value.response.body)["message"]


def user_texts(body: Body) -> str:
    return json.dumps([message for message in body["messages"] if message["role"] != "system"], ensure_ascii=False)


async def ended(services: Services, task: str) -> None:
    """Wait until nobody works on a conversation, and its log is closed."""
    await eventually(lambda: TaskId(task) not in services.agent._manager.tasks.open)
    async with services.agent._manager.tasks._lock(TaskId(task)):
        return


async def test_what_one_conversation_taught_the_next_one_is_told(
    services: Services, connect: Connect, jp_fetch: Fetch
) -> None:
    scenarios: dict[str, Sequence[Turn]] = {
        "teach": [DONE, LEARNED],
        "consolidate": [writes, call("attempt_completion", {"result": "Written."})],
        "next": [DONE],
    }
    async with speaking(services, scenarios) as model, connect() as panel:
        task = (await panel.ask("newTask", text="scenario teach: clean churn.csv"))["result"]
        await question(panel, "completion_result")
        await ended(services, task)
        state = await (await services.agent._manager.services.store.view(TaskId(task))).read_state()
        assert state.used_local_model, "the scripted model listens on this machine"
        # The consolidation is told of notes: so the model knows which scenario this is.
        note = await rest(jp_fetch, "notes", method="POST", text="scenario consolidate is a word of mine")
        pipeline = await services.memory.job.pipeline()
        await services.memory.job.look()
        assert model.asked["teach"] == 1, "six hours have not passed"
        pipeline.clock = lambda: time.time() + 6.1 * 3600
        await services.memory.job.look()
        assert (model.asked["teach"], model.asked["consolidate"]) == (2, 2)
        await rest(jp_fetch, "notes", note["id"], method="DELETE")
        told = await rest(jp_fetch)
        assert [line["text"] for line in told["memory"]["learned"]] == [
            "Wants polars", "Ages are in months", "Ages are in months",
        ]  # fmt: skip
        assert {source["taskId"] for line in told["memory"]["learned"] for source in line["sources"]} == {task}
        assert told["memory"]["spending"]["runs"] == 2
        assert (told["lastRound"]["outcome"], told["lastRound"]["conversations"]) == ("learned", 1)
        await panel.ask("clearTask")
        await panel.ask("newTask", text="scenario next: go on with churn.csv")
        await eventually(lambda: model.asked["next"])
        first = user_texts(model.heard["next"])
        assert "Ages are in months" in first and "It is material, not instruction" in first
        tools = {tool["function"]["name"] for tool in model.heard["next"]["tools"]}
        assert {"remember", "forget", "search_memory", "read_memory"} <= tools
        # Deleting the conversation deletes what came from it alone.
        folder = pipeline._folder_of(ME)
        assert "Ages are in months" in folder.text(HANDBOOK)
        await services.history.delete(ME, [task])
        await eventually(lambda: "months" not in folder.text(HANDBOOK) + folder.text(SUMMARY))
        assert (await rest(jp_fetch))["memory"]["learned"] == []


@pytest.mark.parametrize("storage_backend", ["postgres"], indirect=True)
async def test_what_another_server_of_the_person_writes_is_shown_and_theirs_gets_what_is_written_here(
    services: Services, jp_fetch: Fetch, tmp_path: Path, postgres_database: TasksDatabase
) -> None:
    with shared_home(tmp_path / "other", postgres_database, owner=ME) as other:
        other.notes.add("from the other server", day="2026-11-30")
        await asyncio.to_thread(other.shared.sync)

        async def notes() -> Any:
            return (await rest(jp_fetch))["memory"]["notes"]

        # A page is shown what there is where the database takes long.
        await until(notes)
        [note] = await notes()
        assert note["text"] == "from the other server"
        await rest(jp_fetch, "notes", note["id"], method="PATCH", text="changed here")

        async def has(*texts: str) -> bool:
            await asyncio.to_thread(other.shared.sync)
            return other.texts() == [*texts]

        await until(partial(has, "changed here"))
        other.notes.delete(note["id"])
        other.folder.write(SUMMARY, "## User Profile\n- Wants polars\n")
        await asyncio.to_thread(other.shared.sync)
        # It hears of that by itself.
        profile = services.storage.home / "memories" / "profile.md"
        await eventually(lambda: "changed here" not in profile.read_text())
        [line] = (await rest(jp_fetch))["memory"]["learned"]
        await rest(jp_fetch, "learned", line["id"], method="DELETE")
        await until(partial(gone, other))
    sharing = services.agent.memories.sharing
    assert sharing is not None
    sharing.on_joined(ME, SyncReport(twice=2, aside=["other_versions/x"]))
    await eventually(lambda: len(services.notices.standing) == 2)
    assert {notice.code: notice.params for notice in services.notices.standing} == {
        "memory_changed_twice": {"count": 2},
        "memory_set_aside": {"count": 1, "folder": "other_versions"},
    }


async def gone(other: SharedHome) -> bool:
    await asyncio.to_thread(other.shared.sync)
    return "polars" not in other.folder.text(SUMMARY)


async def test_memory_files_that_cannot_be_read_are_told_of_once_and_left_out(
    services: Services, connect: Connect, storage_dir: Path
) -> None:
    (storage_dir / "memories" / SUMMARY).mkdir(parents=True)
    async with speaking(services, {"go": [DONE]}), connect() as panel:
        await panel.ask("newTask", text="scenario go")
        await question(panel, "completion_result")
        await eventually(lambda: services.notices.standing)
        assert [(notice.code, notice.params) for notice in services.notices.standing] == [
            ("memory_unreadable", {"count": 1})
        ]
        (storage_dir / "memories" / SUMMARY).rmdir()
        await panel.ask("clearTask")
        await panel.ask("newTask", text="scenario go: again")
        await eventually(lambda: not services.notices.standing)


async def test_what_a_person_asks_to_remember_is_kept_after_they_agree_and_told_from_then_on(
    services: Services, connect: Connect, jp_fetch: Fetch
) -> None:
    keep = call("remember", {"text": "항상 polars를 쓴다"})
    scenarios: dict[str, Sequence[Turn]] = {"keep": [keep, DONE], "next": [DONE], "off": [DONE]}
    async with speaking(services, scenarios) as model, connect() as panel:
        task = (await panel.ask("newTask", text="scenario keep: polars를 쓴다고 기억해 줘"))["result"]
        ts = await question(panel, "tool")
        [asking] = asked(panel, "tool")
        assert json.loads(str(asking["text"])) == {
            "tool": "remember",
            "content": "항상 polars를 쓴다",
            "source": "person",
        }
        assert (await rest(jp_fetch))["memory"]["notes"] == []
        await panel.ask("askResponse", messageTs=ts, askResponse="yesButtonClicked")
        await question(panel, "completion_result")
        [note] = (await rest(jp_fetch))["memory"]["notes"]
        assert (note["text"], note["scope"], note["task"]) == ("항상 polars를 쓴다", "person", task)
        await panel.ask("clearTask")
        await panel.ask("newTask", text="scenario next: plot")
        await eventually(lambda: model.asked["next"])
        assert "항상 polars를 쓴다" in user_texts(model.heard["next"])
        await panel.ask("clearTask")
        await services.config.update({"memoryEnabled": False})
        await panel.ask("newTask", text="scenario off: plot")
        await eventually(lambda: model.asked["off"])
        assert "polars" not in user_texts(model.heard["off"])
        tools = {tool["function"]["name"] for tool in model.heard["off"]["tools"]}
        assert not tools & {"remember", "forget", "search_memory", "read_memory"}


async def test_memory_is_turned_off_for_one_conversation_and_on_again(
    services: Services, connect: Connect, jp_fetch: Fetch
) -> None:
    ask = call("ask_followup_question", {"question": "Which?", "follow_up": [{"text": "This"}]})
    scenarios: dict[str, Sequence[Turn]] = {"here": [ask, DONE, DONE]}
    await rest(jp_fetch, "notes", method="POST", text="Use polars")
    async with speaking(services, scenarios) as model, connect() as panel:
        task = (await panel.ask("newTask", text="scenario here: plot"))["result"]
        ts = await question(panel, "followup")
        assert "Use polars" in user_texts(model.heard["here"])
        assert (await panel.ask("rememberTask", taskId=task, remember=False))["ok"]
        assert (await services.history.item(ME, task)).memory_off is True
        await panel.ask("askResponse", messageTs=ts, askResponse="messageResponse", text="This")
        await question(panel, "completion_result")
        assert "remember" not in {tool["function"]["name"] for tool in model.heard["here"]["tools"]}
        await ended(services, task)
        pipeline = await services.memory.job.pipeline()
        pipeline.clock = lambda: time.time() + 7 * 3600
        await services.memory.job.look()
        assert model.asked["here"] == 2, "nothing is learned from it"
        assert (await panel.ask("rememberTask", taskId=task, remember=True))["ok"]
        assert (await services.history.item(ME, task)).memory_off is None


async def test_notes_are_added_changed_pinned_and_deleted_over_rest(services: Services, jp_fetch: Fetch) -> None:
    note = await rest(jp_fetch, "notes", method="POST", text="Use polars")
    assert (note["scope"], note["pinned"]) == ("person", False)
    changed = await rest(jp_fetch, "notes", note["id"], method="PATCH", text="Use polars 1.x", pinned=True)
    assert (changed["id"], changed["text"], changed["pinned"]) == (note["id"], "Use polars 1.x", True)
    assert [each["id"] for each in (await rest(jp_fetch))["memory"]["notes"]] == [note["id"]]
    await rest(jp_fetch, "notes", note["id"], method="DELETE")
    assert (await rest(jp_fetch))["memory"]["notes"] == []
    assert (await refused(jp_fetch, "notes", note["id"], method="DELETE"))[0] == 404
    assert (await refused(jp_fetch, "notes", method="POST", text=""))[0] == 400
    assert (await refused(jp_fetch, "notes", method="POST", text="x", scope="everyone"))[0] == 400
    assert (await refused(jp_fetch, "learned", "nothing", method="DELETE"))[0] == 404
    assert (await refused(jp_fetch, "undo", method="POST"))[0] == 404


async def test_notes_of_the_folder_need_its_trust(services: Services, jp_fetch: Fetch, jp_root_dir: Path) -> None:
    code, why = await refused(jp_fetch, "notes", method="POST", text="Data is in raw/", scope="workspace")
    assert code == 403 and "not trusted" in why
    await services.folder_trusts.trust.decide(jp_root_dir, True)
    note = await rest(jp_fetch, "notes", method="POST", text="Data is in raw/", scope="workspace")
    assert "Data is in raw/" in (jp_root_dir / ".hdsp" / "memory" / "notes.md").read_text()
    about = await rest(
        jp_fetch, "notes", method="POST", query={"notebook": "a/b.ipynb"}, text="Needs GPU", scope="notebook"
    )
    seen = await rest(jp_fetch, query={"notebook": "a/b.ipynb"})
    assert [each["id"] for each in seen["memory"]["notes"]] == [note["id"], about["id"]]
    assert [each["id"] for each in (await rest(jp_fetch))["memory"]["notes"]] == [note["id"]]


async def test_everything_can_be_forgotten_at_once(services: Services, jp_fetch: Fetch) -> None:
    for text in ("a", "b"):
        await rest(jp_fetch, "notes", method="POST", text=text)
    assert await rest(jp_fetch, method="DELETE", query={"what": "all"}) == {"notes": 2, "learned": True}
    assert (await rest(jp_fetch))["memory"]["notes"] == []
    assert (await refused(jp_fetch, method="DELETE", query={"what": "some"}))[0] == 400
    assert (await refused(jp_fetch, method="DELETE"))[0] == 400


async def test_a_run_is_refused_while_memory_is_off(services: Services, jp_fetch: Fetch) -> None:
    await services.config.update({"memoryEnabled": False})
    assert (await refused(jp_fetch, "run", method="POST"))[0] == 409
    await services.config.update({"memoryEnabled": True})
    code, why = await refused(jp_fetch, "run", method="POST")
    assert code == 409 and "No model is set up" in why
    async with speaking(services, {}):
        assert await rest(jp_fetch, "run", method="POST") == {"done": True}
        await eventually(lambda: not services.memory.job.is_running(ME))
    await services.config.profiles.update(services.config.profiles.current.id, {"apiProvider": "local"})
    assert "too small" in (await refused(jp_fetch, "run", method="POST"))[1]


async def test_how_the_last_round_ended_is_told(services: Services, jp_fetch: Fetch) -> None:
    assert "lastRound" not in await rest(jp_fetch)
    await services.memory.job.look()
    ended_round = (await rest(jp_fetch))["lastRound"]
    assert (ended_round["outcome"], ended_round["noModel"]) == ("unusable", "not_set_up")
    assert "No model is set up" in ended_round["error"]
    async with speaking(services, {}):
        # No money is left, and nothing waits for it.
        await services.config.update({"memoryDailyCost": 0})
        await services.memory.job.look()
        assert (await rest(jp_fetch))["lastRound"]["outcome"] == "nothing"
        await services.config.update({"memoryDailyCost": 1})
        await services.memory.job.look()
        assert (await rest(jp_fetch))["lastRound"]["outcome"] == "nothing"
        pipeline = await services.memory.job.pipeline()
        pipeline.round = broken  # type: ignore[method-assign]
        with pytest.raises(StorageUnavailable):
            await services.memory.job.look()
        ended_round = (await rest(jp_fetch))["lastRound"]
        assert (ended_round["outcome"], ended_round["error"]) == ("failed", "The disk is full.")


async def broken(owner: str, *, is_asked_for: bool = False) -> RoundReport:
    raise StorageUnavailable("The disk is full.")


async def test_pages_hear_that_something_is_remembered_changed_or_learned(
    services: Services, connect: Connect, jp_fetch: Fetch
) -> None:
    async with connect() as page, connect() as other:
        heard = 0

        async def told() -> None:
            nonlocal heard
            for one in (page, other):
                await one.until(lambda one=one: len(messages(one, "memoryUpdated")) > heard)  # type: ignore[misc]
            heard = len(messages(page, "memoryUpdated"))

        note = await rest(jp_fetch, "notes", method="POST", text="Use polars")
        await told()
        await rest(jp_fetch, "notes", note["id"], method="PATCH", text="Use polars 1.x")
        await told()
        # As a tool does, in a thread of its own.
        memory = services.agent.memories.of_task(ME, None, lambda: None)
        await asyncio.to_thread(memory.forget, note["id"])
        await told()
        await services.memory.job.look()
        await told()


async def test_a_notebook_that_is_found_says_where_jupyter_has_it(
    services: Services, jp_fetch: Fetch, jp_root_dir: Path
) -> None:
    folder = jp_root_dir / "deep"
    folder.mkdir()
    cell = nbformat.v4.new_code_cell("rents = load('flats.csv')", id="load")
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), folder / "rents.ipynb")
    await services.past.feed.catch_up(ME)
    answer = json.loads((await jp_fetch("hdsp-agent", "api", "recall", params={"query": "flats.csv"})).body)
    assert [(one["kind"], one["place"], one["path"]) for one in answer["found"]] == [
        ("notebook", "load", "deep/rents.ipynb")
    ]


async def test_what_was_said_before_is_found_over_rest_and_by_the_agent(
    services: Services, connect: Connect, jp_fetch: Fetch
) -> None:
    search = call("search_tasks", {"query": "which palette"})
    scenarios: dict[str, Sequence[Turn]] = {
        "first": [call("attempt_completion", {"result": "The zebra palette is used for all plots."})],
        "second": [search, DONE],
    }
    async with speaking(services, scenarios) as model, connect() as panel:
        first = (await panel.ask("newTask", text="scenario first: choose a palette"))["result"]
        await question(panel, "completion_result")
        await ended(services, first)
        answer = json.loads((await jp_fetch("hdsp-agent", "api", "recall", params={"query": "zebra palette"})).body)
        best = next(one for one in answer["found"][:2] if "zebra" in one["text"])
        assert (best["kind"], best["source"], best["author"]) == ("conversation", first, "agent")
        assert {part["text"].lower() for part in best["snippet"] if part["found"]} >= {"zebra"}
        await panel.ask("clearTask")
        second = (await panel.ask("newTask", text="scenario second: plot again"))["result"]
        ts = await question(panel, "tool")
        await panel.ask("askResponse", messageTs=ts, askResponse="yesButtonClicked")
        await eventually(lambda: model.asked["second"] == 2)
        assert "The zebra palette is used for all plots." in user_texts(model.heard["second"])
        await question(panel, "completion_result")
        [shown] = said(panel, "codebase_search_result")
        found = CodebaseSearchResult.model_validate_json(shown).content
        assert found.query == "which palette"
        hit = next(hit for hit in found.results if "zebra" in hit.code_chunk)
        assert (hit.kind, hit.source, hit.author, hit.place) == ("conversation", first, "agent", best["place"])
        export = await jp_fetch("hdsp-agent", "api", "tasks", second, "export", params={"format": "markdown"})
        # Whoever is given the export is not given the other conversation.
        assert "Another conversation, " in export.body.decode()
        assert "zebra" not in export.body.decode() and '"results"' not in export.body.decode()
        # What was found is no word of this conversation.
        listed = json.loads((await jp_fetch("hdsp-agent", "api", "history", params={"query": "zebra"})).body)
        assert second not in {item["id"] for item in listed["taskHistory"]}
        assert (await panel.ask("rewindTask", messageTs=ts, keep=True))["ok"]
        await panel.until(lambda: not said(panel, "codebase_search_result"))
        await services.history.delete(ME, [first])
        answer = json.loads((await jp_fetch("hdsp-agent", "api", "recall", params={"query": "zebra"})).body)
        assert first not in {one["source"] for one in answer["found"]}
    with pytest.raises(HTTPClientError) as caught:
        await jp_fetch("hdsp-agent", "api", "recall", params={"query": "x", "kinds": "everything"})
    assert caught.value.code == 400


def used(panel: Panel) -> list[set[tuple[str, str, bool]]]:
    """What of the past each result on screen says that it was given for: kind, title, and whether it was told."""
    return [
        {(item["kind"], item["title"], item.get("told") is True) for item in message.get("recalled", ())}  # type: ignore[attr-defined]
        for message in conversation(panel).values()
        if message.get("say") == "completion_result"
    ]


async def test_an_answer_says_what_was_told_and_read_for_it(
    services: Services, connect: Connect, jp_fetch: Fetch
) -> None:
    scenarios: dict[str, Sequence[Turn]] = {
        "first": [call("attempt_completion", {"result": "The zebra palette is used for all plots."})],
        "plain": [DONE],
        "second": [
            call("search_memory", {"query": "polars"}),
            call("read_memory", {"path": "MEMORY.md"}),
            call("search_tasks", {"query": "which palette"}),
            *[DONE] * 3,
        ],
    }
    told = {("note", "Use polars", True), ("learned", "memory_summary.md", True)}

    async def say(panel: Panel, text: str) -> None:
        results = len(used(panel))
        ts = await question(panel, "completion_result")
        await ended(services, task)
        answer = await panel.ask("askResponse", messageTs=ts, askResponse="messageResponse", text=text, taskId=task)
        assert answer["ok"], answer
        await panel.until(lambda: len(used(panel)) > results)

    async with speaking(services, scenarios), connect() as panel:
        first = (await panel.ask("newTask", text="scenario first: choose a palette"))["result"]
        await question(panel, "completion_result")
        await ended(services, first)
        assert used(panel) == [set()], "nothing was remembered yet"
        await panel.ask("clearTask")
        note = await rest(jp_fetch, "notes", method="POST", text="Use polars")
        folder = services.agent.memories.folder(ME)
        folder.write("memory_summary.md", "## User Profile\n- Wants polars")
        folder.write("MEMORY.md", "# Task Group: churn\n- ages are in months")
        task = (await panel.ask("newTask", text="scenario second: plot again"))["result"]
        ts = await question(panel, "tool")
        await panel.ask("askResponse", messageTs=ts, askResponse="yesButtonClicked")
        await question(panel, "completion_result")
        title = "scenario first: choose a palette"
        read = {("learned", "MEMORY.md", False), ("conversation", title, False)}
        assert used(panel) == [told | read]
        tools = [message for message in conversation(panel).values() if message.get("ask") == "tool"]
        assert [{item["title"] for item in tool["recalled"]} for tool in tools] == [  # type: ignore[attr-defined]
            {"Use polars", "memory_summary.md"}, {"MEMORY.md"}, {title},
        ]  # fmt: skip

        # What was read for one answer was not read for the next; what was told is known until it is told to be gone.
        await say(panel, "And now?")
        assert used(panel)[1] == told
        await rest(jp_fetch, "notes", note["id"], method="DELETE")
        await say(panel, "And now?")
        assert used(panel)[2] == told - {("note", "Use polars", True)}

        # It is part of the log: whoever opens the conversation later sees it too.
        await panel.ask("clearTask")
        await ended(services, task)
        await panel.ask("showTaskWithId", taskId=task)
        await panel.until(lambda: len(used(panel)) == 3)
        assert used(panel)[0] == told | read
        await panel.ask("clearTask")
        await services.config.update({"memoryEnabled": False})
        await panel.ask("newTask", text="scenario plain: plot")
        await question(panel, "completion_result")
        assert used(panel) == [set()]


class TestAnOperatorWhoForbidsIt:
    @pytest.fixture
    def jp_server_config(self, jp_server_config: dict[str, dict[str, object]]) -> dict[str, dict[str, object]]:
        jp_server_config["HdspAgentApp"]["allow_memory"] = False
        return jp_server_config

    async def test_nothing_is_kept_or_shown(
        self, services: Services, jp_fetch: Fetch, jp_serverapp: ServerApp, connect: Connect
    ) -> None:
        assert services.config.settings.memory_enabled is False
        assert "memoryEnabled" in services.config.fixed
        assert (await refused(jp_fetch))[0] == 403
        assert (await refused(jp_fetch, "notes", method="POST", text="x"))[0] == 403
        assert (await refused(jp_fetch, "run", method="POST"))[0] == 403
        assert not (services.storage.home / "memories").exists()

    @pytest.mark.parametrize("storage_backend", ["postgres"], indirect=True)
    async def test_deleting_a_conversation_brings_nothing_from_other_servers(
        self, services: Services, tmp_path: Path, postgres_database: TasksDatabase
    ) -> None:
        with shared_home(tmp_path / "other", postgres_database, owner=ME) as other:
            other.notes.add("from the other server", day="2026-11-30")
            await asyncio.to_thread(other.shared.sync)
            await services.memory.deleted(ME, ["00000001"])
        assert not (services.storage.home / "memories").exists()
