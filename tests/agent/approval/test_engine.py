"""What the table of risks decides."""

from __future__ import annotations

from pathlib import Path

import pytest

from hdsp_agent.agent.approval import ApprovalEngine, ApprovalSummary, Decision, standing
from hdsp_agent.agent.modes import BUILT_IN
from hdsp_agent.config import GlobalSettings, ModeConfig, OperatorPolicy
from hdsp_agent.tools import ActionRequest, Risk

CODE, ARCHITECT = BUILT_IN[0], BUILT_IN[1]
EVERYTHING = GlobalSettings.model_validate(
    {name: True for name in GlobalSettings.model_fields if name.startswith("always_allow")}
    | {"auto_approval_enabled": True}
)
SWITCHES: dict[Risk, str] = {
    "read": "always_allow_read_only", "read_outside": "always_allow_read_only_outside_workspace", "write": "always_allow_write",
    "write_outside": "always_allow_write_outside_workspace", "write_protected": "always_allow_write_protected",
    "run_code": "always_allow_run_cells", "shell": "always_allow_execute", "install": "always_allow_install_packages",
    "network": "always_allow_network", "mcp": "always_allow_mcp", "mode_switch": "always_allow_mode_switch",
    "subtask": "always_allow_subtasks", "followup": "always_allow_followup_questions",
}  # fmt: skip
CALLED: dict[Risk, str] = {
    "read": "reading", "read_outside": "reading outside the workspace", "write": "editing",
    "write_outside": "editing outside the workspace", "write_protected": "editing protected files", "run_code": "running code",
    "shell": "running shell commands", "install": "installing packages", "network": "using the network",
    "mcp": "using MCP tools", "mode_switch": "switching modes", "subtask": "subtasks", "followup": "answering questions",
}  # fmt: skip


def decide(
    action: ActionRequest,
    settings: GlobalSettings = EVERYTHING,
    policy: OperatorPolicy | None = None,
    mode: ModeConfig = CODE,
) -> Decision:
    return ApprovalEngine().decide(action, settings=settings, policy=policy or OperatorPolicy(), mode=mode)


def action(*risks: Risk, **more: object) -> ActionRequest:
    return ActionRequest(frozenset(risks), tool=str(more.pop("tool", "some_tool")), **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("risk", SWITCHES)
def test_each_risk_has_one_switch(risk: Risk) -> None:
    assert decide(action(risk)).verdict == "approve"
    without = EVERYTHING.model_copy(update={SWITCHES[risk]: False})
    decision = decide(action(risk), without)
    assert (decision.verdict, decision.reason) == ("ask", f"The settings have {CALLED[risk]} asked about.")
    others = EVERYTHING.model_copy(update={name: False for name in SWITCHES.values() if name != SWITCHES[risk]})
    assert decide(action(risk), others).verdict == "approve"


def test_what_takes_a_kernel_away_needs_more_than_leave_to_run_cells() -> None:
    assert decide(action("kernel")).verdict == "approve"
    for switch in ("always_allow_run_cells", "always_allow_execute"):
        decision = decide(action("kernel"), EVERYTHING.model_copy(update={switch: False}))
        assert decision.verdict == "ask" and "restarting and interrupting kernels" in decision.reason


def test_all_risks_of_an_action_must_be_allowed() -> None:
    without = EVERYTHING.model_copy(update={"always_allow_write_protected": False})
    assert decide(action("write", "write_protected"), without).verdict == "ask"


@pytest.mark.parametrize("risk", SWITCHES)
def test_the_main_switch_and_the_operator_have_everything_asked_about(risk: Risk) -> None:
    assert decide(action(risk), EVERYTHING.model_copy(update={"auto_approval_enabled": False})).verdict == "ask"
    assert decide(action(risk), policy=OperatorPolicy(allow_auto_approval=False)).verdict == "ask"


def test_what_changes_nothing_is_never_asked_about() -> None:
    assert decide(action("none"), GlobalSettings()).verdict == "approve"


def test_commands_need_the_switch_and_a_rule() -> None:
    allowed = EVERYTHING.model_copy(update={"allowed_commands": ("git log",), "denied_commands": ("rm",)})
    assert decide(action("shell", command="git log"), allowed).verdict == "approve"
    assert decide(action("shell", command="git push"), allowed).verdict == "ask"
    assert decide(action("shell", command="git log; rm x"), allowed).verdict == "deny"
    off = allowed.model_copy(update={"always_allow_execute": False, "auto_approval_enabled": False})
    assert decide(action("shell", command="git log"), off).verdict == "ask"
    assert decide(action("shell", command="rm x"), off).verdict == "deny"


def test_a_pattern_that_fits_hidden_files_is_asked_about_whatever_is_allowed(tmp_path: Path) -> None:
    allowed = EVERYTHING.model_copy(update={"allowed_commands": ("*",)})
    decision = decide(action("shell", command="cat *.txt", matches_hidden="*.txt"), allowed)
    assert decision.verdict == "ask"
    assert ".hdspignore" in decision.reason
    assert decide(action("shell", command="cat *.txt", cwd=str(tmp_path)), allowed).verdict == "approve"


def test_masked_values_are_put_back_by_a_person_only() -> None:
    allowed = EVERYTHING.model_copy(update={"allowed_commands": ("*",)})
    assert decide(action("shell", command="curl x", puts_back_masked=True), allowed).verdict == "ask"


def test_the_operator_the_settings_and_the_mode_can_forbid() -> None:
    assert decide(action("read", tool="x"), policy=OperatorPolicy(allowed_tools=("y",))).verdict == "deny"
    assert decide(action("read", tool="x"), EVERYTHING.model_copy(update={"disabled_tools": ("x",)})).verdict == "deny"
    assert decide(action("write", path="a.py"), mode=ARCHITECT).verdict == "deny"
    assert decide(action("write", path="a.md"), mode=ARCHITECT).verdict == "approve"
    assert decide(action("write", paths=("a.md", "b.py")), mode=ARCHITECT).verdict == "deny"
    assert decide(action("read", path="a.py"), mode=ARCHITECT).verdict == "approve"


def test_running_a_cell_with_commands_is_held_to_the_rules_on_commands() -> None:
    settings = EVERYTHING.model_copy(update={"allowed_commands": ("git log",), "denied_commands": ("rm",)})

    def cell(command: str, *risks: Risk) -> str:
        return decide(action("run_code", "shell", *risks, command=command), settings).verdict

    assert cell("git log") == "approve"
    assert cell("git push") == "ask"
    assert cell("ls\nrm -rf x") == "deny"
    assert cell("$(python_expression) -m x") == "ask"
    no_shell = settings.model_copy(update={"always_allow_execute": False})
    assert decide(action("run_code", "shell", command="git log"), no_shell).verdict == "ask"
    assert decide(action("run_code"), no_shell).verdict == "approve"


def test_what_a_rule_denies_is_denied_in_the_other_way_of_doing_it() -> None:
    settings = EVERYTHING.model_copy(update={"allowed_commands": (), "denied_commands": ("pip install evil",)})
    assert decide(action("install", same_as="pip install good"), settings).verdict == "approve"
    assert decide(action("install", same_as="pip install evil"), settings).verdict == "deny"
    asked = settings.model_copy(update={"always_allow_install_packages": False})
    assert decide(action("install", same_as="pip install good"), asked).verdict == "ask"


SHELL, EDITING = "running shell commands", "editing"
WITH_RULES = EVERYTHING.model_copy(update={"allowed_commands": ("git log", "ls"), "denied_commands": ("rm",)})


def told(settings: GlobalSettings, policy: OperatorPolicy | None = None, mode: ModeConfig = CODE) -> ApprovalSummary:
    return standing(settings, policy or OperatorPolicy(), mode)


def test_what_is_done_at_once_is_told_with_the_commands_that_are() -> None:
    found = told(WITH_RULES)
    assert SHELL in found.at_once and EDITING in found.at_once and found.asked == ()
    assert found.commands == ("git log", "ls")


@pytest.mark.parametrize(
    ("enabled", "allowed"), [(False, True), (True, False), (False, False)], ids=["switched off", "forbidden", "both"]
)
def test_nothing_is_told_as_done_at_once_unless_person_and_operator_both_allow_it(enabled: bool, allowed: bool) -> None:
    settings = WITH_RULES.model_copy(update={"auto_approval_enabled": enabled})
    found = told(settings, OperatorPolicy(allow_auto_approval=allowed))
    assert (found.at_once, found.commands) == ((), ())
    assert SHELL in found.asked and EDITING in found.asked
    assert decide(action("write"), settings, OperatorPolicy(allow_auto_approval=allowed)).verdict == "ask"
    assert decide(action("shell", command="ls"), settings, OperatorPolicy(allow_auto_approval=allowed)).verdict == "ask"


def test_commands_are_told_only_where_the_shell_is_allowed() -> None:
    found = told(WITH_RULES.model_copy(update={"always_allow_execute": False}))
    assert found.commands == () and SHELL in found.asked and SHELL not in found.at_once
    assert EDITING in found.at_once


def test_without_a_rule_that_holds_every_command_is_told_as_asked_about() -> None:
    for rules in (
        {"allowed_commands": ()},
        {"allowed_commands": ("rm x",), "denied_commands": ("rm x",)},
        {"allowed_commands": ("git",), "denied_commands": ("git push", "git")},
    ):
        found = told(EVERYTHING.model_copy(update=rules))
        assert found.commands == () and SHELL in found.asked and SHELL not in found.at_once
    longer = told(EVERYTHING.model_copy(update={"allowed_commands": ("git log",), "denied_commands": ("git",)}))
    assert longer.commands == ("git log",) and SHELL in longer.at_once


def test_what_a_mode_has_no_tools_for_is_neither_told_as_done_nor_as_asked_about() -> None:
    without = ModeConfig.model_validate(
        {"slug": "look", "name": "Look", "roleDefinition": "You look.", "groups": ["read"]}
    )
    found = told(WITH_RULES, mode=without)
    assert SHELL not in (*found.at_once, *found.asked) and EDITING not in (*found.at_once, *found.asked)
    assert "reading" in found.at_once


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        (["read"], {"read", "read_outside", "network", "mode_switch", "subtask"}),
        (["edit"], {"write", "write_outside", "write_protected", "mode_switch", "subtask"}),
        (["command"], {"run_code", "shell", "install", "mode_switch", "subtask"}),
        (["mcp"], {"mcp", "mode_switch", "subtask"}),
    ],
)
def test_each_risk_is_told_in_the_modes_that_have_tools_for_it(groups: list[str], expected: set[Risk]) -> None:
    mode = ModeConfig.model_validate({"slug": "some", "name": "Some", "roleDefinition": "You work.", "groups": groups})
    found = told(WITH_RULES, mode=mode)
    kernels = {"restarting and interrupting kernels"} if groups == ["command"] else set()
    assert set(found.at_once) == {CALLED[risk] for risk in expected} | kernels


def test_an_approved_command_names_the_rule_that_allowed_it() -> None:
    decision = decide(action("shell", command="ls | git log"), WITH_RULES)
    assert (decision.verdict, decision.rule) == ("approve", "ls")
    assert decide(action("write")).rule is None


@pytest.mark.parametrize("risk", ["write", "write_outside", "write_protected"])
def test_a_mode_holds_for_every_kind_of_writing(risk: Risk) -> None:
    assert decide(action(risk, path="x.py"), EVERYTHING, mode=ARCHITECT).verdict == "deny"
    assert decide(action(risk, path="x.md"), EVERYTHING, mode=ARCHITECT).verdict == "approve"
    assert decide(action(risk, path="x.md", paths=("x.py",)), EVERYTHING, mode=ARCHITECT).verdict == "deny"


def test_reading_outside_by_a_command_needs_leave_to_read_and_to_read_outside(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    reading = action("shell", command="cat ../f", cwd=str(tmp_path / "work"))
    allowed = EVERYTHING.model_copy(update={"allowed_commands": ("cat",)})
    assert decide(reading, allowed).verdict == "approve"
    for switch in ("always_allow_read_only", "always_allow_read_only_outside_workspace"):
        assert decide(reading, allowed.model_copy(update={switch: False})).verdict == "ask", switch


def test_a_redirection_writes_where_the_settings_and_the_mode_let_a_tool_edit(tmp_path: Path) -> None:
    allowed = EVERYTHING.model_copy(update={"allowed_commands": ("echo",)})
    writing = {name: action("shell", command=f"echo x > {name}", cwd=str(tmp_path)) for name in ("x.py", "x.md")}
    assert [decide(each, allowed).verdict for each in writing.values()] == ["approve", "approve"]
    without = allowed.model_copy(update={"always_allow_write": False})
    assert [decide(each, without).verdict for each in writing.values()] == ["ask", "ask"]
    runs = ModeConfig.model_validate({"slug": "x", "name": "X", "roleDefinition": "You run.", "groups": ["command"]})
    assert [decide(each, allowed, mode=runs).verdict for each in writing.values()] == ["ask", "ask"]
    some = ModeConfig.model_validate(
        {
            "slug": "x",
            "name": "X",
            "roleDefinition": "You write.",
            "groups": ["command", ["edit", {"fileRegex": "\\.md$"}]],
        }
    )
    assert [decide(each, allowed, mode=some).verdict for each in writing.values()] == ["ask", "approve"]


def test_installing_by_a_command_needs_leave_to_install() -> None:
    allowed = EVERYTHING.model_copy(update={"allowed_commands": ("pip",)})
    assert decide(action("shell", command="pip install x"), allowed).verdict == "approve"
    without = allowed.model_copy(update={"always_allow_install_packages": False})
    assert decide(action("shell", command="pip install x"), without).verdict == "ask"


def test_a_risk_of_nothing_beside_another_changes_nothing() -> None:
    assert decide(action("none", "read")).verdict == "approve"
    without = EVERYTHING.model_copy(update={"always_allow_read_only": False})
    assert decide(action("none", "read"), without).reason == "The settings have reading asked about."


def test_flags_are_told_once_with_every_decision() -> None:
    settings = EVERYTHING.model_copy(update={"allowed_commands": ("curl",), "denied_commands": ("rm",)})
    for command, verdict in (
        ("curl https://x", "approve"),
        ("curl https://x; rm x", "deny"),
        ("curl https://x | y", "ask"),
    ):
        decision = decide(action("shell", command=command, flags=("uses_network", "runs_programs")), settings)
        assert (decision.verdict, decision.flags) == (verdict, ("uses_network", "runs_programs")), command


def test_what_was_decided_is_told_with_its_reason_and_what_runs() -> None:
    allowed = EVERYTHING.model_copy(update={"allowed_commands": ("ls",)})
    decision = decide(action("shell", command="ls  -la"), allowed)
    assert (decision.reason, decision.runs, decision.rule) == ("the rule 'ls' allows it", "ls -la", "ls")
    assert [part.words for part in decision.parts] == [("ls", "-la")]
    other = decide(action("write"))
    assert (other.reason, other.runs, other.parts) == ("your settings allow it", None, ())
    assert decide(action("none")).reason == "it changes nothing outside the conversation"
    asked = decide(action("shell", command="cat x"), allowed)
    assert (asked.reason, asked.runs) == ("cat x: no rule allows it", None)
    assert [part.words for part in asked.parts] == [("cat", "x")]


def test_each_refusal_says_who_refuses() -> None:
    assert "administrator" in decide(action("read", tool="x"), policy=OperatorPolicy(allowed_tools=("y",))).reason
    assert decide(action("read", tool="x"), policy=OperatorPolicy(allowed_tools=("x",))).verdict == "approve"
    off = EVERYTHING.model_copy(update={"disabled_tools": ("x",)})
    assert "switched off" in decide(action("read", tool="x"), off).reason
    for settings, policy in ((EVERYTHING, OperatorPolicy(allow_auto_approval=False)), (EVERYTHING.model_copy(update={"auto_approval_enabled": False}), None)):  # fmt: skip
        assert decide(action("read"), settings, policy).reason.startswith(
            ("Your administrator", "Approving automatically")
        )


ASKS = GlobalSettings()


def familiar(action: ActionRequest, settings: GlobalSettings = ASKS, policy: OperatorPolicy | None = None) -> str:
    return (
        ApprovalEngine()
        .decide(action, settings=settings, policy=policy or OperatorPolicy(), mode=CODE, is_familiar=True)
        .verdict
    )


def test_what_is_open_or_trusted_is_read_without_asking() -> None:
    assert familiar(action("read", path="a.ipynb")) == "approve"
    assert decide(action("read", path="a.ipynb"), ASKS).verdict == "ask"


@pytest.mark.parametrize("risk", [risk for risk in SWITCHES if risk != "read"])
def test_being_open_or_trusted_allows_nothing_but_reading(risk: Risk) -> None:
    assert familiar(action(risk, path="a.ipynb")) == "ask"
    assert familiar(action("read", risk, path="a.ipynb")) == "ask"


def test_reading_what_is_open_is_asked_about_where_somebody_wants_that() -> None:
    read = action("read", path="a.ipynb")
    assert familiar(read, GlobalSettings(ask_before_reading=True)) == "ask"
    assert familiar(read, policy=OperatorPolicy(allow_auto_approval=False)) == "ask"
    assert familiar(action("read", path="a.ipynb", puts_back_masked=True)) == "ask"
    assert familiar(action("read", path="a.ipynb", matches_hidden="*.csv")) == "ask"
    assert familiar(action("read", command="cat a.csv", path="a.ipynb")) == "ask"


def test_cells_that_were_allowed_with_their_change_run() -> None:
    assert decide(action("run_code", allowed_before=True), ASKS).verdict == "approve"
    assert decide(action("run_code"), ASKS).verdict == "ask"


@pytest.mark.parametrize(
    "more",
    [
        {"puts_back_masked": True},
        {"matches_hidden": "*.csv"},
        {"command": "ls"},
        {"flags": ("deletes_files",)},
    ],
)
def test_what_such_cells_do_besides_is_asked_about(more: dict[str, object]) -> None:
    assert decide(action("run_code", allowed_before=True, **more), ASKS).verdict == "ask"
    assert decide(action("run_code", "network", allowed_before=True), ASKS).verdict == "ask"


def test_a_cell_whose_change_was_asked_for_at_it_is_changed() -> None:
    change = action("write", path="a.ipynb", allowed_before=True)
    assert decide(change, ASKS).verdict == "approve"
    assert decide(action("write", path="a.ipynb"), ASKS).verdict == "ask"


@pytest.mark.parametrize(
    ("risks", "more"),
    [
        (("write",), {"puts_back_masked": True}),
        (("write",), {"flags": ("deletes_files",)}),
        (("write", "network"), {}),
        (("write_protected",), {}),
        (("write_outside",), {}),
        (("write", "run_code"), {}),
    ],
)
def test_what_such_a_change_does_besides_is_asked_about(risks: tuple[Risk, ...], more: dict[str, object]) -> None:
    assert decide(action(*risks, path="a.ipynb", allowed_before=True, **more), ASKS).verdict == "ask"


def test_a_change_that_was_asked_for_is_still_the_operators_to_have_approved() -> None:
    change = action("write", path="a.ipynb", allowed_before=True)
    assert decide(change, ASKS, OperatorPolicy(allow_auto_approval=False)).verdict == "ask"
    for fixed in ("alwaysAllowWrite", "autoApprovalEnabled"):
        policy = OperatorPolicy(fixed_settings={fixed: False})
        assert decide(change, ASKS, policy).verdict == "ask"


def test_what_is_forbidden_is_not_allowed_by_having_been_allowed() -> None:
    settings = GlobalSettings(disabled_tools=("some_tool",))
    assert decide(action("run_code", allowed_before=True), settings).verdict == "deny"
