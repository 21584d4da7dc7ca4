"""The variables of a notebook's kernel, and some rows of one of them."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ...checkpoints.timeline import VariablesSince
from ...notebooks.kernels import KernelInfo, KernelState, Variable, VariableTable
from ...wire import WireModel
from ..checkpoint_access import CheckpointPlace
from ..identity import owner_of
from ..kernel_variables import Answers
from ._rest_endpoint import RestHandler, endpoint

__all__ = ["VariableTableHandler", "VariablesHandler"]

_Path = Annotated[str, Field(min_length=1, max_length=4096)]


class VariablesAsked(WireModel):
    """Whose variables."""

    path: _Path
    """A notebook's, in the contents API."""
    changes: bool = True
    """Whether it is told how they differ from the newest checkpoint."""


class VariableTableAsked(WireModel):
    """Which variable, and from which row on."""

    path: _Path
    """A notebook's, in the contents API."""
    name: Annotated[str, Field(min_length=1, max_length=1000)]
    start: Annotated[int, Field(ge=0, le=2**53)] = 0


class KernelView(WireModel):
    """A kernel that runs."""

    name: str
    language: str
    state: KernelState
    answers: Answers
    """Whether it tells its variables ``now``, ``later`` when its cell is done, or ``never``."""


class ColumnView(WireModel):
    """A column of a table."""

    name: str
    dtype: str
    missing: int | None = None
    """How many values it lacks; absent if they were not counted."""


class VariableView(WireModel):
    """One variable."""

    name: str
    type: str
    shape: list[int | None] | None = None
    length: int | None = None
    dtype: str | None = None
    device: str | None = None
    memory: int | None = None
    """In bytes; of a container without what it contains."""
    columns: list[ColumnView]
    head: str | None = None
    error: str | None = None
    has_text_columns: bool
    """Whether all columns are named by texts, and not by numbers or the like."""


class VariablesView(WireModel):
    """The newest variables first."""

    path: str
    kernel: KernelView | None = None
    """Absent if none runs."""
    variables: list[VariableView]
    unseen: list[str]
    """Names for which there was no time or room."""
    since: VariablesSince | None = None
    """How they differ from the newest checkpoint; absent if it was not asked for."""


class VariableTableView(WireModel):
    """Some rows of a variable. What is no table has only its head."""

    variable: VariableView
    start: int
    index: list[str]
    rows: list[list[str | None]]
    """None stands for a value that is missing."""


class VariablesHandler(RestHandler):
    """`POST variables`"""

    # Whoever may only read must not have a kernel do anything, and to show a value may run its class's code.
    @endpoint("List the variables of a notebook's kernel", answer=VariablesView, body=VariablesAsked, action="write")
    async def post(self, *, body: VariablesAsked) -> VariablesView:
        """No kernel is started, and nothing changes in it. It answers while a cell runs, too."""
        now = await self.services.kernel_variables.look(
            CheckpointPlace(owner_of(self), path=body.path), with_changes=body.changes
        )
        return VariablesView(
            path=body.path,
            kernel=None if now.kernel is None else _kernel(now.kernel, now.answers),
            variables=[_variable(one) for one in now.report.variables],
            unseen=list(now.report.unseen),
            since=now.since,
        )


class VariableTableHandler(RestHandler):
    """`POST variables/table`"""

    @endpoint("Show rows of a variable", answer=VariableTableView, body=VariableTableAsked, action="write")
    async def post(self, *, body: VariableTableAsked) -> VariableTableView:
        """At most 50 rows and 100 columns at once."""
        found = await self.services.kernel_variables.look_into(body.path, body.name, body.start)
        return VariableTableView(
            variable=_variable(found).model_copy(update={"columns": _columns(found)}),
            start=body.start,
            index=list(found.index),
            rows=[list(row) for row in found.rows],
        )


def _kernel(kernel: KernelInfo, answers: Answers) -> KernelView:
    return KernelView(name=kernel.display_name, language=kernel.language, state=kernel.state, answers=answers)


def _variable(variable: Variable) -> VariableView:
    return VariableView(
        name=variable.name,
        type=variable.type,
        shape=None if variable.shape is None else list(variable.shape),
        length=variable.length,
        dtype=variable.dtype,
        device=variable.device,
        memory=variable.memory,
        columns=[ColumnView(name=name, dtype=dtype) for name, dtype in variable.columns],
        head=variable.head,
        error=variable.error,
        has_text_columns=variable.has_text_columns,
    )


def _columns(table: VariableTable) -> list[ColumnView]:
    return [ColumnView(name=one.name, dtype=one.dtype, missing=one.missing) for one in table.fields]
