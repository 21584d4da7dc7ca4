"""What the model is told at the beginning."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

from hdsp_agent.agent.environment import EnvironmentBasis
from hdsp_agent.agent.modes import BUILT_IN
from hdsp_agent.agent.prompts import PromptFacts, agent_rules, mode_rules, shared_rules, standing_prompt
from hdsp_agent.agent.prompts._rules_files import subfolder_rules
from hdsp_agent.config import GlobalSettings, ModeConfig, ProviderSettings, with_profile

CODE = BUILT_IN[0]


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


async def system_prompt(mode: ModeConfig, settings: GlobalSettings, where: PromptFacts, **more: Any) -> str:
    standing: EnvironmentBasis = await asyncio.to_thread(standing_prompt, mode, settings, where, **more)
    return standing.text


async def test_the_prompt_is_the_same_until_something_it_tells_changes(tmp_path: Path) -> None:
    where = PromptFacts(workspace=tmp_path, person=tmp_path / "home")
    first = await system_prompt(CODE, GlobalSettings(), where, other_modes=BUILT_IN)
    assert first == await system_prompt(CODE, GlobalSettings(), where, other_modes=BUILT_IN)
    assert CODE.role_definition in first
    assert "Orchestrator (orchestrator)" in first
    assert str(tmp_path) in first


async def test_instructions_come_in_order_and_the_nearest_last(tmp_path: Path) -> None:
    home, work = tmp_path / "home", tmp_path / "work"
    write(home / ".hdsp/rules/all.md", "person, all modes")
    write(work / ".hdsp/rules/all.md", "workspace, all modes")
    write(work / ".hdsp/rules-code/a.md", "workspace, this mode")
    write(work / "AGENTS.md", "agents file")
    settings = GlobalSettings(custom_instructions="global wish", language="ko")
    mode = CODE.model_copy(update={"custom_instructions": "mode wish"})
    text = await system_prompt(
        mode, settings, PromptFacts(workspace=work, person=home, trusted=work), ignored="*.secret"
    )
    places = [text.index(part) for part in ("Korean", "global wish", "mode wish", "*.secret", "workspace, this mode", "agents file", "person, all modes", "workspace, all modes")]  # fmt: skip
    assert places == sorted(places)


async def test_rules_of_subfolders_count_when_switched_on_and_say_where(tmp_path: Path) -> None:
    work = tmp_path / "work"
    write(work / "AGENTS.md", "for all")
    write(work / "models/AGENTS.md", "for models")
    write(work / "models/.hdsp/rules/a.md", "rules for models")
    write(work / "models/.hdsp/rules-code/a.md", "this mode in models")
    write(work / "models/.hdsp/rules-ask/a.md", "another mode")
    where = PromptFacts(workspace=work, person=tmp_path / "home", trusted=work)
    assert "for models" not in await system_prompt(CODE, GlobalSettings(), where)
    text = await system_prompt(CODE, GlobalSettings(enable_subfolder_rules=True), where)
    below = "These count for files below models.\n\n"
    places = [text.index(part) for part in ("for all", f"{below}this mode in models", f"{below}for models", f"{below}rules for models")]  # fmt: skip
    assert places == sorted(places)
    assert "another mode" not in text
    untrusted = PromptFacts(workspace=work, person=tmp_path / "home")
    assert "for models" not in await system_prompt(CODE, GlobalSettings(enable_subfolder_rules=True), untrusted)


def test_a_huge_tree_and_links_are_not_searched_for_rules_for_ever(tmp_path: Path) -> None:
    write(tmp_path / "a/b/AGENTS.md", "x")
    (tmp_path / "a/b/round").symlink_to(tmp_path)
    write(tmp_path / "1/2/3/4/5/6/7/AGENTS.md", "too deep")
    assert [rule.source for rule in subfolder_rules("code", tmp_path)] == [str(tmp_path / "a/b/AGENTS.md")]


async def test_the_to_do_list_is_spoken_of_only_where_there_is_one(tmp_path: Path) -> None:
    where = PromptFacts(workspace=tmp_path, person=tmp_path / "home")
    assert "to-do list" in await system_prompt(CODE, GlobalSettings(), where)
    off = with_profile(GlobalSettings(), ProviderSettings(todo_list_enabled=False))
    assert off.disabled_tools == ("update_todo_list",)
    assert "to-do list" not in await system_prompt(CODE, off, where)


async def test_the_language_of_the_page_counts_where_no_setting_does(tmp_path: Path) -> None:
    where = PromptFacts(workspace=None, person=tmp_path, language="ja_JP")
    assert "Japanese" in await system_prompt(CODE, GlobalSettings(), where)
    assert "Japanese" not in await system_prompt(CODE, GlobalSettings(language="en"), where)


def test_rules_of_other_agents_are_read_where_there_are_none_of_ours(tmp_path: Path) -> None:
    write(tmp_path / ".clinerules", "old rule")
    write(tmp_path / ".roorules-code", "old mode rule")
    assert [rule.text for rule in shared_rules(tmp_path, tmp_path / "home")] == ["old rule"]
    assert [rule.text for rule in mode_rules("code", tmp_path, tmp_path / "home")] == ["old mode rule"]
    write(tmp_path / ".hdsp/rules/a.md", "new rule")
    assert [rule.text for rule in shared_rules(tmp_path, tmp_path / "home")] == ["new rule"]


def test_folders_of_rules_are_read_in_order_without_circles_or_rubbish(tmp_path: Path) -> None:
    rules = tmp_path / ".hdsp/rules"
    write(rules / "b.md", "second")
    write(rules / "A.md", "first")
    write(rules / "sub/c.md", "third")
    write(rules / "x.md~", "backup")
    (rules / "binary").write_bytes(b"\0\1")
    os.symlink(tmp_path, rules / "loop")
    os.mkfifo(rules / "pipe")
    assert [rule.text for rule in shared_rules(tmp_path, tmp_path / "home")] == ["first", "second", "third"]


def test_a_huge_file_of_rules_is_cut_and_says_so(tmp_path: Path) -> None:
    write(tmp_path / "AGENTS.md", "x" * 300_000)
    (rule,) = agent_rules(tmp_path)
    assert len(rule.text) < 201_000
    assert "left out" in rule.text


def test_a_workspace_cannot_have_files_from_elsewhere_read_as_its_rules(tmp_path: Path) -> None:
    home, work = tmp_path / "home", tmp_path / "work"
    write(home / ".ssh/config", "of the person alone")
    work.mkdir()
    (work / "AGENTS.md").symlink_to(home / ".ssh/config")
    (work / ".hdsp/rules").mkdir(parents=True)
    (work / ".hdsp/rules/a.md").symlink_to(home / ".ssh/config")
    (work / ".hdsp/rules-code").symlink_to(home / ".ssh")
    (work / "AGENTS.local.md").symlink_to("/proc/self/environ")
    assert [*agent_rules(work), *shared_rules(work, home), *mode_rules("code", work, home)] == []
    write(work / "docs/agents.md", "of the workspace")
    (work / "AGENTS.md").unlink()
    (work / "AGENTS.md").symlink_to("docs/agents.md")
    assert [rule.text for rule in agent_rules(work)] == ["of the workspace"]


async def test_who_has_tools_for_notebooks_is_told_how_to_treat_them(tmp_path: Path) -> None:
    without = PromptFacts(workspace=tmp_path, person=tmp_path)
    having = PromptFacts(workspace=tmp_path, person=tmp_path, notebook="a.ipynb", has_notebooks=True)
    assert "# Notebooks" not in await system_prompt(CODE, GlobalSettings(), without)
    text = await system_prompt(CODE, GlobalSettings(), having)
    assert "# Notebooks" in text and "never as text files" in text and "Notebook of this task: a.ipynb" in text


async def test_what_the_prompt_tells_is_named_so_that_changes_can_be_told_alone(tmp_path: Path) -> None:
    home, work = tmp_path / "home", tmp_path / "work"
    write(work / "AGENTS.md", "agents file")
    write(work / ".hdsp/rules/all.md", "all modes")
    settings = GlobalSettings(custom_instructions="global wish", language="ko")
    where = PromptFacts(workspace=work, person=home, trusted=work, notebook="a.ipynb")
    standing = await asyncio.to_thread(standing_prompt, CODE, settings, where, other_modes=BUILT_IN, ignored="*.secret")
    told = {part.name: [entry.key for entry in part.entries] for part in standing.tells}
    assert told == {
        "environment": ["Operating system", "Programs", "Home folder", "Workspace", "Notebook of this task"],
        "role": ["Role", "Modes"],
        "instructions": [
            "Language", "For every mode", "Files you may not read", str(work / "AGENTS.md"), str(work / ".hdsp/rules/all.md")
        ],
    }  # fmt: skip
    assert all(entry.text in standing.text for part in standing.tells for entry in part.entries)


async def test_rules_beyond_the_limit_are_left_out_and_that_is_said(tmp_path: Path) -> None:
    for number in range(3):
        write(tmp_path / f".hdsp/rules/{number}.md", "word " * 30_000)
    text = await system_prompt(
        CODE, GlobalSettings(), PromptFacts(workspace=tmp_path, person=tmp_path / "home", trusted=tmp_path)
    )
    assert len(text) < 120_000 and "tokens truncated…" in text and "[… 2 more are left out" in text
