"""Another Jupyter that saves a notebook again and again: ``python -m tests.notebooks._helpers.saving_process FOLDER NAME CELLS``.

Each notebook it saves has the same number in all of its cells, and ends with its standard input.
"""

from __future__ import annotations

import logging
import sys
import threading
from pathlib import Path

from .contents_managers import manager_on
from .odd_notebooks import code, notebook


def main(folder: Path, name: str, cells: int) -> None:
    """Save until told to stop."""
    stop = threading.Event()

    def listen() -> None:
        sys.stdin.read()
        stop.set()

    threading.Thread(target=listen, daemon=True).start()
    logging.disable()
    with manager_on(folder, "sync") as manager:
        number = 0
        while not stop.is_set():
            number += 1
            content = notebook(*(code(f"{number}\n" + "x" * 4000) for _ in range(cells)))
            manager.save({"type": "notebook", "format": "json", "content": content}, name)
            if number == 1:
                print("saving", flush=True)
    print(number, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
