"""A storage folder with conversations in it, and the real program run over it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from hdsp_agent.messages import ClineMessage, HistoryItem, TaskId
from hdsp_agent.persistence import (
    ApiDraft,
    NewTaskRecord,
    RewindMark,
    SummaryDraft,
    TaskKey,
    ToolDraft,
)

from ..._helpers.forked_python import forked_python
from ..._helpers.stored_tasks import backend_under_test, make_store, storage_url

FINISHED = TaskId("11111111-0000-4000-8000-000000000001")
FAILED = TaskId("22222222-0000-4000-8000-000000000002")
UNFINISHED = TaskId("22222222-0000-4000-8000-000000000003")
ADA = "아다"

PROGRAM = (sys.executable, "-m", "hdsp_agent.cli")


@dataclass(frozen=True)
class Ran:
    """What the program said."""

    code: int
    out: str
    err: str

    def json(self) -> dict[str, object]:
        """Its one document."""
        document: dict[str, object] = json.loads(self.out)
        return document

    def records(self) -> list[dict[str, object]]:
        """Its lines."""
        return [json.loads(line) for line in self.out.splitlines()]


class Home:
    """A storage folder and the program over it; what Jupyter is told on this machine takes no part."""

    def __init__(self, path: Path) -> None:
        self.path = path / "home"
        self.config = path / "jupyter-config"
        self.config.mkdir()

    def environment(self, **more: str) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("HDSP_", "JUPYTER", "COV"))}
        own = {
            "HDSP_AGENT_STORAGE_BACKEND": backend_under_test(),
            "HDSP_AGENT_STORAGE_URL": storage_url(),
            "HDSP_AGENT_HOME": str(self.path),
            "JUPYTER_CONFIG_DIR": str(self.config),
            "JUPYTER_CONFIG_PATH": "",
            "PYTHONWARNINGS": "error",
            "PYTHONUTF8": "1",
            "TZ": "UTC",
        }
        return {**kept, **own, **more}

    def run(self, *arguments: str, env: dict[str, str] | None = None, stdin: str = "") -> Ran:
        """Run it to its end."""
        done = subprocess.run(
            [forked_python(), *PROGRAM[1:], *arguments],
            env=self.environment(**(env or {})),
            cwd=self.config,
            input=stdin.encode(),
            capture_output=True,
            timeout=240,
            check=False,
        )
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())

    def start(self, *arguments: str, **env: str) -> subprocess.Popen[str]:
        """Begin to run it."""
        return subprocess.Popen(
            [forked_python(), *PROGRAM[1:], *arguments],
            env=self.environment(**env),
            cwd=self.config,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            preexec_fn=_heed_signals if os.name == "posix" else None,  # noqa: PLW1509 -- calls no Python lock
        )


def _heed_signals() -> None:
    """Whoever runs the tests may ignore these, as nohup and a shell's background do, and programs inherit that."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def item(task_id: TaskId, task: str, **fields: object) -> HistoryItem:
    """The line of a task in the history."""
    known = {"id": task_id, "number": 1, "ts": 1_700_000_000_000, "task": task, "tokens_in": 1000, "tokens_out": 234}
    return HistoryItem.model_validate({**known, "total_cost": 0.5, "status": "completed", **fields})


async def fill(home: Path) -> None:
    """A finished task of Ada's with everything in it, a failed one of Bob's, and one that was not finished."""
    store = make_store(home)
    await store.start()
    try:
        log = await store.create(
            NewTaskRecord(
                task_id=FINISHED,
                task_key=TaskKey(
                    task_source="github", owner="notfolder", repo="coding_agent", task_type="issue", task_id="27"
                ),
                config={"llm_provider": "openai", "model": "gpt-4o"},
                user=ADA,
            )
        )
        await log.append_api(ApiDraft(role="system", content="You help."))
        for number in range(1, 15):
            await log.append_api(ApiDraft(role="user", content=f"질문 {number}\nsecond line"))
        await log.append_api(ApiDraft(role="tool", content="Success", tool_name="github_create_commit"))
        await log.append_api(
            ApiDraft(role="assistant", content=[{"type": "text", "text": "完了しました \x1b[31mred\x1b[0m"}])
        )
        await log.append_summary(
            SummaryDraft(
                start_seq=2, end_seq=9, summary="Fixed the 認証 bug", original_tokens=12000, summary_tokens=800
            )
        )
        await log.append_tool(
            ToolDraft(
                tool_name="read_file", arguments={"path": "main.py"}, result="x = 1", status="success", duration_ms=234
            )
        )
        await log.append_tool(
            ToolDraft(tool_name="create_branch", arguments={}, status="error", error="Branch exists", duration_ms=5)
        )
        await log.put_ui(ClineMessage(ts=log.next_ts(), type="say", say="text", text="안녕하세요"))
        ts = log.next_ts()
        await log.put_ui(ClineMessage(ts=ts, type="say", say="text", text="taken back"))
        hidden = RewindMark(
            id="m1", ts=ts, ui_end=ts, api_end=17, target_ts=ts, api_cutoff=ts, ui_from=ts, api_hides=[(15, 16)]
        )
        await log.append_mark(hidden)
        log.update_state(
            llm_call_count=45, tool_call_count=12, total_tokens_used=45678, compression_count=2,
            history_item=item(FINISHED, "Fix the bug", title="버그 고치기", total_cost=1.25),
        )  # fmt: skip
        await log.finish()
        log = await store.create(NewTaskRecord(task_id=FAILED, user="bob"))
        await log.append_api(ApiDraft(role="user", content="Draw a plot"))
        log.update_state(history_item=item(FAILED, "Draw a plot", ts=1_710_000_000_000))
        await log.finish("failed", error="The model\ndid not answer")
        log = await store.create(NewTaskRecord(task_id=UNFINISHED, user="bob"))
        await log.append_api(ApiDraft(role="user", content="go on"))
        log.update_state(history_item=item(UNFINISHED, "go on", status="active", ts=1_720_000_000_000))
        await log.close()
    finally:
        await store.stop()


def filled(path: Path) -> Home:
    """A home with these three tasks."""
    home = Home(path)
    asyncio.run(fill(home.path))
    return home
