"""Finding lines in files: by ripgrep where it is installed, else by a process of our own with the same outcome."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import re
import shutil
import sys
import sysconfig
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from .._timeouts import wait_at_most
from ..messages import JsonObject
from . import _grep_worker

__all__ = [
    "FileMatches",
    "SearchFindings",
    "SearchPatternProblem",
    "TextMatch",
    "find_ripgrep",
    "grep_files",
    "grep_text",
]

MOST_MATCHES: Final = 300
LONGEST_LINE: Final = 500
SECONDS: Final = 20.0
_BATCH_BYTES: Final = 100_000
_READ_OTHERWISE: Final = re.compile(r"\[\[|\[:|&&|--|~~|\|\|")
"""What ripgrep takes for classes and operations on them, and Python for characters."""
_WORKER: Final = str(Path(_grep_worker.__file__))


class SearchPatternProblem(Exception):
    """The pattern is no regular expression, or takes too long on this text."""


@dataclass(frozen=True)
class TextMatch:
    """A line that matches."""

    line: int
    text: str


@dataclass(frozen=True)
class FileMatches:
    """The matching lines of a file."""

    path: str
    matches: tuple[TextMatch, ...]


@dataclass
class SearchFindings:
    """What a search found; ``more`` if there is more than was asked for, ``timed_out`` if it had to stop early."""

    files: list[FileMatches]
    more: bool = False
    timed_out: bool = False

    @property
    def count(self) -> int:
        """How many lines match."""
        return sum(len(file.matches) for file in self.files)


def find_ripgrep() -> str | None:
    """Where ripgrep is, if it is installed: beside this Python, as its wheel puts it, or anywhere else."""
    return shutil.which("rg", path=sysconfig.get_path("scripts")) or shutil.which("rg")


async def grep_files(
    pattern: str,
    files: Sequence[str],
    *,
    most: int = MOST_MATCHES,
    seconds: float = SECONDS,
    ripgrep: str | None = None,
) -> SearchFindings:
    """The lines of these files that match, in the files' order. Cancelling ends the search."""
    check(pattern)
    findings = SearchFindings([])
    if not files:
        return findings
    same = ripgrep and _READ_OTHERWISE.search(pattern) is None
    search = _by_ripgrep(ripgrep, pattern, files, most, findings) if ripgrep and same else None
    try:
        if search is not None and await wait_at_most(search, seconds):
            return findings
        findings.files.clear()
        await wait_at_most(_by_worker({"pattern": pattern, "files": list(files)}, most, findings), seconds)
    except TimeoutError:
        findings.timed_out = True
    return findings


async def grep_text(pattern: str, data: bytes, *, most: int = MOST_MATCHES) -> tuple[list[TextMatch], bool]:
    """The matching lines of one text, and whether there are more."""
    check(pattern)
    findings = SearchFindings([])
    request: JsonObject = {"pattern": pattern, "text": data.decode("utf-8", "replace")}
    try:
        await wait_at_most(_by_worker(request, most, findings), SECONDS)
    except TimeoutError:
        raise SearchPatternProblem(
            f"Searching for {pattern!r} took more than {SECONDS:.0f} seconds and was stopped. Use a simpler pattern."
        ) from None
    return [match for file in findings.files for match in file.matches], findings.more


def check(pattern: str) -> None:
    """Raise PatternProblem unless this is a regular expression."""
    try:
        with warnings.catch_warnings():
            # What another version of Python may read otherwise is read as this one does.
            warnings.simplefilter("ignore", FutureWarning)
            re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise SearchPatternProblem(
            f"{pattern!r} is not a regular expression: {error}. Escape special characters."
        ) from None


async def _by_worker(request: JsonObject, most: int, findings: SearchFindings) -> None:
    request = {**request, "most": most, "longest": LONGEST_LINE}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-I", _WORKER,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
        limit=1 << 24,
    )  # fmt: skip
    assert process.stdin is not None and process.stdout is not None
    done = False
    try:
        encoded = await asyncio.to_thread(lambda: json.dumps(request).encode())
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            process.stdin.write(encoded)
            await process.stdin.drain()
        process.stdin.close()
        async for line in process.stdout:
            answer = json.loads(line)
            if answer.get("done"):
                findings.more = answer["more"]
                done = True
                continue
            found = tuple(TextMatch(number, text) for number, text in answer["matches"])
            findings.files.append(FileMatches(answer["file"] or "", found))
        if not done:
            raise SearchPatternProblem("The search ended unexpectedly. Try a simpler pattern or fewer files.")
    finally:
        await _ended(process)


async def _by_ripgrep(program: str, pattern: str, files: Sequence[str], most: int, findings: SearchFindings) -> bool:
    """Whether ripgrep could do it: its patterns lack look-around and back references."""
    for batch in _batches(files):
        process = await asyncio.create_subprocess_exec(
            program, "--json", "--no-config", "--no-ignore", "--hidden", "--crlf", "--sort", "path", "--max-filesize", "10M",
            "--regexp", pattern, "--", *batch,
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
            limit=1 << 24,
        )  # fmt: skip
        assert process.stdout is not None
        found: dict[str, list[TextMatch]] = {}
        try:
            async for line in process.stdout:
                event = json.loads(line)
                if event["type"] == "end" and event["data"]["binary_offset"] is not None:
                    found.pop(event["data"]["path"].get("text", ""), None)
                if event["type"] == "match" and not _take(event["data"], found, most - findings.count):
                    findings.more = True
                    break
        except ValueError:
            # A line longer than the reader takes.
            return False
        finally:
            await _ended(process)
        if process.returncode == 2 and not found:
            return False
        findings.files.extend(FileMatches(path, tuple(found[path])) for path in batch if path in found)
        if findings.more:
            break
    return True


def _take(match: JsonObject, found: dict[str, list[TextMatch]], room: int) -> bool:
    path, lines, number, parts = match["path"], match["lines"], match["line_number"], match["submatches"]
    if not isinstance(path, dict) or not isinstance(lines, dict) or not isinstance(number, int):
        return True
    name, text = path.get("text"), lines.get("text")
    if not isinstance(text, str):
        text = base64.b64decode(str(lines.get("bytes", ""))).decode("utf-8", "replace")
    if not isinstance(name, str):
        return True
    if sum(len(matches) for matches in found.values()) >= room:
        return False
    first = parts[0] if isinstance(parts, list) and parts else None
    start = first.get("start", 0) if isinstance(first, dict) else 0
    at = len(text.encode()[: start if isinstance(start, int) else 0].decode("utf-8", "ignore"))
    line = text.removesuffix("\n").removesuffix("\r")
    found.setdefault(name, []).append(TextMatch(number, _grep_worker.excerpt(line, at, LONGEST_LINE)))
    return True


def _batches(files: Sequence[str]) -> list[list[str]]:
    batches: list[list[str]] = [[]]
    size = 0
    for file in files:
        size += len(file) + 1
        if size > _BATCH_BYTES and batches[-1]:
            batches.append([])
            size = len(file) + 1
        batches[-1].append(file)
    return batches


async def _ended(process: asyncio.subprocess.Process) -> None:
    """Let it end if it is about to, and end it otherwise. Shielded: one that is cancelled must not leave a zombie."""
    assert process.stdout is not None
    if not process.stdout.at_eof():
        # Not to be asked of one that has ended: the question would take its exit status from the one who waits for it.
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        # What it wrote must be read, or the transport never sees that it ended.
        await asyncio.shield(process.stdout.read())
    await asyncio.shield(process.wait())
