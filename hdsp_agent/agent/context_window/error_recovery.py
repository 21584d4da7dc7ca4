"""What is done when a provider refuses a request: the cheapest remedy first, each only so often, and then the person is asked."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from ...providers import EncryptedItemRefused, ErrorClass, ModelClient, ModelError, refuses_thoughts
from .condense_report import cleared_of, tell_cleared
from .hidden_steps import revert
from .largest_outputs import MOST_CUT, largest_outputs
from .recovery_notice import RecoveryNotice

if TYPE_CHECKING:
    from ..task.task_state import TaskState
    from .window import ContextWindow

__all__ = ["ErrorRecovery", "RemedyResult"]

Remedy: TypeAlias = Literal["shorter_answer", "cut_outputs", "pictures", "blanks", "anew", "condense", "revert", "hide"]

_REMEDIES: Final[dict[ErrorClass, tuple[Remedy, ...]]] = {
    "overflow_output_budget": ("shorter_answer", "cut_outputs", "condense", "revert", "hide"),
    "output_cap": ("shorter_answer",),
    "tpm_request_too_large": ("shorter_answer", "cut_outputs", "condense", "revert", "hide"),
    "payload_too_large": ("pictures", "cut_outputs", "condense", "revert", "hide"),
    "overflow": ("cut_outputs", "condense", "revert", "hide"),
    "empty_content": ("blanks", "condense"),
    "tool_pairing": ("anew", "condense"),
}
"""For each class, in this order."""
_MOST: Final[dict[Remedy, int]] = {
    "shorter_answer": 2,
    "cut_outputs": 2,
    "pictures": 1,
    "blanks": 1,
    "anew": 1,
    "condense": 2,
    "revert": 3,
    "hide": 3,
}
"""How often each is tried for one answer. Summaries and steps taken back count over several answers, too."""
_DRASTIC: Final[frozenset[Remedy]] = frozenset({"condense", "revert", "hide"})
"""They cost part of what the model sees."""
_MOST_IN_A_ROW: Final = 5
"""Answers that cost part of the conversation, one after the other; then the person is asked."""
_SILENT: Final[frozenset[Remedy]] = frozenset({"revert", "hide"})
"""These have rows of their own, and yet there is a pause before the next try."""
_OF_THE_WINDOW: Final = frozenset({"overflow", "overflow_output_budget"})
"""These name the size of the window."""
_AGGRESSIVE: Final = "aggressiveTruncation"
_AUTO_RESUME: Final = "autoResume"
_RECOVERED: Final = frozenset(_REMEDIES) - {"tool_pairing"}
"""What a person can turn off; how calls and results stand together is mended in any case."""
_THOUGHTS_LEFT_OUT: Final = "The provider refuses the model's earlier thinking: it is left out from now on."
_FIRST_PAUSE: Final = 2.0
_LONGEST_PAUSE: Final = 30.0
_MARGIN: Final = 256
_LEAST_ANSWER: Final = 512
_USUAL_ANSWER: Final = 8_192
_UNSEALED: Final = "The provider can no longer read what it condensed, so the agent asks for a summary instead."
_TARGET: Final = 0.5
"""Of the window: to this size outputs are cut."""


_TOLD_ELSEWHERE: Final[dict[Remedy, str]] = {
    "condense": "The conversation was condensed.",
    "revert": "The newest step was removed.",
    "hide": "The oldest messages are no longer sent.",
}
"""Of remedies that have rows of their own, for who does not see them."""
_RECOVERED_NOTICE: Final = "The model is answering again."
_EXHAUSTED: Final = "The agent gave up after the maximum number of attempts."


@dataclass(frozen=True)
class RemedyResult:
    """What was done. ``text`` is for the person while there is a ``pause``; None where a row of its own tells it already."""

    text: str | None
    pause: float


class ErrorRecovery:
    """Mends one task's requests. ``answer_tokens`` is how long answers may be from now on, if that was the trouble."""

    def __init__(self, state: TaskState, window: ContextWindow) -> None:
        self._state = state
        self._window = window
        self._tried: Counter[Remedy] = Counter()
        self._done: Counter[Remedy] = Counter()
        self._reverts = 0
        self._in_a_row = 0
        self._answers: dict[str, tuple[int, int | None]] = {}

    @property
    def answer_tokens(self) -> int | None:
        """The longest answer to ask the task's model for; None for what it writes of itself."""
        tokens, generation = self._answers.get(self._state.profile, (None, None))
        # A conversation that was made shorter leaves more room.
        return tokens if generation is None or generation == self._generation else None

    @property
    def _generation(self) -> int | None:
        plain = self._state.context.condensable(self._state)
        return None if plain is None else plain.generation

    def begin(self, *, asked: bool = False) -> None:
        """Another answer is asked for: what was tried for the last one does not count any more.

        Only while one answer after the other costs part of the conversation, this and the steps that were taken back are
        counted on, until the person was ``asked``: it would never come to an end.
        """
        goes_on = not asked and any(self._done[remedy] for remedy in _DRASTIC)
        self._in_a_row = self._in_a_row + 1 if goes_on else 0
        self._reverts = self._reverts + self._done["revert"] if goes_on else 0
        self._tried.clear()
        self._done.clear()

    def _most(self, remedy: Remedy) -> int:
        if remedy in _DRASTIC and self._in_a_row >= _MOST_IN_A_ROW:
            return 0
        if remedy == "cut_outputs" and self._one_by_one:
            return MOST_CUT
        return _MOST[remedy] - (self._reverts if remedy == "revert" else 0)

    @property
    def _one_by_one(self) -> bool:
        """Whether outputs are cut singly, each with another try, instead of as many at once as are too much."""
        return self._state.settings.experiments.get(_AGGRESSIVE) is False

    async def remedy(self, error: ModelError, client: ModelClient) -> RemedyResult | None:
        """Do the next thing that may help; None if there is nothing left."""
        if isinstance(error, EncryptedItemRefused):
            # What is sealed is made readable before the next request, and no client says this twice.
            return RemedyResult(_UNSEALED, _FIRST_PAUSE)
        if refuses_thoughts(error):
            return await self._without_thoughts(client)
        if error.kind in _RECOVERED and "anthropic-auto-compact" in self._state.settings.disabled_hooks:
            return None
        if error.kind in _OF_THE_WINDOW and error.limit is not None:
            self._window.learn_window(error.limit)
        for remedy in _REMEDIES.get(error.kind, ()):
            while self._tried[remedy] < self._most(remedy):
                self._tried[remedy] += 1
                done = await self._apply(remedy, error, client)
                if done is None:
                    break
                self._done[remedy] += 1
                self._tell("tried", done or _TOLD_ELSEWHERE.get(remedy, ""))
                pause = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2.0 ** (self._tried[remedy] - 1))
                if remedy in _SILENT:
                    await self._state.services.sleep(pause)
                return RemedyResult(done or None, pause)
            # What did not help at once does not help later.
            self._tried[remedy] = max(self._tried[remedy], self._most(remedy))
        if self._done.total():
            self._tell("exhausted", _EXHAUSTED)
        return None

    async def _without_thoughts(self, client: ModelClient) -> RemedyResult | None:
        """Leave the thoughts out. Whether the request is made again by itself is the person's to choose."""
        plain = self._state.context.condensable(self._state)
        async with self._window.one_at_a_time:
            left_out = plain is not None and await plain.leave_out_thoughts(client.info)
        resumes = self._state.settings.experiments.get(_AUTO_RESUME, False)
        return RemedyResult(_THOUGHTS_LEFT_OUT, _FIRST_PAUSE) if left_out and resumes else None

    def answered(self) -> None:
        """The model gave an answer, perhaps after what was tried."""
        if self._done.total():
            self._tell("recovered", _RECOVERED_NOTICE)

    def _tell(self, kind: Literal["tried", "recovered", "exhausted"], text: str) -> None:
        self._state.services.on_recovery(self._state.task_id, RecoveryNotice(kind, text))

    async def _apply(self, remedy: Remedy, error: ModelError, client: ModelClient) -> str | None:
        """What was done, in a line; "" where a row of its own tells it, None if it cannot be done."""
        if remedy == "condense":
            return "" if await self._window.condense(client) else None
        async with self._window.one_at_a_time:
            return await self._apply_alone(remedy, error, client)

    async def _apply_alone(self, remedy: Remedy, error: ModelError, client: ModelClient) -> str | None:
        state = self._state
        plain = state.context.condensable(state)
        match remedy:
            case "shorter_answer":
                return self._shorter_answer(error, client)
            case "cut_outputs":
                return await self._cut_outputs(error, client)
            case "pictures":
                left_out = plain is not None and await plain.leave_out_pictures()
                return "The request is too large: images are left out from now on." if left_out else None
            case "blanks":
                filled = None if plain is None else await plain.leave_out_blanks(client.info)
                return None if filled is None else _filled_words(filled)
            case "anew":
                if plain is None:
                    return None
                plain.begin_anew()
                return "The order of tool calls and results was repaired."
            case "condense":
                raise AssertionError("it waits for the others by itself")
            case "revert":
                return "" if plain is not None and await revert(state.conversation) else None
            case "hide":
                return "" if await state.context.recover(state, error.kind) else None

    def _shorter_answer(self, error: ModelError, client: ModelClient) -> str | None:
        now = self.answer_tokens or error.output or client.info.max_output or _USUAL_ANSWER
        tokens = now // 2
        if error.limit is not None:
            taken = 0 if error.kind == "output_cap" else (error.current or 0) + _MARGIN
            room = error.limit - taken
            tokens = min(room, now - 1) if error.kind == "output_cap" or error.current is not None else tokens
        if tokens < _LEAST_ANSWER:
            return None
        self._answers[self._state.profile] = tokens, None if error.kind == "output_cap" else self._generation
        return f"There is no room for an answer that long. The new limit is {tokens:,} tokens."

    async def _cut_outputs(self, error: ModelError, client: ModelClient) -> str | None:
        """Cut the largest outputs, if that makes enough room: else they are better read once more by who condenses."""
        state = self._state
        plain = state.context.condensable(state)
        if plain is None:
            return None
        used = error.current or await self._window.used(plain, client)
        limit = error.limit or client.info.context_window or used
        messages = await plain.history(client.info)
        most = 1 if self._one_by_one else MOST_CUT
        found = largest_outputs(messages, used - int(limit * _TARGET), plain.counter, most=most)
        if not found.stubs or found.gain < (1 if self._one_by_one else max(1, used - limit)):
            return None
        cleared = cleared_of(messages, found.stubs, found.gain, "too_long")
        await plain.clear_results(found.stubs)
        await tell_cleared(state.conversation, cleared, used)
        cut = "1 long output of a tool is" if len(found.stubs) == 1 else f"{len(found.stubs)} long outputs of tools are"
        return f"The conversation was too long: {cut} cut."


def _filled_words(count: int) -> str:
    if not count:
        return "The provider refuses empty messages: they are filled with a word from now on."
    what = "1 empty message was" if count == 1 else f"{count} empty messages were"
    return f"The provider refuses empty messages: {what} filled with a word."
