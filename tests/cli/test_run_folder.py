"""``hdsp-agent run`` in a folder that brings something for the agent: asked on a terminal, left out where nobody is there."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import time
from pathlib import Path

import pytest

from .._helpers.forked_python import forked_python
from ._helpers.homes import PROGRAM
from .test_run import ASK, DONE, Place, place, task_of

__all__ = ["place"]

MODES = {"customModes": [{"slug": "acme", "name": "Acme\u202e", "roleDefinition": "x", "groups": ["read"]}]}
NOT_USED = "1 mode, 1 instructions file"


@pytest.fixture
def folder(place: Place) -> Path:
    """The workspace, with a mode and instructions."""
    (place.workspace / ".hdspmodes").write_text(json.dumps(MODES))
    (place.workspace / "AGENTS.md").write_text("words of the folder")
    return place.workspace


def prompt(place: Place, task: str) -> str:
    """All that the model was told of the task."""
    seen = place.home.run("context", "show", task, "--json")
    assert seen.code == 0, seen.err
    return seen.out


def decided(place: Place) -> list[tuple[str, bool]]:
    file = place.home.path / "trusted-folders.json"
    folders = json.loads(file.read_text())["folders"] if file.exists() else []
    return [(one["folder"], one["trusted"]) for one in folders]


def test_where_nobody_can_be_asked_it_is_not_used_and_one_line_says_so(place: Place, folder: Path) -> None:
    place.speak(DONE)
    ran = place.run("Do it")
    assert ran.code == 0, ran.err
    (line,) = [line for line in ran.err.splitlines() if "--trust-folder" in line]
    assert NOT_USED in line and str(folder) in line
    assert "words of the folder" not in prompt(place, task_of(ran))
    assert place.run("Do it", "--mode", "acme").code == 2
    assert decided(place) == []


def test_a_flag_uses_it_this_time_and_trusts_nothing_for_later(place: Place, folder: Path) -> None:
    place.speak(ASK, DONE)
    ran = place.run("Do it", "--trust-folder", "--mode", "acme", "--auto-followup")
    assert ran.code == 0, ran.err
    assert "not used" not in ran.err
    assert "words of the folder" in prompt(place, task_of(ran))
    assert decided(place) == []
    place.speak(DONE)
    again = place.run("--resume", task_of(ran), "Once more")
    assert NOT_USED in again.err
    assert "words of the folder" not in json.loads(prompt(place, task_of(ran)))["request"]["system"]


def test_an_operator_who_trusts_no_folder_is_heeded(place: Place, folder: Path) -> None:
    place.speak(DONE)
    with (place.home.config / "jupyter_server_config.py").open("a") as file:
        file.write("c.HdspAgentApp.workspace_trust = 'never'\n")
    ran = place.run("Do it", "--trust-folder")
    assert "your administrator does not allow it" in ran.err
    assert "words of the folder" not in prompt(place, task_of(ran))
    with (place.home.config / "jupyter_server_config.py").open("a") as file:
        file.write(f"c.HdspAgentApp.trusted_folders = [{str(folder.parent)!r}]\n")
    ran = place.run("Do it")
    assert "not used" not in ran.err
    assert "words of the folder" in prompt(place, task_of(ran))


def test_a_folder_that_brings_nothing_is_not_mentioned(place: Place) -> None:
    place.speak(DONE)
    assert "trust" not in place.run("Do it").err


@pytest.mark.in_short(1)
@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
@pytest.mark.parametrize("typed", ["y", "n"])
def test_on_a_terminal_the_person_decides_once_for_the_folder(place: Place, folder: Path, typed: str) -> None:
    place.speak(DONE)
    seen = on_terminal(place, f"what?\n{typed}\n")
    assert f"{folder} brings {NOT_USED} for the agent:" in seen
    assert "Acme\ufffd (.hdspmodes)" in seen and "  AGENTS.md" in seen
    assert decided(place) == [(str(folder), typed == "y")]
    ran = place.run("Do it")
    assert ("not used" in ran.err) == (typed == "n")
    assert ("words of the folder" in prompt(place, task_of(ran))) == (typed == "y")
    # The question is put once.
    assert "Trust this folder" not in on_terminal(place, "")


def on_terminal(place: Place, typed: str) -> str:
    """All that the program writes to a terminal on which somebody types this when they are asked."""
    ours, theirs = pty.openpty()
    program = subprocess.Popen(
        [forked_python(), *PROGRAM[1:], "run", "--workspace", str(place.workspace), "Do it"],
        env=place.home.environment(TERM="dumb"), cwd=place.home.config, stdin=theirs, stdout=theirs, stderr=theirs,
    )  # fmt: skip
    os.close(theirs)
    seen, waiting, deadline = b"", typed.splitlines(), time.monotonic() + 60
    while time.monotonic() < deadline:
        if not select.select([ours], [], [], 0.2)[0]:
            continue
        try:
            piece = os.read(ours, 4096)
        except OSError:
            break
        seen += piece
        answered = len(typed.splitlines()) - len(waiting)
        if waiting and seen.decode(errors="replace").count("Trust this folder from now on?") > answered:
            os.write(ours, f"{waiting.pop(0)}\n".encode())
    assert program.wait(60) == 0, seen
    os.close(ours)
    return seen.decode()
