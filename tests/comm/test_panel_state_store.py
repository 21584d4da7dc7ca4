"""What was on whose screen when the server ended is there again when it is back."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from jupyter_server.serverapp import ServerApp

from hdsp_agent.comm import Owner
from hdsp_agent.comm.panel_state_store import PanelState, PanelStateStore
from hdsp_agent.comm.services import Services
from hdsp_agent.persistence import examine
from tests.comm._helpers.scripted_pages import question, said, speak
from tests.comm.channel._helpers.channel_panel import Panel
from tests.comm.conftest import Connect, messages
from tests.comm.test_running_agent import DONE, ME, WRITE, another_server


def first_shown(page: Panel) -> str | None:
    task: str | None = messages(page, "state")[0]["state"].get("currentTaskId")
    return task


async def test_a_page_that_opens_after_a_restart_begins_with_what_was_on_screen(
    services: Services, jp_serverapp: ServerApp, connect: Connect, tmp_path: Path
) -> None:
    await speak(services, tmp_path, WRITE, DONE)
    async with connect() as page:
        waiting = (await page.ask("newTask", text="Write a note"))["result"]
        ts = await question(page, "tool")
    async with another_server(jp_serverapp) as again:
        await speak(again, tmp_path, DONE)
        async with connect() as page, connect() as other:
            assert first_shown(page) == first_shown(other) == waiting
            assert await question(page, "tool") == ts
            finished = (await page.ask("newTask", text="Something else"))["result"]
            await question(page, "completion_result")
    async with another_server(jp_serverapp) as again, connect() as page:
        assert first_shown(page) == finished
        assert said(page, "completion_result") == ["It is written."]
        # It was finished: nobody has taken it up, or asks anything new.
        assert again.history.details(finished) is None
        assert (await page.ask("clearTask"))["ok"]
    async with another_server(jp_serverapp), connect() as page:
        assert first_shown(page) is None


async def test_a_conversation_that_was_deleted_meanwhile_leaves_an_empty_screen(
    services: Services, jp_serverapp: ServerApp, connect: Connect, tmp_path: Path, storage_dir: Path
) -> None:
    await speak(services, tmp_path, DONE)
    async with connect() as page:
        task = (await page.ask("newTask", text="Be done"))["result"]
        await question(page, "completion_result")
    panels = storage_dir / "screens.json"
    async with another_server(jp_serverapp) as again:
        remembered = panels.read_bytes()
        await again.history.delete(ME, [task])
    panels.write_bytes(remembered)
    async with another_server(jp_serverapp), connect() as page:
        assert first_shown(page) is None


async def test_owners_and_servers_have_screens_of_their_own_and_a_damaged_file_costs_a_click(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    ada, ben = Owner("ada"), Owner("ben")
    one, two = PanelStateStore(home, Path("/one")), PanelStateStore(home, Path("/two"))
    one.remember(ada, PanelState(shown="a", open=["x", "a"]))
    one.remember(ben, PanelState(shown="b"))
    two.remember(ada, PanelState(shown="c"))
    one.remember(ben, PanelState())
    await asyncio.gather(one.stop(), two.stop())
    again = PanelStateStore(home, Path("/one"))
    assert [await again.recall(ada), await again.recall(ben)] == [
        PanelState(shown="a", open=["x", "a"]),
        PanelState(),
    ]
    assert await PanelStateStore(home, Path("/two")).recall(ada) == PanelState(shown="c")
    assert (home / "screens.json").stat().st_mode & 0o077 == 0
    assert (await examine(home)).notes == []
    (home / "screens.json").write_text("[torn")
    assert await again.recall(ada) == PanelState()
    again.remember(ada, PanelState(shown="d"))
    await again.stop()
    assert json.loads((home / "screens.json").read_text()) == {"/one": {"ada": {"shown": "d", "open": []}}}
