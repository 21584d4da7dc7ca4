"""Verify a notebook, and tell what came of it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from ...messages import ErrorBody, error_body
from ...verify import Cause, CellReport, NotebookReport
from ...wire import WireModel
from ..checkpoint_access import CheckpointPlace
from ..identity import owner_of
from ..verifications import Verification, Verifications
from ._rest_endpoint import RestHandler, endpoint

__all__ = ["VerificationHandler", "VerificationStopHandler", "VerificationsHandler"]


class VerifyBody(WireModel):
    """Which notebook."""

    path: Annotated[str, Field(min_length=1, max_length=4096)]
    """In the contents API."""


class VerificationQuery(WireModel):
    """Where its report is kept: with the checkpoints of a task's workspace, or of the server's own folder."""

    task: Annotated[str, Field(min_length=1, max_length=128)] | None = None


class VerifiedCell(WireModel):
    """A code cell. ``number`` counts all cells, from 1."""

    number: int
    id: str
    state: Literal["same", "differs", "skipped", "unsaved"]
    cause: Cause | None = None
    detail: str = ""


class VerifiedNotebook(WireModel):
    """What came of it."""

    kernel: str
    is_proved: bool
    runs: int
    seconds: float
    cells: list[VerifiedCell]


class VerificationView(WireModel):
    """One that runs, or ran."""

    id: str
    path: str
    state: Literal["running", "done", "failed", "stopped"]
    run: int = 0
    """It runs a second time if anything differs."""
    cell: int = 0
    """The number of the cell that runs, of so many; 0 before the first does."""
    cells: int = 0
    report: VerifiedNotebook | None = None
    ended_ts: int | None = None
    """When there was a report, in milliseconds."""
    error: ErrorBody | None = None


class _VerificationsBase(RestHandler):
    @property
    def verifications(self) -> Verifications:
        """Those of this server."""
        return self.services.verifications


class VerificationsHandler(_VerificationsBase):
    """`POST verifications`"""

    @endpoint("Begin to verify a notebook", answer=VerificationView, body=VerifyBody, action="write", status=202)
    async def post(self, *, body: VerifyBody) -> VerificationView:
        """As it is now, saved or not: in a new kernel, and in a copy of its folder. What is verified is saved as a checkpoint."""
        return _view(await self.verifications.start(owner_of(self), body.path))


class VerificationHandler(_VerificationsBase):
    """`GET verifications/{verification}`"""

    @endpoint("Show the progress of a verification, or its report", answer=VerificationView, query=VerificationQuery)
    async def get(self, verification: str, *, query: VerificationQuery) -> VerificationView:
        """A report is kept as long as the checkpoint of what was verified."""
        return _view(await self.verifications.look(CheckpointPlace(owner_of(self), query.task), verification))


class VerificationStopHandler(_VerificationsBase):
    """`POST verifications/{verification}/stop`"""

    @endpoint("Stop a verification", answer=VerificationView, action="write")
    async def post(self, verification: str) -> VerificationView:
        """The answer comes when its kernel is gone."""
        return _view(await self.verifications.cancel(owner_of(self), verification))


def _view(verification: Verification) -> VerificationView:
    progress = verification.progress
    return VerificationView(
        id=verification.id,
        path=verification.path,
        state=_state(verification),
        run=progress.run if progress is not None else 0,
        cell=progress.cell if progress is not None else 0,
        cells=progress.cells if progress is not None else 0,
        report=_report(verification.report) if verification.report is not None else None,
        ended_ts=verification.ended_ts,
        error=error_body(verification.error) if verification.error is not None else None,
    )


def _state(verification: Verification) -> Literal["running", "done", "failed", "stopped"]:
    if not verification.is_done:
        return "running"
    if verification.report is not None:
        return "done"
    return "failed" if verification.error is not None and not verification.is_stopped else "stopped"


def _report(report: NotebookReport) -> VerifiedNotebook:
    return VerifiedNotebook(
        kernel=report.kernel,
        is_proved=report.is_proved,
        runs=report.runs,
        seconds=report.seconds,
        cells=[_cell(cell) for cell in report.cells],
    )


def _cell(cell: CellReport) -> VerifiedCell:
    return VerifiedCell(number=cell.number, id=cell.id, state=cell.state, cause=cell.cause, detail=cell.detail)
