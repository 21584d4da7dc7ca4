"""What programs outside are offered."""

from __future__ import annotations

from pathlib import Path

import jsonschema
import pytest

from hdsp_agent.agent.external.offered_tools import ANNOTATIONS
from hdsp_agent.config import GlobalSettings, OperatorPolicy

from ._helpers.program import CLAUDE, program

pytestmark = pytest.mark.filterwarnings("ignore:Passing unrecognized arguments:DeprecationWarning")


async def names(home: Path, settings: GlobalSettings | None = None, policy: OperatorPolicy | None = None) -> list[str]:
    """What is offered, in its order."""
    async with program(home, settings=settings, policy=policy, checkpoints=True) as claude:
        return [tool.name for tool in await claude.sessions.tools(CLAUDE)]


async def test_every_tool_has_a_title_schemas_that_are_some_and_its_place(tmp_path: Path) -> None:
    async with program(tmp_path, settings=GlobalSettings(mcp_server_commands=True), checkpoints=True) as claude:
        offered = await claude.sessions.tools(CLAUDE)
        assert [tool.name for tool in offered] == list(ANNOTATIONS)
        for tool in offered:
            jsonschema.Draft202012Validator.check_schema(tool.input_schema)
            assert tool.input_schema["type"] == "object" and tool.title and tool.description
            if tool.output_schema is not None:
                jsonschema.Draft202012Validator.check_schema(tool.output_schema)
                assert tool.output_schema["type"] == "object"
            assert not (tool.read_only and tool.destructive)
        again = await claude.sessions.tools(CLAUDE)
        assert again == offered


async def test_a_notebook_is_always_named(tmp_path: Path) -> None:
    async with program(tmp_path) as claude:
        for tool in await claude.sessions.tools(CLAUDE):
            assert "the task is about" not in str(tool.input_schema), tool.name
        [read] = [tool for tool in await claude.sessions.tools(CLAUDE) if tool.name == "read_notebook"]
        assert read.input_schema["required"] == ["path"]


async def test_what_makes_no_sense_outside_is_not_offered(tmp_path: Path) -> None:
    assert not {
        "attempt_completion", "ask_followup_question", "switch_mode", "new_task", "update_todo_list", "fetch_url",
        "execute_command", "remember", "forget", "answer", "add_cell",
    } & set(await names(tmp_path))  # fmt: skip


async def test_the_operator_and_the_person_take_tools_away(tmp_path: Path) -> None:
    assert await names(tmp_path / "1", policy=OperatorPolicy(allowed_tools=("read_file", "run_cells"))) == [
        "run_cells", "read_file"
    ]  # fmt: skip
    left = await names(tmp_path / "2", GlobalSettings(disabled_tools=("run_code",), memory_enabled=False))
    assert "run_code" not in left and "search_memory" not in left and "run_cells" in left
    reading = await names(tmp_path / "3", GlobalSettings(mode="ask"), OperatorPolicy(allowed_modes=("ask",)))
    assert all(ANNOTATIONS[name].read_only for name in reading) and "read_notebook" in reading
