"""``hdsp-agent policy check`` and ``hdsp-agent explain-error``, run as programs."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from .._helpers.forked_python import forked_python
from ._helpers.homes import Home


def _run(*arguments: str, home: Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    command = [forked_python(), "-m", "hdsp_agent.cli", "--home", str(home), *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize(
    ("command", "rules", "decision"),
    [
        ("git log | head -3", ("--allow", "git log", "--allow", "head"), "approve"),
        ("git show > ~/.ssh/id_rsa", ("--allow", "git show"), "ask"),
        ("gitfoo", ("--allow", "git"), "ask"),
        ("ls & rm x", ("--allow", "ls"), "ask"),
        ("FOO=1 rm x", ("--allow", "*", "--deny", "rm"), "deny"),
    ],
)
def test_a_rule_can_be_tried_out(command: str, rules: tuple[str, ...], decision: str, tmp_path: Path) -> None:
    done = _run("policy", "check", "--command", command, *rules, "--json", home=tmp_path)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["decision"] == decision
    assert said["reason"]
    assert (said["runs"] is not None) == (decision == "approve")
    assert said["parts"][0]["words"]


def test_what_would_run_and_what_is_to_be_looked_at_are_told(tmp_path: Path) -> None:
    done = _run(
        "policy", "check", "--command", 'git  log "a b" 2>/dev/null', "--allow", "git log", "--json", home=tmp_path
    )
    assert json.loads(done.stdout)["runs"] == "git log 'a b' 2>/dev/null"
    done = _run("policy", "check", "--command", "curl x | sh", "--allow", "*", "--json", home=tmp_path)
    assert json.loads(done.stdout)["flags"] == ["network_to_shell", "uses_network"]


def test_without_rules_the_settings_are_tried(tmp_path: Path) -> None:
    assert _run("policy", "check", "--command", "git log", home=tmp_path).stdout.startswith("approve")
    settings = {"version": 1, "globalSettings": {"allowedCommands": ["make test"]}}
    (tmp_path / "config.json").write_text(json.dumps(settings), encoding="utf-8")
    assert _run("policy", "check", "--command", "git log", home=tmp_path).stdout.startswith("ask")
    assert _run("policy", "check", "--command", "make test", home=tmp_path).stdout.startswith("approve")
    (tmp_path / "config.json").write_text("{", encoding="utf-8")
    broken = _run("policy", "check", "--command", "git log", home=tmp_path)
    assert broken.returncode == 2
    assert "cannot be read" in broken.stderr


@pytest.mark.parametrize("settings", [{"allowedCommands": None}, {"allowedCommands": 5}, {"deniedCommands": [1]}])
def test_rules_that_are_none_are_said_so(settings: dict[str, object], tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"version": 1, "globalSettings": settings}), encoding="utf-8")
    done = _run("policy", "check", "--command", "git log", home=tmp_path)
    assert done.returncode == 2
    assert next(iter(settings)) in done.stderr
    (tmp_path / "config.json").write_text('{"version": 1, "globalSettings": []}', encoding="utf-8")
    assert _run("policy", "check", "--command", "git log", home=tmp_path).stdout.startswith("approve")


def test_what_the_operator_fixed_comes_before_the_settings(tmp_path: Path) -> None:
    home = Home(tmp_path)
    (home.config / "jupyter_server_config.py").write_text(
        "c.HdspAgentApp.fixed_settings = {'deniedCommands': ['git log'], 'apiModelId': 'x'}\n"
    )
    assert home.run("policy", "check", "--command", "git log").out.startswith("deny")


def test_an_error_is_explained_from_a_file_or_a_pipe(tmp_path: Path) -> None:
    text = "prompt is too long: 207791 tokens > 200000 maximum"
    file = tmp_path / "error.txt"
    file.write_text(text, encoding="utf-8")
    said = json.loads(_run("explain-error", "--status", "400", "--json", str(file), home=tmp_path).stdout)
    assert (said["class"], said["current"], said["max"], said["output"]) == ("overflow", 207791, 200000, None)
    person = _run("explain-error", "-", home=tmp_path, stdin=text).stdout
    assert "too long for the model" in person
    assert "207,791" in person


@pytest.mark.parametrize(("file", "stdin"), [("missing.txt", ""), ("-", "  \n")])
def test_nothing_to_explain_is_said(file: str, stdin: str, tmp_path: Path) -> None:
    done = _run("explain-error", file, home=tmp_path, stdin=stdin)
    assert done.returncode == 2
    assert done.stderr.startswith("hdsp-agent: ")
    assert "Traceback" not in done.stderr
