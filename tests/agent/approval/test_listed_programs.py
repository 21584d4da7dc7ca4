"""Each program and argument that is known of is decided about as its manual says it must be."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from hdsp_agent.agent.approval import CommandDecision, decide_command
from hdsp_agent.agent.approval._denied_commands import commands_of

from ._helpers import listed_programs as listed


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder inside another, with a few files and no repository."""
    folder = tmp_path_factory.mktemp("listed") / "work"
    (folder / "data").mkdir(parents=True)
    for name in ("f", "g", "h", "data/x"):
        (folder / name).write_text("x\n", "utf-8")
    return folder


def decided(
    text: str,
    folder: Path,
    allow: tuple[str, ...] = ("*",),
    *,
    allow_installs: bool = False,
    allow_outside_reads: bool = False,
) -> CommandDecision:
    return decide_command(
        text, allow=allow, workspace=str(folder), allow_installs=allow_installs, allow_outside_reads=allow_outside_reads
    )


def otherwise(verdict: str, texts: Iterable[str], folder: Path, allow: tuple[str, ...] = ("*",)) -> dict[str, str]:
    """What is decided otherwise than so, and why."""
    decisions = {text: decided(text, folder, allow) for text in texts}
    return {text: decision.reason for text, decision in decisions.items() if decision.verdict != verdict}


def test_no_rule_allows_what_does_whatever_it_is_told(folder: Path) -> None:
    for name in (*listed.DO_AS_THEY_ARE_TOLD, *listed.BUILT_INTO_SHELLS, *listed.SHELLS):
        assert otherwise("ask", [f"{name} -x f"], folder) == {}
        assert otherwise("ask", [f"{name} -x f"], folder, (name, f"{name} -x")) == {}


WRAPPERS = {name for name, _ in listed.WRAPPED} | {"docker", "podman", "kubectl", "find"}


def test_what_is_denied_is_found_behind_it(folder: Path) -> None:
    for name in {*listed.DO_AS_THEY_ARE_TOLD, *listed.SHELLS} | WRAPPERS:
        for text in (f"{name} rm x", f"{name} -x y rm x"):
            assert decide_command(text, allow=["*"], deny=["rm"], workspace=str(folder)).verdict == "deny", text


def test_a_wrapper_runs_what_is_allowed_and_nothing_else(folder: Path) -> None:
    for name, words in listed.WRAPPED:
        rules = (name, "cat", "find")
        decision = decided(f"{words} cat f", folder, rules)
        assert decision.verdict == "approve", decision
        assert [part.words[0] for part in decision.parts][-2:] == [name, "cat"]
        assert decided(f"{words} touch f", folder, rules).verdict == "ask", words
        assert decided(f"{words} sort -o f", folder, (*rules, "sort")).verdict == "ask", words
        assert decide_command(f"{words} touch f", allow=["*"], deny=["touch"]).verdict == "deny", words


def test_other_options_of_wrappers_are_asked_about(folder: Path) -> None:
    rules = ("nice", "ionice", "nohup", "timeout", "stdbuf", "setsid", "time", "env", "sudo", "doas", "busybox", "xargs", "command", "builtin", "ls", "cd", "x")  # fmt: skip
    assert otherwise("ask", listed.REFUSED_OPTIONS, folder, rules) == {}


def test_a_wrapper_that_changes_nothing_needs_no_rule_and_any_other_does(folder: Path) -> None:
    plain = ("command", "nohup", "time", "nice", "ionice -c 3", "timeout 5", "stdbuf -oL", "setsid", "builtin")
    others = ("env", "sudo", "doas", "busybox", "toybox", "find . -type f -print0 | xargs -0")
    assert otherwise("approve", (f"{words} ls" for words in plain), folder, ("ls", "find")) == {}
    assert otherwise("ask", (f"{words} ls" for words in others), folder, ("ls", "find")) == {}


def test_what_writes_runs_or_leads_elsewhere_is_asked_about(folder: Path) -> None:
    for program, arguments in listed.DANGEROUS_ARGUMENTS.items():
        for argument in arguments:
            decision = decided(f"{program} '{argument}'", folder, (program,), allow_installs=True)
            assert decision.verdict == "ask", (program, argument)
            assert "may do more than read" in decision.reason, decision


def test_what_is_harmless_of_the_same_programs_runs(folder: Path) -> None:
    rules = tuple({" ".join(text.split()[:count]) for text in listed.HARMLESS_ARGUMENTS for count in (1, 2)})
    assert otherwise("approve", listed.HARMLESS_ARGUMENTS, folder, rules) == {}


def test_a_second_file_is_one_that_is_written(folder: Path) -> None:
    for text in ("uniq f g", "xxd f g", "pdftotext f g", "uniq - g", "uniq f -- g", "uniq -- f g", "uniq -c +3 f g"):
        assert "with g it may do more" in decided(text, folder).reason, text


def test_what_of_git_runs_programs_needs_a_rule_that_names_it(folder: Path) -> None:
    assert otherwise("ask", (f"git {name}" for name in listed.GIT_RUNS), folder, ("git",)) == {}
    assert otherwise("ask", (f"git-{name}" for name in listed.GIT_RUNS), folder) == {}
    named = tuple(f"git {name}" for name in listed.GIT_RUNS)
    assert otherwise("approve", (f"{rule} x" for rule in named), folder, named) == {}


def test_options_of_git_that_write_or_run_are_asked_about(folder: Path) -> None:
    for words in listed.GIT_OPTIONS:
        assert decided(f"git {words}", folder, allow_installs=True).verdict == "ask", words


def test_options_of_git_that_only_change_what_is_shown_run(folder: Path) -> None:
    texts = [f"git {words}" for words in listed.GIT_SHOWS]
    assert otherwise("approve", texts, folder, ("git",)) == {}


@pytest.mark.parametrize("tool", ["docker", "podman", "kubectl", "nerdctl", "oc"])
def test_container_tools_may_look_and_no_more(tool: str, folder: Path) -> None:
    looks = [f"{tool} {words}" for words in listed.CONTAINERS_LOOK]
    assert otherwise("approve", (f"{text} -a" for text in looks), folder, tuple(looks)) == {}
    assert otherwise("ask", looks, folder, (tool,)) == {}
    does = [f"{tool} {words}" for words in listed.CONTAINERS_DO]
    assert otherwise("ask", does, folder, tuple(does)) == {}


def test_what_is_changed_outside_is_asked_about_even_where_reading_outside_is_allowed(folder: Path) -> None:
    for text in listed.WRITE:
        decision = decided(text, folder, ("*", "git init", "git worktree"), allow_outside_reads=True)
        assert decision.verdict == "ask", decision
        assert "writes_outside" in decision.flags, decision


def test_what_only_prints_opens_nothing(folder: Path) -> None:
    for name in ("echo", "printf", "true", "false", "sleep", "seq", "which", ":"):
        decision = decided(f"{name} ../x", folder)
        assert (decision.verdict, decision.flags) == ("approve", ()), decision


def test_what_changes_packages_is_asked_about(folder: Path) -> None:
    for text in listed.INSTALLS:
        decision = decided(text, folder)
        assert (decision.verdict, decision.installs) == ("ask", True), decision
        assert "installs, changes or fetches packages" in decision.reason, decision
    assert otherwise("approve", listed.LOOKS_AT_PACKAGES, folder) == {}
    assert not any(decided(text, folder).installs for text in listed.LOOKS_AT_PACKAGES)


def test_what_may_make_a_link_has_what_follows_asked_about(folder: Path) -> None:
    rules: tuple[str, ...] = ("*", "git checkout", "git pull")
    for text in listed.MAKE_LINKS:
        for after in (f"{text} && cat f", f"{text}; grep x g", f"{text}; echo x < g"):
            decision = decided(after, folder, rules)
            assert "a command before it may have made what it names" in (part.reason for part in decision.parts), after
        alone = decided(f"{text} && echo x", folder, rules)
        assert "a command before" not in " ".join(part.reason for part in alone.parts), alone
    rules = ("*", "git config", "git var", "git ls-files")
    assert otherwise("approve", (f"{text} && cat f" for text in listed.LEAVE_FILES_ALONE), folder, rules) == {}


def test_variables_that_change_only_what_is_shown_may_be_set(folder: Path) -> None:
    settings = ["LANG=C", "LC_ALL=C.UTF-8", "LC_CTYPE=C", "TZ=UTC", "NO_COLOR=1", "CLICOLOR=1", "FORCE_COLOR=1", "TERM=dumb", "COLUMNS=80", "LINES=5", "PAGER=cat", "GIT_PAGER=cat", "MANPAGER=cat", "GIT_OPTIONAL_LOCKS=0"]  # fmt: skip
    assert otherwise("approve", (f"{setting} ls" for setting in settings), folder, ("ls",)) == {}
    assert otherwise("approve", (f"env {setting} ls" for setting in settings), folder, ("ls", "env")) == {}
    assert otherwise("ask", (f"{setting}/x ls" for setting in settings), folder) == {}
    assert otherwise("ask", (f"X{setting} ls" for setting in settings), folder) == {}


def test_the_text_of_a_shell_is_read_as_commands() -> None:
    for name in listed.SHELLS:
        text = f"{name} rm x" if name == "eval" else f"{name} -xc 'rm x'"
        assert [command.source for _, command in commands_of(text)][1:] == ["rm x"], name
