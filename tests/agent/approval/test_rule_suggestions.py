"""Rules offered for what is asked about: only such as say what they allow, and such as the engine then accepts."""

from __future__ import annotations

import shlex
from typing import get_args

import pytest

from hdsp_agent.agent.approval import ApprovalEngine, Suggestions, suggest_rules
from hdsp_agent.agent.modes._builtin import BUILT_IN
from hdsp_agent.config import GlobalSettings, OperatorPolicy
from hdsp_agent.config._fields import wire_names
from hdsp_agent.tools import ActionRequest, Risk

from ._helpers.escapes import GIT, PROGRAMS

MODE = next(mode for mode in BUILT_IN if mode.slug == "code")
READY = GlobalSettings(auto_approval_enabled=True, always_allow_execute=True, allowed_commands=("git log",))


def command(text: str) -> ActionRequest:
    return ActionRequest(frozenset({"shell"}), "execute_command", command=text, cwd="/work")


def suggested(
    action: ActionRequest, settings: GlobalSettings = READY, policy: OperatorPolicy | None = None
) -> Suggestions:
    return suggest_rules(action, settings=settings, policy=policy or OperatorPolicy(), mode=MODE)


def with_rules(settings: GlobalSettings, suggestions: Suggestions) -> GlobalSettings:
    """As the panel applies them: every setting, and the first rule of each command."""
    names = wire_names(GlobalSettings)
    first = {rule.command: rule.value for rule in reversed(suggestions.rules) if rule.kind == "command"}
    switches = {names[rule.value]: True for rule in suggestions.rules if rule.kind == "class"}
    return settings.model_copy(update={**switches, "allowed_commands": (*settings.allowed_commands, *first.values())})


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("pytest -q tests", ["pytest -q tests", "pytest -q", "pytest"]),
        ("python train.py --fast", ["python train.py --fast", "python train.py"]),
        ("python3.12 -m pytest -q", ["python3.12 -m pytest -q", "python3.12 -m pytest"]),
        ("npm run build", ["npm run build"]),
        ("git commit -m 'some words'", ["git commit -m", "git commit"]),
        ("git log -3 && make test", ["make test"]),
        ("head data.csv | wc -l", ["head data.csv", "head", "wc -l", "wc"]),
        ("./run.sh now", ["./run.sh now", "./run.sh"]),
        ("pytest -q tests/a.py -x -k load", ["pytest -q tests/a.py -x -k load", "pytest -q", "pytest"]),
    ],
)
def test_the_words_that_say_what_a_command_does_are_offered_what_allows_least_first(
    text: str, rules: list[str]
) -> None:
    assert [rule.value for rule in suggested(command(text)).rules] == rules


@pytest.mark.parametrize(
    "text",
    [
        "rm -rf build", "sudo ls", "bash run.sh", "python -c 'print(1)'", "python", "git", "git push", "git -c a=b status", "curl x.org", "FOO=1 pytest", "$TOOL now",
        "echo hi > out.txt", "cat .env", "find . -delete", "xargs pytest", "env pytest", "npm run", "ssh host ls", "eval ls", "docker run x", "sed -i s/a/b/ f",
    ],
)  # fmt: skip
def test_nothing_is_offered_for_what_may_do_anything(text: str) -> None:
    suggestions = suggested(command(text))
    assert suggestions.rules == ()
    assert suggestions.reason


def test_nothing_is_offered_that_the_engine_does_not_accept() -> None:
    offered = 0
    for text in [*GIT, *PROGRAMS, "pip install pandas", "ls -la; cat a b", "time pytest", "jupyter nbconvert x.ipynb"]:
        action = command(text)
        suggestions = suggested(action, GlobalSettings())
        if not suggestions.rules:
            assert suggestions.reason
            continue
        offered += 1
        settings = with_rules(GlobalSettings(), suggestions)
        decision = ApprovalEngine().decide(action, settings=settings, policy=OperatorPolicy(), mode=MODE)
        assert decision.verdict == "approve", (text, suggestions)
        for rule in suggestions.rules:
            if rule.kind == "command":
                assert rule.command is not None
                assert shlex.split(rule.value) == shlex.split(rule.command)[: len(shlex.split(rule.value))]
    assert offered


@pytest.mark.parametrize("risk", [risk for risk in get_args(Risk) if risk != "none"])
def test_the_settings_offered_for_a_class_approve_it(risk: Risk) -> None:
    action = ActionRequest(frozenset({risk}), "some_tool", path="a.py")
    suggestions = suggested(action, GlobalSettings())
    assert {rule.kind for rule in suggestions.rules} == {"class"}
    assert all(rule.label for rule in suggestions.rules)
    settings = with_rules(GlobalSettings(), suggestions)
    assert ApprovalEngine().decide(action, settings=settings, policy=OperatorPolicy(), mode=MODE).verdict == "approve"


def test_what_is_on_already_is_not_offered_again() -> None:
    settings = GlobalSettings(auto_approval_enabled=True)
    rules = suggested(ActionRequest(frozenset({"read"}), "read_file", path="a"), settings).rules
    assert [(rule.kind, rule.value, rule.label) for rule in rules] == [("class", "alwaysAllowReadOnly", "Reading")]


def why(suggestions: Suggestions) -> str:
    """The code of the reason why there is no rule."""
    assert suggestions.rules == ()
    assert suggestions.reason is not None
    return suggestions.reason.code


def test_what_the_operator_or_a_denial_forbids_is_not_offered() -> None:
    reading = ActionRequest(frozenset({"read"}), "read_file", path="a")
    told = suggested(reading, policy=OperatorPolicy(allow_auto_approval=False))
    assert why(told) == "rule_always_asked"
    told = suggest_rules(reading, settings=READY, policy=OperatorPolicy(), mode=MODE, fixed=["alwaysAllowReadOnly"])
    assert why(told) == "rule_settings_fixed"
    told = suggest_rules(
        command("pytest"), settings=READY, policy=OperatorPolicy(), mode=MODE, fixed=["allowedCommands"]
    )
    assert why(told) == "rule_commands_fixed"
    denying = READY.model_copy(update={"denied_commands": ("pytest",)})
    assert why(suggested(command("pytest -q"), denying)) == "rule_denied"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('python -c "print(1)"', "rule_any_command"),
        ("bash run.sh", "rule_any_command"),
        ("sudo ls", "rule_any_command"),
        ("rm -rf build", "rule_none"),
        ("git push", "rule_none"),
    ],
)
def test_why_there_is_no_rule_is_a_code_that_can_be_translated(text: str, code: str) -> None:
    assert why(suggested(command(text))) == code


def test_what_only_a_person_may_allow_is_not_offered() -> None:
    action = ActionRequest(frozenset({"write"}), "write_to_file", path="a", puts_back_masked=True)
    assert suggested(action).rules == ()


def test_a_risk_of_nothing_beside_another_asks_for_no_setting() -> None:
    rules = suggested(ActionRequest(frozenset({"read", "none"}), "read_file", path="a"), GlobalSettings()).rules
    assert [rule.value for rule in rules] == ["autoApprovalEnabled", "alwaysAllowReadOnly"]


def test_installing_asks_for_its_setting_too() -> None:
    rules = suggested(command("pip install pandas")).rules
    assert [(rule.kind, rule.value) for rule in rules if rule.kind == "class"] == [("class", "alwaysAllowInstallPackages")]  # fmt: skip
    assert [rule.value for rule in suggested(command("pip list")).rules if rule.kind == "class"] == []


def test_each_command_of_a_line_gets_rules_of_its_own() -> None:
    rules = suggested(command("pytest a; git log; make test; pytest a")).rules
    assert [(rule.command, rule.value) for rule in rules] == [("pytest a", "pytest a"), ("pytest a", "pytest"), ("make test", "make test")]  # fmt: skip


def test_fixed_settings_take_rules_away_only_where_they_are_needed() -> None:
    def fixed(*names: str) -> str | None:
        found = suggest_rules(command("pytest"), settings=READY, policy=OperatorPolicy(), mode=MODE, fixed=names)
        return None if found.reason is None else found.reason.code

    assert fixed("allowedCommands") == "rule_commands_fixed"
    assert fixed("alwaysAllowWrite", "alwaysAllowExecute") is None
    off = READY.model_copy(update={"always_allow_execute": False})
    both = ["allowedCommands", "alwaysAllowExecute"]
    assert why(suggest_rules(command("pytest"), settings=off, policy=OperatorPolicy(), mode=MODE, fixed=both)) == "rule_settings_fixed"  # fmt: skip
