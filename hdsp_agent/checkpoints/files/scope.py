"""What of a workspace is kept: all of it, or only what the agent touches. Everything here blocks."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ..._storage_dir import home_folder
from .file_limits import FileLimits

__all__ = ["excluded_folders", "reason_for_touched_only"]

_NETWORK: Final = (
    "nfs", "cifs", "smb", "ceph", "lustre", "glusterfs", "beegfs", "gpfs", "afs", "9p", "fuse.sshfs", "fuse.s3fs",
    "fuse.gcsfuse", "fuse.rclone", "fuse.blobfuse", "fuse.juicefs", "fuse.goofys",
)  # fmt: skip
_MOUNTS: Final = Path("/proc/self/mountinfo")


def reason_for_touched_only(root: Path, limits: FileLimits) -> str | None:
    """Why the workspace is not walked at all, if it is not."""
    if limits.touched_only:
        return "setting"
    home = Path(os.path.realpath(home_folder()))
    if root == home or root in home.parents:
        return "home"
    if _file_system(root).startswith(_NETWORK):
        return "network"
    return None


def excluded_folders(root: Path, store: Path, limits: FileLimits) -> frozenset[tuple[int, int]]:
    """Device and inode of the folders that are never part of a checkpoint, whatever name they are reached by."""
    own = [store]
    # By design the checkpoints' folder stands among the product's other storage, which must not travel in time.
    if root in store.parent.parents:
        own.append(store.parent)
    return frozenset(_identities([*own, *limits.excluded]))


def _identities(folders: list[Path]) -> Iterator[tuple[int, int]]:
    for folder in folders:
        try:
            status = os.stat(folder)
        except OSError:
            continue
        yield (status.st_dev, status.st_ino)


def _file_system(path: Path) -> str:
    """The type of the file system a path is on; empty where that cannot be told."""
    try:
        lines = _MOUNTS.read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return ""
    best, kind = "", ""
    for line in lines:
        mount, _, rest = line.partition(" - ")
        point = mount.split(" ")[4].encode("latin-1", "replace").decode("unicode_escape")
        if len(point) >= len(best) and (path == Path(point) or Path(point) in path.parents):
            best, kind = point, rest.split(" ")[0]
    return kind
