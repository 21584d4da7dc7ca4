"""For which programs a rule is offered, and how many words it has at least."""

from __future__ import annotations

from hdsp_agent.agent.approval import suggest_rules
from hdsp_agent.agent.modes._builtin import BUILT_IN
from hdsp_agent.config import GlobalSettings, OperatorPolicy
from hdsp_agent.tools import ActionRequest

from ._helpers import listed_programs as listed

MODE = next(mode for mode in BUILT_IN if mode.slug == "code")
READY = GlobalSettings(
    auto_approval_enabled=True, always_allow_execute=True, always_allow_install_packages=True, allowed_commands=()
)

DESTROY_OR_REACH_OUT = (
    "rm rmdir dd shred chmod chown chgrp mv cp ln tee truncate unlink install kill pkill killall mount umount shutdown reboot systemctl service crontab at passwd useradd usermod scp sftp rsync nc ncat socat telnet curl wget "
    "awk gawk mawk sed gdb vim vi emacs nano screen tmux cd pushd popd aws gcloud az gh terraform helm"
)  # fmt: skip
HAVE_SUBCOMMANDS = (
    "git npm pnpm yarn jlpm pip pip3 uv poetry pdm conda mamba cargo go make just jupyter dvc dotnet mvn gradle apt apt-get brew npx uvx pipx nox tox hatch rye bundle gem composer"
)  # fmt: skip
THROW_AWAY = "push reset clean checkout switch restore rebase rm config filter-branch gc reflog update-ref submodule branch tag"  # fmt: skip


def offered(text: str) -> list[str]:
    action = ActionRequest(frozenset({"shell"}), "execute_command", command=text, cwd="/work")
    return [rule.value for rule in suggest_rules(action, settings=READY, policy=OperatorPolicy(), mode=MODE).rules]


def why(text: str) -> str | None:
    action = ActionRequest(frozenset({"shell"}), "execute_command", command=text, cwd="/work")
    reason = suggest_rules(action, settings=READY, policy=OperatorPolicy(), mode=MODE).reason
    return None if reason is None else reason.code


def test_none_for_what_destroys_reaches_out_or_runs_what_it_is_given() -> None:
    names = {*DESTROY_OR_REACH_OUT.split(), *listed.DO_AS_THEY_ARE_TOLD, *listed.SHELLS, *listed.BUILT_INTO_SHELLS}
    assert [name for name in sorted(names) if offered(f"{name} x y") or offered(f"{name} x")] == []
    assert [name for name in sorted(names) if offered(f"/usr/bin/{name} x y")] == []


def test_why_there_is_none_says_whether_any_could_hold() -> None:
    for name in (
        *listed.DO_AS_THEY_ARE_TOLD,
        *listed.SHELLS,
        *listed.BUILT_INTO_SHELLS,
        "docker",
        "find",
        "sudo",
        "python -c",
        "node -e",
    ):
        text = f"{name} x y" if name != "find" else "find . -delete"
        assert why(text) == "rule_any_command", text
    assert {why(f"{name} x y") for name in ("rm", "curl", "aws", "terraform", "git push")} == {"rule_none"}


def test_a_program_whose_first_word_says_nothing_is_named_with_what_it_is_to_do() -> None:
    for name in HAVE_SUBCOMMANDS.split():
        rules = offered(f"{name} xyz now")
        assert rules == [f"{name} xyz now", f"{name} xyz"], name
        assert offered(name) == offered(f"{name} -x y") == [], name
    assert offered("pytest xyz now") == ["pytest xyz now", "pytest xyz", "pytest"]


def test_what_says_nothing_either_is_named_with_the_word_behind_it() -> None:
    for word in ("run", "exec", "dlx", "x", "tool"):
        assert offered(f"just {word} thing") == [f"just {word} thing"], word
        assert offered(f"just {word}") == offered(f"just {word} -t thing") == [], word


def test_what_of_git_throws_work_away_gets_none() -> None:
    assert [word for word in THROW_AWAY.split() if offered(f"git {word} x y")] == []
    assert offered("git log x") == ["git log x", "git log"]
    # Only of Git's: other programs mean something else by these words.
    assert offered("npm tag x") == ["npm tag x", "npm tag"]


def test_a_script_is_named_and_so_is_a_module() -> None:
    for name in ("python", "python3.12", "pypy", "node", "deno", "ruby", "perl", "php", "lua", "Rscript", "julia", "java", "scala"):  # fmt: skip
        assert offered(f"{name} x.y z") == [f"{name} x.y z", f"{name} x.y"], name
        assert offered(name) == offered(f"{name} -x") == [], name
    assert offered("python -m pytest") == ["python -m pytest"]
    assert offered("python -m") == []


def test_at_most_eight_words_and_three_rules_that_a_person_can_read() -> None:
    assert offered("pytest a b c d e f g h i") == ["pytest a b c d e f g", "pytest a", "pytest"]
    assert offered("pytest 'a b' c") == ["pytest"]
    assert offered("pytest a; pytest a") == ["pytest a", "pytest"]
