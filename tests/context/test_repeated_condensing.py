"""A long conversation that is condensed again and again, by a model that forgets nearly everything."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import pytest

from hdsp_agent.context import SentHistory, TokenCounter, carried_from, hand_over, kept_words
from hdsp_agent.messages import ApiMessage

from ._helpers.conversations import answer, call, hand_over_message, normalized, result, said, user
from ._helpers.provider_rules import assert_all_take

STEPS = 220
FORGOTTEN = 0.7


@dataclass
class Trace:
    """The messages of each step, and what was planted up to it."""

    steps: list[list[ApiMessage]] = field(default_factory=list)
    planted: list[list[str]] = field(default_factory=list)


def trace(seed: int) -> Trace:
    rng = random.Random(seed)
    made = Trace()
    open_todos = [f"step {n} of the plan" for n in range(12)]
    for number in range(STEPS):
        messages, planted = [], []
        if number % 11 == 0:
            rule = f"Never write more than {rng.randrange(10**6)} rows to table {number}."
            messages.append(said(f"Part {number} of the report, please. {rule} Thanks."))
            planted.append(rule)
        cell, path = f"{rng.randrange(16**8):08x}", f"src/part_{number}/module_{rng.randrange(1000)}.py"
        name = f"frame_{number}"
        says = f"Now part {number}."
        if number % 9 == 0:
            decision = f"I decided to use method {rng.randrange(10**6)} for part {number}."
            says += f" {decision}"
            planted.append(decision)
        calls = [
            call(f"r{number}", "read_file", path=path),
            call(f"e{number}", "edit_cells", operations=[{"op": "insert", "source": f"{name} = load({number})"}]),
            call(f"x{number}", "execute_command", command=f"make part-{number}"),
        ]
        planted += [path, cell, name, f"make part-{number}"]
        results = [
            result(f"r{number}", "line\n" * 300),
            result(f"e{number}", f"[cell {number + 1} {cell}: inserted]"),
            result(f"x{number}", "ok\n" * 200),
        ]
        if number % 40 == 0:
            open_todos = [*open_todos[1:], f"new step {number}"]
            plan = "\n".join(f"[ ] {todo}" for todo in open_todos)
            calls.append(call(f"t{number}", "update_todo_list", todos=f"[x] done before {number}\n{plan}"))
            results.append(result(f"t{number}", "noted"))
        messages += [answer(says, *calls), user(*results)]
        made.steps.append(messages)
        made.planted.append(planted)
    return made


def forgetful(messages: list[ApiMessage], rng: random.Random) -> str:
    """A summary with some of what the model would have found worth a word."""
    words = [word for message in messages for word in str(message.content).split("'") if 5 < len(word) < 200]
    return "\n".join(word for word in words if rng.random() > FORGOTTEN)[:4_000] or "Nothing."


@pytest.mark.parametrize("condensations", [1, 3, 10])
def test_what_was_planted_is_there_after_many_condensations(condensations: int) -> None:
    made = trace(7)
    rng = random.Random(condensations)
    ours: list[ApiMessage] = []
    plain: list[ApiMessage] = []
    planted: list[str] = []
    every = STEPS // condensations
    for number in range(STEPS):
        ours += made.steps[number]
        plain += made.steps[number]
        planted += made.planted[number]
        if (number + 1) % every:
            continue
        summary = forgetful(ours, rng)
        kept = kept_words(ours)
        text = hand_over(summary, carried_from(ours, quoted=kept.quoted))
        assert text is not None
        ours = [*(ours[index] for index in kept.whole), hand_over_message(text)]
        words = kept_words(plain)
        plain = [*(plain[index] for index in words.whole), ApiMessage(role="user", content=forgetful(plain, rng))]
        assert_all_take(normalized(ours))

    todos = [f"step {n} of the plan" for n in range(6, 12)] + [f"new step {n}" for n in range(0, STEPS, 40)]
    assert recall(ours, planted + todos) >= 0.95
    assert recall(plain, planted + todos) < 0.6
    assert TokenCounter().messages(ours) < 25_000


def recall(messages: list[ApiMessage], planted: list[str]) -> float:
    text = "\n".join(str(message.content) for message in messages)
    return sum(item in text for item in planted) / len(planted)


def test_condensing_again_with_nothing_new_changes_nothing() -> None:
    made = trace(3)
    messages = [message for step in made.steps[:60] for message in step]
    kept = kept_words(messages)
    text = hand_over("All is well.", carried_from(messages, quoted=kept.quoted))
    assert text is not None
    for _ in range(5):
        ours = [*(messages[index] for index in kept.whole), hand_over_message(text)]
        again = kept_words(ours)
        assert hand_over("All is well.", carried_from(ours, quoted=again.quoted)) == text
        assert again.whole == tuple(range(len(kept.whole)))


def test_a_request_after_a_condensation_goes_on_from_the_hand_over() -> None:
    history = SentHistory()
    for message in [said("go"), hand_over_message("so far"), answer(call("a")), user(result("a"))]:
        history.add(message)
    assert [message.role for message in history.messages] == ["user", "user", "assistant", "user"]
