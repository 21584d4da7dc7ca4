"""Which notebooks there are: those that are open or have a kernel, and those in a folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Final

from pydantic import BaseModel, ConfigDict, StringConstraints

from ..._threads import Stop, in_thread
from ...config import ToolGroup
from ...messages import ClineSayTool
from ...notebooks.kernels import KernelInfo
from .._action import ActionRequest, Risk
from .._file_access import raise_failure
from .._folder_walk import FolderWalk
from .._path_policy import CheckedPath
from .._structured import StructuredOutput
from .._tool import SimpleTool, ToolArguments, ToolContext, ToolResult, answered, denied
from .._tool_failed import ToolFailed
from ._outputs import RunningKernel, running_kernel

__all__ = ["ListNotebooks", "ListNotebooksArguments", "NotebookEntry", "NotebookList", "working_notebooks"]

_MOST_LISTED: Final = 500
_MOST_LOOKED_AT: Final = 50_000


class ListNotebooksArguments(ToolArguments):
    """The arguments of ``list_notebooks``."""

    folder: Annotated[str, StringConstraints(min_length=1, max_length=4096)] | None = None
    """A folder, relative to the workspace, whose notebooks are listed, too, with those below it; "." for the workspace."""


class NotebookEntry(BaseModel):
    """A notebook."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    path: str
    """As the other tools take it."""
    open_in_browser: bool
    kernel: RunningKernel | None = None


class NotebookList(StructuredOutput):
    """Notebooks, those that are open first."""

    notebooks: list[NotebookEntry]
    left_out: int
    """How many more there are."""


class ListNotebooks(SimpleTool[ListNotebooksArguments]):
    """Lists notebooks."""

    name: ClassVar[str] = "list_notebooks"
    group: ClassVar[ToolGroup | None] = "read"
    description: ClassVar[str] = (
        "See which notebooks are open in the person's browser or have a kernel, and whether that kernel works; with "
        "`folder` also the notebooks that lie there. Begin here."
    )
    parallel_safe: ClassVar[bool] = True
    Output = NotebookList

    async def _run(self, arguments: ListNotebooksArguments, context: ToolContext) -> ToolResult:
        place = None if arguments.folder is None else await in_thread(lambda _stop: _folder(arguments.folder, context))
        shown = ClineSayTool(
            tool="listNotebooks",
            path=None if place is None else place.shown,
            is_outside_workspace=(place is not None and place.is_outside) or None,
        )
        # What is open the person has before them; what lies in a folder is read.
        risks: frozenset[Risk] = frozenset({"none"}) if place is None else place.read_risks
        action = ActionRequest(risks=risks, tool=self.name, path=None if place is None else place.shown)
        approval = await context.approve(action, "tool", shown.to_json())
        if not approval.approved:
            return denied(approval)
        entries = await working_notebooks(context)
        if place is not None:
            known = {entry.path for entry in entries}
            found = await in_thread(lambda stop: _in_folder(place, context, stop))
            entries += [NotebookEntry(path=path, open_in_browser=False) for path in found if path not in known]
        told = NotebookList(notebooks=entries[:_MOST_LISTED], left_out=max(0, len(entries) - _MOST_LISTED))
        text = context.mask(_text(told))
        return answered(approval, ToolResult(text, structured=lambda: told.model_dump(exclude_none=True)))


async def working_notebooks(context: ToolContext) -> list[NotebookEntry]:
    """The notebooks that are open or have a kernel, but for those that are kept from the agent."""
    notebooks = context.notebooks
    kernels = {kernel.path: kernel for kernel in await notebooks.executor.kernels()}
    open_paths = set(notebooks.access.open_paths)
    names = sorted(open_paths, key=str.casefold) + sorted(set(kernels) - open_paths, key=str.casefold)
    return await in_thread(
        lambda _stop: [
            _entry(shown, name, open_paths, kernels)
            for name in names
            if name.endswith(".ipynb") and (shown := _shown(name, context)) is not None
        ]
    )


def _entry(shown: str, name: str, open_paths: set[str], kernels: Mapping[str, KernelInfo]) -> NotebookEntry:
    kernel = kernels.get(name)
    return NotebookEntry(
        path=shown,
        open_in_browser=name in open_paths,
        kernel=None if kernel is None else running_kernel(kernel, shown),
    )


def _shown(name: str, context: ToolContext) -> str | None:
    """What tools call a notebook that Jupyter calls so; None for one that they may not touch."""
    root = context.notebooks.access.root
    try:
        return context.paths.resolve(name if root is None else str(root / name)).shown
    except ToolFailed:
        return None


def _folder(given: str | None, context: ToolContext) -> CheckedPath:
    place = context.paths.resolve(given or ".")
    if not place.path.is_dir():
        raise ToolFailed(f"{place.shown} is not a folder.", code="not_found")
    return place


def _in_folder(place: CheckedPath, context: ToolContext, stop: Stop) -> list[str]:
    context.paths.again(place)
    walk = FolderWalk(place.path, context.paths)
    found: list[str] = []
    try:
        for looked_at, entry in enumerate(walk.entries(stop)):
            if looked_at >= _MOST_LOOKED_AT:
                break
            if entry.is_file and not entry.is_hidden_from_agent and _is_listed(entry.path):
                found.append(context.paths.shown(entry.path))
    except OSError as error:
        raise_failure(error, place.shown, "listed")
    return found


def _is_listed(path: Path) -> bool:
    return path.suffix == ".ipynb" and not path.name.startswith(".")


def _text(told: NotebookList) -> str:
    lines = [_line(entry) for entry in told.notebooks]
    if told.left_out:
        lines.append(f"[… {told.left_out:,} more …]")
    return "\n".join(lines) or "No notebook is open and none has a kernel. Name a `folder` to see those that lie there."


def _line(entry: NotebookEntry) -> str:
    facts = ["open in the browser"] if entry.open_in_browser else []
    if entry.kernel is not None:
        facts.append(f"kernel {entry.kernel.display_name} ({entry.kernel.state})")
    return f"- {entry.path}{': ' if facts else ''}{', '.join(facts)}"
