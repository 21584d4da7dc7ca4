"""A call of every tool that is offered to programs outside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["CALLS"]

CALLS: Final[Mapping[str, Mapping[str, object]]] = {
    "list_notebooks": {},
    "read_notebook": {"path": "a.ipynb", "view": "outputs"},
    "edit_cells": {"path": "a.ipynb", "operations": [{"op": "insert", "source": "new = 1"}]},
    "run_cells": {"path": "a.ipynb", "cells": ["c1"]},
    "wait_run": {"run": "run-99"},
    "run_code": {"path": "a.ipynb", "code": "open('made', 'w').close()"},
    "inspect_variables": {"path": "a.ipynb"},
    "create_notebook": {"path": "b.ipynb"},
    "list_kernels": {},
    "manage_kernel": {"path": "a.ipynb", "action": "restart"},
    "install_packages": {"path": "a.ipynb", "packages": ["nothing-to-see-here"]},
    "read_file": {"path": "notes.txt"},
    "list_files": {"path": "."},
    "search_files": {"regex": "word", "path": "."},
    "write_to_file": {"path": "made.txt", "content": "made"},
    "apply_diff": {"path": "notes.txt", "diff": "<<<<<<< SEARCH\na word\n=======\nanother\n>>>>>>> REPLACE"},
    "search_replace": {"path": "notes.txt", "old_string": "word", "new_string": "sentence"},
    "execute_command": {"command": "touch made"},
    "read_command_output": {"artifact_id": "cmd-99"},
    "search_memory": {"query": "secret"},
    "read_memory": {"path": "MEMORY.md"},
    "search_tasks": {"query": "secret"},
    "checkpoint_list": {},
    "checkpoint_diff": {"checkpoint": "", "against": "now"},
    "checkpoint_restore": {"checkpoint": ""},
    "checkpoint_undo": {},
}
