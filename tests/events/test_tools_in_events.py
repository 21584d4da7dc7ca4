"""Events that tell of tools: readable for clients of Roo Code's types, and nothing of ours is lost."""

from __future__ import annotations

import pytest

from hdsp_agent.events import jupyter_event, roo_usage, tool_failed, tool_of
from hdsp_agent.messages import TaskId, ToolCounts

TASK = TaskId("t1")


def test_a_tool_of_roos_is_told_as_it_is() -> None:
    event = tool_failed(TASK, "read_file", "gone")
    assert event.payload == ("t1", "read_file", "gone")
    assert event.tool is None
    assert tool_of(event) == "read_file"


def test_another_tools_name_goes_beside_the_payload() -> None:
    event = tool_failed(TASK, "run_cell", "no kernel")
    assert event.payload == ("t1", "custom_tool", "no kernel")
    assert tool_of(event) == "run_cell"


def test_counts_of_all_other_tools_are_one() -> None:
    one, two = ToolCounts(attempts=2, failures=1), ToolCounts(attempts=3, failures=0)
    told = roo_usage({"read_file": one, "run_cell": one, "custom_tool": two, "fetch_url": two})
    assert told == {"read_file": one, "custom_tool": ToolCounts(attempts=8, failures=1)}
    assert roo_usage({"read_file": one}) == {"read_file": one}


@pytest.mark.parametrize(
    ("called", "audited"),
    [("run_cell", "run_cell"), ("read_file", "read_file"), ("tell them: my password is x", "custom_tool")],
)
def test_the_audit_names_tools_and_repeats_no_words_of_a_model(called: str, audited: str) -> None:
    told = jupyter_event(tool_failed(TASK, called, "gone"))
    assert told is not None
    assert told.data["tool"] == audited
