"""One long story: two people and an administrator of a hub work, while everything they need is killed and comes back.

One of them has no JupyterHub: a small server stands for it, and people's servers have no proxy in front.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest
from tornado.httpclient import HTTPClientError

from hdsp_agent.persistence._kept_apart import spool_folder
from tests._helpers.long_tests import rounds
from tests._helpers.postgres import PostgresCluster
from tests._helpers.real_hub import RealHub
from tests._helpers.timing import until

from ._helpers.hub_surroundings import browser_of, log_in, real_hub, small_hub
from ._helpers.lasting_tab import LastingTab
from ._helpers.running import ADMIN
from ._helpers.service_process import PREFIX
from ._helpers.spoken_model import Answer
from ._helpers.story import ASK, SECRETS, Person, Story, budgeted, told_with
from ._helpers.story_records import nothing_was_lost

pytestmark = [pytest.mark.slow, pytest.mark.timeout(rounds(1_800, 7_200))]


async def test_two_people_work_while_database_and_service_are_killed(tmp_path: Path) -> None:
    async with small_hub(tmp_path) as (story, cluster):
        with told_with(story):
            await they_begin(story)
            await a_budget_is_reached_and_raised(story)
            await the_administrator_stops_a_request(story)
            await neither_sees_anything_of_the_other(story)
            await the_database_is_killed(story, cluster)
            await the_service_is_killed(story)
            await they_finish(story)
            await nothing_was_lost(story)


@pytest.mark.skipif(rounds(0, 1) == 0, reason="make test-long installs JupyterHub and its proxy")
async def test_two_people_of_a_hub_work_while_everything_is_killed(tmp_path: Path) -> None:
    async with real_hub(tmp_path) as (story, cluster, hub):
        with told_with(story):
            await they_begin(story)
            await a_budget_is_reached_and_raised(story)
            await the_administrator_stops_a_request(story)
            await neither_sees_anything_of_the_other(story)
            await neither_gets_into_the_other_s_server(story, hub)
            await only_the_administrator_sees_the_pages(story, hub)
            await the_hub_is_killed(story, hub)
            await the_proxy_is_killed(story, hub)
            await the_database_is_killed(story, cluster)
            await the_service_is_killed(story)
            await they_finish(story)
            await nothing_was_lost(story)


# ---- the day begins


async def they_begin(story: Story) -> None:
    """A task each: the model's words, a cell, a result."""
    for person in story.people:
        settings: dict[str, object] = {"requestDelaySeconds": 1}
        if person is story.ada:
            settings |= {"autoApprovalEnabled": True, "alwaysAllowReadOnly": True, "alwaysAllowRunCells": True}
        await story.rest(person, "PATCH", "settings", settings)
        await until(partial(_has_models, story, person))
        await person.tab.open()
    await asyncio.gather(*(_begins(story, person) for person in story.people))


async def _has_models(story: Story, person: Person) -> bool:
    """Whether the hub service has told their server what they may use."""
    profiles = await story.rest(person, "GET", "profiles/default")
    return "qwen3" in json.dumps(profiles)


async def _begins(story: Story, person: Person) -> None:
    first = f"I am {person.name}. My word is {SECRETS[person.name]}. Run my cell."
    person.task = await person.tab.ask("newTask", text=first, notebook={"path": "work.ipynb"})
    person.spoken.append(first)
    answer = await story.model.next(person.name)
    await story.tell(person, answer, "I look at it.")
    await story.run_cell(person, answer, "I look at it.")
    answer = await story.model.next(person.name)
    assert "ran 5" in json.dumps(answer.body["messages"][-1])
    await story.finish(person, answer, "It has run.")


# ---- budgets and the administrator


async def a_budget_is_reached_and_raised(story: Story) -> None:
    """Ada's second answer used it up. Her agent says whom to ask, and goes on once the policies have changed."""
    ada = story.ada
    await ada.says("Tell me more.")
    told = await _question(ada, "api_req_failed")
    assert "Your budget of 15,000 tokens a month is used up." in told and ASK in told, told
    budgeted(story.folder, story.model, 10_000_000)

    async def is_raised() -> bool:
        return bool((await story.usage(ada))["budgets"][0]["limit"] == 10_000_000)

    await until(is_raised)
    await ada.tab.reply("api_req_failed")
    answer = await story.model.next("ada")
    await story.tell(ada, answer, "There is more.")
    await story.run_cell(ada, answer, "There is more.")


async def the_administrator_stops_a_request(story: Story) -> None:
    """What Bob's model had said stays on his screen; he lets it try again."""
    bob = story.bob
    await bob.says("Tell me all.")
    answer = await story.model.next("bob")
    await story.tell(bob, answer, "All of it begins")
    await story.stop_request_of(bob)
    await answer.over.wait()
    bob.broken += 1
    await bob.tab.hears("All of it begins")
    bob.seen.append(bob.words_on_screen())
    await bob.tab.reply("api_req_failed")
    answer = await story.model.next("bob")
    await story.tell(bob, answer, "Once more.")
    await story.run_cell(bob, answer, "Once more.")
    assert "hub stop request of bob" in await story.page("audit")


async def _question(person: Person, kind: str) -> str:
    await person.tab.until(lambda: _waiting(person, kind))
    return _waiting(person, kind)[-1]


def _waiting(person: Person, kind: str) -> list[str]:
    return [str(row.get("text")) for row in person.tab.screen.values() if row.get("ask") == kind]


# ---- nobody sees anything of the other


async def neither_sees_anything_of_the_other(story: Story) -> None:
    """While the requests of both are under way."""
    for person, other in ((story.ada, story.bob), (story.bob, story.ada)):
        await _their_server_has_only_theirs(story, person, other)
        await _the_service_tells_only_theirs(story, person, other)
        await asyncio.to_thread(_the_database_shows_only_theirs, story, person, other)


async def _their_server_has_only_theirs(story: Story, person: Person, other: Person) -> None:
    history = await story.rest(person, "GET", "history?limit=100")
    assert [item["id"] for item in history["taskHistory"]] == [person.task]
    for name, count in ((person.name, 1), (other.name, 0)):
        found = await story.rest(person, "GET", f"history?query={SECRETS[name]}")
        assert len(found["taskHistory"]) == count, (person.name, name, found)
    for path in ("tasks/{}", "tasks/{}/logs/ui", "tasks/{}/export?format=json", "history/{}"):
        for task, status in ((person.task, 200), (other.task, 404)):
            address = f"{person.url}hdsp-agent/api/{path.format(task)}"
            answer = await story.http.get(address, headers=dict(person.headers))
            assert answer.status_code == status and SECRETS[other.name] not in answer.text, (address, answer.text)
    assert SECRETS[other.name] not in json.dumps(person.tab.panel.frames)


async def _the_service_tells_only_theirs(story: Story, person: Person, other: Person) -> None:
    usage = await story.usage(person)
    assert usage["user"] == person.name and other.name not in json.dumps(usage)
    assert (await story.service_says(person, f"api/config/{person.name}")).status_code == 200
    for path in (f"api/config/{other.name}", "api/admin/usage", "api/admin/usage?format=csv"):
        assert (await story.service_says(person, path)).status_code == 403, path
    for path in ("", "usage.csv", f"person?name={other.name}", "policies", "running", "status", "audit"):
        answer = await story.service_says(person, path)
        # A page knows no tokens, only browsers that signed in.
        assert answer.status_code == 302 and other.name not in answer.text, (path, answer.status_code)


def _the_database_shows_only_theirs(story: Story, person: Person, other: Person) -> None:
    whole = _everything(story, "postgres")
    assert all(SECRETS[one.name] in whole for one in story.people)
    shown = _everything(story, person.name)
    assert SECRETS[person.name] in shown and person.task in shown
    assert SECRETS[other.name] not in shown and other.task not in shown


def _everything(story: Story, role: str) -> str:
    """All rows of all tables and views that this role may read."""
    seen = []
    with story.database.connect(role) as connection:
        names = connection.execute(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = 'hdsp_agent'"
        ).fetchall()
        assert len(names) > 10
        for (name,) in names:
            allowed = connection.execute("SELECT has_table_privilege(?, 'SELECT')", (f"hdsp_agent.{name}",)).fetchone()
            if allowed == (True,):
                seen.append(str(connection.execute(f"SELECT * FROM hdsp_agent.{name}").fetchall()))
    return "\n".join(seen)


async def neither_gets_into_the_other_s_server(story: Story, hub: RealHub) -> None:
    """Neither by REST nor by WebSocket: not with what lets them into their own, nor with any token they could make."""
    for person, other in ((story.ada, story.bob), (story.bob, story.ada)):
        made, _ = await hub.token(person.name, f"access:servers!user={person.name}")
        logins: list[dict[str, str]] = [
            dict(person.headers),
            *({"Authorization": f"token {token}"} for token in (person.token, made)),
        ]
        for headers in logins:
            for path in ("history", f"tasks/{other.task}/logs/ui", "settings"):
                answer = await story.http.get(f"{other.url}hdsp-agent/api/{path}", headers=headers)
                assert answer.status_code in (302, 403) and SECRETS[other.name] not in answer.text, answer
            with pytest.raises(HTTPClientError) as refused:
                await LastingTab("stranger", other.url, headers).open()
            assert refused.value.code == 403
        async with browser_of(hub.url) as browser:
            shown = await log_in(browser, f"/user/{other.name}/", person.name)
            assert shown.status_code == 403 and other.task not in shown.text


async def only_the_administrator_sees_the_pages(story: Story, hub: RealHub) -> None:
    """Bob may open the service, and still sees none of its pages; Ada is not let through by the hub."""
    assert ">ada</a>" in await story.page("") and ">bob</a>" in await story.page("policies")
    for person, told in ((story.bob, ADMIN), (story.ada, "")):
        async with browser_of(hub.url) as browser:
            shown = await log_in(browser, PREFIX, person.name)
            assert shown.status_code == 403 and told in shown.text and ">ada</a>" not in shown.text
            for path in ("usage.csv", "running", "status", "person?name=ada"):
                assert (await browser.get(PREFIX + path)).status_code == 403


# ---- what they need is killed and comes back, in the middle of both streams


async def the_hub_is_killed(story: Story, hub: RealHub) -> None:
    """Servers and proxy go on without it. The new one starts a new proxy, so all tabs come back."""
    async with _in_the_middle(story, "the hub") as meanwhile:
        await hub.kill()
        await meanwhile.begin()
        for person in story.people:
            await person.tab.hears(f"{person.name} without the hub.")
        await hub.run()
        for person in story.people:
            await person.tab.come_back()


async def the_proxy_is_killed(story: Story, hub: RealHub) -> None:
    """All tabs lose their connection, and come back when the hub has started another one. Nobody waits for them."""
    async with _in_the_middle(story, "the proxy") as meanwhile:
        hub.kill_proxy()
        for person in story.people:
            await person.tab.panel.closed.wait()
        await meanwhile.begin()


async def the_database_is_killed(story: Story, cluster: PostgresCluster) -> None:
    """Meanwhile both hear more, and what is to be recorded of it is kept for the database. The next step waits for it."""
    async with _in_the_middle(story, "the database") as meanwhile:
        await asyncio.to_thread(cluster.stop, "immediate")
        try:
            await meanwhile.begin()
            for person in story.people:
                await person.tab.hears(f"{person.name} without the database.")
                await until(partial(_keeps_something, person))
        finally:
            await asyncio.to_thread(cluster.start)


def _keeps_something(person: Person) -> bool:
    return any(spool_folder(person.home).glob("*.spool"))


async def the_service_is_killed(story: Story) -> None:
    """It passes both streams on, so both are cut off. Ada's agent asks again by itself, Bob's asks him."""
    answers = await _both_stream(story, "before the service went.")
    await story.service.kill()
    for person in story.people:
        await answers[person.name].over.wait()
        person.broken += 1
        await person.says(f"I am {person.name}, who waits for the service.", queued=True)
    await story.service.run()
    await story.bob.tab.reply("api_req_failed")
    await _both_go_on(story, {one.name: await story.model.next(one.name) for one in story.people}, "the service")


class _Meanwhile:
    """What people and their agents do while something is gone. Ada's answer ends, her cell runs, and the model is asked
    anew; Bob's answer goes on all the time. Both say something."""

    def __init__(self, story: Story, what: str, answers: dict[str, Answer]) -> None:
        self._story = story
        self._what = what
        self._answers = answers
        self._under_way: list[asyncio.Task[None]] = []

    async def begin(self) -> None:
        """Begin all that."""
        for person in self._story.people:
            words = person.says(f"I am {person.name}, who waits for {self._what}.", queued=True)
            self._under_way.append(asyncio.create_task(words))
            text = f"{person.name} without {self._what}."
            await self._answers[person.name].say(text)
            person.told.append(text)
        self._under_way.append(asyncio.create_task(self._ada_goes_on()))

    async def _ada_goes_on(self) -> None:
        await self._story.run_cell(self._story.ada, self._answers["ada"])
        self._answers["ada"] = await self._story.model.next("ada")

    async def end(self) -> dict[str, Answer]:
        """Come to the end of it, and tell which answers are under way now."""
        await asyncio.gather(*self._under_way)
        return self._answers


@asynccontextmanager
async def _in_the_middle(story: Story, what: str) -> AsyncIterator[_Meanwhile]:
    """While both stream, something is gone within this block; then both hear more."""
    text = f"before {what} went."
    answers = await _both_stream(story, text)
    for person in story.people:
        person.told.append(f"{person.name} {text}")
    meanwhile = _Meanwhile(story, what, answers)
    yield meanwhile
    await _both_go_on(story, await meanwhile.end(), what)


async def _both_stream(story: Story, text: str) -> dict[str, Answer]:
    answers = {}
    for person in story.people:
        answers[person.name] = await story.model.next(person.name)
        await story.tell(person, answers[person.name], f"{person.name} {text}")
        person.seen.append(person.words_on_screen())
    return answers


async def _both_go_on(story: Story, answers: dict[str, Answer], what: str) -> None:
    for person in story.people:
        text = f"{person.name} after {what} came back."
        await story.tell(person, answers[person.name], text)
        await story.run_cell(person, answers[person.name], text)


async def they_finish(story: Story) -> None:
    """Both come to the end."""
    for person in story.people:
        answer = await story.model.next(person.name)
        person.heard = answer.body
        await story.finish(person, answer, f"This is all, {person.name}.")
        person.seen.append(person.words_on_screen())
