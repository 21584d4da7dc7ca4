"""Folders, archives and settings files that were made to do harm: they are read as what they are, and nothing else is."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

from hdsp_agent.comm.services import Services
from hdsp_agent.errors import HdspAgentError
from hdsp_agent.messages import TaskId
from hdsp_agent.persistence.exchange._import import TaskImportReport
from tests._helpers.jupyter_fetch import Fetch
from tests._helpers.long_tests import rounds
from tests.attacks._helpers.planted_data import snapshot
from tests.persistence._helpers.import_fixtures import a_store, bring, histories, write_roo

SECRET = "private words of somebody else"
UI = [{"ts": 1_700_000_000_000, "type": "say", "say": "text", "text": "hello"}]
API = [{"role": "user", "content": [{"type": "text", "text": "hello"}], "ts": 1_700_000_000_000}]


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """What an import must neither read nor change."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "ui.json").write_text(json.dumps([{**UI[0], "text": SECRET}]), "utf-8")
    (folder / "artifact").write_text(SECRET, "utf-8")
    return folder


async def brought(source: Path, home: Path) -> tuple[TaskImportReport | None, str]:
    """The report of the import, and all that is kept afterwards."""
    async with a_store(home) as store:
        try:
            report = await bring(source, store)
        except HdspAgentError:
            report = None
    kept = b""
    for path in home.rglob("*"):
        if path.is_file():
            kept += gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return report, kept.decode("utf-8", "replace")


@pytest.mark.parametrize("name", ["ui_messages.json", "api_conversation_history.json", "history_item.json"])
async def test_a_link_in_a_task_brings_in_nothing_from_elsewhere(tmp_path: Path, outside: Path, name: str) -> None:
    folder = write_roo(tmp_path / "tasks" / "11111111-aaaa-4aaa-8aaa-000000000001", ui=UI, api=API)
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(outside / "ui.json")
    before = snapshot(outside)
    _, kept = await brought(tmp_path / "tasks", tmp_path / "home")
    assert SECRET not in kept
    assert snapshot(outside) == before


async def test_a_task_that_is_a_link_brings_in_nothing_from_elsewhere(tmp_path: Path, outside: Path) -> None:
    write_roo(outside / "task", ui=[{**UI[0], "text": SECRET}], api=API)
    write_roo(tmp_path / "tasks" / "mine", ui=UI, api=API)
    (tmp_path / "tasks" / "11111111-aaaa-4aaa-8aaa-000000000002").symlink_to(outside / "task")
    _, kept = await brought(tmp_path / "tasks", tmp_path / "home")
    assert "hello" in kept and SECRET not in kept


async def test_a_pipe_in_a_task_keeps_nobody_waiting(tmp_path: Path) -> None:
    folder = write_roo(tmp_path / "tasks" / "11111111-aaaa-4aaa-8aaa-000000000001", api=API)
    os.mkfifo(folder / "ui_messages.json")
    _, kept = await brought(tmp_path / "tasks", tmp_path / "home")
    assert "hello" in kept


@pytest.mark.parametrize(
    "name", ["..", "../../escaped", "/tmp/escaped", "a/b", "a\\b", "con", "", " ", "x" * 250, "\u202e", "new\nline"]
)
async def test_no_name_of_a_task_leads_out_of_the_store(tmp_path: Path, name: str) -> None:
    """The id in its line of the history is anything; it becomes no path."""
    item = {
        "id": name,
        "number": 1,
        "ts": 1,
        "task": "x",
        "tokensIn": 1,
        "tokensOut": 1,
        "totalCost": 0,
        "workspace": name,
    }
    write_roo(tmp_path / "in" / "tasks" / "task", ui=UI, api=API, item=item)
    (tmp_path / "in" / "tasks" / "_index.json").write_text(json.dumps([item]), "utf-8")
    home = tmp_path / "home"
    report, kept = await brought(tmp_path / "in", home)
    assert report is not None and "hello" in kept
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home", "in"]
    assert not Path("/tmp/escaped").exists()
    names = {path.name for path in home.glob("contexts/*/*")}
    assert len(names) == 1 and all(len(one) <= 130 and "/" not in one and not one.startswith(".") for one in names)


ENCODINGS: dict[str, bytes] = {
    "UTF-16": json.dumps(UI).encode("utf-16"),
    "Latin-1": '[{"ts": 1, "type": "say", "say": "text", "text": "caf\xe9"}]'.encode("latin-1"),
    "a mark first": b"\xef\xbb\xbf" + json.dumps(UI).encode(),
    "bytes": bytes(range(256)) * 40,
    "nothing": b"",
    "zeros": b"\0" * 100_000,
    "cut": json.dumps(UI).encode()[:-4],
    "deep": b"[" * 200_000,
    "a deep object": b'{"a":' * 200_000,
    "a number": b"9" * 200_000,
    "one name many times": b'[{"ts": 1, "type": "say", ' + b'"text": "x", ' * 50_000 + b'"say": "text"}]',
}


@pytest.mark.parametrize("kind", ENCODINGS)
async def test_what_is_no_text_of_ours_ends_no_import(tmp_path: Path, kind: str) -> None:
    for name in ("ui_messages.json", "api_conversation_history.json"):
        folder = write_roo(tmp_path / name / "tasks" / "broken", ui=UI, api=API)
        (folder / name).write_bytes(ENCODINGS[kind])
        write_roo(tmp_path / name / "tasks" / "whole", ui=UI, api=API)
        report, kept = await brought(tmp_path / name / "tasks", tmp_path / f"home-{name}")
        assert report is not None and len(report.tasks) == 2 and "hello" in kept


async def test_artifacts_that_are_links_are_not_followed(tmp_path: Path, outside: Path) -> None:
    async with a_store(tmp_path / "first") as store:
        report = await bring(write_roo(tmp_path / "in" / "11111111-aaaa-4aaa-8aaa-000000000001", ui=UI, api=API), store)
        assert len(report.tasks) == 1
    (task,) = (tmp_path / "first" / "contexts").glob("*/*")
    (task / "artifacts" / ("0" * 64)).symlink_to(outside / "artifact")
    _, kept = await brought(tmp_path / "first", tmp_path / "second")
    assert "hello" in kept and SECRET not in kept


async def test_many_tasks_come_in_each_once(tmp_path: Path) -> None:
    many = rounds(60, 2_000)
    for number in range(many):
        write_roo(tmp_path / "tasks" / f"task-{number}", ui=UI, api=API)
    async with a_store(tmp_path / "home") as store:
        report = await bring(tmp_path / "tasks", store)
        assert len({task.task_id for task in report.tasks}) == many
        ui, _ = await histories(store, TaskId(report.tasks[0].task_id or ""))
        assert ui[0].text == "hello"


HOSTILE_SETTINGS: list[Any] = [
    [], None, 7, "x", {}, {"globalSettings": None}, {"globalSettings": []}, {"providerProfiles": []},
    {"providerProfiles": {"apiConfigs": {"x": None}}}, {"providerProfiles": {"apiConfigs": {"\0": {"apiProvider": "anthropic"}}}},
    {"globalSettings": {"__proto__": {"autoApprovalEnabled": True}}}, {"globalSettings": {"allowedCommands": ["x" * 100_000]}},
    {"globalSettings": {"autoApprovalEnabled": "yes", "allowedCommands": {"0": "*"}}}, {"globalSettings": {"customModes": [{}] * 500}},
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(HOSTILE_SETTINGS)))
async def test_no_settings_file_switches_approvals_on_or_ends_the_server(
    services: Services, jp_fetch: Fetch, number: int
) -> None:
    document, before = HOSTILE_SETTINGS[number], services.config.settings
    answer = await jp_fetch(
        "hdsp-agent", "api", "settings", "import", method="POST", body=json.dumps(document), raise_error=False
    )
    assert answer.code in (200, 400, 422), answer.body
    now = services.config.settings
    assert now.auto_approval_enabled == before.auto_approval_enabled
    assert now.allowed_commands == before.allowed_commands or document["globalSettings"]["allowedCommands"] == list(
        now.allowed_commands
    )
    assert json.loads((await jp_fetch("hdsp-agent", "api", "health")).body)["status"] in ("ok", "degraded")
