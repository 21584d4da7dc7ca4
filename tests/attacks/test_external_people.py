"""Programs of several people, over real HTTP and with the real engine: every tool that is offered, and somebody else who tries."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import cast

import pytest
from mcp_types import TextContent
from pydantic import JsonValue

from hdsp_agent.agent.external.offered_tools import ANNOTATIONS
from hdsp_agent.comm.services import Services
from hdsp_agent.messages import JsonObject
from tests._helpers.kept_files import kept_in
from tests.agent.external._helpers.program import notebook_file
from tests.attacks._helpers.people import ADA, BOB, READER, OpenPage, server_of
from tests.attacks._helpers.program_calls import CALLS
from tests.attacks._helpers.raw_http import request
from tests.comm._helpers.stored_tasks import eventually
from tests.mcp._helpers.http_programs import MODERN, Programs

ASKED_ABOUT = ("write_to_file", "edit_cells", "run_cells", "run_code", "execute_command", "install_packages")
"""One tool for each thing that can be harmful; none of these need anything but the notebook."""


@pytest.fixture
def jp_server_config(jp_server_config: dict[str, dict[str, object]]) -> dict[str, dict[str, object]]:
    return server_of(jp_server_config)


@pytest.fixture
def programs(
    services: Services,
    jp_asyncio_loop: asyncio.AbstractEventLoop,
    jp_http_port: int,
    jp_base_url: str,
    http_server: object,
    jp_root_dir: Path,
) -> Programs:
    """Connects programs to the real engine."""
    changes: dict[str, JsonValue] = {"mcpServerEnabled": True, "mcpServerCommands": True}
    jp_asyncio_loop.run_until_complete(services.config.update(changes))
    notebook_file(jp_root_dir / "a.ipynb", "x = 1")
    (jp_root_dir / "notes.txt").write_text("a word\n")
    return Programs(f"http://127.0.0.1:{jp_http_port}{jp_base_url}hdsp-agent/mcp", {})


def files_of(folder: Path) -> dict[str, bytes]:
    """Everything in the folder."""
    return {str(path.relative_to(folder)): content for path, content in kept_in(folder).items()}


def arguments_of(name: str) -> JsonObject:
    """A call's, with a checkpoint that is none where one is named."""
    named = dict(CALLS[name])
    if "checkpoint" in named:
        named["checkpoint"] = "0" * 40
    return cast("JsonObject", named)


@pytest.mark.parametrize("mode", ["legacy", MODERN])
async def test_who_may_only_look_changes_nothing_with_any_tool(
    programs: Programs, services: Services, jp_root_dir: Path, mode: str
) -> None:
    await services.config.update({"clientApprovals": {"Claude Code": "everything"}})
    before = await asyncio.to_thread(files_of, jp_root_dir)
    async with programs.connected(mode, headers=READER) as client:
        offered = {tool.name for tool in (await client.list_tools()).tools}
        assert offered == {name for name in CALLS if ANNOTATIONS[name].read_only}
        for name in CALLS.keys() - offered:
            refused = await client.call_tool(name, arguments_of(name))
            assert refused.is_error and isinstance(refused.content[0], TextContent)
            assert f"so {name} is not allowed" in refused.content[0].text
        [agent] = services.agent.external.connected("reader")
        # Not one of them got as far as the engine.
        assert agent.task_id is None
        for name in sorted(offered):
            await client.call_tool(name, arguments_of(name))
    assert await asyncio.to_thread(files_of, jp_root_dir) == before


async def test_nobody_else_answers_stops_or_frees_what_a_persons_program_wants(
    programs: Programs, services: Services, jp_root_dir: Path, jp_http_port: int, jp_base_url: str, page: OpenPage
) -> None:
    external = services.agent.external
    before = await asyncio.to_thread(files_of, jp_root_dir)
    async with programs.connected(MODERN, headers=ADA) as client, page(BOB) as panel:
        for name in ASKED_ABOUT:
            call = asyncio.ensure_future(client.call_tool(name, arguments_of(name)))
            await eventually(lambda: any(agent.activity == "waiting" for agent in external.connected("ada")))
            [agent] = external.connected("ada")
            assert external.connected("bob") == [] and agent.task_id is not None
            manager = await services.agent.manager()
            question = manager.tasks.get(agent.task_id).state.dialogue.asks.newest()
            assert question is not None
            # Whatever of hers he knows.
            tries: list[tuple[str, JsonObject]] = [
                ("showTaskWithId", {"taskId": agent.task_id}),
                ("askResponse", {"taskId": agent.task_id, "messageTs": question.ts, "askResponse": "yesButtonClicked"}),
                ("setTaskApprovals", {"taskId": agent.task_id, "approvalPreset": "everything"}),
                ("cancelTask", {"taskId": agent.task_id}),
            ]
            for kind, fields in tries:
                refused = await panel.ask(kind, **fields)
                assert refused["error"]["code"] == "unknown_task", (name, kind)
            for method, body in (("PATCH", {"approvals": "everything", "mayAsk": True}), ("DELETE", None)):
                path = f"{jp_base_url}hdsp-agent/api/mcp/server/agents/{agent.key}"
                sent = b"" if body is None else json.dumps(body).encode()
                assert (await request(jp_http_port, method, path, BOB, sent)).status == 404, (name, method)
            assert not call.done()
            await manager.answer(agent.task_id, question.ts, "noButtonClicked")
            assert (await call).is_error
            await eventually(lambda: all(one.activity == "idle" for one in external.connected("ada")))
    assert await asyncio.to_thread(files_of, jp_root_dir) == before
    assert services.config.settings.client_approvals == {}
