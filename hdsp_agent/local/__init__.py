"""The embedded model: getting its weights, and running it in a process of its own, on this machine and for nobody else.

Importing this package imports no runtime: that is an extra, and only ``_model_server``, which is a script, loads it.
"""

from __future__ import annotations

from ._download import Consent, get_weights
from ._errors import (
    ConsentMissing,
    CpuTooOld,
    HubRefused,
    HubUnreachable,
    NoSpace,
    NotAModelFile,
    RuntimeFailed,
    RuntimeMissing,
    TooLittleMemory,
    WeightsMissing,
    WeightsUnreachable,
    WrongChecksum,
)
from ._local_models import LocalModels, LocalModelView
from ._machine import available_memory
from ._model_limits import ModelLimits, model_limits
from ._model_list import Catalogue, LocalModel, PackageSource, catalogue, licence_text
from ._model_process import ModelFile
from ._partial_download import Progress, SourceKind
from ._runtime import LocalRuntime, LocalRuntimeView, ModelEndpoint, ModelInUse, is_installed
from ._weights_folder import WeightsFolder, default_weights_folder

__all__ = [
    "Catalogue",
    "Consent",
    "ConsentMissing",
    "CpuTooOld",
    "HubRefused",
    "HubUnreachable",
    "LocalModel",
    "LocalModelView",
    "LocalModels",
    "LocalRuntime",
    "LocalRuntimeView",
    "ModelEndpoint",
    "ModelFile",
    "ModelInUse",
    "ModelLimits",
    "NoSpace",
    "NotAModelFile",
    "PackageSource",
    "Progress",
    "RuntimeFailed",
    "RuntimeMissing",
    "SourceKind",
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
    "licence_text",
    "model_limits",
]
