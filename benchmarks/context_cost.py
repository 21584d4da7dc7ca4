"""What a long piece of work costs where providers cache the beginnings of requests: ours beside other ways to save tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from hdsp_agent.context import (
    COMPACTION_PROMPT,
    CarryLimits,
    Pruner,
    PruningSettings,
    SentHistory,
    TokenCounter,
    carried_from,
    hand_over,
    kept_words,
    meter,
)
from hdsp_agent.messages import ApiMessage, JsonObject

__all__ = ["Bill", "billed", "masked_each_step", "nothing_saved", "ours", "plain_compaction"]

STEPS: Final = 200
STATIC: Final = 10_000
ANSWER: Final = 300
OUTPUT: Final = 1_200
STUB: Final = 20
KEPT_WORDS: Final = 2_000
SUMMARY: Final = 3_000
WINDOW: Final = 200_000

Block = tuple[str, int]
"""A part of a request that never changes, and its tokens."""


@dataclass
class Bill:
    """The published rules of Anthropic's cache of five minutes, in tokens of uncached input (reference, context §5)."""

    read: float = 0.1
    write: float = 1.25
    output: float = 5.0
    least: int = 1_024
    cost: float = 0.0
    hit: int = 0
    sent: int = 0
    peak: int = 0
    steady: list[tuple[int, int, int]] = field(default_factory=list)
    """Of requests that follow one another without a break: what was read from the cache, all input, all of the one before."""
    _seen: list[list[Block]] = field(default_factory=list)

    def ask(self, request: Iterable[Block], answer: int, *, broken: bool = False) -> None:
        """One request and its answer; ``broken`` says that it is the first behind a compaction."""
        blocks = list(request)
        size = sum(tokens for _, tokens in blocks)
        cached = max((_common(blocks, seen) for seen in self._seen), default=0)
        cached = cached if cached >= self.least else 0
        self.cost += cached * self.read + (size - cached) * self.write + answer * self.output
        self.hit += cached
        self.sent += size
        self.peak = max(self.peak, size)
        if self._seen and not broken:
            self.steady.append((cached, size, sum(tokens for _, tokens in self._seen[-1])))
        # All others share what they have with the last, or broke off from it before.
        self._seen = [*self._seen[-2:], blocks]

    @property
    def hits(self) -> float:
        """The part of the input that is read from the cache, between two compactions."""
        return sum(cached for cached, _, _ in self.steady) / sum(size for _, size, _ in self.steady)

    @property
    def kept(self) -> float:
        """The part of each request that the next one finds in the cache, between two compactions."""
        return sum(cached for cached, _, _ in self.steady) / sum(before for _, _, before in self.steady)


def _common(ours: Sequence[Block], theirs: Sequence[Block]) -> int:
    common = 0
    for one, other in zip(ours, theirs, strict=False):
        if one != other:
            break
        common += one[1]
    return common


def nothing_saved(bill: Bill) -> None:
    """Everything is sent again and again."""
    for number in range(STEPS):
        bill.ask(_whole(number), ANSWER)


def masked_each_step(bill: Bill, keep: int = 10) -> None:
    """At each step the output that came so many steps before is replaced by a word."""
    for number in range(STEPS):
        bill.ask(_whole(number, cleared=number - keep), ANSWER)


def plain_compaction(bill: Bill, limit: int = 100_000) -> None:
    """At the limit, a summary is asked for by a request of its own, with another beginning."""
    first, begun = 0, [("static", STATIC)]
    for number in range(STEPS):
        blocks = [*begun, *_steps(first, number)]
        if sum(tokens for _, tokens in blocks) >= limit:
            bill.ask([("summariser", 500), *blocks[1:]], SUMMARY, broken=True)
            first = number
            begun = [("static", STATIC), (f"words {number}", KEPT_WORDS), (f"summary {number}", SUMMARY)]
            blocks, broken = begun, True
        else:
            broken = False
        bill.ask(blocks, ANSWER, broken=broken)


def ours(bill: Bill, *, percent: int = 100, window: int = WINDOW, settings: PruningSettings | None = None) -> None:
    """The agent's own history, pruning and condensing."""
    counter = TokenCounter()
    settings = settings or PruningSettings.for_window(window)
    history, pruner = SentHistory(), Pruner(settings)
    said: list[ApiMessage] = []
    names: dict[int, tuple[ApiMessage, Block]] = {}

    def add(message: ApiMessage) -> None:
        said.append(message)
        history.add(message)

    def blocks() -> list[Block]:
        return [("static", STATIC), *(_named(message, names, counter) for message in history.messages)]

    add(_person("Make the report. " + "It has many parts, and each of them is looked at with care. " * 100))
    for number in range(STEPS):
        used, broken = STATIC + history.tokens(), False
        if (plan := pruner.plan(history.messages, used)) is not None:
            history.clear_results(plan.stubs)
            used, broken = STATIC + history.tokens(), True
        if meter(used, window=window, answer=8_192, percent=percent).is_over_limit:
            limits = CarryLimits.for_window(window)
            kept = kept_words(said, limits.words)
            carried = carried_from(said, quoted=kept.quoted, limits=limits)
            # The lists are put in without the model, which is told not to write them.
            written = max(SUMMARY // 2, SUMMARY - sum(counter.text(item) for item in carried.items()))
            bill.ask([*blocks(), ("prompt", counter.text(COMPACTION_PROMPT))], written, broken=True)
            text = hand_over("done" * written, carried)
            assert text is not None
            before, said, history, broken = said, [], SentHistory(), True
            pruner = Pruner(settings)
            summary = ApiMessage(role="user", content=[{"type": "text", "text": text}], is_summary=True)
            for message in [*(before[index] for index in kept.whole), summary]:
                add(message)
        bill.ask(blocks(), ANSWER, broken=broken)
        call: JsonObject = {
            "type": "tool_use",
            "id": f"call_{number}",
            "name": "execute_command",
            "input": {"command": f"make part-{number}"},
        }
        add(ApiMessage(role="assistant", content=[{"type": "text", "text": "w" * (4 * ANSWER)}, call]))
        output = f"part {number:04} " + "x" * (4 * OUTPUT)
        result: JsonObject = {"type": "tool_result", "tool_use_id": f"call_{number}", "content": output}
        add(ApiMessage(role="user", content=[result]))


def billed(work: Callable[[Bill], None]) -> Bill:
    """What it costs."""
    bill = Bill()
    work(bill)
    return bill


def _whole(number: int, cleared: int = 0) -> list[Block]:
    return [("static", STATIC), *_steps(0, number, cleared)]


def _steps(first: int, last: int, cleared: int = 0) -> Iterator[Block]:
    for step in range(first, last):
        yield f"answer {step}", ANSWER
        yield (f"stub {step}", STUB) if step < cleared else (f"output {step}", OUTPUT)


def _named(message: ApiMessage, names: dict[int, tuple[ApiMessage, Block]], counter: TokenCounter) -> Block:
    """Messages that stay the same are the same objects; those are kept, so that no other gets their place."""
    known = names.get(id(message))
    if known is None or known[0] is not message:
        known = names[id(message)] = message, (str(hash(str(message.content))), counter.message(message))
    return known[1]


def _person(words: str) -> ApiMessage:
    return ApiMessage(role="user", content=[{"type": "text", "text": f"<user_message>\n{words}\n</user_message>"}])
