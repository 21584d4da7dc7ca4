"""Taking a conversation elsewhere: to read, to import again, to run, or back to Roo Code."""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal, assert_never

from ..._private_files import storage_error
from ..._private_open import open_private
from ...errors import Conflict
from .._task_reader import TaskReader
from ._export_json import render_json
from ._export_markdown import render_markdown
from ._export_notebook import render_notebook
from ._export_roo import ROO_FILES, roo_files

__all__ = ["ExportFormat", "export_task", "render_task"]

ExportFormat = Literal["markdown", "json", "roo", "notebook"]

_SUFFIXES: Final = {"markdown": ".md", "json": ".json", "notebook": ".ipynb", "roo": ""}
_CHUNK_BYTES: Final = 256 * 1024


async def export_task(reader: TaskReader, format: ExportFormat, target: Path, *, overwrite: bool = False) -> Path:
    """Write the task to a file, or to a folder for ``roo``; the path it has then, which appears only when it is complete.

    Into a folder that is there it goes under the task's id. Raises ``Conflict`` rather than overwrite anything.
    """
    again = overwrite and format == "roo" and await asyncio.to_thread(_is_ours, target)
    if not again and await asyncio.to_thread(target.is_dir):
        target = target / f"{reader.task_id}{_SUFFIXES[format]}"
    if not overwrite and await asyncio.to_thread(os.path.lexists, target):
        raise _exists(target)
    unfinished = target.with_name(f".{target.name}.{secrets.token_hex(4)}.partial")
    try:
        if format == "roo":
            await asyncio.to_thread(unfinished.mkdir, 0o700, True)
            for name, chunks in (await roo_files(reader)).items():
                await _write(unfinished / name, chunks)
        else:
            await asyncio.to_thread(lambda: target.parent.mkdir(parents=True, exist_ok=True))
            await _write(unfinished, render_task(reader, format))
        await asyncio.to_thread(_put_in_place, unfinished, target, overwrite)
    except OSError as error:
        raise storage_error(target, "export to", error) from error
    finally:
        await asyncio.to_thread(_remove, unfinished)
    return target


async def render_task(reader: TaskReader, format: Literal["markdown", "json", "notebook"]) -> AsyncIterator[bytes]:
    """The bytes of the file, piece by piece as they are asked for; memory does not grow with the task."""
    match format:
        case "markdown":
            chunks = render_markdown(reader)
        case "json":
            chunks = render_json(reader)
        case "notebook":
            chunks = render_notebook(reader)
        case _:
            assert_never(format)
    gathered = bytearray()
    async for chunk in chunks:
        gathered += chunk
        if len(gathered) >= _CHUNK_BYTES:
            yield bytes(gathered)
            gathered.clear()
    if gathered:
        yield bytes(gathered)


async def _write(path: Path, chunks: AsyncIterator[bytes]) -> None:
    descriptor = await asyncio.to_thread(open_private, path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    file = os.fdopen(descriptor, "wb", buffering=_CHUNK_BYTES)
    try:
        async for chunk in chunks:
            await asyncio.to_thread(file.write, chunk)
        await asyncio.to_thread(_sync, file.flush, file.fileno())
    finally:
        await asyncio.to_thread(file.close)


def _sync(flush: object, descriptor: int) -> None:
    assert callable(flush)
    flush()
    os.fsync(descriptor)


def _put_in_place(unfinished: Path, target: Path, overwrite: bool) -> None:
    if unfinished.is_dir():
        _put_folder(unfinished, target, overwrite)
    elif overwrite:
        os.replace(unfinished, target)
    else:
        try:
            # Unlike a rename, it fails if somebody made the file meanwhile.
            os.link(unfinished, target)
        except FileExistsError:
            raise _exists(target) from None
        except OSError:
            if os.path.lexists(target):
                raise _exists(target) from None
            os.rename(unfinished, target)


def _put_folder(unfinished: Path, target: Path, overwrite: bool) -> None:
    if os.path.lexists(target):
        if not overwrite or not _is_ours(target):
            raise _exists(target)
        old = unfinished.with_suffix(".old")
        os.rename(target, old)
        os.rename(unfinished, target)
        shutil.rmtree(old, ignore_errors=True)
    else:
        os.rename(unfinished, target)


def _is_ours(folder: Path) -> bool:
    """Whether there is nothing in a folder but what an export to it would replace."""
    names = {entry.name for entry in folder.iterdir()} if folder.is_dir() and not folder.is_symlink() else {""}
    return bool(names) and names <= set(ROO_FILES)


def _exists(target: Path) -> Conflict:
    return Conflict(f"{target} already exists. Choose another name, or allow overwriting it.", path=str(target))


def _remove(unfinished: Path) -> None:
    with suppress(FileNotFoundError, NotADirectoryError):
        if unfinished.is_dir():
            shutil.rmtree(unfinished, ignore_errors=True)
        else:
            unfinished.unlink()
