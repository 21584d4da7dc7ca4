"""The hub service with a month of use, for stories. Says in one line where it is; ends when its input does.

Its argument is where a model is that a story plays.
"""

from __future__ import annotations

import asyncio
import base64
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from hdsp_agent.hub.usage_store import Amounts, RequestEnd, RequestStart
from tests._helpers.model_server import Reply, raw_server, sse_events
from tests.hub._helpers.running import RunningService, running_service

POLICIES = """
    ask: "Ask the course team."
    providers:
      anthropic:
        protocol: anthropic
        url: http://127.0.0.1:9
        models:
          claude-sonnet-5-5: {{input_price: 3, output_price: 15}}
      vllm:
        protocol: openai
        url: {url}/v1
        models:
          qwen3: {{input_price: 0.1, output_price: 0.4, context_window: 32768}}{played}
    budgets:
      - {{money: 500, period: month, per: all}}
    default:
      models: {models}
      default_model: {first}
      budgets:
        - {{tokens: 200000, period: day, per: user}}
    groups:
      teachers:
        models: ["*"]
        default_model: claude-sonnet-5-5
        budgets:
          - {{money: 20, period: week, per: user}}
          - {{money: 100, period: month, per: group, models: ["claude-*"]}}
        fixed: {{autoApprovalEnabled: false}}
        limits: {{allowed_modes: [ask, code], allow_memory: false}}
"""
PLAYED = """
      played:
        protocol: openai
        url: {url}/v1
        models:
          played: {{input_price: 1, output_price: 4, context_window: 128000}}"""
PEOPLE = ("ada", "bob", "chae", "dora", "emil", "fumi", "gil", '<b title="x">hana</b>')
DAYS = 31


def policies(url: str, played: str = "") -> str:
    """Those of the service; everybody's model is the one that a story plays, if there is one."""
    if played:
        return POLICIES.format(url=url, played=PLAYED.format(url=played), models="[played, qwen3]", first="played")
    return POLICIES.format(url=url, played="", models="[qwen3]", first="qwen3")


async def fill(running: RunningService) -> None:
    """A month of requests, some of which failed."""
    chance = random.Random(7)
    store, now = running.service.store, time.time()
    for day in range(DAYS):
        for number, user in enumerate(PEOPLE):
            is_teacher = number < 2
            model, provider = ("claude-sonnet-5-5", "anthropic") if is_teacher else ("qwen3", "vllm")
            for _ in range(chance.randrange(4)):
                at = now - day * 86_400 - chance.randrange(3_600)
                start = RequestStart(
                    at, user, "teachers" if is_teacher else "default", provider, model, "chat", Amounts(9_000, 0.1)
                )
                failed = chance.random() < 0.1
                code = chance.choice(["rate_limit_exceeded", "overloaded_error"]) if failed else None
                tokens = (
                    (0, 0, 0)
                    if failed
                    else (chance.randrange(9_000), chance.randrange(20_000), chance.randrange(3_000))
                )
                end = RequestEnd(
                    at + 9,
                    *tokens,
                    tokens[2] * 15e-6 + tokens[0] * 3e-6,
                    9_000,
                    700,
                    529 if failed else 200,
                    code,
                    False,
                )
                await store.end(await store.start(start), end)


async def tell(running: RunningService, token: str, *tasks: dict[str, Any], **other: Any) -> list[dict[str, str]]:
    """What a person's server says of itself; what it is to do."""
    report = {
        "instance": "one", "server": "", "tasks": tasks, "more": 0, "next_seconds": 600, "hold": False, "done": [],
        "storage": {
            "conversations": 3_400_000 * len(token), "checkpoints": 12_000_000, "memory": 90_000, "other": 512_000,
            "free": 48_000_000_000, "seconds": 3_600,
        },
        **other,
    }  # fmt: skip
    headers = {"Authorization": f"token {token}"}
    answer = await running.http.post(f"{running.url}api/tasks", json=report, headers=headers)
    stop: list[dict[str, str]] = answer.json()["stop"]
    return stop


async def server_of_ada(running: RunningService, told: asyncio.Event) -> None:
    """Does two tasks, and stops those that an administrator wants stopped."""
    works, done = {"5f1c-plot": "running", "77aa-load": "waiting"}, list[str]()
    while True:
        tasks = [
            {"id": id, "mode": "code", "model": "qwen3", "work": work, "seconds": 95, "tokens": 12_345, "cost": 0.02}
            for id, work in works.items()
        ]
        if not told.is_set():
            await tell(running, "ada-token", *tasks, server="gpu")
            told.set()
        orders = await tell(running, "ada-token", *tasks, server="gpu", hold=True, done=done)
        done = [order["order"] for order in orders]
        works |= {order["task"]: "paused" for order in orders}


async def share(running: RunningService, token: str, title: str, **audience: object) -> None:
    """Share a conversation as a link."""
    picture = base64.b64encode((ROOT / "docs/assets/variables.png").read_bytes()).decode()
    messages = [
        {"ts": 1_700_000_000_000, "by": "person", "text": "Plot the sales by month, and say which was best."},
        {
            "ts": 1_700_000_004_000, "by": "tool", "text": "**run_cells**\n\n```python\nsales.groupby('month').sum()\n```",
            "images": [{"mediaType": "image/png", "data": picture}],
            "outputs": [{"name": "output-1", "text": "month  amount\n1          412\n2          530\n" * 40}],
        },
        {
            "ts": 1_700_000_009_000, "by": "agent",
            "text": "February was best:\n\n| month | amount |\n| --- | ---: |\n| January | 412 |\n| February | **530** |\n\n"
            "See [the data](https://example.org/sales) and `sales.csv`.\n\n<script>alert(1)</script>",
        },
    ]  # fmt: skip
    conversation = {"title": title, "asOf": 1_700_000_010_000, "messages": messages}
    answer = await running.http.post(
        f"{running.url}api/shared",
        json={"conversation": conversation, "audience": audience},
        headers={"Authorization": f"token {token}"},
    )
    assert answer.status_code == 201, answer.text


async def main() -> None:
    """Run until the story is over."""
    began = asyncio.Event()

    async def endlessly(reply: Reply) -> None:
        await reply.begin()
        await reply.send(sse_events({"choices": [{"index": 0, "delta": {"content": "Hi"}}]}))
        began.set()
        await asyncio.Event().wait()

    with tempfile.TemporaryDirectory() as folder:
        async with (
            raw_server(endlessly) as server,
            running_service(Path(folder), policies(server.url, *sys.argv[1:])) as running,
        ):
            await fill(running)
            asked = asyncio.create_task(running.chat("ada-token", stream=True))
            await began.wait()
            told = asyncio.Event()
            ada = asyncio.create_task(server_of_ada(running, told))
            await told.wait()
            await tell(running, "bob-token")
            await tell(running, "tess-token")
            await share(running, "root-token", "Sales by month", everybody=True)
            await share(running, "ada-token", "A secret plan", groups=["teachers"], people=["bob"])
            print(running.url, flush=True)
            await asyncio.to_thread(sys.stdin.read)
            asked.cancel()
            ada.cancel()


if __name__ == "__main__":
    asyncio.run(main())
