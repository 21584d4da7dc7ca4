"""Questions in a program's own window, over real HTTP, answered by the SDK's own client and by hand."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping

import pytest
from mcp.client.session import ClientRequestContext
from mcp_types import INTERNAL_ERROR, ElicitRequestParams, ElicitResult, ErrorData, TextContent
from pydantic import JsonValue

from hdsp_agent.comm.identity import server_owner
from hdsp_agent.comm.services import Services
from tests.comm._helpers.stored_tasks import eventually
from tests.mcp._helpers.http_programs import MODERN, Programs
from tests.mcp._helpers.port_agents import PortAgents

ME = server_owner()


class Person:
    """Sits before the program's window."""

    def __init__(self, answer: ElicitResult | ErrorData | None) -> None:
        self.asked: list[ElicitRequestParams] = []
        self.answer = answer
        self.shown = asyncio.Event()
        self.taken_back = asyncio.Event()

    async def __call__(self, context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult | ErrorData:
        self.asked.append(params)
        self.shown.set()
        if self.answer is not None:
            return self.answer
        try:
            await asyncio.Event().wait()
        finally:
            self.taken_back.set()
        raise AssertionError


def accepts(content: Mapping[str, str | int | float | bool | list[str] | None]) -> ElicitResult:
    return ElicitResult(action="accept", content=dict(content))


async def said(programs: Programs, person: Person) -> str:
    """What came of the question that the tool asks."""
    async with programs.connected("legacy", asked=person) as client:
        result = await client.call_tool("ask")
    assert isinstance(result.content[0], TextContent)
    return result.content[0].text


@pytest.mark.parametrize(("decision", "meant"), [("allow", "True"), ("deny", "False")])
async def test_the_person_there_is_shown_a_form_and_their_choice_arrives(
    programs: Programs, decision: str, meant: str
) -> None:
    person = Person(accepts({"decision": decision}))
    assert await said(programs, person) == meant
    [params] = person.asked
    assert params.mode == "form" and params.message == "Allow this?"
    assert params.requested_schema["properties"]["decision"]["enum"] == ["deny", "allow"]
    assert params.requested_schema["required"] == ["decision"]


@pytest.mark.parametrize(
    "answer",
    [
        ElicitResult(action="decline"),
        ElicitResult(action="cancel"),
        ElicitResult(action="decline", content={"decision": "allow"}),
        accepts({}),
        ElicitResult(action="accept"),
        accepts({"decision": "yes"}),
        accepts({"decision": True}),
        accepts({"decision": ["allow"]}),
        accepts({"decision": "allow", "more": "allow"}),
    ],
)
async def test_only_what_was_filled_in_counts(programs: Programs, answer: ElicitResult) -> None:
    assert await said(programs, Person(answer)) == "None"


async def test_an_error_of_the_program_is_no_answer(programs: Programs, agents: PortAgents) -> None:
    person = Person(ErrorData(code=INTERNAL_ERROR, message="no window"))
    call = asyncio.ensure_future(said(programs, person))
    await agents.begun.wait()
    # Here nobody was asked; what the tool waits for is only whether the program could.
    assert await call == "here"


async def test_what_is_answered_here_is_taken_back_there(programs: Programs, agents: PortAgents) -> None:
    person = Person(None)
    async with programs.connected("legacy", asked=person) as client:
        call = asyncio.ensure_future(client.call_tool("ask"))
        await person.shown.wait()
        agents.may_end.set()
        result = await call
        await person.taken_back.wait()
        # The connection lives on.
        assert (await client.call_tool("echo", {"text": "still here"})).structured_content == {"text": "still here"}
    assert isinstance(result.content[0], TextContent) and result.content[0].text == "here"


async def test_who_can_be_asked_is_known_from_what_the_program_said(programs: Programs, agents: PortAgents) -> None:
    for mode, person in (("legacy", Person(None)), ("legacy", None), (MODERN, Person(None))):
        async with programs.connected(mode, asked=person) as client:
            await client.call_tool("echo")
    assert [client.can_ask for client, _, _ in agents.calls] == [True, False, False]


@pytest.mark.parametrize(
    ("elicitation", "can"), [({}, True), ({"form": {}}, True), ({"url": {}}, False), ({"form": {}, "url": {}}, True)]
)
async def test_a_program_that_only_opens_pages_is_not_asked(
    programs: Programs, agents: PortAgents, elicitation: dict[str, JsonValue], can: bool
) -> None:
    session = await programs.session(capabilities={"elicitation": elicitation})
    (await programs.post_in_session(session, "tools/call", name="echo", arguments={})).raise_for_status()
    assert agents.calls[0][0].can_ask is can


async def test_with_the_real_engine_both_are_asked_and_the_audit_log_says_where_it_was_answered(
    programs: Programs, services: Services
) -> None:
    external = services.agent.external
    services.mcp_endpoint.agents = external
    person = Person(accepts({"decision": "allow"}))
    async with programs.connected("legacy", asked=person) as client:
        await client.list_tools()
        [agent] = external.connected(ME)
        assert agent.can_ask and not agent.may_ask
        await external.choose_questions(ME, agent.key, True)
        result = await client.call_tool("write_to_file", {"path": "note.txt", "content": "once\n"})
        assert not result.is_error
        assert "newFileCreated note.txt" in person.asked[0].message and "once" in person.asked[0].message
        path = services.storage.home / "audit.jsonl"
        await eventually(lambda: path.exists() and "elicitation" in path.read_text())
        [agent] = external.connected(ME)
    vias = [json.loads(line)["via"] for line in path.read_text().splitlines()]
    assert vias == ["mcp Claude Code: write_to_file", "mcp Claude Code: elicitation"]
    assert agent.task_id is not None
    view = await (await services.storage.store()).view(agent.task_id)
    [row] = [message async for message in view.ui.iterate() if message.ask == "tool"]
    assert (row.is_answered, row.answered_in) == (True, "Claude Code")
