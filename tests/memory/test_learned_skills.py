"""Skills that were learned: each names its conversations, and goes with the last of them."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from hdsp_agent.memory import MemoryFolder
from hdsp_agent.memory.memory_folder import SKILLS_FOLDER
from hdsp_agent.memory.publication import InvalidConsolidation, Publication
from hdsp_agent.memory.sources import without_sources

from ._helpers.memory_home import handbook, summary

NOW = datetime(2026, 11, 27, tzinfo=UTC)
CODES = frozenset({"aaaa", "bbbb"})
FILE = "rollout_summaries/one.md"


def skill(sources: str = "sources: [aaaa]\n") -> str:
    return f"---\nname: clean\ndescription: clean churn\n{sources}---\nDrop doubles.\n"


def staged(place: Path, files: dict[str, str]) -> MemoryFolder:
    folder = MemoryFolder(place)
    folder.make()
    folder.write("memory_summary.md", summary("aaaa"))
    folder.write("MEMORY.md", handbook("aaaa", FILE))
    for name, text in files.items():
        folder.write(f"{SKILLS_FOLDER}/{name}", text)
    return folder


def published(tmp_path: Path, files: dict[str, str]) -> tuple[MemoryFolder, Publication]:
    folder = MemoryFolder(tmp_path / "memories")
    folder.make()
    publication = Publication(folder)
    publication.publish(staged(tmp_path / "staged", files), {FILE: 1}, CODES, now=NOW)
    return folder, publication


def forget(publication: Publication, *gone: str) -> None:
    publication.forget(lambda text: without_sources(text, frozenset(gone), CODES), at=NOW)


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({"clean/SKILL.md": skill("")}, "names no conversation"),
        ({"clean/SKILL.md": skill("sources: [zzzz]\n")}, "names no conversation"),
        ({"clean/SKILL.md": skill("sources: none\n")}, "names no conversation"),
        ({"clean/scripts/drop.py": "x"}, "clean/SKILL.md was not written"),
    ],
)
def test_a_skill_without_its_conversations_is_not_write_if_leased(
    tmp_path: Path, files: dict[str, str], why: str
) -> None:
    with pytest.raises(InvalidConsolidation, match=why):
        published(tmp_path, files)


def test_a_skill_goes_with_its_last_conversation_and_all_that_belongs_to_it(tmp_path: Path) -> None:
    folder, publication = published(
        tmp_path,
        {
            "clean/SKILL.md": skill(),
            "clean/scripts/drop.py": "drop()",
            "plot/SKILL.md": skill("sources: [aaaa, bbbb]\n"),
        },
    )
    forget(publication, "aaaa")
    assert folder.names(SKILLS_FOLDER) == [f"{SKILLS_FOLDER}/plot/SKILL.md"]
    assert "sources: [bbbb]" in folder.text(f"{SKILLS_FOLDER}/plot/SKILL.md")
    forget(publication, "bbbb")
    assert folder.names(SKILLS_FOLDER) == []


def test_an_undo_brings_no_skill_of_a_deleted_conversation_back(tmp_path: Path) -> None:
    folder, publication = published(tmp_path, {"clean/SKILL.md": skill()})
    forget(publication, "aaaa")
    kept = [path for path in folder.root.rglob("*") if path.is_file() and "Drop doubles" in path.read_text()]
    assert kept == []
    publication.undo()
    assert folder.names(SKILLS_FOLDER) == []


def edited(tmp_path: Path, name: str = "SKILL.md") -> tuple[MemoryFolder, Publication, Path]:
    """A skill of which somebody changed a file."""
    folder, publication = published(tmp_path, {"clean/SKILL.md": skill(), "clean/scripts/drop.py": "drop()"})
    place = folder.root / SKILLS_FOLDER / "clean" / name
    place.write_text(place.read_text() + "# And count them.\n")
    return folder, publication, place


@pytest.mark.parametrize("name", ["SKILL.md", "scripts/drop.py"])
def test_a_skill_that_somebody_edited_is_theirs(tmp_path: Path, name: str) -> None:
    folder, publication, place = edited(tmp_path, name)
    before = {path: folder.text(path) for path in folder.names(SKILLS_FOLDER)}
    for code in ("aaaa", "bbbb", "aaaa"):
        forget(publication, code)
    publication.publish(
        staged(tmp_path / "again", {"clean/SKILL.md": skill("sources: [bbbb]\n")}), {FILE: 2}, CODES, now=NOW
    )
    publication.undo()
    publication.clear(now=NOW)
    assert "# And count them." in place.read_text()
    assert {path: folder.text(path) for path in folder.names(SKILLS_FOLDER)} == before


def test_a_skill_that_is_somebodys_own_is_nothing_for_the_model_to_mend(tmp_path: Path) -> None:
    folder, publication, _ = edited(tmp_path)
    folder.write(f"{SKILLS_FOLDER}/mine/SKILL.md", "By hand, without front matter.\n")
    copy = publication.stage(tmp_path / "copy")
    assert copy.names(SKILLS_FOLDER) == []
    publication.publish(staged(tmp_path / "next", {}), {FILE: 2}, CODES, now=NOW)
    assert folder.text(f"{SKILLS_FOLDER}/mine/SKILL.md").startswith("By hand")


def test_without_a_record_a_skill_that_names_its_conversations_still_goes_with_them(tmp_path: Path) -> None:
    folder, publication = published(tmp_path, {"clean/SKILL.md": skill()})
    folder.remove("consolidated.json")
    forget(publication, "aaaa")
    assert folder.names(SKILLS_FOLDER) == []
