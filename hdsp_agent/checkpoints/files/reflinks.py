"""Letting one file share the blocks of another, where the file system can. Everything here blocks."""

from __future__ import annotations

import errno
import sys
from typing import Final, Literal

__all__ = ["clone"]

_FICLONE: Final = 0x40049409
_NEVER: Final = frozenset((errno.EXDEV, errno.EOPNOTSUPP, errno.ENOTTY, errno.ENOSYS))
"""No file of this file system can be cloned there."""
_NOT_THIS_ONE: Final = frozenset((errno.EINVAL, errno.EPERM, errno.EACCES, errno.ETXTBSY))


def clone(source: int, target: int) -> Literal["cloned", "not_this_file", "never"]:
    """Give the open and empty file ``target`` the content of ``source``, without copying it. Raises OSError for a full disk."""
    if sys.platform != "linux":
        return "never"
    import fcntl

    try:
        fcntl.ioctl(target, _FICLONE, source)
    except OSError as error:
        if error.errno in _NEVER:
            return "never"
        if error.errno in _NOT_THIS_ONE:
            return "not_this_file"
        raise
    return "cloned"
