"""What is denied, however it is written, and which commands of a line are looked at for that."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from hdsp_agent.agent.approval import decide_command
from hdsp_agent.agent.approval._denied_commands import commands_of


def verdict(text: str, deny: str, allow: str = "*", folder: Path | None = None) -> str:
    workspace = None if folder is None else str(folder)
    return decide_command(text, allow=[allow], deny=[deny], workspace=workspace).verdict


def test_a_rule_without_words_denies_everything() -> None:
    assert verdict("ls", "*") == verdict("sudo ls -la | wc", "*") == "deny"


def test_a_command_of_git_is_denied_behind_any_number_of_options_that_change_nothing() -> None:
    for count in (0, 1, 8, 9, 30):
        options = "--no-pager " * count
        assert verdict(f"git {options}push origin", "git push") == "deny", count
        assert verdict(f"nice git {options}push origin", "git push") == "deny", count
        assert verdict(f"/usr/bin/git {options}push origin", "git push") == "deny", count
        assert verdict(f"git {options}log push", "git push") == "approve", count
    assert verdict("git-push origin", "git push") == verdict("sudo git-push", "git push") == "deny"


def test_scripts_in_scripts_are_looked_through_five_deep() -> None:
    text = "rm x"
    for _ in range(8):
        text = f"bash -c {shlex.quote(text)}"
    assert len(list(commands_of(text))) == 6


def test_the_script_of_a_shell_is_found_behind_what_runs_the_shell_and_nowhere_else() -> None:
    assert [command.source for _, command in commands_of("sudo -u anna bash -c 'rm x'")][1:] == ["rm x"]
    assert [command.source for _, command in commands_of("env A=1 sh -c 'rm x'")][1:] == ["rm x"]
    assert [command.source for _, command in commands_of("echo bash -c 'rm x'")][1:] == []


def test_what_a_pattern_stands_for_is_held_to_what_is_denied(tmp_path: Path) -> None:
    (tmp_path / "rm").touch()
    assert verdict("r? x", "rm", folder=tmp_path) == "deny"
    assert verdict("ls; r? x", "rm", folder=tmp_path) == "deny"
    assert verdict("l? x", "rm", folder=tmp_path) != "deny"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "it runs nothing"),
        ("ls", "the rule 'ls' allows it"),
        ("ls | ls", "every command in it is allowed by a rule"),
        ("nohup ls", "every command in it is allowed by a rule"),
        ("rm x", "rm x: the rule 'rm' denies it"),
        ("ls; rm x; ls $x", "rm x: the rule 'rm' denies it"),
        ("cat x", "cat x: no rule allows it"),
        ("ls; cat x; ls $x", "it has a part that only the shell can fill in"),
        ("ls ../x; cat x", "ls ../x: ../x is outside the workspace"),
        ("/bin/ls x", "/bin/ls x: no rule allows it"),
    ],
)
def test_the_reason_is_that_of_the_command_that_decided(text: str, reason: str, tmp_path: Path) -> None:
    decision = decide_command(text, allow=["ls"], deny=["rm"], workspace=str(tmp_path))
    assert decision.reason == reason
    assert (decision.runs is None) is (decision.verdict != "approve")


def test_each_command_of_a_line_that_is_not_approved_is_shown_with_what_holds_for_it() -> None:
    parts = decide_command("ls $x; rm x", allow=["ls"], deny=["rm"]).parts
    assert [(part.words, part.verdict, part.rule) for part in parts] == [(("ls", "$x"), "ask", None), (("rm", "x"), "deny", "rm")]  # fmt: skip
    assert parts[0].reason == "rm x: the rule 'rm' denies it" and parts[1].reason == "the rule 'rm' denies it"


def test_no_shell_of_windows_is_trusted_with_what_was_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "win32")
    decision = decide_command("ls", allow=["ls"])
    assert (decision.verdict, decision.runs) == ("ask", None)
    assert "Linux and macOS" in decision.reason


def test_only_what_every_shell_reads_alike_is_exact() -> None:
    exact = {text: decide_command(text, allow=["ls", "cd"]).is_exact for text in ("ls x", "ls; ls", "cd x", "ls && cd x", "ls *.py", "ls 'cd'")}  # fmt: skip
    assert exact == {"ls x": True, "ls; ls": True, "cd x": False, "ls && cd x": False, "ls *.py": False, "ls 'cd'": True}  # fmt: skip
    assert not decide_command("cat x", allow=["ls"]).is_exact
