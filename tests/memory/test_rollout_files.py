"""Which conversations a consolidation begins from, and the files it finds them in."""

from __future__ import annotations

import random
from pathlib import Path

from hdsp_agent.memory import MemoryFolder
from hdsp_agent.memory.extracted_files import Extracted, ExtractedFiles, short_id
from hdsp_agent.memory.memory_folder import RAW_MEMORIES, SUMMARIES_FOLDER
from hdsp_agent.memory.rollout_files import rollout_file, selected_inputs, sync_rollout_files
from hdsp_agent.messages import TaskId

DAY = 86_400_000
NOW = 1_800_000_000_000
LIMIT = NOW - 30 * DAY


def learned(name: str, *, said: int = NOW, used: int = 0, last: int | None = None, is_empty: bool = False) -> Extracted:
    return Extracted(
        task_id=TaskId(name),
        owner="me",
        source_updated_at=said,
        began_at="2026-11-27T10:00:00.000000Z",
        generated_at="2026-11-27T18:00:00.000000Z",
        raw_memory="" if is_empty else f"- raw of {name}",
        rollout_summary="" if is_empty else f"# Summary of {name}",
        rollout_slug="Churn",
        usage_count=used,
        last_usage=last,
    )


def names(selected: list[Extracted]) -> list[str]:
    return [each.task_id for each in selected]


def test_the_most_used_come_first_then_what_was_used_or_said_last() -> None:
    inputs = [
        learned("said-long-ago", said=NOW - 20 * DAY),
        learned("said-lately", said=NOW - DAY),
        learned("used-lately", said=NOW - 20 * DAY, last=NOW - 2),
        learned("used-twice", said=NOW - 20 * DAY, used=2, last=NOW - 10 * DAY),
        learned("used-thrice", said=NOW - 20 * DAY, used=3, last=NOW - 19 * DAY),
        learned("said-again-after-use", said=NOW - 1, last=NOW - 19 * DAY),
        learned("b-same", said=NOW - 5 * DAY),
        learned("a-same", said=NOW - 5 * DAY),
    ]
    expected = [
        "used-thrice",
        "used-twice",
        "said-again-after-use",
        "used-lately",
        "said-lately",
        "a-same",
        "b-same",
        "said-long-ago",
    ]
    for seed in range(5):
        random.Random(seed).shuffle(inputs)
        assert names(selected_inputs(inputs, now=NOW)) == expected


def test_what_nobody_used_for_thirty_days_drops_out_just_then() -> None:
    inputs = [
        learned("said-at-the-limit", said=LIMIT),
        learned("said-before-it", said=LIMIT - 1),
        learned("used-at-the-limit", said=LIMIT - 50 * DAY, last=LIMIT),
        learned("used-before-it", said=LIMIT - 50 * DAY, last=LIMIT - 1),
        learned("used-often-before-it", said=LIMIT - 1, used=99),
    ]
    assert names(selected_inputs(inputs, now=NOW)) == ["said-at-the-limit", "used-at-the-limit"]
    assert names(selected_inputs(inputs, now=NOW + 1)) == []


def test_what_taught_nothing_is_no_input() -> None:
    half = learned("half").model_copy(update={"rollout_summary": " \n"})
    assert names(selected_inputs([learned("a"), learned("b", is_empty=True), half], now=NOW)) == ["a"]


def test_of_more_than_two_hundred_and_fifty_six_the_least_useful_are_left_out() -> None:
    inputs = [learned(f"t-{number:03}", used=number) for number in range(258)]
    selected = selected_inputs(inputs, now=NOW)
    assert len(selected) == 256
    assert (selected[0].task_id, selected[-1].task_id) == ("t-257", "t-002")


def test_the_files_are_the_same_in_whatever_order_they_were_written(tmp_path: Path) -> None:
    folders = []
    for number, order in enumerate((["a", "b", "c"], ["c", "a", "b"])):
        folder = MemoryFolder(tmp_path / str(number))
        files = ExtractedFiles(folder)
        for name in order:
            files.put(learned(name, said=NOW - DAY))
        assert [each.task_id for each in files.all()] == ["a", "b", "c"]
        sync_rollout_files(folder, selected_inputs(files.all(), now=NOW))
        folders.append(folder)
    one, other = ({name: folder.text(name) for name in all_names(folder)} for folder in folders)
    assert one == other and len(one) == 4


def test_there_is_one_summary_a_conversation_and_all_raw_memories_the_newest_first(tmp_path: Path) -> None:
    folder = MemoryFolder(tmp_path)
    older, newer = learned("c-1", said=1_799_000_000_000, used=5), learned("c-2", said=1_799_000_001_000)
    sync_rollout_files(folder, [older, newer])
    assert rollout_file(older) == f"{SUMMARIES_FOLDER}/2026-11-27T10-00-00-{short_id('c-1')}-churn.md"
    assert folder.names(SUMMARIES_FOLDER) == sorted(map(rollout_file, [older, newer]))
    assert folder.text(rollout_file(older)) == (
        "conversation: c-1\nbegan: 2026-11-27T10:00:00.000000Z\nlast said: 2027-01-03T18:13:20.000000Z\n\n"
        "# Summary of c-1\n"
    )
    assert folder.text(RAW_MEMORIES) == (
        "# Raw memories\n\nWhat each conversation taught, the newest first.\n\n"
        f"## Conversation c-2\n\nlast said: 2027-01-03T18:13:21.000000Z\nsummary: {rollout_file(newer)}\n\n- raw of c-2\n\n"
        f"## Conversation c-1\n\nlast said: 2027-01-03T18:13:20.000000Z\nsummary: {rollout_file(older)}\n\n- raw of c-1\n"
    )


def test_files_that_say_what_they_should_are_not_written_again_and_others_go(tmp_path: Path) -> None:
    folder = MemoryFolder(tmp_path)
    stays, goes = learned("stays"), learned("goes")
    sync_rollout_files(folder, [stays, goes])
    before = (tmp_path / rollout_file(stays)).stat()
    sync_rollout_files(folder, [stays])
    after = (tmp_path / rollout_file(stays)).stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert folder.names(SUMMARIES_FOLDER) == [rollout_file(stays)]
    assert "goes" not in folder.text(RAW_MEMORIES)
    sync_rollout_files(folder, [])
    assert all_names(folder) == []


def all_names(folder: MemoryFolder) -> list[str]:
    raw = [RAW_MEMORIES] if (folder.root / RAW_MEMORIES).exists() else []
    return [*folder.names(SUMMARIES_FOLDER), *raw]
