"""Each remedy against a server that really refuses what does not fit, over a socket and the official SDK, up to a turn that succeeds."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from hdsp_agent.agent.context_window.largest_outputs import TRUNCATED
from hdsp_agent.context._content_blocks import NOTHING_SAID
from hdsp_agent.messages import TaskId

from ..._helpers.model_server import Reply, raw_server, refusal
from .._helpers.provider_agent import ProviderAgent, profile_of, speaking_agent
from ._helpers.responses_server import (
    WORDS,
    Responding,
    done,
    inputs,
    looked,
    question,
    said,
    sealing_agent,
    summarised,
)

MISSING: Final = refusal("404 Not Found", {"detail": "Not Found"})
SUMMARY: Final = "## Work Completed\nThe long file was read."
ROWS: Final = "".join(f"row {number} of the table\n" for number in range(1_500))
"""About 9 000 tokens; in the answer of the tool there are line numbers as well."""


@dataclass
class Narrow:
    """A model that takes in the first request and ``room`` tokens more, and else answers by its turns."""

    turns: list[bytes]
    room: int
    limit: int = 0
    refused: int = 0
    answered: list[dict[str, Any]] = field(default_factory=list)

    async def __call__(self, reply: Reply) -> None:
        body, size = reply.request.body, len(reply.request.content) // 4
        self.limit = self.limit or size + self.room
        if size > self.limit:
            self.refused += 1
            words = f"This model's maximum context length is {self.limit} tokens. However, your messages resulted in {size} tokens."
            error = {"message": words, "code": "context_length_exceeded", "type": "invalid_request_error"}
            await reply.send(refusal("400 Bad Request", {"error": error}))
        elif "CONTEXT CHECKPOINT" in inputs(body):
            await reply.send(summarised(SUMMARY))
        else:
            self.answered.append(body)
            await reply.send(self.turns.pop(0))


def read(number: int, path: str) -> bytes:
    return said(f"I read {path}.", ("read_file", f"call_{number}", {"path": path}))


def calls_in(body: dict[str, Any]) -> list[str]:
    return [item["call_id"] for item in body["input"] if item.get("type") == "function_call"]


def outputs_in(body: dict[str, Any]) -> dict[str, str]:
    return {item["call_id"]: item["output"] for item in body["input"] if item.get("type") == "function_call_output"}


async def counts(agent: ProviderAgent, task_id: TaskId) -> tuple[int, int, int]:
    """How many rows tell of a condensation, of something hidden, and of a question after a refusal."""
    rows = await agent.ui(task_id)
    said_of = [row.say for row in rows]
    asked = sum(row.ask == "api_req_failed" for row in rows)
    return said_of.count("condense_context"), said_of.count("sliding_window_truncation"), asked


async def test_large_outputs_are_cut(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    for name in ("one.txt", "two.txt"):
        (tmp_path / "work" / name).write_text(f"{name}\n{ROWS}")
    (tmp_path / "work" / "small.txt").write_text("few words")
    turns = [read(1, "small.txt"), read(2, "one.txt"), looked(3, "Three."), read(4, "two.txt"), done()]
    model = Narrow(turns, room=15_000)
    async with sealing_agent(tmp_path, [model], [MISSING], window=200_000) as (_, agent):
        task_id = await agent.finished()
        told = [row.text or "" for row in await agent.says(task_id, "api_req_retry_delayed")]
        [row] = await agent.says(task_id, "sliding_window_truncation")
        assert await counts(agent, task_id) == (0, 1, 0)
    assert row.context_truncation is not None and row.context_truncation.cleared is not None
    assert row.context_truncation.cleared.tools == {"read_file": row.context_truncation.cleared.outputs}
    last = outputs_in(model.answered[-1])
    assert model.refused == 1 and len(told) == 1 and "long output" in told[0]
    assert TRUNCATED in (last["call_2"], last["call_4"]) and "few words" in last["call_1"]
    assert calls_in(model.answered[-1]) == ["call_1", "call_2", "call_3", "call_4"]


async def test_many_words_are_condensed(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "small.txt").write_text("few words")
    turns = [read(1, "small.txt"), looked(2), looked(3), looked(4), looked(5, "Five."), done()]
    model = Narrow(turns, room=26_000)
    async with sealing_agent(tmp_path, [model], [MISSING], window=200_000) as (server, agent):
        task_id = await agent.finished("Do it. Never change a file.")
        [row] = await agent.says(task_id, "condense_context")
        assert await counts(agent, task_id) == (1, 0, 0)
    assert model.refused == 1 and len(server.wishes) == 1
    assert row.context_condense is not None
    assert row.context_condense.new_context_tokens < row.context_condense.prev_context_tokens - 10_000
    last = inputs(model.answered[-1])
    assert "The long file was read." in last and "- Never change a file." in last and "`small.txt`" in last
    assert last.count(WORDS) < 3 and calls_in(model.answered[-1])[-1] == "call_5"


async def test_a_step_that_is_too_long_is_taken_back(tmp_path: Path) -> None:
    turns = [looked(1, "One."), looked(2, "Two."), looked(3, "Three. " + "Word after word. " * 2_500), done()]
    model = Narrow(turns, room=6_000)
    async with sealing_agent(tmp_path, [model], [MISSING], window=200_000) as (_, agent):
        task_id = await agent.finished()
        [row] = await agent.says(task_id, "sliding_window_truncation")
        assert await counts(agent, task_id) == (0, 1, 0)
    assert row.context_truncation is not None and row.context_truncation.end == "newest"
    last = model.answered[-1]
    assert calls_in(last) == list(outputs_in(last)) == ["call_1", "call_2"]
    assert "Your last step (`list_files`) was taken back" in inputs(last) and "Three." not in inputs(last)


async def test_empty_texts_are_replaced_and_where_there_is_nothing_a_word_is_put_in(tmp_path: Path) -> None:
    words = "messages: text content blocks must be non-empty"
    no = refusal("400 Bad Request", {"error": {"message": words, "type": "invalid_request_error"}})
    async with sealing_agent(tmp_path, [], [MISSING], window=200_000) as (server, agent):

        async def second(reply: Reply) -> None:
            task = agent.manager.tasks.opened(started)
            assert task is not None
            # As a stop or a crash leaves them: an answer of nothing, and words that are none.
            await task.state.conversation.add_api("assistant", [])
            await task.state.conversation.add_api("user", [{"type": "text", "text": " "}])
            await reply.send(looked(2, "Two."))

        server.turns = [looked(1, "One."), second, no, done()]
        started = await agent.start()
        await agent.ended(started)
        told = [row.text or "" for row in await agent.says(started, "api_req_retry_delayed")]
        assert await counts(agent, started) == (0, 0, 0)
    assert len(told) == 1 and "empty messages" in told[0]
    taken = server.asked[-1]
    spoken = [(item["role"], [part["text"] for part in item["content"]]) for item in taken["input"] if "role" in item]
    # A part is put into the answer of nothing, the blank one is replaced, and nothing else is touched.
    assert [one for one in spoken if one[1] == [NOTHING_SAID]] == [
        ("assistant", [NOTHING_SAID]),
        ("user", [NOTHING_SAID]),
    ]
    assert all(text.strip() for _, texts in spoken for text in texts) and calls_in(taken) == ["call_1", "call_2"]


async def test_a_task_that_is_too_full_when_it_is_taken_up_is_condensed_before_its_first_request(
    tmp_path: Path,
) -> None:
    responding = Responding([looked(1), looked(2), question(), summarised(SUMMARY), done()], [MISSING])
    async with raw_server(responding) as server:
        profile = {**profile_of("responses", server.url), "modelMaxTokens": 4_000}
        async with speaking_agent(tmp_path, {**profile, "modelContextWindow": 200_000}) as agent:
            task_id = await agent.start()
            await agent.asked(task_id, "followup")
        before = len(responding.asked)
        # The server of the agent ends, and the model is a smaller one when it begins again.
        async with speaking_agent(tmp_path, {**profile, "modelContextWindow": 30_000}) as agent:
            await agent.manager.resume(task_id)
            await agent.manager.answer(task_id, (await agent.asked(task_id, "followup")).ts, "messageResponse", "yes")
            await agent.ended(task_id)
            assert await counts(agent, task_id) == (1, 0, 0)
    wish, first = responding.asked[before:]
    assert "CONTEXT CHECKPOINT" in inputs(wish) and inputs(wish).count(WORDS) >= 1
    assert "The long file was read." in inputs(first) and inputs(first).count(WORDS) == 0
    assert len(json.dumps(first)) < len(json.dumps(responding.asked[before - 1])) - 60_000
