"""Programs outside, tool by tool, under every rule: nothing is done that the engine did not decide, or the person denied."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import pytest

from hdsp_agent.agent.approval import ApprovalEngine, Decision
from hdsp_agent.agent.external.offered_tools import ANNOTATIONS
from hdsp_agent.config import ApprovalPreset, GlobalSettings, ModeConfig, OperatorPolicy
from hdsp_agent.tools import ActionRequest
from tests._helpers.kept_files import kept_in
from tests.agent.external._helpers.program import Program, program
from tests.attacks._helpers.program_calls import CALLS

pytestmark = pytest.mark.filterwarnings("ignore:Passing unrecognized arguments:DeprecationWarning")

HARMLESS: Final = {"list_notebooks", "list_kernels", "wait_run", "read_command_output", "checkpoint_list"}
"""They tell what is open, what runs, and what the program itself has begun."""
FAILS: Final = {"checkpoint_undo"}
"""Nothing was restored here."""
READS: Final = {
    "read_notebook", "inspect_variables", "read_file", "list_files", "search_files", "search_memory", "read_memory",
    "search_tasks", "checkpoint_diff",
}  # fmt: skip
REMEMBERED: Final = {"search_memory", "read_memory", "search_tasks"}
"""What is no file of a folder that could be trusted."""
WRITES: Final = {"edit_cells", "create_notebook", "write_to_file", "apply_diff", "search_replace"}
RUNS: Final = {"run_cells", "run_code"}
ALWAYS: Final = {"install_packages", "execute_command", "checkpoint_restore"}
EVERYTHING: Final = READS | WRITES | RUNS | ALWAYS | {"manage_kernel"}


@dataclass
class RecordingEngine(ApprovalEngine):
    """The engine, and what it decided."""

    decided: list[tuple[ActionRequest, Decision]] = field(default_factory=list)

    def decide(
        self,
        action: ActionRequest,
        *,
        settings: GlobalSettings,
        policy: OperatorPolicy,
        mode: ModeConfig,
        is_familiar: bool = False,
    ) -> Decision:
        decision = super().decide(action, settings=settings, policy=policy, mode=mode, is_familiar=is_familiar)
        self.decided.append((action, decision))
        return decision


def settings_of(preset: ApprovalPreset, **more: bool) -> GlobalSettings:
    """What the person chose for the program. Their own agent may do anything."""
    everything = {name: True for name in GlobalSettings.model_fields if name.startswith("always_allow_")}
    own = GlobalSettings(auto_approval_enabled=True, mcp_server_commands=True, client_approvals={"Claude Code": preset})
    return own.model_copy(update={**everything, **more})


def files_of(folder: Path) -> dict[str, bytes]:
    """Everything in the folder."""
    return {str(path.relative_to(folder)): content for path, content in kept_in(folder).items()}


async def prepared(claude: Program) -> dict[str, Mapping[str, object]]:
    """The calls, with a kernel that runs and a checkpoint to go back to."""
    (claude.agent.workspace / "notes.txt").write_text("a word\n")
    notebooks, checkpoints = claude.agent.manager.services.notebooks, claude.agent.manager.checkpoints
    assert notebooks is not None
    await notebooks.executor.start("a.ipynb", None)
    saved = await checkpoints.save(claude.agent.workspace, "here", owner="")
    # Of what the person made nothing goes back.
    await claude.approved("write_to_file", path="later.txt", content="later")
    named = {name: dict(arguments) for name, arguments in CALLS.items()}
    for name in ("checkpoint_diff", "checkpoint_restore"):
        named[name]["checkpoint"] = saved.id
    return {**named}


async def asked_of(claude: Program) -> set[str]:
    """Which calls ask, each denied: what is denied leaves no trace, and nothing is done that was not decided."""
    engine = claude.agent.manager.services.approvals
    assert isinstance(engine, RecordingEngine)
    asked: set[str] = set()
    for name, arguments in (await prepared(claude)).items():
        engine.decided.clear()
        before = await asyncio.to_thread(files_of, claude.agent.workspace)
        call = claude.begin(name, **arguments)
        question = asyncio.create_task(claude.asked())
        await asyncio.wait({call, question}, return_when=asyncio.FIRST_COMPLETED)
        verdicts = {decision.verdict for _, decision in engine.decided}
        if question.done():
            asked.add(name)
            assert verdicts == {"ask"}, name
            assert await asyncio.to_thread(files_of, claude.agent.workspace) == before, name
            await claude.answer(question.result(), "noButtonClicked")
            assert (await call).is_error
            assert await asyncio.to_thread(files_of, claude.agent.workspace) == before, name
        else:
            question.cancel()
            result = await call
            assert verdicts <= {"approve"}, name
            assert verdicts or name in HARMLESS or result.is_error, name
    return asked


@pytest.mark.parametrize(
    ("preset", "more", "trusted", "expected"),
    [
        ("ask", {}, False, EVERYTHING),
        ("edit", {}, False, EVERYTHING - READS - WRITES),
        ("editAndRun", {}, False, EVERYTHING - READS - WRITES - RUNS),
        ("everything", {}, False, ALWAYS),
        ("ask", {}, True, EVERYTHING - (READS - REMEMBERED)),
        ("ask", {"ask_before_reading": True}, True, EVERYTHING),
    ],
)
async def test_each_tool_asks_as_the_rules_have_it(
    tmp_path: Path, preset: ApprovalPreset, more: dict[str, bool], trusted: bool, expected: set[str]
) -> None:
    assert set(CALLS) == set(ANNOTATIONS)
    settings = settings_of(preset, **more)
    async with program(
        tmp_path, "x = 1", settings=settings, trusted=trusted, checkpoints=True, engine=RecordingEngine()
    ) as claude:
        assert await asked_of(claude) == expected


async def test_where_the_operator_wants_approval_for_all_nothing_is_done_without(tmp_path: Path) -> None:
    policy = OperatorPolicy(allow_auto_approval=False)
    async with program(
        tmp_path, "x = 1", settings=settings_of("everything"), policy=policy, trusted=True, checkpoints=True,
        engine=RecordingEngine(),
    ) as claude:  # fmt: skip
        assert await asked_of(claude) == EVERYTHING


@pytest.mark.parametrize("allowed", [(), ("read_file",)])
async def test_what_the_operator_takes_away_is_not_even_asked_about(tmp_path: Path, allowed: tuple[str, ...]) -> None:
    policy = OperatorPolicy(allowed_tools=allowed)
    async with program(
        tmp_path, "x = 1", settings=settings_of("everything"), policy=policy, checkpoints=True, engine=RecordingEngine()
    ) as claude:
        calls = await prepared(claude)
        before = await asyncio.to_thread(files_of, claude.agent.workspace)
        for name, arguments in calls.items():
            assert (await claude.call(name, **arguments)).is_error is (name not in allowed), name
        assert await asyncio.to_thread(files_of, claude.agent.workspace) == before
        engine = claude.agent.manager.services.approvals
        assert isinstance(engine, RecordingEngine)
        assert {action.tool for action, _ in engine.decided} == set(allowed)


async def test_where_only_reading_is_allowed_nothing_changes(tmp_path: Path) -> None:
    policy = OperatorPolicy(allowed_modes=("ask",))
    settings = settings_of("everything").model_copy(update={"mode": "ask"})
    async with program(
        tmp_path, "x = 1", settings=settings, policy=policy, checkpoints=True, engine=RecordingEngine()
    ) as claude:
        calls = await prepared(claude)
        before = await asyncio.to_thread(files_of, claude.agent.workspace)
        for name, arguments in calls.items():
            result = await claude.call(name, **arguments)
            assert result.is_error or ANNOTATIONS[name].read_only, name
        assert await asyncio.to_thread(files_of, claude.agent.workspace) == before


async def test_a_name_that_others_have_brings_what_was_chosen_for_it_and_no_more(tmp_path: Path) -> None:
    settings = settings_of("everything")
    async with program(tmp_path, "x = 1", settings=settings, engine=RecordingEngine()) as claude:
        other = Program(claude.agent, claude.sessions, replace(claude.client, name="claude code", key="other"))
        call = other.begin("read_notebook", path="a.ipynb")
        await other.answer(await other.asked(), "noButtonClicked")
        assert (await call).is_error


async def test_files_that_are_kept_from_the_agent_stay_so(tmp_path: Path) -> None:
    async with program(
        tmp_path, "x = 1", settings=settings_of("everything"), checkpoints=True, engine=RecordingEngine()
    ) as claude:
        (claude.agent.workspace / ".hdspignore").write_text("a.ipynb\nhidden\n")
        outside = tmp_path / "outside.ipynb"
        outside.write_text((claude.agent.workspace / "a.ipynb").read_text())
        (claude.agent.workspace / "link.ipynb").symlink_to(outside)
        for path in ("a.ipynb", "hidden/b.ipynb", "link.ipynb", "../outside.ipynb"):
            call = claude.begin("edit_cells", path=path, operations=[{"op": "insert", "source": "bad = 1"}])
            question = asyncio.create_task(claude.asked())
            await asyncio.wait({call, question}, return_when=asyncio.FIRST_COMPLETED)
            if question.done():
                # Outside it is asked about, whatever is allowed inside.
                await claude.answer(question.result(), "noButtonClicked")
            question.cancel()
            assert (await call).is_error, path
        assert "bad" not in outside.read_text()
