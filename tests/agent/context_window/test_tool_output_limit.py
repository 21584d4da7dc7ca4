"""What one tool says never takes most of the room that is left, and nothing of it is lost."""

from __future__ import annotations

import re
from pathlib import Path

from hdsp_agent.providers import call_tool

from ._helpers.small_window import DONE, small_agent


async def test_an_output_that_is_too_long_for_the_rest_of_the_window_is_cut_in_its_middle(tmp_path: Path) -> None:
    begin, end = "BEGIN ", " END"
    turn = call_tool("look", {"text": begin + "é" * 40_000 + end}, id="long")
    async with small_agent(tmp_path, [turn, DONE], window=60_000) as agent:
        task_id = await agent.finished()
        told = (await agent.results(task_id))["long"]
        artifact = re.search(r"artifact_id ([0-9a-f]{64})", told)
        assert artifact is not None
        whole = (await (await agent.store.view(task_id)).read_artifact(artifact[1])).decode()
    assert whole == "saw " + begin + "é" * 40_000 + end
    assert "saw BEGIN" in told and " END" in told and "tokens truncated" in told
    # Half of what was free, in bytes of four a token.
    assert 30_000 < told.count("\\u00e9") < 38_000


async def test_what_fits_stays_as_it_is(tmp_path: Path) -> None:
    turn = call_tool("look", {"text": "x" * 20_000}, id="long")
    async with small_agent(tmp_path, [turn, DONE], window=100_000) as agent:
        task_id = await agent.finished()
        assert (await agent.results(task_id))["long"] == "saw " + "x" * 20_000
