"""Putting what a consolidation wrote in force: checked, with the person's own lines in it, and so that it can be undone.

A version is kept before each change. Killed anywhere in between, every file is whole, old or new. Blocks.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Final

from pydantic import Field, ValidationError

from .._private_files import make_private_folder
from ..context import TokenCounter
from ..errors import NotFound
from ..wire import WireModel
from .instruction_filter import without_orders
from .learned_skills import folder_of, folders_without_sources, skills_left, skills_problem
from .memory_folder import CONSOLIDATED, HANDBOOK, RAW_MEMORIES, SKILLS_FOLDER, SUMMARIES_FOLDER, SUMMARY, MemoryFolder
from .person_edits import PersonEdits, edits_between, with_edits
from .pipeline_limits import MEMORY_TOOL_DEVELOPER_INSTRUCTIONS_SUMMARY_TOKEN_LIMIT
from .redaction import redact
from .sources import named_codes, unsourced

__all__ = [
    "BASELINE_FOLDER",
    "InvalidConsolidation",
    "Publication",
    "PublishedState",
    "checked_files",
    "text_hash",
    "told_codes",
]

BASELINE_FOLDER: Final = ".published"
_VERSIONS: Final = ".versions"
_MOST_VERSIONS: Final = 10
_WRITTEN: Final = (HANDBOOK, SUMMARY)
_SUMMARY_PARTS: Final = ("## User Profile", "## General Tips", "## What's in Memory")
_SOURCED_IN_SUMMARY: Final = frozenset({"## User Profile", "## General Tips"})
_SOURCED_IN_HANDBOOK: Final = frozenset({"### learnings", "## General Tips"})
_MOST_PROFILE_WORDS: Final = 500
_TASK_GROUP: Final = re.compile(r"^# Task Group: \S", re.MULTILINE)
_REFERENCE: Final = re.compile(rf"{SUMMARIES_FOLDER}/[\w.-]+\.md")
_LARGEST: Final = 1_000_000
_WITHOUT_SPACES: Final = re.compile(r"[\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")


class InvalidConsolidation(Exception):
    """What was written cannot be put in force; the text says why. What there was stays."""


class PublishedState(WireModel):
    """What the last consolidation was made of and wrote, and what the person changed about it."""

    inputs: dict[str, int] = Field(default_factory=dict)
    """The summaries' files, and when what they tell of was said."""
    published: dict[str, str] = Field(default_factory=dict)
    """The files that were written, by the hashes of their contents."""
    coming: dict[str, str] = Field(default_factory=dict)
    """Those that are being written: one of them may be in its place already."""
    edits: dict[str, PersonEdits] = Field(default_factory=dict)
    own_skills: list[str] = Field(default_factory=list)
    """The folders of skills that somebody wrote or edited: they are theirs, and nothing changes or removes them."""
    consolidated_at: str | None = None
    runs: Annotated[int, Field(ge=0)] = 0


class Publication:
    """The files that a consolidation writes, in one person's folder."""

    def __init__(self, folder: MemoryFolder) -> None:
        self._folder: Final = folder

    def state(self) -> PublishedState:
        """How it stands; as if nothing was consolidated yet where the record of it is damaged."""
        with suppress(ValidationError):
            text = self._folder.text(CONSOLIDATED)
            if text:
                return PublishedState.model_validate_json(text)
        return PublishedState()

    def edits(self) -> Mapping[str, PersonEdits]:
        """What the person changed in each file, since ever."""
        state = self.state()
        return {name: self._edits_of(name, state) for name in _WRITTEN}

    def stage(self, place: Path) -> MemoryFolder:
        """A copy to work on, in an empty folder of its own."""
        staged = MemoryFolder(place)
        staged.make()
        names = [*_WRITTEN, RAW_MEMORIES, *self._folder.names(SUMMARIES_FOLDER), *self._skills(self.state())]
        for name in names:
            text = self._folder.text(name)
            if text:
                staged.write(name, text)
        return staged

    def publish(self, staged: MemoryFolder, inputs: Mapping[str, int], codes: frozenset[str], *, now: datetime) -> None:
        """Put what was written in force. Raises InvalidConsolidation, and then nothing changed; StorageUnavailable."""
        made = checked_files(staged, inputs, codes)
        state = self.state()
        edits = {name: self._edits_of(name, state) for name in _WRITTEN}
        texts = {name: with_edits(text, edits[name]) if name in edits else text for name, text in made.items()}
        self._put(state, texts, edits, dict(inputs), now)

    def forget(self, change: Callable[[str], str], *, at: datetime) -> None:
        """Take something out of every file, older versions and remembered edits included, so that nothing brings it back."""
        state = self.state()
        edits = {name: self._edits_of(name, state) for name in _WRITTEN}
        kept = {name: _changed_edits(each, change) for name, each in edits.items()}
        texts = {name: changed for name in _WRITTEN if (changed := change(self._folder.text(name))).strip()}
        self._put(state, {**texts, **skills_left(self._skills(state), change)}, kept, state.inputs, at)
        for version in self.versions():
            place = MemoryFolder(self._folder.root / _VERSIONS / version)
            for name in _WRITTEN:
                text = place.text(name)
                if text and (changed := change(text)) != text:
                    place.write(name, changed)
            skills = {name: place.text(name) for name in place.names(SKILLS_FOLDER)}
            left = skills_left(skills, change)
            for name, text in skills.items():
                if name not in left:
                    place.remove(name)
                elif left[name] != text:
                    place.write(name, left[name])

    def clear(self, *, now: datetime) -> None:
        """There is nothing left to learn from: what was written goes, but for the person's own lines."""
        state = self.state()
        edits = {name: self._edits_of(name, state) for name in _WRITTEN}
        texts = {name: with_edits("", PersonEdits(written=edits[name].written)) for name in _WRITTEN}
        self._put(state, {name: text for name, text in texts.items() if text.strip()}, edits, {}, now)

    def versions(self) -> list[str]:
        """The versions that can be gone back to, the newest first."""
        place = self._folder.root / _VERSIONS
        return sorted((path.name for path in place.iterdir() if path.is_dir()), reverse=True) if place.is_dir() else []

    def undo(self) -> str:
        """Go back to what was in force before the last change; that can be undone as well. Raises NotFound."""
        versions = self.versions()
        if not versions:
            raise NotFound("There is no earlier version of what was learned.")
        place = self._folder.root / _VERSIONS / versions[0]
        before = MemoryFolder(place)
        texts = {name: text for name in (*_WRITTEN, *before.names(SKILLS_FOLDER)) if (text := before.text(name))}
        state = self.state()
        # What a person wrote or took out meanwhile holds here as well.
        edits = {name: self._edits_of(name, state) for name in _WRITTEN}
        texts = {name: with_edits(text, edits[name]) if name in edits else text for name, text in texts.items()}
        self._put(state, texts, edits, state.inputs, datetime.now(tz=UTC))
        shutil.rmtree(place, ignore_errors=True)
        return versions[0]

    def _put(
        self,
        state: PublishedState,
        texts: Mapping[str, str],
        edits: Mapping[str, PersonEdits],
        inputs: dict[str, int],
        now: datetime,
    ) -> None:
        folder = self._folder
        own = self._own_skills(state)
        texts = {name: text for name, text in texts.items() if folder_of(name) not in own}
        self._keep_version(state, now)
        hashes = {name: text_hash(text) for name, text in texts.items()}
        for name in _WRITTEN:
            if name in texts:
                # What it is compared with later must be there before the file itself is.
                folder.write(f"{BASELINE_FOLDER}/{hashes[name]}.md", texts[name])
        coming = {"coming": hashes, "edits": dict(edits), "own_skills": sorted(own)}
        folder.write(CONSOLIDATED, state.model_copy(update=coming).to_json())
        for name in (*_WRITTEN, *self._skills(state)):
            if name not in texts:
                folder.remove(name)
        for name, text in texts.items():
            folder.write(name, text)
        folder.write(
            CONSOLIDATED,
            PublishedState(
                inputs=inputs,
                published=hashes,
                edits=dict(edits),
                own_skills=sorted(own),
                consolidated_at=now.astimezone(UTC).isoformat(timespec="seconds"),
                runs=state.runs + 1,
            ).to_json(),
        )
        self._drop_old(hashes)

    def _edits_of(self, name: str, state: PublishedState) -> PersonEdits:
        known, now = state.edits.get(name, PersonEdits()), self._folder.text(name)
        hashes = [each for each in (state.published.get(name), state.coming.get(name)) if each is not None]
        if text_hash(now) in hashes:
            return known
        baselines = [self._folder.text(f"{BASELINE_FOLDER}/{each}.md") for each in hashes]
        if not now and not any(baselines):
            return known
        newer = min(
            (edits_between(baseline, now) for baseline in baselines or [""]),
            key=lambda edits: len(edits.written) + len(edits.removed),
        )
        return known.joined(newer)

    def _skills(self, state: PublishedState) -> dict[str, str]:
        """The files of the skills that were learned, and that nobody has made their own."""
        own = self._own_skills(state)
        names = (name for name in self._folder.names(SKILLS_FOLDER) if folder_of(name) not in own)
        return {name: self._folder.text(name) for name in names}

    def _own_skills(self, state: PublishedState) -> frozenset[str]:
        """The folders of skills of which a file is not as it was written here. Of files that no record knows, those are
        somebody's own that name no conversation they were learned from.
        """
        texts = {name: self._folder.text(name) for name in self._folder.names(SKILLS_FOLDER)}
        written = {name: {state.published.get(name), state.coming.get(name)} - {None} for name in texts}
        edited = {
            folder_of(name) for name, text in texts.items() if written[name] and text_hash(text) not in written[name]
        }
        unknown = {folder_of(name) for name in texts if not written[name]}
        known = frozenset(map(folder_of, texts))
        return known & (edited | (unknown & folders_without_sources(texts)) | set(state.own_skills))

    def _keep_version(self, state: PublishedState, now: datetime) -> None:
        names = [*(name for name in _WRITTEN if self._folder.text(name)), *self._skills(state)]
        if not names:
            return
        place = self._folder.root / _VERSIONS / f"{now.astimezone(UTC):%Y-%m-%dT%H-%M-%S-%f}"
        make_private_folder(place)
        version = MemoryFolder(place)
        for name in names:
            version.write(name, self._folder.text(name))

    def _drop_old(self, hashes: Mapping[str, str]) -> None:
        for version in self.versions()[_MOST_VERSIONS:]:
            shutil.rmtree(self._folder.root / _VERSIONS / version, ignore_errors=True)
        kept = {f"{each}.md" for each in hashes.values()}
        with suppress(OSError):
            for path in (self._folder.root / BASELINE_FOLDER).iterdir():
                if path.name not in kept:
                    path.unlink()


def _changed_edits(edits: PersonEdits, change: Callable[[str], str]) -> PersonEdits:
    """The edits without what the change takes out; a line that loses only a part stays as it is then."""
    written = [line.model_copy(update={"text": text}) for line in edits.written if (text := change(line.text))]
    return PersonEdits(written=written, removed=[line for line in edits.removed if change(line)])


def told_codes(summary: str) -> frozenset[str]:
    """The codes in the profile and the tips, which every conversation is told; the index after them names everything."""
    return named_codes(summary.split(_SUMMARY_PARTS[2], 1)[0])


def checked_files(staged: MemoryFolder, inputs: Mapping[str, int], codes: frozenset[str]) -> dict[str, str]:
    """What was written, if it can be put in force. Raises InvalidConsolidation."""
    made = {name: _checked_text(staged, name) for name in _WRITTEN}
    _check_handbook(made[HANDBOOK], inputs, codes)
    _check_summary(made[SUMMARY], codes)
    return {**made, **_checked_skills(staged, codes)}


def _checked_text(staged: MemoryFolder, name: str) -> str:
    path = staged.root / name
    if path.is_symlink() or not path.is_file():
        raise InvalidConsolidation(f"{name} was not written.")
    if path.stat().st_size > _LARGEST:
        raise InvalidConsolidation(f"{name} is larger than {_LARGEST:,} bytes.")
    text = without_orders(redact(staged.text(name))).strip()
    if not text:
        raise InvalidConsolidation(f"{name} is empty.")
    return f"{text}\n"


def _check_handbook(text: str, inputs: Mapping[str, int], codes: frozenset[str]) -> None:
    if _TASK_GROUP.search(text) is None:
        raise InvalidConsolidation(f"{HANDBOOK} has no '# Task Group: ...'.")
    unknown = sorted({name for name in _REFERENCE.findall(text) if name not in inputs})
    if unknown:
        raise InvalidConsolidation(f"{HANDBOOK} names {unknown[0]}, which does not exist.")
    _check_sources(HANDBOOK, text, _SOURCED_IN_HANDBOOK, codes)


def _check_summary(text: str, codes: frozenset[str]) -> None:
    missing = [part for part in _SUMMARY_PARTS if part not in text.split("\n")]
    if missing:
        raise InvalidConsolidation(f"{SUMMARY} has no {missing[0]!r}.")
    profile = text.split(_SUMMARY_PARTS[0], 1)[1].split("\n## ", 1)[0]
    if _word_count(profile) > _MOST_PROFILE_WORDS:
        raise InvalidConsolidation(f"The user profile has more than {_MOST_PROFILE_WORDS} words.")
    most = MEMORY_TOOL_DEVELOPER_INSTRUCTIONS_SUMMARY_TOKEN_LIMIT
    if TokenCounter().text(text) > most:
        raise InvalidConsolidation(f"{SUMMARY} is longer than {most:,} tokens.")
    _check_sources(SUMMARY, text, _SOURCED_IN_SUMMARY, codes)


def _word_count(text: str) -> int:
    """Japanese and Chinese put no spaces between words, which are of about two characters."""
    without_spaces = len(_WITHOUT_SPACES.findall(text))
    return len(_WITHOUT_SPACES.sub(" ", text).split()) + (without_spaces + 1) // 2


def _check_sources(name: str, text: str, headings: frozenset[str], codes: frozenset[str]) -> None:
    # What came from a conversation must go with it.
    line = next(unsourced(text, headings, codes), None)
    if line is not None:
        raise InvalidConsolidation(
            f"In {name} this names no conversation it was learned from, such as [{min(codes)}]: {line[:200]}"
        )


def _checked_skills(staged: MemoryFolder, codes: frozenset[str]) -> dict[str, str]:
    texts = {name: _checked_text(staged, name) for name in staged.names(SKILLS_FOLDER)}
    problem = skills_problem(texts, codes)
    if problem is not None:
        raise InvalidConsolidation(problem)
    return texts


def text_hash(text: str) -> str:
    """What tells the text of a published file from another one."""
    return sha256(text.encode("utf-8", "replace")).hexdigest()[:32]
