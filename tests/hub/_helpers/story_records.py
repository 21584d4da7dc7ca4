"""Whether all that was acknowledged in a long story is there at its end: once, and in order."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

from hdsp_agent.persistence._kept_apart import spool_folder
from tests._helpers.timing import until
from tests.comm.conftest import messages

from .lasting_tab import LastingTab
from .spoken_model import TOKENS
from .story import SECRETS, Person, Story

__all__ = ["nothing_was_lost"]


async def nothing_was_lost(story: Story) -> None:
    """On screen, on a new tab, in the database, in what the model was sent, in the notebook and in what was counted."""
    for person in story.people:
        _the_screen_has_it(person)
        await _a_new_tab_shows_it(person)
        await _the_database_has_it(story, person)
        _the_model_was_sent_it(person)
        _each_run_took_place_once(person)
        await _it_was_counted(story, person)
        assert (await story.rest(person, "GET", "health"))["status"] == "ok"


def _the_screen_has_it(person: Person) -> None:
    numbers = person.tab.panel.numbers
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers))), "messages came twice, or not at all"
    now = person.words_on_screen()
    for before in person.seen:
        for ts, text in before.items():
            assert now.get(ts, "nothing").startswith(text.rstrip()), (person.name, ts, text, now.get(ts))
    assert not [row for row in person.tab.screen.values() if row.get("partial")]
    fed_back = [str(row["text"]) for _, row in sorted(person.tab.screen.items()) if row.get("say") == "user_feedback"]
    assert fed_back == person.spoken[1:]


async def _a_new_tab_shows_it(person: Person) -> None:
    tab = LastingTab(f"new-tab-of-{person.name}", person.url, dict(person.headers))
    await tab.open()
    now, anew = person.tab.screen, tab.screen
    while min(now) < min(anew):
        await tab.ask("loadMessages", taskId=person.task, beforeTs=min(anew))
        older = messages(tab.panel, "messagesPage")[-1]["clineMessages"]
        assert older
        anew |= {row["ts"]: row for row in older}
    await tab.leave()
    assert now == anew, [(now.get(ts), anew.get(ts)) for ts in {**now, **anew} if now.get(ts) != anew.get(ts)]


async def _the_database_has_it(story: Story, person: Person) -> None:
    # What was kept while the database was away goes there when it is back.
    folder = spool_folder(person.home)
    await until(lambda: not [*folder.glob("*.spool"), *folder.glob("*.refused")])
    shown, recorded = await asyncio.to_thread(_records, story, person)
    on_screen = {ts: row.get("text") for ts, row in person.tab.screen.items()}
    kept: dict[int, object] = {}
    for row in shown:
        # A later line of the same message replaces it.
        kept[row["ts"]] = row.get("text")
    assert {ts: kept.get(ts) for ts in on_screen} == on_screen
    assert [row["seq"] for row in recorded] == list(range(1, len(recorded) + 1))
    words = json.dumps([row["content"] for row in recorded], ensure_ascii=False)
    _once_in_order(words, person.told)
    _once_in_order(words, person.spoken)


def _records(story: Story, person: Person) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The lines of the person's conversation: what was shown, and what the model was sent."""
    with story.database.connect() as connection:
        found = [
            connection.execute(
                f"SELECT record FROM hdsp_agent.{table} JOIN hdsp_agent.tasks ON number = task"
                " WHERE owner = ? AND task_id = ? ORDER BY id",
                (person.name, person.task),
            ).fetchall()
            for table in ("ui_messages", "messages")
        ]
    shown, recorded = ([json.loads(row[0]) for row in rows] for rows in found)
    return shown, recorded


def _the_model_was_sent_it(person: Person) -> None:
    messages = person.heard["messages"]
    for role, texts in (("assistant", person.told), ("user", person.spoken)):
        _once_in_order(json.dumps([one["content"] for one in messages if one["role"] == role]), texts)
    calls = [
        call for one in messages for call in one.get("tool_calls") or () if call["function"]["name"] == "run_cells"
    ]
    answered = [one["tool_call_id"] for one in messages if one["role"] == "tool"]
    assert len(calls) == person.runs and len(set(answered)) == len(answered)
    assert SECRETS["bob" if person.name == "ada" else "ada"] not in json.dumps(person.heard)


def _each_run_took_place_once(person: Person) -> None:
    assert (person.folder / "ran.txt").read_text("utf-8") == "once\n" * person.runs
    [cell] = json.loads((person.folder / "work.ipynb").read_text("utf-8"))["cells"]
    assert cell["execution_count"] == person.runs and "".join(cell["outputs"][0]["text"]) == "ran 5\n"


async def _it_was_counted(story: Story, person: Person) -> None:
    """Each request once; those that were cut off as the service estimates them."""
    asked = story.model.asked[person.name]
    rows: list[dict[str, Any]] = []

    async def is_counted() -> bool:
        # It counts a moment after the last word, and each day (UTC) by itself.
        rows[:] = (await story.usage(person))["usage"]
        return [sum(row[name] for row in rows) for name in ("requests", "estimated")] == [asked, person.broken]

    try:
        await until(is_counted)
    except AssertionError:
        raise AssertionError((asked, person.broken, rows)) from None
    for name, each in zip(("tokens_in", "tokens_out"), TOKENS, strict=True):
        assert sum(row[name] for row in rows) >= (asked - person.broken) * each, rows


def _once_in_order(whole: str, texts: Sequence[str]) -> None:
    """Each of these texts is there once, after the one before it."""
    places = [whole.find(text) for text in texts]
    counts = {text: whole.count(text) for text in texts}
    assert -1 not in places and places == sorted(places), (texts, whole)
    assert set(counts.values()) == {1}, counts
