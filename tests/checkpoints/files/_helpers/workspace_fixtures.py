"""Workspaces, what is in them byte for byte, and what stock git says of a store."""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Mapping
from pathlib import Path

Picture = dict[bytes, tuple[str, int, int, bytes]]
"""Of each path its kind, permissions, time of change (of files) and content."""


def picture(root: Path, *, without: bytes | None = None) -> Picture:
    """Everything below a folder, but for names that begin like this."""
    found: Picture = {}

    def look(folder: bytes, relative: bytes) -> None:
        for entry in os.scandir(folder):
            path = relative + entry.name
            if without is not None and entry.name.startswith(without):
                continue
            status = entry.stat(follow_symlinks=False)
            permissions = stat.S_IMODE(status.st_mode)
            if entry.is_symlink():
                found[path] = ("link", permissions, status.st_mtime_ns, os.readlink(entry.path))
            elif entry.is_dir():
                found[path] = ("folder", permissions, 0, b"")
                look(entry.path, path + b"/")
            elif entry.is_file():
                with open(entry.path, "rb") as file:
                    found[path] = ("file", permissions, status.st_mtime_ns, file.read())
            else:
                found[path] = ("other", permissions, 0, b"")

    look(os.fsencode(root), b"")
    return found


def write(root: Path, files: Mapping[str, str | bytes]) -> None:
    """Make these files and their folders."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def git(store: Path, *arguments: str) -> bytes:
    """What stock git answers about a store; any complaint of it fails the test."""
    done = subprocess.run(
        ["git", "--git-dir", str(store), *arguments],
        capture_output=True,
        timeout=60,
        check=False,
        env={**os.environ, "GIT_CONFIG_NOSYSTEM": "1", "HOME": "/nonexistent"},
    )
    assert done.returncode == 0 and not done.stderr, done.stderr.decode()
    return done.stdout


def the_store(store_dir: Path) -> Path:
    """The only workspace's store."""
    (store,) = store_dir.iterdir()
    return store


def assert_sound(store_dir: Path, *, leftovers: bool = False) -> None:
    """Git finds nothing wrong, and unless there may be any, nothing left over either."""
    dangling = ("--no-dangling",) if leftovers else ()
    assert git(the_store(store_dir), "fsck", "--full", "--strict", *dangling) == b""
