"""What a link shows of a conversation: all that was said and done, no secret, nothing of other conversations, within a limit."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from hdsp_agent.errors import InvalidInput
from hdsp_agent.messages import Attachment, CellExecuted, ClineMessage
from hdsp_agent.persistence import FileStore, NewTaskRecord, SharedConversation, TaskLog, shared_conversation

from ._helpers.import_fixtures import a_store

PNG = bytes(range(256)) * 100
KEY = "sk-ant-api03-" + "Ab3" * 31 + "AA"
MANY = 10_000_000


@asynccontextmanager
async def a_task(home: Path) -> AsyncIterator[tuple[FileStore, TaskLog]]:
    async with a_store(home) as store:
        yield store, await store.create(NewTaskRecord(user="ada"))


async def say(log: TaskLog, text: str, say: Any = "text", **more: Any) -> None:
    await log.append_ui(ClineMessage(ts=log.next_ts(), type="say", say=say, text=text, **more))


async def shared(store: FileStore, log: TaskLog, most: int = MANY) -> SharedConversation:
    return await shared_conversation(await store.view(log.task_id), most)


async def test_all_of_it_goes_and_who_said_it(tmp_path: Path) -> None:
    async with a_task(tmp_path) as (store, log):
        name = await log.put_artifact(PNG)
        await say(
            log, "Plot the sales", images=[f"artifact:{name}?type=image/png", "data:image/svg+xml;base64,PHN2Zz4="]
        )
        await say(log, "I read the file.")
        await say(log, "line\n" * 10_000, "command_output")
        ran = CellExecuted(
            path="a.ipynb", run_id="1", state="ok", result="   a\n0  1", table="<table><tr><td>1</td></tr></table>"
        )
        await say(log, ran.to_json(), "cell_executed")
        await say(log, "Done.", "completion_result")
        found = await shared(store, log)
    assert [message.by for message in found.messages] == ["person", "agent", "tool", "tool", "agent"]
    assert found.messages[0].text == "Plot the sales"
    # What could run is no image that is shown.
    assert [image.media_type for image in found.messages[0].images] == ["image/png"] and found.images_left_out == 1
    assert found.messages[2].text.count("line\n") == 10_000
    assert found.messages[3].table == "<table><tr><td>1</td></tr></table>"
    assert found.as_of == found.messages[-1].ts


async def test_keys_are_masked_everywhere(tmp_path: Path) -> None:
    async with a_task(tmp_path) as (store, log):
        name = await log.put_artifact(f"printed {KEY} here".encode())
        await say(
            log,
            f"Use {KEY}",
            attachments=[Attachment(kind="file", path="a.py", label="a.py", content=f"key = '{KEY}'")],
        )
        ran = CellExecuted(path="a.ipynb", run_id="1", state="ok", table=f"<td>{KEY}</td>", artifact=name)
        await say(log, ran.to_json(), "cell_executed")
        found = await shared(store, log)
    assert KEY not in found.to_json() and "key = '" in found.messages[0].text
    [output] = found.messages[1].outputs
    assert output.text.startswith("printed ") and output.text.endswith(" here")


async def test_what_is_of_other_conversations_stays_out(tmp_path: Path) -> None:
    hits = [
        {
            "filePath": "x",
            "score": 1.0,
            "startLine": 1,
            "endLine": 1,
            "codeChunk": "an old secret plan",
            "kind": "conversation",
        }
    ]
    async with a_task(tmp_path) as (store, log):
        other = Attachment(kind="conversation", path="id", label="Older", content="what was said there")
        await say(log, "Look", attachments=[other])
        searched = json.dumps({"tool": "codebaseSearch", "content": {"query": "plan", "results": hits}})
        await say(log, searched, "codebase_search_result")
        await log.append_ui(ClineMessage(ts=log.next_ts(), type="say", say="text", text="half an", partial=True))
        found = await shared(store, log)
    assert len(found.messages) == 1 and "Older" in found.messages[0].text
    assert "said there" not in found.to_json() and "secret plan" not in found.to_json()


async def test_images_and_outputs_go_while_there_is_room(tmp_path: Path) -> None:
    async with a_task(tmp_path) as (store, log):
        image = await log.put_artifact(PNG)
        output = await log.put_artifact(b"0123456789" * 3_000)
        for _ in range(3):
            await say(log, "See", images=[f"artifact:{image}?type=image/png"])
        await say(log, CellExecuted(path="a.ipynb", run_id="1", state="ok", artifact=output).to_json(), "cell_executed")
        for most in (45_000, 72_000, 90_000, 200_000):
            found = await shared(store, log, most)
            assert len(found.to_json()) <= most
            images = sum(len(message.images) for message in found.messages)
            outputs = sum(len(message.outputs) for message in found.messages)
            assert images + found.images_left_out == 3 and outputs + found.outputs_left_out == 1
            expected = {45_000: (1, 0), 72_000: (1, 1), 90_000: (2, 0), 200_000: (3, 1)}
            assert (images, outputs) == expected[most]


async def test_text_that_is_too_much_is_refused(tmp_path: Path) -> None:
    async with a_task(tmp_path) as (store, log):
        with pytest.raises(InvalidInput, match="nothing to share"):
            await shared(store, log)
        await say(log, 'x"\n\x00' * 10_000)
        with pytest.raises(InvalidInput, match="too long"):
            await shared(store, log, 50_000)
        assert len((await shared(store, log, 150_000)).to_json().encode()) <= 150_000
