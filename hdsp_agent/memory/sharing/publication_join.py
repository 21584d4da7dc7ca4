"""What was consolidated on two servers, of which one was killed or cut off: what was written first counts. Blocks."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from ..memory_folder import CONSOLIDATED, HANDBOOK, SKILLS_FOLDER, SUMMARY, MemoryFolder
from ..person_edits import PersonEdits, edits_between, with_edits
from ..publication import BASELINE_FOLDER, PublishedState, text_hash
from .file_join import JoinedFile, joined_file
from .shared_names import is_consolidated

__all__ = ["PublicationJoin"]


class PublicationJoin:
    """The files of one person's folder while the database has another consolidation. ``record`` is what says of ours.

    ``never_met`` says that the other one cannot know what the person wrote into earlier ones here.
    """

    def __init__(self, root: Path, record: bytes, *, never_met: bool) -> None:
        self._folder: Final = MemoryFolder(root)
        self._state = PublishedState()
        with suppress(ValidationError):
            self._state = PublishedState.model_validate_json(record)
        self._known: Final = self._state.edits if never_met else {}

    def covers(self, name: str) -> bool:
        """Whether the file is one of those that are published together."""
        return (
            name in (SUMMARY, HANDBOOK, CONSOLIDATED) or name.startswith(f"{SKILLS_FOLDER}/") or is_consolidated(name)
        )

    def joined(self, name: str, lines: Sequence[str], mine: bytes | None, theirs: bytes | None) -> JoinedFile:
        """Theirs. Of ours only what the person wrote or took out: what a model wrote here was written anew there."""
        if mine is None or is_consolidated(name):
            return JoinedFile(theirs)
        text = mine.decode("utf-8", "replace")
        hashes = {self._state.published.get(name), self._state.coming.get(name)} - {None}
        is_as_published, known = text_hash(text) in hashes, self._known.get(name, PersonEdits())
        if is_as_published and known.is_empty:
            return JoinedFile(theirs)
        if name not in (SUMMARY, HANDBOOK):
            return joined_file(name, lines, {}, mine, theirs)
        published = [self._folder.text(f"{BASELINE_FOLDER}/{each}.md") for each in sorted(filter(None, hashes))]
        edits = min(
            (edits_between(each, text) for each in published or [""]),
            key=lambda edits: len(edits.written) + len(edits.removed),
        )
        all_edits = known if is_as_published else known.joined(edits)
        said = with_edits((theirs or b"").decode("utf-8", "replace"), all_edits)
        return JoinedFile(said.encode() if said.strip() else None)
