"""The hub as the official conformance suite wants a client: ``python -m … URL``, with the scenario in the environment.

It connects, logs in where that is wanted, uses all tools, reads all resources and takes all prompts.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2

from hdsp_agent.errors import HdspAgentError
from hdsp_agent.messages import JsonObject
from hdsp_agent.tools import OfferedMcpTool

from .hubs import ME, TestedHub, running_hub

BACK = "http://localhost:3000/callback"
SCENARIO = os.environ.get("MCP_CONFORMANCE_SCENARIO", "")
CONTEXT: dict[str, Any] = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
_VALUES: dict[str, Any] = {"number": 5, "integer": 5, "string": "x", "boolean": True, "object": {}, "array": []}
_MOST_LOGINS = 3
METADATA = "https://conformance-test.local/client-metadata.json"
"""Where the suite wants a client's description to be."""


async def come_back(tested: TestedHub, page: str) -> None:
    """A browser in which the person is logged in already, and agrees."""
    async with httpx2.AsyncClient(trust_env=False, timeout=60) as browser:
        answer = await browser.get(page)
    query = {name: values[0] for name, values in parse_qs(urlsplit(answer.headers["location"]).query).items()}
    tested.hub.logins(ME).come_back(query["state"], query.get("code"), query.get("iss"), query.get("error"))


async def log_in(tested: TestedHub) -> None:
    """From the settings page."""
    await come_back(tested, await tested.hub.log_in(ME, tested.workspace, "server", "global", BACK))
    await tested.connection("server").settled()


def arguments_of(tool: OfferedMcpTool, tools: Sequence[OfferedMcpTool]) -> JsonObject:
    """Something that fits."""
    properties = tool.input_schema.get("properties")
    described: dict[str, Any] = properties if isinstance(properties, dict) else {}
    values = {name: _VALUES.get(str(one.get("type")), "x") for name, one in described.items()}
    if "schema" in values:
        values["schema"] = next(one.input_schema for one in tools if one is not tool)
    return values


async def use(tested: TestedHub, name: str, arguments: JsonObject) -> None:
    """Use a tool; the person opens pages that they are asked to open, and takes the default for the rest."""

    async def ask(question: str, suggested: Sequence[str]) -> str:
        page = next((word for word in question.split() if word.startswith("http")), None)
        if page is not None:
            await come_back(tested, page)
        return suggested[1] if len(suggested) > 1 else "x"

    async def progressed(_: str) -> None:
        pass

    tool = tested.tool(name, "server")
    answer = await tested.task.call(tool, arguments, progressed=progressed, ask=ask)
    print(name, answer)


async def main(url: str) -> None:
    # Dozens of these run at once, and the suite waits two minutes for each.
    entry: JsonObject = {"url": url, "timeout": 100}
    if "client_id" in CONTEXT:
        entry["oauth"] = {"clientId": CONTEXT["client_id"], "clientSecret": CONTEXT.get("client_secret")}
    elif SCENARIO == "auth/basic-cimd":
        entry["oauth"] = {"clientMetadataUrl": METADATA}
    with tempfile.TemporaryDirectory() as home:
        async with running_hub(Path(home), {"server": entry}) as tested:
            # Many of these run side by side.
            await tested.connection("server").settled()
            for _ in range(_MOST_LOGINS):
                if not tested.connection("server").wants_login:
                    break
                await log_in(tested)
            print(tested.connection("server").status, tested.connection("server").error)
            offer = tested.task.offer
            wanted = CONTEXT.get("toolCalls") or [
                {"name": tool.tool, "arguments": arguments_of(tool, offer.tools)} for tool in offer.tools
            ]
            # Some look whether the answers to two are mixed up.
            results = await asyncio.gather(
                *(use(tested, one["name"], one["arguments"]) for one in wanted), return_exceptions=True
            )
            for resource in offer.resources:
                if not resource.is_template:
                    print(await tested.task.read("server", resource.uri))
            for command in tested.task.commands():
                print(await tested.task.spoken(command.name, "x y z"))
            for result in results:
                if isinstance(result, BaseException):
                    print(result)
                    if not isinstance(result, HdspAgentError):
                        raise result
            print(tested.log("server"))


asyncio.run(main(sys.argv[1]))
