"""Clearing old outputs of tools, many at once and only when it pays: each time the provider's cache is lost from there on."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ..messages import ApiMessage, JsonObject
from ._content_blocks import content_blocks, has_image, result_text, string_of
from ._token_estimate import TokenCounter

__all__ = ["Pruner", "Pruning", "PruningSettings"]

_PROTECTED: Final = frozenset(
    {"update_todo_list", "ask_followup_question", "attempt_completion", "new_task", "switch_mode", "skill"}
)
_READING: Final = frozenset({"read_file", "list_files", "search_files", "read_notebook", "inspect_variables"})
_ARTIFACT: Final = re.compile(r"artifact_id ([0-9a-f]{64})\b")
_LONGEST_ARGUMENTS: Final = 100
_REWRITING: Final = 11.5
"""Writing a token to the cache instead of reading it, in reads: (1.25 - 0.1) / 0.1, the dearest of the published prices."""
_PORTION: Final = 100
"""By such a part of itself a request has grown at least before it is looked at again."""
_STUB: Final = re.compile(r"\[(?:Cleared|Repeated|Outdated): [^\n]*\]")


@dataclass(frozen=True)
class PruningSettings:
    """When old outputs are cleared, and which."""

    trigger: int = 60_000
    """The size of the request in tokens from which on it is looked whether anything can be cleared."""
    keep: int = 3
    """How many of the newest outputs stay, and of those that proved important how many older ones."""
    minimum_gain: int = 5_000
    """Tokens; for less the cache is never given up. For more it is, once reading them has cost as much as clearing them will."""
    crowded_trigger: int = 100_000
    crowded_gain: int = 20_000
    """From this size on so much is cleared without asking what it costs: the window would be full the sooner."""
    cold_trigger: int = 50_000
    cold_gain: int = 5_000
    """The same for when nothing is in the cache any more."""
    cold_keep: int = 5
    least_characters: int = 500
    """Shorter outputs stay."""
    protected_tools: frozenset[str] = _PROTECTED
    reading_tools: frozenset[str] = _READING
    """Tools that only look: what they said is outdated when they say something else to the same question."""

    @classmethod
    def for_window(cls, window: int | None) -> PruningSettings:
        """The usual settings, in proportion for a window in which those would come too late."""
        if window is None or window >= 200_000:
            return cls()
        half, fortieth = window // 2, window // 40
        return cls(
            trigger=min(cls.trigger, half), minimum_gain=fortieth, crowded_trigger=half, crowded_gain=window // 10,
            cold_trigger=half // 2, cold_gain=fortieth,
        )  # fmt: skip


@dataclass(frozen=True)
class Pruning:
    """What to send instead of some results, by the id of their call, and how many tokens that saves."""

    stubs: Mapping[str, str]
    gain: int


@dataclass(frozen=True)
class _Result:
    call: str
    tool: str
    arguments: str
    text: str
    tokens: int
    failed: bool
    pictured: bool
    clearable: bool
    place: int
    """Of its message."""
    reads: int
    """The answers that were given with it in sight."""


class Pruner:
    """Decides for one task. What does not pay is not looked at again before it can have come to pay."""

    def __init__(self, settings: PruningSettings | None = None, counter: TokenCounter | None = None) -> None:
        self._settings = settings or PruningSettings()
        self._counter = counter or TokenCounter()
        self._not_before = 0

    def is_due(self, used: int, *, cold: bool = False) -> bool:
        """Whether a request of ``used`` tokens is looked at."""
        trigger = self._settings.cold_trigger if cold else self._settings.trigger
        return used >= trigger and (cold or used >= self._not_before)

    def plan(self, messages: Sequence[ApiMessage], used: int, *, cold: bool = False) -> Pruning | None:
        """What to clear of these messages, as they would be sent, when the request has ``used`` tokens; None for nothing.

        What loses nothing goes first: outputs that are there twice, and those a later look has overtaken.
        """
        settings = self._settings
        trigger = settings.cold_trigger if cold else settings.trigger
        least = settings.cold_gain if cold else settings.minimum_gain
        if not self.is_due(used, cold=cold):
            return None
        results = _results(messages, settings, self._counter)
        keep = settings.cold_keep if cold else settings.keep
        kept = {result.call for result in [*results[-keep:], *_important(results)[-keep:]]}
        needless = _needless(results, settings)
        # What stays must not point to what goes.
        stubs = {call: stub for call, stub in needless.items() if call not in kept}
        stubs |= {r.call: _cleared(r) for r in results if r.clearable and r.call not in kept}
        for choice in (needless, stubs):
            gain = self._gain(results, choice)
            enough = choice is stubs or used - gain < trigger
            crowded = used >= settings.crowded_trigger and gain >= settings.crowded_gain
            if not choice or gain < least or not enough:
                continue
            if cold or crowded or self._pays(messages, results, choice, gain):
                self._not_before = used - gain + least
                return Pruning(choice, gain)
        # Looking takes the longer the more there is.
        self._not_before = used + max(least // 4, used // _PORTION)
        return None

    def _pays(
        self, messages: Sequence[ApiMessage], results: Sequence[_Result], stubs: Mapping[str, str], gain: int
    ) -> bool:
        """Whether reading them has cost as much by now as it costs to write anew what comes after the first of them.

        Nobody knows how long the work goes on. Whoever changes over when both have cost the same never pays more than twice
        what would have been best.
        """
        going = [result for result in results if result.call in stubs]
        behind = self._counter.messages(messages[min(result.place for result in going) :]) - gain
        return sum(result.tokens * result.reads for result in going) >= _REWRITING * behind

    def _gain(self, results: Sequence[_Result], stubs: Mapping[str, str]) -> int:
        saved = (result.tokens - self._counter.text(stubs[result.call]) for result in results if result.call in stubs)
        return sum(saved)


def _results(messages: Sequence[ApiMessage], settings: PruningSettings, counter: TokenCounter) -> list[_Result]:
    """The results the model has seen, oldest first."""
    calls: dict[str, tuple[str, str]] = {}
    results: list[_Result] = []
    answers = sum(message.role == "assistant" for message in messages)
    for place, message in enumerate(messages):
        if message.role == "assistant":
            answers -= 1
        elif not answers:
            break
        for block in content_blocks(message):
            if block.get("type") == "tool_use":
                arguments = json.dumps(block.get("input"), ensure_ascii=False, sort_keys=True)
                calls[string_of(block, "id")] = string_of(block, "name"), arguments
            elif block.get("type") == "tool_result" and (call := string_of(block, "tool_use_id")) in calls:
                results.append(_result(block, call, *calls[call], settings, counter, place, answers))
    return results


def _result(
    block: JsonObject,
    call: str,
    tool: str,
    arguments: str,
    settings: PruningSettings,
    counter: TokenCounter,
    place: int,
    reads: int,
) -> _Result:
    text = result_text(block)
    tokens = counter.blocks([block])
    pictured = has_image(block)
    long = pictured or len(text) >= settings.least_characters
    clearable = long and tool not in settings.protected_tools and _STUB.fullmatch(text) is None
    return _Result(
        call,
        tool,
        arguments,
        text,
        tokens,
        failed=bool(block.get("is_error")),
        pictured=pictured,
        clearable=clearable,
        place=place,
        reads=reads,
    )


def _needless(results: Sequence[_Result], settings: PruningSettings) -> dict[str, str]:
    """Outputs that say nothing the others do not. Of equal ones the first stays: what is before it is still in the cache."""
    stubs: dict[str, str] = {}
    for group in _same_question(results):
        first: dict[str, _Result] = {}
        newest = next((result for result in reversed(group) if not result.failed), None)
        for result in group:
            if not result.clearable or result.pictured:
                continue
            if first.setdefault(result.text, result) is not result:
                stubs[result.call] = f"[Repeated: the same output as that of the same call of {result.tool} above.]"
            elif newest is not None and result.tool in settings.reading_tools and result.text != newest.text:
                stubs[result.call] = f"[Outdated: {result.tool} was called in the same way later, see below.]"
    return stubs


def _important(results: Sequence[_Result]) -> list[_Result]:
    """Outputs that were called for again after they had been cleared, oldest first: what the work needs comes back.

    Clearing them once more would only have them fetched once more.
    """
    again = {
        group[-1].call
        for group in _same_question(results)
        if any(_STUB.fullmatch(result.text) for result in group[:-1])
    }
    return [result for result in results if result.call in again]


def _same_question(results: Sequence[_Result]) -> Iterator[list[_Result]]:
    groups: dict[tuple[str, str], list[_Result]] = {}
    for result in results:
        groups.setdefault((result.tool, result.arguments), []).append(result)
    return (group for group in groups.values() if len(group) > 1)


def _cleared(result: _Result) -> str:
    arguments = result.arguments
    if len(arguments) > _LONGEST_ARGUMENTS:
        arguments = f"{arguments[:_LONGEST_ARGUMENTS]}…"
    artifact = _ARTIFACT.search(result.text)
    again = f"Its whole output is artifact {artifact[1]}." if artifact else "Call it again if you need it."
    return f"[Cleared: an old output of {result.tool} {arguments}. {again}]"
