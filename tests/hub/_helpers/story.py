"""Two people and an administrator at work: what a long story is told with, wherever their servers are."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

from tests._helpers.postgres import TasksDatabase
from tests.comm._helpers.scripted_pages import asked, said
from tests.notebooks._helpers.pages import code, notebook

from .lasting_tab import LastingTab
from .policy_files import write
from .service_process import PREFIX, ServiceProcess
from .spoken_model import Answer, SpokenModel

__all__ = ["ASK", "CELL", "SECRETS", "Person", "Story", "budgeted", "environment_of", "told_with"]

ASK = "Ask Grace, room 7."
SECRETS = {"ada": "heron", "bob": "walrus"}
"""A word of each person's that nobody else may ever see."""
CELL = 'print("ran", open("ran.txt", "a").write("once\\n"))'
_POLICIES = """
    ask: "{ask}"
    providers:
      far:
        protocol: openai
        url: {url}/v1
        key_env: A_KEY
        models:
          qwen3: {{input_price: 1, output_price: 1, context_window: 100000}}
    default:
      models: [qwen3]
    groups:
      students:
        models: [qwen3]
        budgets:
          - {{tokens: {limit}, period: month, per: user}}
      teachers:
        models: [qwen3]
"""


def budgeted(folder: Path, model: SpokenModel, limit: int) -> Path:
    """The policies, in which students have so many tokens a month."""
    return write(folder, _POLICIES.format(ask=ASK, url=model.url, limit=limit))


def environment_of(database: TasksDatabase, person: str, home: Path) -> dict[str, str]:
    """What a person's server has in its environment: a role of its own in one database, and a folder of its own."""
    return {
        "HDSP_AGENT_HOME": str(home),
        "HDSP_AGENT_STORAGE_BACKEND": "postgres",
        "HDSP_AGENT_STORAGE_URL": database.url(person),
        "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
    }


@dataclass
class Person:
    """Somebody with a server and a tab."""

    name: str
    url: str
    """Of their server."""
    headers: Mapping[str, str]
    """What lets their browser in there."""
    token: str
    """Of their server, which the hub service knows them by."""
    folder: Path
    """What their server serves."""
    home: Path
    tab: LastingTab = field(init=False)
    task: str = ""
    told: list[str] = field(default_factory=list)
    """What the model said in answers that came to their end."""
    spoken: list[str] = field(default_factory=list)
    """What the person said to their agent, which was acknowledged."""
    runs: int = 0
    broken: int = 0
    """Answers of the model that were cut off."""
    heard: dict[str, Any] = field(default_factory=dict)
    """What the model was sent last."""
    seen: list[dict[int, str]] = field(default_factory=list)
    """What was on screen, each time before something was killed."""

    def __post_init__(self) -> None:
        self.tab = LastingTab(f"tab-of-{self.name}", self.url, dict(self.headers))
        (self.folder / "work.ipynb").write_text(json.dumps(notebook(code("one", CELL))), "utf-8")

    def words_on_screen(self) -> dict[int, str]:
        """Each text of the conversation, by its time."""
        kinds = ("text", "user_feedback", "completion_result", "command_output")
        return {ts: str(row.get("text", "")) for ts, row in self.tab.screen.items() if row.get("say") in kinds}

    async def says(self, text: str, **how: object) -> None:
        """Say something to the agent, once it is the person's turn or, ``queued``, while it works."""
        if how.get("queued"):
            await self.tab.ask("queueMessage", text=text)
        else:
            await self.tab.reply("completion_result", "messageResponse", text=text)
        self.spoken.append(text)


@dataclass
class Story:
    """All that takes part."""

    model: SpokenModel
    service: ServiceProcess
    database: TasksDatabase
    folder: Path
    ada: Person
    bob: Person
    http: httpx2.AsyncClient
    administrator: httpx2.AsyncClient
    """A browser in which the administrator is signed in."""
    logs: Sequence[Path]

    @property
    def people(self) -> tuple[Person, Person]:
        return self.ada, self.bob

    async def rest(self, person: Person, method: str, path: str, body: object = None) -> Any:
        """A request of the person's browser to the REST of their server."""
        answer = await self.http.request(
            method, f"{person.url}hdsp-agent/api/{path}", json=body, headers=dict(person.headers)
        )
        assert answer.status_code < 300, (person.name, path, answer.status_code, answer.text)
        return answer.json()

    async def service_says(self, person: Person, path: str) -> httpx2.Response:
        """What the hub service answers to the token of a person's server."""
        return await self.http.get(self.service.url + path, headers={"Authorization": f"token {person.token}"})

    async def usage(self, person: Person) -> Any:
        """What the person used."""
        answer = await self.service_says(person, "api/usage")
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def tell(self, person: Person, answer: Answer, text: str) -> None:
        """Let the model say this, and see it on the person's screen."""
        await answer.say(text)
        await person.tab.hears(text)

    async def run_cell(self, person: Person, answer: Answer, *told: str) -> None:
        """Let the answer end with a cell to run. Ada approved that beforehand, Bob is asked."""
        # The same call again and again would be taken for a mistake.
        await answer.call("run_cells", path="work.ipynb", cells="all", timeout=600 + person.runs)
        person.told += told
        if person is self.bob:
            await person.tab.reply("tool")
        person.runs += 1

    async def finish(self, person: Person, answer: Answer, result: str, *told: str) -> None:
        """Let the task come to its end."""
        await answer.call("attempt_completion", result=result)
        person.told += told
        await person.tab.until(lambda: said(person.tab.panel, "completion_result")[-1:] == [result])
        await person.tab.until(lambda: asked(person.tab.panel, "completion_result"))

    async def page(self, path: str) -> str:
        """A page of the hub service, as the administrator sees it."""
        answer = await self.administrator.get(PREFIX + path)
        assert answer.status_code == 200, answer.text
        return answer.text

    async def stop_request_of(self, person: Person) -> None:
        """Press the button beside the person's request."""
        running = await self.page("running")
        [form] = [
            form for form in re.findall("<form.*?</form>", running, re.DOTALL) if f"request of {person.name} to" in form
        ]
        fields = dict(re.findall('name="(xsrf|request)" value="([^"]*)"', form))
        answer = await self.administrator.post(f"{PREFIX}running/stop-request", data=fields)
        assert answer.status_code == 200 and "The request is being stopped." in answer.text, answer.text


@contextmanager
def told_with(story: Story) -> Iterator[None]:
    """Add to whatever fails what everybody saw last, and what was logged last."""
    try:
        yield
    except BaseException as error:
        for person in story.people:
            rows = [
                {name: row[name] for name in ("ts", "say", "ask", "text", "partial", "isAnswered") if name in row}
                for _, row in sorted(person.tab.screen.items())[-8:]
            ]
            error.add_note(f"{person.name} sees: " + "\n  ".join(map(str, rows)))
        error.add_note(f"asked of the model: {dict(story.model.asked)}")
        for log in story.logs:
            if log.exists():
                lines = [line for line in log.read_text("utf-8", "replace").splitlines() if " 404 GET " not in line]
                error.add_note(f"---- end of {log}\n" + "\n".join(lines[-40:]))
        raise
