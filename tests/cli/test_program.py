"""What holds for every command: help, exit codes, errors, pipes, interruption, colours."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

import pytest

from hdsp_agent.cli import main
from hdsp_agent.messages import TaskId
from hdsp_agent.persistence import ApiDraft, FileStore, NewTaskRecord

from ._helpers.homes import FAILED, FINISHED, PROGRAM, UNFINISHED, Home, filled

COMMANDS = {"view", "stats", "clean", "backup", "restore", "import", "export", "doctor", "migrate", "list", "context"}
READING = (
    ["list"],
    ["stats"],
    ["view", "--uuid", FINISHED],
    ["context", "show", FINISHED],
    ["backup", "--list"],
    ["clean", "--dry-run"],
    ["doctor"],
)

needs_terminal = pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are POSIX's")


def test_help_and_version_start_without_what_is_slow_to_import(tmp_path: Path) -> None:
    for arguments in (["--version"], ["--help"], ["view", "--help"]):
        script = (
            "import sys\nfrom hdsp_agent.cli import main\n"
            f"try:\n    main({arguments!r})\nexcept SystemExit as end:\n    assert end.code == 0\n"
            "slow = {'pydantic', 'pydantic_core', 'tornado', 'jupyter_server', 'traitlets', 'sqlite3'}\n"
            "sys.exit(', '.join(sorted(slow & set(sys.modules))) or 0)"
        )
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, ""), arguments


def test_the_help_names_every_command_and_the_exit_codes(tmp_path: Path) -> None:
    ran = Home(tmp_path).run("--help")
    assert ran.code == 0
    listed = set(re.findall(r"^    ([a-z-]+)", ran.out, re.MULTILINE))
    assert listed >= COMMANDS
    assert "exit codes: 0" in ran.out


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_each_command_has_a_page_of_its_own(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main([command, "--help"])
    assert end.value.code == 0
    page = capsys.readouterr().out
    assert page.startswith(f"usage: hdsp-agent {command} ")
    assert "--home FOLDER" in page
    assert "--json" in page


def test_the_installed_programs_are_this_one() -> None:
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    section = text.split("[project.scripts]")[1].split("\n[")[0]
    scripts = dict(re.findall(r'^([\w-]+) = "(.+)"$', section, re.MULTILINE))
    assert set(scripts) == {"hdsp-agent", "jupyter-hdsp-agent"}
    for target in scripts.values():
        module, name = target.split(":")
        assert callable(getattr(import_module(module), name))


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in for the installed script is a shell script")
def test_jupyter_finds_it_as_its_own_subcommand(shared_home: Home, tmp_path: Path) -> None:
    script = tmp_path / "jupyter-hdsp-agent"
    script.write_text(f'#!/bin/sh\nexec "{PROGRAM[0]}" -m {PROGRAM[2]} "$@"\n', encoding="utf-8")
    script.chmod(0o700)
    done = subprocess.run(
        [sys.executable, "-m", "jupyter", "hdsp-agent", "list", "--json", "--limit", "1"],
        env=shared_home.environment(PATH=f"{tmp_path}{os.pathsep}{os.environ['PATH']}", PYTHONWARNINGS="ignore"),
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["total"] == 3


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "usage:"),
        (["dance"], "invalid choice: 'dance'"),
        (["view"], "--uuid"),
        (["view", "--uuid", "99999999"], "There is no task 99999999"),
        (["view", "--uuid", "1111"], "There is no task 1111"),
        (["view", "--uuid", "../../etc"], "is not the id of a task"),
        (["view", "--uuid", "22222222"], "Type more of the id"),
        (["view", "--uuid", FINISHED, "--limit", "0"], "at least 1"),
        (["view", "--uuid", FINISHED, "--ui", "--marks"], "not allowed with"),
        (["stats", "--from", "yesterday"], "is not a day like 2026-01-31"),
        (["stats", "--status", "sad"], "invalid choice: 'sad'"),
        (["export", "--uuid", "99999999", "--format", "json"], "There is no task 99999999"),
        (["migrate", "--to", "paper"], "invalid choice: 'paper'"),
        (["list", "--home", ""], "--home is empty"),
    ],
)
def test_a_wrong_request_ends_with_2_and_says_in_a_line_what_is_wrong(
    shared_home: Home, arguments: list[str], says: str
) -> None:
    ran = shared_home.run(*arguments)
    assert ran.code == 2
    assert says in ran.err
    assert ran.out == ""
    if arguments:
        assert ran.err.count("\n") == 1, ran.err
        assert ran.err.startswith("hdsp-agent")


@pytest.mark.parametrize("arguments", READING)
def test_a_folder_that_is_not_there_is_named_and_not_made(tmp_path: Path, arguments: list[str]) -> None:
    missing = tmp_path / "nowhere"
    ran = Home(tmp_path).run(*arguments, "--home", str(missing))
    assert ran.code == 1
    assert str(missing) in ran.err
    assert "--home" in ran.err
    assert ran.err.count("\n") == 1
    assert not missing.exists()


@pytest.mark.parametrize("arguments", [*READING[:3], ["clean"], ["doctor"], ["backup"], ["migrate", "--to", "sqlite"]])
def test_a_folder_that_is_no_storage_folder_is_one_line(tmp_path: Path, arguments: list[str]) -> None:
    home = Home(tmp_path)
    home.path.mkdir()
    (home.path / "contexts").write_text("not a folder", encoding="utf-8")
    ran = home.run(*arguments)
    assert ran.code in (1, 3)
    assert ran.err.count("\n") == 1
    assert str(home.path) in ran.out + ran.err
    assert "Traceback" not in ran.err


@pytest.mark.parametrize("arguments", READING)
def test_json_is_one_document_and_nothing_else(own_home: Home, arguments: list[str]) -> None:
    before, after = own_home.run("--json", *arguments), own_home.run(*arguments, "--json")
    assert isinstance(before.json(), dict)
    assert set(after.json()) == set(before.json())


def test_quiet_leaves_the_result_and_errors_alone(own_home: Home) -> None:
    assert "warning" in own_home.run("stats").err
    quiet = own_home.run("stats", "--quiet")
    assert quiet.err == ""
    assert "Total contexts: 3" in quiet.out
    assert own_home.run("view", "--uuid", "99999999", "--quiet").err != ""


def test_the_folder_is_found_as_a_server_finds_it(own_home: Home, tmp_path: Path) -> None:
    (tmp_path / "empty" / "contexts").mkdir(parents=True)
    configured = tmp_path / "configured"
    own_home.path.rename(configured)
    own_home.path.mkdir()
    assert own_home.run("list", "--json").json()["total"] == 0
    (own_home.config / "jupyter_server_config.py").write_text(
        f"c.HdspAgentApp.storage_dir = {str(configured)!r}\n", encoding="utf-8"
    )
    assert own_home.run("list", "--json").json()["total"] == 3
    assert own_home.run("list", "--json", "--home", str(own_home.path)).json()["total"] == 0


def test_a_configuration_that_cannot_be_read_stops_it(own_home: Home) -> None:
    (own_home.config / "jupyter_server_config.py").write_text("c.HdspAgentApp.storage_dir = 1 / 0\n", encoding="utf-8")
    ran = own_home.run("list")
    assert ran.code == 2
    assert "ZeroDivisionError" in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may read everything")
def test_a_folder_without_permission_is_one_line(own_home: Home) -> None:
    own_home.path.chmod(0)
    try:
        ran = own_home.run("view", "--uuid", FINISHED)
    finally:
        own_home.path.chmod(0o700)
    assert ran.code == 1
    assert "Traceback" not in ran.err


def test_a_reader_who_has_seen_enough_is_no_error(tmp_path: Path) -> None:
    home = Home(tmp_path)

    async def talk() -> None:
        store = FileStore(home.path)
        log = await store.create(NewTaskRecord(task_id=TaskId("long-task-1")))
        await log.append_api(ApiDraft(role="user", content="line\n" * 300_000))
        await log.finish()
        await store.stop()

    (home.path / "contexts" / "running").mkdir(parents=True)
    (home.path / "contexts" / "completed").mkdir()
    asyncio.run(talk())
    for arguments in (
        ["view", "--uuid", "long-task-1", "--messages"],
        ["view", "--uuid", "long-task-1", "--messages", "--json"],
    ):
        running = home.start(*arguments)
        assert running.stdout is not None and running.stderr is not None
        running.stdout.read(10)
        running.stdout.close()
        said = running.stderr.read()
        running.stderr.close()
        assert running.wait(60) == 141
        assert said == ""


@pytest.mark.skipif(sys.platform == "win32", reason="a signal is sent")
def test_an_interruption_ends_it_with_130_in_good_order(own_home: Home) -> None:
    running = own_home.start("view", "--uuid", UNFINISHED, "--messages", "--follow")
    assert running.stdout is not None
    assert "[1] user" in running.stdout.readline()
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=60)
    assert running.returncode == 130
    assert said.startswith("hdsp-agent: interrupted")
    assert said.count("\n") == 1


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="a signal is sent")
def test_an_interrupted_backup_leaves_nothing_half_done(own_home: Home) -> None:
    artifact = own_home.path / "contexts" / "completed" / FINISHED / "artifacts" / ("0" * 64)
    artifact.write_bytes(os.urandom(120_000_000))
    running = own_home.start("backup")
    folder = own_home.path / "backups"
    deadline = time.monotonic() + 60
    while not list(folder.glob(".hdsp*")) and time.monotonic() < deadline:
        time.sleep(0.005)
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=60)
    assert running.returncode == 130
    assert not list(folder.glob("*hdsp-agent*")) and not list(folder.glob("*.tar.gz"))
    artifact.unlink()
    assert own_home.run("backup").code == 0


def on_terminal(home: Home, *arguments: str, **env: str) -> tuple[str, str]:
    """What the program writes when somebody looks at it: its output and what it says beside."""
    import pty

    said: list[str] = []
    ours, theirs = zip(*(pty.openpty() for _ in range(2)), strict=True)
    running = subprocess.Popen(
        [*PROGRAM, *arguments],
        env=home.environment(TERM="xterm", **env),
        stdin=subprocess.DEVNULL,
        stdout=theirs[0],
        stderr=theirs[1],
    )
    for end in theirs:
        os.close(end)
    for end in ours:
        said.append(read_to_the_end(end).decode())
    assert running.wait(60) == 0
    return said[0], said[1]


def read_to_the_end(descriptor: int) -> bytes:
    """All that comes; Linux says with an error that nobody has the other end any more."""
    found = b""
    try:
        while block := os.read(descriptor, 65536):
            found += block
    except OSError:
        pass
    finally:
        os.close(descriptor)
    return found


@needs_terminal
def test_colours_and_progress_are_for_terminals_that_want_them(shared_home: Home) -> None:
    out, beside = on_terminal(shared_home, "stats")
    assert "\x1b[1mContext Storage Statistics\x1b[0m" in out
    assert re.search(r"statistics \[#*\.*\]", beside)
    # The bar is wiped before anything else is written.
    assert beside.rfind("\x1b[2K") > beside.rfind("] ")
    plain, _ = on_terminal(shared_home, "stats", NO_COLOR="1")
    assert "\x1b[" not in plain
    piped = shared_home.run("stats")
    assert "\x1b" not in piped.out + piped.err
    assert "[#" not in piped.err


@needs_terminal
def test_what_a_conversation_says_never_reaches_the_terminal_as_a_command(shared_home: Home) -> None:
    out, _ = on_terminal(shared_home, "view", "--uuid", FINISHED, "--messages")
    assert "\\x1b[31mred" in out
    assert "\x1b[31m" not in out


def test_it_prints_what_the_encoding_of_the_output_cannot(shared_home: Home) -> None:
    env = {"PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    assert "\\ubc84" in shared_home.run("list", env=env).out
    tasks = shared_home.run("list", "--json", env=env).json()["tasks"]
    assert isinstance(tasks, list)
    assert "버그 고치기" in {task.get("title") for task in tasks}


def test_looking_changes_nothing(tmp_path: Path) -> None:
    home = filled(tmp_path)

    def times() -> dict[Path, int]:
        # That somebody looked is recorded.
        return {path: path.stat().st_mtime_ns for path in home.path.rglob("*") if path.name != "audit.jsonl"}

    # The record of who looked is made with the first look, which changes the folder's own time.
    assert home.run("view", "--uuid", UNFINISHED).code == 0
    before = times()
    for arguments in (
        ["view", "--uuid", UNFINISHED],
        ["stats"],
        ["view", "--uuid", FAILED, "--ui"],
        ["clean", "--dry-run"],
    ):
        assert home.run(*arguments).code == 0
    assert times() == before
