"""Restart a notebook's kernel and run its cells again up to one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...checkpoints.timeline import RestartedRun, RestartPreview
from ..checkpoint_access import CheckpointAccess, CheckpointPlace
from ..identity import owner_of
from ._checkpoint_bodies import RestartBody, RestartPreviewBody
from ._rest_endpoint import RestHandler, endpoint

if TYPE_CHECKING:
    from ...agent import KernelRestarts, RestartTarget

__all__ = ["KernelRestartHandler", "KernelRestartPreviewHandler", "KernelRestartStopHandler", "KernelRestartsHandler"]


class _RestartsBase(RestHandler):
    @property
    def access(self) -> CheckpointAccess:
        """The checkpoints of this server's workspaces."""
        return self.services.checkpoints

    async def restarts(self) -> KernelRestarts:
        """The restarts of this server's kernels."""
        return (await self.services.agent.manager()).restarts

    def place(self, body: RestartPreviewBody) -> CheckpointPlace:
        """Who asks about which workspace."""
        return CheckpointPlace(owner_of(self), body.task, body.path)


class KernelRestartPreviewHandler(_RestartsBase):
    """`POST kernel-restarts/preview`"""

    @endpoint("List the cells that would run again", answer=RestartPreview, body=RestartPreviewBody, action="write")
    async def post(self, *, body: RestartPreviewBody) -> RestartPreview:
        """Changes nothing."""
        folder, _ = await self.access.at(self.place(body))
        return await (await self.restarts()).preview(folder, _up_to(body))


class KernelRestartsHandler(_RestartsBase):
    """`POST kernel-restarts`"""

    @endpoint(
        "Restart a notebook's kernel and run its cells again, from the top up to one of them",
        answer=RestartedRun,
        body=RestartBody,
        action="write",
        status=202,
    )
    async def post(self, *, body: RestartBody) -> RestartedRun:
        """A checkpoint is saved first. The answer comes when the cells are queued; a cell that fails is the last that runs."""
        return await self.access.restart(self.place(body), _up_to(body), body.seen)


class KernelRestartHandler(_RestartsBase):
    """`GET kernel-restarts/{run}`"""

    @endpoint("Show the progress of such a run", answer=RestartedRun)
    async def get(self, run: str) -> RestartedRun:
        """Runs that ended are forgotten after a while."""
        return (await self.restarts()).look(run, owner=owner_of(self))


class KernelRestartStopHandler(_RestartsBase):
    """`POST kernel-restarts/{run}/stop`"""

    @endpoint("Interrupt the running cell, and run no more", answer=RestartedRun, action="write")
    async def post(self, run: str) -> RestartedRun:
        """The kernel stays as it is then."""
        return await (await self.restarts()).stop(run, owner=owner_of(self))


def _up_to(body: RestartPreviewBody) -> RestartTarget:
    from ...agent import RestartTarget

    return RestartTarget(body.path, body.cell, body.checkpoint)
