"""What version 0.1.0 stored opens unchanged: settings, conversations, checkpoints and variables, and work goes on with them."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import sys
import tarfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from filelock import FileLock

from tests.comm._helpers.jupyter_process import JupyterProcess
from tests.comm._helpers.scripted_pages import Turn, conversation, question
from tests.comm.channel._helpers.channel_panel import Panel

from ._helpers.home import (
    ARCHIVE,
    ENVIRONMENT,
    EXPECTED,
    NOTEBOOK,
    PLACE,
    Json,
    answer,
    conversations,
    environment_of,
    evaluated,
    histories,
    kernel_of,
    program,
    program_json,
    rules,
    settings_told,
    speak,
    statistics,
    texts,
    told,
)

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="the workspace has another path there"),
    pytest.mark.timeout(600),
]

DONE: Final[Turn] = ({"tool": "attempt_completion", "arguments": {"result": "It goes on."}, "id": "d"},)
FILES, SQLITE = PLACE / "files", PLACE / "sqlite"
BACKENDS: Final = {"files": FILES, "sqlite": SQLITE}


def differences(then: Any, now: Any, place: str = "") -> list[str]:
    """Where what was is no more. What came since is none."""
    if isinstance(then, dict) and isinstance(now, dict):
        missing = [f"{place}/{key} is gone" for key in then.keys() - now.keys()]
        shared = then.keys() & now.keys()
        return missing + [one for key in sorted(shared) for one in differences(then[key], now[key], f"{place}/{key}")]
    if isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        return [
            one for at, pair in enumerate(zip(then, now, strict=True)) for one in differences(*pair, f"{place}/{at}")
        ]
    return [] if then == now else [f"{place}: {then!r} is now {now!r}"]


@pytest.fixture(scope="module")
def expected() -> Json:
    """What version 0.1.0 told of it."""
    found: Json = json.loads(EXPECTED.read_text("utf-8"))
    return found


@pytest.fixture(scope="module", autouse=True)
def servers() -> Iterator[dict[str, JupyterProcess]]:
    """The archive at the place that it knows itself by, and for each of its homes a server that is not started."""
    with FileLock(f"{PLACE}.lock", mode=0o666):
        shutil.rmtree(PLACE, ignore_errors=True)
        try:
            PLACE.mkdir(mode=0o700)
            made = {
                backend: JupyterProcess(folder, environment={**ENVIRONMENT, "HDSP_AGENT_STORAGE_BACKEND": backend})
                for backend, folder in BACKENDS.items()
            }
            with tarfile.open(ARCHIVE) as archive:
                # Python 3.11.2 knows no filters yet, and the archive is our own.
                archive.extraction_filter = getattr(tarfile, "tar_filter", lambda member, path: member)
                archive.extractall(PLACE)
            yield made
        finally:
            shutil.rmtree(PLACE)


@contextmanager
def running(server: JupyterProcess) -> Iterator[JupyterProcess]:
    """The server while it runs."""
    try:
        asyncio.run(server.start())
        yield server
        asyncio.run(server.end(signal.SIGTERM))
    finally:
        server.kill()


@pytest.fixture(scope="module")
def server(servers: dict[str, JupyterProcess]) -> Iterator[JupyterProcess]:
    """The server of the larger home."""
    with running(servers["files"]) as server:
        yield server


def test_the_command_line_tells_of_all_that_it_told(expected: Json) -> None:
    at = ("--workspace", str(FILES / "root"))
    kept = expected["files"]["checkpoints"]
    with ThreadPoolExecutor() as threads:
        doctors = [
            threads.submit(program, home / "home", "doctor", backend=backend) for backend, home in BACKENDS.items()
        ]
        for doctor in doctors:
            doctor.result()
        lists = {backend: threads.submit(conversations, home / "home", backend) for backend, home in BACKENDS.items()}
        added_up = threads.submit(statistics, FILES / "home", "files")
        operations = threads.submit(program_json, FILES / "home", "checkpoint", "list", "--operations", *at)
        diff = threads.submit(
            program_json, FILES / "home", "checkpoint", "diff", kept["first"], kept["second"], *at, codes=(3,)
        )
        decided = threads.submit(rules, FILES / "home", FILES / "root")
    for backend, found in lists.items():
        assert differences(expected[backend]["list"], found.result()) == []
    assert differences(expected["files"]["statistics"], added_up.result()) == []
    assert differences(kept["operations"], operations.result()["operations"]) == []
    assert differences(kept["diff"], diff.result()) == []
    assert decided.result() == expected["files"]["rules"]


@pytest.mark.parametrize("backend", BACKENDS)
def test_all_conversations_are_to_the_letter_what_they_were(backend: str, expected: Json) -> None:
    assert differences(expected[backend]["histories"], histories(BACKENDS[backend] / "home", backend)) == []


def test_the_history_is_made_again_from_the_conversations_where_it_is_lost(expected: Json, tmp_path: Path) -> None:
    home = shutil.copytree(FILES / "home", tmp_path / "home")
    for file in home.glob("state.db*"):
        file.unlink()
    # The list that was kept has sizes of before the last message of a pause, and of before the packing.
    then = [{key: value for key, value in one.items() if key != "size"} for one in expected["files"]["list"]]
    assert differences(then, conversations(home, "files")) == []


def test_the_conversation_in_a_notebook_becomes_one_of_somebody_else(tmp_path: Path) -> None:
    (task,) = program_json(tmp_path, "import", str(FILES / "root" / NOTEBOOK))["tasks"]
    assert task["outcome"] == "imported" and task["title"] == "Show the sum", task


async def test_settings_profiles_modes_and_trust_are_what_they_were(server: JupyterProcess, expected: Json) -> None:
    assert differences(expected["files"]["settings"], await settings_told(server)) == []
    exported = json.loads((PLACE / "settings.json").read_text("utf-8"))
    assert differences(exported, await server.call("GET", "settings/export")) == []


@pytest.mark.long
async def test_files_go_back_to_a_checkpoint_and_again_with_the_undo(server: JupyterProcess, expected: Json) -> None:
    kept = expected["files"]["checkpoints"]
    assert texts(server.root) == kept["files"]
    line = await server.call("GET", "checkpoints?limit=500")
    assert [one["id"] for one in line["operations"]] == kept["line"]
    parts = {"parts": {"files": True, "overwrite": True}}
    done = await server.call("POST", f"checkpoints/{kept['second']}/restore", parts)
    changed = {**kept["files"], "data/prices.csv": "name,price\ntea,9.99\n", "new.txt": "new\n"}
    del changed["run.sh"]
    assert texts(server.root) == {**changed, "link.csv": changed["data/prices.csv"]}
    await server.call("POST", f"checkpoint-operations/{done['operation']['id']}/undo", {})
    assert texts(server.root) == kept["files"]
    assert os.access(server.root / "run.sh", os.X_OK)


async def test_cells_and_variables_come_back_in_a_fresh_kernel(server: JupyterProcess, expected: Json) -> None:
    kept = expected["files"]["checkpoints"]
    file = server.root / NOTEBOOK
    cells = json.loads(file.read_text("utf-8"))
    then, cells["cells"][2]["source"] = cells["cells"][2]["source"], ["print('another')"]
    file.write_text(json.dumps(cells, indent=1), "utf-8")
    path = f"checkpoints/{kept['with variables']}/restore"
    await server.call("POST", path, {"parts": {"notebooks": True, "overwrite": True, "path": NOTEBOOK}})
    assert json.loads(file.read_text("utf-8"))["cells"][2]["source"] == then

    kernel = await kernel_of(server, NOTEBOOK)
    variables = {"parts": {"variables": True, "path": NOTEBOOK}}
    readable = await environment_of(server, kernel) == kept["environment"]
    (done,) = (await server.call("POST", path, variables))["variables"]
    if not readable:
        assert done["coded"]["code"] in ("other_python", "library_other")
        return
    values = await evaluated(server, kernel, "", *kept["values"])
    # A generator has no bytes, and says so.
    assert values == {**kept["values"], "numbers": "NameError"}, done
    lost = [one["name"] for one in done["variables"] if one["action"] == "lost"]
    assert lost == ["numbers"]


async def test_a_rewind_can_still_be_undone(server: JupyterProcess, expected: Json) -> None:
    task = expected["files"]["conversations"]["rewound"]
    async with server.page() as page:
        await told(page, "showTaskWithId", taskId=task)
        await question(page, "resume_task")
        assert shown(page, "completion_result") == []
        assert state_of(page)["currentTaskMarks"]["undoable"]["kind"] == "rewind"
        await told(page, "undoConversation")
        await page.until(lambda: shown(page, "completion_result") == ["It is blue."])


async def test_what_was_queued_still_waits(server: JupyterProcess, expected: Json) -> None:
    async with server.page() as page:
        await told(page, "showTaskWithId", taskId=expected["files"]["conversations"]["queued"])
        await question(page, "command")
        assert [one["text"] for one in state_of(page)["messageQueue"]] == ["And say it twice"]


async def test_a_conversation_that_waits_for_approval_goes_on(server: JupyterProcess, expected: Json) -> None:
    await goes_on(server, expected["files"]["conversations"]["paused"])


@pytest.mark.long
def test_another_home_takes_the_exported_settings_and_goes_on_too(
    servers: dict[str, JupyterProcess], expected: Json
) -> None:
    async def works(server: JupyterProcess) -> None:
        await server.call("DELETE", "settings")
        exported = json.loads((PLACE / "settings.json").read_text("utf-8"))
        await server.call("POST", "settings/import", exported)
        now = await settings_told(server)
        then = expected["files"]["settings"]
        assert differences(then["settings"], now["settings"]) == []
        names = [one["name"] for one in then["profiles"]["profiles"]]
        for name in names:
            assert differences(then["each profile"][name]["settings"], now["each profile"][name]["settings"]) == []
        await goes_on(server, expected["sqlite"]["conversations"]["paused"])

    with running(servers["sqlite"]) as server:
        asyncio.run(works(server))


async def goes_on(server: JupyterProcess, task: str) -> None:
    """Agree to what waits, and see it done and the task complete."""
    await speak(server, DONE)
    async with server.page() as page:
        await told(page, "showTaskWithId", taskId=task)
        ts = await question(page, "command")
        assert conversation(page)[ts]["text"] == "touch approved.txt"
        await answer(page, ts)
        await page.until(lambda: shown(page, "completion_result") == ["It goes on."])
    assert (server.root / "approved.txt").exists()


def shown(page: Panel, kind: str) -> list[object]:
    """What is on screen of this kind."""
    return [one.get("text") for one in conversation(page).values() if one.get("say") == kind]


def state_of(page: Panel) -> Json:
    """The newest state that the page was told whole."""
    told_whole: list[Json] = [one["data"]["state"] for one in page.of("msg") if one["data"]["type"] == "state"]
    return told_whole[-1]
