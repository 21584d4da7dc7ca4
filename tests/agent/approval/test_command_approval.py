"""Which commands run without asking."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hdsp_agent.agent.approval import decide_command

from ..._helpers.long_tests import rounds
from ..._helpers.timing import processor_time
from ._helpers.commands import APPROVED, APPROVED_BY_WIDE_RULES, ASKED, ASKED_THOUGH_ALLOWED, DENIED, READING, WIDE
from ._helpers.escapes import GIT, HARMLESS, PROGRAMS, SHELL, USUAL


@pytest.mark.parametrize("command", APPROVED)
def test_what_only_does_what_the_rules_allow_runs(command: str) -> None:
    decision = decide_command(command, allow=READING)
    assert decision.verdict == "approve", decision


@pytest.mark.parametrize("command", ASKED)
def test_whatever_else_is_asked_about(command: str) -> None:
    decision = decide_command(command, allow=READING)
    assert decision.verdict == "ask", decision
    assert decision.reason


@pytest.mark.parametrize("command", DENIED)
def test_what_is_denied_is_denied_however_it_is_wrapped(command: str) -> None:
    decision = decide_command(command, allow=READING, deny=("rm", "git push"))
    assert decision.verdict == "deny", decision


@pytest.mark.parametrize("command", ASKED_THOUGH_ALLOWED)
def test_rules_do_not_reach_beyond_the_workspace_packages_and_what_is_wrapped(command: str) -> None:
    decision = decide_command(command, allow=WIDE, workspace="/home/anna/project")
    assert decision.verdict == "ask", decision


@pytest.mark.parametrize("command", APPROVED_BY_WIDE_RULES)
def test_wide_rules_allow_what_they_name(command: str) -> None:
    decision = decide_command(command, allow=WIDE, workspace="/home/anna/project")
    assert decision.verdict == "approve", decision


@pytest.mark.parametrize("command", [*GIT, *PROGRAMS, *SHELL])
def test_a_rule_for_a_program_is_no_leave_for_what_else_it_can_do(command: str) -> None:
    decision = decide_command(command, allow=USUAL, workspace="/home/anna/project")
    assert decision.verdict == "ask", decision


@pytest.mark.parametrize("command", HARMLESS)
def test_everyday_commands_still_run_by_their_rules(command: str) -> None:
    decision = decide_command(command, allow=USUAL, workspace="/home/anna/project")
    assert decision.verdict == "approve", decision


@pytest.mark.parametrize(
    "command",
    [
        "/usr/bin/sort -o x a", "/bin/rm -rf /etc", "/usr/bin/sed -i s/a/b/ f", "./tee ~/.bashrc", "/usr/bin/env PATH=d ls", "/usr/bin/xargs rm", "/usr/bin/find . -delete",
        "bash <<'EOF'\nrm -r x\nEOF", "echo 'rm x' | bash", "echo 'rm x' | sh -s", "bash /dev/stdin < x", "cat x | /bin/sh", "bash <<< 'rm x'", "bash -i",
    ],
)  # fmt: skip
def test_not_even_a_rule_for_everything_allows_what_writes_elsewhere_or_cannot_be_seen(command: str) -> None:
    assert decide_command(command, allow=["*"], workspace="/home/anna/project").verdict == "ask"


def test_what_of_git_runs_programs_is_allowed_by_a_rule_that_names_it() -> None:
    assert decide_command("git rebase main", allow=["git rebase"]).verdict == "approve"
    assert decide_command("git config --get user.name", allow=["git config --get"]).verdict == "approve"
    assert decide_command("git rebase --exec ./x main", allow=["git rebase"]).verdict == "ask"


def test_nested_and_long_texts_are_decided_soon() -> None:
    texts = (
        "(" * 9_900,
        "$(" * 4_900,
        "echo " + "a " * 4_900,
        "echo $(" * 1_200 + ")" * 1_200,
        "ls;" * 3_300,
        "ls | " * 1_900,
    )
    with processor_time(5):
        for text in (*texts, "bash -c '" * 1_000, "ls " + "a" * 100_000):
            assert decide_command(text, allow=["ls", "echo", "bash"]).verdict in ("approve", "ask")
        assert decide_command("ls " + "a" * 100_000, allow=["ls"]).verdict == "ask"
        assert decide_command("echo $(" * 300 + ")" * 300, allow=["echo"]).verdict == "ask"


def test_the_longer_rule_decides_and_a_tie_is_a_denial() -> None:
    assert decide_command("git push origin", allow=["git push origin"], deny=["git push"]).verdict == "approve"
    assert decide_command("git push origin", allow=["git push"], deny=["git push origin"]).verdict == "deny"
    assert decide_command("git push", allow=["git push"], deny=["git push"]).verdict == "deny"


def test_a_star_allows_every_program_and_no_doubt() -> None:
    assert decide_command("anything --at all", allow=["*"]).verdict == "approve"
    assert decide_command("anything > file", allow=["*"]).verdict == "ask"
    assert decide_command("npm run build", allow=["npm run *"]).verdict == "approve"
    assert decide_command("npm running", allow=["npm run *"]).verdict == "ask"


def test_the_parts_say_what_was_decided_about_each() -> None:
    decision = decide_command("git log | head -3; rm x", allow=["git log", "head"])
    assert [(part.command, part.verdict, part.rule) for part in decision.parts] == [
        ("git log", "approve", "git log"), ("head -3", "approve", "head"), ("rm x", "ask", None),
    ]  # fmt: skip


def test_installing_may_be_allowed() -> None:
    assert decide_command("pip install x", allow=["pip"], allow_installs=True).verdict == "approve"
    assert decide_command("pip install x", allow=[], allow_installs=True).verdict == "ask"
    assert decide_command("pip install x", allow=["pip"]).installs


@settings(max_examples=rounds(200, 500), deadline=None)
@given(st.text(alphabet="ls rm$(){}[]<>|&;'\"`\\\n=*~!#-ax", max_size=40))
def test_no_mixture_of_signs_gets_an_unknown_program_through(text: str) -> None:
    decision = decide_command(text, allow=["ls"])
    if decision.verdict == "approve":
        assert all(part.words[0] == "ls" for part in decision.parts)


@settings(max_examples=rounds(100, 300), deadline=None)
@given(st.text(max_size=200))
def test_any_text_gets_a_decision(text: str) -> None:
    assert decide_command(text, allow=["*"]).verdict in ("approve", "ask", "deny")


def test_a_text_that_crashes_the_grammars_scanner_does_not_reach_it() -> None:
    # In a process of its own: what must not happen would end this one.
    text = "{\U000ac10d\U0010eb37Hp¾\U00067841८¦\x8c\x86\x03"
    program = f"from hdsp_agent.agent.approval import decide_command\nfor _ in range(2000): decide_command({text!r}, allow=['*'])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
