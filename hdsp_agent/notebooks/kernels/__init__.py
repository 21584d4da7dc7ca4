"""Kernels: running cells in them, what they print, and what their variables are."""

from __future__ import annotations

from ._channels import KernelLink, KernelState
from ._executor import Executor
from ._images import ImageLimits, ModelImage, images_of
from ._limits import RunLimits
from ._outputs import OutputCollector
from ._ports import KernelInfo, KernelPort, KernelSession, KernelSpec
from ._run import CellRun, CellRunSpec, EndReason, Keep, Run, RunError, RunId, RunListener
from ._transport import Transport
from ._variables import InspectionLimits, Variable, VariablesReport

__all__ = [
    "CellRun",
    "CellRunSpec",
    "EndReason",
    "Executor",
    "ImageLimits",
    "InspectionLimits",
    "Keep",
    "KernelInfo",
    "KernelLink",
    "KernelPort",
    "KernelSession",
    "KernelSpec",
    "KernelState",
    "ModelImage",
    "OutputCollector",
    "Run",
    "RunError",
    "RunId",
    "RunLimits",
    "RunListener",
    "Transport",
    "Variable",
    "VariablesReport",
    "images_of",
]
