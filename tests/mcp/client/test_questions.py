"""What servers ask the person, as questions in the conversation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from mcp_types import ElicitRequestFormParams, ElicitRequestURLParams

from hdsp_agent.mcp.client._elicitation import answered_by
from hdsp_agent.messages import JsonObject

from ._helpers.hubs import running_hub, sample


class Person:
    """Answers, and remembers what was asked."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[str, Sequence[str]]] = []

    async def __call__(self, question: str, suggested: Sequence[str]) -> str:
        self.asked.append((question, suggested))
        return self.answers.pop(0)


def form(**properties: JsonObject) -> ElicitRequestFormParams:
    return ElicitRequestFormParams(
        message="Tell me", requested_schema={"type": "object", "properties": properties, "required": list(properties)}
    )


async def test_a_form_is_asked_field_by_field(tmp_path: Path) -> None:
    async with running_hub(tmp_path, {"sample": sample()}) as tested:
        tested.answers = ["Seoul", "many", "2", "quiet"]
        assert await tested.said("book") == "booked 2 nights in Seoul, quiet"
        questions = [question for question, _ in tested.asked]
        assert questions[0] == "sample asks: Where do you want to go?\n\nCity"
        assert questions[2].endswith("Answer with a whole number.")
        assert tested.asked[3][1] == ("Decline", "cheap", "quiet", "Leave it out")


async def test_whoever_is_not_there_declines(tmp_path: Path) -> None:
    async with running_hub(tmp_path, {"sample": sample()}) as tested:
        # The first suggestion is what is chosen where nobody answers.
        assert await tested.said("book") == "not booked: decline"


@pytest.mark.parametrize(
    ("described", "said", "value"),
    [
        ({"type": "string"}, "a word", "a word"),
        ({"type": "boolean"}, "Yes", True),
        ({"type": "boolean"}, "No", False),
        ({"type": "number"}, "1.5", 1.5),
        ({"type": "string", "enum": ["a", "b"], "enumNames": ["First", "Second"]}, "Second", "b"),
        ({"type": "string", "oneOf": [{"const": "a", "title": "First"}]}, "First", "a"),
        ({"type": "array", "items": {"enum": ["a", "b", "c"]}}, "a, c", ["a", "c"]),
        ({"type": "array", "items": {"anyOf": [{"const": "a", "title": "First"}]}}, "First", ["a"]),
    ],
)
async def test_answers_become_values(described: JsonObject, said: str, value: object) -> None:
    person = Person(said)
    result = await answered_by(person, "files", form(x=described))
    assert (result.action, result.content) == ("accept", {"x": value})


async def test_an_answer_that_does_not_fit_is_asked_for_three_times() -> None:
    person = Person("x", "y", "z")
    result = await answered_by(person, "files", form(x={"type": "string", "enum": ["a", "b"]}))
    assert (result.action, len(person.asked)) == ("decline", 3)


async def test_a_page_is_opened_by_the_person_alone() -> None:
    params = ElicitRequestURLParams(message="Pay here", url="https://pay.example/x")
    person = Person("I have done that")
    result = await answered_by(person, "shop", params)
    assert (result.action, result.content) == ("accept", None)
    assert "https://pay.example/x" in person.asked[0][0]
    assert (await answered_by(Person("Decline"), "shop", params)).action == "decline"


@pytest.mark.parametrize("schema", [{}, {"properties": []}, {"properties": {"x": "nonsense"}}, {"properties": None}])
async def test_a_form_that_is_none_harms_nobody(schema: JsonObject) -> None:
    params = ElicitRequestFormParams.model_construct(message="Hm", requested_schema=schema)
    assert (await answered_by(Person("OK"), "bad", params)).action in ("accept", "decline")
