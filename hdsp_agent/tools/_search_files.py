"""Seeing what files there are, and finding lines in them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path
from typing import Annotated, ClassVar, Final

from pydantic import StringConstraints

from .._threads import Stop, in_thread
from ..config import ToolGroup
from ..messages import ClineSayTool
from ._action import ActionRequest
from ._file_access import raise_failure
from ._folder_walk import FolderEntry, FolderWalk
from ._grep import SearchFindings, SearchPatternProblem, check, find_ripgrep, grep_files
from ._path_policy import CheckedPath
from ._tool import SimpleTool, ToolArguments, ToolContext, ToolResult, answered, denied
from ._tool_failed import ToolFailed

__all__ = ["ListFiles", "ListFilesArguments", "SearchFiles", "SearchFilesArguments"]

_MOST_ENTRIES: Final = 500
_MOST_FILES: Final = 50_000
_MOST_CHARACTERS: Final = 60_000

PathArgument = Annotated[str, StringConstraints(min_length=1, max_length=4096)]


class ListFilesArguments(ToolArguments):
    """The arguments of ``list_files``."""

    path: PathArgument = "."
    """The folder, relative to the workspace."""
    recursive: bool = False
    """Whether to list what is below it too."""


class ListFiles(SimpleTool[ListFilesArguments]):
    """Lists a folder."""

    name: ClassVar[str] = "list_files"
    group: ClassVar[ToolGroup | None] = "read"
    description: ClassVar[str] = (
        "List the files and folders in a folder, and with `recursive` also below it. Folders end in a slash; symbolic "
        f"links are shown and not followed. At most {_MOST_ENTRIES} entries, the nearest first; recursive lists leave out "
        "what .gitignore names and do not enter hidden folders, node_modules and the like."
    )
    parallel_safe: ClassVar[bool] = True

    async def _run(self, arguments: ListFilesArguments, context: ToolContext) -> ToolResult:
        place = await in_thread(lambda _stop: _folder(arguments.path, context))
        shown = ClineSayTool(
            tool="listFilesRecursive" if arguments.recursive else "listFilesTopLevel",
            path=place.shown,
            is_outside_workspace=place.is_outside or None,
        )
        action = ActionRequest(risks=place.read_risks, tool=self.name, path=place.shown)
        approval = await context.approve(action, "tool", shown.to_json())
        if not approval.approved:
            return denied(approval)
        show_hidden = context.settings.show_roo_ignored_files
        text = await in_thread(lambda stop: _listing(place, arguments.recursive, context, show_hidden, stop))
        return answered(approval, ToolResult(text))


class SearchFilesArguments(ToolArguments):
    """The arguments of ``search_files``."""

    regex: Annotated[str, StringConstraints(min_length=1, max_length=1_000)]
    """The regular expression each line is searched for."""
    path: PathArgument = "."
    """The folder to search, or a single file."""
    file_pattern: Annotated[str, StringConstraints(min_length=1, max_length=200)] | None = None
    """Only files whose name, or whose path if it has a slash, matches this glob, such as `*.py`."""


class SearchFiles(SimpleTool[SearchFilesArguments]):
    """Searches files for a regular expression."""

    name: ClassVar[str] = "search_files"
    group: ClassVar[ToolGroup | None] = "read"
    description: ClassVar[str] = (
        "Search the lines of all text files below a folder for a regular expression; matches come with file names and line "
        "numbers. Leaves out what .gitignore names, hidden folders, notebooks, binary files and files over 10 MB."
    )
    parallel_safe: ClassVar[bool] = True

    async def _run(self, arguments: SearchFilesArguments, context: ToolContext) -> ToolResult:
        try:
            check(arguments.regex)
        except SearchPatternProblem as problem:
            raise ToolFailed(str(problem)) from None
        place = await in_thread(lambda _stop: context.paths.resolve(arguments.path))
        shown = ClineSayTool(
            tool="searchFiles",
            path=place.shown,
            regex=arguments.regex,
            file_pattern=arguments.file_pattern,
            is_outside_workspace=place.is_outside or None,
        )
        action = ActionRequest(risks=place.read_risks, tool=self.name, path=place.shown)
        approval = await context.approve(action, "tool", shown.to_json())
        if not approval.approved:
            return denied(approval)
        scope = await in_thread(lambda stop: _files(place, arguments.file_pattern, context, stop))
        ripgrep = await asyncio.to_thread(find_ripgrep)
        try:
            findings = await grep_files(arguments.regex, scope.files, ripgrep=ripgrep)
        except SearchPatternProblem as problem:
            raise ToolFailed(str(problem)) from None
        return answered(approval, ToolResult(_report(findings, scope, context)))


@dataclass(frozen=True)
class _Scope:
    files: Sequence[str]
    notebooks: int
    cut_short: bool


def _folder(given: str, context: ToolContext) -> CheckedPath:
    place = context.paths.resolve(given)
    if not place.path.exists():
        raise ToolFailed(f"The folder {place.shown} does not exist. Paths are relative to the workspace.")
    if not place.path.is_dir():
        raise ToolFailed(f"{place.shown} is not a folder. Use read_file to see what is in it.")
    return place


def _listing(place: CheckedPath, recursive: bool, context: ToolContext, show_hidden: bool, stop: Stop) -> str:
    context.paths.again(place)
    walk = FolderWalk(place.path, context.paths, recursive=recursive)
    lines: list[str] = []
    seen = (entry for entry in walk.entries(stop) if show_hidden or not entry.is_hidden_from_agent)
    try:
        entries = list(islice(seen, _MOST_ENTRIES + 1))
    except OSError as error:
        raise_failure(error, place.shown, "listed")
    lines = [_line(entry, place.path) for entry in entries[:_MOST_ENTRIES]]
    lines.sort(key=str.casefold)
    if not lines:
        lines.append(f"{place.shown} is empty.")
    if len(entries) > _MOST_ENTRIES:
        lines.append(f"[… only the nearest {_MOST_ENTRIES} entries; list a folder below for more …]")
    if walk.stopped_early:
        lines.append("[… listing took too long and was stopped; list a folder below …]")
    if walk.denied:
        lines.append(
            f"[… {len(walk.denied)} folders could not be read, such as {context.paths.shown(walk.denied[0])} …]"
        )
    return "\n".join(lines)


def _line(entry: FolderEntry, root: Path) -> str:
    name = entry.path.relative_to(root).as_posix()
    # A name can have a newline in it, and would then look like two.
    name = name if name.isprintable() else repr(name)
    if entry.link is not None:
        return f"{name} -> {entry.link}"
    mark = " (hidden from you by .hdspignore)" if entry.is_hidden_from_agent else ""
    return f"{name}{'/' if entry.is_directory else ''}{mark}"


def _files(place: CheckedPath, pattern: str | None, context: ToolContext, stop: Stop) -> _Scope:
    context.paths.again(place)
    if place.path.is_file():
        if place.path.suffix.lower() == ".ipynb":
            return _Scope((), 1, False)
        return _Scope((str(place.path),), 0, False)
    if not place.path.is_dir():
        raise ToolFailed(f"{place.shown} is neither a folder nor an ordinary file, or does not exist.")
    walk = FolderWalk(place.path, context.paths)
    files: list[str] = []
    notebooks = 0
    try:
        for entry in walk.entries(stop):
            if not entry.is_file or entry.is_hidden_from_agent:
                continue
            if not _wanted(entry.path, place.path, pattern):
                continue
            if entry.path.suffix.lower() == ".ipynb":
                notebooks += 1
                continue
            if not place.is_outside and not context.paths.is_plain(entry.path):
                continue
            if len(files) >= _MOST_FILES:
                return _Scope(sorted(files), notebooks, True)
            files.append(str(entry.path))
    except OSError as error:
        raise_failure(error, place.shown, "searched")
    return _Scope(sorted(files), notebooks, walk.stopped_early)


def _wanted(path: Path, root: Path, pattern: str | None) -> bool:
    if pattern is None:
        return True
    relative = path.relative_to(root).as_posix()
    if "/" not in pattern:
        return fnmatchcase(path.name, pattern)
    return fnmatchcase(relative, pattern) or fnmatchcase(f"/{relative}", pattern.replace("**/", "*/"))


def _report(findings: SearchFindings, scope: _Scope, context: ToolContext) -> str:
    parts: list[str] = []
    size = 0
    for file in findings.files:
        lines = [
            f"{context.paths.shown(Path(file.path))}",
            *(f"{match.line:>6} | {match.text}" for match in file.matches),
        ]
        size += sum(len(line) + 1 for line in lines)
        if size > _MOST_CHARACTERS and parts:
            findings.more = True
            break
        parts.append("\n".join(lines))
    notes = []
    if findings.more:
        notes.append("There are more matches than shown; narrow the pattern, the folder or file_pattern.")
    if findings.timed_out:
        notes.append("The search took too long and was stopped: there may be more. Narrow it, or simplify the pattern.")
    if scope.cut_short:
        notes.append("There are too many files to search them all. Search a folder below.")
    if scope.notebooks:
        notes.append(f"{scope.notebooks} notebooks were not searched: they are not touched as text.")
    head = f"{findings.count} matching lines in {len(findings.files)} files." if parts else "No line matches."
    return "\n\n".join([head, *parts, *notes])
