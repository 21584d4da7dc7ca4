"""Which modes there are, and what they allow."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from hdsp_agent.agent.modes import BUILT_IN, ModeRegistry, allows_group, display_name, file_refusal, project_modes
from hdsp_agent.config import GlobalSettings, ModeConfig, ModePrompt, OperatorPolicy

WRITER = {
    "slug": "writer",
    "name": "Writer",
    "roleDefinition": "You write.",
    "groups": ["read", ["edit", {"fileRegex": "\\.md$"}]],
}


def book(settings: GlobalSettings | None = None, policy: OperatorPolicy | None = None) -> ModeRegistry:
    """The modes of a person who trusts every folder."""
    return ModeRegistry(lambda: settings or GlobalSettings(), lambda: policy or OperatorPolicy(), lambda folder: folder)


async def test_five_modes_are_always_there() -> None:
    assert [mode.slug for mode in await book().names(None)] == ["code", "architect", "ask", "debug", "orchestrator"]


def test_people_see_other_names_than_the_wire_and_their_own_modes_by_theirs() -> None:
    assert [(mode.name, display_name(mode)) for mode in BUILT_IN] == [
        ("Code", "Agent"),
        ("Architect", "Plan"),
        ("Ask", "Ask"),
        ("Debug", "Debug"),
        ("Orchestrator", "Orchestrator"),
    ]
    mine = ModeConfig(slug="code", name="Mine", role_definition="Who I want", groups=("read",))
    assert display_name(mine) == "Mine"


async def test_the_persons_mode_comes_before_a_built_in_and_the_workspaces_only_adds_to_it(tmp_path: Path) -> None:
    mine = ModeConfig(slug="code", name="Mine", role_definition="Who I want", groups=("read", "edit", "mcp"))
    settings = GlobalSettings(custom_modes=(mine,))
    found = await book(settings).get("code", None)
    assert found is not None
    assert found.name == "Mine"
    (tmp_path / ".hdspmodes").write_text(json.dumps({"customModes": [{**WRITER, "slug": "code"}]}), encoding="utf-8")
    found = await book(settings).get("code", str(tmp_path))
    assert found is not None
    assert (found.name, found.source, found.role_definition) == ("Mine", "project", "Who I want")
    assert found.custom_instructions == "You write."
    assert [group if isinstance(group, str) else group[0] for group in found.groups] == ["read", "edit"]
    assert file_refusal(found, "a.py") is not None


async def test_changed_prompts_count_and_the_rest_stays() -> None:
    settings = GlobalSettings(custom_mode_prompts={"ask": ModePrompt(role_definition="You are brief.")})
    found = await book(settings).get("ask", None)
    assert found is not None
    assert found.role_definition == "You are brief."
    assert found.custom_instructions == next(mode for mode in BUILT_IN if mode.slug == "ask").custom_instructions


async def test_what_the_operator_leaves_out_is_not_there() -> None:
    assert await book(policy=OperatorPolicy(allowed_modes=("ask",))).get("code", None) is None


async def test_where_the_operator_lists_modes_no_other_mode_takes_their_names(tmp_path: Path) -> None:
    more = {"slug": "ask", "name": "More", "roleDefinition": "x", "groups": ["read", "edit", "command"]}
    (tmp_path / ".hdspmodes").write_text(json.dumps({"customModes": [more]}), encoding="utf-8")
    mine = GlobalSettings(custom_modes=(ModeConfig.model_validate(more), ModeConfig.model_validate(WRITER)))
    modes = book(mine, OperatorPolicy(allowed_modes=("ask", "writer")))
    found = await modes.get("ask", str(tmp_path))
    assert found is not None
    assert found.groups == ("read", "mcp")
    assert await modes.get("writer", str(tmp_path)) is not None


def _with_pattern(slug: str, pattern: str) -> dict[str, object]:
    return {**WRITER, "slug": slug, "groups": [["edit", {"fileRegex": pattern}]]}


def test_no_pattern_of_a_workspace_takes_longer_than_its_path_is_long(tmp_path: Path) -> None:
    # Each of these keeps Python's own engine busy for years.
    endless = [
        "(a+)+$", "(a|a)+!", ".*.*.*.*x", r"^(?:\w?\w?){40}!$", r"(x?){64}x{64}$", r"((\w)?(\w)?){50}!",
        r"\w*\w*\w*\w*\w*\w*\w*\w*!", r"(?:\w{1,50}\w{1,50}\w{1,50}\w{1,50})!", "[a-z_]*[a-z_]*[a-z_]*[a-z_]*[a-z_]*[a-z_]*/!",
    ]  # fmt: skip
    modes = [_with_pattern(f"m{number}", pattern) for number, pattern in enumerate(endless)]
    (tmp_path / ".hdspmodes").write_text(json.dumps({"customModes": modes}), encoding="utf-8")
    path = "src/" + "a_rather_long_module_name" * 100 + ".py"
    found = project_modes(tmp_path)
    assert len(found) == len(endless)
    for mode in found:
        assert file_refusal(mode, path) is not None


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        (r"^(?!.*test).*\.py$", "look-around"),
        (r"(?<=a)b", "look-around"),
        (r"(a)\1", "back reference"),
        ("(", "not a regular expression"),
        ("(.{1,100}){10}!", "too large"),
    ],
)
def test_a_pattern_that_cannot_be_used_says_why_and_costs_its_mode(
    pattern: str, why: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    modes = [_with_pattern("bad", pattern), _with_pattern("good", r"\.(md|txt)$")]
    (tmp_path / ".hdspmodes").write_text(json.dumps({"customModes": modes}), encoding="utf-8")
    with caplog.at_level(logging.WARNING):
        assert [mode.slug for mode in project_modes(tmp_path)] == ["good"]
    assert why in caplog.text


def test_patterns_that_people_have_for_roo_code_mean_what_they_meant(tmp_path: Path) -> None:
    def allows(pattern: str, path: str) -> bool:
        mode = ModeConfig.model_validate(_with_pattern("m", pattern))
        return file_refusal(mode, path) is None

    assert allows(r"\.md$", "docs/plan.md")
    assert not allows(r"\.md$", "docs/plan.md.py")
    assert allows(r"\.(md|txt)$", "a.txt")
    assert allows(r"(?:^|\/)src\/.*\.tsx?$", "a/src/b/c.ts")
    assert not allows(r"^src\/.*\.tsx?$", "a/src/b/c.ts")
    assert allows(r"(?i)readme", "docs/README")
    assert allows("보고서", "문서/보고서.md")
    assert not allows(".", "a" * 5000)


def _merged(depth: int) -> str:
    """Mappings of which each takes in the one before ten times over."""
    lines = [f"a{at}: &a{at} {{<<: [{', '.join([f'*a{at - 1}'] * 10)}]}}" for at in range(1, depth)]
    return "\n".join(["a0: &a0 {k: v}", *lines, f"customModes: [*a{depth - 1}]"])


def test_an_alias_repeated_in_a_mode_file_is_not_followed_for_ever(tmp_path: Path) -> None:
    groups = ", ".join(["read"] * 5_000)
    entry = f"a: &a {{slug: a, name: A, roleDefinition: x, groups: [{groups}]}}"
    text = f"{entry}\ncustomModes: [{', '.join(['*a'] * 20_000)}]\n"
    (tmp_path / ".hdspmodes").write_text(text, encoding="utf-8")
    assert project_modes(tmp_path) == ()


def test_a_mode_file_may_be_yaml_and_from_another_agent(tmp_path: Path) -> None:
    (tmp_path / ".roomodes").write_text(
        "customModes:\n  - slug: docs\n    name: Docs\n    roleDefinition: You document.\n    groups: [read, browser]\n    future: 1\n",
        encoding="utf-8",
    )
    (mode,) = project_modes(tmp_path)
    assert (mode.slug, mode.groups) == ("docs", ("read",))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "customModes: 3",
        "{",
        "- a",
        '{"customModes": [1, {"slug": "no name"}]}',
        '{"customModes": [{"slug": "a b", "name": "x", "roleDefinition": "y"}]}',
        "a: &a [*a]",
        "customModes: !!bool perhaps",
        _merged(9),
        "\x00",
    ],
)
def test_a_mode_file_that_is_wrong_costs_nothing_but_itself(
    text: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / ".hdspmodes").write_text(text, encoding="utf-8")
    with caplog.at_level(logging.WARNING):
        assert project_modes(tmp_path) == ()
    assert caplog.records


def test_one_wrong_mode_does_not_cost_the_others(tmp_path: Path) -> None:
    (tmp_path / ".hdspmodes").write_text(json.dumps({"customModes": [{"slug": "x"}, WRITER, WRITER]}), encoding="utf-8")
    assert [mode.slug for mode in project_modes(tmp_path)] == ["writer"]


def test_groups_and_file_patterns_hold() -> None:
    architect = next(mode for mode in BUILT_IN if mode.slug == "architect")
    assert allows_group(architect, "edit")
    assert not allows_group(architect, "command")
    assert allows_group(architect, None)
    assert file_refusal(architect, "docs/plan.md") is None
    assert "Markdown" in str(file_refusal(architect, "src/a.py"))
