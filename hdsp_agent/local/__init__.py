"""The embedded model: getting its weights, and running it in a process of its own, on this machine and for nobody else.

Importing this package imports no runtime: that is an extra, and only ``_server``, which is a script, loads it.
"""

from __future__ import annotations

from ._download import Consent, get_weights
from ._errors import (
    ConsentMissing,
    CpuTooOld,
    NoSpace,
    NotAModelFile,
    RuntimeFailed,
    RuntimeMissing,
    TooLittleMemory,
    WeightsMissing,
    WeightsUnreachable,
    WrongChecksum,
)
from ._local_models import LocalModels, ModelLimits, ModelState, model_limits
from ._memory import available_memory
from ._model_list import Catalogue, LocalModel, catalogue
from ._model_process import ModelFile
from ._partial_download import Progress, Report, SourceKind
from ._runtime import LocalRuntime, ModelEndpoint, RuntimeFailure, RuntimeState, RuntimeStatus, Speed, is_installed
from ._weights_folder import WeightsFolder, default_weights_folder

__all__ = [
    "Catalogue",
    "Consent",
    "ConsentMissing",
    "CpuTooOld",
    "LocalModel",
    "LocalModels",
    "LocalRuntime",
    "ModelEndpoint",
    "ModelFile",
    "ModelLimits",
    "ModelState",
    "NoSpace",
    "NotAModelFile",
    "Progress",
    "Report",
    "RuntimeFailed",
    "RuntimeFailure",
    "RuntimeMissing",
    "RuntimeState",
    "RuntimeStatus",
    "SourceKind",
    "Speed",
    "TooLittleMemory",
    "WeightsFolder",
    "WeightsMissing",
    "WeightsUnreachable",
    "WrongChecksum",
    "available_memory",
    "catalogue",
    "default_weights_folder",
    "get_weights",
    "is_installed",
    "model_limits",
]
