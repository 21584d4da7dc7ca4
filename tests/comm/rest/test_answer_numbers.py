"""Where the numbers of an answer stand, over REST: with a saved notebook and what a conversation recorded."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbformat import v4

from hdsp_agent.comm import answer_numbers as looking
from hdsp_agent.comm.services import Services
from hdsp_agent.messages import ClineMessage
from hdsp_agent.persistence import ApiDraft, TaskLog
from tests._helpers.jupyter_fetch import Fetch
from tests.comm._helpers.stored_tasks import begin
from tests.comm.rest.test_checkpoints import get, refusal

PATH = "work.ipynb"


async def answered(task: TaskLog, text: str) -> int:
    ts = task.next_ts()
    await task.put_ui(ClineMessage(ts=ts, type="say", say="completion_result", text=text), durable=True)
    return ts


async def test_each_number_is_found_in_the_best_of_what_has_it(
    services: Services, jp_fetch: Fetch, jp_root_dir: Path
) -> None:
    printed = v4.new_code_cell("print(2469 / 200)", outputs=[v4.new_output("stream", text="12.345\n")])
    nbformat.write(v4.new_notebook(cells=[printed, v4.new_code_cell("rate = 0.125")]), jp_root_dir / PATH)
    task = await begin(services, "Is it 77.7?", notebook=PATH)
    for text in ("31.5 rows", [{"type": "text", "text": "32.5"}]):
        result = {"type": "tool_result", "tool_use_id": "a", "content": text}
        await task.append_api(ApiDraft.model_validate({"role": "user", "content": [result], "ts": task.next_ts()}))
    ts = await answered(task, "12.35 and 12.5 %, 31.5 and 32.5, 77.7, but 99.9.")
    found = await get(jp_fetch, "tasks", task.task_id, "numbers", ts=str(ts))
    assert found["path"] == PATH
    assert [(one["text"], one.get("place"), one.get("cell")) for one in found["numbers"]] == [
        ("12.35", "output", 1), ("12.5 %", "code", 2), ("31.5", "tool", None), ("32.5", "tool", None),
        ("77.7", "person", None), ("99.9", None, None),
    ]  # fmt: skip
    (jp_root_dir / PATH).unlink()
    found = await get(jp_fetch, "tasks", task.task_id, "numbers", ts=str(ts))
    assert [one["text"] for one in found["numbers"] if "place" not in one] == ["12.35", "12.5 %", "99.9"]
    await task.finish()


async def test_a_long_conversation_is_looked_through_from_its_newest_records_to_its_oldest(
    services: Services, jp_fetch: Fetch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(looking, "_RECORDS_AT_ONCE", 2)
    task = await begin(services, "How many?")
    for text in ("31.5 rows", "32.5 rows", "33.5 rows", "34.5 rows", "35.5 rows"):
        result = {"type": "tool_result", "tool_use_id": "a", "content": text}
        await task.append_api(ApiDraft.model_validate({"role": "user", "content": [result], "ts": task.next_ts()}))
    ts = await answered(task, "31.5 and 33.5, at last 35.5, but 99.9.")
    later = {"type": "tool_result", "tool_use_id": "a", "content": "99.9"}
    await task.append_api(ApiDraft.model_validate({"role": "user", "content": [later], "ts": task.next_ts()}))
    found = await get(jp_fetch, "tasks", task.task_id, "numbers", ts=str(ts))
    assert {one["text"]: one.get("place") for one in found["numbers"]} == {
        "31.5": "tool", "33.5": "tool", "35.5": "tool", "99.9": None
    }  # fmt: skip
    await task.finish()


async def test_what_is_no_answer_has_no_numbers(services: Services, jp_fetch: Fetch) -> None:
    task = await begin(services, "Is it 77.7?")
    code, _ = await refusal(get(jp_fetch, "tasks", task.task_id, "numbers", ts="5"))
    assert code == 404
    ts = await answered(task, "It is 77.7. Try 500 trees.")
    found = await get(jp_fetch, "tasks", task.task_id, "numbers", ts=str(ts))
    assert found == {"numbers": [{"text": "77.7", "place": "person"}], "unstated": ["500"]}
    await task.finish()
