"""What was learned, line by line: what a person sees, changes and deletes of it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from hdsp_agent.errors import InvalidInput, NotFound
from hdsp_agent.memory import MemoryFolder
from hdsp_agent.memory.extracted_files import Extracted, ExtractedFiles, short_id
from hdsp_agent.memory.learned_items import LearnedItems
from hdsp_agent.memory.publication import Publication
from hdsp_agent.messages import TaskId

NOW = datetime(2026, 11, 27, tzinfo=UTC)
TASK = TaskId("0b8f9d0e-6f2c-4d7b-9d52-6a1f3c2b4e5d")
CODE = short_id(TASK)


@pytest.fixture
def folder(tmp_path: Path) -> MemoryFolder:
    folder = MemoryFolder(tmp_path / "memories")
    extracted = Extracted(
        task_id=TASK, owner="me", source_updated_at=1, began_at="2026-11-01T10:00:00Z", generated_at="2026-11-02T10:00:00Z",
        raw_memory="x", rollout_summary="y", rollout_slug="churn",
    )  # fmt: skip
    ExtractedFiles(folder).put(extracted)
    return folder


def handbook(*lines: str) -> str:
    items = "\n".join(f"- {line}" for line in lines)
    return f"# Task Group: churn\n## Task 1: clean\n### keywords\n- churn\n### learnings\n{items}\n"


def test_each_line_names_the_conversations_it_came_from(folder: MemoryFolder) -> None:
    folder.write("MEMORY.md", handbook(f"Ages are in months [{CODE}]", "Written by hand"))
    first, second = LearnedItems(folder).all()
    assert (first.text, [each.task_id for each in first.sources]) == ("Ages are in months", [TASK])
    assert (second.text, second.sources) == ("Written by hand", ())
    assert "learnings" in first.section and "clean" in first.section


@pytest.mark.parametrize(
    "said", ["The age is in df[age]", "Units [years, not months]", "Use x [see 2026]", "A list [1, 2]"]
)
def test_brackets_that_name_no_conversation_belong_to_what_is_said(folder: MemoryFolder, said: str) -> None:
    folder.write("MEMORY.md", handbook(said, f"{said} [{CODE}]"))
    assert [item.text for item in LearnedItems(folder).all()] == [said, said]
    LearnedItems(folder).edit(LearnedItems(folder).all()[1].id, "Something else")
    assert folder.text("MEMORY.md") == handbook(said, f"Something else [{CODE}]")


def test_a_line_is_changed_and_deleted_by_its_id(folder: MemoryFolder) -> None:
    folder.write("MEMORY.md", handbook("same", "same", "other"))
    items = LearnedItems(folder)
    assert len({item.id for item in items.all()}) == 3
    items.delete(items.all()[1].id)
    assert folder.text("MEMORY.md") == handbook("same", "other")
    with pytest.raises(NotFound):
        items.delete("nothing")
    with pytest.raises(InvalidInput):
        items.edit(items.all()[0].id, "  ")


def test_what_a_person_deleted_does_not_come_back_with_an_undo(folder: MemoryFolder) -> None:
    publication = Publication(folder)
    summary = (
        f"## User Profile\n- Wants polars [{CODE}]\n## General Tips\n- Tip [{CODE}]\n## What's in Memory\n- churn\n"
    )
    for lines in (("Secret plan", "B"), ("Secret plan", "B", "C")):
        staged = publication.stage(folder.root / ".staging-x")
        staged.write("MEMORY.md", handbook(*(f"{line} [{CODE}]" for line in lines)))
        staged.write("memory_summary.md", summary)
        publication.publish(staged, {}, frozenset({CODE}), now=NOW)
    items = LearnedItems(folder)
    items.delete(next(item.id for item in items.all() if item.text == "Secret plan"))
    publication.undo()
    texts = [item.text for item in items.all() if item.file == "MEMORY.md"]
    assert texts == ["B"]
    assert publication.edits()["MEMORY.md"].removed == [f"- Secret plan [{CODE}]"]
