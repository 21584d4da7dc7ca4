"""What helps while a person writes: modes, commands, files by name, better words; and the export of what is on screen."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from hdsp_agent.agent.git import _commit_search
from hdsp_agent.agent.prompts import _prompt_improvement
from hdsp_agent.comm.file_search import FileSearch
from hdsp_agent.comm.services import Services
from hdsp_agent.tools import PathPolicy
from tests.agent.git._helpers.repositories import commit, git, needs_git
from tests.comm._helpers.scripted_pages import question, said, speak
from tests.comm._helpers.stored_tasks import keep
from tests.comm.channel._helpers.channel_panel import Panel
from tests.comm.conftest import Connect, messages
from tests.comm.test_running_agent import DONE


async def answered(panel: Panel, type_: str, request: str, **fields: object) -> dict[str, Any]:
    """What came to this tab before the answer."""
    before = len(messages(panel, type_))
    ack = await panel.ask(request, **fields)
    assert ack["ok"], ack
    assert len(messages(panel, type_)) == before + 1
    return messages(panel, type_)[-1]


async def test_modes_and_commands_go_to_the_tab_that_asks(
    services: Services, connect: Connect, jp_root_dir: Path, storage_dir: Path
) -> None:
    for folder, name in ((jp_root_dir / ".hdsp" / "commands", "plot"), (storage_dir / "commands", "mine")):
        folder.mkdir(parents=True)
        (folder / f"{name}.md").write_text(
            f"---\ndescription: About {name}\nargument-hint: what\ncell: Plot it\n---\nDo {name}"
        )
    services.config.trusted_folders.decide(jp_root_dir, True)
    async with connect() as panel, connect() as other:
        modes = (await answered(panel, "modes", "requestModes"))["modes"]
        assert {mode["slug"] for mode in modes} >= {"code", "ask"}
        commands = {
            command["name"]: command for command in (await answered(panel, "commands", "requestCommands"))["commands"]
        }
        assert commands["plot"] == {
            "name": "plot",
            "source": "project",
            "filePath": str(jp_root_dir / ".hdsp" / "commands" / "plot.md"),
            "description": "About plot",
            "argumentHint": "what",
            "cellLabel": "Plot it",
        }
        assert commands["mine"]["source"] == "global"
        assert commands["explain"]["source"] == "built-in"
        assert commands["explain"]["cellLabel"] == "Explain"
        assert "cellLabel" not in commands["clean-up"]
        assert messages(other, "modes") == messages(other, "commands") == []


async def test_files_are_found_by_a_few_letters_and_hidden_ones_are_not(
    services: Services, connect: Connect, jp_root_dir: Path
) -> None:
    for name in ("sales.csv", "notes/sales_plot.ipynb", "notes/deep/other.py", ".secret/sales.txt", "kept/sales.key"):
        path = jp_root_dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    (jp_root_dir / ".hdspignore").write_text("kept/*.key\n")
    (jp_root_dir / ".gitignore").write_text("*.csv\n")
    async with connect() as panel:
        found = await answered(panel, "fileSearchResults", "searchFiles", query="@/sal", request_id="f1")
        assert found["requestId"] == "f1"
        assert found["results"] == [
            {"path": "sales.csv", "type": "file", "label": "sales.csv"},
            {"path": "notes/sales_plot.ipynb", "type": "file", "label": "sales_plot.ipynb"},
        ]
        found = await answered(panel, "fileSearchResults", "searchFiles", query="notes")
        assert found["results"][0] == {"path": "notes", "type": "folder", "label": "notes"}
        found = await answered(panel, "fileSearchResults", "searchFiles", query="ndo")
        assert [result["path"] for result in found["results"]] == ["notes/deep/other.py"]
        assert (await answered(panel, "fileSearchResults", "searchFiles"))["results"][0]["path"] == "kept"
        assert (await answered(panel, "fileSearchResults", "searchFiles", query="zzz"))["results"] == []


async def test_a_large_workspace_is_walked_once_for_many_letters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(2_000):
        folder = tmp_path / f"d{number % 20}"
        folder.mkdir(exist_ok=True)
        (folder / f"file{number}.txt").touch()
    made: list[PathPolicy] = []

    def police() -> PathPolicy:
        made.append(PathPolicy(tmp_path))
        return made[-1]

    search = FileSearch(police)
    results = await asyncio.gather(*(search.find("file1999"[:length]) for length in range(1, 9)))
    assert [len(found) for found in results[:5]] == [50] * 5
    assert [found.path for found in results[-1]] == ["d19/file1999.txt"]
    assert len(made) == 1


async def test_a_prompt_comes_back_in_better_words_from_the_profile_that_is_for_that(
    services: Services, connect: Connect, tmp_path: Path
) -> None:
    await speak(services, tmp_path, ({"text": "wrong profile"},))
    script = tmp_path / "enhance.json"
    script.write_text(json.dumps([[{"text": "  Plot the sales of 2024 by month.\n"}], [{"error": "quota"}]]))
    entry = await services.config.profiles.create("better", {"apiProvider": "fake-ai", "apiModelId": str(script)})
    await services.config.update({"enhancementApiConfigId": entry.id})
    async with connect() as panel, connect() as other:
        better = await answered(panel, "enhancedPrompt", "enhancePrompt", text="plot sales", request_id="e1")
        assert better == {
            "type": "enhancedPrompt",
            "text": "Plot the sales of 2024 by month.",
            "requestId": "e1",
        }
        assert messages(other, "enhancedPrompt") == []
        ack = await panel.ask("enhancePrompt", text="plot sales")
        assert ack["error"]["code"] == "model_error"
        assert (await panel.ask("enhancePrompt", text="  "))["error"]["code"] == "invalid_input"
        assert len(messages(panel, "enhancedPrompt")) == 1


async def test_a_model_that_takes_too_long_over_a_prompt_is_given_up(
    services: Services, connect: Connect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_prompt_improvement, "_SECONDS", 0.2)
    await speak(services, tmp_path, ({"wait": 600},))
    async with connect() as panel:
        ack = await panel.ask("enhancePrompt", text="plot sales")
        assert ack["error"]["code"] == "unavailable"
        assert "faster model" in ack["error"]["message"]


async def test_a_task_is_exported_by_its_address(services: Services, connect: Connect) -> None:
    task = await keep(services, "An old matter")
    async with connect() as panel:
        exported = await panel.ask("exportTaskWithId", taskId=task)
        assert exported["result"] == f"hdsp-agent/api/tasks/{task}/export?format=markdown"


async def test_a_command_typed_in_the_panel_reaches_the_model_filled_in(
    services: Services, connect: Connect, tmp_path: Path, jp_root_dir: Path
) -> None:
    await speak(services, tmp_path, DONE)
    (jp_root_dir / "data.csv").write_text("day,amount\n")
    async with connect() as panel:
        task = (await panel.ask("newTask", text="/explain @/data.csv"))["result"]
        await question(panel, "completion_result")
        reader = await services.history.task(services.history.person, task)
        first = await anext(record async for record in reader.api.iterate() if record.role == "user")
        told = json.dumps(first.content)
        assert "Change nothing." in told
        assert "day,amount" in told
        assert said(panel, "text")[0] == "/explain @/data.csv"
        assert (await services.history.item(services.history.person, task)).task == "/explain @/data.csv"


@needs_git
async def test_commits_are_found_by_hash_and_subject(
    services: Services, connect: Connect, jp_root_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with connect() as panel, connect() as other:

        async def found(query: str | None = None) -> dict[str, Any]:
            fields = {} if query is None else {"query": query}
            return await answered(panel, "commitSearchResults", "searchCommits", **fields)

        without = await found()
        assert without["commits"] == [] and "in no Git repository" in without["error"]
        git(jp_root_dir, "init", "-q", "-b", "main")
        assert (await found())["commits"] == [] and "error" not in await found()
        git(jp_root_dir, "config", "core.abbrev", "4")
        hashes = [commit(jp_root_dir, f"Add {what}") for what in ("매출 plot", "a table", "the rest")]
        newest = (await found())["commits"]
        assert [each["hash"] for each in newest] == hashes[::-1]
        assert newest[0].items() >= {"shortHash": hashes[2][:7], "subject": "Add the rest", "author": "Ada"}.items()
        assert [each["hash"] for each in (await found("매출"))["commits"]] == hashes[:1]
        assert [each["hash"] for each in (await found("TABLE"))["commits"]] == hashes[1:2]
        assert [each["hash"] for each in (await found(f"@{hashes[2][:6].upper()}"))["commits"]] == hashes[2:]
        assert (await found("--output=x"))["commits"] == (await found("0" * 40))["commits"] == []
        # One that is no longer on the branch is found by its hash.
        git(jp_root_dir, "reset", "-q", "--hard", "HEAD~1")
        assert [each["hash"] for each in (await found(hashes[2][:7]))["commits"]] == hashes[2:]
        monkeypatch.setattr(_commit_search, "_MOST_FOUND", 1)
        assert len((await found())["commits"]) == len((await found("add"))["commits"]) == 1
        assert messages(other, "commitSearchResults") == []
