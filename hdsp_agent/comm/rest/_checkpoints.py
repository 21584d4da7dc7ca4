"""The checkpoints of a workspace: viewed, compared, restored, and a restore undone."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final, Literal

from ..._portable_names import portable_path
from ...checkpoints import CheckpointDiff
from ...checkpoints.timeline import CellVersions, CheckpointView, RestorePreview, RestoreResult, StoreView, TimelineView
from ..checkpoint_access import CheckpointAccess, CheckpointPlace
from ..identity import owner_of
from ._checkpoint_bodies import (
    CellVersionsQuery,
    CheckpointDiffQuery,
    CheckpointFileQuery,
    CheckpointPlaceQuery,
    ExportCheckpointQuery,
    RestoreBody,
    SaveCheckpointBody,
    StoreActionBody,
    TimeLineQuery,
    UndoBody,
)
from ._rest_endpoint import Download, RestHandler, download, endpoint

if TYPE_CHECKING:
    from ...agent import CheckpointService

__all__ = [
    "CellVersionsHandler",
    "CheckpointDiffHandler",
    "CheckpointExportHandler",
    "CheckpointFileHandler",
    "CheckpointPreviewHandler",
    "CheckpointRestoreHandler",
    "CheckpointStoreHandler",
    "CheckpointUndoHandler",
    "CheckpointUndoPreviewHandler",
    "CheckpointsHandler",
]


_CHUNK: Final = 256 * 1024


class _CheckpointsBase(RestHandler):
    @property
    def access(self) -> CheckpointAccess:
        """The checkpoints of this server's workspaces."""
        return self.services.checkpoints

    def place(self, asked: CheckpointPlaceQuery) -> CheckpointPlace:
        """Who asks about which workspace."""
        return CheckpointPlace(owner_of(self), asked.task, asked.path)


class CheckpointsHandler(_CheckpointsBase):
    """`GET` and `POST checkpoints`"""

    @endpoint("List what was done to a workspace, newest first", answer=TimelineView, query=TimeLineQuery)
    async def get(self, *, query: TimeLineQuery) -> TimelineView:
        """Page by page: ``before`` is the last operation of the page before."""
        return await self.access.view(
            self.place(query), before=query.before, limit=query.limit, only_task=query.only_task
        )

    @endpoint(
        "Save the workspace as it is now", answer=CheckpointView, body=SaveCheckpointBody, action="write", status=201
    )
    async def post(self, *, body: SaveCheckpointBody) -> CheckpointView:
        """With a notebook's path also its cells and its kernel's variables. Unchanged and without a note, it is the newest again."""
        return await self.access.save(self.place(body), body.note)


class CellVersionsHandler(_CheckpointsBase):
    """`GET checkpoints/cells`"""

    @endpoint("List earlier versions of a cell", answer=CellVersions, query=CellVersionsQuery)
    async def get(self, *, query: CellVersionsQuery) -> CellVersions:
        """Newest first, each different from the next."""
        folder, checkpoints = await self.access.at(CheckpointPlace(owner_of(self), path=query.path))
        return await (await checkpoints.timeline(folder)).cell_versions(query.path, query.cell)


class CheckpointStoreHandler(_CheckpointsBase):
    """`GET` and `POST checkpoints/store`"""

    @endpoint(
        "Show how much space a workspace's checkpoints use, and may use", answer=StoreView, query=CheckpointPlaceQuery
    )
    async def get(self, *, query: CheckpointPlaceQuery) -> StoreView:
        """Measured now."""
        folder, checkpoints = await self.access.at(self.place(query))
        return await (await checkpoints.timeline(folder)).store()

    @endpoint(
        "Clean up a workspace's checkpoints, or settle an interrupted restore",
        answer=StoreView,
        body=StoreActionBody,
        action="write",
    )
    async def post(self, *, body: StoreActionBody) -> StoreView:
        """Where no restore was cut short there is nothing to settle."""
        return await self.access.look_after(self.place(body), body.action)


class CheckpointDiffHandler(_CheckpointsBase):
    """`GET checkpoints/{checkpoint}/diff`"""

    @endpoint(
        "Compare two checkpoints, or a checkpoint with the current state",
        answer=CheckpointDiff,
        query=CheckpointDiffQuery,
    )
    async def get(self, checkpoint: str, *, query: CheckpointDiffQuery) -> CheckpointDiff:
        """By default against the checkpoint before."""
        folder, checkpoints = await self.access.at(self.place(query))
        return await checkpoints.diff(folder, checkpoint, query.against, only=query.only, with_content=query.content)


class CheckpointFileHandler(_CheckpointsBase):
    """`GET checkpoints/{checkpoint}/file`"""

    @download("A file as it was, to be saved", media_types=("application/octet-stream",), query=CheckpointFileQuery)
    async def get(self, checkpoint: str, *, query: CheckpointFileQuery) -> Download:
        """Never shown by the browser itself: it may be anything."""
        folder, checkpoints = await self.access.at(self.place(query))
        data = await (await checkpoints.timeline(folder)).files.content(checkpoint, query.file)

        async def chunks() -> AsyncIterator[bytes]:
            for start in range(0, len(data), _CHUNK):
                yield data[start : start + _CHUNK]

        return Download(PurePosixPath(query.file).name, "application/octet-stream", chunks())


class CheckpointExportHandler(_CheckpointsBase):
    """`GET checkpoints/{checkpoint}/export`"""

    @download(
        "A checkpoint's files as a zip, or it and those before it as a git repository in a zip",
        media_types=("application/zip",),
        query=ExportCheckpointQuery,
    )
    async def get(self, checkpoint: str, *, query: ExportCheckpointQuery) -> Download:
        """Written to a temporary file first."""
        suffix = "zip" if query.kind == "zip" else "git.zip"
        folder, checkpoints = await self.access.at(self.place(query))
        chunks = _export(checkpoints, folder, checkpoint, query.kind)
        return Download(f"checkpoint-{checkpoint}.{suffix}", "application/zip", chunks)


class CheckpointPreviewHandler(_CheckpointsBase):
    """`POST checkpoints/{checkpoint}/preview`"""

    @endpoint("Preview restoring a checkpoint", answer=RestorePreview, body=RestoreBody, action="write")
    async def post(self, checkpoint: str, *, body: RestoreBody) -> RestorePreview:
        """Saves the workspace as it is, and changes nothing in it."""
        return await self.access.preview(self.place(body), checkpoint, body.parts)


class CheckpointRestoreHandler(_CheckpointsBase):
    """`POST checkpoints/{checkpoint}/restore`"""

    @endpoint("Restore a checkpoint, or parts of it", answer=RestoreResult, body=RestoreBody, action="write")
    async def post(self, checkpoint: str, *, body: RestoreBody) -> RestoreResult:
        """Whole or not at all. The answer names the operation that undoes it."""
        return await self.access.restore(self.place(body), checkpoint, body.parts)


class CheckpointUndoPreviewHandler(_CheckpointsBase):
    """`POST checkpoint-operations/{operation}/preview`"""

    @endpoint("Preview undoing a restore", answer=RestorePreview, body=UndoBody, action="write")
    async def post(self, operation: str, *, body: UndoBody) -> RestorePreview:
        """Saves the workspace as it is, and changes nothing in it."""
        return await self.access.preview_undo(self.place(body), operation, overwrite=body.overwrite)


class CheckpointUndoHandler(_CheckpointsBase):
    """`POST checkpoint-operations/{operation}/undo`"""

    @endpoint("Undo a restore, or redo it", answer=RestoreResult, body=UndoBody, action="write")
    async def post(self, operation: str, *, body: UndoBody) -> RestoreResult:
        """Everything that it restored, and nothing else."""
        return await self.access.undo(self.place(body), operation, overwrite=body.overwrite)


async def _export(
    checkpoints: CheckpointService, folder: Path, checkpoint: str, kind: Literal["zip", "git"]
) -> AsyncIterator[bytes]:
    """A checkpoint's files as a zip, or it and those before it as a bare git repository in a zip."""
    files = (await checkpoints.timeline(folder)).files
    async with _temporary_folder() as temporary:
        target = temporary / "checkpoint.zip"
        if kind == "zip":
            await files.export(checkpoint, target, kind)
        else:
            name = portable_path(os.fsencode(folder.name)) or "workspace"
            repository = temporary / "repository" / f"{name}.git"
            await asyncio.to_thread(repository.parent.mkdir)
            await files.export(checkpoint, repository, kind)
            await asyncio.to_thread(
                shutil.make_archive, os.fspath(target.with_suffix("")), "zip", repository.parent, repository.name
            )
        file = await asyncio.to_thread(target.open, "rb")
        try:
            while chunk := await asyncio.to_thread(file.read, _CHUNK):
                yield chunk
        finally:
            await asyncio.to_thread(file.close)


@asynccontextmanager
async def _temporary_folder() -> AsyncIterator[Path]:
    folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="hdsp-agent-"))
    try:
        yield folder
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
