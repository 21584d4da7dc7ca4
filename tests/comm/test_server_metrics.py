"""What a person's server tells Prometheus on Jupyter Server's own page."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hdsp_agent.comm.services import Services
from tests._helpers.jupyter_fetch import Fetch
from tests._helpers.timing import until
from tests.comm._helpers.scripted_pages import Turn, question, speak
from tests.comm.conftest import Connect, messages

READ: Turn = (
    {"text": "I will look."},
    {"tool": "list_files", "arguments": {"path": "."}, "id": "l"},
    {"usage": {"input": 100, "output": 20, "cacheRead": 30}},
)
DONE: Turn = ({"tool": "attempt_completion", "arguments": {"result": "Nothing is there."}},)


async def test_work_is_counted_without_names(
    services: Services, connect: Connect, jp_fetch: Fetch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await speak(services, tmp_path, READ, DONE)
    await services.config.update({"autoApprovalEnabled": True, "alwaysAllowReadOnly": True})
    monkeypatch.setattr(services.config, "_policy", replace(services.config.policy, hub_providers=frozenset({"fake"})))
    await services.retention_job.measure()
    async with connect() as panel:
        task = (await panel.ask("newTask", text="What is here?"))["result"]
        await question(panel, "completion_result")
        await panel.until(lambda: messages(panel, "taskProgress")[-1]["status"] == "idle")
    counted = {
        'hdsp_agent_requests_total{model="scripted",provider="fake-ai",status="ok",user=""} 2.0',
        'hdsp_agent_tokens_total{direction="in",model="scripted",provider="fake-ai",user=""} 100.0',
        'hdsp_agent_tokens_total{direction="cached",model="scripted",provider="fake-ai",user=""} 30.0',
        'hdsp_agent_tokens_total{direction="out",model="scripted",provider="fake-ai",user=""} 20.0',
        'hdsp_agent_request_seconds_count{model="scripted",provider="fake-ai"} 2.0',
        'hdsp_agent_first_byte_seconds_count{model="scripted",provider="fake-ai"} 2.0',
        'hdsp_agent_turns_total{outcome="done",user=""} 1.0',
        "hdsp_agent_active_turns 0.0",
        'hdsp_agent_tool_calls_total{outcome="done",tool="list_files",user=""} 1.0',
        'hdsp_agent_tool_seconds_count{tool="list_files"} 1.0',
        "hdsp_agent_queued_messages 0.0",
    }
    left: set[str] = set()

    async def are_told() -> bool:
        # A turn ends a moment after its last word.
        left.clear()
        left.update(counted - {*(await jp_fetch("metrics")).body.decode().splitlines()})
        return not left

    try:
        await until(are_told)
    except AssertionError:
        raise AssertionError(left) from None
    told = (await jp_fetch("metrics")).body.decode()
    assert float(told.partition("\nhdsp_agent_stored_bytes ")[2].split()[0]) > 0
    assert task not in told and str(tmp_path) not in told
    # Where models are behind a hub, it is asked at once how budgets stand.
    assert services.config._defaults_may_differ.is_set()
