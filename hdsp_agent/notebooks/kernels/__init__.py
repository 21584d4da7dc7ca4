"""Kernels: running cells in them, what they print, what their variables are, and what their databases hold."""

from __future__ import annotations

from ._client import KernelClient, KernelState
from ._databases import (
    Database,
    DatabaseColumn,
    DatabaseLimits,
    DatabaseProblem,
    DatabaseTable,
    HiddenTables,
    schema_text,
)
from ._executor import Executor
from ._images import ImageLimits, ModelImage, images_of
from ._output_collector import OutputCollector
from ._ports import KernelInfo, KernelPort, KernelSession, KernelSpec
from ._run import CellRun, CellRunSpec, Keep, Run, RunError, RunId, RunListener
from ._run_limits import RunLimits
from ._transport import Transport
from ._variable_inspection import InspectionLimits, TableColumn, Variable, VariablesReport, VariableTable

__all__ = [
    "CellRun",
    "CellRunSpec",
    "Database",
    "DatabaseColumn",
    "DatabaseLimits",
    "DatabaseProblem",
    "DatabaseTable",
    "Executor",
    "HiddenTables",
    "ImageLimits",
    "InspectionLimits",
    "Keep",
    "KernelClient",
    "KernelInfo",
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
    "TableColumn",
    "Transport",
    "Variable",
    "VariableTable",
    "VariablesReport",
    "images_of",
    "schema_text",
]
