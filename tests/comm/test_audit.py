"""Who reads or changes which conversation is recorded, over the channel, REST and the command line."""

from __future__ import annotations

import json

from jupyter_server.serverapp import ServerApp

from hdsp_agent.comm.audit import ACTIONS
from hdsp_agent.comm.services import Services
from tests._helpers.jupyter_fetch import Fetch
from tests.comm._helpers.stored_tasks import eventually, keep
from tests.comm.conftest import Connect

SECRET = "the words nobody may find"


def lines(services: Services) -> list[dict[str, str | None]]:
    path = services.storage.home / "audit.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


async def test_what_is_done_over_the_channel_and_rest_is_recorded(
    services: Services, connect: Connect, jp_fetch: Fetch, jp_serverapp: ServerApp
) -> None:
    heard: list[dict[str, str]] = []

    async def listener(logger: object, schema_id: str, data: dict[str, str]) -> None:
        heard.append(data)

    assert jp_serverapp.event_logger is not None
    jp_serverapp.event_logger.add_listener(schema_id="https://hdsp-agent.github.io/events/access/v1", listener=listener)
    me = services.storage.person
    one, two = await keep(services, SECRET), await keep(services, "another")
    async with connect() as panel:
        await panel.ask("showTaskWithId", taskId=one)
        await panel.ask("loadMessages", taskId=one)
        await panel.ask("exportTaskWithId", taskId=one)
        await panel.ask("renameTask", taskId=one, title=SECRET)
        await panel.ask("deleteTaskWithId", taskId=two)
        # What is refused was neither read nor changed.
        assert not (await panel.ask("loadMessages", taskId="nowhere"))["ok"]
    api = ("hdsp-agent", "api")
    await jp_fetch(*api, "history")
    await jp_fetch(*api, "history", "places")
    await jp_fetch(*api, "history", one, method="PATCH", body=json.dumps({"isFavorited": True}))
    await jp_fetch(*api, "tasks", one, "logs", "ui")
    await jp_fetch(*api, "tasks", one, "export", params={"format": "markdown"})
    await jp_fetch(*api, "health")
    await jp_fetch(*api, "history", one, method="DELETE")
    expected = [
        ("read", "channel showTaskWithId", one),
        ("read", "channel loadMessages", one),
        ("export", "channel exportTaskWithId", one),
        ("change", "channel renameTask", one),
        ("delete", "channel deleteTaskWithId", two),
        ("list", "GET history", None),
        ("list", "GET history/places", None),
        ("change", "PATCH history/{task}", one),
        ("read", "GET tasks/{task}/logs", one),
        ("export", "GET tasks/{task}/export", one),
        ("delete", "DELETE history/{task}", one),
    ]
    await services.audit.stop()
    assert [(line["action"], line["via"], line["conversation"]) for line in lines(services)] == expected
    assert {line["user"] for line in lines(services)} == {me}
    assert SECRET not in (services.storage.home / "audit.jsonl").read_text()
    await eventually(lambda: len(heard) >= len(expected))
    assert (heard[0]["user"], heard[0]["action"], heard[0]["task_id"]) == (me, "read", one)


async def test_what_cannot_be_written_is_written_later(services: Services, jp_fetch: Fetch) -> None:
    home = services.storage.home
    await services.storage.store()
    (home / "audit.jsonl").mkdir()
    await jp_fetch("hdsp-agent", "api", "history")
    await eventually(lambda: services.audit._failing)
    (home / "audit.jsonl").rmdir()
    await jp_fetch("hdsp-agent", "api", "tasks", await keep(services, "x"))
    await eventually(lambda: len(lines(services)) == 2)
    assert [line["action"] for line in lines(services)] == ["list", "read"]


def test_all_that_is_said_to_be_recorded_is_something_the_page_can_ask_for(services: Services) -> None:
    dispatcher = services.channels._dispatcher
    assert [name for name in ACTIONS if not dispatcher.handles(name)] == []
