"""File systems of their own: one that clones files, and small ones that are full soon. Only where they may be mounted."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

__all__ = ["cloning_volume", "small_volume"]

_IMAGE_BYTES = 1_200_000_000


@contextmanager
def cloning_volume(place: Path) -> Iterator[Path]:
    """A folder whose file system clones files: the one that HDSP_TEST_CLONING_FOLDER names, or one made for this."""
    named = os.environ.get("HDSP_TEST_CLONING_FOLDER")
    if named:
        folder = Path(named) / f"hdsp-{os.getpid()}"
        folder.mkdir()
        try:
            yield folder
        finally:
            shutil.rmtree(folder)
        return
    path = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/sbin"))
    make = shutil.which("mkfs.xfs", path=path) or shutil.which("mkfs.btrfs", path=path)
    if make is None:
        pytest.skip("neither mkfs.xfs nor mkfs.btrfs is here, and HDSP_TEST_CLONING_FOLDER names no folder")
    image = place / "image"
    with open(image, "wb") as file:
        file.truncate(_IMAGE_BYTES)
    subprocess.run([make, "-q", str(image)], check=True, capture_output=True)
    with _mounted(place / "volume", "-o", "loop", str(image)) as folder:
        yield folder
    image.unlink()


@contextmanager
def small_volume(place: Path, megabytes: int) -> Iterator[Path]:
    """An empty folder with a disk of its own, of this size."""
    with _mounted(place, "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs") as folder:
        yield folder


@contextmanager
def _mounted(folder: Path, *what: str) -> Iterator[Path]:
    if sys.platform != "linux":
        pytest.skip("only Linux mounts these")
    as_root = [] if os.geteuid() == 0 else ["sudo", "-n"]
    folder.mkdir()
    try:
        done = subprocess.run([*as_root, "mount", *what, str(folder)], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("nothing here mounts file systems")
    if done.returncode:
        pytest.skip(f"file systems may not be mounted here: {done.stderr.strip()}")
    try:
        if as_root:
            subprocess.run([*as_root, "chown", str(os.geteuid()), str(folder)], check=True, capture_output=True)
        yield folder
    finally:
        subprocess.run([*as_root, "umount", "-l", str(folder)], check=True, capture_output=True)
