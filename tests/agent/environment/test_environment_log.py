"""Over turns, condensations, rewinds and restarts the model is told what it does not know, and nothing twice."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from hdsp_agent.agent.context_window.hidden_steps import REVERTED
from hdsp_agent.agent.environment import renumbered
from hdsp_agent.agent.environment.environment_log import Reference, telling
from hdsp_agent.agent.environment.sections import (
    DIMENSIONS,
    GAP,
    KINDS,
    DimensionName,
    Section,
    SectionEntry,
    bounded,
)
from hdsp_agent.context import TokenCounter
from hdsp_agent.messages import CellId, RecalledItem
from hdsp_agent.persistence import ApiRecord, fork_at
from hdsp_agent.providers import ModelRequest, ToolSpec

from ._helpers.conversation_in_memory import Around, InMemory, lines, read

PROMPT: tuple[DimensionName, ...] = ("role", "instructions")
CHEAP: tuple[DimensionName, ...] = ("mode", "permissions", "model")
OTHER: tuple[DimensionName, ...] = ("memory", "notebook", "outline", "variables", "open_files", "usage")
COUNTER = TokenCounter()


def around() -> Around:
    return Around(
        prompt={"role": lines("role", "Role: code"), "instructions": lines("instructions", "AGENTS.md: brief")},
        cheap={"mode": lines("mode", "Current: code")},
        other={"variables": lines("variables", "x: int"), "usage": lines("usage", "Time: 1")},
    )


def told_of(request: ModelRequest) -> list[str]:
    """The tellings of a request, one after the other."""
    said = [message.content for message in request.messages if not isinstance(message.content, str)]
    texts = [str(block.get("text", "")) for blocks in said for block in blocks]
    return [text for text in texts if text.startswith("<environment_details>")]


async def test_rules_and_mode_that_change_are_told_behind_and_the_prompt_stays() -> None:
    task = InMemory(around())
    first = await task.turn("Do it")
    assert told_of(first) == [
        "<environment_details>\n# Mode\nCurrent: code\n# Variables\nx: int\n# Time and cost\nTime: 1\n</environment_details>"
    ]
    task.around.prompt["instructions"] = lines("instructions", "AGENTS.md: verbose")
    task.around.cheap["mode"] = lines("mode", "Current: ask")
    second = await task.turn()
    assert second.system == first.system and list(second.messages)[: len(first.messages)] == list(first.messages)
    assert told_of(second)[1:] == [
        (
            "<environment_details>\n# Instructions of the person and of the workspace (what changed)\n"
            "In place of what it said before:\nAGENTS.md: verbose\n# Mode (what changed)\nCurrent: ask\n</environment_details>"
        )
    ]
    third = await task.turn()
    assert told_of(third) == told_of(second)


async def test_what_costs_something_is_looked_at_when_the_person_speaks() -> None:
    task = InMemory(around())
    await task.turn("Do it")
    task.around.other["variables"] = lines("variables", "x: str")
    assert len(told_of(await task.turn())) == 1
    assert told_of(await task.turn("And?"))[1] == (
        "<environment_details>\n# Variables (what changed)\nChanged:\nx: str\n</environment_details>"
    )


async def test_other_tools_bring_a_prompt_that_tells_all_of_it_anew() -> None:
    task = InMemory(around())
    first = await task.turn("Do it")
    task.around.prompt["role"] = lines("role", "Role: ask")
    task.where = replace(task.where, tools=(*task.where.tools, ToolSpec("read", "Read.", {"type": "object"})))
    second = await task.turn()
    assert first.system != second.system and "Role: ask" in second.system
    assert told_of(second) == told_of(first)
    task.restart()
    third = await task.turn()
    assert third.system == second.system and told_of(third) == told_of(first)


async def test_after_other_tools_a_restart_keeps_the_prompt_all_the_same() -> None:
    task = InMemory(around())
    first = await task.turn("Do it")
    task.where = replace(task.where, tools=())
    second = await task.turn("On")
    task.around.prompt["role"] = lines("role", "Role: ask")
    task.restart()
    third = await task.turn("On")
    assert first.system == second.system == third.system and read(third)["role"] == {"Role": "Role: ask"}


async def test_a_restart_neither_repeats_nor_forgets() -> None:
    task = InMemory(around())
    first = await task.turn("Do it")
    task.restart()
    assert told_of(await task.turn()) == told_of(first)
    task.restart()
    task.around.other["variables"] = lines("variables", "x: int", "y: int")
    task.around.prompt["role"] = lines("role", "Role: ask")
    second = await task.turn()
    assert list(second.messages)[: len(first.messages)] == list(first.messages) and second.system == first.system
    assert told_of(second)[1:] == [
        (
            "<environment_details>\n# Your role (what changed)\nIn place of what it said before:\nRole: ask\n"
            "# Variables (what changed)\nNew:\ny: int\n</environment_details>"
        )
    ]


async def test_a_task_from_before_is_told_everything_once() -> None:
    task = InMemory(around())
    await task.turn("Do it")
    task.stored.api = [record.model_copy(update={"told": None}) for record in task.stored.api]
    task.restart()
    second = await task.turn()
    assert len(told_of(second)) == 2 and read(second)["variables"] == {"x": "x: int"}
    assert await task.tell(spoken=True) is None


async def test_what_a_rewind_takes_away_is_told_again_and_a_redo_makes_it_known() -> None:
    task = InMemory(around())
    await task.turn("Do it")
    asked = task.stored.tick()
    task.around.cheap["mode"] = lines("mode", "Current: ask")
    await task.turn("On")
    mark = await task.stored.manager.rewind_to_timestamp(asked + 10)
    assert mark is not None
    task.conversation.history_changed()
    request = await task.turn("Again")
    assert read(request)["mode"] == {"Current": "Current: ask"} and "Current: code" in told_of(request)[0]
    assert await task.tell(spoken=True) is None


async def test_a_difference_to_what_is_hidden_is_not_built_on() -> None:
    task = InMemory(around())
    await task.turn()
    task.around.cheap["mode"] = lines("mode", "Current: ask", "Files: all")
    await task.turn()
    between = next(record.seq for record in task.stored.api if "Current: ask" in str(record.content))
    task.around.cheap["mode"] = lines("mode", "Current: code", "Files: all")
    await task.turn()
    await task.stored.manager.hide([between], truncation_id="t", event_ts=task.stored.tick())
    task.conversation.history_changed()
    request = await task.turn()
    assert read(request)["mode"] == {"Current": "Current: code", "Files": "Files: all"}
    assert "# Mode (all of it, in place of what was told before)\nCurrent: code\nFiles: all" in told_of(request)[-1]


async def test_after_a_condensation_all_is_told_again_and_the_prompt_may_be_new() -> None:
    task = InMemory(around())
    first = await task.turn("Do it")
    task.around.prompt["role"] = lines("role", "Role: ask")
    same = await task.turn()
    await task.stored.condense("one")
    task.conversation.history_changed()
    assert not task.context.is_told
    after = await task.turn()
    assert same.system == first.system != after.system and "Role: ask" in after.system
    assert told_of(after) == [
        "<environment_details>\n# Mode\nCurrent: code\n# Variables\nx: int\n# Time and cost\nTime: 1\n</environment_details>"
    ]
    assert task.context.is_told


async def test_a_fold_of_the_newest_step_leaves_the_prompt_and_so_the_cache() -> None:
    task = InMemory(around())
    first = await task.turn("Do it")
    await task.turn()
    task.around.prompt["role"] = lines("role", "Role: ask")
    newest = [record.seq for record in task.stored.api if record.role == "assistant"][-1]
    event = task.stored.tick()
    await task.stored.manager.hide([newest], truncation_id=f"{REVERTED}{event}", event_ts=event)
    task.conversation.history_changed()
    second = await task.turn()
    assert second.system == first.system and read(second)["role"] == {"Role": "Role: ask"}
    assert await task.stored.truncate("truncation-1") is not None
    task.conversation.history_changed()
    third = await task.turn()
    assert third.system != first.system and "Role: ask" in third.system


async def test_a_prompt_that_was_rewound_is_sent_still_after_a_restart_too() -> None:
    task = InMemory(around())
    await task.turn("Do it")
    asked = task.stored.tick()
    task.around.prompt["role"] = lines("role", "Role: ask")
    task.where = replace(task.where, tools=())
    second = await task.turn("On")
    assert await task.stored.manager.rewind_to_timestamp(asked + 10) is not None
    task.conversation.history_changed()
    assert (await task.turn("Again")).system == second.system
    for number in range(30):
        await task.turn(f"words {number}")
    task.restart()
    assert (await task.turn("And?")).system == second.system


async def _forked(task: InMemory) -> InMemory:
    """A copy of the whole conversation, as it is kept."""
    stored = task.stored
    seen = await stored.manager.ui_page(limit=1_000)
    fork = fork_at(stored.ui, stored.api, stored.marks, seen[-1].ts, renumber=renumbered)
    copy = InMemory(task.around, task.where)
    copy.stored.clock = stored.clock
    copy.stored.api, copy.stored.lines = fork.api, [mark.to_json() for mark in fork.marks]
    for message in fork.ui:
        copy.stored.say(message.text or "", say=message.say or "text", ts=message.ts)
    copy.restart()
    return copy


async def test_a_fork_after_a_rewind_is_told_nothing_twice() -> None:
    task = InMemory(around())
    await task.turn("Do it")
    asked = task.stored.tick()
    await task.turn("On")
    assert await task.stored.manager.rewind_to_timestamp(asked + 10) is not None
    task.conversation.history_changed()
    for mode in ("ask", "architect"):
        task.around.cheap["mode"] = lines("mode", f"Current: {mode}")
        await task.turn("Again")
    copy = await _forked(task)
    assert copy.stored.api[-1].seq < task.stored.api[-1].seq
    assert await copy.tell(spoken=True) is None


async def test_a_fork_after_a_condensation_that_was_undone_is_told_nothing_twice() -> None:
    task = InMemory(around())
    await task.turn("Do it")
    task.around.cheap["mode"] = lines("mode", "Current: ask")
    await task.turn("On")
    await task.stored.condense("one")
    task.conversation.history_changed()
    await task.stored.manager.undo()
    task.conversation.history_changed()
    for mode in ("code", "architect"):
        task.around.cheap["mode"] = lines("mode", f"Current: {mode}")
        await task.turn("Again")
    copy = await _forked(task)
    assert copy.stored.api[-1].seq < task.stored.api[-1].seq
    assert await copy.tell(spoken=True) is None


async def test_secrets_are_masked_in_what_is_told_and_in_what_is_kept() -> None:
    secret = "ghp_" + "abcDEF123" * 4
    task = InMemory(around())
    task.around.other["variables"] = lines("variables", f"token: str = {secret}", f"{secret}: int")
    task.around.prompt["instructions"] = lines("instructions", f"AGENTS.md: use {secret}")
    request = await task.turn("Do it")
    task.around.other["variables"] = lines("variables", "x: int")
    task.around.prompt["instructions"] = lines("instructions", f"AGENTS.md: use {secret} now")
    await task.turn("On")
    assert secret not in request.system and secret not in str(request.messages)
    assert secret not in "".join(record.model_dump_json() for record in task.stored.api)


# ---- whatever happens

KEYS = [CellId(f"k{number}") for number in range(7)]
VALUES = st.dictionaries(st.sampled_from(KEYS), st.integers(0, 2), max_size=6)
TURNS = st.sampled_from([None, "spoken", "silent"])
STEPS = st.one_of(
    st.tuples(st.sampled_from(("role", "mode", "outline", "variables")), VALUES, st.permutations(KEYS), TURNS),
    st.tuples(st.sampled_from((*PROMPT, *CHEAP, *OTHER)), VALUES, st.permutations(KEYS), TURNS),
    st.tuples(st.just("flood"), st.sampled_from(("outline", "variables", "open_files"))),
    st.tuples(st.sampled_from(["spoken", "silent", "truncate", "rewind", "undo", "condense", "keep", "restart", "tools"])),
)  # fmt: skip


@settings(max_examples=30, phases=(Phase.explicit, Phase.generate))
@given(st.lists(STEPS, min_size=10, max_size=40))
def test_whatever_happens_what_was_told_is_how_it_is_and_requests_only_grow(steps: list[tuple[object, ...]]) -> None:
    asyncio.run(_run(steps))


async def _run(steps: list[tuple[object, ...]]) -> None:
    task = InMemory(Around())
    last: ModelRequest | None = None
    for number, (what, *more) in enumerate(steps):
        match what:
            case "spoken" | "silent":
                last = await _turn(task, last, number, spoken=what == "spoken")
            case "condense" | "keep" | "truncate" | "rewind" | "undo":
                if last is not None and await _hide(task, str(what), number):
                    task.conversation.history_changed()
                    last = None
            case "restart":
                task.restart()
            case "tools":
                task.where = replace(task.where, tools=(ToolSpec(f"tool{number}", "Do.", {"type": "object"}),))
                last = None
            case "flood":
                [name] = more
                _set(task.around, name, [f"key{n}: {'much ' * 8}{number}" for n in range(800)])  # type: ignore[arg-type]  # as drawn
            case _:
                values, order, turn = more
                _set(task.around, what, [f"{key}: {values[key]}" for key in order if key in values])  # type: ignore[arg-type, index, attr-defined, operator]  # as drawn
                if turn is not None:
                    last = await _turn(task, last, number, spoken=turn == "spoken")


def _set(around: Around, name: DimensionName, texts: list[str]) -> None:
    where = around.prompt if name in PROMPT else around.cheap if name in CHEAP else around.other
    where[name] = lines(name, *texts, numbered=name == "outline")


async def _turn(task: InMemory, last: ModelRequest | None, number: int, *, spoken: bool) -> ModelRequest:
    first = not task.context.is_told
    request = await task.turn(f"words {number}" if spoken else None)
    if last is not None:
        assert request.system == last.system and request.tools == last.tools
        assert list(request.messages)[: len(last.messages)] == list(last.messages)
    known = read(request)
    looked_at = {**task.around.prompt, **task.around.cheap, **(task.around.other if spoken or first else {})}
    for name, dimension in looked_at.items():
        now = bounded(dimension, COUNTER)
        texts = {entry.key: entry.text for entry in now.every}
        shown = {entry.key: entry.text for entry in now.shown}
        knows = known.get(name, {})
        # All that there is room for is known, and whatever is known besides is true.
        assert shown.items() <= knows.items() <= {**texts, **shown}.items(), name
        if KINDS[name].style == "ordered":
            assert list(knows) == [key for key in texts if key in knows]
        if len(texts) == len(shown):
            assert GAP not in knows and knows == texts
    if spoken or first:
        assert await task.tell(spoken=True) is None
    return request


async def _hide(task: InMemory, how: str, number: int) -> bool:
    """Whether anything is hidden, or shown again."""
    stored, manager = task.stored, task.stored.manager
    said = [message.ts for message in await manager.ui_page(limit=1_000) if message.say == "user_feedback"]
    users = [record.seq for record in await manager.api_history() if record.role == "user" and record.told is None]
    match how:
        case "condense":
            await stored.condense(f"condense {number}")
        case "keep":
            await stored.condense(f"condense {number}", keep=[seq for seq in users[-2:] if seq])
        case "truncate":
            return await stored.truncate(f"truncation {number}") is not None
        case "rewind" if said:
            await manager.rewind_to_timestamp(said[len(said) // 2])
        case "undo" if manager.undoable is not None:
            await manager.undo(newer="set_aside")
        case _:
            return False
    return True


def test_every_dimension_takes_part() -> None:
    told = {*PROMPT, *CHEAP, *OTHER, "environment", "person_runs", "workspace_files", "git_status"}
    assert told == set(DIMENSIONS)


async def test_what_of_the_past_was_told_is_known_as_long_as_the_model_knows_it() -> None:
    def memory(*ids: str, room: int = 1_000) -> Section:
        notes = tuple(RecalledItem(kind="note", source=name, title=f"password={name}x1y2z3w4") for name in ids)
        text = "\n".join(f"- {'word ' * room}(2026-01-01, id {name})" for name in ids)
        return Section("memory", (SectionEntry("Notes", text, recalled=notes),) if ids else ())

    async def mask(text: str) -> str:
        return text.replace("x1y2z3w4", "***")

    async def told(section: Section, reference: Reference) -> None:
        found = await telling([section], reference, mask, COUNTER)
        assert found is not None
        record = {"seq": len(seen) + 1, "ts": 1, "role": "user", "content": found.text, "told": found.told}
        reference.take(ApiRecord.model_validate({**record, "timestamp": "", "token_count": 1}))
        seen.append([(item.source, item.title) for item in reference.recalled])

    seen: list[list[tuple[str, str]]] = []
    reference = Reference()
    assert reference.recalled == []
    await told(memory("aa", "bb"), reference)
    await told(memory("bb", "cc"), reference)
    await told(memory(), reference)
    # The middle of what is too long is cut out, and the notes in it are not told.
    await told(memory("dd", "ee", "ff", room=9_000), reference)
    names = [[source for source, _ in one] for one in seen]
    assert names[:3] == [["aa", "bb"], ["bb", "cc"], []]
    assert "ee" not in names[3] and names[3]
    assert seen[0][0][1] == "password=aa***"
