"""The embedded model: getting its weights, and running it in a process of its own, on this machine and for nobody else.

Importing this package imports no runtime: that is an extra, and only ``_server``, which is a script, loads it.
"""

from __future__ import annotations

from ._catalogue import Catalogue, LocalModel, catalogue
from ._child import ModelFile
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
from ._folder import WeightsFolder, default_weights_folder
from ._getting import Consent, get_weights
from ._local_models import LocalModels, ModelLimits, ModelState, model_limits
from ._memory import available_memory
from ._part import Progress, Report, SourceKind
from ._runtime import Endpoint, LocalRuntime, RuntimeFailure, RuntimeState, RuntimeStatus, Speed, is_installed

__all__ = [
    "Catalogue",
    "Consent",
    "ConsentMissing",
    "CpuTooOld",
    "Endpoint",
    "LocalModel",
    "LocalModels",
    "LocalRuntime",
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
