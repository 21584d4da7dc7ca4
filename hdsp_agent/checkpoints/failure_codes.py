"""Why something cannot be kept or brought back: a code that pages word in their reader's language.

The English sentence beside it is for everybody else: the command line, programs, and pages that do not know the code.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal, get_args

from pydantic import BeforeValidator

from ..errors import HdspAgentError
from ..wire import WireModel

__all__ = ["KnownWhy", "Why", "WhyCode", "why_of"]

WhyCode = Literal[
    "no_kernel",
    "kernel_busy",
    "kernel_silent",
    "kernel_elsewhere",
    "kernel_failed",
    "other_language",
    "not_ipython",
    "other_python",
    "library_missing",
    "library_other",
    "cell_ran",
    "value_unreadable",
    "values_not_kept",
    "values_not_written",
    "values_no_room",
    "values_gone",
    "values_damaged",
    "values_not_yours",
    "tab_silent",
    "notebook_deleted",
    "not_a_notebook",
    "other_format",
    "notebook_too_large",
    "too_many_cells",
    "notebook_changing",
    "notebook_read_only",
    "no_such_cell",
    "cells_gone",
    "cells_damaged",
    "no_such_file",
    "file_too_large",
    "folder_read_only",
    "file_not_restored",
    "no_room",
    "changed_meanwhile",
    "store_damaged",
    "store_of_another_user",
    "store_of_another_folder",
    "store_in_workspace",
    "not_a_folder",
    "unknown_checkpoint",
    "unknown_operation",
    "nothing_to_undo",
    "not_in_force",
    "beyond_files",
    "restoring_elsewhere",
    "cut_short",
    "interrupted",
    "not_put_back",
    "conversation_deleted",
    "turned_off",
    # Errors that pages word by their own code.
    "storage_unavailable",
    "cell_conflict",
    "unsaved_elsewhere",
]
"""The reasons there are. An error names its own in the parameter ``why``."""

_KNOWN: Final = frozenset(get_args(WhyCode))
_NAME: Final = "why"


class Why(WireModel):
    """A reason, and what its wording fills in."""

    code: WhyCode
    params: Mapping[str, str | int | float | bool | None] = {}


def _known(value: object) -> object:
    """A newer version's reason has its sentence beside it."""
    return value if isinstance(value, Why) or (isinstance(value, dict) and value.get("code") in _KNOWN) else None


KnownWhy = Annotated[Why | None, BeforeValidator(_known)]
"""In the log, where a newer version may have written it."""


def why_of(error: HdspAgentError) -> Why | None:
    """The reason an error names; None if only its sentence says it."""
    code = error.params.get(_NAME) or error.code
    params = {name: value for name, value in error.params.items() if name != _NAME}
    return Why.model_validate({"code": code, "params": params}) if code in _KNOWN else None
