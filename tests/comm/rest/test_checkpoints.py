"""The checkpoints of workspaces over REST: files here, all parts in ``tests/comm/test_checkpoint_restore.py``."""

from __future__ import annotations

import io
import json
import subprocess
import zipfile
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

import pytest
from tornado.httpclient import HTTPClientError

from hdsp_agent.comm.services import Services
from hdsp_agent.persistence import NewTaskRecord
from tests._helpers.jupyter_fetch import Fetch
from tests.comm._helpers.jupyterlab_kernels import write_notebook
from tests.comm._helpers.stored_tasks import keep

API = ("hdsp-agent", "api")
NOBODY = "0b8f9d0e-6f2c-4d7b-9d52-6a1f3c2b4e5d"
FILES = {"files": True}


async def get(jp_fetch: Fetch, *path: str, **params: str) -> Any:
    return json.loads((await jp_fetch(*API, *path, params=params)).body)


async def post(jp_fetch: Fetch, *path: str, **body: object) -> Any:
    answer = await jp_fetch(*API, *path, method="POST", body=json.dumps(body))
    return json.loads(answer.body)


async def refusal(request: Awaitable[object]) -> tuple[int, str]:
    with pytest.raises(HTTPClientError) as refused:
        await request
    assert refused.value.response is not None
    error = json.loads(refused.value.response.body)
    assert error["message"].endswith((".", ")"))
    return refused.value.code, error["code"]


async def saved(jp_fetch: Fetch, note: str | None = None) -> str:
    return str((await post(jp_fetch, "checkpoints", **({"note": note} if note else {})))["id"])


async def test_what_is_saved_is_the_newest_of_the_time_line_and_where_one_is(
    services: Services, jp_fetch: Fetch, jp_root_dir: Path
) -> None:
    (jp_root_dir / "data.csv").write_text("1\n")
    first = await post(jp_fetch, "checkpoints", note="before the clean-up")
    (jp_root_dir / "data.csv").write_text("2\n")
    second = await saved(jp_fetch)
    line = await get(jp_fetch, "checkpoints")
    assert [operation["checkpoint"]["id"] for operation in line["operations"]] == [second, first["id"]]
    assert (line["here"]["id"], line["here"]["reason"], line["here"]["author"]) == (second, "asked for", "person")
    assert (first["reason"], first["files"], line["more"]) == ("before the clean-up", 1, False)
    assert line["store"]["checkpoints"] == 2 and line["store"]["enabled"] is True
    page = await get(jp_fetch, "checkpoints", limit="1")
    assert ([one["checkpoint"]["id"] for one in page["operations"]], page["more"]) == ([second], True)
    page = await get(jp_fetch, "checkpoints", limit="1", before=page["operations"][0]["id"])
    assert [one["checkpoint"]["id"] for one in page["operations"]] == [first["id"]]
    assert await saved(jp_fetch) == second, "nothing changed"


async def test_a_save_with_a_note_is_always_a_moment_and_one_without_says_if_nothing_changed(
    services: Services, jp_fetch: Fetch, jp_root_dir: Path
) -> None:
    (jp_root_dir / "data.csv").write_text("1\n")
    first = await post(jp_fetch, "checkpoints")
    again = await post(jp_fetch, "checkpoints")
    assert again["id"] == first["id"] and again["already"] is True and not first.get("already")
    noted = await post(jp_fetch, "checkpoints", note="as sent to the customer")
    assert noted["id"] != first["id"] and noted["commit"] == first["commit"] and not noted.get("already")
    assert noted["reason"] == "as sent to the customer" and noted["sameFiles"] is True
    line = await get(jp_fetch, "checkpoints")
    assert [one["checkpoint"]["id"] for one in line["operations"]] == [noted["id"], first["id"]]
    assert line["here"]["id"] == noted["id"]
    # Whatever it sounds like.
    assert [(await post(jp_fetch, "checkpoints", note=note))["kind"] for note in ("look", "meanwhile")] == ["note"] * 2


async def test_a_moment_is_compared_with_others_and_with_now(
    services: Services, jp_fetch: Fetch, jp_root_dir: Path
) -> None:
    note, other = jp_root_dir / "note.txt", jp_root_dir / "other.txt"
    ids = []
    for text in ("one\n", "two\n", "three\n"):
        note.write_text(text)
        other.write_text(text)
        ids.append(await saved(jp_fetch))
    note.write_text("four\n")

    async def lines(checkpoint: str, **query: str) -> dict[str, list[str]]:
        diff = await get(jp_fetch, "checkpoints", checkpoint, "diff", **query)
        return {
            file["path"]: [line for hunk in file.get("hunks", ()) for line in hunk["lines"]] for file in diff["files"]
        }

    assert await lines(ids[1], only="note.txt") == {"note.txt": ["-one", "+two"]}
    assert (await lines(ids[1]))["other.txt"] == ["-one", "+two"]
    assert await lines(ids[1], against="now", only="note.txt") == {"note.txt": ["-two", "+four"]}
    assert await lines(ids[2], against="beginning", only="note.txt") == {"note.txt": ["-one", "+three"]}
    assert await lines(ids[2], against=ids[1], only="note.txt") == {"note.txt": ["-two", "+three"]}
    assert await lines(ids[2], content="false") == {"note.txt": [], "other.txt": []}


async def test_files_go_back_after_a_look_and_again_with_an_undo(
    services: Services, jp_fetch: Fetch, jp_root_dir: Path
) -> None:
    note, new = jp_root_dir / "note.txt", jp_root_dir / "new.txt"
    note.write_text("before\n")
    checkpoint = await saved(jp_fetch)
    note.write_text("after\n")
    new.write_text("new\n")
    mine = await post(jp_fetch, "checkpoints", checkpoint, "preview", parts=FILES)
    assert sorted(mine["files"]["kept"]) == ["new.txt", "note.txt"] and mine["files"]["changes"] == []
    parts = {**FILES, "overwrite": True}
    preview = await post(jp_fetch, "checkpoints", checkpoint, "preview", parts=parts)
    assert {(one["path"], one["action"]) for one in preview["files"]["changes"]} == {
        ("note.txt", "overwrite"), ("new.txt", "delete")
    }  # fmt: skip
    assert preview["target"]["id"] == checkpoint and note.read_text() == "after\n", "a look changes nothing"

    done = (await post(jp_fetch, "checkpoints", checkpoint, "restore", parts=parts))["operation"]
    assert (note.read_text(), new.exists()) == ("before\n", False)
    assert (done["kind"], done["target"], done["written"], done["deleted"]) == ("restore", checkpoint, 1, 1)
    assert (await get(jp_fetch, "checkpoints"))["operations"][0]["undoable"] is True

    preview = await post(jp_fetch, "checkpoint-operations", done["id"], "preview")
    assert len(preview["files"]["changes"]) == 2 and note.read_text() == "before\n"
    undone = (await post(jp_fetch, "checkpoint-operations", done["id"], "undo"))["operation"]
    assert (undone["kind"], note.read_text(), new.read_text()) == ("undo", "after\n", "new\n")
    await post(jp_fetch, "checkpoint-operations", undone["id"], "undo")
    assert (note.read_text(), new.exists()) == ("before\n", False)


async def test_one_file_alone_goes_back(services: Services, jp_fetch: Fetch, jp_root_dir: Path) -> None:
    for name in ("a.txt", "b.txt"):
        (jp_root_dir / name).write_text("before\n")
    checkpoint = await saved(jp_fetch)
    for name in ("a.txt", "b.txt"):
        (jp_root_dir / name).write_text("after\n")
    await saved(jp_fetch)
    await post(jp_fetch, "checkpoints", checkpoint, "restore", parts={**FILES, "path": "a.txt", "overwrite": True})
    assert [(jp_root_dir / name).read_text() for name in ("a.txt", "b.txt")] == ["before\n", "after\n"]


async def test_a_file_of_a_moment_and_all_of_it_can_be_saved_elsewhere(
    services: Services, jp_fetch: Fetch, jp_root_dir: Path, tmp_path: Path
) -> None:
    (jp_root_dir / "뉴스.bin").write_bytes(bytes(range(256)) * 4096)
    checkpoint = await saved(jp_fetch)
    (jp_root_dir / "뉴스.bin").unlink()
    answer = await jp_fetch(*API, "checkpoints", checkpoint, "file", params={"file": "뉴스.bin"})
    assert answer.body == bytes(range(256)) * 4096
    assert answer.headers["Content-Disposition"] == "attachment; filename*=UTF-8''%EB%89%B4%EC%8A%A4.bin"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    whole = await jp_fetch(*API, "checkpoints", checkpoint, "export")
    assert zipfile.ZipFile(io.BytesIO(whole.body)).read("뉴스.bin") == answer.body
    whole = await jp_fetch(*API, "checkpoints", checkpoint, "export", params={"kind": "git"})
    assert whole.headers["Content-Disposition"].endswith('.git.zip"')
    zipfile.ZipFile(io.BytesIO(whole.body)).extractall(tmp_path / "unpacked")
    (repository,) = (tmp_path / "unpacked").iterdir()
    for folder in ("objects", "refs"):
        (repository / folder).mkdir(exist_ok=True)
    listed = subprocess.run(
        ["git", "-c", "core.quotePath=false", "--git-dir", repository, "ls-tree", "--name-only", "HEAD"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert listed.stdout == "뉴스.bin\n"
    assert await refusal(jp_fetch(*API, "checkpoints", checkpoint, "file", params={"file": "no.bin"})) == (
        404,
        "not_found",
    )


async def test_what_checkpoints_take_is_told_and_tidied(services: Services, jp_fetch: Fetch, jp_root_dir: Path) -> None:
    await services.config.update({"enableCheckpoints": False, "checkpointMaxCount": 20})
    for number in range(25):
        (jp_root_dir / "data.csv").write_text(f"{number}\n")
        await saved(jp_fetch)
    before = await get(jp_fetch, "checkpoints", "store")
    assert before["enabled"] is False and before["quotaCheckpoints"] == 20 and before["bytes"] > 0
    after = await post(jp_fetch, "checkpoints", "store", action="tidy")
    assert after["checkpoints"] == 20
    # Nothing was cut short, so there is nothing to settle.
    assert (await post(jp_fetch, "checkpoints", "store", action="keep"))["checkpoints"] == 20


async def test_the_versions_of_a_cell_are_told(services: Services, jp_fetch: Fetch, jp_root_dir: Path) -> None:
    ids = []
    for source in ("x = 1", "x = 2", "x = 2", "x = 3"):
        write_notebook(jp_root_dir / "a.ipynb", source, "y = 1")
        ids.append((await post(jp_fetch, "checkpoints", path="a.ipynb", note=source))["id"])
    found = await get(jp_fetch, "checkpoints", "cells", path="a.ipynb", cell="c0")
    assert [one["source"] for one in found["versions"]] == ["x = 3", "x = 2", "x = 1"]
    assert [one["now"] for one in found["versions"]] == [True, False, False]
    oldest = found["versions"][-1]
    assert oldest["checkpoint"] == ids[0]
    parts = {"notebooks": True, "path": "a.ipynb", "cellId": "c0", "overwrite": True}
    done = await post(jp_fetch, "checkpoints", oldest["checkpoint"], "restore", parts=parts)
    cells = json.loads((jp_root_dir / "a.ipynb").read_text())["cells"]
    assert ["".join(cell["source"]) for cell in cells] == ["x = 1", "y = 1"]
    assert done["operation"]["cellId"] == "c0"


async def test_a_task_has_the_time_line_of_the_folder_it_works_in(
    services: Services, jp_fetch: Fetch, jp_root_dir: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "note.txt").write_text("there\n")
    store = await services.storage.store()
    task = await store.create(NewTaskRecord(user=services.storage.person, workspace=str(elsewhere)))
    await task.close()
    there = await post(jp_fetch, "checkpoints", task=task.task_id)
    line = await get(jp_fetch, "checkpoints", task=task.task_id)
    assert (line["workspace"], line["here"]["id"]) == (str(elsewhere), there["id"])
    assert (await get(jp_fetch, "checkpoints"))["operations"] == []
    assert await refusal(get(jp_fetch, "checkpoints", there["id"], "diff")) == (404, "not_found")
    line = await get(jp_fetch, "checkpoints", task=task.task_id, onlyTask="true")
    assert line["operations"] == [], "nobody saved it for the task"


@pytest.mark.parametrize(
    ("verb", "path"),
    [
        ("GET", ("checkpoints",)),
        ("POST", ("checkpoints",)),
        ("GET", ("checkpoints", "store")),
        ("GET", ("checkpoints", "0123456789abcdef", "diff")),
        ("POST", ("checkpoints", "0123456789abcdef", "restore")),
        ("POST", ("checkpoint-operations", "0123456789abcdef", "undo")),
    ],
)
async def test_the_time_line_of_anothers_task_is_as_unknown_as_that_of_none(
    verb: str, path: tuple[str, ...], services: Services, jp_fetch: Fetch
) -> None:
    theirs = await keep(services, "private", user="somebody-else")
    for task in (NOBODY, theirs):
        asked = (
            get(jp_fetch, *path, task=task) if verb == "GET" else post(jp_fetch, *path, task=task, parts=FILES)
            if path[-1] == "restore" else post(jp_fetch, *path, task=task)
        )  # fmt: skip
        assert await refusal(asked) == (404, "unknown_task")


async def test_what_is_not_there_and_what_is_wrong_is_refused(services: Services, jp_fetch: Fetch) -> None:
    nothing = "0123456789abcdef"
    for asked in (
        get(jp_fetch, "checkpoints", nothing, "diff"),
        post(jp_fetch, "checkpoints", nothing, "preview", parts=FILES),
        post(jp_fetch, "checkpoints", nothing, "restore", parts=FILES),
        post(jp_fetch, "checkpoint-operations", nothing, "undo"),
    ):
        assert await refusal(asked) == (404, "not_found")
    # It may be one that was never saved.
    assert (await get(jp_fetch, "checkpoints", "cells", path="none.ipynb", cell="c0"))["versions"] == []
    checkpoint = await saved(jp_fetch)
    for asked in (
        get(jp_fetch, "checkpoints", limit="0"),
        get(jp_fetch, "checkpoints", checkpoint, "diff", against="../etc"),
        get(jp_fetch, "checkpoints", checkpoint, "export", kind="tar"),
        post(jp_fetch, "checkpoints", "store", action="burn"),
        post(jp_fetch, "checkpoints", checkpoint, "restore"),
        post(jp_fetch, "checkpoints", checkpoint, "restore", parts={"files": "yes"}),
    ):
        assert await refusal(asked) == (400, "invalid_input")
