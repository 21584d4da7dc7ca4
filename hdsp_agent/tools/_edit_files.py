"""The tools that change text files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated, ClassVar

from pydantic import StringConstraints

from ..config import ToolGroup
from ..messages import ClineSayTool, JsonObject
from ._edit_check import Before, ChangedFileText, Fill, change_file
from ._matching import MatchedLines, NoMatch, find_place, line_at
from ._search_replace_blocks import Block, parse_blocks
from ._text_file import Edit, TextFile
from ._tool import SimpleTool, ToolArguments, ToolContext, ToolResult
from ._tool_failed import ToolFailed

__all__ = [
    "ApplyDiff",
    "ApplyDiffArguments",
    "SearchReplace",
    "SearchReplaceArguments",
    "WriteToFile",
    "WriteToFileArguments",
]

PathArgument = Annotated[str, StringConstraints(min_length=1, max_length=4096)]


class WriteToFileArguments(ToolArguments):
    """The arguments of ``write_to_file``."""

    path: PathArgument
    """The file, relative to the workspace. Missing folders are made."""
    content: str
    """The whole content of the file."""


class WriteToFile(SimpleTool[WriteToFileArguments]):
    """Writes a whole file."""

    name: ClassVar[str] = "write_to_file"
    group: ClassVar[ToolGroup | None] = "edit"
    description: ClassVar[str] = (
        "Create a file, or replace the whole content of one. Give the complete content, never a part with a remark that the "
        "rest stays. To change a part of an existing file use apply_diff or search_replace instead."
    )

    async def _run(self, arguments: WriteToFileArguments, context: ToolContext) -> ToolResult:
        def change(before: Before, fill: Fill) -> ChangedFileText:
            if before.is_newer_than_seen:
                raise ToolFailed(
                    f"{before.shown} was changed since you read it. It was not overwritten. Read it again, and write it "
                    "with what is new in it, or use apply_diff."
                )
            if before.file is None:
                return ChangedFileText(TextFile(fill(arguments.content)))
            return ChangedFileText(before.file.with_text(fill(arguments.content)))

        return await change_file(self.name, "editedExistingFile", arguments.path, change, context)

    def preview(self, partial: JsonObject, context: ToolContext) -> str | None:
        path, content = partial.get("path"), partial.get("content")
        if not isinstance(path, str) or not path:
            return None
        return ClineSayTool(
            tool="newFileCreated", path=path, content=content if isinstance(content, str) else ""
        ).to_json()


class ApplyDiffArguments(ToolArguments):
    """The arguments of ``apply_diff``."""

    path: PathArgument
    """The file, relative to the workspace."""
    diff: Annotated[str, StringConstraints(min_length=1)]
    """One or more blocks: `<<<<<<< SEARCH`, optionally `:start_line:N` and `-------`, the lines as they are, `=======`, the
    lines as they shall be, `>>>>>>> REPLACE`. Write a backslash before a line of the file that looks like a marker."""


class ApplyDiff(SimpleTool[ApplyDiffArguments]):
    """Replaces lines of a file."""

    name: ClassVar[str] = "apply_diff"
    group: ClassVar[ToolGroup | None] = "edit"
    description: ClassVar[str] = (
        "Change parts of an existing text file by SEARCH/REPLACE blocks. SEARCH has whole lines exactly as they are in the "
        "file, white space included, and enough of them to be unique. All line numbers are those of the file before this "
        "call. Either all blocks are applied or none."
    )

    async def _run(self, arguments: ApplyDiffArguments, context: ToolContext) -> ToolResult:
        blocks = parse_blocks(arguments.diff)

        def change(before: Before, fill: Fill) -> ChangedFileText:
            file = _existing(before)
            places = _places(file.text, blocks, fill, before, context)
            return ChangedFileText(file.with_edits([place.edit for place in places]), _notes(places))

        return await change_file(self.name, "appliedDiff", arguments.path, change, context, blocks=len(blocks))

    def preview(self, partial: JsonObject, context: ToolContext) -> str | None:
        path, diff = partial.get("path"), partial.get("diff")
        if not isinstance(path, str) or not path:
            return None
        return ClineSayTool(tool="appliedDiff", path=path, diff=diff if isinstance(diff, str) else "").to_json()


class SearchReplaceArguments(ToolArguments):
    """The arguments of ``search_replace``."""

    path: PathArgument
    """The file, relative to the workspace."""
    old_string: Annotated[str, StringConstraints(min_length=1)]
    """The text to replace, exactly as it is in the file and with enough around it to be unique."""
    new_string: str
    """The text to put in its place."""
    replace_all: bool = False
    """Whether to replace every occurrence."""


class SearchReplace(SimpleTool[SearchReplaceArguments]):
    """Replaces a text in a file."""

    name: ClassVar[str] = "search_replace"
    group: ClassVar[ToolGroup | None] = "edit"
    description: ClassVar[str] = (
        "Replace one text in an existing text file by another. The old text must stand there exactly once, unless "
        "replace_all is set. For several changes of one file use apply_diff."
    )

    async def _run(self, arguments: SearchReplaceArguments, context: ToolContext) -> ToolResult:
        if arguments.old_string == arguments.new_string:
            raise ToolFailed("old_string and new_string are the same: nothing would change.")

        def change(before: Before, fill: Fill) -> ChangedFileText:
            file = _existing(before)
            # What is searched for is in the file or nowhere, so it may be unmasked whoever approves.
            old = context.vault.unmask(arguments.old_string).replace("\r\n", "\n")
            new = fill(arguments.new_string).replace("\r\n", "\n")
            edits, notes = _replaced(file.text, old, new, arguments.replace_all, before, context)
            return ChangedFileText(file.with_edits(edits), notes)

        return await change_file(self.name, "editedExistingFile", arguments.path, change, context)

    def preview(self, partial: JsonObject, context: ToolContext) -> str | None:
        path = partial.get("path")
        return ClineSayTool(tool="editedExistingFile", path=path).to_json() if isinstance(path, str) and path else None


def _existing(before: Before) -> TextFile:
    if before.file is None:
        raise ToolFailed(f"{before.shown} does not exist. Create it with write_to_file, or check the path.")
    return before.file


def _places(text: str, blocks: Sequence[Block], fill: Fill, before: Before, context: ToolContext) -> list[MatchedLines]:
    places: list[MatchedLines] = []
    problems: list[str] = []
    for block in blocks:
        try:
            places.append(_place(text, block, fill, before, context))
        except NoMatch as problem:
            problems.append(f"Block {block.number} of {len(blocks)}: {context.mask(str(problem))}")
    if not problems:
        problems = _overlaps(places)
    if problems:
        raise ToolFailed("\n\n".join([f"Nothing was changed in {before.shown}.", *problems]))
    return places


def _place(text: str, block: Block, fill: Fill, before: Before, context: ToolContext) -> MatchedLines:
    new = fill("\n".join(block.replace)).split("\n") if block.replace else []
    if not block.search:
        return _insertion(text, block, "\n".join(new))
    if block.search == "\n".join(block.replace):
        raise NoMatch("SEARCH and REPLACE are the same.")
    search = context.vault.unmask(block.search)
    return find_place(text, search, new, near=block.start_line, exact_only=before.is_newer_than_seen)


def _insertion(text: str, block: Block, new: str) -> MatchedLines:
    if block.start_line is None and text:
        raise NoMatch("SEARCH is empty. Give :start_line: to insert before a line, or lines to search for.")
    starts = [0, *(found.end() for found in re.finditer("\n", text))]
    line = min(block.start_line or 1, len(starts) + 1)
    if line > len(starts):
        return MatchedLines(Edit(len(text), len(text), f"\n{new}"), line, "exact")
    at = starts[line - 1]
    return MatchedLines(Edit(at, at, new if not text else f"{new}\n"), line, "exact")


def _overlaps(places: Sequence[MatchedLines]) -> list[str]:
    in_order = sorted(enumerate(places, 1), key=lambda each: (each[1].edit.start, each[1].edit.end))
    return [
        f"Blocks {number} and {later} both change line {second.line}. Make them one block."
        for (number, first), (later, second) in pairwise(in_order)
        if second.edit.start < first.edit.end
    ]


def _notes(places: Sequence[MatchedLines]) -> tuple[str, ...]:
    notes: list[str] = []
    for number, place in enumerate(places, 1):
        if place.how == "whitespace":
            notes.append(f"Block {number} was matched at line {place.line} but for white space.")
        elif place.how == "nearly":
            notes.append(
                f"Block {number} was matched at line {place.line}, which is {place.similarity:.0%} like SEARCH: check it."
            )
    return tuple(notes)


def _replaced(
    text: str, old: str, new: str, everywhere: bool, before: Before, context: ToolContext
) -> tuple[list[Edit], tuple[str, ...]]:
    found = [match.start() for match in re.finditer(re.escape(old), text)]
    if found and everywhere:
        return [Edit(start, start + len(old), new) for start in found], (f"Replaced {len(found)} occurrences.",)
    if len(found) == 1:
        return [Edit(found[0], found[0] + len(old), new)], ()
    if found:
        lines = ", ".join(str(line_at(text, start)) for start in found[:10])
        raise ToolFailed(
            f"old_string stands {len(found)} times in {before.shown}, at lines {lines}. Nothing was changed. Give more text "
            "around it, or set replace_all."
        )
    if old.endswith("\n") and new.endswith("\n"):
        old, new = old[:-1], new[:-1]
    try:
        place = find_place(text, old, new.split("\n") if new else [], exact_only=before.is_newer_than_seen)
    except NoMatch as problem:
        raise ToolFailed(f"Nothing was changed in {before.shown}. {context.mask(str(problem))}") from None
    return [place.edit], tuple(note.replace("Block 1", "old_string") for note in _notes([place]))
