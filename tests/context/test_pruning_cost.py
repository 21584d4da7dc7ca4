"""Clearing old outputs must cost less than leaving them, where the beginnings of requests are cached."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from benchmarks.context_cost import Bill
from hdsp_agent.context import Pruner, PruningSettings, SentHistory

from ._helpers.conversations import answer, call, result, user

STEPS = 200
STATIC = 10_000


def simulated(keep: int | None, every_step: bool) -> Bill:
    """The scenario of the reference: each step appends 300 + 1 200 tokens; a cleared output is 20 tokens."""
    bill = Bill()
    outputs: list[int] = []
    for number in range(STEPS):
        cleared = len(outputs) - keep if keep is not None and every_step else 0

        def blocks(cleared: int = cleared, number: int = number) -> Iterator[tuple[str, int]]:
            yield "static", STATIC
            for step in range(number):
                yield f"a{step}", 300
                yield (f"stub{step}", 20) if step < cleared else (f"o{step}", 1_200)

        bill.ask(blocks(), 300)
        outputs.append(1_200)
    return bill


def pruned(settings: PruningSettings) -> Bill:
    """The same with the real history and the real decisions."""
    bill, history, pruner = Bill(), SentHistory(), Pruner(settings)
    history.add(user("go"))
    for number in range(STEPS):
        used = STATIC + history.tokens()
        if plan := pruner.plan(history.messages, used):
            history.clear_results(plan.stubs)
        messages = history.messages
        sizes = [history.tokens(index) for index in range(len(messages))] + [0]
        named = [
            (str(hash(str(message.content))), sizes[index] - sizes[index + 1]) for index, message in enumerate(messages)
        ]
        bill.ask([("static", STATIC), *named], 300)
        history.add(answer("w" * 1_200, call(f"c{number}", "execute_command", command=f"make {number}")))
        history.add(user(result(f"c{number}", f"{number:04} " + "x" * 4_795)))
    return bill


def test_the_simulation_is_that_of_the_reference() -> None:
    assert simulated(None, every_step=False).cost == pytest.approx(3.84e6, rel=0.02)
    assert simulated(10, every_step=True).cost == pytest.approx(4.66e6, rel=0.02)


def test_clearing_in_batches_costs_far_less_than_nothing_and_than_clearing_at_each_step() -> None:
    batches = pruned(PruningSettings())
    assert batches.cost <= 0.52 * simulated(None, every_step=False).cost
    assert batches.cost < 0.45 * simulated(10, every_step=True).cost
    assert batches.hit / batches.sent >= 0.96


def test_a_trigger_below_what_stays_does_not_become_clearing_at_each_step() -> None:
    low = pruned(PruningSettings(trigger=30_000, keep=10, minimum_gain=20_000))
    assert low.cost < 0.7 * simulated(None, every_step=False).cost
    assert low.hit / low.sent >= 0.9


@pytest.mark.parametrize(("seed", "answers", "outputs"), [(901, 300, 2_500), (922, 500, 600), (917, 60, 5_000)])
def test_of_what_was_said_and_called_and_of_the_newest_outputs_nothing_goes(
    seed: int, answers: int, outputs: int
) -> None:
    """Work of another kind each: what a model looks for later is there in each request, whatever was cleared."""
    rng = random.Random(seed)
    history, pruner = SentHistory(), Pruner(PruningSettings.for_window(200_000))
    planted = ["go"]
    history.add(user("go"))
    newest: list[str] = []
    for number in range(90):
        if plan := pruner.plan(history.messages, STATIC + history.tokens()):
            history.clear_results(plan.stubs)
        request = "\n".join(str(message.content) for message in history.messages)
        assert all(item in request for item in [*planted, *newest[-3:]])
        path, decision = f"src/{number}/{rng.randrange(10**6)}.py", f"method {rng.randrange(10**6)} for {number}"
        value = f"value {rng.randrange(10**9)}"
        words = "w" * round(4 * answers * rng.lognormvariate(0, 0.5))
        history.add(answer(f"{decision} {words}", call(f"c{number}", "read_file", path=path)))
        history.add(user(result(f"c{number}", f"{value} {'x' * round(4 * outputs * rng.lognormvariate(0, 0.8))}")))
        planted += [path, decision]
        newest.append(value)
    assert "[Cleared: " in request
