"""Skills that were learned: folders of files, each with the conversations it came from in the front matter of its SKILL.md."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from .memory_folder import SKILLS_FOLDER
from .sources import codes_in

__all__ = ["folder_of", "folders_without_sources", "skills_left", "skills_problem"]

_MOST_FILES: Final = 200
_FILE: Final = re.compile(rf"{SKILLS_FOLDER}/[\w-]+/(?:SKILL\.md|(?:scripts|templates|examples)/[\w.-]+)")
_FRONT_MATTER: Final = re.compile(r"---\n(?=.*^name: \S)(?=.*^description: \S).*?^---$", re.DOTALL | re.MULTILINE)
_SOURCES: Final = re.compile(r"^sources: *\[.*$", re.MULTILINE)


def folder_of(name: str) -> str:
    """The folder of the skill that a file belongs to, such as ``skills/clean``."""
    return "/".join(name.split("/")[:2])


def skills_problem(texts: Mapping[str, str], codes: frozenset[str]) -> str | None:
    """What is wrong with the files of skills, in words for the model; None if nothing is."""
    if len(texts) > _MOST_FILES:
        return f"There are more than {_MOST_FILES} files of skills."
    for name, text in texts.items():
        if not _FILE.fullmatch(name):
            return f"{name} is no file of a skill."
        skill = f"{folder_of(name)}/SKILL.md"
        if skill not in texts:
            return f"{name} belongs to no skill: {skill} was not written."
        if name != skill:
            continue
        if _FRONT_MATTER.match(text) is None:
            return f"{name} has no front matter with name and description."
        sources = _SOURCES.search(text)
        if sources is None or not codes_in(sources[0], codes):
            # A skill must go with the conversations that it was learned from.
            example = f", such as sources: [{min(codes)}]" if codes else ""
            return f"The front matter of {name} names no conversation that it was learned from{example}."
    return None


def folders_without_sources(texts: Mapping[str, str]) -> set[str]:
    """The skills that name no conversation they were learned from."""
    return {folder for folder in map(folder_of, texts) if _SOURCES.search(texts.get(f"{folder}/SKILL.md", "")) is None}


def skills_left(texts: Mapping[str, str], change: Callable[[str], str]) -> dict[str, str]:
    """The files of the skills that still have a source once something is taken out of what they say."""
    changed = {name: change(text) if name.endswith("/SKILL.md") else text for name, text in texts.items()}
    gone = folders_without_sources(changed)
    return {name: text for name, text in changed.items() if folder_of(name) not in gone}
