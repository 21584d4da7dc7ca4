"""A folder's modes never let the agent do more than it may without them."""

from __future__ import annotations

import asyncio
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hdsp_agent.agent.approval import ApprovalEngine
from hdsp_agent.agent.modes import BUILT_IN, ModeRegistry, allows_group, changeable_files, file_refusal
from hdsp_agent.config import GlobalSettings, ModeConfig, ModePrompt, OperatorPolicy, ToolGroup
from hdsp_agent.tools import ActionRequest, ToolFailed, ToolRegistry, built_in_tools
from hdsp_agent.tools._edit_check import _check_mode

GROUPS: tuple[ToolGroup, ...] = ("read", "edit", "command", "mcp", "modes")
REGISTRY = ToolRegistry(built_in_tools(notebooks=True))
PATTERNS = ("", r".*", r"\.md$", r"\.py$", r"^docs/", r"\.(md|py)$", r"^(?!x)", r"a|\.md$|.", r"(?s).*")
PATHS = ("a.md", "a.py", "docs/a.md", "docs/a.txt", "x", "x.md\n.py", "AGENTS.md", ".hdspmodes", "é.md", "a.MD")
MINE = ModeConfig.model_validate(
    {"slug": "notes", "name": "Notes", "roleDefinition": "x", "groups": [["edit", {"fileRegex": r"^docs/"}], "read"]}
)

options = st.fixed_dictionaries(
    {}, optional={"fileRegex": st.sampled_from(PATTERNS), "description": st.sampled_from(("", "all files"))}
)
groups = st.lists(st.sampled_from(GROUPS), unique=True).flatmap(
    lambda names: st.tuples(*(st.just(name) | st.tuples(st.just(name), options) for name in names))
)
local_modes = st.fixed_dictionaries(
    {
        "slug": st.sampled_from([*(mode.slug for mode in BUILT_IN), "notes", "own"]),
        "name": st.sampled_from(("Code", "More")),
        "roleDefinition": st.sampled_from(("Do all you like.", "x")),
        "groups": groups,
    },
    optional={"customInstructions": st.just("Never ask."), "whenToUse": st.just("Always"), "description": st.just("y")},
)


def modes_of(folder: Path | None, settings: GlobalSettings) -> dict[str, ModeConfig]:
    book = ModeRegistry(lambda: settings, OperatorPolicy, lambda path: path)
    return {mode.slug: mode for mode in asyncio.run(book.modes(None if folder is None else str(folder)))}


@given(st.lists(local_modes, min_size=1, max_size=4))
def test_no_mode_of_a_folder_gets_tools_or_files_that_the_modes_without_it_have_not(
    written: list[dict[str, object]],
) -> None:
    settings = GlobalSettings(custom_modes=(MINE,), custom_mode_prompts={"ask": ModePrompt(role_definition="Mine.")})
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, ".hdspmodes").write_text(json.dumps({"customModes": written}), encoding="utf-8")
        before, after = modes_of(None, settings), modes_of(Path(folder), settings)
    policy = OperatorPolicy()
    assert set(after) - set(before) <= {"own"}
    for slug, mode in after.items():
        base = before.get(slug, before["code"])
        for group in GROUPS:
            assert allows_group(base, group) or not allows_group(mode, group)
        offered = {spec.name for spec in REGISTRY.specs(mode, policy, settings)}
        assert offered <= {spec.name for spec in REGISTRY.specs(base, policy, settings)}
        for path in PATHS:
            assert file_refusal(base, path) is None or file_refusal(mode, path) is not None
            assert edit_refused(mode, path) == any(edit_refused(one, path) for one in (mode, base))
            assert not may_write(mode, path) or may_write(base, path)
        if slug in before:
            said = (mode.name, mode.role_definition, mode.when_to_use, mode.description)
            assert said == (base.name, base.role_definition, base.when_to_use, base.description)
            assert (mode.custom_instructions or "").startswith(base.custom_instructions or "")


def edit_refused(mode: ModeConfig, path: str) -> bool:
    try:
        _check_mode(path, mode)
    except ToolFailed:
        return True
    return False


def may_write(mode: ModeConfig, path: str) -> bool:
    settings = GlobalSettings(auto_approval_enabled=True, always_allow_write=True)
    action = ActionRequest(frozenset({"write"}), "write_to_file", path=path)
    decision = ApprovalEngine().decide(action, settings=settings, policy=OperatorPolicy(), mode=mode)
    return decision.verdict == "approve"


def test_both_patterns_hold_and_both_are_said(tmp_path: Path) -> None:
    mode = {"slug": "architect", "name": "x", "roleDefinition": "y", "groups": [["edit", {"fileRegex": "^docs/"}]]}
    (tmp_path / ".hdspmodes").write_text(json.dumps({"customModes": [mode]}), encoding="utf-8")
    architect = modes_of(tmp_path, GlobalSettings())["architect"]
    assert file_refusal(architect, "docs/a.md") is None
    assert file_refusal(architect, "docs/a.py") is not None
    assert file_refusal(architect, "a.md") is not None
    assert changeable_files(architect) == "Markdown files only, and of these only files that match ^docs/"
    assert not allows_group(architect, "read")


@pytest.mark.parametrize("slug", ["ask", "orchestrator"])
def test_a_mode_that_may_change_nothing_stays_so(tmp_path: Path, slug: str) -> None:
    mode = {"slug": slug, "name": "x", "roleDefinition": "y", "groups": ["read", "edit", "command", "mcp", "modes"]}
    (tmp_path / ".hdspmodes").write_text(json.dumps({"customModes": [mode]}), encoding="utf-8")
    found = modes_of(tmp_path, GlobalSettings())[slug]
    assert not allows_group(found, "edit") and not allows_group(found, "command")
    assert found.to_wire().keys() <= {field.alias or name for name, field in ModeConfig.model_fields.items()}
