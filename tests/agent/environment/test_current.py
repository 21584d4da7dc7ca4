"""What is looked at around a task: permissions, model, time, notebooks and kernels, and what is kept from the agent."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from hdsp_agent.agent.approval import ApprovalEngine
from hdsp_agent.agent.environment import CurrentEnvironment, Section
from hdsp_agent.agent.environment.basic_sections import mode_part, permissions_part, usage_part
from hdsp_agent.agent.environment.notebook_sections import open_files_part
from hdsp_agent.agent.modes import BUILT_IN, allows_group
from hdsp_agent.config import GlobalSettings, ModeConfig, OperatorPolicy, ProviderSettings, ToolGroup
from hdsp_agent.messages import CellId, TaskId
from hdsp_agent.notebooks import PersonRun
from hdsp_agent.notebooks.kernels import CellRunSpec, VariablesReport
from hdsp_agent.tools import ActionRequest, PathPolicy, Risk

from ...notebooks._helpers.headless import headless_notebooks
from ._helpers.conversation_in_memory import Where

CODE = BUILT_IN[0]
NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
CELLS = '{"cell_type":"code","id":"c1","metadata":{},"outputs":[],"execution_count":null,"source":"x = 1"}'


def texts(dimension: Section) -> list[str]:
    return [entry.text for entry in dimension.entries]


def named(found: Sequence[Section]) -> dict[str, list[str]]:
    return {dimension.name: texts(dimension) for dimension in found}


def test_what_may_be_done_is_told_as_it_is_decided() -> None:
    asked = "Asked about first: everything that reads, changes or runs something"
    assert texts(permissions_part(GlobalSettings(), OperatorPolicy(), CODE)) == [asked]
    on = GlobalSettings(
        auto_approval_enabled=True,
        always_allow_read_only=True,
        always_allow_execute=True,
        allowed_commands=("git log",),
        denied_commands=("rm", "sudo"),
    )
    assert texts(permissions_part(on, OperatorPolicy(), CODE)) == [
        "Done without asking: reading, running shell commands",
        (
            "Asked about first: reading outside the workspace, editing, editing outside the workspace, editing protected "
            "files, running code, restarting and interrupting kernels, installing packages, using the network, using MCP "
            "tools, switching modes, subtasks"
        ),
        "Shell commands done without asking begin with: git log",
        "Shell commands that are refused begin with: rm, sudo",
    ]
    forbidden = permissions_part(on, OperatorPolicy(allow_auto_approval=False), CODE)
    assert texts(forbidden) == [asked, "Shell commands that are refused begin with: rm, sudo"]


def test_commands_are_asked_about_while_no_rule_allows_any() -> None:
    on = GlobalSettings(auto_approval_enabled=True, always_allow_execute=True, allowed_commands=())
    told = texts(permissions_part(on, OperatorPolicy(), CODE))
    assert told[0].startswith("Asked about first: everything") and len(told) == 1
    denied = on.model_copy(update={"allowed_commands": ("git log", "ls"), "denied_commands": ("git log",)})
    told = texts(permissions_part(denied, OperatorPolicy(), CODE))
    assert told[0] == "Done without asking: running shell commands"
    assert told[2] == "Shell commands done without asking begin with: ls"


SWITCHES = (
    "auto_approval_enabled",
    "always_allow_read_only",
    "always_allow_read_only_outside_workspace",
    "always_allow_write",
    "always_allow_write_outside_workspace",
    "always_allow_write_protected",
    "always_allow_run_cells",
    "always_allow_execute",
    "always_allow_install_packages",
    "always_allow_network",
    "always_allow_mcp",
    "always_allow_mode_switch",
    "always_allow_subtasks",
)
SAMPLES: dict[str, tuple[Risk, ToolGroup | None]] = {
    "reading": ("read", "read"),
    "reading outside the workspace": ("read_outside", "read"),
    "editing": ("write", "edit"),
    "editing outside the workspace": ("write_outside", "edit"),
    "editing protected files": ("write_protected", "edit"),
    "running code": ("run_code", "command"),
    "restarting and interrupting kernels": ("kernel", "command"),
    "installing packages": ("install", "command"),
    "using the network": ("network", "read"),
    "using MCP tools": ("mcp", "mcp"),
    "switching modes": ("mode_switch", None),
    "subtasks": ("subtask", None),
}
COMMANDS = st.lists(st.sampled_from(["ls", "git log", "git", "cat"]), max_size=3, unique=True).map(tuple)


@settings(max_examples=150, phases=(Phase.explicit, Phase.generate))
@given(
    st.sets(st.sampled_from(SWITCHES)),
    COMMANDS,
    COMMANDS,
    st.sampled_from(BUILT_IN),
    st.sampled_from([True, True, False]),
)
def test_what_is_told_of_permissions_is_what_the_engine_decides(
    switches: set[str], allowed: tuple[str, ...], denied: tuple[str, ...], mode: ModeConfig, automatic: bool
) -> None:
    on = GlobalSettings.model_validate(
        {**dict.fromkeys(switches, True), "allowed_commands": allowed, "denied_commands": denied}
    )
    policy = OperatorPolicy(allow_auto_approval=automatic)
    told = dict(text.split(": ", 1) for text in texts(permissions_part(on, policy, mode)))
    at_once, asked = (
        set(filter(None, told.get(head, "").split(", "))) for head in ("Done without asking", "Asked about first")
    )

    def decided(action: ActionRequest) -> str:
        return ApprovalEngine().decide(action, settings=on, policy=policy, mode=mode).verdict

    for name, (risk, group) in SAMPLES.items():
        verdict = decided(ActionRequest(risks=frozenset({risk}), tool="sample", path="a.md"))
        if not allows_group(mode, group):
            assert name not in at_once | asked, name
        elif at_once:
            assert (name in at_once, name in asked) == (verdict == "approve", verdict == "ask"), name
        else:
            assert verdict == "ask", name
    begin = told.get("Shell commands done without asking begin with", "").split(", ")
    assert ("running shell commands" in at_once) == (begin != [""])
    for command in ("ls", "git log", "git", "cat", "pwd"):
        runs = decided(ActionRequest(risks=frozenset({"shell"}), tool="run_command", command=command)) == "approve"
        is_told = any(command == rule or command.startswith(f"{rule} ") for rule in begin)
        if allows_group(mode, "command"):
            refused = told.get("Shell commands that are refused begin with", "").split(", ")
            is_denied = max((len(rule) for rule in refused if (command + " ").startswith(rule + " ")), default=-1)
            longest = max((len(rule) for rule in begin if (command + " ").startswith(rule + " ")), default=-1)
            assert runs == (is_told and longest > is_denied), command


def test_mode_time_and_cost() -> None:
    architect = next(mode for mode in BUILT_IN if mode.slug == "architect")
    assert texts(mode_part(architect)) == [
        "Current mode: architect (Plan)",
        "Files it may change: Markdown files only",
    ]
    assert texts(usage_part(GlobalSettings(), NOW, 0.0)) == ["Current time: 2026-01-02T03:04+00:00"]
    assert texts(usage_part(GlobalSettings(include_current_time=False), NOW, 0.01234)) == ["Cost so far: $0.0123"]
    assert texts(usage_part(GlobalSettings(include_current_cost=False), NOW, 1)) == [
        "Current time: 2026-01-02T03:04+00:00"
    ]


async def test_without_notebooks_there_is_what_costs_nothing_and_the_model(tmp_path: Path) -> None:
    around = CurrentEnvironment(policy=OperatorPolicy, paths=lambda: PathPolicy(tmp_path), now=lambda: NOW)
    where = Where(provider=ProviderSettings(api_provider="anthropic", api_model_id="claude-sonnet-4-5"))
    found = named(await around.look(where, everything=False))
    assert list(found) == ["mode", "permissions", "model"]
    assert found["model"][1:] == ["Context window: 200,000 tokens", "Pictures: can be seen"]
    assert list(named(await around.look(replace(where, provider=None), everything=True))) == [
        "mode", "permissions", "usage", "workspace_files"
    ]  # fmt: skip


async def test_a_kernel_is_asked_only_when_something_has_run_in_it(tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").write_text(f'{{"cells":[{CELLS}],"metadata":{{}},"nbformat":4,"nbformat_minor":5}}')
    async with headless_notebooks(tmp_path) as notebooks:
        around = CurrentEnvironment(
            policy=OperatorPolicy,
            paths=lambda: PathPolicy(tmp_path),
            notebooks=notebooks,
            notebook="a.ipynb",
            now=lambda: NOW,
        )
        assert around.notebook is not None
        found = named(await around.look(Where(), everything=True))
        assert found["notebook"] == ["Notebook of this task: a.ipynb, 1 cells, no kernel runs."]
        assert found["outline"] == ["c1 code [ ] (never ran) x = 1"] and found["variables"] == []
        assert around.notebook.inspections == 0

        async def run(code: str) -> None:
            await (await notebooks.run("a.ipynb", [CellRunSpec(None, code)], task_id=TaskId("t"))).wait()

        await run("x = 1\nsecret_value = 'ghp_1'")
        # Names and types only: to read values is asked about.
        assert named(await around.look(Where(), everything=True))["variables"] == [
            "secret_value: str of length 5",
            "x: int",
        ]
        for _ in range(3):
            await around.look(Where(), everything=True)
        assert around.notebook.inspections == 1
        reading = Where(settings=GlobalSettings(auto_approval_enabled=True, always_allow_read_only=True))
        assert "x: int = 1" in named(await around.look(reading, everything=True))["variables"]
        await run("del x")
        assert named(await around.look(Where(), everything=True))["variables"] == ["secret_value: str of length 5"]
        assert around.notebook.inspections == 2
        # What the person runs counts too.
        notebooks.person_runs = lambda path: [PersonRun(CellId("c1"), True, 7)]
        found = named(await around.look(Where(), everything=True))
        assert around.notebook.inspections == 3 and found["person_runs"] == ["- cell 1 c1: done"]

        # One that does not answer is not waited for again before something has run in it.
        answers = notebooks.executor.inspect

        async def silent(*args: object, **kwargs: object) -> VariablesReport:
            raise TimeoutError

        await run("y = 2")
        notebooks.executor.inspect = silent  # type: ignore[method-assign]  # a kernel that hangs in a call to C
        for _ in range(3):
            assert "variables" not in named(await around.look(Where(), everything=True))
        assert around.notebook.inspections == 4
        notebooks.executor.inspect = answers  # type: ignore[method-assign]  # as it was

        await run("globals().update({f'v{n}': n for n in range(10_000)})")
        flood = next(one for one in await around.look(Where(), everything=True) if one.name == "variables")
        assert len(flood.entries) == 100 and flood.is_partial and flood.others == 1000

        (tmp_path / ".hdspignore").write_text("*.ipynb\n")
        hidden = named(await around.look(Where(), everything=True))
        assert [hidden[name] for name in ("notebook", "outline", "variables")] == [[], [], []]


async def test_open_notebooks_are_told_but_for_those_that_are_hidden(tmp_path: Path) -> None:
    (tmp_path / ".hdspignore").write_text("secret/\n")
    async with headless_notebooks(tmp_path) as notebooks:
        names = ["b.ipynb", "a.ipynb", "secret/c.ipynb", *(f"n{number}.ipynb" for number in range(5))]
        notebooks.access._tabs.paths = lambda: names  # type: ignore[method-assign]  # a browser with these open
        found = await asyncio.to_thread(open_files_part, notebooks, PathPolicy(tmp_path), 3)
        assert texts(found) == ["a.ipynb", "b.ipynb", "n0.ipynb"] and found.others == 4
        assert texts(await asyncio.to_thread(open_files_part, notebooks, PathPolicy(tmp_path), 0)) == []
