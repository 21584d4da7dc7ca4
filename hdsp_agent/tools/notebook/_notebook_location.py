"""Which notebook a call means: where it lies, what may be done to it, and what Jupyter calls it."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Annotated, Final, TypeVar

from pydantic import StringConstraints

from ..._threads import in_thread
from ...errors import HdspAgentError, UnsavedElsewhere
from ...messages import CellId, FollowUpData, NotebookRef, Suggestion
from ...notebooks import NotebookDocument
from .._path_policy import CheckedPath, leads_elsewhere
from .._tool import ToolContext
from .._tool_failed import ToolFailed

__all__ = ["NotebookLocation", "NotebookPath", "cell_asked_at", "once_saved", "place_of", "still_allowed"]

R = TypeVar("R")

NotebookPath = Annotated[str, StringConstraints(min_length=1, max_length=4096)]

_TRY_AGAIN: Final = "I have saved it: go on"
_LEAVE: Final = "Leave the notebook as it is"
_MOST_ASKED: Final = 5


@dataclass(frozen=True)
class NotebookLocation:
    """A notebook that may be worked with."""

    checked: CheckedPath
    path: str
    """In the contents API, as the page knows it."""
    document: NotebookDocument

    @property
    def shown(self) -> str:
        """As people and the model see it."""
        return self.checked.shown

    @property
    def folder(self) -> str:
        """Where its kernel works."""
        return str(self.checked.path.parent)

    def ref(self) -> NotebookRef:
        """For messages about it."""
        return NotebookRef(path=self.document.path)


async def place_of(given: str | None, context: ToolContext) -> NotebookLocation:
    """The notebook of this path, or else the one the task is about. Raises ToolFailed for what may not be touched."""
    access = context.notebooks.access
    root = access.root
    if given is None:
        if context.notebook is None:
            raise ToolFailed("This task is about no notebook in particular: say which one by its path.")
        path = access.now_at(context.notebook.path)
        given = path if root is None else str(root / path)
        checked = await in_thread(lambda _stop: context.paths.resolve(given))
    else:
        checked = await in_thread(lambda _stop: context.paths.resolve(given))
        if not checked.path.name.endswith(".ipynb") and not given.endswith(".ipynb"):
            raise ToolFailed(f"{checked.shown} is not a notebook: those end in .ipynb. Use the file tools for it.")
        path = await in_thread(lambda _stop: _api_path(given, checked, root, context))
    if root is not None:
        path, checked = await _meant_now(path, checked, root, context)
        path, checked = await _as_open(path, checked, root, context)
    try:
        document = access.document(path)
    except HdspAgentError as error:
        raise ToolFailed(error.message) from error
    return NotebookLocation(_as_called(checked, path, root, context), path, document)


def _api_path(given: str, checked: CheckedPath, root: Path | None, context: ToolContext) -> str:
    """What Jupyter calls it. A tab may have it open by the name of a link, so the name given is kept where it can be."""
    if root is None:
        if checked.is_outside:
            raise ToolFailed(f"{given} is outside the workspace, where Jupyter has no notebooks here.")
        return checked.shown
    asked = Path(os.path.normpath(context.workspace / os.path.expanduser(given)))
    for base in (root, Path(os.path.realpath(root))):
        if asked.is_relative_to(base) and os.path.realpath(asked) == str(checked.path):
            return asked.relative_to(base).as_posix()
    return context.notebooks.access.api_path(checked.path)


async def _meant_now(path: str, checked: CheckedPath, root: Path, context: ToolContext) -> tuple[str, CheckedPath]:
    """A file that is there is meant itself, even if it was put there past Jupyter under the name of one renamed or deleted.

    If none is there, the name leads to where its notebook went, and that place is judged anew.
    """
    access = context.notebooks.access
    now = access.now_at(path)
    if await in_thread(lambda _stop: checked.path.exists() and (now == path or not _same(checked.path, root / now))):
        access.appeared(path)
        return path, checked
    if now == path:
        return path, checked
    return now, await in_thread(lambda _stop: context.paths.resolve(str(root / now)))


async def _as_open(path: str, checked: CheckedPath, root: Path, context: ToolContext) -> tuple[str, CheckedPath]:
    """By another name of its file, if it is open by that: past the tab nothing may be written. That name is judged, too."""
    called = await context.notebooks.called(path)
    if called == path:
        return path, checked
    return called, await in_thread(lambda _stop: context.paths.resolve(str(root / called)))


def _same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False


def _as_called(checked: CheckedPath, path: str, root: Path | None, context: ToolContext) -> CheckedPath:
    """By the name it is called here, if a link has another."""
    if root is None or checked.is_outside:
        return checked
    called = PurePosixPath(root.as_posix()) / path
    workspace = PurePosixPath(context.workspace.as_posix())
    return replace(checked, shown=str(called.relative_to(workspace))) if called.is_relative_to(workspace) else checked


def cell_asked_at(place: NotebookLocation, context: ToolContext) -> CellId | None:
    """The cell of this notebook at which the person asked to have it changed; the notebook may be renamed since."""
    asked_at = context.state.allowed_edits.cell
    here = asked_at is not None and context.notebooks.access.now_at(asked_at[0]) == place.document.path
    return asked_at[1] if asked_at is not None and here else None


async def still_allowed(place: NotebookLocation, context: ToolContext) -> None:
    """Raise ToolFailed unless the notebook is still the file that was asked about: its name, or a folder's, may be a link by now."""
    await in_thread(lambda _stop: _police_again(place, context))


def _police_again(place: NotebookLocation, context: ToolContext) -> None:
    root, path = context.notebooks.access.root, place.document.path
    before = place.checked
    if root is None:
        context.paths.again(before)
        return
    now = context.paths.resolve(str(root / path))
    # One that was renamed is another path, and may be that as long as nothing else is to be said against it.
    if (now.path != before.path and path == place.path) or not now.risks <= before.risks:
        raise leads_elsewhere(place.shown, now)


async def once_saved(work: Callable[[], Awaitable[R]], place: NotebookLocation, context: ToolContext) -> R:
    """What comes of it. Where a tab has changes that nobody saved, the person is asked what to do about that."""
    for _ in range(_MOST_ASKED):
        try:
            return await work()
        except UnsavedElsewhere as error:
            question = FollowUpData(
                question=f"{error.message} Shall I go on?",
                suggest=[Suggestion(answer=_TRY_AGAIN), Suggestion(answer=_LEAVE)],
            )
            reply = await context.ask("followup", question.to_json())
            if reply.text != _TRY_AGAIN:
                said = reply.text or "nothing"
                raise ToolFailed(
                    f"{error.message} Nothing was changed. The person, asked about it, said: {said}"
                ) from error
    raise ToolFailed(f"{place.shown} has changes in a browser tab that are still not saved. Nothing was changed.")
