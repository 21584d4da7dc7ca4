"""Commands: real shells and processes, streamed, bounded, left in the background, and ended with all they began."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from hdsp_agent.config import GlobalSettings
from hdsp_agent.messages import CommandExited, CommandOutput, CommandRun, CommandStarted, CommandTimedOut
from hdsp_agent.tools import Approval, KeptOutput, RunningCommands, ToolState
from hdsp_agent.tools._output_buffer import OutputBuffer, readable

from ._helpers.recording_context import RecordingContext


async def until(condition: Callable[[], bool], seconds: float = 60) -> None:
    """Wait for something to become true."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        await asyncio.sleep(0.01)


def alive(pid: int) -> bool:
    """Whether a process runs; one that ended and waits to be reaped does not."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text("utf-8").rsplit(")", 1)[1].split()[0] != "Z"
    return False


def pids(folder: Path, *names: str) -> list[int]:
    """The process ids commands wrote into files."""
    return [int((folder / name).read_text("utf-8")) for name in names]


async def test_a_command_gives_its_exit_code_and_output(task: RecordingContext, workspace: Path) -> None:
    assert (
        await task.text("execute_command", command="echo out; echo err >&2; exit 3")
        == "Exit code: 3\nOutput:\nout\nerr"
    )
    assert await task.text("execute_command", command="pwd") == f"Exit code: 0\nOutput:\n{workspace}"
    assert await task.text("execute_command", command="true") == "Exit code: 0\nIt wrote nothing."
    approved = task.approvals[0]
    assert approved.ask == "command"
    assert approved.text == "echo out; echo err >&2; exit 3" == approved.action.command
    assert approved.action.risks == {"shell"}
    await task.state.close()


async def test_a_denied_command_does_not_run(task: RecordingContext, workspace: Path) -> None:
    task.decide = lambda _: Approval(approved=False)
    await task.failure("execute_command", command="touch x")
    assert os.listdir(workspace) == []


async def test_a_folder_that_is_not_there_or_a_nul_is_refused_before_asking(task: RecordingContext) -> None:
    assert "does not exist" in await task.failure("execute_command", command="ls", cwd="nowhere")
    assert "NUL" in await task.failure("execute_command", command="ls\0")
    assert task.approvals == []


async def test_a_folder_other_than_the_workspace_is_part_of_what_is_shown_and_run(
    task: RecordingContext, workspace: Path, tmp_path: Path
) -> None:
    (workspace / "sub").mkdir()
    outside = tmp_path / "outside\ntouch made"
    outside.mkdir()
    assert await task.text("execute_command", command="pwd", cwd="sub") == f"Exit code: 0\nOutput:\n{workspace / 'sub'}"
    assert "Exit code: 0" in await task.text("execute_command", command="ls", cwd=str(outside))
    await task.text("execute_command", command="pwd", cwd=".")
    inside, out, plain = task.approvals
    assert inside.text == "# in sub\npwd" == inside.action.command
    assert inside.action.risks == {"shell"}
    # What a rule allows in the workspace it does not allow elsewhere.
    assert out.action.risks == {"shell", "write_outside"}
    assert out.action.flags == ("writes_outside",)
    assert plain.text == "pwd"
    assert [line for line in out.text.splitlines() if not line.startswith("#")] == ["ls"]
    assert os.listdir(outside) == os.listdir(workspace / "sub") == []
    await task.state.close()


async def test_what_is_shown_is_what_the_shell_gets(task: RecordingContext, workspace: Path) -> None:
    keep = "cat /proc/$$/cmdline > got"
    for text in (
        keep,
        f"  {keep}  # 한국어 \u202e \t'\"`\\",
        f"{keep}; true\r\n",
        f"{keep}\n\n",
        f": {'x' * 50_000}; {keep}",
    ):
        await task.call("execute_command", command=text)
        given = (workspace / "got").read_bytes().split(b"\0")[2]
        assert given.decode() == text == task.approvals[-1].text
    # A comment of the model's own is no word about the folder.
    await task.call("execute_command", command=f"# in sub\n{keep}")
    assert task.approvals[-1].text == f"# in .\n# in sub\n{keep}"
    await task.state.close()


async def test_a_value_put_back_for_a_run_is_told_to_nobody(workspace: Path) -> None:
    heard: list[CommandStarted | CommandOutput | CommandExited | CommandTimedOut] = []
    task = await asyncio.to_thread(RecordingContext, workspace)
    task.state = ToolState(heard.append)
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    placeholder = task.mask(token)
    result = await task.call("execute_command", command=f"echo '{placeholder}' | tee kept; sleep 0.2; echo end")
    assert (workspace / "kept").read_text("utf-8") == f"{token}\n"
    told = [
        str(result.content),
        *task.shown_texts,
        *(status.to_json() for status in heard),
        *(each.text for each in task.approvals),
    ]
    assert any(placeholder in text for text in told)
    assert not [text for text in told if token in text]
    await task.state.close()


async def test_a_command_that_names_a_hidden_file_is_refused(task: RecordingContext, workspace: Path) -> None:
    (workspace / ".hdspignore").write_text("secret*\nvault/\n", "utf-8")
    (workspace / "vault").mkdir()
    for name in ("secret.txt", "vault/x", "plain.txt"):
        (workspace / name).write_text("content", "utf-8")
    (workspace / "link").symlink_to(workspace / "secret.txt")
    for command in (
        "cat secret.txt", "cat ./secret.txt", f"cat {workspace}/secret.txt", "cat < secret.txt", "ls && head -c1 'secr'et.txt | wc",
        "cat vault/x", "ls vault", "cat link", "cat vault/../secret.txt", "bash -c 'cat secret.txt'", "grep -fsecret.txt x", "dd if=secret.txt",
        "git show HEAD:secret.txt", "curl -d @secret.txt http://localhost", "echo $(cat secret.txt)", "cat <(tac secret.txt)", "cp secret.txt a",
        "f() { cat secret.txt; }; f", "for f in secret.txt; do cat $f; done",
    ):  # fmt: skip
        failure = await task.failure("execute_command", command=command)
        assert ".hdspignore" in failure, command
    assert task.approvals == []
    for command in ("cat plain.txt", "echo secret.txtile", "grep secret plain.txt", "cat nowhere/secret.txt; true"):
        await task.text("execute_command", command=command)
        assert task.approvals[-1].action.matches_hidden is None
    await task.text("execute_command", command="wc -c *.txt")
    assert task.approvals[-1].action.matches_hidden == "*.txt"
    await task.state.close()


async def test_nothing_can_be_typed_into_it(task: RecordingContext) -> None:
    assert "Exit code: 1" in await asyncio.wait_for(task.text("execute_command", command="read x"), 60)
    await task.state.close()


async def test_keys_tokens_and_what_changes_meanings_stay_out_of_its_environment(
    task: RecordingContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    secrets = (
        "ANTHROPIC_API_KEY", "JUPYTERHUB_API_TOKEN", "HDSP_AGENT_PASSPHRASE", "HDSP_AGENT_STORAGE_URL",
        "HDSP_AGENT_ARTIFACT_STORE_URL",
    )  # fmt: skip
    for name in (*secrets, "BASH_ENV", "BASH_FUNC_ls%%"):
        monkeypatch.setenv(name, "() { echo hidden-value; }")
    monkeypatch.setenv("OF_THE_PERSON", "kept")
    text = await task.text("execute_command", command="env; ls")
    assert "hidden-value" not in text
    assert "OF_THE_PERSON=kept" in text
    await task.state.close()


async def test_output_is_shown_while_it_comes(task: RecordingContext, workspace: Path) -> None:
    running = asyncio.create_task(
        task.text("execute_command", command="echo first; while [ ! -e go ]; do sleep 0.02; done; echo last")
    )
    await until(lambda: any("first" in text for text in task.shown_texts))
    assert not running.done()
    assert [said.partial for said in task.said.values()] == [True]
    (workspace / "go").touch()
    assert "first\nlast" in await running
    assert [(said.say, said.text, said.partial) for said in task.said.values()] == [
        ("command_output", "first\nlast\n", False)
    ]
    await task.state.close()


def told(task: RecordingContext) -> list[tuple[str | None, bool | None, str, int | None]]:
    """What is shown of each command: its output, whether more may come, how it ended."""
    return [
        (said.text, said.partial, said.command_run.state, said.command_run.exit_code)
        for said in task.said.values()
        if said.command_run is not None
    ]


async def test_how_it_ended_and_how_long_it_took_stays_with_its_output(task: RecordingContext) -> None:
    before = int(time.time() * 1000)
    await task.text("execute_command", command="echo so; sleep 0.2; exit 3")
    await task.text("execute_command", command="kill -9 $$")
    assert told(task) == [("so\n", False, "exited", 3), ("", False, "exited", -9)]
    first, second = (said.command_run for said in task.said.values())
    assert first is not None and second is not None
    assert before <= first.started_at <= second.started_at
    assert first.duration_ms is not None and first.duration_ms >= 200
    assert first.execution_id != second.execution_id
    await task.state.close()


async def test_a_command_that_wrote_nothing_is_told_to_have_ended_too(task: RecordingContext) -> None:
    await task.text("execute_command", command="true")
    running = asyncio.create_task(task.call("execute_command", command="sleep 100"))
    await until(lambda: len(task.state.commands.running) == 1)
    task.state.commands.abort_all()
    await running
    assert told(task) == [("", False, "exited", 0), ("", False, "stopped", None)]
    await task.state.close()


async def test_what_a_command_in_the_background_writes_stands_where_it_was_begun(
    task: RecordingContext, workspace: Path
) -> None:
    await task.text("execute_command", command="while [ ! -e go ]; do sleep 0.02; done; echo late", timeout=0)
    await task.text("execute_command", command="echo later; touch go")
    await until(lambda: not task.state.commands.running)
    assert told(task) == [("late\n", False, "exited", 0), ("later\n", False, "exited", 0)]
    await task.state.close()


async def test_cancelling_ends_it_and_all_it_began(task: RecordingContext, workspace: Path) -> None:
    command = (
        "trap '' TERM; echo $$ > self; (sleep 100 & echo $! > child; wait) & "
        "setsid sh -c 'echo $$ > stray; exec sleep 100' & wait; sleep 100"
    )
    running = asyncio.create_task(task.call("execute_command", command=command))
    names = ("self", "child", "stray")
    await until(lambda: all((workspace / name).exists() and (workspace / name).stat().st_size for name in names))
    processes = pids(workspace, *names)
    assert all(alive(pid) for pid in processes)
    running.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await running
    assert running.cancelled()
    await until(lambda: not any(alive(pid) for pid in processes))
    await task.state.close()


async def test_the_time_limit_of_the_settings_ends_it(workspace: Path) -> None:
    task = await asyncio.to_thread(
        RecordingContext,
        workspace,
        GlobalSettings(command_execution_timeout=2, command_timeout_allowlist=("sleep 2.3",)),
    )
    failure = await task.failure("execute_command", command="echo before; sleep 100")
    assert "ran longer than the settings allow" in failure
    assert "before" in failure
    assert "Exit code: 0" in await task.text("execute_command", command="sleep 2.3")
    await task.state.close()


async def test_a_command_goes_on_in_the_background_and_can_be_read(task: RecordingContext, workspace: Path) -> None:
    command = "echo ready; while [ ! -e go ]; do sleep 0.02; done; echo finished; exit 4"
    result = await task.text("execute_command", command=command, timeout=1)
    assert "still runs in the background as cmd-" in result
    command_id = result.split("as ")[1].split()[0]
    assert "still runs" in await task.text("read_command_output", artifact_id=command_id)
    (workspace / "go").touch()
    text = await task.text("read_command_output", artifact_id=command_id, wait_seconds=60)
    assert "Exit code: 4" in text
    assert "ready\nfinished" in text
    await task.state.close()


async def test_a_person_can_send_it_to_the_background_or_stop_it(task: RecordingContext) -> None:
    running = asyncio.create_task(task.call("execute_command", command="sleep 100"))
    await until(lambda: len(task.state.commands.running) == 1)
    task.state.commands.continue_all()
    assert "still runs in the background" in str((await running).content)
    second = asyncio.create_task(task.call("execute_command", command="sleep 100"))
    await until(lambda: len(task.state.commands.running) == 2)
    task.state.commands.abort_all()
    assert "The person stopped the command" in str((await second).content)
    assert len(task.state.commands.running) == 1
    await task.state.close()
    assert task.state.commands.running == []


async def test_what_a_command_leaves_running_does_not_hold_it_up_and_ends_with_the_task(
    task: RecordingContext, workspace: Path
) -> None:
    text = await asyncio.wait_for(task.text("execute_command", command="sleep 100 & echo $! > left; echo done"), 60)
    assert "Exit code: 0" in text
    assert "Processes it started still run" in text
    (pid,) = pids(workspace, "left")
    assert alive(pid)
    await task.state.close()
    await until(lambda: not alive(pid))


async def test_a_long_output_is_kept_whole_and_can_be_read_and_searched(task: RecordingContext) -> None:
    result = await task.call("execute_command", command="seq 1 20000; echo the end")
    assert isinstance(result.content, str)
    assert result.artifact is not None
    assert len(result.content) < 12_000
    assert "\n1\n2\n" in result.content
    assert result.content.endswith("the end")
    assert result.artifact in result.content
    found = await task.text("read_command_output", artifact_id=result.artifact, search="^1999[0-9]$|end")
    assert "19990 | 19990" in found
    assert "20001 | the end" in found
    page = await task.text("read_command_output", artifact_id=result.artifact, offset=4, limit=6)
    assert page.startswith("Bytes 4 to 10 of 108,901:\n3\n4\n5\n")
    assert "nothing at" in await task.failure("read_command_output", artifact_id=result.artifact, offset=10**9)
    assert "not a regular expression" in await task.failure(
        "read_command_output", artifact_id=result.artifact, search="("
    )
    assert "no artifact" in await task.failure("read_command_output", artifact_id="0" * 64)
    await task.state.close()


async def test_pages_of_an_output_together_have_every_character(task: RecordingContext) -> None:
    whole = "가나다 abc 🙂é" * 3_000
    name = await task.put_artifact(whole.encode())
    read, offset = "", 0
    while True:
        page = await task.text("read_command_output", artifact_id=name, offset=offset, limit=9_001)
        text = page.partition("\n")[2]
        more = re.search(r"\n\[… [\d,]+ bytes more: offset (\d+) …\]$", text)
        read += text if more is None else text[: more.start()]
        if more is None:
            break
        offset = int(more[1])
    assert read == whole
    # A page is never so small that nothing goes on, and one that is begun within a character has all of it.
    assert "\n가\n" in await task.text("read_command_output", artifact_id=name, offset=1, limit=1)


async def test_an_output_that_is_cut_begins_with_how_much_there_was(task: RecordingContext) -> None:
    text = await task.text("execute_command", command="seq 1 20000")
    assert "Warning: truncated output (original token count: 27224)\nTotal output lines: 20000\n\n" in text
    # Within a fifth more than the budget says it stays whole.
    whole = await task.text("execute_command", command="seq 1 2300")
    assert "Total output lines" not in whole and "\n1234\n" in whole


async def test_an_endless_output_costs_bounded_memory_and_can_be_cancelled(task: RecordingContext) -> None:
    running = asyncio.create_task(task.call("execute_command", command="yes", timeout=60))
    await until(lambda: any(command.process.output.total > 30_000_000 for command in task.state.commands.running))
    command = task.state.commands.running[0]
    assert len(command.process.output._head) + len(command.process.output._tail) < 14_000_000
    assert all(len(text) < 25_000 for text in task.shown_texts)
    running.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await running
    assert not alive(command.process.pid)
    await task.state.close()


async def test_secrets_in_an_output_are_masked_wherever_it_is_kept(task: RecordingContext, workspace: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    (workspace / "t").write_text(token, "utf-8")
    result = await task.call("execute_command", command="cat t; seq 1 20000")
    assert token not in str(result.content)
    assert token not in " ".join(task.shown_texts)
    assert all(token.encode() not in data for data in task.artifacts.values())
    await task.state.close()


async def test_a_masked_value_reaches_a_command_only_if_a_person_approved(task: RecordingContext) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    placeholder = task.mask(token)
    await task.call("execute_command", command=f"printf %s '{placeholder}' > t")
    await task.call("execute_command", command="cat t")
    assert task.approvals[0].action.puts_back_masked
    assert task.approvals[0].text == f"printf %s '{placeholder}' > t"
    assert (task.workspace / "t").read_text("utf-8") == token
    task.decide = lambda approved: Approval(approved=True, runs=approved.text)
    await task.call("execute_command", command=f"printf %s '{placeholder}' > t")
    assert (task.workspace / "t").read_text("utf-8") == placeholder
    await task.state.close()


async def test_a_listener_hears_how_a_command_fares(workspace: Path) -> None:
    heard: list[str] = []
    board = RunningCommands(lambda status: heard.append(status.status))

    async def show(_text: str, _run: CommandRun) -> None:
        return None

    command = await board.start("echo x", workspace, show, limit=None)
    await command.ended.wait()
    assert heard[0] == "started"
    assert heard[-1] == "exited"
    await board.close()


def test_terminal_output_becomes_plain_text() -> None:
    assert readable(b"\x1b[31mred\x1b[0m\r\n 10%\r 50%\r100%\ndone\x07") == "red\n100%\ndone"
    assert readable("한국".encode()[:-1]) == "한\ufffd"


def test_a_buffer_keeps_the_beginning_and_the_end() -> None:
    buffer = OutputBuffer(head=10, tail=4)
    buffer.write(b"0123456789")
    buffer.write(b"abcdefghijkl")
    assert buffer.total == 22
    assert buffer.text().startswith("0123456789\n[… ")
    assert buffer.text().endswith("ijkl")
    assert buffer.glimpse(6).startswith("012\n[… 16 bytes …]\njkl")


async def test_the_output_of_a_command_in_the_background_is_found_in_another_life_of_the_task(
    task: RecordingContext,
) -> None:
    saved: dict[str, KeptOutput] = {}

    async def save(outputs: Mapping[str, KeptOutput]) -> None:
        saved.update(outputs)

    async def shown(ts: int) -> str | None:
        return task.said[ts].text

    def another_life(outputs: Mapping[str, KeptOutput]) -> None:
        task.state = ToolState()
        task.state.outputs.attach(outputs, save=save, shown=shown)

    first = task.state
    first.outputs.attach({}, save=save, shown=shown)
    over = await task.text("execute_command", command="echo begun; sleep 0.2; echo over; exit 3", timeout=0)
    going = await task.text("execute_command", command="echo going; sleep 600", timeout=0)
    over, going = (re.findall(r"cmd-[0-9a-f]+", text)[0] for text in (over, going))
    await until(lambda: saved[over].artifact is not None and saved[going].said_at is not None)
    killed = dict(saved)
    await first.close()

    another_life(killed)
    text = await task.text("read_command_output", artifact_id=over)
    assert text.startswith("Exit code: 3\n") and text.endswith("begun\nover\n")
    text = await task.text("read_command_output", artifact_id=going)
    assert "stopped when the server ended" in text and text.endswith("going\n")
    another_life(saved)
    text = await task.text("read_command_output", artifact_id=going)
    assert "put aside" in text and text.endswith("going\n")
    assert "There is no output" in await task.failure("read_command_output", artifact_id="cmd-00000000")


def test_a_glimpse_is_cut_between_lines_so_that_no_half_of_a_key_is_shown() -> None:
    buffer = OutputBuffer()
    line = b"token=ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8\n"
    buffer.write(line * 1_000)
    shown = buffer.glimpse(5_000).splitlines()
    assert {each for each in shown if not each.startswith("[…")} == {line.decode().rstrip()}
    assert 80 < len(shown) < 120
    long = OutputBuffer()
    long.write(b"x" * 50_000)
    assert len(long.glimpse(5_000)) > 5_000
