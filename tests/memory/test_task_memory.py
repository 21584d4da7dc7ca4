"""What conversations are told of memory: whole notes, what stays and what counts as used."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path

from hdsp_agent.memory import Memories
from hdsp_agent.memory.extracted_files import Extracted, ExtractedFiles, short_id
from hdsp_agent.memory.memories import MemoryText, TaskMemory
from hdsp_agent.memory.memory_folder import HANDBOOK, SUMMARY
from hdsp_agent.memory.publication import told_codes
from hdsp_agent.memory.rollout_files import rollout_file, selected_inputs, sync_rollout_files
from hdsp_agent.messages import TaskId

DAY = 24 * 3600 * 1000


def of_task(memories: Memories) -> TaskMemory:
    return memories.of_task(None, None, lambda: None)


def told(memories: Memories) -> Sequence[MemoryText]:
    return of_task(memories).texts()


def learned(task: str, *, said_at: int = 1_000 * DAY) -> Extracted:
    return Extracted(
        task_id=TaskId(task), owner="me", source_updated_at=said_at, began_at="2026-11-01T10:00:00Z",
        generated_at="2026-11-02T10:00:00Z", raw_memory="- Ages are in months", rollout_summary="# Cleaning churn.csv",
    )  # fmt: skip


def test_of_too_many_notes_whole_old_ones_are_left_out_and_pinned_ones_stay(tmp_path: Path) -> None:
    memories = Memories(tmp_path, "", lambda folder: None)
    person = memories.notes(None).person()
    person.add("Pinned: never touch raw/", day="2020-01-01", pinned=True)
    for number in range(200):
        day = date(2026, 1, 1) + timedelta(days=number)
        person.add(f"Note {number} says not to drop rows without looking at them first.", day=day.isoformat())
    [text] = told(memories)
    kept = [note.text for note in text.notes]
    assert kept[0] == "Pinned: never touch raw/" and kept[1:] == [
        f"Note {number} says not to drop rows without looking at them first."
        for number in range(200 - len(kept) + 1, 200)
    ]
    assert 20 < len(kept) < 200
    assert all(f"- {note.text} ({note.day}, id {note.id})" in text.text for note in text.notes)
    assert f"({201 - len(kept)} notes are left out here; search_memory finds them.)" in text.text
    assert any(hit.passage.note is not None for hit in of_task(memories).search("Note 3 rows", 5))


def test_a_note_that_is_too_long_takes_no_others_with_it(tmp_path: Path) -> None:
    memories = Memories(tmp_path, "", lambda folder: None)
    person = memories.notes(None).person()
    person.add("Use polars", day="2026-01-01")
    for number in range(2):
        person.add(f"{number} " + "길다 " * 600, day="2026-01-02")
    path = memories.folder(None).root / "profile.md"
    path.write_text(path.read_text() + "\n## Written by hand\n" + "Free words. " * 2_000 + "\n- The last line\n")
    [text] = told(memories)
    assert [note.text[:15].strip() for note in text.notes] == [
        "Use polars",
        "1 길다 길다 길다 길다 길",
        "The last line",
    ]
    assert "(1 notes are left out here" in text.text and "Free words" not in text.text


def test_files_that_cannot_be_read_are_counted_until_they_can(tmp_path: Path) -> None:
    memories = Memories(tmp_path, "", lambda folder: None)
    heard: list[int] = []
    memories.on_unreadable = heard.append
    memory = of_task(memories)
    memories.notes(None).person().add("Use polars", day="2026-01-01")
    assert len(memory.texts()) == 1 and heard == []
    summary = memories.folder(None).root / SUMMARY
    summary.mkdir()
    assert len(memory.texts()) == 1 and heard == [1]
    assert len(told(memories)) == 1 and heard == [1], "told once"
    summary.rmdir()
    assert len(memory.texts()) == 1 and heard == [1, 0]


def test_what_a_search_finds_counts_as_used(tmp_path: Path) -> None:
    folder = Memories(tmp_path, "", lambda folder: None).folder(None)
    files = ExtractedFiles(folder)
    found, other = learned("aaaa-1"), learned("bbbb-2")
    for each in (found, other):
        files.put(each)
    folder.write(HANDBOOK, f"# Task Group: churn\n### learnings\n- Ages are in months [{short_id('aaaa-1')}]\n")
    memory = of_task(Memories(tmp_path, "", lambda folder: None))
    assert memory.search("ages months", 5)
    used, unused = files.get(TaskId("aaaa-1")), files.get(TaskId("bbbb-2"))
    assert used is not None and used.usage_count == 1 and used.last_usage is not None
    assert unused is not None and unused.usage_count == 0
    sync_rollout_files(folder, [other])
    memory.read(rollout_file(other))
    unused = files.get(TaskId("bbbb-2"))
    assert unused is not None and unused.usage_count == 1


def test_what_every_conversation_is_told_does_not_grow_too_old() -> None:
    old, older = learned("aaaa-1"), learned("bbbb-2")
    now = old.source_updated_at + 31 * DAY
    summary = (
        f"## User Profile\n- Wants polars [{short_id('aaaa-1')}]\n\n## General Tips\n\n"
        f"## What's in Memory\n- churn [{short_id('bbbb-2')}]\n"
    )
    assert selected_inputs([old, older], now=now) == []
    assert selected_inputs([old, older], now=now, told=told_codes(summary)) == [old]
