"""Cells that have a shell do something, with only running cells approved by the settings: they ask, and leave no trace."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from hdsp_agent.config import GlobalSettings
from hdsp_agent.providers import call_tool

from .test_notebook_tasks import DONE, notebook_agent, start

pytestmark = pytest.mark.filterwarnings("ignore:Passing unrecognized arguments:DeprecationWarning")

ONLY_CELLS = GlobalSettings(auto_approval_enabled=True, always_allow_read_only=True, always_allow_run_cells=True)
EVERYTHING = GlobalSettings.model_validate(
    {name: True for name in GlobalSettings.model_fields if name.startswith("always_allow")}
    | {"auto_approval_enabled": True, "allowed_commands": ("*",)}
)
PUTS_A_FILE = [
    "%time !touch x",
    "%timeit -n1 -r1 !touch x",
    "%time %time %sx touch x",
    "time !touch x",
    "%%capture\n!touch x",
    "v = %system touch x",
    "get_ipython().system('touch x')",
    "ip = get_ipython()\nip.run_line_magic('sx', 'touch x')",
    "%%script bash --bg\ntouch x",
    "%pip list; touch x",
    "%%writefile x\ntext",
]
KNOWN_WHEN_IT_RUNS = [
    "!touch '{name}'",
    "%time !touch $name",
    "get_ipython().system('touch ' + name)",
    "!echo '\n!touch x\n!'",
    "%%bash\ncat\ntouch x",
    "%run x.py",
    "%cd ..",
    "%env PATH=.",
    "%unheard_of x",
    "type(get_ipython()).system(get_ipython(), 'touch x')",
    "import operator\noperator.methodcaller('system', 'touch x')(get_ipython())",
    "import IPython\nIPython.start_ipython(argv=['-c', '!touch x'])",
    "%matplotlib {__import__('os').popen('touch x').read()}",
]


async def refused(home: Path, code: str, settings: GlobalSettings) -> list[str]:
    """Have the model run this, refuse it; what is in the workspace then."""
    turns = [call_tool("run_cells", {"cells": ["1"]}, id="run"), DONE]
    async with notebook_agent(home, turns, code, settings=settings) as agent:
        task_id = await start(agent)
        ask = await agent.asked(task_id, "tool")
        assert json.loads(ask.text or "")["cells"][0]["code"] == code
        await agent.manager.answer(task_id, ask.ts, "noButtonClicked")
        await agent.completed(task_id)
        return await asyncio.to_thread(lambda: sorted(path.name for path in agent.workspace.iterdir()))


@pytest.mark.parametrize("code", PUTS_A_FILE)
async def test_a_cell_with_a_command_asks_and_leaves_no_trace(tmp_path: Path, code: str) -> None:
    assert await refused(tmp_path, code, ONLY_CELLS) == ["a.ipynb"]


@pytest.mark.parametrize("code", KNOWN_WHEN_IT_RUNS)
async def test_what_is_known_only_when_it_runs_asks_whatever_the_rules_allow(tmp_path: Path, code: str) -> None:
    assert await refused(tmp_path, code, EVERYTHING) == ["a.ipynb"]


async def test_a_rule_allows_the_command_of_a_magic(tmp_path: Path) -> None:
    settings = EVERYTHING.model_copy(update={"allowed_commands": ("echo",)})
    turns = [call_tool("run_cells", {"cells": ["all"]}, id="run"), DONE]
    async with notebook_agent(
        tmp_path, turns, "%time !echo it ran", "import os\nprint(1 + 1)", settings=settings
    ) as agent:
        task_id = await start(agent)
        await agent.completed(task_id)
        assert "it ran" in (await agent.results(task_id))["run"]


async def test_what_a_rule_denies_is_denied_in_python_too(tmp_path: Path) -> None:
    settings = EVERYTHING.model_copy(update={"denied_commands": ("touch",)})
    for at, code in enumerate(["import os\nos.system('touch x')", "__import__('subprocess').run(['touch', 'x'])"]):
        turns = [call_tool("run_code", {"code": code}, id="run"), DONE]
        home = tmp_path / str(at)
        await asyncio.to_thread(home.mkdir)
        async with notebook_agent(home, turns, "1", settings=settings) as agent:
            task_id = await start(agent)
            await agent.completed(task_id)
            assert "touch" in (await agent.results(task_id))["run"]
            assert not await asyncio.to_thread((agent.workspace / "x").exists)
