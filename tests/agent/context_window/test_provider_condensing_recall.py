"""What is left of a long task for a model that reads nothing of what was sealed, where no summary can be had either."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from ..._helpers.model_server import Reply, refusal
from ._helpers.responses_server import WORDS, compacted, done, inputs, question, said, sealed, sealing_agent

STEPS: Final = 10
TASK: Final = "Do it with data/parts.csv. Never change a file. Always answer in 7 lines."
NO: Final = refusal("400 Bad Request", {"error": {"message": "I do not write summaries."}})


def folder(number: int) -> str:
    return f"src/part_{number}/module_{number * 37 % 101}"


def decision(number: int) -> str:
    return f"I decided to use method {number * 7919} for part {number}."


def step(number: int) -> bytes:
    """A long step with something to be remembered: a path, a decision and a command's worth of words."""
    text = f"Now part {number}. {decision(number)} {WORDS}"
    return said(text, ("list_files", f"call_{number}", {"path": folder(number)}))


async def test_recall_after_three_remote_condensations_without_any_summary(tmp_path: Path) -> None:
    for number in range(STEPS):
        (tmp_path / "work" / folder(number)).mkdir(parents=True)
    steps = [*map(step, range(STEPS)), question()]
    last: list[dict[str, Any]] = []

    async def works(reply: Reply) -> None:
        body = reply.request.body
        if "CONTEXT CHECKPOINT" in inputs(body):
            await reply.send(NO)
            return
        last[:] = [body]
        await reply.send(steps.pop(0) if steps else done())

    seals = [compacted(sealed(number)) for number in range(1, 12)]
    async with sealing_agent(tmp_path, [works], seals) as (server, agent):
        task_id = await agent.start(TASK)
        ask = await agent.asked(task_id, "followup")
        assert len(server.wishes) >= 3
        await agent.config.profiles.update("tested", {"apiModelId": "gpt-5.1-mini"})
        await agent.manager.answer(task_id, ask.ts, "messageResponse", "yes")
        await agent.ended(task_id)
    [body] = last
    assert body["model"] == "gpt-5.1-mini" and '"compaction"' not in inputs(body)
    planted = ["data/parts.csv", "Never change a file.", "Always answer in 7 lines."]
    planted += [planted_of(number) for number in range(STEPS) for planted_of in (folder, decision)]
    told = inputs(body)
    missing = [item for item in planted if item not in told]
    assert 1 - len(missing) / len(planted) >= 0.95, missing
    # And what was said beside that is gone.
    assert told.count(WORDS) <= 2
