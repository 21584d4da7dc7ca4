"""A process that goes through the worst of workspaces as another user, without git and with hooks that fail.

``python -m tests.checkpoints.files._helpers.unusual_files FOLDER USER``: USER is a number, or ``-`` to stay who one is.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import sys
from pathlib import Path

from hdsp_agent.checkpoints import AsyncFileCheckpoints
from hdsp_agent.errors import NotAllowed

from ..test_restoring import usual, wreck
from .workspace_fixtures import Picture, picture, write


def _lay_out(folder: Path) -> Path:
    """A workspace with more than the usual: what may not be read or written, and what is no file."""
    root = folder / "work"
    root.mkdir()
    usual(root)
    write(
        root,
        {
            "shut_file": "secret", "readonly/kept.csv": "1\n", "module/.git": "gitdir: ../.git/modules/module\n",
            "module/code.py": "1\n", ".hooks/pre-commit": "#!/bin/sh\nexit 1\n",
        },
    )  # fmt: skip
    (root / ".hooks" / "pre-commit").chmod(0o755)
    write(folder, {".gitconfig": f"[core]\n\thooksPath = {root}/.hooks\n"})
    os.environ.update({"HOME": str(folder), "PATH": str(folder / "nothing")})
    os.mkfifo(root / "pipe")
    here = os.getcwd()
    os.chdir(root)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
    os.chdir(here)
    (root / "to_home").symlink_to(folder)
    (root / "shut_file").chmod(0)
    (root / "readonly").chmod(0o555)
    return root


def _seen(root: Path) -> Picture:
    return picture(root, without=b"shut_")


async def _there_and_back(folder: Path) -> None:
    root = _lay_out(folder)
    files = AsyncFileCheckpoints(root, folder / "home" / "checkpoints")
    before = _seen(root)
    first = await files.save("before")
    wreck(root)
    (root / "readonly").chmod(0o755)
    (root / "readonly" / "kept.csv").unlink()
    write(root, {"readonly/more.csv": "2\n", "module/code.py": "2\n"})
    (root / ".hooks" / "pre-commit").unlink()
    (root / "pipe").unlink()
    after = _seen(root)
    await files.save("after", changes_by="agent")

    await files.restore(first.id)
    # A pipe is in no checkpoint: nobody makes another one.
    del before[b"pipe"]
    assert _seen(root) == before, "restored"
    await files.undo()
    assert _seen(root) == after, "undone"
    if os.geteuid():
        await _refused(files, root, first.id)
    await files.close()


async def _refused(files: AsyncFileCheckpoints, root: Path, first: str) -> None:
    """A folder that belongs to somebody else stops a restore before anything has changed."""
    (root / "module").chmod(0o500)
    await files.save("shut", changes_by="agent")
    (root / "out").mkdir()
    (root / "out").chmod(0)
    now = set(os.listdir(root))
    try:
        await files.restore(first)
    except NotAllowed:
        assert set(os.listdir(root)) == now
    finally:
        (root / "out").chmod(0o700)
        (root / "module").chmod(0o700)


def _become(user: int) -> None:
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)


def main() -> None:
    """Everything is loaded while the interpreter's folders may still be read."""
    folder, user = Path(sys.argv[1]), sys.argv[2]
    for name in ("rehearsal", "real"):
        (folder / name).mkdir()
    if user != "-":
        # The path back to root's interpreter ends here.
        asyncio.run(_there_and_back(folder / "rehearsal"))
        shutil.rmtree(folder / "rehearsal")
        os.chown(folder, int(user), int(user))
        os.chown(folder / "real", int(user), int(user))
        _become(int(user))
    asyncio.run(_there_and_back(folder / "real"))


if __name__ == "__main__":
    main()
