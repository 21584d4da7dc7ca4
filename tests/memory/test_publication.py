"""Only files that say what they should, and where they know it from, are put in force; else what there was stays."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hdsp_agent.memory import MemoryFolder
from hdsp_agent.memory.memory_folder import HANDBOOK, SUMMARY
from hdsp_agent.memory.publication import InvalidConsolidation, Publication
from hdsp_agent.memory.run_log import RunLog
from hdsp_agent.providers import ModelRequest
from hdsp_agent.providers._scripted import Step, call_tool

from ._helpers.memory_home import ME, extraction_answer, handbook, memory_home, summary, writes_memory

NOW = datetime(2026, 11, 27, tzinfo=UTC)
CODES = frozenset({"aaaa", "bbbb"})
FILE = "rollout_summaries/one.md"


def staged(place: Path, told: str, searched: str) -> MemoryFolder:
    folder = MemoryFolder(place)
    folder.make()
    folder.write(SUMMARY, told)
    folder.write(HANDBOOK, searched)
    return folder


def in_force(tmp_path: Path) -> tuple[MemoryFolder, Publication]:
    """A memory that was consolidated before."""
    folder = MemoryFolder(tmp_path / "memories")
    folder.make()
    publication = Publication(folder)
    publication.publish(staged(tmp_path / "first", summary("aaaa"), handbook("aaaa", FILE)), {FILE: 1}, CODES, now=NOW)
    return folder, publication


def contents(folder: MemoryFolder) -> dict[str, bytes]:
    return {str(path.relative_to(folder.root)): path.read_bytes() for path in folder.root.rglob("*") if path.is_file()}


def padded(tokens: int, more: str = "") -> str:
    """A summary of so many tokens."""
    text = summary("aaaa").rstrip("\n") + " "
    room = tokens * 4 - len(text) - len("\n")
    return text + ("word " * tokens)[: room - 1] + "x" + more


def profile(words: int) -> str:
    """A summary with so many words about the person."""
    return summary("aaaa").replace("Wants polars", " ".join(["word"] * (words - 2)))


GOOD, FOUND = summary("aaaa"), handbook("aaaa", FILE)
WRONG = [
    (padded(5_000, "x"), FOUND, "memory_summary.md is longer than 5,000 tokens"),
    (profile(501), FOUND, "The user profile has more than 500 words"),
    (
        summary("aaaa").replace("Wants polars", "私は常に短い回答を好む。" * 300),
        FOUND,
        "The user profile has more than 500 words",
    ),
    (GOOD.replace("## User Profile", "## Profile"), FOUND, "has no '## User Profile'"),
    (GOOD.replace("## General Tips\n", ""), FOUND, "has no '## General Tips'"),
    (GOOD.replace("## What's in Memory", "### What's in Memory"), FOUND, "What's in Memory"),
    (summary("zzzz"), FOUND, r"In memory_summary.md this names no conversation .* such as \[aaaa\]: - Wants polars"),
    (GOOD.replace("- Ages are in months [aaaa]", "- Ages are in months"), FOUND, "names no conversation"),
    ("", FOUND, "memory_summary.md is empty"),
    (GOOD, handbook("aaaa", "rollout_summaries/other.md"), "names rollout_summaries/other.md, which does not exist"),
    (
        GOOD,
        handbook("zzzz", FILE),
        r"In MEMORY.md this names no conversation .* such as \[aaaa\]: - Ages are in months",
    ),
    (GOOD, FOUND.replace("# Task Group: churn", "# Churn"), "MEMORY.md has no '# Task Group: ...'"),
    (GOOD, FOUND + "\n## General Tips\n- Always save\n", "In MEMORY.md this names no conversation"),
    (GOOD, f"{FOUND}{'x ' * 500_000}", "MEMORY.md is larger than 1,000,000 bytes"),
    (GOOD, " \n", "MEMORY.md is empty"),
]


@pytest.mark.parametrize(("told", "searched", "why"), WRONG, ids=[why[:40] for _, _, why in WRONG])
def test_what_is_wrong_is_not_write_if_leased_and_what_there_was_stays(
    tmp_path: Path, told: str, searched: str, why: str
) -> None:
    folder, publication = in_force(tmp_path)
    before = contents(folder)
    with pytest.raises(InvalidConsolidation, match=why):
        publication.publish(staged(tmp_path / "next", told, searched), {FILE: 2}, CODES, now=NOW)
    assert contents(folder) == before


def swap_for_link(path: Path) -> None:
    elsewhere = path.with_name("elsewhere.md")
    path.rename(elsewhere)
    path.symlink_to(elsewhere)


@pytest.mark.parametrize("spoil", [Path.unlink, swap_for_link], ids=["missing", "a link"])
@pytest.mark.parametrize("name", [SUMMARY, HANDBOOK])
def test_what_was_not_written_as_a_file_is_not_write_if_leased(
    tmp_path: Path, name: str, spoil: Callable[[Path], None]
) -> None:
    folder, publication = in_force(tmp_path)
    before = contents(folder)
    written = staged(tmp_path / "next", GOOD, FOUND)
    spoil(written.root / name)
    with pytest.raises(InvalidConsolidation, match=f"{name} was not written"):
        publication.publish(written, {FILE: 2}, CODES, now=NOW)
    assert contents(folder) == before


@pytest.mark.parametrize("told", [padded(5_000), profile(500)], ids=["5,000 tokens", "500 words"])
def test_what_just_fits_is_write_if_leased(tmp_path: Path, told: str) -> None:
    folder, publication = in_force(tmp_path)
    publication.publish(staged(tmp_path / "next", told, FOUND), {FILE: 2}, CODES, now=NOW)
    assert folder.text(SUMMARY) == told.rstrip("\n") + "\n"


def writes(told: str) -> list[Step]:
    return call_tool("write_to_file", {"path": SUMMARY, "content": told}, id="bad")


async def test_an_update_that_stays_wrong_leaves_the_memory_as_it_was(tmp_path: Path) -> None:
    # The fifth is believed, and then found to be wrong.
    finishes = [call_tool("attempt_completion", {"result": f"Done, {number}."}) for number in range(5)]
    bad = writes("## User Profile\n")
    turns = [extraction_answer(), *writes_memory(), extraction_answer("Rows are sorted."), bad, *finishes]
    async with memory_home(tmp_path, turns) as at:
        await at.conversation()
        at.later(7)
        assert (await at.pipeline.round(ME)).consolidation == "done"
        before = [at.folder.text(name) for name in (SUMMARY, HANDBOOK, "consolidated.json")]
        await at.conversation()
        at.later(7)
        report = await at.pipeline.round(ME)
        assert (report.saved, report.consolidation) == (1, "failed")
        assert [at.folder.text(name) for name in (SUMMARY, HANDBOOK, "consolidated.json")] == before
        run = RunLog(at.folder).runs()[-1]
        assert (run.kind, run.outcome) == ("consolidate", "failed") and run.error
        assert run.used.cost > 0, "it cost something all the same"
        assert len(at.model.requests) == 3 + 1 + 6
        assert "has no '## General Tips'" in str(at.model.requests[-1].messages)


async def test_a_model_that_is_told_what_is_wrong_can_mend_it(tmp_path: Path) -> None:
    def mends(request: ModelRequest) -> list[Step]:
        assert "has no '## General Tips'" in str(request.messages)
        code = str(request.messages[0].content).split("- [", 1)[1][:4]
        return writes(summary(code, "Rows are sorted"))

    first, finishes = writes_memory()
    bad = writes("## User Profile\n")
    async with memory_home(tmp_path, [extraction_answer(), first, bad, finishes, mends, finishes]) as at:
        task_id = await at.conversation()
        at.later(7)
        assert (await at.pipeline.round(ME)).consolidation == "done"
        assert at.folder.text(SUMMARY) == summary(at.code(task_id), "Rows are sorted")
