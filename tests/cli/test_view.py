"""``hdsp-agent view``: a task with its newest messages, or one of its logs."""

from __future__ import annotations

import asyncio

import pytest

from hdsp_agent.messages import ClineMessage
from hdsp_agent.persistence import ApiDraft, FileStore

from ._helpers.homes import ADA, FAILED, FINISHED, UNFINISHED, Home


def test_a_task_is_shown_as_the_seed_shows_it(shared_home: Home) -> None:
    ran = shared_home.run("view", "--uuid", FINISHED)
    assert ran.code == 0
    lines = ran.out.splitlines()
    for line in (
        f"Task UUID: {FINISHED}",
        "Title: 버그 고치기",
        "Status: completed",
        "Repository: github/notfolder/coding_agent",
        "Task: issue #27",
        f"User: {ADA}",
        "Statistics:",
        "  LLM calls: 45",
        "  Tool calls: 12",
        "  Total tokens: 45,678",
        "  Compressions: 2",
        "Messages: 17 (showing last 10)",
        "  [15] user: 질문 14 second line",
        "  [16] tool: github_create_commit -> Success",
        "Summaries: 1",
        "  [1] seq 2-9: Fixed the 認証 bug",
    ):
        assert line in lines, line
    assert any(line.startswith("Duration: ") for line in lines)
    assert "  [7] user: 질문 6 second line" not in lines


def test_the_reason_of_a_failure_is_one_line(shared_home: Home) -> None:
    lines = shared_home.run("view", "--uuid", FAILED).out.splitlines()
    assert "Status: failed" in lines
    assert "Error: The model did not answer" in lines


def test_the_beginning_of_an_id_is_enough(shared_home: Home) -> None:
    assert shared_home.run("view", "--uuid", "11111111").out.startswith(f"Task UUID: {FINISHED}")
    assert shared_home.run("view", "--uuid", FAILED).code == 0


def test_as_json_it_is_everything_about_the_task(shared_home: Home) -> None:
    found = shared_home.run("view", "--uuid", FINISHED, "--json", "--limit", "3").json()
    assert found["uuid"] == FINISHED
    assert found["counts"] == {"messages": 17, "summaries": 1, "tools": 2, "ui": 2, "marks": 1}
    messages = found["newestMessages"]
    assert isinstance(messages, list)
    assert [message["seq"] for message in messages] == [15, 16, 17]


@pytest.mark.parametrize(
    ("log", "says"),
    [
        (
            "--messages",
            ["[2] user", "    질문 1", "    second line", "[17] assistant", "    完了しました \\x1b[31mred\\x1b[0m"],
        ),
        ("--summaries", ["[1] seq 2-9", "12,000 -> 800 tokens (6.7%)", "    Fixed the 認証 bug"]),
        (
            "--tools",
            [
                "[1] read_file (success, 234 ms",
                '    {"path": "main.py"}',
                "[2] create_branch (error",
                "Error: Branch exists",
            ],
        ),
        ("--ui", ["] say text (", "    안녕하세요"]),
        ("--marks", ["[m1] rewind", "seq 15-16 hidden"]),
    ],
)
def test_each_log_is_shown_whole(shared_home: Home, log: str, says: list[str]) -> None:
    ran = shared_home.run("view", "--uuid", FINISHED, log)
    assert ran.code == 0
    assert ran.err == ""
    for text in says:
        assert text in ran.out


@pytest.mark.parametrize(
    ("log", "count", "field"),
    [
        ("--messages", 17, "content"),
        ("--summaries", 1, "summary"),
        ("--tools", 2, "tool_name"),
        ("--ui", 2, "ts"),
        ("--marks", 1, "id"),
    ],
)
def test_as_json_a_log_has_a_line_for_each_record(shared_home: Home, log: str, count: int, field: str) -> None:
    records = shared_home.run("view", "--uuid", FINISHED, log, "--json").records()
    assert len(records) == count
    assert all(field in record for record in records)
    newest = shared_home.run("view", "--uuid", FINISHED, log, "--json", "--limit", "1").records()
    assert newest == records[-1:]


def test_a_damaged_line_is_told_and_the_rest_is_shown(own_home: Home) -> None:
    path = own_home.path / "contexts" / "completed" / FINISHED / "messages.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    lines[3] = b"\xff not json\n"
    path.write_bytes(b"".join(lines))
    ran = own_home.run("view", "--uuid", FINISHED, "--messages", "--json")
    assert ran.code == 0
    assert len(ran.records()) == 16
    assert ran.err.startswith("hdsp-agent: warning: ")
    assert ran.err.count("\n") == 1
    assert "Traceback" not in ran.err


@pytest.mark.parametrize("log", ["--messages", "--ui"])
def test_a_task_is_followed_until_it_is_over(own_home: Home, log: str) -> None:
    running = own_home.start("view", "--uuid", UNFINISHED, log, "--json", "--follow")
    assert running.stdout is not None
    if log == "--messages":
        assert '"go on"' in running.stdout.readline()

    async def work() -> None:
        store = FileStore(own_home.path)
        await store.start()
        task = await store.resume(UNFINISHED)
        for number in range(3):
            await task.append_api(ApiDraft(role="assistant", content=f"step {number}"))
        ts = task.next_ts()
        await task.put_ui(ClineMessage(ts=ts, type="say", say="text", text="hal", partial=True), durable=True)
        await asyncio.sleep(0.8)
        await task.put_ui(ClineMessage(ts=ts, type="say", say="text", text="half and whole", partial=False))
        await task.finish()
        await store.stop()

    asyncio.run(work())
    out, said = running.communicate(timeout=60)
    assert (running.returncode, said) == (0, "")
    if log == "--messages":
        assert [f"step {number}" in line for number, line in enumerate(out.splitlines())] == [True] * 3
    else:
        (line,) = out.splitlines()
        assert "half and whole" in line
