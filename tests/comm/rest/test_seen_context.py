"""What the model sees of a task over REST: in pages, with the places of a text, and without what is in pictures."""

from __future__ import annotations

from typing import Any

import pytest

from hdsp_agent.comm.services import Services
from hdsp_agent.context import SUMMARY_PREFIX
from hdsp_agent.persistence import ApiDraft, TaskLog
from tests._helpers.jupyter_fetch import Fetch
from tests.comm._helpers.stored_tasks import begin

from .test_history import API, get, refusal


async def talked(services: Services, turns: int = 3) -> TaskLog:
    """A conversation about parts, with a call and its output in each turn."""
    await services.config.profiles.update(
        "default", {"apiProvider": "anthropic", "apiModelId": "claude-sonnet-4-5-20250929"}
    )
    task = await begin(services, "Look at it")
    await add(task, "system", {"type": "text", "text": "You help."})
    await add(task, "user", {"type": "text", "text": "<user_message>\nLook at it\n</user_message>"})
    for number in range(turns):
        call = {"type": "tool_use", "id": f"c{number}", "name": "read_file", "input": {"path": f"part {number}"}}
        await add(task, "assistant", {"type": "text", "text": f"Now part {number}."}, call)
        await add(task, "user", {"type": "tool_result", "tool_use_id": f"c{number}", "content": "x" * 400})
    return task


async def add(task: TaskLog, role: str, *content: dict[str, Any]) -> None:
    await task.append_api(ApiDraft.model_validate({"role": role, "content": list(content), "ts": task.next_ts()}))


async def test_the_next_request_is_told_with_what_each_part_takes(services: Services, jp_fetch: Fetch) -> None:
    task = await talked(services)
    seen = await get(jp_fetch, "tasks", task.task_id, "context")
    tokens = seen["tokens"]
    assert (seen["system"], seen["count"], seen["first"], len(seen["messages"])) == ("You help.", 7, 0, 7)
    assert tokens["total"] == tokens["system"] + tokens["tools"] + tokens["messages"]
    kinds = ("summaries", "words", "answers", "outputs", "pictures")
    assert sum(tokens[kind] for kind in kinds) == tokens["messages"] == sum(tokens["eachMessage"])
    assert tokens["outputs"] >= 300 and tokens["summaries"] == tokens["pictures"] == 0
    # The tools, the system prompt, and the ends of the last two requests.
    assert seen["marks"] == [4, 6]
    assert 0 < seen["condenseAt"] <= seen["contextWindow"] - seen["reserved"]


async def test_where_the_provider_needs_no_breakpoints_none_are_told(services: Services, jp_fetch: Fetch) -> None:
    task = await talked(services)
    await services.config.profiles.update("default", {"apiProvider": "openai-native", "apiModelId": "gpt-4.1"})
    assert "marks" not in await get(jp_fetch, "tasks", task.task_id, "context")


async def test_a_page_is_only_of_some_messages_and_has_no_tools_if_they_are_known(
    services: Services, jp_fetch: Fetch
) -> None:
    task = await talked(services)
    page = await get(jp_fetch, "tasks", task.task_id, "context", first="2", limit="3", only="messages")
    assert (page["first"], page["count"], len(page["messages"])) == (2, 7, 3)
    assert page["messages"][1]["content"][0]["text"] == "Now part 1."
    assert (page["system"], page["tools"]) == ("", []) and page["tokens"]["tools"] > 0
    assert len(page["tokens"]["eachMessage"]) == 7
    beyond = await get(jp_fetch, "tasks", task.task_id, "context", first="70", limit="3")
    assert beyond["messages"] == []


async def test_a_text_is_found_in_all_messages_whatever_page_they_are_on(services: Services, jp_fetch: Fetch) -> None:
    task = await talked(services)
    page = await get(jp_fetch, "tasks", task.task_id, "context", find="PART 1", limit="1")
    assert page["found"] == [3]
    # As it is read, not as it is written in JSON.
    lines = await get(jp_fetch, "tasks", task.task_id, "context", find=">\nLook", limit="1")
    assert lines["found"] == [0]
    assert "found" not in await get(jp_fetch, "tasks", task.task_id, "context")


async def test_summaries_and_pictures_are_counted_apart_and_pictures_are_left_out(
    services: Services, jp_fetch: Fetch
) -> None:
    task = await talked(services, 0)
    data = "iVBORw0KGgo" + "A" * 5_000
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}
    await add(task, "assistant", {"type": "tool_use", "id": "c", "name": "run_cells", "input": {}})
    await add(task, "user", {"type": "tool_result", "tool_use_id": "c", "content": [picture]}, picture)
    await add(task, "user", {"type": "text", "text": f"{SUMMARY_PREFIX}\n## Final Goal\nLook"})
    seen = await get(jp_fetch, "tasks", task.task_id, "context")
    assert [message.get("isSummary", False) for message in seen["messages"]] == [False, False, True]
    assert seen["tokens"]["pictures"] > 1_000 and seen["tokens"]["summaries"] > 50
    assert data not in str(seen["messages"]) and str(seen["messages"]).count("(5,011 characters)") == 2


async def test_pages_of_a_long_conversation_are_built_once_for_all(services: Services, jp_fetch: Fetch) -> None:
    task = await talked(services, 500)
    manager = await services.agent.manager()
    await get(jp_fetch, "tasks", task.task_id, "context", limit="50")
    page = await get(jp_fetch, "tasks", task.task_id, "context", first="50", limit="50", only="messages")
    found = await get(jp_fetch, "tasks", task.task_id, "context", limit="50", only="messages", find="part 499")
    assert manager.services.seen.built == 1
    await add(task, "user", {"type": "text", "text": "And now?"})
    again = await get(jp_fetch, "tasks", task.task_id, "context", first="1000", limit="50", only="messages")
    assert (page["first"], page["count"], len(page["messages"])) == (50, 1_001, 50)
    assert found["found"] == [999]
    assert manager.services.seen.built == 2 and "And now?" in str(again["messages"])


@pytest.mark.parametrize("params", [{"limit": "0"}, {"first": "-1"}, {"find": ""}, {"only": "tools"}])
async def test_a_bad_query_is_refused(params: dict[str, str], services: Services, jp_fetch: Fetch) -> None:
    task = await talked(services, 0)
    path = (*API, "tasks", task.task_id, "context")
    assert await refusal(jp_fetch(*path, params=params)) == (400, "invalid_input")
