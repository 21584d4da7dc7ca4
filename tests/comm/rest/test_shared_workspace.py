"""A folder that two persons of one server share: each may go back in it, and reads only their own words."""

from __future__ import annotations

import io
import json
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest

from hdsp_agent.agent.checkpoints.checkpoint_service import SavedStep
from hdsp_agent.checkpoints import AsyncFileCheckpoints
from hdsp_agent.comm.identity import server_owner
from hdsp_agent.comm.services import Services
from hdsp_agent.messages import TaskId
from hdsp_agent.tools import ActionRequest
from tests._helpers.jupyter_fetch import Fetch
from tests.comm._helpers.stored_tasks import keep

from .test_checkpoints import API, FILES
from .test_history import Named

SECRET = "the offer to Acme is 3 million"


@pytest.fixture
def jp_server_config(jp_server_config: dict[str, Any]) -> dict[str, Any]:
    jp_server_config["ServerApp"]["identity_provider_class"] = Named
    return jp_server_config


async def ask(jp_fetch: Fetch, person: str, *path: str, body: dict[str, object] | None = None, **params: str) -> bytes:
    headers = {"X-Person": person}
    if body is None:
        return (await jp_fetch(*API, *path, params=params, headers=headers)).body
    return (await jp_fetch(*API, *path, method="POST", body=json.dumps(body), headers=headers)).body


async def test_a_note_is_seen_by_its_writer_alone_wherever_moments_are_told(
    services: Services, jp_fetch: Fetch, jp_root_dir: Path, tmp_path: Path
) -> None:
    file = jp_root_dir / "a.txt"
    file.write_text("1")
    noted = json.loads(await ask(jp_fetch, "ann", "checkpoints", body={"note": SECRET}))
    assert (noted["reason"], noted["kind"]) == (SECRET, "note")

    # Nothing has changed since: the newest is the one that ann wrote about.
    told: list[bytes] = [await ask(jp_fetch, "ben", "checkpoints", body={})]
    assert json.loads(told[0])["id"] == noted["id"]
    told.append(await ask(jp_fetch, "ben", "checkpoints"))
    file.write_text("2")
    await ask(jp_fetch, "ben", "checkpoints", body={"note": "mine"})
    told.append(await ask(jp_fetch, "ben", "checkpoints", noted["id"], "preview", body={"parts": FILES}))
    told.append(await ask(jp_fetch, "ben", "checkpoints", noted["id"], "diff"))
    told.append(await ask(jp_fetch, "ben", "checkpoints", noted["id"], "diff", against="now"))
    done = await ask(jp_fetch, "ben", "checkpoints", noted["id"], "restore", body={"parts": {"files": True}})
    operation = json.loads(done)["operation"]["id"]
    told += [done, await ask(jp_fetch, "ben", "checkpoints")]
    told.append(await ask(jp_fetch, "ben", "checkpoint-operations", operation, "preview", body={}))
    told.append(await ask(jp_fetch, "ben", "checkpoint-operations", operation, "undo", body={}))
    told.append(await ask(jp_fetch, "ben", "checkpoints"))
    for answer in told:
        assert SECRET.encode() not in answer
    rows = json.loads(told[-1])["operations"]
    (hers,) = [row["checkpoint"] for row in rows if row["checkpoint"]["id"] == noted["id"]]
    assert (hers["reason"], hers["kind"]) == ("asked for", "asked_for")
    assert "mine" in [row["checkpoint"]["reason"] for row in rows]

    seen = json.loads(await ask(jp_fetch, "ann", "checkpoints"))["operations"]
    reasons = [row["checkpoint"]["reason"] for row in seen]
    assert SECRET in reasons and "mine" not in reasons

    repository = zipfile.ZipFile(
        io.BytesIO(await ask(jp_fetch, "ben", "checkpoints", noted["id"], "export", kind="git"))
    )
    repository.extractall(tmp_path / "out")
    (folder,) = (tmp_path / "out").iterdir()
    log = subprocess.run(["git", "-C", str(folder), "log", "--all"], capture_output=True, check=True).stdout
    assert log and SECRET.encode() not in log


async def test_a_note_that_nobodys_name_is_on_is_the_servers_persons(
    services: Services, jp_fetch: Fetch, jp_root_dir: Path, tmp_path: Path
) -> None:
    (jp_root_dir / "a.txt").write_text("1")
    # As the program on the terminal saves it, and as every note was kept before.
    files = AsyncFileCheckpoints(jp_root_dir, tmp_path / "hdsp-home" / "checkpoints")
    await files.save(SECRET)
    assert SECRET.encode() not in await ask(jp_fetch, "ann", "checkpoints")
    assert SECRET.encode() in await ask(jp_fetch, server_owner(), "checkpoints")


async def test_a_conversation_says_no_note_of_another_person(
    services: Services, jp_fetch: Fetch, jp_root_dir: Path
) -> None:
    (jp_root_dir / "a.txt").write_text("1")
    await ask(jp_fetch, "ann", "checkpoints", body={"note": SECRET})
    bens = TaskId(await keep(services, "of ben", user="ben"))
    history = (await services.agent.manager()).services.checkpoints
    assert history is not None
    step = SavedStep(history, jp_root_dir, bens, "write_to_file")
    record = await step.approved(ActionRequest(frozenset({"write"}), "write_to_file", path="a.txt"), 5)
    assert record is not None and record.reason != SECRET
    step.ended()
    assert SECRET.encode() not in await ask(jp_fetch, "ben", "checkpoints", task=bens)
