"""Two people in one server: whatever one of them tries, the other's conversations stay unseen and as they are."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from hdsp_agent.comm._owner import Owner
from hdsp_agent.comm.checkpoint_access import CheckpointPlace
from hdsp_agent.comm.services import Services
from hdsp_agent.messages import TaskId, WebviewMessage
from hdsp_agent.wire import WireModel
from tests.attacks._helpers.people import ADA, BOB, OpenPage, server_of
from tests.attacks._helpers.planted_data import Planted, begin_conversation, plant, snapshot
from tests.attacks._helpers.raw_http import Answer, request
from tests.attacks._helpers.routes import METHODS, routes_of
from tests.comm._helpers.scripted_pages import asked, question, speak
from tests.comm.channel._helpers.channel_panel import Frame, Panel
from tests.messages._helpers.vocabulary_samples import arms, full, minimal

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp

Ask = Callable[..., Awaitable[Answer]]

WORD = "aardvark"
NOT_ABOUT_TASKS = ("Api", "Settings", "Configuration", "Commands", "mode")
"""What these messages are about all people of a server share: the settings, and the profiles in them."""


@pytest.fixture
def jp_server_config(jp_server_config: dict[str, dict[str, object]]) -> dict[str, dict[str, object]]:
    return server_of(jp_server_config)


@pytest.fixture
def ask(jp_http_port: int, http_server: object, jp_base_url: str) -> Ask:
    async def asked_for(person: dict[str, str], method: str, path: str, body: bytes = b"") -> Answer:
        return await request(jp_http_port, method, f"{jp_base_url}hdsp-agent/api/{path}", person, body)

    return asked_for


def folder_of(storage_dir: Path, task: str) -> Path:
    """Where a task is kept."""
    (found,) = (path for path in (storage_dir / "contexts").glob(f"*/{task}"))
    return found


async def test_no_route_shows_or_changes_what_is_anothers(
    services: Services,
    jp_serverapp: ServerApp,
    jp_http_port: int,
    http_server: object,
    jp_root_dir: Path,
    storage_dir: Path,
) -> None:
    planted = await plant(services, jp_root_dir, user="ada", word=WORD)
    hers = folder_of(storage_dir, planted.task)
    before = snapshot(hers)
    bodies = (b"", b'{"title": "mine", "isFavorited": true}', b'{"task": "%s"}' % planted.task.encode())
    for route in routes_of(jp_serverapp):
        if "(?P<task>" not in route.pattern:
            continue
        for method in METHODS:
            for body in bodies if method in ("POST", "PUT", "PATCH") else (b"",):
                answer = await request(jp_http_port, method, route.path(planted.values), BOB, body)
                assert answer.status in ((400, 404) if route.takes(method) else (403, 405)), (
                    method,
                    route,
                    answer.text,
                )
                assert WORD not in answer.text
    assert snapshot(hers) == before
    # She herself sees it.
    assert WORD in (await request(jp_http_port, "GET", _history(jp_serverapp, planted), ADA)).text


def _history(app: ServerApp, planted: Planted) -> str:
    (route,) = (route for route in routes_of(app) if route.pattern.rstrip("$").endswith("history/(?P<task>[^/]+)"))
    return route.path(planted.values)


GUESSES: list[Callable[[str], str]] = [
    lambda task: task.upper(),
    lambda task: task[:-1],
    lambda task: task.replace("-", ""),
    lambda task: f"{task}.",
    lambda task: f"{task} ",
    lambda task: f" {task}",
    lambda task: f"{task}\0",
    lambda task: f"{task}\n",
    lambda task: f"../completed/{task}",
    lambda task: f"./{task}",
    lambda task: f"x/../{task}",
    lambda task: f"..\\completed\\{task}",
    lambda task: f"{task}/../{task}",
    lambda task: f"{{{task}}}",
    lambda task: "*",
    lambda task: "%",
    lambda task: f"{task[:8]}*",
    lambda task: f"' OR '1'='1' --{task}",
    lambda task: "..",
    lambda task: ".",
    lambda task: "../../state.db",
    lambda task: "../../../etc/passwd",
    lambda task: "/etc/passwd",
    lambda task: "a" * 5_000,
    lambda task: "\u202e" + task,
]


async def test_nobody_guesses_their_way_to_a_conversation(
    services: Services, ask: Ask, jp_root_dir: Path, storage_dir: Path
) -> None:
    planted = await plant(services, jp_root_dir, user="ada", word=WORD)
    before = snapshot(folder_of(storage_dir, planted.task))
    for guess in GUESSES:
        name = quote(guess(planted.task), safe="")
        for method, path in [
            ("GET", f"history/{name}"), ("DELETE", f"history/{name}"), ("GET", f"tasks/{name}"),
            ("GET", f"tasks/{name}/logs/ui"), ("GET", f"tasks/{name}/export"), ("GET", f"tasks/{name}/context"),
            ("GET", f"tasks/{name}/numbers?ts=1"), ("GET", f"tasks/{name}/artifacts/{planted.artifact}"), ("GET", f"checkpoints?task={name}"),
            ("GET", f"checkpoints/{planted.checkpoint}/diff?task={name}"),
        ]:  # fmt: skip
            answer = await ask(BOB, method, path)
            assert answer.status in (400, 404), (method, path, answer.text)
            assert WORD not in answer.text and "root:" not in answer.text
    assert snapshot(folder_of(storage_dir, planted.task)) == before


async def test_lists_searches_places_and_figures_are_each_persons_own(
    services: Services, ask: Ask, jp_root_dir: Path
) -> None:
    planted = await plant(services, jp_root_dir, user="ada", word=WORD)
    await begin_conversation(services, jp_root_dir, user="bob", word="badger")
    for path in (
        "history", f"history?query={WORD}", f"history?query={planted.task}", f"history?notebook={WORD}.ipynb", "history?query=*",
        "history?query=%25", "history?query=%22%20OR%20%22a", f"history?query=owner:ada%20OR%20{WORD}",
        "history?sort=mostExpensive&limit=500", "history/places", "statistics", "storage", "health", "settings/export",
    ):  # fmt: skip
        answer = await ask(BOB, "GET", path)
        assert answer.status in (200, 400), (path, answer.text)
        if path != "settings/export":
            assert WORD not in answer.text and planted.task not in answer.text, (path, answer.text)
    listed = json.loads((await ask(BOB, "GET", "history")).body)
    assert (listed["total"], listed["taskHistory"][0]["task"]) == (1, "badger in the first words")
    assert json.loads((await ask(BOB, "GET", "statistics")).body)["total"]["tasks"] == 1
    # A page's cursor is no way to another's list.
    cursor = json.loads((await ask(ADA, "GET", "history?limit=1")).body).get("nextCursor")
    assert cursor is None or WORD not in (await ask(BOB, "GET", f"history?cursor={quote(cursor)}")).text


async def test_a_checkpoint_takes_no_other_persons_conversation_back(
    services: Services, ask: Ask, page: OpenPage, tmp_path: Path, jp_root_dir: Path, storage_dir: Path
) -> None:
    """Files of a shared folder belong to all who may write in it; what was said belongs to who said it."""
    await speak(services, tmp_path, _WRITE, _DONE)
    await services.config.update(_ALLOWED)
    async with page(ADA) as ada:
        task = str((await ada.ask("newTask", text=f"{WORD}: write a note"))["result"])
        await question(ada, "completion_result")
        line = await services.checkpoints.view(CheckpointPlace(Owner("ada"), task))
        points = [operation.checkpoint for operation in line.operations]
        hers = [point.id for point in points if point is not None and point.task_id == task]
        files = snapshot(jp_root_dir)
        whole = {"parts": {"files": True, "conversation": True, "overwrite": True}}
        for checkpoint in hers:
            for verb in ("preview", "restore"):
                for named in ({}, {"task": task}):
                    await _refused(ask(BOB, "POST", f"checkpoints/{checkpoint}/{verb}", _json({**whole, **named})))
        assert hers and snapshot(jp_root_dir) == files
        # What she herself took back he cannot bring back either.
        restored = await ask(ADA, "POST", f"checkpoints/{hers[-1]}/restore", _json({**whole, "task": task}))
        assert restored.status == 200, restored.text
        operation = json.loads(restored.body)["operation"]["id"]
        marks, files = (folder_of(storage_dir, task) / "marks.jsonl").read_text(), snapshot(jp_root_dir)
        for verb in ("preview", "undo"):
            await _refused(ask(BOB, "POST", f"checkpoint-operations/{operation}/{verb}", b"{}"))
        assert marks and (folder_of(storage_dir, task) / "marks.jsonl").read_text() == marks
        assert snapshot(jp_root_dir) == files


async def _refused(asking: Awaitable[Answer]) -> None:
    answer = await asking
    assert (answer.status, json.loads(answer.body)["code"]) == (404, "unknown_task"), answer.text


def _json(body: object) -> bytes:
    return json.dumps(body).encode()


def _about_tasks() -> list[type[WireModel]]:
    kinds = arms(WebviewMessage)
    assert len(kinds) > 50
    return kinds


def _type_of(kind: type[WireModel]) -> str:
    return str(kind.model_fields["type"].default)


async def test_no_message_reaches_another_persons_conversation(
    services: Services, page: OpenPage, tmp_path: Path, jp_root_dir: Path, storage_dir: Path
) -> None:
    """Every type of message there is, with the id of a task that waits for its person's approval."""
    await speak(services, tmp_path, _WRITE)
    async with page(ADA) as ada, page(BOB) as bob:
        task = str((await ada.ask("newTask", text=f"{WORD}: write a note", notebook={"path": "ada.ipynb"}))["result"])
        ts = await question(ada, "tool")
        await ada.ask("queueMessage", text=f"{WORD} queued")
        for kind in _about_tasks():
            for sample in (minimal(kind), full(kind)):
                answer = await bob.ask(_type_of(kind), **_aimed(sample, task, ts))
                assert answer["ok"] is False, (sample, answer)
                assert answer["error"]["code"] in ("unknown_task", "invalid_input"), (sample, answer)
        # The ids of a list are looked at as well.
        answer = await bob.ask("deleteMultipleTasksWithIds", ids=[task])
        assert answer["error"]["code"] == "unknown_task"
        await _unharmed(services, ada, task, ts, jp_root_dir, storage_dir)
        assert WORD not in json.dumps(bob.frames)


async def test_no_message_without_a_task_means_another_persons(
    services: Services, page: OpenPage, tmp_path: Path, jp_root_dir: Path, storage_dir: Path
) -> None:
    await speak(services, tmp_path, _WRITE)
    async with page(ADA) as ada, page(BOB) as bob:
        task = str((await ada.ask("newTask", text=f"{WORD}: write a note", notebook={"path": "ada.ipynb"}))["result"])
        ts = await question(ada, "tool")
        await ada.ask("queueMessage", text=f"{WORD} queued")
        for kind in _about_tasks():
            if any(part in _type_of(kind) for part in NOT_ABOUT_TASKS) or _type_of(kind) in (
                "newTask",
                "fixCell",
                "editCell",
            ):
                continue
            sample = _aimed(minimal(kind), task, ts)
            if "taskId" not in minimal(kind):
                del sample["taskId"]
            await bob.ask(_type_of(kind), **sample)
        await _unharmed(services, ada, task, ts, jp_root_dir, storage_dir)
        assert WORD not in json.dumps(bob.frames)
        # It still waits for her, and only for her.
        assert (await ada.ask("askResponse", messageTs=ts, askResponse="noButtonClicked", text="No"))["ok"]


async def test_what_one_says_of_a_notebooks_name_changes_no_other_persons_conversation(
    services: Services, page: OpenPage, jp_root_dir: Path
) -> None:
    planted = await plant(services, jp_root_dir, user="ada", word=WORD)
    (jp_root_dir / f"{WORD}.ipynb").write_text('{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}')
    async with page(BOB) as bob:
        for new in ("evil.ipynb", f"{WORD}.ipynb", "../x.ipynb"):
            notebooks = [{"path": new, "revision": 0, "dirty": True}]
            answer = await bob.ask("openNotebooks", notebooks=notebooks, renamed={f"{WORD}.ipynb": new})
            assert answer["ok"], answer
        await services.notebooks._looking_up.drain()
        await services.history._held.drain()
    assert services.notebooks.notebooks.access.now_at(f"{WORD}.ipynb") == f"{WORD}.ipynb"
    item = await services.history.item(Owner("ada"), planted.task)
    assert item.notebook is not None and item.notebook.path == f"{WORD}.ipynb" and item.renames is None


_WRITE = ({"tool": "write_to_file", "arguments": {"path": "note.txt", "content": WORD}, "id": "w"},)
_DONE = ({"tool": "attempt_completion", "arguments": {"result": "It is written."}, "id": "d"},)
_ALLOWED = {"autoApprovalEnabled": True, "alwaysAllowReadOnly": True, "alwaysAllowWrite": True}


def _aimed(sample: Mapping[str, object], task: str, ts: int) -> Frame:
    """A message with another's task, question and places in it wherever it has room for them."""
    aimed = {name: value for name, value in sample.items() if name not in ("type", "requestId")}
    for name in ("messageTs", "value"):
        if isinstance(aimed.get(name), int):
            aimed[name] = ts
    if "ids" in aimed:
        aimed["ids"] = [task]
    return {**aimed, "taskId": task}


async def _unharmed(services: Services, ada: Panel, task: str, ts: int, root: Path, storage_dir: Path) -> None:
    assert [message["ts"] for message in asked(ada, "tool")] == [ts]
    assert not (root / "note.txt").exists()
    manager = await services.agent.manager()
    opened = manager.tasks.opened(TaskId(task))
    assert opened is not None and opened.state.status == "interactive"
    assert [queued.text for queued in opened.state.queue.messages] == [f"{WORD} queued"]
    item = await services.history.item(Owner("ada"), task)
    assert (item.title, item.is_favorited) == (None, None)
    said = (folder_of(storage_dir, task) / "ui_messages.jsonl").read_text()
    assert WORD in said and "mine" not in said
