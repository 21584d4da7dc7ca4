"""``hdsp-agent run``, as a program, with a scripted model."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import shlex
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from .._helpers.stored_tasks import stored_ids
from ._helpers.homes import PROGRAM, Home, Ran

Turn = Sequence[Mapping[str, object]]

WRITE: Turn = (
    {"text": "I will write a note."},
    {"tool": "write_to_file", "arguments": {"path": "note.txt", "content": "once\n"}, "id": "w"},
)
ASK: Turn = (
    {
        "tool": "ask_followup_question",
        "arguments": {"question": "Which colour?", "follow_up": [{"text": "red"}, {"text": "blue"}]},
    },
)
DONE: Turn = ({"tool": "attempt_completion", "arguments": {"result": "It is written."}, "id": "d"},)


@dataclass(frozen=True)
class Place:
    """A storage folder, a workspace, and the program over both."""

    home: Home
    workspace: Path

    def speak(self, *turns: Turn) -> None:
        """Let the model say this."""
        script = self.home.config / "script.json"
        script.write_text(json.dumps([list(turn) for turn in turns]))
        (self.home.config / "jupyter_server_config.py").write_text(
            f"c.HdspAgentApp.default_provider = 'fake-ai'\nc.HdspAgentApp.default_model = {str(script)!r}\n"
        )

    def run(self, *arguments: str, stdin: str = "") -> Ran:
        return self.home.run("run", "--workspace", str(self.workspace), *arguments, stdin=stdin)

    def note(self) -> str | None:
        file = self.workspace / "note.txt"
        return file.read_text() if file.exists() else None


@pytest.fixture
def place(tmp_path: Path) -> Place:
    workspace = tmp_path / "work"
    workspace.mkdir()
    return Place(Home(tmp_path), workspace)


def task_of(ran: Ran) -> str:
    found = re.search("task ([0-9a-f-]{36})", ran.err)
    assert found is not None, ran.err
    return found[1]


def test_a_task_runs_to_its_end_and_is_in_the_history(place: Place) -> None:
    place.speak(WRITE, DONE)
    ran = place.run("Write a note", "--auto-write")
    assert ran.code == 0, ran.err
    assert place.note() == "once\n"
    assert "I will write a note." in ran.out and "It is written." in ran.out
    listed = place.home.run("list", "--json")
    assert "Write a note" in listed.out


def test_what_nobody_can_approve_is_refused_and_said_so(place: Place) -> None:
    place.speak(WRITE, DONE)
    ran = place.run("Write a note")
    assert ran.code == 3, ran.err
    assert place.note() is None
    assert "denied, because nobody is here to approve it: newFileCreated note.txt" in ran.err
    shown = place.home.run("view", "--uuid", task_of(ran), "--messages")
    assert "Nobody is there to approve this" in shown.out


def test_json_prints_one_event_a_line(place: Place) -> None:
    place.speak(WRITE, DONE)
    ran = place.run("Write a note", "--auto-write", "--json")
    assert ran.code == 0, ran.err
    names = [record["eventName"] for record in ran.records()]
    assert names[0] == "taskCreated"
    assert "taskCompleted" in names and "message" in names


def test_a_question_nobody_answers_leaves_something_undone_unless_the_first_answer_will_do(place: Place) -> None:
    place.speak(ASK, DONE)
    ran = place.run("Paint")
    assert ran.code == 3, ran.err
    assert "was not answered" in ran.err
    ran = place.run("Paint", "--auto-followup")
    assert ran.code == 0, ran.err
    assert "red" in place.home.run("view", "--uuid", task_of(ran), "--messages").out


def test_only_commands_that_the_rules_allow_run(place: Place) -> None:
    command = {"tool": "execute_command", "arguments": {"command": "echo hello > made.txt"}}
    place.speak([command], DONE)
    assert place.run("Run it", "--auto-execute", "--allow", "echo").code == 3
    assert not (place.workspace / "made.txt").exists()
    command = {"tool": "execute_command", "arguments": {"command": "echo hello"}}
    place.speak([command], DONE)
    ran = place.run("Run it", "--allow", "echo")
    assert ran.code == 0, ran.err
    assert "hello" in ran.out


@pytest.mark.in_short(2)
@pytest.mark.each_backend
def test_a_model_that_fails_ends_the_run_and_the_task_can_be_resumed(place: Place) -> None:
    place.speak([{"error": "The key is not valid.", "kind": "auth"}])
    ran = place.run("Begin")
    assert ran.code == 1, ran.err
    assert f"hdsp-agent run --resume {task_of(ran)}" in ran.err
    place.speak(DONE)
    again = place.run("--resume", task_of(ran)[:8])
    assert again.code == 0, again.err
    assert task_of(again) == task_of(ran)


def test_a_completed_task_wants_to_know_what_else_to_do(place: Place) -> None:
    place.speak(DONE)
    task = task_of(place.run("Begin"))
    assert place.run("--resume", task).code == 2
    place.speak(WRITE, DONE)
    ran = place.run("--resume", task, "Now write it", "--auto-write")
    assert ran.code == 0, ran.err
    assert place.note() == "once\n"


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("Do it", "--workspace", "/nowhere"),
        ("Do it", "--notebook", "missing.ipynb"),
        ("Do it", "--mode", "nonsense"),
        ("Do it", "--profile", "nonsense"),
        ("--resume", "12345678"),
    ],
)
def test_bad_arguments_begin_nothing(place: Place, arguments: tuple[str, ...]) -> None:
    place.speak(DONE)
    ran = place.run(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert len(ran.err.splitlines()) == 1
    assert not stored_ids(place.home.path, "running")


def test_an_operator_who_wants_everything_asked_about_is_heeded(place: Place) -> None:
    place.speak(WRITE, DONE)
    with (place.home.config / "jupyter_server_config.py").open("a") as file:
        file.write("c.HdspAgentApp.allow_auto_approval = False\n")
    assert place.run("Write a note", "--auto").code == 3
    assert place.note() is None


def test_an_operator_who_fixes_a_providers_setting_does_not_keep_it_from_running(place: Place) -> None:
    place.speak(WRITE, DONE)
    with (place.home.config / "jupyter_server_config.py").open("a") as file:
        file.write("c.HdspAgentApp.fixed_settings = {'modelTemperature': 0.5, 'alwaysAllowWrite': False}\n")
    ran = place.run("Write a note", "--auto")
    assert ran.code == 3, ran.err
    assert "nobody is here to approve" in ran.err
    assert place.note() is None


def test_what_the_settings_deny_stays_denied(place: Place) -> None:
    command = {"tool": "execute_command", "arguments": {"command": "touch note.txt"}}
    place.home.path.mkdir(exist_ok=True)
    settings = {"version": 1, "globalSettings": {"deniedCommands": ["touch"]}}
    (place.home.path / "config.json").write_text(json.dumps(settings))
    place.speak([command], DONE)
    ran = place.run("Run it", "--allow", "touch", "--deny", "rm")
    assert place.note() is None, ran.err


@pytest.mark.in_short(1)
@pytest.mark.parametrize("told", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_ctrl_c_and_what_ends_programs_keep_the_task_and_it_goes_on_later(place: Place, told: signal.Signals) -> None:
    place.speak([{"text": "I begin. "}, {"wait": 600}])
    program = place.home.start("run", "--workspace", str(place.workspace), "Begin")
    assert program.stdout is not None
    seen = ""
    while "I begin." not in seen:
        piece = program.stdout.read(1)
        assert piece, "the program ended"
        seen += piece
    program.send_signal(told)
    _, err = program.communicate(timeout=60)
    assert program.returncode == 130, err
    task = re.search("--resume ([0-9a-f-]{36})", err)
    assert task is not None, err
    place.speak(DONE)
    ran = place.run("--resume", task[1])
    assert ran.code == 0, ran.err


@pytest.mark.parametrize("trusts", [True, False])
def test_what_the_folder_denies_is_denied_once_it_is_trusted(place: Place, trusts: bool) -> None:
    file = place.workspace / ".hdsp" / "settings.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"deniedCommands": ["touch"], "alwaysAllowExecute": True, "allowedCommands": ["*"]}))
    command: dict[str, object] = {"tool": "execute_command", "arguments": {"command": "touch note.txt"}, "id": "c"}
    place.speak([command], DONE)
    ran = place.run("Run it", "--allow", "touch", *(["--trust-folder"] if trusts else []))
    assert (place.note() is None) is trusts, ran.err
    assert ("1 setting" in ran.err) is not trusts


def test_named_pipes_in_place_of_files_that_the_agent_reads_by_itself_block_nothing(place: Place) -> None:
    for folder in (".hdsp/commands", ".hdsp/rules", ".hdsp/rules-code", "below"):
        (place.workspace / folder).mkdir(parents=True)
    for name in (
        *(".git", ".gitignore", "below/.gitignore", "AGENTS.md", "AGENTS.local.md", "below/AGENTS.md", "CACHEDIR.TAG"),
        *(".hdspmodes", ".roomodes", ".hdsprules", ".hdsp/settings.json", ".hdsp/mcp.json", ".hdsp/commands/a.md"),
        *(".hdsp/rules/a.md", ".hdsp/rules-code/a.md"),
    ):
        os.mkfifo(place.workspace / name)
    listing = {"tool": "list_files", "arguments": {"path": ".", "recursive": True}, "id": "l"}
    status = {"tool": "execute_command", "arguments": {"command": "git status"}, "id": "g"}
    place.speak([listing], [status], DONE)
    ran = place.run("/a Look", "--trust-folder", "--auto-execute", "--allow", "git", "--json")
    assert ran.code in (0, 3), ran.err
    os.mkfifo(place.workspace / ".hdspignore")
    ran = place.run("Look again")
    assert ran.code == 1 and ".hdspignore cannot be understood" in ran.err, ran.err


def test_at_its_time_limit_a_task_is_stopped_and_goes_on_later(place: Place) -> None:
    place.speak([{"text": "I begin. "}, {"wait": 600}])
    ran = place.run("Begin", "--time-limit", "0.02")
    assert ran.code == 124, ran.err
    assert "The time limit of 0.02 minutes was reached." in ran.err
    [listed] = json.loads(place.home.run("list", "--json").out)["tasks"]
    assert (listed["status"], listed["state"], listed["number"]) == ("active", "timeout", 1)
    assert " timeout " in place.home.run("list").out
    # Nothing that can go on is over: statistics count it, and upkeep keeps it.
    assert json.loads((place.home.path / "contexts/completed" / listed["id"] / "state.json").read_text())["resumable"]
    place.speak(DONE)
    ran = place.run("--resume", task_of(ran), "--time-limit", "60")
    assert ran.code == 0, ran.err
    [after] = json.loads(place.home.run("list", "--json").out)["tasks"]
    assert (after["status"], after.get("state"), after["number"]) == ("completed", None, 1)
    assert after["size"] > listed["size"] > 500
    assert place.run("Begin", "--time-limit", "0").code == place.run("Begin", "--time-limit", "nan").code == 2


@pytest.mark.in_short(2)
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_without_input_or_output_it_works_all_the_same(place: Place, closed: str) -> None:
    place.speak(WRITE, DONE)
    command = shlex.join([*PROGRAM, "run", "--workspace", str(place.workspace), "--auto-write", "Write a note"])
    done = subprocess.run(
        ["sh", "-c", f"{command} {closed}"], env=place.home.environment(), cwd=place.home.config, capture_output=True,
        timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0 and place.note() == "once\n", done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.in_short(1)
@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
@pytest.mark.parametrize(("typed", "code", "note"), [("y\n", 0, "once\n"), ("n\n", 3, None), ("not now\n", 3, None)])
def test_on_a_terminal_the_person_is_asked(place: Place, typed: str, code: int, note: str | None) -> None:
    place.speak(WRITE, DONE)
    ours, theirs = pty.openpty()
    program = subprocess.Popen(
        [*PROGRAM, "run", "--workspace", str(place.workspace), "Write a note"],
        env=place.home.environment(TERM="dumb"), cwd=place.home.config, stdin=theirs, stdout=theirs, stderr=theirs,
    )  # fmt: skip
    os.close(theirs)
    seen, answered, deadline = "", False, time.monotonic() + 60
    while time.monotonic() < deadline:
        if select.select([ours], [], [], 0.2)[0]:
            try:
                piece = os.read(ours, 4096)
            except OSError:
                break
            if not piece:
                break
            seen += piece.decode()
        if "Allow this?" in seen and not answered:
            assert place.note() is None
            assert "newFileCreated note.txt" in seen and "once" in seen
            os.write(ours, typed.encode())
            answered = True
    assert program.wait(60) == code, seen
    os.close(ours)
    assert place.note() == note


@pytest.mark.long
def test_how_full_the_window_is_and_how_a_refusal_was_mended_is_told_beside_the_result(place: Place) -> None:
    def full(characters: int, file: str) -> Turn:
        write = {"tool": "write_to_file", "arguments": {"path": file, "content": file}, "id": file}
        return ({"text": "word " * (characters // 5)}, write)

    refused: Turn = ({"error": "unexpected tool_use_id found in tool_result blocks", "kind": "tool_pairing"},)
    place.speak(full(570_000, "a"), full(5, "b"), full(80_000, "c"), refused, DONE)
    ran = place.run("Write", "--auto-write")
    assert ran.code == 0, ran.err
    told = [re.sub(r"\d+%", "…%", line) for line in ran.err.splitlines() if not line.startswith("task ")]
    assert told == [
        "the conversation fills …% of the model's window; there is enough room left",
        "the conversation fills …% of the model's window; it will be condensed before it is full",
        "The order of tool calls and results was repaired.",
        "The model is answering again.",
    ]
    assert "of the model's window" not in ran.out

    place.speak(full(570_000, "d"), refused, DONE)
    ran = place.run("Write", "--auto-write", "--json")
    assert ran.code == 0, ran.err
    records = [json.loads(line) for line in ran.out.splitlines()]
    [(kind, percent)] = [record["payload"][1:] for record in records if record["eventName"] == "contextNotice"]
    assert kind == "reassurance" and 70 <= percent < 80
    mended = [record["payload"][1] for record in records if record["eventName"] == "recoveryNotice"]
    assert mended == ["tried", "recovered"]
