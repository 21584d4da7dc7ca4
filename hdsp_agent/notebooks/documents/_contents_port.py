"""What is asked of a Jupyter contents manager, and what its answers and errors mean."""

from __future__ import annotations

import errno
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final, Literal, Protocol, TypeVar, cast

from jupyter_core.utils import ensure_async

from ...errors import Conflict, HdspAgentError, InvalidInput, NotAllowed, NotFound, Unavailable

__all__ = ["ContentsManagerPort", "ContentsModel", "Doing", "asked", "local_root", "notebook_file", "reads_plain_files"]

logger = logging.getLogger(__name__)

R = TypeVar("R")
Doing = Literal["read", "saved", "created"]
ContentsModel = dict[str, object]

_HTTP_CODES: Final = {errno.ENOENT: 404, errno.EACCES: 403, errno.EPERM: 403, errno.EROFS: 403, errno.EEXIST: 409}


class ContentsManagerPort(Protocol):
    """Jupyter's contents manager, as far as notebooks need it. Each answer may be one to await."""

    def get(
        self,
        path: str,
        content: bool = True,
        type: str | None = None,
        format: str | None = None,
        require_hash: bool = False,
    ) -> object:
        """The model of a file or notebook."""

    def save(self, model: ContentsModel, path: str) -> object:
        """Write one."""

    def file_exists(self, path: str) -> object:
        """Whether there is such a file."""

    def dir_exists(self, path: str) -> object:
        """Whether there is such a folder."""


async def asked(answer: Callable[[], object], path: str, doing: Doing) -> object:
    """What the manager answers, or an error of ours for each of its own."""
    try:
        return await ensure_async(cast("Awaitable[object]", answer()))
    except HdspAgentError:
        raise
    except Exception as error:
        raise _ours(error, path, doing) from error


def notebook_file(manager: ContentsManagerPort, path: str) -> Path | None:
    """Where on this machine's disk the manager keeps a path; None where it does not. The one place that knows."""
    # Managers of files have this from jupyter_server's FileManagerMixin; it refuses paths that lead out of the root.
    locate: Callable[[str], str] | None = getattr(manager, "_get_os_path", None)
    if locate is None or local_root(manager) is None:
        return None
    try:
        return Path(locate(path))
    except Exception as error:
        raise _ours(error, path, "read") from error


def local_root(manager: ContentsManagerPort) -> Path | None:
    """The folder in which the manager's paths begin, if they are files."""
    root = getattr(manager, "root_dir", None)
    return Path(root) if isinstance(root, str) and root and hasattr(manager, "_get_os_path") else None


def reads_plain_files(manager: ContentsManagerPort) -> bool:
    """Whether a notebook is just what its file says.

    A manager with a way of its own to read one, as jupytext's, which puts it together from two files, is asked for the
    notebook and not for the file.
    """
    return type(manager).get.__module__.startswith("jupyter_server.") and hasattr(manager, "_get_os_path")


def _ours(error: Exception, path: str, doing: Doing) -> HdspAgentError:
    status = getattr(error, "status_code", None)
    if isinstance(error, OSError):
        status = _HTTP_CODES.get(error.errno or 0)
    match status:
        case 404:
            return NotFound(
                f"There is no notebook {path}. It may have been renamed or deleted: look at the files there are.",
                path=path,
            )
        case 401 | 403:
            return NotAllowed(
                f"{path} cannot be {doing}: the server does not have the permission. Nothing was changed. Change the "
                "file's permissions, or work on a copy.",
                path=path,
            )
        case 409:
            return Conflict(f"{path} cannot be {doing}: something else is there already.", path=path)
        case 400 | 413 | 415:
            return InvalidInput(
                f"{path} cannot be {doing}: it is no file with a notebook as UTF-8 text. Nothing was changed.",
                path=path,
            )
    if isinstance(error.__cause__, UnicodeEncodeError):
        return InvalidInput(
            f"{path} cannot be {doing}: it holds half of a surrogate pair, which is no character. Nothing was changed. "
            "Remove it from the cell or output that has it.",
            path=path,
        )
    logger.warning("%s could not be %s", path, doing, exc_info=error)
    if isinstance(error.__cause__, (AttributeError, KeyError, TypeError)):
        return InvalidInput(
            f"{path} cannot be {doing}: a cell or an output in it is not as the notebook format demands, and nothing can "
            "write it. Nothing was changed. Clear the outputs that are damaged.",
            path=path,
        )
    return Unavailable(
        f"{path} could not be {doing}: the server's storage for files failed. Its log says why; free space and "
        "permissions are the usual reasons.",
        path=path,
    )
