"""Where notes are kept: the person's own, those of a workspace folder, and those of one notebook. Everything here blocks."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Literal, TypeAlias, get_args

from .._portable_names import portable
from .._private_files import (
    Identity,
    identity_of,
    locked,
    make_missing_folders,
    make_private_folder,
    read_with_identity,
    replace_file,
)
from ..errors import Conflict, InvalidInput, NotAllowed
from .note_text import Note, NoteText, new_note
from .redaction import redact

__all__ = ["LONGEST_NOTE", "MOST_NOTES", "SCOPES", "NoteFile", "NoteFiles", "NoteScope"]

NoteScope: TypeAlias = Literal["person", "workspace", "notebook"]
SCOPES: Final[tuple[NoteScope, ...]] = get_args(NoteScope)
LONGEST_NOTE: Final = 2_000
"""Characters."""
MOST_NOTES: Final = 500
"""In one file: all of them are told to the model, as far as there is room."""

_PERSONS_FILE: Final = "profile.md"
_WORKSPACE_FOLDER: Final = Path(".hdsp", "memory")
_WORKSPACE_FILE: Final = "notes.md"
_NOTEBOOKS_FOLDER: Final = "notebooks"
_LOCK_SECONDS: Final = 10.0
_TITLES: Final[dict[NoteScope, str]] = {
    "person": "# What HDSP Agent remembers for me",
    "workspace": "# What HDSP Agent remembers about this folder",
    "notebook": "# What HDSP Agent remembers about this notebook",
}


@dataclass(frozen=True)
class NoteFile:
    """One file of notes; others may change it at any time."""

    scope: NoteScope
    path: Path
    within: Path
    """The folder that the file may not lead out of."""
    on_written: Callable[[], None] = field(default=lambda: None, repr=False, compare=False)
    """Called after a change, in the thread that made it."""

    @property
    def identity(self) -> Identity | None:
        """Which version of the file there is now; None if there is none."""
        return identity_of(self.path)

    def read(self) -> NoteText:
        """What it says; nothing if there is no such file. Raises StorageUnavailable, NotAllowed."""
        self._check_inside()
        found = read_with_identity(self.path)
        return NoteText("" if found is None else found[0].decode("utf-8", "replace"))

    def add(self, text: str, *, day: str, task: str | None = None, pinned: bool = False) -> Note:
        """Remember this. The same words once more change nothing. Raises InvalidInput, StorageUnavailable."""
        note = new_note(_checked(text), day=day, task=task, pinned=pinned)

        def added(now: NoteText) -> tuple[NoteText, Note]:
            same = next((each for each in now.notes if each.text.casefold() == note.text.casefold()), None)
            if same is not None:
                return now, same
            if len(now.notes) >= MOST_NOTES:
                raise Conflict(f"{self.path} has {MOST_NOTES} notes already. Delete some that you no longer need.")
            return now.with_note(note), note

        return self._change(added)

    def edit(
        self, note_id: str, text: str | None = None, *, pinned: bool | None = None, day: str | None = None
    ) -> Note:
        """Change what a note says, or whether it is pinned. Raises NotFound, InvalidInput, StorageUnavailable."""
        checked = None if text is None else _checked(text)

        def edited(now: NoteText) -> tuple[NoteText, Note]:
            note = now.get(note_id)
            note = replace(
                note,
                text=note.text if checked is None else checked,
                pinned=note.pinned if pinned is None else pinned,
                day=note.day if day is None else day,
            )
            return now.changed(note), note

        return self._change(edited)

    def delete(self, note_id: str) -> Note:
        """Forget a note; what it said. Raises NotFound, StorageUnavailable."""
        return self._change(lambda now: (now.without(note_id), now.get(note_id)))

    def delete_all(self) -> int:
        """Forget all of them; how many there were. What else is in the file stays. Raises StorageUnavailable."""
        notes = self.read().notes
        for note in notes:
            self.delete(note.id)
        return len(notes)

    def _change(self, change: Callable[[NoteText], tuple[NoteText, Note]]) -> Note:
        self._check_inside()
        self._make_folder()
        with locked(self.path, _LOCK_SECONDS):
            before = self.read()
            after, note = change(before)
            if after.text != before.text:
                title = "" if before.text.strip() else f"{_TITLES[self.scope]}\n\n"
                replace_file(self.path, (title + after.text).encode("utf-8", "replace"))
                self._share()
        if after.text != before.text:
            self.on_written()
        return note

    def _make_folder(self) -> None:
        if self.scope == "person":
            make_private_folder(self.path.parent)
        else:
            make_missing_folders(self.path.parent)
            for folder in (self.path.parent, *self.path.parent.parents):
                if folder == self.within:
                    break
                self._share_as(folder, 0o777)

    def _share(self) -> None:
        """A folder's notes are for whoever the folder is for."""
        if self.scope != "person":
            self._share_as(self.path, 0o666)

    def _share_as(self, path: Path, most: int) -> None:
        if sys.platform != "win32":
            with suppress(OSError):
                os.chmod(path, most & self.within.stat().st_mode)

    def _check_inside(self) -> None:
        # Whoever made the folder would choose which of the person's files is read or overwritten.
        if not Path(os.path.realpath(self.path)).is_relative_to(os.path.realpath(self.within)):
            raise NotAllowed(f"{self.path} points outside {self.within}, so it is neither read nor written.")


class NoteFiles:
    """The files of notes of one person. ``trusted`` says where a folder really is, if the person trusts it."""

    def __init__(
        self,
        folder: Path,
        trusted: Callable[[Path], Path | None],
        *,
        on_written: Callable[[], None] = lambda: None,
    ) -> None:
        self._folder: Final = folder
        self._trusted: Final = trusted
        self._on_written: Final = on_written

    def person(self) -> NoteFile:
        """What the person wants remembered wherever they work."""
        return NoteFile("person", self._folder / _PERSONS_FILE, self._folder, self._on_written)

    def find(self, scope: NoteScope, workspace: Path | None, notebook: str | None) -> NoteFile:
        """The file of a scope. Raises NotAllowed for a folder that is not trusted, and InvalidInput where there is none."""
        if scope == "person":
            return self.person()
        folder = self._workspace(workspace)
        if scope == "workspace":
            return NoteFile("workspace", folder / _WORKSPACE_FOLDER / _WORKSPACE_FILE, folder, self._on_written)
        if notebook is None:
            raise InvalidInput("This conversation does not belong to a notebook.", field="scope")
        names = [portable(part) for part in notebook.split("/") if part not in ("", ".", "..")]
        if not names:
            raise InvalidInput("A notebook's path is empty.", field="notebook")
        place = folder / _WORKSPACE_FOLDER / _NOTEBOOKS_FOLDER
        return NoteFile("notebook", place.joinpath(*names[:-1], f"{names[-1]}.md"), folder, self._on_written)

    def in_force(self, workspace: Path | None, notebook: str | None) -> list[NoteFile]:
        """The files whose notes count here: of the folder only if it is trusted."""
        found = [self.person()]
        if workspace is not None and self._trusted(workspace) is not None:
            found.append(self.find("workspace", workspace, None))
            if notebook is not None:
                found.append(self.find("notebook", workspace, notebook))
        return found

    def notebook_moved(self, workspace: Path, old: str, new: str) -> bool:
        """A notebook, or a folder of notebooks, has another path: its notes follow. Whether there were any. Raises OSError."""
        if self._trusted(workspace) is None:
            return False
        before, after = self.find("notebook", workspace, old), self.find("notebook", workspace, new)
        for source, target in ((before.path, after.path), (before.path.with_suffix(""), after.path.with_suffix(""))):
            if source.exists() and not target.exists():
                make_missing_folders(target.parent)
                os.rename(source, target)
                return True
        return False

    def _workspace(self, workspace: Path | None) -> Path:
        if workspace is None:
            raise InvalidInput("This conversation has no workspace folder.", field="scope")
        real = self._trusted(workspace)
        if real is None:
            raise NotAllowed(
                f"The folder {workspace} is not trusted, so notes in it are not used. Trust it first, or keep the note for "
                "yourself.",
                field="scope",
            )
        return real


def _checked(text: str) -> str:
    text = redact(text).strip()
    if not text:
        raise InvalidInput("A note cannot be empty. Say what to remember.", field="text")
    if len(text) > LONGEST_NOTE:
        raise InvalidInput(f"A note has {LONGEST_NOTE:,} characters at most. Say it in fewer words.", field="text")
    return text
