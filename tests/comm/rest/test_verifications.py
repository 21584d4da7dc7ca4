"""Notebooks verified over REST: with real kernels on the real server."""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import nbformat
import pytest
from jupyter_server.serverapp import ServerApp

from hdsp_agent._timeouts import wait_at_most
from hdsp_agent.checkpoints.timeline import VerificationReport
from hdsp_agent.comm.checkpoint_access import CheckpointPlace
from hdsp_agent.comm.identity import Owner
from hdsp_agent.comm.services import Services
from hdsp_agent.comm.verifications import Verifications
from hdsp_agent.errors import Conflict, NotFound
from hdsp_agent.verify import CellReport, NotebookReport, written_report
from hdsp_agent.verify._workspace_copy import COPY_PREFIX
from tests._helpers.jupyter_fetch import Fetch
from tests.comm._helpers.jupyterlab_kernels import write_notebook
from tests.comm._helpers.polled_answers import polled
from tests.comm.rest.test_checkpoints import NOBODY, get, post, refusal

PATH = "work.ipynb"
GONE = "0" * 16


def write_outputs(file: Path, *cells: tuple[str, str]) -> None:
    """Code cells with what they printed."""
    made = [
        nbformat.v4.new_code_cell(
            source,
            id=f"c{at}",
            execution_count=at + 1,
            outputs=[nbformat.v4.new_output("stream", name="stdout", text=text)] if text else [],
        )
        for at, (source, text) in enumerate(cells)
    ]
    notebook = nbformat.v4.new_notebook(cells=made)
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, file)


async def ended(jp_fetch: Fetch, verification: str) -> Any:
    return await polled(lambda: get(jp_fetch, "verifications", verification), lambda told: told["state"] != "running")


async def test_a_notebook_is_verified_and_its_report_told(
    services: Services, jp_serverapp: ServerApp, jp_fetch: Fetch, jp_root_dir: Path
) -> None:
    cells = (("n = 1", ""), ("print(n)", "1\n"), ("open('made.txt', 'w').close()\nprint(n + 1)", "3\n"))
    write_outputs(jp_root_dir / PATH, *cells)
    before = (jp_root_dir / PATH).read_bytes()
    begun = await post(jp_fetch, "verifications", path=PATH)
    assert (begun["path"], begun["state"]) == (PATH, "running")
    # It goes on, and is no other one.
    assert (await post(jp_fetch, "verifications", path=PATH))["id"] == begun["id"]
    told = await ended(jp_fetch, begun["id"])
    assert (told["state"], told["run"], told["cells"]) == ("done", 2, 3)
    report = told["report"]
    assert not report["isProved"] and report["kernel"] == "python3"
    assert [(cell["number"], cell["id"], cell["state"], cell.get("cause")) for cell in report["cells"]] == [
        (1, "c0", "same", None), (2, "c1", "same", None), (3, "c2", "differs", "changed"),
    ]  # fmt: skip
    assert "3" in report["cells"][2]["detail"]
    # Nothing of the person's was touched, and no kernel of theirs came.
    assert (jp_root_dir / PATH).read_bytes() == before and not (jp_root_dir / "made.txt").exists()
    assert not jp_serverapp.kernel_manager.list_kernel_ids()


async def rows(jp_fetch: Fetch) -> list[Any]:
    """The checkpoints of the time line, newest first."""
    return list((await get(jp_fetch, "checkpoints"))["operations"])


async def verified(jp_fetch: Fetch) -> Any:
    return await ended(jp_fetch, (await post(jp_fetch, "verifications", path=PATH))["id"])


async def test_what_was_verified_can_be_gone_back_to_and_its_report_is_kept_with_it(
    services: Services, jp_fetch: Fetch, jp_root_dir: Path
) -> None:
    write_outputs(jp_root_dir / PATH, ("print(1)", "1\n"), ("1 / 0", "0\n"))
    told = await verified(jp_fetch)
    (row,) = await rows(jp_fetch)
    assert (row["checkpoint"]["kind"], row["checkpoint"]["notebooks"]) == ("verified", [PATH])
    (summary,) = row["verified"]
    assert (summary["id"], summary["path"], summary["same"], summary["differing"]) == (told["id"], PATH, 1, 1)
    # As after a restart.
    services.verifications._known.clear()
    await (await services.agent.manager()).checkpoints.close()
    kept = await get(jp_fetch, "verifications", told["id"])
    assert (kept["report"], kept["path"], kept["state"], kept["endedTs"]) == (
        told["report"], PATH, "done", told["endedTs"],
    )  # fmt: skip
    assert (await rows(jp_fetch))[0]["verified"] == [summary]


@pytest.mark.long
async def test_of_one_state_the_newest_report_is_told_and_of_another_its_own(
    services: Services, jp_fetch: Fetch, jp_root_dir: Path
) -> None:
    write_outputs(jp_root_dir / PATH, ("print(1)", "1\n"))
    ids = [(await verified(jp_fetch))["id"] for _ in range(2)]
    (row,) = await rows(jp_fetch)
    assert [one["id"] for one in row["verified"]] == ids[1:]
    write_outputs(jp_root_dir / PATH, ("print(2)", "2\n"))
    ids.append((await verified(jp_fetch))["id"])
    assert [one["id"] for row in await rows(jp_fetch) for one in row["verified"]] == [ids[2], ids[1]]


async def test_what_is_verified_is_saved_once_and_only_where_it_can_be(
    services: Services, jp_fetch: Fetch, jp_root_dir: Path, tmp_path: Path
) -> None:
    write_outputs(jp_root_dir / PATH, ("print(1)", "1\n"))

    async def save(file: Path) -> str | None:
        return await services.checkpoints.save_for_verification(services.history.person, PATH, file)

    noted = await post(jp_fetch, "checkpoints", path=PATH, note="as it was sent")
    assert await save(jp_root_dir / PATH) == noted["id"]
    write_outputs(jp_root_dir / PATH, ("print(2)", "2\n"))
    assert await save(tmp_path / PATH) is None
    await services.config.update({"enableCheckpoints": False})
    assert await save(jp_root_dir / PATH) is None
    await services.config.update({"enableCheckpoints": True})
    assert await save(jp_root_dir / PATH) not in (noted["id"], None)


async def test_it_is_verified_where_no_checkpoint_can_be_saved(
    services: Services, jp_fetch: Fetch, jp_root_dir: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_outputs(jp_root_dir / PATH, ("print(1)", "1\n"))
    # Nobody can make a folder there.
    (services.config.home / "checkpoints").write_text("")
    told = await verified(jp_fetch)
    assert (told["state"], told["report"]["isProved"]) == ("done", True)
    assert f"No checkpoint was saved before {PATH} was verified" in caplog.text


async def test_it_does_not_wait_long_for_a_checkpoint_nor_fail_with_it(
    services: Services,
    jp_fetch: Fetch,
    jp_root_dir: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    report = NotebookReport(PATH, "python3", (CellReport(1, "c0", "same"),), 1.0, 1)

    async def verify(*of: object) -> NotebookReport:
        return report

    async def save(*of: object) -> None:
        raise RuntimeError("no thread")

    monkeypatch.setattr("hdsp_agent.verify.verify_apart", verify)
    monkeypatch.setattr(
        "hdsp_agent.agent.checkpoints.checkpoint_service.CheckpointService.timeout", 0.01, raising=False
    )
    write_outputs(jp_root_dir / PATH, ("print(1)", "1\n"))
    # As a restore holds it.
    async with (await services.agent.manager()).checkpoints.locked(jp_root_dir):
        assert (await wait_at_most(verified(jp_fetch), 30))["state"] == "done"
    assert "Saving takes longer than 0.01 seconds" in caplog.text
    monkeypatch.setattr(services.checkpoints, "save_for_verification", save)
    assert (await verified(jp_fetch))["state"] == "done"
    assert await rows(jp_fetch) == []


async def test_reports_that_cannot_be_read_hide_neither_checkpoints_nor_that_one_is_not_known(
    services: Services, jp_fetch: Fetch, jp_root_dir: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_outputs(jp_root_dir / PATH, ("print(1)", "1\n"))
    saved = await post(jp_fetch, "checkpoints")
    folder, checkpoints = await services.checkpoints.at(CheckpointPlace(services.history.person))
    ((await checkpoints.timeline(folder)).files.folder / "verifications.jsonl").mkdir()
    assert [(row["checkpoint"]["id"], row["verified"]) for row in await rows(jp_fetch)] == [(saved["id"], [])]
    assert (await refusal(get(jp_fetch, "verifications", GONE)))[0] == 404
    assert "cannot be told" in caplog.text and f"The report of verification {GONE} cannot be read" in caplog.text


async def test_a_kept_report_of_somebody_else_is_not_known_and_none_that_cannot_be_read(
    services: Services, jp_fetch: Fetch, jp_root_dir: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_outputs(jp_root_dir / PATH, ("print(1)", "1\n"))
    me, other = services.history.person, Owner(NOBODY)
    checkpoint = await services.checkpoints.save_for_verification(other, PATH, jp_root_dir / PATH)
    assert checkpoint is not None
    report = NotebookReport(PATH, "python3", (CellReport(1, "c0", "same"),), 1.0, 1)
    theirs = VerificationReport(
        id="theirs", ts=1, owner=other, checkpoint=checkpoint, path=PATH, same=1, differing=0,
        report=written_report(report),
    )  # fmt: skip
    await services.checkpoints.keep_report(other, theirs)
    assert (await services.verifications.look(CheckpointPlace(other), "theirs")).report == report
    assert (await refusal(get(jp_fetch, "verifications", "theirs")))[0] == 404
    (row,) = await rows(jp_fetch)
    assert (row["checkpoint"]["kind"], row["verified"]) == ("verified", [])
    later = theirs.model_copy(update={"id": "later", "owner": me, "report": {"cells": "of a later version"}})
    await services.checkpoints.keep_report(me, later)
    assert (await refusal(get(jp_fetch, "verifications", "later")))[0] == 404
    assert "The report of verification later cannot be read" in caplog.text


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def pid_of(jp_fetch: Fetch, verification: str, file: Path) -> int:
    """Of the kernel, once its first cell runs."""

    def is_written(told: Any) -> bool:
        assert told["state"] == "running"
        return file.exists() and bool(file.read_text(encoding="utf-8"))

    await polled(lambda: get(jp_fetch, "verifications", verification), is_written)
    return int(file.read_text(encoding="utf-8"))


def copies() -> list[str]:
    return sorted(name for name in os.listdir(tempfile.gettempdir()) if name.startswith("hdsp-agent-verify-"))


async def test_it_is_stopped_with_its_kernel_and_its_copy(
    services: Services, jp_fetch: Fetch, jp_root_dir: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "copies").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "copies"))
    monkeypatch.setattr(tempfile, "tempdir", None)
    pid = tmp_path / "pid"
    source = f"import os, time\nopen({str(pid)!r}, 'w').write(str(os.getpid()))\ntime.sleep(600)"
    write_notebook(jp_root_dir / PATH, source)
    begun = await post(jp_fetch, "verifications", path=PATH)
    kernel = await pid_of(jp_fetch, begun["id"], pid)
    assert copies() and is_alive(kernel)
    told, again = await asyncio.gather(*(post(jp_fetch, "verifications", begun["id"], "stop") for _ in range(2)))
    assert told["state"] == again["state"] == "stopped" and "report" not in told
    assert not is_alive(kernel) and not copies()


async def test_it_is_stopped_while_its_kernel_starts(
    services: Services, jp_fetch: Fetch, jp_root_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pid = tmp_path / "pid"
    startup = tmp_path / "ipython" / "profile_default" / "startup"
    startup.mkdir(parents=True)
    (startup / "slow.py").write_text(
        f"import os, time\nopen({str(pid)!r}, 'w').write(str(os.getpid()))\ntime.sleep(600)"
    )
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    write_notebook(jp_root_dir / PATH, "1")
    begun = await post(jp_fetch, "verifications", path=PATH)
    kernel = await pid_of(jp_fetch, begun["id"], pid)
    assert (await post(jp_fetch, "verifications", begun["id"], "stop"))["state"] == "stopped"
    assert not is_alive(kernel)


async def test_tasks_are_put_aside_and_all_is_written_while_kernels_still_end(
    services: Services, jp_root_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    running, written = asyncio.Event(), asyncio.Event()

    async def verify(*of: object) -> NotebookReport:
        try:
            running.set()
            return await asyncio.Future()
        finally:
            await written.wait()

    async def close() -> None:
        await stop()
        written.set()

    stop = services.storage.stop
    monkeypatch.setattr("hdsp_agent.verify.verify_apart", verify)
    monkeypatch.setattr(services.storage, "stop", close)
    write_notebook(jp_root_dir / PATH, "1")
    begun = await services.verifications.start(services.history.person, PATH)
    await running.wait()
    try:
        await wait_at_most(services.stop(), 30)
    finally:
        written.set()
    assert begun.is_stopped and begun.is_done


async def test_nobody_who_waits_is_waited_for(services: Services, jp_fetch: Fetch, jp_root_dir: Path) -> None:
    write_notebook(jp_root_dir / PATH, "import time; time.sleep(600)")
    seen = services.verifications
    unwatched = Verifications(
        seen._notebooks, services.checkpoints, has=seen._has, kernels_are_here=True, unseen_seconds=0.1
    )
    begun = await unwatched.start(services.history.person, PATH)
    assert begun.work is not None
    await asyncio.wait([begun.work])
    assert begun.is_stopped and begun.report is None


async def test_a_folder_that_is_linked_to_is_there_as_jupyter_shows_it(
    services: Services, jp_fetch: Fetch, jp_root_dir: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    write_outputs(elsewhere / "work.ipynb", ("print(1)", "1\n"))
    (jp_root_dir / "data").symlink_to(elsewhere)
    told = await ended(jp_fetch, (await post(jp_fetch, "verifications", path="data/work.ipynb"))["id"])
    assert told["report"]["isProved"]
    (jp_root_dir / ".hidden").mkdir()
    write_notebook(jp_root_dir / ".hidden" / "work.ipynb", "1")
    assert (await refusal(post(jp_fetch, "verifications", path=".hidden/work.ipynb")))[0] == 404


async def test_a_process_that_is_killed_is_no_stop_and_leaves_no_copy(
    services: Services, jp_fetch: Fetch, jp_root_dir: Path, tmp_path: Path
) -> None:
    seen = tmp_path / "seen"
    # The kernel's parent is the process that verifies.
    write_notebook(
        jp_root_dir / PATH,
        f"import os, signal, time\nopen({str(seen)!r}, 'w').write(os.getcwd())\n"
        "os.kill(os.getppid(), signal.SIGKILL)\ntime.sleep(600)",
    )
    told = await ended(jp_fetch, (await post(jp_fetch, "verifications", path=PATH))["id"])
    assert (told["state"], told["error"]["params"]["why"]) == ("failed", "process_ended")
    copy = Path(seen.read_text())
    assert copy.parent.name.startswith(COPY_PREFIX) and not copy.parent.exists()


async def test_what_cannot_be_verified_says_why(services: Services, jp_fetch: Fetch, jp_root_dir: Path) -> None:
    (jp_root_dir / "broken.ipynb").write_text("{}")
    told = await ended(jp_fetch, (await post(jp_fetch, "verifications", path="broken.ipynb"))["id"])
    assert told["state"] == "failed" and told["error"]["params"]["why"] == "not_a_notebook"
    write_notebook(jp_root_dir / "other.ipynb", "1")
    other = json.loads((jp_root_dir / "other.ipynb").read_text(encoding="utf-8"))
    other["metadata"]["kernelspec"] = {"name": "none", "display_name": "None", "language": "none"}
    (jp_root_dir / "other.ipynb").write_text(json.dumps(other))
    told = await ended(jp_fetch, (await post(jp_fetch, "verifications", path="other.ipynb"))["id"])
    assert told["error"]["params"]["why"] == "no_such_kernel"
    for path in ("gone.ipynb", "../outside.ipynb"):
        assert (await refusal(post(jp_fetch, "verifications", path=path)))[0] == 404
    assert (await refusal(get(jp_fetch, "verifications", GONE)))[0] == 404
    assert (await refusal(post(jp_fetch, "verifications", GONE, "stop")))[0] == 404


async def test_others_know_nothing_of_it_and_there_are_not_many_at_once(
    services: Services, jp_fetch: Fetch, jp_root_dir: Path
) -> None:
    verifications = services.verifications
    assert isinstance(verifications, Verifications)
    me = services.history.person
    for number in range(3):
        write_notebook(jp_root_dir / f"{number}.ipynb", "import time; time.sleep(600)")
    # Asked for together, it is one.
    first, same = await asyncio.gather(*(verifications.start(me, "0.ipynb") for _ in range(2)))
    assert first is same
    with pytest.raises(NotFound):
        await verifications.look(CheckpointPlace(type(me)(NOBODY)), first.id)
    second = await verifications.start(me, "1.ipynb")
    with pytest.raises(Conflict, match="are being verified"):
        await verifications.start(me, "2.ipynb")
    other = await verifications.start(type(me)(NOBODY), "2.ipynb")
    assert other.path == "2.ipynb"
    await verifications.cancel(me, first.id)
    third = await verifications.start(me, "2.ipynb")
    await verifications.stop()
    assert second.is_done and third.is_done and other.is_done
