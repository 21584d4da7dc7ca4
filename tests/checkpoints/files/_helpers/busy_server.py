"""A server that saves and restores as fast as it can: ``python -m tests.checkpoints.files._helpers.busy_server WORKSPACE STORE NAME``."""

from __future__ import annotations

import sys
from pathlib import Path

from hdsp_agent.checkpoints import FileLimits
from hdsp_agent.checkpoints.files.file_checkpoints import Anchor, FileCheckpoints, Selection

from .workspace_fixtures import write

TURNS = 8
# The lock is not handed round in turns: two others may do all of theirs, three states each, while one waits for it.
KEPT = 2 * 3 * TURNS + 3


def main() -> None:
    """Change a file of its own, save, and now and then go back by one."""
    root, store_dir, name = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    files = FileCheckpoints(root, store_dir, FileLimits(checkpoints=KEPT, kept_checkpoints=KEPT))
    mine = f"{name}/own.txt"
    for turn in range(TURNS):
        write(root, {mine: f"{turn}"})
        record = files.save(f"{name} {turn}", "agent", Anchor())
        write(root, {mine: "to be taken back"})
        files.save(f"{name} {turn} again", "agent", Anchor())
        files.restore(record.id, Selection(only=[mine], overwrite_all=True))
        assert (root / mine).read_text() == f"{turn}"
        if turn % 4 == 3:
            files.collect()


if __name__ == "__main__":
    main()
